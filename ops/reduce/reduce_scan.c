/* ArgMax, ArgMin, CumSum, CumProd: operators along one axis of [outer][length][inner]. */
#include "ops/reduce/reduce_room.h"

#include "base/compiler.h"
#include "base/parallel.h"

struct lines {
    int64_t outer, length, inner;
};

static struct lines split(const int64_t *dims, int rank, int axis)
{
    struct lines l = {1, 1, 1};

    for (int d = 0; d < rank; d++) {
        if (d < axis)
            l.outer *= dims[d];
        else if (d == axis)
            l.length = dims[d];
        else
            l.inner *= dims[d];
    }
    return l;
}

static pw_status bind_lines(const struct pw_info *in, int axis, struct pw_bindings *b, struct pw_error *err)
{
    struct lines l = split(in->dims, in->rank, axis);
    pw_status status = pw_bind_int(b, "outer", l.outer, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "length", l.length, err);
    return status == PW_OK ? pw_bind_int(b, "inner", l.inner, err) : status;
}

/* A scalar is a line of one element. */
static pw_status axis_of(const struct pw_call *call, int64_t wanted, int rank, int *axis, struct pw_error *err)
{
    if (rank == 0 && (wanted == 0 || wanted == -1)) {
        *axis = 0;
        return PW_OK;
    }
    return pw_call_axis(call, wanted, rank, axis, err);
}

/* ---- ArgMax, ArgMin ---- */

pw_status pw_reduce_arg_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    int axis = 0, rank = 0;
    pw_status status;

    if (in->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(in->dtype) && !pw_dtype_is_integer(in->dtype))
        return pw_call_error(call, err, "data is %s, numbers expected", pw_dtype_name(in->dtype));
    if (in->rank < 0) {
        pw_call_output_unknown(call, 0, PW_DTYPE_INT64);
        return PW_OK;
    }
    status = axis_of(call, pw_call_int(call, "axis"), in->rank, &axis, err);
    if (status != PW_OK)
        return status;
    if (in->rank > 0 && in->dims[axis] == 0)
        return pw_call_error(call, err, "dimension %d is 0: there is no element to point to", axis);
    for (int d = 0; d < in->rank; d++) {
        if (d != axis)
            dims[rank++] = in->dims[d];
        else if (pw_call_int(call, "keepdims") != 0)
            dims[rank++] = 1;
    }
    pw_call_output(call, 0, PW_DTYPE_INT64, rank, dims);
    return PW_OK;
}

void pw_reduce_arg_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    (void)call;
    out->exact = true;
    out->length = 1;
    out->amplification = 1.0;
    out->sensitivity = PW_SENSITIVITY_MEDIUM;
    out->reason = "the index jumps when two candidates are nearly equal";
    out->why = "comparisons only";
}

struct arg_job {
    struct lines lines;
    const struct pw_tensor *x;
    int64_t *y;
    bool min, last, integers, is_unsigned;
};

/* Is element a better than b (both offsets)? NaN is better than any number, as in numpy. */
static bool better(const struct arg_job *job, int64_t a, int64_t b, bool *equal)
{
    if (job->integers) {
        int64_t x = pw_tensor_get_int(job->x, a), y = pw_tensor_get_int(job->x, b);
        bool less = job->is_unsigned ? (uint64_t)x < (uint64_t)y : x < y;

        *equal = x == y;
        return !*equal && less == job->min;
    } else {
        double x = pw_tensor_get(job->x, a), y = pw_tensor_get(job->x, b);

        *equal = x == y || (x != x && y != y);
        if (x != x || y != y)
            return x != x && y == y;
        return job->min ? x < y : x > y;
    }
}

static void arg_lines(void *user, int64_t begin, int64_t end)
{
    const struct arg_job *job = user;
    const struct lines *l = &job->lines;

    for (int64_t c = begin; c < end; c++) {
        int64_t at = c / l->inner * l->length * l->inner + c % l->inner, best = 0;

        for (int64_t i = 1; i < l->length; i++) {
            bool equal = false;

            if (better(job, at + i * l->inner, at + best * l->inner, &equal) || (equal && job->last))
                best = i;
        }
        job->y[c] = best;
    }
}

pw_status pw_reduce_arg_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_reduce_scan_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct arg_job job = {.x = x, .min = form->min};
    int64_t dims[PW_MAX_RANK];
    struct pw_tensor *y = NULL;
    int axis = 0, rank = 0;
    pw_status status;

    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = axis_of(ev->call, pw_call_int(ev->call, "axis"), x->rank, &axis, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d < x->rank; d++) {
        if (d != axis)
            dims[rank++] = x->dims[d];
        else if (pw_call_int(ev->call, "keepdims") != 0)
            dims[rank++] = 1;
    }
    job.lines = split(x->dims, x->rank, axis);
    if (job.lines.length == 0)
        return pw_call_error(ev->call, err, "dimension %d is 0: there is no element to point to", axis);
    status = pw_eval_output(ev, 0, PW_DTYPE_INT64, rank, dims, &y, err);
    if (status != PW_OK)
        return status;
    job.y = y->data;
    job.last = ev->call->op->since >= 12 && pw_call_int(ev->call, "select_last_index") != 0;
    job.integers = !pw_dtype_is_float(x->dtype);
    job.is_unsigned = pw_dtype_facts(x->nominal)->kind == PW_KIND_UNSIGNED;
    pw_parallel_for(y->count, 4096 / (job.lines.length + 1) + 1, arg_lines, &job);
    return PW_OK;
}

