/*
 * Model-local functions: each call is replaced by the function's body.
 *
 * The body's names live in a scope of their own; its formal inputs are the caller's values,
 * its formal outputs the values that the call would have produced. Other values get names
 * "call/inner", made unique. A call that leads back to a function that is being inlined is
 * refused, and the bytes of bodies read again and again are limited, so nested calls cannot
 * explode.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx_reader.h"

/* ---- the table ---- */

static pw_status read_function(struct pw_onnx_reader *r, struct pw_wire body, struct pw_onnx_function *out)
{
    pw_status status = pw_wire_decode(body, &pw_schema_function, out->slots, r->err);
    const struct pw_wire_slot *s = out->slots;
    char show[PW_ONNX_SHOW_BYTES];
    if (status != PW_OK)
        return status;
    out->body = body;
    out->domain = pw_onnx_domain(r, &s[PW_FUNCTION_DOMAIN]);
    out->name = pw_onnx_intern(r, s[PW_FUNCTION_NAME].data, s[PW_FUNCTION_NAME].size, "function name");
    out->overload = pw_onnx_intern(r, s[PW_FUNCTION_OVERLOAD].data, s[PW_FUNCTION_OVERLOAD].size, "overload");
    if (!out->domain || !out->name || !out->overload)
        return PW_ERR_MODEL;
    status = pw_onnx_opsets_read(r, body, PW_FUNCTION_OPSET, &s[PW_FUNCTION_OPSET], &out->opsets);
    if (status != PW_OK)
        pw_error_prefix(r->err, "function '%s'", pw_text_show(show, sizeof show, out->name, PW_ONNX_SHOW));
    return status;
}

void pw_onnx_function_key(struct pw_buf *key, const char *domain, const char *name, const char *overload)
{
    key->size = 0;
    pw_buf_append(key, domain, strlen(domain) + 1);
    pw_buf_append(key, name, strlen(name) + 1);
    pw_buf_append(key, overload, strlen(overload) + 1);
}

pw_status pw_onnx_functions_read(struct pw_onnx_reader *r, struct pw_wire message, const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    size_t cap = 0;
    pw_status status = PW_OK;
    while (status == PW_OK && pw_wire_find(&at, PW_MODEL_FUNCTION, &field)) {
        struct pw_onnx_function *function;
        status = PW_GROW(r->functions, cap, r->function_count + 1, r->err);
        if (status != PW_OK)
            break;
        function = &r->functions[r->function_count];
        memset(function, 0, sizeof *function);
        status = read_function(r, pw_wire_body(message, field.data, field.size), function);
        if (status != PW_OK)
            break;
        pw_onnx_function_key(&r->key, function->domain, function->name, function->overload);
        if (r->key.failed)
            return pw_error_memory(r->err, field.size);
        if (pw_map_get(&r->function_index, r->key.data, r->key.size, NULL)) {
            char show[PW_ONNX_SHOW_BYTES];
            return pw_error_set(r->err, PW_ERR_MODEL, "function '%s' is defined twice",
                                pw_text_show(show, sizeof show, function->name, PW_ONNX_SHOW));
        }
        status = pw_map_set(&r->function_index, r->key.data, r->key.size, r->function_count++, r->err);
    }
    return status;
}

/* ---- one call ---- */

struct inlining {
    struct pw_onnx_builder *builder;
    struct pw_onnx_call call;
    struct pw_onnx_scope scope; /* of the body */
    pw_value_id *outputs;       /* per formal output: the caller's value; arena */
    bool *produced;
    size_t output_count;
    struct pw_map output_index; /* formal output name -> index */
};

static pw_status check_recursion(struct pw_onnx_reader *r, const struct pw_onnx_scope *scope,
                                 const struct pw_onnx_function *function)
{
    if (r->depth >= PW_ONNX_MAX_DEPTH)
        return pw_error_set(r->err, PW_ERR_MODEL, "function calls nested deeper than %d", PW_ONNX_MAX_DEPTH);
    for (const struct pw_onnx_call *call = scope->call; call; call = call->scope->call)
        if (call->function == function) {
            char show[PW_ONNX_SHOW_BYTES];
            return pw_error_set(r->err, PW_ERR_MODEL, "function '%s' calls itself",
                                pw_text_show(show, sizeof show, function->name, PW_ONNX_SHOW));
        }
    return PW_OK;
}

