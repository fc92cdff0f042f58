/* Arithmetic on dims; division is in dim_div.c, interning in dim_table.c. */
#include "tensor/dim.h"

#include <string.h>

#include "tensor/dim_table.h"

pw_dim pw_dims_int(struct pw_dims *dims, int64_t value)
{
    struct pw_dim_sum sum = {.count = 1, .terms = {{0, value}}};

    return value >= 0 ? value : pw_dim_sum_intern(dims, &sum);
}

pw_dim pw_dims_symbol(struct pw_dims *dims, const char *name)
{
    return pw_dim_atom_intern(dims, PW_DIM_SYMBOL, name, false, 0, 0);
}

static pw_dim make_fresh(struct pw_dims *dims, const char *hint, bool is_signed)
{
    struct pw_buf name = {0};
    pw_dim out = PW_DIM_UNKNOWN;

    do {
        pw_buf_clear(&name);
        pw_buf_printf(&name, "%s#%llu", hint, (unsigned long long)++dims->fresh);
    } while (!name.failed && pw_dim_symbol_known(dims, pw_buf_text(&name)));
    if (!name.failed)
        out = pw_dim_atom_intern(dims, PW_DIM_SYMBOL, pw_buf_text(&name), is_signed, 0, 0);
    pw_buf_clear(&name);
    return out;
}

pw_dim pw_dims_fresh(struct pw_dims *dims, const char *hint)
{
    return make_fresh(dims, hint, false);
}

pw_dim pw_dims_fresh_value(struct pw_dims *dims, const char *hint)
{
    return make_fresh(dims, hint, true);
}

bool pw_dims_value(const struct pw_dims *dims, pw_dim dim, int64_t *value)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);

    if (dim >= 0) {
        *value = dim;
        return true;
    }
    if (poly == NULL || poly->count != 1 || poly->terms[0].monomial != 0)
        return false;
    *value = poly->terms[0].coefficient;
    return true;
}

/* a + factor * b */
static pw_dim add_scaled(struct pw_dims *dims, pw_dim a, pw_dim b, int64_t factor)
{
    struct pw_dim_sum sum, other;

    pw_dim_sum_load(dims, a, &sum);
    pw_dim_sum_load(dims, b, &other);
    if (other.failed)
        return PW_DIM_UNKNOWN;
    for (uint32_t i = 0; i < other.count && !sum.failed; i++) {
        int64_t coefficient;

        if (__builtin_mul_overflow(other.terms[i].coefficient, factor, &coefficient))
            return PW_DIM_UNKNOWN;
        pw_dim_sum_add(dims, &sum, other.terms[i].monomial, coefficient);
    }
    return pw_dim_sum_intern(dims, &sum);
}

pw_dim pw_dims_add(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    int64_t sum;

    if (a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, &sum))
        return sum;
    return add_scaled(dims, a, b, 1);
}

pw_dim pw_dims_sub(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    return a >= 0 && b >= 0 && a >= b ? a - b : add_scaled(dims, a, b, -1);
}

pw_dim pw_dims_mul(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    struct pw_dim_sum x, y, sum = {.count = 0};
    int64_t product;

    if (a >= 0 && b >= 0)
        return __builtin_mul_overflow(a, b, &product) ? PW_DIM_UNKNOWN : product;
    pw_dim_sum_load(dims, a, &x);
    pw_dim_sum_load(dims, b, &y);
    if (x.failed || y.failed)
        return PW_DIM_UNKNOWN;
    for (uint32_t i = 0; i < x.count; i++) {
        for (uint32_t j = 0; j < y.count && !sum.failed; j++) {
            uint32_t monomial;

            if (__builtin_mul_overflow(x.terms[i].coefficient, y.terms[j].coefficient, &product) ||
                !pw_dim_monomial_multiply(dims, x.terms[i].monomial, y.terms[j].monomial, &monomial))
                return PW_DIM_UNKNOWN;
            pw_dim_sum_add(dims, &sum, monomial, product);
        }
    }
    return pw_dim_sum_intern(dims, &sum);
}

bool pw_dims_at_least(const struct pw_dims *dims, pw_dim dim, int64_t bound)
{
    return dim != PW_DIM_UNKNOWN && pw_dim_range(dims, dim).low >= bound;
}

/* Is `x` an operand of the (nested) atom `dim` of this kind? Folds max(max(a, b), b). */
static bool has_operand(const struct pw_dims *dims, pw_dim dim, pw_dim_kind kind, pw_dim x)
{
    const struct pw_dim_atom *atom = pw_dim_atom_at(dims, dim);

    if (dim == x)
        return true;
    if (atom == NULL || atom->kind != kind)
        return false;
    return has_operand(dims, atom->a, kind, x) || has_operand(dims, atom->b, kind, x);
}

static pw_dim extremum(struct pw_dims *dims, pw_dim_kind kind, pw_dim a, pw_dim b)
{
    pw_dim difference = pw_dims_sub(dims, a, b), opposite = pw_dims_sub(dims, b, a);

    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN)
        return PW_DIM_UNKNOWN;
    if (pw_dims_at_least(dims, difference, 0))
        return kind == PW_DIM_MAX ? a : b;
    if (pw_dims_at_least(dims, opposite, 0))
        return kind == PW_DIM_MAX ? b : a;
    if (has_operand(dims, a, kind, b))
        return a;
    if (has_operand(dims, b, kind, a))
        return b;
    return a > b ? pw_dim_atom_intern(dims, kind, NULL, false, a, b)
                 : pw_dim_atom_intern(dims, kind, NULL, false, b, a);
}

