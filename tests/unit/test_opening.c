/* Sessions opened on a thread of their own: they come in order, an error comes whole, and the end does not wait for a
 * model to be read. The device is the reference: none is needed. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/decoder.h"
#include "job/opening.h"

static char path[] = "/tmp/pw-opening-XXXXXX";

static int write_model(void **state)
{
    struct pw_decoder decoder;
    struct pw_error err = {0};
    int file = mkstemp(path);

    (void)state;
    if (file < 0)
        return -1;
    close(file);
    pw_decoder_defaults(&decoder);
    decoder.nodes = 3000;
    return pw_decoder_check(&decoder, &err) == PW_OK && pw_decoder_write(&decoder, path, NULL, &err) == PW_OK ? 0 : -1;
}

static int remove_model(void **state)
{
    (void)state;
    return unlink(path);
}

static struct pw_opening *start(const char *model, size_t targets, struct pw_session_options *options)
{
    static const char *const names[] = {"reference", "reference"};
    struct pw_opening *opening = NULL;
    struct pw_error err = {0};

    *options = (struct pw_session_options){.model_path = model, .db = "", .seed = 1, .jobs = 1};
    assert_int_equal(pw_opening_start(options, names, targets, &opening, &err), PW_OK);
    return opening;
}

static void test_two_sessions(void **state)
{
    struct pw_session_options options;
    struct pw_opening *opening = start(path, 2, &options);
    struct pw_session *const *sessions = NULL;
    struct pw_progress so_far = {0};
    struct pw_error err = {0};
    struct pollfd wait = {.fd = pw_opening_fd(opening), .events = POLLIN};

    (void)state;
    assert_true(pw_opening_wait(opening, -1));
    assert_int_equal(poll(&wait, 1, 0), 1); /* a loop that polls sees the end */
    assert_int_equal(pw_opening_sessions(opening, &sessions, &err), PW_OK);
    for (int k = 0; k < 2; k++)
        assert_in_range(pw_session_inventory(sessions[k])->node_count, 2000, 3000); /* but constants */
    pw_opening_progress(opening, &so_far);
    assert_string_equal(so_far.unit, "nodes");
    assert_in_range(so_far.done, 1, so_far.total); /* it was counted on the thread that read */
    pw_opening_close(opening);
}

static void test_error(void **state)
{
    struct pw_session_options options;
    struct pw_opening *opening = start("/nonexistent/model.onnx", 1, &options);
    struct pw_session *const *sessions = NULL;
    struct pw_error err = {0};

    (void)state;
    assert_true(pw_opening_wait(opening, -1));
    assert_int_equal(pw_opening_sessions(opening, &sessions, &err), PW_ERR_IO);
    assert_non_null(strstr(err.message, "/nonexistent/model.onnx"));
    assert_null(sessions);
    pw_opening_close(opening);
    pw_opening_close(NULL);
}

static void test_close_while_reading(void **state)
{
    struct pw_session_options options;

    (void)state;
    for (int i = 0; i < 20; i++)
        pw_opening_close(start(path, 2, &options)); /* wherever the thread is by then */
}

/* Each phase heeds a cancelled progress. */
static void test_cancel(void **state)
{
    struct pw_progress progress = {.cancel = true};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_error err = {0};

    (void)state;
    pw_progress_bind(&progress);
    assert_int_equal(pw_model_load(path, &model, &err), PW_ERR_CANCELLED);
    assert_string_equal(progress.phase, "reading");
    progress.cancel = false;
    pw_error_clear(&err);
    assert_int_equal(pw_model_load(path, &model, &err), PW_OK);
    progress.cancel = true;
    assert_int_equal(pw_infer_graph(model, NULL, 0, &inference, &err), PW_ERR_CANCELLED);
    assert_string_equal(progress.phase, "inferring shapes");
    pw_error_clear(&err);
    progress.cancel = false;
    assert_int_equal(pw_infer_graph(model, NULL, 0, &inference, &err), PW_OK);
    assert_int_equal(progress.done, progress.total);
    progress.cancel = true;
    assert_int_equal(pw_inventory_create(model, inference, &inventory, &err), PW_ERR_CANCELLED);
    assert_string_equal(progress.phase, "taking inventory");
    pw_progress_bind(NULL);
    pw_error_clear(&err);
    assert_int_equal(pw_inventory_create(model, inference, &inventory, &err), PW_OK);
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sessions),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_close_while_reading),
        cmocka_unit_test(test_cancel),
    };

    return cmocka_run_group_tests(tests, write_model, remove_model);
}
