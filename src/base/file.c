/* Files through POSIX calls, with the path in every message. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"

static pw_status io_error(struct pw_error *err, const char *verb, const char *path)
{
    return pw_error_set(err, PW_ERR_IO, "cannot %s '%s': %s", verb, path, strerror(errno));
}

pw_status pw_file_read(const char *path, size_t max_bytes, struct pw_buf *buf, struct pw_error *err)
{
    pw_status status = PW_OK;
    size_t total = 0;
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return io_error(err, "open", path);
    if (fstat(fd, &facts) != 0) {
        status = io_error(err, "examine", path);
        goto done;
    }
    if (!S_ISREG(facts.st_mode)) {
        status = pw_error_set(err, PW_ERR_IO, "'%s' is %s, expected a regular file", path,
                              S_ISDIR(facts.st_mode) ? "a directory" : "a device, pipe or socket");
        goto done;
    }
    for (;;) {
        char chunk[16384];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = io_error(err, "read", path);
            goto done;
        }
        if (n == 0)
            break;
        if ((size_t)n > max_bytes - total) {
            status = pw_error_set(err, PW_ERR_FORMAT, "'%s' is larger than %zu bytes", path, max_bytes);
            goto done;
        }
        total += (size_t)n;
        pw_buf_append(buf, chunk, (size_t)n);
        if (buf->failed) {
            status = pw_error_memory(err, total);
            goto done;
        }
    }
done:
    close(fd);
    return status;
}

pw_status pw_file_need_folder(const char *path, struct pw_error *err)
{
    struct pw_buf folder = {0};
    pw_status status = PW_OK;

    pw_file_dirname(&folder, path);
    if (folder.failed)
        status = pw_error_memory(err, strlen(path));
    else if (!pw_file_is_dir(pw_buf_text(&folder)))
        status = pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s '%s'", path,
                              pw_file_exists(pw_buf_text(&folder)) ? "it would be in a file," : "there is no folder",
                              pw_buf_text(&folder));
    pw_buf_clear(&folder);
    return status;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* The rename itself is durable once the folder is; file systems that can't sync one are let be. */
