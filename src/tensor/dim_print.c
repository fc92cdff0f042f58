/* Canonical text of dims: independent of the order in which expressions were made, so that two
 * loads of one graph, or two graphs, give equal signatures equal text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/dim_table.h"

static const char *const function_names[] = {
    [PW_DIM_SYMBOL] = "", [PW_DIM_FLOORDIV] = "floor", [PW_DIM_MOD] = "mod", [PW_DIM_MIN] = "min", [PW_DIM_MAX] = "max",
};

static int compare_text(const void *a, const void *b)
{
    const struct pw_buf *x = a, *y = b;

    return strcmp(pw_buf_text(x), pw_buf_text(y));
}

/* A number or a single factor needs no parentheses around it in a quotient. */
static bool needs_parentheses(const struct pw_dims *dims, pw_dim dim)
{
    return dim < 0 && pw_dim_atom_at(dims, dim) == NULL;
}

static void print_operand(const struct pw_dims *dims, pw_dim dim, struct pw_buf *out)
{
    bool parentheses = needs_parentheses(dims, dim);

    pw_buf_puts(out, parentheses ? "(" : "");
    pw_dims_print(dims, dim, out);
    pw_buf_puts(out, parentheses ? ")" : "");
}

static void print_atom(const struct pw_dims *dims, const struct pw_dim_atom *atom, struct pw_buf *out)
{
    struct pw_buf sides[2] = {{0}, {0}};

    if (atom->kind == PW_DIM_SYMBOL) {
        pw_buf_puts(out, atom->name);
        return;
    }
    pw_buf_printf(out, "%s(", function_names[atom->kind]);
    if (atom->kind == PW_DIM_FLOORDIV) {
        print_operand(dims, atom->a, out);
        pw_buf_putc(out, '/');
        print_operand(dims, atom->b, out);
    } else {
        pw_dims_print(dims, atom->a, &sides[0]);
        pw_dims_print(dims, atom->b, &sides[1]);
        if (atom->kind != PW_DIM_MOD) /* min and max are symmetric */
            qsort(sides, 2, sizeof sides[0], compare_text);
        pw_buf_printf(out, "%s, %s", pw_buf_text(&sides[0]), pw_buf_text(&sides[1]));
        out->failed = out->failed || sides[0].failed || sides[1].failed;
        pw_buf_clear(&sides[0]);
        pw_buf_clear(&sides[1]);
    }
    pw_buf_putc(out, ')');
}

static void print_monomial(const struct pw_dims *dims, const struct pw_dim_monomial *monomial, struct pw_buf *out)
{
    struct pw_buf names[PW_DIM_MAX_FACTORS] = {{0}};

    for (uint32_t i = 0; i < monomial->count; i++) {
        for (uint32_t p = 0; p < monomial->factors[i].power; p++) {
            pw_buf_puts(&names[i], p > 0 ? "*" : "");
            print_atom(dims, &dims->atoms[monomial->factors[i].atom], &names[i]);
        }
        out->failed = out->failed || names[i].failed;
    }
    qsort(names, monomial->count, sizeof names[0], compare_text);
    for (uint32_t i = 0; i < monomial->count; i++) {
        pw_buf_printf(out, "%s%s", i > 0 ? "*" : "", pw_buf_text(&names[i]));
        pw_buf_clear(&names[i]);
    }
}

struct printed_term {
    struct pw_buf text; /* of the monomial */
    int64_t coefficient;
    uint32_t degree;
};

static int compare_terms(const void *a, const void *b)
{
    const struct printed_term *x = a, *y = b;

    if (x->degree != y->degree)
        return x->degree > y->degree ? -1 : 1;
    if ((x->coefficient < 0) != (y->coefficient < 0))
        return x->coefficient < 0 ? 1 : -1;
    return strcmp(pw_buf_text(&x->text), pw_buf_text(&y->text));
}

static void print_term(const struct printed_term *term, bool first, struct pw_buf *out)
{
    bool negative = term->coefficient < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)term->coefficient : (uint64_t)term->coefficient;

    if (first)
        pw_buf_puts(out, negative ? "-" : "");
    else
        pw_buf_puts(out, negative ? " - " : " + ");
    if (term->degree == 0)
        pw_buf_printf(out, "%" PRIu64, magnitude);
    else if (magnitude != 1)
        pw_buf_printf(out, "%" PRIu64 "*%s", magnitude, pw_buf_text(&term->text));
    else
        pw_buf_puts(out, pw_buf_text(&term->text));
}

void pw_dims_print(const struct pw_dims *dims, pw_dim dim, struct pw_buf *out)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);
    struct printed_term *terms = NULL;

    if (poly == NULL) {
        if (dim < 0)
            pw_buf_putc(out, '?');
        else
            pw_buf_printf(out, "%" PRId64, dim);
        return;
    }
    terms = pw_calloc(poly->count, sizeof *terms);
    if (terms == NULL) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < poly->count; i++) {
        const struct pw_dim_monomial *monomial = &dims->monomials[poly->terms[i].monomial];

        terms[i].coefficient = poly->terms[i].coefficient;
        terms[i].degree = monomial->degree;
        print_monomial(dims, monomial, &terms[i].text);
        out->failed = out->failed || terms[i].text.failed;
    }
    qsort(terms, poly->count, sizeof *terms, compare_terms);
    for (uint32_t i = 0; i < poly->count; i++) {
        print_term(&terms[i], i == 0, out);
        pw_buf_clear(&terms[i].text);
    }
    pw_free(terms);
}

/* ---- symbols ---- */

struct seen {
    uint32_t atoms[PW_DIM_MAX_WEIGHT];
    uint32_t count;
};

static void collect(const struct pw_dims *dims, pw_dim dim, struct seen *seen)
{
    const struct pw_dim_poly *poly = pw_dim_poly_at(dims, dim);

    for (uint32_t i = 0; poly != NULL && i < poly->count; i++) {
        const struct pw_dim_monomial *monomial = &dims->monomials[poly->terms[i].monomial];

        for (uint32_t f = 0; f < monomial->count; f++) {
            uint32_t item = monomial->factors[f].atom, at = 0;

            while (at < seen->count && seen->atoms[at] != item)
                at++;
            if (at < seen->count || seen->count == PW_DIM_MAX_WEIGHT)
                continue;
            seen->atoms[seen->count++] = item;
            if (dims->atoms[item].kind != PW_DIM_SYMBOL) {
                collect(dims, dims->atoms[item].a, seen);
                collect(dims, dims->atoms[item].b, seen);
            }
        }
    }
}

void pw_dims_symbols(const struct pw_dims *dims, pw_dim dim, pw_dims_visit *visit, void *user)
{
    struct seen seen = {.count = 0};

    collect(dims, dim, &seen);
    for (uint32_t i = 0; i < seen.count; i++) {
        if (dims->atoms[seen.atoms[i]].kind == PW_DIM_SYMBOL)
            visit(user, dims->atoms[seen.atoms[i]].name);
    }
}