/* A prefix that no other inlined call of the graph has. */
static pw_status name_call(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct inlining *job)
{
    const struct pw_wire_slot *slot = &job->call.slots[PW_NODE_NAME];
    const struct pw_onnx_call *outer = scope->builder->scope != scope ? scope->call : NULL;
    const char *label = slot->size > 0 ? pw_onnx_name(r, slot, "node name") : job->call.function->name;
    const char *prefix, *origin;
    size_t uses = 0;
    if (!label)
        return PW_ERR_MODEL;
    prefix = outer ? pw_onnx_joined(r, outer->prefix, label) : label;
    if (!prefix)
        return PW_ERR_NO_MEMORY;
    if (pw_map_find(&job->builder->prefixes, prefix, &uses)) {
        pw_status status = pw_map_put(&job->builder->prefixes, prefix, ++uses, r->err);
        size_t room = strlen(prefix) + 24;
        char *numbered = status == PW_OK ? pw_onnx_alloc(r, room, 1) : NULL;
        if (!numbered)
            return PW_ERR_NO_MEMORY;
        snprintf(numbered, room, "%s#%zu", prefix, uses);
        prefix = numbered;
    } else if (pw_map_put(&job->builder->prefixes, prefix, 1, r->err) != PW_OK) {
        return PW_ERR_NO_MEMORY;
    }
    job->call.prefix = prefix;
    origin = pw_onnx_joined(r, job->call.function->name, label);
    if (origin && scope->call)
        origin = pw_onnx_joined(r, scope->call->origin, origin);
    job->call.origin = origin;
    return origin ? PW_OK : PW_ERR_NO_MEMORY;
}

