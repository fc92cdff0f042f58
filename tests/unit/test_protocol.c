/* The protocol: errors name file, line and key; rules win in order; defaults follow dtype and length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "scratch_file.h"
#include "verify/protocol.h"

static void write_text(const char *text)
{
    struct pw_error err = {0};

    assert_int_equal(pw_file_write(path, text, strlen(text), &err), PW_OK);
}

static void refuses(const char *text, const char *line, const char *part)
{
    struct pw_protocol *protocol = NULL;
    struct pw_error err = {0};
    char place[128];

    write_text(text);
    assert_int_not_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    assert_null(protocol);
    snprintf(place, sizeof place, "%s:%s:", path, line);
    if (!strstr(err.message, place) || !strstr(err.message, part))
        print_error("'%s' lacks '%s' or '%s'\n", err.message, place, part);
    assert_non_null(strstr(err.message, place));
    assert_non_null(strstr(err.message, part));
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    refuses("format: 1\ntolerances:\n  - {op: Softmacks, tolerance: 1}\n", "3", "Softmacks");
    refuses("tolerances:\n  - {category: bananas, tolerance: 1}\n", "2", "bananas");
    refuses("tolerances:\n  - {dtype: float33, tolerance: 1}\n", "2", "float33");
    refuses("tolerances:\n  - {op: Softmax}\n", "2", "tolerance");
    refuses("tolerances:\n  - {op: Softmax, tolerance: -1}\n", "2", "-1");
    refuses("tolerances:\n  - {op: Softmax, tolerance: nan}\n", "2", "tolerance");
    refuses("tolerence:\n  - {op: Softmax, tolerance: 1}\n", "1", "tolerances");
    refuses("format: 2\n", "1", "format");
    refuses("dims:\n  - {batch: many}\n", "2", "batch");
    refuses("dims:\n  - {batch: -3}\n", "2", "batch");
    refuses("warn_share: 0\n", "1", "warn_share");
    refuses("- a list\n", "1", "map");
    refuses("tolerances:\n  - {op: Softmax, category: bananas, tolerance: 1}\n", "2", "bananas");
    refuses("precision:\n  - {op: MatMul}\n", "2", "storage");
    refuses("precision:\n  - {op: MatMul, storage: int8}\n", "2", "int8");
    refuses("precision:\n  - {op: MatMul, accumulate: float17}\n", "2", "float17");
    refuses("precision:\n  - {op: MatMull, storage: float16}\n", "2", "MatMull");
    refuses("precision:\n  - {op: MatMul, storage: float16, tolerance: 1}\n", "2", "tolerance");
    refuses("precision: float16\n", "1", "list");
    refuses("bitwise: {integer: true}\n", "1", "integers");
    refuses("bitwise: {integers: 3}\n", "1", "integers");
    refuses("bitwise:\n  accumulation:\n    - {op: MatMul, order: random}\n", "3", "random");
    refuses("bitwise:\n  accumulation:\n    - {op: MatMul}\n", "3", "order");
    refuses("loss_scaling: {kind: elastic}\n", "1", "elastic");
    refuses("loss_scaling: {scale: 2}\n", "1", "kind");
    refuses("loss_scaling: {kind: dynamic, backoff: 2}\n", "1", "backoff");
    refuses("loss_scaling: {kind: dynamic, growth: 1}\n", "1", "growth");
    refuses("loss_scaling: {kind: dynamic, interval: 0}\n", "1", "interval");
    refuses("loss_scaling:\n  kind: dynamic\n  backoff: 2\n", "3", "key 'backoff'");
    refuses("tolerances:\n  - {op: Softmax, tolerance: 1, dtype: float16, dtype: float32}\n", "2", "dtype");
    refuses("tolerances: {op: Softmax}\n", "1", "tolerances");
    refuses("host_allowed:\n  - TopK\n  - TopQ\n", "3", "host_allowed");
    refuses("precision:\n  - {storage: float32, accumulate: float16}\n", "2", "coarser");
    refuses("environment: refuze\n", "1", "did you mean 'refuse'");
    refuses("bitwise:\n  accumulation:\n    - {op: Relu, order: sequential}\n", "3",
            "key 'order': Relu has no sequential");
    refuses("bitwise:\n  accumulation:\n    - {op: ReduceMax, order: pairwise}\n", "3",
            "ReduceMax has no pairwise order");
    refuses("bitwise:\n  accumulation:\n    - {category: layout, order: pairwise}\n", "3",
            "layout has no pairwise order");
}

static void test_errors_know_the_nearest_word(void **state)
{
    (void)state;
    refuses("host_allowed:\n  - TopQ\n", "2", "did you mean 'TopK'");
    refuses("precision:\n  - op: MatMul\n    storge: float16\n", "3", "did you mean 'storage'");
    refuses("precision:\n  - {op: MatMul, storage: float46}\n", "2", "did you mean 'float16'");
    refuses("loss_scaling: {kind: dinamic}\n", "1", "did you mean 'dynamic'");
    refuses("tolerances:\n  - {category: attentoin, tolerance: 1}\n", "2", "did you mean 'attention'");
    refuses("bitwise:\n  accumulation:\n    - {op: ReduceSum, order: pairs}\n", "3", "did you mean 'pairwise'");
}

static void test_a_whole_file(void **state)
{
    struct pw_protocol *protocol = NULL;
    struct pw_error err = {0};

    (void)state;
    write_text("format: 1\ndims:\n  - {batch: 1, sequence: 16}\n  - {batch: 8, sequence: 1}\n"
               "tolerances:\n  - {op: Softmax, dtype: float32, tolerance: 2e-6, reason: agreed}\n"
               "  - {node: 'lm_head*', tolerance: 1e-4}\nwarn_share: 0.25\nhost_allowed: [TopK]\n");
    assert_int_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    assert_int_equal(protocol->binding_count, 2);
    assert_string_equal(protocol->bindings[1].items[0].name, "batch");
    assert_true(protocol->bindings[1].items[0].value == 8);
    assert_int_equal(protocol->tolerance_count, 2);
    assert_true(protocol->tolerances[0].value == 2e-6 && protocol->tolerances[0].match.dtype == PW_DTYPE_FLOAT32);
    assert_true(protocol->warn_share == 0.25);
    pw_protocol_destroy(protocol);
}

static void test_precision_bitwise_and_loss_scaling(void **state)
{
    const struct pw_op *matmul = pw_op_find("", "MatMul", 13, NULL), *softmax_op = pw_op_find("", "Softmax", 13, NULL);
    struct pw_protocol *protocol = NULL;
    struct pw_precision precision;
    struct pw_error err = {0};

    (void)state;
    write_text("precision:\n  - {op: MatMul, storage: bfloat16, accumulate: float32, reason: the chip's units}\n"
               "  - {node: 'lm_*', storage: float32}\n"
               "bitwise:\n  ties: false\n  random: true\n  rules:\n    - {op: Softmax}\n"
               "  accumulation:\n    - {op: MatMul, order: sequential}\n"
               "loss_scaling: {kind: dynamic, scale: 1024, interval: 100}\n");
    if (pw_protocol_load(path, &protocol, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_protocol_precision(protocol, "attn", matmul, PW_DTYPE_FLOAT32, &precision);
    assert_true(precision.storage == PW_DTYPE_BFLOAT16 && precision.accumulate == PW_DTYPE_FLOAT32);
    assert_int_equal(precision.line, 2);
    pw_protocol_precision(protocol, "lm_head", matmul, PW_DTYPE_FLOAT32, &precision);
    assert_true(precision.storage == PW_DTYPE_FLOAT32 && precision.line == 3);
    pw_protocol_precision(protocol, "attn", softmax_op, PW_DTYPE_FLOAT32, &precision);
    assert_true(precision.storage == PW_DTYPE_UNDEFINED && precision.line == 0);
    assert_true(protocol->bitwise.integers && !protocol->bitwise.ties && protocol->bitwise.random);
    assert_int_equal(protocol->bitwise.rule_count, 1);
    assert_int_equal(protocol->bitwise.accumulation_count, 1);
    assert_int_equal(protocol->bitwise.accumulations[0].accumulation, PW_ACCUMULATION_SEQUENTIAL);
    assert_int_equal(protocol->loss_scale.kind, PW_LOSS_SCALE_DYNAMIC);
    assert_true(protocol->loss_scale.scale == 1024 && protocol->loss_scale.growth == 2 &&
                protocol->loss_scale.interval == 100);
    pw_protocol_destroy(protocol);
}

static void test_an_empty_file_is_the_default(void **state)
{
    struct pw_protocol *protocol = NULL;
    struct pw_error err = {0};

    (void)state;
    write_text("");
    assert_int_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    assert_int_equal(protocol->tolerance_count, 0);
    pw_protocol_destroy(protocol);
}

/* ---- tolerances of calls ---- */

