/* Element types, tensors, conversion. Expected bits are worked out by hand from IEEE 754. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/tensor.h"

static void test_dtype_facts(void **state)
{
    (void)state;
    assert_int_equal(pw_dtype_parse("float32"), PW_DTYPE_FLOAT32);
    assert_int_equal(pw_dtype_parse("DOUBLE"), PW_DTYPE_FLOAT64);
    assert_int_equal(pw_dtype_parse("bf16"), PW_DTYPE_BFLOAT16);
    assert_int_equal(pw_dtype_parse("float33"), PW_DTYPE_UNDEFINED);
    assert_int_equal(pw_dtype_bytes(PW_DTYPE_COMPLEX128), 16);
    assert_int_equal(pw_dtype_bytes(PW_DTYPE_INT4), 1);
    assert_int_equal(pw_dtype_facts(PW_DTYPE_INT4)->bits, 4);
    assert_true(pw_dtype_epsilon(PW_DTYPE_FLOAT32) == 0x1p-23);
    assert_true(pw_dtype_epsilon(PW_DTYPE_FLOAT16) == 0x1p-10);
    assert_true(pw_dtype_epsilon(PW_DTYPE_INT32) == 0.0);
    assert_true(pw_dtype_is_integer(PW_DTYPE_UINT2));
    assert_false(pw_dtype_is_integer(PW_DTYPE_BOOL));
    /* numbers from files may be anything */
    assert_string_equal(pw_dtype_name((pw_dtype)9999), "undefined");
    assert_string_equal(pw_dtype_name((pw_dtype)-1), "undefined");
    for (int i = 1; i < PW_DTYPE_COUNT; i++) {
        assert_int_equal(pw_dtype_parse(pw_dtype_name((pw_dtype)i)), i);
        assert_int_equal(pw_dtype_parse(pw_dtype_facts((pw_dtype)i)->onnx_name), i);
    }
}

static void test_init_refuses(void **state)
{
    static const struct {
        int rank;
        int64_t dims[3];
        const char *text;
    } bad[] = {
        {1, {-1}, "negative"},
        {2, {INT64_MAX, INT64_MAX}, "2^48"},
        {3, {0, (int64_t)1 << 40, (int64_t)1 << 40}, "2^48"},
        {1, {((int64_t)1 << 46) + 1}, "2^48"},
        {17, {0}, "rank 17"},
        {-1, {0}, "rank -1"},
    };
    struct pw_tensor t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pw_error err = {0};
        int64_t dims[17] = {0};

        memcpy(dims, bad[i].dims, sizeof bad[i].dims);
        assert_int_not_equal(pw_tensor_init(&t, PW_DTYPE_FLOAT32, bad[i].rank, dims, &err), PW_OK);
        assert_non_null(strstr(err.message, bad[i].text));
    }
    assert_int_not_equal(pw_tensor_init(&t, (pw_dtype)77, 0, NULL, NULL), PW_OK);
    assert_int_equal(pw_tensor_init(&t, PW_DTYPE_FLOAT32, 2, (int64_t[]){0, 7}, NULL), PW_OK);
    assert_int_equal(t.count, 0);
    pw_tensor_clear(&t);
    assert_int_equal(pw_tensor_init(&t, PW_DTYPE_FLOAT32, 0, NULL, NULL), PW_OK);
    assert_int_equal(t.count, 1);
    pw_tensor_clear(&t);
}

/* Converts one double to a dtype and gives its bits. */
static uint64_t bits_of(pw_dtype from, double x, int64_t n, pw_dtype to)
{
    struct pw_tensor a = {0}, b = {0};
    uint64_t bits = 0;

    assert_int_equal(pw_tensor_init(&a, from, 0, NULL, NULL), PW_OK);
    if (pw_dtype_is_float(from))
        pw_tensor_set(&a, 0, x);
    else
        pw_tensor_set_int(&a, 0, n);
    assert_int_equal(pw_tensor_convert(&b, &a, to, NULL), PW_OK);
    assert_int_equal(b.nominal, to);
    memcpy(&bits, b.data, pw_dtype_bytes(to));
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    return bits;
}

