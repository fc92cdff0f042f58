/*
 * References of ConvInteger and QLinearConv. The 8-bit values less their zero points are exact in
 * double, and so is every sum of fewer than 2^37 products: the product is dgemm, the result exact.
 */
#include <math.h>

#include "ops/conv/conv.h"

/* An 8-bit tensor as doubles less a zero point; several zero points go by the first axis. */
static pw_status centre(const struct pw_eval *ev, int input, int zero_input, struct pw_tensor *out,
                        struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);
    const struct pw_tensor *zero = zero_input < ev->input_count ? pw_eval_in(ev, zero_input) : NULL;
    int64_t rows = input == pw_conv_kind_of(ev->call)->w ? t->dims[0] : 1;
    if (zero && zero->count != 1 && (rows == 1 || zero->count != rows))
        return pw_call_error(ev->call, err, "a zero point has %lld values, expected 1%s", (long long)zero->count,
                             rows == 1 ? "" : " or one a feature map");
    pw_status status = pw_tensor_init(out, PW_DTYPE_FLOAT64, t->rank, t->dims, err);
    if (status != PW_OK || t->count == 0)
        return status;
    double *to = out->data;
    int64_t span = t->count / rows;
    for (int64_t i = 0; i < t->count; i++) {
        int64_t point = zero ? pw_tensor_get_int(zero, zero->count > 1 ? i / span : 0) : 0;
        to[i] = (double)(pw_tensor_get_int(t, i) - point);
    }
    return PW_OK;
}

/* The exact sums as doubles, [batch, maps, output…]. */
static pw_status sums(const struct pw_eval *ev, struct pw_conv_geometry *g, struct pw_tensor *acc, struct pw_error *err)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(ev->call);
    struct pw_tensor x = {0}, w = {0};
    int64_t dims[PW_MAX_RANK];
    pw_status status = pw_conv_geometry(ev->call, g, err);
    if (status == PW_OK)
        status = centre(ev, kind->x, kind->x_zero, &x, err);
    if (status == PW_OK)
        status = centre(ev, kind->w, kind->w_zero, &w, err);
    if (status != PW_OK)
        goto done;
    dims[0] = g->batch;
    dims[1] = g->maps;
    for (int i = 0; i < g->window.axes; i++)
        dims[2 + i] = g->window.out[i];
    status = pw_tensor_init(acc, PW_DTYPE_FLOAT64, g->window.axes + 2, dims, err);
    if (status == PW_OK)
        status = pw_conv_products(g, false, &x, &w, acc, err);
done:
    pw_tensor_clear(&x);
    pw_tensor_clear(&w);
    return status;
}

pw_status pw_conv_integer_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_conv_geometry g;
    struct pw_tensor acc = {0}, *y = NULL;
    pw_status status = sums(ev, &g, &acc, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_INT32, acc.rank, acc.dims, &y, err);
    for (int64_t i = 0; status == PW_OK && i < acc.count; i++)
        ((int32_t *)y->data)[i] = (int32_t)(uint32_t)(int64_t)((const double *)acc.data)[i]; /* wraps */
    pw_tensor_clear(&acc);
    return status;
}

/* One rounding to the nearest even step, then the zero point, then the range of the output. */
static int64_t requantize(double sum, double scale, int64_t zero, pw_dtype dtype)
{
    int64_t low = dtype == PW_DTYPE_INT8 ? INT8_MIN : 0, high = dtype == PW_DTYPE_INT8 ? INT8_MAX : UINT8_MAX;
    double step = nearbyint(sum * scale) + (double)zero;
    if (isnan(step))
        return zero;
    return step < (double)low ? low : step > (double)high ? high : (int64_t)step;
}

static pw_status check_single(const struct pw_eval *ev, int input, int64_t allowed, struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);
    if (t->count == 1 || t->count == allowed)
        return PW_OK;
    return pw_call_error(ev->call, err, "input '%s' has %lld values, expected 1%s", ev->call->op->inputs[input].name,
                         (long long)t->count, allowed == 1 ? "" : " or one a feature map");
}

pw_status pw_qlinear_conv_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_conv_geometry g;
    struct pw_tensor acc = {0}, *y = NULL;
    pw_status status = sums(ev, &g, &acc, err);
    const int single[] = {1, 6, 7};
    for (size_t i = 0; status == PW_OK && i < sizeof single / sizeof *single; i++)
        status = check_single(ev, single[i], 1, err);
    if (status == PW_OK)
        status = check_single(ev, 4, g.maps, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->in[7]->dtype, acc.rank, acc.dims, &y, err);
    if (status != PW_OK)
        goto done;
    const struct pw_tensor *w_scale = pw_eval_in(ev, 4);
    const struct pw_tensor *bias = ev->input_count > 8 ? pw_eval_in(ev, 8) : NULL;
    double x_scale = pw_tensor_get(pw_eval_in(ev, 1), 0), y_scale = pw_tensor_get(pw_eval_in(ev, 6), 0);
    int64_t zero = pw_tensor_get_int(pw_eval_in(ev, 7), 0);
    for (int64_t i = 0; i < acc.count; i++) {
        int64_t map = i / g.window.out_size % g.maps;
        double scale = x_scale * pw_tensor_get(w_scale, w_scale->count > 1 ? map : 0) / y_scale;
        double sum = ((const double *)acc.data)[i] + (bias ? (double)pw_tensor_get_int(bias, map) : 0.0);
        pw_tensor_set_int(y, i, requantize(sum, scale, zero, y->dtype));
    }
done:
    pw_tensor_clear(&acc);
    return status;
}
