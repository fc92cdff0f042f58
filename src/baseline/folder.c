#include "baseline/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/mem.h"
#include "baseline/baseline.h"

#define ID_DIGITS 12
#define NAME_MAX_BYTES 60
#define LOCK_WAIT_NS (INT64_C(10) * 1000000000)
#define LOCK_POLL_NS 10000000

void pw_folder_safe_name(struct pw_buf *out, const char *name)
{
    for (size_t i = 0; name[i] && i < NAME_MAX_BYTES; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                     (c == '.' && i > 0) || (c == '-' && i > 0);

        pw_buf_putc(out, plain ? c : '-');
    }
    if (!name[0])
        pw_buf_putc(out, '-');
}

/* "…/gpt_kv.onnx" -> "gpt_kv" */
static void model_name(struct pw_buf *out, const char *model_path)
{
    const char *slash = strrchr(model_path, '/');
    struct pw_buf stem = {0};

    pw_buf_puts(&stem, slash ? slash + 1 : model_path);
    if (!stem.failed && pw_text_ends(pw_buf_text(&stem), ".onnx"))
        stem.data[stem.size -= 5] = '\0';
    pw_folder_safe_name(out, stem.size ? pw_buf_text(&stem) : "graph");
    out->failed |= stem.failed;
    pw_buf_clear(&stem);
}

pw_status pw_folder_graph(const char *root, const char *graph_id, const char *model_path, struct pw_buf *out,
                          struct pw_error *err)
{
    struct pw_buf ending = {0}, name = {0};
    char **names = NULL;
    size_t count = 0;
    pw_status status = PW_OK;

    pw_buf_printf(&ending, "-%.*s", ID_DIGITS, graph_id);
    if (pw_file_is_dir(root))
        status = pw_file_list(root, &names, &count, err);
    for (size_t i = 0; i < count && !name.size; i++)
        if (pw_text_ends(names[i], pw_buf_text(&ending)))
            pw_buf_puts(&name, names[i]);
    if (status == PW_OK && !name.size) {
        model_name(&name, model_path);
        pw_buf_puts(&name, pw_buf_text(&ending));
    }
    if (status == PW_OK)
        pw_buf_printf(out, "%s/%s", root, pw_buf_text(&name));
    if (status == PW_OK && (out->failed || name.failed || ending.failed))
        status = pw_error_memory(err, strlen(root));
    pw_free(names);
    pw_buf_clear(&ending);
    pw_buf_clear(&name);
    return status;
}

/* "precision-4.yaml.8284.draft", "triage.yaml.8284-0.tmp" and both in one: what a writer names its file before it is
 * whole. */
static bool is_leftover(const char *name)
{
    const char *rest = strstr(name, ".yaml.");

    return rest && rest[6] >= '0' && rest[6] <= '9' && (pw_text_ends(name, ".tmp") || pw_text_ends(name, ".draft"));
}

/* Whoever writes here holds the lock: with it in hand, an unfinished file is one whose writer was killed. */
static void sweep(const char *folder, int fd)
{
    char **names = NULL;
    struct pw_error ignored = {0};
    size_t count = 0;

    if (pw_file_list(folder, &names, &count, &ignored) != PW_OK)
        return; /* the next one tries again */
    pw_folder_recover(folder, fd, names, count);
    for (size_t i = 0; i < count; i++)
        if (is_leftover(names[i]))
            unlinkat(fd, names[i], 0);
    pw_free(names);
}

static void tidy_one(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        sweep(folder, fd);
    pw_folder_unlock(fd);
}

void pw_folder_tidy(const char *folder)
{
    struct pw_buf path = {0};
    struct pw_error ignored = {0};
    char **names = NULL;
    size_t count = 0;

    if (pw_file_list(folder, &names, &count, &ignored) != PW_OK)
        return;
    tidy_one(folder);
    for (size_t i = 0; i < count; i++) {
        pw_file_join(&path, folder, names[i]);
        if (!path.failed)
            tidy_one(pw_buf_text(&path));
    }
    pw_buf_clear(&path);
    pw_free(names);
}

pw_status pw_folder_lock(const char *folder, int *fd, struct pw_error *err)
{
    int64_t deadline = pw_clock_ns() + LOCK_WAIT_NS;
    pw_status status = pw_file_mkdirs(folder, err);
    bool locked = true;
    int opened;

    if (status != PW_OK)
        return status;
    opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0)
        return pw_error_set(err, PW_ERR_IO, "cannot open '%s': %s", folder, strerror(errno));
    while (flock(opened, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) { /* a file system without locks: renames are atomic anyway */
            locked = false;
            break;
        }
        if (pw_clock_ns() > deadline) {
            close(opened);
            return pw_error_set(err, PW_ERR_IO, "'%s' is being changed by another portwright: try again", folder);
        }
        pw_clock_sleep_ns(LOCK_POLL_NS);
    }
    if (locked)
        sweep(folder, opened);
    *fd = opened;
    return PW_OK;
}

void pw_folder_unlock(int fd)
{
    if (fd >= 0)
        close(fd);
}

const char *pw_baseline_approver(char *dst, size_t size)
{
    static const char *const chosen[] = {"PORTWRIGHT_USER", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"};
    static const char *const login[] = {"LOGNAME", "USER"};
    const struct passwd *user = getpwuid(geteuid());
    const char *name = NULL;
    size_t length;

    for (size_t i = 0; i < PW_COUNT_OF(chosen) && (!name || !name[0]); i++)
        name = getenv(chosen[i]);
    if ((!name || !name[0]) && user && user->pw_gecos && user->pw_gecos[0] != ',')
        name = user->pw_gecos;
    length = name ? user && name == user->pw_gecos ? strcspn(name, ",") : strlen(name) : 0;
    for (size_t i = 0; i < PW_COUNT_OF(login) && !length; i++) {
        name = getenv(login[i]);
        length = name ? strlen(name) : 0;
    }
    if (!length && user) {
        name = user->pw_name;
        length = strlen(name);
    }
    snprintf(dst, size, "%.*s", (int)(length < size ? length : size - 1), name ? name : "");
    return dst;
}
