#include "run/inputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/random.h"
#include "run/data_set.h"
#include "run/eval_internal.h"
#include "tensor/compare.h"
#include "tensor/npy.h"

#define MASKED_SCORE (-1e4) /* of an additive mask: gone after exp, and still finite in float16 */

void pw_inputs_clear(struct pw_inputs *inputs)
{
    for (size_t i = 0; inputs->values && i < inputs->count; i++)
        pw_value_clear(&inputs->values[i]);
    for (size_t o = 0; inputs->wanted && inputs->graph && o < inputs->graph->output_count; o++)
        pw_value_clear(&inputs->wanted[o]);
    pw_free(inputs->values);
    pw_free(inputs->wanted);
    pw_arena_clear(&inputs->arena);
    *inputs = (struct pw_inputs){0};
}

static const char *input_name(const struct pw_inputs *inputs, size_t i, char *dst, size_t size)
{
    return pw_text_show(dst, size, inputs->graph->values[inputs->ids[i]].name, 80);
}

/* ---- reading ---- */

static pw_status list_inputs(const struct pw_model *model, struct pw_inputs *in, struct pw_error *err)
{
    const struct pw_graph *graph = model->graph;
    size_t most = graph->input_count + 1;

    in->graph = graph;
    in->values = pw_calloc(most, sizeof *in->values);
    in->wanted = pw_calloc(graph->output_count + 1, sizeof *in->wanted);
    in->ids = pw_arena_alloc(&in->arena, most, sizeof *in->ids);
    in->sources = pw_arena_alloc(&in->arena, most, sizeof *in->sources);
    in->drawn = pw_arena_alloc(&in->arena, most, sizeof *in->drawn);
    if (!in->values || !in->wanted || !in->ids || !in->sources || !in->drawn)
        return pw_error_memory(err, most * sizeof *in->values);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];

        if (!value->initializer && !value->sparse)
            in->ids[in->count++] = graph->inputs[i];
    }
    return PW_OK;
}

static pw_status read_folder(struct pw_inputs *in, const char *folder, struct pw_error *err)
{
    struct pw_data_set set = {0};
    bool any = false;
    pw_status status;

    if (!pw_file_is_dir(folder))
        return pw_error_set(err, PW_ERR_USAGE, "--inputs '%s': no such folder", folder);
    status = pw_data_set_read(in->graph, folder, false, &set, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < in->count; i++) {
        any |= set.inputs[i].kind != PW_VALUE_NONE;
        in->values[i] = set.inputs[i];
        set.inputs[i] = (struct pw_value){0};
        if (in->values[i].kind != PW_VALUE_NONE)
            in->sources[i] = folder;
    }
    for (size_t o = 0; o < set.output_count; o++) {
        in->has_wanted |= set.wanted[o].kind != PW_VALUE_NONE;
        in->wanted[o] = set.wanted[o];
        set.wanted[o] = (struct pw_value){0};
    }
    pw_data_set_clear(&set);
    return any || !in->count ? PW_OK : pw_error_set(err, PW_ERR_USAGE, "--inputs '%s': no input_0.pb in it", folder);
}

static pw_status find_input(const struct pw_inputs *in, const char *name, size_t *out, struct pw_error *err)
{
    const char **names = pw_calloc(in->count + 1, sizeof *names);
    char shown[120], near_shown[120];
    const char *near;
    pw_status status;

    if (!names)
        return pw_error_memory(err, in->count * sizeof *names);
    for (size_t i = 0; i < in->count; i++) {
        names[i] = in->graph->values[in->ids[i]].name;
        if (!strcmp(names[i], name)) {
            *out = i;
            pw_free(names);
            return PW_OK;
        }
    }
    near = pw_text_nearest(name, names, in->count);
    pw_text_show(shown, sizeof shown, name, 80);
    if (near)
        status = pw_error_set(err, PW_ERR_USAGE, "--input '%s': the graph has no such input; did you mean '%s'?", shown,
                              pw_text_show(near_shown, sizeof near_shown, near, 80));
    else
        status = pw_error_set(err, PW_ERR_USAGE, "--input '%s': the graph has no such input; its first is '%s'", shown,
                              in->count ? pw_text_show(near_shown, sizeof near_shown, names[0], 80) : "(none)");
    pw_free(names);
    return status;
}

