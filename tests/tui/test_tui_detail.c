/* The detail of a signature: what compilers said at the lines of the kernel's source. */
#include <unistd.h>

#include "fake.h"
#include "store/builds.h"

static const char yaml[] = "format: 1\n"
                           "kernel: mine\n"
                           "implements: [Relu]\n"
                           "equals: activation/reference\n"
                           "dtypes: [float32]\n"
                           "sources: {opencl: [first.cl, mine.cl]}\n"
                           "launches:\n"
                           "  - {entry: mine, global: [X_size], args: [X, Y]}\n"
                           "provenance: {author: hand, algorithm: a, tiling: t}\n";
static const char first[] = "int twice(int x)\n{\n    return 2 * x;\n}\n";
static const char mine[] = "__kernel void mine(__global const float *X, __global float *Y)\n"
                           "{\n"
                           "    int i = get_global_id(0);\n"
                           "    if (i = 4) i++;\n"
                           "    Y[i] = X[i];\n"
                           "}\n";

static struct pw_kernels *kernels;
static char folder[] = "/tmp/portwright-test-XXXXXX";
static struct pw_impl kernel_impl = {.kind = PW_COVERAGE_KERNEL, .name = "mine", .supported = true, .why = ""};
static const struct pw_impl_list kernel_list = {
    .items = &kernel_impl, .count = 1, .selected = 0, .coverage = PW_COVERAGE_KERNEL};

static const struct pw_impl_list *with_kernel(void *user, size_t signature)
{
    (void)user;
    (void)signature;
    return &kernel_list;
}

static void write_file(const char *name, const char *text)
{
    struct pw_error err = {0};
    char path[256];

    snprintf(path, sizeof path, "%s/room/%s", folder, name);
    if (pw_file_write(path, text, strlen(text), &err) != PW_OK)
        fail_msg("%s", err.message);
}

static int setup(void **state)
{
    struct pw_ops_dir dir = {.path = folder};
    struct pw_error err = {0};
    char room[128];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(room, sizeof room, "%s/room", folder);
    assert_int_equal(pw_file_mkdirs(room, &err), PW_OK);
    write_file("mine.yaml", yaml);
    write_file("first.cl", first);
    write_file("mine.cl", mine);
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    kernel_impl.kernel = pw_kernels_find(kernels, "mine");
    assert_non_null(kernel_impl.kernel);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"room/mine.yaml", "room/first.cl", "room/mine.cl", "room", ""};
    char path[256];

    (void)state;
    pw_kernels_destroy(kernels);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return 0;
}

/* A result of a case of signature 0 whose kernel was built with this log. */
static void built(struct pw_tui *tui, pw_verdict verdict, const char *log)
{
    const char *source = pw_kernel_source(kernel_impl.kernel, "opencl");
    struct pw_event event = {.kind = PW_EVENT_CASE,
                             .build_log = log,
                             .build_source = pw_hash128(source, strlen(source)),
                             .built = true,
                             .result = {.verdict = verdict, .output = -1, .reason = "", .log = log}};

    snprintf(event.result.id, sizeof event.result.id, "3:aaaaaaaaaaaaaaaa:f32:graph:normal:1");
    send(tui, &event);
}

static struct pw_tui *open_detail(void)
{
    struct pw_tui *tui = open_tui(60, 100);

    tui->at->implementations = with_kernel;
    device_opens(tui);
    press(tui, "/matmul\n2");
    return tui;
}

/* What stands on the line behind the one with `text`. */
static void below(struct pw_tui *tui, const char *text, const char *wanted)
{
    const char *at = strstr(screen_of(tui), text);

    if (!at || !(at = strchr(at, '\n')) || strncmp(at + 1, wanted, strlen(wanted)) != 0)
        fail_msg("'%s' does not stand below '%s':\n%s", wanted, text, screen_of(tui));
}

