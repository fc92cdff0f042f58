/* SparseTensorProto: coordinates checked against the dims, so that users may trust them. */
#include <inttypes.h>
#include <string.h>

#include "graph/onnx_reader.h"

static pw_status read_dims(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                           struct pw_sparse *out, int64_t *total)
{
    struct pw_wire_numbers it;
    uint64_t dim = 0;
    size_t rank = 0;
    pw_status status = pw_wire_count(wire, &pw_schema_sparse, PW_SPARSE_DIMS, slot, &rank, r->err);
    if (status != PW_OK)
        return status;
    if (rank < 1 || rank > PW_MAX_RANK)
        return pw_error_set(r->err, PW_ERR_UNSUPPORTED, "a sparse tensor of rank %zu; 1 to %d are possible", rank,
                            PW_MAX_RANK);
    *total = 1;
    pw_wire_numbers_init(&it, wire, &pw_schema_sparse, PW_SPARSE_DIMS, slot);
    while ((size_t)out->rank < rank && pw_wire_number(&it, &dim)) {
        int64_t n = (int64_t)dim;
        if (n < 1 || n > ((int64_t)1 << 48) / *total)
            return pw_error_set(r->err, PW_ERR_MODEL, "dim %d of a sparse tensor is %" PRId64, out->rank, n);
        out->dims[out->rank++] = n;
        *total *= n;
    }
    return PW_OK;
}

/* The flat position of entry i, or -1 when a coordinate is outside. */
static int64_t position(const struct pw_sparse *sparse, int64_t i, int64_t total)
{
    const int64_t *indices = sparse->indices.data;
    int64_t flat = 0;
    if (sparse->indices.rank == 1)
        return indices[i] >= 0 && indices[i] < total ? indices[i] : -1;
    for (int axis = 0; axis < sparse->rank; axis++) {
        int64_t x = indices[i * sparse->rank + axis];
        if (x < 0 || x >= sparse->dims[axis])
            return -1;
        flat = flat * sparse->dims[axis] + x;
    }
    return flat;
}

static pw_status check(struct pw_onnx_reader *r, const struct pw_sparse *sparse, int64_t total)
{
    const struct pw_tensor *indices = &sparse->indices;
    int64_t entries = sparse->values.count, last = -1;
    bool flat = indices->rank == 1 && indices->dims[0] == entries;
    bool coordinates = indices->rank == 2 && indices->dims[0] == entries && indices->dims[1] == sparse->rank;
    if (sparse->values.rank != 1)
        return pw_error_set(r->err, PW_ERR_MODEL, "the values of a sparse tensor have rank %d, not 1",
                            sparse->values.rank);
    if (indices->dtype != PW_DTYPE_INT64 || !(flat || coordinates))
        return pw_error_set(r->err, PW_ERR_MODEL,
                            "the indices of a sparse tensor must be int64 [%" PRId64 "] or [%" PRId64 ", %d]", entries,
                            entries, sparse->rank);
    for (int64_t i = 0; i < entries; i++) {
        int64_t at = position(sparse, i, total);
        if (at < 0)
            return pw_error_set(r->err, PW_ERR_MODEL, "index %" PRId64 " of a sparse tensor is outside its shape", i);
        if (at <= last)
            return pw_error_set(r->err, PW_ERR_MODEL, "index %" PRId64 " of a sparse tensor is not in ascending order",
                                i);
        last = at;
    }
    return PW_OK;
}

/* Coordinates are read as int64_t, so they are moved when the file has them unaligned. */
static pw_status align_indices(struct pw_onnx_reader *r, struct pw_tensor *indices)
{
    size_t size = pw_tensor_bytes(indices);
    void *copy;
    if (indices->count == 0 || pw_tensor_aligned(indices))
        return PW_OK;
    copy = pw_onnx_alloc(r, size, 1);
    if (!copy)
        return PW_ERR_NO_MEMORY;
    memcpy(copy, indices->data, size);
    indices->data = copy;
    return PW_OK;
}

pw_status pw_onnx_sparse(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_sparse *out, const char **name)
{
    struct pw_wire_slot s[PW_SPARSE_FIELDS];
    int64_t total = 0;
    pw_status status = pw_wire_decode(wire, &pw_schema_sparse, s, r->err);
    memset(out, 0, sizeof *out);
    if (status != PW_OK)
        return status;
    if (s[PW_SPARSE_VALUES].count == 0 || s[PW_SPARSE_INDICES].count == 0)
        return pw_error_set(r->err, PW_ERR_MODEL, "a sparse tensor without %s",
                            s[PW_SPARSE_VALUES].count == 0 ? "values" : "indices");
    status = read_dims(r, wire, &s[PW_SPARSE_DIMS], out, &total);
    if (status == PW_OK)
        status = pw_onnx_tensor(r, pw_wire_body(wire, s[PW_SPARSE_VALUES].data, s[PW_SPARSE_VALUES].size), &out->values,
                                name);
    if (status == PW_OK)
        status = pw_onnx_tensor(r, pw_wire_body(wire, s[PW_SPARSE_INDICES].data, s[PW_SPARSE_INDICES].size),
                                &out->indices, NULL);
    if (status == PW_OK)
        status = align_indices(r, &out->indices);
    return status == PW_OK ? check(r, out, total) : status;
}
