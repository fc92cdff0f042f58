/* Faults of what a call says: attributes, axes, pads, flags, and the definitions behind them. */
#include <math.h>
#include <string.h>

#include "tests/liar/fault.h"

/* ---- attributes left at their defaults ---- */

/* Changing these changes what the outputs are, not what is in them. */
static bool structural(const char *name)
{
    static const char *const names[] = {"dtype",        "to",         "output_datatype",
                                        "output_dtype", "num_heads",  "kv_num_heads",
                                        "hidden_size",  "K",          "N",
                                        "bits",         "block_size", "value",
                                        "shape",        "equation",   "seed",
                                        "q_num_heads",  "num_groups", "group",
                                        "sample_size",  NULL};

    for (const char *const *n = names; *n; n++)
        if (!strcmp(*n, name))
            return true;
    return false;
}

static bool off_default(const struct pw_attr *attr, const struct pw_attr_def *def)
{
    if (def->required || structural(def->name))
        return false;
    switch (attr->type) {
    case PW_ATTR_INT:
        return attr->i != def->i;
    case PW_ATTR_FLOAT:
        return attr->f < def->f || attr->f > def->f;
    case PW_ATTR_STRING:
        return def->s && strcmp(attr->s.data, def->s) != 0;
    case PW_ATTR_INTS:
        return true; /* lists have defaults that the sizes give: ones, zeros, the axes reversed */
    default:
        return false;
    }
}

/* The nth attribute that is given and off its default; NULL. */
static const struct pw_attr *nth_off_default(const struct pw_node *node, const struct pw_op *op, int n)
{
    for (const struct pw_attr_def *def = op->attrs; def && def->name; def++) {
        const struct pw_attr *attr = pw_node_attr(node, def->name);

        if (attr && off_default(attr, def) && n-- == 0)
            return attr;
    }
    return NULL;
}

bool liar_has_off_default(const struct pw_call *call)
{
    return nth_off_default(call->node, call->op, 0) != NULL;
}

bool liar_has_off_default_2(const struct pw_call *call)
{
    return nth_off_default(call->node, call->op, 1) != NULL;
}

bool liar_has_off_default_3(const struct pw_call *call)
{
    return nth_off_default(call->node, call->op, 2) != NULL;
}

static pw_status drop(struct liar_run *run, int n)
{
    const struct pw_attr *attr = nth_off_default(run->data.node, run->call.op, n);

    if (attr)
        liar_remove_attr(run, attr->name);
    return PW_OK;
}

pw_status liar_attr_default(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    return drop(run, 0);
}

pw_status liar_attr_default_2(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    return drop(run, 1);
}

pw_status liar_attr_default_3(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    return drop(run, 2);
}

/* ---- epsilon and variance ---- */

bool liar_has_epsilon(const struct pw_call *call)
{
    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++)
        if (!strcmp(def->name, "epsilon"))
            return call->op->category == PW_CATEGORY_NORMALIZATION;
    return false;
}

pw_status liar_epsilon_missing(struct liar_run *run, struct pw_error *err)
{
    return liar_set_float(run, "epsilon", 0, err);
}

/* How many elements a mean is over; 0: no such operator. */
static int64_t mean_length(const struct pw_call *call)
{
    const struct pw_info *x = call->in[0];
    int64_t n = 1, size;
    int axis;

    if (!strcmp(call->op->name, "LayerNormalization"))
        axis = (int)pw_call_int(call, "axis");
    else if (!strcmp(call->op->name, "InstanceNormalization"))
        axis = 2;
    else if (!strcmp(call->op->name, "GroupNormalization"))
        axis = 1;
    else if (!strcmp(call->op->name, "SkipLayerNormalization"))
        axis = -1;
    else
        return 0;
    for (int d = axis < 0 ? axis + x->rank : axis; d < x->rank; d++)
        n *= pw_dims_value(call->dims, x->dims[d], &size) ? size : 1;
    if (!strcmp(call->op->name, "GroupNormalization"))
        n /= pw_call_int(call, "num_groups");
    return n;
}

bool liar_has_variance(const struct pw_call *call)
{
    return mean_length(call) > 1;
}

/* Divided by n - 1: the scale takes the difference. */
pw_status liar_biased_variance(struct liar_run *run, struct pw_error *err)
{
    static const char *const names[] = {"Scale", "scale", "gamma", NULL};
    int64_t n = mean_length(&run->call);

    (void)err;
    for (const char *const *name = names; *name; name++) {
        struct pw_tensor *t = liar_tensor(run, *name);

        for (int64_t i = 0; t && i < t->count; i++)
            pw_tensor_set(t, i, pw_tensor_get(t, i) * sqrt((double)(n - 1) / (double)n));
    }
    return PW_OK;
}

