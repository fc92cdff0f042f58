/* Kernels that are wrong where only a simulator sees it; tests/rooms/test_sanitize.c knows the lines. */
typedef __global const float *input;
typedef __global float *output;

/* One element too many. */
__kernel void reads_past(input x, output y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i <= n; i++)
        sum += x[i];
    for (int i = 0; i < n; i++)
        y[i] = sum;
}

__kernel void writes_past(input x, output y, int n)
{
    for (int i = 0; i <= n; i++)
        y[i] = 1.0f;
}

/* Everybody writes the first. */
__kernel void races(input x, output y, int n)
{
    int i = get_global_id(0);

    y[0] = (float)i;
}

/* No barrier between the write and the neighbour's read. */
__kernel void local_race(input x, output y, int n)
{
    __local float shared[4];
    int i = get_local_id(0);

    shared[i] = x[0];

    y[i % n] = shared[(i + 1) % 4];
}

__kernel void uninitialised(input x, output y, int n)
{
    float a;

    if (n > 1000000)
        a = 1.0f;

    for (int i = 0; i < n; i++) {
        if (a > 0.5f)
            y[i] = 1.0f;
    }
}

/* The scratch buffer was never written. */
__kernel void reads_scratch(input x, output y, __global const float *scratch, int n)
{
    if (scratch[0] > 0.5f)
        y[0] = 1.0f;
}

__kernel void diverges(input x, output y, int n)
{
    __local float shared[4];

    shared[get_local_id(0)] = 1.0f;
    if (get_local_id(0) < 2)

        barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        y[0] = shared[0];
}

__kernel void writes_input(input x, output y, int n)
{
    y[0] = 1.0f;

    ((output)x)[0] = 1.0f;
}

__kernel void sound(input x, output y, int n)
{
    __local float shared[4];
    int i = get_local_id(0);

    shared[i] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        for (int j = 0; j < n; j++)
            y[j] = j < 4 ? shared[j] : x[j];
}
