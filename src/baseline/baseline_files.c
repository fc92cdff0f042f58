/* Where baselines lie, which one is meant, and how a pending one gets its number. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/yaml.h"
#include "baseline/baseline.h"
#include "baseline/folder.h"

#define NUMBER_MAX 1000000

pw_status pw_baseline_folder(const char *root, const char *graph_id, const char *model_path, const char *target_kind,
                             struct pw_buf *out, struct pw_error *err)
{
    pw_status status = pw_folder_graph(root, graph_id, model_path, out, err);

    if (status != PW_OK)
        return status;
    pw_buf_putc(out, '/');
    pw_folder_safe_name(out, target_kind);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

/* ---- names ---- */

/* "precision-3.yaml", "throughput-<environment>-pending.yaml"; false: no baseline's name. */
static bool parse_name(const char *name, struct pw_baseline_file *file, char environment[32])
{
    const char *rest = name, *dash;
    int64_t number;
    size_t length;
    char digits[16];

    environment[0] = '\0';
    if (pw_text_starts(name, "precision-")) {
        file->kind = PW_BASELINE_PRECISION;
        rest += strlen("precision-");
    } else if (pw_text_starts(name, "throughput-")) {
        file->kind = PW_BASELINE_THROUGHPUT;
        rest += strlen("throughput-");
        dash = strchr(rest, '-');
        if (!dash || dash == rest || dash - rest > 31)
            return false;
        snprintf(environment, 32, "%.*s", (int)(dash - rest), rest);
        rest = dash + 1;
    } else {
        return false;
    }
    if (!pw_text_ends(rest, ".yaml"))
        return false;
    length = strlen(rest) - strlen(".yaml");
    if (length == 0 || length >= sizeof digits)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)length, rest);
    file->number = 0;
    if (!strcmp(digits, "pending"))
        return true;
    if (digits[0] < '1' || digits[0] > '9' || !pw_text_int64(digits, &number) || number > NUMBER_MAX)
        return false;
    file->number = (int)number;
    return true;
}

static void put_name(struct pw_buf *out, const char *folder, pw_baseline_kind kind, const char *environment_id,
                     int number)
{
    pw_buf_printf(out, "%s/%s-", folder, pw_baseline_kind_name(kind));
    if (kind == PW_BASELINE_THROUGHPUT)
        pw_buf_printf(out, "%s-", environment_id);
    if (number)
        pw_buf_printf(out, "%d.yaml", number);
    else
        pw_buf_puts(out, "pending.yaml");
}

pw_status pw_baseline_check_name(const struct pw_baseline *b, struct pw_error *err)
{
    const char *slash = strrchr(b->path, '/');
    struct pw_baseline_file file = {0};
    char environment[32];

    if (!parse_name(slash ? slash + 1 : b->path, &file, environment))
        return PW_OK; /* a name of the user's own */
    if (b->kind != file.kind || strcmp(b->environment_id, environment) != 0)
        return pw_error_set(err, PW_ERR_USAGE, "%s holds a %s baseline%s%s: its name says something else", b->path,
                            pw_baseline_kind_name(b->kind), b->environment_id[0] ? " of environment " : "",
                            b->environment_id);
    if (b->number != file.number && !b->number)
        return pw_error_set(err, PW_ERR_USAGE,
                            "%s: its 'number' is pending, so nobody approved it under the number of its name", b->path);
    if (b->number != file.number)
        return pw_error_set(err, PW_ERR_USAGE, "%s: its 'number' is %d, its name says something else", b->path,
                            b->number);
    return PW_OK;
}

static int by_kind_and_number(const void *a, const void *b)
{
    const struct pw_baseline_file *x = a, *y = b;
    int order;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    order = strcmp(x->environment_id, y->environment_id);
    if (order)
        return order;
    return (x->number > y->number) - (x->number < y->number);
}

