/* com.microsoft: FusedMatMul (and its older name), MatMulNBits, DynamicQuantizeMatMul. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/matmul/matmul_room.h"

static pw_status shapes_unknown(struct pw_error *err)
{
    return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
}

/* ---- FusedMatMul ---- */

static bool flag(const struct pw_call *call, const char *name)
{
    return pw_call_int(call, name) != 0;
}

static bool has_batch_flags(const struct pw_call *call)
{
    return strcmp(call->op->name, "FusedMatMul") == 0;
}

/* Where dim d of an operand comes from: with transBatch the first dim moves behind the batch dims. */
static int moved_from(int rank, bool rotates, int d)
{
    if (!rotates || rank < 3 || d == rank - 1)
        return d;
    return d == rank - 2 ? 0 : d + 1;
}

static void rotate(const int64_t *dims, int rank, bool rotates, int64_t *new_dims, int64_t *strides)
{
    int64_t dense[PW_MAX_RANK];

    pw_matmul_dense(dims, rank, dense);
    for (int d = 0; d < rank; d++) {
        new_dims[d] = dims[moved_from(rank, rotates, d)];
        strides[d] = dense[moved_from(rank, rotates, d)];
    }
}

static bool fused_geometry(const struct pw_call *call, const int64_t *a_dims, int a_rank, const int64_t *b_dims,
                           int b_rank, struct pw_matmul_geometry *g)
{
    int64_t dims[2][PW_MAX_RANK], strides[2][PW_MAX_RANK];
    bool batches = has_batch_flags(call), batch_a = batches && flag(call, "transBatchA");
    bool batch_b = batches && flag(call, "transBatchB");
    const struct pw_matmul_operand a = {dims[0], strides[0], a_rank, flag(call, "transA")};
    const struct pw_matmul_operand b = {dims[1], strides[1], b_rank, flag(call, "transB")};

    if (!batch_a && !batch_b)
        return pw_matmul_geometry(a_dims, a_rank, b_dims, b_rank, a.transposed, b.transposed, g);
    rotate(a_dims, a_rank, batch_a, dims[0], strides[0]);
    rotate(b_dims, b_rank, batch_b, dims[1], strides[1]);
    return pw_matmul_strided(&a, &b, g);
}

pw_status pw_matmul_fused_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info moved[2];
    const struct pw_info *pair[2] = {&moved[0], &moved[1]}, *const *in = call->in;
    static const char *const names[] = {"transBatchA", "transBatchB"};
    struct pw_call view = *call;
    pw_status status;

    for (int i = 0; i < 2; i++) {
        moved[i] = *in[i];
        if (moved[i].dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(moved[i].dtype))
            return pw_call_error(call, err, "input %d is %s, a float type expected", i, pw_dtype_name(moved[i].dtype));
        for (int d = 0; d < moved[i].rank; d++)
            moved[i].dims[d] = in[i]->dims[moved_from(moved[i].rank, has_batch_flags(call) && flag(call, names[i]), d)];
    }
    view.in = pair;
    view.input_count = 2;
    status = pw_matmul_infer_shape(&view, 0, 1, flag(call, "transA"), flag(call, "transB"), in[0]->dtype, err);
    return status;
}

pw_status pw_matmul_fused_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1);
    struct pw_matmul_geometry g;
    struct pw_tensor *y = NULL;
    pw_status status;

    if (!a || !b || !fused_geometry(ev->call, a->dims, a->rank, b->dims, b->rank, &g))
        return pw_call_error(ev->call, err, "the shapes of A and B do not fit");
    status = pw_matmul_output(ev, a->nominal, &y, err);
    if (status != PW_OK)
        return status;
    pw_matmul_product(&g, a->dtype, a->nominal == PW_DTYPE_FLOAT64 && ev->mode == PW_EVAL_GOLDEN,
                      (double)pw_call_float(ev->call, "alpha"), a->data, b->data, 0.0, y->data);
    return PW_OK;
}

pw_status pw_matmul_fused_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *w = call->in[1];
    bool batches = has_batch_flags(call);
    struct pw_matmul_geometry g;
    pw_status status;

    if (x->rank < 0 || w->rank < 0 || !fused_geometry(call, x->dims, x->rank, w->dims, w->rank, &g))
        return shapes_unknown(err);
    status = pw_matmul_bind_geometry(&g, b, err);
    if (status == PW_OK)
        status = pw_matmul_bind_accumulator(x->dtype, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "b_constant", w->constant != NULL, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "dense", !batches || (!flag(call, "transBatchA") && !flag(call, "transBatchB")), err);
    return status;
}

