/* The heap: checked products, the failing-allocation hook, the arena, array growth. */
#include "base/mem.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define ALIGNMENT 64
#define BIG_BYTES (256 << 10)

static _Atomic uint64_t alloc_count;
static _Atomic uint64_t fail_at;
static _Atomic int fail_sticky;

void pw_mem_fail_at(uint64_t nth, int sticky)
{
    atomic_store(&fail_at, nth);
    atomic_store(&fail_sticky, sticky);
    atomic_store(&alloc_count, 0);
}

uint64_t pw_mem_count(void)
{
    return atomic_load(&alloc_count);
}

/* True when this allocation is the one chosen to fail. */
static bool injected(void)
{
#if defined(PW_FAIL_INJECTION)
    uint64_t n = atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed) + 1;
    uint64_t at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (at == 0)
        return false;
    return n == at || (n > at && atomic_load_explicit(&fail_sticky, memory_order_relaxed) != 0);
#else
    return false;
#endif
}

/* Product that stays in what an object may span; false on overflow. */
static bool product(size_t count, size_t size, size_t *out)
{
    return !__builtin_mul_overflow(count, size, out) && *out <= PTRDIFF_MAX - 2 * ALIGNMENT;
}

void *pw_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (injected() || !product(count, size, &bytes))
        return NULL;
    return calloc(1, bytes == 0 ? 1 : bytes);
}

void *pw_reallocarray(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (injected() || !product(count, size, &bytes))
        return NULL;
    return realloc(p, bytes == 0 ? 1 : bytes);
}

void *pw_alloc_aligned(size_t size_bytes)
{
    size_t bytes;
    if (injected() || !product(size_bytes, 1, &bytes))
        return NULL;
    /* aligned_alloc wants a multiple of the alignment. */
    bytes = bytes == 0 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return aligned_alloc(ALIGNMENT, bytes);
}

char *pw_strndup(const char *s, size_t size)
{
    size_t length = strnlen(s, size);
    char *copy = pw_calloc(length + 1, 1);
    if (copy != NULL)
        memcpy(copy, s, length);
    return copy;
}

char *pw_strdup(const char *s)
{
    return pw_strndup(s, strlen(s));
}

void pw_free(void *p)
{
    free(p);
}

/* ---- arena ---- */

#define BLOCK_FIRST ((size_t)1 << 10) /* many arenas hold a sentence: an event's, a message's */
#define BLOCK_KEPT ((size_t)64 << 10) /* at most, by pw_arena_reset */
#define BLOCK_MAX ((size_t)1 << 20)

struct pw_arena_block {
    struct pw_arena_block *next; /* older */
    size_t cap;                  /* usable bytes after the header */
    size_t used;
    size_t pad; /* keeps the bytes 16-aligned */
};

_Static_assert(sizeof(struct pw_arena_block) % 16 == 0, "arena blocks start 16-byte aligned");

static void *block_bytes(struct pw_arena_block *block)
{
    return block + 1;
}

static struct pw_arena_block *new_block(struct pw_arena *arena, size_t bytes)
{
    size_t cap = arena->head == NULL ? BLOCK_FIRST : arena->head->cap * 2;
    if (cap > BLOCK_MAX)
        cap = BLOCK_MAX;
    if (cap < bytes)
        cap = bytes;
    struct pw_arena_block *block = pw_calloc(1, sizeof *block + cap);
    if (block == NULL)
        return NULL;
    block->cap = cap;
    /* A block for one big object goes behind the head, which may still have room. */
    if (arena->head != NULL && cap == bytes && bytes > BLOCK_MAX / 4) {
        block->next = arena->head->next;
        arena->head->next = block;
    } else {
        block->next = arena->head;
        arena->head = block;
    }
    return block;
}

void *pw_arena_alloc(struct pw_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes))
        return NULL;
    bytes = bytes == 0 ? 16 : (bytes + 15) / 16 * 16;
    struct pw_arena_block *block = arena->head;
    if (block == NULL || block->cap - block->used < bytes) {
        block = new_block(arena, bytes);
        if (block == NULL)
            return NULL;
    }
    void *p = (char *)block_bytes(block) + block->used;
    block->used += bytes;
    arena->used_bytes += bytes;
    return p;
}

char *pw_arena_strndup(struct pw_arena *arena, const char *s, size_t size)
{
    size_t length = s == NULL ? 0 : strnlen(s, size);
    char *copy = pw_arena_alloc(arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, s, length);
    return copy;
}

char *pw_arena_printf(struct pw_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : pw_arena_alloc(arena, (size_t)n + 1, 1);
    if (text != NULL)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

void pw_arena_clear(struct pw_arena *arena)
{
    struct pw_arena_block *block = arena->head;
    while (block != NULL) {
        struct pw_arena_block *next = block->next;
        pw_free(block);
        block = next;
    }
    arena->head = NULL;
    arena->used_bytes = 0;
}

void pw_arena_reset(struct pw_arena *arena)
{
    struct pw_arena_block *kept = arena->head;

    if (kept == NULL || kept->cap > BLOCK_KEPT) {
        pw_arena_clear(arena);
        return;
    }
    arena->head = kept->next;
    pw_arena_clear(arena);
    memset(block_bytes(kept), 0, kept->used); /* what is handed out is zeroed */
    kept->used = 0;
    kept->next = NULL;
    arena->head = kept;
}

bool pw_arena_holds(const struct pw_arena *arena, const void *p)
{
    uintptr_t at = (uintptr_t)p;

    for (struct pw_arena_block *block = arena->head; block != NULL; block = block->next) {
        uintptr_t begin = (uintptr_t)block_bytes(block);

        if (at >= begin && at < begin + block->used)
            return true;
    }
    return false;
}

/* ---- arrays ---- */

pw_status pw_mem_grow(void **items, size_t *cap, size_t need, size_t item_bytes, struct pw_error *err)
{
    if (need <= *cap)
        return PW_OK;
    size_t want = *cap < 8 ? 8 : *cap + *cap / 2;
    if (want < need)
        want = need;
    void *old;
    /* The caller's pointer has another type: its bytes are copied, not read through void *. */
    memcpy(&old, items, sizeof old);
    void *grown = pw_reallocarray(old, want, item_bytes);
    if (grown == NULL)
        return pw_error_memory(err, need > SIZE_MAX / item_bytes ? SIZE_MAX : need * item_bytes);
    memcpy(items, &grown, sizeof grown);
    *cap = want;
    return PW_OK;
}

void pw_mem_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void pw_mem_give_back_big(void)
{
#ifdef __GLIBC__
    /* Left alone the threshold grows with every big piece that is freed, up to 32 MiB, and each thread's heap keeps
     * twice that at its end, where malloc_trim does not reach. */
    mallopt(M_MMAP_THRESHOLD, BIG_BYTES);
#endif
}

pw_status pw_error_memory(struct pw_error *err, size_t size_bytes)
{
    return pw_error_set(err, PW_ERR_NO_MEMORY, "out of memory (%zu bytes wanted)", size_bytes);
}
