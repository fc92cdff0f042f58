#include "store/bench.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "store/store_internal.h"

static void bind_blob(sqlite3_stmt *statement, int at, const void *data, size_t count, size_t size)
{
    if (data && count > 0)
        sqlite3_bind_blob64(statement, at, data, count * size, SQLITE_TRANSIENT);
}

static void bind_raw(sqlite3_stmt *statement, int at, const struct pw_measure_result *raw)
{
    if (!raw || raw->failed)
        return;
    bind_blob(statement, at, raw->slices_ns, (size_t)raw->slices, sizeof *raw->slices_ns);
    bind_blob(statement, at + 1, raw->runs_ns, (size_t)raw->slices * (size_t)raw->runs_per_slice, sizeof *raw->runs_ns);
}

static void bind_figure(sqlite3_stmt *statement, const struct pw_bench_figure *f, bool cold, double launch_ns)
{
    const struct pw_impl_list *impls = f->implementations;
    const struct pw_kernel *kernel = impls && impls->selected >= 0 ? impls->items[impls->selected].kernel : NULL;
    char hash[PW_HASH_TEXT];
    bool timed = f->target.count > 0, compared = f->reference.count > 0;

    pw_store_bind_text(statement, 4, f->name);
    if (kernel)
        pw_store_bind_text(statement, 5, pw_hash_text(pw_kernel_hash(kernel), hash));
    pw_store_bind_text(statement, 6, cold ? "cold" : "hot");
    sqlite3_bind_int(statement, 7, f->slices);
    pw_store_bind_real(statement, 8, timed ? f->target.median : NAN);
    pw_store_bind_real(statement, 9, timed ? f->target.low : NAN);
    pw_store_bind_real(statement, 10, timed ? f->target.high : NAN);
    pw_store_bind_real(statement, 11, compared ? f->reference.median : NAN);
    pw_store_bind_text(statement, 12, f->reference_name);
    pw_store_bind_real(statement, 13, f->speedup.value);
    pw_store_bind_real(statement, 14, f->speedup.low);
    pw_store_bind_real(statement, 15, f->speedup.high);
    pw_store_bind_real(statement, 16, f->flops);
    pw_store_bind_real(statement, 17, timed ? f->read_bytes : NAN);
    pw_store_bind_real(statement, 18, timed ? f->write_bytes : NAN);
    pw_store_bind_text(statement, 19, f->roof.level);
    pw_store_bind_real(statement, 20, f->roof.roof_ns);
    pw_store_bind_text(statement, 21, pw_bound_name(f->roof.bound));
    pw_store_bind_real(statement, 22, launch_ns);
    pw_store_bind_text(statement, 23, f->suspicion);
    pw_store_bind_text(statement, 24, f->skipped);
    bind_raw(statement, 25, f->target_raw);
    bind_raw(statement, 27, f->reference_raw);
}

pw_status pw_store_bench_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                             const struct pw_bench_figure *figure, bool cold, double launch_ns, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    status = pw_store_put_signature(store, signature, err);
    if (status == PW_OK)
        status = pw_store_prepare(
            store,
            "INSERT INTO bench(run, signature, wall_ms, implementation, kernel_hash, cache, slices, target_ns,"
            " target_low_ns, target_high_ns, reference_ns, reference_name, speedup, speedup_low, speedup_high, flops,"
            " read_bytes, write_bytes, level, roof_ns, bound, launch_ns, suspicion, skipped, target_slices,"
            " target_runs, reference_slices, reference_runs)"
            " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            &statement, err);
    if (status == PW_OK) {
        sqlite3_bind_int64(statement, 1, run_id);
        pw_store_bind_text(statement, 2, signature->id);
        sqlite3_bind_int64(statement, 3, pw_clock_wall_ms());
        bind_figure(statement, figure, cold, launch_ns);
        status = pw_store_run_once(store, statement, "a benchmark could not be recorded", err);
    }
    return pw_store_end_transaction(store, status, err);
}

/* ---- reading ---- */

struct reader {
    sqlite3_stmt *statement;
    struct pw_arena *arena;
    bool failed; /* memory */
};

static const char *text(struct reader *r, int at)
{
    const char *copy = pw_store_text_at(r->statement, at, r->arena);

    r->failed = r->failed || !copy;
    return copy ? copy : "";
}

