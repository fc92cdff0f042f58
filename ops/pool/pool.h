/* The pooling room's own header: shared by inference, references and binding. Pure. */
#ifndef PW_OPS_POOL_H
#define PW_OPS_POOL_H

#include "op/op.h"
#include "op/window.h"

typedef enum { PW_POOL_MAX, PW_POOL_AVERAGE, PW_POOL_LP } pw_pool_mode;

struct pw_pool_kind {
    pw_pool_mode mode;
    bool global; /* the window is the whole plane */
};

const struct pw_pool_kind *pw_pool_kind_of(const struct pw_call *call);

/* The window of a pool; *known false when the rank is unknown. Global pools give kernel = input. */
pw_status pw_pool_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err);
pw_status pw_pool_numbers(const struct pw_call *call, struct pw_window_numbers *n, struct pw_error *err);
/* The exponent of LpPool and GlobalLpPool, float or int by version; checked to be above 0. */
pw_status pw_pool_exponent(const struct pw_call *call, double *p, struct pw_error *err);

/* MaxUnpool: extents that the indices refer to, and those of the output (numbers). */
pw_status pw_unpool_numbers(const struct pw_call *call, int *rank, int64_t *pooled, int64_t *out, struct pw_error *err);

pw_status pw_pool_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_unpool_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_roi_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

pw_status pw_pool_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_unpool_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_max_roi_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_roi_align_eval(struct pw_eval *ev, struct pw_error *err);

#endif
