/* AttributeProto: all kinds, and references to the attributes of a function's call. */
#include <inttypes.h>
#include <string.h>

#include "graph/onnx_reader.h"

/* What one attribute is being read into. */
struct attr_job {
    struct pw_onnx_reader *r;
    struct pw_onnx_scope *scope;     /* whose names a graph inside may use */
    struct pw_onnx_builder *builder; /* in which graph it will sit */
    struct pw_wire wire;
    const struct pw_wire_slot *slot; /* of the value's field */
    uint32_t number;
    struct pw_attr *out;
};

static struct pw_wire last_body(const struct attr_job *job)
{
    return pw_wire_body(job->wire, job->slot->data, job->slot->size);
}

/* ---- one reader a kind ---- */

static pw_status read_float(struct attr_job *job)
{
    uint32_t bits = (uint32_t)job->slot->value;
    memcpy(&job->out->f, &bits, sizeof bits);
    return PW_OK;
}

static pw_status read_int(struct attr_job *job)
{
    job->out->i = (int64_t)job->slot->value;
    return PW_OK;
}

static pw_status copy_bytes(struct pw_onnx_reader *r, const uint8_t *data, size_t size, struct pw_bytes *out)
{
    char *copy = pw_onnx_alloc(r, size + 1, 1);
    if (!copy)
        return PW_ERR_NO_MEMORY;
    if (size > 0)
        memcpy(copy, data, size);
    out->data = copy;
    out->size = size;
    return PW_OK;
}

static pw_status read_string(struct attr_job *job)
{
    return copy_bytes(job->r, job->slot->data, job->slot->size, &job->out->s);
}

static pw_status read_tensor(struct attr_job *job)
{
    job->out->tensor = pw_onnx_alloc(job->r, 1, sizeof *job->out->tensor);
    if (!job->out->tensor)
        return PW_ERR_NO_MEMORY;
    return pw_onnx_tensor(job->r, last_body(job), job->out->tensor, NULL);
}

static pw_status read_graph(struct attr_job *job)
{
    return pw_onnx_graph(job->r, job->scope, job->builder, last_body(job), &job->out->graph);
}

static pw_status read_sparse(struct attr_job *job)
{
    job->out->sparse = pw_onnx_alloc(job->r, 1, sizeof *job->out->sparse);
    if (!job->out->sparse)
        return PW_ERR_NO_MEMORY;
    return pw_onnx_sparse(job->r, last_body(job), job->out->sparse, NULL);
}

static pw_status read_type(struct attr_job *job)
{
    return pw_onnx_type(job->r, last_body(job), 0, &job->out->type_proto);
}

static pw_status read_floats(struct attr_job *job)
{
    struct pw_wire_numbers it;
    uint64_t value = 0;
    size_t count = 0;
    float *floats;
    pw_status status = pw_wire_count(job->wire, &pw_schema_attribute, job->number, job->slot, &count, job->r->err);
    if (status != PW_OK)
        return status;
    floats = pw_onnx_alloc(job->r, count, sizeof *floats);
    if (!floats)
        return PW_ERR_NO_MEMORY;
    pw_wire_numbers_init(&it, job->wire, &pw_schema_attribute, job->number, job->slot);
    for (size_t i = 0; i < count && pw_wire_number(&it, &value); i++) {
        uint32_t bits = (uint32_t)value;
        memcpy(&floats[i], &bits, sizeof bits);
    }
    job->out->floats = floats;
    job->out->count = count;
    return PW_OK;
}

static pw_status read_ints(struct attr_job *job)
{
    struct pw_wire_numbers it;
    uint64_t value = 0;
    size_t count = 0;
    int64_t *ints;
    pw_status status = pw_wire_count(job->wire, &pw_schema_attribute, job->number, job->slot, &count, job->r->err);
    if (status != PW_OK)
        return status;
    ints = pw_onnx_alloc(job->r, count, sizeof *ints);
    if (!ints)
        return PW_ERR_NO_MEMORY;
    pw_wire_numbers_init(&it, job->wire, &pw_schema_attribute, job->number, job->slot);
    for (size_t i = 0; i < count && pw_wire_number(&it, &value); i++)
        ints[i] = (int64_t)value;
    job->out->ints = ints;
    job->out->count = count;
    return PW_OK;
}

