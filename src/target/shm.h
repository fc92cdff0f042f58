/*
 * Memory shared with a worker: memfds, and the layout of guarded buffers in them.
 *
 * A buffer's slot is a whole number of pages. For a target that works in place (`guarded`) it is
 *     [canary page][canary ... data][canary up to the alignment]  then, in the worker only, no access
 * so the data ends at (or less than the alignment before) a page that cannot be touched, and an
 * overrun is a SIGSEGV or a broken canary. For others it is [data][canary ... and a page of it]; the
 * tail is uploaded and downloaded with the data. Canaries and poison are written and checked by the
 * parent. Not thread-safe; one region belongs to one worker link.
 */
#ifndef PW_TARGET_SHM_H
#define PW_TARGET_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tensor/dtype.h"

struct pw_shm {
    int fd; /* -1 or 0 with size 0: none */
    uint8_t *data;
    size_t size;
    bool fresh; /* the worker has not been given it yet */
};

/* Makes the region at least size bytes (replacing it when too small, then fresh is set). With `sealed`
 * nobody else can ever map it for writing or change its size; our own mapping stays writable. */
pw_status pw_shm_ensure(struct pw_shm *shm, size_t size, bool sealed, const char *name, struct pw_error *err);
void pw_shm_clear(struct pw_shm *shm);

struct pw_slot {
    size_t offset; /* in the region, page aligned */
    size_t pages;  /* bytes of the slot, whole pages */
    size_t front;  /* bytes of canary before the data */
    size_t size;   /* bytes of data */
};

size_t pw_shm_page(void);

/* Next slot of a region that is filled up to *end (which moves on); false on overflow.
 * alignment: of the data's first byte, a power of two up to a page; 1 = the data ends at the page. */
bool pw_slot_layout(struct pw_slot *slot, size_t size, size_t alignment, bool guarded, size_t *end);

/* Canary bytes depend on key and position. */
void pw_slot_arm(uint8_t *region, const struct pw_slot *slot, uint64_t key);
/* Byte offset relative to the data of the first broken canary byte (negative: before it); false: all whole. */
bool pw_slot_broken(const uint8_t *region, const struct pw_slot *slot, uint64_t key, int64_t *offset);

/* Fills size bytes so that every float reads NaN and integers odd values that change with the seed. */
void pw_shm_poison(void *data, size_t size, pw_dtype dtype, uint64_t seed);

#endif