/* ---- axes ---- */

static int axes_input(const struct pw_call *call)
{
    static const char *const by_input[] = {"CumSum", "CumProd", "DFT", NULL};

    if (liar_is(call, by_input) && liar_given(call, "axis"))
        return liar_input_index(call, "axis");
    if (!strncmp(call->op->name, "Reduce", 6) && liar_given(call, "axes"))
        return liar_input_index(call, "axes");
    return -1;
}

static bool has_attr(const struct pw_call *call, const char *name)
{
    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++)
        if (!strcmp(def->name, name))
            return def->type == PW_ATTR_INT;
    return false;
}

bool liar_has_axis(const struct pw_call *call)
{
    static const char *const other[] = {"QuantizeLinear", "DequantizeLinear",   "BatchNormalization", "TensorScatter",
                                        "Flatten",        "LayerNormalization", "RMSNormalization",   NULL};

    if (liar_is(call, other) || call->input_count < 1 || !call->in[0] || call->in[0]->rank < 2)
        return false;
    return axes_input(call) >= 0 || has_attr(call, "axis");
}

/* The neighbouring axis: the one before, for the first the one behind. */
static int64_t neighbour(int64_t axis, int rank)
{
    axis += axis < 0 ? rank : 0;
    return axis > 0 ? axis - 1 : axis + 1;
}

pw_status liar_axis_off(struct liar_run *run, struct pw_error *err)
{
    int rank = run->call.in[0]->rank, i = axes_input(&run->call);

    if (i < 0)
        return liar_set_int(run, "axis", neighbour(pw_call_int(&run->call, "axis"), rank), err);
    pw_tensor_set_int(&run->values[i].tensor, 0, neighbour(pw_tensor_get_int(&run->values[i].tensor, 0), rank));
    return PW_OK;
}

/* A negative axis taken for its absolute value. */
bool liar_has_negative_axis(const struct pw_call *call)
{
    const struct pw_attr *attr = pw_node_attr(call->node, "axis");
    int rank = call->input_count > 0 && call->in[0] ? call->in[0]->rank : 0;

    return attr && attr->type == PW_ATTR_INT && attr->i < 0 && -attr->i < rank && attr->i + rank != -attr->i;
}

pw_status liar_negative_axis(struct liar_run *run, struct pw_error *err)
{
    return liar_set_int(run, "axis", -pw_call_int(&run->call, "axis"), err);
}

/* ---- pads, windows ---- */

static bool asymmetric(const int64_t *pads, size_t count)
{
    for (size_t i = 0; i < count / 2; i++)
        if (pads[i] != pads[i + count / 2])
            return true;
    return false;
}

bool liar_has_pads(const struct pw_call *call)
{
    const struct pw_attr *attr = pw_node_attr(call->node, "pads");
    const int64_t *values = NULL;
    size_t count = 0;
    bool known = false;

    if (attr && attr->type == PW_ATTR_INTS)
        return asymmetric(attr->ints, attr->count);
    if (strcmp(call->op->name, "Pad") != 0)
        return false;
    return pw_call_content(call, 1, &values, &count, &known, NULL) == PW_OK && known && asymmetric(values, count);
}

pw_status liar_pads_swapped(struct liar_run *run, struct pw_error *err)
{
    const struct pw_attr *attr = pw_node_attr(run->data.node, "pads");
    int64_t pads[2 * PW_MAX_RANK];
    size_t count = attr ? attr->count : (size_t)run->values[1].tensor.count;

    if (count > 2 * PW_MAX_RANK)
        return PW_OK;
    for (size_t i = 0; i < count; i++) {
        size_t from = (i + count / 2) % count;

        pads[i] = attr ? attr->ints[from] : pw_tensor_get_int(&run->values[1].tensor, (int64_t)from);
    }
    if (attr)
        return liar_set_ints(run, "pads", pads, count, err);
    for (size_t i = 0; i < count; i++)
        pw_tensor_set_int(&run->values[1].tensor, (int64_t)i, pads[i]);
    return PW_OK;
}

/* ---- flags ---- */

static const char *flag_of(const struct pw_call *call)
{
    static const char *const flags[] = {"exclusive", "align_corners",       "interleaved",     "upper",    "largest",
                                        "periodic",  "linear_before_reset", "inverse",         "fmod",     "transA",
                                        "transB",    "storage_order",       "detect_negative", "saturate", "reverse",
                                        NULL};

    for (const char *const *name = flags; *name; name++)
        if (has_attr(call, *name))
            return *name;
    return NULL;
}

