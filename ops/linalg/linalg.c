/* Shapes, cost, accuracy and the operators of the room. */
#include "base/compiler.h"
#include "ops/linalg/linalg_room.h"

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];

    if (x->dtype != PW_DTYPE_UNDEFINED && (!pw_dtype_is_float(x->dtype) || pw_dtype_bytes(x->dtype) < 2))
        return pw_call_error(call, err, "the input is %s, a float type expected", pw_dtype_name(x->dtype));
    if (x->rank < 0) {
        pw_call_output_unknown(call, 0, x->dtype);
        return PW_OK;
    }
    if (x->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, at least 2 expected", x->rank);
    if (x->dims[x->rank - 1] >= 0 && x->dims[x->rank - 2] >= 0 && x->dims[x->rank - 1] != x->dims[x->rank - 2])
        return pw_call_error(call, err, "the matrices are %lld x %lld, square ones expected",
                             (long long)x->dims[x->rank - 2], (long long)x->dims[x->rank - 1]);
    pw_call_output(call, 0, x->dtype, x->rank - 2, x->dims);
    return PW_OK;
}

/* Elimination: 2/3 of the cube of the size, for each matrix. */
static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    struct pw_dims *dims = call->dims;
    pw_dim size, flops;

    (void)err;
    out->flops = PW_DIM_UNKNOWN;
    if (x->rank < 2)
        return PW_OK;
    size = x->dims[x->rank - 1];
    flops = pw_dims_mul(dims, pw_dims_mul(dims, size, size), pw_dims_mul(dims, size, 2));
    flops = pw_dims_ceildiv(dims, flops, 3);
    for (int d = 0; d < x->rank - 2; d++)
        flops = pw_dims_mul(dims, flops, x->dims[d]);
    out->flops = flops;
    return PW_OK;
}

/* Backward stable: the determinant of a matrix within size roundings of the given one. What that makes of the result
 * is the matrix's condition number; of a random matrix its logarithm is log(size) + 1.5 in the mean (Edelman 1988),
 * so 10 size covers the drawn cases with a margin of 2. */
static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_info *x = call->in[0];
    int64_t size = x->rank >= 2 && x->dims[x->rank - 1] > 0 ? x->dims[x->rank - 1] : 1;

    out->exact = size == 1;
    out->ulp = 3;
    out->length = size;
    out->amplification = size > 1 ? 10.0 * (double)size : 1;
    out->sensitivity = size > 1 ? PW_SENSITIVITY_HIGH : PW_SENSITIVITY_LOW;
    out->reason = "the relative error grows with the matrix's condition number";
    out->why = "elimination with row exchanges is backward stable; times the condition number of a random matrix";
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t matrices = 1;
    pw_status status;

    for (int d = 0; d < x->rank - 2; d++)
        matrices *= x->dims[d];
    status = pw_bind_int(b, "matrices", matrices, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "size", x->dims[x->rank - 1], err);
    return status;
}

static const struct pw_formal inputs[] = {{"X", "T", 0}, {0}};
static const struct pw_formal outputs[] = {{"Y", "T", 0}, {0}};

#define DET(version)                                                                                                   \
    {                                                                                                                  \
        .domain = "", .name = "Det", .since = version, .category = PW_CATEGORY_REDUCTION, .inputs = inputs,            \
        .outputs = outputs, .infer = infer, .cost = cost, .accuracy = accuracy, .golden = pw_det_eval,                 \
        .fast = pw_det_eval, .bind = bind                                                                              \
    }

const struct pw_op pw_linalg_ops[] = {DET(11), DET(22), {0}};
