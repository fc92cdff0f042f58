/* The fast reference in its own process: names, samples, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "graph/infer.h"
#include "op/cases.h"
#include "run/reference_process.h"

#define REPEATS 10

struct timed {
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[PW_CASE_MAX_INPUTS];
    int64_t samples[REPEATS];
    int count;
    const char *name;
    struct pw_error err;
};

static struct pw_reference_process *reference;

static pw_status time_case(const struct pw_room_case *c, int repeats, int64_t min_time_ns, struct timed *t)
{
    memset(t, 0, sizeof *t);
    assert_int_equal(pw_case_parse(c, &t->data, &t->err), PW_OK);
    assert_int_equal(pw_dims_create(&t->dims, &t->err), PW_OK);
    for (size_t i = 0; i < t->data.input_count; i++)
        t->in[i] = t->data.inputs[i].kind == PW_VALUE_NONE ? NULL : &t->data.inputs[i];
    if (pw_call_from_values(t->data.node, t->in, (int)t->data.input_count, t->dims, &t->arena, &t->call, &t->err) !=
        PW_OK)
        fail_msg("%s", t->err.message);
    return pw_reference_time(reference, &t->call, t->in, (int)t->data.input_count, repeats, min_time_ns, t->samples,
                             &t->count, &t->name, &t->err);
}

static void drop(struct timed *t)
{
    pw_case_clear(&t->data);
    pw_dims_destroy(t->dims);
    pw_arena_clear(&t->arena);
}

static const struct pw_room_case matmul = {
    "test/matmul",        "MatMul-13", {"float32[64,32] uniform 1", "float32[32,48] uniform 2"},
    {"float32[64,48] 0"}, NULL,        0};

static void test_matmul_is_openblas(void **state)
{
    struct timed t;
    (void)state;
    pw_status status = time_case(&matmul, REPEATS, 0, &t);
    if (status != PW_OK)
        print_error("%s\n", t.err.message);
    assert_int_equal(status, PW_OK);
    assert_int_equal(t.count, REPEATS);
    assert_string_equal(t.name, "openblas");
    for (int i = 0; i < REPEATS; i++)
        assert_true(t.samples[i] > 0);
    drop(&t);
}

static void test_stops_after_the_time(void **state)
{
    struct timed t;
    (void)state;
    assert_int_equal(time_case(&matmul, REPEATS, 1, &t), PW_OK);
    assert_int_equal(t.count, 1);
    drop(&t);
}

static void test_two_sets_and_cold_caches(void **state)
{
    struct timed t, other;
    struct pw_value narrow = {.kind = PW_VALUE_TENSOR};
    const struct pw_value *alternate[PW_CASE_MAX_INPUTS] = {NULL};
    int64_t one = 1;
    uint16_t half = 0;
    (void)state;
    assert_int_equal(time_case(&matmul, REPEATS, 0, &t), PW_OK);
    assert_int_equal(time_case(&matmul, 1, 0, &other), PW_OK);
    alternate[1] = other.in[1];
    struct pw_reference_request request = {.call = &t.call,
                                           .inputs = t.in,
                                           .input_count = 2,
                                           .alternate = alternate,
                                           .repeats = 5,
                                           .flush_bytes = (3 << 20) + 1};
    assert_int_equal(pw_reference_measure(reference, &request, t.samples, &t.count, &t.name, &t.err), PW_OK);
    assert_int_equal(t.count, 5);
    assert_string_equal(t.name, "openblas");
    pw_tensor_borrow(&narrow.tensor, PW_DTYPE_FLOAT16, 1, &one, &half); /* not the input's type: left alone */
    alternate[0] = &narrow;
    assert_int_equal(pw_reference_measure(reference, &request, t.samples, &t.count, &t.name, &t.err), PW_OK);
    assert_int_equal(t.count, 5);
    drop(&t);
    drop(&other);
}

static void test_half_and_attributes(void **state)
{
    const struct pw_room_case softmax = {
        "test/softmax", "Softmax-13 axis=0", {"float16[3,2] 1 2 3 4 5 6"}, {"float16[3,2] 0"}, NULL, 0};
    struct timed t;
    (void)state;
    assert_int_equal(time_case(&softmax, REPEATS, 0, &t), PW_OK);
    assert_int_equal(t.count, REPEATS);
    assert_string_not_equal(t.name, "openblas");
    drop(&t);
}

static void test_failure_is_reported(void **state)
{
    struct timed t;
    (void)state;
    assert_int_equal(time_case(&matmul, REPEATS, 0, &t), PW_OK);
    /* Inputs that do not fit together: the process refuses and serves the next request. */
    const struct pw_value *swapped[2] = {t.in[0], t.in[0]};
    assert_true(pw_reference_time(reference, &t.call, swapped, 2, REPEATS, 0, t.samples, &t.count, &t.name, &t.err) !=
                PW_OK);
    assert_int_equal(t.count, 0);
    assert_non_null(strstr(t.err.message, "reference: "));
    drop(&t);
    assert_int_equal(time_case(&matmul, REPEATS, 0, &t), PW_OK);
    drop(&t);
}

static int group_setup(void **state)
{
    (void)state;
    return pw_reference_open(2, &reference, NULL) == PW_OK ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    pw_reference_close(reference);
    pw_reference_close(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--reference") == 0)
        return pw_reference_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul_is_openblas),       cmocka_unit_test(test_stops_after_the_time),
        cmocka_unit_test(test_two_sets_and_cold_caches), cmocka_unit_test(test_half_and_attributes),
        cmocka_unit_test(test_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
