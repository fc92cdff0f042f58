/* Constant, ConstantOfShape, Range: values that come from attributes and scalars. */
#include "constant.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

#define MAX_COUNT ((int64_t)1 << 48)

/* ---- Constant ---- */

static const struct pw_attr_def constant_1_attrs[] = {
    {.name = "value", .type = PW_ATTR_TENSOR, .required = true},
    {0},
};
static const struct pw_attr_def constant_11_attrs[] = {
    {.name = "value", .type = PW_ATTR_TENSOR},
    {.name = "sparse_value", .type = PW_ATTR_SPARSE_TENSOR},
    {0},
};
static const struct pw_attr_def constant_12_attrs[] = {
    {.name = "value", .type = PW_ATTR_TENSOR},
    {.name = "sparse_value", .type = PW_ATTR_SPARSE_TENSOR},
    {.name = "value_float", .type = PW_ATTR_FLOAT},
    {.name = "value_floats", .type = PW_ATTR_FLOATS},
    {.name = "value_int", .type = PW_ATTR_INT},
    {.name = "value_ints", .type = PW_ATTR_INTS},
    {.name = "value_string", .type = PW_ATTR_STRING},
    {.name = "value_strings", .type = PW_ATTR_STRINGS},
    {0},
};
static const struct pw_formal no_inputs[] = {{0}};
static const struct pw_formal constant_outputs[] = {{"output", "T", 0}, {0}};

/* The node's one value attribute. */
static pw_status find_value(const struct pw_call *call, const struct pw_attr **out, struct pw_error *err)
{
    const struct pw_attr *found = NULL;

    for (const struct pw_attr_def *def = call->op->attrs; def->name != NULL; def++) {
        const struct pw_attr *attr = pw_node_attr(call->node, def->name);

        if (attr == NULL)
            continue;
        if (found != NULL)
            return pw_call_error(call, err, "attributes '%s' and '%s' exclude each other", found->name, attr->name);
        found = attr;
    }
    if (found == NULL)
        return pw_call_error(call, err, "expected one value attribute, found none");
    *out = found;
    return PW_OK;
}

/* Dense content of a sparse value, in the arena. */
static pw_status densify(const struct pw_call *call, const struct pw_sparse *sparse, struct pw_tensor *out,
                         struct pw_error *err)
{
    struct pw_tensor dense = {0};
    pw_status status;
    void *copy;

    if (sparse == NULL || sparse->values.dtype == PW_DTYPE_STRING)
        return pw_call_error(call, err, "sparse_value holds no numbers");
    status = pw_sparse_to_tensor(sparse, &dense, err);
    if (status != PW_OK)
        return status;
    copy = pw_arena_alloc(call->arena, pw_tensor_bytes(&dense) + 1, 1);
    if (copy == NULL) {
        status = pw_error_memory(err, pw_tensor_bytes(&dense));
    } else {
        if (dense.count > 0)
            memcpy(copy, dense.data, pw_tensor_bytes(&dense));
        pw_tensor_borrow(out, dense.dtype, dense.rank, dense.dims, copy);
    }
    pw_tensor_clear(&dense);
    return status;
}

pw_status pw_constant_value(const struct pw_call *call, struct pw_tensor *out, struct pw_error *err)
{
    const struct pw_attr *attr = NULL;
    pw_status status = find_value(call, &attr, err);
    int64_t count;

    if (status != PW_OK)
        return status;
    count = (int64_t)attr->count;
    switch (attr->type) {
    case PW_ATTR_TENSOR:
        if (attr->tensor == NULL)
            return pw_call_error(call, err, "attribute '%s' holds no tensor", attr->name);
        *out = *attr->tensor;
        out->owned = false;
        return PW_OK;
    case PW_ATTR_SPARSE_TENSOR:
        return densify(call, attr->sparse, out, err);
    case PW_ATTR_FLOAT:
        pw_tensor_borrow(out, PW_DTYPE_FLOAT32, 0, NULL, &attr->f);
        return PW_OK;
    case PW_ATTR_FLOATS:
        pw_tensor_borrow(out, PW_DTYPE_FLOAT32, 1, &count, attr->floats);
        return PW_OK;
    case PW_ATTR_INT:
        pw_tensor_borrow(out, PW_DTYPE_INT64, 0, NULL, &attr->i);
        return PW_OK;
    case PW_ATTR_INTS:
        pw_tensor_borrow(out, PW_DTYPE_INT64, 1, &count, attr->ints);
        return PW_OK;
    case PW_ATTR_STRING:
        pw_tensor_borrow(out, PW_DTYPE_STRING, 0, NULL, &attr->s);
        return PW_OK;
    default:
        pw_tensor_borrow(out, PW_DTYPE_STRING, 1, &count, attr->strings);
        return PW_OK;
    }
}

