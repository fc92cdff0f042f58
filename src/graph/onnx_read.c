/* ModelProto, and the helpers that all parts of the reader use. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx_reader.h"

#define DOC_MAX 512                    /* bytes of a doc_string that are kept */
#define BUDGET_BASE ((size_t)32 << 20) /* arena bytes that any file may use */
#define BUDGET_PER_BYTE 32             /* and per byte of the file */
#define INLINE_BASE ((size_t)4 << 20)  /* bytes of function bodies read over again */
#define INLINE_PER_BYTE 16
#define MAX_OPSET 100000
#define PREFIX_LONG 500 /* bytes of a message from which on enclosing places are left out */

void *pw_onnx_alloc(struct pw_onnx_reader *r, size_t count, size_t size)
{
    size_t used = r->model->arena.used_bytes;
    size_t room = r->budget_bytes > used ? r->budget_bytes - used : 0;
    void *p = NULL;
    if (size > 0 && count > room / size) {
        pw_error_set(r->err, PW_ERR_MODEL,
                     "the structure needs more than %zu MiB of memory, too much for a file of %zu bytes",
                     r->budget_bytes >> 20, (size_t)(r->file.end - r->file.base));
        return NULL;
    }
    p = pw_arena_alloc(&r->model->arena, count > 0 ? count : 1, size);
    if (!p)
        pw_error_memory(r->err, count * size);
    return p;
}

void pw_onnx_prefix(struct pw_onnx_reader *r, const char *format, ...)
{
    char place[PW_ONNX_SHOW_BYTES * 3 + 64];
    va_list args;
    if (!r->err)
        return;
    if (r->depth > 1 && strlen(r->err->message) > PREFIX_LONG) {
        if (!r->elided)
            pw_error_prefix(r->err, "...");
        r->elided = true;
        return;
    }
    va_start(args, format);
    vsnprintf(place, sizeof place, format, args);
    va_end(args);
    pw_error_prefix(r->err, "%s", place);
}

const char *pw_onnx_show(char dst[PW_ONNX_SHOW_BYTES], const uint8_t *data, size_t size)
{
    char text[PW_ONNX_SHOW_BYTES];
    size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    if (n > 0)
        memcpy(text, data, n);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = '\1'; /* shown as '?', as other control bytes are */
    text[n] = '\0';
    return pw_text_show(dst, PW_ONNX_SHOW_BYTES, text, PW_ONNX_SHOW);
}

const char *pw_onnx_name_bytes(struct pw_onnx_reader *r, const uint8_t *data, size_t size, const char *what)
{
    char *copy;
    if (size == 0)
        return "";
    if (memchr(data, 0, size)) {
        char show[PW_ONNX_SHOW_BYTES];
        pw_error_set(r->err, PW_ERR_MODEL, "%s '%s' holds a NUL byte", what, pw_onnx_show(show, data, size));
        return NULL;
    }
    copy = pw_onnx_alloc(r, size + 1, 1);
    if (copy)
        memcpy(copy, data, size);
    return copy;
}

const char *pw_onnx_name(struct pw_onnx_reader *r, const struct pw_wire_slot *slot, const char *what)
{
    return pw_onnx_name_bytes(r, slot->data, slot->size, what);
}

const char *pw_onnx_intern(struct pw_onnx_reader *r, const uint8_t *data, size_t size, const char *what)
{
    size_t known = 0;
    const char *copy;
    if (size == 0)
        return "";
    if (pw_map_get(&r->strings, (const char *)data, size, &known))
        return (const char *)(uintptr_t)known;
    copy = pw_onnx_name_bytes(r, data, size, what);
    if (copy && pw_map_set(&r->strings, (const char *)data, size, (size_t)(uintptr_t)copy, r->err) != PW_OK)
        return NULL;
    return copy;
}

const char *pw_onnx_domain(struct pw_onnx_reader *r, const struct pw_wire_slot *slot)
{
    static const char standard[] = "ai.onnx";
    if (slot->size == sizeof standard - 1 && memcmp(slot->data, standard, slot->size) == 0)
        return "";
    return pw_onnx_intern(r, slot->data, slot->size, "domain");
}

