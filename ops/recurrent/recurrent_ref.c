#include <math.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "ops/recurrent/recurrent_room.h"
#include "tensor/blas.h"

/*
 * For each direction: one product of all inputs with W, then a product of the hidden state with R and
 * the pointwise cell for each step. Golden in double with dgemm, fast in float with sgemm.
 */

#define REAL double
#define CELL(name) name##_double
#define CELL_HOT
#define EXP exp
#define TANH tanh
#define LOG1P log1p
#include "ops/recurrent/recurrent_cells.h"
#undef REAL
#undef CELL
#undef CELL_HOT
#undef EXP
#undef TANH
#undef LOG1P

#define REAL float
#define CELL(name) name##_float
#define CELL_HOT PW_HOT
#define EXP pw_approx_exp
#define TANH pw_approx_tanh
#define LOG1P log1pf
#include "ops/recurrent/recurrent_cells.h"
#undef REAL
#undef CELL
#undef CELL_HOT
#undef EXP
#undef TANH
#undef LOG1P

/* One direction at work. All arrays in the carrier. */
struct run {
    const struct pw_recurrent *r;
    bool is_double;
    size_t size; /* of an element */
    const void *x, *w, *hidden, *bias, *initial_h, *initial_c, *peepholes;
    const int32_t *lengths; /* NULL: all full */
    const struct pw_recurrent_activation *act;
    void *gates;         /* [sequence*batch][gates*hidden], rows as X lies */
    void *products;      /* [batch][gates*hidden] */
    void *h, *c, *reset; /* [batch][hidden] */
    void *y, *y_h, *y_c; /* outputs, or NULL */
    int direction;
    bool backwards;
};

static void *at(const struct run *run, const void *base, int64_t element)
{
    return base ? (char *)(uintptr_t)base + (size_t)element * run->size : NULL;
}

static void product(const struct run *run, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c,
                    int64_t ldc)
{
    if (run->is_double)
        pw_blas_dgemm(false, true, m, n, k, 1.0, a, k, b, k, 0.0, c, ldc);
    else
        pw_blas_sgemm(false, true, m, n, k, 1.0f, a, k, b, k, 0.0f, c, ldc);
}

static double get(const struct run *run, const void *base, int64_t i)
{
    return run->is_double ? ((const double *)base)[i] : (double)((const float *)base)[i];
}

/* Adds the input biases and, but for GRU's candidate with linear_before_reset, the hidden ones. */
static void add_bias(const struct run *run)
{
    const struct pw_recurrent *r = run->r;
    int64_t n = r->form->gates * r->hidden, rows = r->sequence * r->batch;
    int64_t both = r->form->cell == PW_RECURRENT_GRU && r->linear_before_reset ? 2 * r->hidden : n;

    for (int64_t i = 0; i < rows && run->bias; i++) {
        for (int64_t j = 0; j < n; j++) {
            double add = get(run, run->bias, j) + (j < both ? get(run, run->bias, n + j) : 0.0);

            if (run->is_double)
                ((double *)run->gates)[i * n + j] += add;
            else
                ((float *)run->gates)[i * n + j] += (float)add;
        }
    }
}

/* Sample b at position t: in X and the gates, in Y, in the states. */
static int64_t input_row(const struct pw_recurrent *r, int64_t t, int64_t b)
{
    return r->batch_first ? b * r->sequence + t : t * r->batch + b;
}

static int64_t output_row(const struct run *run, int64_t t, int64_t b)
{
    const struct pw_recurrent *r = run->r;

    return r->batch_first ? (b * r->sequence + t) * r->directions + run->direction
                          : (t * r->directions + run->direction) * r->batch + b;
}

static int64_t state_row(const struct run *run, int64_t b)
{
    const struct pw_recurrent *r = run->r;

    return r->batch_first ? b * r->directions + run->direction : run->direction * r->batch + b;
}

static void copy_rows(const struct run *run, void *to, int64_t to_row, const void *from, int64_t from_row)
{
    size_t bytes = (size_t)run->r->hidden * run->size;

    if (to && from)
        memcpy((char *)to + (size_t)to_row * bytes, (const char *)from + (size_t)from_row * bytes, bytes);
}

static int64_t length_of(const struct run *run, int64_t b)
{
    return run->lengths ? run->lengths[b] : run->r->sequence;
}