static void sum_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    (void)call;
    accuracy->ulp = 0;
    accuracy->length = 10000;
}

static void copy_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    (void)call;
    accuracy->exact = true;
}

static double tolerance_of(const struct pw_op *op, pw_dtype dtype, const struct pw_protocol *protocol, const char *node)
{
    struct pw_info out = {.kind = PW_VALUE_TENSOR, .dtype = dtype};
    const bool wanted = true;
    struct pw_call call = {.op = op, .output_count = 1, .out = &out, .wanted = &wanted};
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    const char *why = NULL;
    double tolerance = -1;

    assert_int_equal(pw_protocol_tolerance(protocol, &call, node, NULL, &arena, &tolerance, &why, &err), PW_OK);
    assert_non_null(why);
    pw_arena_clear(&arena);
    return tolerance;
}

static void test_defaults_follow_dtype_and_length(void **state)
{
    const struct pw_op plain = {.name = "Plain"}, sum = {.name = "Sum", .accuracy = sum_accuracy},
                       copy = {.name = "Copy", .accuracy = copy_accuracy};
    struct pw_protocol *protocol = NULL;
    struct pw_error err = {0};
    double f32, f16, bf16, summed;

    (void)state;
    assert_int_equal(pw_protocol_default(&protocol, &err), PW_OK);
    f32 = tolerance_of(&plain, PW_DTYPE_FLOAT32, protocol, "n");
    f16 = tolerance_of(&plain, PW_DTYPE_FLOAT16, protocol, "n");
    bf16 = tolerance_of(&plain, PW_DTYPE_BFLOAT16, protocol, "n");
    summed = tolerance_of(&sum, PW_DTYPE_FLOAT32, protocol, "n");
    /* half a unit in the last place of the output is owed by rounding alone: 2^-24, 2^-11, 2^-8 */
    assert_true(f32 > 5.96e-8 && f32 < 1e-6);
    assert_true(f16 > 4.88e-4 && f16 < 6e-4);
    assert_true(bf16 > 3.9e-3 && bf16 < 4.5e-3);
    /* 10,000 terms in float32 walk; accumulation in float16 (2^-11 * sqrt(10000) = 0.05) must not pass */
    assert_true(summed > 1e-5 && summed < 1e-2);
    assert_true(tolerance_of(&copy, PW_DTYPE_FLOAT32, protocol, "n") == 0);
    assert_true(tolerance_of(&plain, PW_DTYPE_INT64, protocol, "n") == 0);
    pw_protocol_destroy(protocol);
}

