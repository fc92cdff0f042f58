/*
 * MaxRoiPool and RoiAlign: a work-item makes some planes (a region's channel). Positions are in double where
 * the device has it, so that the number of samples of a bin agrees with the reference's.
 */
#pragma OPENCL FP_CONTRACT OFF /* a fused product would move a position by the last bit, and the sample with it */
#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif
#define WORK PW_COMPUTE(X)

static inline int whole_corner(REAL at)
{
    return at != at ? 0 : (int)clamp(round(at), (REAL)-1000000000, (REAL)1000000000);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
max_roi_pool(__global const PW_TYPE(X) *X, __global const PW_TYPE(X) *rois, __global PW_TYPE(X) *Y, int images,
             int channels, int height, int width, int rows, int columns, float scale, int planes, int planes_each)
{
    const int begin = (int)get_global_id(0) * planes_each, end = min(planes, begin + planes_each);

    for (int plane = begin; plane < end; plane++) {
        const int roi = plane / channels * 5, image = clamp((int)PW_AT_LOAD(X, rois, roi), 0, images - 1);
        int box[4];
        for (int k = 0; k < 4; k++)
            box[k] = whole_corner((REAL)PW_AT_LOAD(X, rois, roi + 1 + k) * (REAL)scale);
        const long box_width = max(box[2] - box[0] + 1, 1), box_height = max(box[3] - box[1] + 1, 1);
        const size_t base = (size_t)(image * channels + plane % channels) * height * width;
        for (int i = 0; i < rows * columns; i++) {
            const int r = i / columns, c = i % columns;
            const int top = (int)clamp(r * box_height / rows + box[1], 0L, (long)height);
            const int bottom = (int)clamp(((r + 1) * box_height + rows - 1) / rows + box[1], 0L, (long)height);
            const int left = (int)clamp(c * box_width / columns + box[0], 0L, (long)width);
            const int right = (int)clamp(((c + 1) * box_width + columns - 1) / columns + box[0], 0L, (long)width);
            WORK best = bottom > top && right > left ? -(WORK)INFINITY : (WORK)0;
            for (int y = top; y < bottom; y++) {
                for (int x = left; x < right; x++) {
                    const WORK value = PW_LOAD(X, base + y * width + x);
                    best = value > best || value != value ? value : best;
                }
            }
            PW_AT_STORE(X, Y, (size_t)plane * rows * columns + i, best);
        }
    }
}

/* Two positions along an axis and the weight of the second; 0 when the sample lies outside. */
static inline int settle(REAL at, int extent, int *low, int *high, REAL *weight)
{
    if (!(at >= -1 && at <= extent))
        return 0;
    at = at < 0 ? 0 : at;
    *low = min((int)at, extent - 1);
    *high = min(*low + 1, extent - 1);
    *weight = *low < *high ? at - *low : 0;
    return 1;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
roi_align(__global const PW_TYPE(X) *X, __global const PW_TYPE(X) *rois, __global const long *batch_indices,
          __global PW_TYPE(X) *Y, int images, int channels, int height, int width, int rows, int columns, float scale,
          float shift, int ratio, int largest, int planes, int planes_each)
{
    const int begin = (int)get_global_id(0) * planes_each, end = min(planes, begin + planes_each);

    for (int plane = begin; plane < end; plane++) {
        const int roi = plane / channels, image = (int)clamp(batch_indices[roi], 0L, (long)images - 1);
        const size_t base = (size_t)(image * channels + plane % channels) * height * width;
        REAL box[4];
        for (int k = 0; k < 4; k++)
            box[k] = (REAL)PW_AT_LOAD(X, rois, roi * 4 + k) * (REAL)scale - (REAL)shift;
        REAL box_width = box[2] - box[0], box_height = box[3] - box[1];
        if (shift == 0) {
            box_width = box_width > 1 ? box_width : 1;
            box_height = box_height > 1 ? box_height : 1;
        }
        const REAL bin_height = box_height / rows, bin_width = box_width / columns;
        const int down = ratio > 0 ? ratio : (int)clamp(ceil(bin_height), (REAL)0, (REAL)1024);
        const int across = ratio > 0 ? ratio : (int)clamp(ceil(bin_width), (REAL)0, (REAL)1024);
        for (int i = 0; i < rows * columns; i++) {
            const REAL top = box[1] + (i / columns) * bin_height, left = box[0] + (i % columns) * bin_width;
            REAL sum = 0;
            int first = 1;
            for (int v = 0; v < down; v++) {
                for (int u = 0; u < across; u++) {
                    int y0, y1, x0, x1;
                    REAL wy, wx, value = 0;
                    if (settle(top + (v + (REAL)0.5) * bin_height / down, height, &y0, &y1, &wy) &&
                        settle(left + (u + (REAL)0.5) * bin_width / across, width, &x0, &x1, &wx)) {
                        const REAL a = (1 - wy) * (1 - wx) * (REAL)PW_LOAD(X, base + y0 * width + x0);
                        const REAL b = (1 - wy) * wx * (REAL)PW_LOAD(X, base + y0 * width + x1);
                        const REAL c = wy * (1 - wx) * (REAL)PW_LOAD(X, base + y1 * width + x0);
                        const REAL d = wy * wx * (REAL)PW_LOAD(X, base + y1 * width + x1);
                        value = largest ? max(max(a, b), max(c, d)) : a + b + c + d;
                    }
                    sum = !largest ? sum + value : first || value > sum ? value : sum;
                    first = 0;
                }
            }
            const REAL count = (REAL)down * across;
            PW_AT_STORE(X, Y, (size_t)plane * rows * columns + i,
                        (WORK)(largest ? sum : sum / (count > 1 ? count : 1)));
        }
    }
}
