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
    struct pw_buf kernels;  /* their names: "softmax_rows, softmax_any" */
    struct pw_buf dtypes;   /* what they take together, a type variable at a time: "B: bool; T: float int" */
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
        pw_buf_clear(&table->rows[i].dtypes);
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

#define BIT(dtype) (1u << (dtype))

/* Names of many dtypes; what no group covers is listed by its own. */
static const struct group {
    const char *name;
    uint32_t dtypes;
} groups[] = {
    {"float", BIT(PW_DTYPE_FLOAT32) | BIT(PW_DTYPE_FLOAT16) | BIT(PW_DTYPE_BFLOAT16) | BIT(PW_DTYPE_FLOAT64)},
    {"int", BIT(PW_DTYPE_INT8) | BIT(PW_DTYPE_INT16) | BIT(PW_DTYPE_INT32) | BIT(PW_DTYPE_INT64) | BIT(PW_DTYPE_UINT8) |
                BIT(PW_DTYPE_UINT16) | BIT(PW_DTYPE_UINT32) | BIT(PW_DTYPE_UINT64)},
    {"float8", BIT(PW_DTYPE_FLOAT8E4M3FN) | BIT(PW_DTYPE_FLOAT8E4M3FNUZ) | BIT(PW_DTYPE_FLOAT8E5M2) |
                   BIT(PW_DTYPE_FLOAT8E5M2FNUZ)},
    {"float6", BIT(PW_DTYPE_FLOAT6E2M3) | BIT(PW_DTYPE_FLOAT6E3M2)},
    {"int4", BIT(PW_DTYPE_INT4) | BIT(PW_DTYPE_UINT4)},
    {"int2", BIT(PW_DTYPE_INT2) | BIT(PW_DTYPE_UINT2)},
};
_Static_assert(PW_DTYPE_COUNT <= 32, "a bit for each dtype");

static void put_dtypes(struct pw_buf *out, uint32_t dtypes)
{
    const char *gap = "";

    for (size_t g = 0; g < PW_COUNT_OF(groups); g++) {
        if ((dtypes & groups[g].dtypes) != groups[g].dtypes)
            continue;
        pw_buf_printf(out, "%s%s", gap, groups[g].name);
        dtypes &= ~groups[g].dtypes;
        gap = " ";
    }
    for (int d = 1; d < PW_DTYPE_COUNT; d++) {
        if ((dtypes & BIT(d)) == 0)
            continue;
        pw_buf_printf(out, "%s%s", gap, pw_dtype_facts((pw_dtype)d)->short_name);
        gap = " ";
    }
}

/* The nth type variable of what an operator's kernels are given, inputs before outputs, each once; NULL after the
 * last. */
static const char *nth_variable(const struct pw_op *op, size_t n)
{
    const struct pw_formal *lists[2] = {op->inputs, op->outputs};
    const char *found[2 * PW_OP_MAX_FORMALS];
    size_t count = 0;

    for (size_t l = 0; l < 2; l++) {
        for (const struct pw_formal *f = lists[l]; f != NULL && f->name != NULL; f++) {
            bool fresh = f->type != NULL && (f->flags & PW_FORMAL_PARAM) == 0 && !pw_text_starts(f->type, "tensor(") &&
                         pw_dtype_parse(f->type) == PW_DTYPE_UNDEFINED;

            for (size_t i = 0; i < count && fresh; i++)
                fresh = strcmp(found[i], f->type) != 0;
            if (fresh && count == n)
                return f->type;
            if (fresh && count < PW_COUNT_OF(found))
                found[count++] = f->type;
        }
    }
    return NULL;
}

static uint32_t claimed(const struct pw_kernel *const *kernels, size_t count, const char *variable)
{
    uint32_t dtypes = 0;

    for (size_t k = 0; k < count; k++) {
        for (int d = 1; d < PW_DTYPE_COUNT; d++)
            dtypes |= pw_kernel_claims(kernels[k], variable, (pw_dtype)d) ? BIT(d) : 0;
    }
    return dtypes;
}

static void put_kernels(const struct pw_kernels *kernels, struct row *row)
{
    const struct pw_kernel *found[MAX_KERNELS];
    size_t count = kernels != NULL ? pw_kernels_for(kernels, row->newest, found, MAX_KERNELS) : 0;
    const char *variable;

    count = count < MAX_KERNELS ? count : MAX_KERNELS;
    for (size_t i = 0; i < count; i++)
        pw_buf_printf(&row->kernels, "%s%s", i > 0 ? ", " : "", pw_kernel_name(found[i]));
    for (size_t n = 0; (variable = nth_variable(row->newest, n)) != NULL; n++) {
        uint32_t dtypes = claimed(found, count, variable);

        if (dtypes == 0)
            continue;
        pw_buf_printf(&row->dtypes, "%s%s: ", row->dtypes.size > 0 ? "; " : "", variable);
        put_dtypes(&row->dtypes, dtypes);
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

        put_kernels(kernels, row);
        row->reference = reference_of(row->newest);
        row->why_not = row->newest->host_only != NULL ? row->newest->host_only : "";
        if (row->versions.failed || row->kernels.failed || row->dtypes.failed)
            status = pw_error_memory(err, 1);
    }
    pw_free(ops);
    return status;
}

