/*
 * Shared by the files of the random room. Every draw is a function of (key, index): words of Philox under the key of
 * the call, so that reference and kernels draw the same. Reentrant; used by the room's callbacks only.
 */
#ifndef PW_OPS_RANDOM_ROOM_H
#define PW_OPS_RANDOM_ROOM_H

#include "op/op.h"

#define PW_RANDOM_STREAM 0x72616e64u /* apart from the streams that inputs are drawn from */

typedef enum { PW_RANDOM_UNIFORM, PW_RANDOM_NORMAL, PW_RANDOM_BERNOULLI, PW_RANDOM_MULTINOMIAL } pw_random_kind;

/* What an entry's `data` points to. */
struct pw_random_form {
    pw_random_kind kind;
    bool like; /* shape, and dtype where the attribute does not say, come from input 0 */
};

/* The key of a call's draws: the seed attribute's bits, else the evaluation's seed. */
uint64_t pw_random_key(const struct pw_call *call);
/* The dtype of a call's output; UNDEFINED when it follows an unknown input. */
pw_status pw_random_dtype(const struct pw_call *call, pw_dtype *out, struct pw_error *err);
/* An event of probability p has happened when its word is below this: 0 for p <= 0 and NaN, 2^32 for p >= 1. */
uint64_t pw_random_threshold(double p);

/* How one call of Dropout behaves. */
struct pw_dropout {
    bool known; /* false: ratio or training_mode come at run time */
    bool drops; /* in training, with a ratio above 0 */
    double ratio;
};
pw_status pw_dropout_read(const struct pw_call *call, struct pw_dropout *out, struct pw_error *err);

pw_status pw_random_fill(struct pw_eval *ev, struct pw_error *err); /* RandomUniform, RandomNormal and Like */
pw_status pw_random_bernoulli(struct pw_eval *ev, struct pw_error *err);
pw_status pw_random_multinomial(struct pw_eval *ev, struct pw_error *err);
pw_status pw_dropout_evaluate(struct pw_eval *ev, struct pw_error *err);

/* The properties that outputs must have (op.h). */
pw_status pw_random_fill_property(const struct pw_call *call, const struct pw_value *const *in,
                                  const struct pw_value *out, struct pw_error *err);
pw_status pw_random_bernoulli_property(const struct pw_call *call, const struct pw_value *const *in,
                                       const struct pw_value *out, struct pw_error *err);
pw_status pw_random_multinomial_property(const struct pw_call *call, const struct pw_value *const *in,
                                         const struct pw_value *out, struct pw_error *err);
pw_status pw_dropout_property(const struct pw_call *call, const struct pw_value *const *in, const struct pw_value *out,
                              struct pw_error *err);

#endif
