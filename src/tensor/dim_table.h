/*
 * Inside of struct pw_dims, shared by the dim*.c files only.
 *
 * Three interned levels: an atom (a symbol, or an opaque function of two dims), a monomial (a
 * product of powers of atoms) and a polynomial (a sum of integer multiples of monomials). Interning
 * makes equal expressions one index. Every level has a weight (leaves of its text) and a depth, both
 * bounded, so that hostile shape arithmetic ends in PW_DIM_UNKNOWN and not in a blow-up.
 */
#ifndef PW_TENSOR_DIM_TABLE_H
#define PW_TENSOR_DIM_TABLE_H

#include "base/mem.h"
#include "tensor/dim.h"

#define PW_DIM_MAX_TERMS 64   /* of one polynomial */
#define PW_DIM_MAX_FACTORS 16 /* distinct atoms of one monomial */
#define PW_DIM_MAX_DEGREE 32
#define PW_DIM_MAX_WEIGHT 512
#define PW_DIM_MAX_DEPTH 48
#define PW_DIM_MAX_ITEMS ((size_t)1 << 24) /* of each level */

typedef enum { PW_DIM_SYMBOL, PW_DIM_FLOORDIV, PW_DIM_MOD, PW_DIM_MIN, PW_DIM_MAX } pw_dim_kind;

struct pw_dim_range { /* INT64_MIN and INT64_MAX stand for the infinities */
    int64_t low, high;
};

struct pw_dim_atom {
    pw_dim_kind kind;
    const char *name; /* symbols; in the arena */
    pw_dim a, b;      /* the others */
    struct pw_dim_range range;
    uint32_t weight, depth;
};

struct pw_dim_factor {
    uint32_t atom;
    uint32_t power; /* >= 1 */
};

struct pw_dim_monomial {                 /* item 0 is the empty product, 1 */
    const struct pw_dim_factor *factors; /* by ascending atom */
    uint32_t count;
    uint32_t degree, weight, depth;
    struct pw_dim_range range;
};

struct pw_dim_term {
    uint32_t monomial;
    int64_t coefficient; /* never 0 */
};

struct pw_dim_poly {
    const struct pw_dim_term *terms; /* by descending monomial (graded lexicographic) */
    uint32_t count;
    uint32_t weight, depth;
};

struct pw_dim_index { /* open addressing over item numbers */
    uint32_t *slots;  /* item + 1; 0 = free */
    size_t slot_count;
    uint64_t *hashes; /* per item */
    size_t hash_cap;
};

struct pw_dims {
    struct pw_arena arena;
    struct pw_dim_atom *atoms;
    size_t atom_count, atom_cap;
    struct pw_dim_monomial *monomials;
    size_t monomial_count, monomial_cap;
    struct pw_dim_poly *polys;
    size_t poly_count, poly_cap;
    struct pw_dim_index atom_index, monomial_index, poly_index;
    uint64_t fresh; /* symbols made by pw_dims_fresh */
    bool borrowed;  /* the arrays are another table's still: they are copied before anything is added */
};

/* A polynomial under construction. `failed` means PW_DIM_UNKNOWN: overflow or a limit. */
struct pw_dim_sum {
    struct pw_dim_term terms[PW_DIM_MAX_TERMS];
    uint32_t count;
    bool failed;
};

/* dim_table.c */
void pw_dim_sum_load(const struct pw_dims *dims, pw_dim dim, struct pw_dim_sum *sum);
void pw_dim_sum_add(const struct pw_dims *dims, struct pw_dim_sum *sum, uint32_t monomial, int64_t coefficient);
pw_dim pw_dim_sum_intern(struct pw_dims *dims, const struct pw_dim_sum *sum);
/* False at a limit or when memory is short. */
bool pw_dim_monomial_multiply(struct pw_dims *dims, uint32_t a, uint32_t b, uint32_t *out);
bool pw_dim_monomial_divide(struct pw_dims *dims, uint32_t a, uint32_t b, uint32_t *out); /* false: not divisible */
/* The dim that is one atom: made on first use. */
pw_dim pw_dim_atom_intern(struct pw_dims *dims, pw_dim_kind kind, const char *name, bool is_signed, pw_dim a, pw_dim b);
bool pw_dim_symbol_known(const struct pw_dims *dims, const char *name);
/* The polynomial behind a negative handle; NULL for numbers and PW_DIM_UNKNOWN. */
const struct pw_dim_poly *pw_dim_poly_at(const struct pw_dims *dims, pw_dim dim);
/* The atom that `dim` is, with coefficient and power 1; NULL otherwise. */
const struct pw_dim_atom *pw_dim_atom_at(const struct pw_dims *dims, pw_dim dim);
struct pw_dim_range pw_dim_range(const struct pw_dims *dims, pw_dim dim);

#endif