/* ---- MatMulNBits ---- */

struct nbits {
    int64_t n, k, bits, block, blocks, blob; /* blocks a row of B, bytes a block */
};

static pw_status nbits_read(const struct pw_call *call, struct nbits *q, struct pw_error *err)
{
    q->n = pw_call_int(call, "N");
    q->k = pw_call_int(call, "K");
    q->bits = pw_call_int(call, "bits");
    q->block = pw_call_int(call, "block_size");
    if (q->bits != 2 && q->bits != 4 && q->bits != 8)
        return pw_call_error(call, err, "bits is %lld; 2, 4 and 8 are supported", (long long)q->bits);
    if (q->block < 16 || q->block > 1 << 20 || (q->block & (q->block - 1)) != 0)
        return pw_call_error(call, err, "block_size is %lld, a power of two from 16 on expected", (long long)q->block);
    if (q->n < 0 || q->k < 0 || q->n > INT32_MAX || q->k > INT32_MAX)
        return pw_call_error(call, err, "N and K are %lld and %lld", (long long)q->n, (long long)q->k);
    if (pw_call_int(call, "weight_prepacked") != 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "weights are packed for one vendor's kernels");
    q->blocks = (q->k + q->block - 1) / q->block;
    q->blob = q->block * q->bits / 8;
    return PW_OK;
}

static pw_status expect_elements(const struct pw_call *call, int i, int64_t count, struct pw_error *err)
{
    const struct pw_info *info = pw_call_input(call, i) ? call->in[i] : NULL;
    int64_t have = 1;

    if (!info || info->rank < 0)
        return PW_OK;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return PW_OK;
        have *= info->dims[d];
    }
    if (have != count)
        return pw_call_error(call, err, "'%s' has %lld elements, %lld expected", call->op->inputs[i].name,
                             (long long)have, (long long)count);
    return PW_OK;
}

pw_status pw_matmul_nbits_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *a = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    struct nbits q;
    pw_status status = nbits_read(call, &q, err);
    bool packed_zeros = pw_call_input(call, 3) && call->in[3]->dtype == PW_DTYPE_UINT8;

    if (status == PW_OK)
        status = expect_elements(call, 1, q.n * q.blocks * q.blob, err);
    if (status == PW_OK)
        status = expect_elements(call, 2, q.n * q.blocks, err);
    if (status == PW_OK)
        status = expect_elements(call, 3, q.n * (packed_zeros ? (q.blocks * q.bits + 7) / 8 : q.blocks), err);
    if (status == PW_OK)
        status = expect_elements(call, 5, q.n, err);
    if (status != PW_OK)
        return status;
    if (a->rank < 0) {
        pw_call_output_unknown(call, 0, a->dtype);
        return PW_OK;
    }
    if (a->rank < 1 || (a->dims[a->rank - 1] >= 0 && a->dims[a->rank - 1] != q.k))
        return pw_call_error(call, err, "the last dimension of A is not K = %lld", (long long)q.k);
    memcpy(dims, a->dims, sizeof dims);
    dims[a->rank - 1] = pw_dims_int(call->dims, q.n);
    pw_call_output(call, 0, a->dtype, a->rank, dims);
    return PW_OK;
}

static int64_t unpack(const struct pw_tensor *t, int64_t byte, int64_t at, int64_t bits)
{
    int64_t v = pw_tensor_get_int(t, byte + at * bits / 8);

    return v >> (at * bits % 8) & ((1 << bits) - 1);
}

/* B as [N][K] in the carrier. */
static pw_status nbits_weights(const struct pw_eval *ev, const struct nbits *q, struct pw_tensor *out,
                               struct pw_error *err)
{
    const struct pw_tensor *b = pw_eval_in(ev, 1), *scales = pw_eval_in(ev, 2), *zeros = pw_eval_in(ev, 3),
                           *groups = pw_eval_in(ev, 4);
    int64_t zero_row = (q->blocks * q->bits + 7) / 8;
    pw_status status = pw_tensor_init(out, pw_eval_in(ev, 0)->dtype, 2, (const int64_t[]){q->n, q->k}, err);

