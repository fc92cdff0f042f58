#include "ops/matmul/matmul_room.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/half.h"
#include "base/parallel.h"
#include "op/order.h"
#include "tensor/blas.h"

/* Multiply-adds up to which float64's golden is worth long double (about a second). */
#define PRECISE_LIMIT ((int64_t)1 << 27)

/* ---- products in a carrier type ---- */

struct loop {
    const struct pw_matmul_geometry *g;
    const void *a, *b;
    void *y;
    double alpha, beta;
};

static void rows_int64(void *user, int64_t begin, int64_t end)
{
    const struct loop *l = user;
    const struct pw_matmul_geometry *g = l->g;

    for (int64_t row = begin; row < end; row++) {
        uint64_t *y = (uint64_t *)l->y + row * g->n;
        int64_t oa, ob;

        pw_matmul_offsets(g, row / g->m, &oa, &ob);
        oa += row % g->m * g->a_row;
        memset(y, 0, (size_t)g->n * sizeof *y);
        for (int64_t k = 0; k < g->k; k++) {
            uint64_t a = ((const uint64_t *)l->a)[oa + k * g->a_col];
            const uint64_t *b = (const uint64_t *)l->b + ob + k * g->b_row;

            for (int64_t n = 0; n < g->n; n++)
                y[n] += a * b[n * g->b_col];
        }
    }
}

static void rows_precise(void *user, int64_t begin, int64_t end)
{
    const struct loop *l = user;
    const struct pw_matmul_geometry *g = l->g;

    for (int64_t row = begin; row < end; row++) {
        int64_t oa, ob;

        pw_matmul_offsets(g, row / g->m, &oa, &ob);
        oa += row % g->m * g->a_row;
        for (int64_t n = 0; n < g->n; n++) {
            const double *a = (const double *)l->a + oa, *b = (const double *)l->b + ob + n * g->b_col;
            double *y = (double *)l->y + row * g->n + n;
            long double sum = 0.0L;

            for (int64_t k = 0; k < g->k; k++)
                sum += (long double)a[k * g->a_col] * b[k * g->b_row];
            sum *= l->alpha;
            *y = (double)(l->beta != 0.0 ? sum + (long double)l->beta * *y : sum);
        }
    }
}

/* One product with OpenBLAS; the strides of a geometry are those of a dense or a transposed matrix. */
static void blas(const struct pw_matmul_geometry *g, pw_dtype dtype, double alpha, const void *a, const void *b,
                 double beta, void *y)
{
    bool ta = g->a_col != 1 && g->a_row == 1, tb = g->b_col != 1 && g->b_row == 1;
    int64_t lda = ta ? g->a_col : g->a_row, ldb = tb ? g->b_col : g->b_row;

    for (int64_t i = 0; i < g->batch; i++) {
        int64_t oa, ob, oy = i * g->m * g->n;

        pw_matmul_offsets(g, i, &oa, &ob);
        if (dtype == PW_DTYPE_FLOAT64)
            pw_blas_dgemm(ta, tb, g->m, g->n, g->k, alpha, (const double *)a + oa, lda, (const double *)b + ob, ldb,
                          beta, (double *)y + oy, g->n);
        else if (g->m == 1)
            pw_blas_sgemv(!tb, tb ? g->n : g->k, tb ? g->k : g->n, (float)alpha, (const float *)b + ob, ldb,
                          (const float *)a + oa, (float)beta, (float *)y + oy);
        else
            pw_blas_sgemm(ta, tb, g->m, g->n, g->k, (float)alpha, (const float *)a + oa, lda, (const float *)b + ob,
                          ldb, (float)beta, (float *)y + oy, g->n);
    }
}

void pw_matmul_product(const struct pw_matmul_geometry *g, pw_dtype dtype, bool precise, double alpha, const void *a,
                       const void *b, double beta, void *y)
{
    struct loop l = {g, a, b, y, alpha, beta};
    double work = (double)g->batch * (double)g->m * (double)g->n * (double)g->k;
    int64_t rows = g->batch * g->m, grain;

    if (rows <= 0 || g->n <= 0)
        return;
    grain = (int64_t)(65536.0 * (double)rows / (work + 1.0)) + 1;
    if (dtype == PW_DTYPE_INT64)
        pw_parallel_for(rows, grain, rows_int64, &l);
    else if (dtype == PW_DTYPE_FLOAT64 && precise && work <= (double)PRECISE_LIMIT)
        pw_parallel_for(rows, grain, rows_precise, &l);
    else
        blas(g, dtype, alpha, a, b, beta, y);
}

