/*
 * How much memory the cases that run at the same time may need together, for a program that promises how little it
 * takes: a case of half a million elements has a dozen tensors of them while it is judged, and each thread of each
 * target may be at one. Who starts a case takes what it will need, waiting until others have given theirs back. Any
 * thread.
 *
 * A case that alone is above the limit is one of the graph's own shapes: it neither waits nor counts. And nobody waits
 * for long: the limit is a courtesy, the verdicts come first.
 */
#ifndef PW_VERIFY_MEMORY_H
#define PW_VERIFY_MEMORY_H

#include <pthread.h>

#include "op/op.h"

struct pw_case_memory {
    pthread_mutex_t lock; /* of used_bytes */
    pthread_cond_t given; /* back */
    int64_t limit_bytes, used_bytes;
};

void pw_case_memory_init(struct pw_case_memory *memory, int64_t limit_bytes);
void pw_case_memory_clear(struct pw_case_memory *memory); /* when nobody uses it any more */

/* What judging a case of this call takes at most, about. Its dims are numbers. */
int64_t pw_case_memory_need(const struct pw_call *call);
/* Waits until so much is free, for wait_ms at most; what is to be given back. memory NULL: there is no limit. */
int64_t pw_case_memory_take(struct pw_case_memory *memory, int64_t bytes, int64_t wait_ms);
void pw_case_memory_give(struct pw_case_memory *memory, int64_t taken);

#endif
