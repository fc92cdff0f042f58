/* Which shapes and which cases a signature gets. */
#include "tests/unit/case_site.h"

static void test_shapes_stay_consistent(void **state)
{
    struct site s;
    struct pw_shapes *shapes = NULL;
    struct pw_error err = {0};
    int made = 0;

    (void)state;
    open_site(&s, "MatMul-13 (float32[5,7], float32[7,3])", NULL);
    check(pw_shapes_create(s.signature, &s.request, &s.impls.items[s.impls.selected], &shapes, &err), &err);
    assert_int_equal(pw_shapes_group_count(shapes), 3); /* M, K and N */
    for (int n = 0; n < PW_SHAPES_KINDS + 6; n++) {
        struct pw_case_spec spec = {.dist = PW_DIST_NORMAL};
        const struct pw_case_change *a, *b;

        if (!pw_shapes_make(shapes, 3, n, &spec))
            continue;
        made++;
        a = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
        b = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 1);
        assert_int_equal(a && a->count ? a->values[a->count - 1] : 7, b && b->count ? b->values[0] : 7); /* K */
    }
    assert_true(made >= 10);
    pw_shapes_destroy(shapes);
    close_site(&s);
}

/* Which kinds of other shapes a call gets, by name: what an operator allows is there, what it does not allow is not. */
static void has_kinds(const char *call, const char *const *there, const char *const *missing)
{
    struct site s;
    struct pw_case_plan *plan = NULL;
    struct pw_buf text = {0};
    struct pw_error err = {0};
    char *line, *none, wanted[80];

    open_site(&s, call, NULL);
    check(pw_case_plan_create(s.signature, &s.request, &s.impls.items[s.impls.selected], NULL, &plan, &err), &err);
    pw_case_plan_describe(plan, &text);
    line = strstr(pw_buf_text(&text), "shapes:");
    assert_non_null(line);
    *strchr(line, '\n') = '\0';
    none = strstr(line, "; not here:");
    for (size_t i = 0; there[i]; i++) {
        char *at;

        snprintf(wanted, sizeof wanted, " %s", there[i]);
        at = strstr(line, wanted);
        if (!at || (none && at > none))
            fail_msg("%s lacks '%s': %s", call, there[i], line);
    }
    for (size_t i = 0; missing[i]; i++) {
        snprintf(wanted, sizeof wanted, " %s", missing[i]);
        if (!none || !strstr(none, wanted))
            fail_msg("%s has '%s': %s", call, missing[i], line);
    }
    pw_buf_clear(&text);
    pw_case_plan_destroy(plan);
    close_site(&s);
}