/* The plural kinds: one element at a time into an array of item_bytes each. */
typedef pw_status read_item(struct attr_job *job, struct pw_wire body, void *item);

static pw_status read_items(struct attr_job *job, size_t item_bytes, read_item *read, void **out)
{
    struct pw_wire at = pw_wire_from(job->wire, job->slot);
    struct pw_wire_field field = {0};
    uint8_t *items = pw_onnx_alloc(job->r, job->slot->count, item_bytes);
    pw_status status = PW_OK;
    if (!items)
        return PW_ERR_NO_MEMORY;
    for (size_t i = 0; i < job->slot->count && status == PW_OK && pw_wire_find(&at, job->number, &field); i++) {
        status = read(job, pw_wire_body(job->wire, field.data, field.size), items + i * item_bytes);
        job->out->count = i + 1;
    }
    *out = items;
    return status;
}

static pw_status string_item(struct attr_job *job, struct pw_wire body, void *item)
{
    return copy_bytes(job->r, body.at, (size_t)(body.end - body.at), item);
}

static pw_status tensor_item(struct attr_job *job, struct pw_wire body, void *item)
{
    return pw_onnx_tensor(job->r, body, item, NULL);
}

static pw_status graph_item(struct attr_job *job, struct pw_wire body, void *item)
{
    return pw_onnx_graph(job->r, job->scope, job->builder, body, item);
}

static pw_status sparse_item(struct attr_job *job, struct pw_wire body, void *item)
{
    return pw_onnx_sparse(job->r, body, item, NULL);
}

static pw_status type_item(struct attr_job *job, struct pw_wire body, void *item)
{
    const struct pw_type *type = NULL;
    pw_status status = pw_onnx_type(job->r, body, 0, &type);
    if (status == PW_OK)
        *(struct pw_type *)item = *type;
    return status;
}

static pw_status read_strings(struct attr_job *job)
{
    void *items = NULL;
    pw_status status = read_items(job, sizeof *job->out->strings, string_item, &items);
    job->out->strings = items;
    return status;
}

static pw_status read_tensors(struct attr_job *job)
{
    void *items = NULL;
    pw_status status = read_items(job, sizeof *job->out->tensor, tensor_item, &items);
    job->out->tensor = items;
    return status;
}

static pw_status read_graphs(struct attr_job *job)
{
    void *items = NULL;
    pw_status status = read_items(job, sizeof *job->out->graphs, graph_item, &items);
    job->out->graphs = items;
    return status;
}

static pw_status read_sparses(struct attr_job *job)
{
    void *items = NULL;
    pw_status status = read_items(job, sizeof *job->out->sparse, sparse_item, &items);
    job->out->sparse = items;
    return status;
}

static pw_status read_types(struct attr_job *job)
{
    void *items = NULL;
    pw_status status = read_items(job, sizeof *job->out->type_proto, type_item, &items);
    job->out->type_proto = items;
    return status;
}

