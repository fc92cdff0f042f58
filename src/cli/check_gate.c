#include "cli/check_gate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "baseline/folder.h"
#include "cli/baseline_record.h"
#include "store/history.h"

struct gating { /* what the steps share */
    struct pw_check_gate *gate;
    struct pw_check_run *run;
    const struct pw_check_gate_request *request;
    struct pw_baseline_source source;
    const char *folder; /* <root>/<graph>/<kind> */
    struct pw_error *err;
};

static void note(struct gating *g, const char *format, ...) PW_PRINTF(2, 3);
static void note(struct gating *g, const char *format, ...)
{
    struct pw_report_gate *report = &g->gate->report;
    struct pw_buf text = {0};
    va_list args;

    if (report->note_count == PW_REPORT_NOTES)
        return;
    va_start(args, format);
    pw_buf_vprintf(&text, format, args);
    va_end(args);
    report->notes[report->note_count] = pw_arena_strndup(&g->gate->arena, pw_buf_text(&text), text.size);
    report->note_count += report->notes[report->note_count] != NULL;
    pw_buf_clear(&text);
}

/* ---- finding the baseline ---- */

static bool is_file(const char *which)
{
    return strchr(which, '/') || pw_text_ends(which, ".yaml");
}

static const char *target_kind(const struct gating *g)
{
    return g->source.info ? g->source.info->kind : "reference";
}

static pw_status check_belongs(const struct gating *g, const struct pw_baseline *b)
{
    if (strcmp(b->graph, g->source.graph_id) != 0)
        return pw_error_set(g->err, PW_ERR_USAGE, "%s is of graph %.12s (%s), this is %.12s: not comparable", b->path,
                            b->graph, b->model, g->source.graph_id);
    if (strcmp(b->target_kind, target_kind(g)) != 0)
        return pw_error_set(g->err, PW_ERR_USAGE, "%s is of a target of kind '%s', this one is '%s': not comparable",
                            b->path, b->target_kind, target_kind(g));
    return PW_OK;
}

static pw_status load(struct gating *g, const char *path)
{
    struct pw_baseline b = {0};
    struct pw_baseline *to;
    pw_status status = pw_baseline_read(path, &b, g->err);

    if (status == PW_OK)
        status = check_belongs(g, &b);
    if (status != PW_OK) {
        pw_baseline_clear(&b);
        return status;
    }
    to = b.kind == PW_BASELINE_PRECISION ? &g->gate->precision : &g->gate->throughput;
    pw_baseline_clear(to);
    *to = b;
    return PW_OK;
}

/* The kinds of target that the graph has baselines of, for the message when this one has none. */
static void other_kinds(const struct gating *g, struct pw_buf *out)
{
    struct pw_buf parent = {0};
    char **names = NULL;
    size_t count = 0;

    pw_file_dirname(&parent, g->folder);
    if (!parent.failed && pw_file_is_dir(pw_buf_text(&parent)) &&
        pw_file_list(pw_buf_text(&parent), &names, &count, NULL) == PW_OK)
        for (size_t i = 0; i < count; i++)
            if (!pw_text_ends(names[i], ".yaml"))
                pw_buf_printf(out, "%s%s", out->size ? ", " : "; there are some for ", names[i]);
    pw_free(names);
    pw_buf_clear(&parent);
}

/* The newest throughput baseline of any environment, to say what differs. */
static pw_status find_elsewhere(struct gating *g, const char **path)
{
    struct pw_baseline_file *files;
    size_t count;
    int best = 0;
    pw_status status = pw_baseline_list(g->folder, &g->gate->arena, &files, &count, g->err);

    for (size_t i = 0; status == PW_OK && i < count; i++)
        if (files[i].kind == PW_BASELINE_THROUGHPUT && files[i].number > best) {
            best = files[i].number;
            *path = files[i].path;
        }
    return status;
}

static pw_status find_baselines(struct gating *g)
{
    const char *which = g->request->which, *precision = NULL, *throughput = NULL;
    struct pw_buf others = {0};
    pw_status status;

    if (is_file(which))
        return load(g, which);
    status = pw_baseline_find(g->folder, which, PW_BASELINE_PRECISION, "", &g->gate->arena, &precision, g->err);
    if (status == PW_OK)
        status = pw_baseline_find(g->folder, which, PW_BASELINE_THROUGHPUT, g->gate->environment.id, &g->gate->arena,
                                  &throughput, g->err);
    if (status == PW_OK && !throughput)
        status = find_elsewhere(g, &throughput);
    if (status == PW_OK && !precision && !throughput) {
        other_kinds(g, &others);
        status = pw_error_set(g->err, PW_ERR_USAGE,
                              "no %s baseline in %s%s; make one with portwright baseline record and approve",
                              strcmp(which, "pending") != 0 ? "approved" : "pending", g->folder, pw_buf_text(&others));
    }
    if (status == PW_OK && precision)
        status = load(g, precision);
    if (status == PW_OK && throughput)
        status = load(g, throughput);
    pw_buf_clear(&others);
    return status;
}

