#include "run/data_set.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

void pw_data_set_clear(struct pw_data_set *set)
{
    for (size_t i = 0; set->inputs && i < set->input_count; i++)
        pw_value_clear(&set->inputs[i]);
    for (size_t i = 0; set->wanted && i < set->output_count; i++)
        pw_value_clear(&set->wanted[i]);
    pw_free(set->inputs);
    pw_free(set->wanted);
    *set = (struct pw_data_set){0};
}

/* A set may give one element for an input whose values do not matter (CastLike's target): it fills the declared shape.
 */
static pw_status fill_declared(const struct pw_type *type, struct pw_tensor *t, struct pw_error *err)
{
    struct pw_tensor whole = {0};
    size_t bytes = pw_dtype_bytes(t->dtype);
    pw_status status;

    if (!type->has_shape || t->count != 1 || t->rank == type->rank || t->dtype == PW_DTYPE_STRING)
        return PW_OK;
    for (int d = 0; d < type->rank; d++) {
        if (type->dim_values[d] < 0)
            return PW_OK;
    }
    status = pw_tensor_init(&whole, t->dtype, type->rank, type->dim_values, err);
    for (int64_t i = 0; status == PW_OK && i < whole.count; i++)
        memcpy((char *)whole.data + (size_t)i * bytes, t->data, bytes);
    if (status == PW_OK) {
        pw_tensor_clear(t);
        *t = whole;
    }
    return status;
}

pw_status pw_data_set_value(const char *path, const struct pw_type *type, bool input, struct pw_value *out,
                            struct pw_error *err)
{
    bool tensor = type && type->kind == PW_TYPE_TENSOR;
    pw_status status = pw_onnx_read_value(path, type, out, err);

    /* Test sets made through numpy, which has no bfloat16, hold its bits as uint16. */
    if (status == PW_OK && tensor && type->dtype == PW_DTYPE_BFLOAT16 && out->kind == PW_VALUE_TENSOR &&
        out->tensor.dtype == PW_DTYPE_UINT16)
        out->tensor.dtype = out->tensor.nominal = PW_DTYPE_BFLOAT16;
    if (status == PW_OK && tensor && input && out->kind == PW_VALUE_TENSOR)
        status = fill_declared(type, &out->tensor, err);
    return status;
}

static pw_status read_numbered(const char *folder, const char *kind, size_t i, const struct pw_type *type,
                               struct pw_value *out, bool *found, struct pw_error *err)
{
    struct pw_buf path = {0};
    pw_status status = PW_OK;

    pw_buf_printf(&path, "%s/%s_%zu.pb", folder, kind, i);
    *found = pw_file_exists(pw_buf_text(&path));
    if (*found)
        status = pw_data_set_value(pw_buf_text(&path), type, !strcmp(kind, "input"), out, err);
    pw_buf_clear(&path);
    return status;
}

static size_t count_files(const char *folder)
{
    size_t files = 0;

    for (bool found = true; found;) {
        struct pw_buf path = {0};

        pw_buf_printf(&path, "%s/input_%zu.pb", folder, files);
        found = pw_file_exists(pw_buf_text(&path));
        files += found;
        pw_buf_clear(&path);
    }
    return files;
}

/* The files give one value for each graph input without an initializer, in order; a set that gives the others too
 * (older models list initializers among the inputs) numbers all of them. */
static pw_status read_inputs(const struct pw_graph *graph, const char *folder, bool strict, struct pw_data_set *set,
                             struct pw_error *err)
{
    bool all = count_files(folder) > set->input_count;
    char shown[120];
    pw_status status = PW_OK;

    for (size_t i = 0, next = 0; i < graph->input_count && status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];
        bool found;

        if (value->initializer || value->sparse)
            continue;
        status = read_numbered(folder, "input", all ? i : next, value->type, &set->inputs[next], &found, err);
        if (status == PW_OK && strict && !found && !(value->type && value->type->kind == PW_TYPE_OPTIONAL))
            status = pw_error_set(err, PW_ERR_IO, "%s has no input_%zu.pb for input '%s'", folder, all ? i : next,
                                  pw_text_show(shown, sizeof shown, value->name, 80));
        next++;
    }
    return status;
}

pw_status pw_data_set_read(const struct pw_graph *graph, const char *folder, bool strict, struct pw_data_set *out,
                           struct pw_error *err)
{
    struct pw_data_set set = {.output_count = graph->output_count};
    pw_status status = PW_OK;

    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];

        set.input_count += !value->initializer && !value->sparse;
    }
    set.inputs = pw_calloc(set.input_count + 1, sizeof *set.inputs);
    set.wanted = pw_calloc(set.output_count + 1, sizeof *set.wanted);
    if (!set.inputs || !set.wanted)
        status = pw_error_memory(err, set.input_count * sizeof *set.inputs);
    if (status == PW_OK)
        status = read_inputs(graph, folder, strict, &set, err);
    for (size_t i = 0; i < graph->output_count && status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[graph->outputs[i]];
        bool found;

        status = read_numbered(folder, "output", i, value->type, &set.wanted[i], &found, err);
        if (status == PW_OK && strict && !found)
            status = pw_error_set(err, PW_ERR_IO, "%s has no output_%zu.pb", folder, i);
    }
    if (status != PW_OK) {
        pw_data_set_clear(&set);
        return status;
    }
    *out = set;
    return PW_OK;
}
