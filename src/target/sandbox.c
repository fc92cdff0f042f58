/*
 * Entering the sandbox: no new privileges, no core files, no descriptor but the agreed ones, and files of
 * bounded size. The environment is empty already: the parent started us with a list of its own.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "target/spawn.h"

/* Largest file a worker may write: a compile cache has no larger ones, a runaway kernel would. */
#define FILE_MAX_BYTES ((rlim_t)1 << 30)

static pw_status close_strays(struct pw_error *err)
{
    if (close_range(PW_WORKER_FD + 1, ~0U, 0) == 0)
        return PW_OK;
    /* Kernels before 5.9. */
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return pw_error_set(err, PW_ERR_TARGET, "/proc/self/fd: %s", strerror(errno));
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char *end = NULL;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && fd > PW_WORKER_FD && fd != dirfd(dir))
            close((int)fd);
    }
    closedir(dir);
    return PW_OK;
}

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

pw_status pw_sandbox_enter(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    (void)policy;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return pw_error_set(err, PW_ERR_TARGET, "PR_SET_NO_NEW_PRIVS: %s", strerror(errno));
    pw_status status = limit(RLIMIT_CORE, 0, "core", err);
    if (status == PW_OK)
        status = limit(RLIMIT_FSIZE, FILE_MAX_BYTES, "fsize", err);
    if (status == PW_OK)
        status = close_strays(err);
    return status;
}