/* ---- is it comparable? ---- */

static pw_status compare_environments(struct gating *g)
{
    struct pw_check_gate *gate = g->gate;
    struct pw_environment before = {0};
    struct pw_buf text = {0};
    pw_status status = PW_OK;

    gate->report.environment = "";
    if (!gate->throughput.graph) {
        gate->options.throughput_comparable = false;
        gate->options.throughput_why = "there is no throughput baseline";
        return PW_OK;
    }
    if (!strcmp(gate->throughput.environment_id, gate->environment.id))
        return PW_OK;
    status = pw_baseline_environment(&gate->throughput, &before, g->err);
    if (status == PW_OK) {
        pw_environment_differences(&before, &gate->environment, PW_ENVIRONMENT_TIMING, "in the baseline", "here",
                                   &text);
        if (!text.size)
            pw_buf_printf(&text, "id %s in the baseline, %s here", gate->throughput.environment_id,
                          gate->environment.id);
        gate->report.environment = pw_arena_strndup(&gate->arena, pw_buf_text(&text), text.size);
        if (!gate->report.environment)
            status = pw_error_memory(g->err, text.size);
    }
    gate->report.environment_fails = gate->on_environment == PW_GATE_ENVIRONMENT_FAIL;
    if (gate->on_environment != PW_GATE_ENVIRONMENT_IGNORE) {
        gate->options.throughput_comparable = false;
        gate->options.throughput_why = "measured in another environment";
    }
    pw_environment_clear(&before);
    pw_buf_clear(&text);
    return status;
}

static pw_status need_dims(struct gating *g, const struct pw_baseline *b, bool fatal)
{
    struct pw_buf dims = {0};
    pw_status status = PW_OK;

    if (!b->graph || pw_baseline_set_of(b, g->source.dims))
        return PW_OK;
    for (size_t i = 0; i < b->set_count; i++)
        pw_buf_printf(&dims, "%s'%s'", i ? ", " : "", b->sets[i].dims);
    if (fatal)
        status = pw_error_set(g->err, PW_ERR_USAGE, "%s has the dims %s, this check '%s': bind them with --dim",
                              b->path, dims.size ? pw_buf_text(&dims) : "of no binding set", g->source.dims);
    else
        note(g, "%s has no times for the dims '%s'", b->path, g->source.dims);
    pw_buf_clear(&dims);
    return status;
}

static pw_status make_now(struct gating *g)
{
    struct pw_check_gate *gate = g->gate;
    pw_status status =
        pw_baseline_add(&gate->now_precision, PW_BASELINE_PRECISION, &g->source, &gate->options, NULL, g->err);

    if (status == PW_OK)
        status =
            pw_baseline_add(&gate->now_throughput, PW_BASELINE_THROUGHPUT, &g->source, &gate->options, NULL, g->err);
    return status;
}

static void say_what_else_differs(struct gating *g)
{
    const struct pw_baseline *before = &g->gate->precision, *now = &g->gate->now_precision;

    if (!before->graph)
        return;
    if (strcmp(before->protocol_hash, now->protocol_hash) != 0)
        note(g, "the protocol is not the baseline's (%s, then %s): tolerances may differ",
             now->protocol[0] ? now->protocol : "the defaults",
             before->protocol[0] ? before->protocol : "the defaults");
    if (before->seed != now->seed)
        note(g, "the seed is %llu, the baseline's was %llu: other inputs were drawn", (unsigned long long)now->seed,
             (unsigned long long)before->seed);
}

/* ---- deciding ---- */

/* A gate that finds little of its baseline proves little: of the same graph, with sizes bound another way. */
static pw_status need_most(struct gating *g, const char *path, const struct pw_gate_signature *pairs, size_t count,
                           size_t common)
{
    size_t gone = 0;

    for (size_t i = 0; i < count; i++)
        gone += pairs[i].before.present && !pairs[i].now.present;
    if (!common)
        return pw_error_set(g->err, PW_ERR_USAGE,
                            "no signature of %s is in this check: nothing can be compared; record a new baseline",
                            path);
    if (gone > common)
        return pw_error_set(g->err, PW_ERR_USAGE,
                            "%zu of the %zu signatures of %s are not in this check: sizes bound with --dim or in the "
                            "protocol are part of a signature; bind them as they were then, or record a new baseline",
                            gone, gone + common, path);
    return PW_OK;
}

