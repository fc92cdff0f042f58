#include "ops/matmul/matmul_room.h"

#include <string.h>

#include "base/compiler.h"

/* ---- shapes ---- */

static pw_status dim_conflict(struct pw_call *call, const char *what, pw_dim a, pw_dim b, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status;

    pw_dims_print(call->dims, a, &text);
    pw_buf_puts(&text, " and ");
    pw_dims_print(call->dims, b, &text);
    status = pw_call_error(call, err, "%s differ: %s", what, pw_buf_text(&text));
    pw_buf_clear(&text);
    return status;
}

/* Two dims that must be the same: an error only when both are numbers. */
static pw_status same_dim(struct pw_call *call, const char *what, pw_dim a, pw_dim b, struct pw_error *err)
{
    if (a >= 0 && b >= 0 && a != b)
        return dim_conflict(call, what, a, b, err);
    return PW_OK;
}

pw_status pw_matmul_infer_shape(struct pw_call *call, int i, int j, bool trans_a, bool trans_b, pw_dtype dtype,
                                struct pw_error *err)
{
    const struct pw_info *a = call->in[i], *b = call->in[j];
    pw_dim dims[PW_MAX_RANK], k_a, k_b;
    pw_status status;
    int batch_a, batch_b, rank = 0;

    if (a->rank < 0 || b->rank < 0) {
        pw_call_output_unknown(call, 0, dtype);
        return PW_OK;
    }
    if (a->rank == 0 || b->rank == 0)
        return pw_call_error(call, err, "a matrix product of a scalar: ranks %d and %d", a->rank, b->rank);
    k_a = a->dims[a->rank - (trans_a && a->rank > 1 ? 2 : 1)];
    k_b = b->rank == 1 ? b->dims[0] : b->dims[b->rank - (trans_b ? 1 : 2)];
    status = same_dim(call, "the inner dimensions of A and B", k_a, k_b, err);
    if (status != PW_OK)
        return status;
    batch_a = a->rank > 2 ? a->rank - 2 : 0;
    batch_b = b->rank > 2 ? b->rank - 2 : 0;
    for (int most = batch_a > batch_b ? batch_a : batch_b; rank < most; rank++) {
        int at = rank - (most - batch_a), bt = rank - (most - batch_b);
        pw_dim x = at < 0 ? 1 : a->dims[at], y = bt < 0 ? 1 : b->dims[bt];

        if (!pw_dims_broadcast(call->dims, x, y, &dims[rank]))
            return dim_conflict(call, "batch dimensions that do not broadcast", x, y, err);
    }
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - (trans_a ? 1 : 2)];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - (trans_b ? 2 : 1)];
    pw_call_output(call, 0, dtype, rank, dims);
    return PW_OK;
}

static bool numeric(pw_dtype dtype)
{
    return dtype == PW_DTYPE_UNDEFINED || pw_dtype_is_float(dtype) || pw_dtype_is_integer(dtype);
}

/* The common dtype of two inputs; UNDEFINED when neither is known. */
static pw_status same_dtype(struct pw_call *call, int i, int j, pw_dtype *out, struct pw_error *err)
{
    pw_dtype a = call->in[i]->dtype, b = call->in[j]->dtype;

    if (!numeric(a) || !numeric(b))
        return pw_call_error(call, err, "a product of %s and %s: numbers expected", pw_dtype_name(a), pw_dtype_name(b));
    if (a != PW_DTYPE_UNDEFINED && b != PW_DTYPE_UNDEFINED && a != b)
        return pw_call_error(call, err, "A is %s but B is %s", pw_dtype_name(a), pw_dtype_name(b));
    *out = a != PW_DTYPE_UNDEFINED ? a : b;
    return PW_OK;
}

static pw_status infer_matmul(struct pw_call *call, struct pw_error *err)
{
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    pw_status status = same_dtype(call, 0, 1, &dtype, err);

    if (status != PW_OK)
        return status;
    return pw_matmul_infer_shape(call, 0, 1, false, false, dtype, err);
}

