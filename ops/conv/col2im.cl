/*
 * Col2Im: each image element gathers the block elements that lie on it. A work-item makes EACH neighbouring
 * elements. BOOLEAN: or instead of a sum.
 */
#ifdef BOOLEAN
#define ADD(a, b) ((a) | (b))
#else
#define ADD(a, b) ((a) + (b))
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
col2im(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, __global const int *in_dims,
       __global const int *out_dims, __global const int *kernel_dims, __global const int *stride_of,
       __global const int *dilation_of, __global const int *pad_of, int axes, int taps, int in_size, int out_size,
       int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin; i < end; i++) {
        const size_t block0 = (size_t)(i / in_size) * taps * out_size;
        PW_COMPUTE(output) sum = 0;
        for (int t = 0; t < taps; t++) {
            int rest = i % in_size, tap = t, block = 0, pitch = 1, within = 1;
            for (int a = axes - 1; a >= 0; a--) {
                const int at = rest % in_dims[a] + pad_of[a] - tap % kernel_dims[a] * dilation_of[a];
                rest /= in_dims[a];
                tap /= kernel_dims[a];
                within &= at >= 0 && at % stride_of[a] == 0 && at / stride_of[a] < out_dims[a];
                block += at / stride_of[a] * pitch;
                pitch *= out_dims[a];
            }
            if (within)
                sum = ADD(sum, PW_LOAD(input, block0 + (size_t)t * out_size + block));
        }
        PW_STORE(output, i, sum);
    }
}
