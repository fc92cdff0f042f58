/*
 * Options that commands share, and the few things every command does with them.
 *
 * A command lists which shared options it takes and its own in a table; parsing, "did you mean" and
 * the command's help come from the table. Used on the main thread, at start.
 */
#ifndef PW_CLI_OPTIONS_H
#define PW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "op/kernel.h"
#include "tensor/dim.h"

enum {
    PW_EXIT_HELD = 0,  /* all held */
    PW_EXIT_GATE = 1,  /* a gate failed */
    PW_EXIT_USAGE = 2, /* wrong usage or unreadable input */
    PW_EXIT_TARGET = 3 /* the target could not be used */
};

typedef enum {
    PW_FORMAT_TEXT,
    PW_FORMAT_JSON,
    PW_FORMAT_CSV,
    PW_FORMAT_MD,
    PW_FORMAT_JUNIT,
    PW_FORMAT_HTML,
    PW_FORMAT_OPENMETRICS,
    PW_FORMAT_COUNT
} pw_format;

#define PW_OPTION_TARGETS 8
#define PW_OPTION_SETS 16

struct pw_options {
    struct pw_arena arena;
    const char *targets[PW_OPTION_TARGETS];
    int target_count;                        /* 0: the command's default */
    struct pw_binding *dims[PW_OPTION_SETS]; /* one binding set for each --dim */
    size_t dim_counts[PW_OPTION_SETS];
    int dim_sets;
    const char *project, *db, *output;
    struct pw_ops_dir ops_dirs[PW_OPTION_TARGETS]; /* overlays */
    size_t ops_dir_count;
    pw_format format;
    bool format_given;
    uint64_t seed;
    int jobs;
    bool quiet;
    int color;         /* -1 auto, 0 never, 1 always */
    double rtol, atol; /* negative: not given */
    char **args;       /* what is no option */
    int arg_count;
    struct pw_gather *gather; /* of commands that write one report a target and binding set (cli/gather.h) */
};

struct pw_option_own { /* a command's own option; names end with NULL */
    const char *name;  /* "timing-ms" */
    const char *value; /* "N": takes a value; NULL: a flag */
    const char *help;
    const char **text; /* receives the value (or "" for a flag) */
};

struct pw_command_usage {
    const char *name;     /* "conformance" */
    const char *synopsis; /* "DIR..." */
    const char *summary;
    const char *shared; /* names of shared options it takes, blank-separated: "target dim format"; formats beside text,
                           json, csv and md are named here too, and of these the ones that it lacks, with a minus:
                           "format -csv junit" */
    const struct pw_option_own *own;
};

/* Parses. *exit_code >= 0 when the command is over already (help printed, or wrong usage said on stderr). */
void pw_options_parse(int argc, char **argv, const struct pw_command_usage *usage, struct pw_options *options,
                      int *exit_code);
void pw_options_clear(struct pw_options *options);

/* Parses "a=1,b=2" into an array in the arena. */
pw_status pw_options_dims(const char *text, struct pw_arena *arena, struct pw_binding **items, size_t *count,
                          struct pw_error *err);

/* "10s", "2m", "1h", "500ms"; a bare number is seconds. `what` names the option in the error. */
pw_status pw_options_duration(const char *what, const char *text, int64_t *ns, struct pw_error *err);

/* "portwright: <message>" on stderr, made safe for the terminal; returns the exit code for the status. */
int pw_options_fail(const struct pw_error *err);

/* Writes text to -o FILE (atomically) or stdout; returns PW_EXIT_HELD or PW_EXIT_USAGE. */
int pw_options_write(const struct pw_options *options, const char *text, size_t size);

/* The installed kernels and the overlays. */
pw_status pw_options_kernels(const struct pw_options *options, struct pw_kernels **out, struct pw_error *err);

/* Columns of the terminal on stdout, 80 without one. */
int pw_options_width(void);

#endif
