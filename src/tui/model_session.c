/* What the session's events change. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"
#include "tui/tui.h"

static void clear_case(struct pw_tui_case *c)
{
    pw_free(c->id);
    pw_free(c->reason);
    pw_free(c->shrunk);
}

void pw_tui_cases_clear(struct pw_tui_row *row)
{
    for (size_t i = 0; i < row->case_count; i++)
        clear_case(&row->cases[i]);
    row->case_count = 0;
    pw_free(row->worst);
    row->worst = NULL;
}

static void keep_worst(struct pw_tui_row *row, const struct pw_case_result *result, double share)
{
    struct pw_tui_worst *worst = row->worst ? row->worst : pw_calloc(1, sizeof *worst);

    if (!worst)
        return;
    *worst = (struct pw_tui_worst){.output = result->output, .share = share, .comparison = result->comparison};
    memcpy(worst->id, result->id, sizeof worst->id);
    for (size_t i = 0; i < result->worst_count && i < PW_CASE_ELEMENTS; i++) {
        const struct pw_case_element *from = &result->worst[i];

        snprintf(worst->elements[i].at, sizeof worst->elements[i].at, "%s", from->at ? from->at : "");
        worst->elements[i].got = from->got;
        worst->elements[i].want = from->want;
        worst->elements[i].error = from->error;
        worst->element_count++;
    }
    row->worst = worst;
}

/* Room for one more behind the others: of very many the last that did not fail gives way to one that did. NULL: there
 * is none, the case is in the store. */
static struct pw_tui_case *place_for(struct pw_tui_row *row, bool failed)
{
    for (size_t i = row->case_count; failed && row->case_count == PW_TUI_CASES && i-- > 0;)
        if (!pw_verdict_failed(row->cases[i].verdict)) {
            clear_case(&row->cases[i]);
            row->case_count--;
            memmove(&row->cases[i], &row->cases[i + 1], (row->case_count - i) * sizeof *row->cases);
        }
    if (row->case_count == PW_TUI_CASES)
        return NULL;
    if (row->case_count == row->case_cap) {
        size_t cap = row->case_cap ? 2 * row->case_cap : 8;
        struct pw_tui_case *more = pw_reallocarray(row->cases, cap, sizeof *more);

        if (!more)
            return NULL;
        row->cases = more;
        row->case_cap = cap;
    }
    return &row->cases[row->case_count];
}

static void keep_case(struct pw_tui_row *row, const struct pw_case_result *result)
{
    bool compared = result->output >= 0;
    double share = pw_verdict_failed(result->verdict)  ? INFINITY
                   : compared && result->tolerance > 0 ? result->comparison.max_error / result->tolerance
                                                       : 0;
    struct pw_tui_case *kept;

    if (compared && (!row->worst || share > row->worst->share))
        keep_worst(row, result, share);
    kept = place_for(row, pw_verdict_failed(result->verdict));
    if (!kept)
        return;
    *kept = (struct pw_tui_case){.verdict = result->verdict,
                                 .error = compared ? result->comparison.max_error : NAN,
                                 .tolerance = compared ? result->tolerance : NAN,
                                 .id = pw_strdup(result->id)};
    if (!kept->id)
        return;
    if (result->reason && result->reason[0])
        kept->reason = pw_strdup(result->reason);
    if (result->shrunk_id)
        kept->shrunk = pw_strdup(result->shrunk_id);
    row->case_count++;
}

/* What a compiler says of a kernel it says of each of its cases: that is one failure. */
static void keep_failure(struct pw_tui *tui, const struct pw_case_result *result)
{
    struct pw_tui_side *side = tui->at;
    struct pw_tui_failure made = {.signature = result->signature, .cases = 1};

    snprintf(made.text, sizeof made.text, "%s %s: %s", pw_verdict_name(result->verdict),
             tui->inventory->signatures[result->signature].op_label, result->reason ? result->reason : "");
    for (int i = 0; result->log && result->log[0] && i < side->failure_count; i++)
        if (side->failures[i].signature == made.signature && !strcmp(side->failures[i].text, made.text)) {
            side->failures[i].cases++;
            return;
        }
    if (side->failure_count < PW_TUI_FAILURES)
        side->failures[side->failure_count++] = made;
}

