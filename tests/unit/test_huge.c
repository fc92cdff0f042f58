/* Huge cases without the memory for them: which shape and dtype a signature gets, what it would need, and the hash that
 * the elements are drawn by. Sizes worked out by hand. */
#include "tests/unit/case_site.h"

#include "base/mem.h"
#include "verify/huge.h"

static void plan(struct site *s, struct pw_case_spec *spec, char why[200])
{
    struct pw_case_plan *cases = plan_of(s);
    struct pw_buf text = {0};

    pw_huge_plan(pw_case_plan_shapes(cases), spec, &text);
    snprintf(why, 200, "%s", pw_buf_text(&text));
    pw_buf_clear(&text);
    pw_case_plan_destroy(cases);
}

/* 2^31 + 4096 elements at least, of one byte: 113025671 rows of 19, 67108992 of 32. The liar has memory of its
 * own, so of all tensors there is one copy more; of the rest the most at once is the inputs, the outputs, and one more
 * of the larger. */
static void test_shapes_and_needs(void **state)
{
    static const struct {
        const char *call, *changes;
        int64_t need;
    } all[] = {
        {"Relu-14 (float32[4,19])", ":i8:i0=113025671x19:uniform:1", 5 * INT64_C(2147487749)},
        {"Add-14 (float32[4,19], float32[4,19])", ":i8:i0=113025671x19,i1=113025671x19:uniform:1",
         7 * INT64_C(2147487749)},
        {"Relu-14 (float16[37])", ":i8:i0=2147487744:uniform:1", 5 * INT64_C(2147487744)},
        {"Transpose-13 perm=[1,0] (int64[16,32])", ":i8:i0=67108992x32:uniform:1", 5 * INT64_C(2147487744)},
        {"Not-1 (bool[2])", ":bool:i0=2147487744:uniform:1", 5 * INT64_C(2147487744)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pw_case_spec spec;
        struct site s;
        char why[200], id[PW_CASE_ID_MAX];

        open_site(&s, all[i].call, NULL);
        plan(&s, &spec, why);
        assert_string_equal(why, "");
        assert_true(pw_case_id_print(s.signature, &spec, id));
        assert_string_equal(id + strlen("3:0123456789abcdef"), all[i].changes);
        assert_true(pw_huge_is(s.signature, &spec, pw_huge_threshold(&s.request)));
        if (pw_huge_need(s.signature, &spec, s.device) != all[i].need)
            fail_msg("%s needs %lld", all[i].call, (long long)pw_huge_need(s.signature, &spec, s.device));
        close_site(&s);
    }
}

static void test_what_has_none(void **state)
{
    static const struct {
        const char *call, *why;
    } all[] = {
        {"Softmax-13 (float32[4,19])", "no huge case: its reference would need"},
        {"MatMul-13 (float32[4,19], float32[19,5])", "no huge case: its reference would need"},
        {"Unique-11 (int32[7])", "no huge case: its reference would need"},
        {"Exp-13 (float32[4,19])", "no huge case: no axis grows to 2147483648 elements of integers or booleans"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pw_case_spec spec;
        struct site s;
        char why[200];

        open_site(&s, all[i].call, NULL);
        plan(&s, &spec, why);
        if (strncmp(why, all[i].why, strlen(all[i].why)) != 0)
            fail_msg("%s: '%s'", all[i].call, why);
        close_site(&s);
    }
}

/* What a graph has itself, and what is smaller, is run as any other case. */
static void test_what_is_huge(void **state)
{
    struct pw_case_spec spec = {.dtype = PW_DTYPE_INT8};
    struct pw_case_change shape = {.kind = PW_CHANGE_SHAPE, .input = 0, .count = 2, .values = {70000, 19}};
    struct site s;

    (void)state;
    open_site(&s, "Relu-14 (int8[70000,19])", NULL);
    assert_false(pw_huge_is(s.signature, &spec, 1 << 16));
    assert_true(pw_case_change_set(&spec, &shape));
    assert_true(pw_huge_is(s.signature, &spec, 1 << 16));
    assert_false(pw_huge_is(s.signature, &spec, 1 << 21));
    spec.dtype = PW_DTYPE_FLOAT32;
    assert_false(pw_huge_is(s.signature, &spec, 1 << 16));
    close_site(&s);
}

static void test_memory(void **state)
{
    struct pw_buf why = {0};

    (void)state;
    assert_true(pw_huge_affordable(1 << 20, &why));
    assert_int_equal(why.size, 0);
    assert_false(pw_huge_affordable(INT64_C(7) << 40, &why));
    assert_non_null(strstr(pw_buf_text(&why), "needs 7168.0 GiB of memory, and for safety 2 times that; "));
    pw_buf_clear(&why);
}

/* An element is another than the one at any power of two before it, as often as chance has it. All values come, and no
 * two inputs or seeds are alike. */
static void test_hash(void **state)
{
    const int64_t shape[] = {1 << 20};
    const struct pw_fill fill = {.int_low = -100, .int_high = 100};
    static const pw_dtype dtypes[] = {PW_DTYPE_INT8, PW_DTYPE_BOOL, PW_DTYPE_INT32};

    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        /* of a byte: 55 values come by two of its 256, 146 by one */
        double alike = dtypes[k] == PW_DTYPE_BOOL   ? 1.0 / 2
                       : dtypes[k] == PW_DTYPE_INT8 ? (55 * 4 + 146) / 65536.0
                                                    : 1.0 / 201;
        struct pw_tensor t = {0}, other = {0};
        bool seen[201] = {false};
        int64_t kinds = 0, same = 0;
        struct pw_error err = {0};

        check(pw_tensor_init(&t, dtypes[k], 1, shape, &err), &err);
        check(pw_tensor_init(&other, dtypes[k], 1, shape, &err), &err);
        assert_true(pw_draw_hashed(&t, &fill, 1, 0));
        for (int64_t i = 0; i < t.count; i++) {
            int64_t x = pw_tensor_get_int(&t, i);

            assert_in_range(x + 100, 0, 200);
            kinds += !seen[x + 100];
            seen[x + 100] = true;
        }
        assert_int_equal(kinds, dtypes[k] == PW_DTYPE_BOOL ? 2 : 201);
        for (int64_t back = 1; back < t.count; back *= 2) {
            for (int64_t i = back, n = 0; n < 16384 && i < t.count; i++, n++)
                same += pw_tensor_get_int(&t, i) == pw_tensor_get_int(&t, i - back);
        }
        assert_true((double)same < 20 * 16384 * alike * 1.1); /* 20 powers; a tenth is many standard deviations */
        for (uint64_t stream = 0; stream < 2; stream++) {
            assert_true(pw_draw_hashed(&other, &fill, 2 - stream, stream)); /* another seed, another input */
            same = 0;
            for (int64_t i = 0; i < t.count; i++)
                same += pw_tensor_get_int(&t, i) == pw_tensor_get_int(&other, i);
            assert_true((double)same < (double)t.count * alike * 1.1);
        }
        pw_tensor_clear(&t);
        pw_tensor_clear(&other);
    }
}

/* Whichever allocation fails: the case is skipped, or the run ends with that reason. */
static void test_memory_runs_out(void **state)
{
    struct site s;
    bool through = false;

    (void)state;
    open_site(&s, "Relu-14 (float32[4,19])", NULL);
    s.request.effort.huge = true;
    s.request.effort.huge_elements = 1 << 16;
    for (uint64_t nth = 1; nth < 4000 && !through; nth += 1 + nth / 6) {
        struct pw_verify_totals totals;
        struct pw_error err = {0};
        pw_status status;

        pw_mem_fail_at(nth, 0);
        status = pw_verify_run(&s.request, &totals, &err);
        through = pw_mem_count() < nth;
        pw_mem_fail_at(0, 0);
        if (status == PW_OK)
            assert_true(totals.cases_failed == 0 && totals.cases == 1);
        else if (status != PW_ERR_NO_MEMORY || !err.message[0])
            fail_msg("allocation %d: %s", (int)nth, err.message);
        if (through)
            assert_int_equal(totals.held, 1);
    }
    assert_true(through);
    close_site(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_needs),
        cmocka_unit_test(test_what_has_none),
        cmocka_unit_test(test_what_is_huge),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_memory_runs_out),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
