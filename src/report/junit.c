#include "report/junit.h"

#include <stdio.h>
#include <string.h>

#include "report/check.h"
#include "report/check_gate.h"

struct suite { /* tests are gathered first: the head has their numbers */
    struct pw_buf tests;
    size_t count, failures, errors, skipped;
};

static void begin_test(struct suite *s, const struct pw_signature *signature, const char *what)
{
    s->count++;
    pw_buf_puts(&s->tests, "    <testcase classname=\"");
    pw_report_xml_text(&s->tests, signature->op_label);
    pw_buf_puts(&s->tests, "\" name=\"");
    pw_report_xml_text(&s->tests, what);
    pw_buf_putc(&s->tests, ' ');
    pw_report_xml_text(&s->tests, signature->shapes);
    pw_buf_printf(&s->tests, " %s\"", signature->id);
}

static void end_test(struct suite *s, const char *kind, const char *message, const char *detail)
{
    if (!kind) {
        pw_buf_puts(&s->tests, "/>\n");
        return;
    }
    pw_buf_printf(&s->tests, "><%s message=\"", kind);
    pw_report_xml_text(&s->tests, message);
    if (detail && detail[0]) {
        pw_buf_puts(&s->tests, "\">");
        pw_report_xml_text(&s->tests, detail);
        pw_buf_printf(&s->tests, "</%s></testcase>\n", kind);
    } else {
        pw_buf_puts(&s->tests, "\"/></testcase>\n");
    }
    s->failures += !strcmp(kind, "failure");
    s->errors += !strcmp(kind, "error");
    s->skipped += !strcmp(kind, "skipped");
}

static void end_suite(struct suite *s, const char *name, const struct pw_report_check *check, const char *target,
                      struct pw_buf *out)
{
    if (s->count) {
        pw_buf_puts(out, "  <testsuite name=\"");
        pw_report_xml_text(out, name);
        pw_buf_puts(out, " on ");
        pw_report_xml_text(out, target);
        if (check && check->bindings[0]) {
            pw_buf_puts(out, ", ");
            pw_report_xml_text(out, check->bindings);
        }
        pw_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", s->count, s->failures,
                      s->errors, s->skipped);
        pw_buf_append(out, pw_buf_text(&s->tests), s->tests.size);
        pw_buf_puts(out, "  </testsuite>\n");
    }
    out->failed |= s->tests.failed;
    pw_buf_clear(&s->tests);
    *s = (struct suite){0};
}

static const struct pw_judged *judged(const struct pw_report_check *check, size_t i)
{
    return check->gate && i < check->gate->judgement.count ? &check->gate->judgement.items[i] : NULL;
}

/* The waiver's reason when it covers all of `bits` that fail. */
static bool waived(const struct pw_judged *item, unsigned bits, struct pw_buf *why)
{
    if (!item || !(item->failing & bits) || (item->failing & bits & ~item->waived))
        return false;
    pw_buf_printf(why, "waived until %s by %s: %s", item->entry->waiver.until, item->entry->waiver.owner,
                  item->entry->waiver.reason);
    return true;
}

/* Failing cases of a signature with what reproduces each. */
static void failures_of(const struct pw_report_check *check, size_t i, struct pw_buf *out)
{
    for (size_t k = 0; k < check->failure_count; k++) {
        const struct pw_report_failure *f = &check->failures[k];

        if (f->signature == i)
            pw_buf_printf(out, "%s: %s\nreproduce: portwright check %s --target %s%s%s --case %s\n", f->verdict,
                          f->reason, check->model_path, check->target, check->bindings[0] ? " --dim " : "",
                          check->bindings, f->case_id);
    }
}

