/* The pool: workers sleep on a condition, take chunks by an atomic counter, the caller works too. */
#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define THREADS_MAX 256
#define CHUNKS_PER_THREAD 4 /* so that a slow thread does not hold up the rest */

static struct {
    pthread_mutex_t lock;  /* guards all below but the atomics */
    pthread_cond_t work;   /* a new generation is there */
    pthread_cond_t idle;   /* active became 0 */
    pthread_mutex_t owner; /* held by the one caller that uses the pool */
    bool started;
    int wanted;  /* from pw_parallel_threads; 0 = all cores */
    int workers; /* running threads without the caller */
    uint64_t generation;
    int active; /* workers inside the current generation */
    pw_parallel_body *body;
    void *user;
    int64_t count, chunk;
    _Atomic int64_t next;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .idle = PTHREAD_COND_INITIALIZER,
    .owner = PTHREAD_MUTEX_INITIALIZER,
};

static _Thread_local bool inside_body;

static void take_chunks(pw_parallel_body *body, void *user, int64_t count, int64_t chunk)
{
    inside_body = true;
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&pool.next, chunk, memory_order_relaxed);
        if (begin >= count)
            break;
        body(user, begin, count - begin < chunk ? count : begin + chunk);
    }
    inside_body = false;
}

static void *worker_main(void *unused)
{
    uint64_t seen = 0;
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.generation == seen || pool.body == NULL)
            pthread_cond_wait(&pool.work, &pool.lock);
        seen = pool.generation;
        pw_parallel_body *body = pool.body;
        void *user = pool.user;
        int64_t count = pool.count, chunk = pool.chunk;
        pool.active++;
        pthread_mutex_unlock(&pool.lock);
        take_chunks(body, user, count, chunk);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0)
            pthread_cond_signal(&pool.idle);
    }
    return NULL;
}

static int thread_goal(void)
{
    long cores = pool.wanted > 0 ? pool.wanted : sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (int)cores;
}

/* Under pool.lock. Fewer threads than wished is no error: the caller always works. */
static void start_workers(void)
{
    if (pool.started)
        return;
    pool.started = true;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* Signals belong to the program's own threads. */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = thread_goal() - 1; i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker_main, NULL) != 0)
            break;
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void pw_parallel_threads(int threads)
{
    pthread_mutex_lock(&pool.lock);
    if (!pool.started)
        pool.wanted = threads;
    pthread_mutex_unlock(&pool.lock);
}

int pw_parallel_count(void)
{
    pthread_mutex_lock(&pool.lock);
    int count = pool.started ? pool.workers + 1 : thread_goal();
    pthread_mutex_unlock(&pool.lock);
    return count;
}

void pw_parallel_for(int64_t count, int64_t grain, pw_parallel_body *body, void *user)
{
    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    /* Small, nested, or the pool is another caller's: here and now. */
    if (count <= grain || inside_body || pthread_mutex_trylock(&pool.owner) != 0) {
        body(user, 0, count);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    start_workers();
    if (pool.workers == 0) {
        pthread_mutex_unlock(&pool.lock);
        pthread_mutex_unlock(&pool.owner);
        body(user, 0, count);
        return;
    }
    int64_t pieces = (int64_t)(pool.workers + 1) * CHUNKS_PER_THREAD;
    int64_t chunk = count / pieces + (count % pieces != 0);
    chunk = (chunk / grain + (chunk % grain != 0)) * grain;
    pool.body = body;
    pool.user = user;
    pool.count = count;
    pool.chunk = chunk;
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    pool.generation++;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);

    take_chunks(body, user, count, chunk);

    pthread_mutex_lock(&pool.lock);
    pool.body = NULL; /* late wakers find nothing */
    while (pool.active > 0)
        pthread_cond_wait(&pool.idle, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.owner);
}
