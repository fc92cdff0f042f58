#include "ops/training/training_room.h"

#include <math.h>

#include "base/compiler.h"
#include "base/parallel.h"

enum { FIRST = 2, GRAIN = 16384 };

/* One variable's update. The coefficients are exact in any of the arithmetics. */
struct job {
    pw_training_kind kind;
    bool nesterov;
    double alpha, beta, epsilon, norm, post;
    long double rate; /* the step's factor, after decay or bias correction */
    const void *x, *g, *s0, *s1;
    void *x_new, *s0_new, *s1_new;
};

/* The rules, once for each pair of storage and arithmetic. */
#define RULES(NAME, HOT, STORE, CALC, SQRT)                                                                            \
    HOT static void adagrad_##NAME(const struct job *job, int64_t begin, int64_t end)                                  \
    {                                                                                                                  \
        const STORE *x = job->x, *g = job->g, *h = job->s0;                                                            \
        STORE *x_new = job->x_new, *h_new = job->s0_new;                                                               \
        CALC norm = (CALC)job->norm, epsilon = (CALC)job->epsilon, rate = (CALC)job->rate;                             \
                                                                                                                       \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            CALC gradient = norm * x[i] + g[i], square = h[i] + gradient * gradient;                                   \
                                                                                                                       \
            h_new[i] = (STORE)square;                                                                                  \
            x_new[i] = (STORE)(x[i] - rate * gradient / (SQRT(square) + epsilon));                                     \
        }                                                                                                              \
    }                                                                                                                  \
    HOT static void adam_##NAME(const struct job *job, int64_t begin, int64_t end)                                     \
    {                                                                                                                  \
        const STORE *x = job->x, *g = job->g, *v = job->s0, *h = job->s1;                                              \
        STORE *x_new = job->x_new, *v_new = job->s0_new, *h_new = job->s1_new;                                         \
        CALC norm = (CALC)job->norm, epsilon = (CALC)job->epsilon, rate = (CALC)job->rate;                             \
        CALC alpha = (CALC)job->alpha, beta = (CALC)job->beta, shrink = 1 - (CALC)job->post;                           \
                                                                                                                       \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            CALC gradient = norm * x[i] + g[i];                                                                        \
            CALC mean = alpha * v[i] + (1 - alpha) * gradient;                                                         \
            CALC square = beta * h[i] + (1 - beta) * gradient * gradient;                                              \
                                                                                                                       \
            v_new[i] = (STORE)mean;                                                                                    \
            h_new[i] = (STORE)square;                                                                                  \
            x_new[i] = (STORE)(shrink * (x[i] - rate * mean / (SQRT(square) + epsilon)));                              \
        }                                                                                                              \
    }                                                                                                                  \
    HOT static void momentum_##NAME(const struct job *job, int64_t begin, int64_t end)                                 \
    {                                                                                                                  \
        const STORE *x = job->x, *g = job->g, *v = job->s0;                                                            \
        STORE *x_new = job->x_new, *v_new = job->s0_new;                                                               \
        CALC norm = (CALC)job->norm, rate = (CALC)job->rate, alpha = (CALC)job->alpha, beta = (CALC)job->beta;         \
                                                                                                                       \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            CALC gradient = norm * x[i] + g[i], v1 = alpha * v[i] + beta * gradient;                                   \
                                                                                                                       \
            v_new[i] = (STORE)v1;                                                                                      \
            x_new[i] = (STORE)(x[i] - rate * (job->nesterov ? gradient + alpha * v1 : v1));                            \
        }                                                                                                              \
    }
RULES(fast, PW_HOT, float, float, sqrtf)
RULES(golden, , double, double, sqrt)
RULES(precise, , double, long double, sqrtl)

typedef void rule(const struct job *job, int64_t begin, int64_t end);
enum { FAST, GOLDEN, PRECISE };
static rule *const rules[][3] = {
    [PW_TRAINING_ADAGRAD] = {adagrad_fast, adagrad_golden, adagrad_precise},
    [PW_TRAINING_ADAM] = {adam_fast, adam_golden, adam_precise},
    [PW_TRAINING_MOMENTUM] = {momentum_fast, momentum_golden, momentum_precise},
};

