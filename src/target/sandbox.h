/*
 * What a worker may do, from before it has seen a source or loaded a driver until its end.
 *
 * The worker's main loop calls pw_sandbox_enter once, while it has one thread, and pw_sandbox_tighten when
 * the driver has started. The parent asks pw_sandbox_confines before it gives foreign code to anybody, and
 * prepares folders with pw_sandbox_own. HACKING.md ("Isolation") says what is protected and what is not.
 */
#ifndef PW_TARGET_SANDBOX_H
#define PW_TARGET_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A folder that a confined process can name whatever its user may not traverse on the way there: the
 * scratch folder is its working directory. */
#define PW_SANDBOX_HERE "/proc/self/cwd"

struct pw_sandbox_policy {
    const char *scratch_dir; /* the only folder that may be written (the compile cache), or NULL */
    const char *plugin;      /* shared object that will be loaded, or NULL */
    int plugin_fd;           /* a descriptor that stays open beside the agreed ones; -1 = none */
    bool foreign;            /* kernels from outside will run here */
    uid_t uid;               /* user and group to become; 0 = stay */
};

/* ---- the worker's side ---- */

/* Cannot be undone. On an error the worker must not go on. */
pw_status pw_sandbox_enter(const struct pw_sandbox_policy *policy, struct pw_error *err);
/* The driver has started: what only it needed goes too. */
pw_status pw_sandbox_tighten(const struct pw_sandbox_policy *policy, struct pw_error *err);

/* Name of a system call that is trapped, or NULL. Safe in a signal handler. */
const char *pw_sandbox_call_name(int number);

/* ---- the parent's side ---- */

/* True when this system can confine foreign code: landlock and seccomp are there. why (may be NULL):
 * what is missing, as a sentence. */
bool pw_sandbox_confines(char *why, size_t why_size);
/* Version of landlock's interface; 0 = none. */
int pw_sandbox_landlock(void);

/* What a version of landlock refuses of what nobody allowed, one a version from 1 on ("truncation"); NULL behind the
 * last that is known here. */
const char *pw_sandbox_landlock_refuses(int version);
bool pw_sandbox_seccomp(void);
typedef enum {
    PW_SANDBOX_USERS_SAME,  /* workers stay who we are: we are not root */
    PW_SANDBOX_USERS_ONE,   /* they become nobody */
    PW_SANDBOX_USERS_APART, /* they become users that nobody else is, foreign ones one each */
} pw_sandbox_users_kind;
pw_sandbox_users_kind pw_sandbox_users(void);

/* Foreign code may run unconfined where the system cannot do better (--unsafe-kernels). For the whole
 * process, set before a device is opened. */
void pw_sandbox_permit_unconfined(void);
bool pw_sandbox_unconfined_permitted(void);

/* User that a new worker is to become: 0 when we are not root, or cannot change users. Foreign workers get one
 * each. Thread-safe. */
uid_t pw_sandbox_uid(bool foreign);
/* One of the users that workers become. */
bool pw_sandbox_is_ours(uid_t uid);
/* Makes a folder and what is in it that user's, unless the folder is already. Links are not followed, and a
 * file that has more names elsewhere stays whose it is. uid 0: nothing to do. */
pw_status pw_sandbox_own(const char *dir, uid_t uid, struct pw_error *err);

#endif
