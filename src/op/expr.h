/*
 * The expression language of kernel descriptions: 64-bit integers, names, arrays name[i],
 * + - * / (floor; division by 0 is an error) % , comparisons, && || !, ?:, parentheses,
 * min(a,b) max(a,b) ceildiv(a,b) roundup(a,b) pow2(a) (next power of two) abs(a).
 * Errors name the expression and the column. Overflow is an error, never a wrap.
 * Compiled expressions are immutable and may be evaluated from any thread.
 */
#ifndef PW_OP_EXPR_H
#define PW_OP_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct pw_expr; /* compiled, immutable */

pw_status pw_expr_parse(const char *text, struct pw_expr **out, struct pw_error *err);
void pw_expr_destroy(struct pw_expr *expr);
const char *pw_expr_text(const struct pw_expr *expr);

/* Looks a name up: index < 0 for a scalar, else element of an array. False when unknown. */
typedef bool pw_expr_lookup(void *user, const char *name, int64_t index, int64_t *value);
/* PW_ERR_FORMAT for an unknown name (the description is wrong), PW_ERR_UNSUPPORTED for overflow, division
 * by zero and a negative index (it does not work for these values). */
pw_status pw_expr_eval(const struct pw_expr *expr, pw_expr_lookup *lookup, void *user, int64_t *out,
                       struct pw_error *err);
/* Appends "rows = 7, VEC = 4" for the names the expression uses: for reasons why a constraint fails. */
void pw_expr_explain(const struct pw_expr *expr, pw_expr_lookup *lookup, void *user, struct pw_buf *out);
/* Visits the names it uses. */
typedef void pw_expr_visit(void *user, const char *name);
void pw_expr_names(const struct pw_expr *expr, pw_expr_visit *visit, void *user);

#endif
