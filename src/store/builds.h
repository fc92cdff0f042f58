/*
 * What compilers said of kernels' sources the last time they were built, so that it is shown again after a restart.
 * Kept by target and by the hash of the source, so that an edit and its undoing each have their own. Same rules as
 * store.h: one connection, one thread.
 */
#ifndef PW_STORE_BUILDS_H
#define PW_STORE_BUILDS_H

#include "base/hash.h"
#include "store/store.h"

#define PW_STORE_BUILD_LOG ((size_t)16 << 10) /* bytes kept of a log */
#define PW_STORE_BUILDS 1000                  /* rows kept of a target, the newest */
#define PW_STORE_BUILD_LOGS 8                 /* of a source, that are read back */

struct pw_store_build {
    struct pw_hash128 source; /* without the prelude */
    const char *log;          /* "": nothing was said */
    bool failed;              /* it did not build */
};

/* One transaction. first: what was kept of the source on this target before goes, unless the log is empty (built
 * before, and said then). A source may have several logs: it is built for each element type. */
pw_status pw_store_build_add(struct pw_store *store, const char *target, const struct pw_store_build *build, bool first,
                             struct pw_error *err);
/* Of a source on the target the newest PW_STORE_BUILD_LOGS, oldest first; rows in the arena. */
pw_status pw_store_builds(struct pw_store *store, const char *target, struct pw_hash128 source, struct pw_arena *arena,
                          struct pw_store_build **rows, size_t *count, struct pw_error *err);

#endif
