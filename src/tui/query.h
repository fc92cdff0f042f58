/*
 * The query that filters the inventory: words that must all hold. `key:value`, `key<number`, `key>number`, plain text;
 * `a,b` means either, a leading `-` the opposite, quotes keep blanks. Parsed once, matched against every signature.
 */
#ifndef PW_TUI_QUERY_H
#define PW_TUI_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_tui;

#define PW_QUERY_TERMS 16
#define PW_QUERY_MAX 640 /* what a prompt holds */

/* Which signatures have a node whose name holds a text: kept for the latest texts, as a query is matched again with
 * every key and every result, and a graph may have 100,000 names. */
#define PW_QUERY_NAMES 16
struct pw_query_names {
    struct {
        char text[64];
        uint8_t *known; /* by signature: 0 not looked at, 1 no, 2 yes; owned */
    } kept[PW_QUERY_NAMES];
    size_t next; /* which goes first */
};
void pw_query_names_clear(struct pw_query_names *names); /* also when the signatures are others */

struct pw_query_term {
    int key; /* index in the table of keys; -1 plain text */
    bool negate;
    char relation;      /* ':' '<' '>' 'l' (<=) 'g' (>=) */
    double number;      /* for relations other than ':' */
    const char *values; /* NUL-separated alternatives in the query's text */
    int value_count;
};

struct pw_query {
    char text[2 * PW_QUERY_MAX];
    struct pw_query_term terms[PW_QUERY_TERMS];
    int count;
    char problem[160]; /* what could not be understood; "" none. Such a word matches nothing */
};

void pw_query_parse(struct pw_query *query, const char *text);
bool pw_query_match(const struct pw_query *query, const struct pw_tui *tui, size_t signature);
/* The n-th key and its values for completion and help; NULL behind the last. */
const char *pw_query_key(size_t n, const char **help);

#endif
