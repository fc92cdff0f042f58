/*
 * The report of a benchmark: one row a signature, what is not believed, advice, and under which circumstances the
 * figures were taken; as text, CSV, Markdown or JSON (schema 1, share/schema/bench.schema.json).
 */
#ifndef PW_REPORT_BENCH_H
#define PW_REPORT_BENCH_H

#include "bench/bench.h"
#include "bench/environment.h"

struct pw_report_bench {
    const struct pw_inventory *inventory; /* that the figures' signatures count in */
    const char *model_path, *graph_id, *target, *bindings;
    const struct pw_target_info *info;
    const struct pw_environment *environment;
    const struct pw_bench_report *bench;
    const char *pin; /* what differs from portwright.lock, one a line; "" nothing does; NULL: nothing is pinned */
    uint64_t seed;
    bool advice; /* in text and Markdown; JSON always has it */
    bool raw;    /* JSON: every run, not only the slices' medians */
};

void pw_report_bench_text(const struct pw_report_bench *report, int width, struct pw_buf *out);
void pw_report_bench_md(const struct pw_report_bench *report, struct pw_buf *out);
void pw_report_bench_csv(const struct pw_report_bench *report, struct pw_buf *out);
pw_status pw_report_bench_json(const struct pw_report_bench *report, struct pw_buf *out, struct pw_error *err);

#endif