const char *pw_onnx_joined(struct pw_onnx_reader *r, const char *prefix, const char *name)
{
    size_t first = strlen(prefix), second = strlen(name);
    char *joined = pw_onnx_alloc(r, first + second + 2, 1);
    if (!joined)
        return NULL;
    memcpy(joined, prefix, first);
    joined[first] = '/';
    memcpy(joined + first + 1, name, second + 1);
    return joined;
}

const char *pw_onnx_doc(struct pw_onnx_reader *r, const struct pw_wire_slot *slot)
{
    size_t size = slot->size < DOC_MAX ? slot->size : DOC_MAX;
    const void *nul = size > 0 ? memchr(slot->data, 0, size) : NULL;
    if (nul)
        size = (size_t)((const uint8_t *)nul - slot->data);
    return pw_onnx_name_bytes(r, slot->data, size, "doc_string");
}

static pw_status add_opset(struct pw_onnx_reader *r, struct pw_onnx_opsets *out, const char *domain, int64_t version)
{
    char show[PW_ONNX_SHOW_BYTES];
    pw_text_show(show, sizeof show, domain, PW_ONNX_SHOW);
    if (version < 1 || version > MAX_OPSET)
        return pw_error_set(r->err, PW_ERR_MODEL, "opset_import of domain '%s': version %" PRId64 " does not exist",
                            show, version);
    for (size_t i = 0; i < out->count; i++) {
        if (strcmp(out->items[i].domain, domain) != 0)
            continue;
        if (out->items[i].version == version)
            return PW_OK;
        return pw_error_set(r->err, PW_ERR_MODEL,
                            "opset_import: domain '%s' is imported twice, as version %" PRId64 " and as %" PRId64, show,
                            out->items[i].version, version);
    }
    out->items[out->count].domain = domain;
    out->items[out->count++].version = version;
    return PW_OK;
}

