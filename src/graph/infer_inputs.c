/* What the file declares: types to infos, the graph's inputs, and the bindings of their symbols. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/infer_internal.h"

#define MAX_ELEMENTS ((int64_t)1 << 48)

#define NAME_MAX_BYTES 200 /* of a value's name inside a symbol */

/* The symbol of a dim that the file leaves open. */
static pw_dim open_dim(struct pw_inference *inf, const char *name, int d)
{
    char symbol[NAME_MAX_BYTES + 16];

    if (name == NULL || strlen(name) > NAME_MAX_BYTES)
        return pw_dims_fresh(inf->dims, "dim");
    snprintf(symbol, sizeof symbol, "%s.%d", name, d);
    return pw_dims_symbol(inf->dims, symbol);
}

static pw_dim declared_dim(struct pw_inference *inf, const struct pw_type *type, const char *name, bool zero_unknown,
                           int d)
{
    int64_t value = type->dim_values[d];

    if (value > 0 || (value == 0 && !zero_unknown && type->dim_names[d] == NULL))
        return value;
    if (type->dim_names[d] != NULL && type->dim_names[d][0] != '\0')
        return pw_dims_substitute(inf->dims, pw_dims_parse(inf->dims, type->dim_names[d]), inf->bindings,
                                  inf->binding_count);
    return pw_dims_substitute(inf->dims, open_dim(inf, name, d), inf->bindings, inf->binding_count);
}

pw_status pw_infer_from_type(struct pw_inference *inf, const struct pw_type *type, const char *name, bool zero_unknown,
                             struct pw_info *out, struct pw_error *err)
{
    struct pw_info info = {.rank = -1};

    if (type != NULL && type->kind == PW_TYPE_OPTIONAL) {
        info.optional = true;
        type = type->element;
    }
    if (type != NULL && type->kind == PW_TYPE_SEQUENCE) {
        info.kind = PW_VALUE_SEQUENCE;
        type = type->element;
        zero_unknown = true;
        name = NULL; /* the items may differ: no symbol for all of them */
    }
    if (type == NULL || (type->kind != PW_TYPE_TENSOR && type->kind != PW_TYPE_SPARSE_TENSOR)) {
        *out = info;
        return PW_OK;
    }
    if (info.kind == PW_VALUE_NONE)
        info.kind = PW_VALUE_TENSOR;
    info.dtype = type->dtype;
    if (type->has_shape) {
        if (type->rank < 0 || type->rank > PW_MAX_RANK)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "rank %d, but at most %d is supported", type->rank,
                                PW_MAX_RANK);
        info.rank = type->rank;
        for (int d = 0; d < type->rank; d++)
            info.dims[d] = declared_dim(inf, type, name, zero_unknown, d);
    }
    *out = info;
    return PW_OK;
}

/* ---- the main graph's inputs ---- */

pw_status pw_infer_check_size(const struct pw_dims *dims, const struct pw_info *info, const char *what, size_t i,
                              struct pw_error *err)
{
    int64_t elements = 1, size;

    for (int d = 0; d < info->rank; d++) {
        if (!pw_dims_value(dims, info->dims[d], &size) || size <= 0)
            continue;
        if (size > MAX_ELEMENTS / elements)
            return pw_error_set(err, PW_ERR_MODEL, "%s %zu would have more than 2^48 elements", what, i);
        elements *= size;
    }
    return PW_OK;
}

static bool is_constant_input(const struct pw_graph_value *value)
{
    return value->initializer != NULL || value->sparse != NULL;
}

