/* Files that shrink while they are mapped. A program of its own: cmocka takes SIGBUS back after each test, so
 * only the first mapping of a process is guarded here. */
#include "tests/unit/graph_build.h"

static void test_shrinking(void **state)
{
    struct pw_model *model = NULL;
    struct pw_mapping map = {0};
    struct pw_error err = {0};
    char path[64];
    double sum = 0.0;
    (void)state;
    small_decoder(NULL, path);
    /* cut after loading: the weights' pages are gone when they are used */
    assert_int_equal(pw_model_load(path, &model, &err), PW_OK);
    assert_false(pw_model_damaged(model));
    assert_int_equal(truncate(path, 0), 0);
    for (size_t i = 0; i < model->graph->value_count; i++) {
        const struct pw_tensor *t = model->graph->values[i].initializer;
        for (int64_t j = 0; t && j < t->count; j++)
            sum += pw_tensor_get(t, j);
    }
    (void)sum;
    pw_model_weights_hash(model);
    assert_true(pw_model_damaged(model));
    pw_model_destroy(model);
    unlink(path);
    /* cut between mapping and reading: an error, and the mapping knows */
    small_decoder(NULL, path);
    assert_int_equal(pw_mapping_open(&map, path, &err), PW_OK);
    assert_int_equal(truncate(path, 4096), 0);
    model = NULL;
    assert_int_not_equal(pw_model_parse(map.data, map.size, "shrunk", NULL, &model, &err), PW_OK);
    assert_true(pw_mapping_damaged(&map));
    pw_mapping_close(&map);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shrinking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
