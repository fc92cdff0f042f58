#include "verify/memory.h"

#include <errno.h>
#include <time.h>

/* Bytes an element: an input as it is stored, carried by golden or by the fast reference; an output twice as the target
 * gave it, of golden, and of the fast reference. */
#define INPUT_BYTES 12
#define OUTPUT_BYTES 20

void pw_case_memory_init(struct pw_case_memory *memory, int64_t limit_bytes)
{
    pthread_condattr_t attributes;

    *memory = (struct pw_case_memory){.limit_bytes = limit_bytes};
    pthread_mutex_init(&memory->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&memory->given, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pw_case_memory_clear(struct pw_case_memory *memory)
{
    pthread_cond_destroy(&memory->given);
    pthread_mutex_destroy(&memory->lock);
}

static int64_t add_elements(const struct pw_call *call, const struct pw_info *info, int64_t each, int64_t sum)
{
    int64_t n;

    for (int d = 0; d < info->rank; d++)
        if (pw_dims_value(call->dims, info->dims[d], &n) && __builtin_mul_overflow(each, n, &each))
            return INT64_MAX;
    return __builtin_add_overflow(sum, each, &sum) ? INT64_MAX : sum;
}

int64_t pw_case_memory_need(const struct pw_call *call)
{
    int64_t sum = 0;

    for (int i = 0; i < call->input_count; i++)
        if (call->in[i])
            sum = add_elements(call, call->in[i], INPUT_BYTES, sum);
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i])
            sum = add_elements(call, &call->out[i], OUTPUT_BYTES, sum);
    return sum;
}

int64_t pw_case_memory_take(struct pw_case_memory *memory, int64_t bytes, int64_t wait_ms)
{
    struct timespec until;
    int waited = 0;

    if (!memory || bytes > memory->limit_bytes)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&memory->lock);
    while (memory->used_bytes > memory->limit_bytes - bytes && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&memory->given, &memory->lock, &until);
    memory->used_bytes += bytes;
    pthread_mutex_unlock(&memory->lock);
    return bytes;
}

void pw_case_memory_give(struct pw_case_memory *memory, int64_t taken)
{
    if (!memory || !taken)
        return;
    pthread_mutex_lock(&memory->lock);
    memory->used_bytes -= taken;
    pthread_cond_broadcast(&memory->given);
    pthread_mutex_unlock(&memory->lock);
}
