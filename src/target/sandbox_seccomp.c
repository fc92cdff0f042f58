/*
 * System calls of a worker: seccomp. Everything is allowed but what is listed, for drivers differ; what is
 * newer than the list is answered with ENOSYS, as an older kernel would.
 *
 * TRAPPED calls are never a driver's need while a kernel runs: the worker's SIGSYS handler names the call
 * and ends the process then, and answers EPERM while the driver starts. REFUSED ones get EPERM: the linker,
 * a process of its own, tries some of them and goes on without.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/sandbox_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TRAPPED SCMP_ACT_TRAP
#define REFUSED SCMP_ACT_ERRNO(EPERM)

/* Calls that this version of libseccomp may have no name for. From 424 on the numbers are the same
 * everywhere. */
#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_REMOVEXATTRAT 466
#define NR_OPEN_TREE_ATTR 467
#define NR_FILE_SETATTR 469
#define NR_KNOWN 470     /* the first that is not known here */
#define NR_KNOWN_END 600 /* of what answers ENOSYS */

struct call {
    int number;
    const char *name;
};

#define T(name)                                                                                                        \
    {                                                                                                                  \
        SCMP_SYS(name), #name                                                                                          \
    }
static const struct call trapped[] = {
    /* the network, and processes that listen */
    T(socket),
    T(socketpair),
    T(connect),
    T(bind),
    T(listen),
    T(accept),
    T(accept4),
    /* other processes */
    T(ptrace),
    T(process_vm_readv),
    T(process_vm_writev),
    T(process_madvise),
    T(process_mrelease),
    T(kcmp),
    T(pidfd_open),
    T(pidfd_getfd),
    T(pidfd_send_signal),
    T(tkill),
    T(rt_sigqueueinfo),
    T(setpgid),
    T(setsid),
    T(fork),
    T(vfork),
    T(setrlimit),
    /* mounts, namespaces */
    T(mount),
    T(umount),
    T(umount2),
    T(pivot_root),
    T(chroot),
    T(move_mount),
    T(open_tree),
    T(fsopen),
    T(fsconfig),
    T(fsmount),
    T(fspick),
    T(mount_setattr),
    T(swapon),
    T(swapoff),
    T(unshare),
    T(setns),
    {NR_OPEN_TREE_ATTR, "open_tree_attr"},
    /* large doors into the system */
    T(io_uring_setup),
    T(io_uring_enter),
    T(io_uring_register),
    T(bpf),
    T(keyctl),
    T(add_key),
    T(request_key),
    T(perf_event_open),
    T(userfaultfd),
    T(kexec_load),
    T(kexec_file_load),
    T(init_module),
    T(finit_module),
    T(delete_module),
    T(reboot),
    T(sethostname),
    T(setdomainname),
    T(acct),
    T(quotactl),
    T(quotactl_fd),
    T(syslog),
    T(settimeofday),
    T(clock_settime),
    T(clock_adjtime),
    T(adjtimex),
    T(iopl),
    T(ioperm),
    T(modify_ldt),
    T(vhangup),
    T(fanotify_init),
    T(fanotify_mark),
    T(open_by_handle_at),
    T(personality),
    T(lookup_dcookie),
    T(nfsservctl),
    T(memfd_secret),
    T(capset),
    /* files by their path, which the first versions of landlock let through */
    T(truncate),
    T(truncate64),
    /* in some of their forms, below */
    T(clone),
    T(kill),
    T(tgkill),
    T(rt_tgsigqueueinfo),
    T(fcntl),
    T(ioctl),
    T(prlimit64),
    T(open),
    T(openat),
};
#undef T
#define FORMS 9 /* the last ones of the list */

#define X(name) SCMP_SYS(name)

