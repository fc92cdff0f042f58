/* Worker processes: posix_spawn of our own executable, and their end. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Descriptors 0 to 3 of the worker. Descriptors of ours below 4 would be overwritten by the dup2 of
 * another before their own turn, so the caller has moved them up. */
static int prepare(posix_spawn_file_actions_t *actions, int socket, int output)
{
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, socket, PW_WORKER_FD);
    return rc;
}

/* All signals at their defaults and unblocked, and a process group of its own: a ^C at the terminal is
 * for us to handle, and killing the group also ends what a driver started (a linker). */
static int prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t set;
    sigemptyset(&set);
    int rc = posix_spawnattr_setsigmask(attributes, &set);
    sigfillset(&set);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &set);
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(attributes, 0);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes,
                                      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return rc;
}

static int move_up(int *fd)
{
    if (*fd > PW_WORKER_FD)
        return 0;
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, PW_WORKER_FD + 1);
    if (moved < 0)
        return errno;
    close(*fd);
    *fd = moved;
    return 0;
}

pw_status pw_spawn_worker(const char *flag, const char *mode, char *const *env, struct pw_process *out,
                          struct pw_error *err)
{
    int sockets[2] = {-1, -1};
    int pipes[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char program[] = "portwright", flag_copy[32], mode_copy[32];
    char *argv[] = {program, flag_copy, mode ? mode_copy : NULL, NULL};
    pid_t pid = 0;
    int rc = 0;

    if (getenv(PW_SPAWN_MARK))
        return pw_error_set(err, PW_ERR_INTERNAL,
                            "a worker starts no workers: this program was started with %s and does "
                            "not heed it",
                            flag);
    snprintf(flag_copy, sizeof flag_copy, "%s", flag);
    snprintf(mode_copy, sizeof mode_copy, "%s", mode ? mode : "");
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 || pipe2(pipes, O_CLOEXEC) != 0)
        rc = errno;
    if (rc == 0 && fcntl(pipes[0], F_SETFL, O_NONBLOCK) != 0)
        rc = errno;
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = move_up(&sockets[i]);
        if (rc == 0)
            rc = move_up(&pipes[i]);
    }
    if (rc == 0)
        rc = prepare(&actions, sockets[1], pipes[1]);
    if (rc == 0)
        rc = prepare_attributes(&attributes);
    if (rc == 0)
        rc = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv, env);
    if (rc == 0) {
        out->pid = pid;
        out->socket = sockets[0];
        out->stderr_fd = pipes[0];
        sockets[0] = pipes[0] = -1;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++) {
        close_fd(&sockets[i]);
        close_fd(&pipes[i]);
    }
    if (rc != 0)
        return pw_error_set(err, PW_ERR_TARGET, "cannot start a worker process: %s", strerror(rc));
    return PW_OK;
}

static void describe_end(const siginfo_t *info, char *how, size_t how_size)
{
    if (info->si_code == CLD_EXITED) {
        snprintf(how, how_size, "exited with code %d", info->si_status);
    } else {
        const char *name = sigabbrev_np(info->si_status);
        snprintf(how, how_size, "killed by SIG%s (%d)", name ? name : "?", info->si_status);
    }
}

void pw_spawn_reap(struct pw_process *process, int64_t timeout_ns, char *how, size_t how_size)
{
    if (how_size > 0)
        how[0] = '\0';
    if (process->pid > 0) {
        int64_t end = pw_clock_ns() + timeout_ns;
        siginfo_t info;
        int rc;
        /* WNOWAIT: its id stays taken until the group is dead too, so nobody else can be hit. */
        do {
            memset(&info, 0, sizeof info);
            rc = waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        } while (rc == 0 && info.si_pid == 0 && pw_clock_ns() < end && (pw_clock_sleep_ns(500000), true));
        if (rc == 0 && info.si_pid == process->pid && how_size > 0)
            describe_end(&info, how, how_size);
        kill(-process->pid, SIGKILL);
        kill(process->pid, SIGKILL);
        int status;
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
            ;
        close_fd(&process->socket);
        close_fd(&process->stderr_fd);
    }
    process->pid = 0;
    process->socket = -1;
    process->stderr_fd = -1;
}

void pw_spawn_kill(struct pw_process *process, char *how, size_t how_size)
{
    pw_spawn_reap(process, 0, how, how_size);
}
