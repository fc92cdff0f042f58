/*
 * RNN, GRU and LSTM in two launches (after packing W and R once):
 *   recurrent_pack    weights [direction][gates*hidden][K] to [direction][gate][panel][K][32], zero past `hidden`
 *   recurrent_input   gates = X W^T + bias for all steps: a work-item computes 2 rows x 32 columns at a time
 *   recurrent_steps   a work-item runs a sample of a direction through all steps: the product of its hidden state
 *                     with R, then the cell. Steps depend on each other, samples and directions do not.
 * padded = hidden rounded up to 32. Arithmetic in float (double for float64). CELL is RNN, GRU or LSTM; in0… are
 * X, W, R, B, sequence_lens, initial_h, initial_c, P.
 * state of a sample: h, c (or r*h), candidate's product: 3 rows of `padded`, then gates * padded products.
 */
typedef PW_COMPUTE(in0) acc_t;
typedef PW_COMPUTE8(in0) acc_8;
#define PANEL 32
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define cell_gates_RNN 1
#define cell_gates_GRU 3
#define cell_gates_LSTM 4
#define GATES PW_CAT(cell_gates_, CELL)

#define LOAD8(p) vload8(0, p)
#define PANEL_STEP(s, value, w) \
    { \
        acc_8 a = (acc_8)(value); \
        s##0 = fma(a, vload8(0, w), s##0); \
        s##1 = fma(a, vload8(1, w), s##1); \
        s##2 = fma(a, vload8(2, w), s##2); \
        s##3 = fma(a, vload8(3, w), s##3); \
    }
#define PANEL_ZERO(s) acc_8 s##0 = (acc_8)(0), s##1 = s##0, s##2 = s##0, s##3 = s##0;

__kernel ONE_ITEM void recurrent_pack(__global const PW_TYPE(in1) *in1, __global acc_t *packed, int hidden, int K)
{
    int panel = get_global_id(0), panels = get_global_size(0), gate = get_global_id(1), direction = get_global_id(2);
    int cols = min(PANEL, hidden - panel * PANEL);
    long row = ((long)direction * GATES + gate) * hidden + panel * PANEL;
    __global acc_t *to = packed + (((long)direction * GATES + gate) * panels + panel) * K * PANEL;

    for (int j = 0; j < PANEL; j++) {
        for (int k = 0; k < K; k++)
            to[(long)k * PANEL + j] = j < cols ? PW_LOAD(in1, (row + j) * K + k) : (acc_t)0;
    }
}

/* Rows r0.. of X times one panel; bias of the panel's columns added. Grid: panels of all gates, row blocks,
 * directions. GRU's candidate takes its hidden bias later when the reset follows the product. */
__kernel ONE_ITEM void recurrent_input(__global const PW_TYPE(in0) *in0, __global const acc_t *packed,
                                       __global const PW_TYPE(in3) *in3, __global acc_t *gates, int rows, int each,
                                       int K, int hidden, int padded, int linear_before)
{
    int panel = get_global_id(0), gate = panel * PANEL / padded, first = panel * PANEL % padded;
    int direction = get_global_id(2), r = get_global_id(1) * each, last = min(r + each, rows);
    __global const acc_t *w = packed + ((long)direction * GATES * padded + panel * PANEL) * K;
    acc_t bias[PANEL];

    for (int j = 0; j < PANEL; j++) {
        long at = (long)direction * 2 * GATES * hidden + gate * hidden + first + j;

        bias[j] = 0;
        if (in3 && first + j < hidden) {
            bias[j] = PW_LOAD(in3, at);
            if (!(linear_before && gate == 2))
                bias[j] += PW_LOAD(in3, at + GATES * hidden);
        }
    }
    for (; r < last; r += 2) {
        long x0 = (long)r * K, x1 = (long)min(r + 1, last - 1) * K;
        __global acc_t *to = gates + ((long)direction * rows + r) * GATES * padded + panel * PANEL;
        PANEL_ZERO(s)
        PANEL_ZERO(t)

        for (int k = 0; k < K; k++) {
            PANEL_STEP(s, PW_LOAD(in0, x0 + k), w + (long)k * PANEL)
            PANEL_STEP(t, PW_LOAD(in0, x1 + k), w + (long)k * PANEL)
        }
        vstore8(s0 + vload8(0, bias), 0, to);
        vstore8(s1 + vload8(1, bias), 1, to);
        vstore8(s2 + vload8(2, bias), 2, to);
        vstore8(s3 + vload8(3, bias), 3, to);
        if (r + 1 < last) {
            to += GATES * padded;
            vstore8(t0 + vload8(0, bias), 0, to);
            vstore8(t1 + vload8(1, bias), 1, to);
            vstore8(t2 + vload8(2, bias), 2, to);
            vstore8(t3 + vload8(3, bias), 3, to);
        }
    }
}