static const double *slices(struct reader *r, int at, size_t *count)
{
    const void *data = sqlite3_column_blob(r->statement, at);
    size_t size = (size_t)sqlite3_column_bytes(r->statement, at);
    double *copy;

    *count = data ? size / sizeof *copy : 0;
    if (*count == 0)
        return NULL;
    copy = pw_arena_alloc(r->arena, *count, sizeof *copy);
    r->failed = r->failed || !copy;
    if (copy)
        memcpy(copy, data, *count * sizeof *copy);
    return copy;
}

#define COLUMNS                                                                                                        \
    "b.run, b.wall_ms, b.signature, b.implementation, b.kernel_hash, b.cache, b.reference_name, b.level, b.bound,"     \
    " b.suspicion, b.slices, b.target_ns, b.target_low_ns, b.target_high_ns, b.reference_ns, b.speedup,"               \
    " b.speedup_low, b.speedup_high, b.flops, b.read_bytes, b.write_bytes, b.roof_ns, b.launch_ns, b.target_slices,"   \
    " b.reference_slices, r.environment_id FROM bench b JOIN run r ON r.id = b.run"

static void read_row(struct reader *r, struct pw_store_bench_row *row)
{
    const char **texts[] = {&row->signature_id,   &row->implementation, &row->kernel_hash, &row->cache,
                            &row->reference_name, &row->level,          &row->bound,       &row->suspicion};
    double *numbers[] = {&row->target_ns,  &row->target_low_ns, &row->target_high_ns, &row->reference_ns,
                         &row->speedup,    &row->speedup_low,   &row->speedup_high,   &row->flops,
                         &row->read_bytes, &row->write_bytes,   &row->roof_ns,        &row->launch_ns};

    row->run_id = sqlite3_column_int64(r->statement, 0);
    row->wall_ms = sqlite3_column_int64(r->statement, 1);
    for (int i = 0; i < 8; i++)
        *texts[i] = text(r, 2 + i);
    row->slices = sqlite3_column_int(r->statement, 10);
    for (int i = 0; i < 12; i++)
        *numbers[i] = pw_store_real_at(r->statement, 11 + i);
    row->target_slices = slices(r, 23, &row->target_slice_count);
    row->reference_slices = slices(r, 24, &row->reference_slice_count);
    row->environment_id = text(r, 25);
}

static pw_status read_bench(sqlite3_stmt *q, struct pw_arena *arena, void *row, struct pw_error *err)
{
    struct reader r = {.statement = q, .arena = arena};

    read_row(&r, row);
    return r.failed ? pw_error_memory(err, sizeof(struct pw_store_bench_row)) : PW_OK;
}

static const struct pw_store_rows benchmarks = {"benchmarks could not be read", sizeof(struct pw_store_bench_row),
                                                read_bench};

pw_status pw_store_bench_latest(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                                struct pw_store_bench_row **rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "SELECT " COLUMNS " JOIN (SELECT n.signature s, max(n.rowid) newest FROM bench n"
                         " JOIN run q ON q.id = n.run WHERE q.graph = ? AND q.target = ?"
                         " AND n.target_ns IS NOT NULL GROUP BY n.signature) ON newest = b.rowid"
                         " ORDER BY b.rowid",
                         &statement, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(statement, 1, graph);
    pw_store_bind_text(statement, 2, target);
    return pw_store_collect(store, status, statement, &benchmarks, arena, rows, count, err);
}

pw_status pw_store_bench_history(struct pw_store *store, const char *signature_id, const char *target,
                                 const char *bindings, struct pw_arena *arena, struct pw_store_bench_row **rows,
                                 size_t *count, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "SELECT " COLUMNS " WHERE b.signature = ?1 AND r.target = ?2 AND b.target_ns IS NOT NULL"
                         " AND (?3 IS NULL OR r.bindings = ?3) ORDER BY b.rowid",
                         &statement, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(statement, 1, signature_id);
    pw_store_bind_text(statement, 2, target);
    pw_store_bind_text(statement, 3, bindings);
    return pw_store_collect(store, status, statement, &benchmarks, arena, rows, count, err);
}
