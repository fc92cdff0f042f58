/* What triage.c (the handle and the merge) and triage_file.c (text to entries and back) share. */
#ifndef PW_BASELINE_TRIAGE_INTERNAL_H
#define PW_BASELINE_TRIAGE_INTERNAL_H

#include "baseline/triage.h"

struct pw_triage_list { /* sorted by id */
    struct pw_triage_entry *items;
    size_t count, cap;
};
void pw_triage_list_clear(struct pw_triage_list *list);
/* Position of the id, or where it belongs; true when it is there. */
bool pw_triage_list_find(const struct pw_triage_list *list, const char *id, size_t *at);
pw_status pw_triage_list_put(struct pw_triage_list *list, const struct pw_triage_entry *entry, struct pw_error *err);
void pw_triage_list_remove(struct pw_triage_list *list, const char *id);

/* A file as read: its entries and the very text of each, so that what is not changed stays byte for byte. */
struct pw_triage_text {
    struct pw_buf raw;
    struct pw_triage_list entries;
    struct span {
        size_t begin, end; /* of entries.items[i] in raw, comment lines above it included */
    } * spans;             /* NULL: entries do not have lines of their own (a flow map): all is printed anew */
    size_t indent;         /* of the entries' lines */
    size_t head, tail;     /* raw[0, head) goes before the entries, raw[tail, size) after */
};
void pw_triage_text_clear(struct pw_triage_text *text);
/* PW_ERR_FORMAT with file, line and key. graph: the id that the file has to name. text->raw holds the bytes. */
pw_status pw_triage_text_parse(struct pw_triage_text *text, const char *path, const char *graph, struct pw_error *err);
/* The file's new content. */
pw_status pw_triage_text_print(const struct pw_triage_text *old, const struct pw_triage_list *entries,
                               const char *graph, const char *model, struct pw_buf *out, struct pw_error *err);

bool pw_triage_entry_empty(const struct pw_triage_entry *entry);
bool pw_triage_entry_equal(const struct pw_triage_entry *a, const struct pw_triage_entry *b);
bool pw_waiver_equal(const struct pw_waiver *a, const struct pw_waiver *b);

#endif
