#include "ops/reduce/reduce_room.h"

#include <string.h>

#include "base/compiler.h"

/* ---- axes and layout ---- */

pw_status pw_reduce_axes(const struct pw_call *call, int rank, bool *reduced, bool *known, struct pw_error *err)
{
    const struct pw_reduce_form *form = call->op->data;
    const int64_t *axes = NULL;
    size_t count = 0;

    *known = true;
    memset(reduced, 0, PW_MAX_RANK * sizeof *reduced);
    if (!form->axes_input) {
        axes = pw_call_ints(call, "axes", &count);
    } else if (pw_call_input(call, 1)) {
        pw_status status = pw_call_content(call, 1, &axes, &count, known, err);

        if (status != PW_OK || !*known)
            return status;
    }
    if (count == 0) {
        bool keep = form->axes_input && pw_call_int(call, "noop_with_empty_axes") != 0;

        for (int d = 0; d < rank; d++)
            reduced[d] = !keep;
        return PW_OK;
    }
    for (size_t i = 0; i < count; i++) {
        int axis = 0;
        pw_status status = pw_call_axis(call, axes[i], rank, &axis, err);

        if (status != PW_OK)
            return status;
        reduced[axis] = true;
    }
    return PW_OK;
}

static void add_dim(int64_t size, int64_t stride, int *rank, int64_t *dims, int64_t *strides, bool merges)
{
    if (merges) { /* the dim before is the outer neighbour: together they are one dim with the inner stride */
        dims[*rank - 1] *= size;
        strides[*rank - 1] = stride;
        return;
    }
    dims[*rank] = size;
    strides[(*rank)++] = stride;
}

void pw_reduce_layout(const int64_t *dims, int rank, const bool *reduced, struct pw_reduce_layout *l)
{
    int64_t stride = 1;
    int last = -1; /* kind of the dim before: 0 kept, 1 reduced */

    memset(l, 0, sizeof *l);
    l->outputs = l->terms = 1;
    for (int d = 0; d < rank; d++)
        stride *= dims[d] > 0 ? dims[d] : 1;
    for (int d = 0; d < rank; d++) {
        stride /= dims[d] > 0 ? dims[d] : 1;
        if (reduced[d])
            l->terms *= dims[d];
        else
            l->outputs *= dims[d];
        if (dims[d] == 1)
            continue;
        if (reduced[d])
            add_dim(dims[d], stride, &l->sum_rank, l->sum_dims, l->sum_strides, last == 1);
        else
            add_dim(dims[d], stride, &l->kept_rank, l->kept_dims, l->kept_strides, last == 0);
        last = reduced[d];
    }
    l->simple = l->sum_rank <= 1 && l->outputs > 0;
    l->outer = l->outputs;
    l->length = l->terms;
    l->inner = 1;
    if (l->simple && l->sum_rank == 1 && l->sum_strides[0] > 1) {
        l->inner = l->sum_strides[0];
        l->outer = l->outputs / l->inner;
    }
}

/* ---- inference ---- */

static bool accepted(const struct pw_reduce_form *form, pw_dtype dtype)
{
    if (dtype == PW_DTYPE_BOOL)
        return form->kind == PW_REDUCE_MAX || form->kind == PW_REDUCE_MIN;
    return dtype == PW_DTYPE_UNDEFINED || pw_dtype_is_float(dtype) || pw_dtype_is_integer(dtype);
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    bool keepdims = pw_call_int(call, "keepdims") != 0, reduced[PW_MAX_RANK], known = false;
    pw_dim dims[PW_MAX_RANK];
    int rank = 0;
    pw_status status;

    if (!accepted(call->op->data, in->dtype))
        return pw_call_error(call, err, "data is %s, numbers expected", pw_dtype_name(in->dtype));
    if (in->rank < 0) {
        pw_call_output_unknown(call, 0, in->dtype);
        return PW_OK;
    }
    status = pw_reduce_axes(call, in->rank, reduced, &known, err);
    if (status != PW_OK)
        return status;
    if (!known && !keepdims) {
        pw_call_output_unknown(call, 0, in->dtype);
        return PW_OK;
    }
    for (int d = 0; d < in->rank; d++) {
        if (!known)
            dims[rank++] = pw_dims_fresh(call->dims, "reduced");
        else if (!reduced[d])
            dims[rank++] = in->dims[d];
        else if (keepdims)
            dims[rank++] = 1;
    }
    pw_call_output(call, 0, in->dtype, rank, dims);
    return PW_OK;
}