static pw_status read_file(struct pw_inputs *in, const struct pw_input_file *file, struct pw_error *err)
{
    struct pw_value value = {0};
    const struct pw_type *type;
    size_t i = 0;
    pw_status status = find_input(in, file->name, &i, err);

    if (status != PW_OK)
        return status;
    type = in->graph->values[in->ids[i]].type;
    if (pw_text_ends(file->path, ".npy")) {
        status = pw_npy_read(file->path, &value.tensor, err);
        value.kind = PW_VALUE_TENSOR;
        if (status == PW_OK && type && type->kind == PW_TYPE_TENSOR && type->dtype == PW_DTYPE_BFLOAT16 &&
            value.tensor.dtype == PW_DTYPE_UINT16) /* numpy has no bfloat16 */
            value.tensor.dtype = value.tensor.nominal = PW_DTYPE_BFLOAT16;
    } else {
        status = pw_data_set_value(file->path, type, true, &value, err);
    }
    if (status != PW_OK)
        return status;
    pw_value_clear(&in->values[i]);
    in->values[i] = value;
    in->sources[i] = pw_arena_strndup(&in->arena, file->path, strlen(file->path));
    return in->sources[i] ? PW_OK : pw_error_memory(err, strlen(file->path));
}

/* Symbols that a given value's shape fixes; the first to say so wins, the check compares the others. */
static pw_status bind_dims(struct pw_inputs *in, struct pw_error *err)
{
    size_t cap = 0;

    for (size_t i = 0; i < in->count; i++)
        cap += in->values[i].kind == PW_VALUE_TENSOR ? (size_t)in->values[i].tensor.rank : 0;
    in->bindings = pw_arena_alloc(&in->arena, cap + 1, sizeof *in->bindings);
    if (!in->bindings)
        return pw_error_memory(err, cap * sizeof *in->bindings);
    for (size_t i = 0; i < in->count; i++) {
        const struct pw_graph_value *value = &in->graph->values[in->ids[i]];
        const struct pw_tensor *t = &in->values[i].tensor;

        if (in->values[i].kind != PW_VALUE_TENSOR || !value->type || value->type->kind != PW_TYPE_TENSOR ||
            !value->type->has_shape || value->type->rank != t->rank)
            continue;
        for (int d = 0; d < t->rank; d++) {
            const char *name = value->type->dim_names[d];
            bool known = value->type->dim_values[d] > 0;

            if (!known && (!name || !name[0]))
                name = pw_arena_printf(&in->arena, "%s.%d", value->name, d);
            else if (!known && strcspn(name, "+-*/() ") != strlen(name))
                known = true; /* an expression of other symbols */
            for (size_t k = 0; k < in->binding_count && !known; k++)
                known = name && !strcmp(in->bindings[k].name, name);
            if (!known && name)
                in->bindings[in->binding_count++] = (struct pw_binding){name, t->dims[d]};
        }
    }
    return PW_OK;
}

pw_status pw_inputs_read(const struct pw_model *model, const char *folder, const struct pw_input_file *files,
                         size_t file_count, struct pw_inputs *out, struct pw_error *err)
{
    struct pw_inputs in = {0};
    pw_status status = list_inputs(model, &in, err);

    if (status == PW_OK && folder)
        status = read_folder(&in, folder, err);
    for (size_t i = 0; i < file_count && status == PW_OK; i++)
        status = read_file(&in, &files[i], err);
    if (status == PW_OK)
        status = bind_dims(&in, err);
    if (status != PW_OK) {
        pw_inputs_clear(&in);
        return status;
    }
    *out = in;
    return PW_OK;
}