static void cases_suite(const struct pw_report_check *check, struct suite *s)
{
    for (size_t i = 0; i < check->inventory->signature_count; i++) {
        const struct pw_signature_result *row = check->rows[i];
        struct pw_buf why = {0};

        if (!row)
            continue;
        begin_test(s, &check->inventory->signatures[i], "cases");
        if (waived(judged(check, i), PW_WAIVE_VERIFY | PW_WAIVE_COVERAGE, &why)) {
            end_test(s, "skipped", pw_buf_text(&why), NULL);
        } else if (row->gate_failed) {
            failures_of(check, i, &why);
            end_test(s, "failure", row->gate_reason ? row->gate_reason : "failed", pw_buf_text(&why));
        } else if (row->standing != PW_STANDING_HELD) {
            end_test(s, "skipped", row->gate_reason && row->gate_reason[0] ? row->gate_reason : "unproven", NULL);
        } else {
            end_test(s, NULL, NULL, NULL);
        }
        pw_buf_clear(&why);
    }
}

static void gate_suite(const struct pw_report_check *check, pw_gate_kind kind, struct suite *s)
{
    static const unsigned bits[PW_GATE_KIND_COUNT] = {PW_WAIVE_COVERAGE, PW_WAIVE_PRECISION, PW_WAIVE_THROUGHPUT};

    for (size_t i = 0; i < check->inventory->signature_count; i++) {
        const struct pw_judged *item = judged(check, i);
        struct pw_buf why = {0};

        if (!item || !item->result || !item->run)
            continue;
        begin_test(s, &check->inventory->signatures[i], pw_gate_kind_name(kind));
        switch (item->result->outcome[kind]) {
        case PW_GATE_HELD:
        case PW_GATE_BETTER:
            end_test(s, NULL, NULL, NULL);
            break;
        case PW_GATE_WORSE:
            if (waived(item, bits[kind], &why))
                end_test(s, "skipped", pw_buf_text(&why), item->result->reason[kind]);
            else
                end_test(s, "failure", item->result->reason[kind], NULL);
            break;
        default:
            pw_buf_printf(&why, "%s: %s", pw_gate_outcome_name(item->result->outcome[kind]),
                          item->result->reason[kind]);
            end_test(s, "skipped", pw_buf_text(&why), NULL);
        }
        pw_buf_clear(&why);
    }
}

/* A waiver is a test of its own: past its last day somebody has to renew or remove it. */
static void waiver_suite(const struct pw_report_check *check, struct suite *s)
{
    for (size_t i = 0; check->gate && i < check->gate->judgement.waiver_count; i++) {
        const struct pw_judged_waiver *w = &check->gate->judgement.waivers[i];
        struct pw_signature of = {.op_label = w->op[0] ? w->op : "waiver", .shapes = w->entry->waiver.until};
        struct pw_buf why = {0};

        memcpy(of.id, w->entry->id, sizeof of.id);
        begin_test(s, &of, "waiver until");
        pw_report_gate_waiver(w, &why);
        end_test(s, w->state == PW_JUDGED_EXPIRED ? "failure" : NULL, pw_buf_text(&why), NULL);
        pw_buf_clear(&why);
    }
}

static void one_target(const struct pw_report_target *target, struct pw_buf *out)
{
    static const struct pw_signature whole = {.op_label = "target", .shapes = "", .id = ""};
    struct suite s = {0};

    if (!target->check) {
        begin_test(&s, &whole, "usable");
        end_test(&s, "error", target->error, NULL);
        end_suite(&s, "target", NULL, target->target, out);
        return;
    }
    cases_suite(target->check, &s);
    end_suite(&s, "cases", target->check, target->target, out);
    waiver_suite(target->check, &s);
    end_suite(&s, "waivers", target->check, target->target, out);
    for (int kind = 0; target->check->gate && target->check->gate->which && kind < PW_GATE_KIND_COUNT; kind++) {
        gate_suite(target->check, (pw_gate_kind)kind, &s);
        end_suite(&s, pw_gate_kind_name((pw_gate_kind)kind), target->check, target->target, out);
    }
}

void pw_report_junit_begin(struct pw_buf *out)
{
    pw_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"portwright check\">\n");
}

void pw_report_junit_add(const struct pw_report_targets *set, struct pw_buf *out)
{
    for (size_t t = 0; t < set->count; t++)
        one_target(&set->targets[t], out);
}

void pw_report_junit_end(struct pw_buf *out)
{
    pw_buf_puts(out, "</testsuites>\n");
}
