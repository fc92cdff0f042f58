#include "store/endtoend.h"

#include <math.h>
#include <string.h>

#include "store/store_internal.h"

static bool compared(const struct pw_comparison *comparison)
{
    return comparison->worst >= 0;
}

static void bind_error(sqlite3_stmt *statement, int at, bool known, double error)
{
    pw_store_bind_real(statement, at, known ? error : NAN);
}

pw_status pw_store_output_add(struct pw_store *store, int64_t run_id, const struct pw_endtoend_output *output,
                              struct pw_error *err)
{
    const struct pw_comparison *c = &output->golden;
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "INSERT INTO run_output(run, output, name, held, error, tolerance, nmse, cosine, max_absolute,"
                         " file_error, file_golden_error, reason) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
                         &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    sqlite3_bind_int64(statement, 2, (int64_t)output->output);
    pw_store_bind_text(statement, 3, output->name);
    sqlite3_bind_int(statement, 4, output->held);
    bind_error(statement, 5, compared(c), c->max_error);
    pw_store_bind_real(statement, 6, output->tolerance);
    bind_error(statement, 7, compared(c), c->nmse);
    bind_error(statement, 8, compared(c), c->cosine);
    bind_error(statement, 9, compared(c), c->max_absolute);
    bind_error(statement, 10, output->has_file && compared(&output->file), output->file.max_error);
    bind_error(statement, 11, output->has_file && compared(&output->file_golden), output->file_golden.max_error);
    pw_store_bind_text(statement, 12, output->reason);
    return pw_store_run_once(store, statement, "an output could not be recorded", err);
}

pw_status pw_store_node_add(struct pw_store *store, int64_t run_id, int64_t number, const char *name, const char *op,
                            const struct pw_endtoend_node *node, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "INSERT INTO run_node(run, position, node, name, op, standing, implementation, dtype, runs,"
                         " isolated, tolerance, propagated, allowed, nonfinite_origin, reason)"
                         " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                         &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    sqlite3_bind_int64(statement, 2, (int64_t)node->position);
    if (node->node)
        sqlite3_bind_int64(statement, 3, number);
    pw_store_bind_text(statement, 4, name);
    pw_store_bind_text(statement, 5, op);
    pw_store_bind_text(statement, 6, pw_node_standing_name(node->standing));
    pw_store_bind_text(statement, 7, node->implementation);
    pw_store_bind_text(statement, 8, node->dtype == PW_DTYPE_UNDEFINED ? "" : pw_dtype_name(node->dtype));
    sqlite3_bind_int64(statement, 9, (int64_t)node->runs);
    bind_error(statement, 10, node->has_isolated, node->isolated.max_error);
    bind_error(statement, 11, node->has_isolated, node->tolerance);
    bind_error(statement, 12, compared(&node->propagated), node->propagated.max_error);
    bind_error(statement, 13, compared(&node->propagated), node->allowed);
    sqlite3_bind_int(statement, 14, node->nonfinite_origin);
    pw_store_bind_text(statement, 15, node->reason);
    return pw_store_run_once(store, statement, "a node could not be recorded", err);
}

static pw_status add_figure(struct pw_store *store, int64_t run_id, const char *name, double value,
                            struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store, "INSERT INTO run_figure(run, name, value) VALUES(?,?,?)", &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    pw_store_bind_text(statement, 2, name);
    pw_store_bind_real(statement, 3, value);
    return pw_store_run_once(store, statement, "a figure could not be recorded", err);
}

pw_status pw_store_figures_add(struct pw_store *store, int64_t run_id, const struct pw_endtoend_totals *totals,
                               struct pw_error *err)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {{"nodes", (double)totals->nodes},
                   {"target_nodes", (double)totals->target_nodes},
                   {"host_nodes", (double)totals->host_nodes},
                   {"cast_nodes", (double)totals->cast_nodes},
                   {"culprits", (double)totals->culprits},
                   {"victims", (double)totals->victims},
                   {"failed", (double)totals->failed},
                   {"outputs_failed", (double)totals->outputs_failed},
                   {"peak_bytes", (double)totals->peak_bytes},
                   {"live_bytes", (double)totals->live_bytes},
                   {"nodes_target_ns", totals->nodes_target_ns ? (double)totals->nodes_target_ns : NAN},
                   {"nodes_host_ns", totals->nodes_host_ns ? (double)totals->nodes_host_ns : NAN},
                   {"target_ns", totals->target_ns ? (double)totals->target_ns : NAN},
                   {"reference_ns", totals->reference_ns ? (double)totals->reference_ns : NAN}};
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == PW_OK; i++)
        status = add_figure(store, run_id, figures[i].name, figures[i].value, err);
    if (status == PW_OK)
        status = pw_store_exec(store, "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static pw_status add_cell(struct pw_store *store, int64_t run_id, const char *graph, size_t number, const char *layer,
                          const struct pw_sweep_cell *cell, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "INSERT INTO sensitivity(run, graph, node, layer, dtype, damage, max_error, flips, held)"
                         " VALUES(?,?,?,?,?,?,?,?,?)",
                         &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    pw_store_bind_text(statement, 2, graph);
    sqlite3_bind_int64(statement, 3, (int64_t)number);
    pw_store_bind_text(statement, 4, layer);
    pw_store_bind_text(statement, 5, pw_dtype_name(cell->dtype));
    bind_error(statement, 6, cell->ran, cell->damage);
    bind_error(statement, 7, cell->ran, cell->max_error);
    sqlite3_bind_int64(statement, 8, cell->flips);
    sqlite3_bind_int(statement, 9, cell->held);
    return pw_store_run_once(store, statement, "a layer's sensitivity could not be recorded", err);
}