static pw_status infer_gemm(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *a = call->in[0], *b = call->in[1], *c;
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    pw_status status = same_dtype(call, 0, 1, &dtype, err);

    if (status != PW_OK)
        return status;
    if ((a->rank >= 0 && a->rank != 2) || (b->rank >= 0 && b->rank != 2))
        return pw_call_error(call, err, "Gemm takes matrices, but the ranks are %d and %d", a->rank, b->rank);
    status = pw_matmul_infer_shape(call, 0, 1, pw_call_int(call, "transA") != 0, pw_call_int(call, "transB") != 0,
                                   dtype, err);
    if (status != PW_OK || !pw_call_input(call, 2))
        return status;
    c = call->in[2];
    if (c->dtype != PW_DTYPE_UNDEFINED && dtype != PW_DTYPE_UNDEFINED && c->dtype != dtype)
        return pw_call_error(call, err, "C is %s but A is %s", pw_dtype_name(c->dtype), pw_dtype_name(dtype));
    if (c->rank > 2)
        return pw_call_error(call, err, "C has rank %d, at most 2 expected", c->rank);
    for (int d = 0; d < c->rank && call->out[0].rank == 2; d++) {
        pw_dim want = call->out[0].dims[2 - c->rank + d], have = c->dims[d];

        if (have != 1 && have >= 0 && want >= 0 && have != want)
            return dim_conflict(call, "C and the product", have, want, err);
    }
    return PW_OK;
}

static pw_status infer_integer(struct pw_call *call, struct pw_error *err)
{
    for (int i = 0; i < 4; i++) {
        pw_dtype dtype = pw_call_input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

        if (dtype != PW_DTYPE_UNDEFINED && dtype != PW_DTYPE_INT8 && dtype != PW_DTYPE_UINT8)
            return pw_call_error(call, err, "input %d is %s, int8 or uint8 expected", i, pw_dtype_name(dtype));
    }
    return pw_matmul_infer_shape(call, 0, 1, false, false, PW_DTYPE_INT32, err);
}

static bool quantized(pw_dtype dtype)
{
    return dtype == PW_DTYPE_INT8 || dtype == PW_DTYPE_UINT8 ||
           (dtype >= PW_DTYPE_FLOAT8E4M3FN && dtype <= PW_DTYPE_FLOAT8E5M2FNUZ);
}

static pw_status infer_qlinear(struct pw_call *call, struct pw_error *err)
{
    static const int values[] = {0, 2, 3, 5, 7}, scales[] = {1, 4, 6};

    for (size_t i = 0; i < PW_COUNT_OF(values); i++) {
        pw_dtype dtype = call->in[values[i]]->dtype;

        if (dtype != PW_DTYPE_UNDEFINED && !quantized(dtype))
            return pw_call_error(call, err, "input %d is %s, an 8-bit type expected", values[i], pw_dtype_name(dtype));
    }
    for (size_t i = 0; i < PW_COUNT_OF(scales); i++) {
        pw_dtype dtype = call->in[scales[i]]->dtype;

        if (dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(dtype))
            return pw_call_error(call, err, "scale %d is %s, a float type expected", scales[i], pw_dtype_name(dtype));
    }
    return pw_matmul_infer_shape(call, 0, 3, false, false, call->in[7]->dtype, err);
}

/* ---- cost and accuracy ---- */

/* Length of the sums; UNKNOWN when A's rank is. */
static pw_dim inner(const struct pw_call *call)
{
    const struct pw_info *a = call->in[0];
    bool trans = false;

    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++)
        trans = trans || (strcmp(def->name, "transA") == 0 && pw_call_int(call, "transA") != 0);
    if (a->rank < 1)
        return PW_DIM_UNKNOWN;
    return a->dims[a->rank - (trans && a->rank > 1 ? 2 : 1)];
}

static pw_status cost_product(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    pw_dim outputs = pw_call_elements(call, &call->out[0]);

    (void)err;
    cost->flops = pw_dims_mul(call->dims, pw_dims_mul(call->dims, outputs, inner(call)), 2);
    if (strcmp(call->op->name, "Gemm") == 0) { /* alpha*AB + beta*C where they are not trivial */
        int64_t extra = pw_call_float(call, "alpha") != 1.0f;

        if (pw_call_input(call, 2))
            extra += pw_call_float(call, "beta") != 1.0f ? 2 : 1;
        cost->flops = pw_dims_add(call->dims, cost->flops, pw_dims_mul(call->dims, outputs, extra));
    }
    return PW_OK;
}

