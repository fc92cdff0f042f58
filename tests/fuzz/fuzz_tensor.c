/* Any bytes as a tensor from a file: a .npy, a TensorProto of a test data set (also a sequence and an optional), a
 * tensor of captured activations. What is read is used as its type says. */
#include "graph/graph.h"
#include "tensor/npy.h"
#include "tests/fuzz/wire_mutate.h"
#include "verify/capture_internal.h"

static void fuzz_tensor_use(const struct pw_tensor *t)
{
    struct pw_buf text = {0}, packed = {0};
    struct pw_tensor again = {0};
    struct pw_error err = {0};
    double sum = 0;

    fuzz_check(t->rank >= 0 && t->rank <= PW_MAX_RANK && t->count >= 0);
    pw_tensor_describe(t, &text);
    for (int64_t i = 0; i < t->count && pw_dtype_facts(t->dtype)->kind != PW_KIND_STRING; i++)
        sum += pw_tensor_get(t, i);
    (void)sum;
    if (pw_dtype_facts(t->dtype)->kind != PW_KIND_STRING && pw_capture_pack(t, &packed, &err) == PW_OK) {
        fuzz_check(pw_capture_unpack(packed.data, packed.size, "again", &again, &err) == PW_OK);
        fuzz_check(again.count == t->count && again.dtype == t->dtype && again.rank == t->rank);
        pw_tensor_clear(&again);
    }
    pw_buf_clear(&packed);
    pw_buf_clear(&text);
}

static void fuzz_tensor_value(const struct pw_value *value)
{
    if (value->kind == PW_VALUE_TENSOR)
        fuzz_tensor_use(&value->tensor);
    for (size_t i = 0; value->kind == PW_VALUE_SEQUENCE && i < value->count; i++)
        if (value->items[i].kind == PW_VALUE_TENSOR)
            fuzz_tensor_use(&value->items[i].tensor);
}

static void fuzz_tensor(const uint8_t *data, size_t size)
{
    static const struct pw_type tensor = {.kind = PW_TYPE_TENSOR, .dtype = PW_DTYPE_FLOAT32};
    static const struct pw_type sequence = {.kind = PW_TYPE_SEQUENCE, .element = &tensor};
    static const struct pw_type optional = {.kind = PW_TYPE_OPTIONAL, .element = &sequence};
    static const struct pw_type *const types[] = {NULL, &tensor, &sequence, &optional};
    struct pw_tensor t = {0};
    struct pw_value value = {0};
    struct pw_error err = {0};

    for (size_t i = 0; i < PW_COUNT_OF(types); i++) {
        if (pw_onnx_parse_value(data, size, types[i], &value, &err) == PW_OK) {
            fuzz_tensor_value(&value);
            pw_value_clear(&value);
        }
        pw_error_clear(&err);
    }
    if (pw_npy_read(fuzz_file(data, size), &t, &err) == PW_OK) {
        fuzz_tensor_use(&t);
        pw_tensor_clear(&t);
    }
    pw_error_clear(&err);
    if (pw_capture_unpack((const char *)data, size, "fuzz", &t, &err) == PW_OK) {
        fuzz_tensor_use(&t);
        pw_tensor_clear(&t);
    }
}

/* The header of a .npy is a text in brackets, with its length in front. */
static void fuzz_tensor_mutate_npy(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const values[] = {"'<f4'",
                                         "'<f8'",
                                         "'|b1'",
                                         "'<i8'",
                                         "'>f4'",
                                         "'|u1'",
                                         "'<c8'",
                                         "'<U4'",
                                         "'<f2'",
                                         "True",
                                         "False",
                                         "()",
                                         "(3,)",
                                         "(2, 3)",
                                         "(0, 4)",
                                         "(4294967296, 4294967296)",
                                         "(1,1,1,1,1,1,1,1,1)",
                                         "{'descr': '<f4', ",
                                         "'shape': ",
                                         "'fortran_order': "};
    const char *value = values[fuzz_draw(draws, 0, (int64_t)PW_COUNT_OF(values) - 1)];
    size_t head = size < 128 ? size : 128, at = head > 10 ? (size_t)fuzz_draw(draws, 10, (int64_t)head - 1) : size;

    while (at > 10 && data[at - 1] != ' ')
        at--;
    pw_buf_append(out, (const char *)data, at);
    pw_buf_puts(out, value);
    at += strlen(value);
    if (at < size)
        pw_buf_append(out, (const char *)data + at, size - at);
}

static void fuzz_tensor_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    if (size > 10 && data[0] == 0x93) {
        fuzz_tensor_mutate_npy(draws, data, size, out);
        return;
    }
    if (wire_count(data, size) > 0) {
        wire_mutate(draws, data, size, 0, out);
        return;
    }
    pw_buf_append(out, (const char *)data, size);
    if (size > 0)
        out->data[fuzz_draw(draws, 0, (int64_t)(size < 48 ? size : 48) - 1)] = (char)fuzz_draw(draws, 0, 255);
}

FUZZ_HARNESS(fuzz_tensor, fuzz_tensor_mutate);