static void sync_folder(const char *path)
{
    struct pw_buf folder = {0};
    pw_file_dirname(&folder, path);
    int fd = folder.failed ? -1 : open(pw_buf_text(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    pw_buf_clear(&folder);
}

/* A new file beside `path` with the mode of the old one, or 0666 & ~umask. Its name goes to `name`. */
static int open_beside(const char *path, struct pw_buf *name)
{
    static _Atomic unsigned counter;
    struct stat old;
    for (int tries = 0; tries < 100; tries++) {
        name->size = 0;
        pw_buf_printf(name, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1));
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            if (stat(path, &old) == 0 && S_ISREG(old.st_mode) && fchmod(fd, old.st_mode & 0777) != 0) {
                close(fd);
                unlink(name->data);
                return -1;
            }
            return fd;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Into a pipe or a device, which are written to and never replaced by a file. */
static pw_status write_through(const char *path, const char *data, size_t size, struct pw_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return io_error(err, "write", path);
    bool written = write_all(fd, data, size);
    int error = errno;
    close(fd);
    errno = error;
    return written ? PW_OK : io_error(err, "write", path);
}

pw_status pw_file_write(const char *path, const char *data, size_t size, struct pw_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return write_through(path, data, size, err);
    pw_status status = PW_OK;
    struct pw_buf name = {0};
    /* Through a link, its target is replaced, not the link. */
    char *real = realpath(path, NULL);
    const char *target = real != NULL ? real : path;
    int fd = open_beside(target, &name);
    if (fd < 0) {
        int why = errno;
        status = pw_file_need_folder(target, err);
        errno = why;
        if (status == PW_OK)
            status = io_error(err, "write", path);
        goto done;
    }
    bool written = write_all(fd, data, size) && fsync(fd) == 0;
    int error = errno;
    if (close(fd) != 0 && written) {
        error = errno;
        written = false;
    }
    if (written && rename(name.data, target) != 0) {
        error = errno;
        written = false;
    }
    if (!written) {
        unlink(name.data);
        errno = error;
        status = io_error(err, "write", path);
        goto done;
    }
    sync_folder(target);
done:
    pw_buf_clear(&name);
    pw_free(real);
    return status;
}

pw_status pw_file_mkdirs(const char *path, struct pw_error *err)
{
    pw_status status = PW_OK;
    size_t size = strlen(path);
    char *part = pw_strndup(path, size);
    if (part == NULL)
        return pw_error_memory(err, size + 1);
    for (size_t i = 1; i <= size; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        /* A parent that exists but may not be written answers EACCES or EROFS: not our concern. */
        int why = mkdir(part, 0777) != 0 ? errno : 0;
        if (why != 0 && !pw_file_is_dir(part)) {
            errno = why; /* not what looking for a folder said */
            status = io_error(err, "make the folder", part);
            break;
        }
        part[i] = kept;
    }
    pw_free(part);
    return status;
}

bool pw_file_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

bool pw_file_is_dir(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

struct pw_file_identity pw_file_identify(const char *path)
{
    struct pw_file_identity identity = {0};
    struct stat facts;

    if (stat(path, &facts) != 0)
        return identity;
    identity.exists = true;
    identity.device = facts.st_dev;
    identity.inode = facts.st_ino;
    identity.size = facts.st_size;
    identity.time = facts.st_mtim;
    return identity;
}

bool pw_file_same(const struct pw_file_identity *a, const struct pw_file_identity *b)
{
    return a->exists == b->exists &&
           (!a->exists || (a->device == b->device && a->inode == b->inode && a->size == b->size &&
                           a->time.tv_sec == b->time.tv_sec && a->time.tv_nsec == b->time.tv_nsec));
}

/* Makes the buffer empty without giving its memory back. */
static void rewind_buf(struct pw_buf *buf)
{
    buf->size = 0;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

void pw_file_join(struct pw_buf *buf, const char *dir, const char *name)
{
    rewind_buf(buf);
    if (name[0] != '/' && dir[0] != '\0') {
        pw_buf_puts(buf, dir);
        if (!pw_text_ends(dir, "/"))
            pw_buf_putc(buf, '/');
    }
    pw_buf_puts(buf, name);
}

void pw_file_dirname(struct pw_buf *buf, const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    while (size > 1 && path[size - 1] == '/')
        size--;
    rewind_buf(buf);
    if (size == 0)
        pw_buf_putc(buf, '.');
    else
        pw_buf_append(buf, path, size);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names, each with its NUL, one after the other. */
static pw_status collect_names(const char *path, struct pw_buf *text, size_t *count, struct pw_error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return io_error(err, "list", path);
    pw_status status = PW_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            if (errno != 0)
                status = io_error(err, "list", path);
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        pw_buf_append(text, entry->d_name, strlen(entry->d_name) + 1);
        (*count)++;
    }
    closedir(folder);
    if (status == PW_OK && text->failed)
        status = pw_error_memory(err, text->size);
    return status;
}

pw_status pw_file_list(const char *path, char ***names, size_t *count, struct pw_error *err)
{
    struct pw_buf text = {0};
    size_t n = 0;
    pw_status status = collect_names(path, &text, &n, err);
    if (status != PW_OK)
        goto done;
    char **list = pw_calloc(1, n * sizeof *list + text.size);
    if (list == NULL) {
        status = pw_error_memory(err, n * sizeof *list + text.size);
        goto done;
    }
    char *bytes = (char *)(list + n);
    if (n > 0) {
        memcpy(bytes, text.data, text.size);
        for (size_t i = 0; i < n; i++) {
            list[i] = bytes;
            bytes += strlen(bytes) + 1;
        }
        qsort(list, n, sizeof *list, by_bytes);
    }
    *names = list;
    *count = n;
done:
    pw_buf_clear(&text);
    return status;
}