static void test_the_last_rule_that_matches_wins(void **state)
{
    const struct pw_op softmax = {.name = "Softmax"}, other = {.name = "Other"};
    struct pw_protocol *protocol = NULL;
    struct pw_error err = {0};

    (void)state;
    write_text("tolerances:\n  - {op: Softmax, tolerance: 0.5}\n  - {node: 'lm_*', tolerance: 0.25}\n");
    assert_int_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    assert_true(tolerance_of(&softmax, PW_DTYPE_FLOAT32, protocol, "attn") == 0.5);
    assert_true(tolerance_of(&softmax, PW_DTYPE_FLOAT32, protocol, "lm_head") == 0.25);
    assert_true(tolerance_of(&other, PW_DTYPE_FLOAT32, protocol, "attn") < 1e-3);
    pw_protocol_destroy(protocol);
}

static pw_status any_order(struct pw_eval *ev, struct pw_error *err)
{
    (void)ev;
    (void)err;
    return PW_OK;
}

static struct pw_tolerance judged(const struct pw_op *op, pw_dtype dtype, const struct pw_protocol *protocol,
                                  const struct pw_target_info *info)
{
    struct pw_info out = {.kind = PW_VALUE_TENSOR, .dtype = dtype};
    const bool wanted = true;
    struct pw_call call = {.op = op, .output_count = 1, .out = &out, .wanted = &wanted};
    struct pw_arena arena = {0};
    struct pw_tolerance tolerance;
    struct pw_error err = {0};

    assert_int_equal(pw_protocol_judgement(protocol, &call, "n", info, &arena, &tolerance, &err), PW_OK);
    pw_arena_clear(&arena);
    tolerance.why = NULL;
    return tolerance;
}

