#include "job/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/session_internal.h"

enum { LOOK_NS = 20 * 1000 * 1000 }; /* how often a pause looks whether it is cancelled */

pw_status pw_queue_init(struct pw_queue *queue, bool with_fd, struct pw_error *err)
{
    pthread_condattr_t attributes;

    memset(queue, 0, sizeof *queue);
    queue->wake[0] = queue->wake[1] = -1;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->drained, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->eased, &attributes);
    pthread_condattr_destroy(&attributes);
    if (with_fd && pipe2(queue->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return pw_error_set(err, PW_ERR_IO, "no pipe: %s", strerror(errno));
    return PW_OK;
}

/* ---- events ---- */

/* Where memory is short, that must still be said, and the store be told where a run begins and ends. (What a client
 * waits for is made when it asks.) */
enum { RESERVED = 16, FOR_MESSAGES = 8 };
static struct {
    atomic_bool taken;
    struct pw_queue_node node;
} reserve[RESERVED];

/* How many of the reserve an event of the kind may take. */
static size_t share_of(pw_event_kind kind)
{
    switch (kind) {
    case PW_EVENT_STARTED:
    case PW_EVENT_FINISHED:
        return RESERVED;
    case PW_EVENT_MESSAGE:
        return FOR_MESSAGES;
    default:
        return 0;
    }
}

static struct pw_queue_node *from_reserve(pw_event_kind kind)
{
    for (size_t i = 0; i < share_of(kind); i++)
        if (!atomic_exchange(&reserve[i].taken, true)) {
            memset(&reserve[i].node, 0, sizeof reserve[i].node);
            return &reserve[i].node;
        }
    return NULL;
}

static void free_node(struct pw_queue_node *node)
{
    for (size_t i = 0; i < RESERVED; i++)
        if (node == &reserve[i].node) {
            atomic_store(&reserve[i].taken, false);
            return;
        }
    pw_free(node);
}

struct pw_event *pw_event_create(pw_event_kind kind)
{
    struct pw_queue_node *node = pw_calloc(1, sizeof *node);

    if (!node)
        node = from_reserve(kind);
    if (!node)
        return NULL;
    node->event.kind = kind;
    return &node->event;
}

static struct pw_queue_node *node_of(struct pw_event *event)
{
    return (struct pw_queue_node *)((char *)event - offsetof(struct pw_queue_node, event));
}

void pw_event_free(struct pw_event *event)
{
    if (!event)
        return;
    if (event->bench)
        pw_bench_report_clear(event->bench);
    pw_free(event->bench);
    pw_session_record_free(event->record);
    pw_event_free(event->reply);
    pw_arena_clear(&event->arena);
    free_node(node_of(event));
}

void pw_queue_push(struct pw_queue *queue, struct pw_event *event)
{
    struct pw_queue_node *node;

    if (!event)
        return;
    node = node_of(event);
    node->next = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->tail)
        queue->tail->next = node;
    else
        queue->head = node;
    queue->tail = node;
    queue->count++;
    if (queue->wake[1] >= 0 && write(queue->wake[1], "", 1) < 0) {
        /* the pipe is full: the consumer is awake anyway */
    }
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static struct pw_event *pop(struct pw_queue *queue)
{
    struct pw_queue_node *node = queue->head;

    if (!node)
        return NULL;
    queue->head = node->next;
    if (!queue->head)
        queue->tail = NULL;
    queue->count--;
    return &node->event;
}

/* LOOK_NS from now. */
static struct timespec next_look(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

void pw_queue_pause(struct pw_queue *queue, size_t most, const atomic_bool *cancel)
{
    pthread_mutex_lock(&queue->lock);
    for (size_t enough = most; queue->count > enough && !queue->closed && !*cancel; enough = most / 2) {
        struct timespec until = next_look();

        pthread_cond_timedwait(&queue->eased, &queue->lock, &until);
    }
    pthread_mutex_unlock(&queue->lock);
}

struct pw_event *pw_queue_take(struct pw_queue *queue)
{
    struct pw_event *event;
    char bytes[64];

    pthread_mutex_lock(&queue->lock);
    event = pop(queue);
    pthread_cond_signal(&queue->eased);
    if (!event || !queue->head) /* empty now: quieten the descriptor */
        while (queue->wake[0] >= 0 && read(queue->wake[0], bytes, sizeof bytes) > 0)
            ;
    pthread_mutex_unlock(&queue->lock);
    return event;
}

bool pw_queue_waiting(struct pw_queue *queue)
{
    bool waiting;

    pthread_mutex_lock(&queue->lock);
    waiting = queue->head != NULL;
    pthread_mutex_unlock(&queue->lock);
    return waiting;
}

struct pw_event *pw_queue_wait(struct pw_queue *queue)
{
    struct pw_event *event;

    pthread_mutex_lock(&queue->lock);
    queue->busy = false;
    if (!queue->head)
        pthread_cond_broadcast(&queue->drained);
    while (!queue->head && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    event = pop(queue);
    queue->busy = event != NULL;
    pthread_cond_signal(&queue->eased);
    pthread_mutex_unlock(&queue->lock);
    return event;
}

void pw_queue_drain(struct pw_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->head || queue->busy)
        pthread_cond_wait(&queue->drained, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

void pw_queue_close(struct pw_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_cond_broadcast(&queue->eased);
    pthread_mutex_unlock(&queue->lock);
}

void pw_queue_clear(struct pw_queue *queue)
{
    struct pw_event *event;

    while ((event = pop(queue)))
        pw_event_free(event);
    for (int i = 0; i < 2; i++)
        if (queue->wake[i] >= 0)
            close(queue->wake[i]);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
    pthread_cond_destroy(&queue->drained);
    pthread_cond_destroy(&queue->eased);
}

/* ---- copies ---- */

static bool copy_text(struct pw_arena *arena, const char **text)
{
    if (!*text)
        return true;
    *text = pw_arena_strndup(arena, *text, strlen(*text));
    return *text != NULL;
}

static bool copy_elements(struct pw_arena *arena, struct pw_case_result *result)
{
    struct pw_case_element *copy;

    if (!result->worst_count) {
        result->worst = NULL;
        return true;
    }
    copy = pw_arena_alloc(arena, result->worst_count, sizeof *copy);
    for (size_t i = 0; copy && i < result->worst_count; i++) {
        copy[i] = result->worst[i];
        if (!copy_text(arena, &copy[i].at))
            return false;
    }
    result->worst = copy;
    return copy != NULL;
}

bool pw_event_set_case(struct pw_event *event, const struct pw_case_result *result)
{
    struct pw_case_result *copy = &event->result;

    *copy = *result;
    return copy_text(&event->arena, &copy->implementation) && copy_text(&event->arena, &copy->shapes) &&
           copy_text(&event->arena, &copy->tolerance_why) && copy_text(&event->arena, &copy->reason) &&
           copy_text(&event->arena, &copy->log) && copy_text(&event->arena, &copy->property) &&
           copy_text(&event->arena, &copy->shrunk_id) && copy_text(&event->arena, &copy->shrunk_shapes) &&
           copy_text(&event->arena, &copy->shrunk_reason) && copy_elements(&event->arena, copy);
}

static bool copy_samples(struct pw_arena *arena, int64_t **samples, int count)
{
    int64_t *copy;

    if (!*samples || count <= 0) {
        *samples = NULL;
        return true;
    }
    copy = pw_arena_alloc(arena, (size_t)count, sizeof *copy);
    if (copy)
        memcpy(copy, *samples, (size_t)count * sizeof *copy);
    *samples = copy;
    return copy != NULL;
}

static bool copy_impls(struct pw_arena *arena, const struct pw_impl_list **impls)
{
    struct pw_impl_list *copy;

    if (!*impls)
        return true;
    copy = pw_arena_alloc(arena, 1, sizeof *copy);
    if (!copy)
        return false;
    *copy = **impls;
    *impls = copy;
    if (copy->count) {
        struct pw_impl *items = pw_arena_alloc(arena, copy->count, sizeof *items);

        if (!items)
            return false;
        memcpy(items, copy->items, copy->count * sizeof *items);
        copy->items = items;
        for (size_t i = 0; i < copy->count; i++)
            if (!copy_text(arena, &items[i].why) || !copy_text(arena, &items[i].name))
                return false;
    }
    return copy_text(arena, &copy->reason);
}

bool pw_event_set_summary(struct pw_event *event, const struct pw_signature_result *summary)
{
    struct pw_signature_result *copy = &event->summary;

    *copy = *summary;
    return copy_text(&event->arena, &copy->worst_case) && copy_text(&event->arena, &copy->reference_name) &&
           copy_text(&event->arena, &copy->gate_reason) && copy_text(&event->arena, &copy->explanation) &&
           copy_impls(&event->arena, &copy->implementations) &&
           copy_samples(&event->arena, &copy->target_samples, copy->target_sample_count) &&
           copy_samples(&event->arena, &copy->reference_samples, copy->reference_sample_count);
}

static bool copy_raw(struct pw_arena *arena, const struct pw_measure_result **raw)
{
    struct pw_measure_result *copy;

    if (!*raw || (*raw)->failed || (*raw)->slices < 1) {
        *raw = NULL;
        return true;
    }
    copy = pw_arena_alloc(arena, 1, sizeof *copy);
    if (!copy)
        return false;
    *copy = **raw;
    copy->log = (struct pw_buf){0};
    copy->slices_ns = pw_arena_alloc(arena, (size_t)copy->slices, sizeof *copy->slices_ns);
    if (!copy->slices_ns)
        return false;
    memcpy(copy->slices_ns, (*raw)->slices_ns, (size_t)copy->slices * sizeof *copy->slices_ns);
    *raw = copy;
    return copy_samples(arena, &copy->runs_ns, copy->slices * copy->runs_per_slice);
}

bool pw_event_set_figure(struct pw_event *event, const struct pw_bench_figure *figure, bool with_raw)
{
    struct pw_bench_figure *copy = &event->figure;

    *copy = *figure;
    if (!with_raw)
        copy->target_raw = copy->reference_raw = NULL;
    return copy_text(&event->arena, &copy->name) && copy_text(&event->arena, &copy->skipped) &&
           copy_text(&event->arena, &copy->reference_why) && copy_text(&event->arena, &copy->suspicion) &&
           copy_text(&event->arena, &copy->verified) && copy_text(&event->arena, &copy->roof.level) &&
           copy_impls(&event->arena, &copy->implementations) && copy_raw(&event->arena, &copy->target_raw) &&
           copy_raw(&event->arena, &copy->reference_raw);
}

void pw_event_set_error(struct pw_event *event, const struct pw_error *error)
{
    event->failed = true;
    event->error = *error;
}