static void cell(const struct run *run, void *g, int64_t b)
{
    const struct pw_recurrent *r = run->r;
    int64_t n = r->hidden, width = r->form->gates * n;
    void *hr = at(run, run->products, b * width), *h = at(run, run->h, b * n), *c = at(run, run->c, b * n);

    if (r->form->cell == PW_RECURRENT_LSTM && run->is_double)
        lstm_row_double(r, run->act, g, hr, run->peepholes, h, c);
    else if (r->form->cell == PW_RECURRENT_LSTM)
        lstm_row_float(r, run->act, g, hr, run->peepholes, h, c);
    else if (r->form->cell == PW_RECURRENT_RNN && run->is_double)
        rnn_row_double(r, run->act, g, hr, h);
    else if (r->form->cell == PW_RECURRENT_RNN)
        rnn_row_float(r, run->act, g, hr, h);
    else if (run->is_double)
        gru_row_double(r, run->act, g, at(run, hr, 2 * n), at(run, run->bias, width + 2 * n), h);
    else
        gru_row_float(r, run->act, g, at(run, hr, 2 * n), at(run, run->bias, width + 2 * n), h);
}

/* GRU's gates z and r of all samples, and the second product when the reset comes before it. */
static void gru_before(const struct run *run, const int64_t *rows)
{
    const struct pw_recurrent *r = run->r;
    int64_t n = r->hidden, width = 3 * n;

    for (int64_t b = 0; b < r->batch; b++) {
        void *g = at(run, run->gates, rows[b] * width), *hr = at(run, run->products, b * width);

        if (rows[b] < 0)
            continue;
        if (run->is_double)
            gru_gates_double(r, run->act, g, hr, at(run, run->h, b * n), at(run, run->reset, b * n));
        else
            gru_gates_float(r, run->act, g, hr, at(run, run->h, b * n), at(run, run->reset, b * n));
    }
    if (!r->linear_before_reset)
        product(run, r->batch, n, n, run->reset, at(run, run->hidden, 2 * n * n), at(run, run->products, 2 * n), width);
}

/* rows[b]: where sample b's gates of this step lie, -1 when it is over. */
static void step(const struct run *run, int64_t s, int64_t *rows)
{
    const struct pw_recurrent *r = run->r;
    int64_t n = r->hidden, width = r->form->gates * n;
    bool gru = r->form->cell == PW_RECURRENT_GRU;

    for (int64_t b = 0; b < r->batch; b++) {
        int64_t length = length_of(run, b);

        rows[b] = s < length ? input_row(r, run->backwards ? length - 1 - s : s, b) : -1;
    }
    product(run, r->batch, gru && !r->linear_before_reset ? 2 * n : width, n, run->h, run->hidden, run->products,
            width);
    if (gru)
        gru_before(run, rows);
    for (int64_t b = 0; b < r->batch; b++) {
        int64_t length = length_of(run, b);

        if (rows[b] < 0)
            continue;
        cell(run, at(run, run->gates, rows[b] * width), b);
        copy_rows(run, run->y, output_row(run, run->backwards ? length - 1 - s : s, b), run->h, b);
    }
}

static void direction(struct run *run, int64_t *rows)
{
    const struct pw_recurrent *r = run->r;
    size_t state = (size_t)(r->batch * r->hidden) * run->size;
    int64_t width = r->form->gates * r->hidden;

    memset(run->h, 0, state);
    memset(run->c, 0, state);
    for (int64_t b = 0; b < r->batch; b++) {
        copy_rows(run, run->h, b, run->initial_h, state_row(run, b));
        copy_rows(run, run->c, b, run->initial_c, state_row(run, b));
    }
    product(run, r->sequence * r->batch, width, r->input, run->x, run->w, run->gates, width);
    add_bias(run);
    for (int64_t s = 0; s < r->sequence; s++)
        step(run, s, rows);
    for (int64_t b = 0; b < r->batch; b++) {
        copy_rows(run, run->y_h, state_row(run, b), run->h, b);
        copy_rows(run, run->y_c, state_row(run, b), run->c, b);
    }
}

/* ---- entry point ---- */