static void test_float_rounding(void **state)
{
    static const struct {
        double x;
        pw_dtype to;
        uint64_t bits;
    } table[] = {
        {1.0, PW_DTYPE_FLOAT16, 0x3c00},
        {65504.0, PW_DTYPE_FLOAT16, 0x7bff},
        {65520.0, PW_DTYPE_FLOAT16, 0x7c00}, /* tie to even: infinity */
        {65519.0, PW_DTYPE_FLOAT16, 0x7bff},
        {0x1p-24, PW_DTYPE_FLOAT16, 0x0001},
        {0x1p-25, PW_DTYPE_FLOAT16, 0x0000}, /* tie to even: zero */
        {-0x1.8p-25, PW_DTYPE_FLOAT16, 0x8001},
        {1.0 + 0x1p-11, PW_DTYPE_FLOAT16, 0x3c00},           /* tie to even: down */
        {1.0 + 0x1.8p-10, PW_DTYPE_FLOAT16, 0x3c02},         /* tie to even: up */
        {1.0 + 0x1p-11 + 0x1p-40, PW_DTYPE_FLOAT16, 0x3c01}, /* twice rounded through float: 0x3c00 */
        {1.0 + 0x1p-8, PW_DTYPE_BFLOAT16, 0x3f80},
        {1.0 + 0x1.8p-7, PW_DTYPE_BFLOAT16, 0x3f82},
        {1.0 + 0x1p-24, PW_DTYPE_FLOAT32, 0x3f800000},
        {-0.0, PW_DTYPE_FLOAT32, 0x80000000},
        {INFINITY, PW_DTYPE_FLOAT16, 0x7c00},
        {1.5, PW_DTYPE_FLOAT8E4M3FN, 0x3c}, /* s 0, e 0111, m 100 */
        {-1.5, PW_DTYPE_FLOAT8E5M2, 0xbe},  /* s 1, e 01111, m 10 */
        {6.0, PW_DTYPE_FLOAT4E2M1, 0x07},
        {-1.5, PW_DTYPE_FLOAT6E2M3, 0x2c}, /* s 1, e 01, m 100 */
        {20.0, PW_DTYPE_FLOAT6E3M2, 0x1d}, /* s 0, e 111, m 01 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(bits_of(PW_DTYPE_FLOAT64, table[i].x, 0, table[i].to), table[i].bits);
}

static void test_integer_conversions(void **state)
{
    (void)state;
    /* one rounding from int64: a tie broken by the last bit, which double cannot hold */
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1, PW_DTYPE_FLOAT32),
                     0x5d800001);
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, ((int64_t)1 << 60) + ((int64_t)1 << 52) + 1, PW_DTYPE_BFLOAT16),
                     0x5d81);
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, 16777217, PW_DTYPE_FLOAT32), 0x4b800000);
    assert_int_equal(bits_of(PW_DTYPE_UINT64, 0, -1, PW_DTYPE_FLOAT32), 0x5f800000); /* 2^64 */
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, 300, PW_DTYPE_UINT8), 44);
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, -1, PW_DTYPE_UINT16), 0xffff);
    assert_int_equal(bits_of(PW_DTYPE_INT32, 0, 9, PW_DTYPE_INT4), 0xf9); /* wraps to -7, kept as a byte */
    assert_int_equal(bits_of(PW_DTYPE_INT32, 0, 21, PW_DTYPE_UINT4), 5);
    assert_int_equal(bits_of(PW_DTYPE_INT32, 0, 3, PW_DTYPE_INT2), 0xff);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT32, -2.9, 0, PW_DTYPE_INT8), 0xfe);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT32, 2.9, 0, PW_DTYPE_UINT8), 2);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, 0x1p63, 0, PW_DTYPE_UINT64), (uint64_t)1 << 63);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, 0.5, 0, PW_DTYPE_BOOL), 1);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, 0.0, 0, PW_DTYPE_BOOL), 0);
    assert_int_equal(bits_of(PW_DTYPE_INT64, 0, 256, PW_DTYPE_BOOL), 1);
    /* out of range and NaN are defined here, and do not trap */
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, 1e300, 0, PW_DTYPE_INT64), INT64_MAX);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, -1e300, 0, PW_DTYPE_INT64), (uint64_t)INT64_MIN);
    assert_int_equal(bits_of(PW_DTYPE_FLOAT64, NAN, 0, PW_DTYPE_INT32), 0);
}

static void test_large_conversion(void **state)
{
    enum { COUNT = 200003 }; /* several blocks, several threads, a ragged end */
    struct pw_tensor a = {0}, b = {0}, c = {0};
    double part[5];

    (void)state;
    assert_int_equal(pw_tensor_init(&a, PW_DTYPE_INT32, 1, (int64_t[]){COUNT}, NULL), PW_OK);
    for (int i = 0; i < COUNT; i++)
        ((int32_t *)a.data)[i] = i - 1000;
    assert_int_equal(pw_tensor_convert(&b, &a, PW_DTYPE_FLOAT64, NULL), PW_OK);
    assert_int_equal(pw_tensor_convert(&c, &b, PW_DTYPE_INT32, NULL), PW_OK);
    assert_memory_equal(a.data, c.data, COUNT * sizeof(int32_t));
    pw_tensor_load(&a, COUNT - 5, 5, part);
    assert_true(part[0] == COUNT - 5 - 1000 && part[4] == COUNT - 1 - 1000);
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    pw_tensor_clear(&c);
}