static void on_case(struct pw_tui *tui, const struct pw_event *event)
{
    const struct pw_case_result *result = &event->result;
    struct pw_tui_row *row = &tui->at->signatures[result->signature];

    if (!row->running) /* the first case of this run: what was known before is replaced */
        pw_tui_cases_clear(row);
    row->running = true;
    keep_case(row, result);
    tui->at->done = event->done;
    tui->at->total = event->total;
    snprintf(tui->at->running_text, sizeof tui->at->running_text, "%s %s %s",
             tui->inventory->signatures[result->signature].op_label, pw_dist_name(result->dist),
             pw_verdict_name(result->verdict));
    if (pw_verdict_failed(result->verdict))
        keep_failure(tui, result);
}

/* What was measured, to be known when something else serves the signature. */
static void keep_implementation(struct pw_tui_row *row, const struct pw_impl_list *impls)
{
    const struct pw_impl *impl = impls && impls->selected >= 0 ? &impls->items[impls->selected] : NULL;

    snprintf(row->implementation, sizeof row->implementation, "%s", impl ? impl->name : "");
    row->kernel_hash[0] = '\0';
    if (impl && impl->kernel)
        pw_hash_text(pw_kernel_hash(impl->kernel), row->kernel_hash);
}

static void on_summary(struct pw_tui *tui, const struct pw_signature_result *summary)
{
    struct pw_tui_row *row = &tui->at->signatures[summary->signature];

    row->running = false;
    row->measured = row->fresh = true;
    row->from_store = false;
    row->host = summary->implementations && summary->implementations->coverage >= PW_COVERAGE_HOST;
    row->gate_failed = summary->gate_failed;
    keep_implementation(row, summary->implementations);
    snprintf(row->standing, sizeof row->standing, "%s", pw_standing_name(summary->standing));
    row->worst_error = summary->worst_error;
    row->tolerance = summary->tolerance;
    row->ratio = isnan(summary->worst_error) ? NAN : summary->worst_ratio;
    if (summary->target_ns) {
        row->target_ns = summary->target_ns;
        row->reference_ns = summary->reference_ns;
        snprintf(row->reference_name, sizeof row->reference_name, "%s",
                 summary->reference_name ? summary->reference_name : "");
    }
}

static void keep_bench(struct pw_tui_row *row, const struct pw_event *event)
{
    const struct pw_bench_figure *f = &event->figure;
    struct pw_tui_bench *bench = row->bench ? row->bench : pw_calloc(1, sizeof *bench);

    if (!bench)
        return;
    *bench = (struct pw_tui_bench){.low_ns = f->target.low,
                                   .high_ns = f->target.high,
                                   .flops_rate = f->flops_rate,
                                   .bytes_rate = f->bytes_rate,
                                   .share = f->roof.share,
                                   .reference_low_ns = f->reference.count ? f->reference.low : NAN,
                                   .reference_high_ns = f->reference.count ? f->reference.high : NAN,
                                   .speedup = f->speedup.value,
                                   .speedup_low = f->speedup.low,
                                   .speedup_high = f->speedup.high,
                                   .intensity = f->flops / (f->read_bytes + f->write_bytes),
                                   .peak_flops = f->flops / f->roof.compute_ns * 1e9,
                                   .peak_bytes = (f->read_bytes + f->write_bytes) / f->roof.memory_ns * 1e9,
                                   .slices = f->slices,
                                   .bound = pw_bound_name(f->roof.bound),
                                   .cold = event->cold,
                                   .advice_count = f->advice_count};
    snprintf(bench->level, sizeof bench->level, "%s", f->roof.level ? f->roof.level : "");
    snprintf(bench->suspicion, sizeof bench->suspicion, "%.255s", f->suspicion ? f->suspicion : "");
    memcpy(bench->advice, f->advice, f->advice_count * sizeof *f->advice);
    row->bench = bench;
}