bool liar_has_flag(const struct pw_call *call)
{
    return flag_of(call) != NULL;
}

static pw_status flip(struct liar_run *run, const char *name, struct pw_error *err)
{
    return liar_set_int(run, name, !pw_call_int(&run->call, name), err);
}

pw_status liar_flag_flipped(struct liar_run *run, struct pw_error *err)
{
    return flip(run, flag_of(&run->call), err);
}

bool liar_has_ceil(const struct pw_call *call)
{
    return has_attr(call, "ceil_mode") && pw_call_int(call, "ceil_mode");
}

pw_status liar_ceil_floor(struct liar_run *run, struct pw_error *err)
{
    return flip(run, "ceil_mode", err);
}

bool liar_has_count_pad(const struct pw_call *call)
{
    return has_attr(call, "count_include_pad") && pw_call_has(call, "pads");
}

pw_status liar_count_pad(struct liar_run *run, struct pw_error *err)
{
    return flip(run, "count_include_pad", err);
}

/* Windows whose steps are taken for one. */
bool liar_has_dilations(const struct pw_call *call)
{
    const struct pw_attr *attr = pw_node_attr(call->node, "dilations");

    for (size_t i = 0; attr && i < attr->count; i++)
        if (attr->ints[i] > 1)
            return true;
    return false;
}

/* The pads grow by what the window shrinks, so that the output keeps its size. */
pw_status liar_dilation_one(struct liar_run *run, struct pw_error *err)
{
    const struct pw_attr *dilations = pw_node_attr(run->data.node, "dilations");
    const struct pw_attr *pads = pw_node_attr(run->data.node, "pads"), *kernel;
    struct pw_tensor *w = liar_tensor(run, "W");
    int64_t ones[PW_MAX_RANK], less[2 * PW_MAX_RANK] = {0};
    size_t count = dilations->count;
    pw_status status;

    kernel = pw_node_attr(run->data.node, "kernel_shape");
    for (size_t i = 0; i < count && i < PW_MAX_RANK; i++) {
        int64_t size = w ? w->dims[i + 2] : kernel ? kernel->ints[i] : 1;
        int64_t grown = (size - 1) * (dilations->ints[i] - 1), before = pads ? pads->ints[i] : 0;
        int64_t after = pads ? pads->ints[i + count] : 0, cut = grown < before ? grown : before;

        ones[i] = 1;
        less[i] = before - cut;
        less[i + count] = after > grown - cut ? after - (grown - cut) : 0;
    }
    status = liar_set_ints(run, "dilations", ones, count, err);
    return status == PW_OK && pads ? liar_set_ints(run, "pads", less, 2 * count, err) : status;
}

/* ---- causality ---- */

static const char *causal_flag(const struct pw_call *call)
{
    static const char *const flags[] = {"is_causal", "unidirectional", NULL};

    for (const char *const *name = flags; *name; name++)
        if (has_attr(call, *name) && pw_call_int(call, *name))
            return *name;
    return NULL;
}

bool liar_has_causal(const struct pw_call *call)
{
    const char *mask = !strcmp(call->op->domain, "") ? "attn_mask" : "attention_bias";

    return causal_flag(call) && !liar_given(call, mask);
}

/* Gives the node one more input and takes the flag off that it replaces. */
static pw_status widen(struct liar_run *run, int input, const char *flag, struct pw_error *err)
{
    struct pw_node *node = run->data.node;

    for (int i = run->input_count; i <= input; i++)
        node->inputs[i] = PW_NO_VALUE;
    node->inputs[input] = 0; /* any value's: only whether there is one is asked */
    if (run->input_count <= input) {
        run->input_count = input + 1;
        node->input_count = (size_t)input + 1;
    }
    run->in[input] = &run->values[input];
    return liar_set_int(run, flag, 0, err);
}

