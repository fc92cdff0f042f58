/*
 * LinearAttention. The columns of a head's state do not know of each other: a work-item takes LANES of them through all
 * tokens, its part of the state [size][LANES] in scratch (a few kilobytes: the nearest cache).
 *   linear_gates  exp(decay) once
 *   linear_heads  decay and k^T S in one pass over the state, writing and reading for the first query head in the next
 */
typedef PW_COMPUTE(in0) acc_t;
#if PW_IS_DOUBLE(in0)
#define LANES 4
#define EXP_1(x) exp(x)
#else
#define LANES 8
#define EXP_1(x) pw_exp_1(x)
#endif
typedef PW_VEC(PW_COMPUTE(in0), LANES) acc_v;

#define VLOAD(i, p) PW_CAT(vload, LANES)(i, p)
#define VSTORE(v, i, p) PW_CAT(vstore, LANES)(v, i, p)

__kernel void linear_gates(__global const PW_TYPE(in4) *decay, __global acc_t *gates, int size, int each)
{
    int i = get_global_id(0) * each, end = min(i + each, size);

    for (; i < end; i++)
        gates[i] = EXP_1(PW_AT_LOAD(in4, decay, i));
}

/* LANES elements from `at` on, zeros after `count`. */
static inline acc_v some(__global const PW_TYPE(in0) *p, long at, int count)
{
    acc_t lanes[LANES];

    if (count >= LANES)
        return PW_AT_LOADN(in0, LANES, p, at);
    for (int i = 0; i < LANES; i++)
        lanes[i] = i < count ? PW_AT_LOAD(in0, p, at + i) : (acc_t)0;
    return VLOAD(0, lanes);
}

static inline void keep(__global PW_TYPE(out0) *p, long at, int count, acc_v v)
{
    acc_t lanes[LANES];

    if (count >= LANES) {
        PW_AT_STOREN(out0, LANES, p, at, v);
        return;
    }
    VSTORE(v, 0, lanes);
    for (int i = 0; i < count; i++)
        PW_AT_STORE(out0, p, at + i, lanes[i]);
}

__kernel void linear_heads(__global const PW_TYPE(in0) *q, __global const PW_TYPE(in0) *k,
                           __global const PW_TYPE(in0) *v, __global const PW_TYPE(in3) *past, __global acc_t *gates,
                           __global const PW_TYPE(in0) *beta, __global PW_TYPE(out0) *y,
                           __global PW_TYPE(out1) *present, __global acc_t *states, int tokens, int heads,
                           int kv_heads, int size, int values, int decays, int betas, float factor)
{
    int column = get_global_id(0) * LANES, h = get_global_id(1), b = get_global_id(2);
    int count = min(LANES, values - column), group = heads / kv_heads;
    long head = (long)b * kv_heads + h, state_at = head * size * values + column;
    __global acc_t *state = states + (head * get_global_size(0) + get_global_id(0)) * size * LANES;

    for (int d = 0; d < size; d++) {
        for (int i = 0; i < LANES; i++)
            state[d * LANES + i] = past && i < count ? PW_AT_LOAD(in3, past, state_at + (long)d * values + i) : (acc_t)0;
    }
    for (int t = 0; t < tokens; t++) {
        long at = ((long)b * tokens + t) * kv_heads + h, k_at = at * size;
        long q_at = (((long)b * tokens + t) * heads + (long)h * group) * size;
        acc_v update = some(v, at * values + column, count), sum = (acc_v)(0);

        if (decays || betas) {
            for (int d = 0; d < size; d++) {
                acc_v s = VLOAD(d, state);

                if (decays)
                    s *= gates[decays == 1 ? at : k_at + d];
                sum = fma(s, (acc_v)(PW_AT_LOAD(in0, k, k_at + d)), sum);
                VSTORE(s, d, state);
            }
        }
        if (betas)
            update = (update - sum) * PW_AT_LOAD(in0, beta, betas == 1 ? (long)b * tokens + t : at);
        sum = (acc_v)(0);
        for (int d = 0; d < size; d++) {
            acc_v s = fma((acc_v)(PW_AT_LOAD(in0, k, k_at + d)), update, VLOAD(d, state));

            VSTORE(s, d, state);
            sum = fma((acc_v)(PW_AT_LOAD(in0, q, q_at + d)), s, sum);
        }
        for (int g = 0; g < group; g++, q_at += size) {
            if (g > 0) {
                sum = (acc_v)(0);
                for (int d = 0; d < size; d++)
                    sum = fma((acc_v)(PW_AT_LOAD(in0, q, q_at + d)), VLOAD(d, state), sum);
            }
            keep(y, (((long)b * tokens + t) * heads + (long)h * group + g) * values + column, count,
                 sum * (acc_t)factor);
        }
    }
    for (int d = 0; present && d < size; d++) {
        for (int i = 0; i < count; i++)
            PW_AT_STORE(out1, present, state_at + (long)d * values + i, state[d * LANES + i]);
    }
}
