/*
 * The elements of tensors: raw bytes, typed fields, packed elements of 2, 4 and 6 bits.
 *
 * Little-endian hosts only, as the format is. Raw data is used where it lies when it is
 * aligned for its type; small unaligned tensors are copied, large ones stay unaligned in the
 * file (see pw_tensor_aligned), so that opening a model never copies its weights.
 */
#include <inttypes.h>
#include <string.h>

#include "graph/onnx_reader.h"

#define COPY_EACH ((size_t)64 << 10)  /* unaligned tensors up to this size are copied */
#define COPY_TOTAL ((size_t)16 << 20) /* in all */

/* ---- packed bytes ---- */

static void unpack(const uint8_t *data, unsigned bits, bool is_signed, uint8_t *out, size_t count)
{
    uint8_t mask = (uint8_t)((1u << bits) - 1);
    uint8_t sign = (uint8_t)(1u << (bits - 1));
    for (size_t i = 0; i < count; i++) { /* a stream of bits, the low ones of a byte first */
        size_t at = i * bits / 8;
        unsigned shift = (unsigned)(i * bits % 8), word = data[at];
        if (shift + bits > 8)
            word |= (unsigned)data[at + 1] << 8;
        uint8_t x = (uint8_t)(word >> shift) & mask;
        out[i] = is_signed ? (uint8_t)((x ^ sign) - sign) : x;
    }
}

static pw_status unpack_data(struct pw_onnx_reader *r, const uint8_t *data, struct pw_tensor *t)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    t->data = pw_onnx_alloc(r, (size_t)t->count, 1);
    if (!t->data)
        return PW_ERR_NO_MEMORY;
    unpack(data, facts->bits, facts->kind == PW_KIND_SIGNED, t->data, (size_t)t->count);
    return PW_OK;
}

/* Booleans are 0 or 1 in memory; a file may hold any byte. */
static bool plain_bools(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] > 1)
            return false;
    return true;
}

pw_status pw_onnx_raw_data(struct pw_onnx_reader *r, const uint8_t *data, size_t size, struct pw_tensor *t)
{
    bool copy;
    if (t->count == 0)
        return PW_OK;
    if (pw_dtype_facts(t->dtype)->bits < 8)
        return unpack_data(r, data, t);
    copy = t->dtype == PW_DTYPE_BOOL && !plain_bools(data, size);
    if (!copy && (uintptr_t)data % pw_tensor_alignment(t->dtype) != 0 && size <= COPY_EACH &&
        r->copied_bytes + size <= COPY_TOTAL) {
        r->copied_bytes += size;
        copy = true;
    }
    if (!copy) {
        t->data = (void *)(uintptr_t)data;
        return PW_OK;
    }
    t->data = pw_onnx_alloc(r, size, 1);
    if (!t->data)
        return PW_ERR_NO_MEMORY;
    memcpy(t->data, data, size);
    if (t->dtype == PW_DTYPE_BOOL)
        for (size_t i = 0; i < size; i++)
            ((uint8_t *)t->data)[i] = ((uint8_t *)t->data)[i] != 0;
    return PW_OK;
}

/* ---- typed fields ---- */

/* Which field of TensorProto holds a dtype, and how many numbers an element takes. */
static const struct field_of {
    uint32_t number;
    unsigned per_element;
} fields[PW_DTYPE_COUNT] = {
    [PW_DTYPE_FLOAT32] = {PW_TENSOR_FLOAT, 1},        [PW_DTYPE_COMPLEX64] = {PW_TENSOR_FLOAT, 2},
    [PW_DTYPE_FLOAT64] = {PW_TENSOR_DOUBLE, 1},       [PW_DTYPE_COMPLEX128] = {PW_TENSOR_DOUBLE, 2},
    [PW_DTYPE_INT64] = {PW_TENSOR_INT64, 1},          [PW_DTYPE_UINT32] = {PW_TENSOR_UINT64, 1},
    [PW_DTYPE_UINT64] = {PW_TENSOR_UINT64, 1},        [PW_DTYPE_INT32] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_INT16] = {PW_TENSOR_INT32, 1},          [PW_DTYPE_INT8] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_UINT16] = {PW_TENSOR_INT32, 1},         [PW_DTYPE_UINT8] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_BOOL] = {PW_TENSOR_INT32, 1},           [PW_DTYPE_FLOAT16] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_BFLOAT16] = {PW_TENSOR_INT32, 1},       [PW_DTYPE_FLOAT8E4M3FN] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_FLOAT8E4M3FNUZ] = {PW_TENSOR_INT32, 1}, [PW_DTYPE_FLOAT8E5M2] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_FLOAT8E5M2FNUZ] = {PW_TENSOR_INT32, 1}, [PW_DTYPE_FLOAT8E8M0] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_UINT4] = {PW_TENSOR_INT32, 1},          [PW_DTYPE_INT4] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_FLOAT4E2M1] = {PW_TENSOR_INT32, 1},     [PW_DTYPE_UINT2] = {PW_TENSOR_INT32, 1},
    [PW_DTYPE_INT2] = {PW_TENSOR_INT32, 1},           [PW_DTYPE_STRING] = {PW_TENSOR_STRING, 1},
    [PW_DTYPE_FLOAT6E2M3] = {PW_TENSOR_INT32, 1},     [PW_DTYPE_FLOAT6E3M2] = {PW_TENSOR_INT32, 1},
};

