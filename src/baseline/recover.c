/* An approval that was killed between its steps is carried through, or it was not begun.
 *
 * An approval writes all drafts, links each to its number, removes what was pending, and removes the drafts at last. So
 * its first link decides: a draft that has one belongs to an approval whose drafts are all there, and whatever is
 * missing is done from them. Drafts of which none has a link are nobody's. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "baseline/baseline.h"
#include "baseline/folder.h"

#define DRAFT ".draft"

/* "precision-4.yaml" of "precision-4.yaml.8284.draft"; false: it is no draft's name. */
static bool target_of(const char *draft, char *dst, size_t size)
{
    const char *end = strstr(draft, ".yaml.");
    const char *digits = end ? end + strlen(".yaml.") : NULL;
    size_t count = digits ? strspn(digits, "0123456789") : 0, length;

    if (!count || strcmp(digits + count, DRAFT) != 0)
        return false;
    length = (size_t)(digits - 1 - draft);
    if (length >= size)
        return false;
    memcpy(dst, draft, length);
    dst[length] = '\0';
    return true;
}

/* Number and process: "-4.yaml.8284.draft". */
static const char *approval_of(const char *draft)
{
    const char *dash = strrchr(draft, '-');

    return dash ? dash : draft;
}

static bool is_linked(int fd, const char *draft, const char *target)
{
    struct stat a, b;

    return fstatat(fd, draft, &a, AT_SYMLINK_NOFOLLOW) == 0 && fstatat(fd, target, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whether the numbered file is the pending one with its approval. */
static bool was_approved(const char *pending, const char *numbered)
{
    struct pw_baseline before = {0}, after = {0};
    struct pw_buf text = {0}, approved = {0};
    bool same;

    same = pw_baseline_read(pending, &before, NULL) == PW_OK && pw_baseline_read(numbered, &after, NULL) == PW_OK &&
           pw_file_read(numbered, PW_BASELINE_MAX_BYTES, &approved, NULL) == PW_OK;
    if (same) {
        before.number = after.number;
        before.approved_by = after.approved_by;
        before.approved_at = after.approved_at;
        before.message = after.message;
        same = pw_baseline_print(&before, &text, NULL) == PW_OK && text.size == approved.size &&
               !memcmp(pw_buf_text(&text), pw_buf_text(&approved), text.size);
    }
    pw_baseline_clear(&before);
    pw_baseline_clear(&after);
    pw_buf_clear(&text);
    pw_buf_clear(&approved);
    return same;
}

/* The pending file goes, unless it is another one. */
static void settle(const char *folder, const char *target)
{
    struct pw_buf pending = {0}, numbered = {0};

    pw_buf_printf(&numbered, "%s/%s", folder, target);
    pw_buf_printf(&pending, "%s/%.*s-pending.yaml", folder, (int)(approval_of(target) - target), target);
    if (!pending.failed && !numbered.failed && was_approved(pw_buf_text(&pending), pw_buf_text(&numbered)))
        unlink(pw_buf_text(&pending));
    pw_buf_clear(&pending);
    pw_buf_clear(&numbered);
}

void pw_folder_recover(const char *folder, int fd, char *const *names, size_t count)
{
    char target[256], other[256];
    bool linked = false;

    for (size_t i = 0; i < count; i++) {
        bool begun = false;

        if (!target_of(names[i], target, sizeof target))
            continue;
        for (size_t k = 0; k < count && !begun; k++)
            begun = target_of(names[k], other, sizeof other) && !strcmp(approval_of(names[k]), approval_of(names[i])) &&
                    is_linked(fd, names[k], other);
        if (begun && linkat(fd, names[i], fd, target, 0) == 0)
            linked = true;
    }
    if (linked)
        fsync(fd); /* before the pending ones go; a folder that cannot be synced is let be */
    for (size_t i = 0; i < count; i++)
        if (target_of(names[i], target, sizeof target) && is_linked(fd, names[i], target))
            settle(folder, target);
}