static const struct attr_kind {
    const char *name;
    uint32_t number; /* field of AttributeProto that holds it */
    bool required;   /* messages: an absent one has no default */
    pw_status (*read)(struct attr_job *job);
} kinds[] = {
    [PW_ATTR_FLOAT] = {"FLOAT", PW_ATTRIBUTE_F, false, read_float},
    [PW_ATTR_INT] = {"INT", PW_ATTRIBUTE_I, false, read_int},
    [PW_ATTR_STRING] = {"STRING", PW_ATTRIBUTE_S, false, read_string},
    [PW_ATTR_TENSOR] = {"TENSOR", PW_ATTRIBUTE_T, true, read_tensor},
    [PW_ATTR_GRAPH] = {"GRAPH", PW_ATTRIBUTE_G, true, read_graph},
    [PW_ATTR_FLOATS] = {"FLOATS", PW_ATTRIBUTE_FLOATS, false, read_floats},
    [PW_ATTR_INTS] = {"INTS", PW_ATTRIBUTE_INTS, false, read_ints},
    [PW_ATTR_STRINGS] = {"STRINGS", PW_ATTRIBUTE_STRINGS, false, read_strings},
    [PW_ATTR_TENSORS] = {"TENSORS", PW_ATTRIBUTE_TENSORS, false, read_tensors},
    [PW_ATTR_GRAPHS] = {"GRAPHS", PW_ATTRIBUTE_GRAPHS, false, read_graphs},
    [PW_ATTR_SPARSE_TENSOR] = {"SPARSE_TENSOR", PW_ATTRIBUTE_SPARSE, true, read_sparse},
    [PW_ATTR_SPARSE_TENSORS] = {"SPARSE_TENSORS", PW_ATTRIBUTE_SPARSES, false, read_sparses},
    [PW_ATTR_TYPE_PROTO] = {"TYPE_PROTO", PW_ATTRIBUTE_TP, true, read_type},
    [PW_ATTR_TYPE_PROTOS] = {"TYPE_PROTOS", PW_ATTRIBUTE_TYPE_PROTOS, false, read_types},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

const char *pw_onnx_attr_type_name(pw_attr_type type)
{
    return (size_t)type < KIND_COUNT && kinds[type].name ? kinds[type].name : "UNDEFINED";
}

/* The kind by what is filled: for files from before `type` existed, and to catch confusions. */
static pw_attr_type filled(const struct pw_wire_slot *s)
{
    for (size_t i = 1; i < KIND_COUNT; i++)
        if (s[kinds[i].number].count > 0)
            return (pw_attr_type)i;
    return PW_ATTR_UNDEFINED;
}

static pw_status kind_of(struct pw_onnx_reader *r, const struct pw_wire_slot *s, pw_attr_type *out)
{
    pw_attr_type found = filled(s);
    uint64_t type = s[PW_ATTRIBUTE_TYPE].value;
    if (type >= KIND_COUNT)
        return pw_error_set(r->err, PW_ERR_MODEL, "attribute type %" PRIu64 " is not known", type);
    if (type == PW_ATTR_UNDEFINED)
        type = found;
    if (type == PW_ATTR_UNDEFINED)
        return pw_error_set(r->err, PW_ERR_MODEL, "has neither a type nor a value");
    /* A default value (0, "") need not be on the wire; one of another kind must not be there instead. */
    if (s[kinds[type].number].count == 0 && (found != PW_ATTR_UNDEFINED || kinds[type].required))
        return pw_error_set(r->err, PW_ERR_MODEL, "declared %s, but holds %s", kinds[type].name,
                            found == PW_ATTR_UNDEFINED ? "nothing" : kinds[found].name);
    *out = (pw_attr_type)type;
    return PW_OK;
}

/* ---- references ---- */

/* The attribute called name among field `number` of a message. */
static bool find_attribute(struct pw_wire message, uint32_t number, const struct pw_wire_slot *slot,
                           const struct pw_wire_slot *name, struct pw_wire *out)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    while (pw_wire_find(&at, number, &field)) {
        struct pw_wire_slot s[PW_ATTRIBUTE_FIELDS];
        struct pw_wire body = pw_wire_body(message, field.data, field.size);
        if (pw_wire_decode(body, &pw_schema_attribute, s, NULL) != PW_OK)
            return false;
        if (s[PW_ATTRIBUTE_NAME].size == name->size && memcmp(s[PW_ATTRIBUTE_NAME].data, name->data, name->size) == 0) {
            *out = body;
            return true;
        }
    }
    return false;
}

