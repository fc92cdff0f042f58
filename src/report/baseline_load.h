/*
 * Reads baselines for their reports: what a folder holds, and what differs between two. Any thread; one struct belongs
 * to one thread.
 */
#ifndef PW_REPORT_BASELINE_LOAD_H
#define PW_REPORT_BASELINE_LOAD_H

#include "report/baseline.h"

/* Files of folders, each with its head. A zeroed one is empty. */
struct pw_baseline_listing {
    struct pw_arena arena;
    struct pw_report_baseline_entry *entries; /* owned */
    struct pw_baseline *heads;                /* owned */
    size_t count, cap, heads_cap;
};
/* Adds the files of <graph>/<target kind> at `folder`, called `name`. */
pw_status pw_baseline_listing_add(struct pw_baseline_listing *listing, const char *folder, const char *name,
                                  struct pw_error *err);
/* Once all folders are added: entries point to their heads. */
void pw_baseline_listing_finish(struct pw_baseline_listing *listing);
void pw_baseline_listing_clear(struct pw_baseline_listing *listing);

#define PW_BASELINE_DIFF_PARTS 64

struct pw_baseline_diff {
    struct pw_arena arena;
    struct pw_baseline files[2 * PW_BASELINE_DIFF_PARTS];
    size_t file_count;
    struct pw_report_diff_part parts[PW_BASELINE_DIFF_PARTS];
    size_t part_count;
};
/* Large: on the heap. */
pw_status pw_baseline_diff_create(struct pw_baseline_diff **out, struct pw_error *err);
void pw_baseline_diff_destroy(struct pw_baseline_diff *diff);
/* Adds what differs between two files; those of another graph, kind or target are refused. */
pw_status pw_baseline_diff_files(struct pw_baseline_diff *diff, const char *before, const char *after,
                                 struct pw_error *err);
/* Of a folder: precision, then throughput of each environment that has files. before, after: "latest", "pending" or a
 * number. PW_ERR_USAGE when there is nothing of one kind to compare. */
pw_status pw_baseline_diff_folder(struct pw_baseline_diff *diff, const char *folder, const char *before,
                                  const char *after, struct pw_error *err);

#endif
