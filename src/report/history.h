/*
 * The report of a history: one row a series, with where its level changed and whether it drifts. Text (a table with
 * sparklines), JSON (schema 1, every point), CSV (every point), Markdown.
 */
#ifndef PW_REPORT_HISTORY_H
#define PW_REPORT_HISTORY_H

#include "bench/trend.h"
#include "store/history.h"

struct pw_report_change {
    size_t at;                                /* point where the new level begins */
    bool throughput;                          /* else precision */
    double factor;                            /* after / before of the figure: time ratio or error; above 1 is worse */
    const char *kernel_before, *kernel_after; /* hashes around it, "" unknown */
};

struct pw_report_history_row {
    const struct pw_history_series *series;
    double *ratios;                   /* target / reference of each point; NaN unknown */
    struct pw_report_change *changes; /* by point */
    size_t change_count;
    double drift_per_month; /* of the ratio since the last change: 0.02 = 2 % slower a month; NaN unknown */
    double drift_p;
    size_t environments; /* in how many it was timed */
    size_t elsewhere;    /* timed points in other environments than the newest: they do not compare with it */
    size_t newest_timed; /* point; the series' count: none was timed */
    size_t moved_before; /* the last timed point before the newest environment's latest stretch; its count: none */
};

struct pw_report_history {
    struct pw_report_history_row *rows;
    size_t count;
    const struct pw_history_environment *environments; /* what the ids stand for; may be NULL */
    size_t environment_count;
};

/* Computes the rows in the arena. Ratios of different environments are not one series: changes are sought in each, and
 * the writers mark where a series went from one to another. */
pw_status pw_report_history(const struct pw_history_series *series, size_t count, struct pw_arena *arena,
                            struct pw_report_history *out, struct pw_error *err);

void pw_report_history_text(const struct pw_report_history *history, int width, bool ascii, struct pw_buf *out);
void pw_report_history_md(const struct pw_report_history *history, struct pw_buf *out);
void pw_report_history_csv(const struct pw_report_history *history, struct pw_buf *out);
pw_status pw_report_history_json(const struct pw_report_history *history, struct pw_buf *out, struct pw_error *err);

#endif