/* ---- MatMul ---- */

pw_status pw_matmul_output(struct pw_eval *ev, pw_dtype nominal, struct pw_tensor **out, struct pw_error *err)
{
    const struct pw_info *info = &ev->call->out[0];

    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return pw_call_error(ev->call, err, "the output's shape is not known");
    }
    if (info->rank < 0)
        return pw_call_error(ev->call, err, "the output's rank is not known");
    return pw_eval_output(ev, 0, nominal, info->rank, info->dims, out, err);
}

static pw_status geometry(const struct pw_eval *ev, const struct pw_tensor *a, const struct pw_tensor *b, bool trans_a,
                          bool trans_b, struct pw_matmul_geometry *g, struct pw_error *err)
{
    if (!a || !b)
        return pw_call_error(ev->call, err, "a matrix is missing");
    if (!pw_matmul_geometry(a->dims, a->rank, b->dims, b->rank, trans_a, trans_b, g))
        return pw_call_error(ev->call, err, "the shapes of A and B do not fit");
    return PW_OK;
}

/* Integers of any width go through int64: products wrap alike. */
static pw_status integer_product(const struct pw_matmul_geometry *g, const struct pw_tensor *a,
                                 const struct pw_tensor *b, struct pw_tensor *y, struct pw_error *err)
{
    struct pw_tensor wide_a = {0}, wide_b = {0}, sums = {0};
    pw_status status = pw_tensor_convert(&wide_a, a, PW_DTYPE_INT64, err);

    if (status == PW_OK)
        status = pw_tensor_convert(&wide_b, b, PW_DTYPE_INT64, err);
    if (status == PW_OK)
        status = pw_tensor_init(&sums, PW_DTYPE_INT64, y->rank, y->dims, err);
    if (status != PW_OK)
        goto done;
    pw_matmul_product(g, PW_DTYPE_INT64, false, 1.0, wide_a.data, wide_b.data, 0.0, sums.data);
    for (int64_t i = 0; i < y->count; i++)
        pw_tensor_set_int(y, i, ((const int64_t *)sums.data)[i]);
done:
    pw_tensor_clear(&wide_a);
    pw_tensor_clear(&wide_b);
    pw_tensor_clear(&sums);
    return status;
}

pw_status pw_matmul_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1);
    struct pw_matmul_geometry g;
    struct pw_tensor *y = NULL;
    pw_status status = geometry(ev, a, b, false, false, &g, err);

    if (status == PW_OK)
        status = pw_matmul_output(ev, a->nominal, &y, err);
    if (status != PW_OK)
        return status;
    if (a->dtype != PW_DTYPE_FLOAT64 && a->dtype != PW_DTYPE_FLOAT32)
        return integer_product(&g, a, b, y, err);
    pw_matmul_product(&g, a->dtype, a->nominal == PW_DTYPE_FLOAT64 && ev->mode == PW_EVAL_GOLDEN, 1.0, a->data, b->data,
                      0.0, y->data);
    return PW_OK;
}

/* ---- Gemm ---- */

/* Y = C broadcast to [m, n]. */
static void spread(const struct pw_tensor *c, struct pw_tensor *y)
{
    int64_t m = y->dims[0], n = y->dims[1];
    int64_t col = c->rank >= 1 && c->dims[c->rank - 1] != 1;
    int64_t row = c->rank == 2 && c->dims[0] != 1 ? c->dims[1] : 0;
    size_t size = pw_dtype_bytes(y->dtype);

    for (int64_t i = 0; i < m; i++) {
        char *to = (char *)y->data + (size_t)(i * n) * size;
        const char *from = (const char *)c->data + (size_t)(i * row) * size;

        if (col) {
            memcpy(to, from, (size_t)n * size);
            continue;
        }
        for (int64_t j = 0; j < n; j++)
            memcpy(to + (size_t)j * size, from, size);
    }
}