pw_dim pw_dims_min(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    return extremum(dims, PW_DIM_MIN, a, b);
}

pw_dim pw_dims_max(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    return extremum(dims, PW_DIM_MAX, a, b);
}

bool pw_dims_broadcast(struct pw_dims *dims, pw_dim a, pw_dim b, pw_dim *out)
{
    bool a_number = a >= 0, b_number = b >= 0;

    if (a == b || b == 1) {
        *out = a;
    } else if (a == 1) {
        *out = b;
    } else if (a_number && b_number) {
        return false;
    } else if (a_number || b_number) {
        *out = a_number ? a : b; /* the symbol can only be 1 or this */
    } else if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN) {
        *out = PW_DIM_UNKNOWN;
    } else {
        *out = pw_dims_max(dims, a, b);
    }
    return true;
}

/* ---- evaluation ---- */

static const struct pw_binding *find_binding(const char *name, const struct pw_binding *bindings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(bindings[i].name, name) == 0)
            return &bindings[i];
    }
    return NULL;
}

static bool eval_atom(const struct pw_dims *dims, const struct pw_dim_atom *atom, const struct pw_binding *bindings,
                      size_t count, int64_t *out)
{
    const struct pw_binding *binding;
    int64_t a, b, q, r;

    if (atom->kind == PW_DIM_SYMBOL) {
        binding = find_binding(atom->name, bindings, count);
        if (binding != NULL)
            *out = binding->value;
        return binding != NULL;
    }
    if (!pw_dims_eval(dims, atom->a, bindings, count, &a) || !pw_dims_eval(dims, atom->b, bindings, count, &b))
        return false;
    if (atom->kind == PW_DIM_MIN || atom->kind == PW_DIM_MAX) {
        *out = (atom->kind == PW_DIM_MIN) == (a < b) ? a : b;
        return true;
    }
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    q = a / b;
    r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *out = atom->kind == PW_DIM_FLOORDIV ? q : r;
    return true;
}

bool pw_dims_eval(const struct pw_dims *dims, pw_dim dim, const struct pw_binding *bindings, size_t count, int64_t *out)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);
    int64_t sum = 0;

    if (poly == NULL) {
        *out = dim;
        return dim >= 0;
    }
    for (uint32_t i = 0; i < poly->count; i++) {
        const struct pw_dim_monomial *monomial = &dims->monomials[poly->terms[i].monomial];
        int64_t product = poly->terms[i].coefficient;

        for (uint32_t f = 0; f < monomial->count; f++) {
            int64_t value;

            if (!eval_atom(dims, &dims->atoms[monomial->factors[f].atom], bindings, count, &value))
                return false;
            for (uint32_t p = 0; p < monomial->factors[f].power; p++) {
                if (__builtin_mul_overflow(product, value, &product))
                    return false;
            }
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return false;
    }
    *out = sum;
    return true;
}

static pw_dim substitute_atom(struct pw_dims *dims, uint32_t item, const struct pw_binding *bindings, size_t count)
{
    struct pw_dim_atom atom = dims->atoms[item]; /* a copy: the table may move */
    const struct pw_binding *binding;
    pw_dim a, b;

    if (atom.kind == PW_DIM_SYMBOL) {
        binding = find_binding(atom.name, bindings, count);
        return binding != NULL ? pw_dims_int(dims, binding->value)
                               : pw_dim_atom_intern(dims, PW_DIM_SYMBOL, atom.name, false, 0, 0);
    }
    a = pw_dims_substitute(dims, atom.a, bindings, count);
    b = pw_dims_substitute(dims, atom.b, bindings, count);
    switch (atom.kind) {
    case PW_DIM_FLOORDIV:
        return pw_dims_floordiv(dims, a, b);
    case PW_DIM_MOD:
        return pw_dims_mod(dims, a, b);
    case PW_DIM_MIN:
        return pw_dims_min(dims, a, b);
    default:
        return pw_dims_max(dims, a, b);
    }
}

pw_dim pw_dims_substitute(struct pw_dims *dims, pw_dim dim, const struct pw_binding *bindings, size_t count)
{
    struct pw_dim_sum sum;
    pw_dim total = 0;

    if (dim >= 0 || dim == PW_DIM_UNKNOWN || count == 0)
        return dim;
    pw_dim_sum_load(dims, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++) {
        struct pw_dim_monomial monomial = dims->monomials[sum.terms[i].monomial];
        pw_dim product = pw_dims_int(dims, sum.terms[i].coefficient);

        for (uint32_t f = 0; f < monomial.count; f++) {
            pw_dim value = substitute_atom(dims, monomial.factors[f].atom, bindings, count);

            for (uint32_t p = 0; p < monomial.factors[f].power; p++)
                product = pw_dims_mul(dims, product, value);
        }
        total = pw_dims_add(dims, total, product);
    }
    return total;
}
