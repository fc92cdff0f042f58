/* Writing runs, verdicts and results: each call is one transaction. */
#include <math.h>

#include "base/clock.h"
#include "graph/inventory.h"
#include "store/store_internal.h"
#include "verify/verify.h"

/* SQLite writes on into a file that was removed, and nobody would find it there. */
static pw_status still_there(struct pw_store *store, struct pw_error *err)
{
    int moved = 0;

    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || !moved)
        return PW_OK;
    return pw_error_set(
        err, PW_ERR_STORE,
        "%s: was removed, moved or replaced since it was opened: begin again, so that a new one is made", store->path);
}

pw_status pw_store_run_begin(struct pw_store *store, const struct pw_store_run *run, int64_t *run_id,
                             struct pw_error *err)
{
    const char *const texts[] = {run->kind,   run->graph,       run->model_path, run->target,   run->target_kind,
                                 run->device, run->environment, run->bindings,   run->protocol, run->version};
    sqlite3_stmt *statement = NULL;
    pw_status status = still_there(store, err);

    if (status == PW_OK)
        status = pw_store_prepare(store,
                                  "INSERT INTO run(kind, graph, model_path, target, target_kind, device,"
                                  " environment, bindings, protocol, version, seed, begin_ms, environment_id)"
                                  " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                  &statement, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < 10; i++)
        pw_store_bind_text(statement, i + 1, texts[i] ? texts[i] : "");
    sqlite3_bind_int64(statement, 11, (int64_t)run->seed);
    sqlite3_bind_int64(statement, 12, pw_clock_wall_ms());
    pw_store_bind_text(statement, 13, run->environment_id);
    status = pw_store_run_once(store, statement, "the run could not be recorded", err);
    if (status == PW_OK)
        *run_id = sqlite3_last_insert_rowid(store->db);
    return status;
}

pw_status pw_store_put_signature(struct pw_store *store, const struct pw_signature *signature, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(
        store, "INSERT INTO signature(id, text, op, category) VALUES(?,?,?,?) ON CONFLICT(id) DO NOTHING", &statement,
        err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(statement, 1, signature->id);
    pw_store_bind_text(statement, 2, signature->text);
    pw_store_bind_text(statement, 3, signature->op_label);
    pw_store_bind_text(statement, 4, pw_category_name(signature->category));
    return pw_store_run_once(store, statement, "the signature could not be recorded", err);
}

static void bind_comparison(sqlite3_stmt *statement, int at, const struct pw_case_result *result)
{
    const struct pw_comparison *c = &result->comparison;

    if (result->output < 0)
        return; /* nothing was compared: all unknown */
    pw_store_bind_real(statement, at, c->max_error);
    pw_store_bind_real(statement, at + 3, c->max_absolute);
    pw_store_bind_real(statement, at + 4, c->max_relative);
    pw_store_bind_real(statement, at + 5, c->max_ulp);
    pw_store_bind_real(statement, at + 6, c->nmse);
    pw_store_bind_real(statement, at + 7, c->cosine);
    sqlite3_bind_int64(statement, at + 8, c->count);
    sqlite3_bind_int64(statement, at + 9, c->over);
    sqlite3_bind_int64(statement, at + 10, c->worst);
    pw_store_bind_real(statement, at + 11, c->worst_got);
    pw_store_bind_real(statement, at + 12, c->worst_want);
}

static pw_status add_case(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                          const struct pw_case_result *result, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(
        store,
        "INSERT INTO verdict(run, signature, case_id, wall_ms, verdict, implementation, shapes, dtype, dist, seed,"
        " error, tolerance, tolerance_why, max_absolute, max_relative, max_ulp, nmse, cosine, elements, elements_over,"
        " worst, worst_got, worst_want, reference_error, discriminates, nondeterministic, spread, time_ns, reason, log)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    pw_store_bind_text(statement, 2, signature->id);
    pw_store_bind_text(statement, 3, result->id);
    sqlite3_bind_int64(statement, 4, pw_clock_wall_ms());
    pw_store_bind_text(statement, 5, pw_verdict_name(result->verdict));
    pw_store_bind_text(statement, 6, result->implementation);
    pw_store_bind_text(statement, 7, result->shapes);
    pw_store_bind_text(statement, 8, pw_dtype_name(result->dtype));
    pw_store_bind_text(statement, 9, pw_dist_name(result->dist));
    sqlite3_bind_int64(statement, 10, (int64_t)result->seed);
    bind_comparison(statement, 11, result);
    pw_store_bind_real(statement, 12, result->tolerance);
    pw_store_bind_text(statement, 13, result->tolerance_why ? result->tolerance_why : "");
    pw_store_bind_real(statement, 24, result->reference_error);
    sqlite3_bind_int(statement, 25, result->discriminates);
    sqlite3_bind_int(statement, 26, result->nondeterministic);
    pw_store_bind_real(statement, 27, result->spread);
    pw_store_bind_time(statement, 28, result->time_ns);
    pw_store_bind_text(statement, 29, result->reason ? result->reason : "");
    pw_store_bind_text(statement, 30, result->log ? result->log : "");
    return pw_store_run_once(store, statement, "a verdict could not be recorded", err);
}

pw_status pw_store_end_transaction(struct pw_store *store, pw_status status, struct pw_error *err)
{
    if (status == PW_OK)
        status = pw_store_exec(store, "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

pw_status pw_store_batch_begin(struct pw_store *store, struct pw_error *err)
{
    return pw_store_exec(store, "BEGIN IMMEDIATE", err);
}

pw_status pw_store_batch_end(struct pw_store *store, struct pw_error *err)
{
    return pw_store_end_transaction(store, PW_OK, err);
}

pw_status pw_store_case_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                            const struct pw_case_result *result, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    status = pw_store_put_signature(store, signature, err);
    if (status == PW_OK)
        status = add_case(store, run_id, signature, result, err);
    return pw_store_end_transaction(store, status, err);
}

static void bind_samples(sqlite3_stmt *statement, int at, const int64_t *samples, int count)
{
    if (count > 0)
        sqlite3_bind_blob(statement, at, samples, count * (int)sizeof *samples, SQLITE_TRANSIENT);
}

static pw_status add_result(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                            const struct pw_signature_result *result, struct pw_error *err)
{
    const struct pw_impl_list *impls = result->implementations;
    char hash[PW_HASH_TEXT];
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(
        store,
        "INSERT INTO result(run, signature, wall_ms, standing, coverage, implementation, nodes, cases, held, failed,"
        " no_evidence, worst_error, worst_ratio, tolerance, worst_case, target_ns, reference_ns, reference_name,"
        " target_samples, reference_samples, gate_failed, gate_reason, kernel_hash)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, run_id);
    pw_store_bind_text(statement, 2, signature->id);
    sqlite3_bind_int64(statement, 3, pw_clock_wall_ms());
    pw_store_bind_text(statement, 4, pw_standing_name(result->standing));
    pw_store_bind_text(statement, 5, impls ? pw_coverage_name(impls->coverage) : "missing");
    pw_store_bind_text(statement, 6, impls && impls->selected >= 0 ? impls->items[impls->selected].name : "");
    sqlite3_bind_int64(statement, 7, (int64_t)signature->node_count);
    sqlite3_bind_int(statement, 8, result->cases);
    sqlite3_bind_int(statement, 9, result->held);
    sqlite3_bind_int(statement, 10, result->failed);
    sqlite3_bind_int(statement, 11, result->no_evidence);
    pw_store_bind_real(statement, 12, result->worst_error);
    pw_store_bind_real(statement, 13, isnan(result->worst_error) ? NAN : result->worst_ratio);
    pw_store_bind_real(statement, 14, isnan(result->worst_error) ? NAN : result->tolerance);
    pw_store_bind_text(statement, 15, result->worst_case);
    pw_store_bind_time(statement, 16, result->target_ns);
    pw_store_bind_time(statement, 17, result->reference_ns);
    pw_store_bind_text(statement, 18, result->reference_name);
    bind_samples(statement, 19, result->target_samples, result->target_sample_count);
    bind_samples(statement, 20, result->reference_samples, result->reference_sample_count);
    sqlite3_bind_int(statement, 21, result->gate_failed);
    pw_store_bind_text(statement, 22, result->gate_reason);
    if (impls && impls->selected >= 0 && impls->items[impls->selected].kernel)
        pw_store_bind_text(statement, 23, pw_hash_text(pw_kernel_hash(impls->items[impls->selected].kernel), hash));
    return pw_store_run_once(store, statement, "a result could not be recorded", err);
}

pw_status pw_store_signature_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                                 const struct pw_signature_result *result, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    status = pw_store_put_signature(store, signature, err);
    if (status == PW_OK)
        status = add_result(store, run_id, signature, result, err);
    return pw_store_end_transaction(store, status, err);
}

pw_status pw_store_run_end(struct pw_store *store, int64_t run_id, const char *outcome, int exit_code,
                           struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(
        store, "UPDATE run SET end_ms=?, outcome=?, exit_code=? WHERE id=? AND end_ms IS NULL", &statement, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 1, pw_clock_wall_ms());
    pw_store_bind_text(statement, 2, outcome);
    sqlite3_bind_int(statement, 3, exit_code);
    sqlite3_bind_int64(statement, 4, run_id);
    status = pw_store_run_once(store, statement, "the run's end could not be recorded", err);
    return status == PW_OK ? still_there(store, err) : status;
}
