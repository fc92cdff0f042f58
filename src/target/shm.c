/* Shared regions, guarded slots, canaries, poison. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define LARGE_BYTES ((size_t)64 << 20)

size_t pw_shm_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void pw_shm_clear(struct pw_shm *shm)
{
    if (shm->data) {
        munmap(shm->data, shm->size);
        close(shm->fd);
    }
    *shm = (struct pw_shm){.fd = -1};
}

pw_status pw_shm_ensure(struct pw_shm *shm, size_t size, bool sealed, const char *name, struct pw_error *err)
{
    /* Not kept for ever at the size of the largest request. */
    bool wasteful = shm->size > LARGE_BYTES && size < shm->size / 4;
    if (shm->data && shm->size >= size && !wasteful)
        return PW_OK;
    size_t page = pw_shm_page();
    if (size > (SIZE_MAX >> 2))
        return pw_error_set(err, PW_ERR_TARGET, "%s of %zu bytes is too large", name, size);
    /* A quarter of slack, so that growing cases do not replace the region each time. */
    size_t want = (size + size / 4 + 16 * page) / page * page;
    pw_shm_clear(shm);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return pw_error_set(err, PW_ERR_TARGET, "memfd_create: %s", strerror(errno));
    void *data = MAP_FAILED;
    if (ftruncate(fd, (off_t)want) == 0)
        data = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | (sealed ? F_SEAL_FUTURE_WRITE : 0);
    if (data == MAP_FAILED || fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SEAL) != 0) {
        int error = errno;
        if (data != MAP_FAILED)
            munmap(data, want);
        close(fd);
        return pw_error_set(err, PW_ERR_TARGET, "shared memory of %zu bytes (%s): %s", want, name, strerror(error));
    }
    *shm = (struct pw_shm){.fd = fd, .data = data, .size = want, .fresh = true};
    return PW_OK;
}

bool pw_slot_layout(struct pw_slot *slot, size_t size, size_t alignment, bool guarded, size_t *end)
{
    size_t page = pw_shm_page();
    if (size > (SIZE_MAX >> 3) || *end > (SIZE_MAX >> 3))
        return false;
    slot->offset = *end;
    slot->size = size;
    if (guarded) {
        /* An empty buffer still gets one alignment of canary, so that its pointer is a valid one. */
        size_t room = size > 0 ? (size + alignment - 1) / alignment * alignment : alignment;
        size_t body = (room + page - 1) / page * page;
        slot->front = page + body - room;
        slot->pages = page + body;
    } else {
        slot->front = 0;
        slot->pages = (size + page - 1) / page * page + page;
    }
    *end += slot->pages;
    return true;
}

/* A counter hash (splitmix64's finaliser): cheap, and no byte is predictable without the key. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Never a float that is not NaN where it is read as an aligned one: a kernel that reads past its input
 * shows. The lowest bytes of each word of eight vary with key and position. */
static uint64_t canary_word(uint64_t key, size_t word)
{
    return (mix(key ^ (uint64_t)word) & 0x003f00000000003fu) | 0x7fc0fff87fc0fff8u;
}

static uint8_t canary_byte(uint64_t key, size_t position)
{
    return (uint8_t)(canary_word(key, position / 8) >> (position % 8 * 8));
}

static void canary_fill(uint8_t *region, size_t from, size_t to, uint64_t key)
{
    while (from < to && from % 8 != 0) {
        region[from] = canary_byte(key, from);
        from++;
    }
    for (; from + 8 <= to; from += 8) {
        uint64_t word = canary_word(key, from / 8);
        memcpy(region + from, &word, 8);
    }
    for (; from < to; from++)
        region[from] = canary_byte(key, from);
}

static bool canary_check(const uint8_t *region, size_t from, size_t to, uint64_t key, size_t *where)
{
    for (; from < to; from++) {
        if (from % 8 == 0 && from + 8 <= to) {
            uint64_t word;
            memcpy(&word, region + from, 8);
            if (word == canary_word(key, from / 8)) {
                from += 7;
                continue;
            }
        }
        if (region[from] != canary_byte(key, from)) {
            *where = from;
            return false;
        }
    }
    return true;
}

void pw_slot_arm(uint8_t *region, const struct pw_slot *slot, uint64_t key)
{
    size_t data = slot->offset + slot->front;
    canary_fill(region, slot->offset, data, key);
    canary_fill(region, data + slot->size, slot->offset + slot->pages, key);
}

bool pw_slot_broken(const uint8_t *region, const struct pw_slot *slot, uint64_t key, int64_t *offset)
{
    size_t data = slot->offset + slot->front;
    size_t where = 0;
    if (canary_check(region, slot->offset, data, key, &where) &&
        canary_check(region, data + slot->size, slot->offset + slot->pages, key, &where))
        return false;
    *offset = (int64_t)where - (int64_t)data;
    return true;
}

/* Bit patterns: a quiet NaN with the given number of free payload bits below. */
struct poison {
    uint64_t base, free;
};

static struct poison poison_of(pw_dtype dtype)
{
    switch (dtype) {
    case PW_DTYPE_FLOAT32:
    case PW_DTYPE_COMPLEX64:
        return (struct poison){0x7fc00000u, 0x003fffffu};
    case PW_DTYPE_FLOAT64:
    case PW_DTYPE_COMPLEX128:
        return (struct poison){0x7ff8000000000000u, 0x0007ffffffffffffu};
    case PW_DTYPE_FLOAT16:
        return (struct poison){0x7e00u, 0x01ffu};
    case PW_DTYPE_BFLOAT16:
        return (struct poison){0x7fc0u, 0x003fu};
    case PW_DTYPE_UNDEFINED: /* scratch: NaN however it is read, and -1 */
        return (struct poison){0xffffffffffffffffu, 0};
    default:
        return (struct poison){1, ~(uint64_t)1};
    }
}

void pw_shm_poison(void *data, size_t size, pw_dtype dtype, uint64_t seed)
{
    struct poison p = poison_of(dtype);
    pw_dtype_kind kind = pw_dtype_facts(dtype)->kind;
    size_t width = pw_dtype_bytes(dtype);
    if (kind == PW_KIND_COMPLEX)
        width /= 2;
    if (width == 0 || width > 8)
        width = 8;
    uint8_t *bytes = data;
    uint64_t key = mix(seed ^ 0x706f69736f6eu);
    for (size_t i = 0; i < size; i += width) {
        uint64_t word = p.base | (mix(key + i) & p.free);
        memcpy(bytes + i, &word, size - i < width ? size - i : width);
    }
}
