/*
 * Optimizers' steps: x a variable, g its gradient, then the states; the same names with _new are written.
 *   <operator>_rate    one work-item: the step's factor (after decay or bias correction) and Momentum's beta
 *   <operator>_update  a work-item takes `chunk` elements, in vectors of 8
 * 1 - base^T is built without the subtraction, which would cancel where base is near 1.
 * Arithmetic in float (double for float64); the coefficients are floats as in the model.
 */
typedef PW_COMPUTE(inputs) acc_t;
typedef PW_COMPUTE8(inputs) acc_8;
#ifdef cl_khr_fp64
typedef double rate_t; /* once for all elements */
#else
typedef PW_COMPUTE(R) rate_t;
#endif

/* Through the logarithm: by squaring, each step would double the error of the power. */
static inline rate_t one_minus_power(float base, long count)
{
    rate_t b = (rate_t)base;

    return base > 0.0f ? -expm1((rate_t)count * log1p(b - 1)) : 1 - pow(b, (rate_t)count);
}

__kernel void Adagrad_rate(__global const PW_TYPE(R) *R, __global const long *T, __global rate_t *factors,
                           float decay_factor)
{
    factors[0] = PW_LOAD(R, 0) / (1 + (rate_t)T[0] * (rate_t)decay_factor);
}

__kernel void Adam_rate(__global const PW_TYPE(R) *R, __global const long *T, __global rate_t *factors, float alpha,
                        float beta)
{
    rate_t rate = PW_LOAD(R, 0);

    factors[0] = T[0] > 0 ? rate * sqrt(one_minus_power(beta, T[0])) / one_minus_power(alpha, T[0]) : rate;
}

__kernel void Momentum_rate(__global const PW_TYPE(R) *R, __global const long *T, __global rate_t *factors, float beta)
{
    factors[0] = PW_LOAD(R, 0);
    factors[1] = T[0] > 0 ? (rate_t)beta : (rate_t)1;
}

/* The rules for V lanes. */
#define RULES(N, V) \
    static inline void adagrad_##N(V x, V g, V h, acc_t rate, acc_t epsilon, acc_t norm, V *x_new, V *h_new) \
    { \
        V gradient = fma((V)(norm), x, g), square = fma(gradient, gradient, h); \
\
        *h_new = square; \
        *x_new = x - rate * gradient / (sqrt(square) + epsilon); \
    } \
    static inline void adam_##N(V x, V g, V v, V h, acc_t rate, acc_t alpha, acc_t beta, acc_t epsilon, acc_t norm, \
                                acc_t post, V *x_new, V *v_new, V *h_new) \
    { \
        V gradient = fma((V)(norm), x, g); \
        V mean = fma((V)(alpha), v, (1 - alpha) * gradient); \
        V square = fma((V)(beta), h, (1 - beta) * gradient * gradient); \
\
        *v_new = mean; \
        *h_new = square; \
        *x_new = (1 - post) * (x - rate * mean / (sqrt(square) + epsilon)); \
    } \
    static inline void momentum_##N(V x, V g, V v, acc_t rate, acc_t alpha, acc_t beta, acc_t norm, int nesterov, \
                                    V *x_new, V *v_new) \
    { \
        V gradient = fma((V)(norm), x, g), next = fma((V)(alpha), v, beta * gradient); \
        V step = nesterov ? fma((V)(alpha), next, gradient) : next; \
\
        *v_new = next; \
        *x_new = x - rate * step; \
    }
RULES(1, acc_t)
RULES(8, acc_8)

#define LOAD(p, i) PW_AT_LOAD(inputs, p, i)
#define LOAD8(p, i) PW_AT_LOAD8(inputs, p, i)
#define STORE(p, i, v) PW_AT_STORE(outputs, p, i, v)
#define STORE8(p, i, v) PW_AT_STORE8(outputs, p, i, v)
#define IN __global const PW_TYPE(inputs)
#define OUT __global PW_TYPE(outputs)

__kernel void Adagrad_update(IN *x, IN *g, IN *h, OUT *x_new, OUT *h_new, __global const rate_t *factors, float epsilon,
                             float norm, int size, int chunk)
{
    int i = get_global_id(0) * chunk, last = min(i + chunk, size);
    acc_t rate = (acc_t)factors[0];

    for (; i + 8 <= last; i += 8) {
        acc_8 a, b;

        adagrad_8(LOAD8(x, i), LOAD8(g, i), LOAD8(h, i), rate, epsilon, norm, &a, &b);
        STORE8(x_new, i, a);
        STORE8(h_new, i, b);
    }
    for (; i < last; i++) {
        acc_t a, b;

        adagrad_1(LOAD(x, i), LOAD(g, i), LOAD(h, i), rate, epsilon, norm, &a, &b);
        STORE(x_new, i, a);
        STORE(h_new, i, b);
    }
}

__kernel void Adam_update(IN *x, IN *g, IN *v, IN *h, OUT *x_new, OUT *v_new, OUT *h_new,
                          __global const rate_t *factors, float alpha, float beta, float epsilon, float norm,
                          float post, int size, int chunk)
{
    int i = get_global_id(0) * chunk, last = min(i + chunk, size);
    acc_t rate = (acc_t)factors[0];

    for (; i + 8 <= last; i += 8) {
        acc_8 a, b, c;

        adam_8(LOAD8(x, i), LOAD8(g, i), LOAD8(v, i), LOAD8(h, i), rate, alpha, beta, epsilon, norm, post, &a, &b, &c);
        STORE8(x_new, i, a);
        STORE8(v_new, i, b);
        STORE8(h_new, i, c);
    }
    for (; i < last; i++) {
        acc_t a, b, c;

        adam_1(LOAD(x, i), LOAD(g, i), LOAD(v, i), LOAD(h, i), rate, alpha, beta, epsilon, norm, post, &a, &b, &c);
        STORE(x_new, i, a);
        STORE(v_new, i, b);
        STORE(h_new, i, c);
    }
}

__kernel void Momentum_update(IN *x, IN *g, IN *v, OUT *x_new, OUT *v_new, __global const rate_t *factors, float alpha,
                              float norm, int nesterov, int size, int chunk)
{
    int i = get_global_id(0) * chunk, last = min(i + chunk, size);
    acc_t rate = (acc_t)factors[0], beta = (acc_t)factors[1];

    for (; i + 8 <= last; i += 8) {
        acc_8 a, b;

        momentum_8(LOAD8(x, i), LOAD8(g, i), LOAD8(v, i), rate, alpha, beta, norm, nesterov, &a, &b);
        STORE8(x_new, i, a);
        STORE8(v_new, i, b);
    }
    for (; i < last; i++) {
        acc_t a, b;

        momentum_1(LOAD(x, i), LOAD(g, i), LOAD(v, i), rate, alpha, beta, norm, nesterov, &a, &b);
        STORE(x_new, i, a);
        STORE(v_new, i, b);
    }
}