/* ---- cost and accuracy ---- */

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    static const int per_element[PW_REDUCE_KINDS] = {
        [PW_REDUCE_SUM] = 1,         [PW_REDUCE_MEAN] = 1,      [PW_REDUCE_MAX] = 1, [PW_REDUCE_MIN] = 1,
        [PW_REDUCE_PROD] = 1,        [PW_REDUCE_L1] = 2,        [PW_REDUCE_L2] = 2,  [PW_REDUCE_LOG_SUM] = 1,
        [PW_REDUCE_LOG_SUM_EXP] = 4, [PW_REDUCE_SUM_SQUARE] = 2};
    const struct pw_reduce_form *form = call->op->data;
    pw_dim last = form->kind == PW_REDUCE_MEAN || form->kind == PW_REDUCE_L2 || form->kind == PW_REDUCE_LOG_SUM ||
                          form->kind == PW_REDUCE_LOG_SUM_EXP
                      ? pw_call_elements(call, &call->out[0])
                      : 0;

    (void)err;
    out->flops = pw_dims_add(
        call->dims, pw_dims_mul(call->dims, pw_call_elements(call, call->in[0]), per_element[form->kind]), last);
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_reduce_form *form = call->op->data;
    int64_t all = 1, outputs = 1;
    bool floats = pw_dtype_is_float(call->out[0].dtype);

    out->exact = !floats || form->kind == PW_REDUCE_MAX || form->kind == PW_REDUCE_MIN;
    out->length = 1;
    if (pw_dims_value(call->dims, pw_call_elements(call, call->in[0]), &all) &&
        pw_dims_value(call->dims, pw_call_elements(call, &call->out[0]), &outputs) && outputs > 0 && all / outputs > 1)
        out->length = all / outputs;
    out->amplification = 1.0;
    out->ulp = 1.0;
    out->sensitivity = out->exact ? PW_SENSITIVITY_LOW : PW_SENSITIVITY_MEDIUM;
    out->reason = out->exact ? "integers or only comparisons" : "a long sum; signs that differ cancel";
    out->why = out->exact ? "exact" : "a sum of the reduced elements";
    if (out->exact)
        return;
    if (form->kind == PW_REDUCE_MEAN || form->kind == PW_REDUCE_L2)
        out->ulp = 4.0; /* a division 2.5 or a square root 3 */
    if (form->kind == PW_REDUCE_LOG_SUM || form->kind == PW_REDUCE_LOG_SUM_EXP) {
        out->ulp = 8.0; /* exp 3, log 3 */
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "logarithm of a sum: relative error is lost where the sum is near 1";
    }
    if (form->kind == PW_REDUCE_PROD) {
        out->ulp = (double)out->length; /* every factor rounds */
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "a product of many factors: over- and underflow, and every rounding counts";
        out->why = "a product of the reduced elements, rounded at every step";
    }
}

/* ---- binding ---- */

