/* The registry, checks of nodes and calls, and what rooms ask of their calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/infer.h"
#include "op/cases.h"
#include "op/op.h"

static void test_find(void **state)
{
    bool known = false;

    (void)state;
    assert_int_equal(pw_op_find("", "Constant", 1, NULL)->since, 1);
    assert_int_equal(pw_op_find("", "Constant", 8, NULL)->since, 1);
    assert_int_equal(pw_op_find("", "Constant", 10, NULL)->since, 9);
    assert_int_equal(pw_op_find("ai.onnx", "Constant", 12, NULL)->since, 12);
    assert_int_equal(pw_op_find("", "Constant", 1000, NULL)->since, 25);
    assert_null(pw_op_find("", "Range", 10, &known));
    assert_true(known);
    assert_null(pw_op_find("", "Rang", 20, &known));
    assert_false(known);
    assert_null(pw_op_find("com.example", "Range", 20, &known));
    assert_false(known);
}

static void test_names(void **state)
{
    const struct pw_op *op = pw_op_find("", "Range", 11, NULL);
    struct pw_op other = {.domain = "com.microsoft", .name = "Gelu", .since = 1};
    char label[64];

    (void)state;
    assert_string_equal(pw_op_label(op, label, sizeof label), "Range-11");
    assert_string_equal(pw_op_label(&other, label, sizeof label), "com.microsoft:Gelu-1");
    assert_string_equal(pw_op_room(op)->name, "constant");
    assert_null(pw_op_room(&other));
    assert_string_equal(pw_category_name(PW_CATEGORY_MATMUL), "matrix multiplication");
    for (int i = 0; i < PW_CATEGORY_COUNT; i++)
        assert_true(strlen(pw_category_name((pw_category)i)) > 0);
}

/* ---- what every room's table must hold ---- */

static void check_formals(const struct pw_op *op, const struct pw_formal *formals, const char *what)
{
    size_t count = 0;

    if (formals == NULL)
        fail_msg("%s-%d has no %s", op->name, op->since, what);
    for (const struct pw_formal *f = formals; f->name != NULL; f++, count++) {
        if (strlen(f->name) > 31 || count == PW_OP_MAX_FORMALS)
            fail_msg("%s-%d: %s '%s' is too long, or too many", op->name, op->since, what, f->name);
        if ((f->flags & PW_FORMAL_VARIADIC) != 0 && f[1].name != NULL)
            fail_msg("%s-%d: variadic '%s' is not the last", op->name, op->since, f->name);
        for (const struct pw_formal *g = formals; g < f; g++) {
            if (strcmp(f->name, g->name) == 0)
                fail_msg("%s-%d: two %s '%s'", op->name, op->since, what, f->name);
        }
    }
}

static void check_attrs(const struct pw_op *op)
{
    for (const struct pw_attr_def *a = op->attrs; a != NULL && a->name != NULL; a++) {
        if (a->type <= PW_ATTR_UNDEFINED || a->type > PW_ATTR_TYPE_PROTOS)
            fail_msg("%s-%d: attribute '%s' has no type", op->name, op->since, a->name);
        for (const struct pw_attr_def *b = op->attrs; b < a; b++) {
            if (strcmp(a->name, b->name) == 0)
                fail_msg("%s-%d: two attributes '%s'", op->name, op->since, a->name);
        }
    }
}

static void test_tables(void **state)
{
    (void)state;
    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++) {
            /* Gradient is replaced when a model is loaded: what is left of it can't be evaluated. */
            bool replaced = strcmp(op->name, "Gradient") == 0 && op->host_only != NULL;

            if (op->domain == NULL || op->since < 1 || op->infer == NULL ||
                (op->golden == NULL && op->fast == NULL && !replaced))
                fail_msg("%s-%d lacks a domain, a version, inference or a reference", op->name, op->since);
            check_formals(op, op->inputs, "inputs");
            check_formals(op, op->outputs, "outputs");
            check_attrs(op);
            /* found by its own name and version: no second entry hides it */
            if (pw_op_find(op->domain, op->name, op->since, NULL) != op)
                fail_msg("%s-%d is there twice", op->name, op->since);
            if (pw_op_room(op) != room)
                fail_msg("%s-%d is in another room", op->name, op->since);
        }
    }
}

