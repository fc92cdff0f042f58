#include "ops/recurrent/recurrent_room.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

enum { X, W, R, B, SEQUENCE_LENS, INITIAL_H, INITIAL_C, P };

/* ---- attributes ---- */

static const struct {
    const char *name;
    float alpha, beta; /* defaults */
    bool takes_alpha, takes_beta;
} acts[PW_ACT_COUNT] = {
    [PW_ACT_SIGMOID] = {"Sigmoid", 0.0f, 0.0f, false, false},
    [PW_ACT_TANH] = {"Tanh", 0.0f, 0.0f, false, false},
    [PW_ACT_RELU] = {"Relu", 0.0f, 0.0f, false, false},
    [PW_ACT_AFFINE] = {"Affine", 1.0f, 0.0f, true, true},
    [PW_ACT_LEAKY_RELU] = {"LeakyRelu", 0.01f, 0.0f, true, false},
    [PW_ACT_THRESHOLDED_RELU] = {"ThresholdedRelu", 1.0f, 0.0f, true, false},
    [PW_ACT_SCALED_TANH] = {"ScaledTanh", 1.0f, 1.0f, true, true},
    [PW_ACT_HARD_SIGMOID] = {"HardSigmoid", 0.2f, 0.5f, true, true},
    [PW_ACT_ELU] = {"Elu", 1.0f, 0.0f, true, false},
    [PW_ACT_SOFTSIGN] = {"Softsign", 0.0f, 0.0f, false, false},
    [PW_ACT_SOFTPLUS] = {"Softplus", 0.0f, 0.0f, false, false},
};

static pw_status find_act(const struct pw_call *call, struct pw_bytes name, pw_recurrent_act *out, struct pw_error *err)
{
    char shown[64];

    for (int a = 0; a < PW_ACT_COUNT; a++) {
        if (strlen(acts[a].name) == name.size && strncasecmp(acts[a].name, name.data, name.size) == 0) {
            *out = (pw_recurrent_act)a;
            return PW_OK;
        }
    }
    snprintf(shown, sizeof shown, "%.*s", (int)(name.size < 40 ? name.size : 40), name.data ? name.data : "");
    return pw_call_error(call, err, "unknown activation '%s'", shown);
}

static pw_status read_activations(const struct pw_call *call, struct pw_recurrent *r, struct pw_error *err)
{
    static const pw_recurrent_act usual[3][3] = {[PW_RECURRENT_RNN] = {PW_ACT_TANH},
                                                 [PW_RECURRENT_GRU] = {PW_ACT_SIGMOID, PW_ACT_TANH},
                                                 [PW_RECURRENT_LSTM] = {PW_ACT_SIGMOID, PW_ACT_TANH, PW_ACT_TANH}};
    const struct pw_attr *names = pw_node_attr(call->node, "activations");
    size_t alphas = 0, betas = 0, alpha_at = 0, beta_at = 0;
    const float *alpha = pw_call_floats(call, "activation_alpha", &alphas);
    const float *beta = pw_call_floats(call, "activation_beta", &betas);
    int each = r->form->activations, count = each * r->directions;

    if (names && (names->type != PW_ATTR_STRINGS || names->count < (size_t)count))
        return pw_call_error(call, err, "%zu activations, %d expected", names->count, count);
    for (int i = 0; i < count; i++) {
        struct pw_recurrent_activation *act = &r->act[i / each * 3 + i % each];
        pw_recurrent_act kind = usual[r->form->cell][i % each];

        if (names) {
            pw_status status = find_act(call, names->strings[i], &kind, err);

            if (status != PW_OK)
                return status;
        }
        *act = (struct pw_recurrent_activation){kind, acts[kind].alpha, acts[kind].beta};
        if (acts[kind].takes_alpha && alpha_at < alphas)
            act->alpha = alpha[alpha_at++];
        if (acts[kind].takes_beta && beta_at < betas)
            act->beta = beta[beta_at++];
    }
    return PW_OK;
}

static int64_t int_attr(const struct pw_call *call, const char *name)
{
    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++) {
        if (strcmp(def->name, name) == 0)
            return pw_call_int(call, name);
    }
    return 0;
}

