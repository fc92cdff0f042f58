/* Shared by the files of the control room. */
#ifndef PW_OPS_CONTROL_H
#define PW_OPS_CONTROL_H

#include "op/op.h"

/* The subgraph in attribute `name`; an error when the attribute holds none. */
pw_status pw_control_graph(const struct pw_call *call, const char *name, const struct pw_graph **out,
                           struct pw_error *err);

/* ---- inference ---- */

/* What is known whichever of two values comes: differing dims become new symbols, differing ranks and
 * types unknown; contents are dropped unless both are the same. `hint` names the new symbols. */
struct pw_info pw_control_merge(struct pw_call *call, const struct pw_info *a, const struct pw_info *b,
                                const char *hint);
/* A copy without what holds for one iteration only. */
struct pw_info pw_control_forget(const struct pw_info *info);

pw_status pw_if_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_loop_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_scan_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_scan_8_infer(struct pw_call *call, struct pw_error *err);

/* Inserts `size` as a new dim before `axis` of info (rank unknown stays unknown). */
pw_status pw_control_insert_dim(const struct pw_call *call, struct pw_info *info, int64_t axis, pw_dim size,
                                struct pw_error *err);

/* ---- references ---- */

pw_status pw_if_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_loop_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_scan_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_scan_8_run(struct pw_eval *ev, struct pw_error *err);

/* Values collected over iterations, one growing list. Zero-initialised is empty. */
struct pw_control_list {
    struct pw_value *items; /* owned */
    size_t count, cap;
};

/* Takes *value (left empty). Bounded in bytes: an endless loop must not eat the machine. */
pw_status pw_control_list_add(const struct pw_call *call, struct pw_control_list *list, struct pw_value *value,
                              struct pw_error *err);
void pw_control_list_clear(struct pw_control_list *list);

/* Output i = the list's tensors stacked along a new axis, in reverse order when asked, padded with zeros
 * to `length` items. An empty list takes type and dims from the body's declared output (unknown dims 0). */
pw_status pw_control_stack(struct pw_eval *ev, int i, const struct pw_control_list *list, const struct pw_graph *body,
                           size_t body_output, int64_t axis, bool reverse, int64_t length, struct pw_error *err);
/* The same into a tensor of the caller's. */
pw_status pw_control_stack_into(struct pw_eval *ev, const struct pw_control_list *list, const struct pw_graph *body,
                                size_t body_output, int64_t axis, bool reverse, int64_t length, struct pw_tensor *out,
                                struct pw_error *err);
/* Element `index` of `t` along `axis`, without that axis; owned by *out. */
pw_status pw_control_slice(const struct pw_tensor *t, int axis, int64_t index, struct pw_value *out,
                           struct pw_error *err);

#endif
