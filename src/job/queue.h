/*
 * A thread-safe queue of events with a file descriptor that is readable while one waits. One producer
 * side (any thread), one consumer. Events are owned by the queue until taken.
 */
#ifndef PW_JOB_QUEUE_H
#define PW_JOB_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "job/session.h"

struct pw_queue_node {
    struct pw_queue_node *next;
    struct pw_event event;
};

struct pw_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled, drained, eased;
    struct pw_queue_node *head, *tail;
    size_t count;
    bool busy; /* the consumer works on an event that it took with pw_queue_wait */
    bool closed;
    int wake[2]; /* pipe; -1 when the consumer only waits */
};

pw_status pw_queue_init(struct pw_queue *queue, bool with_fd, struct pw_error *err);
void pw_queue_clear(struct pw_queue *queue); /* frees what was not taken */

/* A new event; NULL when memory is short, but hardly ever for a message, a begin or an end: a few of those are kept.
 * Push takes ownership (NULL is ignored). */
struct pw_event *pw_event_create(pw_event_kind kind);
void pw_queue_push(struct pw_queue *queue, struct pw_event *event);

/* Waits until half of `most` events are left, where there are more than that: what a producer brings in a flood would
 * fill the memory of a consumer who is slow or away. Ends also when the queue is closed or *cancel is set, and does not
 * wait at all then. */
void pw_queue_pause(struct pw_queue *queue, size_t most, const atomic_bool *cancel);
struct pw_event *pw_queue_take(struct pw_queue *queue); /* NULL: none */
bool pw_queue_waiting(struct pw_queue *queue);          /* there is one to take */
struct pw_event *
pw_queue_wait(struct pw_queue *queue); /* blocks; NULL: closed and empty. Marks the queue busy until the next call */
void pw_queue_drain(struct pw_queue *queue); /* returns when all was taken and worked on */
void pw_queue_close(struct pw_queue *queue);

/* Deep copies into the event's arena; false when memory is short. */
bool pw_event_set_case(struct pw_event *event, const struct pw_case_result *result);
bool pw_event_set_summary(struct pw_event *event, const struct pw_signature_result *summary);
/* with_raw: the raw samples too. */
bool pw_event_set_figure(struct pw_event *event, const struct pw_bench_figure *figure, bool with_raw);
void pw_event_set_error(struct pw_event *event, const struct pw_error *error);

#endif
