#include "graph/decoder_emit.h"

#include <string.h>

#include "base/random.h"

static const char *fail(struct pw_emit *e, pw_status status)
{
    if (e->status == PW_OK)
        e->status = status;
    return "";
}

const char *pw_emit_format(struct pw_emit *e, const char *format, ...)
{
    struct pw_buf text = {0};
    va_list args;
    char *copy;
    va_start(args, format);
    pw_buf_vprintf(&text, format, args);
    va_end(args);
    copy = text.failed ? NULL : pw_arena_strndup(&e->arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return copy ? copy : fail(e, pw_error_memory(e->err, 64));
}

/* "scope/Op", "scope/Op_1", … */
static const char *node_name(struct pw_emit *e, const char *op)
{
    const char *base = pw_emit_format(e, "%s/%s", e->scope, op);
    size_t count = 0;
    pw_map_find(&e->counters, base, &count);
    if (pw_map_put(&e->counters, base, count + 1, e->err) != PW_OK)
        return fail(e, PW_ERR_NO_MEMORY);
    return count == 0 ? base : pw_emit_format(e, "%s_%zu", base, count);
}

void pw_emit_many(struct pw_emit *e, const char *op, struct pw_buf *attrs, size_t input_count,
                  const char *const *inputs, size_t output_count, const char **outputs)
{
    const char *name = node_name(e, op);
    for (size_t i = 0; i < output_count; i++)
        if (!outputs[i])
            outputs[i] = pw_emit_format(e, "%s_output_%zu", name, i);
    pw_onnx_put_node(&e->out.graph, op, name, inputs, input_count, outputs, output_count, attrs);
    if (e->out.graph.failed)
        fail(e, pw_error_memory(e->err, e->out.graph.size));
    e->node_count++;
}

const char *pw_emit_node(struct pw_emit *e, const char *op, struct pw_buf *attrs, const char *output, size_t count,
                         const char *const *inputs)
{
    const char *outputs[1] = {output};
    pw_emit_many(e, op, attrs, count, inputs, 1, outputs);
    return outputs[0];
}

const char *pw_emit_one(struct pw_emit *e, const char *op, const char *a)
{
    return pw_emit_node(e, op, NULL, NULL, 1, (const char *const[]){a});
}

const char *pw_emit_two(struct pw_emit *e, const char *op, const char *a, const char *b)
{
    return pw_emit_node(e, op, NULL, NULL, 2, (const char *const[]){a, b});
}

/* ---- constants ---- */

static const char *constant(struct pw_emit *e, const struct pw_tensor *t)
{
    struct pw_buf body = {0}, attrs = {0};
    pw_onnx_put_tensor(&body, NULL, t);
    pw_onnx_put_attr_message(&attrs, "value", PW_ATTR_TENSOR, &body);
    return pw_emit_node(e, "Constant", &attrs, NULL, 0, NULL);
}

const char *pw_emit_ints(struct pw_emit *e, int rank, const int64_t *values, size_t count)
{
    struct pw_tensor t = {0};
    int64_t dim = (int64_t)count;
    pw_tensor_borrow(&t, PW_DTYPE_INT64, rank, &dim, values);
    return constant(e, &t);
}

const char *pw_emit_int(struct pw_emit *e, int64_t value)
{
    return pw_emit_ints(e, 0, &value, 1);
}

const char *pw_emit_int1(struct pw_emit *e, int64_t value)
{
    return pw_emit_ints(e, 1, &value, 1);
}

const char *pw_emit_real(struct pw_emit *e, pw_dtype dtype, double value)
{
    struct pw_tensor t = {0};
    const char *name;
    pw_status status = pw_tensor_init(&t, dtype, 0, NULL, e->err);
    if (status != PW_OK)
        return fail(e, status);
    pw_tensor_set(&t, 0, value);
    name = constant(e, &t);
    pw_tensor_clear(&t);
    return name;
}

/* ---- operators ---- */

const char *pw_emit_unsqueeze(struct pw_emit *e, const char *x, int64_t axis)
{
    struct pw_buf attrs = {0};
    if (e->d->opset >= 13)
        return pw_emit_two(e, "Unsqueeze", x, pw_emit_int1(e, axis));
    pw_onnx_put_attr_ints(&attrs, "axes", &axis, 1);
    return pw_emit_node(e, "Unsqueeze", &attrs, NULL, 1, &x);
}

const char *pw_emit_mean(struct pw_emit *e, const char *x)
{
    static const int64_t last = -1;
    struct pw_buf attrs = {0};
    if (e->d->opset >= 18)
        return pw_emit_two(e, "ReduceMean", x, pw_emit_int1(e, last));
    pw_onnx_put_attr_ints(&attrs, "axes", &last, 1);
    return pw_emit_node(e, "ReduceMean", &attrs, NULL, 1, &x);
}

const char *pw_emit_cast(struct pw_emit *e, const char *x, pw_dtype to)
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_int(&attrs, "to", (int64_t)to);
    return pw_emit_node(e, "Cast", &attrs, NULL, 1, &x);
}

