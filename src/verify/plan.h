/*
 * Which cases a signature gets, in which order: first a list that touches everything once (distributions, shapes,
 * properties, dtypes, captured activations), then rounds without end. Deterministic: seed, effort and signature
 * decide all of it; time only decides how far it gets. One per signature; one thread at a time.
 */
#ifndef PW_VERIFY_PLAN_H
#define PW_VERIFY_PLAN_H

#include "verify/capture.h"
#include "verify/shapes.h"

struct pw_case_plan;

pw_status pw_case_plan_create(const struct pw_signature *signature, const struct pw_verify_request *request,
                              const struct pw_impl *impl, const struct pw_capture *capture, struct pw_case_plan **out,
                              struct pw_error *err);
void pw_case_plan_destroy(struct pw_case_plan *plan);

/* Cases that belong to the minimum. */
size_t pw_case_plan_minimum(const struct pw_case_plan *plan);
/* false: all cases would be the same, whatever their seed (no data flows in, and no shape is changed); two are the
 * minimum then. */
bool pw_case_plan_varies(const struct pw_case_plan *plan);
/* The next case; false: nothing new can be made. */
bool pw_case_plan_next(struct pw_case_plan *plan, struct pw_case_spec *spec);

/* For --explain: distributions, properties, dtypes and how dims go together. */
void pw_case_plan_describe(const struct pw_case_plan *plan, struct pw_buf *out);
struct pw_shapes *pw_case_plan_shapes(const struct pw_case_plan *plan);

#endif