static const char *domain_of(const struct row *row)
{
    return row->newest->domain[0] != '\0' ? row->newest->domain : "ai.onnx";
}

/* The dtypes that kernels take, or why there are none. */
static void dtype_cell(const struct row *row, struct pw_buf *out)
{
    if (row->kernels.size > 0)
        pw_buf_puts(out, row->dtypes.size > 0 ? pw_buf_text(&row->dtypes) : "any");
    else if (row->why_not[0] != '\0')
        pw_buf_printf(out, "host: %s", row->why_not);
}

/* ---- writing ---- */

static void put_padded(struct pw_buf *out, const char *text, size_t width)
{
    pw_text_cell(out, text, width, false);
    pw_buf_putc(out, ' ');
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
        dtype_cell(&table.rows[i], &cell);
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

/* Names of kernels hold underscores: as code they need no escapes. */
static void put_code(struct pw_buf *out, const char *names)
{
    for (const char *name = names; *name != '\0';) {
        size_t length = strcspn(name, ",");

        pw_buf_printf(out, "%s`%.*s`", name > names ? ", " : "", (int)length, name);
        name += length;
        name += strspn(name, ", ");
    }
}

static void put_md_totals(const struct table *table, struct pw_buf *out)
{
    size_t covered = 0, host = 0;

    for (size_t i = 0; i < table->count; i++) {
        covered += table->rows[i].kernels.size > 0;
        host += table->rows[i].kernels.size == 0 && table->rows[i].why_not[0] != '\0';
    }
    pw_buf_printf(
        out,
        "%zu operators: %zu with kernels, %zu on the host by their nature. The versions are the opset versions "
        "that brought a definition; every one has its attributes, shape inference and reference.\n\n",
        table->count, covered, host);
    pw_buf_puts(out, "Dtypes are those that the kernels of an operator take together, for each type variable of its "
                     "definition:");
    for (size_t g = 0; g < PW_COUNT_OF(groups); g++) {
        pw_buf_printf(out, "%s %s stands for", g > 0 ? ";" : "", groups[g].name);
        for (int d = 1; d < PW_DTYPE_COUNT; d++) {
            if ((groups[g].dtypes & BIT(d)) != 0)
                pw_buf_printf(out, " %s", pw_dtype_facts((pw_dtype)d)->short_name);
        }
    }
    pw_buf_puts(out, ".\n\n");
}

pw_status pw_report_ops_md(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    pw_status status = gather(kernels, &table, err);

    put_md_totals(&table, out);
    pw_buf_puts(out,
                "| operator | domain | versions | room | semantics | reference | dtypes of the kernels | kernels |\n"
                "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        const struct row *row = &table.rows[i];
        struct pw_buf cell = {0};
        const char *texts[] = {
            row->newest->name, domain_of(row), pw_buf_text(&row->versions), row->room, "yes", row->reference, ""};

        dtype_cell(row, &cell);
        texts[6] = pw_buf_text(&cell);
        for (size_t k = 0; k < PW_COUNT_OF(texts); k++) {
            pw_buf_puts(out, "| ");
            pw_report_md_cell(out, texts[k]);
            pw_buf_putc(out, ' ');
        }
        pw_buf_puts(out, "| ");
        put_code(out, pw_buf_text(&row->kernels));
        pw_buf_puts(out, " |\n");
        pw_buf_clear(&cell);
    }
    clear_table(&table);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

pw_status pw_report_ops_csv(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err)
{
    struct table table = {0};
    pw_status status = gather(kernels, &table, err);

    pw_buf_puts(out, "operator,domain,versions,room,category,reference,dtypes,kernels,host_only\r\n");
    for (size_t i = 0; i < table.count && status == PW_OK; i++) {
        const struct row *row = &table.rows[i];
        const char *texts[] = {row->newest->name,
                               domain_of(row),
                               pw_buf_text(&row->versions),
                               row->room,
                               pw_category_name(row->newest->category),
                               row->reference,
                               pw_buf_text(&row->dtypes),
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
        json_t *item = json_object(), *dtypes = json_array(), *types = json_object();
        const char *variable;

        for (size_t n = 0; (variable = nth_variable(op, n)) != NULL; n++) {
            uint32_t mask = claimed(&found[i], 1, variable);
            json_t *list = json_array();

            for (int d = 1; d < PW_DTYPE_COUNT; d++) {
                if ((mask & BIT(d)) != 0)
                    json_array_append_new(list, json_string(pw_dtype_name((pw_dtype)d)));
            }
            json_object_set_new(types, variable, list);
        }
        for (int d = 1; type != NULL && d < PW_DTYPE_COUNT; d++) {
            if (pw_kernel_claims(found[i], type, (pw_dtype)d))
                json_array_append_new(dtypes, json_string(pw_dtype_name((pw_dtype)d)));
        }
        json_object_set_new(item, "name", pw_report_json_text(pw_kernel_name(found[i])));
        json_object_set_new(item, "dtypes", dtypes);
        json_object_set_new(item, "types", types);
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
