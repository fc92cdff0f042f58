/*
 * Read-only file mappings that survive a shrinking file.
 *
 * A SIGBUS inside a mapping made here maps zero pages over the lost part and marks the
 * mapping `damaged`; readers check pw_mapping_damaged after they used the bytes and turn
 * it into an error. The handler is installed by the first open and passes other SIGBUS
 * on to what was there before. Thread-safe.
 */
#ifndef PW_BASE_MAPPING_H
#define PW_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pw_mapping {
    const uint8_t *data; /* size bytes, read-only; NULL for an empty file */
    size_t size;
    int slot; /* registry slot + 1; 0 = not open */
};

/* Regular files only (a FIFO or device is refused, never waited for). */
pw_status pw_mapping_open(struct pw_mapping *map, const char *path, struct pw_error *err);
bool pw_mapping_damaged(const struct pw_mapping *map);
void pw_mapping_close(struct pw_mapping *map);

#endif
