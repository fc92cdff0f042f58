/* Events on their way: a producer of very many waits for who takes them. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "job/queue.h"

static void push(struct pw_queue *queue, int count)
{
    for (int i = 0; i < count; i++)
        pw_queue_push(queue, pw_event_create(PW_EVENT_NODE));
}

/* Takes a thousand. */
static void *take_all(void *user)
{
    struct pw_queue *queue = user;

    for (int left = 1000; left > 0;) {
        struct pw_event *event = pw_queue_take(queue);

        pw_event_free(event);
        left = event ? left - 1 : left;
        if (!event)
            sched_yield();
    }
    return NULL;
}

/* Waits for the other thread's word, then does what ends a pause. */
struct ending {
    struct pw_queue *queue;
    atomic_bool *cancel; /* to set; NULL: the queue is closed instead */
    atomic_bool waits;
};

static void *end_it(void *user)
{
    struct ending *ending = user;

    while (!ending->waits)
        sched_yield();
    if (ending->cancel)
        *ending->cancel = true;
    else
        pw_queue_close(ending->queue);
    return NULL;
}

static void test_pause(void **state)
{
    atomic_bool cancel = false;
    struct pw_queue queue;
    struct ending ending = {.queue = &queue};
    struct pw_error err = {0};
    pthread_t thread;

    (void)state;
    assert_int_equal(pw_queue_init(&queue, true, &err), PW_OK);
    push(&queue, 100);
    pw_queue_pause(&queue, 100, &cancel); /* not too many */
    assert_int_equal(queue.count, 100);
    push(&queue, 900);
    assert_int_equal(pthread_create(&thread, NULL, take_all, &queue), 0);
    pw_queue_pause(&queue, 100, &cancel);
    pthread_mutex_lock(&queue.lock);
    assert_in_range(queue.count, 0, 50);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(thread, NULL);
    assert_int_equal(queue.count, 0);
    push(&queue, 500);
    for (int closed = 0; closed < 2; closed++) { /* nobody comes: it is cancelled, or the queue closed */
        ending.cancel = closed ? NULL : &cancel;
        ending.waits = false;
        cancel = false;
        assert_int_equal(pthread_create(&thread, NULL, end_it, &ending), 0);
        ending.waits = true;
        pw_queue_pause(&queue, 100, &cancel);
        assert_int_equal(queue.count, 500);
        pthread_join(thread, NULL);
        pw_queue_pause(&queue, 100, &cancel); /* not again */
    }
    pw_queue_clear(&queue);
}

/* However many come, few wait. */
static void test_bounded(void **state)
{
    atomic_bool cancel = false;
    struct pw_queue queue;
    struct pw_error err = {0};
    pthread_t thread;
    size_t most = 0;

    (void)state;
    assert_int_equal(pw_queue_init(&queue, false, &err), PW_OK);
    assert_int_equal(pthread_create(&thread, NULL, take_all, &queue), 0);
    for (int i = 0; i < 1000; i++) {
        push(&queue, 1);
        pw_queue_pause(&queue, 100, &cancel);
        pthread_mutex_lock(&queue.lock);
        most = queue.count > most ? queue.count : most;
        pthread_mutex_unlock(&queue.lock);
    }
    pthread_join(thread, NULL);
    assert_in_range(most, 0, 100);
    pw_queue_clear(&queue);
}

/* Without memory there are still events for begins, ends and some messages, and none for results; what is given back
 * serves again, empty. */
static void test_without_memory(void **state)
{
    struct pw_event *messages[1000] = {NULL}, *end;
    size_t count = 0;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        pw_mem_fail_at(1, 1);
        count = 0;
        while (count < 1000 && (messages[count] = pw_event_create(PW_EVENT_MESSAGE)) != NULL)
            count++;
        end = pw_event_create(PW_EVENT_FINISHED);
        assert_null(pw_event_create(PW_EVENT_CASE));
        pw_mem_fail_at(0, 0);
        assert_in_range(count, 1, 100);
        assert_non_null(end);
        assert_int_equal(end->kind, PW_EVENT_FINISHED);
        assert_int_equal(end->job, 0);
        end->job = 7;
        pw_event_free(end);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(messages[i]->kind, PW_EVENT_MESSAGE);
            assert_string_equal(messages[i]->error.message, "");
            messages[i]->error.message[0] = 'x';
            pw_event_free(messages[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pause), cmocka_unit_test(test_bounded),
                                       cmocka_unit_test(test_without_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
