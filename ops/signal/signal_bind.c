/*
 * What the signal kernels are told. The roots of unity of a transform come from here, computed in long
 * double: as the bits of floats, or of doubles in two ints, low first.
 */
#include <math.h>
#include <string.h>

#include "ops/signal/signal.h"

#define MAX_LENGTH ((int64_t)1 << 20) /* of a transform whose tables are bound */

static size_t put_bits(int64_t *dst, long double value, bool wide)
{
    int32_t halves[2];
    if (wide) {
        double v = (double)value;
        memcpy(halves, &v, sizeof halves);
        dst[0] = halves[0];
        dst[1] = halves[1];
        return 2;
    }
    float v = (float)value;
    memcpy(halves, &v, sizeof v);
    dst[0] = halves[0];
    return 1;
}

static pw_status bind_roots(const struct pw_call *call, struct pw_bindings *b, const struct pw_transform *t,
                            const char *name, bool wide, struct pw_error *err)
{
    const long double turn = 2 * 3.14159265358979323846264338327950288L;
    size_t count = (size_t)t->length * (wide ? 4 : 2), at = 0;
    int64_t *roots = pw_arena_alloc(call->arena, count, sizeof *roots);
    if (!roots)
        return pw_error_memory(err, count * sizeof *roots);
    for (int64_t k = 0; k < t->length; k++) {
        long double angle = turn * (long double)k / (long double)t->length;
        at += put_bits(roots + at, cosl(angle), wide);
        at += put_bits(roots + at, t->inverse ? sinl(angle) : -sinl(angle), wide);
    }
    return pw_bind_ints(b, name, roots, count, err);
}

/* Factors of the length, twos in pairs; a length of 1 has the factor 1, so that the array is not empty. */
static size_t factorise(int64_t n, int64_t *factors)
{
    size_t count = 0;
    for (; n % 4 == 0; n /= 4)
        factors[count++] = 4;
    for (int64_t p = 2; n > 1; p++) {
        if (p * p > n)
            p = n;
        for (; n % p == 0; n /= p)
            factors[count++] = p;
    }
    if (count == 0)
        factors[count++] = 1;
    return count;
}

pw_status pw_transform_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_transform t;
    int64_t factors[64] = {1};
    size_t factor_count = 1;
    bool dft = strcmp(call->op->name, "DFT") == 0;
    pw_status status = dft ? pw_dft_transform(call, &t, err) : pw_stft_transform(call, &t, err);
    if (status != PW_OK)
        return status;
    bool fits = t.length <= MAX_LENGTH;
    if (fits)
        factor_count = factorise(t.length, factors);
    const struct pw_named_int numbers[] = {
        {"tables_fit", fits},
        {"count", t.count},
        {"inner_count", t.inner_count},
        {"length", t.length},
        {"in_outer", t.in_outer},
        {"in_inner", t.in_inner},
        {"in_step", t.in_step},
        {"in_length", t.in_length},
        {"in_parts", t.in_parts},
        {"out_outer", t.out_outer},
        {"out_inner", t.out_inner},
        {"out_step", t.out_step},
        {"bins", t.bins},
        {"out_parts", t.out_parts},
        {"backward", t.inverse},
        {"hermitian", t.hermitian},
        {"factor_count", (int64_t)factor_count},
    };
    status = pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "factors", factors, factor_count, err);
    if (status == PW_OK && fits)
        status = bind_roots(call, b, &t, "roots", false, err);
    return status == PW_OK && fits ? bind_roots(call, b, &t, "roots_wide", true, err) : status;
}

pw_status pw_signal_window_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const pw_window_kind *kind = call->op->data;
    int64_t size = 0;
    bool known = false;
    pw_status status = pw_signal_integer(call, 0, &size, &known, err);
    if (status == PW_OK && !known)
        status = pw_call_error(call, err, "the window's size is not known");
    const struct pw_named_int numbers[] = {
        {"count", size}, {"turns", pw_call_int(call, "periodic") != 0 ? size : size - 1}, {"kind", *kind}};
    return status == PW_OK ? pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err) : status;
}

pw_status pw_mel_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_mel mel;
    pw_status status = pw_mel_edges(call, &mel, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < mel.bands + 2; i++) /* bins beyond the spectrum are all alike */
        mel.edges[i] = mel.edges[i] < INT32_MAX ? mel.edges[i] : INT32_MAX;
    const struct pw_named_int numbers[] = {{"bands", mel.bands}, {"bins", mel.bins}};
    status = pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
    return status == PW_OK ? pw_bind_ints(b, "edges", mel.edges, (size_t)mel.bands + 2, err) : status;
}
