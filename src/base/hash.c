/* XXH3 behind portwright's own types. */
#include "base/hash.h"

#include <stdio.h>
#define XXH_STATIC_LINKING_ONLY /* the size of XXH3_state_t */
#include <xxhash.h>

#include "base/compiler.h"
#include "base/mem.h"

/* xxhash may read from a NULL pointer's address when size is 0 under strict sanitizers. */
static const void *bytes_of(const void *data)
{
    return data == NULL ? "" : data;
}

uint64_t pw_hash64(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes_of(data), size, seed);
}

struct pw_hash128 pw_hash128(const void *data, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(bytes_of(data), size);
    return (struct pw_hash128){.high = hash.high64, .low = hash.low64};
}

int pw_hasher_init(struct pw_hasher *hasher)
{
    /* From our allocator (XXH3's state wants 64-byte alignment), so that it can be made to fail. */
    hasher->state = pw_alloc_aligned(sizeof(XXH3_state_t));
    if (hasher->state == NULL)
        return -1;
    XXH3_INITSTATE((XXH3_state_t *)hasher->state);
    if (XXH3_128bits_reset(hasher->state) == XXH_OK)
        return 0;
    pw_free(hasher->state);
    hasher->state = NULL;
    return -1;
}

void pw_hasher_add(struct pw_hasher *hasher, const void *data, size_t size)
{
    if (hasher->state != NULL && size > 0)
        XXH3_128bits_update(hasher->state, data, size);
}

struct pw_hash128 pw_hasher_end(struct pw_hasher *hasher)
{
    struct pw_hash128 out = {0};
    if (hasher->state != NULL) {
        XXH128_hash_t hash = XXH3_128bits_digest(hasher->state);
        out = (struct pw_hash128){.high = hash.high64, .low = hash.low64};
    }
    pw_free(hasher->state);
    hasher->state = NULL;
    return out;
}

const char *pw_hash_text(struct pw_hash128 hash, char dst[PW_HASH_TEXT])
{
    snprintf(dst, PW_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
    return dst;
}
