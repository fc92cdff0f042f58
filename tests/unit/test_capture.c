/* Captured activations: what was written is read back bit by bit; folders stay bounded; files are hostile. */
#include "tests/unit/eval_build.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "verify/capture.h"
#include "verify/capture_internal.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-capture-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

/* y = x * w, z = Concat(y, y) */
static struct built model(const char *weight)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[2] 0");
    initializer(&out.graph, "w", weight);
    add_node(&out.graph, "Mul", "a node: with colon", "x w", "y", NULL);
    pw_onnx_put_attr_int(&attrs, "axis", 0);
    add_node(&out.graph, "Concat", "", "y y", "z", &attrs);
    output(&out.graph, "z", "float32[4] 0");
    return build(&out);
}

static pw_status add(struct pw_capture_writer *writer, const struct pw_node *node, const char *const *texts)
{
    struct pw_value values[4] = {{0}};
    const struct pw_value *in[4] = {NULL};
    struct pw_error err = {0};
    int count = 0;
    pw_status status;

    for (; texts[count]; count++)
        if (texts[count][0]) {
            values[count] = value_of(texts[count]);
            in[count] = &values[count];
        }
    status = pw_capture_add(writer, node, in, count, &err);
    if (status != PW_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < count; i++)
        pw_value_clear(&values[i]);
    return status;
}

static size_t write_one(const struct built *made, const char *text, int64_t max_bytes, int samples)
{
    struct pw_capture_writer *writer = NULL;
    struct pw_error err = {0};
    size_t left_out = 0;

    assert_int_equal(pw_capture_create(folder, max_bytes, samples, &writer, &err), PW_OK);
    add(writer, &made->model->graph->nodes[0], TEXTS(text, "float32[2] 3 4"));
    if (pw_capture_finish(writer, &left_out, &err) != PW_OK)
        fail_msg("%s", err.message);
    return left_out;
}

static size_t sets_of(const struct pw_node *node, const char **hashes, size_t cap, struct pw_capture **out)
{
    struct pw_error err = {0};

    if (pw_capture_open(folder, out, &err) != PW_OK)
        fail_msg("%s", err.message);
    return pw_capture_sets(*out, node, hashes, cap);
}

static size_t count_files(void)
{
    struct pw_error err = {0};
    char **names = NULL;
    size_t count = 0;

    assert_int_equal(pw_file_list(folder, &names, &count, &err), PW_OK);
    pw_free(names);
    return count;
}

