/* How each operator sees its tensor, and what the kernels get of it. */
#include <string.h>

#include "base/compiler.h"
#include "ops/norm/norm_room.h"

bool pw_norm_training(const struct pw_call *call)
{
    const struct pw_norm_form *form = call->op->data;
    bool statistics = false;

    if (form->kind != PW_NORM_BATCH)
        return false;
    if (call->op->since >= 14)
        return pw_call_int(call, "training_mode") != 0;
    if (call->op->since <= 6 && pw_call_int(call, "is_test") != 0)
        return false;
    for (int i = 1; i < call->output_count; i++) /* the outputs tell the mode: Y alone is the test mode */
        statistics = statistics || !call->wanted || call->wanted[i];
    return statistics;
}

pw_status pw_norm_axis(const struct pw_call *call, int rank, int *axis, struct pw_error *err)
{
    return pw_call_axis(call, pw_call_int(call, "axis"), rank, axis, err);
}

/* Strides of a parameter whose dims line up at the right of the view's. */
static pw_status trailing(const struct pw_call *call, const struct pw_info *parameter, const struct pw_norm_view *v,
                          int64_t *strides, struct pw_error *err)
{
    int64_t stride = 1;

    if (parameter->rank > v->rank)
        return pw_call_error(call, err, "a parameter has rank %d, more than its tensor's %d", parameter->rank, v->rank);
    for (int d = v->rank - 1, p = parameter->rank - 1; p >= 0; d--, p--) {
        if (parameter->dims[p] != 1 && parameter->dims[p] != v->dims[d])
            return pw_call_error(call, err, "a parameter's dimension %d is %lld, the tensor's %lld", p,
                                 (long long)parameter->dims[p], (long long)v->dims[d]);
        strides[d] = parameter->dims[p] == 1 ? 0 : stride;
        stride *= parameter->dims[p];
    }
    return PW_OK;
}

static pw_status expect_size(const struct pw_call *call, int input, int64_t count, struct pw_error *err)
{
    const struct pw_info *info = call->in[input];
    int64_t have = 1;

    for (int d = 0; d < info->rank; d++) {
        if (__builtin_mul_overflow(have, info->dims[d], &have))
            have = -1;
    }
    if (info->rank < 0 || have != count)
        return pw_call_error(call, err, "'%s' has %lld elements, %lld expected", call->op->inputs[input].name,
                             (long long)have, (long long)count);
    return PW_OK;
}

