/* Dense content of sparse tensors. */
#include <inttypes.h>
#include <string.h>

#include "graph/graph.h"

/* Flat position of non-zero element k. */
static bool sparse_position(const struct pw_sparse *sparse, const struct pw_tensor *dense, int64_t k, int64_t *flat)
{
    if (sparse->indices.rank == 1) {
        *flat = pw_tensor_get_int(&sparse->indices, k);
        return *flat >= 0 && *flat < dense->count;
    }
    *flat = 0;
    for (int d = 0; d < dense->rank; d++) {
        int64_t at = pw_tensor_get_int(&sparse->indices, k * dense->rank + d);

        if (at < 0 || at >= dense->dims[d])
            return false;
        *flat = *flat * dense->dims[d] + at;
    }
    return true;
}

pw_status pw_sparse_to_tensor(const struct pw_sparse *sparse, struct pw_tensor *dst, struct pw_error *err)
{
    const struct pw_tensor *values = &sparse->values, *indices = &sparse->indices;
    struct pw_tensor made = {0};
    size_t bytes = pw_dtype_bytes(values->dtype);
    bool flat_form = indices->rank == 1 && indices->count == values->count;
    bool row_form = indices->rank == 2 && indices->dims[0] == values->count && indices->dims[1] == sparse->rank;
    pw_status status = PW_OK;

    if (indices->dtype != PW_DTYPE_INT64 || (!flat_form && !row_form && values->count > 0))
        return pw_error_set(err, PW_ERR_MODEL, "sparse tensor: indices do not fit %" PRId64 " values of rank %d",
                            values->count, sparse->rank);
    status = pw_tensor_init(&made, values->dtype, sparse->rank, sparse->dims, err);
    for (int64_t k = 0; k < values->count && status == PW_OK; k++) {
        int64_t flat;

        if (!sparse_position(sparse, &made, k, &flat)) {
            status = pw_error_set(err, PW_ERR_MODEL, "sparse tensor: index %" PRId64 " is out of range", k);
        } else if (values->dtype == PW_DTYPE_STRING) {
            const struct pw_bytes *s = (const struct pw_bytes *)values->data + k;

            status = pw_tensor_set_string(&made, flat, s->data, s->size, err);
        } else {
            memcpy((char *)made.data + (size_t)flat * bytes, (const char *)values->data + (size_t)k * bytes, bytes);
        }
    }
    if (status != PW_OK) {
        pw_tensor_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}