pw_status pw_onnx_opsets_read(struct pw_onnx_reader *r, struct pw_wire message, uint32_t number,
                              const struct pw_wire_slot *slot, struct pw_onnx_opsets *out)
{
    struct pw_wire wire = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    if (slot->count > 1000)
        return pw_error_set(r->err, PW_ERR_MODEL, "%zu opset imports; more than 1000 make no sense", slot->count);
    out->count = 0;
    out->items = pw_onnx_alloc(r, slot->count, sizeof *out->items);
    if (!out->items)
        return PW_ERR_NO_MEMORY;
    while (out->count < slot->count && pw_wire_find(&wire, number, &field)) {
        struct pw_wire_slot s[PW_OPSET_FIELDS];
        const char *domain;
        pw_status status = pw_wire_decode(pw_wire_body(message, field.data, field.size), &pw_schema_opset, s, r->err);
        if (status != PW_OK)
            return status;
        domain = pw_onnx_domain(r, &s[PW_OPSET_DOMAIN]);
        if (!domain)
            return PW_ERR_MODEL;
        status = add_opset(r, out, domain, (int64_t)s[PW_OPSET_VERSION].value);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status read_metadata(struct pw_onnx_reader *r, const struct pw_wire_slot *slot)
{
    struct pw_wire wire = pw_wire_from(r->file, slot);
    struct pw_wire_field field = {0};
    struct pw_model *model = r->model;
    model->metadata = pw_onnx_alloc(r, slot->count, 2 * sizeof *model->metadata);
    if (!model->metadata)
        return PW_ERR_NO_MEMORY;
    while (model->metadata_count < slot->count && pw_wire_find(&wire, PW_MODEL_METADATA, &field)) {
        struct pw_wire_slot s[PW_ENTRY_FIELDS];
        pw_status status = pw_wire_decode(pw_wire_body(r->file, field.data, field.size), &pw_schema_entry, s, r->err);
        if (status != PW_OK)
            return status;
        const char *key = pw_onnx_doc(r, &s[PW_ENTRY_KEY]);
        const char *value = key ? pw_onnx_doc(r, &s[PW_ENTRY_VALUE]) : NULL;
        if (!value)
            return PW_ERR_NO_MEMORY;
        model->metadata[2 * model->metadata_count] = key;
        model->metadata[2 * model->metadata_count++ + 1] = value;
    }
    return PW_OK;
}

static pw_status read_header(struct pw_onnx_reader *r, const struct pw_wire_slot *s)
{
    struct pw_model *model = r->model;
    model->ir_version = (int64_t)s[PW_MODEL_IR_VERSION].value;
    model->model_version = (int64_t)s[PW_MODEL_VERSION].value;
    model->producer_name = pw_onnx_doc(r, &s[PW_MODEL_PRODUCER_NAME]);
    model->producer_version = pw_onnx_doc(r, &s[PW_MODEL_PRODUCER_VERSION]);
    model->domain = pw_onnx_doc(r, &s[PW_MODEL_DOMAIN]);
    model->doc = pw_onnx_doc(r, &s[PW_MODEL_DOC]);
    if (!model->producer_name || !model->producer_version || !model->domain || !model->doc)
        return PW_ERR_NO_MEMORY;
    return read_metadata(r, &s[PW_MODEL_METADATA]);
}

/* Files from before opset imports existed (IR 1 and 2) mean version 1. */
static pw_status default_opset(struct pw_onnx_reader *r)
{
    if (r->opsets.count > 0)
        return PW_OK;
    if (r->model->ir_version >= 3)
        return pw_error_set(r->err, PW_ERR_MODEL, "no opset_import: IR version %" PRId64 " requires one",
                            r->model->ir_version);
    r->opsets.items = pw_onnx_alloc(r, 1, sizeof *r->opsets.items);
    if (!r->opsets.items)
        return PW_ERR_NO_MEMORY;
    r->opsets.items[0].domain = "";
    r->opsets.items[0].version = 1;
    r->opsets.count = 1;
    return PW_OK;
}

static pw_status read_model(struct pw_onnx_reader *r)
{
    struct pw_wire_slot s[PW_MODEL_FIELDS] = {{0}};
    struct pw_model *model = r->model;
    pw_status status = pw_wire_decode(r->file, &pw_schema_model, s, r->err);
    if (status == PW_ERR_FORMAT && !s[PW_MODEL_IR_VERSION].count && !s[PW_MODEL_GRAPH].count)
        pw_error_prefix(r->err, "not an ONNX model");
    if (status != PW_OK)
        return status;
    if (s[PW_MODEL_GRAPH].count != 1)
        return pw_error_set(r->err, PW_ERR_FORMAT, "%s: not an ONNX model",
                            s[PW_MODEL_GRAPH].count == 0 ? "holds no graph" : "holds more than one graph");
    status = read_header(r, s);
    if (status == PW_OK)
        status = pw_onnx_opsets_read(r, r->file, PW_MODEL_OPSET, &s[PW_MODEL_OPSET], &r->opsets);
    if (status == PW_OK)
        status = default_opset(r);
    if (status == PW_OK)
        status = pw_onnx_functions_read(r, r->file, &s[PW_MODEL_FUNCTION]);
    if (status != PW_OK)
        return status;
    model->opsets = r->opsets.items;
    model->opset_count = r->opsets.count;
    return pw_onnx_graph(r, NULL, NULL, pw_wire_body(r->file, s[PW_MODEL_GRAPH].data, s[PW_MODEL_GRAPH].size),
                         &model->graph);
}

pw_status pw_onnx_read(struct pw_model *model, const void *bytes, size_t size, const char *dir, struct pw_error *err)
{
    struct pw_onnx_reader r = {0};
    pw_status status;
    r.model = model;
    r.err = err;
    r.dir = dir;
    r.file.base = r.file.at = bytes;
    r.file.end = size > 0 ? r.file.base + size : r.file.base;
    r.budget_bytes =
        size > (SIZE_MAX - BUDGET_BASE) / BUDGET_PER_BYTE ? SIZE_MAX : BUDGET_BASE + BUDGET_PER_BYTE * size;
    r.inline_left = size > (SIZE_MAX - INLINE_BASE) / INLINE_PER_BYTE ? SIZE_MAX : INLINE_BASE + INLINE_PER_BYTE * size;
    status = read_model(&r);
    for (size_t i = 0; status == PW_OK && i < r.patch_count; i++) {
        const struct pw_onnx_patch *patch = &r.patches[i];
        patch->graph->values[patch->inner].outer = &patch->graph->parent->values[patch->outer];
    }
    pw_free(r.functions);
    pw_free(r.kinds);
    pw_free(r.patches);
    pw_map_clear(&r.function_index);
    pw_map_clear(&r.strings);
    pw_map_clear(&r.kind_index);
    pw_map_clear(&r.external_index);
    pw_buf_clear(&r.key);
    return status;
}
