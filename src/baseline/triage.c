/* The handle of a triage file: entries in memory, the three-way merge, saving under the folder's lock. */
#include "baseline/triage.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "baseline/folder.h"
#include "baseline/triage_internal.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)

struct pw_triage {
    char *path, *graph, *model;       /* owned */
    struct pw_triage_text base;       /* as last read */
    struct pw_triage_list ours;       /* as it stands */
    struct pw_file_identity identity; /* of what base was read from */
    struct pw_triage_conflict *conflicts;
    size_t conflict_count, conflict_cap;
};

/* ---- lists ---- */

void pw_triage_list_clear(struct pw_triage_list *list)
{
    pw_free(list->items);
    memset(list, 0, sizeof *list);
}

bool pw_triage_list_find(const struct pw_triage_list *list, const char *id, size_t *at)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->items[middle].id, id);

        if (!order) {
            *at = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

pw_status pw_triage_list_put(struct pw_triage_list *list, const struct pw_triage_entry *entry, struct pw_error *err)
{
    struct pw_triage_entry copy = *entry; /* it may lie in the list itself */
    size_t at;
    pw_status status;

    if (pw_triage_list_find(list, entry->id, &at)) {
        list->items[at] = copy;
        return PW_OK;
    }
    status = PW_GROW(list->items, list->cap, list->count + 1, err);
    if (status != PW_OK)
        return status;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof *list->items);
    list->items[at] = copy;
    list->count++;
    return PW_OK;
}

void pw_triage_list_remove(struct pw_triage_list *list, const char *id)
{
    size_t at;

    if (!pw_triage_list_find(list, id, &at))
        return;
    memmove(&list->items[at], &list->items[at + 1], (list->count - at - 1) * sizeof *list->items);
    list->count--;
}

static pw_status list_copy(struct pw_triage_list *to, const struct pw_triage_list *from, struct pw_error *err)
{
    pw_status status = PW_GROW(to->items, to->cap, from->count + 1, err);

    if (status == PW_OK && from->count)
        memcpy(to->items, from->items, from->count * sizeof *from->items);
    to->count = status == PW_OK ? from->count : 0;
    return status;
}

/* ---- entries ---- */

bool pw_waiver_equal(const struct pw_waiver *a, const struct pw_waiver *b)
{
    if (a->present != b->present || !a->present)
        return a->present == b->present;
    return a->gates == b->gates && !strcmp(a->reason, b->reason) && !strcmp(a->owner, b->owner) &&
           !strcmp(a->until, b->until);
}

bool pw_triage_entry_equal(const struct pw_triage_entry *a, const struct pw_triage_entry *b)
{
    return a->status == b->status && a->priority == b->priority && !strcmp(a->owner, b->owner) &&
           !strcmp(a->note, b->note) && !strcmp(a->op, b->op) && pw_waiver_equal(&a->waiver, &b->waiver);
}

bool pw_triage_entry_empty(const struct pw_triage_entry *entry)
{
    return entry->status == PW_TRIAGE_NONE && !entry->priority && !entry->owner[0] && !entry->note[0] &&
           !entry->waiver.present;
}

static bool is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 0, month = 0, day = 0, used = 0;
    bool leap;

    if (strlen(text) != PW_TRIAGE_DATE - 1 || strspn(text, "0123456789-") != PW_TRIAGE_DATE - 1 ||
        sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != PW_TRIAGE_DATE - 1)
        return false;
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* UTF-8 without control characters but newline and tab. */
static bool is_plain(const char *text)
{
    size_t size = strlen(text);

    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t used = pw_text_decode(text + at, size - at, &code);

        if ((used == 1 && code == 0xfffd) || (code < 0x20 && code != '\n' && code != '\t') ||
            (code >= 0x7f && code < 0xa0))
            return false;
        at += used;
    }
    return true;
}

