/*
 * portwright inventory: what is in a graph, and with --target what serves it there. Without a target no
 * device is opened, so a multi-gigabyte graph is listed in a fraction of a second.
 */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/inventory.h"
#include "report/ops.h"
#include "store/endtoend.h"
#include "verify/verify.h"

/* Everything the command holds. */
struct listing {
    struct pw_options *options;
    struct pw_arena arena;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    struct pw_inference *concrete; /* open symbols replaced by the assumptions; NULL when there are none */
    const char *concrete_note;     /* why there is no concrete form, or what was assumed */
    struct pw_kernels *kernels;
    struct pw_device *devices[PW_REPORT_TARGETS];
    struct pw_report_inventory report;
    char graph_id[PW_HASH_TEXT];
};

static void clear_listing(struct listing *l)
{
    for (size_t i = 0; i < PW_REPORT_TARGETS; i++)
        pw_device_close(l->devices[i]);
    pw_kernels_destroy(l->kernels);
    pw_inference_destroy(l->concrete);
    pw_inventory_destroy(l->inventory);
    pw_inference_destroy(l->inference);
    pw_model_destroy(l->model);
    pw_arena_clear(&l->arena);
}

/* ---- coverage ---- */

/* Kernels are asked about concrete calls: open symbols get the sizes that the totals assume. Sizes that depend on
 * data stay open; their calls say so. */
static pw_status make_concrete(struct listing *l, struct pw_error *err)
{
    const struct pw_inventory *inventory = l->inventory;
    size_t given = 0, count = 0;
    const struct pw_binding *old = pw_inference_bindings(l->inference, &given);
    struct pw_binding *bindings = pw_arena_alloc(&l->arena, given + inventory->assumed_count, sizeof *bindings);
    struct pw_error refused = {0};

    l->concrete_note = "";
    if (bindings == NULL)
        return pw_error_memory(err, given + inventory->assumed_count);
    for (size_t i = 0; i < given; i++)
        bindings[count++] = old[i];
    for (size_t i = 0; i < inventory->input_symbol_count; i++)
        bindings[count++] = (struct pw_binding){inventory->assumed[i].symbol, inventory->assumed[i].value};
    if (count == given)
        return PW_OK;
    l->concrete_note = pw_arena_printf(&l->arena, "for %s", inventory->assumptions);
    if (pw_infer_graph(l->model, bindings, count, &l->concrete, &refused) != PW_OK) {
        l->concrete_note =
            pw_arena_printf(&l->arena, "bind the dims with --dim: the assumed ones do not hold (%s)", refused.message);
        return l->concrete_note == NULL ? pw_error_memory(err, sizeof refused) : PW_ERR_UNSUPPORTED;
    }
    return l->concrete_note == NULL ? pw_error_memory(err, 1) : PW_OK;
}

static pw_status find_coverage(struct listing *l, size_t t, struct pw_error *err)
{
    const struct pw_inference *inference = l->concrete != NULL ? l->concrete : l->inference;
    const struct pw_inventory *inventory = l->inventory;
    struct pw_impl_list *lists = pw_arena_alloc(&l->arena, inventory->signature_count, sizeof *lists);
    pw_status status = PW_OK;

    if (lists == NULL)
        return pw_error_memory(err, inventory->signature_count * sizeof *lists);
    for (size_t i = 0; i < inventory->signature_count && status == PW_OK; i++) {
        struct pw_call *call = pw_arena_alloc(&l->arena, 1, sizeof *call);

        if (call == NULL)
            return pw_error_memory(err, sizeof *call);
        status = pw_inference_call(inference, inventory->signatures[i].nodes[0], call, err);
        if (status == PW_OK)
            status = pw_impl_find(call, l->kernels, l->devices[t], &l->arena, &lists[i], err);
        if (inventory->signatures[i].shape_arithmetic)
            pw_impl_keep_on_host(&lists[i], PW_IMPL_SHAPE_ARITHMETIC);
    }
    if (status == PW_OK)
        l->report.targets[t].impls = lists;
    return status;
}

static pw_status add_targets(struct listing *l, struct pw_error *err)
{
    const struct pw_options *options = l->options;
    pw_status status, concrete;

    if (options->target_count == 0)
        return PW_OK;
    concrete = make_concrete(l, err);
    if (concrete != PW_OK && concrete != PW_ERR_UNSUPPORTED)
        return concrete;
    status = pw_options_kernels(options, &l->kernels, err);
    for (int t = 0; t < options->target_count && status == PW_OK; t++) {
        struct pw_report_target *target = &l->report.targets[t];

        status = pw_device_open(options->targets[t], &(struct pw_device_options){.workers = 1}, &l->devices[t], err);
        if (status != PW_OK)
            break;
        target->spec = options->targets[t];
        target->device =
            pw_device_is_reference(l->devices[t]) ? "the CPU reference" : pw_device_info(l->devices[t])->name;
        target->note = l->concrete_note;
        l->report.target_count++;
        if (concrete == PW_OK)
            status = find_coverage(l, (size_t)t, err);
    }
    return status;
}

/* ---- the report ---- */

