/*
 * Allocation. All heap memory of portwright goes through here, so that a debug
 * build can make the Nth allocation fail and a test can loop over N.
 *
 * pw_arena is a bump allocator for things that live and die together (a graph, a
 * report). Neither is shared between threads without the caller's lock; the plain
 * functions are thread-safe as malloc is.
 */
#ifndef PW_BASE_MEM_H
#define PW_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Zeroed memory of count*size bytes, or NULL (also on overflow of the product).
 * count or size 0 gives a unique non-NULL pointer. */
void *pw_calloc(size_t count, size_t size);

/* As reallocarray: grows or shrinks; NULL leaves *p valid. New bytes are not zeroed. */
void *pw_reallocarray(void *p, size_t count, size_t size);

/* 64-byte aligned, not zeroed; freed with pw_free. */
void *pw_alloc_aligned(size_t size_bytes);

char *pw_strdup(const char *s);
char *pw_strndup(const char *s, size_t size);
void pw_free(void *p); /* NULL is fine */

/* Makes the nth (1-based) following allocation fail, and all after it when sticky;
 * 0 switches it off. Counts even when off. For tests. */
void pw_mem_fail_at(uint64_t nth, int sticky);
uint64_t pw_mem_count(void); /* allocations since the last pw_mem_fail_at */

struct pw_arena {
    struct pw_arena_block *head; /* newest block, owned */
    size_t used_bytes;           /* handed out, for limits and tests */
};

/* Zeroed, 16-byte aligned, lives until pw_arena_clear. NULL when memory is short or
 * the product overflows. A zero-initialised struct is a valid empty arena. */
void *pw_arena_alloc(struct pw_arena *arena, size_t count, size_t size);
char *pw_arena_strndup(struct pw_arena *arena, const char *s, size_t size);
char *pw_arena_printf(struct pw_arena *arena, const char *format, ...) PW_PRINTF(2, 3);
void pw_arena_clear(struct pw_arena *arena);
/* Forgets all that was handed out, as pw_arena_clear does, but keeps a small block for what comes next: for work that
 * is done over and over. */
void pw_arena_reset(struct pw_arena *arena);
/* Was this handed out by the arena (or lies within something that was)? Walks its blocks. */
bool pw_arena_holds(const struct pw_arena *arena, const void *p);

/* Grows a typed array so that index `need-1` is valid. Evaluates to pw_status.
 * items: T*, cap: size_t lvalue. */
#define PW_GROW(items, cap, need, err) pw_mem_grow((void **)&(items), &(cap), (need), sizeof *(items), (err))
pw_status pw_mem_grow(void **items, size_t *cap, size_t need, size_t item_bytes, struct pw_error *err);

/* Gives freed memory back to the system: threads that come and go leave it in pieces. Takes milliseconds; thread-safe.
 * After something big is over. */
void pw_mem_give_back(void);
/* From now on what is freed in big pieces goes back to the system at once, for a program that stays open all day. Not
 * for one that times what it allocates for: each new piece costs page faults. */
void pw_mem_give_back_big(void);

/* The usual "out of memory" error. */
pw_status pw_error_memory(struct pw_error *err, size_t size_bytes);

#endif
