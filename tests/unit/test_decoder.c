/* The decoder generator: node counts, interface, weights. The draws are recomputed here from the counter. */
#include "tests/unit/graph_build.h"

#include "base/random.h"

static struct pw_model *decoder_model(struct pw_decoder *decoder, char path[64])
{
    struct pw_model *model = NULL;
    struct pw_error err = {0};
    int fd;
    snprintf(path, 64, "/tmp/pw-decoder-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    if (pw_decoder_check(decoder, &err) != PW_OK || pw_decoder_write(decoder, path, NULL, &err) != PW_OK ||
        pw_model_load(path, &model, &err) != PW_OK)
        fail_msg("%s", err.message);
    return model;
}

/* --nodes is met exactly, whatever the decoder's parts and opset. */
static void test_node_counts(void **state)
{
    static const struct {
        int opset;
        pw_decoder_norm norm;
        bool rotary, mask;
    } cases[] = {
        {11, PW_DECODER_LAYERNORM, false, false},
        {17, PW_DECODER_RMSNORM, true, false},
        {18, PW_DECODER_LAYERNORM, false, true},
        {21, PW_DECODER_RMSNORM, true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_decoder decoder;
        struct pw_model *model;
        char path[64];
        pw_decoder_defaults(&decoder);
        decoder.opset = cases[i].opset;
        decoder.norm = cases[i].norm;
        decoder.rotary = cases[i].rotary;
        decoder.mask = cases[i].mask;
        decoder.nodes = 500;
        model = decoder_model(&decoder, path);
        assert_int_equal(model->node_total, 500);
        assert_int_equal(model->opsets[0].version, cases[i].opset);
        assert_int_equal(model->graph->input_count, cases[i].mask ? 6 : 5);
        assert_int_equal(model->graph->output_count, 5);
        pw_model_destroy(model);
        unlink(path);
    }
}

static void test_interface(void **state)
{
    struct pw_decoder decoder;
    struct pw_model *model;
    const struct pw_graph_value *value;
    char path[64];
    (void)state;
    pw_decoder_defaults(&decoder);
    decoder.kv_heads = 2;
    decoder.norm = PW_DECODER_RMSNORM;
    model = decoder_model(&decoder, path);
    value = &model->graph->values[model->graph->inputs[0]];
    assert_string_equal(value->name, "input_ids");
    assert_int_equal(value->type->dtype, PW_DTYPE_INT64);
    assert_string_equal(value->type->dim_names[1], "sequence");
    value = &model->graph->values[model->graph->inputs[1]];
    assert_string_equal(value->name, "past.0.key");
    assert_int_equal(value->type->dim_values[1], 2);
    assert_string_equal(value->type->dim_names[2], "past_sequence");
    assert_int_equal(value->type->dim_values[3], 16);
    value = &model->graph->values[model->graph->outputs[2]];
    assert_string_equal(value->name, "present.0.value");
    assert_string_equal(value->type->dim_names[2], "past_sequence + sequence");
    assert_string_equal(value->producer->op_type, "Concat");
    pw_model_destroy(model);
    unlink(path);
}

/* The token table is the first weight (stream 0): uniform in [-1, 1), the same however it is cut into pieces. */
static void test_weights(void **state)
{
    static const int64_t samples[] = {0, 1, 5, 262143, 262144, 300001, 524287};
    struct pw_decoder decoder;
    struct pw_model *model;
    const struct pw_tensor *table;
    char path[64];
    (void)state;
    pw_decoder_defaults(&decoder);
    decoder.layers = 1;
    decoder.vocabulary = 8192;
    decoder.seed = 99;
    model = decoder_model(&decoder, path);
    table = value_named(model->graph, "tokens.weight")->initializer;
    assert_int_equal(table->count, 8192 * 64);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        float expected = 2.0f * pw_random_unit(99, 0, (uint64_t)samples[i]) - 1.0f;
        assert_true(pw_tensor_get(table, samples[i]) == (double)expected);
    }
    pw_model_destroy(model);
    unlink(path);
}

/* An old file stays whole when the new one cannot be written. */
static void test_failure_keeps_the_old_file(void **state)
{
    struct pw_decoder decoder;
    struct pw_model *model;
    struct pw_error err = {0};
    char path[64];
    (void)state;
    pw_decoder_defaults(&decoder);
    model = decoder_model(&decoder, path);
    pw_model_destroy(model);
    decoder.layers = 20;
    decoder.width = 8192;
    decoder.hidden = decoder.kv_heads = 0;
    assert_int_equal(pw_decoder_check(&decoder, &err), PW_OK);
    assert_int_equal(pw_decoder_write(&decoder, path, NULL, &err), PW_ERR_USAGE); /* over 2 GiB */
    assert_contains(err.message, "external file");
    pw_error_clear(&err);
    assert_int_equal(pw_model_load(path, &model, &err), PW_OK);
    pw_model_destroy(model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_counts),
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_failure_keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
