/*
 * The pointwise part of a step, for one sample, in one carrier. recurrent_ref.c includes this file twice:
 * with REAL double and libm (golden), and with REAL float and base/approx.h (fast). CELL(name) makes the
 * names row_act_double, lstm_row_float, …; EXP and TANH are the functions of the carrier.
 * Plain loops over rows of `n` elements, so that they vectorise. No other user.
 */

CELL_HOT static void CELL(row_act)(const struct pw_recurrent_activation *act, const struct pw_recurrent *r, REAL *x,
                                   int64_t n)
{
    REAL a = (REAL)act->alpha, b = (REAL)act->beta;

    if (r->clips) {
        REAL limit = (REAL)r->clip;

        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
    }
#define EACH(expression)                                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        REAL v = x[i];                                                                                                 \
        x[i] = (expression);                                                                                           \
    }                                                                                                                  \
    break
    switch (act->kind) {
    case PW_ACT_SIGMOID:
        EACH(1 / (1 + EXP(-v)));
    case PW_ACT_TANH:
        EACH(TANH(v));
    case PW_ACT_RELU:
        EACH(v > 0 ? v : v != v ? v : 0);
    case PW_ACT_AFFINE:
        EACH(a * v + b);
    case PW_ACT_LEAKY_RELU:
        EACH(v < 0 ? a * v : v);
    case PW_ACT_THRESHOLDED_RELU:
        EACH(v > a ? v : v != v ? v : 0);
    case PW_ACT_SCALED_TANH:
        EACH(a * TANH(b * v));
    case PW_ACT_HARD_SIGMOID:
        EACH(a * v + b < 0 ? 0 : a * v + b > 1 ? 1 : a * v + b);
    case PW_ACT_ELU:
        EACH(v < 0 ? a * (EXP(v) - 1) : v);
    case PW_ACT_SOFTSIGN:
        EACH(v / (1 + (v < 0 ? -v : v)));
    case PW_ACT_SOFTPLUS:
        EACH((v > 0 ? v : 0) + LOG1P(EXP(v > 0 ? -v : v)));
    default:
        break;
    }
#undef EACH
}

/* g += h, element by element, and p * c where there are peepholes. */
CELL_HOT static void CELL(add_rows)(REAL *restrict g, const REAL *restrict h, const REAL *restrict p,
                                    const REAL *restrict c, int64_t n)
{
    if (p) {
        for (int64_t i = 0; i < n; i++)
            g[i] += h[i] + p[i] * c[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            g[i] += h[i];
    }
}

CELL_HOT static void CELL(blend)(REAL *restrict y, const REAL *restrict a, const REAL *restrict b,
                                 const REAL *restrict c, int64_t n)
{
    for (int64_t i = 0; i < n; i++) /* y = a*y + b*c */
        y[i] = a[i] * y[i] + b[i] * c[i];
}

/* Gates i, o, f, c in g (inputs and biases) and hr (hidden); h and c are updated. */
static void CELL(lstm_row)(const struct pw_recurrent *r, const struct pw_recurrent_activation *act, REAL *g,
                           const REAL *hr, const REAL *p, REAL *h, REAL *c)
{
    int64_t n = r->hidden;
    REAL *gate_i = g, *gate_o = g + n, *gate_f = g + 2 * n, *gate_c = g + 3 * n;

    CELL(add_rows)(gate_i, hr, p, c, n);
    CELL(row_act)(&act[0], r, gate_i, n);
    CELL(add_rows)(gate_f, hr + 2 * n, p ? p + 2 * n : NULL, c, n);
    CELL(row_act)(&act[0], r, gate_f, n);
    for (int64_t j = 0; j < n && r->input_forget; j++)
        gate_f[j] = 1 - gate_i[j];
    CELL(add_rows)(gate_c, hr + 3 * n, NULL, NULL, n);
    CELL(row_act)(&act[1], r, gate_c, n);
    CELL(blend)(c, gate_f, gate_i, gate_c, n);
    CELL(add_rows)(gate_o, hr + n, p ? p + n : NULL, c, n);
    CELL(row_act)(&act[0], r, gate_o, n);
    memcpy(h, c, (size_t)n * sizeof *h);
    CELL(row_act)(&act[2], r, h, n);
    for (int64_t j = 0; j < n; j++)
        h[j] *= gate_o[j];
}

/* Gates z, r of g; rh = r * h. */
static void CELL(gru_gates)(const struct pw_recurrent *r, const struct pw_recurrent_activation *act, REAL *g,
                            const REAL *hr, const REAL *h, REAL *rh)
{
    int64_t n = r->hidden;

    CELL(add_rows)(g, hr, NULL, NULL, 2 * n);
    CELL(row_act)(&act[0], r, g, 2 * n);
    for (int64_t j = 0; j < n; j++)
        rh[j] = g[n + j] * h[j];
}

/* The candidate: hh is (r*h) R_h, or h R_h when the reset comes after the product (with its bias). */
static void CELL(gru_row)(const struct pw_recurrent *r, const struct pw_recurrent_activation *act, REAL *g,
                          const REAL *hh, const REAL *hidden_bias, REAL *h)
{
    int64_t n = r->hidden;
    REAL *candidate = g + 2 * n;

    for (int64_t j = 0; j < n; j++) {
        if (r->linear_before_reset)
            candidate[j] += g[n + j] * (hh[j] + (hidden_bias ? hidden_bias[j] : 0));
        else
            candidate[j] += hh[j];
    }
    CELL(row_act)(&act[1], r, candidate, n);
    for (int64_t j = 0; j < n; j++)
        h[j] = (1 - g[j]) * candidate[j] + g[j] * h[j];
}

static void CELL(rnn_row)(const struct pw_recurrent *r, const struct pw_recurrent_activation *act, REAL *g,
                          const REAL *hr, REAL *h)
{
    CELL(add_rows)(g, hr, NULL, NULL, r->hidden);
    CELL(row_act)(&act[0], r, g, r->hidden);
    memcpy(h, g, (size_t)r->hidden * sizeof *h);
}
