/* Inside of src/verify: the precision sweep of an end-to-end request (endtoend.h has what it gives). */
#ifndef PW_VERIFY_SWEEP_H
#define PW_VERIFY_SWEEP_H

#include "verify/endtoend.h"

pw_status pw_sweep_run(const struct pw_endtoend_request *request, struct pw_endtoend_totals *totals,
                       struct pw_error *err);
/* A rule that speaks of nodes by name alone speaks of an output of that name too; NULL: none. endtoend.c. */
const struct pw_tolerance_rule *pw_endtoend_rule(const struct pw_protocol *protocol, const char *output);

#endif
