/* Broadcast plans against the definition: element by element over all shapes of a small set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/broadcast.h"

struct seen {
    int64_t at[2][4096];
    int64_t runs, steps;
};

static void note(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    struct seen *s = user;

    s->runs++;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            assert_true(steps[k] == 0 || steps[k] == 1);
            s->at[k][out + i] = at[k] + i * steps[k];
        }
    }
}

/* Where output element `flat` reads an operand, by the definition of broadcasting. */
static int64_t expected(int64_t flat, int rank, const int64_t *out, int own_rank, const int64_t *own)
{
    int64_t at = 0, step = 1;

    for (int d = rank - 1; d >= 0; d--) {
        int o = d - (rank - own_rank);
        int64_t i = flat % out[d];

        flat /= out[d];
        if (o < 0)
            continue;
        at += (own[o] == 1 ? 0 : i) * step;
        step *= own[o];
    }
    return at;
}

static void check(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int64_t cut)
{
    static struct seen s;
    struct pw_broadcast plan;
    const int ranks[] = {rank_a, rank_b};
    const int64_t *const dims[] = {a, b};
    int64_t out[PW_MAX_RANK], count = 1;
    int rank = 0;

    if (!pw_broadcast_shape(rank_a, a, rank_b, b, &rank, out))
        return;
    for (int d = 0; d < rank; d++)
        count *= out[d];
    assert_true(pw_broadcast_plan(&plan, rank, out, 2, ranks, dims));
    assert_int_equal(plan.count, count);
    memset(&s, 0xff, sizeof s);
    for (int64_t begin = 0; begin < count; begin += cut)
        pw_broadcast_walk(&plan, begin, begin + cut < count ? begin + cut : count, note, &s);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(s.at[0][i], expected(i, rank, out, rank_a, a));
        assert_int_equal(s.at[1][i], expected(i, rank, out, rank_b, b));
    }
}

/* All pairs of shapes up to rank 4 with sizes of a set, in pieces that cut runs. */
static void test_all(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 0};
    int64_t a[4], b[4];

    (void)state;
    for (int rank_a = 0; rank_a <= 4; rank_a++) {
        for (int rank_b = 0; rank_b <= 3; rank_b++) {
            for (int i = 0; i < 1 << (2 * rank_a); i++) {
                for (int j = 0; j < 1 << (2 * rank_b); j++) {
                    for (int d = 0; d < rank_a; d++)
                        a[d] = sizes[i >> (2 * d) & 3];
                    for (int d = 0; d < rank_b; d++)
                        b[d] = sizes[j >> (2 * d) & 3];
                    check(rank_a, a, rank_b, b, 1 + (i + j) % 7);
                }
            }
        }
    }
}

static void test_collapse(void **state)
{
    const int64_t full[] = {2, 3, 4}, row[] = {4}, column[] = {2, 3, 1}, none[] = {1, 1}, middle[] = {3, 1};
    const struct {
        int rank;
        const int64_t *dims;
        int collapsed;
        int64_t inner;
    } cases[] = {{3, full, 1, 24}, {1, row, 2, 4}, {3, column, 2, 4}, {2, none, 1, 24}, {2, middle, 3, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_broadcast plan;
        const int ranks[] = {3, cases[i].rank};
        const int64_t *const dims[] = {full, cases[i].dims};

        assert_true(pw_broadcast_plan(&plan, 3, full, 2, ranks, dims));
        assert_int_equal(plan.rank, cases[i].collapsed);
        assert_int_equal(plan.dims[plan.rank - 1], cases[i].inner);
    }
}

static void test_refused(void **state)
{
    const int64_t a[] = {2, 3}, b[] = {2, 4}, c[] = {2, 2, 3};
    const int ranks[] = {2, 3};
    const int64_t *const wrong[] = {b}, *const higher[] = {a, c};
    struct pw_broadcast plan;
    int64_t dims[PW_MAX_RANK];
    int rank;

    (void)state;
    assert_false(pw_broadcast_shape(2, a, 2, b, &rank, dims));
    assert_false(pw_broadcast_plan(&plan, 2, a, 1, ranks, wrong));
    assert_false(pw_broadcast_plan(&plan, 2, a, 2, ranks, higher));
    assert_false(pw_broadcast_plan(&plan, 2, a, PW_BROADCAST_OPERANDS + 1, ranks, higher));
}

/* Callers join shapes one by one into the first operand's array. */
static void test_shape_in_place(void **state)
{
    int64_t dims[PW_MAX_RANK] = {1, 1}, other[PW_MAX_RANK] = {1, 1};
    const int64_t longer[] = {4, 1, 3};
    int rank;

    (void)state;
    assert_true(pw_broadcast_shape(2, dims, 3, longer, &rank, dims));
    assert_int_equal(rank, 3);
    assert_memory_equal(dims, longer, sizeof longer);
    assert_true(pw_broadcast_shape(3, longer, 2, other, &rank, other));
    assert_memory_equal(other, longer, sizeof longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_in_place),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
