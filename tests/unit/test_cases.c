/* The case text: every kind of value and attribute, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/cases.h"

static struct pw_value parse(const char *text)
{
    struct pw_value value = {0};
    struct pw_error err = {0};

    if (pw_tensor_parse(text, &value, &err) != PW_OK)
        fail_msg("%s: %s", text, err.message);
    return value;
}

static void test_numbers(void **state)
{
    struct pw_value v = parse("float32[2,3] 1 -2.5 nan inf -inf 1e-3");

    (void)state;
    assert_int_equal(v.tensor.rank, 2);
    assert_int_equal(v.tensor.dims[1], 3);
    assert_true(pw_tensor_get(&v.tensor, 1) == -2.5);
    assert_true(isnan(pw_tensor_get(&v.tensor, 2)));
    assert_true(pw_tensor_get(&v.tensor, 4) == -INFINITY);
    assert_true(pw_tensor_get(&v.tensor, 5) == (double)1e-3f);
    pw_value_clear(&v);
    v = parse("uint64[2] 18446744073709551615 0");
    assert_int_equal(((uint64_t *)v.tensor.data)[0], UINT64_MAX);
    pw_value_clear(&v);
    v = parse("int64[1] -9223372036854775808");
    assert_int_equal(((int64_t *)v.tensor.data)[0], INT64_MIN);
    pw_value_clear(&v);
    v = parse("bool[3] true false 1");
    assert_memory_equal(v.tensor.data, "\1\0\1", 3);
    pw_value_clear(&v);
    v = parse("complex64[2] 1 2 3 -4"); /* pairs */
    assert_true(((float *)v.tensor.data)[3] == -4.0f);
    assert_int_equal(v.tensor.count, 2);
    pw_value_clear(&v);
    v = parse("float16[] 0.1"); /* 0x2e66 */
    assert_int_equal(*(uint16_t *)v.tensor.data, 0x2e66);
    pw_value_clear(&v);
}

static void test_fills(void **state)
{
    struct pw_value v = parse("int32[2,2] 7"), w;

    (void)state;
    assert_int_equal(pw_tensor_get_int(&v.tensor, 3), 7);
    pw_value_clear(&v);
    v = parse("float64[5] iota");
    assert_true(pw_tensor_get(&v.tensor, 4) == 4.0);
    pw_value_clear(&v);
    v = parse("float32[100] uniform 3");
    w = parse("float32[100] uniform 3");
    assert_memory_equal(v.tensor.data, w.tensor.data, 400);
    for (int i = 0; i < 100; i++)
        assert_true(pw_tensor_get(&v.tensor, i) >= -1.0 && pw_tensor_get(&v.tensor, i) < 1.0);
    pw_value_clear(&w);
    w = parse("float32[100] uniform 4");
    assert_memory_not_equal(v.tensor.data, w.tensor.data, 400);
    pw_value_clear(&v);
    pw_value_clear(&w);
    v = parse("float32[0,3]");
    assert_int_equal(v.tensor.count, 0);
    pw_value_clear(&v);
}

static void test_strings(void **state)
{
    struct pw_value v = parse("string[3] 'a b' '' 'it\\'s \\\\ \\n'");
    const struct pw_bytes *s = v.tensor.data;

    (void)state;
    assert_int_equal(s[0].size, 3);
    assert_int_equal(s[1].size, 0);
    assert_memory_equal(s[2].data, "it's \\ \n", 8);
    pw_value_clear(&v);
}

static void test_other_values(void **state)
{
    struct pw_value v = parse("absent");

    (void)state;
    assert_int_equal(v.kind, PW_VALUE_NONE);
    v = parse("seq(float32)");
    assert_true(v.kind == PW_VALUE_SEQUENCE && v.count == 0 && v.item_dtype == PW_DTYPE_FLOAT32);
    pw_value_clear(&v);
    v = parse("seq(string[1] 'a;b)'; string[2] 'c' 'd')");
    assert_int_equal(v.count, 2);
    assert_int_equal(v.items[1].tensor.count, 2);
    assert_int_equal(((struct pw_bytes *)v.items[0].tensor.data)->size, 4);
    pw_value_clear(&v);
}

static void test_bad_tensors(void **state)
{
    static const char *const bad[] = {
        "",
        "float33[1] 1",
        "float32",
        "float32[2",
        "float32[x] 1",
        "float32[-1] 1",
        "float32[2] 1 2 3",
        "float32[3] 1 2",
        "float32[1] one",
        "int32[1] 1.5",
        "string[1] a",
        "string[1] 'a",
        "float32[99999999999,99999999999] 1",
        "float32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] 1",
        "seq(float32[1] 1",
        "uint64[1] 18446744073709551616",
        "float32[2] uniform",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pw_value value = {0};
        struct pw_error err = {0};

        if (pw_tensor_parse(bad[i], &value, &err) == PW_OK)
            fail_msg("'%s' was accepted", bad[i]);
        assert_true(strlen(err.message) > 0);
        assert_int_equal(value.kind, PW_VALUE_NONE);
    }
}

