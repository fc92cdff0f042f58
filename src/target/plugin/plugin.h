/* Targets from shared objects. Called in the worker process only. */
#ifndef PW_TARGET_PLUGIN_H
#define PW_TARGET_PLUGIN_H

#include "base/error.h"
#include "target/target.h"

/* Loads FILE.so (stays loaded for the life of the process) and checks its required slots. */
pw_status pw_plugin_load(const char *path, const struct pw_target **out, struct pw_error *err);

#endif
