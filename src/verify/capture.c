/* Names and bytes of captured activations. */
#include <string.h>

#include "base/hash.h"
#include "verify/capture_internal.h"

#define MAGIC "PWTENSOR"

/* Position of a graph among the subgraphs of its owner. */
static size_t subgraph_number(const struct pw_graph *graph)
{
    const struct pw_node *owner = graph->owner;
    size_t number = 0;

    for (size_t a = 0; a < owner->attr_count; a++) {
        const struct pw_attr *attr = &owner->attrs[a];

        if (attr->type == PW_ATTR_GRAPH && attr->graph) {
            if (attr->graph == graph)
                return number;
            number++;
        }
        for (size_t g = 0; attr->type == PW_ATTR_GRAPHS && g < attr->count; g++, number++)
            if (attr->graphs[g] == graph)
                return number;
    }
    return number;
}

static void put_place(const struct pw_node *node, int depth, struct pw_buf *out)
{
    if (node->graph && node->graph->owner && depth < 64) {
        put_place(node->graph->owner, depth + 1, out);
        pw_buf_printf(out, ".%zu.", subgraph_number(node->graph));
    }
    pw_buf_printf(out, "%zu", node->index);
}

void pw_capture_key(struct pw_capture_graph *graph, const struct pw_node *node, struct pw_buf *out)
{
    if (graph->model != node->graph->model) {
        graph->model = node->graph->model;
        pw_hash_text(pw_model_structure_hash(graph->model), graph->id);
    }
    pw_buf_printf(out, "%s ", graph->id);
    put_place(node, 0, out);
    pw_buf_putc(out, ' ');
    for (const char *c = node->op_type; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';

        pw_buf_putc(out, plain ? *c : '?');
    }
    pw_buf_printf(out, " %016llx", (unsigned long long)pw_hash64(node->name, strlen(node->name), 0));
}

const struct pw_tensor *pw_capture_weight(const struct pw_node *node, int input)
{
    const struct pw_graph_value *value;

    if (input < 0 || (size_t)input >= node->input_count || node->inputs[input] == PW_NO_VALUE || !node->graph)
        return NULL;
    value = pw_graph_value_origin(&node->graph->values[node->inputs[input]]);
    return value->initializer;
}

static void put_number(struct pw_buf *out, uint64_t value)
{
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    pw_buf_append(out, bytes, sizeof bytes);
}

pw_status pw_capture_pack(const struct pw_tensor *t, struct pw_buf *out, struct pw_error *err)
{
    struct pw_tensor rounded = {0};
    const struct pw_tensor *nominal = t;
    pw_status status = PW_OK;

    if (t->dtype != t->nominal) {
        status = pw_tensor_convert(&rounded, t, t->nominal, err);
        nominal = &rounded;
    }
    if (status != PW_OK)
        return status;
    pw_buf_append(out, MAGIC, 8);
    put_number(out, (uint64_t)nominal->dtype);
    put_number(out, (uint64_t)nominal->rank);
    for (int d = 0; d < nominal->rank; d++)
        put_number(out, (uint64_t)nominal->dims[d]);
    pw_buf_append(out, nominal->data ? nominal->data : "", pw_tensor_bytes(nominal));
    pw_tensor_clear(&rounded);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

static bool take_number(const char **at, const char *end, uint64_t *value)
{
    *value = 0;
    if (end - *at < 8)
        return false;
    for (int i = 0; i < 8; i++)
        *value |= (uint64_t)(unsigned char)(*at)[i] << (8 * i);
    *at += 8;
    return true;
}

pw_status pw_capture_unpack(const char *bytes, size_t size, const char *name, struct pw_tensor *out,
                            struct pw_error *err)
{
    const char *at = bytes + 8, *end = bytes + size;
    struct pw_tensor made = {0};
    uint64_t dtype = 0, rank = 0, number = 0;
    int64_t dims[PW_MAX_RANK];
    pw_dtype_kind kind;
    pw_status status;
    bool empty = false;

    if (size < 8 || memcmp(bytes, MAGIC, 8) || !take_number(&at, end, &dtype) || !take_number(&at, end, &rank))
        return pw_error_set(err, PW_ERR_FORMAT, "%s: no captured tensor", name);
    kind = dtype < PW_DTYPE_COUNT ? pw_dtype_facts((pw_dtype)dtype)->kind : PW_KIND_NONE;
    if (kind == PW_KIND_NONE || kind == PW_KIND_STRING || rank > PW_MAX_RANK)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: dtype %llu with rank %llu is no tensor of numbers", name,
                            (unsigned long long)dtype, (unsigned long long)rank);
    for (uint64_t d = 0; d < rank; d++) {
        if (!take_number(&at, end, &number) || number > INT64_MAX)
            return pw_error_set(err, PW_ERR_FORMAT, "%s: dim %llu is missing or no size", name, (unsigned long long)d);
        dims[d] = (int64_t)number;
        empty = empty || number == 0; /* as a cache before the first token: its other dims are as large as they like */
    }
    for (uint64_t d = 0, bound = pw_dtype_bytes((pw_dtype)dtype); d < rank && !empty; d++) {
        bound = bound > UINT64_MAX / (uint64_t)dims[d] ? UINT64_MAX : bound * (uint64_t)dims[d];
        if (bound > (uint64_t)size)
            return pw_error_set(err, PW_ERR_FORMAT, "%s: its dims ask for more than the file has", name);
    }
    status = pw_tensor_init(&made, (pw_dtype)dtype, (int)rank, dims, err);
    if (status != PW_OK)
        return status;
    if (pw_tensor_bytes(&made) != (size_t)(end - at)) {
        pw_tensor_clear(&made);
        return pw_error_set(err, PW_ERR_FORMAT, "%s: expected %zu bytes of elements, found %zu", name,
                            pw_tensor_bytes(&made), (size_t)(end - at));
    }
    if (made.count)
        memcpy(made.data, at, pw_tensor_bytes(&made));
    for (int64_t i = 0; kind == PW_KIND_BOOL && i < made.count; i++)
        ((uint8_t *)made.data)[i] = ((uint8_t *)made.data)[i] != 0;
    *out = made;
    return PW_OK;
}
