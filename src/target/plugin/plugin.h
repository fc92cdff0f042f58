/* Targets from shared objects. Called in the worker process only. */
#ifndef PW_TARGET_PLUGIN_H
#define PW_TARGET_PLUGIN_H

#include <stdbool.h>

#include "base/error.h"
#include "target/target.h"

/* Before the process changes its user (`copy`): a copy of FILE.so in memory as a descriptor, for a file in a
 * folder that the other user may not enter. Without `copy` *fd is -1. */
pw_status pw_plugin_open(const char *path, bool copy, int *fd, struct pw_error *err);

/* Loads FILE.so (stays loaded for the life of the process), from the descriptor when it cannot by its name, and
 * checks its required slots. */
pw_status pw_plugin_load(const char *path, int fd, const struct pw_target **out, struct pw_error *err);

#endif