/* *drafts: an approval goes on, or was killed. */
static pw_status list_files(const char *folder, struct pw_arena *arena, struct pw_baseline_file **files, size_t *count,
                            bool *drafts, struct pw_error *err)
{
    char **names = NULL;
    size_t name_count = 0, n = 0;
    struct pw_baseline_file *list = NULL;
    pw_status status = PW_OK;

    *files = NULL;
    *count = 0;
    *drafts = false;
    if (!pw_file_is_dir(folder))
        return PW_OK;
    status = pw_file_list(folder, &names, &name_count, err);
    if (status == PW_OK && !(list = pw_arena_alloc(arena, name_count + 1, sizeof *list)))
        status = pw_error_memory(err, name_count * sizeof *list);
    for (size_t i = 0; i < name_count && status == PW_OK; i++) {
        struct pw_baseline_file file = {0};
        char environment[32];

        *drafts = *drafts || pw_text_ends(names[i], ".draft");
        if (!parse_name(names[i], &file, environment))
            continue;
        file.name = pw_arena_strndup(arena, names[i], strlen(names[i]));
        file.path = pw_arena_printf(arena, "%s/%s", folder, names[i]);
        file.environment_id = pw_arena_strndup(arena, environment, strlen(environment));
        if (!file.name || !file.path || !file.environment_id)
            status = pw_error_memory(err, strlen(names[i]));
        list[n++] = file;
    }
    if (status == PW_OK) {
        if (n)
            qsort(list, n, sizeof *list, by_kind_and_number);
        *files = list;
        *count = n;
    }
    pw_free(names);
    return status;
}

pw_status pw_baseline_list(const char *folder, struct pw_arena *arena, struct pw_baseline_file **files, size_t *count,
                           struct pw_error *err)
{
    struct pw_error ignored = {0};
    bool drafts;
    int lock = -1;
    pw_status status = list_files(folder, arena, files, count, &drafts, err);

    if (status != PW_OK || !drafts)
        return status;
    /* A part of an approval is no state of the folder: with the lock it is over, or carried through. */
    if (pw_folder_lock(folder, &lock, &ignored) == PW_OK)
        pw_folder_unlock(lock);
    return list_files(folder, arena, files, count, &drafts, err);
}

pw_status pw_baseline_find(const char *folder, const char *which, pw_baseline_kind kind, const char *environment_id,
                           struct pw_arena *arena, const char **path, struct pw_error *err)
{
    bool pending = !strcmp(which, "pending"), latest = !strcmp(which, "latest");
    struct pw_baseline_file *files;
    size_t count;
    int64_t limit = NUMBER_MAX;
    int best = -1;
    pw_status status = pw_baseline_list(folder, arena, &files, &count, err);

    *path = NULL;
    if (status != PW_OK)
        return status;
    if (!pending && !latest && (!pw_text_int64(which, &limit) || limit < 1 || limit > NUMBER_MAX))
        return pw_error_set(err, PW_ERR_USAGE, "baseline '%s': expected latest, pending, a number or a file", which);
    for (size_t i = 0; i < count; i++) {
        if (files[i].kind != kind ||
            (kind == PW_BASELINE_THROUGHPUT && strcmp(files[i].environment_id, environment_id)))
            continue;
        if (pending ? files[i].number == 0 : files[i].number > 0 && files[i].number <= limit)
            best = (int)i;
    }
    if (best >= 0 && !pending && !latest && kind == PW_BASELINE_PRECISION && files[best].number != limit)
        best = -1;
    if (best >= 0)
        *path = files[best].path;
    else if (!pending && !latest && kind == PW_BASELINE_PRECISION)
        return pw_error_set(err, PW_ERR_USAGE, "baseline %s: there is no precision-%s.yaml in %s", which, which,
                            folder);
    return PW_OK;
}

/* ---- pending ---- */

/* What is written must be there to be read: the reader's limits hold for thousands of signatures too. */
static pw_status check_readable(const struct pw_buf *text, struct pw_error *err)
{
    struct pw_arena arena = {0};
    const struct pw_yaml *root;
    pw_status status = PW_OK;

    if (text->size > PW_BASELINE_MAX_BYTES)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "the baseline would be %zu bytes, at most %zu can be read back",
                              text->size, PW_BASELINE_MAX_BYTES);
    else
        status =
            pw_yaml_parse(pw_buf_text(text), text->size, "the baseline as it would be written", &arena, &root, err);
    pw_arena_clear(&arena);
    return status;
}

pw_status pw_baseline_save_pending(const char *folder, const struct pw_baseline *baseline, struct pw_buf *path,
                                   struct pw_error *err)
{
    struct pw_buf text = {0};
    int lock = -1;
    pw_status status = pw_baseline_print(baseline, &text, err);

    if (status == PW_OK)
        status = check_readable(&text, err);
    if (status == PW_OK)
        status = pw_folder_lock(folder, &lock, err);
    if (status == PW_OK) {
        put_name(path, folder, baseline->kind, baseline->environment_id, 0);
        status = path->failed ? pw_error_memory(err, path->size)
                              : pw_file_write(pw_buf_text(path), pw_buf_text(&text), text.size, err);
    }
    pw_folder_unlock(lock);
    pw_buf_clear(&text);
    return status;
}

/* ---- approval ---- */

struct pending {
    const char *path;
    struct pw_baseline baseline;
    struct pw_hash128 hash;      /* of the file as it was read */
    struct pw_buf draft, target; /* names: written beside, to become */
    bool linked;                 /* the target is there, by us */
};

