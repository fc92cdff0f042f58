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
    }
    out->failing += (item->failing & ~item->waived) != 0;
    out->waived += item->failing && item->waived == item->failing;
}

static bool over(const struct pw_triage_entry *entry, const char *today)
{
    return pw_triage_waiver(entry, PW_WAIVE_ALL, today) == PW_WAIVER_EXPIRED;
}

static void add_waiver(struct pw_judgement *out, const struct pw_judged_waiver *waiver)
{
    out->waivers[out->waiver_count++] = *waiver;
    out->expired += waiver->state == PW_JUDGED_EXPIRED;
    out->unneeded += waiver->state == PW_JUDGED_UNNEEDED;
}

/* Those of what was run, by signature; then those that are over although their signature was not here to be run. */
static void list_waivers(const struct pw_judge_request *request, const struct pw_map *known, struct pw_judgement *out)
{
    size_t at;

    for (size_t i = 0; i < out->count; i++) {
        const struct pw_judged *item = &out->items[i];
        struct pw_judged_waiver w = {item->entry, item, request->inventory->signatures[i].op_label, PW_JUDGED_OTHER};

        if (!item->run || !item->entry || !item->entry->waiver.present)
            continue;
        if (over(item->entry, request->today))
            w.state = PW_JUDGED_EXPIRED;
        else if (!item->failing)
            w.state = PW_JUDGED_UNNEEDED;
        else if (item->waived)
            w.state = PW_JUDGED_USED;
        add_waiver(out, &w);
    }
    for (size_t i = 0; request->triage && !request->partial && i < pw_triage_count(request->triage); i++) {
        const struct pw_triage_entry *entry = pw_triage_at(request->triage, i);
        const struct pw_judged_waiver w = {entry, NULL, entry->op, PW_JUDGED_EXPIRED};

        if (over(entry, request->today) && !(pw_map_find(known, entry->id, &at) && out->items[at].run))
            add_waiver(out, &w);
    }
}

pw_status pw_judge(const struct pw_judge_request *request, struct pw_arena *arena, struct pw_judgement *out,
                   struct pw_error *err)
{
    struct pw_map by_id = {0}, known = {0};
    size_t most = request->inventory->signature_count + (request->triage ? pw_triage_count(request->triage) : 0);
    pw_status status = PW_OK;
    size_t at;

    memset(out, 0, sizeof *out);
    out->count = request->inventory->signature_count;
    out->items = pw_arena_alloc(arena, out->count + 1, sizeof *out->items);
    out->waivers = pw_arena_alloc(arena, most + 1, sizeof *out->waivers);
    if (!out->items || !out->waivers)
        return pw_error_memory(err, out->count * sizeof *out->items);
    for (size_t i = 0; i < request->pair_count && status == PW_OK; i++)
        status = pw_map_put(&by_id, request->pairs[i].id, i, err);
    for (size_t i = 0; i < out->count && status == PW_OK; i++) {
        struct pw_judged *item = &out->items[i];
        const struct pw_signature_result *row = request->rows[i];
        const char *id = request->inventory->signatures[i].id;

        status = pw_map_put(&known, id, i, err);
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
    list_waivers(request, &known, out);
    out->passed = !out->failing && !out->expired && out->held;
    pw_map_clear(&by_id);
    pw_map_clear(&known);
    return status;
}