static pw_status constant_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_tensor value;
    struct pw_tensor *kept = NULL;
    pw_status status = pw_constant_value(call, &value, err);

    if (status != PW_OK)
        return status;
    kept = pw_arena_alloc(call->arena, 1, sizeof *kept);
    if (kept == NULL)
        return pw_error_memory(err, sizeof *kept);
    *kept = value;
    pw_call_output(call, 0, value.nominal, value.rank, value.dims);
    if (call->output_count > 0)
        call->out[0].constant = kept;
    return PW_OK;
}

/* ---- ConstantOfShape ---- */

static const struct pw_attr_def of_shape_attrs[] = {{.name = "value", .type = PW_ATTR_TENSOR}, {0}};
static const struct pw_formal of_shape_inputs[] = {{"input", "T1", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal of_shape_outputs[] = {{"output", "T2", 0}, {0}};

/* Integer content of the output, where its shape is small and known. */
static pw_status fill_content(struct pw_call *call, const struct pw_tensor *value, struct pw_error *err)
{
    struct pw_info *out = &call->out[0];
    pw_dim element, *content;
    int64_t count = 1;

    if (value != NULL && !pw_dtype_is_integer(value->dtype) && value->dtype != PW_DTYPE_BOOL)
        return PW_OK;
    if (value == NULL)
        return PW_OK; /* float zeros */
    for (int d = 0; d < out->rank; d++) {
        if (out->dims[d] < 0 || out->dims[d] > PW_CONTENT_MAX)
            return PW_OK;
        count *= out->dims[d];
        if (count > PW_CONTENT_MAX)
            return PW_OK;
    }
    element = pw_dims_int(call->dims, pw_tensor_get_int(value, 0));
    content = pw_arena_alloc(call->arena, (size_t)count + 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, (size_t)count * sizeof *content);
    for (int64_t i = 0; i < count; i++)
        content[i] = element;
    out->content = content;
    out->content_count = (size_t)count;
    return PW_OK;
}

static pw_status of_shape_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_tensor *value = pw_call_tensor(call, "value");
    const struct pw_info *in = call->in[0];
    pw_dtype dtype = value != NULL ? value->nominal : PW_DTYPE_FLOAT32;
    pw_dim dims[PW_MAX_RANK];
    int rank = -1;

    if (value != NULL && (value->count != 1 || value->rank > 1))
        return pw_call_error(call, err, "attribute 'value' must hold one element, found %lld", (long long)value->count);
    if (dtype == PW_DTYPE_STRING)
        return pw_call_error(call, err, "attribute 'value' must hold a number");
    if (in->dtype != PW_DTYPE_UNDEFINED && in->dtype != PW_DTYPE_INT64)
        return pw_call_error(call, err, "input 'input' must be int64, found %s", pw_dtype_name(in->dtype));
    if (in->rank >= 0 && in->rank != 1)
        return pw_call_error(call, err, "input 'input' must have rank 1, found %d", in->rank);
    if (in->rank == 1 && in->dims[0] >= 0) {
        if (in->dims[0] > PW_MAX_RANK)
            return pw_call_error(call, err, "shape of rank %lld; at most %d is supported", (long long)in->dims[0],
                                 PW_MAX_RANK);
        rank = (int)in->dims[0];
    }
    if (rank < 0) {
        pw_call_output_unknown(call, 0, dtype);
        return PW_OK;
    }
    for (int d = 0; d < rank; d++) {
        int64_t number;

        dims[d] = in->content != NULL && (size_t)d < in->content_count ? in->content[d] : PW_DIM_UNKNOWN;
        if (dims[d] == PW_DIM_UNKNOWN)
            dims[d] = pw_dims_fresh(call->dims, "shape");
        if (pw_dims_value(call->dims, dims[d], &number) && number < 0)
            return pw_call_error(call, err, "dim %d of the shape is %lld", d, (long long)number);
    }
    pw_call_output(call, 0, dtype, rank, dims);
    return fill_content(call, value, err);
}

/* The element's bytes, low word first, for a kernel that only copies bits. */
static pw_status of_shape_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_tensor *value = pw_call_tensor(call, "value");
    uint64_t bits = 0;
    pw_status status;

    if (value != NULL && pw_dtype_bytes(value->dtype) <= sizeof bits)
        memcpy(&bits, value->data, pw_dtype_bytes(value->dtype));
    status = pw_bind_int(b, "low", (int32_t)(uint32_t)bits, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "high", (int32_t)(uint32_t)(bits >> 32), err);
    return status;
}