static void test_what_is_written_is_read(void **state)
{
    struct built made = model("float32[2] 3 4");
    const struct pw_node *mul = &made.model->graph->nodes[0];
    struct pw_capture *capture = NULL;
    struct pw_value values[2] = {{0}};
    struct pw_error err = {0};
    const char *hashes[4];

    (void)state;
    assert_int_equal(write_one(&made, "float32[2] 1.5 nan", 0, 0), 0);
    assert_int_equal(count_files(), 2); /* the index and x: the weight is the model's */
    assert_int_equal(sets_of(mul, hashes, 4, &capture), 1);
    assert_int_equal(strlen(hashes[0]), 16);
    assert_true(pw_capture_has(capture, mul, hashes[0]));
    assert_false(pw_capture_has(capture, &made.model->graph->nodes[1], hashes[0]));
    if (pw_capture_load(capture, mul, hashes[0], values, 2, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_true(((float *)values[0].tensor.data)[0] == 1.5f && isnan(((float *)values[0].tensor.data)[1]));
    expect_text(&values[1], "float32[2] 3 4", "w");
    for (int i = 0; i < 2; i++)
        pw_value_clear(&values[i]);
    assert_int_equal(pw_capture_load(capture, mul, "0123456789abcdef", values, 2, &err), PW_ERR_USAGE);
    pw_error_clear(&err);
    assert_int_equal(pw_capture_load(capture, mul, hashes[0], values, 1, &err), PW_ERR_FORMAT);
    pw_capture_close(capture);
    unbuild(&made);
}

/* Equal contents are one file and one set; samples a node are bounded; a second run adds to the first. */
static void test_bounds(void **state)
{
    struct built made = model("float32[2] 3 4");
    const struct pw_node *mul = &made.model->graph->nodes[0];
    struct pw_capture *capture = NULL;
    const char *hashes[8];

    (void)state;
    write_one(&made, "float32[2] 1 2", 0, 2);
    write_one(&made, "float32[2] 1 2", 0, 2);
    write_one(&made, "float32[2] 5 6", 0, 2);
    write_one(&made, "float32[2] 7 8", 0, 2); /* a third sample: not wanted */
    assert_int_equal(sets_of(mul, hashes, 8, &capture), 2);
    assert_int_equal(count_files(), 3);
    pw_capture_close(capture);
    /* a file holds 24 + 8 bytes of head and 8 of numbers: 40; two are there, so 100 bytes have no room for one more */
    assert_int_equal(write_one(&made, "float32[2] 9 9", 100, 9), 1);
    assert_int_equal(count_files(), 3);
    assert_int_equal(write_one(&made, "float32[2] 9 9", 120, 9), 0);
    assert_int_equal(count_files(), 4);
    unbuild(&made);
}

static void test_other_weights_are_refused(void **state)
{
    struct built made = model("float32[2] 3 4"), retrained = model("float32[2] 3 5");
    struct pw_capture *capture = NULL;
    struct pw_value values[2] = {{0}};
    struct pw_error err = {0};
    const char *hashes[1];

    (void)state;
    write_one(&made, "float32[2] 1 2", 0, 0);
    assert_int_equal(sets_of(&retrained.model->graph->nodes[0], hashes, 1, &capture), 1);
    assert_int_equal(pw_capture_load(capture, &retrained.model->graph->nodes[0], hashes[0], values, 2, &err),
                     PW_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "other weights"));
    pw_capture_close(capture);
    unbuild(&made);
    unbuild(&retrained);
}

/* The one file of a tensor. */
static void tensor_file(char *path, size_t size)
{
    struct pw_error err = {0};
    char **names = NULL;
    size_t count = 0;

    assert_int_equal(pw_file_list(folder, &names, &count, &err), PW_OK);
    path[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (pw_text_ends(names[i], ".tensor"))
            snprintf(path, size, "%s/%s", folder, names[i]);
    pw_free(names);
    assert_true(path[0] != '\0');
}

static void put_file(const char *path, const char *bytes, size_t size)
{
    struct pw_error err = {0};

    assert_int_equal(pw_file_write(path, bytes, size, &err), PW_OK);
}

static void test_hostile_files(void **state)
{
    static const char *const indexes[] = {"",
                                          "something else\n",
                                          PW_CAPTURE_HEAD "\nno colon\n",
                                          PW_CAPTURE_HEAD "\n0 Mul 00: short\n",
                                          PW_CAPTURE_HEAD "\n0 Mul 00: 0123456789abcdef ../../etc/passwd\n",
                                          PW_CAPTURE_HEAD "\n0 Mul 00:\n"};
    struct built made = model("float32[2] 3 4");
    struct pw_capture *capture = NULL;
    struct pw_value values[2] = {{0}};
    struct pw_error err = {0};
    const char *hashes[1];
    char path[512], index[128];

    (void)state;
    write_one(&made, "float32[2] 1 2", 0, 0);
    tensor_file(path, sizeof path);
    assert_int_equal(sets_of(&made.model->graph->nodes[0], hashes, 1, &capture), 1);
    put_file(path, "PWTENSOR and no more", 20);
    assert_int_equal(pw_capture_load(capture, &made.model->graph->nodes[0], hashes[0], values, 2, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "not what its name says"));
    unlink(path);
    pw_error_clear(&err);
    assert_int_not_equal(pw_capture_load(capture, &made.model->graph->nodes[0], hashes[0], values, 2, &err), PW_OK);
    pw_capture_close(capture);
    snprintf(index, sizeof index, "%s/index", folder);
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        put_file(index, indexes[i], strlen(indexes[i]));
        pw_error_clear(&err);
        if (pw_capture_open(folder, &capture, &err) != PW_ERR_FORMAT)
            fail_msg("index %zu was read", i);
        assert_non_null(strstr(err.message, "index"));
    }
    unbuild(&made);
}

/* Heads that promise what the bytes do not hold: dtype, rank, dims (also ones whose product overflows). */
static void test_hostile_tensors(void **state)
{
    struct pw_tensor t = {0}, back = {0};
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    int64_t dims[] = {2, 3};

    (void)state;
    assert_int_equal(pw_tensor_init(&t, PW_DTYPE_BFLOAT16, 2, dims, &err), PW_OK);
    pw_tensor_set(&t, 4, 1.5);
    assert_int_equal(pw_capture_pack(&t, &bytes, &err), PW_OK);
    assert_int_equal(pw_capture_unpack(bytes.data, bytes.size, "t", &back, &err), PW_OK);
    assert_true(back.dtype == PW_DTYPE_BFLOAT16 && back.rank == 2 && pw_tensor_get(&back, 4) == 1.5);
    pw_tensor_clear(&back);
    for (size_t size = 0; size < bytes.size; size++) {
        char *copy = malloc(size + 1); /* exact, so that a sanitizer sees a read beyond */

        assert_non_null(copy);
        memcpy(copy, bytes.data, size);
        assert_int_equal(pw_capture_unpack(copy, size, "t", &back, &err), PW_ERR_FORMAT);
        free(copy);
    }
    for (size_t at = 8; at < 40; at++)
        for (int bit = 0; bit < 8; bit++) {
            pw_status status;

            bytes.data[at] = (char)(bytes.data[at] ^ 1 << bit);
            status = pw_capture_unpack(bytes.data, bytes.size, "t", &back, &err);
            assert_true(status == PW_OK || status == PW_ERR_FORMAT);
            if (status == PW_OK)
                pw_tensor_clear(&back);
            bytes.data[at] = (char)(bytes.data[at] ^ 1 << bit);
        }
    pw_buf_clear(&bytes);
    pw_tensor_clear(&t);
}

/* A writer that is killed leaves a folder that the next one goes on with. */
static void test_killed(void **state)
{
    struct built made = model("float32[2] 3 4");
    struct pw_capture *capture = NULL;
    struct pw_error err = {0};
    const char *hashes[2];
    pid_t child;
    int how;

    (void)state;
    write_one(&made, "float32[2] 1 2", 0, 9);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pw_capture_writer *writer = NULL;

        if (pw_capture_create(folder, 0, 9, &writer, &err) == PW_OK)
            add(writer, &made.model->graph->nodes[0], TEXTS("float32[2] 5 6", "float32[2] 3 4"));
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &how, 0);
    assert_int_equal(sets_of(&made.model->graph->nodes[0], hashes, 2, &capture), 1); /* what was finished */
    pw_capture_close(capture);
    write_one(&made, "float32[2] 5 6", 0, 9);
    assert_int_equal(sets_of(&made.model->graph->nodes[0], hashes, 2, &capture), 2);
    pw_capture_close(capture);
    unbuild(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_weights_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_files, set_up, tear_down),
        cmocka_unit_test(test_hostile_tensors),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
