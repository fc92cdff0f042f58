/*
 * A fixed pool of threads for loops over independent indices. Used by the references
 * and by case generation; never by the UI. One process-wide pool, started on first use.
 * Calls from inside a body run serially. Not async-signal-safe.
 */
#ifndef PW_BASE_PARALLEL_H
#define PW_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Threads of the pool including the caller; set before the first use (0 = all cores). */
void pw_parallel_threads(int threads);
int pw_parallel_count(void);

/* Calls body(user, begin, end) for disjoint ranges that cover [0, count). Ranges are
 * multiples of `grain` but for the last. Returns when all are done. */
typedef void pw_parallel_body(void *user, int64_t begin, int64_t end);
void pw_parallel_for(int64_t count, int64_t grain, pw_parallel_body *body, void *user);

#endif
