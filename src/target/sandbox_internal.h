/* The parts of entering the sandbox; used by sandbox.c only. */
#ifndef PW_TARGET_SANDBOX_INTERNAL_H
#define PW_TARGET_SANDBOX_INTERNAL_H

#include "target/sandbox.h"

/* ---- sandbox_landlock.c ---- */

/* Ruleset with all that this worker may reach, as a descriptor: made while we may still see every path.
 * *ruleset is -1 where the system has no landlock. */
pw_status pw_landlock_prepare(const struct pw_sandbox_policy *policy, int *ruleset, struct pw_error *err);
/* Puts it in force and closes it. */
pw_status pw_landlock_enforce(int ruleset, struct pw_error *err);

/* ---- sandbox_seccomp.c ---- */

pw_status pw_seccomp_enter(const struct pw_sandbox_policy *policy, struct pw_error *err);
pw_status pw_seccomp_tighten(const struct pw_sandbox_policy *policy, struct pw_error *err);

#endif