static void test_complex_and_strings(void **state)
{
    struct pw_tensor a = {0}, b = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_tensor_init(&a, PW_DTYPE_COMPLEX64, 1, (int64_t[]){2}, NULL), PW_OK);
    memcpy(a.data, (float[]){1.0f, -2.0f, 3.0f, 4.0f}, 16);
    assert_int_equal(pw_tensor_convert(&b, &a, PW_DTYPE_COMPLEX128, NULL), PW_OK);
    assert_true(((double *)b.data)[1] == -2.0 && ((double *)b.data)[2] == 3.0);
    pw_tensor_clear(&b);
    assert_int_equal(pw_tensor_convert(&b, &a, PW_DTYPE_FLOAT32, &err), PW_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "complex64"));
    pw_tensor_clear(&a);

    assert_int_equal(pw_tensor_init(&a, PW_DTYPE_STRING, 1, (int64_t[]){2}, NULL), PW_OK);
    assert_int_equal(pw_tensor_set_string(&a, 1, "a\0b", 3, NULL), PW_OK);
    assert_int_equal(pw_tensor_copy(&b, &a, NULL), PW_OK);
    pw_tensor_clear(&a);
    assert_int_equal(((struct pw_bytes *)b.data)[1].size, 3);
    assert_memory_equal(((struct pw_bytes *)b.data)[1].data, "a\0b", 3);
    assert_int_equal(((struct pw_bytes *)b.data)[0].size, 0);
    pw_tensor_clear(&b);
}

static void test_values(void **state)
{
    struct pw_value sequence = {.kind = PW_VALUE_SEQUENCE, .item_dtype = PW_DTYPE_INT64}, copy = {0}, view = {0};
    struct pw_buf text = {0};

    (void)state;
    sequence.items = pw_calloc(2, sizeof *sequence.items);
    assert_non_null(sequence.items);
    sequence.count = 2;
    for (int i = 0; i < 2; i++) {
        sequence.items[i].kind = PW_VALUE_TENSOR;
        assert_int_equal(pw_tensor_init(&sequence.items[i].tensor, PW_DTYPE_INT64, 2, (int64_t[]){1, i + 1}, NULL),
                         PW_OK);
        pw_tensor_set_int(&sequence.items[i].tensor, i, 40 + i);
    }
    assert_int_equal(pw_value_copy(&copy, &sequence, NULL), PW_OK);
    assert_int_equal(pw_value_view(&view, &sequence, NULL), PW_OK);
    assert_ptr_equal(view.items[1].tensor.data, sequence.items[1].tensor.data);
    assert_ptr_not_equal(copy.items[1].tensor.data, sequence.items[1].tensor.data);
    pw_value_clear(&view);
    pw_tensor_describe(&sequence.items[1].tensor, &text);
    assert_string_equal(pw_buf_text(&text), "int64[1,2]");
    pw_buf_clear(&text);
    pw_value_clear(&sequence);
    assert_int_equal(pw_tensor_get_int(&copy.items[1].tensor, 1), 41);
    assert_int_equal(copy.item_dtype, PW_DTYPE_INT64);
    pw_value_clear(&copy);
    assert_int_equal(copy.kind, PW_VALUE_NONE);
}

/* Every allocation that a copy makes may fail: an error, no leak, the destination untouched. */
static void test_failing_memory(void **state)
{
    struct pw_value sequence = {.kind = PW_VALUE_SEQUENCE}, copy = {0};
    uint64_t n;

    (void)state;
    sequence.items = pw_calloc(1, sizeof *sequence.items);
    sequence.count = 1;
    sequence.items[0].kind = PW_VALUE_TENSOR;
    assert_int_equal(pw_tensor_init(&sequence.items[0].tensor, PW_DTYPE_STRING, 1, (int64_t[]){2}, NULL), PW_OK);
    assert_int_equal(pw_tensor_set_string(&sequence.items[0].tensor, 0, "x", 1, NULL), PW_OK);
    for (n = 1; n < 100; n++) {
        pw_status status;

        pw_mem_fail_at(n, 0);
        status = pw_value_copy(&copy, &sequence, NULL);
        pw_mem_fail_at(0, 0);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_int_equal(copy.kind, PW_VALUE_NONE);
    }
    assert_in_range(n, 1, 99);
    pw_value_clear(&copy);
    pw_value_clear(&sequence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype_facts),      cmocka_unit_test(test_init_refuses),
        cmocka_unit_test(test_float_rounding),   cmocka_unit_test(test_integer_conversions),
        cmocka_unit_test(test_large_conversion), cmocka_unit_test(test_complex_and_strings),
        cmocka_unit_test(test_values),           cmocka_unit_test(test_failing_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