static const int refused[] = {
    X(chmod),
    X(fchmod),
    X(fchmodat),
    NR_FCHMODAT2,
    X(chown),
    X(chown32),
    X(fchown),
    X(fchown32),
    X(lchown),
    X(lchown32),
    X(fchownat),
    X(utime),
    X(utimes),
    X(utimensat),
    X(utimensat_time64),
    X(futimesat),
    X(setxattr),
    X(lsetxattr),
    X(fsetxattr),
    X(removexattr),
    X(lremovexattr),
    X(fremovexattr),
    NR_SETXATTRAT,
    NR_REMOVEXATTRAT,
    NR_FILE_SETATTR,
    X(link),
    X(linkat),
    X(symlink),
    X(symlinkat),
    X(mknod),
    X(mknodat),
    /* memory and messages that outlive us or are not counted as ours */
    X(shmget),
    X(shmat),
    X(shmctl),
    X(semget),
    X(semop),
    X(semctl),
    X(msgget),
    X(msgsnd),
    X(msgrcv),
    X(msgctl),
    X(ipc),
    X(mq_open),
    X(mq_unlink),
    X(mq_notify),
    /* how others are scheduled, and where their memory is */
    X(sched_setscheduler),
    X(sched_setparam),
    X(sched_setattr),
    X(setpriority),
    X(ioprio_set),
    X(migrate_pages),
    X(move_pages),
};
#undef X

struct conditional {
    int number;
    unsigned int argument;
    enum scmp_compare how;
    uint64_t a, b;
};

#define MASKED(bits, value) SCMP_CMP_MASKED_EQ, (bits), (value)
#define EQUAL(value) SCMP_CMP_EQ, (value), 0

#define CLONE_FLAGS 0 /* argument of clone on all architectures but s390 */

static const struct conditional conditionals[] = {
    /* A thread, or a process that borrows our memory until it runs the linker; a copy of us never. With another
     * parent it would be left for that one to bury. */
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_VM, 0)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_VM | CLONE_THREAD | CLONE_VFORK, CLONE_VM)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_PARENT, CLONE_PARENT)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWNS, CLONE_NEWNS)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWCGROUP, CLONE_NEWCGROUP)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWUTS, CLONE_NEWUTS)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWIPC, CLONE_NEWIPC)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWUSER, CLONE_NEWUSER)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWPID, CLONE_NEWPID)},
    {SCMP_SYS(clone), CLONE_FLAGS, MASKED(CLONE_NEWNET, CLONE_NEWNET)},
    /* Signals by way of a descriptor's owner. */
    {SCMP_SYS(fcntl), 1, EQUAL(F_SETOWN)},
    {SCMP_SYS(fcntl), 1, EQUAL(F_SETOWN_EX)},
    {SCMP_SYS(fcntl), 1, EQUAL(F_SETSIG)},
    {SCMP_SYS(ioctl), 1, EQUAL(0x8901)},     /* FIOSETOWN */
    {SCMP_SYS(ioctl), 1, EQUAL(0x8902)},     /* SIOCSPGRP */
    {SCMP_SYS(ioctl), 1, EQUAL(0x5412)},     /* TIOCSTI: typing on a terminal */
    {SCMP_SYS(ioctl), 1, EQUAL(0x541c)},     /* TIOCLINUX */
    {SCMP_SYS(ioctl), 1, EQUAL(0x40086602)}, /* FS_IOC_SETFLAGS */
    {SCMP_SYS(ioctl), 1, EQUAL(0x401c5820)}, /* FS_IOC_FSSETXATTR */
};

const char *pw_sandbox_call_name(int number)
{
    for (size_t i = 0; i < PW_COUNT_OF(trapped); i++)
        if (trapped[i].number == number)
            return trapped[i].name;
    return NULL;
}

static int add(scmp_filter_ctx filter, uint32_t action, int number)
{
    int rc = seccomp_rule_add(filter, action, number, 0);
    /* A call that this architecture does not have. */
    return rc == -EDOM || rc == -EINVAL ? 0 : rc;
}