static bool declares_attribute(const struct pw_onnx_function *function, const struct pw_wire_slot *name)
{
    struct pw_wire at = pw_wire_from(function->body, &function->slots[PW_FUNCTION_ATTRIBUTE]);
    struct pw_wire_field field = {0};
    while (pw_wire_find(&at, PW_FUNCTION_ATTRIBUTE, &field))
        if (field.size == name->size && memcmp(field.data, name->data, name->size) == 0)
            return true;
    return false;
}

/* Follows ref_attr_name to where the value is written, however many calls up. */
static pw_status follow(struct pw_onnx_reader *r, struct pw_onnx_scope **scope, struct pw_wire *wire,
                        struct pw_wire_slot *s, bool *omitted)
{
    while (s[PW_ATTRIBUTE_REF].size > 0) {
        const struct pw_onnx_call *call = *scope ? (*scope)->call : NULL;
        const struct pw_wire_slot *ref = &s[PW_ATTRIBUTE_REF];
        uint64_t type = s[PW_ATTRIBUTE_TYPE].value;
        char show[PW_ONNX_SHOW_BYTES];
        pw_status status;
        pw_onnx_show(show, ref->data, ref->size);
        if (!call)
            return pw_error_set(r->err, PW_ERR_MODEL, "refers to attribute '%s' of a function, but is not in one",
                                show);
        if (find_attribute(call->node, PW_NODE_ATTRIBUTE, &call->slots[PW_NODE_ATTRIBUTE], ref, wire)) {
            *scope = call->scope;
        } else if (find_attribute(call->function->body, PW_FUNCTION_ATTRIBUTE_PROTO,
                                  &call->function->slots[PW_FUNCTION_ATTRIBUTE_PROTO], ref, wire)) {
            *scope = NULL; /* a default is a plain value */
        } else if (declares_attribute(call->function, ref)) {
            *omitted = true;
            return PW_OK;
        } else {
            return pw_error_set(r->err, PW_ERR_MODEL, "refers to attribute '%s', which the function does not declare",
                                show);
        }
        status = pw_wire_decode(*wire, &pw_schema_attribute, s, r->err);
        if (status != PW_OK)
            return status;
        if (type != 0 && s[PW_ATTRIBUTE_TYPE].value != 0 && s[PW_ATTRIBUTE_TYPE].value != type)
            return pw_error_set(r->err, PW_ERR_MODEL, "is %s, but attribute '%s' of the call is %s",
                                pw_onnx_attr_type_name((pw_attr_type)type), show,
                                pw_onnx_attr_type_name((pw_attr_type)s[PW_ATTRIBUTE_TYPE].value));
    }
    return PW_OK;
}

pw_status pw_onnx_attr(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                       struct pw_wire wire, struct pw_attr *out, bool *omitted)
{
    struct pw_wire_slot s[PW_ATTRIBUTE_FIELDS];
    char show[PW_ONNX_SHOW_BYTES] = "";
    pw_status status = pw_wire_decode(wire, &pw_schema_attribute, s, r->err);
    memset(out, 0, sizeof *out);
    *omitted = false;
    if (status != PW_OK)
        goto done;
    pw_onnx_show(show, s[PW_ATTRIBUTE_NAME].data, s[PW_ATTRIBUTE_NAME].size);
    if (s[PW_ATTRIBUTE_NAME].size == 0) {
        status = pw_error_set(r->err, PW_ERR_MODEL, "has no name");
        goto done;
    }
    out->name = pw_onnx_intern(r, s[PW_ATTRIBUTE_NAME].data, s[PW_ATTRIBUTE_NAME].size, "attribute name");
    if (!out->name) {
        status = PW_ERR_MODEL;
        goto done;
    }
    status = follow(r, &scope, &wire, s, omitted);
    if (status != PW_OK || *omitted)
        goto done;
    status = kind_of(r, s, &out->type);
    if (status == PW_OK) {
        const struct attr_kind *kind = &kinds[out->type];
        struct attr_job job = {r, scope, builder, wire, &s[kind->number], kind->number, out};
        status = kind->read(&job);
    }
done:
    if (status != PW_OK)
        pw_onnx_prefix(r, "attribute '%s'", show);
    return status;
}
