/*
 * External data: tensors whose bytes lie in a file beside the model.
 *
 * The location must be a relative path without '..', and what it leads to, symbolic links
 * resolved, must lie in the model's own folder: a model must not read other files.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/onnx_reader.h"

#define LOCATION_MAX 4096

struct external {
    char location[LOCATION_MAX];
    uint64_t offset, length;
    bool has_location, has_length;
};

static bool key_is(const struct pw_wire_slot *slot, const char *key)
{
    return slot->size == strlen(key) && memcmp(slot->data, key, slot->size) == 0;
}

static pw_status parse_number(struct pw_onnx_reader *r, const char *key, const struct pw_wire_slot *slot, uint64_t *out)
{
    uint64_t value = 0;
    bool good = slot->size > 0 && slot->size <= 18;
    for (size_t i = 0; good && i < slot->size; i++) {
        good = slot->data[i] >= '0' && slot->data[i] <= '9';
        value = value * 10 + (uint64_t)(slot->data[i] - '0');
    }
    if (!good) {
        char show[PW_ONNX_SHOW_BYTES];
        return pw_error_set(r->err, PW_ERR_MODEL, "external data: %s '%s' is no number of bytes", key,
                            pw_onnx_show(show, slot->data, slot->size));
    }
    *out = value;
    return PW_OK;
}

static pw_status set_location(struct pw_onnx_reader *r, const struct pw_wire_slot *slot, struct external *out)
{
    if (slot->size == 0 || slot->size >= LOCATION_MAX || memchr(slot->data, 0, slot->size)) {
        char show[PW_ONNX_SHOW_BYTES];
        return pw_error_set(r->err, PW_ERR_MODEL, "external data: location '%s' is no file name",
                            pw_onnx_show(show, slot->data, slot->size));
    }
    memcpy(out->location, slot->data, slot->size);
    out->location[slot->size] = '\0';
    out->has_location = true;
    return PW_OK;
}

static pw_status read_entries(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                              struct external *out)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    pw_status status = PW_OK;
    while (status == PW_OK && pw_wire_find(&at, PW_TENSOR_EXTERNAL, &field)) {
        struct pw_wire_slot s[PW_ENTRY_FIELDS];
        const struct pw_wire_slot *value = &s[PW_ENTRY_VALUE];
        status = pw_wire_decode(pw_wire_body(wire, field.data, field.size), &pw_schema_entry, s, r->err);
        if (status != PW_OK)
            break;
        if (key_is(&s[PW_ENTRY_KEY], "location")) {
            status = set_location(r, value, out);
        } else if (key_is(&s[PW_ENTRY_KEY], "offset")) {
            status = parse_number(r, "offset", value, &out->offset);
        } else if (key_is(&s[PW_ENTRY_KEY], "length")) {
            out->has_length = true;
            status = parse_number(r, "length", value, &out->length);
        } /* checksum, basepath and what comes later: not needed to read */
    }
    if (status == PW_OK && !out->has_location)
        status = pw_error_set(r->err, PW_ERR_MODEL, "external data without a location");
    return status;
}

static bool climbs(const char *path)
{
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
            return true;
    }
    return false;
}

/* The real path of the location when it lies in the model's folder; caller frees (libc's memory). */
static pw_status resolve(struct pw_onnx_reader *r, const char *location, char **out)
{
    char show[PW_ONNX_SHOW_BYTES];
    struct pw_buf joined = {0};
    char *folder = NULL, *file = NULL;
    pw_status status = PW_OK;
    size_t n;
    pw_text_show(show, sizeof show, location, PW_ONNX_SHOW);
    if (!r->dir)
        return pw_error_set(r->err, PW_ERR_MODEL, "external data '%s', but the model has no folder", show);
    if (location[0] == '/' || climbs(location))
        return pw_error_set(r->err, PW_ERR_MODEL,
                            "external data '%s' leads outside the model's folder: an absolute path or '..' is refused",
                            show);
    pw_file_join(&joined, r->dir, location);
    if (joined.failed) {
        status = pw_error_memory(r->err, strlen(location));
        goto done;
    }
    folder = realpath(r->dir, NULL);
    file = folder ? realpath(joined.data, NULL) : NULL;
    if (!file) {
        status = pw_error_set(r->err, PW_ERR_IO, "external data '%s': %s", show, strerror(errno));
        goto done;
    }
    n = strlen(folder);
    n -= folder[n - 1] == '/'; /* the root */
    if (strncmp(folder, file, n) != 0 || file[n] != '/') {
        status = pw_error_set(r->err, PW_ERR_MODEL,
                              "external data '%s' leads outside the model's folder through a symbolic link", show);
        goto done;
    }
    *out = file;
    file = NULL;
done:
    free(folder);
    free(file);
    pw_buf_clear(&joined);
    return status;
}

/* Maps each file once. */
static pw_status open_file(struct pw_onnx_reader *r, const char *location, const struct pw_mapping **out)
{
    struct pw_model *model = r->model;
    struct pw_mapping map = {0};
    char *path = NULL;
    size_t index = 0, more;
    pw_status status;
    if (pw_map_find(&r->external_index, location, &index)) {
        *out = &model->external[index];
        return PW_OK;
    }
    status = resolve(r, location, &path);
    if (status == PW_OK)
        status = PW_GROW(model->external, r->external_cap, model->external_count + 1, r->err);
    if (status == PW_OK)
        status = pw_mapping_open(&map, path, r->err);
    free(path);
    if (status == PW_OK)
        status = pw_map_put(&r->external_index, location, model->external_count, r->err);
    if (status != PW_OK) {
        pw_mapping_close(&map);
        return status;
    }
    model->external[model->external_count] = map;
    *out = &model->external[model->external_count++];
    /* Unpacking 4-bit elements costs memory in proportion to that file. */
    more = map.size < SIZE_MAX / 32 ? 32 * map.size : SIZE_MAX;
    r->budget_bytes = r->budget_bytes < SIZE_MAX - more ? r->budget_bytes + more : SIZE_MAX;
    return PW_OK;
}

pw_status pw_onnx_external_data(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                                size_t need_bytes, const uint8_t **data, size_t *size)
{
    struct external e = {0};
    const struct pw_mapping *map = NULL;
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = read_entries(r, wire, slot, &e);
    if (status == PW_OK)
        status = open_file(r, e.location, &map);
    if (status != PW_OK)
        return status;
    if (!e.has_length)
        e.length = need_bytes;
    if (e.offset > map->size || e.length > map->size - e.offset)
        return pw_error_set(r->err, PW_ERR_MODEL,
                            "external data '%s': offset %" PRIu64 " and length %" PRIu64
                            " reach past the end of a file of %zu bytes",
                            pw_text_show(show, sizeof show, e.location, PW_ONNX_SHOW), e.offset, e.length, map->size);
    *data = map->size > 0 ? map->data + e.offset : (const uint8_t *)"";
    *size = (size_t)e.length;
    return PW_OK;
}