/* ---- Range ---- */

static const struct pw_attr_def range_27_attrs[] = {{.name = "stash_type", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_formal range_inputs[] = {
    {"start", "T", PW_FORMAL_PARAM},
    {"limit", "T", PW_FORMAL_PARAM},
    {"delta", "T", PW_FORMAL_PARAM},
    {0},
};
static const struct pw_formal range_outputs[] = {{"output", "T", 0}, {0}};

bool pw_range_count_int(int64_t start, int64_t limit, int64_t delta, int64_t *count)
{
    __int128 span = (__int128)limit - start, step = delta, steps;

    if (delta == 0)
        return false;
    if (step < 0) {
        step = -step;
        span = -span;
    }
    steps = span <= 0 ? 0 : (span + step - 1) / step;
    *count = (int64_t)steps;
    return steps <= MAX_COUNT;
}

bool pw_range_count_float(double start, double limit, double delta, int64_t *count)
{
    double steps = ceil((limit - start) / delta);

    if (delta == 0.0 || isnan(steps) || steps > (double)MAX_COUNT)
        return false;
    *count = steps > 0.0 ? (int64_t)steps : 0;
    return true;
}

/* Content of input i when it is one known integer, symbolic or not. */
static bool range_content(const struct pw_call *call, int i, pw_dim *out)
{
    if (call->in[i]->content == NULL || call->in[i]->content_count != 1)
        return false;
    *out = call->in[i]->content[0];
    return *out != PW_DIM_UNKNOWN;
}

static pw_status range_content_output(struct pw_call *call, pw_dim start, pw_dim delta, pw_dim size,
                                      struct pw_error *err)
{
    pw_dim *content;

    if (size < 0 || size > PW_CONTENT_MAX || call->output_count < 1)
        return PW_OK;
    content = pw_arena_alloc(call->arena, (size_t)size + 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, (size_t)size * sizeof *content);
    for (int64_t i = 0; i < size; i++)
        content[i] = pw_dims_add(call->dims, start, pw_dims_mul(call->dims, delta, i));
    call->out[0].content = content;
    call->out[0].content_count = (size_t)size;
    return PW_OK;
}

static pw_status range_infer(struct pw_call *call, struct pw_error *err)
{
    pw_dim start = 0, limit = 0, delta = 0, size = PW_DIM_UNKNOWN;
    const struct pw_tensor *c[3] = {call->in[0]->constant, call->in[1]->constant, call->in[2]->constant};
    pw_dtype dtype = call->in[0]->dtype;
    bool symbolic = range_content(call, 0, &start) && range_content(call, 1, &limit) && range_content(call, 2, &delta);
    int64_t a, b, d, count;

    for (int i = 0; i < 3; i++) {
        if (call->in[i]->rank > 1 || (c[i] != NULL && c[i]->count != 1))
            return pw_call_error(call, err, "input '%s' must be one number", range_inputs[i].name);
    }
    if (symbolic && pw_dims_value(call->dims, start, &a) && pw_dims_value(call->dims, limit, &b) &&
        pw_dims_value(call->dims, delta, &d)) {
        if (!pw_range_count_int(a, b, d, &count))
            return pw_call_error(call, err, "start %lld, limit %lld, delta %lld give no size", (long long)a,
                                 (long long)b, (long long)d);
        size = count;
    } else if (symbolic && delta != 0) {
        pw_dim span = pw_dims_sub(call->dims, limit, start);

        size = pw_dims_max(call->dims, pw_dims_ceildiv(call->dims, span, delta), 0);
    } else if (c[0] != NULL && c[1] != NULL && c[2] != NULL && pw_dtype_is_float(dtype)) {
        if (!pw_range_count_float(pw_tensor_get(c[0], 0), pw_tensor_get(c[1], 0), pw_tensor_get(c[2], 0), &count))
            return pw_call_error(call, err, "start %g, limit %g, delta %g give no size", pw_tensor_get(c[0], 0),
                                 pw_tensor_get(c[1], 0), pw_tensor_get(c[2], 0));
        size = count;
    }
    if (size == PW_DIM_UNKNOWN)
        size = pw_dims_fresh(call->dims, "range");
    pw_call_output(call, 0, dtype, 1, &size);
    return symbolic ? range_content_output(call, start, delta, size, err) : PW_OK;
}

static pw_status range_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_tensor *start = call->in[0]->constant, *delta = call->in[2]->constant;
    pw_status status;

    if (start == NULL || delta == NULL || start->count != 1 || delta->count != 1)
        return pw_call_error(call, err, "start and delta are not known");
    if (pw_dtype_is_float(call->in[0]->dtype)) {
        status = pw_bind_float(b, "first", pw_tensor_get(start, 0), err);
        if (status == PW_OK)
            status = pw_bind_float(b, "step", pw_tensor_get(delta, 0), err);
    } else {
        status = pw_bind_int(b, "first", pw_tensor_get_int(start, 0), err);
        if (status == PW_OK)
            status = pw_bind_int(b, "step", pw_tensor_get_int(delta, 0), err);
    }
    return status;
}

static pw_status range_cost(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = 0;
    if (pw_dtype_is_float(call->out[0].dtype) && call->out[0].rank == 1) /* a multiply and an add */
        cost->flops = pw_dims_mul(call->dims, call->out[0].dims[0], 2);
    return PW_OK;
}

static void range_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    *accuracy = (struct pw_accuracy){
        .exact = !pw_dtype_is_float(call->out[0].dtype),
        .ulp = 1.5,
        .length = 1,
        .amplification = 1.0,
        .sensitivity = PW_SENSITIVITY_LOW,
        .reason = "one multiply and one add per element",
        .why = "start + i*delta: a rounding for each, or one with fma",
    };
}