/* Field `number` of the node, one name at a time, against the formals of the function. */
static pw_status bind_inputs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct inlining *job)
{
    const struct pw_onnx_function *function = job->call.function;
    const struct pw_wire_slot *formals = &function->slots[PW_FUNCTION_INPUT];
    const struct pw_wire_slot *actuals = &job->call.slots[PW_NODE_INPUT];
    struct pw_wire formal_at = pw_wire_from(function->body, formals);
    struct pw_wire actual_at = pw_wire_from(job->call.node, actuals);
    struct pw_wire_field formal = {0}, actual = {0};
    if (actuals->count > formals->count)
        return pw_error_set(r->err, PW_ERR_MODEL, "%zu inputs, but the function takes %zu", actuals->count,
                            formals->count);
    for (size_t i = 0; pw_wire_find(&formal_at, PW_FUNCTION_INPUT, &formal); i++) {
        pw_value_id id = PW_NO_VALUE;
        pw_status status = PW_OK;
        if (pw_map_get(&job->scope.names, (const char *)formal.data, formal.size, NULL)) {
            char show[PW_ONNX_SHOW_BYTES];
            return pw_error_set(r->err, PW_ERR_MODEL, "the function has two inputs named '%s'",
                                pw_onnx_show(show, formal.data, formal.size));
        }
        if (pw_wire_find(&actual_at, PW_NODE_INPUT, &actual) && actual.size > 0)
            status = pw_onnx_input(r, scope, job->builder, i, &actual, &id);
        if (status == PW_OK)
            status = pw_map_set(&job->scope.names, (const char *)formal.data, formal.size, id, r->err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status bind_outputs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct inlining *job)
{
    const struct pw_onnx_function *function = job->call.function;
    const struct pw_wire_slot *formals = &function->slots[PW_FUNCTION_OUTPUT];
    const struct pw_wire_slot *actuals = &job->call.slots[PW_NODE_OUTPUT];
    struct pw_wire formal_at = pw_wire_from(function->body, formals);
    struct pw_wire actual_at = pw_wire_from(job->call.node, actuals);
    struct pw_wire_field formal = {0}, actual = {0};
    if (actuals->count > formals->count)
        return pw_error_set(r->err, PW_ERR_MODEL, "%zu outputs, but the function has %zu", actuals->count,
                            formals->count);
    job->outputs = pw_onnx_alloc(r, formals->count, sizeof *job->outputs);
    job->produced = job->outputs ? pw_onnx_alloc(r, formals->count, sizeof *job->produced) : NULL;
    if (!job->produced)
        return PW_ERR_NO_MEMORY;
    while (job->output_count < formals->count && pw_wire_find(&formal_at, PW_FUNCTION_OUTPUT, &formal)) {
        size_t id = PW_NO_VALUE;
        pw_status status;
        if (pw_map_get(&job->output_index, (const char *)formal.data, formal.size, NULL)) {
            char show[PW_ONNX_SHOW_BYTES];
            return pw_error_set(r->err, PW_ERR_MODEL, "the function has two outputs named '%s'",
                                pw_onnx_show(show, formal.data, formal.size));
        }
        if (pw_wire_find(&actual_at, PW_NODE_OUTPUT, &actual) && actual.size > 0 &&
            !pw_map_get(&scope->names, (const char *)actual.data, actual.size, &id))
            return pw_error_set(r->err, PW_ERR_IO, "the file changed while it was read");
        job->outputs[job->output_count] = (pw_value_id)id;
        status = pw_map_set(&job->output_index, (const char *)formal.data, formal.size, job->output_count++, r->err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

/* "call/inner", with "#2" and so on when the file has that name itself. */
static pw_status add_inner_value(struct pw_onnx_reader *r, struct inlining *job, const uint8_t *name, size_t size,
                                 pw_value_id *out)
{
    const char *inner = pw_onnx_name_bytes(r, name, size, "name");
    const char *full = inner ? pw_onnx_joined(r, job->call.prefix, inner) : NULL;
    size_t room;
    char *numbered;
    if (!full)
        return PW_ERR_MODEL;
    if (!pw_map_find(&job->builder->scope->names, full, NULL))
        return pw_onnx_value_add(r, job->builder, full, out);
    room = strlen(full) + 24;
    numbered = pw_onnx_alloc(r, room, 1);
    if (!numbered)
        return PW_ERR_NO_MEMORY;
    for (size_t n = 2; n < 1000; n++) {
        snprintf(numbered, room, "%s#%zu", full, n);
        if (!pw_map_find(&job->builder->scope->names, numbered, NULL))
            break;
    }
    return pw_onnx_value_add(r, job->builder, numbered, out);
}

static pw_status declare_inner(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, void *user, const uint8_t *name,
                               size_t size)
{
    struct inlining *job = user;
    pw_value_id id = PW_NO_VALUE;
    size_t index = 0;
    pw_status status = PW_OK;
    if (pw_map_get(&scope->names, (const char *)name, size, NULL)) {
        char show[PW_ONNX_SHOW_BYTES];
        return pw_error_set(r->err, PW_ERR_MODEL, "the name '%s' is defined twice", pw_onnx_show(show, name, size));
    }
    if (pw_map_get(&job->output_index, (const char *)name, size, &index)) {
        job->produced[index] = true;
        id = job->outputs[index];
    }
    if (id == PW_NO_VALUE)
        status = add_inner_value(r, job, name, size, &id);
    return status == PW_OK ? pw_map_set(&scope->names, (const char *)name, size, id, r->err) : status;
}

/* A function whose output is one of its inputs: an Identity stands for it. */
static pw_status pass_through(struct pw_onnx_reader *r, struct inlining *job, pw_value_id from, pw_value_id to)
{
    static const uint8_t identity[] = "Identity";
    struct pw_wire_slot s[PW_NODE_FIELDS] = {0};
    struct pw_onnx_kind kind;
    struct pw_node *node;
    pw_status status;
    s[PW_NODE_OP_TYPE].data = identity;
    s[PW_NODE_OP_TYPE].size = sizeof identity - 1;
    status = pw_onnx_kind(r, job->scope.opsets, s, &kind);
    if (status != PW_OK)
        return status;
    node = pw_onnx_node_add(r, job->builder);
    if (!node)
        return PW_ERR_NO_MEMORY;
    node->name = pw_onnx_joined(r, job->call.prefix, "Identity");
    node->inputs = pw_onnx_alloc(r, 1, sizeof *node->inputs);
    node->outputs = pw_onnx_alloc(r, 1, sizeof *node->outputs);
    if (!node->name || !node->inputs || !node->outputs)
        return PW_ERR_NO_MEMORY;
    node->op_type = kind.op_type;
    node->opset = kind.opset;
    node->op = kind.op;
    node->origin = job->call.origin;
    node->inputs[node->input_count++] = from;
    node->outputs[node->output_count++] = to;
    return PW_OK;
}

static pw_status finish_outputs(struct pw_onnx_reader *r, struct inlining *job)
{
    const struct pw_onnx_function *function = job->call.function;
    struct pw_wire at = pw_wire_from(function->body, &function->slots[PW_FUNCTION_OUTPUT]);
    struct pw_wire_field formal = {0};
    for (size_t i = 0; i < job->output_count && pw_wire_find(&at, PW_FUNCTION_OUTPUT, &formal); i++) {
        size_t id = 0;
        pw_status status = PW_OK;
        if (job->produced[i])
            continue;
        if (!pw_map_get(&job->scope.names, (const char *)formal.data, formal.size, &id)) {
            char show[PW_ONNX_SHOW_BYTES];
            return pw_error_set(r->err, PW_ERR_MODEL, "nothing in the function makes its output '%s'",
                                pw_onnx_show(show, formal.data, formal.size));
        }
        if (job->outputs[i] != PW_NO_VALUE)
            status = pass_through(r, job, (pw_value_id)id, job->outputs[i]);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

pw_status pw_onnx_inline(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                         struct pw_wire wire, struct pw_wire_slot *slots, const struct pw_onnx_function *function)
{
    struct inlining job = {.builder = builder, .call = {function, scope, wire, slots, NULL, NULL}};
    size_t body_bytes = (size_t)(function->body.end - function->body.at) + 64;
    pw_status status = check_recursion(r, scope, function);
    if (status != PW_OK)
        return status;
    if (body_bytes > r->inline_left)
        return pw_error_set(r->err, PW_ERR_MODEL, "calls of functions multiply beyond reason for a file of this size");
    r->inline_left -= body_bytes;
    r->depth++;
    job.scope.builder = builder;
    job.scope.call = &job.call;
    job.scope.opsets = &function->opsets;
    status = name_call(r, scope, &job);
    if (status == PW_OK)
        status = bind_inputs(r, scope, &job);
    if (status == PW_OK)
        status = bind_outputs(r, scope, &job);
    if (status == PW_OK)
        status = pw_onnx_nodes(r, &job.scope, builder, function->body, PW_FUNCTION_NODE,
                               &function->slots[PW_FUNCTION_NODE], declare_inner, &job);
    if (status == PW_OK)
        status = finish_outputs(r, &job);
    r->depth--;
    pw_onnx_scope_clear(&job.scope);
    pw_map_clear(&job.output_index);
    return status;
}
