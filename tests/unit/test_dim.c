/* Symbolic dims: identities worked out by hand, checked by handle equality and by evaluation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/random.h"
#include "tensor/dim.h"

static struct pw_dims *dims;

static int setup(void **state)
{
    (void)state;
    return pw_dims_create(&dims, NULL) == PW_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pw_dims_destroy(dims);
    return 0;
}

static pw_dim parse(const char *text)
{
    return pw_dims_parse(dims, text);
}

static void check_text(pw_dim dim, const char *expected)
{
    struct pw_buf text = {0};

    pw_dims_print(dims, dim, &text);
    assert_string_equal(pw_buf_text(&text), expected);
    pw_buf_clear(&text);
}

static void test_integers(void **state)
{
    int64_t value = 0;
    pw_dim minus = pw_dims_int(dims, -5);

    (void)state;
    assert_int_equal(pw_dims_int(dims, 7), 7);
    assert_true(minus < 0);
    assert_true(pw_dims_value(dims, minus, &value));
    assert_int_equal(value, -5);
    assert_int_equal(pw_dims_int(dims, -5), minus);
    assert_int_equal(pw_dims_add(dims, minus, 12), 7);
    assert_int_equal(pw_dims_mul(dims, minus, minus), 25);
    assert_int_equal(pw_dims_floordiv(dims, minus, 2), pw_dims_int(dims, -3));
    assert_int_equal(pw_dims_ceildiv(dims, minus, 2), pw_dims_int(dims, -2));
    assert_int_equal(pw_dims_mod(dims, minus, 3), 1);
    assert_int_equal(pw_dims_floordiv(dims, 7, pw_dims_int(dims, -2)), pw_dims_int(dims, -4));
    assert_int_equal(pw_dims_min(dims, minus, 3), minus);
    assert_int_equal(pw_dims_max(dims, minus, 3), 3);
    assert_true(pw_dims_value(dims, pw_dims_int(dims, INT64_MIN), &value));
    assert_int_equal(value, INT64_MIN);
    check_text(minus, "-5");
}

static void test_unknown_and_overflow(void **state)
{
    pw_dim n = pw_dims_symbol(dims, "n");

    (void)state;
    assert_int_equal(pw_dims_add(dims, INT64_MAX, 1), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_mul(dims, INT64_MAX, 2), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_mul(dims, pw_dims_mul(dims, n, INT64_MAX), 2), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_add(dims, PW_DIM_UNKNOWN, n), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_floordiv(dims, n, 0), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_mod(dims, n, 0), PW_DIM_UNKNOWN);
    assert_int_equal(pw_dims_max(dims, PW_DIM_UNKNOWN, 3), PW_DIM_UNKNOWN);
    assert_false(pw_dims_at_least(dims, PW_DIM_UNKNOWN, INT64_MIN));
    check_text(PW_DIM_UNKNOWN, "?");
}

/* Pairs of texts that mean the same: equal handles. */
static void test_equal_expressions(void **state)
{
    static const char *const pairs[][2] = {
        {"a + b", "b + a"},
        {"(a + b)*(a - b)", "a*a - b*b"},
        {"2*(a + 3) - a - 6", "a"},
        {"a*b*c", "c*(b*a)"},
        {"floor((2*a + 4)/2)", "a + 2"},
        {"floor((a + 5)/2)", "floor((a + 1)/2) + 2"},
        {"floor((a - 1)/2) + 1", "floor((a + 1)/2)"},
        {"ceil(a/2)", "floor((a + 1)/2)"},
        {"floor(floor(a/2)/3)", "floor(a/6)"},
        {"floor((floor((a + 1)/2) + 1)/2)", "floor((a + 3)/4)"},
        {"floor((4*a + 6)/8)", "floor((2*a + 3)/4)"},
        {"a*b*64/(a*b)", "64"},
        {"(a*c + b*c)*32/(a + b)", "32*c"},
        {"(a*a - b*b)/(a + b)", "a - b"},
        {"mod(6*a + 7, 3)", "1"},
        {"mod(7*a, 3)", "mod(a, 3)"},
        {"max(a, a + 2)", "a + 2"},
        {"min(a, a + 2)", "a"},
        {"max(a, b)", "max(b, a)"},
        {"max(max(a, b), b)", "max(a, b)"},
        {"max(a, -1)", "a"}, /* sizes are not negative */
        {"min(a + 3, 2)", "2"},
        {"-(-a)", "a"},
        {"a // 1", "a"},
        {"a/a", "1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (parse(pairs[i][0]) != parse(pairs[i][1]))
            fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
        assert_int_not_equal(parse(pairs[i][0]), PW_DIM_UNKNOWN);
    }
    assert_int_not_equal(parse("floor(a/2)"), parse("ceil(a/2)"));
    assert_int_not_equal(parse("max(a, b)"), parse("min(a, b)"));
    assert_int_not_equal(parse("a"), parse("b"));
}

static void test_text(void **state)
{
    static const char *const pairs[][2] = {
        {"sequence + past_sequence", "past_sequence + sequence"},
        {"batch*sequence", "batch*sequence"},
        {"sequence*batch*3 - 1", "3*batch*sequence - 1"},
        {"(h - 1)/2 + 1", "floor((h + 1)/2)"},
        {"h*w/4", "floor((h*w)/4)"},
        {"1 + h", "h + 1"},
        {"-h", "-h"},
        {"3 - h", "-h + 3"},
        {"n*n", "n*n"},
        {"max(s, p)", "max(p, s)"},
        {"(a + b)/(c*2)", "floor((a + b)/(2*c))"},
        {"a % 8", "mod(a, 8)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        check_text(parse(pairs[i][0]), pairs[i][1]);
        assert_int_equal(parse(pairs[i][1]), parse(pairs[i][0])); /* the text reads back */
    }
}

/* What exporters write that is no expression stays one symbol. */
static void test_odd_names(void **state)
{
    static const char *const names[] = {"batch-size", "unk__12", "Transposeoutput_dim_0",
                                        "a b",        "3d",      "(",
                                        "x +",        "floor(",  "f(x)",
                                        "a,b",        "*",       "9999999999999999999",
                                        "Sequence.1", "past#2",  "((((((((((((((((((((((((((((((((((((x"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (parse(names[i]) != pw_dims_symbol(dims, names[i]))
            fail_msg("'%s' is not one symbol", names[i]);
        check_text(parse(names[i]), names[i]);
    }
    assert_int_equal(parse(""), PW_DIM_UNKNOWN);
    assert_int_equal(parse("n-1"), pw_dims_sub(dims, pw_dims_symbol(dims, "n"), 1));
}

/* Evaluation against C's own arithmetic. */
static void test_eval(void **state)
{
    static const struct {
        const char *text;
        int64_t expected; /* a = 7, b = 3 */
    } table[] = {
        {"a + b", 10},          {"a*b - 1", 20},         {"floor((a + 4)/b)", 3},  {"ceil(a/b)", 3},
        {"(0 - a)/2", -4},      {"mod(a, b)", 1},        {"mod(0 - a, b)", 2},     {"min(a, b)*10", 30},
        {"max(a, b)", 7},       {"floor(a/2)*2", 6},     {"ceil(a/2)*2", 8},       {"a*a*b", 147},
        {"floor((3*a)/2)", 10}, {"(b - a)/(a - b)", -1}, {"floor((b - a)/b)", -2}, {"mod(5*a + 1, 4)", 0},
    };
    static const struct pw_binding bindings[] = {{"a", 7}, {"b", 3}};

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int64_t value = 0;
        pw_dim dim = parse(table[i].text);

        if (!pw_dims_eval(dims, dim, bindings, 2, &value) || value != table[i].expected)
            fail_msg("%s is %lld, expected %lld", table[i].text, (long long)value, (long long)table[i].expected);
        assert_int_equal(pw_dims_substitute(dims, dim, bindings, 2), pw_dims_int(dims, table[i].expected));
    }
}

/* floor and ceil agree with division for every small numerator, whatever form interning gave them. */
static void test_division_exhaustively(void **state)
{
    pw_dim n = pw_dims_symbol(dims, "n");

    (void)state;
    for (int64_t scale = -3; scale <= 3; scale++) {
        for (int64_t shift = -4; shift <= 4; shift++) {
            pw_dim a = pw_dims_add(dims, pw_dims_mul(dims, n, pw_dims_int(dims, scale)), pw_dims_int(dims, shift));

            for (int64_t by = -4; by <= 4; by++) {
                pw_dim divisor = pw_dims_int(dims, by);

                for (int64_t value = 0; by != 0 && value < 9; value++) {
                    struct pw_binding binding = {"n", value};
                    int64_t x = scale * value + shift, down = x / by, got = 0;

                    down -= x % by != 0 && (x < 0) != (by < 0);
                    assert_true(pw_dims_eval(dims, pw_dims_floordiv(dims, a, divisor), &binding, 1, &got));
                    assert_int_equal(got, down);
                    assert_true(pw_dims_eval(dims, pw_dims_ceildiv(dims, a, divisor), &binding, 1, &got));
                    assert_int_equal(got, down * by == x ? down : down + 1);
                    assert_true(pw_dims_eval(dims, pw_dims_mod(dims, a, divisor), &binding, 1, &got));
                    assert_int_equal(got, x - down * by);
                }
            }
        }
    }
}

static void test_partial_substitution(void **state)
{
    static const struct pw_binding bindings[] = {{"past", 3}};
    int64_t value;

    (void)state;
    assert_int_equal(pw_dims_substitute(dims, parse("batch*(past + seq)"), bindings, 1), parse("batch*seq + 3*batch"));
    assert_int_equal(pw_dims_substitute(dims, parse("max(past, seq + 4)"), bindings, 1), parse("seq + 4"));
    assert_false(pw_dims_eval(dims, parse("past + seq"), bindings, 1, &value));
}

static void test_at_least(void **state)
{
    pw_dim n = pw_dims_symbol(dims, "n"), v = pw_dims_fresh_value(dims, "v");

    (void)state;
    assert_true(pw_dims_at_least(dims, n, 0));
    assert_false(pw_dims_at_least(dims, n, 1));
    assert_true(pw_dims_at_least(dims, pw_dims_add(dims, n, 1), 1));
    assert_false(pw_dims_at_least(dims, pw_dims_sub(dims, n, 1), 0));
    assert_true(pw_dims_at_least(dims, pw_dims_fresh(dims, "d"), 0));
    assert_false(pw_dims_at_least(dims, v, 0));
    assert_true(pw_dims_at_least(dims, pw_dims_max(dims, v, 2), 2));
    assert_true(pw_dims_at_least(dims, parse("floor((n + 4)/2)"), 2));
    assert_true(pw_dims_at_least(dims, pw_dims_mod(dims, v, 5), 0));
    assert_int_not_equal(pw_dims_fresh(dims, "d"), pw_dims_fresh(dims, "d"));
}

static void test_broadcast(void **state)
{
    pw_dim a = parse("a"), b = parse("b"), out = 0;

    (void)state;
    assert_true(pw_dims_broadcast(dims, a, 1, &out) && out == a);
    assert_true(pw_dims_broadcast(dims, 1, a, &out) && out == a);
    assert_true(pw_dims_broadcast(dims, a, a, &out) && out == a);
    assert_true(pw_dims_broadcast(dims, a, 5, &out) && out == 5);
    assert_true(pw_dims_broadcast(dims, a, b, &out) && out == parse("max(a, b)"));
    assert_true(pw_dims_broadcast(dims, PW_DIM_UNKNOWN, 4, &out) && out == 4);
    assert_true(pw_dims_broadcast(dims, PW_DIM_UNKNOWN, a, &out) && out == PW_DIM_UNKNOWN);
    assert_true(pw_dims_broadcast(dims, 0, 1, &out) && out == 0);
    assert_false(pw_dims_broadcast(dims, 3, 4, &out));
}

struct names {
    char text[64];
};

static void collect(void *user, const char *symbol)
{
    struct names *names = user;
    size_t used = strlen(names->text);

    memcpy(names->text + used, symbol, strlen(symbol) + 1);
}

static void test_symbols(void **state)
{
    struct names names = {""};

    (void)state;
    pw_dims_symbols(dims, parse("x*x + floor((x + y)/z)"), collect, &names);
    assert_int_equal(strlen(names.text), 3); /* each once */
    assert_non_null(strchr(names.text, 'x'));
    assert_non_null(strchr(names.text, 'y'));
    assert_non_null(strchr(names.text, 'z'));
}

/* Expressions that would grow without end become unknown, and soon. */
static void test_limits(void **state)
{
    pw_dim sum = 0, product = 1, nest = parse("n"), mixed = parse("n");
    char name[] = "s00";

    (void)state;
    for (int i = 0; i < 100; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        sum = pw_dims_add(dims, sum, pw_dims_symbol(dims, name));
        product = pw_dims_mul(dims, product, pw_dims_symbol(dims, name));
        nest = pw_dims_max(dims, pw_dims_mul(dims, nest, nest), parse("m"));
        mixed = pw_dims_floordiv(dims, pw_dims_add(dims, pw_dims_mul(dims, mixed, parse("k")), 1), parse("m + 2"));
    }
    assert_int_equal(sum, PW_DIM_UNKNOWN);
    assert_int_equal(product, PW_DIM_UNKNOWN);
    assert_int_equal(nest, PW_DIM_UNKNOWN);
    assert_int_equal(mixed, PW_DIM_UNKNOWN);
}

/* ---- random expressions against plain arithmetic ---- */

typedef pw_dim operation_fn(struct pw_dims *table, pw_dim a, pw_dim b);

static int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t compute(int which, int64_t a, int64_t b)
{
    switch (which) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return floor_quotient(a, b);
    case 4:
        return -floor_quotient(-a, b);
    case 5:
        return a - floor_quotient(a, b) * b;
    case 6:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

struct pair {
    pw_dim dim;
    int64_t value;
};

static void check_pair(const struct pair *pair, const struct pw_binding *bindings, size_t count)
{
    struct pw_buf text = {0};
    int64_t got = 0;

    pw_dims_print(dims, pair->dim, &text);
    if (!pw_dims_eval(dims, pair->dim, bindings, count, &got) || got != pair->value)
        fail_msg("%s is %lld, expected %lld", pw_buf_text(&text), (long long)got, (long long)pair->value);
    if (pw_dims_substitute(dims, pair->dim, bindings, count) != pw_dims_int(dims, pair->value))
        fail_msg("%s does not substitute to %lld", pw_buf_text(&text), (long long)pair->value);
    if (text.size < 500 && pw_dims_parse(dims, pw_buf_text(&text)) != pair->dim)
        fail_msg("%s does not read back", pw_buf_text(&text));
    if (pw_dims_at_least(dims, pair->dim, pair->value + 1))
        fail_msg("%s is claimed to be more than %lld", pw_buf_text(&text), (long long)pair->value);
    pw_buf_clear(&text);
}

static void test_random_expressions(void **state)
{
    enum { POOL = 24, ROUNDS = 6000 };
    static operation_fn *const operations[] = {pw_dims_add,     pw_dims_sub, pw_dims_mul, pw_dims_floordiv,
                                               pw_dims_ceildiv, pw_dims_mod, pw_dims_min, pw_dims_max};
    static const struct pw_binding bindings[] = {{"n", 7}, {"m", 3}, {"k", 11}};
    struct pair pool[POOL];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t words[4];
        struct pair made;
        const struct pair *a, *b;
        int which;

        pw_philox(11, 0, (uint64_t)i, words);
        if (i % 400 == 0) { /* start afresh: grown expressions only end in limits */
            for (int j = 0; j < POOL; j++)
                pool[j] = j % 2 == 0 ? (struct pair){pw_dims_symbol(dims, bindings[j % 3].name), bindings[j % 3].value}
                                     : (struct pair){pw_dims_int(dims, j - 8), j - 8};
        }
        a = &pool[words[0] % POOL];
        b = &pool[words[1] % POOL];
        which = (int)(words[2] % 8);
        if (b->value == 0 && which >= 3 && which <= 5)
            continue;
        made.dim = operations[which](dims, a->dim, b->dim);
        made.value = compute(which, a->value, b->value);
        if (made.dim == PW_DIM_UNKNOWN || made.value > 1000000 || made.value < -1000000)
            continue;
        check_pair(&made, bindings, 3);
        pool[words[3] % POOL] = made;
    }
}

/* A borrowed table says the same of the same dims; what it adds stays its own, in memory that may be the lender's next.
 */
static void test_borrowed(void **state)
{
    pw_dim old = parse("2*batch + floor((h + 1)/2)"), minus = pw_dims_int(dims, -3), sum, next, fresh;
    struct pw_dims *base = dims, *borrowed = NULL, *other = NULL;
    int64_t value = 0;

    (void)state;
    assert_int_equal(pw_dims_borrow(base, &borrowed, NULL), PW_OK);
    assert_int_equal(pw_dims_borrow(base, &other, NULL), PW_OK);
    dims = borrowed;
    assert_int_equal(parse("2*batch + floor((h + 1)/2)"), old);
    assert_true(pw_dims_value(dims, minus, &value));
    assert_int_equal(value, -3);
    sum = pw_dims_add(dims, old, parse("new"));
    check_text(sum, "2*batch + floor((h + 1)/2) + new");
    for (int i = 0; i < 1000; i++) /* arrays grow */
        sum = pw_dims_add(dims, sum, parse("more"));
    fresh = pw_dims_fresh(dims, "size");
    check_text(old, "2*batch + floor((h + 1)/2)");
    dims = other;
    next = parse("other");
    check_text(next, "other");
    assert_int_equal(parse("2*batch + floor((h + 1)/2)"), old);
    dims = base;
    pw_dims_destroy(other);
    next = parse("third"); /* the lender's again, now that nobody reads it beside */
    check_text(next, "third");
    check_text(old, "2*batch + floor((h + 1)/2)");
    assert_int_not_equal(fresh, PW_DIM_UNKNOWN);
    pw_dims_destroy(borrowed);
    check_text(next, "third");
}

/* A borrowed table that has no memory to become its own does not know what is new, and stays as it was. */
static void test_borrowed_without_memory(void **state)
{
    struct pw_dims *base = dims, *borrowed = NULL;
    pw_dim old = parse("batch*h");

    (void)state;
    for (uint64_t nth = 1; nth < 40; nth++) {
        pw_dim made;

        assert_int_equal(pw_dims_borrow(base, &borrowed, NULL), PW_OK);
        dims = borrowed;
        pw_mem_fail_at(nth, 1);
        made = pw_dims_mul(dims, old, pw_dims_add(dims, old, 7));
        pw_mem_fail_at(0, 0);
        assert_int_equal(parse("batch*h"), old);
        check_text(old, "batch*h");
        if (made != PW_DIM_UNKNOWN)
            check_text(made, "batch*batch*h*h + 7*batch*h");
        pw_dims_destroy(borrowed);
        dims = base;
        if (made != PW_DIM_UNKNOWN)
            break;
        assert_true(nth < 39);
    }
}

static void test_many(void **state)
{
    pw_dim n = parse("n"), last = n;

    (void)state;
    for (int round = 0; round < 2; round++) {
        last = n;
        for (int i = 1; i <= 100000; i++)
            last = pw_dims_add(dims, last, 1);
    }
    assert_int_equal(last, parse("n + 100000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_and_overflow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal_expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_odd_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_eval, setup, teardown),
        cmocka_unit_test_setup_teardown(test_division_exhaustively, setup, teardown),
        cmocka_unit_test_setup_teardown(test_partial_substitution, setup, teardown),
        cmocka_unit_test_setup_teardown(test_at_least, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broadcast, setup, teardown),
        cmocka_unit_test_setup_teardown(test_symbols, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_borrowed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_borrowed_without_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