pw_status pw_store_layer_add(struct pw_store *store, int64_t run_id, const char *graph, const size_t *numbers,
                             const struct pw_sweep_layer *layer, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    for (size_t n = 0; n < layer->node_count && status == PW_OK; n++)
        for (int d = 0; d < PW_SWEEP_DTYPES && status == PW_OK; d++)
            status = add_cell(store, run_id, graph, numbers[n], layer->name, &layer->cells[d], err);
    if (status == PW_OK)
        status = pw_store_exec(store, "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static pw_status read_sensitivity(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_sensitivity *row = out;

    *row = (struct pw_store_sensitivity){.node = (size_t)sqlite3_column_int64(q, 0),
                                         .layer = pw_store_text_at(q, 1, arena),
                                         .dtype = pw_store_text_at(q, 2, arena),
                                         .damage = pw_store_real_at(q, 3),
                                         .max_error = pw_store_real_at(q, 4),
                                         .flips = sqlite3_column_int64(q, 5),
                                         .held = sqlite3_column_int(q, 6) != 0,
                                         .run_id = sqlite3_column_int64(q, 7)};
    return row->layer && row->dtype ? PW_OK : pw_error_memory(err, 64);
}

/* The worst of a signature's nodes in a dtype. */
struct measured {
    bool any, held;
    double damage;
    const char *layer;
};

static void fold(struct measured *into, const struct pw_store_sensitivity *row)
{
    if (isnan(row->damage))
        return;
    if (!into->any || row->damage > into->damage) {
        into->damage = row->damage;
        into->layer = row->layer;
    }
    into->held = row->held && (into->held || !into->any);
    into->any = true;
}

static pw_status describe(struct pw_inventory *inventory, struct pw_signature *signature, const struct measured *half,
                          const struct measured *bfloat, struct pw_error *err)
{
    const struct measured *worse = half->damage > bfloat->damage ? half : bfloat;
    struct pw_buf text = {0};

    pw_buf_puts(&text, "measured: damage at the outputs ");
    if (half->any)
        pw_buf_printf(&text, "%.2g in float16%s", half->damage, bfloat->any ? ", " : "");
    if (bfloat->any)
        pw_buf_printf(&text, "%.2g in bfloat16", bfloat->damage);
    if (signature->node_count > 1 || strncmp(worse->layer, signature->nodes[0]->name, strlen(worse->layer)))
        pw_buf_printf(&text, " (%s)", worse->layer);
    signature->sensitivity_reason = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    if (!signature->sensitivity_reason) {
        signature->sensitivity_reason = "";
        return pw_error_memory(err, 128);
    }
    signature->sensitivity_measured = true;
    signature->sensitivity_damage = worse->damage;
    signature->sensitivity = half->any && bfloat->any && half->held && bfloat->held ? PW_SENSITIVITY_LOW
                             : half->held || bfloat->held                           ? PW_SENSITIVITY_MEDIUM
                                                                                    : PW_SENSITIVITY_HIGH;
    return PW_OK;
}

pw_status pw_store_apply_sensitivities(const struct pw_store_sensitivity *rows, size_t count,
                                       struct pw_inventory *inventory, struct pw_error *err)
{
    struct measured(*found)[2] = pw_calloc(inventory->signature_count + 1, sizeof *found);
    pw_status status = PW_OK;

    if (!found)
        return pw_error_memory(err, inventory->signature_count * sizeof *found);
    for (size_t i = 0; i < count; i++) {
        int signature = rows[i].node < inventory->node_number_count ? inventory->node_signature[rows[i].node] : -1;

        if (signature >= 0 && !strcmp(rows[i].dtype, "float16"))
            fold(&found[signature][0], &rows[i]);
        else if (signature >= 0 && !strcmp(rows[i].dtype, "bfloat16"))
            fold(&found[signature][1], &rows[i]);
    }
    for (size_t s = 0; s < inventory->signature_count && status == PW_OK; s++)
        if ((found[s][0].any || found[s][1].any) && inventory->signatures[s].floating)
            status = describe(inventory, &inventory->signatures[s], &found[s][0], &found[s][1], err);
    pw_free(found);
    return status;
}

pw_status pw_store_sensitivities(struct pw_store *store, const char *graph, struct pw_arena *arena,
                                 struct pw_store_sensitivity **rows, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows sensitivities = {"sensitivities could not be read", sizeof **rows,
                                                       read_sensitivity};
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store,
        "SELECT s.node, s.layer, s.dtype, s.damage, s.max_error, s.flips, s.held, s.run FROM sensitivity s"
        " JOIN (SELECT node, dtype, MAX(run) AS run FROM sensitivity WHERE graph = ?1 GROUP BY node, dtype) newest"
        " ON newest.node = s.node AND newest.dtype = s.dtype AND newest.run = s.run"
        " WHERE s.graph = ?1 ORDER BY s.node, s.dtype",
        &q, err);

    if (status == PW_OK)
        pw_store_bind_text(q, 1, graph);
    return pw_store_collect(store, status, q, &sensitivities, arena, rows, count, err);
}