pw_status pw_infer_inputs(struct pw_inference *inf, struct pw_error *err)
{
    const struct pw_graph *graph = inf->model->graph;
    char shown[64];

    for (size_t i = 0; i < graph->input_count; i++) {
        pw_value_id id = graph->inputs[i];
        const struct pw_graph_value *value = &graph->values[id];
        struct pw_info made = {.rank = -1}, *info = &made;
        pw_status status;

        if (is_constant_input(value))
            continue;
        status = pw_infer_from_type(inf, value->type, value->name, true, info, err);
        if (status != PW_OK) {
            pw_error_prefix(err, "input '%s'", pw_text_show(shown, sizeof shown, value->name, 48));
            return status;
        }
        for (int d = 0; d < info->rank; d++) {
            int64_t size;

            if (pw_dims_value(inf->dims, info->dims[d], &size) && size < 0)
                return pw_error_set(err, PW_ERR_USAGE, "input '%s': dim %d becomes %" PRId64 " with these bindings",
                                    pw_text_show(shown, sizeof shown, value->name, 48), d, size);
        }
        status = pw_infer_check_size(inf->dims, info, "input", i, err);
        if (status == PW_OK)
            status = pw_infer_keep(inf, &inf->scopes[0], id, info, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

/* ---- bindings ---- */

struct symbol_list {
    const char **names; /* owned; the texts are the dims table's */
    size_t count, cap;
    struct pw_map seen;
    pw_status status;
    struct pw_error *err;
};

static void add_symbol(void *user, const char *symbol)
{
    struct symbol_list *list = user;

    if (list->status != PW_OK || pw_map_find(&list->seen, symbol, NULL))
        return;
    list->status = PW_GROW(list->names, list->cap, list->count + 1, list->err);
    if (list->status == PW_OK)
        list->status = pw_map_put(&list->seen, symbol, list->count, list->err);
    if (list->status == PW_OK)
        list->names[list->count++] = symbol;
}

/* Symbols of the declared shapes of all inputs, or of all outputs, before any binding. */
static pw_status list_symbols(struct pw_inference *inf, bool outputs, struct symbol_list *list)
{
    const struct pw_graph *graph = inf->model->graph;
    const pw_value_id *ids = outputs ? graph->outputs : graph->inputs;
    size_t count = outputs ? graph->output_count : graph->input_count;

    for (size_t i = 0; i < count && list->status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[ids[i]];
        struct pw_info info;

        if (is_constant_input(value))
            continue;
        if (pw_infer_from_type(inf, value->type, value->name, true, &info, NULL) != PW_OK)
            continue; /* reported with its input's name later */
        for (int d = 0; d < info.rank; d++)
            pw_dims_symbols(inf->dims, info.dims[d], add_symbol, list);
    }
    return list->status;
}

static bool holds(const struct symbol_list *list, const char *name)
{
    return pw_map_find(&list->seen, name, NULL);
}

static void clear_list(struct symbol_list *list)
{
    pw_free(list->names);
    pw_map_clear(&list->seen);
}

static pw_status unknown_binding(const char *name, const struct symbol_list *inputs, const struct symbol_list *outputs,
                                 struct pw_error *err)
{
    const char *nearest = pw_text_nearest(name, inputs->names, inputs->count);
    struct pw_buf known = {0};
    char shown[80], other[400];
    pw_status status;

    pw_text_show(shown, sizeof shown, name, 64);
    if (inputs->count == 0)
        return pw_error_set(err, PW_ERR_USAGE, "no dim '%s' to bind: every input has a fixed shape", shown);
    for (size_t i = 0; i < inputs->count && i < 16; i++)
        pw_buf_printf(&known, "%s%s", i > 0 ? ", " : "", inputs->names[i]);
    pw_text_show(other, sizeof other, nearest != NULL ? nearest : pw_buf_text(&known), 240);
    if (holds(outputs, name))
        status = pw_error_set(err, PW_ERR_USAGE, "dim '%s' is only an output's; it follows from the inputs' dims: %s",
                              shown, pw_text_show(other, sizeof other, pw_buf_text(&known), 240));
    else if (nearest != NULL)
        status = pw_error_set(err, PW_ERR_USAGE, "no input has a dim '%s'; did you mean '%s'?", shown, other);
    else
        status = pw_error_set(err, PW_ERR_USAGE, "no input has a dim '%s'; the inputs' dims are: %s", shown, other);
    pw_buf_clear(&known);
    return status;
}

pw_status pw_infer_check_bindings(struct pw_inference *inf, struct pw_error *err)
{
    struct symbol_list inputs = {.err = err}, outputs = {.err = err};
    const struct pw_binding *bindings = inf->bindings;
    size_t count = inf->binding_count;
    char shown[80];
    pw_status status = PW_OK;

    if (count == 0)
        return PW_OK;
    inf->binding_count = 0; /* shapes as they are declared */
    status = list_symbols(inf, false, &inputs);
    if (status == PW_OK)
        status = list_symbols(inf, true, &outputs);
    inf->binding_count = count;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (bindings[i].value < 0)
            status = pw_error_set(err, PW_ERR_USAGE, "dim '%s' is bound to %" PRId64 ", but a size is at least 0",
                                  pw_text_show(shown, sizeof shown, bindings[i].name, 64), bindings[i].value);
        else if (!holds(&inputs, bindings[i].name))
            status = unknown_binding(bindings[i].name, &inputs, &outputs, err);
    }
    clear_list(&inputs);
    clear_list(&outputs);
    return status;
}