/* A room's cases name the room; no two are called the same. */
static void test_case_names(void **state)
{
    (void)state;
    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        size_t size = strlen(room->name);

        for (const struct pw_room_case *c = room->cases; c->name != NULL; c++) {
            if (strncmp(c->name, room->name, size) != 0 || c->name[size] != '/')
                fail_msg("case '%s' is in room '%s'", c->name, room->name);
            for (const struct pw_room_case *d = room->cases; d < c; d++) {
                if (strcmp(c->name, d->name) == 0)
                    fail_msg("two cases '%s'", c->name);
            }
        }
    }
}

/* ---- checks ---- */

static const struct pw_attr_def demo_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = -1},
    {.name = "scale", .type = PW_ATTR_FLOAT, .f = 0.5f},
    {.name = "mode", .type = PW_ATTR_STRING, .s = "fast"},
    {.name = "pads", .type = PW_ATTR_INTS, .required = true},
    {0},
};
static const struct pw_formal demo_inputs[] = {
    {"X", "T", 0},
    {"Y", "T", PW_FORMAL_OPTIONAL},
    {"more", NULL, PW_FORMAL_VARIADIC | PW_FORMAL_OPTIONAL | PW_FORMAL_ANY},
    {0},
};
static const struct pw_formal demo_outputs[] = {{"Z", "T", 0}, {"mask", "B", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_op demo = {.domain = "",
                                  .name = "Demo",
                                  .since = 3,
                                  .attrs = demo_attrs,
                                  .inputs = demo_inputs,
                                  .outputs = demo_outputs,
                                  .infer = pw_infer_same};

static const int64_t pads[2] = {1, 2};
static struct pw_attr pads_attr = {.name = "pads", .type = PW_ATTR_INTS, .count = 2, .ints = pads};
static struct pw_graph graph = {.name = "main"};

static struct pw_node demo_node(void)
{
    static pw_value_id inputs[4] = {0, 1, 2, 3}, outputs[3] = {4, 5, 6};

    return (struct pw_node){.name = "n",
                            .op_type = "Demo",
                            .domain = "",
                            .index = 7,
                            .inputs = inputs,
                            .input_count = 1,
                            .outputs = outputs,
                            .output_count = 1,
                            .attrs = &pads_attr,
                            .attr_count = 1,
                            .op = &demo,
                            .graph = &graph};
}

static void expect_refused(const struct pw_node *node, const char *text)
{
    struct pw_error err = {0};

    assert_int_equal(pw_op_check(&demo, node, &err), PW_ERR_MODEL);
    if (strstr(err.message, text) == NULL)
        fail_msg("'%s' does not contain '%s'", err.message, text);
    assert_non_null(strstr(err.message, "graph 'main', node 7 'n'"));
}

static void test_check_node(void **state)
{
    struct pw_node node = demo_node();
    struct pw_attr attrs[2] = {pads_attr, {.name = "axes", .type = PW_ATTR_INTS}};
    pw_value_id omitted[2] = {PW_NO_VALUE, 1};

    (void)state;
    assert_int_equal(pw_op_check(&demo, &node, NULL), PW_OK);
    node.input_count = 4; /* two of the variadic */
    node.output_count = 2;
    assert_int_equal(pw_op_check(&demo, &node, NULL), PW_OK);
    node.output_count = 3;
    expect_refused(&node, "expected 1 to 2 outputs, found 3");
    node.output_count = 0;
    expect_refused(&node, "expected 1 to 2 outputs, found 0");
    node = demo_node();
    node.input_count = 0;
    expect_refused(&node, "expected at least 1 inputs, found 0");
    node.input_count = 2;
    node.inputs = omitted;
    expect_refused(&node, "required input 0 ('X') is omitted");
    node = demo_node();
    node.attr_count = 0;
    expect_refused(&node, "required attribute 'pads' is missing");
    node.attrs = attrs;
    node.attr_count = 2;
    expect_refused(&node, "unknown attribute 'axes'");
    attrs[1] = (struct pw_attr){.name = "axis", .type = PW_ATTR_FLOAT};
    expect_refused(&node, "attribute 'axis' must be int, found float");
}

static void test_attributes(void **state)
{
    struct pw_node node = demo_node();
    struct pw_attr attrs[2] = {pads_attr, {.name = "axis", .type = PW_ATTR_INT, .i = 2}};
    struct pw_call call = {.op = &demo, .node = &node};
    const int64_t *ints;
    size_t count;

    (void)state;
    assert_int_equal(pw_call_int(&call, "axis"), -1);
    assert_true(pw_call_float(&call, "scale") == 0.5f);
    assert_string_equal(pw_call_string(&call, "mode"), "fast");
    assert_int_equal(pw_call_int(&call, "nothing"), 0);
    assert_string_equal(pw_call_string(&call, "nothing"), "");
    assert_false(pw_call_has(&call, "axis"));
    ints = pw_call_ints(&call, "pads", &count);
    assert_int_equal(count, 2);
    assert_int_equal(ints[1], 2);
    node.attrs = attrs;
    node.attr_count = 2;
    assert_int_equal(pw_call_int(&call, "axis"), 2);
    assert_true(pw_call_has(&call, "axis"));
    assert_null(pw_call_floats(&call, "axis", &count)); /* another type: as if absent */
}

static void test_check_call(void **state)
{
    struct pw_node node = demo_node();
    struct pw_info x = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_FLOAT32, .rank = -1}, y = x, s = x;
    const struct pw_info *in[3] = {&x, &y, &s};
    struct pw_call call = {.op = &demo, .node = &node, .input_count = 3, .in = in};
    struct pw_error err = {0};

    (void)state;
    s.kind = PW_VALUE_SEQUENCE; /* the variadic takes anything */
    s.dtype = PW_DTYPE_STRING;
    assert_int_equal(pw_op_check_call(&call, &err), PW_OK);
    y.dtype = PW_DTYPE_UNDEFINED;
    assert_int_equal(pw_op_check_call(&call, &err), PW_OK);
    y.dtype = PW_DTYPE_FLOAT16;
    assert_int_equal(pw_op_check_call(&call, &err), PW_ERR_MODEL);
    assert_non_null(strstr(err.message, "inputs 'X' (float32) and 'Y' (float16) must have one type"));
    err = (struct pw_error){0};
    x.kind = PW_VALUE_SEQUENCE;
    assert_int_equal(pw_op_check_call(&call, &err), PW_ERR_MODEL);
    assert_non_null(strstr(err.message, "must be a tensor, found a sequence"));
    x.kind = PW_VALUE_NONE;
    x.optional = true;
    err = (struct pw_error){0};
    assert_int_equal(pw_op_check_call(&call, &err), PW_ERR_MODEL);
    assert_non_null(strstr(err.message, "found an optional"));
}

static void test_axis(void **state)
{
    struct pw_node node = demo_node();
    struct pw_call call = {.op = &demo, .node = &node};
    struct pw_error err = {0};
    int axis = 9;

    (void)state;
    assert_int_equal(pw_call_axis(&call, -1, 3, &axis, NULL), PW_OK);
    assert_int_equal(axis, 2);
    assert_int_equal(pw_call_axis(&call, -3, 3, &axis, NULL), PW_OK);
    assert_int_equal(axis, 0);
    assert_int_equal(pw_call_axis(&call, 3, 3, &axis, &err), PW_ERR_MODEL);
    assert_non_null(strstr(err.message, "axis 3, but the input has rank 3"));
    assert_int_equal(pw_call_axis(&call, INT64_MIN, 3, &axis, NULL), PW_ERR_MODEL);
    assert_int_equal(pw_call_axis(&call, 0, 0, &axis, NULL), PW_ERR_MODEL);
}

static void test_content(void **state)
{
    static const int64_t numbers[3] = {-1, 0, 7};
    struct pw_node node = demo_node();
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_tensor constant;
    struct pw_info x = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_INT64, .rank = 1};
    const struct pw_info *in[1] = {&x};
    struct pw_call call = {.op = &demo, .node = &node, .input_count = 1, .in = in, .arena = &arena};
    pw_dim content[2];
    const int64_t *values = NULL;
    size_t count = 0;
    bool known = true;

    (void)state;
    assert_int_equal(pw_dims_create(&dims, NULL), PW_OK);
    call.dims = dims;
    assert_int_equal(pw_call_content(&call, 0, &values, &count, &known, NULL), PW_OK);
    assert_false(known);
    pw_tensor_borrow(&constant, PW_DTYPE_INT64, 1, (int64_t[]){3}, numbers);
    x.constant = &constant;
    assert_int_equal(pw_call_content(&call, 0, &values, &count, &known, NULL), PW_OK);
    assert_true(known && count == 3 && values[0] == -1 && values[2] == 7);
    content[0] = pw_dims_int(dims, -5);
    content[1] = 4;
    x.content = content;
    x.content_count = 2;
    assert_int_equal(pw_call_content(&call, 0, &values, &count, &known, NULL), PW_OK);
    assert_true(known && count == 2 && values[0] == -5);
    content[1] = pw_dims_symbol(dims, "n");
    assert_int_equal(pw_call_content(&call, 0, &values, &count, &known, NULL), PW_OK);
    assert_false(known);
    pw_arena_clear(&arena);
    pw_dims_destroy(dims);
}

