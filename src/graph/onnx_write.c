/*
 * Whole model files. All lengths are known before the first byte is written (the small parts
 * lie in memory, the weights' sizes follow from their shapes), so weights are produced and
 * written in pieces.
 */
#include "graph/onnx_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define PIECE ((size_t)1 << 20)               /* bytes of a weight made at once */
#define EXTERNAL_LEAST ((size_t)1 << 10)      /* smaller weights stay in the model */
#define EXTERNAL_ALIGN 4096                   /* so that they can be mapped */
#define MESSAGE_MAX (((uint64_t)1 << 31) - 1) /* what protobuf libraries read */

int pw_onnx_ir_version(int opset)
{
    static const int least[] = {[11] = 6, [12] = 7, [13] = 7, [14] = 7, [15] = 8,  [16] = 8,
                                [17] = 8, [18] = 8, [19] = 9, [20] = 9, [21] = 10, [22] = 10};
    int count = (int)(sizeof least / sizeof least[0]);
    if (opset < 11)
        return 5;
    return opset < count ? least[opset] : 11;
}

void pw_onnx_out_init(struct pw_onnx_out *out, const char *graph_name, int opset)
{
    memset(out, 0, sizeof *out);
    out->graph_name = graph_name;
    out->producer = "portwright";
    out->version = "";
    out->opset = opset;
    out->ir_version = pw_onnx_ir_version(opset);
}

void pw_onnx_out_clear(struct pw_onnx_out *out)
{
    for (size_t i = 0; i < out->weight_count; i++)
        pw_free(out->weights[i].name);
    pw_free(out->weights);
    pw_buf_clear(&out->graph);
    pw_buf_clear(&out->functions);
    memset(out, 0, sizeof *out);
}

pw_status pw_onnx_out_weight(struct pw_onnx_out *out, const char *name, pw_dtype dtype, int rank, const int64_t *dims,
                             pw_onnx_fill *fill, void *user, struct pw_error *err)
{
    struct pw_onnx_weight weight = {.dtype = dtype, .rank = rank, .count = 1, .fill = fill, .user = user};
    pw_status status = PW_GROW(out->weights, out->weight_cap, out->weight_count + 1, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < rank; i++) {
        weight.dims[i] = dims[i];
        if (dims[i] < 0 || (dims[i] > 0 && weight.count > ((int64_t)1 << 40) / dims[i]))
            return pw_error_set(err, PW_ERR_USAGE, "weight '%s' would have more than 2^40 elements", name);
        weight.count *= dims[i];
    }
    weight.bytes = (size_t)weight.count * pw_dtype_bytes(dtype);
    weight.name = pw_strdup(name);
    if (!weight.name)
        return pw_error_memory(err, strlen(name));
    out->weights[out->weight_count++] = weight;
    return PW_OK;
}

/* ---- the messages around the weights ---- */

static bool goes_outside(const struct pw_onnx_weight *weight, const char *external)
{
    return external && weight->bytes >= EXTERNAL_LEAST;
}

static void put_entry(struct pw_buf *body, const char *key, const char *value)
{
    struct pw_buf entry = {0};
    pw_wire_put_text(&entry, PW_ENTRY_KEY, key);
    pw_wire_put_text(&entry, PW_ENTRY_VALUE, value);
    pw_wire_put_message(body, PW_TENSOR_EXTERNAL, &entry);
}

/* A weight's TensorProto up to its data: raw_data's tag and length come last. */
static void put_head(struct pw_buf *body, const struct pw_onnx_weight *weight, const char *external)
{
    for (int i = 0; i < weight->rank; i++)
        pw_wire_put_int(body, PW_TENSOR_DIMS, (uint64_t)weight->dims[i]);
    pw_wire_put_int(body, PW_TENSOR_TYPE, (uint64_t)weight->dtype);
    pw_wire_put_text(body, PW_TENSOR_NAME, weight->name);
    if (goes_outside(weight, external)) {
        char number[32];
        put_entry(body, "location", external);
        snprintf(number, sizeof number, "%" PRIu64, weight->offset);
        put_entry(body, "offset", number);
        snprintf(number, sizeof number, "%zu", weight->bytes);
        put_entry(body, "length", number);
        pw_wire_put_int(body, PW_TENSOR_LOCATION, 1);
    } else {
        pw_wire_put_tag(body, PW_TENSOR_RAW, 2);
        pw_wire_put_raw_varint(body, weight->bytes);
    }
}