pw_status pw_reduce_arg_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_reduce_scan_form *form = call->op->data;
    int axis = 0;
    pw_status status = axis_of(call, pw_call_int(call, "axis"), call->in[0]->rank, &axis, err);

    if (status == PW_OK)
        status = bind_lines(call->in[0], axis, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "is_min", form->min, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "last", call->op->since >= 12 && pw_call_int(call, "select_last_index") != 0, err);
    return status;
}

/* ---- CumSum, CumProd ---- */

static pw_status cum_axis(const struct pw_call *call, int rank, int *axis, bool *known, struct pw_error *err)
{
    const int64_t *values = NULL;
    size_t count = 0;
    pw_status status = pw_call_content(call, 1, &values, &count, known, err);

    if (status != PW_OK || !*known)
        return status;
    if (count != 1)
        return pw_call_error(call, err, "axis has %zu elements, 1 expected", count);
    return axis_of(call, values[0], rank, axis, err);
}

pw_status pw_reduce_cum_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    bool known = false;
    int axis = 0;

    if (in->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(in->dtype) && !pw_dtype_is_integer(in->dtype))
        return pw_call_error(call, err, "x is %s, numbers expected", pw_dtype_name(in->dtype));
    if (in->rank >= 0) {
        pw_status status = cum_axis(call, in->rank, &axis, &known, err);

        if (status != PW_OK)
            return status;
    }
    return pw_infer_same(call, err);
}

void pw_reduce_cum_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_reduce_scan_form *form = call->op->data;
    bool known = false;
    int axis = 0;
    int64_t length = 1;

    if (call->in[0]->rank > 0 && cum_axis(call, call->in[0]->rank, &axis, &known, NULL) == PW_OK && known &&
        pw_dims_value(call->dims, call->in[0]->dims[axis], &length) && length < 1)
        length = 1;
    out->exact = !pw_dtype_is_float(call->out[0].dtype);
    out->length = length;
    out->ulp = form->product ? (double)length : 1.0;
    out->amplification = 1.0;
    out->sensitivity = out->exact ? PW_SENSITIVITY_LOW : PW_SENSITIVITY_HIGH;
    out->reason = out->exact ? "integer arithmetic" : "errors of all earlier elements are carried along";
    out->why = out->exact ? "integers" : "a running sum or product";
}

struct cum_job {
    struct lines lines;
    const struct pw_tensor *x;
    struct pw_tensor *y;
    bool product, exclusive, reverse;
};

static void cum_float(const struct cum_job *job, int64_t at)
{
    const struct lines *l = &job->lines;
    long double acc = job->product ? 1.0L : 0.0L;

    for (int64_t n = 0; n < l->length; n++) {
        int64_t i = at + (job->reverse ? l->length - 1 - n : n) * l->inner;
        double x = pw_tensor_get(job->x, i);
        long double next = job->product ? acc * x : acc + x;

        pw_tensor_set(job->y, i, (double)(job->exclusive ? acc : next));
        acc = next;
    }
}

static void cum_int(const struct cum_job *job, int64_t at)
{
    const struct lines *l = &job->lines;
    uint64_t acc = job->product ? 1 : 0;

    for (int64_t n = 0; n < l->length; n++) {
        int64_t i = at + (job->reverse ? l->length - 1 - n : n) * l->inner;
        uint64_t x = (uint64_t)pw_tensor_get_int(job->x, i), next = job->product ? acc * x : acc + x;

        pw_tensor_set_int(job->y, i, (int64_t)(job->exclusive ? acc : next));
        acc = next;
    }
}

static void cum_lines(void *user, int64_t begin, int64_t end)
{
    const struct cum_job *job = user;
    const struct lines *l = &job->lines;

    for (int64_t c = begin; c < end; c++) {
        int64_t at = c / l->inner * l->length * l->inner + c % l->inner;

        (pw_dtype_is_float(job->x->dtype) ? cum_float : cum_int)(job, at);
    }
}

pw_status pw_reduce_cum_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_reduce_scan_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct cum_job job = {.x = x, .product = form->product};
    const int64_t *axes = NULL;
    size_t count = 0;
    int axis = 0;
    pw_status status;

    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_eval_ints(ev, 1, &axes, &count, err);
    if (status != PW_OK)
        return status;
    if (count != 1)
        return pw_call_error(ev->call, err, "axis has %zu elements, 1 expected", count);
    status = axis_of(ev->call, axes[0], x->rank, &axis, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, x->nominal, x->rank, x->dims, &job.y, err);
    if (status != PW_OK || x->count == 0)
        return status;
    job.lines = split(x->dims, x->rank, axis);
    job.exclusive = pw_call_int(ev->call, "exclusive") != 0;
    job.reverse = pw_call_int(ev->call, "reverse") != 0;
    pw_parallel_for(job.lines.outer * job.lines.inner, 4096 / (job.lines.length + 1) + 1, cum_lines, &job);
    return PW_OK;
}

pw_status pw_reduce_cum_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_reduce_scan_form *form = call->op->data;
    bool known = false;
    int axis = 0;
    pw_status status = cum_axis(call, call->in[0]->rank, &axis, &known, err);

    if (status == PW_OK && !known)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "the axis is not known");
    if (status == PW_OK)
        status = bind_lines(call->in[0], axis, b, err);
    return status == PW_OK ? pw_bind_int(b, "is_product", form->product, err) : status;
}
