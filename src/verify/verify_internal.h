/* What the files of src/verify share; not for others. */
#ifndef PW_VERIFY_VERIFY_INTERNAL_H
#define PW_VERIFY_VERIFY_INTERNAL_H

#include <pthread.h>

#include "verify/capture.h"
#include "verify/case_id.h"
#include "verify/memory.h"
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
    bool huge; /* set before they are drawn: what is large is drawn by a hash of the index (huge.h) */
    struct pw_call call;
    struct pw_case_memory *memory; /* set before they are drawn: what the case needs is taken of it; NULL: no limit */
    int64_t memory_taken;
};

/* The call that a spec makes of a signature's: shapes, contents, attributes and dtype changed, outputs inferred again.
 * No values are made. PW_OK with why[0] != 0: this case cannot be made (a reason, not an error); an error: the room
 * refuses it. */
pw_status pw_case_call(const struct pw_signature *signature, const struct pw_case_spec *spec, struct pw_dims *dims,
                       struct pw_arena *arena, struct pw_call *out, struct pw_buf *why, struct pw_error *err);
/* Draws the inputs too. */
pw_status pw_case_draw(const struct pw_signature *signature, const struct pw_case_spec *spec,
                       const struct pw_capture *capture, struct pw_case_inputs *out, struct pw_buf *why,
                       struct pw_error *err);
void pw_case_inputs_clear(struct pw_case_inputs *inputs);

/* One case, start to verdict. `run` is the work in progress; result's texts live in run's arena. */
struct pw_case_run {
    struct pw_arena arena;
    const struct pw_verify_request *request;
    const struct pw_signature *signature;
    const struct pw_impl *impl; /* what serves the graph's own call; another shape may get another */
    const struct pw_case_spec *spec;
    const struct pw_capture *capture; /* NULL: none */
    struct pw_case_result result;

    struct pw_case_inputs inputs;
    struct pw_plan plan; /* of the inputs' call; empty for a library */
    bool library;
    double rounding;                        /* part of the tolerance that the last rounding takes */
    double worst_tolerance, worst_rounding; /* of the output that result.output names: its dtype's */
    double floor; /* of the comparison: elements below are judged absolutely; -1: by the output's scale */
    bool rounded; /* golden is rounded to the output's dtype before the comparison: bits are wanted */
    bool bits;    /* the sign of a zero counts */
    bool ordered; /* the sums are taken in an order that the protocol demands */
    struct pw_order order;
    bool off_by_one_allowed; /* for integers that a float was rounded to */
    int64_t golden_ns;       /* that the reference took for the case; 0 until then */
};
/* Always fills run->result; a non-OK status only for our own trouble (memory, cancelled). */
pw_status pw_case_execute(struct pw_case_run *run, struct pw_error *err);
void pw_case_run_clear(struct pw_case_run *run);

/* The parts of it. begin: an empty result with the case's id. describe: the shapes of the inputs drawn. choose: the
 * implementation for the case's own call, as a changed shape or dtype may be served by another one, and its plan;
 * *found false: none, which settles the case. end: what was drawn goes; a failure is the case's verdict, but for short
 * memory and a cancellation, which are the run's. */
void pw_case_begin(struct pw_case_run *run);
void pw_case_describe(struct pw_case_run *run);
pw_status pw_case_end(struct pw_case_run *run, pw_status status, const struct pw_error *failure, struct pw_error *err);
pw_status pw_case_choose(struct pw_case_run *run, bool *found, struct pw_error *err);
int64_t pw_case_deadline(const struct pw_case_run *run, const struct pw_call *call);
/* What came of an execution on the target: one that failed, or touched what is not its own, settles the case; else
 * *ran. Fails for what says nothing of the target. */
pw_status pw_case_judge_run(struct pw_case_run *run, pw_status status, const struct pw_exec_reply *reply,
                            const struct pw_error *failure, bool *ran, struct pw_error *err);
void pw_case_settle(struct pw_case_run *run, pw_verdict verdict, const char *reason);
const char *pw_case_keep(struct pw_case_run *run, const char *text);

/* One run on the target, with all guards; a run that failed settles the verdict and leaves *ran false. `again`: the
 * second run, whose buffers end at an inaccessible page. */
pw_status pw_case_target(struct pw_case_run *run, const struct pw_case_inputs *inputs, const struct pw_plan *plan,
                         bool again, struct pw_value *outputs, bool *ran, struct pw_error *err);
/* ---- deadline.c ---- */

/* Time after which a run on the target is a TIMEOUT: from a floor of 15 s by the work of the call (operations and
 * elements) or the reference's own time, whichever gives more; times the crowd, as on a machine where eight programs
 * wait for each core a first launch's compiler takes eight times as long; 10 minutes at most. */
int64_t pw_case_deadline_ns(double work, int64_t golden_ns, double crowd);
/* Programs that run or wait, a core; of the last minute. */
double pw_case_crowd(void);
/* Operations that the call requires, and elements that it touches. Its dims are numbers. */
double pw_case_work(const struct pw_call *call);

typedef enum { PW_PERTURB_NONE, PW_PERTURB_RANDOM, PW_PERTURB_UPWARD } pw_perturbation;
/* Golden outputs of a call, carried; of floating inputs moved by `share` of themselves. */
pw_status pw_case_golden(const struct pw_case_inputs *inputs, pw_perturbation kind, double share, uint64_t seed,
                         struct pw_value *golden, struct pw_error *err);

/* ---- judge.c ---- */

/* Tolerance and manner of comparison for the run's call. */
pw_status pw_judge_prepare(struct pw_case_run *run, struct pw_error *err);
/* Adds what the data itself amplifies: how far golden moves when each input moves by a rounding. */
pw_status pw_judge_condition(struct pw_case_run *run, const struct pw_value *golden, struct pw_error *err);
/* Compares one output, keeps the worst. */
pw_status pw_judge_output(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden,
                          int output, struct pw_error *err);
/* judge_order.c: golden of a call whose sums have a demanded order becomes the one in that order that is nearest to
 * what the target gave. */
pw_status pw_judge_order(struct pw_case_run *run, const struct pw_value *got, struct pw_value *golden,
                         struct pw_error *err);
/* judge_ties.c: is this output indices of extreme values? Then want takes the target's index wherever the input's
 * element is equal there, and no index where the target gave one twice. */
bool pw_judge_has_ties(const struct pw_call *call, int output);
pw_status pw_judge_take_ties(const struct pw_call *call, const struct pw_tensor *x, const struct pw_tensor *got,
                             struct pw_tensor *want, struct pw_error *err);
/* The worst elements of the worst output into the result; without them the verdict stands. */
void pw_judge_elements(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden);
/* The verdict from what was kept. */
void pw_judge_verdict(struct pw_case_run *run, const struct pw_value *golden);
/* The fast reference's own error on the case, into the result. */
void pw_judge_reference(struct pw_case_run *run, const struct pw_value *golden);
bool pw_judge_same_shape(const struct pw_tensor *a, const struct pw_tensor *b);
/* Do outputs of two runs differ? Notes the spread. */
void pw_judge_repeat(struct pw_case_run *run, const struct pw_value *first, const struct pw_value *second, int count);
/* Random operators (judge_random.c): runs and judges by property; settles the verdict. */
pw_status pw_judge_random(struct pw_case_run *run, struct pw_error *err);

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