static pw_status bind_layout(const struct pw_reduce_layout *l, struct pw_bindings *b, struct pw_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } ints[] = {{"outputs", l->outputs}, {"terms", l->terms}, {"simple", l->simple},       {"outer", l->outer},
                {"length", l->length},   {"inner", l->inner}, {"kept_rank", l->kept_rank}, {"sum_rank", l->sum_rank}};
    const struct {
        const char *name;
        const int64_t *values;
        int count;
    } arrays[] = {{"kept_dims", l->kept_dims, l->kept_rank},
                  {"kept_strides", l->kept_strides, l->kept_rank},
                  {"sum_dims", l->sum_dims, l->sum_rank},
                  {"sum_strides", l->sum_strides, l->sum_rank}};
    pw_status status = PW_OK;

    for (size_t i = 0; i < PW_COUNT_OF(ints) && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    for (size_t i = 0; i < PW_COUNT_OF(arrays) && status == PW_OK; i++)
        status = pw_bind_ints(b, arrays[i].name, arrays[i].values, (size_t)arrays[i].count, err);
    return status;
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_reduce_form *form = call->op->data;
    struct pw_reduce_layout l;
    bool reduced[PW_MAX_RANK], known = false;
    pw_dtype dtype = call->in[0]->dtype;
    pw_status status = pw_reduce_axes(call, call->in[0]->rank, reduced, &known, err);

    if (status != PW_OK)
        return status;
    if (!known)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the axes are not known");
    pw_reduce_layout(call->in[0]->dims, call->in[0]->rank, reduced, &l);
    status = bind_layout(&l, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "two_pass", form->kind == PW_REDUCE_LOG_SUM_EXP, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "is_float", pw_dtype_is_float(dtype), err);
    if (status == PW_OK)
        status = pw_bind_int(b, "is_signed", pw_dtype_facts(dtype)->kind == PW_KIND_SIGNED, err);
    if (status == PW_OK) /* bytes of a partial result */
        status = pw_bind_int(b, "acc_bytes", pw_dtype_is_float(dtype) && dtype != PW_DTYPE_FLOAT64 ? 4 : 8, err);
    return status;
}

static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    const struct pw_reduce_form *form = call->op->data;

    if (input != 0)
        return;
    if (form->kind == PW_REDUCE_LOG_SUM) { /* a logarithm of negative sums is NaN on both sides: says nothing */
        out->low = 0.0;
        out->int_low = 1;
    }
    if (form->kind == PW_REDUCE_L2) { /* integers whose squares' sum 64 bits hold: its root is defined */
        out->int_low = -(1 << 20);
        out->int_high = 1 << 20;
    }
    if (form->kind == PW_REDUCE_LOG_SUM_EXP) { /* integers whose dtype holds the result, which is above the largest */
        out->int_low = -99;
        out->int_high = 99;
        out->beyond = true;
    }
    if (form->kind == PW_REDUCE_PROD) {
        out->low = 0.5;
        out->high = 1.5;
    }
}

/* ---- tables ---- */

static const struct pw_formal data_in[] = {{"data", "T", 0}, {0}};
static const struct pw_formal data_axes_in[] = {
    {"data", "T", 0}, {"axes", "tensor(int64)", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM}, {0}};
