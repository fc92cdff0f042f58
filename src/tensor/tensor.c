#include "tensor/tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_TENSOR_BYTES ((int64_t)1 << 48)
#define CHECK_MEMORY_BYTES ((int64_t)1 << 30)

/* The product of dims. Zero dims are left out of the overflow check's product, so that every
 * span of a valid tensor is representable. */
static pw_status count_elements(pw_dtype dtype, int rank, const int64_t *dims, int64_t *count, struct pw_error *err)
{
    int64_t product = (int64_t)pw_dtype_bytes(dtype);
    bool empty = false;

    if (product == 0)
        return pw_error_set(err, PW_ERR_FORMAT, "tensor with undefined element type (%d)", (int)dtype);
    if (rank < 0 || rank > PW_MAX_RANK)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "tensor of rank %d; at most %d is supported", rank, PW_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return pw_error_set(err, PW_ERR_FORMAT, "tensor dim %d is negative (%" PRId64 ")", i, dims[i]);
        if (dims[i] == 0) {
            empty = true;
            continue;
        }
        if (dims[i] > MAX_TENSOR_BYTES / product)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "tensor of more than 2^48 bytes (dim %d is %" PRId64 ")", i,
                                dims[i]);
        product *= dims[i];
    }
    *count = empty ? 0 : product / (int64_t)pw_dtype_bytes(dtype);
    return PW_OK;
}

/* An overcommitting kernel would grant any size and kill us when we touch it. */
static bool exceeds_memory(int64_t bytes)
{
    long pages, page_bytes;

    if (bytes < CHECK_MEMORY_BYTES)
        return false;
    pages = sysconf(_SC_PHYS_PAGES);
    page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 && bytes / page_bytes >= pages;
}

static _Atomic bool leave_unset;

void pw_tensor_leave_unset(bool unset)
{
    atomic_store(&leave_unset, unset);
}

pw_status pw_tensor_init(struct pw_tensor *t, pw_dtype dtype, int rank, const int64_t *dims, struct pw_error *err)
{
    struct pw_tensor made = {.dtype = dtype, .nominal = dtype, .rank = rank, .owned = true};
    pw_status status = count_elements(dtype, rank, dims, &made.count, err);
    int64_t bytes;

    if (status != PW_OK)
        return status;
    for (int i = 0; i < rank; i++)
        made.dims[i] = dims[i];
    bytes = made.count * (int64_t)pw_dtype_bytes(dtype);
    if (bytes > 0) {
        if (exceeds_memory(bytes))
            return pw_error_memory(err, (size_t)bytes);
        made.data = pw_alloc_aligned((size_t)bytes);
        if (made.data == NULL)
            return pw_error_memory(err, (size_t)bytes);
        if (dtype == PW_DTYPE_STRING || !atomic_load_explicit(&leave_unset, memory_order_relaxed))
            memset(made.data, 0, (size_t)bytes);
    }
    *t = made;
    return PW_OK;
}

void pw_tensor_borrow(struct pw_tensor *t, pw_dtype dtype, int rank, const int64_t *dims, const void *data)
{
    struct pw_tensor made = {.dtype = dtype, .nominal = dtype, .rank = rank};
    pw_status status;

    assert(rank >= 0 && rank <= PW_MAX_RANK);
    for (int i = 0; i < rank; i++)
        made.dims[i] = dims[i];
    status = count_elements(dtype, rank, dims, &made.count, NULL);
    assert(status == PW_OK);
    (void)status;
    made.data = (void *)(uintptr_t)data; /* read-only by agreement */
    *t = made;
}

