#include "op/order.h"

#include <math.h>

static double least_normal(pw_dtype dtype)
{
    return pw_dtype_facts(dtype)->min_normal;
}

double pw_order_round(const struct pw_order *order, double x)
{
    double y = pw_dtype_round(order->dtype, x);

    return order->flush && fabs(y) < least_normal(order->dtype) ? copysign(0.0, y) : y;
}

/* A double of two operands of at most 24 bits, rounded again, is what one rounding gives (53 >= 2 * 24 + 2). */
double pw_order_add(const struct pw_order *order, double a, double b)
{
    return pw_order_round(order, a + b);
}

double pw_order_multiply(const struct pw_order *order, double a, double b)
{
    return pw_order_round(order, a * b);
}

double pw_order_divide(const struct pw_order *order, double a, double b)
{
    return pw_order_round(order, a / b);
}

/* The sum with its last bit odd where it is not exact, so that a second rounding to fewer bits comes out as one. */
static double add_to_odd(double a, double b)
{
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    union {
        double value;
        uint64_t bits;
    } u = {.value = sum};

    if (error == 0 || !isfinite(sum) || (u.bits & 1))
        return sum;
    return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

double pw_order_multiply_add(const struct pw_order *order, double a, double b, double c)
{
    if (!order->fused)
        return pw_order_add(order, pw_order_multiply(order, a, b), c);
    if (order->dtype == PW_DTYPE_FLOAT64)
        return pw_order_round(order, fma(a, b, c));
    return pw_order_round(order, add_to_odd(a * b, c)); /* the product of two such factors is exact in double */
}

struct pw_order_sum pw_order_begin(const struct pw_order *order, bool product)
{
    return (struct pw_order_sum){.order = order, .product = product};
}

static double join(const struct pw_order_sum *sum, double a, double b)
{
    return sum->product ? pw_order_multiply(sum->order, a, b) : pw_order_add(sum->order, a, b);
}

/* The term is a value of the dtype. */
static void take(struct pw_order_sum *sum, double x)
{
    if (sum->order->kind == PW_ORDER_SEQUENTIAL) {
        sum->total = sum->count ? join(sum, sum->total, x) : x;
    } else {
        int level = 0;

        for (; sum->count >> level & 1; level++)
            x = join(sum, sum->levels[level], x);
        sum->levels[level] = x;
    }
    sum->count++;
}

void pw_order_term(struct pw_order_sum *sum, double x)
{
    take(sum, pw_order_round(sum->order, x));
}

void pw_order_term_product(struct pw_order_sum *sum, double a, double b)
{
    const struct pw_order *order = sum->order;

    a = pw_order_round(order, a);
    b = pw_order_round(order, b);
    if (order->kind == PW_ORDER_SEQUENTIAL && order->fused && sum->count) {
        sum->total = pw_order_multiply_add(order, a, b, sum->total);
        sum->count++;
    } else {
        take(sum, pw_order_multiply(order, a, b));
    }
}

double pw_order_end(const struct pw_order_sum *sum)
{
    double total = 0;
    bool begun = false;

    if (!sum->count)
        return sum->product ? 1 : 0;
    if (sum->order->kind == PW_ORDER_SEQUENTIAL)
        return sum->total;
    for (int level = 0; level < 64; level++)
        if (sum->count >> level & 1) {
            total = begun ? join(sum, sum->levels[level], total) : sum->levels[level];
            begun = true;
        }
    return total;
}
