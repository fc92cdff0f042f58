/*
 * Einsum with one or two operands, any device: a work-item computes one output, walking the summed labels. Strides of
 * the operands along the output's labels and the summed ones come from the equation; 0 where an operand does not
 * have a label, sums of strides for diagonals. The innermost summed label is a plain loop.
 */
__kernel void einsum_plain(__global const PW_TYPE(Inputs) *left, __global const PW_TYPE(Inputs) *right,
                           __global PW_TYPE(Output) *Output, int outputs, int two, int out_rank,
                           __global const int *out_dims, __global const int *a_out, __global const int *b_out,
                           int sum_rank, int sum_count, __global const int *sum_dims, __global const int *a_sum,
                           __global const int *b_sum)
{
    int id = get_global_id(0), rest = id, n = sum_rank ? sum_dims[sum_rank - 1] : 1, lines = n ? sum_count / n : 0;
    int a_step = sum_rank ? a_sum[sum_rank - 1] : 0, b_step = sum_rank ? b_sum[sum_rank - 1] : 0;
    long a0 = 0, b0 = 0;
    ACC sum = 0;

    if (id >= outputs)
        return;
    for (int d = out_rank - 1; d >= 0; d--) {
        int i = rest % out_dims[d];

        rest /= out_dims[d];
        a0 += (long)i * a_out[d];
        b0 += (long)i * b_out[d];
    }
    for (int line = 0; line < lines; line++) {
        int left_over = line;
        long a = a0, b = b0;

        for (int d = sum_rank - 2; d >= 0; d--) {
            int i = left_over % sum_dims[d];

            left_over /= sum_dims[d];
            a += (long)i * a_sum[d];
            b += (long)i * b_sum[d];
        }
        for (int i = 0; i < n; i++) {
            ACC x = (ACC)PW_AT_LOAD(Inputs, left, a + (long)i * a_step);

            if (two)
                x *= (ACC)PW_AT_LOAD(Inputs, right, b + (long)i * b_step);
            sum += x;
        }
    }
    PW_STORE(Output, id, sum);
}