/* In typed fields elements of 2 and 4 bits are packed, one number a byte; those of 6 are not. */
static bool packs(pw_dtype dtype)
{
    unsigned bits = pw_dtype_facts(dtype)->bits;
    return bits > 0 && bits < 6;
}

static size_t numbers_of(const struct pw_tensor *t)
{
    unsigned bits = pw_dtype_facts(t->dtype)->bits;
    if (packs(t->dtype))
        return ((size_t)t->count * bits + 7) / 8;
    return (size_t)t->count * fields[t->dtype].per_element;
}

static void store(void *data, size_t i, size_t width, uint64_t value)
{
    memcpy((uint8_t *)data + i * width, &value, width);
}

/* Decodes `count` numbers of `width` bytes each into fresh memory. */
static pw_status decode_numbers(struct pw_onnx_reader *r, struct pw_wire_numbers *it, size_t count, size_t width,
                                bool boolean, void **out)
{
    uint64_t value = 0;
    size_t i = 0;
    void *data = pw_onnx_alloc(r, count, width);
    if (!data)
        return PW_ERR_NO_MEMORY;
    for (; i < count && pw_wire_number(it, &value); i++)
        store(data, i, width, boolean ? value != 0 : value);
    *out = data;
    return PW_OK;
}

static pw_status string_data(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                             struct pw_tensor *t)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    struct pw_bytes *items = pw_onnx_alloc(r, slot->count, sizeof *items);
    if (!items)
        return PW_ERR_NO_MEMORY;
    for (size_t i = 0; i < slot->count && pw_wire_find(&at, PW_TENSOR_STRING, &field); i++) {
        items[i].data = (const char *)field.data;
        items[i].size = field.size;
    }
    t->data = items;
    return PW_OK;
}

pw_status pw_onnx_typed_data(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slots,
                             struct pw_tensor *t)
{
    uint32_t number = fields[t->dtype].number;
    const struct pw_wire_slot *slot = &slots[number];
    const struct pw_wire_rule *rule = &pw_schema_tensor.rules[number];
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    size_t need = numbers_of(t), have = slot->count;
    struct pw_wire_numbers it;
    pw_status status = PW_OK;
    if (t->dtype != PW_DTYPE_STRING)
        status = pw_wire_count(wire, &pw_schema_tensor, number, slot, &have, r->err);
    if (status != PW_OK)
        return status;
    if (have != need) {
        struct pw_buf text = {0};
        pw_tensor_describe(t, &text);
        pw_error_set(r->err, PW_ERR_MODEL, "declared as %s, which takes %zu numbers of %s, but the file holds %zu",
                     pw_buf_text(&text), need, rule->name, have);
        pw_buf_clear(&text);
        return PW_ERR_MODEL;
    }
    if (t->count == 0)
        return PW_OK;
    if (t->dtype == PW_DTYPE_STRING)
        return string_data(r, wire, slot, t);
    /* Packed floats lie in the file as raw data would. */
    if (slot->count == 1 && slot->size > 0 && (rule->kind == PW_WIRE_FIXED32S || rule->kind == PW_WIRE_FIXED64S))
        return pw_onnx_raw_data(r, slot->data, slot->size, t);
    pw_wire_numbers_init(&it, wire, &pw_schema_tensor, number, slot);
    if (packs(t->dtype)) {
        void *packed = NULL;
        status = decode_numbers(r, &it, need, 1, false, &packed);
        return status == PW_OK ? unpack_data(r, packed, t) : status;
    }
    status =
        decode_numbers(r, &it, need, facts->bytes / fields[t->dtype].per_element, t->dtype == PW_DTYPE_BOOL, &t->data);
    for (size_t i = 0; status == PW_OK && facts->bits == 6 && i < need; i++)
        ((uint8_t *)t->data)[i] &= 0x3F;
    return status;
}
