/*
 * The query that filters the inventory: words that must all hold. `key:value`, `key<number`, `key>number`, plain text;
 * `a,b` means either, a leading `-` the opposite, quotes keep blanks. Parsed once, matched against every signature.
 */
#ifndef PW_TUI_QUERY_H
#define PW_TUI_QUERY_H

#include <stdbool.h>
#include <stddef.h>

struct pw_tui;

#define PW_QUERY_TERMS 16
#define PW_QUERY_MAX 512

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
