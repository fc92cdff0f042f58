/* Open addressing with linear probing; at most 3/4 full; removal shifts back. */
#include "base/map.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

struct pw_map_slot {
    char *key; /* owned copy, NUL-terminated; NULL = free */
    size_t key_size;
    uint64_t hash;
    size_t value;
};

static uint64_t process_seed;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void make_seed(void)
{
    if (getrandom(&process_seed, sizeof process_seed, GRND_NONBLOCK) != (ssize_t)sizeof process_seed)
        process_seed = (uint64_t)pw_clock_ns() * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_key(const char *key, size_t key_size)
{
    pthread_once(&seed_once, make_seed);
    return pw_hash64(key, key_size, process_seed);
}

/* The slot that holds the key, or the free one where it would go. slot_count > 0. */
static size_t find_slot(const struct pw_map *map, const char *key, size_t key_size, uint64_t hash)
{
    size_t mask = map->slot_count - 1;
    size_t i = (size_t)hash & mask;
    while (map->slots[i].key != NULL) {
        const struct pw_map_slot *slot = &map->slots[i];
        if (slot->hash == hash && slot->key_size == key_size &&
            (key_size == 0 || memcmp(slot->key, key, key_size) == 0))
            return i;
        i = (i + 1) & mask;
    }
    return i;
}

static pw_status grow(struct pw_map *map, struct pw_error *err)
{
    size_t count = map->slot_count == 0 ? 16 : map->slot_count * 2;
    struct pw_map_slot *slots = pw_calloc(count, sizeof *slots);
    if (slots == NULL)
        return pw_error_memory(err, count * sizeof *slots);
    for (size_t i = 0; i < map->slot_count; i++) {
        if (map->slots[i].key == NULL)
            continue;
        size_t j = (size_t)map->slots[i].hash & (count - 1);
        while (slots[j].key != NULL)
            j = (j + 1) & (count - 1);
        slots[j] = map->slots[i];
    }
    pw_free(map->slots);
    map->slots = slots;
    map->slot_count = count;
    return PW_OK;
}

/* The slot of the key, made with value 0 when there is none; NULL when memory is short. */
static struct pw_map_slot *place(struct pw_map *map, const char *key, size_t key_size, struct pw_error *err)
{
    uint64_t hash = hash_key(key, key_size);
    if (map->slot_count > 0) {
        size_t i = find_slot(map, key, key_size, hash);
        if (map->slots[i].key != NULL)
            return &map->slots[i];
    }
    if ((map->count + 1) * 4 > map->slot_count * 3 && grow(map, err) != PW_OK)
        return NULL;
    char *copy = pw_calloc(key_size + 1, 1);
    if (copy == NULL) {
        pw_error_memory(err, key_size + 1);
        return NULL;
    }
    if (key_size > 0)
        memcpy(copy, key, key_size);
    struct pw_map_slot *slot = &map->slots[find_slot(map, key, key_size, hash)];
    *slot = (struct pw_map_slot){.key = copy, .key_size = key_size, .hash = hash};
    map->count++;
    return slot;
}

pw_status pw_map_set(struct pw_map *map, const char *key, size_t key_size, size_t value, struct pw_error *err)
{
    struct pw_map_slot *slot = place(map, key, key_size, err);
    if (slot == NULL)
        return PW_ERR_NO_MEMORY;
    slot->value = value;
    return PW_OK;
}

const char *pw_map_keep(struct pw_map *map, const char *key, size_t key_size)
{
    const struct pw_map_slot *slot = place(map, key, key_size, NULL);
    return slot == NULL ? NULL : slot->key;
}

bool pw_map_get(const struct pw_map *map, const char *key, size_t key_size, size_t *value)
{
    if (map->count == 0)
        return false;
    size_t i = find_slot(map, key, key_size, hash_key(key, key_size));
    if (map->slots[i].key == NULL)
        return false;
    if (value != NULL)
        *value = map->slots[i].value;
    return true;
}

pw_status pw_map_put(struct pw_map *map, const char *key, size_t value, struct pw_error *err)
{
    return pw_map_set(map, key, strlen(key), value, err);
}

bool pw_map_find(const struct pw_map *map, const char *key, size_t *value)
{
    return pw_map_get(map, key, strlen(key), value);
}

void pw_map_remove(struct pw_map *map, const char *key, size_t key_size)
{
    if (map->count == 0)
        return;
    size_t mask = map->slot_count - 1;
    size_t hole = find_slot(map, key, key_size, hash_key(key, key_size));
    if (map->slots[hole].key == NULL)
        return;
    pw_free(map->slots[hole].key);
    map->slots[hole].key = NULL;
    map->count--;
    /* Entries behind the hole whose home is at or before it move up, so that probes never stop early. */
    for (size_t i = (hole + 1) & mask; map->slots[i].key != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        map->slots[hole] = map->slots[i];
        map->slots[i].key = NULL;
        hole = i;
    }
}

void pw_map_clear(struct pw_map *map)
{
    for (size_t i = 0; i < map->slot_count; i++)
        pw_free(map->slots[i].key);
    pw_free(map->slots);
    *map = (struct pw_map){0};
}

void pw_map_each(const struct pw_map *map, pw_map_visit *visit, void *user)
{
    for (size_t i = 0; i < map->slot_count; i++) {
        const struct pw_map_slot *slot = &map->slots[i];
        if (slot->key != NULL)
            visit(user, slot->key, slot->key_size, slot->value);
    }
}
