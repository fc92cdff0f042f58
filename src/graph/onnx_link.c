/* Names to values: declaration, lookup along the scopes, capture through nested graphs. */
#include <string.h>

#include "graph/onnx_reader.h"

#define MAX_VALUES (UINT32_MAX - 1)

pw_status pw_onnx_value_add(struct pw_onnx_reader *r, struct pw_onnx_builder *builder, const char *name,
                            pw_value_id *out)
{
    struct pw_graph *graph = builder->graph;
    pw_status status;
    if (graph->value_count >= MAX_VALUES)
        return pw_error_set(r->err, PW_ERR_MODEL, "more than %u values", (unsigned)MAX_VALUES);
    status = PW_GROW(builder->values, builder->value_cap, graph->value_count + 1, r->err);
    if (status != PW_OK)
        return status;
    memset(&builder->values[graph->value_count], 0, sizeof *builder->values);
    builder->values[graph->value_count].name = name;
    *out = (pw_value_id)graph->value_count++;
    return PW_OK;
}

/* "an input", "an initializer", "the output of another node": what an id stands for while reading. */
static const char *role_of(const struct pw_onnx_builder *builder, pw_value_id id)
{
    const struct pw_graph_value *value;
    if (id == PW_NO_VALUE)
        return "an argument of the function";
    value = &builder->values[id];
    if (value->is_input)
        return "an input";
    return value->initializer || value->sparse ? "an initializer" : "another output";
}

pw_status pw_onnx_declare(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, const char *name, pw_value_id *out)
{
    size_t known = 0;
    pw_status status;
    if (pw_map_find(&scope->names, name, &known)) {
        char show[PW_ONNX_SHOW_BYTES];
        return pw_error_set(r->err, PW_ERR_MODEL, "the name '%s' is defined twice: it is already %s",
                            pw_text_show(show, sizeof show, name, PW_ONNX_SHOW),
                            role_of(scope->builder, (pw_value_id)known));
    }
    status = pw_onnx_value_add(r, scope->builder, name, out);
    return status == PW_OK ? pw_map_put(&scope->names, name, *out, r->err) : status;
}

/* The id in `builder` of value `id` of the enclosing builder `home`. */
static pw_status import(struct pw_onnx_reader *r, struct pw_onnx_builder *builder, struct pw_onnx_builder *home,
                        pw_value_id id, pw_value_id *out)
{
    struct pw_onnx_builder *parent = builder->parent;
    pw_value_id outer = id;
    size_t known = 0;
    pw_status status;
    if (builder == home) {
        *out = id;
        return PW_OK;
    }
    if (!parent)
        return pw_error_set(r->err, PW_ERR_INTERNAL, "a name leads out of the graph");
    status = import(r, parent, home, id, &outer);
    if (status != PW_OK)
        return status;
    if (pw_map_get(&builder->captures, (const char *)&outer, sizeof outer, &known)) {
        *out = (pw_value_id)known;
        return PW_OK;
    }
    status = pw_onnx_value_add(r, builder, parent->values[outer].name, out);
    if (status == PW_OK)
        status = pw_map_set(&builder->captures, (const char *)&outer, sizeof outer, *out, r->err);
    if (status == PW_OK)
        status = PW_GROW(parent->dependencies, parent->dependency_cap, parent->dependency_count + 1, r->err);
    if (status == PW_OK)
        status = PW_GROW(r->patches, r->patch_cap, r->patch_count + 1, r->err);
    if (status != PW_OK)
        return status;
    parent->dependencies[parent->dependency_count].node = parent->graph->node_count;
    parent->dependencies[parent->dependency_count++].value = outer;
    r->patches[r->patch_count].graph = builder->graph;
    r->patches[r->patch_count].inner = *out;
    r->patches[r->patch_count++].outer = outer;
    return PW_OK;
}

pw_status pw_onnx_lookup(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                         const uint8_t *name, size_t size, bool *found, pw_value_id *out)
{
    *found = false;
    for (; scope; scope = scope->parent) {
        size_t id = 0;
        if (!pw_map_get(&scope->names, (const char *)name, size, &id))
            continue;
        *found = true;
        if (id == PW_NO_VALUE) {
            *out = PW_NO_VALUE;
            return PW_OK;
        }
        return import(r, builder, scope->builder, (pw_value_id)id, out);
    }
    return PW_OK;
}

void pw_onnx_scope_clear(struct pw_onnx_scope *scope)
{
    pw_map_clear(&scope->names);
}
