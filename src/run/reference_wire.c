/* Nodes as bytes for the reference process. */
#include "run/reference_wire.h"

#include <string.h>

#include "base/mem.h"
#include "run/reference_process.h"

/* ---- writing ---- */

static void put_shape(struct pw_buf *out, const struct pw_tensor *t)
{
    pw_wire_u32(out, (uint32_t)t->dtype);
    pw_wire_u32(out, (uint32_t)t->rank);
    pw_wire_bytes(out, t->dims, sizeof t->dims);
}

static void put_string(struct pw_buf *out, const struct pw_bytes *s)
{
    pw_wire_u32(out, (uint32_t)s->size);
    pw_wire_bytes(out, s->data, s->size);
}

static pw_status put_attribute(struct pw_buf *out, const struct pw_attr *attr, struct pw_error *err)
{
    pw_wire_text(out, attr->name);
    pw_wire_u32(out, (uint32_t)attr->type);
    switch (attr->type) {
    case PW_ATTR_INT:
        pw_wire_u64(out, (uint64_t)attr->i);
        return PW_OK;
    case PW_ATTR_FLOAT:
        pw_wire_f64(out, (double)attr->f);
        return PW_OK;
    case PW_ATTR_STRING:
        put_string(out, &attr->s);
        return PW_OK;
    case PW_ATTR_INTS:
        pw_wire_u32(out, (uint32_t)attr->count);
        pw_wire_bytes(out, attr->ints, attr->count * sizeof *attr->ints);
        return PW_OK;
    case PW_ATTR_FLOATS:
        pw_wire_u32(out, (uint32_t)attr->count);
        pw_wire_bytes(out, attr->floats, attr->count * sizeof *attr->floats);
        return PW_OK;
    case PW_ATTR_STRINGS:
        pw_wire_u32(out, (uint32_t)attr->count);
        for (size_t i = 0; i < attr->count; i++)
            put_string(out, &attr->strings[i]);
        return PW_OK;
    case PW_ATTR_TENSOR:
        if (attr->tensor->dtype == PW_DTYPE_STRING)
            break;
        put_shape(out, attr->tensor);
        pw_wire_bytes(out, attr->tensor->data, pw_tensor_bytes(attr->tensor));
        return PW_OK;
    default:
        break;
    }
    return pw_error_set(err, PW_ERR_UNSUPPORTED,
                        "attribute '%s' (a graph, a type or text) is not sent to the reference", attr->name);
}

pw_status pw_reference_write(struct pw_buf *out, const struct pw_reference_request *request, const size_t *offsets,
                             struct pw_error *err)
{
    const struct pw_call *call = request->call;
    const struct pw_value *const *inputs = request->inputs;
    const struct pw_node *node = call->node;
    int input_count = request->input_count;
    pw_status status = PW_OK;
    if (input_count > PW_REFERENCE_INPUTS_MAX || call->output_count > PW_REFERENCE_INPUTS_MAX)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%d inputs are too many for the reference", input_count);
    pw_wire_u32(out, (uint32_t)request->repeats);
    pw_wire_u64(out, (uint64_t)request->min_time_ns);
    pw_wire_u64(out, request->flush_bytes);
    pw_wire_text(out, call->op->domain);
    pw_wire_text(out, call->op->name);
    pw_wire_u32(out, (uint32_t)call->op->since);
    pw_wire_u32(out, (uint32_t)node->attr_count);
    for (size_t i = 0; i < node->attr_count && status == PW_OK; i++)
        status = put_attribute(out, &node->attrs[i], err);
    pw_wire_u32(out, (uint32_t)input_count);
    for (int i = 0; i < input_count && status == PW_OK; i++) {
        const struct pw_value *value = inputs[i];
        bool given = value && value->kind != PW_VALUE_NONE;
        if (given && (value->kind != PW_VALUE_TENSOR || value->tensor.dtype == PW_DTYPE_STRING))
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "input %d is not a tensor of numbers", i);
        pw_wire_u32(out, given);
        if (given) {
            put_shape(out, &value->tensor);
            pw_wire_u64(out, offsets[i]);
            pw_wire_u64(out, offsets[input_count + i]);
        }
    }
    pw_wire_u32(out, (uint32_t)call->output_count);
    for (int i = 0; i < call->output_count; i++)
        pw_wire_u32(out, !call->wanted || call->wanted[i]);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