static void accuracy_product(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    pw_dim k = inner(call);
    int64_t length = 1;

    accuracy->length = pw_dims_value(call->dims, k, &length) && length > 0 ? length : 1;
    accuracy->ulp = 1.0;
    accuracy->amplification = 1.0;
    accuracy->exact = !pw_dtype_is_float(call->out[0].dtype);
    accuracy->why = accuracy->exact ? "integers" : "a sum of K products, each rounded in the accumulator";
    if (accuracy->exact) {
        accuracy->sensitivity = PW_SENSITIVITY_LOW;
        accuracy->reason = "integer arithmetic";
    } else if (pw_dtype_bytes(call->out[0].dtype) < 4) {
        accuracy->sensitivity = length >= 1024 ? PW_SENSITIVITY_HIGH : PW_SENSITIVITY_MEDIUM;
        accuracy->reason = "long low-precision accumulation, unless the accumulator is float32";
    } else {
        accuracy->sensitivity = length >= 4096 ? PW_SENSITIVITY_MEDIUM : PW_SENSITIVITY_LOW;
        accuracy->reason = "error grows with the length of the sums";
    }
}

/* QLinearMatMul may be one step off at a rounding tie: integers that are not bitwise. */
static void accuracy_qlinear(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    accuracy_product(call, accuracy);
    accuracy->sensitivity = PW_SENSITIVITY_MEDIUM;
    accuracy->reason = "requantization rounds; values near a tie may move one step";
}

/* ---- binding ---- */

void pw_matmul_dense(const int64_t *dims, int rank, int64_t *strides)
{
    int64_t step = 1;

    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = step;
        step *= dims[d];
    }
}

bool pw_matmul_strided(const struct pw_matmul_operand *a, const struct pw_matmul_operand *b,
                       struct pw_matmul_geometry *g)
{
    int batch_a = a->rank > 2 ? a->rank - 2 : 0, batch_b = b->rank > 2 ? b->rank - 2 : 0;
    /* Dims along m and k, k and n; -1 where a vector has none. */
    int am = a->rank > 1 ? a->rank - (a->transposed ? 1 : 2) : -1;
    int ak = a->rank > 1 ? a->rank - (a->transposed ? 2 : 1) : 0;
    int bk = b->rank > 1 ? b->rank - (b->transposed ? 1 : 2) : 0;
    int bn = b->rank > 1 ? b->rank - (b->transposed ? 2 : 1) : -1;

    memset(g, 0, sizeof *g);
    if (a->rank < 1 || b->rank < 1 || a->dims[ak] != b->dims[bk])
        return false;
    g->k = a->dims[ak];
    g->m = am < 0 ? 1 : a->dims[am];
    g->n = bn < 0 ? 1 : b->dims[bn];
    g->a_row = am < 0 ? g->k : a->strides[am];
    g->a_col = a->strides[ak];
    g->b_row = b->strides[bk];
    g->b_col = bn < 0 ? 1 : b->strides[bn];
    g->rank = batch_a > batch_b ? batch_a : batch_b;
    g->batch = g->b_batches = 1;
    for (int d = 0; d < g->rank; d++) {
        int at = d - (g->rank - batch_a), bt = d - (g->rank - batch_b);
        int64_t x = at < 0 ? 1 : a->dims[at], y = bt < 0 ? 1 : b->dims[bt];

        if (x != y && x != 1 && y != 1)
            return false;
        g->dims[d] = x == 1 ? y : x;
        g->a_strides[d] = x == 1 ? 0 : a->strides[at];
        g->b_strides[d] = y == 1 ? 0 : b->strides[bt];
        g->batch *= g->dims[d];
        g->b_batches *= y;
    }
    return true;
}

bool pw_matmul_geometry(const int64_t *a_dims, int a_rank, const int64_t *b_dims, int b_rank, bool trans_a,
                        bool trans_b, struct pw_matmul_geometry *g)
{
    int64_t a_strides[PW_MAX_RANK], b_strides[PW_MAX_RANK];
    const struct pw_matmul_operand a = {a_dims, a_strides, a_rank, trans_a}, b = {b_dims, b_strides, b_rank, trans_b};

    pw_matmul_dense(a_dims, a_rank, a_strides);
    pw_matmul_dense(b_dims, b_rank, b_strides);
    if (!pw_matmul_strided(&a, &b, g))
        return false;
    if (g->b_batches == 1 && g->rank > 0 && !trans_a) { /* one B for all: A's batch continues its rows */
        g->m = g->batch * g->m;
        g->batch = 1;
        g->rank = 0;
    }
    return true;
}