static pw_status hash_file(const char *path, struct pw_hash128 *out, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_file_read(path, PW_BASELINE_MAX_BYTES, &text, err);

    if (status == PW_OK)
        *out = pw_hash128(pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return status;
}

/* The pending file goes, unless somebody recorded a new one since. */
static pw_status remove_pending(const struct pending *pending, int number, struct pw_error *err)
{
    struct pw_hash128 now;

    if (hash_file(pending->path, &now, NULL) != PW_OK || now.high != pending->hash.high ||
        now.low != pending->hash.low || unlink(pending->path) == 0)
        return PW_OK;
    return pw_error_set(err, PW_ERR_IO, "approved as number %d, but '%s' is still there and cannot be removed: %s",
                        number, pending->path, strerror(errno));
}

/* Whole and on the disk, beside the name that it is to have. */
static pw_status write_draft(const char *folder, struct pending *pending, const struct pw_baseline_approval *approval,
                             int number, struct pw_error *err)
{
    struct pw_buf text = {0};
    struct pw_baseline *b = &pending->baseline;
    pw_status status;

    b->number = number;
    b->approved_by = approval->by;
    b->approved_at = approval->at;
    b->message = approval->message;
    status = pw_baseline_print(b, &text, err);
    if (status == PW_OK)
        status = check_readable(&text, err);
    put_name(&pending->target, folder, b->kind, b->environment_id, number);
    pw_buf_printf(&pending->draft, "%s.%ld.draft", pw_buf_text(&pending->target), (long)getpid());
    if (status == PW_OK && (pending->target.failed || pending->draft.failed))
        status = pw_error_memory(err, pending->target.size);
    if (status == PW_OK)
        status = pw_file_write(pw_buf_text(&pending->draft), pw_buf_text(&text), text.size, err);
    pw_buf_clear(&text);
    return status;
}

static void drop_draft(struct pending *pending)
{
    if (pending->draft.size && !pending->draft.failed)
        unlink(pw_buf_text(&pending->draft));
    pw_buf_clear(&pending->draft);
}

/* link refuses a name that exists, so no number is given twice even where locks do not work. *taken: it exists. */
static pw_status link_draft(struct pending *pending, bool *taken, struct pw_error *err)
{
    const char *target = pw_buf_text(&pending->target);

    pending->linked = link(pw_buf_text(&pending->draft), target) == 0;
    if (pending->linked)
        return PW_OK;
    *taken = errno == EEXIST;
    return *taken ? PW_OK : pw_error_set(err, PW_ERR_IO, "cannot create '%s': %s", target, strerror(errno));
}

/* All under one number, or none: what comes after the last draft takes no room on the disk. Drafts stay where all went
 * well, until what was pending is removed: from them whoever has the lock next carries on (recover.c). */
static pw_status publish(const char *folder, int lock, struct pending *pending, size_t count,
                         const struct pw_baseline_approval *approval, int number, bool *taken, struct pw_error *err)
{
    pw_status status = PW_OK;

    *taken = false;
    for (size_t i = 0; i < count && status == PW_OK; i++)
        status = write_draft(folder, &pending[i], approval, number, err);
    for (size_t i = 0; i < count && status == PW_OK && !*taken; i++)
        status = link_draft(&pending[i], taken, err);
    for (size_t i = 0; i < count; i++) {
        if (pending[i].linked && (status != PW_OK || *taken)) {
            unlink(pw_buf_text(&pending[i].target));
            pending[i].linked = false; /* what bears its next name may be another's */
        }
        if (status != PW_OK || *taken)
            drop_draft(&pending[i]);
    }
    if (status == PW_OK && !*taken)
        fsync(lock); /* before the pending ones go; a folder that cannot be synced is let be */
    return status;
}

/* One pending file more. */
static size_t add_state(size_t state, const char *name, struct pw_hash128 hash)
{
    state = (size_t)pw_hash64(name, strlen(name) + 1, state);
    state = (size_t)pw_hash64(&hash, sizeof hash, state);
    return state ? state : 1;
}

#define STATE_NONE 1 /* nothing is pending */

pw_status pw_baseline_pending(const char *folder, size_t *state, struct pw_error *err)
{
    struct pw_baseline_file *files = NULL;
    struct pw_arena arena = {0};
    size_t made = STATE_NONE;
    size_t count = 0;
    pw_status status = pw_baseline_list(folder, &arena, &files, &count, err);

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_hash128 hash;

        if (files[i].number)
            continue;
        status = hash_file(files[i].path, &hash, err);
        if (status == PW_OK)
            made = add_state(made, files[i].name, hash);
    }
    if (status == PW_OK)
        *state = made;
    pw_arena_clear(&arena);
    return status;
}