static pw_status decide(struct gating *g)
{
    struct pw_check_gate *gate = g->gate;
    struct pw_baseline_pair before = {gate->precision.graph ? &gate->precision : NULL,
                                      gate->throughput.graph ? &gate->throughput : NULL};
    struct pw_baseline_pair now = {&gate->now_precision, &gate->now_throughput};
    struct pw_gate_signature *pairs = NULL;
    struct pw_gate_result *results;
    size_t count = 0, common = 0;
    pw_status status = pw_baseline_join(&before, &now, g->source.dims, g->request->partial, &gate->arena, &pairs,
                                        &count, &common, g->err);

    if (status == PW_OK)
        status = need_most(g, before.precision ? gate->precision.path : gate->throughput.path, pairs, count, common);
    if (status != PW_OK)
        return status;
    results = pw_arena_alloc(&gate->arena, count + 1, sizeof *results);
    if (!results)
        return pw_error_memory(g->err, count * sizeof *results);
    status = pw_gate_decide(&gate->options, pairs, count, results, &gate->report.totals, g->err);
    gate->pairs = pairs;
    gate->results = results;
    gate->report.pairs = pairs;
    gate->report.results = results;
    gate->report.count = count;
    return status;
}

static pw_status against_baseline(struct gating *g)
{
    struct pw_check_gate *gate = g->gate;
    pw_status status = find_baselines(g);

    if (status == PW_OK)
        status = need_dims(g, &gate->precision, true);
    if (status == PW_OK)
        status = need_dims(g, &gate->throughput, !gate->precision.graph);
    if (status == PW_OK)
        status = compare_environments(g);
    if (status == PW_OK)
        status = make_now(g);
    if (status != PW_OK)
        return status;
    gate->report.which = g->request->which;
    gate->report.precision = gate->precision.graph ? &gate->precision : NULL;
    gate->report.throughput = gate->throughput.graph ? &gate->throughput : NULL;
    gate->options.precision &= gate->precision.graph != NULL;
    say_what_else_differs(g);
    status = decide(g);
    return status == PW_OK && g->request->budget_ns > 0 ? pw_check_settle(gate, g->run, g->request, g->err) : status;
}

/* ---- triage ---- */

static pw_status open_triage(struct gating *g)
{
    struct pw_buf path = {0};
    const char *model = strrchr(g->source.model_path, '/');
    pw_status status = pw_folder_graph(g->request->root, g->source.graph_id, g->source.model_path, &path, g->err);

    pw_buf_puts(&path, "/triage.yaml");
    if (status == PW_OK)
        status = path.failed ? pw_error_memory(g->err, path.size)
                             : pw_triage_open(pw_buf_text(&path), g->source.graph_id,
                                              model ? model + 1 : g->source.model_path, &g->gate->triage, g->err);
    pw_buf_clear(&path);
    return status;
}

static pw_status judge(struct gating *g)
{
    struct pw_check_gate *gate = g->gate;
    char today[PW_TRIAGE_DATE];
    struct pw_judge_request request = {.inventory = g->source.inventory,
                                       .rows = g->source.rows,
                                       .pairs = gate->report.pairs,
                                       .results = gate->report.results,
                                       .pair_count = gate->report.count,
                                       .triage = gate->triage,
                                       .partial = g->request->partial,
                                       .today = pw_triage_today(pw_clock_wall_ms(), today)};

    pw_status status = pw_judge(&request, &gate->arena, &gate->report.judgement, g->err);

    gate->report.judgement.passed &= !gate->report.environment_fails;
    return status;
}

/* What fails and stands nowhere becomes an open entry; what was open because it failed and holds now is done. */
static pw_status update_triage(struct gating *g)
{
    const struct pw_judgement *j = &g->gate->report.judgement;
    pw_status status = PW_OK;
    size_t opened = 0;

    for (size_t i = 0; i < j->count && status == PW_OK; i++) {
        const struct pw_signature *signature = &g->source.inventory->signatures[i];
        struct pw_triage_entry entry = {.status = PW_TRIAGE_OPEN};

        if (!j->items[i].failing || pw_triage_find(g->gate->triage, signature->id))
            continue;
        snprintf(entry.id, sizeof entry.id, "%s", signature->id);
        pw_text_show(entry.op, sizeof entry.op, signature->op_label, 60);
        status = pw_triage_set(g->gate->triage, &entry, g->err);
        opened += status == PW_OK;
    }
    if (status == PW_OK && opened) {
        status = pw_triage_save(g->gate->triage, g->err);
        if (status == PW_OK)
            note(g, "%zu failing signatures became open entries of %s", opened, pw_triage_path(g->gate->triage));
    }
    return status == PW_OK ? judge(g) : status; /* entries moved */
}

