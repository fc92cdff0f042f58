/*
 * ConvInteger and QLinearConv on the tiles of conv.cl: this goes before it. Samples and weights become
 * ints less their zero points when they are copied, so the padding is 0 there. The formals go by position.
 */
#define INTEGER 1
#define WORK int
#define WORK16 int16
#define WORK8 int8
#define WORK4 int4
#define X_dtype in0_dtype
#define Y_dtype out0_dtype
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define X_ZERO_PARAMETER __global const PW_TYPE(X) *x_zero,
#define FROM_X(i) ((int)PW_LOAD(X, i) - (x_zero ? (int)x_zero[0] : 0))
#define W_ZERO_PARAMETER __global const PW_TYPE(W) *w_zero, int w_zeros,
#define FROM_W(i, m) ((int)PW_LOAD(W, i) - (w_zero ? (int)w_zero[w_zeros > 1 ? (m) : 0] : 0))

#ifndef QLINEAR
#define W_dtype in1_dtype
#define FINISH_PARAMETERS
#define START(m) 0
#define FINISH16(at, value, m) vstore16(value, 0, Y + (at))
#define FINISH(at, value, m) (Y[at] = (value))
#else
#define W_dtype in3_dtype
#define FINISH_PARAMETERS \
    __global const int *B, __global const float *x_scale, __global const float *w_scale, int w_scales, \
        __global const float *y_scale, __global const PW_TYPE(Y) *y_zero,
#define START(m) (B ? B[m] : 0)
#ifdef cl_khr_fp64
#define REAL double
#define INT_OF_REAL long
#else
#define REAL float
#define INT_OF_REAL int
#endif
#define REQUANTIZE(N) \
    static inline PW_COMPUTEN(Y, N) requantize_##N(PW_VEC(int, N) sum, REAL scale, int zero) \
    { \
        const PW_VEC(REAL, N) step = rint(PW_CAT(convert_, PW_VEC(REAL, N))(sum) * scale) + (REAL)zero; \
        const REAL low = (PW_COMPUTE(Y))-1 < 0 ? -128 : 0; \
        const PW_VEC(REAL, N) bounded = fmin(fmax(step, low), low + 255); \
        return PW_CAT(convert_, PW_COMPUTEN(Y, N))(step == step ? bounded : (PW_VEC(REAL, N))(zero)); \
    }
REQUANTIZE(1)
REQUANTIZE(16)
#define SCALE_OF(m) ((REAL)x_scale[0] * (REAL)w_scale[w_scales > 1 ? (m) : 0] / (REAL)y_scale[0])
#define FINISH16(at, value, m) PW_STORE16(Y, at, requantize_16(value, SCALE_OF(m), y_zero[0]))
#define FINISH(at, value, m) PW_STORE(Y, at, requantize_1(value, SCALE_OF(m), y_zero[0]))
#endif
