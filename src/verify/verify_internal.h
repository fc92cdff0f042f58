/* What the files of src/verify share; not for others. */
#ifndef PW_VERIFY_VERIFY_INTERNAL_H
#define PW_VERIFY_VERIFY_INTERNAL_H

#include <pthread.h>

#include "verify/verify.h"

struct pw_standing_tally {
    int cases, held, failed, no_evidence, discriminating;
};
void pw_standing_count(struct pw_standing_tally *tally, const struct pw_case_result *result);
pw_standing pw_standing_of(const struct pw_standing_tally *tally);
bool pw_dist_parse(const char *text, pw_dist *out);

/* What a case needs: the signature's node, drawn inputs and the concrete call on them. */
struct pw_case_inputs {
    struct pw_arena arena;
    struct pw_dims *dims;
    struct pw_value values[PW_OP_MAX_FORMALS];
    const struct pw_value *in[PW_OP_MAX_FORMALS]; /* NULL: omitted */
    bool constant[PW_OP_MAX_FORMALS];
    int count;
    struct pw_call call;
};

/* Draws the inputs of a signature's case. PW_OK with why[0] != 0: this case cannot be made (a reason, not an error). */
pw_status pw_case_draw(const struct pw_signature *signature, pw_dist dist, uint64_t seed, struct pw_case_inputs *out,
                       struct pw_buf *why, struct pw_error *err);
void pw_case_inputs_clear(struct pw_case_inputs *inputs);

/* One case, start to verdict. `run` is the work in progress; result's texts live in run's arena. */
struct pw_case_run {
    struct pw_arena arena;
    const struct pw_verify_request *request;
    const struct pw_signature *signature;
    const struct pw_impl *impl;
    struct pw_case_result result;
};
/* Always fills run->result; a non-OK status only for our own trouble (memory, cancelled). */
pw_status pw_case_execute(struct pw_case_run *run, pw_dist dist, uint64_t seed, struct pw_error *err);

/* Outputs of the call allocated in nominal dtypes for the device to fill. */
pw_status pw_case_outputs(const struct pw_call *call, struct pw_value *outputs, struct pw_error *err);

/* Times target and fast reference for these signatures into their summaries (samples in the arenas). What cannot be
 * timed stays unknown. */
struct pw_timed {
    struct pw_signature_result *summary;
    struct pw_arena *arena;
};
pw_status pw_verify_time(const struct pw_verify_request *request, struct pw_timed *timed, size_t count,
                         struct pw_error *err);

#endif