/* Lines that the edge cuts are read to their ends, and from the left edge the same key goes back. */
static void test_sideways(void **state)
{
    struct pw_tui *tui = open_detail();

    (void)state;
    pw_tui_resize(tui, 60, 50);
    shows(tui, "     1 __kernel void mine(__global const float ...\n");
    hides(tui, "float *Y)");
    press(tui, "l");
    shows(tui, "\n<mine(__global const float *X, __global float *Y)\n\n"); /* a short line is past */
    hides(tui, "__kernel");
    press(tui, "l");
    shows(tui, "no line here goes on at the right");
    press(tui, "h");
    shows(tui, "     1 __kernel void mine(");
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    press(tui, "/float *Y\n"); /* what is found is shown */
    shows(tui, "float *Y)");
    press(tui, "/void mine\n");
    shows(tui, "     1 __kernel void mine(");
    press(tui, "l1\033/softmax\n2"); /* another signature begins at the left */
    assert_int_equal(tui->left[PW_SCREEN_DETAIL], 0);
    press(tui, "h");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    close_tui(tui);
}

/* Tabs stand for columns, and a compiler's column, which counts them as one, is found. */
static void test_tabs(void **state)
{
    struct pw_tui *tui;
    struct pw_ops_dir dir = {.path = folder};
    struct pw_error err = {0};
    struct pw_kernels *tabbed = NULL;
    const struct pw_kernel *kept = kernel_impl.kernel;

    (void)state;
    write_file("mine.cl",
               "__kernel void mine(__global const float *X, __global float *Y)\n{\n\tif (X)\n\t\tY[0] =  \t0;\n}\n");
    assert_int_equal(pw_kernels_load(&dir, 1, &tabbed, &err), PW_OK);
    kernel_impl.kernel = pw_kernels_find(tabbed, "mine");
    tui = open_detail();
    built(tui, PW_VERDICT_ERROR, "mine.cl:4:3: error: no such thing\n");
    below(tui, "     3     if (X)", "     4         Y[0] =      0;\n               ^ error: no such thing\n");
    close_tui(tui);
    write_file("mine.cl", mine);
    kernel_impl.kernel = kept;
    pw_kernels_destroy(tabbed);
}

/* A verdict of an earlier run has a star, two where something else serves the signature now; the detail says which. */
static void test_stars(void **state)
{
    static const struct {
        const char *implementation;
        int hash; /* -1 none recorded, 0 of another kernel, 1 of this one */
        const char *verdict, *legend, *says, *outdated;
    } kinds[] = {
        {"mine", 1, "failed*  ", "* earlier run\n", "   * in run 7 of 2026-09-21 14:13, with mine\n", NULL},
        {"mine", -1, "failed*  ", "* earlier run\n", "   * in run 7 of 2026-09-21 14:13, with mine\n", NULL},
        {"mine", 0, "failed** ", "** other kernel\n", "   * in run 7 of 2026-09-21 14:13, with mine\n",
         "   ** another mine than the one that serves it now"},
        {"other", 0, "failed** ", "** other kernel\n", "with other\n", "   ** now mine serves it: v verifies that\n"},
    };
    char hash[PW_HASH_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct pw_store_signature_row row = {.run_id = 7,
                                             .wall_ms = 1790000000000,
                                             .signature_id = "aaaaaaaaaaaaaaaa",
                                             .standing = "failed",
                                             .coverage = "kernel",
                                             .implementation = kinds[i].implementation,
                                             .reference_name = "loops",
                                             .worst_error = 1,
                                             .tolerance = 1e-6,
                                             .worst_ratio = 1e6,
                                             .gate_failed = true};
        struct pw_event history = {.kind = PW_EVENT_HISTORY, .rows = &row, .row_count = 1};
        struct pw_tui *tui = open_tui(60, 120);

        row.kernel_hash = kinds[i].hash < 0    ? ""
                          : kinds[i].hash == 0 ? "00000000000000000000000000000000"
                                               : pw_hash_text(pw_kernel_hash(kernel_impl.kernel), hash);
        tui->at->implementations = with_kernel;
        send(tui, &history);
        device_opens(tui);
        shows(tui, kinds[i].verdict);
        shows(tui, kinds[i].legend);
        press(tui, "/is:outdated\n");
        assert_int_equal(tui->visible_count, kinds[i].outdated ? 1 : 0);
        press(tui, "\033/matmul\n2");
        shows(tui, kinds[i].says);
        if (kinds[i].outdated)
            shows(tui, kinds[i].outdated);
        else
            hides(tui, "   ** ");
        built(tui, PW_VERDICT_PASS, ""); /* verified anew: no star */
        hides(tui, "failed*");
        close_tui(tui);
    }
}