pw_status pw_triage_entry_check(const struct pw_triage_entry *entry, struct pw_error *err)
{
    const struct pw_waiver *waiver = &entry->waiver;
    const char *const texts[] = {entry->op, entry->owner, entry->note, waiver->reason, waiver->owner};
    static const char *const names[] = {"op", "owner", "note", "the waiver's reason", "the waiver's owner"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!memchr(texts[i], '\0', PW_TRIAGE_TEXT))
            return pw_error_set(err, PW_ERR_USAGE, "%s: longer than %d bytes", names[i], PW_TRIAGE_TEXT - 1);
        if (!is_plain(texts[i]))
            return pw_error_set(err, PW_ERR_USAGE, "%s: control characters or bytes that are no UTF-8", names[i]);
    }
    if (strlen(entry->id) != PW_TRIAGE_ID - 1 || strspn(entry->id, "0123456789abcdef") != PW_TRIAGE_ID - 1)
        return pw_error_set(err, PW_ERR_USAGE, "'%.16s' is no signature's id: expected 16 digits of 0-9 and a-f",
                            entry->id);
    if ((size_t)entry->status >= PW_TRIAGE_STATUS_COUNT)
        return pw_error_set(err, PW_ERR_USAGE, "status %d: there is no such", (int)entry->status);
    if (!waiver->present)
        return PW_OK;
    if (!waiver->reason[0] || !waiver->owner[0])
        return pw_error_set(err, PW_ERR_USAGE, "a waiver needs a reason and an owner");
    if (!is_date(waiver->until))
        return pw_error_set(err, PW_ERR_USAGE, "a waiver ends on a date as 2026-03-31, found '%s'", waiver->until);
    if (!waiver->gates || (waiver->gates & ~(unsigned)PW_WAIVE_ALL))
        return pw_error_set(err, PW_ERR_USAGE, "a waiver is of verify, precision, coverage, throughput or all");
    return PW_OK;
}

/* ---- the merge ---- */

static pw_status add_conflict(struct pw_triage *triage, const char *id, const char *field, const char *ours,
                              const char *theirs, struct pw_error *err)
{
    struct pw_triage_conflict *conflict;
    pw_status status = PW_GROW(triage->conflicts, triage->conflict_cap, triage->conflict_count + 1, err);

    if (status != PW_OK)
        return status;
    conflict = &triage->conflicts[triage->conflict_count++];
    memset(conflict, 0, sizeof *conflict);
    snprintf(conflict->id, sizeof conflict->id, "%s", id);
    conflict->field = field;
    snprintf(conflict->ours, sizeof conflict->ours, "%s", ours);
    snprintf(conflict->theirs, sizeof conflict->theirs, "%s", theirs);
    return PW_OK;
}

/* dst holds theirs; takes ours where only we changed the text. */
static pw_status merge_text(struct pw_triage *triage, const char *id, const char *field, const char *base,
                            const char *ours, char dst[PW_TRIAGE_TEXT], struct pw_error *err)
{
    if (!strcmp(ours, base) || !strcmp(ours, dst))
        return PW_OK;
    if (strcmp(dst, base) != 0)
        return add_conflict(triage, id, field, ours, dst, err);
    memcpy(dst, ours, strlen(ours) + 1);
    return PW_OK;
}

static void describe_waiver(const struct pw_waiver *waiver, char dst[PW_TRIAGE_TEXT])
{
    if (waiver->present)
        snprintf(dst, PW_TRIAGE_TEXT, "until %s, %.80s: %.380s", waiver->until, waiver->owner, waiver->reason);
    else
        dst[0] = '\0';
}

static pw_status merge_entry(struct pw_triage *triage, const struct pw_triage_entry *base,
                             const struct pw_triage_entry *ours, struct pw_triage_entry *merged, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (!merged->op[0])
        memcpy(merged->op, ours->op, sizeof merged->op);
    if (ours->status != base->status && ours->status != merged->status) {
        if (merged->status == base->status)
            merged->status = ours->status;
        else
            status = add_conflict(triage, ours->id, "status", pw_triage_status_name(ours->status),
                                  pw_triage_status_name(merged->status), err);
    }
    if (status == PW_OK && ours->priority != base->priority && ours->priority != merged->priority) {
        char mine[16], theirs[16];

        snprintf(mine, sizeof mine, "%d", ours->priority);
        snprintf(theirs, sizeof theirs, "%d", merged->priority);
        if (merged->priority == base->priority)
            merged->priority = ours->priority;
        else
            status = add_conflict(triage, ours->id, "priority", mine, theirs, err);
    }
    if (status == PW_OK)
        status = merge_text(triage, ours->id, "owner", base->owner, ours->owner, merged->owner, err);
    if (status == PW_OK)
        status = merge_text(triage, ours->id, "note", base->note, ours->note, merged->note, err);
    if (status == PW_OK && !pw_waiver_equal(&ours->waiver, &base->waiver) &&
        !pw_waiver_equal(&ours->waiver, &merged->waiver)) {
        char mine[PW_TRIAGE_TEXT], theirs[PW_TRIAGE_TEXT];

        describe_waiver(&ours->waiver, mine);
        describe_waiver(&merged->waiver, theirs);
        if (pw_waiver_equal(&merged->waiver, &base->waiver))
            merged->waiver = ours->waiver;
        else
            status = add_conflict(triage, ours->id, "waiver", mine, theirs, err);
    }
    return status;
}

