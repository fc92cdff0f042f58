#include "base/progress.h"

static __thread struct pw_progress *bound;

void pw_progress_bind(struct pw_progress *progress)
{
    bound = progress;
}

void pw_progress_phase(const char *phase, const char *unit, size_t total)
{
    if (!bound)
        return;
    __atomic_store_n(&bound->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&bound->total, total, __ATOMIC_RELAXED);
    __atomic_store_n(&bound->unit, unit, __ATOMIC_RELAXED);
    __atomic_store_n(&bound->phase, phase, __ATOMIC_RELEASE);
}

pw_status pw_progress_step(size_t count, struct pw_error *err)
{
    if (!bound)
        return PW_OK;
    __atomic_store_n(&bound->done, bound->done + count, __ATOMIC_RELAXED); /* only this thread counts */
    return __atomic_load_n(&bound->cancel, __ATOMIC_RELAXED) ? pw_error_set(err, PW_ERR_CANCELLED, "cancelled") : PW_OK;
}

void pw_progress_look(const struct pw_progress *progress, struct pw_progress *out)
{
    out->phase = __atomic_load_n(&progress->phase, __ATOMIC_ACQUIRE);
    out->unit = __atomic_load_n(&progress->unit, __ATOMIC_RELAXED);
    out->done = __atomic_load_n(&progress->done, __ATOMIC_RELAXED);
    out->total = __atomic_load_n(&progress->total, __ATOMIC_RELAXED);
    out->cancel = __atomic_load_n(&progress->cancel, __ATOMIC_RELAXED);
}

void pw_progress_cancel(struct pw_progress *progress)
{
    __atomic_store_n(&progress->cancel, true, __ATOMIC_RELAXED);
}