static pw_status gemm_integers(const struct pw_matmul_geometry *g, double alpha, double beta, const struct pw_tensor *a,
                               const struct pw_tensor *b, bool has_c, struct pw_tensor *y, struct pw_error *err)
{
    struct pw_tensor c = {0};
    pw_status status = pw_tensor_copy(&c, y, err);

    if (status == PW_OK)
        status = integer_product(g, a, b, y, err);
    for (int64_t i = 0; i < y->count && status == PW_OK; i++) {
        int64_t ab = pw_tensor_get_int(y, i), add = has_c ? pw_tensor_get_int(&c, i) : 0;

        if (alpha == 1.0 && beta == 1.0)
            pw_tensor_set_int(y, i, (int64_t)((uint64_t)ab + (uint64_t)add));
        else
            pw_tensor_set(y, i, alpha * (double)ab + beta * (double)add);
    }
    pw_tensor_clear(&c);
    return status;
}

pw_status pw_matmul_gemm_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1), *c = pw_eval_in(ev, 2);
    double alpha = pw_call_float(ev->call, "alpha"), beta = pw_call_float(ev->call, "beta");
    struct pw_matmul_geometry g;
    struct pw_tensor *y = NULL;
    pw_status status;

    status = geometry(ev, a, b, pw_call_int(ev->call, "transA") != 0, pw_call_int(ev->call, "transB") != 0, &g, err);
    if (status == PW_OK)
        status = pw_matmul_output(ev, a->nominal, &y, err);
    if (status != PW_OK)
        return status;
    if (y->rank != 2 || y->dims[0] != g.m || y->dims[1] != g.n)
        return pw_call_error(ev->call, err, "Gemm takes matrices");
    if (c && y->count > 0) {
        for (int d = 0; d < c->rank; d++) {
            if (c->rank > 2 || (c->dims[d] != 1 && c->dims[d] != y->dims[2 - c->rank + d]))
                return pw_call_error(ev->call, err, "C does not broadcast to the product");
        }
        spread(c, y);
    }
    if (a->dtype != PW_DTYPE_FLOAT64 && a->dtype != PW_DTYPE_FLOAT32)
        return gemm_integers(&g, alpha, beta, a, b, c != NULL, y, err);
    pw_matmul_product(&g, a->dtype, a->nominal == PW_DTYPE_FLOAT64 && ev->mode == PW_EVAL_GOLDEN, alpha, a->data,
                      b->data, c ? beta : 0.0, y->data);
    return PW_OK;
}

/* ---- quantized products ---- */

/* Index of the parameter (zero point or scale) of element `flat` of a matrix: one for all, one a row of A or
 * a column of B, or a tensor that broadcasts. -1 when it fits in none of these ways. */
static int64_t parameter_index(const struct pw_tensor *parameter, const struct pw_tensor *x, bool rows, int64_t flat)
{
    int64_t cols = x->rank > 0 ? x->dims[x->rank - 1] : 1, step = 1, index = 0;

    if (parameter->count == 1)
        return 0;
    if (parameter->rank == 1 && rows && x->rank > 1)
        return parameter->dims[0] == x->dims[x->rank - 2] ? flat / cols % x->dims[x->rank - 2] : -1;
    if (parameter->rank > x->rank)
        return -1;
    for (int d = x->rank - 1, p = parameter->rank - 1; p >= 0; d--, p--) {
        if (parameter->dims[p] != 1 && parameter->dims[p] != x->dims[d])
            return -1;
        if (parameter->dims[p] != 1)
            index += flat % x->dims[d] * step;
        flat /= x->dims[d];
        step *= parameter->dims[p];
    }
    return index;
}

/* x minus its zero point as int64 (exact), into out of x's shape. */
static pw_status centred(const struct pw_eval *ev, const struct pw_tensor *x, const struct pw_tensor *zero, bool rows,
                         struct pw_tensor *out, struct pw_error *err)
{
    pw_status status = pw_tensor_init(out, PW_DTYPE_INT64, x->rank, x->dims, err);