static size_t fill_decisions(const struct pw_report_gate *r, const struct pw_judged *const *judged,
                             struct pw_store_decision *out)
{
    static const unsigned bits[PW_GATE_KIND_COUNT] = {PW_WAIVE_COVERAGE, PW_WAIVE_PRECISION, PW_WAIVE_THROUGHPUT};
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++)
        for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++) {
            const struct pw_gate_result *result = &r->results[i];
            const struct pw_baseline *b = kind == PW_GATE_THROUGHPUT ? r->throughput : r->precision;
            bool times = kind == PW_GATE_THROUGHPUT;

            if (result->outcome[kind] == PW_GATE_SKIPPED)
                continue;
            out[n++] = (struct pw_store_decision){.signature = r->pairs[i].id,
                                                  .gate = pw_gate_kind_name((pw_gate_kind)kind),
                                                  .outcome = pw_gate_outcome_name(result->outcome[kind]),
                                                  .baseline = b ? b->path : "",
                                                  .reason = result->reason[kind],
                                                  .slowdown = times ? result->slowdown : NAN,
                                                  .low = times ? result->low : NAN,
                                                  .high = times ? result->high : NAN,
                                                  .p = times ? result->p_adjusted : NAN,
                                                  .confirmed = times && result->confirmed,
                                                  .waived = judged[i] && (judged[i]->waived & bits[kind])};
        }
    return n;
}

/* The decisions go beside the run's results. A store that cannot take them costs a message, never the check. */
static void record_decisions(const struct gating *g)
{
    const struct pw_report_gate *r = &g->gate->report;
    const char *db = pw_session_db(g->run->session);
    struct pw_store_decision *decisions = pw_calloc(r->count * PW_GATE_KIND_COUNT + 1, sizeof *decisions);
    const struct pw_judged **judged = pw_calloc(r->count + 1, sizeof *judged);
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    pw_status status = decisions && judged ? PW_OK : pw_error_memory(&err, r->count * sizeof *decisions);

    if (g->run->recorded_run && r->count && status == PW_OK) {
        for (size_t i = 0; i < r->judgement.count; i++)
            if (r->judgement.items[i].pair)
                judged[r->judgement.items[i].pair - r->pairs] = &r->judgement.items[i];
        status = pw_store_open(db, false, &store, &err);
        if (status == PW_OK)
            status = pw_store_decisions_add(store, g->run->recorded_run, decisions,
                                            fill_decisions(r, judged, decisions), &err);
        pw_store_close(store);
    }
    if (status != PW_OK) {
        char safe[PW_ERROR_MAX];

        fprintf(stderr, "portwright: the gate's decisions are not recorded: %s\n",
                pw_text_show(safe, sizeof safe, err.message, 0));
    }
    pw_free(decisions);
    pw_free(judged);
}

pw_status pw_check_gate(struct pw_check_gate *gate, struct pw_check_run *run,
                        const struct pw_check_gate_request *request, struct pw_error *err)
{
    struct gating g = {.gate = gate, .run = run, .request = request, .err = err};
    struct pw_buf folder = {0};
    pw_status status;

    *gate = (struct pw_check_gate){0};
    gate->report.environment = "";
    status = pw_gate_settings(pw_session_protocol(run->session), &gate->options, &gate->on_environment, err);
    if (status == PW_OK)
        status = pw_baseline_source_of(run, &gate->environment, &g.source, err);
    gate->report.environment_id = gate->environment.id;
    if (status == PW_OK)
        status =
            pw_baseline_folder(request->root, g.source.graph_id, g.source.model_path, target_kind(&g), &folder, err);
    g.folder = pw_buf_text(&folder);
    if (status == PW_OK)
        status = open_triage(&g);
    if (status == PW_OK && request->which)
        status = against_baseline(&g);
    if (status == PW_OK)
        status = judge(&g);
    if (status == PW_OK && request->update_triage)
        status = update_triage(&g);
    if (status == PW_OK)
        record_decisions(&g);
    pw_buf_clear(&folder);
    return status;
}

void pw_check_gate_clear(struct pw_check_gate *gate)
{
    pw_baseline_clear(&gate->precision);
    pw_baseline_clear(&gate->throughput);
    pw_baseline_clear(&gate->now_precision);
    pw_baseline_clear(&gate->now_throughput);
    pw_environment_clear(&gate->environment);
    pw_triage_close(gate->triage);
    pw_arena_clear(&gate->arena);
    *gate = (struct pw_check_gate){0};
}
