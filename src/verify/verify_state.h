/* The state of one verification: shared by verify.c (threads, budget, totals) and verify_signature.c. */
#ifndef PW_VERIFY_VERIFY_STATE_H
#define PW_VERIFY_VERIFY_STATE_H

#include <stdatomic.h>

#include "verify/plan.h"
#include "verify/verify_internal.h"

struct pw_verify_signature {
    struct pw_arena arena;
    struct pw_signature own; /* the inventory's, with a call that only the thread at work on it uses */
    struct pw_call_own call;
    struct pw_impl_list impls;
    struct pw_case_plan *plan; /* NULL: nothing of it runs on the target */
    struct pw_signature_result summary;
    struct pw_standing_tally tally;
    bool begun, skipped; /* skipped: stays on the host */
    bool busy;           /* a thread works on it */
    bool over;           /* the plan has nothing new, or it failed often enough */
    int shrunk, timeouts;
    size_t promised; /* cases counted in the total and not yet run */
};

struct pw_verify_state {
    const struct pw_verify_request *request;
    const size_t *selection;
    size_t selection_count;
    struct pw_verify_signature *signatures; /* by position in the selection */
    struct pw_capture *capture;
    size_t next;        /* position that the next free thread takes */
    size_t done, total; /* cases */
    int64_t until_ns;   /* end of the budget; INT64_MAX without one */
    struct pw_verify_totals *totals;
    pthread_mutex_t lock;
    atomic_bool stop; /* enough failures; written under the lock */
    pw_status status; /* first failure of any thread */
    struct pw_error error;
};

bool pw_verify_cancelled(const struct pw_verify_request *request);
/* Fills in progress and calls the request's emit; the lock is held. */
void pw_verify_emit_event(struct pw_verify_state *state, struct pw_verify_event *event);
/* Once it has begun, with a call of its own: for the thread that works on it. */
const struct pw_signature *pw_verify_signature_at(const struct pw_verify_state *state, size_t position);
bool pw_verify_over_budget(const struct pw_verify_state *state);

/* Finds the implementations and plans the cases; a signature of the host is settled at once. */
pw_status pw_verify_signature_begin(struct pw_verify_state *state, size_t position, struct pw_error *err);
/* Runs up to `count` of its next cases; stops early at the end of the budget once `least` were run. */
pw_status pw_verify_signature_cases(struct pw_verify_state *state, size_t position, size_t count, size_t least,
                                    struct pw_error *err);
/* The one case of the request's case id. */
pw_status pw_verify_signature_case_id(struct pw_verify_state *state, size_t position, struct pw_error *err);
/* The one huge case of --huge (huge.h). */
pw_status pw_verify_signature_huge(struct pw_verify_state *state, size_t position, struct pw_error *err);
/* What would be tried and judged, and why: the text of --explain, in the signature's arena. */
pw_status pw_verify_explain(struct pw_verify_state *state, size_t position, struct pw_error *err);
/* Standing and gate from its cases. */
void pw_verify_signature_settle(struct pw_verify_state *state, size_t position);
void pw_verify_signature_clear(struct pw_verify_signature *signature);

#endif
