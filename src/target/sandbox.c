/*
 * Entering the sandbox, in an order that matters: what only root may do or see first (rules for every path,
 * limits), then another user, then no new privileges, landlock, seccomp. The environment is empty already:
 * the parent started us with a list of its own. Landlock binds the calling thread, so there must be one.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "target/sandbox_internal.h"
#include "target/spawn.h"

/* Largest file a worker may write: a compile cache has no larger ones, a runaway kernel would. */
#define FILE_MAX_BYTES ((rlim_t)1 << 30)
#define FOREIGN_FILE_MAX_BYTES ((rlim_t)64 << 20)
#define MEMORY_LEAST_BYTES ((rlim_t)2 << 30)
#define CPU_SECONDS 86400        /* a session's worth; the parent's deadlines are much shorter */
#define FOREIGN_CPU_SECONDS 3600 /* one kernel's */
#define FILES_MAX 512
#define PROCESSES_MORE 1024 /* beyond what the user has already: others' may come and go */
#define PROCESSES_OWN 4096  /* of a user who is nobody else */
#define FOREIGN_PROCESSES_OWN 128

/* All descriptors but the agreed ones and one more, which may be -1. */
static pw_status close_strays(int keep, struct pw_error *err)
{
    unsigned int first = PW_WORKER_FD + 1, kept = keep > PW_WORKER_FD ? (unsigned)keep : PW_WORKER_FD;
    if (close_range(kept + 1, ~0U, 0) == 0 && (kept <= first || close_range(first, kept - 1, 0) == 0))
        return PW_OK;
    /* Kernels before 5.9. */
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return pw_error_set(err, PW_ERR_TARGET, "/proc/self/fd: %s", strerror(errno));
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char *end = NULL;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && fd > PW_WORKER_FD && fd != keep && fd != dirfd(dir))
            close((int)fd);
    }
    closedir(dir);
    return PW_OK;
}

/* Landlock and the change of user say nothing of other threads' doings before. */
static pw_status one_thread(struct pw_error *err)
{
#if !defined(PW_SANITIZED) /* a sanitizer may have a thread of its own */
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    if (count > 1)
        return pw_error_set(err, PW_ERR_TARGET, "the worker has %d threads before its sandbox, expected 1", count);
#else
    (void)err;
#endif
    return PW_OK;
}

/* ---- limits ---- */

static pw_status limit(int resource, rlim_t most, const char *name, struct pw_error *err)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max < most)
        most = now.rlim_max;
    struct rlimit want = {most, most};
    if (setrlimit((__rlimit_resource_t)resource, &want) != 0)
        return pw_error_set(err, PW_ERR_TARGET, "setrlimit %s: %s", name, strerror(errno));
    return PW_OK;
}

/* Half of the machine, in private memory; the address space is not limited, for sanitizers and drivers
 * reserve terabytes of it. */
static rlim_t memory_limit(void)
{
#if defined(PW_SANITIZED)
    return RLIM_INFINITY; /* shadow memory counts as data */
#else
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    rlim_t half = pages > 0 && page > 0 ? (rlim_t)pages / 2 * (rlim_t)page : 0;
    return half > MEMORY_LEAST_BYTES ? half : MEMORY_LEAST_BYTES;
#endif
}

/* Threads of this user on the machine, as far as /proc shows them. */
static rlim_t threads_of_user(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    rlim_t count = 0;
    uid_t self = getuid();
    while (proc && (entry = readdir(proc)) != NULL) {
        char path[300];
        struct stat st;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        /* A folder has two links and one more for each folder in it. */
        if (stat(path, &st) == 0 && st.st_uid == self)
            count += st.st_nlink > 2 ? (rlim_t)st.st_nlink - 2 : 1;
    }
    if (proc)
        closedir(proc);
    return count;
}

static pw_status set_limits(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    bool foreign = policy->foreign;
    const struct {
        int resource;
        rlim_t most;
        const char *name;
    } limits[] = {
        {RLIMIT_CORE, 0, "core"},
        {RLIMIT_DATA, memory_limit(), "data"},
        {RLIMIT_FSIZE, foreign ? FOREIGN_FILE_MAX_BYTES : FILE_MAX_BYTES, "fsize"},
        {RLIMIT_CPU, foreign ? FOREIGN_CPU_SECONDS : CPU_SECONDS, "cpu"},
        {RLIMIT_NOFILE, FILES_MAX, "nofile"},
    };
    pw_status status = PW_OK;
    for (size_t i = 0; i < PW_COUNT_OF(limits) && status == PW_OK; i++)
        status = limit(limits[i].resource, limits[i].most, limits[i].name, err);
    /* Where the system runs out of memory the worker goes first, not its parent. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t unused = write(fd, "1000", 4);
        (void)unused;
        close(fd);
    }
    return status;
}

/* After the change of user, whose processes count. */
static pw_status limit_processes(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    rlim_t most = policy->uid == 0  ? threads_of_user() + PROCESSES_MORE
                  : policy->foreign ? FOREIGN_PROCESSES_OWN + 4 * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN)
                                    : PROCESSES_OWN;
    return limit(RLIMIT_NPROC, most, "nproc", err);
}

/* ---- users ---- */

static pw_status become(uid_t uid, struct pw_error *err)
{
    if (uid != 0 && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0))
        return pw_error_set(err, PW_ERR_TARGET, "becoming user %u: %s", (unsigned)uid, strerror(errno));
    if (uid != 0 && (setuid(0) == 0 || getuid() != uid || getgid() != uid))
        return pw_error_set(err, PW_ERR_TARGET, "becoming user %u did not last", (unsigned)uid);
    /* Whatever capabilities are left, also those of a root that could not change. */
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    if (syscall(SYS_capset, &header, none) != 0)
        return pw_error_set(err, PW_ERR_TARGET, "dropping capabilities: %s", strerror(errno));
    return PW_OK;
}

/* ---- entering ---- */

pw_status pw_sandbox_enter(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    int ruleset = -1;
    pw_status status = one_thread(err);
    /* Its working directory: reachable by name also for a user who may not traverse the folders above. */
    if (status == PW_OK && chdir(policy->scratch_dir ? policy->scratch_dir : "/") != 0)
        status = pw_error_set(err, PW_ERR_TARGET, "entering '%s': %s", policy->scratch_dir, strerror(errno));
    if (status == PW_OK)
        status = close_strays(policy->plugin_fd, err);
    if (status == PW_OK)
        status = set_limits(policy, err);
    if (status == PW_OK)
        status = pw_landlock_prepare(policy, &ruleset, err);
    if (status == PW_OK)
        status = become(policy->uid, err);
    if (status == PW_OK)
        status = limit_processes(policy, err);
    if (status == PW_OK && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        status = pw_error_set(err, PW_ERR_TARGET, "PR_SET_NO_NEW_PRIVS: %s", strerror(errno));
    if (status == PW_OK)
        status = pw_landlock_enforce(ruleset, err);
    if (status == PW_OK)
        status = pw_seccomp_enter(policy, err);
    return status;
}

pw_status pw_sandbox_tighten(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    return pw_seccomp_tighten(policy, err);
}