static void on_figure(struct pw_tui *tui, const struct pw_event *event)
{
    const struct pw_bench_figure *f = &event->figure;
    struct pw_tui_row *row = &tui->at->signatures[f->signature];
    char label[64], time[32];

    tui->at->done = event->done;
    tui->at->total = event->total;
    row->running = false;
    pw_text_show(label, sizeof label, tui->inventory->signatures[f->signature].op_label, 40);
    snprintf(tui->at->running_text, sizeof tui->at->running_text, "%s", label);
    if (f->target.count == 0)
        return;
    snprintf(tui->at->running_text, sizeof tui->at->running_text, "%s  %s", label,
             pw_text_duration(time, sizeof time, f->target.median / 1e9));
    row->target_ns = (int64_t)(f->target.median + 0.5);
    keep_bench(row, event);
    row->reference_ns = f->reference.count ? (int64_t)(f->reference.median + 0.5) : 0;
    snprintf(row->reference_name, sizeof row->reference_name, "%s", f->reference_name ? f->reference_name : "");
    if (f->suspicion)
        pw_tui_say(tui, true, "%s: %s; %s", label, f->suspicion, f->verified ? f->verified : "");
}

enum { STANDINGS = PW_STANDING_MISTRUSTED + 1 };

/* The engine verifies signatures that the dims make equal once; here each of those that are listed counts. */
static void count_rows(struct pw_tui *tui)
{
    struct pw_verify_totals *t = &tui->at->totals;
    size_t counts[STANDINGS] = {0}, all = 0;

    for (size_t i = 0; i < tui->inventory->signature_count; i++) {
        const struct pw_tui_row *row = &tui->at->signatures[i];

        for (int s = 0; row->fresh && s < STANDINGS; s++)
            counts[s] += !strcmp(row->standing, pw_standing_name((pw_standing)s));
        all += row->fresh;
    }
    if (!all)
        return;
    t->held = counts[PW_STANDING_HELD];
    t->failed = counts[PW_STANDING_FAILED];
    t->unproven = counts[PW_STANDING_UNPROVEN];
    t->mistrusted = counts[PW_STANDING_MISTRUSTED];
}

static void say_outcome(struct pw_tui *tui, const struct pw_event *event)
{
    const struct pw_verify_totals *t;
    char mistrusted[48] = "";

    if (event->failed && event->error.status == PW_ERR_CANCELLED && tui->at->job) {
        pw_tui_say(tui, false, "%s: cancelled after %zu of %zu %s; what was found so far is kept", tui->at->job,
                   tui->at->done, tui->at->total, tui->at->unit);
        snprintf(tui->at->run_error, sizeof tui->at->run_error, "cancelled");
        return;
    }
    if (event->failed) {
        snprintf(tui->at->run_error, sizeof tui->at->run_error, "%.250s", event->error.message);
        pw_tui_say(tui, event->error.status != PW_ERR_CANCELLED, "%s", event->error.message);
        return;
    }
    if (event->bench) {
        pw_tui_say(tui, event->bench->suspicious > 0, "bench: %zu signature%s, %zu not believed%s", event->bench->count,
                   event->bench->count == 1 ? "" : "s", event->bench->suspicious,
                   event->bench->busy_slices ? "; other work ran beside it" : "");
        return;
    }
    if (event->whole_graph) {
        const struct pw_endtoend_totals *run = &event->endtoend;

        if (event->mode == PW_ENDTOEND_SWEEP) {
            pw_tui_say(tui, false, "run: ranked %zu layers by what narrower types cost", run->layers);
            return;
        }
        pw_tui_say(tui, !run->held,
                   "run: %s; %zu nodes, %zu culprit%s, %zu did not run, %zu of %zu outputs do not hold",
                   run->held ? "held" : "does not hold", run->nodes, run->culprits, run->culprits == 1 ? "" : "s",
                   run->failed, run->outputs_failed, run->outputs);
        return;
    }
    tui->at->totals = event->totals;
    count_rows(tui);
    tui->at->ran = true;
    t = &tui->at->totals;
    if (t->mistrusted)
        snprintf(mistrusted, sizeof mistrusted, ", %zu mistrusted", t->mistrusted);
    pw_tui_say(tui, t->gate_failed > 0, "verify: %zu held, %zu failed, %zu unproven or on the host%s; %zu cases",
               t->held, t->failed, t->unproven, mistrusted, t->cases);
}