void pw_matmul_offsets(const struct pw_matmul_geometry *g, int64_t index, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int d = g->rank - 1; d >= 0; d--) {
        int64_t at = index % g->dims[d];

        index /= g->dims[d];
        *a += at * g->a_strides[d];
        *b += at * g->b_strides[d];
    }
}

bool pw_matmul_call_geometry(const struct pw_call *call, int i, int j, bool trans_a, bool trans_b,
                             struct pw_matmul_geometry *out)
{
    const struct pw_info *a = call->in[i], *b = call->in[j];

    return a->rank >= 0 && b->rank >= 0 &&
           pw_matmul_geometry(a->dims, a->rank, b->dims, b->rank, trans_a, trans_b, out);
}

pw_status pw_matmul_bind_geometry(const struct pw_matmul_geometry *g, struct pw_bindings *b, struct pw_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } ints[] = {
        {"M", g->m},         {"N", g->n},         {"K", g->k},         {"batch", g->batch}, {"batch_rank", g->rank},
        {"a_row", g->a_row}, {"a_col", g->a_col}, {"b_row", g->b_row}, {"b_col", g->b_col}, {"b_batches", g->b_batches},
    };
    pw_status status = PW_OK;

    for (size_t i = 0; i < PW_COUNT_OF(ints) && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "batch_dims", g->dims, (size_t)g->rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "a_strides", g->a_strides, (size_t)g->rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "b_strides", g->b_strides, (size_t)g->rank, err);
    return status;
}

/* The accumulator's type by the inputs' dtype, and what the kernels need to know of it. */
pw_status pw_matmul_bind_accumulator(pw_dtype dtype, struct pw_bindings *b, struct pw_error *err)
{
    static const struct {
        pw_dtype dtype;
        const char *word;
        int bytes;
        bool staged; /* storage differs from the accumulator */
    } table[] = {
        {PW_DTYPE_FLOAT32, "float", 4, false}, {PW_DTYPE_FLOAT16, "float", 4, true},
        {PW_DTYPE_BFLOAT16, "float", 4, true}, {PW_DTYPE_FLOAT64, "double", 8, false},
        {PW_DTYPE_INT32, "int", 4, false},     {PW_DTYPE_UINT32, "uint", 4, false},
        {PW_DTYPE_INT64, "long", 8, false},    {PW_DTYPE_UINT64, "ulong", 8, false},
        {PW_DTYPE_INT8, "int", 4, true},       {PW_DTYPE_UINT8, "int", 4, true},
        {PW_DTYPE_INT16, "int", 4, true},      {PW_DTYPE_UINT16, "int", 4, true},
    };
    pw_status status;

    for (size_t i = 0; i < PW_COUNT_OF(table); i++) {
        if (table[i].dtype != dtype)
            continue;
        status = pw_bind_word(b, "acc", table[i].word, err);
        if (status == PW_OK)
            status = pw_bind_int(b, "acc_bytes", table[i].bytes, err);
        if (status == PW_OK)
            status = pw_bind_int(b, "acc_float", pw_dtype_is_float(dtype), err);
        return status == PW_OK ? pw_bind_int(b, "a_stored", table[i].staged, err) : status;
    }
    return pw_error_set(err, PW_ERR_UNSUPPORTED, "no kernel accumulates products of %s", pw_dtype_name(dtype));
}

static pw_status bind_product(const struct pw_call *call, int i, int j, bool trans_a, bool trans_b,
                              struct pw_bindings *b, struct pw_error *err)
{
    struct pw_matmul_geometry g;
    pw_status status;

    if (!pw_matmul_call_geometry(call, i, j, trans_a, trans_b, &g))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    status = pw_matmul_bind_geometry(&g, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "dense", 1, err);
    if (status == PW_OK)
        status = pw_matmul_bind_accumulator(call->in[i]->dtype, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "b_constant", call->in[j]->constant != NULL, err);
    return status;
}

static pw_status bind_matmul(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    pw_status status = bind_product(call, 0, 1, false, false, b, err);

    return status == PW_OK ? pw_bind_float(b, "alpha", 1.0, err) : status; /* FusedMatMul's kernels serve too */
}

