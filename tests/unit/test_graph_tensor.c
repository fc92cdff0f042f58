/* Tensor contents in every way a file can hold them. Expected values are worked out by hand. */
#include "tests/unit/graph_build.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "run/eval.h"

/* A model whose only content is the TensorProto `body` (emptied) as initializer "w". */
static struct pw_model *tensor_model(struct pw_buf *body, struct pw_buf *bytes)
{
    struct pw_onnx_out out;
    pw_onnx_out_init(&out, "main", 17);
    pw_wire_put_text(body, PW_TENSOR_NAME, "w");
    pw_wire_put_message(&out.graph, PW_GRAPH_INITIALIZER, body);
    finish_model(&out, bytes);
    return parse_model(bytes);
}

/* ---- typed fields ---- */

struct typed_case {
    pw_dtype dtype;
    uint32_t field;
    int64_t numbers[4]; /* as on the wire */
    size_t number_count;
    int64_t count;
    double expected[4];
};

static const struct typed_case typed_cases[] = {
    {PW_DTYPE_INT32, PW_TENSOR_INT32, {-7, 2147483647}, 2, 2, {-7, 2147483647}},
    {PW_DTYPE_INT16, PW_TENSOR_INT32, {-300, 5}, 2, 2, {-300, 5}},
    {PW_DTYPE_INT8, PW_TENSOR_INT32, {-128, 127}, 2, 2, {-128, 127}},
    {PW_DTYPE_UINT16, PW_TENSOR_INT32, {65535, 1}, 2, 2, {65535, 1}},
    {PW_DTYPE_UINT8, PW_TENSOR_INT32, {255, 0}, 2, 2, {255, 0}},
    {PW_DTYPE_BOOL, PW_TENSOR_INT32, {1, 0, 2}, 3, 3, {1, 0, 1}},
    {PW_DTYPE_FLOAT16, PW_TENSOR_INT32, {0x3C00, 0xC500}, 2, 2, {1.0, -5.0}},
    {PW_DTYPE_BFLOAT16, PW_TENSOR_INT32, {0x3F80, 0xC0A0}, 2, 2, {1.0, -5.0}},
    {PW_DTYPE_FLOAT8E4M3FN, PW_TENSOR_INT32, {0x38, 0xC0}, 2, 2, {1.0, -2.0}},
    {PW_DTYPE_FLOAT8E5M2, PW_TENSOR_INT32, {0x3C, 0xC0}, 2, 2, {1.0, -2.0}},
    {PW_DTYPE_INT4, PW_TENSOR_INT32, {0x8F, 0x07}, 2, 3, {-1, -8, 7}},
    {PW_DTYPE_UINT4, PW_TENSOR_INT32, {0x8F, 0x07}, 2, 4, {15, 8, 7, 0}},
    {PW_DTYPE_INT2, PW_TENSOR_INT32, {0xE4}, 1, 4, {0, 1, -2, -1}},
    {PW_DTYPE_UINT2, PW_TENSOR_INT32, {0xE4}, 1, 4, {0, 1, 2, 3}},
    {PW_DTYPE_FLOAT4E2M1, PW_TENSOR_INT32, {0xB2}, 1, 2, {1.0, -1.5}},
    {PW_DTYPE_FLOAT6E2M3, PW_TENSOR_INT32, {8, 44, 0x5F}, 3, 3, {1.0, -1.5, 7.5}},
    {PW_DTYPE_FLOAT6E3M2, PW_TENSOR_INT32, {12, 61}, 2, 2, {1.0, -20.0}},
    {PW_DTYPE_INT64, PW_TENSOR_INT64, {-1, 1ll << 40}, 2, 2, {-1, 1099511627776.0}},
    {PW_DTYPE_UINT32, PW_TENSOR_UINT64, {4294967295}, 1, 1, {4294967295.0}},
    {PW_DTYPE_UINT64, PW_TENSOR_UINT64, {-1}, 1, 1, {18446744073709551615.0}},
};

