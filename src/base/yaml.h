/*
 * YAML documents as a tree with positions, so that every error, also a semantic one,
 * names file, line and key. Built from libyaml's events; the only user of yaml.h.
 * Bounded: depth 64, 1 MiB of text, 100,000 nodes; aliases and duplicate keys are refused.
 */
#ifndef PW_BASE_YAML_H
#define PW_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"

typedef enum { PW_YAML_SCALAR, PW_YAML_LIST, PW_YAML_MAP } pw_yaml_kind;

struct pw_yaml {
    pw_yaml_kind kind;
    size_t line;           /* 1-based; of a list or map in a map: its key's */
    size_t column;         /* 1-based */
    const char *file;      /* for messages */
    const char *key;       /* the key in the parent map, or NULL */
    const char *text;      /* scalar */
    bool quoted;           /* scalar was quoted: never a number, bool or null */
    struct pw_yaml *items; /* list elements or map values (with .key set) */
    size_t count;
};

/* Parses text; the tree lives in the arena. An empty document is an empty map. */
pw_status pw_yaml_parse(const char *text, size_t size, const char *file, struct pw_arena *arena,
                        const struct pw_yaml **out, struct pw_error *err);
pw_status pw_yaml_read(const char *path, struct pw_arena *arena, const struct pw_yaml **out, struct pw_error *err);

const struct pw_yaml *pw_yaml_get(const struct pw_yaml *map, const char *key); /* or NULL */

/* Sets "file:line:column: key 'k': …" as PW_ERR_FORMAT. */
pw_status pw_yaml_error(const struct pw_yaml *at, struct pw_error *err, const char *format, ...) PW_PRINTF(3, 4);

/* Typed reads of a node; an error when the kind or the text is wrong. */
pw_status pw_yaml_int(const struct pw_yaml *node, int64_t *out, struct pw_error *err);
pw_status pw_yaml_double(const struct pw_yaml *node, double *out, struct pw_error *err);
pw_status pw_yaml_bool(const struct pw_yaml *node, bool *out, struct pw_error *err);
pw_status pw_yaml_text(const struct pw_yaml *node, const char **out, struct pw_error *err);

/* Refuses keys of `map` that are not in the NULL-terminated list, with "did you mean". */
pw_status pw_yaml_only(const struct pw_yaml *map, const char *const *allowed, struct pw_error *err);

#endif
