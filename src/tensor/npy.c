#include "tensor/npy.h"

#include <string.h>

#include "base/mapping.h"
#include "base/text.h"

#define MAGIC "\x93NUMPY"

static const struct descr {
    const char *text; /* after the byte order */
    pw_dtype dtype;
} descrs[] = {
    {"b1", PW_DTYPE_BOOL},      {"i1", PW_DTYPE_INT8},        {"u1", PW_DTYPE_UINT8},   {"i2", PW_DTYPE_INT16},
    {"u2", PW_DTYPE_UINT16},    {"i4", PW_DTYPE_INT32},       {"u4", PW_DTYPE_UINT32},  {"i8", PW_DTYPE_INT64},
    {"u8", PW_DTYPE_UINT64},    {"f2", PW_DTYPE_FLOAT16},     {"f4", PW_DTYPE_FLOAT32}, {"f8", PW_DTYPE_FLOAT64},
    {"c8", PW_DTYPE_COMPLEX64}, {"c16", PW_DTYPE_COMPLEX128},
};

/* The header: a Python dict in ASCII. */
struct header {
    const char *at, *end;
    const char *name;
    pw_dtype dtype;
    bool fortran, has_descr, has_order, has_shape;
    int rank;
    int64_t dims[PW_MAX_RANK];
};

static void skip_blanks(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

static bool take(struct header *h, char c)
{
    skip_blanks(h);
    if (h->at >= h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* 'text' into dst. */
static bool take_text(struct header *h, char *dst, size_t dst_size)
{
    char quote;
    size_t n = 0;

    skip_blanks(h);
    if (h->at >= h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    quote = *h->at++;
    while (h->at < h->end && *h->at != quote && n + 1 < dst_size)
        dst[n++] = *h->at++;
    dst[n] = '\0';
    return take(h, quote);
}

static pw_status read_descr(struct header *h, struct pw_error *err)
{
    char text[16], shown[32];

    if (!take_text(h, text, sizeof text))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: structured dtypes are not read", h->name);
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if ((text[0] == '<' || text[0] == '|' || text[0] == '=') && !strcmp(text + 1, descrs[i].text)) {
            h->dtype = descrs[i].dtype;
            h->has_descr = true;
            return PW_OK;
        }
    return pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: dtype '%s': expected little-endian numbers or bool", h->name,
                        pw_text_show(shown, sizeof shown, text, 16));
}

static pw_status read_shape(struct header *h, struct pw_error *err)
{
    if (!take(h, '('))
        return pw_error_set(err, PW_ERR_FORMAT, "%s: expected a shape", h->name);
    while (!take(h, ')')) {
        int64_t dim = 0;
        bool digits = false;

        skip_blanks(h);
        while (h->at < h->end && *h->at >= '0' && *h->at <= '9' && dim < INT64_MAX / 16) {
            dim = dim * 10 + (*h->at++ - '0');
            digits = true;
        }
        if (!digits || h->rank == PW_MAX_RANK || dim >= INT64_MAX / 16)
            return pw_error_set(err, PW_ERR_FORMAT, "%s: its shape is not understood (at most %d dims)", h->name,
                                PW_MAX_RANK);
        h->dims[h->rank++] = dim;
        if (!take(h, ',') && (skip_blanks(h), h->at >= h->end || *h->at != ')'))
            return pw_error_set(err, PW_ERR_FORMAT, "%s: its shape does not end", h->name);
    }
    h->has_shape = true;
    return PW_OK;
}

static pw_status read_order(struct header *h, struct pw_error *err)
{
    skip_blanks(h);
    if (h->end - h->at >= 5 && !memcmp(h->at, "False", 5)) {
        h->at += 5;
    } else if (h->end - h->at >= 4 && !memcmp(h->at, "True", 4)) {
        h->fortran = true;
        h->at += 4;
    } else {
        return pw_error_set(err, PW_ERR_FORMAT, "%s: fortran_order is neither True nor False", h->name);
    }
    h->has_order = true;
    return PW_OK;
}

static pw_status read_header(struct header *h, struct pw_error *err)
{
    char key[32];
    pw_status status = PW_OK;

    if (!take(h, '{'))
        return pw_error_set(err, PW_ERR_FORMAT, "%s: no .npy header", h->name);
    while (status == PW_OK && !take(h, '}')) {
        if (!take_text(h, key, sizeof key) || !take(h, ':'))
            return pw_error_set(err, PW_ERR_FORMAT, "%s: its header is not understood", h->name);
        if (!strcmp(key, "descr"))
            status = read_descr(h, err);
        else if (!strcmp(key, "fortran_order"))
            status = read_order(h, err);
        else if (!strcmp(key, "shape"))
            status = read_shape(h, err);
        else
            status = pw_error_set(err, PW_ERR_FORMAT, "%s: its header has an unknown key", h->name);
        take(h, ',');
    }
    if (status == PW_OK && !(h->has_descr && h->has_order && h->has_shape))
        status = pw_error_set(err, PW_ERR_FORMAT, "%s: its header lacks descr, fortran_order or shape", h->name);
    if (status == PW_OK && h->fortran && h->rank > 1)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: Fortran order: save numpy.ascontiguousarray(x)", h->name);
    return status;
}

pw_status pw_npy_parse(const void *bytes, size_t size, const char *name, struct pw_tensor *out, struct pw_error *err)
{
    const unsigned char *b = bytes;
    size_t begin = 10, length;
    struct header h = {.name = name};
    struct pw_tensor made = {0};
    uint64_t need;
    pw_status status;

    if (size < 12 || memcmp(b, MAGIC, 6) || b[6] < 1 || b[6] > 3)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: no .npy file of version 1 to 3", name);
    length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) {
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
        begin = 12;
    }
    if (length > size - begin)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: its header is longer than the file", name);
    h.at = (const char *)b + begin;
    h.end = h.at + length;
    status = read_header(&h, err);
    if (status != PW_OK)
        return status;
    need = pw_dtype_bytes(h.dtype);
    for (int d = 0; d < h.rank; d++)
        need = h.dims[d] && need > UINT64_MAX / (uint64_t)h.dims[d] ? UINT64_MAX : need * (uint64_t)h.dims[d];
    if (need != size - begin - length)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: its shape asks for %llu bytes, it has %zu", name,
                            (unsigned long long)need, size - begin - length);
    status = pw_tensor_init(&made, h.dtype, h.rank, h.dims, err);
    if (status != PW_OK)
        return status;
    if (need)
        memcpy(made.data, b + begin + length, (size_t)need);
    for (int64_t i = 0; h.dtype == PW_DTYPE_BOOL && i < made.count; i++)
        ((uint8_t *)made.data)[i] = ((uint8_t *)made.data)[i] != 0;
    *out = made;
    return PW_OK;
}

pw_status pw_npy_read(const char *path, struct pw_tensor *out, struct pw_error *err)
{
    struct pw_mapping map = {0};
    pw_status status = pw_mapping_open(&map, path, err);

    if (status == PW_OK)
        status = pw_npy_parse(map.data, map.size, path, out, err);
    if (status == PW_OK && pw_mapping_damaged(&map)) {
        pw_tensor_clear(out);
        status = pw_error_set(err, PW_ERR_IO, "%s: it shrank while it was read", path);
    }
    pw_mapping_close(&map);
    return status;
}