pw_status pw_recurrent_read(const struct pw_call *call, struct pw_recurrent *r, struct pw_error *err)
{
    const char *direction = pw_call_string(call, "direction");

    memset(r, 0, sizeof *r);
    r->form = call->op->data;
    r->directions = 1;
    if (strcmp(direction, "bidirectional") == 0)
        r->directions = 2;
    else if (strcmp(direction, "reverse") == 0)
        r->reverse = true;
    else if (strcmp(direction, "forward") != 0 &&
             strcmp(direction, "foward") != 0) /* GRU-1's own default is misspelt */
        return pw_call_error(call, err, "direction is '%.40s'; forward, reverse or bidirectional expected", direction);
    r->batch_first = int_attr(call, "layout") != 0;
    r->linear_before_reset = int_attr(call, "linear_before_reset") != 0;
    r->input_forget = int_attr(call, "input_forget") != 0;
    r->clips = pw_call_has(call, "clip");
    r->clip = pw_call_float(call, "clip");
    if (r->clips && !(r->clip >= 0.0f))
        return pw_call_error(call, err, "clip is %g, not negative expected", (double)r->clip);
    return read_activations(call, r, err);
}

/* ---- shapes ---- */

struct expected {
    int input;
    int rank;
    int64_t dims[3];
};

static pw_status expect_shape(const struct pw_call *call, const struct expected *e, struct pw_error *err)
{
    const struct pw_info *info = pw_call_input(call, e->input) ? call->in[e->input] : NULL;

    if (!info)
        return PW_OK;
    if (info->rank != e->rank)
        return pw_call_error(call, err, "'%s' has rank %d, %d expected", call->op->inputs[e->input].name, info->rank,
                             e->rank);
    for (int d = 0; d < e->rank; d++) {
        if (info->dims[d] != e->dims[d])
            return pw_call_error(call, err, "dimension %d of '%s' is %lld, %lld expected", d,
                                 call->op->inputs[e->input].name, (long long)info->dims[d], (long long)e->dims[d]);
    }
    return PW_OK;
}

pw_status pw_recurrent_sizes(const struct pw_call *call, struct pw_recurrent *r, struct pw_error *err)
{
    const struct pw_info *x = call->in[X], *w = call->in[W], *hidden = call->in[R];
    int64_t dirs = r->directions, gates = r->form->gates;

    if (x->rank != 3 || w->rank != 3 || hidden->rank != 3)
        return pw_call_error(call, err, "X, W and R have ranks %d, %d and %d, 3 expected", x->rank, w->rank,
                             hidden->rank);
    r->sequence = x->dims[r->batch_first ? 1 : 0];
    r->batch = x->dims[r->batch_first ? 0 : 1];
    r->input = x->dims[2];
    r->hidden = hidden->dims[2];
    if (r->sequence < 0 || r->batch < 0 || r->input < 0 || r->hidden < 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shape is not known");
    if (r->hidden > INT32_MAX / 64)
        return pw_call_error(call, err, "a hidden size of %lld is too large", (long long)r->hidden);
    if (pw_call_has(call, "hidden_size") && pw_call_int(call, "hidden_size") != r->hidden)
        return pw_call_error(call, err, "hidden_size is %lld, but R has %lld",
                             (long long)pw_call_int(call, "hidden_size"), (long long)r->hidden);
    {
        int64_t first = r->batch_first ? r->batch : dirs, second = r->batch_first ? dirs : r->batch;
        const struct expected shapes[] = {{W, 3, {dirs, gates * r->hidden, r->input}},
                                          {R, 3, {dirs, gates * r->hidden, r->hidden}},
                                          {B, 2, {dirs, 2 * gates * r->hidden}},
                                          {SEQUENCE_LENS, 1, {r->batch}},
                                          {INITIAL_H, 3, {first, second, r->hidden}},
                                          {INITIAL_C, 3, {first, second, r->hidden}},
                                          {P, 2, {dirs, 3 * r->hidden}}};
        size_t count = r->form->cell == PW_RECURRENT_LSTM ? PW_COUNT_OF(shapes) : PW_COUNT_OF(shapes) - 2;

        for (size_t i = 0; i < count; i++) {
            pw_status status = expect_shape(call, &shapes[i], err);

            if (status != PW_OK)
                return status;
        }
    }
    return PW_OK;
}

static bool all_numbers(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        if (!pw_call_input(call, i))
            continue;
        if (call->in[i]->rank < 0)
            return false;
        for (int d = 0; d < call->in[i]->rank; d++) {
            if (call->in[i]->dims[d] < 0)
                return false;
        }
    }
    return true;
}