/* to[0..count) = h (K elements) times panels of packed R. */
static inline void hidden_product(__global const acc_t *h, int K, __global const acc_t *w, __global acc_t *to, int count)
{
    for (int c = 0; c < count; c += PANEL, w += (long)K * PANEL, to += PANEL) {
        int k = 0;
        PANEL_ZERO(s)
        PANEL_ZERO(t)

        for (; k + 2 <= K; k += 2) {
            PANEL_STEP(s, h[k], w + (long)k * PANEL)
            PANEL_STEP(t, h[k + 1], w + (long)(k + 1) * PANEL)
        }
        if (k < K)
            PANEL_STEP(s, h[k], w + (long)k * PANEL)
        vstore8(s0 + t0, 0, to);
        vstore8(s1 + t1, 1, to);
        vstore8(s2 + t2, 2, to);
        vstore8(s3 + t3, 3, to);
    }
}

#if PW_IS_DOUBLE(in0)
#define EXP_8(x) exp(x)
#define TANH_8(x) tanh(x)
#define SIGMOID_8(x) ((acc_8)(1) / ((acc_8)(1) + exp(-(x))))
#else
#define EXP_8(x) pw_exp_8(x)
#define TANH_8(x) pw_tanh_8(x)
#define SIGMOID_8(x) pw_sigmoid_8(x)
#endif

/* act: kind (numbers as in the room's enum), and alpha and beta as the bits of floats. */
static inline acc_8 activate(__global const int *act, float bound, acc_8 x)
{
    acc_8 a = (acc_8)((acc_t)as_float(act[1])), b = (acc_8)((acc_t)as_float(act[2])), zero = (acc_8)(0), one = zero + 1;

    if (bound < 3e38f) {
        x = x > (acc_8)((acc_t)bound) ? (acc_8)((acc_t)bound) : x;
        x = x < (acc_8)((acc_t)-bound) ? (acc_8)((acc_t)-bound) : x;
    }
    switch (act[0]) {
    case 0:
        return SIGMOID_8(x);
    case 1:
        return TANH_8(x);
    case 2:
        return x <= zero ? zero : x; /* NaN stays */
    case 3:
        return a * x + b;
    case 4:
        return x < zero ? a * x : x;
    case 5:
        return x <= a ? zero : x;
    case 6:
        return a * TANH_8(b * x);
    case 7:
        x = a * x + b;
        x = x < zero ? zero : x;
        return x > one ? one : x;
    case 8:
        return x < zero ? a * (EXP_8(x) - one) : x;
    case 9:
        return x / (one + fabs(x));
    default:
        return (x > zero ? x : zero) + log1p(EXP_8(-fabs(x)));
    }
}

/* 8 elements of a parameter whose rows are `hidden` long; zero past the end. */
static inline acc_8 padded8(__global const PW_TYPE(in0) *p, long at, int left)
{
    acc_t v[8];

    if (left >= 8)
        return PW_AT_LOAD8(in0, p, at);
    for (int i = 0; i < 8; i++)
        v[i] = i < left ? PW_AT_LOAD(in0, p, at + i) : (acc_t)0;
    return vload8(0, v);
}

static inline void put8(__global PW_TYPE(in0) *y, long at, acc_8 v, int left)
{
    acc_t out[8];

    if (left >= 8) {
        PW_AT_STORE8(in0, y, at, v);
        return;
    }
    vstore8(v, 0, out);
    for (int i = 0; i < left; i++)
        PW_AT_STORE(in0, y, at + i, out[i]);
}

static inline void put_row(__global PW_TYPE(in0) *y, long row, __global const acc_t *from, int hidden)
{
    for (int j = 0; y && j < hidden; j += 8)
        put8(y, row * hidden + j, from ? LOAD8(from + j) : (acc_8)(0), hidden - j);
}