static pw_status describe_bindings(struct listing *l, struct pw_error *err)
{
    const struct pw_options *options = l->options;
    struct pw_buf text = {0};

    for (size_t i = 0; options->dim_sets > 0 && i < options->dim_counts[0]; i++)
        pw_buf_printf(&text, "%s%s=%" PRId64, i > 0 ? "," : "", options->dims[0][i].name, options->dims[0][i].value);
    l->report.bindings = pw_arena_strndup(&l->arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return l->report.bindings == NULL ? pw_error_memory(err, 1) : PW_OK;
}

/* What precision sweeps of this graph have measured replaces the rules of thumb. A store that is only the default's
 * place and cannot be read is no reason to list nothing. */
static pw_status take_measured(struct listing *l, struct pw_error *err)
{
    const char *path = l->options->db ? l->options->db : ".portwright/portwright.db";
    struct pw_store *store = NULL;
    struct pw_store_sensitivity *rows = NULL;
    struct pw_error refused = {0};
    size_t count = 0;
    pw_status status;

    if (!path[0] || (!l->options->db && !pw_file_exists(path)))
        return PW_OK;
    status = pw_store_open(path, true, &store, &refused);
    if (status == PW_OK)
        status = pw_store_sensitivities(store, l->graph_id, &l->arena, &rows, &count, &refused);
    pw_store_close(store);
    if (status != PW_OK)
        return l->options->db ? pw_error_set(err, status, "%s", refused.message) : PW_OK;
    return pw_store_apply_sensitivities(rows, count, l->inventory, err);
}

static pw_status read_graph(struct listing *l, struct pw_error *err)
{
    const struct pw_options *options = l->options;
    pw_status status = pw_model_load(options->args[0], &l->model, err);

    if (status == PW_OK)
        status = pw_infer_graph(l->model, options->dim_sets > 0 ? options->dims[0] : NULL,
                                options->dim_sets > 0 ? options->dim_counts[0] : 0, &l->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(l->model, l->inference, &l->inventory, err);
    if (status == PW_OK)
        status = describe_bindings(l, err);
    if (status != PW_OK)
        return status;
    pw_hash_text(pw_model_structure_hash(l->model), l->graph_id);
    status = take_measured(l, err);
    if (status != PW_OK)
        return status;
    l->report.inventory = l->inventory;
    l->report.model_path = options->args[0];
    l->report.graph_id = l->graph_id;
    return PW_OK;
}

static pw_status write_listing(const struct listing *l, struct pw_buf *out, struct pw_error *err)
{
    switch (l->options->format) {
    case PW_FORMAT_JSON:
        return pw_report_inventory_json(&l->report, out, err);
    case PW_FORMAT_CSV:
        return pw_report_inventory_csv(&l->report, out, err);
    case PW_FORMAT_MD:
        return pw_report_inventory_md(&l->report, out, err);
    default:
        return pw_report_inventory_text(&l->report, pw_options_width(), out, err);
    }
}

static pw_status list_graph(struct pw_options *options, struct pw_buf *out, struct pw_error *err)
{
    struct listing l = {.options = options};
    pw_status status = read_graph(&l, err);

    if (status == PW_OK)
        status = add_targets(&l, err);
    if (status == PW_OK)
        status = write_listing(&l, out, err);
    if (status == PW_OK && pw_model_damaged(l.model))
        status = pw_error_set(err, PW_ERR_IO, "%s: the file changed while it was read", options->args[0]);
    clear_listing(&l);
    return status;
}

static pw_status list_operators(struct pw_options *options, struct pw_buf *out, struct pw_error *err)
{
    struct pw_kernels *kernels = NULL;
    pw_status status = pw_options_kernels(options, &kernels, err);

    if (status == PW_OK) {
        switch (options->format) {
        case PW_FORMAT_JSON:
            status = pw_report_ops_json(kernels, out, err);
            break;
        case PW_FORMAT_CSV:
            status = pw_report_ops_csv(kernels, out, err);
            break;
        case PW_FORMAT_MD:
            status = pw_report_ops_md(kernels, out, err);
            break;
        default:
            status = pw_report_ops_text(kernels, pw_options_width(), out, err);
        }
    }
    pw_kernels_destroy(kernels);
    return status;
}

int pw_cmd_inventory(int argc, char **argv)
{
    const char *ops = NULL;
    const struct pw_option_own own[] = {
        {"ops", NULL, "the table of all known operators instead of a graph's", &ops},
        {NULL, NULL, NULL, NULL},
    };
    const struct pw_command_usage usage = {"inventory", "MODEL",
                                           "Lists a graph's operators and signatures with all their flags.",
                                           "target dim db ops-dir format output", own};
    struct pw_options options;
    struct pw_error err = {0};
    struct pw_buf out = {0};
    pw_status status;
    int code;

    pw_options_parse(argc, argv, &usage, &options, &code);
    if (code >= 0)
        goto done;
    if (options.arg_count != (ops != NULL ? 0 : 1))
        status = pw_error_set(&err, PW_ERR_USAGE, "inventory: expected %s, found %d arguments",
                              ops != NULL ? "no model with --ops" : "one MODEL", options.arg_count);
    else if (options.dim_sets > 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "inventory: one --dim set at a time, found %d", options.dim_sets);
    else
        status = ops != NULL ? list_operators(&options, &out, &err) : list_graph(&options, &out, &err);
    code = status == PW_OK ? pw_options_write(&options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
done:
    pw_buf_clear(&out);
    pw_options_clear(&options);
    return code;
}