static pw_status copy_strings(struct pw_tensor *dst, const struct pw_tensor *src, struct pw_error *err)
{
    const struct pw_bytes *from = src->data;

    for (int64_t i = 0; i < src->count; i++) {
        pw_status status = pw_tensor_set_string(dst, i, from[i].data, from[i].size, err);

        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

pw_status pw_tensor_copy(struct pw_tensor *dst, const struct pw_tensor *src, struct pw_error *err)
{
    struct pw_tensor made = {0};
    pw_status status = pw_tensor_init(&made, src->dtype, src->rank, src->dims, err);

    if (status != PW_OK)
        return status;
    made.nominal = src->nominal;
    if (src->dtype == PW_DTYPE_STRING)
        status = copy_strings(&made, src, err);
    else if (made.count > 0)
        memcpy(made.data, src->data, pw_tensor_bytes(src));
    if (status != PW_OK) {
        pw_tensor_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

void pw_tensor_clear(struct pw_tensor *t)
{
    if (t->owned && t->data != NULL) {
        if (t->dtype == PW_DTYPE_STRING) {
            struct pw_bytes *items = t->data;

            for (int64_t i = 0; i < t->count; i++)
                pw_free((void *)(uintptr_t)items[i].data);
        }
        pw_free(t->data);
    }
    *t = (struct pw_tensor){0};
}

size_t pw_tensor_bytes(const struct pw_tensor *t)
{
    return (size_t)t->count * pw_dtype_bytes(t->dtype);
}

size_t pw_tensor_alignment(pw_dtype dtype)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(dtype);

    if (facts->kind == PW_KIND_COMPLEX)
        return facts->bytes / 2;
    if (facts->kind == PW_KIND_STRING)
        return _Alignof(struct pw_bytes);
    return facts->bytes > 0 ? facts->bytes : 1;
}

bool pw_tensor_aligned(const struct pw_tensor *t)
{
    return (uintptr_t)t->data % pw_tensor_alignment(t->dtype) == 0;
}

int64_t pw_tensor_span(const struct pw_tensor *t, int from, int to)
{
    int64_t product = 1;

    for (int i = from; i < to; i++)
        product *= t->dims[i];
    return product;
}

void pw_tensor_describe(const struct pw_tensor *t, struct pw_buf *out)
{
    pw_buf_puts(out, pw_dtype_name(t->nominal));
    pw_buf_putc(out, '[');
    for (int i = 0; i < t->rank; i++)
        pw_buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", t->dims[i]);
    pw_buf_putc(out, ']');
}

pw_status pw_tensor_set_string(struct pw_tensor *t, int64_t i, const char *bytes, size_t size, struct pw_error *err)
{
    struct pw_bytes *item = (struct pw_bytes *)t->data + i;
    char *copy = NULL;

    assert(t->dtype == PW_DTYPE_STRING && t->owned && i >= 0 && i < t->count);
    copy = pw_calloc(size + 1, 1); /* NUL-terminated for convenience; the bytes may hold NULs too */
    if (copy == NULL)
        return pw_error_memory(err, size);
    if (size > 0)
        memcpy(copy, bytes, size);
    pw_free((void *)(uintptr_t)item->data);
    item->data = copy;
    item->size = size;
    return PW_OK;
}

pw_status pw_tensor_move(struct pw_tensor *dst, int64_t to, const struct pw_tensor *src, int64_t from, int64_t n,
                         struct pw_error *err)
{
    size_t bytes = pw_dtype_bytes(dst->dtype);
    pw_status status = PW_OK;

    if (dst->dtype == PW_DTYPE_STRING) {
        const struct pw_bytes *strings = src->data;

        for (int64_t i = 0; i < n && status == PW_OK; i++)
            status = pw_tensor_set_string(dst, to + i, strings[from + i].data, strings[from + i].size, err);
    } else if (n > 0) {
        memcpy((char *)dst->data + (size_t)to * bytes, (const char *)src->data + (size_t)from * bytes,
               (size_t)n * bytes);
    }
    return status;
}

void pw_tensor_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;

    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= dims[d] > 0 ? dims[d] : 1;
    }
}

void pw_value_clear(struct pw_value *v)
{
    pw_tensor_clear(&v->tensor);
    for (size_t i = 0; i < v->count; i++)
        pw_value_clear(&v->items[i]);
    pw_free(v->items);
    *v = (struct pw_value){0};
}

static pw_status copy_value(struct pw_value *dst, const struct pw_value *src, bool view, struct pw_error *err)
{
    struct pw_value made = {.kind = src->kind, .item_dtype = src->item_dtype};
    pw_status status = PW_OK;

    if (src->kind == PW_VALUE_TENSOR && view)
        pw_value_borrow(&made, &src->tensor);
    else if (src->kind == PW_VALUE_TENSOR)
        status = pw_tensor_copy(&made.tensor, &src->tensor, err);
    if (status == PW_OK && src->kind == PW_VALUE_SEQUENCE && src->count > 0) {
        made.items = pw_calloc(src->count, sizeof *made.items);
        if (made.items == NULL)
            return pw_error_memory(err, src->count * sizeof *made.items);
        while (status == PW_OK && made.count < src->count) {
            status = copy_value(&made.items[made.count], &src->items[made.count], view, err);
            made.count += status == PW_OK;
        }
    }
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

pw_status pw_value_copy(struct pw_value *dst, const struct pw_value *src, struct pw_error *err)
{
    return copy_value(dst, src, false, err);
}

pw_status pw_value_view(struct pw_value *dst, const struct pw_value *src, struct pw_error *err)
{
    return copy_value(dst, src, true, err);
}

void pw_value_borrow(struct pw_value *dst, const struct pw_tensor *src)
{
    *dst = (struct pw_value){.kind = PW_VALUE_TENSOR, .tensor = *src};
    dst->tensor.owned = false;
}
