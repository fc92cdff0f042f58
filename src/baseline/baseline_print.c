/* A baseline's text: the head, then one line a signature. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml_write.h"
#include "baseline/baseline.h"

#define DIGITS 3 /* of errors and times: more would change a line for nothing */
#define RATIO_DIGITS 4

static int by_op_and_id(const void *a, const void *b)
{
    const struct pw_baseline_row *x = a, *y = b;
    int order = strcmp(x->op, y->op);

    return order ? order : strcmp(x->id, y->id);
}

static int by_dims(const void *a, const void *b)
{
    return strcmp(((const struct pw_baseline_set *)a)->dims, ((const struct pw_baseline_set *)b)->dims);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pw_baseline_kernel *)a)->name, ((const struct pw_baseline_kernel *)b)->name);
}

void pw_baseline_sort(struct pw_baseline *baseline)
{
    if (baseline->set_count)
        qsort(baseline->sets, baseline->set_count, sizeof *baseline->sets, by_dims);
    for (size_t i = 0; i < baseline->set_count; i++)
        if (baseline->sets[i].count)
            qsort(baseline->sets[i].rows, baseline->sets[i].count, sizeof *baseline->sets[i].rows, by_op_and_id);
    if (baseline->kernel_count)
        qsort(baseline->kernels, baseline->kernel_count, sizeof *baseline->kernels, by_name);
}

static void put_line(struct pw_buf *out, const char *key, const char *text)
{
    bool first = true;

    pw_yaml_put_text_of(out, key, text, &first);
    pw_buf_putc(out, '\n');
}

static void put_head(const struct pw_baseline *b, struct pw_buf *out)
{
    bool first = true;

    if (b->kind == PW_BASELINE_PRECISION)
        pw_buf_puts(out, "# Errors of a graph on a kind of target, one line a signature: the worst of its cases, the\n"
                         "# tolerance of that case, and the limit beyond which portwright --check fails.\n");
    else
        pw_buf_puts(out,
                    "# Times of a graph in one environment, one line a signature: medians [median, low, high] and the\n"
                    "# ratio to the reference interleaved with it. A line whose time did not change by effect and\n"
                    "# test is the one of the baseline before.\n");
    pw_buf_printf(out, "format: 1\nbaseline: %s\n", pw_baseline_kind_name(b->kind));
    if (b->number)
        pw_buf_printf(out, "number: %d\n", b->number);
    else
        pw_buf_puts(out, "number: pending\n");
    put_line(out, "graph", b->graph);
    put_line(out, "model", b->model);
    pw_buf_puts(out, "target: {");
    pw_yaml_put_text_of(out, "kind", b->target_kind, &first);
    pw_yaml_put_text_of(out, "device", b->device, &first);
    pw_yaml_put_text_of(out, "driver", b->driver, &first);
    pw_yaml_put_text_of(out, "runtime", b->runtime, &first);
    first = true;
    pw_buf_puts(out, "}\nprotocol: {");
    pw_yaml_put_text_of(out, "file", b->protocol, &first);
    pw_yaml_put_text_of(out, "hash", b->protocol_hash, &first);
    pw_buf_printf(out, "}\nseed: %" PRIu64 "\n", b->seed);
    put_line(out, "portwright", b->version);
    put_line(out, "recorded", b->recorded);
    if (b->number) {
        first = true;
        pw_buf_puts(out, "approved: {");
        pw_yaml_put_text_of(out, "by", b->approved_by, &first);
        pw_yaml_put_text_of(out, "at", b->approved_at, &first);
        pw_yaml_put_text_of(out, "message", b->message, &first);
        pw_buf_puts(out, "}\n");
    }
    if (b->kind != PW_BASELINE_THROUGHPUT)
        return;
    pw_buf_puts(out, "environment:\n  id: ");
    pw_yaml_put_quoted(out, b->environment_id);
    pw_buf_putc(out, '\n');
    for (size_t i = 0; i < b->environment_count; i++) {
        pw_buf_puts(out, "  ");
        pw_yaml_put_quoted(out, b->environment[i].name);
        pw_buf_puts(out, ": ");
        pw_yaml_put_quoted(out, b->environment[i].value);
        pw_buf_putc(out, '\n');
    }
}

