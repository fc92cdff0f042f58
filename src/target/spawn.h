/*
 * Starting and ending worker processes. A worker is this very program run again
 * ("/proc/self/exe --worker target", "--reference"), never a bare fork: a fork after threads or a driver were started
 * hangs. It gets a socket as descriptor PW_WORKER_FD, its stderr and stdout in a pipe, nothing else:
 * every descriptor of ours is close-on-exec. Thread-safe.
 */
#ifndef PW_TARGET_SPAWN_H
#define PW_TARGET_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define PW_WORKER_FD 3

struct pw_process {
    pid_t pid;     /* also its process group; 0 = none */
    int socket;    /* SOCK_SEQPACKET, ours; -1 = none */
    int stderr_fd; /* read end, non-blocking; -1 = none */
};

/* In every worker's environment. A program that was started as a worker and goes on as if it were not (a test whose
 * main does not know --worker) would start workers for ever: with the mark it is refused. */
#define PW_SPAWN_MARK "PORTWRIGHT_WORKER"
/* flag: argv[1]; mode: argv[2] or NULL. env: "NAME=value" strings ended by NULL: the whole environment. */
pw_status pw_spawn_worker(const char *flag, const char *mode, char *const *env, struct pw_process *out,
                          struct pw_error *err);

/* Ends the process and all of its group at once, reaps it, closes the descriptors. Writes how it had
 * ended into `how` ("killed by SIGSEGV (11)", "exited with code 1") when it was dead already, else "".
 * A zero-initialised or ended process is fine. */
void pw_spawn_kill(struct pw_process *process, char *how, size_t how_size);

/* Waits up to timeout_ns for a process that is about to die by itself, then as pw_spawn_kill. */
void pw_spawn_reap(struct pw_process *process, int64_t timeout_ns, char *how, size_t how_size);

#endif
