/*
 * CausalConvWithState: y[t] = act(bias + sum over j of w[j] z[t + j]) with z = [past, x] along a row (sample, channel).
 * Algorithm: where the window lies in x alone, vectors of 8 positions; near the row's beginning one by one.
 * Tiling: rows_each rows a work-item, and pieces of `piece` positions of long rows.
 */
typedef PW_COMPUTE(in0) acc_t;
typedef PW_COMPUTEN(in0, 8) acc_v;

#if PW_IS_DOUBLE(in0)
#define SILU(v) ((v) / (1 + exp(-(v))))
#define SILU8(v) SILU(v)
#else
#define SILU(v) ((v) * pw_sigmoid_1(v))
#define SILU8(v) ((v) * pw_sigmoid_8(v))
#endif

static inline acc_t sample(__global const PW_TYPE(in0) *x, __global const PW_TYPE(in0) *past, long row, int length,
                           int state, int at)
{
    if (at >= state)
        return PW_AT_LOAD(in0, x, row * length + at - state);
    return past ? PW_AT_LOAD(in0, past, row * state + at) : (acc_t)0;
}

__kernel void causal_conv(__global const PW_TYPE(in0) *x, __global const PW_TYPE(in0) *w,
                          __global const PW_TYPE(in0) *bias, __global const PW_TYPE(in0) *past,
                          __global PW_TYPE(out0) *y, long rows, int channels, int length, int taps, int active,
                          int rows_each, int piece)
{
    long row = (long)get_global_id(1) * rows_each, last = min(row + rows_each, rows);
    int begin = (int)get_global_id(0) * piece, end = min(begin + piece, length), state = taps - 1;

    for (; row < last; row++) {
        int c = (int)(row % channels), t = begin;
        long at = row * length, tap = (long)c * taps;
        acc_t start = bias ? PW_AT_LOAD(in0, bias, c) : (acc_t)0;

        for (; t < end; t++) {
            acc_t sum = start;

            for (; t >= state && t + 8 <= end; t += 8) {
                acc_v wide = (acc_v)(start);

                for (int j = 0; j < taps; j++)
                    wide = fma((acc_v)(PW_AT_LOAD(in0, w, tap + j)), PW_AT_LOAD8(in0, x, at + t - state + j), wide);
                if (active)
                    wide = SILU8(wide);
                PW_AT_STORE8(out0, y, at + t, wide);
            }
            if (t >= end)
                break;
            for (int j = 0; j < taps; j++)
                sum = fma(PW_AT_LOAD(in0, w, tap + j), sample(x, past, row, length, state, t + j), sum);
            if (active)
                sum = SILU(sum);
            PW_AT_STORE(out0, y, at + t, sum);
        }
    }
}

/* The last taps - 1 of past and x, copied. */
__kernel void causal_state(__global const PW_TYPE(in0) *x, __global const PW_TYPE(in0) *past,
                           __global PW_TYPE(in0) *present, long rows, int length, int taps, int rows_each)
{
    long row = (long)get_global_id(0) * rows_each, last = min(row + rows_each, rows);
    int state = taps - 1;

    for (; row < last; row++) {
        for (int j = 0; j < state; j++) {
            int from = length + j;

            present[row * state + j] = from >= state ? x[row * length + from - state]
                                       : past        ? past[row * state + from]
                                                     : (PW_TYPE(in0))0;
        }
    }
}
