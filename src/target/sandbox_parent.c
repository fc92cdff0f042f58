/* What the parent of confined workers asks and prepares: whether the system can confine, users, folders. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A range that no distribution hands out. Where it is not mapped (a container), the one above every name. */
#define USER_BUILT_IN ((uid_t)0x70777200u)
#define USER_FOREIGN ((uid_t)0x70780000u) /* and the 2^16 after it */
#define USER_NOBODY ((uid_t)65534)
#define DEPTH_MAX 64

/* ---- can it? ---- */

bool pw_sandbox_seccomp(void)
{
    return prctl(PR_GET_SECCOMP) >= 0 || errno != EINVAL;
}

bool pw_sandbox_confines(char *why, size_t why_size)
{
    const char *missing = NULL;
    if (pw_sandbox_landlock() == 0)
        missing = "this system has no landlock (Linux 5.13 and newer, when it is switched on)";
    else if (!pw_sandbox_seccomp())
        missing = "this system has no seccomp";
    if (why && why_size > 0)
        snprintf(why, why_size, "%s", missing ? missing : "");
    return !missing;
}

static atomic_bool unconfined_permitted;

void pw_sandbox_permit_unconfined(void)
{
    atomic_store(&unconfined_permitted, true);
}

bool pw_sandbox_unconfined_permitted(void)
{
    return atomic_load(&unconfined_permitted);
}

/* ---- users ---- */

static bool can_change_users(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    const uint32_t wanted = 1u << CAP_CHOWN | 1u << CAP_SETUID | 1u << CAP_SETGID;
    memset(data, 0, sizeof data);
    return geteuid() == 0 && syscall(SYS_capget, &header, data) == 0 && (data[0].effective & wanted) == wanted;
}

/* Whether this user namespace knows the number. */
static bool mapped(const char *map, unsigned long id)
{
    FILE *file = fopen(map, "re");
    unsigned long inside, outside, count;
    bool found = !file; /* no such map: all are there */
    while (!found && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
        found = id >= inside && id - inside < count;
    if (file)
        fclose(file);
    return found;
}

static bool known(uid_t uid)
{
    return mapped("/proc/self/uid_map", uid) && mapped("/proc/self/gid_map", uid);
}

uid_t pw_sandbox_uid(bool foreign)
{
    static atomic_uint next;
    if (!can_change_users())
        return 0;
    /* Of two processes each has its own part of the range, most of the time; landlock holds when not. */
    unsigned int turn = (unsigned)getpid() * 61u + atomic_fetch_add(&next, 1);
    uid_t uid = foreign ? USER_FOREIGN + (turn & 0xffffu) : USER_BUILT_IN;
    if (known(uid))
        return uid;
    return known(USER_NOBODY) ? USER_NOBODY : 0;
}

pw_sandbox_users_kind pw_sandbox_users(void)
{
    uid_t uid = pw_sandbox_uid(false);

    return uid == 0 ? PW_SANDBOX_USERS_SAME : uid == USER_NOBODY ? PW_SANDBOX_USERS_ONE : PW_SANDBOX_USERS_APART;
}

bool pw_sandbox_is_ours(uid_t uid)
{
    return geteuid() == 0 &&
           (uid == USER_BUILT_IN || uid == USER_NOBODY || (uid >= USER_FOREIGN && uid - USER_FOREIGN <= 0xffffu));
}

/* ---- folders ---- */

static void own_entries(int fd, uid_t uid, int depth)
{
    DIR *dir = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    if (!dir) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int child = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (child < 0)
            continue;
        bool folder = fstat(child, &st) == 0 && S_ISDIR(st.st_mode);
        bool ours = folder || (S_ISREG(st.st_mode) && st.st_nlink == 1);
        if (ours && st.st_uid != uid && fchown(child, uid, uid) != 0)
            ours = false;
        if (ours && folder)
            own_entries(child, uid, depth + 1);
        else
            close(child);
    }
    closedir(dir);
}

pw_status pw_sandbox_own(const char *dir, uid_t uid, struct pw_error *err)
{
    struct stat st;
    if (uid == 0)
        return PW_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        pw_error_set(err, PW_ERR_IO, "cannot open folder '%s': %s", dir, strerror(errno));
        if (fd >= 0)
            close(fd);
        return PW_ERR_IO;
    }
    if (st.st_uid == uid) {
        close(fd);
        return PW_OK;
    }
    /* The folder last: a walk that was broken off is done again. */
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0)
        own_entries(copy, uid, 0);
    int rc = fchown(fd, uid, uid);
    int error = errno;
    close(fd);
    if (rc != 0)
        return pw_error_set(err, PW_ERR_IO, "cannot hand folder '%s' to user %u: %s", dir, (unsigned)uid,
                            strerror(error));
    return PW_OK;
}