    for (int64_t i = 0; i < x->count && status == PW_OK; i++) {
        int64_t at = zero ? parameter_index(zero, x, rows, i) : 0;

        if (at < 0)
            return pw_call_error(ev->call, err, "the zero point does not broadcast to its matrix");
        ((int64_t *)out->data)[i] = pw_tensor_get_int(x, i) - (zero ? pw_tensor_get_int(zero, at) : 0);
    }
    return status;
}

pw_status pw_matmul_integer_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1);
    struct pw_tensor wide_a = {0}, wide_b = {0}, *y = NULL;
    struct pw_matmul_geometry g;
    pw_status status = geometry(ev, a, b, false, false, &g, err);

    if (status == PW_OK)
        status = pw_matmul_output(ev, PW_DTYPE_INT32, &y, err);
    if (status == PW_OK)
        status = centred(ev, a, pw_eval_in(ev, 2), true, &wide_a, err);
    if (status == PW_OK)
        status = centred(ev, b, pw_eval_in(ev, 3), false, &wide_b, err);
    if (status == PW_OK)
        status = integer_product(&g, &wide_a, &wide_b, y, err);
    pw_tensor_clear(&wide_a);
    pw_tensor_clear(&wide_b);
    return status;
}

/* x minus its zero point in double: exact, as are the sums of products of 8-bit values. */
static pw_status centred_double(const struct pw_eval *ev, const struct pw_tensor *x, const struct pw_tensor *zero,
                                bool rows, struct pw_tensor *out, struct pw_error *err)
{
    pw_status status = pw_tensor_init(out, PW_DTYPE_FLOAT64, x->rank, x->dims, err);

    for (int64_t i = 0; i < x->count && status == PW_OK; i++) {
        int64_t at = parameter_index(zero, x, rows, i);

        if (at < 0)
            return pw_call_error(ev->call, err, "the zero point does not broadcast to its matrix");
        ((double *)out->data)[i] = pw_tensor_get(x, i) - pw_tensor_get(zero, at);
    }
    return status;
}

/* The nearest value of an 8-bit type to x + zero, saturated; ties to even. */
static double to_quantized(pw_dtype dtype, double x, double zero)
{
    static const pw_float8_kind kinds[] = {PW_FLOAT8_E4M3FN, PW_FLOAT8_E4M3FNUZ, PW_FLOAT8_E5M2, PW_FLOAT8_E5M2FNUZ};
    double low = dtype == PW_DTYPE_INT8 ? -128.0 : 0.0, high = dtype == PW_DTYPE_INT8 ? 127.0 : 255.0;

    if (dtype >= PW_DTYPE_FLOAT8E4M3FN && dtype <= PW_DTYPE_FLOAT8E5M2FNUZ) {
        pw_float8_kind kind = kinds[dtype - PW_DTYPE_FLOAT8E4M3FN];

        return pw_float8_to_double(kind, pw_float8_from_double(kind, x + zero, true));
    }
    x = nearbyint(x) + zero;
    return x != x || x < low ? low : x > high ? high : x;
}

/* y = quantize(sum * a_scale * b_scale / y_scale). */
static pw_status requantize(const struct pw_eval *ev, const double *sums, struct pw_tensor *y, struct pw_error *err)
{
    const struct pw_tensor *a_scale = pw_eval_in(ev, 1), *b_scale = pw_eval_in(ev, 4), *y_scale = pw_eval_in(ev, 6),
                           *y_zero = pw_eval_in(ev, 7);

    for (int64_t i = 0; i < y->count; i++) {
        int64_t sa = parameter_index(a_scale, y, true, i), sb = parameter_index(b_scale, y, false, i);
        int64_t sy = parameter_index(y_scale, y, true, i), zy = parameter_index(y_zero, y, true, i);
        double x;

        if (sa < 0 || sb < 0 || sy < 0 || zy < 0)
            return pw_call_error(ev->call, err, "a scale or zero point does not broadcast to the product");
        x = sums[i] * (pw_tensor_get(a_scale, sa) * pw_tensor_get(b_scale, sb)) / pw_tensor_get(y_scale, sy);
        pw_tensor_set(y, i, to_quantized(y->nominal, x, pw_tensor_get(y_zero, zy)));
    }
    return PW_OK;
}