static void check_typed(const struct typed_case *c, bool packed)
{
    struct pw_buf body = {0}, bytes = {0};
    struct pw_model *model;
    const struct pw_tensor *t;
    pw_wire_put_int(&body, PW_TENSOR_DIMS, (uint64_t)c->count);
    pw_wire_put_int(&body, PW_TENSOR_TYPE, (uint64_t)c->dtype);
    if (packed)
        pw_wire_put_packed_ints(&body, c->field, c->numbers, c->number_count);
    for (size_t i = 0; !packed && i < c->number_count; i++)
        pw_wire_put_int(&body, c->field, (uint64_t)c->numbers[i]);
    model = tensor_model(&body, &bytes);
    t = value_named(model->graph, "w")->initializer;
    assert_int_equal(t->dtype, c->dtype);
    assert_int_equal(t->count, c->count);
    for (int64_t i = 0; i < c->count; i++)
        if (pw_tensor_get(t, i) != c->expected[i])
            fail_msg("%s element %d: %g, expected %g", pw_dtype_name(c->dtype), (int)i, pw_tensor_get(t, i),
                     c->expected[i]);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

static void test_typed_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof typed_cases / sizeof typed_cases[0]; i++) {
        check_typed(&typed_cases[i], true);
        check_typed(&typed_cases[i], false);
    }
}

static void test_typed_floats(void **state)
{
    static const float values[4] = {1.0f, -2.5f, 3.0f, 4.0f};
    static const double doubles[2] = {0.1, -1e300};
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct pw_buf body = {0}, bytes = {0};
        struct pw_model *model;
        const struct pw_tensor *t;
        pw_wire_put_int(&body, PW_TENSOR_DIMS, 2);
        pw_wire_put_int(&body, PW_TENSOR_DIMS, 2);
        pw_wire_put_int(&body, PW_TENSOR_TYPE, PW_DTYPE_FLOAT32);
        if (packed)
            pw_wire_put_bytes(&body, PW_TENSOR_FLOAT, values, sizeof values);
        for (size_t i = 0; !packed && i < 4; i++)
            pw_wire_put_float(&body, PW_TENSOR_FLOAT, values[i]);
        model = tensor_model(&body, &bytes);
        t = value_named(model->graph, "w")->initializer;
        assert_int_equal(t->rank, 2);
        for (int i = 0; i < 4; i++)
            assert_true(pw_tensor_get(t, i) == (double)values[i]);
        pw_model_destroy(model);
        pw_buf_clear(&bytes);
    }
    for (int complex = 0; complex < 2; complex++) {
        struct pw_buf body = {0}, bytes = {0};
        struct pw_model *model;
        double got[2];
        pw_wire_put_int(&body, PW_TENSOR_DIMS, complex ? 1 : 2);
        pw_wire_put_int(&body, PW_TENSOR_TYPE, complex ? PW_DTYPE_COMPLEX128 : PW_DTYPE_FLOAT64);
        pw_wire_put_bytes(&body, PW_TENSOR_DOUBLE, doubles, sizeof doubles);
        model = tensor_model(&body, &bytes);
        memcpy(got, value_named(model->graph, "w")->initializer->data, sizeof got);
        assert_true(got[0] == 0.1 && got[1] == -1e300);
        pw_model_destroy(model);
        pw_buf_clear(&bytes);
    }
}

