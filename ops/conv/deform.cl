/*
 * DeformConv: the samples under each tap, interpolated and masked, as columns [image][channel][tap][pixel];
 * the product is then a pointwise convolution on the tiles of conv.cl. Positions are in double where the
 * device has it. A work-item makes some rows of columns.
 */
#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif

#define MAX_AXES 14

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
deform_columns(__global const PW_TYPE(X) *X, __global const PW_TYPE(offset) *offset,
               __global const PW_TYPE(offset) *mask, __global PW_COMPUTE(X) *columns, __global const int *in_dims,
               __global const int *out_dims, __global const int *kernel_dims, __global const int *stride_of,
               __global const int *dilation_of, __global const int *pad_of, int axes, int taps, int channels,
               int offset_groups, int in_size, int out_size, int rows, int rows_each)
{
    const int begin = (int)get_global_id(0) * rows_each, end = min(rows, begin + rows_each);

    for (int row = begin; row < end; row++) {
        const int t = row % taps, channel = row / taps % channels, image = row / taps / channels;
        const int set = (image * offset_groups + channel / (channels / offset_groups)) * taps + t;
        const size_t plane = (size_t)(image * channels + channel) * in_size;
        for (int pixel = 0; pixel < out_size; pixel++) {
            REAL fraction[MAX_AXES];
            int cell[MAX_AXES], rest = pixel, tap = t, inside = 1;
            for (int a = axes - 1; a >= 0; a--) {
                const int base =
                    rest % out_dims[a] * stride_of[a] + tap % kernel_dims[a] * dilation_of[a] - pad_of[a];
                rest /= out_dims[a];
                tap /= kernel_dims[a];
                const REAL at = base + (REAL)PW_LOAD(offset, ((size_t)set * axes + a) * out_size + pixel);
                inside &= at > -1 && at < in_dims[a];
                const REAL low = floor(at);
                cell[a] = inside ? (int)low : 0;
                fraction[a] = at - low;
            }
            REAL sum = 0;
            for (int corner = 0; inside && corner < 1 << axes; corner++) {
                REAL weight = 1;
                size_t position = 0;
                int within = 1;
                for (int a = 0; a < axes; a++) {
                    const int high = corner >> a & 1, at = cell[a] + high;
                    within &= at >= 0 && at < in_dims[a];
                    weight *= high ? fraction[a] : 1 - fraction[a];
                    position = position * in_dims[a] + at;
                }
                if (within && weight != 0)
                    sum += weight * (REAL)PW_LOAD(X, plane + position);
            }
            if (mask)
                sum *= (REAL)PW_AT_LOAD(offset, mask, (size_t)set * out_size + pixel);
            columns[(size_t)row * out_size + pixel] = (PW_COMPUTE(X))sum;
        }
    }
}
