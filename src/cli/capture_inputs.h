/*
 * `--captured DIR` where DIR is a data set (input_I.pb) instead of a folder that `run --capture` wrote: the graph is
 * run on those inputs first, on the reference, and what its nodes were fed goes beside the store. Main thread only.
 */
#ifndef PW_CLI_CAPTURE_INPUTS_H
#define PW_CLI_CAPTURE_INPUTS_H

#include "cli/options.h"

/* *captured: the folder to use, in the arena: `folder` itself when it holds captured activations. *data_set: it was a
 * data set, whose shapes bind dims too. */
pw_status pw_cli_capture_inputs(const struct pw_options *options, const char *folder, struct pw_arena *arena,
                                const char **captured, bool *data_set, struct pw_error *err);

#endif