/* A job was cancelled before the signature's summary came: one failed case is enough to know that it fails. */
static void end_row(struct pw_tui_row *row)
{
    const struct pw_tui_case *failed = NULL;

    for (size_t i = 0; row->running && !failed && i < row->case_count; i++)
        if (pw_verdict_failed(row->cases[i].verdict))
            failed = &row->cases[i];
    row->running = false;
    if (!failed)
        return;
    row->measured = row->gate_failed = true;
    row->from_store = row->host = false;
    row->implementation[0] = '\0'; /* the cases know */
    snprintf(row->standing, sizeof row->standing, "%s", pw_standing_name(PW_STANDING_FAILED));
    row->worst_error = failed->error;
    row->tolerance = failed->tolerance;
    row->ratio = failed->tolerance > 0 ? failed->error / failed->tolerance : failed->error > 0 ? INFINITY : NAN;
}

static void on_finished(struct pw_tui *tui, const struct pw_event *event)
{
    struct pw_tui_side *side = tui->at;

    if (event->job != side->job_number && (side->running || event->failed)) {
        /* it never began: what runs still does, and what ran before ended as it was told */
        pw_tui_say(tui, event->failed && event->error.status != PW_ERR_CANCELLED, "%s", event->error.message);
        return;
    }
    side->running = false;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        end_row(&side->signatures[i]);
    say_outcome(tui, event);
    snprintf(side->outcome, sizeof side->outcome, "%s", tui->flash);
    side->outcome_failed = tui->flash_failed;
}

/* Which job it is, as STARTED and DOING say. */
static void name_job(struct pw_tui_side *side, const struct pw_event *event)
{
    bool sweep = event->whole_graph && event->mode == PW_ENDTOEND_SWEEP;

    side->job = sweep ? "sweep" : event->whole_graph ? "run" : event->run_kind ? "bench" : "verify";
    side->job_number = event->job;
    side->unit = sweep ? "layers" : event->whole_graph ? "nodes" : event->run_kind ? "signatures" : "cases";
}

static void begin_job(struct pw_tui_side *side, int64_t now_ms)
{
    side->running = true;
    side->run_begin_ms = now_ms;
    side->done = side->total = 0;
    side->run_error[0] = side->running_text[0] = side->outcome[0] = '\0';
}

/* Before anything is counted a job is named and can be cancelled too. */
static void on_doing(struct pw_tui *tui, const struct pw_event *event, int64_t now_ms)
{
    struct pw_tui_side *side = tui->at;

    if (!side->running)
        begin_job(side, now_ms);
    name_job(side, event);
    snprintf(side->running_text, sizeof side->running_text, "%s", event->text ? event->text : "");
}

static void on_started(struct pw_tui *tui, const struct pw_event *event, int64_t now_ms)
{
    struct pw_tui_side *side = tui->at;

    begin_job(side, now_ms);
    name_job(side, event);
    side->total = event->total;
    if (event->whole_graph || event->run_kind) /* what a verification found stays until the next one */
        return;
    side->failure_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        side->signatures[i].fresh = false;
}

/* What is on the screen is asked for again when a job may have changed it; the rest when it is looked at. */
static void ask_again(struct pw_tui *tui)
{
    tui->at->history.stale = tui->at->graph.stale = true;
    if (tui->screen != PW_SCREEN_TRENDS && tui->screen != PW_SCREEN_DETAIL)
        return;
    tui->ask = tui->screen == PW_SCREEN_TRENDS && tui->whole_graph ? PW_ASK_GRAPH : PW_ASK_HISTORY;
    if (tui->detail < tui->inventory->signature_count || tui->ask == PW_ASK_GRAPH)
        tui->intent = PW_INTENT_ASK;
}