/* ---- drawing ---- */

static bool named(const char *name, const char *part)
{
    size_t length = strlen(part);

    for (const char *at = name; *at; at++) {
        size_t k = 0;

        while (k < length && at[k] && tolower((unsigned char)at[k]) == part[k])
            k++;
        if (k == length)
            return true;
    }
    return false;
}

/* Every row keeps its first three quarters, one position at least: so a causal mask beside it leaves no row empty. */
static void draw_mask(struct pw_tensor *t, double kept, double masked)
{
    int64_t length = t->rank > 0 ? t->dims[t->rank - 1] : 1;

    for (int64_t i = 0; i < t->count; i++) {
        double value = i % length < length - length / 4 ? kept : masked;

        if (pw_dtype_is_float(t->dtype))
            pw_tensor_set(t, i, value);
        else
            pw_tensor_set_int(t, i, (int64_t)value);
    }
}

static const char *draw_integers(struct pw_inputs *in, struct pw_tensor *t, const char *name, uint64_t seed,
                                 uint64_t stream, const struct pw_input_hint *hint)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    int64_t low = hint->low, high = hint->high, length = t->rank > 0 ? t->dims[t->rank - 1] : 1;

    if (hint->has_constant) {
        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set_int(t, i, (int64_t)hint->constant);
        return "the number that the graph compares it with";
    }
    if (named(name, "mask")) {
        draw_mask(t, 1, 0);
        return "mask: the first three quarters of each row";
    }
    if (facts->kind == PW_KIND_UNSIGNED && low < 0)
        low = 0;
    if (facts->max < 9e18 && (double)high > facts->max)
        high = (int64_t)facts->max;
    if (low > high)
        low = high;
    if (named(name, "position") && hint->table) {
        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set_int(t, i, i % length % hint->rows);
        return "positions, ascending";
    }
    for (int64_t i = 0; i < t->count; i++)
        pw_tensor_set_int(t, i, pw_random_range(seed, stream, (uint64_t)i, low, high));
    return pw_arena_printf(&in->arena, "uniform in %" PRId64 " to %" PRId64 "%s", low, high,
                           hint->table ? ": rows of a table" : "");
}

static const char *draw_floats(struct pw_tensor *t, const char *name, uint64_t seed, uint64_t stream,
                               const struct pw_input_hint *hint)
{
    bool low = isfinite(hint->float_low), high = isfinite(hint->float_high);

    if (named(name, "mask")) {
        draw_mask(t, hint->added ? 0 : 1, hint->added ? MASKED_SCORE : 0);
        return hint->added ? "additive mask: the first three quarters of each row"
                           : "mask: the first three quarters of each row";
    }
    for (int64_t i = 0; i < t->count; i++) {
        double x = low && high ? hint->float_low + (hint->float_high - hint->float_low) *
                                                       (double)pw_random_unit(seed, stream, (uint64_t)i)
                               : pw_random_normal(seed, stream, (uint64_t)i);

        if (low && !high)
            x = hint->float_low + fabs(x);
        else if (high && !low)
            x = hint->float_high - fabs(x);
        pw_tensor_set(t, i, x);
    }
    return low && high ? "uniform in its domain" : low || high ? "normal, folded into its domain" : "normal";
}

/* Dims that are no numbers, by name; true when there are none. */
static bool shape_of(const struct pw_inference *inference, const struct pw_info *info, int64_t *dims,
                     struct pw_buf *missing)
{
    struct pw_dims *table = pw_inference_dims(inference);
    bool all = true;

    for (int d = 0; d < info->rank; d++) {
        struct pw_buf text = {0};

        if (pw_dims_value(table, info->dims[d], &dims[d]) && dims[d] >= 0)
            continue;
        all = false;
        pw_dims_print(table, info->dims[d], &text);
        pw_buf_puts(&text, "=N");
        if (!strstr(pw_buf_text(missing), pw_buf_text(&text)))
            pw_buf_printf(missing, "%s%s", missing->size ? "," : "", pw_buf_text(&text));
        pw_buf_clear(&text);
    }
    return all;
}