__kernel ONE_ITEM void recurrent_steps(__global const acc_t *gates, __global const acc_t *packed,
                                       __global const PW_TYPE(in3) *in3, __global const int *in4,
                                       __global const PW_TYPE(in5) *in5, __global PW_TYPE(out0) *out0,
                                       __global PW_TYPE(out1) *out1, __global acc_t *state,
                                       __global const int *activation, int sequence, int batch, int hidden, int padded,
                                       int directions, int reversed, int batch_first, int linear_before, float bound
#if GATES == 4
                                       ,
                                       __global const PW_TYPE(in6) *in6, __global const PW_TYPE(in7) *in7,
                                       __global PW_TYPE(out2) *out2, int coupled
#endif
)
{
    int sample = get_global_id(0), d = get_global_id(1), length = in4 ? min(max(in4[sample], 0), sequence) : sequence;
    long states = batch_first ? (long)sample * directions + d : (long)d * batch + sample;
    __global acc_t *h = state + ((long)d * batch + sample) * (3 + GATES) * padded, *c = h + padded;
    __global acc_t *other = c + padded, *products = other + padded;
    __global const acc_t *r = packed + (long)d * GATES * padded * hidden;
    __global const int *act = activation + 9 * d;

    for (int j = 0; j < padded; j += 8) {
        vstore8(in5 ? padded8(in5, states * hidden + j, hidden - j) : (acc_8)(0), 0, h + j);
#if GATES == 4
        vstore8(in6 ? padded8(in6, states * hidden + j, hidden - j) : (acc_8)(0), 0, c + j);
#endif
    }
    for (int s = 0; s < length; s++) {
        int t = reversed || d == 1 ? length - 1 - s : s;
        long row = batch_first ? (long)sample * sequence + t : (long)t * batch + sample;
        __global const acc_t *g = gates + ((long)d * sequence * batch + row) * GATES * padded;

#if GATES == 1
        hidden_product(h, hidden, r, products, padded);
        for (int j = 0; j < padded; j += 8)
            vstore8(activate(act, bound, LOAD8(g + j) + LOAD8(products + j)), 0, h + j);
#elif GATES == 3
        hidden_product(h, hidden, r, products, linear_before ? 3 * padded : 2 * padded);
        for (int j = 0; j < 2 * padded; j += 8) /* z and r stay in products */
            vstore8(activate(act, bound, LOAD8(g + j) + LOAD8(products + j)), 0, products + j);
        if (linear_before) {
            for (int j = 0; j < padded; j += 8) {
                acc_8 v = LOAD8(products + 2 * padded + j);

                if (in3)
                    v += padded8(in3, ((long)d * 2 * GATES + GATES + 2) * hidden + j, hidden - j);
                vstore8(LOAD8(products + padded + j) * v, 0, other + j);
            }
        } else {
            for (int j = 0; j < padded; j += 8)
                vstore8(LOAD8(products + padded + j) * LOAD8(h + j), 0, c + j);
            hidden_product(c, hidden, r + 2L * padded * hidden, other, padded);
        }
        for (int j = 0; j < padded; j += 8) {
            acc_8 z = LOAD8(products + j), v = activate(act + 3, bound, LOAD8(g + 2 * padded + j) + LOAD8(other + j));

            vstore8(((acc_8)(1) - z) * v + z * LOAD8(h + j), 0, h + j);
        }
#else
        hidden_product(h, hidden, r, products, 4 * padded);
        for (int j = 0; j < padded; j += 8) {
            int left = hidden - j;
            long p = (long)d * 3 * hidden + j;
            acc_8 old = LOAD8(c + j), i = LOAD8(g + j) + LOAD8(products + j);
            acc_8 o = LOAD8(g + padded + j) + LOAD8(products + padded + j);
            acc_8 f = LOAD8(g + 2 * padded + j) + LOAD8(products + 2 * padded + j);
            acc_8 v = LOAD8(g + 3 * padded + j) + LOAD8(products + 3 * padded + j);

            if (in7) {
                i += padded8(in7, p, left) * old;
                f += padded8(in7, p + 2 * hidden, left) * old;
            }
            i = activate(act, bound, i);
            f = coupled ? (acc_8)(1) - i : activate(act, bound, f);
            v = f * old + i * activate(act + 3, bound, v);
            if (in7)
                o += padded8(in7, p + hidden, left) * v;
            vstore8(v, 0, c + j);
            vstore8(activate(act, bound, o) * activate(act + 6, bound, v), 0, h + j);
        }
#endif
        put_row(out0, batch_first ? row * directions + d : ((long)t * directions + d) * batch + sample, h, hidden);
    }
    for (int t = length; t < sequence; t++) /* past the sample's length */
        put_row(out0,
                batch_first ? ((long)sample * sequence + t) * directions + d
                            : ((long)t * directions + d) * batch + sample,
                0, hidden);
    put_row(out1, states, h, hidden);
#if GATES == 4
    put_row(out2, states, c, hidden);
#endif
}
