#include "report/conformance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SLOWEST 10

/* ---- gathering ---- */

static pw_status count_op(struct pw_report_reason *reason, const char *op, struct pw_error *err)
{
    pw_status status;

    for (size_t i = 0; i < reason->op_count; i++) {
        if (strcmp(reason->ops[i].op, op) == 0) {
            reason->ops[i].folders++;
            return PW_OK;
        }
    }
    status = PW_GROW(reason->ops, reason->op_cap, reason->op_count + 1, err);
    if (status == PW_OK) {
        struct pw_report_host_op *added = &reason->ops[reason->op_count++];

        memcpy(added->op, op, sizeof added->op);
        added->folders = 1;
    }
    return status;
}

static pw_status find_reason(struct pw_report_conformance *report, const char *why, struct pw_report_reason **out,
                             struct pw_error *err)
{
    pw_status status;

    for (size_t i = 0; i < report->reason_count; i++) {
        if (strcmp(report->reasons[i].why, why) == 0) {
            *out = &report->reasons[i];
            return PW_OK;
        }
    }
    status = PW_GROW(report->reasons, report->reason_cap, report->reason_count + 1, err);
    if (status == PW_OK) {
        *out = &report->reasons[report->reason_count++];
        **out = (struct pw_report_reason){.why = why};
    }
    return status;
}

/* A folder counts once for each of its reasons. */
static pw_status count_reasons(struct pw_report_conformance *report, const struct pw_conformance_set *set,
                               struct pw_error *err)
{
    for (size_t r = 0; r < set->reason_count; r++) {
        struct pw_report_reason *reason = NULL;
        bool first = true;
        pw_status status;

        if (set->reasons[r].steers)
            continue;
        for (size_t before = 0; before < r; before++)
            first = first && strcmp(set->reasons[before].why, set->reasons[r].why) != 0;
        status = find_reason(report, set->reasons[r].why, &reason, err);
        if (status == PW_OK)
            status = count_op(reason, set->reasons[r].op, err);
        if (status != PW_OK)
            return status;
        reason->folders += first;
    }
    return PW_OK;
}

/* Where a set's nodes ran; the set that stayed most on the host speaks for its folder. */
static pw_status place_folder(struct pw_report_conformance *report, const struct pw_conformance_result *result,
                              bool passed, struct pw_error *err)
{
    const struct pw_conformance_set *worst = &result->sets[0];
    size_t steering = 0;
    bool whole;

    for (size_t i = 1; i < result->set_count; i++) {
        if (result->sets[i].host_nodes > worst->host_nodes)
            worst = &result->sets[i];
    }
    for (size_t r = 0; r < worst->reason_count; r++)
        steering += worst->reasons[r].steers ? worst->reasons[r].nodes : 0;
    whole = worst->target_nodes > 0 && steering == worst->host_nodes;
    report->wholly += whole;
    report->wholly_passed += whole && passed;
    report->steered += whole && steering > 0;
    report->empty += worst->target_nodes == 0 && worst->host_nodes == 0;
    report->partly += !whole && worst->target_nodes > 0;
    report->on_host += worst->target_nodes == 0 && worst->host_nodes > 0;
    if (whole)
        return PW_OK;
    /* Control flow alone, without a node of its bodies: that is the reason then. */
    if (worst->target_nodes == 0 && steering == worst->host_nodes && steering > 0) {
        struct pw_conformance_set only = *worst;

        for (size_t r = 0; r < only.reason_count; r++)
            only.reasons[r].steers = false;
        return count_reasons(report, &only, err);
    }
    return count_reasons(report, worst, err);
}

pw_status pw_report_conformance_add(struct pw_report_conformance *report, const char *folder,
                                    const struct pw_conformance_result *result, struct pw_error *err)
{
    struct pw_report_folder *added;
    bool passed = true, property = false;
    pw_status status = PW_GROW(report->folders, report->folder_cap, report->folder_count + 1, err);

    if (status != PW_OK || result->set_count == 0)
        return status;
    added = &report->folders[report->folder_count];
    *added = (struct pw_report_folder){.path = pw_strdup(folder)};
    if (added->path == NULL)
        return pw_error_memory(err, strlen(folder));
    report->folder_count++;
    for (size_t i = 0; i < result->set_count; i++) {
        const struct pw_conformance_set *set = &result->sets[i];

        report->sets_passed += set->outcome == PW_CONFORMANCE_PASSED;
        report->sets_failed += set->outcome == PW_CONFORMANCE_FAILED;
        report->sets_skipped += set->outcome == PW_CONFORMANCE_SKIPPED;
        passed = passed && set->outcome != PW_CONFORMANCE_FAILED;
        property = property || set->by_property;
        added->elapsed_ns += set->elapsed_ns;
    }
    report->folders_passed += passed;
    report->folders_failed += !passed;
    report->by_property += property;
    return report->on_target ? place_folder(report, result, passed, err) : PW_OK;
}

/* ---- writing ---- */

static int by_folders(const void *a, const void *b)
{
    const struct pw_report_reason *x = a, *y = b;

    if (x->folders != y->folders)
        return x->folders < y->folders ? 1 : -1;
    return strcmp(x->why, y->why);
}