void pw_tui_ask_for_screen(struct pw_tui *tui)
{
    pw_screen screen = tui->screen;

    if (screen == PW_SCREEN_TRENDS && tui->whole_graph) {
        tui->ask = PW_ASK_GRAPH;
        tui->intent = tui->at->graph.known && !tui->at->graph.stale ? tui->intent : PW_INTENT_ASK;
    } else if ((screen == PW_SCREEN_DETAIL || screen == PW_SCREEN_TRENDS) &&
               (!tui->at->history.known || tui->at->history.stale || tui->at->history.signature != tui->detail)) {
        tui->ask = PW_ASK_HISTORY;
        tui->intent = PW_INTENT_ASK;
    } else if (screen == PW_SCREEN_DEVICE || screen == PW_SCREEN_BASELINES) {
        tui->ask = screen == PW_SCREEN_DEVICE ? PW_ASK_ENVIRONMENT : PW_ASK_BASELINES;
        tui->intent = PW_INTENT_ASK;
    }
}

/* The device's screen, when it is looked at. */
static void ask_device(struct pw_tui *tui)
{
    if (tui->screen != PW_SCREEN_DEVICE)
        return;
    tui->ask = PW_ASK_ENVIRONMENT;
    tui->intent = PW_INTENT_ASK;
}

static void on_answer(struct pw_tui *tui, const struct pw_event *event)
{
    if (event->ask < PW_ASK_COUNT)
        snprintf(tui->at->no_answer[event->ask], sizeof tui->at->no_answer[event->ask], "%.199s",
                 event->failed ? event->error.message : "");
    if (event->failed) {
        if (event->ask != PW_ASK_HISTORY || tui->screen == PW_SCREEN_TRENDS) /* the detail only adds it at its end */
            pw_tui_say(tui, true, "%s", event->error.message);
        if (event->ask == PW_ASK_APPROVE) { /* somebody else may have been quicker */
            tui->ask = PW_ASK_BASELINES;
            tui->intent = PW_INTENT_ASK;
        }
        if (event->ask == PW_ASK_COMPARE) /* which took the place of the question about the screen itself */
            ask_again(tui);
    } else if (pw_tui_trend_event(tui, event)) {
        pw_tui_builds_recalled(tui, event);
        if (event->ask == PW_ASK_COMPARE) {
            pw_tui_show_comparison(tui);
            ask_again(tui);
        }
    } else if (event->ask == PW_ASK_ENVIRONMENT && event->text) {
        pw_free(tui->at->environment);
        tui->at->environment = pw_strdup(event->text);
    } else if (event->text) { /* baselines, also after an approval */
        pw_free(tui->at->baselines);
        tui->at->baselines = pw_strdup(event->text);
        tui->at->baselines_seen = event->about;
        if (event->ask == PW_ASK_APPROVE) /* another mark on the time axes */
            tui->at->history.stale = tui->at->graph.stale = true;
    }
}

static void on_device(struct pw_tui *tui, const struct pw_event *event)
{
    tui->at->device_failed = event->failed;
    tui->at->device_ready = !event->failed;
    if (event->failed) {
        snprintf(tui->at->device, sizeof tui->at->device, "target %s: not usable (m: why)", tui->at->target);
        snprintf(tui->at->device_why, sizeof tui->at->device_why, "%.319s", event->error.message);
        pw_tui_say(tui, true, "%s", event->error.message);
    } else {
        snprintf(tui->at->device, sizeof tui->at->device, "%s", tui->at->target);
        tui->at->history.stale = tui->at->graph.stale = true; /* which baselines are its is known from here on */
        if (tui->screen == PW_SCREEN_TRENDS || tui->screen == PW_SCREEN_BASELINES || tui->screen == PW_SCREEN_DEVICE)
            pw_tui_go(tui, tui->screen);
    }
}

static void fill_row(struct pw_tui_row *row, const struct pw_store_signature_row *from)
{
    row->measured = row->from_store = true;
    row->run_id = from->run_id;
    row->wall_ms = from->wall_ms;
    snprintf(row->implementation, sizeof row->implementation, "%s", from->implementation);
    snprintf(row->kernel_hash, sizeof row->kernel_hash, "%s", from->kernel_hash ? from->kernel_hash : "");
    row->host = !strcmp(from->coverage, pw_coverage_name(PW_COVERAGE_HOST)) ||
                !strcmp(from->coverage, pw_coverage_name(PW_COVERAGE_MISSING));
    snprintf(row->standing, sizeof row->standing, "%s", from->standing);
    row->gate_failed = from->gate_failed;
    row->worst_error = from->worst_error;
    row->tolerance = from->tolerance;
    row->ratio = from->worst_ratio;
    row->target_ns = from->target_ns;
    row->reference_ns = from->reference_ns;
    snprintf(row->reference_name, sizeof row->reference_name, "%s", from->reference_name);
}