/* Also a verdict of this session is of another kernel once the one that it is of was edited; beside the shown target
 * the others' verdicts have their stars too. */
static void test_stars_of_this_session(void **state)
{
    static const char *const targets[] = {"opencl", "reference"};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE,
                               .summary = {.signature = 0,
                                           .standing = PW_STANDING_HELD,
                                           .worst_error = 1e-7,
                                           .tolerance = 1e-6,
                                           .worst_ratio = 0.1,
                                           .implementations = &kernel_list}};
    struct pw_store_signature_row row = {.signature_id = "aaaaaaaaaaaaaaaa",
                                         .standing = "held",
                                         .coverage = "kernel",
                                         .implementation = "mine",
                                         .kernel_hash = "",
                                         .reference_name = "loops",
                                         .worst_error = 1e-7,
                                         .tolerance = 1e-6,
                                         .worst_ratio = 0.1};
    struct pw_event history = {.kind = PW_EVENT_HISTORY, .rows = &row, .row_count = 1};
    struct pw_event coverage = {.kind = PW_EVENT_COVERAGE};
    const struct pw_kernel *kept = kernel_impl.kernel;
    struct pw_ops_dir dir = {.path = folder};
    struct pw_kernels *edited = NULL;
    struct pw_tui *tui = open_tui(60, 160);
    struct pw_error err = {0};

    (void)state;
    pw_tui_destroy(tui);
    assert_int_equal(pw_tui_create(&inventory, "m.onnx", targets, 2, &tui, &err), PW_OK);
    pw_tui_resize(tui, 60, 160);
    for (size_t k = 0; k < 2; k++)
        tui->sides[k].implementations = with_kernel;
    device_opens(tui);
    send(tui, &summary);
    shows(tui, " held  ");
    hides(tui, "held*");
    pw_tui_switch(tui, 1);
    tui->sides[1].coverage_ready = true;
    pw_tui_apply(tui, &(struct pw_input){.kind = PW_INPUT_SESSION, .event = &history, .side = 1});
    pw_tui_switch(tui, 0);
    shows(tui, "held*\n"); /* at the right, the other target's */

    write_file("mine.cl", "__kernel void mine(__global const float *X, __global float *Y)\n{\n    Y[0] = X[0];\n}\n");
    assert_int_equal(pw_kernels_load(&dir, 1, &edited, &err), PW_OK);
    kernel_impl.kernel = pw_kernels_find(edited, "mine");
    send(tui, &coverage);
    shows(tui, " held** ");
    shows(tui, "** other kernel");
    press(tui, "/is:outdated\n");
    assert_int_equal(tui->visible_count, 1);
    press(tui, "\033/matmul\n2");
    shows(tui, "   ** another mine than the one that serves it now");
    hides(tui, "* in run");
    send(tui, &summary); /* verified as it is now */
    hides(tui, "   ** ");
    press(tui, "1");
    hides(tui, "held**");
    close_tui(tui);
    write_file("mine.cl", mine);
    kernel_impl.kernel = kept;
    pw_kernels_destroy(edited);
}

static void test_at_their_lines(void **state)
{
    struct pw_tui *tui = open_detail();

    (void)state;
    hides(tui, "Compiler");
    shows(tui, "Not built yet");
    built(tui, PW_VERDICT_PASS, "warning: mine.cl:4:11: an assignment as a condition\n1 warning generated.\n");
    built(tui, PW_VERDICT_PASS, "warning: mine.cl:4:11: an assignment as a condition\n"); /* by another worker */
    shows(tui, "0 errors, 1 warning");
    hides(tui, "1 warning generated");
    below(tui, "     4     if (i = 4) i++;", "                 ^ warning: an assignment as a condition\n");
    below(tui, "     4 }", "     5\n"); /* line 4 of the other file is not meant */
    close_tui(tui);
}

