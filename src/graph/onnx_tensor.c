/* TensorProto: header, shape, and where its bytes are. */
#include <inttypes.h>
#include <string.h>

#include "graph/onnx_reader.h"

#define MAX_BYTES ((int64_t)1 << 48)

static pw_status read_dims(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                           struct pw_tensor *out)
{
    struct pw_wire_numbers it;
    uint64_t dim = 0;
    size_t rank = 0;
    int64_t bytes = (int64_t)pw_dtype_bytes(out->dtype);
    bool empty = false;
    pw_status status = pw_wire_count(wire, &pw_schema_tensor, PW_TENSOR_DIMS, slot, &rank, r->err);
    if (status != PW_OK)
        return status;
    if (rank > PW_MAX_RANK)
        return pw_error_set(r->err, PW_ERR_UNSUPPORTED, "rank %zu, but %d is the limit", rank, PW_MAX_RANK);
    pw_wire_numbers_init(&it, wire, &pw_schema_tensor, PW_TENSOR_DIMS, slot);
    while ((size_t)out->rank < rank && pw_wire_number(&it, &dim)) {
        int64_t n = (int64_t)dim;
        if (n < 0)
            return pw_error_set(r->err, PW_ERR_MODEL, "dim %d is %" PRId64, out->rank, n);
        out->dims[out->rank++] = n;
    }
    /* Zero dims are left out of the limit's product, as pw_tensor_init does: every span stays representable. */
    for (int i = 0; i < out->rank; i++) {
        empty = empty || out->dims[i] == 0;
        if (out->dims[i] > 0 && out->dims[i] > MAX_BYTES / bytes)
            return pw_error_set(r->err, PW_ERR_MODEL, "its dims multiply to more than 2^48 bytes");
        bytes *= out->dims[i] > 0 ? out->dims[i] : 1;
    }
    out->count = empty ? 0 : bytes / (int64_t)pw_dtype_bytes(out->dtype);
    return PW_OK;
}

/* Bytes of count packed elements in a file. */
static size_t packed_bytes(const struct pw_tensor *t)
{
    return ((size_t)t->count * pw_dtype_facts(t->dtype)->bits + 7) / 8;
}

static bool typed_present(const struct pw_wire_slot *s)
{
    static const uint32_t typed[] = {PW_TENSOR_FLOAT, PW_TENSOR_INT32,  PW_TENSOR_STRING,
                                     PW_TENSOR_INT64, PW_TENSOR_DOUBLE, PW_TENSOR_UINT64};
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++)
        if (s[typed[i]].count > 0)
            return true;
    return false;
}

static pw_status read_content(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *s,
                              struct pw_tensor *out)
{
    const uint8_t *data = s[PW_TENSOR_RAW].data;
    size_t size = s[PW_TENSOR_RAW].size;
    bool external = s[PW_TENSOR_LOCATION].value == 1;
    if (s[PW_TENSOR_LOCATION].value > 1)
        return pw_error_set(r->err, PW_ERR_MODEL, "data_location %" PRIu64 " does not exist",
                            s[PW_TENSOR_LOCATION].value);
    if (s[PW_TENSOR_RAW].count + external == 0)
        return pw_onnx_typed_data(r, wire, s, out);
    if (typed_present(s) || (external && s[PW_TENSOR_RAW].size > 0))
        return pw_error_set(r->err, PW_ERR_MODEL, "its data is given twice, in two fields");
    if (out->dtype == PW_DTYPE_STRING)
        return pw_error_set(r->err, PW_ERR_MODEL, "strings cannot be raw or external data");
    if (external) {
        pw_status status = pw_onnx_external_data(r, wire, &s[PW_TENSOR_EXTERNAL], packed_bytes(out), &data, &size);
        if (status != PW_OK)
            return status;
    }
    if (size != packed_bytes(out)) {
        struct pw_buf text = {0};
        pw_tensor_describe(out, &text);
        pw_error_set(r->err, PW_ERR_MODEL, "declared as %s, %zu bytes, but its data holds %zu", pw_buf_text(&text),
                     packed_bytes(out), size);
        pw_buf_clear(&text);
        return PW_ERR_MODEL;
    }
    return pw_onnx_raw_data(r, data, size, out);
}

pw_status pw_onnx_tensor(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_tensor *out, const char **name)
{
    struct pw_wire_slot s[PW_TENSOR_FIELDS];
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = pw_wire_decode(wire, &pw_schema_tensor, s, r->err);
    memset(out, 0, sizeof *out);
    if (status != PW_OK)
        goto done;
    if (name) {
        *name = pw_onnx_name(r, &s[PW_TENSOR_NAME], "tensor name");
        if (!*name) {
            status = PW_ERR_MODEL;
            goto done;
        }
    }
    if (s[PW_TENSOR_SEGMENT].count > 0) {
        status = pw_error_set(r->err, PW_ERR_UNSUPPORTED, "stored in segments, which is not supported");
        goto done;
    }
    if (s[PW_TENSOR_TYPE].value == 0 || s[PW_TENSOR_TYPE].value >= PW_DTYPE_COUNT) {
        status = pw_error_set(r->err, PW_ERR_MODEL, "element type %" PRIu64 " is not known", s[PW_TENSOR_TYPE].value);
        goto done;
    }
    out->dtype = out->nominal = (pw_dtype)s[PW_TENSOR_TYPE].value;
    status = read_dims(r, wire, &s[PW_TENSOR_DIMS], out);
    if (status == PW_OK)
        status = read_content(r, wire, s, out);
done:
    if (status != PW_OK)
        pw_error_prefix(r->err, "tensor '%s'", pw_onnx_show(show, s[PW_TENSOR_NAME].data, s[PW_TENSOR_NAME].size));
    return status;
}