const char *pw_baseline_state_text(size_t state, char dst[PW_BASELINE_STATE])
{
    snprintf(dst, PW_BASELINE_STATE, "%016" PRIx64, (uint64_t)state);
    return dst;
}

bool pw_baseline_state_parse(const char *text, size_t *state)
{
    uint64_t value = 0;

    if (strlen(text) != PW_BASELINE_STATE - 1 || strspn(text, "0123456789abcdef") != PW_BASELINE_STATE - 1)
        return false;
    for (; *text; text++)
        value = value * 16 + (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    *state = (size_t)value;
    return value != 0;
}

/* From one reading: what is hashed is what is approved, even where locks do not work. */
static pw_status read_one(struct pending *pending, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_file_read(pending->path, PW_BASELINE_MAX_BYTES, &text, err);

    if (status == PW_OK) {
        pending->hash = pw_hash128(pw_buf_text(&text), text.size);
        status = pw_baseline_parse(pending->path, pw_buf_text(&text), text.size, &pending->baseline, err);
    }
    pw_buf_clear(&text);
    return status;
}

static pw_status read_pending(const struct pw_baseline_file *files, size_t count, struct pending *pending,
                              size_t *pending_count, int *highest, size_t seen, struct pw_error *err)
{
    size_t state = STATE_NONE;
    pw_status status = PW_OK;

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (files[i].number > *highest)
            *highest = files[i].number;
        if (files[i].number)
            continue;
        pending[*pending_count].path = files[i].path;
        status = read_one(&pending[*pending_count], err);
        state = add_state(state, files[i].name, pending[(*pending_count)++].hash);
    }
    /* Nobody approves what he has not seen: a colleague may have recorded again since. */
    if (status == PW_OK && *pending_count && seen && seen != state)
        status =
            pw_error_set(err, PW_ERR_USAGE,
                         "nothing was approved: what is pending is no longer what was shown here; look at it again");
    return status;
}

pw_status pw_baseline_approve(const char *folder, const struct pw_baseline_approval *approval, int *number,
                              size_t *approved, struct pw_buf *paths, struct pw_error *err)
{
    struct pw_arena arena = {0};
    struct pw_baseline_file *files = NULL;
    struct pending *pending = NULL;
    size_t count = 0, pending_count = 0;
    int lock = -1, highest = 0;
    bool taken = true, drafts;
    pw_status status = PW_OK;

    *approved = 0;
    if (!approval->by[0] || !approval->message[0])
        return pw_error_set(err, PW_ERR_USAGE, "an approval needs a name (--by) and a reason (--message)");
    if (!pw_file_is_dir(folder))
        return pw_error_set(err, PW_ERR_USAGE, "%s: nothing is pending; portwright baseline record makes one", folder);
    status = pw_folder_lock(folder, &lock, err);
    if (status == PW_OK)
        status = list_files(folder, &arena, &files, &count, &drafts, err);
    if (status == PW_OK && !(pending = pw_arena_alloc(&arena, count + 1, sizeof *pending)))
        status = pw_error_memory(err, count * sizeof *pending);
    if (status == PW_OK)
        status = read_pending(files, count, pending, &pending_count, &highest, approval->seen, err);
    if (status == PW_OK && !pending_count)
        status =
            pw_error_set(err, PW_ERR_USAGE, "%s: nothing is pending; portwright baseline record makes one", folder);
    while (status == PW_OK && taken) { /* by an approval that our lock did not hold back */
        if (highest >= NUMBER_MAX) {
            status = pw_error_set(err, PW_ERR_UNSUPPORTED,
                                  "%s: a baseline has the number %d, and no higher one is read", folder, highest);
            break;
        }
        *number = ++highest;
        status = publish(folder, lock, pending, pending_count, approval, *number, &taken, err);
        for (size_t i = 0; i < pending_count; i++) {
            if (status == PW_OK && !taken)
                pw_buf_printf(paths, "%s\n", pw_buf_text(&pending[i].target));
            pw_buf_clear(&pending[i].target);
        }
    }
    for (size_t i = 0; i < pending_count && status == PW_OK; i++) {
        status = remove_pending(&pending[i], *number, err);
        (*approved)++;
    }
    for (size_t i = 0; i < pending_count; i++) {
        drop_draft(&pending[i]);
        pw_baseline_clear(&pending[i].baseline);
    }
    pw_folder_unlock(lock);
    pw_arena_clear(&arena);
    return status;
}
