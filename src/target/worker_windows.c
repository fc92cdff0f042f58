/*
 * Windows onto a shared region: one a buffer, between guard pages, side by side in a range that stays reserved. Mapping
 * and unmapping costs more than a small kernel takes, above all where a driver's threads must be told, so a window
 * stays for the next execution, which mostly has buffers of the same sizes in the same order. What an execution does
 * not use is inaccessible while it runs.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "target/worker.h"

#define RESERVE_BYTES ((size_t)16 << 20) /* at least, so that it lasts for most executions */

size_t pw_worker_window_bytes(const struct pw_slot *slot)
{
    return slot->pages + 2 * PW_WORKER_GUARD_BYTES;
}

static size_t end_of(const struct pw_worker_window *window)
{
    return window->at + window->pages + 2 * PW_WORKER_GUARD_BYTES;
}

/* A call that failed may have unmapped what was there: nothing of the range is a window any more, nor free for others
 * to map, which the next window there would overwrite. */
static void give_up(struct pw_worker_region *region)
{
    region->window_count = region->used = 0;
    if (mmap(region->base, region->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        pw_worker_windows_drop(region);
}

/* Only the first `keep` windows stay. */
static pw_status cut(struct pw_worker_region *region, size_t keep, struct pw_error *err)
{
    if (keep >= region->window_count)
        return PW_OK;
    size_t from = region->windows[keep].at, to = end_of(&region->windows[region->window_count - 1]);
    if (mmap(region->base + from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED) {
        int error = errno;
        give_up(region);
        return pw_error_set(err, PW_ERR_TARGET, "closing %zu bytes of buffers: %s", to - from, strerror(error));
    }
    region->window_count = keep;
    return PW_OK;
}

void pw_worker_windows_drop(struct pw_worker_region *region)
{
    if (region->base)
        munmap(region->base, region->reserved);
    region->base = NULL;
    region->reserved = 0;
    region->window_count = region->used = 0;
}

pw_status pw_worker_windows_begin(struct pw_worker_region *region, size_t bytes, bool keep, struct pw_error *err)
{
    region->used = 0;
    if (!keep || bytes > region->reserved)
        pw_worker_windows_drop(region);
    if (bytes <= region->reserved)
        return PW_OK;
    size_t want = bytes > RESERVE_BYTES ? bytes : RESERVE_BYTES;
    void *base = mmap(NULL, want, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return pw_error_set(err, PW_ERR_TARGET, "no address space for buffers of %zu bytes: %s", bytes,
                            strerror(errno));
    region->base = base;
    region->reserved = want;
    return PW_OK;
}

static pw_status open_window(struct pw_worker_region *region, const struct pw_slot *slot, size_t at,
                             struct pw_error *err)
{
    int protection = region->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    pw_status status = cut(region, region->used, err);
    if (status == PW_OK)
        status = PW_GROW(region->windows, region->window_cap, region->used + 1, err);
    if (status != PW_OK)
        return status;
    if (slot->pages > 0 && mmap(region->base + at + PW_WORKER_GUARD_BYTES, slot->pages, protection,
                                MAP_SHARED | MAP_FIXED, region->fd, (off_t)slot->offset) == MAP_FAILED) {
        int error = errno;
        give_up(region);
        return pw_error_set(err, PW_ERR_TARGET, "mapping a buffer of %zu bytes: %s", slot->pages, strerror(error));
    }
    region->windows[region->window_count++] =
        (struct pw_worker_window){.at = at, .offset = slot->offset, .pages = slot->pages};
    return PW_OK;
}

pw_status pw_worker_window(struct pw_worker_region *region, const struct pw_slot *slot, struct pw_worker_buffer *out,
                           struct pw_error *err)
{
    size_t page = pw_shm_page();
    size_t at = region->used > 0 ? end_of(&region->windows[region->used - 1]) : 0;
    if (region->fd < 0 || slot->offset % page != 0 || slot->pages % page != 0 || slot->offset > region->size ||
        slot->pages > region->size - slot->offset || at > region->reserved ||
        pw_worker_window_bytes(slot) > region->reserved - at)
        return pw_error_set(err, PW_ERR_FORMAT, "a buffer lies outside its shared region");
    const struct pw_worker_window *kept = region->used < region->window_count ? &region->windows[region->used] : NULL;
    if (!kept || kept->offset != slot->offset || kept->pages != slot->pages) {
        pw_status status = open_window(region, slot, at, err);
        if (status != PW_OK)
            return status;
    }
    region->used++;
    *out = (struct pw_worker_buffer){.base = region->base + at,
                                     .reserved = pw_worker_window_bytes(slot),
                                     .window = true,
                                     .data = region->base + at + PW_WORKER_GUARD_BYTES + slot->front,
                                     .size = slot->size};
    return PW_OK;
}

pw_status pw_worker_windows_end(struct pw_worker_region *region, struct pw_error *err)
{
    return cut(region, region->used, err);
}
