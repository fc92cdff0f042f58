/* What gates decided: written once a run, read as the newest of a graph on a target. */
#include <math.h>
#include <string.h>

#include "store/history.h"
#include "store/store_internal.h"

static pw_status add_one(struct pw_store *store, int64_t run_id, const struct pw_store_decision *d,
                         struct pw_error *err)
{
    const char *const texts[] = {d->gate, d->outcome, d->baseline, d->reason};
    sqlite3_stmt *q = NULL;
    pw_status status =
        pw_store_prepare(store,
                         "INSERT INTO decision(run, signature, gate, outcome, baseline, reason, slowdown, low, high, p,"
                         " confirmed, waived) SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM signature"
                         " WHERE id = ?2",
                         &q, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(q, 1, run_id);
    pw_store_bind_text(q, 2, d->signature);
    for (int i = 0; i < 4; i++)
        pw_store_bind_text(q, i + 3, texts[i] ? texts[i] : "");
    pw_store_bind_real(q, 7, d->slowdown);
    pw_store_bind_real(q, 8, d->low);
    pw_store_bind_real(q, 9, d->high);
    pw_store_bind_real(q, 10, d->p);
    sqlite3_bind_int(q, 11, d->confirmed);
    sqlite3_bind_int(q, 12, d->waived);
    return pw_store_run_once(store, q, "a decision could not be recorded", err);
}

pw_status pw_store_decisions_add(struct pw_store *store, int64_t run_id, const struct pw_store_decision *decisions,
                                 size_t count, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < count && status == PW_OK; i++)
        status = add_one(store, run_id, &decisions[i], err);
    if (status == PW_OK)
        status = pw_store_exec(store, "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static pw_status read_decision(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_decision *d = out;

    *d = (struct pw_store_decision){.run_id = sqlite3_column_int64(q, 0),
                                    .signature = pw_store_text_at(q, 1, arena),
                                    .gate = pw_store_text_at(q, 2, arena),
                                    .outcome = pw_store_text_at(q, 3, arena),
                                    .baseline = pw_store_text_at(q, 4, arena),
                                    .reason = pw_store_text_at(q, 5, arena),
                                    .slowdown = pw_store_real_at(q, 6),
                                    .low = pw_store_real_at(q, 7),
                                    .high = pw_store_real_at(q, 8),
                                    .p = pw_store_real_at(q, 9),
                                    .confirmed = sqlite3_column_int(q, 10) != 0,
                                    .waived = sqlite3_column_int(q, 11) != 0};
    return d->signature && d->gate && d->outcome && d->baseline && d->reason ? PW_OK : pw_error_memory(err, 256);
}

pw_status pw_store_decisions(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                             int64_t *run_id, struct pw_store_decision **decisions, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows kind = {"decisions could not be read", sizeof **decisions, read_decision};
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store,
        "SELECT run, signature, gate, outcome, baseline, reason, slowdown, low, high, p, confirmed, waived FROM "
        "decision"
        " WHERE run = (SELECT MAX(d.run) FROM decision d JOIN run ON run.id = d.run WHERE run.graph = ?1 AND"
        " run.target = ?2) ORDER BY rowid",
        &q, err);

    *run_id = 0;
    if (status == PW_OK) {
        pw_store_bind_text(q, 1, graph);
        pw_store_bind_text(q, 2, target);
    }
    status = pw_store_collect(store, status, q, &kind, arena, decisions, count, err);
    if (status == PW_OK && *count)
        *run_id = (*decisions)[0].run_id;
    return status;
}
