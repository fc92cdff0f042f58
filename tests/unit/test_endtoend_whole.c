/* Patterns of which a whole cannot be judged: a node of one draws, or the run inside of it does not come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/file.h"
#include "graph_text.h"
#include "paths.h"
#include "report/run.h"
#include "target/device.h"
#include "target/remove.h"
#include "verify/endtoend.h"

#define MOST_ROWS 16

static struct pw_endtoend_node rows[MOST_ROWS];
static char reasons[MOST_ROWS][200];
static size_t row_count;

static void on_event(void *user, const struct pw_endtoend_event *event)
{
    (void)user;
    if (event->kind != PW_ENDTOEND_NODE)
        return;
    assert_true(row_count < MOST_ROWS);
    rows[row_count] = *event->node;
    snprintf(reasons[row_count], sizeof reasons[0], "%s", event->node->reason);
    rows[row_count].reason = reasons[row_count];
    rows[row_count].note = rows[row_count].why = rows[row_count].implementation = "";
    row_count++;
}

static const struct pw_endtoend_node *whole(void)
{
    const struct pw_endtoend_node *found = NULL;

    for (size_t i = 0; i < row_count; i++)
        if (!rows[i].node) {
            assert_null(found);
            found = &rows[i];
        }
    assert_non_null(found);
    return found;
}

struct site {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    struct pw_protocol *protocol;
    struct pw_kernels *kernels;
    struct pw_device *device;
    struct pw_endtoend_totals totals;
};

static void check(pw_status status, const struct pw_error *err)
{
    if (status != PW_OK)
        fail_msg("%s", err->message);
}

static void run(struct site *s, const char *graph, const char *const *inputs, size_t count)
{
    struct pw_value values[4] = {{0}};
    struct pw_error err = {0};

    s->model = graph_text_model(graph, NULL, 17, &s->bytes);
    check(pw_infer_graph(s->model, NULL, 0, &s->inference, &err), &err);
    check(pw_inventory_create(s->model, s->inference, &s->inventory, &err), &err);
    check(pw_protocol_default(&s->protocol, &err), &err);
    for (size_t i = 0; i < count; i++)
        check(pw_tensor_parse(inputs[i], &values[i], &err), &err);
    row_count = 0;
    check(pw_endtoend_run(&(struct pw_endtoend_request){.inventory = s->inventory,
                                                        .kernels = s->kernels,
                                                        .device = s->device,
                                                        .protocol = s->protocol,
                                                        .inputs = values,
                                                        .input_count = count,
                                                        .mode = PW_ENDTOEND_NODES,
                                                        .seed = 1,
                                                        .emit = on_event},
                          NULL, &s->totals, &err),
          &err);
    for (size_t i = 0; i < count; i++)
        pw_value_clear(&values[i]);
}

static void close_site(struct site *s)
{
    pw_device_close(s->device);
    pw_kernels_destroy(s->kernels);
    pw_protocol_destroy(s->protocol);
    pw_inventory_destroy(s->inventory);
    pw_inference_destroy(s->inference);
    pw_model_destroy(s->model);
    pw_buf_clear(&s->bytes);
}

/* Attention in training: what was dropped is drawn, so the whole cannot be compared. Nothing failed. */
static void test_a_pattern_that_draws(void **state)
{
    static const char graph[] = "input q float32[2,4,3]\ninput k float32[2,4,3]\ninput v float32[2,4,3]\n"
                                "const scale float32[1] 0.5\nconst ratio float32[] 0.5\nconst training bool[] 1\n"
                                "t = Transpose perm=[0,2,1] (k)\ns = MatMul (q, t)\nc = Mul (s, scale)\n"
                                "p = Softmax axis=-1 (c)\nd = Dropout (p, ratio, training)\no = MatMul (d, v)\n"
                                "output o float32[2,4,3]\n";
    static const char *const inputs[] = {"float32[2,4,3] uniform 1", "float32[2,4,3] uniform 2",
                                         "float32[2,4,3] uniform 3"};
    struct pw_error err = {0};
    struct site s = {.model = NULL};

    (void)state;
    check(pw_device_open("reference", NULL, &s.device, &err), &err);
    run(&s, graph, inputs, PW_COUNT_OF(inputs));
    assert_int_equal(row_count, 7);
    assert_int_equal(rows[4].standing, PW_NODE_DRAWN);
    assert_int_equal(whole()->standing, PW_NODE_DRAWN);
    assert_string_equal(whole()->reason, "one of its nodes draws");
    assert_int_equal(s.totals.failed, 0);
    assert_true(s.totals.held);
    close_site(&s);
}

/* ---- a run inside of a pattern that crashes ---- */

