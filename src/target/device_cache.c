/* Where a device's workers keep compiled code: choosing a folder that can be written, and saying so when its disk is
 * what a failure came from. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "target/device_internal.h"

/* A graph's kernels take some MiB of compiled code, drivers write as much again while they compile. */
#define ROOM_BYTES 33554432.0
#define FULL_BYTES 1048576.0
#define PROBE_BYTES 4096

/* Free bytes for whoever is not root; negative: not known. No inodes left is no room. */
static double room_at(const char *dir)
{
    struct statvfs disk;

    if (statvfs(dir, &disk) != 0)
        return -1;
    return disk.f_files && !disk.f_favail ? 0 : (double)disk.f_bavail * (double)disk.f_frsize;
}

/* Can a file be made and filled there? statvfs knows nothing of quotas and permissions. */
static int probe(const char *dir)
{
    static const char zeros[PROBE_BYTES];
    struct pw_buf path = {0};
    int fd, why = 0;

    pw_buf_printf(&path, "%s/portwright-probe-XXXXXX", dir);
    if (path.failed)
        return ENOMEM;
    fd = mkstemp(path.data);
    if (fd < 0) {
        why = errno;
    } else {
        unlink(path.data); /* at once: it costs its room until it is closed, and a killed process leaves nothing */
        errno = ENOSPC;
        if (write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
            why = errno;
        if (close(fd) != 0 && !why)
            why = errno;
    }
    pw_buf_clear(&path);
    return why;
}

/* "" when the folder will do, else why not. */
static void why_not(const char *dir, char *why, size_t size)
{
    struct pw_error err = {0};
    double room;
    char bytes[32];
    int reason;

    why[0] = '\0';
    if (pw_file_mkdirs(dir, &err) != PW_OK) {
        snprintf(why, size, "%.200s", err.message);
        return;
    }
    reason = probe(dir);
    room = room_at(dir);
    if (reason)
        snprintf(why, size, "%s", strerror(reason));
    else if (room >= 0 && room < ROOM_BYTES)
        snprintf(why, size, "only %s are free there", pw_text_bytes(bytes, sizeof bytes, room));
}

static pw_status wanted_path(const char *wanted, struct pw_buf *path, struct pw_error *err)
{
    char cwd[PATH_MAX];
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (wanted && wanted[0] == '/')
        pw_buf_puts(path, wanted);
    else if (wanted && getcwd(cwd, sizeof cwd))
        pw_file_join(path, cwd, wanted);
    else if (xdg && xdg[0] == '/')
        pw_file_join(path, xdg, "portwright");
    else if (home && home[0] == '/')
        pw_file_join(path, home, ".cache/portwright");
    return path->failed ? pw_error_memory(err, PATH_MAX) : PW_OK;
}

pw_status pw_device_choose_cache(struct pw_device *device, const char *wanted, struct pw_error *err)
{
    struct pw_buf path = {0};
    char why[256];
    pw_status status = wanted_path(wanted, &path, err);

    if (status != PW_OK || !path.data) {
        pw_buf_clear(&path);
        return status; /* no home: workers get throwaway folders */
    }
    why_not(path.data, why, sizeof why);
    if (why[0] && wanted) {
        status = pw_error_set(err, PW_ERR_IO, "the compile cache '%s' cannot be used: %s", path.data, why);
        pw_buf_clear(&path);
        return status;
    }
    if (why[0]) { /* a home that cannot be written is no reason not to work */
        snprintf(
            device->note, sizeof device->note,
            "the compile cache %.200s cannot be used (%.200s): kernels are compiled anew in each run, in %.60s; make "
            "room or set XDG_CACHE_HOME",
            path.data, why, pw_link_temporary());
        pw_buf_clear(&path);
    }
    device->cache_dir = path.data; /* now the device's; NULL: none */
    return PW_OK;
}

/* A compiler that cannot write says that the program does not build, or dies. Where the disk is full, that is what is
 * wrong, not the kernel. */
pw_status pw_device_blame_disk(const struct pw_device *device, pw_status status, struct pw_error *err)
{
    const char *dir = device->cache_dir ? device->cache_dir : pw_link_temporary();
    double room = room_at(dir);
    char message[PW_ERROR_MAX];
    char bytes[32];

    if (room < 0 || room >= FULL_BYTES)
        return status;
    snprintf(message, sizeof message, "%s", err->message);
    *err = (struct pw_error){0};
    return pw_error_set(err, PW_ERR_IO,
                        "the disk of %s, where compiled kernels go, is full (%s free), so this says nothing of the "
                        "kernel: make room or set %s; %s",
                        dir, pw_text_bytes(bytes, sizeof bytes, room), device->cache_dir ? "XDG_CACHE_HOME" : "TMPDIR",
                        message);
}

const char *pw_device_note(const struct pw_device *device)
{
    return device->note;
}
