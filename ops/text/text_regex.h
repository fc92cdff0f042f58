/*
 * Inside of the regular expressions: the tree that the parser makes and the engine compiles.
 * RE2 syntax without what needs Unicode's property tables (\p) or bytes (\C). Bounded: pattern
 * 64 KiB, nesting 200, repetition 1000, tree and program sizes below.
 */
#ifndef PW_OPS_TEXT_REGEX_H
#define PW_OPS_TEXT_REGEX_H

#include "text.h"

#define PW_REGEX_MAX_PATTERN 65536
#define PW_REGEX_MAX_NESTING 200
#define PW_REGEX_MAX_REPEAT 1000
#define PW_REGEX_MAX_PROGRAM 65536
#define PW_REGEX_NONE SIZE_MAX

typedef enum {
    PW_REGEX_EMPTY,
    PW_REGEX_SET,    /* one code point out of a set */
    PW_REGEX_CONCAT, /* children one after the other */
    PW_REGEX_CHOICE, /* one of the children */
    PW_REGEX_REPEAT, /* the child min to max times */
    PW_REGEX_ASSERT
} pw_regex_kind;

typedef enum {
    PW_REGEX_TEXT_BEGIN,
    PW_REGEX_TEXT_END,
    PW_REGEX_LINE_BEGIN,
    PW_REGEX_LINE_END,
    PW_REGEX_WORD_EDGE,
    PW_REGEX_NO_WORD_EDGE
} pw_regex_assertion;

struct pw_regex_node {
    pw_regex_kind kind;
    size_t child, next; /* first child, next sibling; PW_REGEX_NONE */
    size_t set;         /* SET */
    int min, max;       /* REPEAT; max -1 = no limit */
    pw_regex_assertion assertion;
};

struct pw_regex_range {
    uint32_t low, high; /* both included */
};

struct pw_regex_set {
    size_t first, count; /* ranges */
    bool negated;
    bool fold; /* either case */
};

struct pw_regex_tree {
    struct pw_regex_node *nodes;
    size_t node_count, node_cap;
    struct pw_regex_range *ranges;
    size_t range_count, range_cap;
    struct pw_regex_set *sets;
    size_t set_count, set_cap;
    size_t root;
};

pw_status pw_regex_parse(const char *pattern, size_t size, struct pw_regex_tree *tree, struct pw_error *err);
void pw_regex_tree_clear(struct pw_regex_tree *tree);

#endif