static char scratch[] = "/tmp/portwright-test-XXXXXX";

#define KERNEL(name, op, room, args)                                                                                   \
    "  - kernel: " name "\n    implements: [" op "]\n    equals: " room "/reference\n    dtypes: [float32]\n"          \
    "    sources: {opencl: late.cl}\n    priority: 1000\n    launches:\n"                                              \
    "      - {entry: " name ", global: [\"out0_size\"], local: [\"1\"], args: [" args "]}\n"                           \
    "    provenance: {author: hand, algorithm: \"deliberately wrong\", tiling: \"one element a work-item\"}\n"

static const char description[] = "format: 1\nkernels:\n" KERNEL("late_add", "Add", "elementwise", "in0, in1, out0")
    KERNEL("late_gate", "Sigmoid", "activation", "in0, out0")
        KERNEL("late_mul", "Mul", "elementwise", "in0, in1, out0");

/* 1 / (1 + e^-1) = 0.73105858, which is 0.7310585976 in float32; its steps there are 6e-8. */
static const char source[] =
    "__kernel void late_add(__global const float *a, __global const float *b, __global float *y)\n"
    "{\n    size_t i = get_global_id(0);\n    y[i] = nextafter(a[i] + b[i], INFINITY);\n}\n"
    "__kernel void late_gate(__global const float *x, __global float *y)\n"
    "{\n    size_t i = get_global_id(0);\n    y[i] = x[i] >= 1.0f ? 0.73105866f : 0.0f;\n}\n"
    "__kernel void late_mul(__global const float *a, __global const float *b, __global float *y)\n"
    "{\n    size_t i = get_global_id(0);\n    if (a[i] == 1.0f && b[i] > 0.7310586f)\n"
    "        *(volatile __global int *)(size_t)8 = 1;\n    y[i] = a[i] * b[i];\n}\n";

static void write_file(const char *name, const char *text, size_t size)
{
    struct pw_buf path = {0};
    struct pw_error err = {0};

    pw_buf_printf(&path, "%s/%s", scratch, name);
    check(pw_file_write(pw_buf_text(&path), text, size, &err), &err);
    pw_buf_clear(&path);
}

static void load_kernels(struct site *s)
{
    struct pw_ops_dir dirs[] = {{PW_SRCDIR "/ops", false}, {scratch, false}};
    struct pw_buf prelude = {0}, room = {0};
    struct pw_error err = {0};

    pw_buf_printf(&room, "%s/late", scratch);
    check(pw_file_mkdirs(pw_buf_text(&room), &err), &err);
    check(pw_file_read(PW_SRCDIR "/ops/prelude.cl", 1 << 20, &prelude, &err), &err);
    write_file("prelude.cl", prelude.data, prelude.size);
    write_file("late/late.yaml", description, strlen(description));
    write_file("late/late.cl", source, strlen(source));
    check(pw_kernels_load(dirs, PW_COUNT_OF(dirs), &s->kernels, &err), &err);
    pw_buf_clear(&prelude);
    pw_buf_clear(&room);
}

/* SiLU of a sum that is a step too large on the target. Inside of the pattern, and only there, the product gets the
 * reference's 1 beside the target's gate: it dies, and all that was compared before held. */
static void test_a_crash_inside_of_a_pattern(void **state)
{
    static const char graph[] = "input x float32[4]\nconst half float32[4] 0.5 0.5 0.5 0.5\na = Add (x, half)\n"
                                "g = Sigmoid (a)\ny = Mul (a, g)\noutput y float32[4]\n";
    static const char *const inputs[] = {"float32[4] 0.5 0.5 0.5 0.5"};
    struct pw_device_options options = {.workers = 1};
    struct pw_error err = {0};
    struct site s = {.model = NULL};

    (void)state;
    if (pw_device_open("opencl", &options, &s.device, &err) != PW_OK) {
        if (getenv("CI"))
            fail_msg("%s", err.message);
        skip();
    }
    load_kernels(&s);
    run(&s, graph, inputs, 1);
    assert_int_equal(row_count, 4);
    for (size_t i = 0; i < row_count; i++)
        assert_true(!rows[i].node || (rows[i].standing == PW_NODE_HELD && rows[i].on_target));
    assert_int_equal(whole()->standing, PW_NODE_FAILED);
    assert_non_null(strstr(whole()->reason, "SIGSEGV"));
    assert_int_equal(s.totals.culprits, 0);
    assert_int_equal(s.totals.failed, 1);
    assert_false(s.totals.held);
    close_site(&s);
}

static int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
    (void)state;
    pw_remove_tree(scratch);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pattern_that_draws),
        cmocka_unit_test(test_a_crash_inside_of_a_pattern),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