/* One parameter a channel (dim 1), or a whole activation a sample when not spatial. */
static pw_status view_batch(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err)
{
    bool spatial = call->op->since > 7 || pw_call_int(call, "spatial") != 0;
    int64_t count = 1;

    v->training = pw_norm_training(call);
    if (v->rank == 1) { /* N samples of one channel */
        v->dims[1] = 1;
        v->rank = 2;
    }
    if (v->rank == 0)
        return pw_call_error(call, err, "X is a scalar");
    for (int d = v->rank - 1; d >= 0; d--) {
        bool carries = spatial ? d == 1 : d > 0;

        v->reduced[d] = v->training && !carries;
        v->scale[d] = carries ? count : 0;
        if (carries)
            count *= v->dims[d];
    }
    memcpy(v->bias, v->scale, sizeof v->bias);
    for (int i = 1; i < 5; i++) {
        pw_status status = expect_size(call, i, count, err);

        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status view_instance(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (v->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, at least 2 expected", v->rank);
    for (int d = 2; d < v->rank; d++)
        v->reduced[d] = true;
    v->scale[1] = v->bias[1] = 1;
    for (int i = 1; i < 3 && status == PW_OK; i++)
        status = expect_size(call, i, v->dims[1], err);
    return status;
}

/* [N, G, C/G, rest]; scale and bias per channel, before version 21 per group. */
static pw_status view_group(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err)
{
    int64_t groups = pw_call_int(call, "num_groups"), channels;
    bool per_group = call->op->since < 21;
    pw_status status = PW_OK;

    if (v->rank < 2)
        return pw_call_error(call, err, "X has rank %d, at least 2 expected", v->rank);
    channels = v->dims[1];
    if (groups < 1 || (groups > 1 && groups > channels) || channels % groups != 0)
        return pw_call_error(call, err, "num_groups %lld does not divide the %lld channels", (long long)groups,
                             (long long)channels);
    memmove(&v->dims[3], &v->dims[2], (size_t)(v->rank - 2) * sizeof *v->dims);
    v->rank++;
    v->dims[1] = groups;
    v->dims[2] = channels / groups;
    for (int d = 2; d < v->rank; d++)
        v->reduced[d] = true;
    v->scale[1] = v->bias[1] = per_group ? 1 : channels / groups;
    v->scale[2] = v->bias[2] = per_group ? 0 : 1;
    for (int i = 1; i < 3 && status == PW_OK; i++)
        status = expect_size(call, i, per_group ? groups : channels, err);
    return status;
}

static pw_status view_layer(const struct pw_call *call, const struct pw_norm_form *form, struct pw_norm_view *v,
                            struct pw_error *err)
{
    int axis = 0;
    pw_status status = pw_norm_axis(call, v->rank, &axis, err);

    for (int d = axis; d < v->rank; d++)
        v->reduced[d] = true;
    if (status == PW_OK && form->scale >= 0)
        status = trailing(call, call->in[form->scale], v, v->scale, err);
    memcpy(v->bias, v->scale, sizeof v->bias);
    if (status == PW_OK && form->bias >= 0 && pw_call_input(call, form->bias)) {
        memset(v->bias, 0, sizeof v->bias);
        status = trailing(call, call->in[form->bias], v, v->bias, err);
    }
    return status;
}

static pw_status view_mean_variance(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err)
{
    static const int64_t usual[] = {0, 2, 3};
    size_t count = 0;
    const int64_t *axes = pw_call_ints(call, "axes", &count);

    if (!pw_call_has(call, "axes")) {
        axes = usual;
        count = PW_COUNT_OF(usual);
    }
    for (size_t i = 0; i < count; i++) {
        int axis = 0;
        pw_status status = pw_call_axis(call, axes[i], v->rank, &axis, err);

        if (status != PW_OK)
            return status;
        v->reduced[axis] = true;
    }
    return PW_OK;
}

pw_status pw_norm_view(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err)
{
    const struct pw_norm_form *form = call->op->data;
    const struct pw_info *x = call->in[0];
    int axis = 0;
    pw_status status = PW_OK;

    memset(v, 0, sizeof *v);
    v->rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        if (x->dims[d] < 0)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shape is not known");
        v->dims[d] = x->dims[d];
    }
    switch (form->kind) {
    case PW_NORM_BATCH:
        return view_batch(call, v, err);
    case PW_NORM_INSTANCE:
        return view_instance(call, v, err);
    case PW_NORM_GROUP:
        return view_group(call, v, err);
    case PW_NORM_LAYER:
    case PW_NORM_RMS:
        return view_layer(call, form, v, err);
    case PW_NORM_MEAN_VARIANCE:
        return view_mean_variance(call, v, err);
    default:
        status = pw_norm_axis(call, v->rank, &axis, err);
        v->reduced[axis] = true;
        return status;
    }
}

/* ---- loops ---- */

static void add(int *rank, int64_t *dims, int64_t *x, int64_t *scale, int64_t *bias, const struct pw_norm_view *v,
                int d, int64_t stride, bool neighbour)
{
    int64_t size = v->dims[d];

    /* Merge with the dim just outside of this one when all three strides continue. */
    if (neighbour && *rank > 0 && scale[*rank - 1] == v->scale[d] * size && bias[*rank - 1] == v->bias[d] * size) {
        dims[*rank - 1] *= size;
        x[*rank - 1] = stride;
        scale[*rank - 1] = v->scale[d];
        bias[*rank - 1] = v->bias[d];
        return;
    }
    dims[*rank] = size;
    x[*rank] = stride;
    scale[*rank] = v->scale[d];
    bias[(*rank)++] = v->bias[d];
}

void pw_norm_loops(const struct pw_norm_view *v, struct pw_norm_loops *l)
{
    int64_t stride = 1;
    int last = -1;

    memset(l, 0, sizeof *l);
    l->sets = l->terms = 1;
    for (int d = 0; d < v->rank; d++)
        stride *= v->dims[d] > 0 ? v->dims[d] : 1;
    for (int d = 0; d < v->rank; d++) {
        stride /= v->dims[d] > 0 ? v->dims[d] : 1;
        if (v->reduced[d])
            l->terms *= v->dims[d];
        else
            l->sets *= v->dims[d];
        if (v->dims[d] == 1)
            continue;
        if (v->reduced[d])
            add(&l->set_rank, l->set_dims, l->set_x, l->set_scale, l->set_bias, v, d, stride, last == 1);
        else
            add(&l->kept_rank, l->kept_dims, l->kept_x, l->kept_scale, l->kept_bias, v, d, stride, last == 0);
        last = v->reduced[d];
    }
}

bool pw_norm_rows(const struct pw_norm_view *v, struct pw_norm_rows *r)
{
    struct pw_norm_loops l;

    pw_norm_loops(v, &l);
    *r = (struct pw_norm_rows){.rows = l.sets, .segments = 1, .length = 1, .period = 1};
    if (l.sets * l.terms == 0 || memcmp(v->scale, v->bias, sizeof v->scale) != 0 || l.set_rank > 2 || l.kept_rank > 2)
        return false;
    if (l.set_rank > 0 && l.set_x[l.set_rank - 1] != 1)
        return false;
    if (l.set_rank == 2 && l.set_x[0] != l.set_dims[1])
        return false;
    if (l.set_rank > 0) {
        r->length = l.set_dims[l.set_rank - 1];
        r->step = l.set_scale[l.set_rank - 1];
    }
    if (l.set_rank == 2) {
        r->segments = l.set_dims[0];
        r->segment_step = l.set_scale[0];
    }
    if (l.kept_rank > 0) {
        r->row_step = l.kept_scale[l.kept_rank - 1];
        r->period = r->row_step ? l.kept_dims[l.kept_rank - 1] : 1;
    }
    /* Rows are contiguous when the innermost kept stride is the row's length; the outer kept dim, if any,
     * continues it and carries no parameter. */
    if (l.kept_rank > 0 && l.kept_x[l.kept_rank - 1] != l.terms)
        return false;
    return l.kept_rank < 2 || (l.kept_scale[0] == 0 && l.kept_x[0] == l.kept_dims[1] * l.terms);
}

/* ---- binding ---- */

static pw_status bind_rows(const struct pw_norm_view *v, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_norm_rows r;
    bool rows = pw_norm_rows(v, &r);
    const struct {
        const char *name;
        int64_t value;
    } ints[] = {{"is_rows", rows},    {"rows", r.rows},         {"segments", r.segments},         {"length", r.length},
                {"period", r.period}, {"row_step", r.row_step}, {"segment_step", r.segment_step}, {"step", r.step}};
    pw_status status = PW_OK;

    for (size_t i = 0; i < PW_COUNT_OF(ints) && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    return status;
}

static pw_status bind_loops(const struct pw_norm_view *v, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_norm_loops l;
    struct {
        const char *name;
        const int64_t *values;
        int count;
    } arrays[] = {
        {"kept_dims", l.kept_dims, 0}, {"kept_x", l.kept_x, 0},     {"kept_scale", l.kept_scale, 0},
        {"kept_bias", l.kept_bias, 0}, {"set_dims", l.set_dims, 0}, {"set_x", l.set_x, 0},
        {"set_scale", l.set_scale, 0}, {"set_bias", l.set_bias, 0},
    };
    pw_status status = PW_OK;

    pw_norm_loops(v, &l);
    for (size_t i = 0; i < PW_COUNT_OF(arrays) && status == PW_OK; i++) {
        arrays[i].count = i < 4 ? l.kept_rank : l.set_rank;
        status = pw_bind_ints(b, arrays[i].name, arrays[i].values, (size_t)arrays[i].count, err);
    }
    if (status == PW_OK)
        status = pw_bind_int(b, "kept_rank", l.kept_rank, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "set_rank", l.set_rank, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "sets", l.sets, err);
    return status == PW_OK ? pw_bind_int(b, "terms", l.terms, err) : status;
}

/* [outer][channels][inner] of BatchNormalization's test mode and of LRN. */
static pw_status bind_channels(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_norm_form *form = call->op->data;
    const struct pw_info *x = call->in[0];
    int64_t outer = x->rank > 0 ? x->dims[0] : 1, channels = x->rank > 1 ? x->dims[1] : 1, inner = 1;
    pw_status status;

    for (int d = 2; d < x->rank; d++)
        inner *= x->dims[d];
    if (form->kind == PW_NORM_BATCH && call->op->since <= 7 && pw_call_int(call, "spatial") == 0) {
        channels *= inner;
        inner = 1;
    }
    status = pw_bind_int(b, "outer", outer, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "channels", channels, err);
    return status == PW_OK ? pw_bind_int(b, "inner", inner, err) : status;
}

pw_status pw_norm_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    static const char *const words[PW_NORM_KINDS] = {"BATCH", "INSTANCE", "LAYER",         "GROUP",
                                                     "RMS",   "LP",       "MEAN_VARIANCE", "LRN"};
    const struct pw_norm_form *form = call->op->data;
    struct pw_norm_view v;
    pw_status status = bind_channels(call, b, err);

    if (status == PW_OK)
        status = pw_bind_word(b, "kind", words[form->kind], err);
    if (status != PW_OK || form->kind == PW_NORM_LRN)
        return status;
    status = pw_norm_view(call, &v, err);
    if (status == PW_OK)
        status = bind_rows(&v, b, err);
    if (status == PW_OK)
        status = bind_loops(&v, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "training", v.training, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "norm_order", form->kind == PW_NORM_LP ? pw_call_int(call, "p") : 0, err);
    return status;
}
