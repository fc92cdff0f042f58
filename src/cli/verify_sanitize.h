/* portwright verify --sanitize: kernels under Oclgrind. Main thread only. */
#ifndef PW_CLI_VERIFY_SANITIZE_H
#define PW_CLI_VERIFY_SANITIZE_H

#include "cli/options.h"

/* Runs the built-in kernels and those of --ops-dir; with a MODEL only those that serve an operator of it; only those
 * whose name, or whose operator's, has `part` in it (NULL: all). Writes the report in the options' format; returns the
 * exit code: 1 when something was found, 3 without Oclgrind. */
int pw_cli_sanitize(const struct pw_options *options, const char *part);

#endif
