/*
 * portwright init: a commented protocol for a graph. What holds by default stands there as it is read; what a team
 * has to decide is a comment with the graph's own names in it. Never replaces a file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/yaml_write.h"
#include "baseline/gate.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "graph/inventory.h"
#include "verify/protocol.h"

#define DEFAULT_FILE "portwright.yaml"
#define MAX_OPERATORS 40 /* listed by name */

/* A foreign name inside a comment or single quotes. */
static void put_name(struct pw_buf *out, const char *name)
{
    struct pw_buf safe = {0};

    pw_text_display(&safe, name, strlen(name), 80, true);
    for (const char *c = pw_buf_text(&safe); *c; c++)
        pw_buf_printf(out, "%s%c", *c == '\'' ? "'" : "", *c);
    pw_buf_clear(&safe);
}

static void write_dims(const struct pw_inventory *inventory, struct pw_buf *out)
{
    pw_buf_puts(out,
                "\n# Sizes of the dims that the graph leaves open; check, verify and run take the sets in turn.\n");
    if (!inventory->input_symbol_count) {
        pw_buf_puts(out, "# This graph leaves none open.\n");
        return;
    }
    pw_buf_puts(out, "dims:\n  - {");
    for (size_t i = 0; i < inventory->input_symbol_count; i++) {
        pw_buf_puts(out, i ? ", '" : "'");
        put_name(out, inventory->assumed[i].symbol);
        pw_buf_printf(out, "': %" PRId64, inventory->assumed[i].value);
    }
    pw_buf_puts(out, "}\n");
}

/* The first operator of the graph that computes on floats, of a category (COUNT: any). */
static const char *first_operator(const struct pw_inventory *inventory, pw_category category)
{
    for (size_t i = 0; i < inventory->signature_count; i++)
        if (inventory->signatures[i].op && inventory->signatures[i].floating &&
            inventory->signatures[i].category != PW_CATEGORY_CONTROL &&
            (category == PW_CATEGORY_COUNT || inventory->signatures[i].category == category))
            return inventory->signatures[i].op->name;
    return NULL;
}

static void write_tolerances(const struct pw_inventory *inventory, struct pw_buf *out)
{
    const char *op = first_operator(inventory, PW_CATEGORY_COUNT);
    const struct pw_graph *graph = inventory->model->graph;

    pw_buf_puts(
        out, "\n# Tolerances are derived: from the dtype, the functions used and the length of sums (verify --explain "
             "says how).\n# A rule replaces that; the last one that matches wins. op, category, dtype and node (a "
             "pattern) may be combined.\n# A rule with a node pattern alone also speaks of the outputs of that "
             "name, end to end.\n# tolerances:\n");
    pw_buf_printf(out, "#   - {op: %s, dtype: float32, tolerance: 1e-5, reason: 'who agreed to it, and why'}\n",
                  op ? op : "Softmax");
    if (graph->output_count) {
        pw_buf_puts(out, "#   - {node: '");
        put_name(out, graph->values[graph->outputs[0]].name);
        pw_buf_puts(out, "', tolerance: 1e-3}\n");
    }
    pw_buf_puts(out, "\n# WARN above this share of a tolerance.\nwarn_share: 0.5\n");
}

static void write_precision(const struct pw_inventory *inventory, struct pw_buf *out)
{
    const char *product = first_operator(inventory, PW_CATEGORY_MATMUL);
    const char *norm = first_operator(inventory, PW_CATEGORY_NORMALIZATION);

    pw_buf_puts(
        out,
        "\n# Mixed precision, executed as typed casts. `portwright run MODEL --precision-sweep` measures what each "
        "layer\n# may be stored in and prints such rules.\n# precision:\n");
    pw_buf_printf(out, "#   - {op: %s, storage: float16, accumulate: float32}\n", product ? product : "MatMul");
    pw_buf_printf(out, "#   - {op: %s, storage: float32}\n", norm ? norm : "Softmax");
    pw_buf_puts(out, "# loss_scaling: {kind: dynamic, scale: 65536, growth: 2, backoff: 0.5, interval: 2000}\n");
}

static void write_bitwise(struct pw_buf *out)
{
    pw_buf_puts(
        out, "\n# What must equal the reference bit by bit, and whether the order of a sum matters (free, repeatable, "
             "sequential,\n# pairwise).\nbitwise:\n  integers: true\n  copies: true\n  ties: true     # the index that "
             "ONNX names; "
             "false: any of an equal value\n  random: false  # draws are judged by their properties\n"
             "  # rules:\n  #   - {op: Clip}\n  # accumulation:\n  #   - {category: reduction, order: repeatable}\n");
}

