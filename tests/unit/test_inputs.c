/* Inputs of a run: .npy files, draws that suit the graph, and what is wrong with an input said before anything runs. */
#include "tests/unit/eval_build.h"

#include <math.h>

#include "run/inputs.h"
#include "tensor/npy.h"

/* ---- .npy ---- */

static struct pw_buf npy(int version, const char *header, const void *data, size_t size)
{
    struct pw_buf out = {0};
    size_t length = strlen(header);

    pw_buf_append(&out, "\x93NUMPY", 6);
    pw_buf_putc(&out, (char)version);
    pw_buf_putc(&out, 0);
    for (int i = 0; i < (version > 1 ? 4 : 2); i++)
        pw_buf_putc(&out, (char)(length >> (8 * i)));
    pw_buf_append(&out, header, length);
    pw_buf_append(&out, data, size);
    return out;
}

static void test_npy_reads(void **state)
{
    const float floats[6] = {1, 2, 3, 4, 5, 6.5f};
    const int64_t one = -7;
    struct pw_tensor t = {0};
    struct pw_error err = {0};

    (void)state;
    for (int version = 1; version <= 3; version++) {
        struct pw_buf file =
            npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", floats, 24);

        if (pw_npy_parse(file.data, file.size, "f.npy", &t, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_true(t.dtype == PW_DTYPE_FLOAT32 && t.rank == 2 && t.dims[0] == 2 && t.dims[1] == 3);
        assert_true(pw_tensor_get(&t, 5) == 6.5);
        pw_tensor_clear(&t);
        pw_buf_clear(&file);
    }
    {
        struct pw_buf file = npy(1, "{\"shape\": (), \"descr\": \"<i8\", \"fortran_order\": True}", &one, 8);

        if (pw_npy_parse(file.data, file.size, "f.npy", &t, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_true(t.rank == 0 && pw_tensor_get_int(&t, 0) == -7);
        pw_tensor_clear(&t);
        pw_buf_clear(&file);
    }
}

static void test_npy_refuses(void **state)
{
    static const char *const headers[] = {
        "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (6,)}",
        "{'descr': '<f4', 'other': 1, 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)}",
        "{'descr",
        "",
    };
    const float floats[6] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct pw_buf file = npy(1, headers[i], floats, 24);
        struct pw_tensor t = {0};
        struct pw_error err = {0};

        if (pw_npy_parse(file.data, file.size, "f.npy", &t, &err) == PW_OK)
            fail_msg("header %zu was read", i);
        assert_true(strstr(err.message, "f.npy") == err.message);
        pw_buf_clear(&file);
    }
    {
        struct pw_buf file = npy(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", floats, 24);

        for (size_t size = 0; size < file.size; size++) {
            char *copy = malloc(size + 1);
            struct pw_tensor t = {0};

            assert_non_null(copy);
            memcpy(copy, file.data, size);
            assert_int_not_equal(pw_npy_parse(copy, size, "f.npy", &t, NULL), PW_OK);
            free(copy);
        }
        pw_buf_clear(&file);
    }
}

/* ---- draws and checks ---- */

static struct built decoder_model(bool mask)
{
    struct built made = {.model = NULL};
    struct pw_decoder decoder;
    struct pw_error err = {0};
    char path[] = "/tmp/pw-inputs-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    pw_decoder_defaults(&decoder);
    decoder.layers = 1;
    decoder.width = 16;
    decoder.heads = 2;
    decoder.hidden = 16;
    decoder.vocabulary = 23;
    decoder.positions = 16;
    decoder.kv_cache = false;
    decoder.mask = mask;
    if (pw_decoder_check(&decoder, &err) != PW_OK || pw_decoder_write(&decoder, path, NULL, &err) != PW_OK ||
        pw_file_read(path, 64 << 20, &made.bytes, &err) != PW_OK)
        fail_msg("%s", err.message);
    unlink(path);
    made.model = parse_model(&made.bytes);
    return made;
}

static pw_status complete(const struct built *made, struct pw_inputs *inputs, const struct pw_binding *bindings,
                          size_t count, uint64_t seed, struct pw_error *err)
{
    struct pw_inference *inference = NULL;
    pw_status status = pw_infer_graph(made->model, bindings, count, &inference, err);

    if (status == PW_OK)
        status = pw_inputs_complete(inputs, inference, seed, err);
    pw_inference_destroy(inference);
    return status;
}

static void test_draws_suit_the_graph(void **state)
{
    struct built made = decoder_model(true);
    const struct pw_binding bindings[] = {{"batch", 4}, {"sequence", 8}};
    struct pw_inputs inputs = {0};
    struct pw_error err = {0};
    bool seen[23] = {false};
    size_t distinct = 0;

    (void)state;
    assert_int_equal(pw_inputs_read(made.model, NULL, NULL, 0, &inputs, &err), PW_OK);
    if (complete(&made, &inputs, bindings, 2, 3, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(inputs.count, 2);
    for (size_t i = 0; i < inputs.count; i++) {
        const struct pw_tensor *t = &inputs.values[i].tensor;
        const char *name = made.model->graph->values[inputs.ids[i]].name;

        assert_true(t->dims[0] == 4 && t->dims[1] == 8);
        for (int64_t k = 0; k < t->count; k++) {
            int64_t x = pw_tensor_get_int(t, k);

            if (strstr(name, "mask")) {
                assert_int_equal(x, k % 8 < 6); /* three quarters of eight */
            } else {
                assert_true(x >= 0 && x < 23);
                seen[x] = true;
            }
        }
    }
    for (int i = 0; i < 23; i++)
        distinct += seen[i];
    assert_true(distinct > 10);
    pw_inputs_clear(&inputs);
    unbuild(&made);
}

static void expect_error(const struct built *made, const char *name, const char *text,
                         const struct pw_binding *bindings, size_t count, const char *says)
{
    struct pw_inputs inputs = {0};
    struct pw_error err = {0};
    pw_status status;

    assert_int_equal(pw_inputs_read(made->model, NULL, NULL, 0, &inputs, &err), PW_OK);
    for (size_t i = 0; i < inputs.count && name; i++)
        if (!strcmp(made->model->graph->values[inputs.ids[i]].name, name))
            inputs.values[i] = value_of(text);
    status = complete(made, &inputs, bindings, count, 1, &err);
    if (status != PW_ERR_USAGE || !strstr(err.message, says))
        fail_msg("expected '%s', got status %d: %s", says, (int)status, err.message);
    pw_inputs_clear(&inputs);
}

static void test_bad_inputs(void **state)
{
    struct built made = decoder_model(false);
    const struct pw_binding bindings[] = {{"batch", 1}, {"sequence", 2}};

    (void)state;
    expect_error(&made, NULL, NULL, bindings, 1, "--dim sequence=N");
    expect_error(&made, "input_ids", "int64[1,2] 3 23", bindings, 2, "element [0,1] is 23");
    expect_error(&made, "input_ids", "int64[1,2] 3 -24", bindings, 2, "table of 23 rows");
    expect_error(&made, "input_ids", "int32[1,2] 3 4", bindings, 2, "must be int64, found int32");
    expect_error(&made, "input_ids", "int64[2] 3 4", bindings, 2, "rank 2, found 1");
    expect_error(&made, "input_ids", "int64[1,3] 3 4 5", bindings, 2, "dim 1 is 3");
    unbuild(&made);
}

/* What is compared with a number is that number, a domain is kept to, a setting cannot be drawn, a NaN is refused. */
static void test_hints(void **state)
{
    struct pw_onnx_out out;
    struct built made;
    struct pw_inputs inputs = {0};
    struct pw_error err = {0};

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "rate", "int64[] 0");
    input(&out.graph, "x", "float32[64] 0");
    initializer(&out.graph, "sixteen", "int64[] 16000");
    node(&out.graph, "Equal", "rate sixteen", "same");
    node(&out.graph, "Identity", "x", "moved");
    node(&out.graph, "Log", "moved", "y");
    output(&out.graph, "same", "bool[] 0");
    output(&out.graph, "y", "float32[64] 0");
    made = build(&out);
    assert_int_equal(pw_inputs_read(made.model, NULL, NULL, 0, &inputs, &err), PW_OK);
    if (complete(&made, &inputs, NULL, 0, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_tensor_get_int(&inputs.values[0].tensor, 0), 16000);
    for (int64_t k = 0; k < 64; k++)
        assert_true(pw_tensor_get(&inputs.values[1].tensor, k) > 0); /* the domain of Log */
    pw_inputs_clear(&inputs);
    expect_error(&made, "x", "float32[64] nan", NULL, 0, "element [0] is NaN");
    unbuild(&made);

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[4] 0");
    input(&out.graph, "shape", "int64[2] 0");
    node(&out.graph, "Reshape", "x shape", "y");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    made = build(&out);
    expect_error(&made, NULL, NULL, NULL, 0, "'shape' is a setting of");
    unbuild(&made);
}

static void test_names(void **state)
{
    struct built made = decoder_model(false);
    const struct pw_input_file wrong = {"input_id", "x.npy"}, missing = {"input_ids", "/nowhere/x.npy"};
    struct pw_inputs inputs = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_inputs_read(made.model, NULL, &wrong, 1, &inputs, &err), PW_ERR_USAGE);
    assert_non_null(strstr(err.message, "did you mean 'input_ids'"));
    pw_error_clear(&err);
    assert_int_equal(pw_inputs_read(made.model, NULL, &missing, 1, &inputs, &err), PW_ERR_IO);
    pw_error_clear(&err);
    assert_int_equal(pw_inputs_read(made.model, "/nowhere", NULL, 0, &inputs, &err), PW_ERR_USAGE);
    unbuild(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_reads),
        cmocka_unit_test(test_npy_refuses),
        cmocka_unit_test(test_draws_suit_the_graph),
        cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