/* Sums and products alone: bits. A division after them: bits of a device that rounds it, else what it may lose, which
 * is less than what a free order may. A call without sums is judged as ever. */
static void test_an_order_leaves_only_the_functions(void **state)
{
    const struct pw_op matmul = {.name = "MatMul", .accuracy = sum_accuracy, .ordered = any_order},
                       mean = {.name = "ReduceMean",
                               .accuracy = sum_accuracy,
                               .ordered = any_order,
                               .ordered_functions = "divide"},
                       copy = {.name = "MatMul", .accuracy = copy_accuracy};
    const struct pw_target_info opencl = {.accuracy = {.divide = 2.5, .denormals = true}},
                                exact = {.accuracy = {.divide = 0.5, .denormals = true}},
                                unknown = {.accuracy = {.divide = -1, .denormals = true}};
    struct pw_protocol *protocol = NULL, *plain = NULL;
    struct pw_tolerance t;
    struct pw_error err = {0};
    double free_order;

    (void)state;
    assert_int_equal(pw_protocol_default(&plain, &err), PW_OK);
    free_order = judged(&matmul, PW_DTYPE_FLOAT32, plain, &opencl).value;
    write_text(
        "bitwise:\n  accumulation:\n    - {op: MatMul, order: sequential}\n    - {op: ReduceMean, order: pairwise}\n");
    assert_int_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    t = judged(&matmul, PW_DTYPE_FLOAT32, protocol, &opencl);
    assert_true(t.ordered && t.bitwise && t.value == 0 && t.line == 3 && t.beside == free_order);
    t = judged(&mean, PW_DTYPE_FLOAT32, protocol, &exact);
    assert_true(t.ordered && t.bitwise && t.value == 0 && t.line == 4);
    t = judged(&mean, PW_DTYPE_FLOAT32, protocol, &opencl);
    assert_true(t.ordered && !t.bitwise && t.value > 0 && t.value < free_order / 10);
    assert_false(judged(&mean, PW_DTYPE_FLOAT32, protocol, &unknown).bitwise);
    t = judged(&copy, PW_DTYPE_FLOAT32, protocol, &opencl);
    assert_true(!t.ordered && t.value == 0);
    t = judged(&matmul, PW_DTYPE_INT32, protocol, &opencl);
    assert_true(!t.ordered);
    assert_true(tolerance_of(&matmul, PW_DTYPE_FLOAT32, protocol, "n") == free_order); /* against plain golden */
    pw_protocol_destroy(protocol);
    pw_protocol_destroy(plain);
}

/* The device's word on denormals is about float32. */
static void test_flushing_is_of_float32(void **state)
{
    const struct pw_op matmul = {.name = "MatMul", .ordered = any_order};
    const struct pw_target_info flushes = {.accuracy = {.denormals_fp16 = true}};
    struct pw_protocol *protocol = NULL;
    struct pw_order_demand demand;
    struct pw_error err = {0};

    (void)state;
    write_text("bitwise:\n  accumulation:\n    - {op: MatMul, order: sequential}\n");
    assert_int_equal(pw_protocol_load(path, &protocol, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        struct pw_info out = {.dtype = i ? PW_DTYPE_FLOAT64 : PW_DTYPE_FLOAT32};
        const bool wanted = true;
        const struct pw_call call = {.op = &matmul, .output_count = 1, .out = &out, .wanted = &wanted};

        pw_protocol_order(protocol, &call, "n", &flushes, &demand);
        assert_true(demand.demanded && demand.order.dtype == out.dtype);
        assert_int_equal(demand.order.flush, out.dtype == PW_DTYPE_FLOAT32);
    }
    pw_protocol_destroy(protocol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_an_order_leaves_only_the_functions),
        cmocka_unit_test(test_flushing_is_of_float32),
        cmocka_unit_test(test_errors_know_the_nearest_word),
        cmocka_unit_test(test_a_whole_file),
        cmocka_unit_test(test_an_empty_file_is_the_default),
        cmocka_unit_test(test_defaults_follow_dtype_and_length),
        cmocka_unit_test(test_the_last_rule_that_matches_wins),
        cmocka_unit_test(test_precision_bitwise_and_loss_scaling),
    };

    return cmocka_run_group_tests(tests, scratch_file_make, scratch_file_remove);
}