/* Clang's own order of words, a note, a place in a file that is not shown, a sentence without a place. */
static void test_forms(void **state)
{
    struct pw_tui *tui = open_detail();

    (void)state;
    built(tui, PW_VERDICT_ERROR,
          "/scratch/x/mine.cl:5:5: error: no such thing\n"
          "mine.cl:3:9: note: declared here\n"
          "prelude.cl:7:1: warning: from the prelude\n"
          "error: linking failed\n"
          "mine.cl:99999999:1: error: a line that no file has\n"
          "no remark at all: 3\n");
    shows(tui, "3 errors, 1 warning in the selected kernel; M goes to the next");
    below(tui, "     5     Y[i] = X[i];", "           ^ error: no such thing\n");
    below(tui, "     3     int i = get_global_id(0);", "               ^ note: declared here\n");
    below(tui, "room/mine.yaml", "   error: linking failed\n");
    shows(tui, "warning: prelude.cl:7:1: from the prelude");
    hides(tui, "no remark at all");
    close_tui(tui);
}

/* A compiler that says in words of its own why it failed. */
static void test_own_words(void **state)
{
    struct pw_tui *tui = open_detail();

    (void)state;
    built(tui, PW_VERDICT_ERROR, "CL_BUILD_PROGRAM_FAILURE (-11), and the compiler left no log\n");
    shows(tui, "1 error, 0 warnings");
    below(tui, "room/mine.yaml", "   error: CL_BUILD_PROGRAM_FAILURE (-11), and the compiler left no log\n");
    close_tui(tui);
}

/* What an earlier session kept is shown until the source is built anew. */
static void test_recalled(void **state)
{
    struct pw_tui *tui = open_detail();
    const char *source = pw_kernel_source(kernel_impl.kernel, "opencl");
    struct pw_store_build rows[] = {
        {{1, 2}, "error: other.cl:1:1: of another source\n", true},
        {pw_hash128(source, strlen(source)), "warning: mine.cl:4:11: an assignment as a condition\n", false},
        {pw_hash128(source, strlen(source)), "warning: mine.cl:3:9: only with halves\n", false}};
    struct pw_event history = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY, .builds = rows, .build_count = 3};
    struct pw_event coverage = {.kind = PW_EVENT_COVERAGE};
    char *flood;

    (void)state;
    send(tui, &history);
    shows(tui, "Compiler (in an earlier session)");
    shows(tui, "0 errors, 2 warnings");
    below(tui, "     4     if (i = 4) i++;", "                 ^ warning: an assignment as a condition\n");
    hides(tui, "of another source");
    built(tui, PW_VERDICT_PASS, ""); /* a program that was there already */
    shows(tui, "Compiler (in an earlier session)");
    built(tui, PW_VERDICT_PASS, "warning: mine.cl:5:5: said today\n");
    hides(tui, "earlier session");
    shows(tui, "0 errors, 1 warning ");
    shows(tui, "said today");
    send(tui, &history); /* read late: today's stays */
    shows(tui, "0 errors, 1 warning ");
    close_tui(tui);

    tui = open_detail();
    built(tui, PW_VERDICT_PASS, ""); /* before the answer */
    for (int again = 0; again < 2; again++) {
        send(tui, &history);
        shows(tui, "Compiler (in an earlier session)");
        shows(tui, "0 errors, 2 warnings");
    }
    rows[2].source.low++; /* another process has built it since, and one warning is gone */
    send(tui, &history);
    shows(tui, "0 errors, 1 warning ");
    tui->intent = PW_INTENT_NONE;
    send(tui, &coverage); /* another kernel may be selected now */
    assert_int_equal(tui->intent, PW_INTENT_ASK);
    assert_int_equal(tui->ask, PW_ASK_HISTORY);
    close_tui(tui);

    tui = open_detail(); /* what is said behind very much else is not waited for */
    flood = malloc(PW_STORE_BUILD_LOG + 100);
    assert_non_null(flood);
    memset(flood, '\n', PW_STORE_BUILD_LOG);
    snprintf(flood + PW_STORE_BUILD_LOG, 100, "warning: mine.cl:2:1: too late\n");
    memcpy(flood, "warning: mine.cl:3:1: in time", 29);
    built(tui, PW_VERDICT_PASS, flood);
    shows(tui, "0 errors, 1 warning ");
    shows(tui, "in time");
    free(flood);
    close_tui(tui);
}