/* The diagonal one place off: each row sees one key too many. An explicit mask says so. */
pw_status liar_causal_diagonal(struct liar_run *run, struct pw_error *err)
{
    bool standard = !strcmp(run->call.op->domain, "");
    bool packed = !standard && !strcmp(run->call.op->name, "Attention");
    int mask = -1, at = 0, rank = standard ? 2 : 4;
    const struct pw_info *q = run->call.in[0], *k = run->call.in[packed ? 0 : 1];
    int64_t rows = 0, keys = 0, dims[4] = {1, 1, 0, 0};
    struct pw_tensor *t;
    pw_status status;

    for (const struct pw_formal *f = run->call.op->inputs; f && f->name; f++, at++)
        if (!strcmp(f->name, standard ? "attn_mask" : "attention_bias"))
            mask = at;
    if (mask < 0 || mask >= PW_CASE_MAX_INPUTS || !pw_dims_value(run->call.dims, q->dims[q->rank - 2], &rows) ||
        !pw_dims_value(run->call.dims, k->dims[k->rank - 2], &keys))
        return PW_OK;
    if (standard) {
        dims[0] = rows;
        dims[1] = keys;
    } else {
        dims[2] = rows;
        dims[3] = keys;
    }
    t = &run->values[mask].tensor;
    status = pw_tensor_init(t, standard ? PW_DTYPE_BOOL : q->dtype, rank, dims, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < t->count; i++) {
        bool seen = i % keys <= i / keys + 1;

        if (standard)
            pw_tensor_set_int(t, i, seen);
        else
            pw_tensor_set(t, i, seen ? 0 : -30000);
    }
    run->values[mask].kind = PW_VALUE_TENSOR;
    return widen(run, mask, causal_flag(&run->call), err);
}

/* ---- ties ---- */

bool liar_has_tie(const struct pw_call *call)
{
    static const char *const names[] = {"ArgMax", "ArgMin", "TopK", "Hardmax", NULL};

    return liar_is(call, names);
}

/* Reverses a tensor along an axis. */
static pw_status reverse(struct pw_tensor *t, int axis, struct pw_error *err)
{
    int64_t inner = pw_tensor_span(t, axis + 1, t->rank), n = t->dims[axis];
    size_t bytes = pw_dtype_bytes(t->dtype);
    struct pw_tensor copy = {0};
    pw_status status = pw_tensor_copy(&copy, t, err);

    for (int64_t i = 0; status == PW_OK && i < t->count; i++) {
        int64_t k = i / inner % n, from = i + (n - 1 - 2 * k) * inner;

        memcpy((char *)t->data + (size_t)i * bytes, (const char *)copy.data + (size_t)from * bytes, bytes);
    }
    pw_tensor_clear(&copy);
    return status;
}

/* Of equals the last wins: the input is read backwards and the answer turned round. */
pw_status liar_tie(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *x = &run->values[0].tensor, *index;
    int axis = (int)pw_call_int(&run->call, "axis");
    int64_t n;
    pw_status status;

    axis += axis < 0 ? x->rank : 0;
    n = x->dims[axis];
    status = reverse(x, axis, err);
    if (status == PW_OK)
        status = liar_honest(run, err);
    if (status != PW_OK)
        return status;
    if (!strcmp(run->call.op->name, "Hardmax"))
        return reverse(&run->out[0], axis, err);
    index = &run->out[strcmp(run->call.op->name, "TopK") ? 0 : 1];
    for (int64_t i = 0; i < index->count; i++)
        pw_tensor_set_int(index, i, n - 1 - pw_tensor_get_int(index, i));
    return PW_OK;
}

/* ---- parameters ---- */

bool liar_has_param(const struct pw_call *call)
{
    static const char *const names[] = {"Slice", "Tile", NULL};

    return liar_is(call, names);
}

/* Slices begin and end one further; tiles repeat in the order of another axis. */
pw_status liar_param_off(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *a = &run->values[1].tensor, *b = &run->values[2].tensor;

    (void)err;
    if (!strcmp(run->call.op->name, "Tile")) {
        int64_t first = pw_tensor_get_int(a, 0);

        for (int64_t i = 0; i + 1 < a->count; i++)
            pw_tensor_set_int(a, i, pw_tensor_get_int(a, i + 1));
        pw_tensor_set_int(a, a->count - 1, first);
        return PW_OK;
    }
    pw_tensor_set_int(a, 0, pw_tensor_get_int(a, 0) + 1);
    pw_tensor_set_int(b, 0, pw_tensor_get_int(b, 0) + 1);
    return PW_OK;
}

/* Rows without any key: what should be NaN is 0, and what should be 0 is NaN. */
void liar_masked_rows(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[0];
    const struct pw_tensor *golden = &run->golden[0].tensor;
    int64_t columns = t->rank > 0 ? t->dims[t->rank - 1] : 1;

    for (int64_t row = 0; columns > 0 && row < t->count / columns; row++) {
        bool all_nan = true, all_zero = true;

        for (int64_t i = row * columns; i < (row + 1) * columns; i++) {
            double y = pw_tensor_get(golden, i);

            all_nan = all_nan && isnan(y);
            all_zero = all_zero && y == 0;
        }
        for (int64_t i = row * columns; i < (row + 1) * columns && (all_nan || all_zero); i++)
            pw_tensor_set(t, i, all_nan ? 0 : NAN);
    }
}