static const struct pw_triage_entry *entry_or_empty(const struct pw_triage_list *list, const char *id,
                                                    struct pw_triage_entry *empty)
{
    size_t at;

    memset(empty, 0, sizeof *empty);
    snprintf(empty->id, sizeof empty->id, "%s", id);
    return pw_triage_list_find(list, id, &at) ? &list->items[at] : empty;
}

/* One id of base or ours into the list, which starts as theirs. */
static pw_status merge_id(struct pw_triage *triage, const char *id, struct pw_triage_list *merged, struct pw_error *err)
{
    struct pw_triage_entry none_base, none_ours, none, result;
    const struct pw_triage_entry *base = entry_or_empty(&triage->base.entries, id, &none_base);
    const struct pw_triage_entry *ours = entry_or_empty(&triage->ours, id, &none_ours);
    pw_status status;

    if (pw_triage_entry_equal(base, ours))
        return PW_OK;
    result = *entry_or_empty(merged, id, &none);
    status = merge_entry(triage, base, ours, &result, err);
    if (status != PW_OK)
        return status;
    if (!pw_triage_entry_empty(&result))
        return pw_triage_list_put(merged, &result, err);
    pw_triage_list_remove(merged, id);
    return PW_OK;
}

/* ours := theirs with our changes since base; on failure nothing changes. */
static pw_status merge(struct pw_triage *triage, const struct pw_triage_text *theirs, struct pw_error *err)
{
    struct pw_triage_list merged = {0};
    pw_status status = list_copy(&merged, &theirs->entries, err);

    triage->conflict_count = 0;
    for (size_t i = 0; i < triage->ours.count && status == PW_OK; i++)
        status = merge_id(triage, triage->ours.items[i].id, &merged, err);
    for (size_t i = 0; i < triage->base.entries.count && status == PW_OK; i++) { /* those that we removed */
        size_t at;

        if (!pw_triage_list_find(&triage->ours, triage->base.entries.items[i].id, &at))
            status = merge_id(triage, triage->base.entries.items[i].id, &merged, err);
    }
    if (status == PW_OK) {
        pw_triage_list_clear(&triage->ours);
        triage->ours = merged;
        memset(&merged, 0, sizeof merged);
    }
    pw_triage_list_clear(&merged);
    return status;
}

/* ---- the file ---- */

/* Reads what is on disk and merges it under ours; base becomes what was read. */
static pw_status reread(struct pw_triage *triage, struct pw_error *err)
{
    struct pw_triage_text theirs = {0};
    struct pw_file_identity before = pw_file_identify(triage->path);
    pw_status status = PW_OK;

    if (before.exists)
        status = pw_file_read(triage->path, FILE_MAX_BYTES, &theirs.raw, err);
    if (status == PW_OK)
        status = pw_triage_text_parse(&theirs, triage->path, triage->graph, err);
    if (status == PW_OK)
        status = merge(triage, &theirs, err);
    if (status == PW_OK) {
        pw_triage_text_clear(&triage->base);
        triage->base = theirs;
        triage->identity = before;
        memset(&theirs, 0, sizeof theirs);
    }
    pw_triage_text_clear(&theirs);
    return status;
}

pw_status pw_triage_open(const char *path, const char *graph, const char *model, struct pw_triage **out,
                         struct pw_error *err)
{
    struct pw_triage *triage = pw_calloc(1, sizeof *triage);
    pw_status status = PW_OK;

    if (!triage)
        return pw_error_memory(err, sizeof *triage);
    triage->path = pw_strdup(path);
    triage->graph = pw_strdup(graph);
    triage->model = pw_strdup(model);
    if (!triage->path || !triage->graph || !triage->model)
        status = pw_error_memory(err, strlen(path));
    if (status == PW_OK)
        status = reread(triage, err);
    if (status == PW_OK) {
        *out = triage;
        triage = NULL;
    }
    pw_triage_close(triage);
    return status;
}

void pw_triage_close(struct pw_triage *triage)
{
    if (!triage)
        return;
    pw_triage_text_clear(&triage->base);
    pw_triage_list_clear(&triage->ours);
    pw_free(triage->conflicts);
    pw_free(triage->path);
    pw_free(triage->graph);
    pw_free(triage->model);
    pw_free(triage);
}

const char *pw_triage_path(const struct pw_triage *triage)
{
    return triage->path;
}

size_t pw_triage_count(const struct pw_triage *triage)
{
    return triage->ours.count;
}

const struct pw_triage_entry *pw_triage_at(const struct pw_triage *triage, size_t i)
{
    return &triage->ours.items[i];
}

