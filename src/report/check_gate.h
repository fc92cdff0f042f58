/*
 * What a check's report says about the gates: against which baseline, what is worse, better, undecided, in which
 * environment, what is waived. Text, Markdown, JSON and JUnit.
 */
#ifndef PW_REPORT_CHECK_GATE_H
#define PW_REPORT_CHECK_GATE_H

#include "baseline/baseline.h"
#include "baseline/judge.h"

struct json_t;

#define PW_REPORT_NOTES 8

struct pw_report_gate {
    const char *which;                                /* as asked: "latest"; NULL: no baseline was asked for */
    const struct pw_baseline *precision, *throughput; /* NULL: there is none */
    const char *environment_id;                       /* of this run */
    const char *environment;                          /* what differs from the nearest baseline's; "" the same */
    bool environment_fails;                           /* the project says that a difference fails */
    const char *notes[PW_REPORT_NOTES];               /* whole sentences */
    size_t note_count;
    const struct pw_gate_signature *pairs;
    const struct pw_gate_result *results;
    size_t count;
    struct pw_gate_totals totals;
    struct pw_judgement judgement;
};

void pw_report_gate_text(const struct pw_report_gate *gate, bool color, struct pw_buf *out);
void pw_report_gate_md(const struct pw_report_gate *gate, struct pw_buf *out);
struct json_t *pw_report_gate_json(const struct pw_report_gate *gate);

/* One sentence a signature for whoever reads why it fails: "precision: error …; throughput: …". */
void pw_report_gate_why(const struct pw_judged *item, struct pw_buf *out);
/* "a waiver of all, EXPIRED on 2026-03-01, ann: ticket 7; it passes: remove the waiver" */
void pw_report_gate_waiver(const struct pw_judged_waiver *waiver, struct pw_buf *out);

#endif
