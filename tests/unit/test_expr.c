/* The expression language: values by hand, errors by text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "op/expr.h"

static bool lookup(void *user, const char *name, int64_t index, int64_t *value)
{
    static const struct {
        const char *name;
        int64_t value;
    } scalars[] = {{"M", 7}, {"rows", 130}, {"zero", 0}, {"big", INT64_MAX}, {"neg", -7}, {"_x1", 3}};

    (void)user;
    if (index >= 0 && strcmp(name, "shape") == 0 && index < 3) {
        *value = (index + 1) * 10;
        return true;
    }
    for (size_t i = 0; index < 0 && i < PW_COUNT_OF(scalars); i++) {
        if (strcmp(scalars[i].name, name) == 0) {
            *value = scalars[i].value;
            return true;
        }
    }
    return false;
}

static void test_values(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1", 1},
        {" 2 + 3*4 ", 14},
        {"(2 + 3)*4", 20},
        {"10 - 4 - 3", 3},
        {"100/7/2", 7},
        {"7/2", 3},
        {"neg/2", -4},
        {"7/-2", -4},
        {"neg % 3", 2},
        {"7 % -3", -2},
        {"7 % 3", 1},
        {"--3", 3},
        {"-M*2", -14},
        {"!0 + !5", 1},
        {"1 < 2", 1},
        {"2 <= 1", 0},
        {"3 > 2 == 1", 1},
        {"3 != 3", 0},
        {"1 + 1 == 2 && 0 == 0", 1},
        {"5 && 7", 1},
        {"0 || 9", 1},
        {"0 || 0", 0},
        {"1 || 0 && 0", 1},
        {"zero && 1/zero", 0},
        {"1 || 1/zero", 1},
        {"M > 5 ? 10 : 20", 10},
        {"M < 5 ? 1/zero : M < 6 ? 2 : 3", 3},
        {"(0 ? 1 : 0) ? 2 : 3", 3},
        {"min(3, M)", 3},
        {"max(3, M)", 7},
        {"ceildiv(7, 2)", 4},
        {"ceildiv(8, 2)", 4},
        {"ceildiv(neg, 2)", -3},
        {"roundup(rows, 64)", 192},
        {"roundup(128, 64)", 128},
        {"roundup(0, 64)", 0},
        {"pow2(5)", 8},
        {"pow2(8)", 8},
        {"pow2(0)", 1},
        {"abs(neg)", 7},
        {"shape[0] + shape[M - 5]", 40},
        {"shape[min(1, 2)]", 20},
        {"9223372036854775807", INT64_MAX},
        {"_x1", 3},
        {"M*rows+1", 911},
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(cases); i++) {
        struct pw_expr *expr = NULL;
        struct pw_error err = {0};
        int64_t value = -999;

        if (pw_expr_parse(cases[i].text, &expr, &err) != PW_OK ||
            pw_expr_eval(expr, lookup, NULL, &value, &err) != PW_OK)
            fail_msg("'%s': %s", cases[i].text, err.message);
        if (value != cases[i].value)
            fail_msg("'%s' = %lld, expected %lld", cases[i].text, (long long)value, (long long)cases[i].value);
        assert_string_equal(pw_expr_text(expr), cases[i].text);
        pw_expr_destroy(expr);
    }
}

static void test_parse_errors(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "expression '', column 1: expected a value, found the end"},
        {"rows +", "column 7: expected a value, found the end"},
        {"(rows", "column 6: expected ')', found the end"},
        {"rows)", "column 5: expected an operator, found ')'"},
        {"a b", "column 3: expected an operator, found 'b'"},
        {"2.5", "only integers are known"},
        {"1 ? 2", "expected ':'"},
        {"mim(1, 2)", "unknown function 'mim', did you mean 'min'"},
        {"min(1)", "expected ','"},
        {"shape[1", "expected ']'"},
        {"9223372036854775808", "does not fit 64 bits"},
        {"a = 1", "column 3: expected an operator"},
        {"a & b", "column 3: expected an operator"},
        {"\x01", "expected a value"},
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(cases); i++) {
        struct pw_expr *expr = NULL;
        struct pw_error err = {0};

        assert_int_equal(pw_expr_parse(cases[i].text, &expr, &err), PW_ERR_FORMAT);
        assert_null(expr);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' gave: %s", cases[i].text, err.message);
    }
}

static void test_eval_errors(void **state)
{
    static const struct {
        const char *text;
        pw_status status;
        const char *message;
    } cases[] = {
        {"1 + rwos", PW_ERR_FORMAT, "expression '1 + rwos', column 5: unknown name 'rwos'"},
        {"M/zero", PW_ERR_UNSUPPORTED, "column 2: division by zero"},
        {"M%zero", PW_ERR_UNSUPPORTED, "division by zero"},
        {"ceildiv(1, zero)", PW_ERR_UNSUPPORTED, "division by zero"},
        {"roundup(1, zero)", PW_ERR_UNSUPPORTED, "division by zero"},
        {"big + 1", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"-big - 2", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"big * 2", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"(-big - 1) / -1", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"-(-big - 1)", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"pow2(big)", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"roundup(big, 2)", PW_ERR_UNSUPPORTED, "does not fit 64 bits"},
        {"shape[0 - 1]", PW_ERR_UNSUPPORTED, "index -1 of 'shape' is negative"},
        {"shape[3]", PW_ERR_FORMAT, "there is no 'shape[3]'"},
        {"shape", PW_ERR_FORMAT, "unknown name 'shape'"},
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(cases); i++) {
        struct pw_expr *expr = NULL;
        struct pw_error err = {0};
        int64_t value = 42;

        assert_int_equal(pw_expr_parse(cases[i].text, &expr, &err), PW_OK);
        assert_int_equal(pw_expr_eval(expr, lookup, NULL, &value, &err), cases[i].status);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' gave: %s", cases[i].text, err.message);
        assert_int_equal(value, 42);
        pw_expr_destroy(expr);
    }
}

/* Nesting and length are bounded: deep texts get an error, not a stack overflow. */
static void test_hostile(void **state)
{
    static const char *const repeated[] = {"(", "-", "!", "min(", "a[", "1?", "1+(", "a&&(", "0||(1?"};
    char text[8192];

    (void)state;
    for (size_t r = 0; r < PW_COUNT_OF(repeated); r++) {
        size_t n = strlen(repeated[r]), size = 0;
        struct pw_expr *expr = NULL;
        struct pw_error err = {0};

        while (size + n < 4000) {
            memcpy(text + size, repeated[r], n);
            size += n;
        }
        text[size] = 0;
        assert_int_equal(pw_expr_parse(text, &expr, &err), PW_ERR_FORMAT);
    }
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = 0;
    {
        struct pw_expr *expr = NULL;
        struct pw_error err = {0};

        assert_int_equal(pw_expr_parse(text, &expr, &err), PW_ERR_FORMAT);
        assert_non_null(strstr(err.message, "at most 4096"));
    }
}

static void count_name(void *user, const char *name)
{
    struct pw_buf *buf = user;

    pw_buf_printf(buf, "%s;", name);
}

static void test_names(void **state)
{
    struct pw_expr *expr = NULL;
    struct pw_error err = {0};
    struct pw_buf buf = {0};

    (void)state;
    assert_int_equal(pw_expr_parse("rows % M == 0 || shape[1] > rows", &expr, &err), PW_OK);
    pw_expr_explain(expr, lookup, NULL, &buf);
    assert_string_equal(pw_buf_text(&buf), "rows = 130, M = 7, shape[1] = 20");
    pw_buf_clear(&buf);
    pw_expr_names(expr, count_name, &buf);
    assert_string_equal(pw_buf_text(&buf), "rows;M;shape;");
    pw_buf_clear(&buf);
    pw_expr_destroy(expr);
    pw_expr_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_parse_errors), cmocka_unit_test(test_eval_errors),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