    if (status == PW_OK && groups && groups->count < q->k)
        return pw_call_error(ev->call, err, "g_idx has %lld elements, %lld expected", (long long)groups->count,
                             (long long)q->k);
    for (int64_t n = 0; n < q->n && status == PW_OK; n++) {
        for (int64_t k = 0; k < q->k; k++) {
            int64_t group = groups ? pw_tensor_get_int(groups, k) : k / q->block, row = n * q->blocks;
            double zero = (double)(1 << (q->bits - 1)), w;

            if (group < 0 || group >= q->blocks)
                return pw_call_error(ev->call, err, "g_idx[%lld] is %lld, of %lld blocks", (long long)k,
                                     (long long)group, (long long)q->blocks);
            if (zeros)
                zero = zeros->nominal == PW_DTYPE_UINT8 ? (double)unpack(zeros, n * zero_row, group, q->bits)
                                                        : pw_tensor_get(zeros, row + group);
            w = (double)unpack(b, (row + k / q->block) * q->blob, k % q->block, q->bits);
            pw_tensor_set(out, n * q->k + k, (w - zero) * pw_tensor_get(scales, row + group));
        }
    }
    return status;
}

static void add_bias(const struct pw_tensor *bias, struct pw_tensor *y, int64_t n)
{
    for (int64_t i = 0; bias && i < y->count; i++)
        pw_tensor_set(y, i, pw_tensor_get(y, i) + pw_tensor_get(bias, i % n));
}

pw_status pw_matmul_nbits_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0);
    struct pw_tensor weights = {0}, *y = NULL;
    struct pw_matmul_geometry g;
    struct nbits q;
    pw_status status = nbits_read(ev->call, &q, err);

    if (status == PW_OK && (!a || !pw_eval_in(ev, 1) || !pw_eval_in(ev, 2)))
        status = pw_call_error(ev->call, err, "A, B or the scales are missing");
    if (status == PW_OK)
        status = pw_matmul_output(ev, a->nominal, &y, err);
    if (status == PW_OK)
        status = nbits_weights(ev, &q, &weights, err);
    if (status != PW_OK)
        goto done;
    if (!pw_matmul_geometry(a->dims, a->rank, weights.dims, 2, false, true, &g)) {
        status = pw_call_error(ev->call, err, "the last dimension of A is not K");
        goto done;
    }
    pw_matmul_product(&g, a->dtype, false, 1.0, a->data, weights.data, 0.0, y->data);
    add_bias(pw_eval_in(ev, 5), y, q.n);
done:
    pw_tensor_clear(&weights);
    return status;
}

pw_status pw_matmul_nbits_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *a = call->in[0], *zeros = pw_call_input(call, 3) ? call->in[3] : NULL;
    int64_t rows = 1;
    struct nbits q;
    pw_status status = nbits_read(call, &q, err);
    int64_t ints[6];
    static const char *const names[] = {"rows", "blocks", "blob", "packed_zeros", "float_zeros", "zero_row"};

    if (status != PW_OK)
        return status;
    for (int d = 0; d < a->rank - 1; d++)
        rows *= a->dims[d];
    ints[0] = rows;
    ints[1] = q.blocks;
    ints[2] = q.blob;
    ints[3] = zeros && zeros->dtype == PW_DTYPE_UINT8;
    ints[4] = zeros && zeros->dtype != PW_DTYPE_UINT8;
    ints[5] = (q.blocks * q.bits + 7) / 8;
    for (size_t i = 0; i < PW_COUNT_OF(names) && status == PW_OK; i++)
        status = pw_bind_int(b, names[i], ints[i], err);
    return status == PW_OK ? pw_matmul_bind_accumulator(a->dtype, b, err) : status;
}

/* ---- DynamicQuantizeMatMul ---- */

pw_status pw_matmul_dynamic_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *b = call->in[1];

    if (b->dtype != PW_DTYPE_UNDEFINED && b->dtype != PW_DTYPE_INT8 && b->dtype != PW_DTYPE_UINT8)
        return pw_call_error(call, err, "B is %s, int8 or uint8 expected", pw_dtype_name(b->dtype));
    return pw_matmul_infer_shape(call, 0, 1, false, false, call->in[0]->dtype, err);
}