pw_status pw_matmul_qlinear_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 3), *y_zero = pw_eval_in(ev, 7);
    struct pw_tensor wide_a = {0}, wide_b = {0}, sums = {0}, *y = NULL;
    struct pw_matmul_geometry g;
    pw_status status = geometry(ev, a, b, false, false, &g, err);

    for (int i = 0; i < 8 && status == PW_OK; i++) {
        if (!pw_eval_in(ev, i))
            status = pw_call_error(ev->call, err, "input %d is missing", i);
    }
    if (status == PW_OK)
        status = pw_matmul_output(ev, y_zero->nominal, &y, err);
    if (status == PW_OK)
        status = centred_double(ev, a, pw_eval_in(ev, 2), true, &wide_a, err);
    if (status == PW_OK)
        status = centred_double(ev, b, pw_eval_in(ev, 5), false, &wide_b, err);
    if (status == PW_OK)
        status = pw_tensor_init(&sums, PW_DTYPE_FLOAT64, y->rank, y->dims, err);
    if (status != PW_OK)
        goto done;
    pw_matmul_product(&g, PW_DTYPE_FLOAT64, false, 1.0, wide_a.data, wide_b.data, 0.0, sums.data);
    status = requantize(ev, sums.data, y, err);
done:
    pw_tensor_clear(&wide_a);
    pw_tensor_clear(&wide_b);
    pw_tensor_clear(&sums);
    return status;
}

/* ---- sums in a given order ---- */

struct ordered_job {
    const struct pw_order *order;
    const struct pw_matmul_geometry *g;
    const double *a, *b;
    struct pw_tensor *y; /* begins with C of a Gemm */
    double alpha, beta;  /* beta 0: there is no C */
};

static double finish_ordered(const struct ordered_job *o, double sum, double c)
{
    if (o->alpha != 1.0)
        sum = pw_order_multiply(o->order, o->alpha, sum);
    if (o->beta == 0.0)
        return sum;
    c = pw_order_round(o->order, c);
    return o->beta == 1.0 ? pw_order_add(o->order, sum, c) : pw_order_multiply_add(o->order, o->beta, c, sum);
}

static void rows_ordered(void *user, int64_t begin, int64_t end)
{
    const struct ordered_job *o = user;
    const struct pw_matmul_geometry *g = o->g;

    for (int64_t row = begin; row < end; row++) {
        int64_t oa, ob;

        pw_matmul_offsets(g, row / g->m, &oa, &ob);
        oa += row % g->m * g->a_row;
        for (int64_t n = 0; n < g->n; n++) {
            struct pw_order_sum sum = pw_order_begin(o->order, false);
            const double *a = o->a + oa, *b = o->b + ob + n * g->b_col;
            int64_t at = row * g->n + n;

            for (int64_t k = 0; k < g->k; k++)
                pw_order_term_product(&sum, a[k * g->a_col], b[k * g->b_row]);
            pw_tensor_set(o->y, at, finish_ordered(o, pw_order_end(&sum), pw_tensor_get(o->y, at)));
        }
    }
}

pw_status pw_matmul_ordered(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1), *c = pw_eval_in(ev, 2);
    bool gemm = !strcmp(ev->call->op->name, "Gemm");
    struct ordered_job o = {.order = ev->order, .alpha = 1.0};
    struct pw_matmul_geometry g;
    pw_status status =
        geometry(ev, a, b, gemm && pw_call_int(ev->call, "transA"), gemm && pw_call_int(ev->call, "transB"), &g, err);

    if (status == PW_OK && (a->dtype != PW_DTYPE_FLOAT64 || b->dtype != PW_DTYPE_FLOAT64))
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "integers have no order of rounding");
    if (status == PW_OK)
        status = pw_matmul_output(ev, a->nominal, &o.y, err);
    if (status != PW_OK || o.y->count == 0)
        return status;
    if (gemm) {
        o.alpha = pw_order_round(o.order, pw_call_float(ev->call, "alpha"));
        o.beta = c ? pw_order_round(o.order, pw_call_float(ev->call, "beta")) : 0.0;
        if (c)
            spread(c, o.y);
    }
    o.g = &g;
    o.a = a->data;
    o.b = b->data;
    pw_parallel_for(g.batch * g.m, 65536 / (g.n * g.k + 1) + 1, rows_ordered, &o);
    return PW_OK;
}
