#include "baseline/judge.h"

#include <string.h>

#include "base/map.h"

static unsigned case_failures(const struct pw_signature_result *row)
{
    const struct pw_impl_list *impls = row->implementations;

    if (!row->gate_failed)
        return 0;
    return impls && impls->coverage >= PW_COVERAGE_HOST ? PW_WAIVE_COVERAGE : PW_WAIVE_VERIFY;
}

static unsigned gate_failures(const struct pw_gate_result *result)
{
    static const unsigned bits[PW_GATE_KIND_COUNT] = {PW_WAIVE_COVERAGE, PW_WAIVE_PRECISION, PW_WAIVE_THROUGHPUT};
    unsigned failing = 0;

    for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
        if (result->outcome[kind] == PW_GATE_WORSE)
            failing |= bits[kind];
    return failing;
}

static void settle(struct pw_judged *item, const char *today, struct pw_judgement *out)
{
    if (item->failing) {
        item->waiver = pw_triage_waiver(item->entry, item->failing, today);
        if (item->waiver == PW_WAIVER_VALID)
            item->waived = item->failing & item->entry->waiver.gates;
    } else if (item->run && item->entry && item->entry->waiver.present) {
        out->unneeded++;
    }
    out->failing += (item->failing & ~item->waived) != 0;
    out->waived += item->failing && item->waived == item->failing;
    out->expired += item->waiver == PW_WAIVER_EXPIRED;
}

pw_status pw_judge(const struct pw_judge_request *request, struct pw_arena *arena, struct pw_judgement *out,
                   struct pw_error *err)
{
    struct pw_map by_id = {0};
    pw_status status = PW_OK;
    size_t at;

    memset(out, 0, sizeof *out);
    out->count = request->inventory->signature_count;
    out->items = pw_arena_alloc(arena, out->count + 1, sizeof *out->items);
    if (!out->items)
        return pw_error_memory(err, out->count * sizeof *out->items);
    for (size_t i = 0; i < request->pair_count && status == PW_OK; i++)
        status = pw_map_put(&by_id, request->pairs[i].id, i, err);
    for (size_t i = 0; i < out->count && status == PW_OK; i++) {
        struct pw_judged *item = &out->items[i];
        const struct pw_signature_result *row = request->rows[i];
        const char *id = request->inventory->signatures[i].id;

        item->run = row != NULL;
        item->entry = request->triage ? pw_triage_find(request->triage, id) : NULL;
        if (pw_map_find(&by_id, id, &at)) {
            item->pair = &request->pairs[at];
            item->result = &request->results[at];
        }
        if (row) {
            item->failing = case_failures(row) | (item->result ? gate_failures(item->result) : 0);
            out->held += row->standing == PW_STANDING_HELD;
        }
        settle(item, request->today, out);
    }
    out->passed = !out->failing && out->held;
    pw_map_clear(&by_id);
    return status;
}
