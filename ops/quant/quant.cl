/*
 * QuantizeLinear and DequantizeLinear. A work-item makes a stretch of neighbouring elements, run by run: a run is
 * what shares a scale (everything, the inner axes, or a block of the last axis), 8 elements at a time.
 * Element i lies at (outer, d, inner); its scale is ((outer * outer_pitch) + d / block) * inner_pitch + inner * inner_step.
 */
#define LAYOUT int extent, int inner, int block, int outer_pitch, int inner_pitch, int inner_step, int scales

/* The scale of element i, and where its run ends (not beyond `end`). */
static inline int run_of(int i, int end, LAYOUT, int *stop)
{
    if (scales == 1) {
        *stop = end;
        return 0;
    }
    const int in = i % inner, d = i / inner % extent, outer = i / inner / extent;
    if (inner_step && inner > 1)
        *stop = i + 1;
    else if (inner > 1)
        *stop = min(end, i + inner - in);
    else
        *stop = min(end, i + min(block - d % block, extent - d));
    return (outer * outer_pitch + d / block) * inner_pitch + in * inner_step;
}

#define RUN(i, end, stop) run_of(i, end, extent, inner, block, outer_pitch, inner_pitch, inner_step, scales, stop)

#ifdef QUANTIZE
/* A quotient to the precision that the operator divides in: 0 float, 1 float16, 2 bfloat16. */
static inline float8 round_quotient(float8 q, int rounding)
{
    ushort bits[8];
    if (rounding == 1) {
        vstore_half8_rte(q, 0, (half *)bits);
        return vload_half8(0, (half *)bits);
    }
    return rounding == 2 ? as_float8(convert_uint8(pw_bf16_8(q)) << 16) : q;
}

static inline float round_one(float q, int rounding)
{
    return round_quotient((float8)(q), rounding).s0;
}

#if !PW_IS_FLOAT(y)
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
quantize(__global const PW_TYPE(x) *x, __global const PW_TYPE(y_scale) *y_scale,
         __global const PW_TYPE(y) *y_zero_point, __global PW_TYPE(y) *y, LAYOUT, int low, int high, int rounding,
         int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin, stop; i < end;) {
        const int at = RUN(i, end, &stop);
        const float scale = PW_LOAD(y_scale, at), zero = y_zero_point ? (float)y_zero_point[at] : 0.0f;
        for (; i + 8 <= stop; i += 8) {
            const float8 step = rint(round_quotient(PW_LOAD8(x, i) / scale, rounding)) + zero;
            const float8 bounded = fmin(fmax(step, (float)low), (float)high); /* NaN becomes low */
            vstore8(PW_CAT(convert_, PW_COMPUTE8(y))(bounded), 0, y + i);
        }
        for (; i < stop; i++) {
            const float step = rint(round_one(PW_LOAD(x, i) / scale, rounding)) + zero;
            y[i] = (PW_TYPE(y))fmin(fmax(step, (float)low), (float)high);
        }
    }
}
#else
/* To 8-bit and 4-bit floats. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
quantize(__global const PW_TYPE(x) *x, __global const PW_TYPE(y_scale) *y_scale,
         __global const PW_TYPE(y) *y_zero_point, __global PW_TYPE(y) *y, LAYOUT, int saturates, int rounding,
         int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin, stop; i < end;) {
        const int at = RUN(i, end, &stop);
        const float scale = PW_LOAD(y_scale, at), zero = y_zero_point ? PW_AT_LOAD(y, y_zero_point, at) : 0.0f;
        for (; i < stop; i++)
            PW_STORE_CHOICE(y, i, round_one(PW_LOAD(x, i) / scale, rounding) + zero, saturates);
    }
}
#endif
#endif

#ifdef QUANTIZE_WIDE
/* int32 divided by a scale, in double. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
quantize(__global const PW_TYPE(x) *x, __global const PW_TYPE(y_scale) *y_scale,
         __global const PW_TYPE(y) *y_zero_point, __global PW_TYPE(y) *y, LAYOUT, int low, int high, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin, stop; i < end;) {
        const int at = RUN(i, end, &stop);
        const double scale = PW_LOAD(y_scale, at), zero = y_zero_point ? (double)y_zero_point[at] : 0.0;
        for (; i < stop; i++)
            y[i] = (PW_TYPE(y))fmin(fmax(rint(x[i] / scale) + zero, (double)low), (double)high);
    }
}
#endif

#ifdef DEQUANTIZE
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
dequantize(__global const PW_TYPE(x) *x, __global const PW_TYPE(x_scale) *x_scale,
           __global const PW_TYPE(x) *x_zero_point, __global PW_TYPE(y) *y, LAYOUT, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin, stop; i < end;) {
        const int at = RUN(i, end, &stop);
        const float scale = PW_LOAD(x_scale, at);
#if PW_IS_FLOAT(x)
        const float zero = x_zero_point ? PW_AT_LOAD(x, x_zero_point, at) : 0.0f;
        for (; i < stop; i++)
            PW_STORE(y, i, (PW_LOAD(x, i) - zero) * scale);
#else
        const int zero = x_zero_point ? (int)x_zero_point[at] : 0;
        for (; sizeof *x >= sizeof zero && zero && i < stop; i++) /* a difference of int32 needs 33 bits */
            PW_STORE(y, i, (float)((long)x[i] - zero) * scale);
        for (; i + 8 <= stop; i += 8)
            PW_STORE8(y, i, convert_float8(convert_int8(PW_LOAD8(x, i)) - zero) * scale);
        for (; i < stop; i++)
            PW_STORE(y, i, (float)((int)x[i] - zero) * scale);
#endif
    }
}
#endif

#ifdef DYNAMIC
/* Least and largest element (0 included) of each stretch. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
dynamic_range(__global const float *x, __global float *ranges, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);
    float8 low = 0, high = 0;
    float least = 0, most = 0;
    int i = begin;

    for (; i + 8 <= end; i += 8) {
        const float8 v = vload8(0, x + i);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    for (; i < end; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    const float4 low4 = fmin(low.lo, low.hi), high4 = fmax(high.lo, high.hi);
    ranges[2 * get_global_id(0)] = fmin(least, fmin(fmin(low4.x, low4.y), fmin(low4.z, low4.w)));
    ranges[2 * get_global_id(0) + 1] = fmax(most, fmax(fmax(high4.x, high4.y), fmax(high4.z, high4.w)));
}

/* Scale and zero point from the ranges, in every work-item alike; the first one writes them. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
dynamic_quantize(__global const float *x, __global const float *ranges, __global uchar *y, __global float *y_scale,
                 __global uchar *y_zero_point, int stretches, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);
    float low = 0, high = 0;

    for (int k = 0; k < stretches; k++) {
        low = fmin(low, ranges[2 * k]);
        high = fmax(high, ranges[2 * k + 1]);
    }
    const float scale = (high - low) / 255.0f;
    const float point = scale > 0 ? rint(clamp(0.0f - low / scale, 0.0f, 255.0f)) : 0.0f;
    if (get_global_id(0) == 0) {
        y_scale[0] = scale;
        y_zero_point[0] = (uchar)point;
    }
    int i = begin;
    for (; i + 8 <= end && scale > 0; i += 8) {
        const float8 step = rint(vload8(0, x + i) / scale) + point;
        vstore8(convert_uchar8(fmin(fmax(step, 0.0f), 255.0f)), 0, y + i);
    }
    for (; i < end; i++) {
        const float quotient = scale > 0 ? x[i] / scale : 0.0f;
        y[i] = (uchar)fmin(fmax(rint(quotient) + point, 0.0f), 255.0f);
    }
}
#endif
