/*
 * The triage file baselines/<graph>/triage.yaml: what people decided about signatures (status, priority,
 * owner, note, waiver). Text that colleagues review: one line a signature, sorted by id, so that two branches merge.
 *
 * The workbench and --check open it, change entries in memory and save. A save never overwrites what somebody
 * else wrote in between: base (as last read), ours and theirs are merged field by field; where both changed the
 * same field, the file's value stays and ours is handed back as a conflict. Comments and untouched lines are kept
 * byte for byte. One handle belongs to one thread (the store thread of the workbench). No clock in here: the
 * caller passes today's date.
 */
#ifndef PW_BASELINE_TRIAGE_H
#define PW_BASELINE_TRIAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

typedef enum {
    PW_TRIAGE_NONE,    /* nothing decided; not written */
    PW_TRIAGE_OPEN,    /* known, nobody works on it */
    PW_TRIAGE_DOING,   /* its owner works on it */
    PW_TRIAGE_BLOCKED, /* the note says on what */
    PW_TRIAGE_REVIEW,  /* done, waits for somebody's eyes */
    PW_TRIAGE_DONE,
    PW_TRIAGE_STATUS_COUNT
} pw_triage_status;
const char *pw_triage_status_name(pw_triage_status status); /* "open", "doing", …; "" for NONE */
bool pw_triage_status_parse(const char *text, pw_triage_status *out);

/* What a waiver covers: bits. */
enum {
    PW_WAIVE_VERIFY = 1, /* failed or unproven cases */
    PW_WAIVE_PRECISION = 2,
    PW_WAIVE_COVERAGE = 4, /* host or missing */
    PW_WAIVE_THROUGHPUT = 8,
    PW_WAIVE_ALL = 15
};
/* "verify, throughput" or "all" into dst; returns dst. */
const char *pw_waive_names(unsigned gates, char *dst, size_t dst_size);
/* The bit of one of those names, 0 when there is none such. */
unsigned pw_waive_parse(const char *name);

#define PW_TRIAGE_ID 17    /* a signature's id and the NUL */
#define PW_TRIAGE_DATE 11  /* "2026-03-01" and the NUL */
#define PW_TRIAGE_TEXT 512 /* longest owner, note or reason in bytes, NUL included */

struct pw_waiver {
    bool present;
    char reason[PW_TRIAGE_TEXT]; /* required */
    char owner[PW_TRIAGE_TEXT];  /* required */
    char until[PW_TRIAGE_DATE];  /* last day on which it holds, required */
    unsigned gates;              /* PW_WAIVE_… */
};

/* Plain data: copied in and out, compared field by field. */
struct pw_triage_entry {
    char id[PW_TRIAGE_ID];   /* signature */
    char op[PW_TRIAGE_TEXT]; /* label, for whoever reads the file; may be "" */
    pw_triage_status status;
    int priority;               /* 1 to 100, instead of the computed one; 0: not decided */
    char owner[PW_TRIAGE_TEXT]; /* "" nobody */
    char note[PW_TRIAGE_TEXT];
    struct pw_waiver waiver;
};

/* A field that both sides changed: theirs (the file's) was kept. */
struct pw_triage_conflict {
    char id[PW_TRIAGE_ID];
    const char
        *field; /* "status", "priority", "owner", "note", "waiver", "entry" (removed by one, changed by the other) */
    char ours[PW_TRIAGE_TEXT], theirs[PW_TRIAGE_TEXT];
};

struct pw_triage;

/* Reads the file; one that is absent is empty. graph (id) and model (name) go into a new file's head; a file of
 * another graph is refused. Errors name file, line and key. */
pw_status pw_triage_open(const char *path, const char *graph, const char *model, struct pw_triage **out,
                         struct pw_error *err);
void pw_triage_close(struct pw_triage *triage); /* unsaved changes are lost */
const char *pw_triage_path(const struct pw_triage *triage);

/* Entries as they stand (ours, unsaved changes included), sorted by id. Valid until the next set, refresh or save. */
size_t pw_triage_count(const struct pw_triage *triage);
const struct pw_triage_entry *pw_triage_at(const struct pw_triage *triage, size_t i);
const struct pw_triage_entry *pw_triage_find(const struct pw_triage *triage, const char *id); /* NULL: none */

/* Replaces or adds an entry in memory. An entry that says nothing (no status, owner, note, waiver) is removed.
 * PW_ERR_USAGE names what is wrong with it (a waiver without reason, a date that is none, a text with a control
 * character…); then nothing is changed. */
pw_status pw_triage_set(struct pw_triage *triage, const struct pw_triage_entry *entry, struct pw_error *err);
/* Whether it would be taken: PW_ERR_USAGE as above. */
pw_status pw_triage_entry_check(const struct pw_triage_entry *entry, struct pw_error *err);
bool pw_triage_dirty(const struct pw_triage *triage); /* changes that are not saved */

/* Has the file changed since it was read (size, time, inode)? Cheap: one stat; for polling. */
bool pw_triage_stale(const struct pw_triage *triage);
/* Reads the file again when it changed and merges it under our unsaved changes. *changed: entries differ now. */
pw_status pw_triage_refresh(struct pw_triage *triage, bool *changed, struct pw_error *err);
/* Merges with what is on disk and writes atomically, under a lock on the folder. A file that cannot be read as
 * triage (a colleague's half edit, git's conflict marks) is left alone: the error says where it is wrong, and our
 * changes stay in memory. Nothing to write: nothing is touched. */
pw_status pw_triage_save(struct pw_triage *triage, struct pw_error *err);
/* What the last refresh or save could not merge; valid until the next. */
size_t pw_triage_conflict_count(const struct pw_triage *triage);
const struct pw_triage_conflict *pw_triage_conflict_at(const struct pw_triage *triage, size_t i);

/* "2026-03-01" of a wall time (UTC). */
const char *pw_triage_today(int64_t wall_ms, char dst[PW_TRIAGE_DATE]);
typedef enum { PW_WAIVER_NONE, PW_WAIVER_VALID, PW_WAIVER_EXPIRED } pw_waiver_state;
/* Of a waiver that covers any of `gates`; NULL entry: none. */
pw_waiver_state pw_triage_waiver(const struct pw_triage_entry *entry, unsigned gates, const char *today);

#endif