static pw_status check_lengths(const struct pw_eval *ev, const struct pw_recurrent *r, struct pw_error *err)
{
    const struct pw_tensor *lengths = pw_eval_in(ev, 4);

    for (int64_t b = 0; lengths && b < lengths->count; b++) {
        int64_t length = pw_tensor_get_int(lengths, b);

        if (length < 0 || length > r->sequence)
            return pw_call_error(ev->call, err, "sequence_lens[%lld] is %lld, of at most %lld", (long long)b,
                                 (long long)length, (long long)r->sequence);
    }
    return PW_OK;
}

static pw_status make_outputs(struct pw_eval *ev, struct run *run, struct pw_error *err)
{
    void **to[] = {&run->y, &run->y_h, &run->y_c};

    for (int i = 0; i < ev->output_count && i < 3; i++) {
        const struct pw_info *info = &ev->call->out[i];
        struct pw_tensor *made = NULL;
        pw_status status;

        if (ev->call->wanted && !ev->call->wanted[i])
            continue;
        status = pw_eval_output(ev, i, pw_eval_in(ev, 0)->nominal, info->rank, info->dims, &made, err);
        if (status != PW_OK)
            return status;
        *to[i] = made->data;
    }
    return PW_OK;
}

/* Working memory in one piece: gates, products, h, c, reset. */
static pw_status allocate(const struct pw_recurrent *r, struct run *run, void **memory, struct pw_error *err)
{
    int64_t width = r->form->gates * r->hidden, rows, gates, products, state;
    bool fits = !__builtin_mul_overflow(r->sequence, r->batch, &rows) && !__builtin_mul_overflow(rows, width, &gates) &&
                !__builtin_mul_overflow(r->batch, width, &products) && gates < INT64_MAX / 64 &&
                products < INT64_MAX / 64;

    state = fits ? r->batch * r->hidden : 0;
    *memory = fits ? pw_calloc((size_t)(gates + products + 3 * state) + 1, run->size) : NULL;
    if (!*memory)
        return pw_error_memory(err, fits ? (size_t)gates * run->size : SIZE_MAX);
    run->gates = *memory;
    run->products = at(run, run->gates, gates);
    run->h = at(run, run->products, products);
    run->c = at(run, run->h, state);
    run->reset = at(run, run->c, state);
    return PW_OK;
}

static const void *data_of(struct pw_eval *ev, int i)
{
    const struct pw_tensor *t = pw_eval_in(ev, i);

    return t ? t->data : NULL;
}

pw_status pw_recurrent_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_recurrent r;
    struct run run = {.r = &r}, one;
    void *memory = NULL;
    int64_t *rows = NULL, gates_rows;
    pw_status status = pw_recurrent_read(ev->call, &r, err);

    if (status == PW_OK)
        status = pw_recurrent_sizes(ev->call, &r, err);
    if (status == PW_OK)
        status = check_lengths(ev, &r, err);
    if (status != PW_OK)
        return status;
    run.is_double = pw_eval_in(ev, 0)->dtype == PW_DTYPE_FLOAT64;
    run.size = run.is_double ? sizeof(double) : sizeof(float);
    status = make_outputs(ev, &run, err);
    if (status == PW_OK)
        status = allocate(&r, &run, &memory, err);
    if (status != PW_OK)
        return status;
    rows = pw_calloc((size_t)r.batch + 1, sizeof *rows);
    if (!rows) {
        status = pw_error_memory(err, (size_t)r.batch * sizeof *rows);
        goto done;
    }
    run.x = data_of(ev, 0);
    run.lengths = data_of(ev, 4);
    run.initial_h = data_of(ev, 5);
    run.initial_c = r.form->cell == PW_RECURRENT_LSTM ? data_of(ev, 6) : NULL;
    gates_rows = r.form->gates * r.hidden;
    for (int d = 0; d < r.directions; d++) {
        one = run;
        one.direction = d;
        one.backwards = r.reverse || d == 1;
        one.act = &r.act[3 * d];
        one.w = at(&run, data_of(ev, 1), d * gates_rows * r.input);
        one.hidden = at(&run, data_of(ev, 2), d * gates_rows * r.hidden);
        one.bias = at(&run, data_of(ev, 3), d * 2 * gates_rows);
        if (r.form->cell == PW_RECURRENT_LSTM)
            one.peepholes = at(&run, data_of(ev, 7), d * 3 * r.hidden);
        direction(&one, rows);
    }
done:
    pw_free(memory);
    pw_free(rows);
    return status;
}
