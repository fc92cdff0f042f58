/* A hash map from byte strings to size_t values (indices, pointers cast by the caller).
 * Keys are copied. Not thread-safe. Hostile keys are fine: the hash is seeded per process. */
#ifndef PW_BASE_MAP_H
#define PW_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pw_map {
    struct pw_map_slot *slots; /* owned, power of two */
    size_t slot_count;
    size_t count; /* keys held */
};

/* Inserts or replaces. */
pw_status pw_map_set(struct pw_map *map, const char *key, size_t key_size, size_t value, struct pw_error *err);
bool pw_map_get(const struct pw_map *map, const char *key, size_t key_size, size_t *value);
/* C-string forms. */
pw_status pw_map_put(struct pw_map *map, const char *key, size_t value, struct pw_error *err);
bool pw_map_find(const struct pw_map *map, const char *key, size_t *value);
/* The map's own copy of the key, one for all equal ones, NUL-terminated; valid until it is removed or the map cleared.
 * The value of a new one is 0. NULL when memory is short. */
const char *pw_map_keep(struct pw_map *map, const char *key, size_t key_size);
void pw_map_remove(struct pw_map *map, const char *key, size_t key_size);
void pw_map_clear(struct pw_map *map); /* frees; the struct is empty again */

/* Visits every entry in no particular order. */
typedef void pw_map_visit(void *user, const char *key, size_t key_size, size_t value);
void pw_map_each(const struct pw_map *map, pw_map_visit *visit, void *user);

#endif