static pw_status check_dtypes(struct pw_call *call, struct pw_error *err)
{
    for (int i = 0; i < call->input_count; i++) {
        pw_dtype dtype = pw_call_input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

        if (dtype == PW_DTYPE_UNDEFINED)
            continue;
        if (i == SEQUENCE_LENS ? dtype != PW_DTYPE_INT32 : !pw_dtype_is_float(dtype))
            return pw_call_error(call, err, "'%s' is %s, %s expected", call->op->inputs[i].name, pw_dtype_name(dtype),
                                 i == SEQUENCE_LENS ? "int32" : "a float type");
        if (i != SEQUENCE_LENS && call->in[X]->dtype != PW_DTYPE_UNDEFINED && dtype != call->in[X]->dtype)
            return pw_call_error(call, err, "'%s' is %s, but X is %s", call->op->inputs[i].name, pw_dtype_name(dtype),
                                 pw_dtype_name(call->in[X]->dtype));
    }
    return PW_OK;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[X];
    struct pw_recurrent r;
    pw_dim hidden, sequence, batch, dirs, y[4], y_first[4], state[3], state_first[3];
    pw_status status = check_dtypes(call, err);

    if (status == PW_OK)
        status = pw_recurrent_read(call, &r, err);
    if (status == PW_OK && all_numbers(call))
        status = pw_recurrent_sizes(call, &r, err);
    if (status != PW_OK)
        return status;
    if ((x->rank >= 0 && x->rank != 3) || (call->in[R]->rank >= 0 && call->in[R]->rank != 3))
        return pw_call_error(call, err, "X and R have ranks %d and %d, 3 expected", x->rank, call->in[R]->rank);
    hidden = call->in[R]->rank == 3                 ? call->in[R]->dims[2]
             : pw_call_int(call, "hidden_size") > 0 ? pw_dims_int(call->dims, pw_call_int(call, "hidden_size"))
                                                    : pw_dims_fresh(call->dims, "hidden");
    sequence = x->rank == 3 ? x->dims[r.batch_first ? 1 : 0] : pw_dims_fresh(call->dims, "sequence");
    batch = x->rank == 3 ? x->dims[r.batch_first ? 0 : 1] : pw_dims_fresh(call->dims, "batch");
    dirs = r.directions;
    memcpy(y, (pw_dim[]){sequence, dirs, batch, hidden}, sizeof y);
    memcpy(y_first, (pw_dim[]){batch, sequence, dirs, hidden}, sizeof y);
    memcpy(state, (pw_dim[]){dirs, batch, hidden}, sizeof state);
    memcpy(state_first, (pw_dim[]){batch, dirs, hidden}, sizeof state);
    for (int i = 0; i < call->output_count; i++) {
        if (i == 0)
            pw_call_output(call, 0, x->dtype, 4, r.batch_first ? y_first : y);
        else
            pw_call_output(call, i, x->dtype, 3, r.batch_first ? state_first : state);
    }
    return PW_OK;
}

/* ---- cost and accuracy ---- */

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_recurrent_form *form = call->op->data;
    const struct pw_info *x = call->in[X], *w = call->in[W], *r = call->in[R];
    struct pw_dims *dims = call->dims;
    pw_dim steps, products, pointwise;

    (void)err;
    out->flops = PW_DIM_UNKNOWN;
    if (x->rank != 3 || w->rank != 3 || r->rank != 3)
        return PW_OK;
    steps = pw_dims_mul(dims, x->dims[0], x->dims[1]);
    /* A step: a product with each row of W and R, and some 5 operations a gate. W's first dim: directions. */
    products = pw_dims_mul(dims, pw_dims_mul(dims, w->dims[0], w->dims[1]),
                           pw_dims_mul(dims, pw_dims_add(dims, w->dims[2], r->dims[2]), 2));
    pointwise = pw_dims_mul(dims, pw_dims_mul(dims, r->dims[0], r->dims[2]), form->gates * 5);
    out->flops = pw_dims_mul(dims, steps, pw_dims_add(dims, products, pointwise));
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    int64_t input = 1, hidden = 1, steps = 1, dim;

    if (call->in[X]->rank == 3) {
        if (pw_dims_value(call->dims, call->in[X]->dims[2], &dim))
            input = dim;
        if (pw_dims_value(call->dims, call->in[X]->dims[0], &dim))
            steps = dim;
    }
    if (call->in[R]->rank == 3 && pw_dims_value(call->dims, call->in[R]->dims[2], &dim))
        hidden = dim;
    out->length = input + hidden > 0 ? input + hidden : 1;
    out->ulp = 16.0; /* a sigmoid and two tanh of 5 ULP, products */
    /* Errors travel along the sequence; the gates contract, so their sum grows like a short chain's. */
    out->amplification = steps > 4 ? 4.0 : (double)(steps > 1 ? steps : 1);
    out->sensitivity = PW_SENSITIVITY_HIGH;
    out->reason = "errors of a step are fed into all later ones";
    out->why = "sums over input and hidden size, sigmoid and tanh of 5 ULP, carried over the steps";
}