static int by_count(const void *a, const void *b)
{
    const struct pw_report_host_op *x = a, *y = b;

    if (x->folders != y->folders)
        return x->folders < y->folders ? 1 : -1;
    return strcmp(x->op, y->op);
}

static int by_time(const void *a, const void *b)
{
    const struct pw_report_folder *x = a, *y = b;

    if (x->elapsed_ns != y->elapsed_ns)
        return x->elapsed_ns < y->elapsed_ns ? 1 : -1;
    return strcmp(x->path, y->path);
}

static double share(size_t part, size_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_places(struct pw_report_conformance *report, struct pw_buf *out)
{
    pw_buf_printf(out,
                  "on the target: %zu of %zu folders wholly (%.1f %%), %zu of them held; %zu partly, %zu on the host",
                  report->wholly, report->folder_count, share(report->wholly, report->folder_count),
                  report->wholly_passed, report->partly, report->on_host);
    if (report->empty > 0)
        pw_buf_printf(out, ", %zu with nothing to run", report->empty);
    pw_buf_putc(out, '\n');
    if (report->steered > 0)
        pw_buf_printf(out,
                      "  in %zu of those wholly there the host decides what runs next (If, Loop, Scan, SequenceMap)\n",
                      report->steered);
    if (report->reason_count > 0)
        qsort(report->reasons, report->reason_count, sizeof *report->reasons, by_folders);
    for (size_t i = 0; i < report->reason_count; i++) {
        struct pw_report_reason *reason = &report->reasons[i];

        pw_buf_printf(out, "  %4zu  %s:", reason->folders, reason->why);
        qsort(reason->ops, reason->op_count, sizeof *reason->ops, by_count);
        for (size_t k = 0; k < reason->op_count; k++) {
            char safe[PW_TARGET_EVAL_OP * 4];

            pw_buf_printf(out, "%s %s %zu", k > 0 ? "," : "",
                          pw_text_show(safe, sizeof safe, reason->ops[k].op, PW_TARGET_EVAL_OP),
                          reason->ops[k].folders);
        }
        pw_buf_putc(out, '\n');
    }
}

static double at_share(const struct pw_report_conformance *report, double part) /* folders are slowest first */
{
    size_t place = (size_t)(part * (double)(report->folder_count - 1) + 0.5);

    return (double)report->folders[report->folder_count - 1 - place].elapsed_ns / 1e6;
}

static void put_times(struct pw_report_conformance *report, struct pw_buf *out)
{
    static const double bounds_ms[] = {0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000};
    size_t counts[sizeof bounds_ms / sizeof *bounds_ms + 1] = {0};
    size_t bounds = sizeof bounds_ms / sizeof *bounds_ms;
    double total = 0;
    char safe[1024];

    if (report->folder_count == 0)
        return;
    qsort(report->folders, report->folder_count, sizeof *report->folders, by_time);
    for (size_t i = 0; i < report->folder_count; i++) {
        double ms = (double)report->folders[i].elapsed_ns / 1e6;
        size_t b = 0;

        while (b < bounds && ms >= bounds_ms[b])
            b++;
        counts[b]++;
        total += ms;
    }
    pw_buf_printf(out, "time a folder, ms: total %.1f, median %.3f, 90 %% within %.3f, 99 %% within %.3f, most %.1f\n",
                  total, at_share(report, 0.5), at_share(report, 0.9), at_share(report, 0.99), at_share(report, 1));
    for (size_t b = 0; b <= bounds; b++) {
        if (counts[b] == 0)
            continue;
        if (b < bounds)
            pw_buf_printf(out, "  %4zu  below %g ms\n", counts[b], bounds_ms[b]);
        else
            pw_buf_printf(out, "  %4zu  %g ms and more\n", counts[b], bounds_ms[b - 1]);
    }
    pw_buf_puts(out, "slowest:\n");
    for (size_t i = 0; i < report->folder_count && i < SLOWEST; i++)
        pw_buf_printf(out, "  %9.3f ms  %s\n", (double)report->folders[i].elapsed_ns / 1e6,
                      pw_text_show(safe, sizeof safe, report->folders[i].path, 200));
}

void pw_report_conformance_text(struct pw_report_conformance *report, bool times, struct pw_buf *out)
{
    if (times)
        put_times(report, out);
    if (report->on_target)
        put_places(report, out);
    pw_buf_printf(out, "folders: %zu passed, %zu failed", report->folders_passed, report->folders_failed);
    if (report->by_property > 0)
        pw_buf_printf(out, "; %zu judged by property, as their outputs are draws", report->by_property);
    pw_buf_printf(out, "\nwall time: %.1f s with %d job%s\n", (double)report->wall_ns / 1e9, report->jobs,
                  report->jobs == 1 ? "" : "s");
    pw_buf_printf(out, "%zu passed, %zu failed, %zu skipped\n", report->sets_passed, report->sets_failed,
                  report->sets_skipped);
}

void pw_report_conformance_clear(struct pw_report_conformance *report)
{
    for (size_t i = 0; i < report->reason_count; i++)
        pw_free(report->reasons[i].ops);
    for (size_t i = 0; i < report->folder_count; i++)
        pw_free(report->folders[i].path);
    pw_free(report->reasons);
    pw_free(report->folders);
    memset(report, 0, sizeof *report);
}