static void test_strings(void **state)
{
    struct pw_buf body = {0}, bytes = {0};
    struct pw_model *model;
    const struct pw_bytes *items;
    (void)state;
    pw_wire_put_int(&body, PW_TENSOR_DIMS, 3);
    pw_wire_put_int(&body, PW_TENSOR_TYPE, PW_DTYPE_STRING);
    pw_wire_put_text(&body, PW_TENSOR_STRING, "alpha");
    pw_wire_put_text(&body, PW_TENSOR_STRING, "");
    pw_wire_put_bytes(&body, PW_TENSOR_STRING, "nul\0in", 6);
    model = tensor_model(&body, &bytes);
    items = value_named(model->graph, "w")->initializer->data;
    assert_memory_equal(items[0].data, "alpha", 5);
    assert_int_equal(items[1].size, 0);
    assert_int_equal(items[2].size, 6);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- raw data ---- */

static void put_raw(struct pw_buf *body, pw_dtype dtype, int64_t count, const void *data, size_t size)
{
    pw_wire_put_int(body, PW_TENSOR_DIMS, (uint64_t)count);
    pw_wire_put_int(body, PW_TENSOR_TYPE, (uint64_t)dtype);
    pw_wire_put_bytes(body, PW_TENSOR_RAW, data, size);
}

static void test_raw(void **state)
{
    static const uint8_t nibbles[2] = {0x9A, 0x01}, bools[3] = {0, 7, 1};
    struct pw_buf body = {0}, bytes = {0};
    struct pw_model *model;
    const struct pw_tensor *t;
    (void)state;
    put_raw(&body, PW_DTYPE_INT4, 3, nibbles, 2);
    model = tensor_model(&body, &bytes);
    t = value_named(model->graph, "w")->initializer;
    assert_int_equal(pw_tensor_get_int(t, 0), -6);
    assert_int_equal(pw_tensor_get_int(t, 1), -7);
    assert_int_equal(pw_tensor_get_int(t, 2), 1);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
    put_raw(&body, PW_DTYPE_BOOL, 3, bools, 3);
    model = tensor_model(&body, &bytes);
    t = value_named(model->graph, "w")->initializer;
    assert_int_equal(((const uint8_t *)t->data)[1], 1); /* booleans are 0 or 1 in memory */
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
    put_raw(&body, PW_DTYPE_FLOAT32, 0, "", 0);
    model = tensor_model(&body, &bytes);
    assert_int_equal(value_named(model->graph, "w")->initializer->count, 0);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Four elements of six bits take three bytes; as the onnx package of Python packs them. */
static void test_raw_six_bits(void **state)
{
    static const uint8_t packed[4] = {0x08, 0x1b, 0x7c, 0x3e};
    static const double values[5] = {1, -1.5, 0.125, 7.5, -7};
    struct pw_buf body = {0}, bytes = {0}, again = {0};
    struct pw_model *model;
    const struct pw_tensor *t;
    (void)state;
    put_raw(&body, PW_DTYPE_FLOAT6E2M3, 5, packed, 4);
    model = tensor_model(&body, &bytes);
    t = value_named(model->graph, "w")->initializer;
    for (int i = 0; i < 5; i++)
        assert_true(pw_tensor_get(t, i) == values[i]);
    pw_onnx_put_tensor(&again, NULL, t);
    assert_true(again.size >= 4);
    assert_memory_equal(again.data + again.size - 4, packed, 4);
    pw_buf_clear(&again);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Large raw data at each possible offset: used where it lies, whatever its alignment; evaluation gets it aligned. */
static void test_unaligned(void **state)
{
    enum { COUNT = 50000 };
    float *values = pw_calloc(COUNT, sizeof *values);
    int in_place = 0, unaligned = 0;
    (void)state;
    assert_non_null(values);
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    for (size_t shift = 0; shift < 4; shift++) {
        struct pw_buf body = {0}, bytes = {0};
        struct pw_model *model;
        const struct pw_tensor *t;
        struct pw_value value, carried;
        struct pw_error err = {0};
        pw_wire_put_bytes(&body, 12, "shift", shift); /* doc_string */
        put_raw(&body, PW_DTYPE_FLOAT32, COUNT, values, COUNT * sizeof *values);
        model = tensor_model(&body, &bytes);
        t = value_named(model->graph, "w")->initializer;
        in_place += (const char *)t->data > bytes.data && (const char *)t->data < bytes.data + bytes.size;
        unaligned += !pw_tensor_aligned(t);
        assert_true(pw_tensor_get(t, COUNT - 1) == COUNT - 1);
        pw_value_borrow(&value, t);
        assert_int_equal(pw_eval_carry(&carried, &value, PW_EVAL_FAST, &err), PW_OK);
        assert_true(pw_tensor_aligned(&carried.tensor));
        assert_true(((const float *)carried.tensor.data)[COUNT - 1] == COUNT - 1);
        pw_value_clear(&carried);
        pw_model_destroy(model);
        pw_buf_clear(&bytes);
    }
    assert_int_equal(in_place, 4);
    assert_int_equal(unaligned, 3);
    pw_free(values);
}

/* ---- external data ---- */

static void put_external(struct pw_buf *graph, const char *name, int64_t count, const char *location,
                         const char *offset, const char *length)
{
    struct pw_buf body = {0}, entry = {0};
    const char *const pairs[][2] = {{"location", location}, {"offset", offset}, {"length", length}};
    pw_wire_put_int(&body, PW_TENSOR_DIMS, (uint64_t)count);
    pw_wire_put_int(&body, PW_TENSOR_TYPE, PW_DTYPE_INT32);
    pw_wire_put_text(&body, PW_TENSOR_NAME, name);
    for (size_t i = 0; i < 3; i++) {
        if (!pairs[i][1])
            continue;
        pw_wire_put_text(&entry, PW_ENTRY_KEY, pairs[i][0]);
        pw_wire_put_text(&entry, PW_ENTRY_VALUE, pairs[i][1]);
        pw_wire_put_message(&body, PW_TENSOR_EXTERNAL, &entry);
    }
    pw_wire_put_int(&body, PW_TENSOR_LOCATION, 1);
    pw_wire_put_message(graph, PW_GRAPH_INITIALIZER, &body);
}

static void test_external(void **state)
{
    static const int32_t values[6] = {10, 11, 12, 13, 14, 15};
    char dir[] = "/tmp/pw-external-XXXXXX";
    char path[128], data[128];
    struct pw_onnx_out out;
    struct pw_buf bytes = {0};
    struct pw_model *model = NULL;
    struct pw_error err = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/model.onnx", dir);
    snprintf(data, sizeof data, "%s/w.bin", dir);
    assert_int_equal(pw_file_write(data, (const char *)values, sizeof values, &err), PW_OK);
    pw_onnx_out_init(&out, "main", 17);
    put_external(&out.graph, "a", 2, "w.bin", "0", "8");
    put_external(&out.graph, "b", 3, "w.bin", "12", NULL);
    put_external(&out.graph, "c", 1, "./w.bin", NULL, NULL);
    finish_model(&out, &bytes);
    assert_int_equal(pw_file_write(path, bytes.data, bytes.size, &err), PW_OK);
    if (pw_model_load(path, &model, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(model->external_count, 2); /* two spellings, one file mapped under each */
    assert_int_equal(pw_tensor_get_int(value_named(model->graph, "a")->initializer, 1), 11);
    assert_int_equal(pw_tensor_get_int(value_named(model->graph, "b")->initializer, 0), 13);
    assert_int_equal(pw_tensor_get_int(value_named(model->graph, "c")->initializer, 0), 10);
    assert_false(pw_model_damaged(model));
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
    unlink(path);
    unlink(data);
    rmdir(dir);
}

/* ---- values in files of their own ---- */

static void put_int_tensor(struct pw_buf *body, int64_t value)
{
    struct pw_tensor t = {0};
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 0, NULL, &value);
    pw_onnx_put_tensor(body, NULL, &t);
}

static void test_values(void **state)
{
    static const struct pw_type tensor = {.kind = PW_TYPE_TENSOR, .dtype = PW_DTYPE_INT64};
    static const struct pw_type sequence = {.kind = PW_TYPE_SEQUENCE, .element = &tensor};
    static const struct pw_type optional = {.kind = PW_TYPE_OPTIONAL, .element = &sequence};
    struct pw_buf bytes = {0}, part = {0}, outer = {0};
    struct pw_value value = {0};
    struct pw_error err = {0};
    (void)state;
    put_int_tensor(&bytes, 5);
    assert_int_equal(pw_onnx_parse_value(bytes.data, bytes.size, NULL, &value, &err), PW_OK);
    assert_int_equal(value.kind, PW_VALUE_TENSOR);
    assert_true(value.tensor.owned);
    pw_buf_clear(&bytes);
    assert_int_equal(pw_tensor_get_int(&value.tensor, 0), 5);
    pw_value_clear(&value);

    pw_wire_put_int(&bytes, PW_DATA_ELEM_TYPE, 1);
    for (int64_t i = 0; i < 3; i++) {
        put_int_tensor(&part, 20 + i);
        pw_wire_put_message(&bytes, PW_DATA_TENSOR, &part);
    }
    assert_int_equal(pw_onnx_parse_value(bytes.data, bytes.size, &sequence, &value, &err), PW_OK);
    assert_int_equal(value.kind, PW_VALUE_SEQUENCE);
    assert_int_equal(value.count, 3);
    assert_int_equal(value.item_dtype, PW_DTYPE_INT64);
    assert_int_equal(pw_tensor_get_int(&value.items[2].tensor, 0), 22);
    pw_value_clear(&value);

    pw_wire_put_int(&outer, PW_DATA_ELEM_TYPE, 3);
    pw_wire_put_message(&outer, PW_DATA_SEQUENCE, &bytes);
    assert_int_equal(pw_onnx_parse_value(outer.data, outer.size, &optional, &value, &err), PW_OK);
    assert_int_equal(value.kind, PW_VALUE_SEQUENCE);
    assert_int_equal(value.count, 3);
    pw_value_clear(&value);
    pw_buf_clear(&outer);

    assert_int_equal(pw_onnx_parse_value(NULL, 0, &optional, &value, &err), PW_OK);
    assert_int_equal(value.kind, PW_VALUE_NONE);
    assert_int_equal(pw_onnx_parse_value(NULL, 0, &sequence, &value, &err), PW_OK);
    assert_int_equal(value.kind, PW_VALUE_SEQUENCE);
    assert_int_equal(value.count, 0);
    assert_int_equal(value.item_dtype, PW_DTYPE_INT64);
    pw_value_clear(&value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typed_data), cmocka_unit_test(test_typed_floats), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_raw),        cmocka_unit_test(test_raw_six_bits), cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_external),   cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