/* ---- reading ---- */

struct reader {
    struct pw_wire wire;
    struct pw_arena *arena;
};

static void *read_array(struct reader *r, size_t count, size_t size)
{
    void *items = pw_arena_alloc(r->arena, count + 1, size);
    if (items)
        pw_wire_read_bytes(&r->wire, items, count * size);
    else
        r->wire.bad = true;
    return items;
}

static struct pw_bytes read_string(struct reader *r)
{
    size_t size = pw_wire_read_count(&r->wire, 1);
    return (struct pw_bytes){.data = read_array(r, size, 1), .size = size};
}

/* The product of the dims is checked by what borrowing computes: an overflow gives count 0 of a dim that is not. */
static bool read_shape(struct reader *r, const void *data, struct pw_tensor *out)
{
    int64_t dims[PW_MAX_RANK];
    uint32_t dtype = pw_wire_read_u32(&r->wire);
    uint32_t rank = pw_wire_read_u32(&r->wire);
    pw_wire_read_bytes(&r->wire, dims, sizeof dims);
    uint64_t count = 1;
    bool good = !r->wire.bad && rank <= PW_MAX_RANK && dtype < PW_DTYPE_COUNT && dtype != PW_DTYPE_STRING &&
                dtype != PW_DTYPE_UNDEFINED;
    for (uint32_t d = 0; good && d < rank; d++)
        good = dims[d] >= 0 && !__builtin_mul_overflow(count, (uint64_t)dims[d], &count) && count < (UINT64_C(1) << 48);
    if (good)
        pw_tensor_borrow(out, (pw_dtype)dtype, (int)rank, dims, data);
    else
        r->wire.bad = true;
    return good;
}

static void read_attribute(struct reader *r, struct pw_attr *attr)
{
    attr->name = pw_wire_read_text(&r->wire);
    attr->type = (pw_attr_type)pw_wire_read_u32(&r->wire);
    switch (attr->type) {
    case PW_ATTR_INT:
        attr->i = (int64_t)pw_wire_read_u64(&r->wire);
        break;
    case PW_ATTR_FLOAT:
        attr->f = (float)pw_wire_read_f64(&r->wire);
        break;
    case PW_ATTR_STRING:
        attr->s = read_string(r);
        break;
    case PW_ATTR_INTS:
        attr->count = pw_wire_read_count(&r->wire, sizeof *attr->ints);
        attr->ints = read_array(r, attr->count, sizeof *attr->ints);
        break;
    case PW_ATTR_FLOATS:
        attr->count = pw_wire_read_count(&r->wire, sizeof *attr->floats);
        attr->floats = read_array(r, attr->count, sizeof *attr->floats);
        break;
    case PW_ATTR_STRINGS: {
        attr->count = pw_wire_read_count(&r->wire, 4);
        struct pw_bytes *strings = pw_arena_alloc(r->arena, attr->count + 1, sizeof *strings);
        for (size_t i = 0; strings && i < attr->count; i++)
            strings[i] = read_string(r);
        attr->strings = strings;
        break;
    }
    case PW_ATTR_TENSOR:
        attr->tensor = pw_arena_alloc(r->arena, 1, sizeof *attr->tensor);
        attr->count = 1;
        if (attr->tensor && read_shape(r, NULL, attr->tensor)) {
            size_t bytes = pw_tensor_bytes(attr->tensor);
            if (bytes <= r->wire.size - r->wire.at)
                attr->tensor->data = read_array(r, bytes, 1);
            else
                r->wire.bad = true;
        }
        break;
    default:
        r->wire.bad = true;
    }
}

static struct pw_node *make_node(struct pw_arena *arena, size_t inputs, size_t outputs)
{
    struct pw_graph *graph = pw_arena_alloc(arena, 1, sizeof *graph);
    struct pw_node *node = pw_arena_alloc(arena, 1, sizeof *node);
    if (!graph || !node)
        return NULL;
    graph->name = "reference";
    graph->values = pw_arena_alloc(arena, inputs + outputs + 1, sizeof *graph->values);
    graph->nodes = node;
    graph->node_count = 1;
    graph->value_count = inputs + outputs;
    node->inputs = pw_arena_alloc(arena, inputs + 1, sizeof *node->inputs);
    node->outputs = pw_arena_alloc(arena, outputs + 1, sizeof *node->outputs);
    if (!graph->values || !node->inputs || !node->outputs)
        return NULL;
    for (size_t i = 0; i < inputs + outputs; i++) {
        graph->values[i].name = "value";
        if (i < inputs)
            node->inputs[i] = (pw_value_id)i;
        else
            node->outputs[i - inputs] = (pw_value_id)i;
    }
    node->name = node->domain = node->overload = node->doc = "";
    node->graph = graph;
    node->input_count = inputs;
    node->output_count = outputs;
    return node;
}