/* ---- inputs of generated cases ---- */

static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    const struct pw_info *x = call->in[X];
    bool first = int_attr(call, "layout") != 0;

    if (input == SEQUENCE_LENS) {
        out->int_low = 1;
        out->int_high = x->rank == 3 && x->dims[first] > 0 ? x->dims[first] : 1;
    } else if (input != X) { /* weights of a size that does not saturate every gate */
        out->low = -0.2;
        out->high = 0.2;
    }
}

/* ---- binding ---- */

static int64_t float_bits(float x)
{
    int32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    static const char *const words[] = {"RNN", "GRU", "LSTM"};
    struct pw_recurrent r;
    int64_t act[18]; /* [direction][f, g, h] of kind, and the bits of alpha and beta */
    pw_status status = pw_recurrent_read(call, &r, err);
    struct {
        const char *name;
        int64_t value;
    } ints[14];
    int count = 0;

    if (status == PW_OK)
        status = pw_recurrent_sizes(call, &r, err);
    if (status != PW_OK)
        return status;
#define ADD(text, number) ints[count].name = text, ints[count++].value = (number)
    ADD("sequence", r.sequence);
    ADD("batch", r.batch);
    ADD("width", r.input);
    ADD("hidden", r.hidden);
    ADD("directions", r.directions);
    ADD("gates", r.form->gates);
    ADD("reversed", r.reverse);
    ADD("batch_first", r.batch_first);
    ADD("linear_before", r.linear_before_reset);
    ADD("coupled", r.input_forget);
    ADD("acc_bytes", call->in[X]->dtype == PW_DTYPE_FLOAT64 ? 8 : 4);
#undef ADD
    for (int i = 0; i < 6; i++) {
        act[3 * i] = r.act[i].kind;
        act[3 * i + 1] = float_bits(r.act[i].alpha);
        act[3 * i + 2] = float_bits(r.act[i].beta);
    }
    for (int i = 0; i < count && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "activation", act, PW_COUNT_OF(act), err);
    if (status == PW_OK)
        status = pw_bind_word(b, "cell", words[r.form->cell], err);
    return status == PW_OK ? pw_bind_float(b, "bound", r.clips ? (double)r.clip : 3.0e38, err) : status;
}

/* ---- tables ---- */

#define COMMON_IN                                                                                                      \
    {"X", "T", 0}, {"W", "T", 0}, {"R", "T", 0}, {"B", "T", PW_FORMAL_OPTIONAL},                                       \
        {"sequence_lens", "T1", PW_FORMAL_OPTIONAL},                                                                   \
    {                                                                                                                  \
        "initial_h", "T", PW_FORMAL_OPTIONAL                                                                           \
    }
