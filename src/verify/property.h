/*
 * Properties that an operator has whatever the right numbers are: a softmax sums to 1, a product is linear, a
 * normalization forgets a scale. They are tested on the target alone (several runs on related inputs), so they hold
 * where golden and kernel could share a mistake. property_table.c says which operator has which.
 */
#ifndef PW_VERIFY_PROPERTY_H
#define PW_VERIFY_PROPERTY_H

#include "verify/verify_internal.h"

/* One test under way. */
struct pw_property_work {
    struct pw_case_run *run;
    const struct pw_property *property;
    double tolerance; /* of the operator, and what the property may lose in all (set by the test, else twice that) */
    double bound;
    bool ran;   /* false: a run on the target failed; the verdict is settled */
    bool holds; /* set by the test, through pw_property_equal or itself */
    struct pw_buf why;
    struct pw_value first[PW_OP_MAX_FORMALS]; /* outputs of the case's own inputs */
};

struct pw_property {
    const char *op; /* "MatMul" of ai.onnx, "com.microsoft:Gelu" */
    const char *name;
    pw_dist dist; /* the draws it needs */
    pw_status (*test)(struct pw_property_work *work, struct pw_error *err);
    bool (*applies)(const struct pw_call *call); /* NULL: always */
    double number;                               /* for the test: degree, sign… */
};
extern const struct pw_property pw_properties[]; /* ended by op NULL */

/* Names of the properties that hold for the call; returns how many, fills up to cap. */
size_t pw_property_list(const struct pw_call *call, const char **names, size_t cap);
/* The distribution that a property of the call is tested with. */
pw_dist pw_property_dist(const struct pw_call *call, const char *name);

/* Runs the one that the run's spec names and settles the verdict. PW_ERR_USAGE for a name that the call does not
 * have. */
pw_status pw_property_judge(struct pw_case_run *run, struct pw_error *err);

/* ---- for tests (property.c) ---- */

/* A copy of the case's inputs that may be changed; pw_property_ready makes its call afterwards (with another node, or
 * NULL for the case's own). */
pw_status pw_property_vary(const struct pw_property_work *work, struct pw_case_inputs *out, struct pw_error *err);
pw_status pw_property_ready(const struct pw_property_work *work, const struct pw_node *node, struct pw_case_inputs *in,
                            struct pw_error *err);
/* Runs the target on it; work->ran false when that failed or no plan fits (then the case is skipped). */
pw_status pw_property_run(struct pw_property_work *work, struct pw_case_inputs *in, struct pw_value *out,
                          struct pw_error *err);
void pw_property_clear(struct pw_value *values);
/* got (of the target) against want within work->bound; says where not. `floor` as of pw_compare. */
pw_status pw_property_equal(struct pw_property_work *work, const struct pw_tensor *got, const struct pw_tensor *want,
                            double floor, struct pw_error *err);
/* The same, where what cancels in both had the size that `size` gives for each element. */
pw_status pw_property_equal_sized(struct pw_property_work *work, const struct pw_tensor *got,
                                  const struct pw_tensor *want, const struct pw_tensor *size, struct pw_error *err);
/* A float64 tensor of the shape of `like` carrying its dtype. */
pw_status pw_property_carrier(const struct pw_tensor *like, struct pw_tensor *out, struct pw_error *err);

#endif