static void read_inputs(struct reader *r, const uint8_t *region, size_t region_size, size_t count,
                        struct pw_value *inputs, struct pw_value *alternate)
{
    for (size_t i = 0; i < count && !r->wire.bad; i++) {
        struct pw_tensor tensor = {0};
        if (pw_wire_read_u32(&r->wire) == 0)
            continue;
        if (!read_shape(r, NULL, &tensor))
            return;
        uint64_t offsets[2];
        pw_wire_read_bytes(&r->wire, offsets, sizeof offsets);
        struct pw_value *sets[2] = {&inputs[i], &alternate[i]};
        for (int set = 0; set < 2; set++) {
            if (set == 1 && offsets[set] == 0)
                continue;
            if (offsets[set] > region_size || pw_tensor_bytes(&tensor) > region_size - offsets[set]) {
                r->wire.bad = true;
                return;
            }
            pw_tensor_borrow(&sets[set]->tensor, tensor.dtype, tensor.rank, tensor.dims, region + offsets[set]);
            sets[set]->kind = PW_VALUE_TENSOR;
        }
    }
}

pw_status pw_reference_read(const uint8_t *region, size_t region_size, size_t size, struct pw_arena *arena,
                            struct pw_reference_work *out, struct pw_error *err)
{
    struct reader r = {.wire = {.data = region, .size = size}, .arena = arena};
    memset(out, 0, sizeof *out);
    out->repeats = (int)pw_wire_read_u32(&r.wire);
    out->min_time_ns = (int64_t)pw_wire_read_u64(&r.wire);
    out->flush_bytes = pw_wire_read_u64(&r.wire);
    const char *domain = pw_wire_read_text(&r.wire);
    const char *name = pw_wire_read_text(&r.wire);
    int since = (int)pw_wire_read_u32(&r.wire);
    size_t attr_count = pw_wire_read_count(&r.wire, 9);
    struct pw_attr *attrs = pw_arena_alloc(arena, attr_count + 1, sizeof *attrs);
    if (!attrs)
        return pw_error_memory(err, attr_count * sizeof *attrs);
    for (size_t i = 0; i < attr_count && !r.wire.bad; i++)
        read_attribute(&r, &attrs[i]);
    size_t input_count = pw_wire_read_count(&r.wire, 4);
    if (input_count > PW_REFERENCE_INPUTS_MAX)
        r.wire.bad = true;
    out->inputs = pw_arena_alloc(arena, input_count + 1, sizeof *out->inputs);
    out->alternate = pw_arena_alloc(arena, input_count + 1, sizeof *out->alternate);
    if (!out->inputs || !out->alternate)
        return pw_error_memory(err, input_count * sizeof *out->inputs);
    read_inputs(&r, region, region_size, input_count, out->inputs, out->alternate);
    size_t output_count = pw_wire_read_count(&r.wire, 4);
    if (r.wire.bad || output_count > PW_REFERENCE_INPUTS_MAX || out->repeats < 0)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed request");
    out->node = make_node(arena, input_count, output_count);
    if (!out->node)
        return pw_error_memory(err, sizeof *out->node);
    for (size_t i = 0; i < input_count; i++)
        if (out->inputs[i].kind == PW_VALUE_NONE)
            out->node->inputs[i] = PW_NO_VALUE;
    for (size_t i = 0; i < output_count; i++)
        if (pw_wire_read_u32(&r.wire) == 0)
            out->node->outputs[i] = PW_NO_VALUE;
    out->node->domain = domain;
    out->node->op_type = name;
    out->node->opset = since;
    out->node->attrs = attrs;
    out->node->attr_count = attr_count;
    out->node->op = pw_op_find(domain, name, since, NULL);
    return PW_OK;
}