/* An edited source has no remarks until it is built; undone, it has its own again. */
static void test_edited(void **state)
{
    struct pw_tui *tui = open_detail();
    struct pw_kernels *before = kernels, *after = NULL;
    struct pw_ops_dir dir = {.path = folder};
    struct pw_error err = {0};

    (void)state;
    built(tui, PW_VERDICT_PASS, "warning: mine.cl:4:11: an assignment as a condition\n");
    write_file("mine.cl", "__kernel void mine(__global const float *X, __global float *Y) { }\n");
    assert_int_equal(pw_kernels_load(&dir, 1, &after, &err), PW_OK);
    kernel_impl.kernel = pw_kernels_find(after, "mine");
    shows(tui, "Not built yet");
    hides(tui, "an assignment as a condition");
    built(tui, PW_VERDICT_PASS, "");
    shows(tui, "The compiler has nothing to say.");
    kernel_impl.kernel = pw_kernels_find(before, "mine");
    shows(tui, "1 warning");
    pw_kernels_destroy(after);
    close_tui(tui);
}

/* M goes from remark to remark and round; a flood of them is bounded. */
static void test_going(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    tui->at->implementations = with_kernel;
    device_opens(tui);
    press(tui, "/matmul\n2M");
    shows(tui, "the compiler has said nothing");
    built(tui, PW_VERDICT_PASS, "warning: mine.cl:1:1: the first\nwarning: mine.cl:6:1: the last\n");
    press(tui, "gM");
    shows(tui, "the first");
    press(tui, "M");
    shows(tui, "the last");
    press(tui, "gM");
    shows(tui, "the first");
    for (int i = 0; i < 1000; i++) {
        char log[64];

        snprintf(log, sizeof log, "warning: mine.cl:2:%d: again\n", i + 1);
        built(tui, PW_VERDICT_PASS, log);
    }
    assert_int_equal(tui->at->builds[0].count, PW_TUI_REMARKS);
    for (int i = 0; i < PW_TUI_BUILDS + 10; i++) {
        struct pw_event event = {.kind = PW_EVENT_CASE, .build_log = "warning: x", .built = true};

        event.build_source.low = (uint64_t)i;
        event.result.reason = event.result.log = "";
        send(tui, &event);
    }
    assert_int_equal(tui->at->build_count, PW_TUI_BUILDS);
    close_tui(tui);
}

/* A signature taken apart: brackets, constants, formals of the definition, and what is no signature at all. */
static void test_call(void **state)
{
    static const struct pw_formal inputs[] = {{"data", "T", 0}, {"axes", NULL, PW_FORMAL_PARAM}, {NULL, NULL, 0}};
    static const struct pw_op op = {.name = "Some", .inputs = inputs};
    static const char *const texts[] = {
        "Some-1 mode=\"a (b\" pads=[0, 1] (float32[n,floor((h + 1)/2)], axes=<int64[2] 0 1>) -> (float32[n], int64[])",
        "Some-1",
        "Some-1 (",
        "Some-1 )",
        "Some-1 x=[ (",
        "Some-1 () -> (",
        ""};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pw_signature signature = {.text = texts[i], .op = &op};
        struct pw_lines lines = {.width = 100};
        struct pw_buf text = {0};

        pw_view_call(&lines, &signature);
        pw_lines_text(&lines, &text);
        if (i == 0)
            assert_string_equal(pw_buf_text(&text), " Call\n"
                                                    "   attribute mode=\"a (b\"\n"
                                                    "   attribute pads=[0, 1]\n"
                                                    "   input  data         float32[n,floor((h + 1)/2)]\n"
                                                    "   input  axes         axes=<int64[2] 0 1>\n"
                                                    "   output              float32[n]\n"
                                                    "   output              int64[]\n");
        pw_buf_clear(&text);
        pw_lines_clear(&lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stars),
                                       cmocka_unit_test(test_stars_of_this_session),
                                       cmocka_unit_test(test_sideways),
                                       cmocka_unit_test(test_tabs),
                                       cmocka_unit_test(test_at_their_lines),
                                       cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_own_words),
                                       cmocka_unit_test(test_going),
                                       cmocka_unit_test(test_recalled),
                                       cmocka_unit_test(test_edited),
                                       cmocka_unit_test(test_call)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