static void test_call(void **state)
{
    struct pw_room_case c = {"constant/x",
                             "Constant-13 value_floats=[0.5,-1.0,3]",
                             {"float32[1] 1", "-", "int64[2] 1 2"},
                             {"-", "float32[3] 0.5 -1 3"},
                             NULL,
                             0};
    struct pw_case_data data;
    struct pw_error err = {0};
    const struct pw_attr *attr;

    (void)state;
    if (pw_case_parse(&c, &data, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(data.opset, 13);
    assert_int_equal(data.node->op->since, 13);
    attr = pw_node_attr(data.node, "value_floats");
    assert_true(attr->type == PW_ATTR_FLOATS && attr->count == 3 && attr->floats[1] == -1.0f &&
                attr->floats[2] == 3.0f);
    assert_int_equal(data.input_count, 3);
    assert_int_equal(data.node->inputs[1], PW_NO_VALUE);
    assert_string_equal(data.graph->values[data.node->inputs[2]].name, "i2");
    assert_int_equal(data.graph->input_count, 2);
    assert_int_equal(data.graph->values[data.node->inputs[2]].type->dim_values[0], 2);
    assert_int_equal(data.output_count, 2);
    assert_int_equal(data.outputs[0].kind, PW_VALUE_NONE);
    assert_int_equal(data.outputs[1].tensor.count, 3);
    assert_ptr_equal(data.graph->values[data.node->outputs[1]].producer, data.node);
    pw_case_clear(&data);
}

static void test_attribute_kinds(void **state)
{
    struct pw_room_case c = {.name = "constant/x", .outputs = {"-"}};
    struct pw_case_data data;

    (void)state;
    c.call = "Constant-13 value_string='a = [b' value_int=float16 value_ints=[] value_strings=['x','y z'] "
             "value=<float16[2] 1 2> value_float=2 sparse_value=sparse(<int32[1] 5> <int64[1] 1> [2,2])";
    assert_int_equal(pw_case_parse(&c, &data, NULL), PW_OK);
    assert_string_equal(pw_node_attr(data.node, "value_string")->s.data, "a = [b");
    assert_int_equal(pw_node_attr(data.node, "value_int")->i, PW_DTYPE_FLOAT16);
    assert_int_equal(pw_node_attr(data.node, "value_ints")->count, 0);
    assert_int_equal(pw_node_attr(data.node, "value_strings")->strings[1].size, 3);
    assert_int_equal(pw_node_attr(data.node, "value")->tensor->dtype, PW_DTYPE_FLOAT16);
    assert_true(pw_node_attr(data.node, "value_float")->f == 2.0f);
    assert_int_equal(pw_node_attr(data.node, "sparse_value")->sparse->dims[1], 2);
    pw_case_clear(&data);
    c.call = "Optional-15 type=seq(int64)";
    assert_int_equal(pw_case_parse(&c, &data, NULL), PW_OK);
    assert_int_equal(pw_node_attr(data.node, "type")->type_proto->kind, PW_TYPE_SEQUENCE);
    assert_int_equal(pw_node_attr(data.node, "type")->type_proto->element->dtype, PW_DTYPE_INT64);
    pw_case_clear(&data);
}

static void test_bad_calls(void **state)
{
    static const char *const bad[] = {
        "",
        "Constant",
        "Constant-x",
        "Constant-0",
        "Nothing-1",
        "com.example:Constant-1",
        "Constant-13 value_int",
        "Constant-13 value_int=",
        "Constant-13 value_int=x",
        "Constant-13 value_ints=[1",
        "Constant-13 value_ints=[1,x]",
        "Constant-13 value_string=x",
        "Constant-13 value=<float32[1] x>",
        "Constant-13 value=<float32[1] 1",
        "Constant-13 value_int=[1]",
        "Constant-13 sparse_value=sparse(<int32[1] 5>)",
        "Optional-15 type=seq(float33)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pw_room_case c = {.name = "room/case", .call = bad[i], .outputs = {"-"}};
        struct pw_case_data data;
        struct pw_error err = {0};

        if (pw_case_parse(&c, &data, &err) == PW_OK)
            fail_msg("'%s' was accepted", bad[i]);
        assert_non_null(strstr(err.message, "case 'room/case'"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_fills),       cmocka_unit_test(test_strings),
        cmocka_unit_test(test_other_values),    cmocka_unit_test(test_bad_tensors), cmocka_unit_test(test_call),
        cmocka_unit_test(test_attribute_kinds), cmocka_unit_test(test_bad_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
