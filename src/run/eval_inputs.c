/* Checks values against a graph's declared inputs. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "run/eval_internal.h"

struct input_check {
    const struct pw_graph *graph;
    const char *name; /* made safe */
    struct pw_dims *dims;
    struct pw_binding *bindings; /* symbols seen so far */
    size_t count, cap;
    bool in_sequence; /* items may differ where the type has symbols */
};

static pw_status dim_error(const struct input_check *check, int axis, const char *expected, int64_t found,
                           struct pw_error *err)
{
    return pw_error_set(err, PW_ERR_USAGE, "input '%s': dim %d must be %s, found %" PRId64, check->name, axis, expected,
                        found);
}

/* A declared text: a new symbol takes this size; a known one, or an expression of known ones, must agree. */
static pw_status check_symbol(struct input_check *check, int axis, const char *text, int64_t found,
                              struct pw_error *err)
{
    pw_dim dim = pw_dims_parse(check->dims, text);
    char expected[160], shown[96];
    int64_t value;
    pw_status status;

    if (pw_dims_eval(check->dims, dim, check->bindings, check->count, &value)) {
        if (value == found)
            return PW_OK;
        snprintf(expected, sizeof expected, "%s = %" PRId64, pw_text_show(shown, sizeof shown, text, 40), value);
        return dim_error(check, axis, expected, found, err);
    }
    if (dim != pw_dims_symbol(check->dims, text))
        return PW_OK; /* an expression whose symbols come later */
    status = PW_GROW(check->bindings, check->cap, check->count + 1, err);
    if (status == PW_OK)
        check->bindings[check->count++] = (struct pw_binding){text, found};
    return status;
}

static pw_status check_tensor(struct input_check *check, const struct pw_type *type, const struct pw_tensor *t,
                              struct pw_error *err)
{
    char number[32];
    pw_status status = PW_OK;

    if (type->dtype != PW_DTYPE_UNDEFINED && t->nominal != type->dtype)
        return pw_error_set(err, PW_ERR_USAGE, "input '%s' must be %s, found %s", check->name,
                            pw_dtype_name(type->dtype), pw_dtype_name(t->nominal));
    if (!type->has_shape)
        return PW_OK;
    if (t->rank != type->rank)
        return pw_error_set(err, PW_ERR_USAGE, "input '%s' must have rank %d, found %d", check->name, type->rank,
                            t->rank);
    for (int d = 0; d < type->rank && status == PW_OK; d++) {
        if (type->dim_values[d] >= 0 && t->dims[d] != type->dim_values[d]) {
            snprintf(number, sizeof number, "%" PRId64, type->dim_values[d]);
            status = dim_error(check, d, number, t->dims[d], err);
        } else if (!check->in_sequence && type->dim_values[d] < 0 && type->dim_names[d] != NULL &&
                   type->dim_names[d][0] != '\0') {
            status = check_symbol(check, d, type->dim_names[d], t->dims[d], err);
        }
    }
    return status;
}

static pw_status check_value(struct input_check *check, const struct pw_type *type, const struct pw_value *value,
                             struct pw_error *err)
{
    pw_status status = PW_OK;

    if (type == NULL || type->kind == PW_TYPE_NONE)
        return PW_OK;
    if (type->kind == PW_TYPE_OPTIONAL)
        return value->kind == PW_VALUE_NONE ? PW_OK : check_value(check, type->element, value, err);
    if (type->kind == PW_TYPE_TENSOR && value->kind == PW_VALUE_TENSOR)
        return check_tensor(check, type, &value->tensor, err);
    if (type->kind == PW_TYPE_SEQUENCE && value->kind == PW_VALUE_SEQUENCE) {
        check->in_sequence = true;
        for (size_t i = 0; i < value->count && status == PW_OK; i++)
            status = check_value(check, type->element, &value->items[i], err);
        check->in_sequence = false;
        return status;
    }
    return pw_error_set(err, PW_ERR_USAGE, "input '%s' must be a %s, found %s", check->name,
                        type->kind == PW_TYPE_TENSOR     ? "tensor"
                        : type->kind == PW_TYPE_SEQUENCE ? "sequence"
                                                         : "value of a kind that is not supported",
                        value->kind == PW_VALUE_NONE     ? "nothing"
                        : value->kind == PW_VALUE_TENSOR ? "a tensor"
                                                         : "a sequence");
}

pw_status pw_eval_check_inputs(const struct pw_graph *graph, const struct pw_value *inputs, size_t input_count,
                               struct pw_dims *dims, struct pw_error *err)
{
    struct input_check check = {.graph = graph, .dims = dims};
    char shown[120];
    size_t next = 0;
    pw_status status = PW_OK;

    for (size_t i = 0; i < graph->input_count && status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];

        if (value->initializer != NULL || value->sparse != NULL)
            continue;
        check.name = pw_text_show(shown, sizeof shown, value->name, 80);
        if (next >= input_count)
            status = pw_error_set(err, PW_ERR_USAGE, "input '%s' is not given", check.name);
        else
            status = check_value(&check, value->type, &inputs[next], err);
        next++;
    }
    if (status == PW_OK && next < input_count)
        status = pw_error_set(err, PW_ERR_USAGE, "%zu inputs given to a graph that has %zu", input_count, next);
    pw_free(check.bindings);
    return status;
}