/* DynamicQuantizeLinear's scale and zero point, in float as its definition has them. */
static void dynamic_range(const struct pw_tensor *a, float *scale, float *zero)
{
    float low = 0.0f, high = 0.0f;

    for (int64_t i = 0; i < a->count; i++) {
        float x = (float)pw_tensor_get(a, i);

        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    *scale = (high - low) / 255.0f;
    *zero = *scale == 0.0f ? 0.0f : nearbyintf(-low / *scale);
    *zero = *zero < 0.0f ? 0.0f : *zero > 255.0f ? 255.0f : *zero;
}

/* Fills a (quantized, minus its zero point) and b (minus its own) in double: sums of them are exact. */
static pw_status dynamic_operands(const struct pw_eval *ev, float scale, float zero, struct pw_tensor *a,
                                  struct pw_tensor *b, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1), *zeros = pw_eval_in(ev, 3);
    int64_t n = w->rank > 1 ? w->dims[w->rank - 1] : 1;
    pw_status status = pw_tensor_init(a, PW_DTYPE_FLOAT64, x->rank, x->dims, err);

    if (status == PW_OK)
        status = pw_tensor_init(b, PW_DTYPE_FLOAT64, w->rank, w->dims, err);
    if (status == PW_OK && zeros && zeros->count != 1 && zeros->count != n)
        return pw_call_error(ev->call, err, "b_zero_point has %lld elements, 1 or %lld expected",
                             (long long)zeros->count, (long long)n);
    for (int64_t i = 0; status == PW_OK && i < x->count; i++) {
        float q = scale == 0.0f ? zero : nearbyintf((float)pw_tensor_get(x, i) / scale) + zero;

        ((double *)a->data)[i] = (double)((q < 0.0f ? 0.0f : q > 255.0f ? 255.0f : q) - zero);
    }
    for (int64_t i = 0; status == PW_OK && i < w->count; i++)
        ((double *)b->data)[i] =
            pw_tensor_get(w, i) - (zeros ? pw_tensor_get(zeros, zeros->count == 1 ? 0 : i % n) : 0.0);
    return status;
}

pw_status pw_matmul_dynamic_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1), *scales = pw_eval_in(ev, 2),
                           *bias = pw_eval_in(ev, 4);
    struct pw_tensor a = {0}, b = {0}, sums = {0}, *y = NULL;
    struct pw_matmul_geometry g;
    float scale, zero;
    pw_status status = PW_OK;

    if (!x || !w || !scales || !pw_matmul_geometry(x->dims, x->rank, w->dims, w->rank, false, false, &g))
        return pw_call_error(ev->call, err, "the shapes of A and B do not fit");
    if ((scales->count != 1 && scales->count != g.n) || (bias && bias->count != g.n))
        return pw_call_error(ev->call, err, "b_scale or bias does not fit B's %lld columns", (long long)g.n);
    dynamic_range(x, &scale, &zero);
    status = pw_matmul_output(ev, x->nominal, &y, err);
    if (status == PW_OK)
        status = dynamic_operands(ev, scale, zero, &a, &b, err);
    if (status == PW_OK)
        status = pw_tensor_init(&sums, PW_DTYPE_FLOAT64, y->rank, y->dims, err);
    if (status != PW_OK)
        goto done;
    pw_matmul_product(&g, PW_DTYPE_FLOAT64, false, 1.0, a.data, b.data, 0.0, sums.data);
    for (int64_t i = 0; i < y->count; i++) {
        double by = pw_tensor_get(scales, scales->count == 1 ? 0 : i % g.n);

        pw_tensor_set(
            y, i, ((const double *)sums.data)[i] * ((double)scale * by) + (bias ? pw_tensor_get(bias, i % g.n) : 0.0));
    }
done:
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    pw_tensor_clear(&sums);
    return status;
}

pw_status pw_matmul_dynamic_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *scales = call->in[2], *zeros = pw_call_input(call, 3) ? call->in[3] : NULL;
    struct pw_matmul_geometry g;
    pw_status status;

    if (!pw_matmul_call_geometry(call, 0, 1, false, false, &g))
        return shapes_unknown(err);
    status = pw_matmul_bind_geometry(&g, b, err);
    if (status == PW_OK)
        status = pw_bind_word(b, "acc", "int", err);
    if (status == PW_OK)
        status = pw_bind_int(b, "bs_step", scales->rank == 1 && scales->dims[0] != 1, err);
    return status == PW_OK ? pw_bind_int(b, "bz_step", zeros && zeros->rank == 1 && zeros->dims[0] != 1, err) : status;
}
