/*
 * Quiet for timings: one portwright at a time times on this machine (a lock file that serves several users), and a
 * slice starts when nothing else runs. Neither can be forced: another user may hold the lock for ever, another process
 * may never rest. So waits are bounded, and what was not had is counted, for the figures to say.
 * A pw_quiet belongs to one thread.
 */
#ifndef PW_BENCH_QUIET_H
#define PW_BENCH_QUIET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct pw_quiet {
    int lock_fd;    /* -1: not held */
    int stat_fd;    /* /proc/stat; -1: whether cores are idle is not known */
    char note[256]; /* why the lock is not held; "" when it is */
    int64_t waited_ns;
    int slices, busy_slices; /* asked for, begun beside other work */
    int busy_in_row;
};

/* Waits for the lock up to wait_ns (0: one try). path NULL: the machine's own place. PW_OK also when it was not to be
 * had (quiet->note says why); PW_ERR_CANCELLED is the only failure. */
pw_status pw_quiet_begin(struct pw_quiet *quiet, const char *path, int64_t wait_ns, const atomic_bool *cancel,
                         struct pw_error *err);
void pw_quiet_end(struct pw_quiet *quiet);
/* $PORTWRIGHT_TIMING_LOCK (tests), else the machine's own place: in /run/lock, else in /tmp. */
const char *pw_quiet_path(void);

/* Before a slice: waits until no other task is running, up to 50 ms; less after some slices in vain. Counts the slice.
 * True: idle, or not known. */
bool pw_quiet_slice(struct pw_quiet *quiet);
/* The same for something longer than a slice, up to wait_ns; counts nothing. */
bool pw_quiet_idle(const struct pw_quiet *quiet, int64_t wait_ns);

#endif