static bool uses_blas(const struct pw_call *call)
{
    return pw_dtype_is_float(call->in[0]->dtype); /* integers go through loops */
}

static pw_status bind_gemm(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *c = pw_call_input(call, 2) ? call->in[2] : NULL;
    int64_t row = 0, col = 0;
    pw_status status;

    if (c && c->rank >= 1 && c->dims[c->rank - 1] != 1)
        col = 1;
    if (c && c->rank == 2 && c->dims[0] != 1)
        row = c->dims[1];
    status = bind_product(call, 0, 1, pw_call_int(call, "transA") != 0, pw_call_int(call, "transB") != 0, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "c_row", row, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "c_col", col, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "unit_alpha", pw_call_float(call, "alpha") == 1.0f, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "unit_beta", pw_call_float(call, "beta") == 1.0f, err);
    if (status == PW_OK)
        status = pw_bind_float(b, "alpha", pw_call_float(call, "alpha"), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "beta", pw_call_float(call, "beta"), err);
    return status;
}

static int64_t info_size(const struct pw_info *info)
{
    int64_t n = 1;

    for (int d = 0; d < info->rank; d++)
        n *= info->dims[d];
    return n;
}

/* Zero points: one for the whole matrix, one for each row of A, or one for each column of B. */
static pw_status bind_zero_points(const struct pw_call *call, int a_zero, int b_zero, struct pw_bindings *b,
                                  struct pw_error *err)
{
    const struct pw_info *a = pw_call_input(call, a_zero) ? call->in[a_zero] : NULL;
    const struct pw_info *z = pw_call_input(call, b_zero) ? call->in[b_zero] : NULL;
    bool per_row = false, per_col = false;
    pw_status status;

    if (a) {
        if (a->rank > 1)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "the kernels take zero points of rank 0 or 1");
        per_row = a->rank == 1 && a->dims[0] != 1;
    }
    if (z) {
        if (z->rank > 1)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "the kernels take zero points of rank 0 or 1");
        per_col = z->rank == 1 && z->dims[0] != 1;
    }
    status = pw_bind_int(b, "a_zeros", per_row ? a->dims[0] : 1, err);
    return status == PW_OK ? pw_bind_int(b, "bz_step", per_col, err) : status;
}

static pw_status bind_integer(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    pw_status status = bind_product(call, 0, 1, false, false, b, err);

    return status == PW_OK ? bind_zero_points(call, 2, 3, b, err) : status;
}

static pw_status bind_qlinear(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *a_scale = call->in[1], *b_scale = call->in[4];
    pw_status status = bind_product(call, 0, 3, false, false, b, err);

    for (int i = 1; i < 8 && status == PW_OK; i++) {
        int64_t size = i == 3 ? 1 : info_size(call->in[i]);

        if (i != 3 && (call->in[i]->rank > 1 || (i >= 6 && size != 1)))
            status = pw_error_set(err, PW_ERR_UNSUPPORTED,
                                  "the kernels take scales and zero points of rank 0 or 1, one for the output");
    }
    if (status == PW_OK)
        status = bind_zero_points(call, 2, 5, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "a_scales", info_size(a_scale), err);
    if (status == PW_OK)
        status = pw_bind_int(b, "bs_step", info_size(b_scale) != 1, err);
    return status == PW_OK ? pw_bind_int(b, "out_signed", call->out[0].dtype == PW_DTYPE_INT8, err) : status;
}

/* ---- inputs of generated cases ---- */

static void fill_qlinear(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 1 || input == 4) {
        fill->low = 1e-3;
        fill->high = 2e-3;
    } else if (input == 6) { /* products of 8-bit values reach 2^14 * K: keep the result inside the range */
        fill->low = 5e-3;
        fill->high = 1e-2;
    }
}

static void fill_dynamic(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 2) {
        fill->low = 1e-3;
        fill->high = 2e-2;
    }
}

/* ---- tables ---- */