/* All dims that nobody bound, said at once. */
static pw_status check_bound(const struct pw_inputs *in, const struct pw_inference *inference, struct pw_error *err)
{
    struct pw_buf missing = {0};
    char name[120];
    const char *first = NULL;
    pw_status status = PW_OK;

    for (size_t i = 0; i < in->count; i++) {
        const struct pw_info *info = pw_inference_at(inference, in->graph, in->ids[i]);
        int64_t dims[PW_MAX_RANK];

        if (in->values[i].kind == PW_VALUE_NONE && !info->optional && info->kind == PW_VALUE_TENSOR && info->rank > 0 &&
            !shape_of(inference, info, dims, &missing) && !first)
            first = input_name(in, i, name, sizeof name);
    }
    if (first)
        status =
            pw_error_set(err, PW_ERR_USAGE,
                         "input '%s': its dims are not bound: give --dim %s, or the inputs with --input or --inputs",
                         first, pw_buf_text(&missing));
    pw_buf_clear(&missing);
    return status;
}

static pw_status draw_one(struct pw_inputs *in, size_t i, const struct pw_inference *inference, uint64_t seed,
                          struct pw_error *err)
{
    const struct pw_info *info = pw_inference_at(inference, in->graph, in->ids[i]);
    struct pw_value *value = &in->values[i];
    struct pw_input_hint hint;
    struct pw_buf missing = {0};
    int64_t dims[PW_MAX_RANK];
    pw_dtype_kind kind;
    char name[120], where[192];
    pw_status status;

    input_name(in, i, name, sizeof name);
    if (info->optional)
        return PW_OK; /* absent */
    kind = pw_dtype_facts(info->dtype)->kind;
    if (info->kind != PW_VALUE_TENSOR || info->rank < 0 || kind == PW_KIND_NONE || kind == PW_KIND_STRING)
        return pw_error_set(err, PW_ERR_USAGE,
                            "input '%s' cannot be drawn (%s): portwright run takes it with --input %s=FILE", name,
                            kind == PW_KIND_STRING          ? "strings"
                            : info->kind != PW_VALUE_TENSOR ? "no tensor"
                                                            : "its type or rank is not declared",
                            name);
    if (!shape_of(inference, info, dims, &missing)) {
        status =
            pw_error_set(err, PW_ERR_USAGE,
                         "input '%s': its dims are not bound: give --dim %s, or the input with --input or --inputs",
                         name, pw_buf_text(&missing));
        pw_buf_clear(&missing);
        return status;
    }
    status = pw_input_hint_find(inference, in->graph, in->ids[i], &hint, err);
    if (status != PW_OK)
        return status;
    if (hint.param)
        return pw_error_set(err, PW_ERR_USAGE,
                            "input '%s' is a setting of %s: portwright run takes it with --input %s=FILE", name,
                            pw_node_where(hint.param, where, sizeof where), name);
    status = pw_tensor_init(&value->tensor, info->dtype, info->rank, dims, err);
    if (status != PW_OK) {
        pw_error_prefix(err, "input '%s'", name);
        return status;
    }
    value->kind = PW_VALUE_TENSOR;
    in->drawn[i] = true;
    if (kind == PW_KIND_FLOAT) {
        in->sources[i] = draw_floats(&value->tensor, name, seed, i, &hint);
    } else if (kind == PW_KIND_COMPLEX) {
        for (int64_t k = 0; k < 2 * value->tensor.count; k++) {
            double x = pw_random_normal(seed, i, (uint64_t)k);

            if (info->dtype == PW_DTYPE_COMPLEX64)
                ((float *)value->tensor.data)[k] = (float)x;
            else
                ((double *)value->tensor.data)[k] = x;
        }
        in->sources[i] = "normal";
    } else if (kind == PW_KIND_BOOL && !named(name, "mask")) {
        for (int64_t k = 0; k < value->tensor.count; k++)
            pw_tensor_set_int(&value->tensor, k, pw_random_u32(seed, i, (uint64_t)k) & 1);
        in->sources[i] = "random bits";
    } else {
        in->sources[i] = draw_integers(in, &value->tensor, name, seed, i, &hint);
    }
    return in->sources[i] ? PW_OK : pw_error_memory(err, 64);
}