static const struct pw_formal reduced_out[] = {{"reduced", "T", 0}, {0}};
static const struct pw_formal index_out[] = {{"reduced", "tensor(int64)", 0}, {0}};
static const struct pw_formal cum_in[] = {{"x", "T", 0}, {"axis", "T2", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal cum_out[] = {{"y", "T", 0}, {0}};
static const struct pw_attr_def axes_attrs[] = {
    {.name = "axes", .type = PW_ATTR_INTS}, {.name = "keepdims", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def noop_attrs[] = {
    {.name = "keepdims", .type = PW_ATTR_INT, .i = 1}, {.name = "noop_with_empty_axes", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def arg1_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "keepdims", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def arg12_attrs[] = {{.name = "axis", .type = PW_ATTR_INT},
                                                 {.name = "keepdims", .type = PW_ATTR_INT, .i = 1},
                                                 {.name = "select_last_index", .type = PW_ATTR_INT},
                                                 {0}};
static const struct pw_attr_def cum_attrs[] = {
    {.name = "exclusive", .type = PW_ATTR_INT}, {.name = "reverse", .type = PW_ATTR_INT}, {0}};

/* What follows a sum besides additions and multiplications. */
#define AFTER_SUM(kind)                                                                                                \
    ((kind) == PW_REDUCE_MEAN          ? "divide"                                                                      \
     : (kind) == PW_REDUCE_L2          ? "sqrt"                                                                        \
     : (kind) == PW_REDUCE_LOG_SUM     ? "log"                                                                         \
     : (kind) == PW_REDUCE_LOG_SUM_EXP ? "exp log"                                                                     \
                                       : NULL)
#define SUMS(kind) ((kind) != PW_REDUCE_MAX && (kind) != PW_REDUCE_MIN)

#define REDUCE(op_name, version, op_kind, from_input)                                                                  \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_REDUCTION,                            \
        .attrs = from_input ? noop_attrs : axes_attrs, .inputs = from_input ? data_axes_in : data_in,                  \
        .outputs = reduced_out, .infer = infer, .cost = cost, .accuracy = accuracy, .golden = pw_reduce_golden,        \
        .ordered = SUMS(op_kind) ? pw_reduce_ordered : NULL, .ordered_functions = AFTER_SUM(op_kind),                  \
        .fast = pw_reduce_fast, .fill = fill, .bind = bind, .data = &(const struct pw_reduce_form)                     \
        {                                                                                                              \
            op_kind, from_input                                                                                        \
        }                                                                                                              \
    }
#define REDUCE_ALL(op_name, op_kind)                                                                                   \
    REDUCE(op_name, 1, op_kind, false), REDUCE(op_name, 11, op_kind, false), REDUCE(op_name, 13, op_kind, false),      \
        REDUCE(op_name, 18, op_kind, true)
#define ARG(op_name, version, attributes, is_min)                                                                      \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_REDUCTION, .attrs = attributes,       \
        .inputs = data_in, .outputs = index_out, .infer = pw_reduce_arg_infer, .accuracy = pw_reduce_arg_accuracy,     \
        .golden = pw_reduce_arg_golden, .bind = pw_reduce_arg_bind, .data = &(const struct pw_reduce_scan_form)        \
        {                                                                                                              \
            is_min, false                                                                                              \
        }                                                                                                              \
    }
#define CUM(op_name, version, is_product)                                                                              \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_REDUCTION, .attrs = cum_attrs,        \
        .inputs = cum_in, .outputs = cum_out, .infer = pw_reduce_cum_infer, .accuracy = pw_reduce_cum_accuracy,        \
        .golden = pw_reduce_cum_golden, .bind = pw_reduce_cum_bind, .data = &(const struct pw_reduce_scan_form)        \
        {                                                                                                              \
            false, is_product                                                                                          \
        }                                                                                                              \
    }

const struct pw_op pw_reduce_ops[] = {
    REDUCE("ReduceSum", 1, PW_REDUCE_SUM, false),
    REDUCE("ReduceSum", 11, PW_REDUCE_SUM, false),
    REDUCE("ReduceSum", 13, PW_REDUCE_SUM, true),
    REDUCE_ALL("ReduceMean", PW_REDUCE_MEAN),
    REDUCE_ALL("ReduceMax", PW_REDUCE_MAX),
    REDUCE("ReduceMax", 12, PW_REDUCE_MAX, false),
    REDUCE("ReduceMax", 20, PW_REDUCE_MAX, true),
    REDUCE_ALL("ReduceMin", PW_REDUCE_MIN),
    REDUCE("ReduceMin", 12, PW_REDUCE_MIN, false),
    REDUCE("ReduceMin", 20, PW_REDUCE_MIN, true),
    REDUCE_ALL("ReduceProd", PW_REDUCE_PROD),
    REDUCE_ALL("ReduceL1", PW_REDUCE_L1),
    REDUCE_ALL("ReduceL2", PW_REDUCE_L2),
    REDUCE_ALL("ReduceLogSum", PW_REDUCE_LOG_SUM),
    REDUCE("ReduceLogSum", 28, PW_REDUCE_LOG_SUM, true),
    REDUCE_ALL("ReduceLogSumExp", PW_REDUCE_LOG_SUM_EXP),
    REDUCE("ReduceLogSumExp", 28, PW_REDUCE_LOG_SUM_EXP, true),
    REDUCE_ALL("ReduceSumSquare", PW_REDUCE_SUM_SQUARE),
    ARG("ArgMax", 1, arg1_attrs, false),
    ARG("ArgMax", 11, arg1_attrs, false),
    ARG("ArgMax", 12, arg12_attrs, false),
    ARG("ArgMax", 13, arg12_attrs, false),
    ARG("ArgMin", 1, arg1_attrs, true),
    ARG("ArgMin", 11, arg1_attrs, true),
    ARG("ArgMin", 12, arg12_attrs, true),
    ARG("ArgMin", 13, arg12_attrs, true),
    CUM("CumSum", 11, false),
    CUM("CumSum", 14, false),
    CUM("CumProd", 26, true),
    {0},
};