static const struct pw_formal inputs[] = {COMMON_IN, {0}};
static const struct pw_formal lstm_inputs[] = {
    COMMON_IN, {"initial_c", "T", PW_FORMAL_OPTIONAL}, {"P", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal outputs[] = {{"Y", "T", PW_FORMAL_OPTIONAL}, {"Y_h", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal lstm_outputs[] = {
    {"Y", "T", PW_FORMAL_OPTIONAL}, {"Y_h", "T", PW_FORMAL_OPTIONAL}, {"Y_c", "T", PW_FORMAL_OPTIONAL}, {0}};

#define COMMON_ATTRS                                                                                                   \
    {.name = "activations", .type = PW_ATTR_STRINGS}, {.name = "activation_alpha", .type = PW_ATTR_FLOATS},            \
        {.name = "activation_beta", .type = PW_ATTR_FLOATS}, {.name = "clip", .type = PW_ATTR_FLOAT},                  \
        {.name = "direction", .type = PW_ATTR_STRING, .s = "forward"},                                                 \
    {                                                                                                                  \
        .name = "hidden_size", .type = PW_ATTR_INT                                                                     \
    }
#define OUTPUT_SEQUENCE                                                                                                \
    {                                                                                                                  \
        .name = "output_sequence", .type = PW_ATTR_INT                                                                 \
    }
#define LAYOUT                                                                                                         \
    {                                                                                                                  \
        .name = "layout", .type = PW_ATTR_INT                                                                          \
    }
#define BEFORE                                                                                                         \
    {                                                                                                                  \
        .name = "linear_before_reset", .type = PW_ATTR_INT                                                             \
    }
#define FORGET                                                                                                         \
    {                                                                                                                  \
        .name = "input_forget", .type = PW_ATTR_INT                                                                    \
    }
static const struct pw_attr_def rnn1[] = {COMMON_ATTRS, OUTPUT_SEQUENCE, {0}};
static const struct pw_attr_def rnn7[] = {COMMON_ATTRS, {0}};
static const struct pw_attr_def rnn14[] = {COMMON_ATTRS, LAYOUT, {0}};
static const struct pw_attr_def gru3[] = {COMMON_ATTRS, OUTPUT_SEQUENCE, BEFORE, {0}};
static const struct pw_attr_def gru7[] = {COMMON_ATTRS, BEFORE, {0}};
static const struct pw_attr_def gru14[] = {COMMON_ATTRS, BEFORE, LAYOUT, {0}};
static const struct pw_attr_def lstm1[] = {COMMON_ATTRS, OUTPUT_SEQUENCE, FORGET, {0}};
static const struct pw_attr_def lstm7[] = {COMMON_ATTRS, FORGET, {0}};
static const struct pw_attr_def lstm14[] = {COMMON_ATTRS, FORGET, LAYOUT, {0}};

static const struct pw_recurrent_form rnn = {PW_RECURRENT_RNN, 1, 1, 1};
static const struct pw_recurrent_form gru = {PW_RECURRENT_GRU, 3, 2, 1};
static const struct pw_recurrent_form lstm = {PW_RECURRENT_LSTM, 4, 3, 2};

#define RECURRENT(op_name, version, attributes, in, out, op_form)                                                      \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_RECURRENT, .attrs = attributes,       \
        .inputs = in, .outputs = out, .min_outputs = 1, .infer = infer, .cost = cost, .accuracy = accuracy,            \
        .golden = pw_recurrent_golden, .fast = pw_recurrent_golden, .fast_is_blas = true, .fill = fill, .bind = bind,  \
        .data = &op_form                                                                                               \
    }

const struct pw_op pw_recurrent_ops[] = {
    RECURRENT("RNN", 1, rnn1, inputs, outputs, rnn),
    RECURRENT("RNN", 7, rnn7, inputs, outputs, rnn),
    RECURRENT("RNN", 14, rnn14, inputs, outputs, rnn),
    RECURRENT("RNN", 22, rnn14, inputs, outputs, rnn),
    RECURRENT("GRU", 1, rnn1, inputs, outputs, gru),
    RECURRENT("GRU", 3, gru3, inputs, outputs, gru),
    RECURRENT("GRU", 7, gru7, inputs, outputs, gru),
    RECURRENT("GRU", 14, gru14, inputs, outputs, gru),
    RECURRENT("GRU", 22, gru14, inputs, outputs, gru),
    RECURRENT("LSTM", 1, lstm1, lstm_inputs, lstm_outputs, lstm),
    RECURRENT("LSTM", 7, lstm7, lstm_inputs, lstm_outputs, lstm),
    RECURRENT("LSTM", 14, lstm14, lstm_inputs, lstm_outputs, lstm),
    RECURRENT("LSTM", 22, lstm14, lstm_inputs, lstm_outputs, lstm),
    {0},
};
