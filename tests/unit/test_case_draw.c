/* What a case draws: its seed decides it, each distribution has what it is for, and an operator gets what its result is
 * defined for. */
#include "tests/unit/case_site.h"

#include "verify/draw.h"

static const struct pw_fill any = {.low = -INFINITY, .high = INFINITY, .int_low = -100, .int_high = 100};

static void draw(pw_dtype dtype, pw_dist dist, uint64_t seed, struct pw_tensor *t)
{
    int64_t shape[2] = {64, 32};
    struct pw_draw d = {
        .dist = dist, .seed = seed, .stream = 1, .fill = &any, .exponents = 12, .share = 0.5, .masks = true};
    struct pw_error err = {0};

    check(pw_tensor_init(t, dtype, 2, shape, &err), &err);
    pw_draw_tensor(t, &d);
}

static void test_draws_are_their_seed(void **state)
{
    (void)state;
    for (int dist = 0; dist < PW_DIST_CAPTURED; dist++) {
        struct pw_tensor a = {0}, b = {0}, c = {0};

        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 5, &a);
        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 5, &b);
        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 6, &c);
        assert_memory_equal(a.data, b.data, 64 * 32 * 4);
        assert_memory_not_equal(a.data, c.data, 64 * 32 * 4);
        pw_tensor_clear(&a);
        pw_tensor_clear(&b);
        pw_tensor_clear(&c);
    }
}

/* What was seen over the seeds of a distribution. */
struct seen {
    bool nan, infinity, denormal, zero, minus_zero, fraction;
    double most, least; /* magnitudes of finite numbers but zero */
    int masked_rows, clean_rows;
};

static struct seen look(pw_dist dist, uint64_t seeds)
{
    struct seen s = {.least = INFINITY};

    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct pw_tensor t = {0};

        draw(PW_DTYPE_FLOAT32, dist, seed, &t);
        for (int64_t i = 0; i < t.count; i++) {
            double x = pw_tensor_get(&t, i);
            int in_row = (int)(i % 32);

            s.nan |= isnan(x);
            s.infinity |= isinf(x);
            s.denormal |= x != 0 && fabs(x) < 0x1p-126;
            s.zero |= x == 0 && !signbit(x);
            s.minus_zero |= x == 0 && signbit(x);
            if (isfinite(x) && x != 0) {
                s.fraction |= x != floor(x);
                s.most = fmax(s.most, fabs(x));
                s.least = fmin(s.least, fabs(x));
            }
            if (in_row == 31) {
                int gone = 0;

                for (int64_t k = i - 31; k <= i; k++)
                    gone += pw_tensor_get(&t, k) == -INFINITY;
                s.masked_rows += gone == 32;
                s.clean_rows += gone == 0;
            }
        }
        pw_tensor_clear(&t);
    }
    return s;
}

static void test_distributions(void **state)
{
    struct seen exact = look(PW_DIST_EXACT, 4), special = look(PW_DIST_SPECIAL, 4), masked = look(PW_DIST_MASKED, 4);
    struct seen wide = look(PW_DIST_WIDE, 4), normal = look(PW_DIST_NORMAL, 4);

    (void)state;
    assert_false(exact.fraction);
    assert_true(exact.most <= 4 && exact.zero && !exact.nan && !exact.infinity);
    assert_true(special.nan && special.infinity && special.denormal && special.zero && special.minus_zero);
    assert_true(masked.masked_rows > 10 && masked.clean_rows > 10 && !masked.nan);
    assert_true(wide.most > 0x1p11 && wide.most < 0x1p13 && wide.least < 0x1p-11 && wide.least >= 0x1p-12);
    assert_false(wide.nan || wide.infinity);
    assert_true(normal.most < 8 && normal.most > 3 && !normal.nan);
}

/* Draws stay where the operator's result is defined: a power that is no integer, a norm that 64 bits do not hold,
 * n-grams of no known word say nothing. */
static void test_draws_where_defined(void **state)
{
    static const struct {
        const char *call, *dtype;
        int input;
        double low, high;
    } all[] = {
        {"Pow-15 (int64[5,17], float32[17])", "f32", 0, 1, 4},
        {"Pow-15 (int64[5,17], float32[17])", "f32", 1, -3, 3},
        {"ReduceL2-18 (int64[9,31])", "i64", 0, -1048576, 1048576},
        {"ReduceLogSumExp-18 (int32[9,31])", "i32", 0, -1048576, 1048576},
        {"TfIdfVectorizer-9 max_gram_length=2 max_skip_count=0 min_gram_length=2 mode='TF' ngram_counts=[0,2] "
         "ngram_indexes=[0,1,2,3] pool_int64s=[7,9,15,12,7,8] (int32[61])",
         "i32", 0, 7, 15},
    };
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_site(&s, all[i].call, NULL);
        for (int seed = 0; seed < 16; seed++) {
            struct pw_case_inputs inputs = {.count = 0};
            char tail[64];

            snprintf(tail, sizeof tail, "%s:graph:%s:%d", all[i].dtype, seed & 8 ? "wide" : "special", seed);
            draw_case(&s, tail, &inputs);
            for (int64_t k = 0; k < inputs.values[all[i].input].tensor.count; k++) {
                double x = pw_tensor_get(&inputs.values[all[i].input].tensor, k);

                if (!(x >= all[i].low && x <= all[i].high))
                    fail_msg("%s %s: %g", all[i].call, tail, x);
            }
            pw_case_inputs_clear(&inputs);
        }
        close_site(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_are_their_seed),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_draws_where_defined),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