const char *pw_emit_gather(struct pw_emit *e, const char *x, const char *indices)
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_int(&attrs, "axis", 0);
    return pw_emit_node(e, "Gather", &attrs, NULL, 2, (const char *const[]){x, indices});
}

const char *pw_emit_transpose(struct pw_emit *e, const char *x, const int64_t perm[4])
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_ints(&attrs, "perm", perm, 4);
    return pw_emit_node(e, "Transpose", &attrs, NULL, 1, &x);
}

const char *pw_emit_concat(struct pw_emit *e, int64_t axis, const char *output, size_t count, const char *const *inputs)
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_int(&attrs, "axis", axis);
    return pw_emit_node(e, "Concat", &attrs, output, count, inputs);
}

const char *pw_emit_slice(struct pw_emit *e, const char *x, int64_t axis, int64_t start, int64_t end)
{
    const char *inputs[5] = {x};
    inputs[3] = pw_emit_int1(e, axis);
    inputs[1] = pw_emit_int1(e, start);
    inputs[2] = pw_emit_int1(e, end);
    inputs[4] = pw_emit_int1(e, 1);
    return pw_emit_node(e, "Slice", NULL, NULL, 5, inputs);
}

const char *pw_emit_softmax(struct pw_emit *e, const char *x)
{
    struct pw_buf attrs = {0};
    /* Before opset 13, softmax flattens: with the last of four axes that comes to the same. */
    pw_onnx_put_attr_int(&attrs, "axis", e->d->opset >= 13 ? -1 : 3);
    return pw_emit_node(e, "Softmax", &attrs, NULL, 1, &x);
}

const char *pw_emit_dim(struct pw_emit *e, const char *x, int64_t axis)
{
    const char *shape = pw_emit_one(e, "Shape", x);
    return pw_emit_gather(e, shape, pw_emit_int(e, axis));
}

const char *pw_emit_range(struct pw_emit *e, const char *limit)
{
    const char *inputs[3] = {pw_emit_int(e, 0), NULL, NULL};
    inputs[1] = pw_emit_cast(e, limit, PW_DTYPE_INT64);
    inputs[2] = pw_emit_int(e, 1);
    return pw_emit_node(e, "Range", NULL, NULL, 3, inputs);
}

/* ---- weights ---- */

static void fill_weight(void *user, int64_t first, int64_t count, void *dst)
{
    const struct pw_emit_weight *weight = user;
    struct pw_tensor out = {0};
    uint32_t words[4] = {0};
    int64_t block = -1;
    pw_tensor_borrow(&out, weight->dtype, 1, &count, dst);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i;
        float unit, value;
        if (at / 4 != block) {
            block = at / 4;
            pw_philox(weight->seed, weight->stream, (uint64_t)block, words);
        }
        unit = (float)(words[at % 4] >> 8) * 0x1p-24f;
        value = weight->centre + weight->spread * (2.0f * unit - 1.0f);
        if (weight->dtype == PW_DTYPE_FLOAT32)
            ((float *)dst)[i] = value;
        else
            pw_tensor_set(&out, i, (double)value);
    }
}

const char *pw_emit_weight(struct pw_emit *e, const char *name, int rank, const int64_t *dims, double centre,
                           double spread)
{
    struct pw_emit_weight *weight = pw_arena_alloc(&e->arena, 1, sizeof *weight);
    pw_status status;
    if (!weight)
        return fail(e, pw_error_memory(e->err, sizeof *weight));
    weight->dtype = e->d->dtype;
    weight->seed = e->d->seed;
    weight->stream = e->streams++;
    weight->centre = (float)centre;
    weight->spread = (float)spread;
    status = pw_onnx_out_weight(&e->out, name, e->d->dtype, rank, dims, fill_weight, weight, e->err);
    return status == PW_OK ? name : fail(e, status);
}
