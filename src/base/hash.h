/* XXH3 (xxhash library) with a stable text form. The only user of xxhash.h. */
#ifndef PW_BASE_HASH_H
#define PW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct pw_hash128 {
    uint64_t high, low;
};

uint64_t pw_hash64(const void *data, size_t size, uint64_t seed);
struct pw_hash128 pw_hash128(const void *data, size_t size);

/* Streaming 128-bit hash. */
struct pw_hasher {
    void *state; /* owned */
};
int pw_hasher_init(struct pw_hasher *hasher); /* 0, or -1 when memory is short */
void pw_hasher_add(struct pw_hasher *hasher, const void *data, size_t size);
struct pw_hash128 pw_hasher_end(struct pw_hasher *hasher); /* also frees */

#define PW_HASH_TEXT 33 /* 32 hex digits and the NUL */
const char *pw_hash_text(struct pw_hash128 hash, char dst[PW_HASH_TEXT]);

#endif