static void test_kinds_of_shapes(void **state)
{
#define EVERY                                                                                                          \
    "primes", "tile + 1", "tile - 1", "ones", "long row", "large batch", "empty", "work-group ± 1", "many elements"
#define KINDS(...) ((const char *const[]){__VA_ARGS__, NULL})
    static const char *const none[] = {NULL};

    (void)state;
    has_kinds("Softmax-13 axis=-1 (float32[6,19])", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere", "broadcast exchanged"));
    has_kinds("Add-14 (float32[2,3,8], float32[8])",
              KINDS(EVERY, "broadcast", "broadcast everywhere", "broadcast exchanged"),
              KINDS("negative axes", "strides"));
    has_kinds("Where-16 (bool[2,3,8], float32[8], float32[3,1])",
              KINDS(EVERY, "broadcast", "broadcast everywhere", "broadcast exchanged"), KINDS("strides"));
    has_kinds("MatMul-13 (float32[2,13,40], float32[2,40,24])",
              KINDS(EVERY, "broadcast everywhere", "broadcast exchanged"), KINDS("negative axes"));
    has_kinds("Gemm-13 (float32[13,40], float32[40,24], float32[24])", KINDS(EVERY, "strides"), KINDS("negative axes"));
    has_kinds("ReduceSum-13 (float32[4,9,3], =int64[1] 1)", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere"));
    has_kinds("ReduceMean-13 axes=[-1] (float32[4,9,3])", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere"));
    has_kinds("Transpose-13 perm=[0,2,1] (float32[4,9,3])", KINDS(EVERY, "strides"), KINDS("broadcast everywhere"));
    has_kinds("Concat-13 axis=1 (float32[4,9], float32[4,2])", KINDS(EVERY, "negative axes", "strides"), none);
    has_kinds("Gather-13 axis=0 (float32[40,8], int64[5])", KINDS(EVERY, "negative axes", "strides"), none);
}

/* Both together: every operand has been 1 in every position where the other was not. */
static void test_broadcasting_in_every_position(void **state)
{
    struct site s;
    struct pw_shapes *shapes = NULL;
    struct pw_error err = {0};
    bool one[2][3] = {{false}};

    (void)state;
    open_site(&s, "Add-14 (float32[2,3,8], float32[2,3,8])", NULL);
    check(pw_shapes_create(s.signature, &s.request, &s.impls.items[s.impls.selected], &shapes, &err), &err);
    for (int n = PW_SHAPES_KINDS - 2; n < PW_SHAPES_KINDS; n++) {
        struct pw_case_spec spec = {.seed = 1};
        const struct pw_case_change *a, *b;

        assert_true(pw_shapes_make(shapes, 1, n, &spec));
        a = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
        b = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 1);
        assert_non_null(a);
        assert_non_null(b);
        for (int d = 0; d < 3; d++) {
            assert_true((a->values[d] == 1) != (b->values[d] == 1));
            one[0][d] |= a->values[d] == 1;
            one[1][d] |= b->values[d] == 1;
        }
    }
    for (int d = 0; d < 3; d++)
        assert_true(one[0][d] && one[1][d]);
    pw_shapes_destroy(shapes);
    close_site(&s);
}

static void test_plan(void **state)
{
    struct site s;
    struct pw_case_plan *plan, *again;
    unsigned dists = 0;
    size_t minimum;
    bool nan = false, other = false, property = false;

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", NULL);
    plan = plan_of(&s);
    again = plan_of(&s);
    minimum = pw_case_plan_minimum(plan);
    assert_true(minimum >= PW_VERIFY_MIN_CASES);
    for (size_t i = 0; i < minimum + 40; i++) {
        struct pw_case_spec a, b;
        char first[PW_CASE_ID_MAX], second[PW_CASE_ID_MAX];

        assert_true(pw_case_plan_next(plan, &a) && pw_case_plan_next(again, &b));
        assert_true(pw_case_id_print(s.signature, &a, first) && pw_case_id_print(s.signature, &b, second));
        assert_string_equal(first, second);
        if (i >= minimum)
            continue;
        dists |= 1u << a.dist;
        nan |= a.dist == PW_DIST_SPECIAL && a.dtype == PW_DTYPE_UNDEFINED && !(a.seed & 3);
        other |= a.dtype == PW_DTYPE_FLOAT16;
        property |= a.property[0] != '\0';
    }
    assert_int_equal(dists, (1u << PW_DIST_CAPTURED) - 1);
    assert_true(nan && other && property);
    pw_case_plan_destroy(plan);
    pw_case_plan_destroy(again);
    s.request.effort.dists = 1u << PW_DIST_EXACT;
    s.request.effort.dtypes = 0;
    s.request.effort.min_cases = 3;
    plan = plan_of(&s);
    assert_int_equal(pw_case_plan_minimum(plan), 3);
    for (int i = 0; i < 30; i++) {
        struct pw_case_spec spec;

        assert_true(pw_case_plan_next(plan, &spec));
        assert_int_equal(spec.dist, PW_DIST_EXACT);
        assert_int_equal(spec.dtype, PW_DTYPE_UNDEFINED);
    }
    pw_case_plan_destroy(plan);
    close_site(&s);
}

/* Sizes that are contents are as bounded as others. */
static void test_sizes_in_contents(void **state)
{
    struct site s;
    struct pw_case_plan *plan;

    (void)state;
    open_site(&s, "ConstantOfShape-25 value=<uint16[1] 3> (int64[3] 3 7 61)", NULL);
    for (s.request.seed = 1; s.request.seed <= 20; s.request.seed++) {
        plan = plan_of(&s);
        for (int i = 0; i < 60; i++) {
            const struct pw_case_change *sizes;
            struct pw_case_spec spec;
            double product = 1;

            if (!pw_case_plan_next(plan, &spec))
                break;
            sizes = pw_case_change_of(&spec, PW_CHANGE_CONTENT, 0);
            for (int k = 0; sizes && k < sizes->count; k++)
                product *= (double)sizes->values[k];
            assert_true(product <= 1 << 19);
        }
        pw_case_plan_destroy(plan);
    }
    close_site(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_stay_consistent),
        cmocka_unit_test(test_kinds_of_shapes),
        cmocka_unit_test(test_broadcasting_in_every_position),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_sizes_in_contents),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
