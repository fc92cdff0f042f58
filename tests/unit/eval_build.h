/* Builds models from texts and runs them on the reference: for tests of evaluation and control flow. */
#ifndef PW_TESTS_EVAL_BUILD_H
#define PW_TESTS_EVAL_BUILD_H

#include "tests/unit/graph_build.h"

#include "op/cases.h"
#include "run/eval.h"
#include "tensor/compare.h"

#define MOST_VALUES 8

/* A value from its text; the caller clears it. */
static inline struct pw_value value_of(const char *text)
{
    struct pw_value value = {0};
    struct pw_error err = {0};

    if (pw_tensor_parse(text, &value, &err) != PW_OK)
        fail_msg("%s: %s", text, err.message);
    return value;
}

/* Declares a tensor: "x", "float32[2,3]"; a negative number as dim is no text, so symbols come as names. */
static inline void declare(struct pw_buf *graph, uint32_t field, const char *name, const char *type,
                           const char *const *symbols)
{
    struct pw_value value = value_of(type);
    struct pw_onnx_shape shape = {value.tensor.dtype, value.tensor.rank, value.tensor.dims, symbols};

    pw_onnx_put_info(graph, field, name, &shape);
    pw_value_clear(&value);
}

static inline void input(struct pw_buf *graph, const char *name, const char *type)
{
    declare(graph, PW_GRAPH_INPUT, name, type, NULL);
}

static inline void output(struct pw_buf *graph, const char *name, const char *type)
{
    declare(graph, PW_GRAPH_OUTPUT, name, type, NULL);
}

/* An input or output of no declared type. */
static inline void untyped(struct pw_buf *graph, uint32_t field, const char *name)
{
    struct pw_buf info = {0};

    pw_wire_put_text(&info, 1, name);
    pw_wire_put_message(graph, field, &info);
}

static inline void initializer(struct pw_buf *graph, const char *name, const char *text)
{
    struct pw_value value = value_of(text);
    struct pw_buf body = {0};

    pw_onnx_put_tensor(&body, name, &value.tensor);
    pw_wire_put_message(graph, PW_GRAPH_INITIALIZER, &body);
    pw_value_clear(&value);
}

static inline void node(struct pw_buf *graph, const char *op, const char *inputs, const char *outputs)
{
    add_node(graph, op, outputs, inputs, outputs, NULL);
}

/* Puts a finished body into the attributes of a node to come. */
static inline void body_attr(struct pw_buf *attrs, const char *name, struct pw_buf *body)
{
    pw_wire_put_text(body, PW_GRAPH_NAME, name);
    pw_onnx_put_attr_message(attrs, name, PW_ATTR_GRAPH, body);
}

struct built {
    struct pw_buf bytes;
    struct pw_model *model;
};

static inline struct built build(struct pw_onnx_out *out)
{
    struct built made = {.model = NULL};

    finish_model(out, &made.bytes);
    made.model = parse_model(&made.bytes);
    return made;
}

static inline void unbuild(struct built *made)
{
    pw_model_destroy(made->model);
    pw_buf_clear(&made->bytes);
}

/* Runs with inputs from texts ("" = an absent value); results are the caller's. */
static inline pw_status run_texts(const struct built *made, const struct pw_eval_options *options,
                                  const char *const *inputs, struct pw_value *results, struct pw_error *err)
{
    struct pw_value values[MOST_VALUES] = {{0}};
    size_t count = 0;
    pw_status status;

    for (; inputs[count] != NULL; count++) {
        assert_true(count < MOST_VALUES);
        if (inputs[count][0] != '\0')
            values[count] = value_of(inputs[count]);
    }
    status = pw_eval_graph(made->model->graph, values, count, options, results, err);
    for (size_t i = 0; i < count; i++)
        pw_value_clear(&values[i]);
    return status;
}

static inline void expect_text(const struct pw_value *got, const char *text, const char *what)
{
    struct pw_value want = value_of(text);
    struct pw_error err = {0};
    int64_t bad = -1;

    if (got->kind != want.kind)
        fail_msg("%s: expected kind %d, found %d", what, (int)want.kind, (int)got->kind);
    if (want.kind == PW_VALUE_TENSOR) {
        if (pw_compare_close(&got->tensor, &want.tensor, 1e-6, 0.0, &bad, &err) != PW_OK)
            fail_msg("%s: %s", what, err.message);
        if (bad >= 0)
            fail_msg("%s: element %lld is %g, expected %g", what, (long long)bad, pw_tensor_get(&got->tensor, bad),
                     pw_tensor_get(&want.tensor, bad));
        assert_int_equal(got->tensor.dtype, want.tensor.dtype);
    }
    assert_int_equal(got->count, want.count);
    pw_value_clear(&want);
}

/* Runs in a mode and compares all outputs. */
static inline void expect_results(const struct built *made, pw_eval_mode mode, const char *const *inputs,
                                  const char *const *outputs)
{
    struct pw_eval_options options = {.mode = mode};
    struct pw_value results[MOST_VALUES] = {{0}};
    struct pw_error err = {0};

    assert_true(made->model->graph->output_count <= MOST_VALUES);
    if (run_texts(made, &options, inputs, results, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t o = 0; o < made->model->graph->output_count; o++) {
        expect_text(&results[o], outputs[o], made->model->graph->values[made->model->graph->outputs[o]].name);
        pw_value_clear(&results[o]);
    }
}

static inline void expect_run_error(const struct built *made, const char *const *inputs, const char *part)
{
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    struct pw_value results[MOST_VALUES] = {{0}};
    struct pw_error err = {0};

    if (run_texts(made, &options, inputs, results, &err) == PW_OK)
        fail_msg("expected an error with '%s', found none", part);
    assert_contains(err.message, part);
    for (size_t o = 0; o < MOST_VALUES; o++)
        assert_int_equal(results[o].kind, PW_VALUE_NONE);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_TEXTS ((const char *const[]){NULL})

#endif