const struct pw_triage_entry *pw_triage_find(const struct pw_triage *triage, const char *id)
{
    size_t at;

    return pw_triage_list_find(&triage->ours, id, &at) ? &triage->ours.items[at] : NULL;
}

pw_status pw_triage_set(struct pw_triage *triage, const struct pw_triage_entry *entry, struct pw_error *err)
{
    pw_status status = pw_triage_entry_check(entry, err);

    if (status != PW_OK)
        return status;
    if (!pw_triage_entry_empty(entry))
        return pw_triage_list_put(&triage->ours, entry, err);
    pw_triage_list_remove(&triage->ours, entry->id);
    return PW_OK;
}

bool pw_triage_dirty(const struct pw_triage *triage)
{
    const struct pw_triage_list *a = &triage->ours, *b = &triage->base.entries;

    if (a->count != b->count)
        return true;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].id, b->items[i].id) != 0 || !pw_triage_entry_equal(&a->items[i], &b->items[i]))
            return true;
    return false;
}

bool pw_triage_stale(const struct pw_triage *triage)
{
    struct pw_file_identity now = pw_file_identify(triage->path);

    return !pw_file_same(&now, &triage->identity);
}

pw_status pw_triage_refresh(struct pw_triage *triage, bool *changed, struct pw_error *err)
{
    struct pw_triage_list before = {0};
    pw_status status = PW_OK;

    *changed = false;
    if (!pw_triage_stale(triage))
        return PW_OK;
    status = list_copy(&before, &triage->ours, err);
    if (status == PW_OK)
        status = reread(triage, err);
    if (status == PW_OK) {
        *changed = before.count != triage->ours.count;
        for (size_t i = 0; i < before.count && !*changed; i++)
            *changed = strcmp(before.items[i].id, triage->ours.items[i].id) != 0 ||
                       !pw_triage_entry_equal(&before.items[i], &triage->ours.items[i]);
    }
    pw_triage_list_clear(&before);
    return status;
}

/* What was written becomes the base. */
static pw_status adopt(struct pw_triage *triage, struct pw_buf *written, struct pw_error *err)
{
    struct pw_triage_text text = {.raw = *written};
    pw_status status;

    memset(written, 0, sizeof *written);
    status = pw_triage_text_parse(&text, triage->path, triage->graph, err);
    if (status == PW_OK) {
        pw_triage_text_clear(&triage->base);
        triage->base = text;
        triage->identity = pw_file_identify(triage->path);
        memset(&text, 0, sizeof text);
    }
    pw_triage_text_clear(&text);
    return status;
}

pw_status pw_triage_save(struct pw_triage *triage, struct pw_error *err)
{
    struct pw_buf folder = {0}, out = {0};
    int lock = -1;
    pw_status status = PW_OK;

    triage->conflict_count = 0;
    if (!pw_triage_dirty(triage))
        return PW_OK;
    pw_file_dirname(&folder, triage->path);
    status =
        folder.failed ? pw_error_memory(err, strlen(triage->path)) : pw_folder_lock(pw_buf_text(&folder), &lock, err);
    if (status == PW_OK)
        status = reread(triage, err); /* also when it looks unchanged: times may be coarse */
    if (status == PW_OK && pw_triage_dirty(triage)) {
        status = pw_triage_text_print(&triage->base, &triage->ours, triage->graph, triage->model, &out, err);
        if (status == PW_OK)
            status = pw_file_write(triage->path, pw_buf_text(&out), out.size, err);
        if (status == PW_OK)
            status = adopt(triage, &out, err);
    }
    pw_folder_unlock(lock);
    pw_buf_clear(&folder);
    pw_buf_clear(&out);
    return status;
}

size_t pw_triage_conflict_count(const struct pw_triage *triage)
{
    return triage->conflict_count;
}

const struct pw_triage_conflict *pw_triage_conflict_at(const struct pw_triage *triage, size_t i)
{
    return &triage->conflicts[i];
}

/* ---- waivers ---- */

const char *pw_triage_today(int64_t wall_ms, char dst[PW_TRIAGE_DATE])
{
    char iso[32];

    snprintf(dst, PW_TRIAGE_DATE, "%.10s", pw_clock_iso(wall_ms, iso, sizeof iso));
    return dst;
}

pw_waiver_state pw_triage_waiver(const struct pw_triage_entry *entry, unsigned gates, const char *today)
{
    if (!entry || !entry->waiver.present || !(entry->waiver.gates & gates))
        return PW_WAIVER_NONE;
    return strcmp(entry->waiver.until, today) < 0 ? PW_WAIVER_EXPIRED : PW_WAIVER_VALID;
}
