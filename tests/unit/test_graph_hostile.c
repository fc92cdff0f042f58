/* The reader on files that are broken or mean harm: each kind is refused with a message that names the place. */
#include "tests/unit/graph_build.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "op/op.h"

/* ---- wire ---- */

static void refuse_bytes(const char *bytes, size_t size, const char *expected)
{
    struct pw_buf buf = {0};
    struct pw_error err;
    pw_buf_append(&buf, bytes, size);
    assert_contains(refuse_model(&buf, NULL, &err), expected);
    assert_int_equal(err.status, PW_ERR_FORMAT);
    pw_buf_clear(&buf);
}

static void test_wire(void **state)
{
    (void)state;
    refuse_bytes("", 0, "bad.onnx: holds no graph");
    refuse_bytes("\x3a\x7f", 2, "at byte 2: a field of 127 bytes, but its message has 0 left");
    refuse_bytes("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, "at byte 1: a varint is cut off or longer");
    refuse_bytes("\x08\xff", 2, "at byte 1: a varint is cut off");
    refuse_bytes("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "a field of 18446744073709551615 bytes");
    refuse_bytes("\x00\x00", 2, "field number 0 does not exist");
    refuse_bytes("\x0e", 1, "wire type 6");
    refuse_bytes("\x0c", 1, "end of group");
    refuse_bytes("\x0d\x00\x00", 3, "a field of 4 bytes");
    refuse_bytes("\x38\x01", 2, "ModelProto.graph is written as varint");
    refuse_bytes("\x0a\x00", 2, "ModelProto.ir_version is written as bytes");
    refuse_bytes("\x3a\x00\x3a\x00", 4, "more than one graph");
    refuse_bytes("\xeb\x06", 2, "at byte 2"); /* a group that never ends */
    refuse_bytes("\xeb\x06\xf4\x06", 4, "group 109 is closed by 110");
    {
        char deep[400];
        for (size_t i = 0; i < sizeof deep; i++)
            deep[i] = '\x0b';
        refuse_bytes(deep, sizeof deep, "groups nested deeper than 32");
    }
}

/* ---- graphs: one builder a defect ---- */

static void put_int_tensor(struct pw_buf *body, const char *name, int64_t dim, uint64_t dtype)
{
    pw_wire_put_int(body, PW_TENSOR_DIMS, (uint64_t)dim);
    pw_wire_put_int(body, PW_TENSOR_TYPE, dtype);
    pw_wire_put_text(body, PW_TENSOR_NAME, name);
}

static void put_initializer(struct pw_onnx_out *out, int64_t dim, uint64_t dtype, const char *raw, size_t size)
{
    struct pw_buf body = {0};
    put_int_tensor(&body, "w", dim, dtype);
    pw_wire_put_bytes(&body, PW_TENSOR_RAW, raw, size);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void dangling_input(struct pw_onnx_out *out)
{
    add_node(&out->graph, "Neg", "n", "missing", "y", NULL);
}

static void dangling_output(struct pw_onnx_out *out)
{
    add_output(&out->graph, "nowhere");
}

static void dangling_nested(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, body = {0};
    add_node(&body, "Neg", "deep", "missing", "z", NULL);
    add_output(&body, "z");
    pw_wire_put_text(&body, PW_GRAPH_NAME, "branch");
    pw_onnx_put_attr_message(&attrs, "body", PW_ATTR_GRAPH, &body);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

/* A value made inside a nested graph is not visible outside of it. */
static void leaking_nested(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, body = {0};
    add_node(&body, "Neg", "deep", "x", "inner", NULL);
    add_output(&body, "inner");
    pw_wire_put_text(&body, PW_GRAPH_NAME, "branch");
    pw_onnx_put_attr_message(&attrs, "body", PW_ATTR_GRAPH, &body);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
    add_node(&out->graph, "Neg", "m", "inner", "z", NULL);
}

static void cyclic(struct pw_onnx_out *out)
{
    add_node(&out->graph, "Neg", "a", "c_out", "a_out", NULL);
    add_node(&out->graph, "Neg", "b", "a_out", "b_out", NULL);
    add_node(&out->graph, "Neg", "c", "b_out", "c_out", NULL);
}

static void cyclic_alone(struct pw_onnx_out *out)
{
    add_node(&out->graph, "Neg", "self", "s", "s", NULL);
}

/* A nested graph that needs what its own node makes. */
static void cyclic_nested(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, body = {0};
    add_node(&body, "Neg", "deep", "y", "z", NULL);
    add_output(&body, "z");
    pw_onnx_put_attr_message(&attrs, "body", PW_ATTR_GRAPH, &body);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void duplicate_output(struct pw_onnx_out *out)
{
    add_node(&out->graph, "Neg", "a", "x", "y", NULL);
    add_node(&out->graph, "Neg", "b", "x", "y", NULL);
}

static void duplicate_input(struct pw_onnx_out *out)
{
    add_input(&out->graph, "x");
}

static void duplicate_over_input(struct pw_onnx_out *out)
{
    add_node(&out->graph, "Neg", "a", "x", "x", NULL);
}

static void duplicate_initializer(struct pw_onnx_out *out)
{
    static const float one[1] = {1.0f};
    add_floats(&out->graph, "w", one, 1);
    add_floats(&out->graph, "w", one, 1);
}

static void duplicate_attribute(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_int(&attrs, "axis", 1);
    pw_onnx_put_attr_int(&attrs, "axis", 1);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void no_op_type(struct pw_onnx_out *out)
{
    add_node(&out->graph, "", "n", "x", "y", NULL);
}

static void nul_name(struct pw_onnx_out *out)
{
    struct pw_buf node = {0};
    pw_wire_put_bytes(&node, PW_NODE_OUTPUT, "a\0b", 3);
    pw_wire_put_text(&node, PW_NODE_OP_TYPE, "Neg");
    pw_wire_put_message(&out->graph, PW_GRAPH_NODE, &node);
}

static void nameless_input(struct pw_onnx_out *out)
{
    add_input(&out->graph, "");
}

static void attribute_confused(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, attr = {0};
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "axis");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_TYPE, PW_ATTR_INT);
    pw_wire_put_float(&attr, PW_ATTRIBUTE_F, 1.0f);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void attribute_empty_tensor(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, attr = {0};
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "value");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_TYPE, PW_ATTR_TENSOR);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void attribute_unknown_type(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0}, attr = {0};
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "v");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_TYPE, 99);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void attribute_reference_outside(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0};
    pw_onnx_put_attr_reference(&attrs, "axis", PW_ATTR_INT, "k");
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static void tensor_short(struct pw_onnx_out *out)
{
    put_initializer(out, 3, PW_DTYPE_FLOAT32, "abcdefgh", 8);
}

static void tensor_long(struct pw_onnx_out *out)
{
    put_initializer(out, 1, PW_DTYPE_FLOAT32, "abcdefgh", 8);
}

static void tensor_huge(struct pw_onnx_out *out)
{
    put_initializer(out, INT64_MAX, PW_DTYPE_FLOAT32, "abcd", 4);
}

static void tensor_claims(struct pw_onnx_out *out)
{
    put_initializer(out, (int64_t)1 << 40, PW_DTYPE_INT8, "abcd", 4);
}

static void tensor_negative(struct pw_onnx_out *out)
{
    put_initializer(out, -4, PW_DTYPE_FLOAT32, "", 0);
}

static void tensor_type(struct pw_onnx_out *out)
{
    put_initializer(out, 1, 99, "abcd", 4);
}

static void tensor_raw_strings(struct pw_onnx_out *out)
{
    put_initializer(out, 1, PW_DTYPE_STRING, "abcd", 4);
}

static void tensor_twice(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    put_int_tensor(&body, "w", 1, PW_DTYPE_FLOAT32);
    pw_wire_put_bytes(&body, PW_TENSOR_RAW, "abcd", 4);
    pw_wire_put_float(&body, PW_TENSOR_FLOAT, 1.0f);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void tensor_wrong_field(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    put_int_tensor(&body, "w", 2, PW_DTYPE_FLOAT32);
    pw_wire_put_int(&body, PW_TENSOR_INT64, 1);
    pw_wire_put_int(&body, PW_TENSOR_INT64, 2);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void tensor_cut_element(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    put_int_tensor(&body, "w", 1, PW_DTYPE_INT64);
    pw_wire_put_bytes(&body, PW_TENSOR_INT64, "\x01\xff", 2);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void tensor_rank(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    for (int i = 0; i < 17; i++)
        pw_wire_put_int(&body, PW_TENSOR_DIMS, 1);
    put_int_tensor(&body, "w", 1, PW_DTYPE_INT8);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void tensor_segment(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    put_int_tensor(&body, "w", 1, PW_DTYPE_INT8);
    pw_wire_put_bytes(&body, PW_TENSOR_SEGMENT, "", 0);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

/* values [1], indices, dims [2, 3] */
static void put_sparse(struct pw_onnx_out *out, const int64_t *indices, int64_t count)
{
    struct pw_buf body = {0}, part = {0};
    struct pw_tensor t = {0};
    int64_t values = 2;
    float data[2] = {1.0f, 2.0f};
    pw_tensor_borrow(&t, PW_DTYPE_FLOAT32, 1, &values, data);
    pw_onnx_put_tensor(&part, "s", &t);
    pw_wire_put_message(&body, PW_SPARSE_VALUES, &part);
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 1, &count, indices);
    pw_onnx_put_tensor(&part, NULL, &t);
    pw_wire_put_message(&body, PW_SPARSE_INDICES, &part);
    pw_wire_put_int(&body, PW_SPARSE_DIMS, 2);
    pw_wire_put_int(&body, PW_SPARSE_DIMS, 3);
    pw_wire_put_message(&out->graph, PW_GRAPH_SPARSE, &body);
}

static void sparse_outside(struct pw_onnx_out *out)
{
    put_sparse(out, (const int64_t[]){0, 6}, 2);
}

static void sparse_unordered(struct pw_onnx_out *out)
{
    put_sparse(out, (const int64_t[]){3, 3}, 2);
}

static void sparse_count(struct pw_onnx_out *out)
{
    put_sparse(out, (const int64_t[]){0, 1, 2}, 3);
}

static void opset_twice(struct pw_onnx_out *out)
{
    struct pw_buf opset = {0};
    pw_wire_put_text(&opset, PW_OPSET_DOMAIN, "ai.onnx"); /* another spelling of the standard domain */
    pw_wire_put_int(&opset, PW_OPSET_VERSION, 12);
    pw_wire_put_message(&out->functions, PW_MODEL_OPSET, &opset);
}

static void opset_zero(struct pw_onnx_out *out)
{
    out->opset = 0;
}

static void type_two_kinds(struct pw_onnx_out *out)
{
    struct pw_buf info = {0}, type = {0};
    pw_wire_put_bytes(&type, PW_TYPE_TENSOR_FIELD, "", 0);
    pw_wire_put_bytes(&type, PW_TYPE_SEQUENCE_FIELD, "", 0);
    pw_wire_put_text(&info, PW_INFO_NAME, "t");
    pw_wire_put_message(&info, PW_INFO_TYPE, &type);
    pw_wire_put_message(&out->graph, PW_GRAPH_INPUT, &info);
}

static void type_deep(struct pw_onnx_out *out)
{
    struct pw_buf info = {0}, type = {0}, outer = {0};
    for (int i = 0; i < 40; i++) {
        pw_wire_put_message(&outer, PW_ELEMENT_TYPE, &type);
        pw_wire_put_message(&type, PW_TYPE_SEQUENCE_FIELD, &outer);
    }
    pw_wire_put_text(&info, PW_INFO_NAME, "t");
    pw_wire_put_message(&info, PW_INFO_TYPE, &type);
    pw_wire_put_message(&out->graph, PW_GRAPH_INPUT, &info);
}

static void graphs_deep(struct pw_onnx_out *out)
{
    struct pw_buf body = {0};
    for (int i = 0; i < 60; i++) {
        struct pw_buf attrs = {0}, outer = {0};
        pw_onnx_put_attr_message(&attrs, "body", PW_ATTR_GRAPH, &body);
        add_call(&outer, PW_GRAPH_NODE, "t", "Op", "n", "", "", &attrs);
        body = outer;
    }
    pw_buf_append(&out->graph, body.data, body.size);
    pw_buf_clear(&body);
}

static void attributes_many(struct pw_onnx_out *out)
{
    struct pw_buf attrs = {0};
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        pw_onnx_put_attr_int(&attrs, name, i);
    }
    add_call(&out->graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
}

static const struct defect {
    void (*build)(struct pw_onnx_out *out);
    const char *expected;
} defects[] = {
    {dangling_input, "bad.onnx: graph 'main', node 0 'n' (Neg): input 0 'missing' dangles"},
    {dangling_output, "graph 'main': output 0 'nowhere' dangles"},
    {dangling_nested, "graph 'main', node 0 'n' (Op): attribute 'body': graph 'branch', node 0 'deep' (Neg): input 0 "
                      "'missing' dangles"},
    {leaking_nested, "node 1 'm' (Neg): input 0 'inner' dangles"},
    {cyclic, "graph 'main', node 0 'a' (Neg): is part of a cycle: each waits for the next: 'b' -> 'c' -> 'a' -> 'b'"},
    {cyclic_alone, "node 0 'self' (Neg): is part of a cycle"},
    {cyclic_nested, "node 0 'n' (Op): is part of a cycle"},
    {duplicate_output, "graph 'main', node 1 'b' (Neg): output 0: the name 'y' is defined twice"},
    {duplicate_input, "graph 'main': input 1: the name 'x' is defined twice: it is already an input"},
    {duplicate_over_input, "node 0 'a' (Neg): output 0: the name 'x' is defined twice: it is already an input"},
    {duplicate_initializer, "initializer 1: the name 'w' is defined twice: it is already an initializer"},
    {duplicate_attribute, "node 0 'n' (Op): attribute 'axis' is given twice"},
    {no_op_type, "node 0 'n' (): has no op_type"},
    {nul_name, "name 'a?b' holds a NUL byte"},
    {nameless_input, "graph 'main': input 1 has no name"},
    {attribute_confused, "node 0 'n' (Op): attribute 'axis': declared INT, but holds FLOAT"},
    {attribute_empty_tensor, "attribute 'value': declared TENSOR, but holds nothing"},
    {attribute_unknown_type, "attribute 'v': attribute type 99 is not known"},
    {attribute_reference_outside, "attribute 'axis': refers to attribute 'k' of a function, but is not in one"},
    {tensor_short, "graph 'main': initializer 0: tensor 'w': declared as float32[3], 12 bytes, but its data holds 8"},
    {tensor_long, "declared as float32[1], 4 bytes, but its data holds 8"},
    {tensor_huge, "tensor 'w': its dims multiply to more than 2^48 bytes"},
    {tensor_claims, "1099511627776 bytes, but its data holds 4"},
    {tensor_negative, "tensor 'w': dim 0 is -4"},
    {tensor_type, "tensor 'w': element type 99 is not known"},
    {tensor_raw_strings, "strings cannot be raw"},
    {tensor_twice, "its data is given twice"},
    {tensor_wrong_field, "takes 2 numbers of float_data, but the file holds 0"},
    {tensor_cut_element, "TensorProto.int64_data ends inside an element"},
    {tensor_rank, "rank 18, but 16 is the limit"},
    {tensor_segment, "stored in segments"},
    {sparse_outside, "sparse initializer 0: index 1 of a sparse tensor is outside its shape"},
    {sparse_unordered, "index 1 of a sparse tensor is not in ascending order"},
    {sparse_count, "the indices of a sparse tensor must be int64 [2] or [2, 2]"},
    {opset_twice, "domain '' is imported twice, as version 17 and as 12"},
    {opset_zero, "version 0 does not exist"},
    {type_two_kinds, "value 't': a type that is two kinds at once"},
    {type_deep, "value 't': a type nested deeper than 16"},
    {graphs_deep, "graphs nested deeper than 48"},
    {attributes_many, "300 attributes; at most 256"},
};

static void test_defects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++) {
        struct pw_onnx_out out;
        struct pw_buf bytes = {0};
        struct pw_error err;
        pw_onnx_out_init(&out, "main", 17);
        add_input(&out.graph, "x");
        defects[i].build(&out);
        finish_model(&out, &bytes);
        assert_contains(refuse_model(&bytes, NULL, &err), defects[i].expected);
        pw_buf_clear(&bytes);
    }
}

/* A node that breaks its operator's definition. */
static void test_definitions(void **state)
{
    static const struct {
        const char *op, *inputs, *expected;
    } cases[] = {
        {"Add", "x", "node 0 'n' (Add)"},
        {"Add", "x x x", "node 0 'n' (Add)"},
        {"Concat", "x x", "node 0 'n' (Concat)"}, /* axis is required */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_onnx_out out;
        struct pw_buf bytes = {0};
        struct pw_error err;
        if (!pw_op_find("", cases[i].op, 17, NULL))
            continue;
        pw_onnx_out_init(&out, "main", 17);
        add_input(&out.graph, "x");
        add_node(&out.graph, cases[i].op, "n", cases[i].inputs, "y", NULL);
        finish_model(&out, &bytes);
        assert_contains(refuse_model(&bytes, NULL, &err), cases[i].expected);
        pw_buf_clear(&bytes);
    }
}

/* Text of a file is data: never a control byte in a message, never a runaway length. */
static void test_names(void **state)
{
    static const char *const names[] = {"\033]0;owned\007", "a\r\nb", "\xff\xfe\xc3",
                                        "\xe2\x80\xae"
                                        "abc",
                                        "\x9b"
                                        "31m"};
    struct pw_buf bytes = {0};
    struct pw_error err;
    struct pw_onnx_out out;
    char *text = pw_calloc(10001, 1);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pw_onnx_out_init(&out, names[i], 17);
        pw_onnx_put_node(&out.graph, names[i], names[i], &names[i], 1, NULL, 0, NULL);
        finish_model(&out, &bytes);
        refuse_model(&bytes, NULL, &err);
        for (const char *p = err.message; *p; p++)
            assert_true((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
        pw_buf_clear(&bytes);
    }
    assert_non_null(text);
    memset(text, 'n', 10000);
    pw_onnx_out_init(&out, text, 17);
    pw_onnx_put_node(&out.graph, text, text, (const char *const *)&text, 1, NULL, 0, NULL);
    finish_model(&out, &bytes);
    refuse_model(&bytes, NULL, &err);
    assert_contains(err.message, "dangles"); /* the cause is still there */
    pw_buf_clear(&bytes);
    pw_free(text);
}

/* Structures that would take far more memory than the file's size justifies. */
static void test_budget(void **state)
{
    struct pw_buf bytes = {0}, graph = {0};
    struct pw_error err;
    (void)state;
    /* A million sparse initializers of two bytes each would be 400 MB of descriptions. */
    for (int i = 0; i < 1000000; i++)
        pw_wire_put_bytes(&graph, PW_GRAPH_INITIALIZER, "", 0);
    pw_wire_put_int(&bytes, PW_MODEL_IR_VERSION, 2);
    pw_wire_put_message(&bytes, PW_MODEL_GRAPH, &graph);
    refuse_model(&bytes, NULL, &err);
    assert_contains(err.message, "initializer 0");
    pw_buf_clear(&bytes);
    /* Attributes are small on the wire (type alone) and large in memory. */
    for (int i = 0; i < 40000; i++) {
        struct pw_buf node = {0};
        pw_wire_put_text(&node, PW_NODE_OP_TYPE, "Op");
        pw_wire_put_text(&node, PW_NODE_DOMAIN, "t");
        for (int j = 0; j < 16; j++) {
            char name[2] = {(char)('a' + j), 0};
            struct pw_buf attr = {0};
            pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, name);
            pw_wire_put_int(&attr, PW_ATTRIBUTE_I, 0);
            pw_wire_put_message(&node, PW_NODE_ATTRIBUTE, &attr);
        }
        pw_wire_put_message(&graph, PW_GRAPH_NODE, &node);
    }
    pw_wire_put_int(&bytes, PW_MODEL_IR_VERSION, 2);
    pw_wire_put_message(&bytes, PW_MODEL_GRAPH, &graph);
    {
        struct pw_model *model = NULL;
        memset(&err, 0, sizeof err);
        if (pw_model_parse(bytes.data, bytes.size, "big", NULL, &model, &err) == PW_OK)
            assert_true(model->arena.used_bytes < ((size_t)32 << 20) + 32 * bytes.size);
        else
            assert_contains(err.message, "needs more than");
        pw_model_destroy(model);
    }
    pw_buf_clear(&bytes);
}

/* ---- external data that leads elsewhere ---- */

struct folder {
    char outer[64], model[80], secret[80], inside[96], link[96], loop[96], pipe[96];
};

static void make_folder(struct folder *f)
{
    struct pw_error err = {0};
    snprintf(f->outer, sizeof f->outer, "/tmp/pw-hostile-XXXXXX");
    assert_non_null(mkdtemp(f->outer));
    snprintf(f->model, sizeof f->model, "%s/model", f->outer);
    snprintf(f->secret, sizeof f->secret, "%s/secret", f->outer);
    snprintf(f->inside, sizeof f->inside, "%s/data", f->model);
    snprintf(f->link, sizeof f->link, "%s/link", f->model);
    snprintf(f->loop, sizeof f->loop, "%s/loop", f->model);
    snprintf(f->pipe, sizeof f->pipe, "%s/pipe", f->model);
    assert_int_equal(mkdir(f->model, 0700), 0);
    assert_int_equal(pw_file_write(f->secret, "12345678", 8, &err), PW_OK);
    assert_int_equal(pw_file_write(f->inside, "12345678", 8, &err), PW_OK);
    assert_int_equal(symlink("../secret", f->link), 0);
    assert_int_equal(symlink("loop", f->loop), 0);
    assert_int_equal(mkfifo(f->pipe, 0600), 0);
}

static void remove_folder(const struct folder *f)
{
    unlink(f->pipe);
    unlink(f->loop);
    unlink(f->link);
    unlink(f->inside);
    unlink(f->secret);
    rmdir(f->model);
    rmdir(f->outer);
}

static void put_external(struct pw_onnx_out *out, const char *location, size_t location_size, const char *offset,
                         const char *length)
{
    struct pw_buf body = {0}, entry = {0};
    const char *const pairs[][2] = {{"offset", offset}, {"length", length}};
    put_int_tensor(&body, "w", 2, PW_DTYPE_INT32);
    pw_wire_put_text(&entry, PW_ENTRY_KEY, "location");
    pw_wire_put_bytes(&entry, PW_ENTRY_VALUE, location, location_size);
    pw_wire_put_message(&body, PW_TENSOR_EXTERNAL, &entry);
    for (size_t i = 0; i < 2; i++) {
        if (!pairs[i][1])
            continue;
        pw_wire_put_text(&entry, PW_ENTRY_KEY, pairs[i][0]);
        pw_wire_put_text(&entry, PW_ENTRY_VALUE, pairs[i][1]);
        pw_wire_put_message(&body, PW_TENSOR_EXTERNAL, &entry);
    }
    pw_wire_put_int(&body, PW_TENSOR_LOCATION, 1);
    pw_wire_put_message(&out->graph, PW_GRAPH_INITIALIZER, &body);
}

static void test_external(void **state)
{
    static const struct {
        const char *location, *offset, *length, *expected;
    } cases[] = {
        {"../secret", NULL, NULL, "external data '../secret' leads outside the model's folder"},
        {"sub/../../secret", NULL, NULL, "leads outside the model's folder"},
        {"..", NULL, NULL, "leads outside the model's folder"},
        {"/etc/hostname", NULL, NULL, "leads outside the model's folder: an absolute path"},
        {"link", NULL, NULL, "leads outside the model's folder through a symbolic link"},
        {"loop", NULL, NULL, "external data 'loop': "},
        {"absent", NULL, NULL, "external data 'absent': No such file"},
        {"pipe", NULL, NULL, "expected a regular file"},
        {".", NULL, NULL, "leads outside the model's folder"},
        {"data", "4", NULL, "offset 4 and length 8 reach past the end of a file of 8 bytes"},
        {"data", "18446744073709551615", NULL, "offset '18446744073709551615' is no number of bytes"},
        {"data", "999999999999999999", "999999999999999999", "reach past the end"},
        {"data", "-1", NULL, "offset '-1' is no number of bytes"},
        {"data", "0", "4", "8 bytes, but its data holds 4"},
        {"data", "0x0", NULL, "is no number of bytes"},
        {"", NULL, NULL, "location '' is no file name"},
    };
    struct folder f;
    struct pw_onnx_out out;
    struct pw_buf bytes = {0};
    struct pw_error err;
    (void)state;
    make_folder(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pw_onnx_out_init(&out, "main", 17);
        put_external(&out, cases[i].location, strlen(cases[i].location), cases[i].offset, cases[i].length);
        finish_model(&out, &bytes);
        assert_contains(refuse_model(&bytes, f.model, &err), cases[i].expected);
        assert_contains(err.message, "initializer 0: tensor 'w'");
        pw_buf_clear(&bytes);
    }
    pw_onnx_out_init(&out, "main", 17);
    put_external(&out, "data\0/../../secret", 18, NULL, NULL);
    finish_model(&out, &bytes);
    assert_contains(refuse_model(&bytes, f.model, &err), "is no file name");
    pw_buf_clear(&bytes);
    pw_onnx_out_init(&out, "main", 17);
    put_external(&out, "data", 4, NULL, NULL);
    finish_model(&out, &bytes);
    assert_contains(refuse_model(&bytes, NULL, &err), "but the model has no folder");
    pw_buf_clear(&bytes);
    remove_folder(&f);
}

/* ---- files that are cut ---- */

static void test_truncated(void **state)
{
    struct pw_buf bytes = {0};
    char path[64];
    (void)state;
    small_decoder(&bytes, path);
    unlink(path);
    for (size_t size = 0; size < bytes.size; size += size < 2000 ? 1 : 97) {
        struct pw_model *model = NULL;
        struct pw_error err = {0};
        assert_int_not_equal(pw_model_parse(bytes.data, size, "cut", NULL, &model, &err), PW_OK);
        assert_true(strncmp(err.message, "cut: ", 5) == 0);
    }
    pw_buf_clear(&bytes);
}

static void test_not_a_file(void **state)
{
    struct pw_model *model = NULL;
    struct pw_error err = {0};
    (void)state;
    assert_int_equal(pw_model_load("/nonexistent/model.onnx", &model, &err), PW_ERR_IO);
    assert_contains(err.message, "/nonexistent/model.onnx");
    pw_error_clear(&err);
    assert_int_equal(pw_model_load("/tmp", &model, &err), PW_ERR_IO);
    assert_contains(err.message, "a directory");
}

/* ---- memory that runs out ---- */

static void rich_model(struct pw_buf *bytes)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0}, function = {0};
    static const float weights[4] = {1, 2, 3, 4};
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "z");
    add_floats(&out.graph, "w", weights, 4);
    put_sparse(&out, (const int64_t[]){0, 4}, 2);
    add_node(&body, "Neg", "deep", "x", "d", NULL);
    add_output(&body, "d");
    pw_onnx_put_attr_message(&attrs, "body", PW_ATTR_GRAPH, &body);
    pw_onnx_put_attr_text(&attrs, "mode", "fast");
    add_call(&out.graph, PW_GRAPH_NODE, "t", "Op", "late", "y w", "v", &attrs);
    add_call(&out.graph, PW_GRAPH_NODE, "local", "F", "call", "x", "y", NULL);
    add_node(&out.graph, "Neg", "last", "v", "z", NULL);
    pw_wire_put_text(&function, PW_FUNCTION_NAME, "F");
    pw_wire_put_text(&function, PW_FUNCTION_DOMAIN, "local");
    pw_wire_put_text(&function, PW_FUNCTION_INPUT, "a");
    pw_wire_put_text(&function, PW_FUNCTION_OUTPUT, "b");
    add_call(&function, PW_FUNCTION_NODE, "", "Neg", "n", "a", "b", NULL);
    pw_wire_put_message(&out.functions, PW_MODEL_FUNCTION, &function);
    finish_model(&out, bytes);
}

static void test_no_memory(void **state)
{
    struct pw_buf bytes = {0};
    uint64_t total, failed = 0;
    (void)state;
    rich_model(&bytes);
    pw_model_destroy(parse_model(&bytes)); /* one-time set-up out of the way */
    pw_mem_fail_at(0, 0);
    pw_model_destroy(parse_model(&bytes));
    total = pw_mem_count();
    assert_true(total > 20);
    for (uint64_t n = 1; n <= total; n++) {
        struct pw_model *model = NULL;
        struct pw_error err = {0};
        pw_status status;
        pw_mem_fail_at(n, 1);
        status = pw_model_parse(bytes.data, bytes.size, "oom", NULL, &model, &err);
        pw_mem_fail_at(0, 0);
        if (status == PW_OK) {
            pw_model_destroy(model);
            continue;
        }
        failed++;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_null(model);
    }
    assert_true(failed > total / 2);
    pw_buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire),      cmocka_unit_test(test_defects),    cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_budget),     cmocka_unit_test(test_external),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_not_a_file), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