static void put_kernels(const struct pw_baseline *b, struct pw_buf *out)
{
    pw_buf_puts(out, b->kernel_count ? "kernels:\n" : "kernels: {}\n");
    for (size_t i = 0; i < b->kernel_count; i++) {
        const struct pw_baseline_kernel *k = &b->kernels[i];
        bool first = true;

        pw_buf_puts(out, "  ");
        pw_yaml_put_quoted(out, k->name);
        pw_buf_puts(out, ": {");
        pw_yaml_put_text_of(out, "hash", k->hash, &first);
        pw_yaml_put_text_of(out, "kept", k->kept, &first);
        if (k->foreign)
            pw_yaml_put_word_of(out, "foreign", "true", &first);
        pw_yaml_put_text_of(out, "author", k->author, &first);
        pw_yaml_put_text_of(out, "algorithm", k->algorithm, &first);
        pw_yaml_put_text_of(out, "tiling", k->tiling, &first);
        pw_buf_puts(out, "}\n");
    }
}

static void put_interval(struct pw_buf *out, const char *key, const struct pw_baseline_interval *v, int digits,
                         bool *first)
{
    if (isnan(v->median))
        return;
    pw_yaml_put_key(out, key, first);
    pw_buf_putc(out, '[');
    pw_yaml_put_number(out, v->median, digits);
    pw_buf_puts(out, ", ");
    pw_yaml_put_number(out, v->low, digits);
    pw_buf_puts(out, ", ");
    pw_yaml_put_number(out, v->high, digits);
    pw_buf_putc(out, ']');
}

static void put_precision(const struct pw_baseline_row *row, struct pw_buf *out, bool *first)
{
    pw_yaml_put_word_of(out, "standing", row->standing, first);
    if (!isnan(row->error)) {
        pw_yaml_put_number_of(out, "error", row->error, DIGITS, first);
        pw_yaml_put_number_of(out, "tolerance", row->tolerance, DIGITS, first);
        pw_yaml_put_number_of(out, "limit", row->limit, DIGITS, first);
        pw_yaml_put_text_of(out, "cases", row->cases, first);
    }
}

static void put_throughput(const struct pw_baseline_row *row, struct pw_buf *out, bool *first)
{
    put_interval(out, "target_ns", &row->target_ns, DIGITS, first);
    put_interval(out, "reference_ns", &row->reference_ns, DIGITS, first);
    if (row->reference[0])
        pw_yaml_put_text_of(out, "reference", row->reference, first);
    put_interval(out, "ratio", &row->ratio, RATIO_DIGITS, first);
    if (!row->ratio_count)
        return;
    pw_yaml_put_key(out, "slices", first);
    for (size_t i = 0; i < row->ratio_count; i++) {
        pw_buf_puts(out, i ? ", " : "[");
        pw_yaml_put_number(out, row->ratios[i], RATIO_DIGITS);
    }
    pw_buf_putc(out, ']');
}

static void put_row(const struct pw_baseline *b, const struct pw_baseline_row *row, struct pw_buf *out)
{
    bool first = true;

    pw_buf_printf(out, "    \"%s\": {", row->id);
    pw_yaml_put_text_of(out, "op", row->op, &first);
    pw_yaml_put_text_of(out, "shapes", row->shapes, &first);
    pw_yaml_put_word_of(out, "coverage", pw_coverage_name(row->coverage), &first);
    pw_yaml_put_text_of(out, "kernel", row->kernel, &first);
    if (b->kind == PW_BASELINE_PRECISION)
        put_precision(row, out, &first);
    else
        put_throughput(row, out, &first);
    pw_buf_puts(out, "}\n");
}

pw_status pw_baseline_print(const struct pw_baseline *baseline, struct pw_buf *out, struct pw_error *err)
{
    put_head(baseline, out);
    put_kernels(baseline, out);
    pw_buf_puts(out, baseline->set_count ? "sets:\n" : "sets: {}\n");
    for (size_t i = 0; i < baseline->set_count; i++) {
        const struct pw_baseline_set *set = &baseline->sets[i];

        pw_buf_puts(out, "  ");
        pw_yaml_put_quoted(out, set->dims);
        pw_buf_puts(out, set->count ? ":\n" : ": {}\n");
        for (size_t k = 0; k < set->count; k++)
            put_row(baseline, &set->rows[k], out);
    }
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}
