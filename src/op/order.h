/*
 * Sums in a given order: what a reference computes when the protocol demands the bits of one.
 *
 * Terms come one by one, in the order that the operator's definition counts them (the reduced elements row-major, k of
 * a matrix product ascending, channel and then tap of a convolution). Every step is rounded to the accumulation dtype.
 * Plain data, one sum belongs to one thread; nothing fails.
 */
#ifndef PW_OP_ORDER_H
#define PW_OP_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/dtype.h"

typedef enum {
    PW_ORDER_SEQUENTIAL, /* ((t0 + t1) + t2) + t3 … */
    PW_ORDER_PAIRWISE    /* neighbours first: (t0 + t1) + (t2 + t3) …; a term left over goes up a level */
} pw_order_kind;

struct pw_order {
    pw_order_kind kind;
    pw_dtype dtype; /* that each step is rounded to: float64, float32, float16 or bfloat16 */
    bool fused;     /* products of a sequential sum are not rounded before they are added */
    bool flush;     /* denormals of the dtype become 0, operands and results */
};

double pw_order_round(const struct pw_order *order, double x);
/* One rounding each; operands hold values of the dtype. */
double pw_order_add(const struct pw_order *order, double a, double b);
double pw_order_multiply(const struct pw_order *order, double a, double b);
double pw_order_divide(const struct pw_order *order, double a, double b);
/* a * b + c with one rounding when fused, else with two. */
double pw_order_multiply_add(const struct pw_order *order, double a, double b, double c);

struct pw_order_sum {
    const struct pw_order *order;
    bool product;      /* terms are multiplied */
    uint64_t count;    /* terms so far */
    double total;      /* sequential */
    double levels[64]; /* pairwise: sums of 2^level terms, one where the bit of count is set */
};

struct pw_order_sum pw_order_begin(const struct pw_order *order, bool product);
/* Terms and factors are rounded to the dtype first. */
void pw_order_term(struct pw_order_sum *sum, double x);
void pw_order_term_product(struct pw_order_sum *sum, double a, double b);
double pw_order_end(const struct pw_order_sum *sum); /* of no terms: 0, or 1 of a product */

#endif