/* ---- shared ---- */

#define CONSTANT(version, table)                                                                                       \
    {                                                                                                                  \
        .domain = "", .name = "Constant", .since = version, .category = PW_CATEGORY_LAYOUT, .attrs = table,            \
        .inputs = no_inputs, .outputs = constant_outputs, .host_only = "its value is known when the graph is loaded",  \
        .infer = constant_infer, .cost = pw_cost_none, .accuracy = pw_accuracy_copy, .golden = pw_constant_golden      \
    }
#define OF_SHAPE(version)                                                                                              \
    {                                                                                                                  \
        .domain = "", .name = "ConstantOfShape", .since = version, .category = PW_CATEGORY_LAYOUT,                     \
        .attrs = of_shape_attrs, .inputs = of_shape_inputs, .outputs = of_shape_outputs, .infer = of_shape_infer,      \
        .cost = pw_cost_none, .accuracy = pw_accuracy_copy, .golden = pw_constant_of_shape_golden,                     \
        .bind = of_shape_bind                                                                                          \
    }
#define RANGE(version, table)                                                                                          \
    {                                                                                                                  \
        .domain = "", .name = "Range", .since = version, .category = PW_CATEGORY_LAYOUT, .attrs = table,               \
        .inputs = range_inputs, .outputs = range_outputs, .infer = range_infer, .cost = range_cost,                    \
        .accuracy = range_accuracy, .golden = pw_range_golden, .bind = range_bind                                      \
    }

const struct pw_op pw_constant_ops[] = {
    CONSTANT(1, constant_1_attrs),
    CONSTANT(9, constant_1_attrs),
    CONSTANT(11, constant_11_attrs),
    CONSTANT(12, constant_12_attrs),
    CONSTANT(13, constant_12_attrs),
    CONSTANT(19, constant_12_attrs),
    CONSTANT(21, constant_12_attrs),
    CONSTANT(23, constant_12_attrs),
    CONSTANT(24, constant_12_attrs),
    CONSTANT(25, constant_12_attrs),
    OF_SHAPE(9),
    OF_SHAPE(20),
    OF_SHAPE(21),
    OF_SHAPE(23),
    OF_SHAPE(24),
    OF_SHAPE(25),
    RANGE(11, NULL),
    RANGE(27, range_27_attrs),
    {0},
};
