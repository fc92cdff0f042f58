/* Builds small ONNX models in memory for tests of the reader. Everything is a static inline function so that
 * each test program takes what it needs. */
#ifndef PW_TESTS_GRAPH_BUILD_H
#define PW_TESTS_GRAPH_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/decoder.h"
#include "graph/graph.h"
#include "graph/onnx_write.h"

/* Splits "a b -" into names; "-" is an omitted one. Lists of up to 8. */
struct names {
    char text[256];
    const char *items[8];
    size_t count;
};

static inline void split_names(struct names *out, const char *list)
{
    char *at = out->text, *end;
    assert_true(strlen(list) < sizeof out->text);
    memcpy(out->text, list, strlen(list) + 1);
    out->count = 0;
    while (*at != '\0') {
        end = strchr(at, ' ');
        if (end)
            *end = '\0';
        assert_true(out->count < 8);
        out->items[out->count++] = strcmp(at, "-") == 0 ? "" : at;
        at = end ? end + 1 : at + strlen(at);
    }
}

/* A node; attrs may be NULL. */
static inline void add_node(struct pw_buf *graph, const char *op, const char *name, const char *inputs,
                            const char *outputs, struct pw_buf *attrs)
{
    struct names in, out;
    split_names(&in, inputs);
    split_names(&out, outputs);
    pw_onnx_put_node(graph, op, name, in.items, in.count, out.items, out.count, attrs);
}

/* A node of another domain (of a graph or, with field 7, of a function). */
static inline void add_call(struct pw_buf *message, uint32_t field, const char *domain, const char *op,
                            const char *name, const char *inputs, const char *outputs, struct pw_buf *attrs)
{
    struct names in, out;
    struct pw_buf node = {0};
    split_names(&in, inputs);
    split_names(&out, outputs);
    for (size_t i = 0; i < in.count; i++)
        pw_wire_put_text(&node, PW_NODE_INPUT, in.items[i]);
    for (size_t i = 0; i < out.count; i++)
        pw_wire_put_text(&node, PW_NODE_OUTPUT, out.items[i]);
    pw_wire_put_text(&node, PW_NODE_NAME, name);
    pw_wire_put_text(&node, PW_NODE_OP_TYPE, op);
    pw_wire_put_text(&node, PW_NODE_DOMAIN, domain);
    if (attrs) {
        pw_buf_append(&node, pw_buf_text(attrs), attrs->size);
        pw_buf_clear(attrs);
    }
    pw_wire_put_message(message, field, &node);
}

/* float32 [2, 3] */
static inline void add_info(struct pw_buf *graph, uint32_t field, const char *name)
{
    static const int64_t dims[2] = {2, 3};
    struct pw_onnx_shape shape = {PW_DTYPE_FLOAT32, 2, dims, NULL};
    pw_onnx_put_info(graph, field, name, &shape);
}

static inline void add_input(struct pw_buf *graph, const char *name)
{
    add_info(graph, PW_GRAPH_INPUT, name);
}

static inline void add_output(struct pw_buf *graph, const char *name)
{
    add_info(graph, PW_GRAPH_OUTPUT, name);
}

static inline void add_floats(struct pw_buf *graph, const char *name, const float *values, int64_t count)
{
    struct pw_tensor t = {0};
    struct pw_buf body = {0};
    pw_tensor_borrow(&t, PW_DTYPE_FLOAT32, 1, &count, values);
    pw_onnx_put_tensor(&body, name, &t);
    pw_wire_put_message(graph, PW_GRAPH_INITIALIZER, &body);
}

/* The whole model, with opset 17; out is emptied. */
static inline void finish_model(struct pw_onnx_out *out, struct pw_buf *bytes)
{
    pw_onnx_out_bytes(out, bytes);
    assert_false(bytes->failed);
    pw_onnx_out_clear(out);
}

static inline struct pw_model *parse_model(const struct pw_buf *bytes)
{
    struct pw_model *model = NULL;
    struct pw_error err = {0};
    pw_status status = pw_model_parse(bytes->data, bytes->size, "test.onnx", NULL, &model, &err);
    if (status != PW_OK)
        fail_msg("%s", err.message);
    return model;
}

/* The message of a model that must be refused; err is the caller's. */
static inline const char *refuse_model(const struct pw_buf *bytes, const char *dir, struct pw_error *err)
{
    struct pw_model *model = NULL;
    pw_status status;
    memset(err, 0, sizeof *err);
    status = pw_model_parse(pw_buf_text(bytes), bytes->size, "bad.onnx", dir, &model, err);
    if (status == PW_OK) {
        pw_model_destroy(model);
        fail_msg("a malformed model was accepted");
    }
    assert_int_equal(status, err->status);
    assert_null(model);
    return err->message;
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

static inline const struct pw_graph_value *value_named(const struct pw_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->value_count; i++)
        if (strcmp(graph->values[i].name, name) == 0)
            return &graph->values[i];
    fail_msg("no value '%s'", name);
    return NULL;
}

/* A decoder of one layer in a new file, its path, and (bytes may be NULL) its content. */
static inline void small_decoder(struct pw_buf *bytes, char path[64])
{
    struct pw_decoder decoder;
    struct pw_error err = {0};
    int fd;
    snprintf(path, 64, "/tmp/pw-decoder-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    pw_decoder_defaults(&decoder);
    decoder.layers = 1;
    decoder.width = 16;
    decoder.heads = 2;
    decoder.vocabulary = 8;
    decoder.positions = 8;
    assert_int_equal(pw_decoder_check(&decoder, &err), PW_OK);
    if (pw_decoder_write(&decoder, path, NULL, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (bytes)
        assert_int_equal(pw_file_read(path, 1 << 20, bytes, &err), PW_OK);
}

#endif
