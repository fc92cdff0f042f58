/* The operator table: rows are operators, gathered over all versions of each. */
#include "report/ops.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "report/check.h"

#define MAX_KERNELS 32

struct row {
    const struct pw_op *newest;
    const char *room;
    struct pw_buf versions; /* "1, 11, 13" */
    struct pw_buf kernels;  /* "softmax_rows: f32 f16; softmax_any: f32" */
    const char *reference;  /* "golden", "golden, loops"… */
    const char *why_not;    /* no kernel: why; "" */
};

struct table {
    struct row *rows;
    size_t count, cap;
};

static void clear_table(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        pw_buf_clear(&table->rows[i].versions);
        pw_buf_clear(&table->rows[i].kernels);
    }
    pw_free(table->rows);
}

/* ---- gathering ---- */

static int compare_ops(const void *a, const void *b)
{
    const struct pw_op *x = *(const struct pw_op *const *)a, *y = *(const struct pw_op *const *)b;
    int order = strcmp(x->domain, y->domain);

    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->since > y->since) - (x->since < y->since);
}

static const struct pw_op **list_ops(size_t *count)
{
    const struct pw_op **ops;
    size_t n = 0;

    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++)
            n++;
    }
    ops = pw_calloc(n, sizeof *ops);
    *count = 0;
    for (const struct pw_room *room = pw_rooms; ops != NULL && room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++)
            ops[(*count)++] = op;
    }
    if (ops != NULL)
        qsort(ops, *count, sizeof *ops, compare_ops);
    return ops;
}

static const char *reference_of(const struct pw_op *op)
{
    if (op->golden == NULL && op->fast == NULL)
        return op->category == PW_CATEGORY_CONTROL ? "runs subgraphs" : "";
    if (op->fast == NULL)
        return "golden";
    return op->fast_is_blas ? "golden, openblas" : "golden, loops";
}

/* The type variable that a kernel's list of dtypes is about: the first formal's. */
static const char *first_type(const struct pw_op *op)
{
    if (op->inputs != NULL && op->inputs[0].name != NULL && op->inputs[0].type != NULL)
        return op->inputs[0].type;
    return op->outputs != NULL && op->outputs[0].name != NULL ? op->outputs[0].type : NULL;
}

static void put_kernels(const struct pw_kernels *kernels, const struct pw_op *op, struct pw_buf *out)
{
    const struct pw_kernel *found[MAX_KERNELS];
    size_t count = kernels != NULL ? pw_kernels_for(kernels, op, found, MAX_KERNELS) : 0;
    const char *type = first_type(op);

    for (size_t i = 0; i < count && i < MAX_KERNELS; i++) {
        pw_buf_printf(out, "%s%s:", i > 0 ? "; " : "", pw_kernel_name(found[i]));
        for (int d = 1; type != NULL && d < PW_DTYPE_COUNT; d++) {
            if (pw_kernel_claims(found[i], type, (pw_dtype)d))
                pw_buf_printf(out, " %s", pw_dtype_facts((pw_dtype)d)->short_name);
        }
    }
}

static pw_status gather(const struct pw_kernels *kernels, struct table *table, struct pw_error *err)
{
    size_t count;
    const struct pw_op **ops = list_ops(&count);
    pw_status status = ops == NULL ? pw_error_memory(err, 1) : PW_OK;

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct row *row = table->count > 0 ? &table->rows[table->count - 1] : NULL;

        if (row == NULL || strcmp(row->newest->name, ops[i]->name) != 0 ||
            strcmp(row->newest->domain, ops[i]->domain) != 0) {
            status = PW_GROW(table->rows, table->cap, table->count + 1, err);
            if (status != PW_OK)
                break;
            row = &table->rows[table->count++];
            *row = (struct row){.room = pw_op_room(ops[i])->name};
        }
        row->newest = ops[i];
        pw_buf_printf(&row->versions, "%s%d", row->versions.size > 0 ? ", " : "", ops[i]->since);
    }
    for (size_t i = 0; i < table->count && status == PW_OK; i++) {
        struct row *row = &table->rows[i];

        put_kernels(kernels, row->newest, &row->kernels);
        row->reference = reference_of(row->newest);
        row->why_not = row->newest->host_only != NULL ? row->newest->host_only : "";
        if (row->versions.failed || row->kernels.failed)
            status = pw_error_memory(err, 1);
    }
    pw_free(ops);
    return status;
}

static const char *domain_of(const struct row *row)
{
    return row->newest->domain[0] != '\0' ? row->newest->domain : "ai.onnx";
}

/* What a reader wants in the kernels' column. */
static void kernel_cell(const struct row *row, struct pw_buf *out)
{
    if (row->kernels.size > 0)
        pw_buf_puts(out, pw_buf_text(&row->kernels));
    else if (row->why_not[0] != '\0')
        pw_buf_printf(out, "host: %s", row->why_not);
}

/* ---- writing ---- */

static void put_padded(struct pw_buf *out, const char *text, size_t width)
{
    struct pw_buf safe = {0};

    pw_text_display(&safe, text, strlen(text), width, false);
    pw_buf_puts(out, pw_buf_text(&safe));
    for (size_t i = pw_text_width(pw_buf_text(&safe)); i < width; i++)
        pw_buf_putc(out, ' ');
    pw_buf_putc(out, ' ');
    pw_buf_clear(&safe);
}

static void trim_line(struct pw_buf *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
    pw_buf_putc(out, '\n');
}