/* Rows of earlier runs fill in what this session has not measured; by a map, since a key waits meanwhile. */
static void on_history(struct pw_tui *tui, const struct pw_event *event)
{
    struct pw_map by_id = {0};
    struct pw_error err = {0};
    size_t at;

    for (size_t i = 0; i < tui->inventory->signature_count && err.status == PW_OK; i++)
        pw_map_put(&by_id, tui->inventory->signatures[i].id, i, &err);
    if (err.status != PW_OK)
        pw_tui_say(tui, true, "earlier runs are not shown: %s", err.message);
    for (size_t r = 0; r < event->row_count && err.status == PW_OK; r++)
        if (pw_map_find(&by_id, event->rows[r].signature_id, &at) && !tui->at->signatures[at].measured)
            fill_row(&tui->at->signatures[at], &event->rows[r]);
    pw_map_clear(&by_id);
}

void pw_tui_session_event(struct pw_tui *tui, const struct pw_event *event, int64_t now_ms)
{
    if (event->whole_graph || event->kind == PW_EVENT_NODE || event->kind == PW_EVENT_LAYER ||
        event->kind == PW_EVENT_OUTPUT || event->kind == PW_EVENT_PAST)
        pw_tui_endtoend_event(tui, event);
    if (event->built)
        pw_tui_build_event(tui, event);
    switch (event->kind) {
    case PW_EVENT_DEVICE:
        on_device(tui, event);
        break;
    case PW_EVENT_COVERAGE:
        tui->at->coverage_ready = !event->failed;
        if (event->failed)
            pw_tui_say(tui, true, "%s", event->error.message);
        ask_again(tui); /* what compilers said of the kernels that are selected now */
        break;
    case PW_EVENT_DOING:
        on_doing(tui, event, now_ms);
        break;
    case PW_EVENT_STARTED:
        on_started(tui, event, now_ms);
        break;
    case PW_EVENT_CASE:
        on_case(tui, event);
        break;
    case PW_EVENT_SIGNATURE:
        on_summary(tui, &event->summary);
        break;
    case PW_EVENT_BENCH:
        on_figure(tui, event);
        break;
    case PW_EVENT_FINISHED:
        on_finished(tui, event);
        ask_again(tui);
        break;
    case PW_EVENT_HISTORY:
        on_history(tui, event);
        break;
    case PW_EVENT_SAVE: /* stays within the session */
        break;
    case PW_EVENT_PEAKS:
        pw_tui_say(tui, event->failed, "%s", event->failed ? event->error.message : "the peaks were measured");
        ask_device(tui);
        break;
    case PW_EVENT_ANSWER:
        on_answer(tui, event);
        break;
    case PW_EVENT_TRIAGE: /* entries without the latest decisions would undo these, and the next one build on that */
        tui->unanswered -= event->about && tui->unanswered ? 1 : 0;
        if (!tui->unanswered && !event->failed)
            pw_tui_triage_event(tui, event->triage, event->triage_count);
        break;
    case PW_EVENT_LINES:
        pw_tui_views_event(tui, event);
        break;
    case PW_EVENT_MESSAGE:
        pw_tui_say(tui, event->failed, "%s", event->error.message);
        break;
    case PW_EVENT_NODE: /* runs of the whole graph are not asked for here */
    case PW_EVENT_LAYER:
    case PW_EVENT_OUTPUT:
    case PW_EVENT_PAST:
        break;
    }
    tui->at->run_now_ms = now_ms;
    /* rows must not jump about while cases stream in, and nodes and outputs change none */
    if (event->kind != PW_EVENT_CASE && event->kind != PW_EVENT_NODE && event->kind != PW_EVENT_OUTPUT &&
        event->kind != PW_EVENT_PAST && event->kind != PW_EVENT_DOING)
        pw_tui_rows_changed(tui);
}
