/*
 * The fast reference in a process of its own: OpenBLAS's threads spin after a call and would slow
 * whatever is timed next. Thread-safe; one process for all callers; started by exec of this program.
 */
#ifndef PW_RUN_REFERENCE_PROCESS_H
#define PW_RUN_REFERENCE_PROCESS_H

#include <stdatomic.h>

#include "op/op.h"

struct pw_reference_process;

/* threads 0 = all cores. */
pw_status pw_reference_open(int threads, struct pw_reference_process **out, struct pw_error *err);
void pw_reference_close(struct pw_reference_process *reference); /* NULL is fine */

struct pw_reference_request {
    const struct pw_call *call;
    const struct pw_value *const *inputs; /* nominal dtypes; NULL = omitted */
    int input_count;
    const struct pw_value *const *alternate; /* timed runs take these and `inputs` in turns, these first; same types;
                                                per input NULL = as in inputs. NULL: all runs take `inputs` */
    int repeats;                             /* timed runs after the one that warms up */
    int64_t min_time_ns;                     /* stop when so much was measured; 0 = all repeats */
    size_t flush_bytes;                      /* before each timed run every core passes over memory; 0 = not */
    const atomic_bool *cancel;               /* may be NULL */
};

/* Evaluates the call's node in fast mode. Samples go to samples_ns (room for `repeats`); *name is "openblas", "loops"
 * or "golden" (static text). */
pw_status pw_reference_measure(struct pw_reference_process *reference, const struct pw_reference_request *request,
                               int64_t *samples_ns, int *sample_count, const char **name, struct pw_error *err);
/* The same on one set of inputs. */
pw_status pw_reference_time(struct pw_reference_process *reference, const struct pw_call *call,
                            const struct pw_value *const *inputs, int input_count, int repeats, int64_t min_time_ns,
                            int64_t *samples_ns, int *sample_count, const char **name, struct pw_error *err);

/* The process's entry (argv[1] == "--reference"); returns the exit code. Only src/cli/main.c calls it. */
int pw_reference_main(int argc, char **argv);

#endif