pw_status pw_report_ops_text(const struct pw_kernels *kernels, int width, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    pw_status status = gather(kernels, &table, err);
    size_t rest = width > 75 ? (size_t)width - 71 : 10, covered = 0;

    if (status == PW_OK) {
        put_padded(out, "operator", 30);
        put_padded(out, "versions", 20);
        put_padded(out, "reference", 16);
        pw_buf_puts(out, "kernels\n");
    }
    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        struct pw_buf cell = {0}, name = {0};

        pw_buf_printf(&name, "%s%s%s", table.rows[i].newest->domain, table.rows[i].newest->domain[0] ? ":" : "",
                      table.rows[i].newest->name);
        kernel_cell(&table.rows[i], &cell);
        covered += table.rows[i].kernels.size > 0;
        put_padded(out, pw_buf_text(&name), 30);
        put_padded(out, pw_buf_text(&table.rows[i].versions), 20);
        put_padded(out, table.rows[i].reference, 16);
        put_padded(out, pw_buf_text(&cell), rest);
        trim_line(out);
        pw_buf_clear(&cell);
        pw_buf_clear(&name);
    }
    if (status == PW_OK)
        pw_buf_printf(out, "\n%zu operators, %zu with a kernel\n", table.count, covered);
    clear_table(&table);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

pw_status pw_report_ops_md(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    pw_status status = gather(kernels, &table, err);

    pw_buf_puts(out, "| operator | domain | versions | room | semantics | reference | kernels and dtypes |\n"
                     "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        const struct row *row = &table.rows[i];
        struct pw_buf cell = {0};
        const char *texts[] = {
            row->newest->name, domain_of(row), pw_buf_text(&row->versions), row->room, "yes", row->reference, ""};

        kernel_cell(row, &cell);
        texts[6] = pw_buf_text(&cell);
        for (size_t k = 0; k < PW_COUNT_OF(texts); k++) {
            pw_buf_puts(out, "| ");
            pw_report_md_cell(out, texts[k]);
            pw_buf_putc(out, ' ');
        }
        pw_buf_puts(out, "|\n");
        pw_buf_clear(&cell);
    }
    clear_table(&table);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

pw_status pw_report_ops_csv(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    pw_status status = gather(kernels, &table, err);

    pw_buf_puts(out, "operator,domain,versions,room,category,reference,kernels,host_only\r\n");
    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        const struct row *row = &table.rows[i];
        const char *texts[] = {row->newest->name,
                               domain_of(row),
                               pw_buf_text(&row->versions),
                               row->room,
                               pw_category_name(row->newest->category),
                               row->reference,
                               pw_buf_text(&row->kernels),
                               row->why_not};

        for (size_t k = 0; k < PW_COUNT_OF(texts); k++)
            pw_report_csv_field(out, texts[k], k + 1 == PW_COUNT_OF(texts));
    }
    clear_table(&table);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

/* ---- JSON ---- */

static json_t *json_kernels(const struct pw_kernels *kernels, const struct pw_op *op)
{
    const struct pw_kernel *found[MAX_KERNELS];
    size_t count = kernels != NULL ? pw_kernels_for(kernels, op, found, MAX_KERNELS) : 0;
    const char *type = first_type(op);
    json_t *array = json_array();

    for (size_t i = 0; i < count && i < MAX_KERNELS; i++) {
        json_t *item = json_object(), *dtypes = json_array();

        for (int d = 1; type != NULL && d < PW_DTYPE_COUNT; d++) {
            if (pw_kernel_claims(found[i], type, (pw_dtype)d))
                json_array_append_new(dtypes, json_string(pw_dtype_name((pw_dtype)d)));
        }
        json_object_set_new(item, "name", pw_report_json_text(pw_kernel_name(found[i])));
        json_object_set_new(item, "dtypes", dtypes);
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *json_versions(const struct pw_op *newest)
{
    json_t *array = json_array();

    for (const struct pw_op *op = pw_op_room(newest)->ops; op->name != NULL; op++) {
        if (strcmp(op->name, newest->name) == 0 && strcmp(op->domain, newest->domain) == 0)
            json_array_append_new(array, json_integer(op->since));
    }
    return array;
}

pw_status pw_report_ops_json(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    json_t *root = json_object(), *operators = json_array();
    char *text = NULL;
    pw_status status = gather(kernels, &table, err);

    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        const struct row *row = &table.rows[i];
        json_t *item = json_object();

        json_object_set_new(item, "operator", json_string(row->newest->name));
        json_object_set_new(item, "domain", json_string(domain_of(row)));
        json_object_set_new(item, "versions", json_versions(row->newest));
        json_object_set_new(item, "room", json_string(row->room));
        json_object_set_new(item, "category", json_string(pw_category_name(row->newest->category)));
        json_object_set_new(item, "reference", json_string(row->reference));
        json_object_set_new(item, "host_only", row->why_not[0] != '\0' ? json_string(row->why_not) : json_null());
        json_object_set_new(item, "kernels", json_kernels(kernels, row->newest));
        json_array_append_new(operators, item);
    }
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "kind", json_string("operators"));
    json_object_set_new(root, "operators", operators);
    if (status == PW_OK) {
        text = json_dumps(root, JSON_INDENT(1));
        status = text == NULL ? pw_error_memory(err, 1) : PW_OK;
    }
    if (text != NULL) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    clear_table(&table);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}