/* Bytes of a weight as an initializer field of the graph, tag included. */
static uint64_t field_bytes(const struct pw_onnx_weight *weight, const char *external, bool *failed)
{
    struct pw_buf head = {0};
    uint64_t body;
    put_head(&head, weight, external);
    body = head.size + (goes_outside(weight, external) ? 0 : weight->bytes);
    *failed = *failed || head.failed;
    pw_buf_clear(&head);
    return 1 + pw_wire_varint_bytes(body) + body;
}

static void put_model_head(struct pw_buf *model, const struct pw_onnx_out *out)
{
    struct pw_buf opset = {0};
    pw_wire_put_int(model, PW_MODEL_IR_VERSION, (uint64_t)out->ir_version);
    pw_wire_put_text(model, PW_MODEL_PRODUCER_NAME, out->producer);
    if (out->version[0] != '\0')
        pw_wire_put_text(model, PW_MODEL_PRODUCER_VERSION, out->version);
    pw_wire_put_int(&opset, PW_OPSET_VERSION, (uint64_t)out->opset);
    pw_wire_put_message(model, PW_MODEL_OPSET, &opset);
    pw_buf_append(model, pw_buf_text(&out->functions), out->functions.size);
}

void pw_onnx_out_bytes(struct pw_onnx_out *out, struct pw_buf *bytes)
{
    struct pw_buf graph = {0};
    put_model_head(bytes, out);
    pw_wire_put_text(&graph, PW_GRAPH_NAME, out->graph_name);
    pw_buf_append(&graph, pw_buf_text(&out->graph), out->graph.size);
    graph.failed = graph.failed || out->graph.failed;
    pw_wire_put_message(bytes, PW_MODEL_GRAPH, &graph);
}

/* ---- files ---- */

struct sink {
    int fd;                 /* -1: not open */
    char *path, *temporary; /* owned */
    uint64_t written;
};

static pw_status sink_open(struct sink *sink, const char *path, struct pw_error *err)
{
    struct pw_buf name = {0};
    pw_buf_printf(&name, "%s.%ld.tmp", path, (long)getpid());
    sink->path = pw_strdup(path);
    sink->temporary = name.failed ? NULL : pw_strdup(pw_buf_text(&name));
    pw_buf_clear(&name);
    if (!sink->path || !sink->temporary)
        return pw_error_memory(err, strlen(path));
    sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (sink->fd < 0) {
        int why = errno;
        if (pw_file_need_folder(path, err) != PW_OK)
            return PW_ERR_IO;
        return pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s", path, strerror(why));
    }
    return PW_OK;
}

static pw_status sink_write(struct sink *sink, const void *data, size_t size, struct pw_error *err)
{
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(sink->fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s", sink->path, strerror(n < 0 ? errno : ENOSPC));
        at += n;
        size -= (size_t)n;
        sink->written += (uint64_t)n;
    }
    return PW_OK;
}

static pw_status sink_sync(struct sink *sink, struct pw_error *err)
{
    int fd = sink->fd;
    if (fsync(fd) != 0)
        return pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s", sink->path, strerror(errno));
    sink->fd = -1;
    if (close(fd) != 0)
        return pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s", sink->path, strerror(errno));
    return PW_OK;
}

static pw_status sink_publish(struct sink *sink, struct pw_error *err)
{
    if (rename(sink->temporary, sink->path) != 0)
        return pw_error_set(err, PW_ERR_IO, "cannot rename '%s' to '%s': %s", sink->temporary, sink->path,
                            strerror(errno));
    pw_free(sink->temporary);
    sink->temporary = NULL;
    return PW_OK;
}

/* Removes what was not published. */
static void sink_clear(struct sink *sink)
{
    if (sink->fd >= 0)
        close(sink->fd);
    if (sink->temporary)
        unlink(sink->temporary);
    pw_free(sink->path);
    pw_free(sink->temporary);
}

static pw_status write_weight(struct sink *sink, const struct pw_onnx_weight *weight, struct pw_error *err)
{
    int64_t step = (int64_t)(PIECE / pw_dtype_bytes(weight->dtype));
    size_t element = pw_dtype_bytes(weight->dtype);
    uint8_t *piece = pw_alloc_aligned(PIECE);
    pw_status status = PW_OK;
    if (!piece)
        return pw_error_memory(err, PIECE);
    for (int64_t at = 0; at < weight->count && status == PW_OK; at += step) {
        int64_t n = weight->count - at < step ? weight->count - at : step;
        weight->fill(weight->user, at, n, piece);
        status = sink_write(sink, piece, (size_t)n * element, err);
    }
    pw_free(piece);
    return status;
}