/* ---- checking ---- */

static pw_status check_dims(const struct pw_inputs *in, size_t i, const struct pw_inference *inference,
                            struct pw_error *err)
{
    const struct pw_info *info = pw_inference_at(inference, in->graph, in->ids[i]);
    const struct pw_tensor *t = &in->values[i].tensor;
    char name[120];

    for (int d = 0; info->kind == PW_VALUE_TENSOR && info->rank == t->rank && d < t->rank; d++) {
        int64_t size;

        if (pw_dims_value(pw_inference_dims(inference), info->dims[d], &size) && size != t->dims[d])
            return pw_error_set(err, PW_ERR_USAGE,
                                "input '%s': dim %d is %" PRId64 ", but the dims that are bound make it %" PRId64,
                                input_name(in, i, name, sizeof name), d, t->dims[d], size);
    }
    return PW_OK;
}

static pw_status check_numbers(const struct pw_inputs *in, size_t i, const struct pw_inference *inference,
                               struct pw_error *err)
{
    const struct pw_tensor *t = &in->values[i].tensor;
    struct pw_input_hint hint = {0};
    struct pw_buf place = {0};
    char name[120], where[192];
    pw_status status = PW_OK;

    input_name(in, i, name, sizeof name);
    if (pw_dtype_is_integer(t->dtype))
        status = pw_input_hint_find(inference, in->graph, in->ids[i], &hint, err);
    for (int64_t k = 0; k < t->count && status == PW_OK; k++) {
        if (pw_dtype_is_float(t->dtype) && isnan(pw_tensor_get(t, k))) {
            pw_compare_coordinates(t, k, &place);
            status = pw_error_set(err, PW_ERR_USAGE, "input '%s': element %s is NaN", name, pw_buf_text(&place));
        } else if (hint.table) {
            int64_t x = pw_tensor_get_int(t, k);

            if (x >= -hint.rows && x < hint.rows)
                continue;
            pw_compare_coordinates(t, k, &place);
            status =
                pw_error_set(err, PW_ERR_USAGE,
                             "input '%s': element %s is %" PRId64 ", but %s looks it up in a table of %" PRId64 " rows",
                             name, pw_buf_text(&place), x, pw_node_where(hint.table, where, sizeof where), hint.rows);
        }
    }
    pw_buf_clear(&place);
    return status;
}

static pw_status check_all(const struct pw_inputs *in, const struct pw_inference *inference, struct pw_error *err)
{
    struct pw_dims *dims = NULL;
    pw_status status = pw_dims_create(&dims, err);

    if (status == PW_OK)
        status = pw_eval_check_inputs(in->graph, in->values, in->count, dims, err);
    for (size_t i = 0; i < in->count && status == PW_OK; i++) {
        if (in->values[i].kind != PW_VALUE_TENSOR)
            continue;
        status = check_dims(in, i, inference, err);
        if (status == PW_OK && pw_dtype_facts(in->values[i].tensor.dtype)->kind != PW_KIND_STRING)
            status = check_numbers(in, i, inference, err);
    }
    pw_dims_destroy(dims);
    return status;
}

pw_status pw_inputs_complete(struct pw_inputs *inputs, const struct pw_inference *inference, uint64_t seed,
                             struct pw_error *err)
{
    pw_status status = check_bound(inputs, inference, err);

    for (size_t i = 0; i < inputs->count && status == PW_OK; i++)
        if (inputs->values[i].kind == PW_VALUE_NONE)
            status = draw_one(inputs, i, inference, seed, err);
    return status == PW_OK ? check_all(inputs, inference, err) : status;
}
