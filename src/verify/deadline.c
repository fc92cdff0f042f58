/* How long a case may run on the target before its kernel counts as hung. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "verify/verify_internal.h"

#define FLOOR_NS 15000000000.0    /* a first launch may compile, and the machine may be busy */
#define CEILING_NS 600000000000.0 /* nobody waits longer for one case */
#define WORK_NS 50.0              /* an operation or element: 20 million a second, which a slow simulator reaches */
#define GOLDEN_FACTOR 200.0       /* the reference computes in double on one thread */

#define CROWD_MAX 16.0

int64_t pw_case_deadline_ns(double work, int64_t golden_ns, double crowd)
{
    double ns = FLOOR_NS + fmax(WORK_NS * work, GOLDEN_FACTOR * (double)golden_ns);

    ns *= fmin(fmax(crowd, 1), CROWD_MAX); /* so of a NaN too */
    return (int64_t)fmin(ns, CEILING_NS);  /* fmin passes over a NaN */
}

static double elements(const struct pw_dims *dims, const struct pw_info *info)
{
    double count = info->rank < 0 ? 0 : 1;
    int64_t n;

    for (int d = 0; d < info->rank; d++)
        count *= pw_dims_value(dims, info->dims[d], &n) ? (double)n : 1;
    return count;
}

double pw_case_work(const struct pw_call *call)
{
    struct pw_cost cost = {0};
    int64_t flops = 0;
    double work = 0;

    for (int i = 0; i < call->input_count; i++)
        work += call->in[i] ? elements(call->dims, call->in[i]) : 0;
    for (int i = 0; i < call->output_count; i++)
        work += call->wanted[i] ? elements(call->dims, &call->out[i]) : 0;
    if (call->op->cost && call->op->cost(call, &cost, NULL) == PW_OK && pw_dims_value(call->dims, cost.flops, &flops))
        work += (double)flops;
    return work;
}

double pw_case_crowd(void)
{
    double load = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return getloadavg(&load, 1) == 1 && cores > 0 ? load / (double)cores : 1;
}