static int add_lists(scmp_filter_ctx filter)
{
    int rc = 0;
    for (size_t i = 0; i < PW_COUNT_OF(trapped) - FORMS && rc == 0; i++)
        rc = add(filter, TRAPPED, trapped[i].number);
    for (size_t i = 0; i < PW_COUNT_OF(refused) && rc == 0; i++)
        rc = add(filter, REFUSED, refused[i]);
    for (size_t i = 0; i < PW_COUNT_OF(conditionals) && rc == 0; i++) {
        const struct conditional *c = &conditionals[i];
        struct scmp_arg_cmp arg = {.arg = c->argument, .op = c->how, .datum_a = c->a, .datum_b = c->b};
        rc = seccomp_rule_add_array(filter, TRAPPED, c->number, 1, &arg);
    }
    return rc;
}

/* Signals reach this very process only. A child is another process already: it dies of a signal that it wants
 * to raise, which is what it wants. */
static int add_signals(scmp_filter_ctx filter)
{
    uint64_t self = (uint64_t)getpid();
    int rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(kill), 1, SCMP_A0(SCMP_CMP_NE, self, 0));
    if (rc == 0)
        rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_NE, self, 0));
    if (rc == 0)
        rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(rt_tgsigqueueinfo), 1, SCMP_A0(SCMP_CMP_NE, self, 0));
    return rc;
}

static int add_special(scmp_filter_ctx filter, const struct pw_sandbox_policy *policy)
{
    /* The library falls back to clone, whose flags can be looked at. */
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (rc == 0)
        rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_NE, 0, 0));
    if (rc == 0)
        rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_NE, 0, 0));
    /* Before version 3 landlock let a file be truncated by who may read it. */
    if (rc == 0 && pw_sandbox_landlock() < 3) {
        rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(open), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_TRUNC, O_TRUNC));
        rc = rc == -EDOM || rc == -EINVAL ? 0 : rc;
        if (rc == 0)
            rc = seccomp_rule_add(filter, TRAPPED, SCMP_SYS(openat), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_TRUNC, O_TRUNC));
        if (rc == 0) /* its flags are in memory */
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
    }
    /* Memory that no limit counts. Drivers of devices use it for their buffers. */
    if (rc == 0 && policy->foreign && !policy->plugin) {
        rc = seccomp_rule_add(filter, REFUSED, SCMP_SYS(memfd_create), 0);
        if (rc == 0)
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), 1,
                                  SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS));
    }
    for (int number = NR_KNOWN; number < NR_KNOWN_END && rc == 0; number++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
    return rc;
}

static pw_status failed(int rc, struct pw_error *err)
{
    return pw_error_set(err, PW_ERR_TARGET, "seccomp: %s", strerror(-rc));
}

/* A filter for all threads that there are; other architectures' calls end the process. */
static int make_filter(scmp_filter_ctx *out)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return -ENOMEM;
    *out = filter;
    int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
    if (rc == 0)
        rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (rc == 0)
        rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    return rc;
}

static bool missing(void)
{
    return prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL;
}

pw_status pw_seccomp_enter(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    scmp_filter_ctx filter = NULL;
    if (missing())
        return PW_OK;
    int rc = make_filter(&filter);
    if (rc == 0)
        rc = add_lists(filter);
    if (rc == 0)
        rc = add_signals(filter);
    if (rc == 0)
        rc = add_special(filter, policy);
    if (rc == 0)
        rc = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    return rc == 0 ? PW_OK : failed(rc, err);
}

/* Threads sit on their cores by now: a kernel has no business to move anybody's. */
pw_status pw_seccomp_tighten(const struct pw_sandbox_policy *policy, struct pw_error *err)
{
    scmp_filter_ctx filter = NULL;
    if (missing() || !policy->foreign)
        return PW_OK;
    int rc = make_filter(&filter);
    if (rc == 0)
        rc = seccomp_rule_add(filter, REFUSED, SCMP_SYS(sched_setaffinity), 0);
    if (rc == 0)
        rc = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    return rc == 0 ? PW_OK : failed(rc, err);
}
