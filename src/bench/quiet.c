/* The timing lock and the idle check. */
#include "bench/quiet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define LOCK_NAME "portwright-timing.lock"
#define POLL_NS 20000000
#define IDLE_POLL_NS 500000
#define IDLE_WAIT_NS 50000000
#define IDLE_SEEN 2     /* polls in a row */
#define IDLE_GIVES_UP 4 /* slices in vain, after which one short look is enough */
#define STAT_BYTES 65536

const char *pw_quiet_path(void)
{
    const char *chosen = getenv("PORTWRIGHT_TIMING_LOCK");

    if (chosen && chosen[0])
        return chosen;
    return pw_file_is_dir("/run/lock") ? "/run/lock/" LOCK_NAME : "/tmp/" LOCK_NAME;
}

/* Opened without O_CREAT first: in a sticky folder the kernel may refuse O_CREAT on another user's file. Reading is
 * enough for flock, so the file needs no right to write, and nothing is ever written to it. */
static int open_lock(const char *path)
{
    struct stat facts;
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags);

    if (fd < 0 && errno == ENOENT) {
        fd = open(path, flags | O_CREAT | O_EXCL, 0444);
        if (fd < 0 && errno == EEXIST)
            fd = open(path, flags);
        else if (fd >= 0)
            (void)!fchmod(fd, 0444); /* whatever the umask: every user may lock */
    }
    if (fd >= 0 && (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

pw_status pw_quiet_begin(struct pw_quiet *quiet, const char *path, int64_t wait_ns, const atomic_bool *cancel,
                         struct pw_error *err)
{
    int64_t begin = pw_clock_ns();

    memset(quiet, 0, sizeof *quiet);
    path = path ? path : pw_quiet_path();
    quiet->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    quiet->lock_fd = open_lock(path);
    if (quiet->lock_fd < 0) {
        snprintf(quiet->note, sizeof quiet->note, "%.150s cannot be used as the timing lock: %s", path,
                 strerror(errno));
        return PW_OK;
    }
    while (flock(quiet->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        quiet->waited_ns = pw_clock_ns() - begin;
        if (cancel && *cancel) {
            pw_quiet_end(quiet);
            return pw_error_set(err, PW_ERR_CANCELLED, "cancelled while waiting for the timing lock");
        }
        if (errno != EINTR && (errno != EWOULDBLOCK || quiet->waited_ns >= wait_ns)) {
            snprintf(quiet->note, sizeof quiet->note, "another portwright is timing on this machine (%.150s is locked)",
                     path);
            close(quiet->lock_fd);
            quiet->lock_fd = -1;
            return PW_OK;
        }
        pw_clock_sleep_ns(POLL_NS);
    }
    quiet->waited_ns = pw_clock_ns() - begin;
    return PW_OK;
}

void pw_quiet_end(struct pw_quiet *quiet)
{
    if (quiet->lock_fd >= 0)
        close(quiet->lock_fd); /* and with it the lock */
    if (quiet->stat_fd >= 0)
        close(quiet->stat_fd);
    quiet->lock_fd = quiet->stat_fd = -1;
}

/* Tasks that run or could run now, this one included; 0: not known. */
static int running_tasks(int fd)
{
    static const char key[] = "procs_running ";
    char text[STAT_BYTES];
    ssize_t size = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    const char *at;

    if (size <= 0)
        return 0;
    text[size] = '\0';
    at = strstr(text, key);
    return at ? (int)strtol(at + strlen(key), NULL, 10) : 0;
}

bool pw_quiet_idle(const struct pw_quiet *quiet, int64_t wait_ns)
{
    int64_t begin = pw_clock_ns();
    int seen = 0;

    for (;;) {
        int tasks = running_tasks(quiet->stat_fd);

        if (tasks == 0)
            return true;
        seen = tasks <= 1 ? seen + 1 : 0;
        if (seen >= IDLE_SEEN)
            return true;
        if (pw_clock_ns() - begin >= wait_ns)
            return false;
        pw_clock_sleep_ns(IDLE_POLL_NS);
    }
}

bool pw_quiet_slice(struct pw_quiet *quiet)
{
    bool idle = pw_quiet_idle(quiet, quiet->busy_in_row < IDLE_GIVES_UP ? IDLE_WAIT_NS : 2 * IDLE_POLL_NS);

    quiet->slices++;
    quiet->busy_slices += !idle;
    if (idle && quiet->stat_fd >= 0)
        quiet->busy_in_row = 0;
    else if (!idle)
        quiet->busy_in_row++;
    return idle;
}
