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
#include "base/mem.h"
#include "graph/decoder.h"
#include "graph_text.h"
#include "job/opening.h"
#include "job/session_internal.h"

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
    assert_ptr_equal(pw_session_model(sessions[0]), pw_session_model(sessions[1])); /* it was read once */
    assert_ptr_equal(pw_session_inventory(sessions[0]), pw_session_inventory(sessions[1]));
    assert_ptr_equal(pw_session_concrete(sessions[0]), pw_session_concrete(sessions[1]));
    assert_string_equal(pw_session_graph_id(sessions[0]), pw_session_graph_id(sessions[1]));
    pw_opening_progress(opening, &so_far);
    assert_string_equal(so_far.unit, "nodes");
    assert_in_range(so_far.done, 1, so_far.total); /* it was counted on the thread that read */
    pw_opening_close(opening);
}

static struct pw_session *open_one(const struct pw_session *beside)
{
    struct pw_session_options options = {.model_path = path, .target = "reference", .db = "", .seed = 1, .jobs = 2};
    struct pw_session *session = NULL;
    struct pw_error err = {0};

    if (beside)
        options.model_path = "/nonexistent/model.onnx"; /* it is not read again */
    assert_int_equal(beside ? pw_session_open_beside(beside, &options, &session, &err)
                            : pw_session_open(&options, &session, &err),
                     PW_OK);
    return session;
}

/* Events up to the end of a verification of all signatures; their number. */
static size_t finish(struct pw_session *session)
{
    size_t signatures = 0;

    for (bool finished = false; !finished;) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event;

        poll(&wait, 1, -1);
        while ((event = pw_session_next(session))) {
            if (event->kind == PW_EVENT_FINISHED) {
                assert_false(event->failed);
                finished = true;
            }
            signatures += event->kind == PW_EVENT_SIGNATURE;
            pw_event_free(event);
        }
    }
    return signatures;
}

/* Two sessions of one graph work at the same time, while the client reads it too; and either may end first. */
static void test_shared_graph(void **state)
{
    (void)state;
    for (int first_ends = 0; first_ends < 2; first_ends++) {
        struct pw_session *a = open_one(NULL), *b = open_one(a), *ends = first_ends ? a : b,
                          *stays = first_ends ? b : a;
        const struct pw_inventory *inventory = pw_session_concrete(stays);
        struct pw_session_run_options run = {.mode = PW_ENDTOEND_OUTPUTS};
        struct pw_buf text = {0};
        struct pw_error err = {0};

        assert_int_equal(pw_session_verify(a, NULL, 0, false, NULL, &err), PW_OK);
        assert_int_equal(pw_session_verify(b, NULL, 0, false, NULL, &err), PW_OK);
        assert_int_equal(finish(a), pw_session_inventory(a)->signature_count);
        assert_int_equal(finish(b), pw_session_inventory(a)->signature_count);
        assert_int_equal(pw_session_run(a, &run, NULL, &err), PW_OK); /* draws inputs from what the graph says */
        assert_int_equal(pw_session_run(b, &run, NULL, &err), PW_OK);
        for (size_t i = 0; i < inventory->signature_count; i++)
            for (int k = 0; k < inventory->signatures[i].call->output_count; k++)
                for (int d = 0; d < inventory->signatures[i].call->out[k].rank; d++)
                    pw_dims_print(inventory->signatures[i].call->dims, inventory->signatures[i].call->out[k].dims[d],
                                  &text);
        finish(a);
        finish(b);
        pw_buf_clear(&text);
        pw_session_close(ends);
        assert_int_equal(pw_session_verify(stays, NULL, 0, false, NULL, &err), PW_OK);
        assert_int_equal(finish(stays), inventory->signature_count);
        assert_string_equal(pw_session_model(stays)->path, path);
        pw_session_close(stays);
    }
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

/* How many allocations it takes to read the graph; each failed once on the way, which may be an error or not. */
static uint64_t fail_each(const struct pw_session_options *options, pw_status outcome)
{
    for (uint64_t n = 1; true; n++) {
        struct pw_session_shared *shared = NULL;
        struct pw_error err = {0};
        pw_status status;
        bool reached;

        pw_mem_fail_at(n, 0);
        status = pw_session_shared_read(options, &shared, &err);
        reached = pw_mem_count() >= n;
        pw_mem_fail_at(0, 0);
        assert_true((status == PW_OK) == (shared != NULL));
        pw_session_shared_release(shared);
        if (reached)
            continue;
        assert_int_equal(status, outcome);
        return n - 1;
    }
}

static void test_no_memory(void **state)
{
    static char name[100001]; /* more than what an arena has left */
    struct pw_binding bound[] = {{"rows", 3}};
    char small[] = "/tmp/pw-opening-XXXXXX";
    struct pw_session_options options = {
        .model_path = small, .target = "reference", .db = "", .bindings = bound, .binding_count = 1};
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    int file = mkstemp(small);

    (void)state;
    assert_true(file >= 0);
    close(file);
    graph_text_bytes("input x float32[rows,free]\ny = Softmax (x)\noutput y float32[rows,free]\n", NULL, 17, &bytes);
    assert_int_equal(pw_file_write(small, bytes.data, bytes.size, &err), PW_OK);
    pw_buf_clear(&bytes);
    assert_in_range(fail_each(&options, PW_OK), 50, 10000);
    memset(name, 'n', sizeof name - 1);
    bound[0].name = name; /* the graph has no such dim */
    assert_in_range(fail_each(&options, PW_ERR_USAGE), 20, 10000);
    unlink(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sessions), cmocka_unit_test(test_shared_graph),
        cmocka_unit_test(test_error),        cmocka_unit_test(test_close_while_reading),
        cmocka_unit_test(test_cancel),       cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, write_model, remove_model);
}
