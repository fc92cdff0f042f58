/*
 * Dims that may be symbolic.
 *
 * A pw_dim >= 0 is a number. A negative one names an expression interned in a struct
 * pw_dims: a polynomial with integer coefficients over symbols ("batch"), and over
 * opaque atoms for what is not polynomial (floor division, modulo, min, max). Equal
 * expressions have equal handles, so == decides equality of shapes. PW_DIM_UNKNOWN is
 * "no idea" and equals nothing in meaning: make a fresh symbol instead where identity
 * matters (pw_dims_fresh). Negative *numbers* (contents of shape tensors such as -1 or
 * Slice ends) are expressions too: pw_dims_int makes any integer, pw_dims_value reads it.
 * Not thread-safe; one table per loaded graph. Overflow gives PW_DIM_UNKNOWN.
 */
#ifndef PW_TENSOR_DIM_H
#define PW_TENSOR_DIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

typedef int64_t pw_dim;
#define PW_DIM_UNKNOWN INT64_MIN

struct pw_dims; /* the table of expressions */

pw_status pw_dims_create(struct pw_dims **out, struct pw_error *err);
void pw_dims_destroy(struct pw_dims *dims);
/* A table that begins as `base` is: its dims mean the same here, what is made here stays here. For a thread that
 * computes with the dims of a table that others read; until it makes something new, nothing is copied. As long as it
 * lives base must, and nobody may write to base. */
pw_status pw_dims_borrow(const struct pw_dims *base, struct pw_dims **out, struct pw_error *err);

pw_dim pw_dims_int(struct pw_dims *dims, int64_t value);            /* any integer */
pw_dim pw_dims_symbol(struct pw_dims *dims, const char *name);      /* interned by name */
pw_dim pw_dims_fresh(struct pw_dims *dims, const char *hint);       /* new symbol "hint#3": data-dependent size */
pw_dim pw_dims_fresh_value(struct pw_dims *dims, const char *hint); /* the same, but may be negative */
bool pw_dims_value(const struct pw_dims *dims, pw_dim dim, int64_t *value); /* true when a plain integer */

pw_dim pw_dims_add(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_sub(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_mul(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_floordiv(struct pw_dims *dims, pw_dim a,
                        pw_dim b); /* exact when it divides; toward -inf; UNKNOWN for b == 0 */
pw_dim pw_dims_ceildiv(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_mod(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_min(struct pw_dims *dims, pw_dim a, pw_dim b);
pw_dim pw_dims_max(struct pw_dims *dims, pw_dim a, pw_dim b);

/* Symbols are sizes: >= 0 (sizes may be 0) unless made fresh as a value. Is `dim` surely
 * >= bound / surely nonzero given that? False when not provable. */
bool pw_dims_at_least(const struct pw_dims *dims, pw_dim dim, int64_t bound);

/* ONNX broadcasting of two dims: a number 1 yields to the other; equal stays; a symbol
 * against a number n > 1 gives n (the symbol can only be 1 or n); two different symbols
 * give max(a, b). False when two numbers conflict. */
bool pw_dims_broadcast(struct pw_dims *dims, pw_dim a, pw_dim b, pw_dim *out);

/* Evaluates with symbols bound by name; false when a symbol has no binding or on overflow. */
struct pw_binding {
    const char *name;
    int64_t value;
};
bool pw_dims_eval(const struct pw_dims *dims, pw_dim dim, const struct pw_binding *bindings, size_t count,
                  int64_t *out);

/* Replaces bound symbols; the result may still be symbolic. */
pw_dim pw_dims_substitute(struct pw_dims *dims, pw_dim dim, const struct pw_binding *bindings, size_t count);

/* Canonical text, e.g. "batch*sequence", "past_sequence + sequence", "floor((h + 1)/2)", "?". */
void pw_dims_print(const struct pw_dims *dims, pw_dim dim, struct pw_buf *out);

/* Names of all symbols that occur in dim; visits each once. */
typedef void pw_dims_visit(void *user, const char *symbol);
void pw_dims_symbols(const struct pw_dims *dims, pw_dim dim, pw_dims_visit *visit, void *user);

/* Parses what exporters write in dim_param: a name, or a sum/product/floor-div expression of
 * names and integers; text that is no expression becomes a symbol of that whole text. */
pw_dim pw_dims_parse(struct pw_dims *dims, const char *text);

#endif