static pw_status write_external(struct pw_onnx_out *out, struct sink *sink, const char *external, struct pw_error *err)
{
    static const uint8_t zeros[EXTERNAL_ALIGN];
    pw_status status = PW_OK;
    for (size_t i = 0; i < out->weight_count && status == PW_OK; i++) {
        struct pw_onnx_weight *weight = &out->weights[i];
        if (!goes_outside(weight, external))
            continue;
        status = sink_write(sink, zeros, (EXTERNAL_ALIGN - sink->written % EXTERNAL_ALIGN) % EXTERNAL_ALIGN, err);
        weight->offset = sink->written;
        if (status == PW_OK)
            status = write_weight(sink, weight, err);
    }
    return status;
}

static pw_status write_initializers(const struct pw_onnx_out *out, struct sink *sink, const char *external,
                                    struct pw_error *err)
{
    pw_status status = PW_OK;
    for (size_t i = 0; i < out->weight_count && status == PW_OK; i++) {
        const struct pw_onnx_weight *weight = &out->weights[i];
        bool outside = goes_outside(weight, external);
        struct pw_buf head = {0}, field = {0};
        put_head(&head, weight, external);
        pw_wire_put_tag(&field, PW_GRAPH_INITIALIZER, 2);
        pw_wire_put_raw_varint(&field, head.size + (outside ? 0 : weight->bytes));
        pw_buf_append(&field, pw_buf_text(&head), head.size);
        status = head.failed || field.failed ? pw_error_memory(err, head.size)
                                             : sink_write(sink, field.data, field.size, err);
        pw_buf_clear(&head);
        pw_buf_clear(&field);
        if (status == PW_OK && !outside)
            status = write_weight(sink, weight, err);
    }
    return status;
}

static pw_status write_model(const struct pw_onnx_out *out, struct sink *sink, const char *external,
                             struct pw_error *err)
{
    struct pw_buf head = {0}, name = {0};
    uint64_t graph_bytes;
    bool failed = out->graph.failed || out->functions.failed;
    pw_status status = PW_OK;
    pw_wire_put_text(&name, PW_GRAPH_NAME, out->graph_name);
    graph_bytes = name.size + out->graph.size;
    for (size_t i = 0; i < out->weight_count; i++)
        graph_bytes += field_bytes(&out->weights[i], external, &failed);
    put_model_head(&head, out);
    pw_wire_put_tag(&head, PW_MODEL_GRAPH, 2);
    pw_wire_put_raw_varint(&head, graph_bytes);
    pw_buf_append(&head, pw_buf_text(&name), name.size);
    if (failed || head.failed || name.failed)
        status = pw_error_memory(err, out->graph.size);
    else if (graph_bytes + head.size > MESSAGE_MAX)
        status = pw_error_set(err, PW_ERR_USAGE,
                              "the model would take %" PRIu64
                              " bytes; one file can hold 2147483647: put the weights into an external file",
                              graph_bytes + head.size);
    if (status == PW_OK)
        status = sink_write(sink, head.data, head.size, err);
    if (status == PW_OK)
        status = sink_write(sink, pw_buf_text(&out->graph), out->graph.size, err);
    if (status == PW_OK)
        status = write_initializers(out, sink, external, err);
    pw_buf_clear(&head);
    pw_buf_clear(&name);
    return status;
}

pw_status pw_onnx_out_write(struct pw_onnx_out *out, const char *path, const char *external, struct pw_error *err)
{
    struct sink model = {.fd = -1}, data = {.fd = -1};
    struct pw_buf folder = {0}, data_path = {0};
    pw_status status = PW_OK;
    if (external) {
        pw_file_dirname(&folder, path);
        pw_file_join(&data_path, pw_buf_text(&folder), external);
        status = folder.failed || data_path.failed ? pw_error_memory(err, strlen(path))
                                                   : sink_open(&data, data_path.data, err);
        if (status == PW_OK)
            status = write_external(out, &data, external, err);
        if (status == PW_OK)
            status = sink_sync(&data, err);
    }
    if (status == PW_OK)
        status = sink_open(&model, path, err);
    if (status == PW_OK)
        status = write_model(out, &model, external, err);
    if (status == PW_OK)
        status = sink_sync(&model, err);
    /* The weights first: a model whose data is missing would be worse than none. */
    if (status == PW_OK && external)
        status = sink_publish(&data, err);
    if (status == PW_OK)
        status = sink_publish(&model, err);
    sink_clear(&model);
    sink_clear(&data);
    pw_buf_clear(&folder);
    pw_buf_clear(&data_path);
    return status;
}