struct range {
    rule *rule;
    const struct job *job;
};

static void run_range(void *user, int64_t begin, int64_t end)
{
    const struct range *range = user;

    range->rule(range->job, begin, end);
}

/* 1 - base^count without cancellation, where base is near 1. */
static long double one_minus_power(double base, int64_t count)
{
    return base > 0.0 ? -expm1l((long double)count * logl((long double)base)) : 1.0L - powl(base, (long double)count);
}

static pw_status read_call(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_training_form *form = ev->call->op->data;
    const struct pw_call *call = ev->call;
    long double rate = pw_tensor_get(pw_eval_in(ev, 0), 0);
    int64_t count = pw_tensor_get_int(pw_eval_in(ev, 1), 0);

    *job = (struct job){.kind = form->kind,
                        .alpha = (double)pw_call_float(call, "alpha"),
                        .beta = (double)pw_call_float(call, "beta"),
                        .epsilon = (double)pw_call_float(call, "epsilon"),
                        .norm = (double)pw_call_float(call, "norm_coefficient"),
                        .post = (double)pw_call_float(call, "norm_coefficient_post"),
                        .rate = rate};
    if (job->kind == PW_TRAINING_ADAGRAD)
        job->rate = rate / (1.0L + (long double)count * (long double)pw_call_float(call, "decay_factor"));
    if (job->kind == PW_TRAINING_ADAM && count > 0)
        job->rate = rate * sqrtl(one_minus_power(job->beta, count)) / one_minus_power(job->alpha, count);
    if (job->kind == PW_TRAINING_MOMENTUM && count <= 0)
        job->beta = 1.0;
    return pw_training_nesterov(call, &job->nesterov, err);
}

/* Makes output `group` of a variable. */
static pw_status make_output(struct pw_eval *ev, int variables, int group, int variable, void **data,
                             struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, FIRST + variable);
    struct pw_tensor *y = NULL;
    pw_status status = pw_eval_output(ev, group * variables + variable, x->nominal, x->rank, x->dims, &y, err);

    if (status == PW_OK)
        *data = y->data;
    return status;
}

static pw_status update(struct pw_eval *ev, struct job *job, int variables, int variable, struct pw_error *err)
{
    const struct pw_training_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, FIRST + variable);
    const void *in[4] = {NULL};
    void *out[3] = {NULL};
    struct range range = {rules[job->kind][FAST], job};
    pw_status status = PW_OK;

    for (int g = 0; g < form->states + 2; g++)
        in[g] = pw_eval_in(ev, FIRST + g * variables + variable)->data;
    for (int g = 0; g < form->states + 1 && status == PW_OK; g++)
        status = make_output(ev, variables, g, variable, &out[g], err);
    if (status != PW_OK)
        return status;
    job->x = in[0];
    job->g = in[1];
    job->s0 = in[2];
    job->s1 = in[3];
    job->x_new = out[0];
    job->s0_new = out[1];
    job->s1_new = out[2];
    if (x->dtype == PW_DTYPE_FLOAT64)
        range.rule = rules[job->kind][x->nominal == PW_DTYPE_FLOAT64 ? PRECISE : GOLDEN];
    pw_parallel_for(x->count, GRAIN, run_range, &range);
    return PW_OK;
}

pw_status pw_training_evaluate(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    int variables = 0;
    pw_status status = pw_training_variables(ev->call, &variables, err);

    if (status == PW_OK && (pw_eval_in(ev, 0)->count != 1 || pw_eval_in(ev, 1)->count != 1))
        return pw_call_error(ev->call, err, "R and T must be single numbers");
    if (status == PW_OK)
        status = read_call(ev, &job, err);
    for (int v = 0; v < variables && status == PW_OK; v++)
        status = update(ev, &job, variables, v, err);
    return status;
}