static void write_host(const struct pw_inventory *inventory, struct pw_buf *out)
{
    const char *listed[MAX_OPERATORS];
    size_t count = 0;

    pw_buf_puts(out, "\n# Operators that may stay on the host; shape arithmetic and control flow always may.\n");
    for (size_t i = 0; i < inventory->signature_count && count < MAX_OPERATORS; i++) {
        const struct pw_signature *s = &inventory->signatures[i];
        bool seen = !s->op || !s->op->host_only || !s->floating || s->category == PW_CATEGORY_CONTROL;

        for (size_t k = 0; k < count && !seen; k++)
            seen = !strcmp(listed[k], s->op->name);
        if (!seen)
            listed[count++] = s->op->name;
    }
    if (!count)
        pw_buf_puts(out, "# host_allowed: [NonMaxSuppression]\n");
    for (size_t i = 0; i < count; i++)
        pw_buf_printf(out, "%s%s%s", i ? ", " : "host_allowed: [", listed[i], i + 1 == count ? "]\n" : "");
}

static void write_gates(struct pw_buf *out)
{
    struct pw_gate_options gate = pw_gate_options_default();

    pw_buf_puts(out,
                "\n# What a check does when portwright.lock pins another environment: refuse, warn or ignore.\n"
                "environment: refuse\n"
                "\n# Against a baseline (check --baseline latest): a change of speed needs this effect and a test at "
                "this level over\n# all signatures; an error is worse above factor x before + share x tolerance.\n"
                "gate:\n  effect: ");
    pw_yaml_put_number(out, gate.stats.effect, 6);
    pw_buf_puts(out, "\n  alpha: ");
    pw_yaml_put_number(out, gate.stats.alpha, 6);
    pw_buf_puts(out, "\n  error_factor: ");
    pw_yaml_put_number(out, gate.error_factor, 6);
    pw_buf_puts(out, "\n  error_share: ");
    pw_yaml_put_number(out, gate.error_share, 6);
    pw_buf_puts(out, "\n  coverage: true\n  precision: true\n  throughput: true\n");
}

static pw_status make_protocol(const char *path, struct pw_buf *out, struct pw_error *err)
{
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    char safe[200], hash[PW_HASH_TEXT];
    pw_status status = pw_model_load(path, &model, err);

    if (status == PW_OK)
        status = pw_infer_graph(model, NULL, 0, &inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(model, inference, &inventory, err);
    if (status == PW_OK) {
        pw_buf_printf(out, "# The numerical rules for %s (graph %.12s), as portwright %s reads them.\nformat: 1\n",
                      pw_text_show(safe, sizeof safe, path, 120), pw_hash_text(pw_model_structure_hash(model), hash),
                      PACKAGE_VERSION);
        write_dims(inventory, out);
        write_tolerances(inventory, out);
        write_precision(inventory, out);
        write_bitwise(out);
        write_host(inventory, out);
        write_gates(out);
        if (out->failed)
            status = pw_error_memory(err, out->size);
    }
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    return status;
}

int pw_cmd_init(int argc, char **argv)
{
    const struct pw_option_own own[] = {{0}};
    const struct pw_command_usage usage = {
        "init", "MODEL",
        "Writes a commented protocol for the graph to portwright.yaml (or -o FILE; -o - to the terminal).\n"
        "A file that exists is left alone.",
        "output", own};
    struct pw_options options;
    struct pw_error err = {0};
    struct pw_buf out = {0};
    const char *file;
    pw_status status = PW_OK;
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0)
        goto done;
    file = options.output ? options.output : DEFAULT_FILE;
    options.output = file;
    if (options.arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "init: expected one MODEL, found %d; see portwright init --help",
                              options.arg_count);
    else if (strcmp(file, "-") && pw_file_exists(file))
        status =
            pw_error_set(&err, PW_ERR_USAGE, "%s exists: move it away, or choose another place with -o FILE", file);
    if (status == PW_OK)
        status = make_protocol(options.args[0], &out, &err);
    exit_code = status == PW_OK ? pw_options_write(&options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    if (exit_code == PW_EXIT_HELD && strcmp(file, "-"))
        printf("wrote %s\n", file);
done:
    pw_buf_clear(&out);
    pw_options_clear(&options);
    return exit_code;
}
