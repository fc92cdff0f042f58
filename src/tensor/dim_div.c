/*
 * Division of dims, toward minus infinity.
 *
 * By a positive number n each coefficient c is split into n*q + r with 0 <= r < n, so that
 * floor(a/n) = sum(q) + floor(sum(r)/n), and the rest is reduced by its common divisor. Nested
 * divisions fold: floor((floor(x/m) + c)/n) = floor((x + c*m)/(m*n)). Thus the sizes that stacked
 * strided layers produce come out equal when they are equal. By anything else the quotient is a
 * polynomial when long division leaves no rest, an opaque atom otherwise.
 */
#include "tensor/dim_table.h"

/* b > 0 */
static int64_t floor_quotient(int64_t a, int64_t b)
{
    return a % b < 0 ? a / b - 1 : a / b;
}

static int64_t floor_rest(int64_t a, int64_t b)
{
    return a % b < 0 ? a % b + b : a % b;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* floor(rest/n) where all coefficients of rest are in [0, n). */
static pw_dim divide_rest(struct pw_dims *dims, const struct pw_dim_sum *rest, int64_t n)
{
    struct pw_dim_sum reduced = {.count = 0};
    const struct pw_dim_atom *inner = NULL;
    int64_t divisor = n, constant = 0, inner_n = 0, product, shift;
    pw_dim numerator;

    for (uint32_t i = 0; i < rest->count; i++) {
        if (rest->terms[i].monomial != 0)
            divisor = common_divisor(divisor, rest->terms[i].coefficient);
    }
    if (divisor == n) /* constants only, and below n */
        return 0;
    for (uint32_t i = 0; i < rest->count; i++) {
        int64_t c = rest->terms[i].coefficient / divisor; /* >= 0: plain division floors */

        pw_dim_sum_add(dims, &reduced, rest->terms[i].monomial, c);
        if (rest->terms[i].monomial == 0)
            constant = c;
    }
    n /= divisor;
    numerator = pw_dim_sum_intern(dims, &reduced);
    inner = pw_dim_atom_at(dims, pw_dims_sub(dims, numerator, constant));
    if (inner != NULL && inner->kind == PW_DIM_FLOORDIV && pw_dims_value(dims, inner->b, &inner_n) && inner_n > 0 &&
        !__builtin_mul_overflow(n, inner_n, &product) && !__builtin_mul_overflow(constant, inner_n, &shift))
        return pw_dims_floordiv(dims, pw_dims_add(dims, inner->a, shift), product);
    return pw_dim_atom_intern(dims, PW_DIM_FLOORDIV, NULL, false, numerator, n);
}

static pw_dim divide_by_number(struct pw_dims *dims, pw_dim a, int64_t n)
{
    struct pw_dim_sum sum, quotient = {.count = 0}, rest = {.count = 0};

    pw_dim_sum_load(dims, a, &sum);
    if (sum.failed)
        return PW_DIM_UNKNOWN;
    for (uint32_t i = 0; i < sum.count; i++) {
        struct pw_dim_term term = sum.terms[i];

        pw_dim_sum_add(dims, &quotient, term.monomial, floor_quotient(term.coefficient, n));
        pw_dim_sum_add(dims, &rest, term.monomial, floor_rest(term.coefficient, n));
    }
    return pw_dims_add(dims, pw_dim_sum_intern(dims, &quotient), divide_rest(dims, &rest, n));
}

/* Long division by leading terms; false unless it comes out even. */
static bool divide_exactly(struct pw_dims *dims, pw_dim a, pw_dim b, pw_dim *out)
{
    struct pw_dim_sum rest, divisor, quotient = {.count = 0};

    pw_dim_sum_load(dims, a, &rest);
    pw_dim_sum_load(dims, b, &divisor);
    if (rest.failed || divisor.failed || divisor.count == 0)
        return false;
    for (int step = 0; rest.count > 0; step++) {
        struct pw_dim_term lead = rest.terms[0], by = divisor.terms[0];
        uint32_t monomial;
        int64_t c;

        if (step == PW_DIM_MAX_TERMS || lead.coefficient == INT64_MIN || lead.coefficient % by.coefficient != 0 ||
            !pw_dim_monomial_divide(dims, lead.monomial, by.monomial, &monomial))
            return false;
        c = lead.coefficient / by.coefficient;
        pw_dim_sum_add(dims, &quotient, monomial, c);
        for (uint32_t i = 0; i < divisor.count; i++) {
            uint32_t product;
            int64_t scaled;

            if (__builtin_mul_overflow(divisor.terms[i].coefficient, c, &scaled) || scaled == INT64_MIN ||
                !pw_dim_monomial_multiply(dims, divisor.terms[i].monomial, monomial, &product))
                return false;
            pw_dim_sum_add(dims, &rest, product, -scaled);
        }
        if (rest.failed || quotient.failed)
            return false;
    }
    *out = pw_dim_sum_intern(dims, &quotient);
    return true;
}

pw_dim pw_dims_floordiv(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    int64_t n;
    pw_dim out;

    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN || b == 0)
        return PW_DIM_UNKNOWN;
    if (b > 0)
        return a >= 0 ? a / b : divide_by_number(dims, a, b);
    if (pw_dims_value(dims, b, &n))
        return n == INT64_MIN ? PW_DIM_UNKNOWN : pw_dims_floordiv(dims, pw_dims_sub(dims, 0, a), -n);
    if (divide_exactly(dims, a, b, &out))
        return out;
    return pw_dim_atom_intern(dims, PW_DIM_FLOORDIV, NULL, false, a, b);
}

pw_dim pw_dims_ceildiv(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    pw_dim out;
    int64_t n;

    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN || b == 0)
        return PW_DIM_UNKNOWN;
    if (pw_dims_value(dims, b, &n)) {
        if (n < 0) /* ceil(a/n) = -floor(a/-n) */
            return n == INT64_MIN ? PW_DIM_UNKNOWN : pw_dims_sub(dims, 0, pw_dims_floordiv(dims, a, -n));
        return pw_dims_floordiv(dims, pw_dims_add(dims, a, n - 1), b);
    }
    if (divide_exactly(dims, a, b, &out))
        return out;
    /* ceil(a/b) = -floor(-a/b) whatever the sign of b */
    return pw_dims_sub(dims, 0, pw_dims_floordiv(dims, pw_dims_sub(dims, 0, a), b));
}

pw_dim pw_dims_mod(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    struct pw_dim_sum sum, rest = {.count = 0};
    pw_dim numerator, exact;

    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN || b == 0)
        return PW_DIM_UNKNOWN;
    if (b < 0) {
        int64_t n;

        if (pw_dims_value(dims, b, &n)) /* a mod -n = -(-a mod n) */
            return n == INT64_MIN ? PW_DIM_UNKNOWN
                                  : pw_dims_sub(dims, 0, pw_dims_mod(dims, pw_dims_sub(dims, 0, a), -n));
        if (divide_exactly(dims, a, b, &exact))
            return 0;
        return pw_dim_atom_intern(dims, PW_DIM_MOD, NULL, false, a, b);
    }
    pw_dim_sum_load(dims, a, &sum);
    for (uint32_t i = 0; i < sum.count; i++) {
        pw_dim_sum_add(dims, &rest, sum.terms[i].monomial, floor_rest(sum.terms[i].coefficient, b));
    }
    numerator = pw_dim_sum_intern(dims, &rest);
    if (numerator == PW_DIM_UNKNOWN || (numerator >= 0 && numerator < b))
        return numerator;
    return pw_dim_atom_intern(dims, PW_DIM_MOD, NULL, false, numerator, b);
}
