/* check --soak: the graph and its cases over and over for a time, with what drifts. Main thread only. */
#ifndef PW_CLI_CHECK_SOAK_H
#define PW_CLI_CHECK_SOAK_H

#include "cli/options.h"

/* Runs on the first target with the first set of dims, records a run of kind "soak", prints a summary; the exit code.
 */
int pw_check_soak(const struct pw_options *options, const char *op, double seconds);

#endif
