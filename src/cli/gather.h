/*
 * Several reports of one command (one a target and binding set) as one output: one JSON document, one JUnit document,
 * CSV with one head. Each used to replace the file of the one before. Main thread only.
 */
#ifndef PW_CLI_GATHER_H
#define PW_CLI_GATHER_H

#include "base/text.h"
#include "cli/options.h"

struct pw_gather {
    bool several; /* more than one report is to come */
    struct pw_buf text;
    size_t count;
};

/* Writes the report, or keeps it for the end. Returns an exit code. */
int pw_gather_add(struct pw_gather *gather, const struct pw_options *options, const char *text, size_t size);
/* Writes what was kept, and clears. Returns an exit code. */
int pw_gather_end(struct pw_gather *gather, const struct pw_options *options);
/* Is there more than one target or binding set? */
static inline struct pw_gather pw_gather_begin(const struct pw_options *options)
{
    return (struct pw_gather){.several = options->target_count > 1 || options->dim_sets > 1};
}

#endif