static const struct pw_formal product_in[] = {{"A", "T", 0}, {"B", "T", 0}, {0}};
static const struct pw_formal product_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal gemm_in[] = {{"A", "T", 0}, {"B", "T", 0}, {"C", "T", 0}, {0}};
static const struct pw_formal gemm11_in[] = {{"A", "T", 0}, {"B", "T", 0}, {"C", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal integer_in[] = {{"A", "T1", 0},
                                              {"B", "T2", 0},
                                              {"a_zero_point", "T1", PW_FORMAL_OPTIONAL},
                                              {"b_zero_point", "T2", PW_FORMAL_OPTIONAL},
                                              {0}};
static const struct pw_formal integer_out[] = {{"Y", "T3", 0}, {0}};
static const struct pw_formal qlinear_in[] = {
    {"a", "T1", 0},       {"a_scale", "TS", 0},      {"a_zero_point", "T1", 0},
    {"b", "T2", 0},       {"b_scale", "TS", 0},      {"b_zero_point", "T2", 0},
    {"y_scale", "TS", 0}, {"y_zero_point", "T3", 0}, {0}};
static const struct pw_formal qlinear_out[] = {{"y", "T3", 0}, {0}};
static const struct pw_formal einsum_in[] = {{"Inputs", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal einsum_out[] = {{"Output", "T", 0}, {0}};

static const struct pw_attr_def gemm1_attrs[] = {{.name = "alpha", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                 {.name = "beta", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                 {.name = "transA", .type = PW_ATTR_INT},
                                                 {.name = "transB", .type = PW_ATTR_INT},
                                                 {.name = "broadcast", .type = PW_ATTR_INT},
                                                 {0}};
static const struct pw_attr_def gemm_attrs[] = {{.name = "alpha", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                {.name = "beta", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                {.name = "transA", .type = PW_ATTR_INT},
                                                {.name = "transB", .type = PW_ATTR_INT},
                                                {0}};
static const struct pw_attr_def einsum_attrs[] = {{.name = "equation", .type = PW_ATTR_STRING, .required = true}, {0}};

/* ---- com.microsoft ---- */

static const struct pw_formal nbits_in[] = {{"A", "T1", 0},
                                            {"B", "T2", 0},
                                            {"scales", "T1", 0},
                                            {"zero_points", "T3", PW_FORMAL_OPTIONAL},
                                            {"g_idx", "T4", PW_FORMAL_OPTIONAL},
                                            {"bias", "T1", PW_FORMAL_OPTIONAL},
                                            {0}};
static const struct pw_formal nbits_out[] = {{"Y", "T1", 0}, {0}};
static const struct pw_formal dynamic_in[] = {{"A", "T1", 0},
                                              {"B", "T2", 0},
                                              {"b_scale", "T1", 0},
                                              {"b_zero_point", "T2", PW_FORMAL_OPTIONAL},
                                              {"bias", "T1", PW_FORMAL_OPTIONAL},
                                              {0}};
static const struct pw_formal dynamic_out[] = {{"Y", "T1", 0}, {0}};
static const struct pw_attr_def fused_attrs[] = {{.name = "alpha", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                 {.name = "transA", .type = PW_ATTR_INT},
                                                 {.name = "transB", .type = PW_ATTR_INT},
                                                 {.name = "transBatchA", .type = PW_ATTR_INT},
                                                 {.name = "transBatchB", .type = PW_ATTR_INT},
                                                 {0}};
static const struct pw_attr_def transpose_attrs[] = {{.name = "alpha", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                     {.name = "transA", .type = PW_ATTR_INT},
                                                     {.name = "transB", .type = PW_ATTR_INT},
                                                     {0}};
static const struct pw_attr_def nbits_attrs[] = {{.name = "K", .type = PW_ATTR_INT, .required = true},
                                                 {.name = "N", .type = PW_ATTR_INT, .required = true},
                                                 {.name = "bits", .type = PW_ATTR_INT, .i = 4},
                                                 {.name = "block_size", .type = PW_ATTR_INT, .required = true},
                                                 {.name = "accuracy_level", .type = PW_ATTR_INT},
                                                 {.name = "weight_prepacked", .type = PW_ATTR_INT},
                                                 {0}};

#define MATMUL(version)                                                                                                \
    {                                                                                                                  \
        .domain = "", .name = "MatMul", .since = version, .category = PW_CATEGORY_MATMUL, .inputs = product_in,        \
        .outputs = product_out, .infer = infer_matmul, .cost = cost_product, .accuracy = accuracy_product,             \
        .ordered = pw_matmul_ordered, .golden = pw_matmul_golden, .fast = pw_matmul_golden, .fast_is_blas = true,      \
        .fast_uses_blas = uses_blas, .bind = bind_matmul                                                               \
    }
#define GEMM(version, attributes, formals)                                                                             \
    {                                                                                                                  \
        .domain = "", .name = "Gemm", .since = version, .category = PW_CATEGORY_MATMUL, .attrs = attributes,           \
        .inputs = formals, .outputs = product_out, .infer = infer_gemm, .cost = cost_product,                          \
        .accuracy = accuracy_product, .ordered = pw_matmul_ordered, .golden = pw_matmul_gemm_golden,                   \
        .fast = pw_matmul_gemm_golden, .fast_is_blas = true, .fast_uses_blas = uses_blas, .bind = bind_gemm            \
    }
#define QLINEAR(version)                                                                                               \
    {                                                                                                                  \
        .domain = "", .name = "QLinearMatMul", .since = version, .category = PW_CATEGORY_QUANTIZATION,                 \
        .inputs = qlinear_in, .outputs = qlinear_out, .infer = infer_qlinear, .cost = cost_product,                    \
        .accuracy = accuracy_qlinear, .golden = pw_matmul_qlinear_golden, .fill = fill_qlinear, .bind = bind_qlinear   \
    }
#define MICROSOFT(op_name, op_category, attributes, in, out, op_cost, callbacks, ...)                                  \
    {                                                                                                                  \
        .domain = "com.microsoft", .name = op_name, .since = 1, .category = op_category, .attrs = attributes,          \
        .inputs = in, .outputs = out, .infer = pw_matmul_##callbacks##_infer, .cost = op_cost,                         \
        .accuracy = accuracy_product, .golden = pw_matmul_##callbacks##_golden, .bind = pw_matmul_##callbacks##_bind,  \
        __VA_ARGS__                                                                                                    \
    }
#define EINSUM(version)                                                                                                \
    {                                                                                                                  \
        .domain = "", .name = "Einsum", .since = version, .category = PW_CATEGORY_MATMUL, .attrs = einsum_attrs,       \
        .inputs = einsum_in, .outputs = einsum_out, .infer = pw_matmul_einsum_infer, .cost = pw_matmul_einsum_cost,    \
        .accuracy = pw_matmul_einsum_accuracy, .golden = pw_matmul_einsum_golden, .fast = pw_matmul_einsum_golden,     \
        .fast_is_blas = true, .fast_uses_blas = uses_blas, .bind = pw_matmul_einsum_bind                               \
    }

const struct pw_op pw_matmul_ops[] = {
    MATMUL(1),
    MATMUL(9),
    MATMUL(13),
    GEMM(1, gemm1_attrs, gemm_in),
    GEMM(6, gemm1_attrs, gemm_in),
    GEMM(7, gemm_attrs, gemm_in),
    GEMM(9, gemm_attrs, gemm_in),
    GEMM(11, gemm_attrs, gemm11_in),
    GEMM(13, gemm_attrs, gemm11_in),
    {
        .domain = "",
        .name = "MatMulInteger",
        .since = 10,
        .category = PW_CATEGORY_QUANTIZATION,
        .inputs = integer_in,
        .outputs = integer_out,
        .infer = infer_integer,
        .cost = cost_product,
        .accuracy = accuracy_product,
        .golden = pw_matmul_integer_golden,
        .bind = bind_integer,
    },
    QLINEAR(10),
    QLINEAR(21),
    EINSUM(12),
    EINSUM(28),
    MICROSOFT("FusedMatMul", PW_CATEGORY_MATMUL, fused_attrs, product_in, product_out, cost_product, fused,
              .fast = pw_matmul_fused_golden, .fast_is_blas = true),
    MICROSOFT("TransposeMatMul", PW_CATEGORY_MATMUL, transpose_attrs, product_in, product_out, cost_product, fused,
              .fast = pw_matmul_fused_golden, .fast_is_blas = true),
    MICROSOFT("MatMulNBits", PW_CATEGORY_QUANTIZATION, nbits_attrs, nbits_in, nbits_out, cost_product, nbits, ),
    MICROSOFT("DynamicQuantizeMatMul", PW_CATEGORY_QUANTIZATION, NULL, dynamic_in, dynamic_out, cost_product, dynamic,
              .fill = fill_dynamic),
    {0},
};