static void test_outputs(void **state)
{
    struct pw_node node = demo_node();
    struct pw_info x = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_INT8, .rank = 2, .dims = {4, 5}}, out = {.rank = -1};
    const struct pw_info *in[1] = {&x};
    struct pw_call call = {.op = &demo, .node = &node, .input_count = 1, .in = in, .output_count = 1, .out = &out};

    (void)state;
    pw_call_output_like(&call, 0, 0);
    assert_true(out.dtype == PW_DTYPE_INT8 && out.rank == 2 && out.dims[1] == 5);
    pw_call_output_unknown(&call, 0, PW_DTYPE_BOOL);
    assert_true(out.dtype == PW_DTYPE_BOOL && out.rank == -1 && out.kind == PW_VALUE_TENSOR);
    pw_call_output_like(&call, 1, 0); /* an output that the node does not have: nothing happens */
    pw_call_output_like(&call, 0, 5); /* an input that is not there: unknown */
    assert_int_equal(out.rank, -1);
    x.kind = PW_VALUE_SEQUENCE;
    pw_call_output_like(&call, 0, 0);
    assert_int_equal(out.kind, PW_VALUE_SEQUENCE);
}

static void test_eval_helpers(void **state)
{
    struct pw_value out = {0};
    struct pw_eval ev = {.mode = PW_EVAL_GOLDEN, .output_count = 1, .out = &out};
    struct pw_tensor *t = NULL, half = {0};

    (void)state;
    assert_int_equal(pw_eval_carrier(PW_EVAL_GOLDEN, PW_DTYPE_FLOAT16), PW_DTYPE_FLOAT64);
    assert_int_equal(pw_eval_carrier(PW_EVAL_FAST, PW_DTYPE_FLOAT8E5M2), PW_DTYPE_FLOAT32);
    assert_int_equal(pw_eval_carrier(PW_EVAL_FAST, PW_DTYPE_FLOAT64), PW_DTYPE_FLOAT64);
    assert_int_equal(pw_eval_carrier(PW_EVAL_GOLDEN, PW_DTYPE_INT4), PW_DTYPE_INT4);
    assert_int_equal(pw_eval_output(&ev, 0, PW_DTYPE_BFLOAT16, 1, (int64_t[]){3}, &t, NULL), PW_OK);
    assert_true(t == &out.tensor && t->dtype == PW_DTYPE_FLOAT64 && t->nominal == PW_DTYPE_BFLOAT16 && t->count == 3);
    assert_int_equal(pw_eval_output(&ev, 1, PW_DTYPE_INT64, 0, NULL, &t, NULL), PW_ERR_INTERNAL);
    assert_int_equal(pw_tensor_init(&half, PW_DTYPE_FLOAT16, 1, (int64_t[]){1}, NULL), PW_OK);
    pw_tensor_set(&half, 0, 1.5);
    assert_int_equal(pw_eval_output_copy(&ev, 0, &half, NULL), PW_OK);
    assert_true(out.tensor.dtype == PW_DTYPE_FLOAT64 && out.tensor.nominal == PW_DTYPE_FLOAT16);
    assert_true(pw_tensor_get(&out.tensor, 0) == 1.5);
    pw_tensor_clear(&half);
    pw_value_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),       cmocka_unit_test(test_names),        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_case_names), cmocka_unit_test(test_check_node),   cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_check_call), cmocka_unit_test(test_axis),         cmocka_unit_test(test_content),
        cmocka_unit_test(test_outputs),    cmocka_unit_test(test_eval_helpers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
