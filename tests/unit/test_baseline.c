/* Baselines as text: what is written reads back the same, errors say where, numbers are given once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "baseline/baseline_make.h"
#include "baseline/folder.h"
#include "baseline/kept.h"
#include "json_schema.h"
#include "report/baseline.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-baseline-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static double slices_a[] = {1.01, 1.02, 1.0, 0.99, 1.01, 1.0, 1.02, 1.01, 1.0, 0.98, 1.0, 1.01};
static double slices_b[] = {1.31, 1.32, 1.3, 1.29, 1.31, 1.3, 1.32, 1.31, 1.3, 1.28, 1.3, 1.31};

static struct pw_baseline_row rows[] = {
    /* in the order of the files */
    {.id = "00112233445566aa",
     .op = "Cast-13",
     .shapes = "[] -> []",
     .kernel = "",
     .coverage = PW_COVERAGE_HOST,
     .standing = "unproven",
     .error = NAN,
     .tolerance = NAN,
     .limit = NAN,
     .cases = "",
     .target_ns = {NAN, NAN, NAN},
     .reference_ns = {NAN, NAN, NAN},
     .ratio = {NAN, NAN, NAN},
     .reference = ""},
    {.id = "00112233445566bb",
     .op = "Softmax-13",
     .shapes = "[1,6] -> [1,6]",
     .kernel = "softmax_rows",
     .coverage = PW_COVERAGE_KERNEL,
     .standing = "held",
     .error = 2.9e-7,
     .tolerance = 1.1e-6,
     .limit = 6.02e-7,
     .cases = "24:00000000000000ff",
     .target_ns = {1500, 1400, 1600},
     .reference_ns = {1490, 1400, 1550},
     .ratio = {1.01, 1, 1.02},
     .reference = "loops",
     .ratios = slices_a,
     .ratio_count = 12},
};
static struct pw_baseline_set sets[] = {{"batch=1", rows, 2}};
static struct pw_baseline_kernel kernels[] = {{.name = "softmax_rows",
                                               .hash = "abcd",
                                               .kept = "ef01",
                                               .author = "hand",
                                               .algorithm = "one \"row\" a group: \\o/ # not a comment",
                                               .tiling = "cols in steps",
                                               .foreign = true}};
static struct pw_baseline_text fields[] = {{"cpu", "Fast: CPU #1"}, {"cores", "8"}};

static struct pw_baseline made(pw_baseline_kind kind)
{
    return (struct pw_baseline){.kind = kind,
                                .path = "",
                                .graph = "0123456789abcdef0123456789abcdef",
                                .model = "m\xc3\xb6"
                                         "del.onnx",
                                .target_kind = "chip",
                                .device = "Chip \"X\"",
                                .driver = "1.0",
                                .runtime = "",
                                .environment_id = kind == PW_BASELINE_THROUGHPUT ? "feedfacefeedface" : "",
                                .environment = fields,
                                .environment_count = kind == PW_BASELINE_THROUGHPUT ? 2 : 0,
                                .protocol = "",
                                .protocol_hash = "",
                                .seed = 7,
                                .version = "0.1.0",
                                .recorded = "2026-03-01T12:00:00Z",
                                .approved_by = "",
                                .approved_at = "",
                                .message = "",
                                .sets = sets,
                                .set_count = 1,
                                .kernels = kernels,
                                .kernel_count = 1};
}

static void save(const struct pw_baseline *b)
{
    struct pw_buf path = {0};
    struct pw_error err = {0};

    if (pw_baseline_save_pending(path_of("k"), b, &path, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&path);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < PW_BASELINE_KIND_COUNT; kind++) {
        struct pw_baseline b = made((pw_baseline_kind)kind), back = {0};
        struct pw_buf text = {0}, again = {0};
        struct pw_error err = {0};
        const struct pw_baseline_row *row;

        pw_baseline_sort(&b);
        assert_int_equal(pw_baseline_print(&b, &text, &err), PW_OK);
        assert_int_equal(pw_file_write(path_of("b.yaml"), pw_buf_text(&text), text.size, &err), PW_OK);
        if (pw_baseline_read(path_of("b.yaml"), &back, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_int_equal(pw_baseline_print(&back, &again, &err), PW_OK);
        assert_string_equal(pw_buf_text(&text), pw_buf_text(&again));
        assert_string_equal(back.model, b.model);
        assert_string_equal(back.device, b.device);
        assert_string_equal(back.kernels[0].algorithm, kernels[0].algorithm);
        assert_true(back.kernels[0].foreign);
        assert_int_equal(back.sets[0].count, 2);
        assert_string_equal(back.sets[0].rows[0].op, "Cast-13"); /* sorted by operator */
        assert_int_equal(back.sets[0].rows[0].coverage, PW_COVERAGE_HOST);
        row = pw_baseline_row_of(pw_baseline_set_of(&back, "batch=1"), "00112233445566bb");
        assert_non_null(row);
        if (kind == PW_BASELINE_PRECISION) {
            assert_true(row->error == 2.9e-7 && row->limit == 6.02e-7);
            assert_true(isnan(back.sets[0].rows[0].error));
            assert_string_equal(row->cases, "24:00000000000000ff");
        } else {
            assert_true(row->ratio.low == 1 && row->target_ns.high == 1600 && row->ratio_count == 12);
            assert_true(row->ratios[9] == 0.98);
            assert_string_equal(back.environment[0].value, "Fast: CPU #1");
        }
        /* one line a signature */
        assert_null(strchr(strstr(pw_buf_text(&text), "00112233445566bb") + 20, '{'));
        pw_buf_clear(&text);
        pw_buf_clear(&again);
        pw_baseline_clear(&back);
    }
}

static void test_bad_files(void **state)
{
#define HEAD "format: 1\nbaseline: precision\nnumber: 1\ngraph: g\ntarget: {kind: k}\n"
#define ROW "sets:\n  \"\":\n    \"00112233445566aa\": "
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "'format' is missing"},
        {"[1]", "expected a map"},
        {"format: 9\n", "format 1"},
        {"format: 1\nbaseline: speed\n", "'speed'"},
        {"format: 1\nbaseline: precision\nnumber: 1\ngraph: g\n", "target"},
        {"format: 1\nbaseline: precision\nnumber: 0\ngraph: g\ntarget: {kind: k}\n", ":3:"},
        {"format: 1\nbaseline: precision\nnumber: 99999999999999\ngraph: g\ntarget: {kind: k}\n", ":3:"},
        {HEAD "environment: {id: x}\n", "no environment"},
        {HEAD "sest: {}\n", "sets"},
        {HEAD "sets: [1]\n", "binding sets"},
        {HEAD ROW "{op: A, coverage: kernl, standing: held}\n", "kernl"},
        {HEAD ROW "{op: A, coverage: kernel, standing: fine}\n", "fine"},
        {HEAD ROW "{op: A, coverage: kernel, standing: held, error: -1}\n", "key 'error'"},
        {HEAD ROW "{op: A, coverage: kernel, standing: held, error: lots}\n", "key 'error'"},
        {HEAD ROW "{op: A, coverage: kernel, standing: held, ratio: [1, 1, 1]}\n", "ratio"},
        {HEAD "sets:\n  \"\":\n    \"zz\": {}\n", "'zz'"},
        {HEAD "recorded: \"\\e[31m\"\n", "key 'recorded'"},
        {"format: 1\nbaseline: throughput\nnumber: 1\ngraph: g\ntarget: {kind: k}\nenvironment: {id: ../../x}\n",
         "key 'id'"},
        {HEAD "kernels:\n  k: {hash: a, kept: ../../etc}\n", "../../etc"},
        {HEAD ROW "{op: A, coverage: kernel, standing: held}\n    \"00112233445566aa\": {op: A}\n", ":9:"},
        {"format: 1\nbaseline: throughput\nnumber: 1\ngraph: g\ntarget: {kind: k}\n", "environment"},
        {"format: 1\nbaseline: throughput\nnumber: 1\ngraph: g\ntarget: {kind: k}\nenvironment: {id: e}\n" ROW
         "{op: A, coverage: kernel, slices: [1, 0]}\n",
         "above 0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_baseline b = {0};
        struct pw_error err = {0};

        assert_int_equal(pw_file_write(path_of("bad.yaml"), cases[i].text, strlen(cases[i].text), &err), PW_OK);
        if (pw_baseline_read(path_of("bad.yaml"), &b, &err) == PW_OK)
            fail_msg("taken: %s", cases[i].text);
        assert_null(b.graph);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "bad.yaml"))
            fail_msg("expected '%s' in: %s", cases[i].says, err.message);
    }
}

static int approve_seen(size_t seen, int *number, struct pw_error *err)
{
    const struct pw_baseline_approval approval = {"ann", "because", "2026-03-02T08:00:00Z", seen};
    struct pw_buf paths = {0};
    size_t approved = 0;
    pw_status status = pw_baseline_approve(path_of("k"), &approval, number, &approved, &paths, err);

    pw_buf_clear(&paths);
    return status == PW_OK ? (int)approved : -1;
}

static int approve(int *number, struct pw_error *err)
{
    return approve_seen(0, number, err);
}

static const char *find(const char *which, pw_baseline_kind kind, struct pw_arena *arena)
{
    const char *path = NULL;
    struct pw_error err = {0};

    if (pw_baseline_find(path_of("k"), which, kind, "feedfacefeedface", arena, &path, &err) != PW_OK)
        return err.message[0] ? "error" : "?";
    return path ? strrchr(path, '/') + 1 : NULL;
}

static void test_approval(void **state)
{
    struct pw_baseline precision = made(PW_BASELINE_PRECISION), throughput = made(PW_BASELINE_THROUGHPUT), b = {0};
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    int number = 0;

    (void)state;
    assert_int_equal(approve(&number, &err), -1);
    assert_non_null(strstr(err.message, "nothing is pending"));
    save(&precision);
    save(&throughput);
    assert_string_equal(find("pending", PW_BASELINE_PRECISION, &arena), "precision-pending.yaml");
    assert_null(find("latest", PW_BASELINE_PRECISION, &arena));
    assert_int_equal(approve(&number, NULL), 2);
    assert_int_equal(number, 1);
    assert_null(find("pending", PW_BASELINE_PRECISION, &arena));
    save(&precision);
    assert_int_equal(approve(&number, NULL), 1);
    assert_int_equal(number, 2);
    assert_string_equal(find("latest", PW_BASELINE_PRECISION, &arena), "precision-2.yaml");
    assert_string_equal(find("1", PW_BASELINE_PRECISION, &arena), "precision-1.yaml");
    assert_string_equal(find("2", PW_BASELINE_THROUGHPUT, &arena), "throughput-feedfacefeedface-1.yaml");
    assert_string_equal(find("3", PW_BASELINE_PRECISION, &arena), "error");
    assert_string_equal(find("newest", PW_BASELINE_PRECISION, &arena), "error");
    assert_int_equal(pw_baseline_read(path_of("k/precision-2.yaml"), &b, &err), PW_OK);
    assert_int_equal(b.number, 2);
    assert_string_equal(b.approved_by, "ann");
    assert_string_equal(b.message, "because");
    pw_baseline_clear(&b);
    pw_arena_clear(&arena);
}

/* A disk that is full half way through an approval (here: a folder where a file is to be written) gives no number. */
static void test_approved_together(void **state)
{
    struct pw_baseline precision = made(PW_BASELINE_PRECISION), throughput = made(PW_BASELINE_THROUGHPUT);
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    char in_the_way[256];
    int number = 0;

    (void)state;
    save(&precision);
    save(&throughput);
    snprintf(in_the_way, sizeof in_the_way, "%s/k/throughput-feedfacefeedface-1.yaml.%ld.draft", folder,
             (long)getpid());
    assert_int_equal(mkdir(in_the_way, 0777), 0);
    assert_int_equal(approve(&number, &err), -1);
    assert_non_null(strstr(err.message, "throughput-feedfacefeedface-1.yaml"));
    assert_null(find("latest", PW_BASELINE_PRECISION, &arena));
    assert_string_equal(find("pending", PW_BASELINE_PRECISION, &arena), "precision-pending.yaml");
    assert_int_equal(rmdir(in_the_way), 0);
    assert_int_equal(approve(&number, NULL), 2);
    assert_int_equal(number, 1);
    pw_arena_clear(&arena);
}

/* A process that records in between: it holds the lock, which an approval waits for that has looked already. */
static void test_only_what_was_seen(void **state)
{
    struct pw_baseline first = made(PW_BASELINE_PRECISION), other = made(PW_BASELINE_PRECISION), b = {0};
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t seen = 0, empty = 0, again = 0;
    int locked[2], number = 0, code = 1;
    char byte;
    pid_t child;

    (void)state;
    assert_int_equal(pw_baseline_pending(path_of("k"), &empty, &err), PW_OK);
    save(&first);
    other.seed = 99;
    assert_int_equal(pw_baseline_pending(path_of("k"), &seen, &err), PW_OK);
    assert_true(seen && empty && seen != empty);
    assert_int_equal(pipe(locked), 0);
    child = fork();
    if (child == 0) {
        struct pw_buf text = {0};
        int lock = -1;

        if (pw_folder_lock(path_of("k"), &lock, &err) != PW_OK || pw_baseline_print(&other, &text, &err) != PW_OK ||
            write(locked[1], "x", 1) != 1)
            _exit(1);
        pw_clock_sleep_ns(100000000); /* so that whoever asks without the lock has asked */
        if (pw_file_write(path_of("k/precision-pending.yaml"), pw_buf_text(&text), text.size, &err) != PW_OK)
            _exit(2);
        pw_folder_unlock(lock);
        _exit(0);
    }
    assert_int_equal(read(locked[0], &byte, 1), 1);
    assert_int_equal(approve_seen(seen, &number, &err), -1);
    assert_non_null(strstr(err.message, "no longer what was shown"));
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_null(find("latest", PW_BASELINE_PRECISION, &arena));
    assert_int_equal(pw_baseline_pending(path_of("k"), &again, &err), PW_OK);
    assert_true(again != seen);
    assert_int_equal(approve_seen(again, &number, &err), 1);
    assert_int_equal(pw_baseline_read(path_of("k/precision-1.yaml"), &b, &err), PW_OK);
    assert_int_equal(b.seed, 99);
    pw_baseline_clear(&b);
    pw_arena_clear(&arena);
}

/* Approvals and records at once: every approved file has a number of its own, none was overwritten. */
static void test_approvals_at_once(void **state)
{
    enum { WRITERS = 6, EACH = 4 };
    struct pw_arena arena = {0};
    struct pw_baseline_file *files;
    size_t count, pending = 0;
    struct pw_error err = {0};
    int results[2], got = 0;

    (void)state;
    assert_int_equal(pipe(results), 0);
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                struct pw_baseline b = made(PW_BASELINE_PRECISION);
                struct pw_buf path = {0};
                struct pw_error why = {0};
                int number = 0;

                b.seed = (uint64_t)(w * 100 + i);
                if (pw_baseline_save_pending(path_of("k"), &b, &path, &why) != PW_OK)
                    _exit(1);
                pw_buf_clear(&path);
                if (approve(&number, &why) < 0 && !strstr(why.message, "nothing is pending"))
                    _exit(2); /* another process may have approved ours together with its own */
                if (number && write(results[1], &number, sizeof number) != sizeof number)
                    _exit(3);
            }
            _exit(0);
        }
    for (int w = 0; w < WRITERS; w++) {
        int code = 1;

        wait(&code);
        assert_int_equal(code, 0);
    }
    close(results[1]);
    assert_int_equal(pw_baseline_list(path_of("k"), &arena, &files, &count, &err), PW_OK);
    for (size_t i = 0; i < count; i++)
        pending += !files[i].number;
    assert_int_equal(pending, 0); /* the last record was approved by someone */
    for (int number; read(results[0], &number, sizeof number) == sizeof number; got++) {
        bool found = false;

        for (size_t i = 0; i < count; i++)
            found |= files[i].number == number;
        assert_true(found);
    }
    assert_int_equal(got, (int)count); /* as many as were said to be approved: no number twice */
    for (size_t i = 0; i < count; i++) {
        struct pw_baseline b = {0};

        assert_int_equal(files[i].number, (int)i + 1);
        assert_int_equal(pw_baseline_read(files[i].path, &b, &err), PW_OK);
        assert_int_equal(b.number, files[i].number);
        pw_baseline_clear(&b);
    }
    close(results[0]);
    pw_arena_clear(&arena);
}

/* Unchanged times keep their lines; a changed one does not; a diff shows only that. */
static void test_unchanged_lines_stay(void **state)
{
    struct pw_baseline_row changed[2] = {rows[1], rows[1]};
    struct pw_baseline_set changed_sets[] = {{"batch=1", changed, 2}};
    struct pw_baseline before = made(PW_BASELINE_THROUGHPUT), now = made(PW_BASELINE_THROUGHPUT);
    struct pw_baseline_row both[2] = {rows[1], rows[1]};
    struct pw_baseline_set both_sets[] = {{"batch=1", both, 2}};
    struct pw_gate_options options = pw_gate_options_default();
    double jitter[12];
    size_t kept = 0;
    struct pw_error err = {0};

    (void)state;
    both[1].id = changed[1].id = "00112233445566cc";
    before.sets = both_sets;
    now.sets = changed_sets;
    for (int i = 0; i < 12; i++)
        jitter[i] = slices_a[11 - i] * 1.003;
    changed[0].ratios = jitter;
    changed[0].target_ns.median = 1507;
    changed[1].ratios = slices_b;
    changed[1].target_ns.median = 1950;
    assert_int_equal(pw_baseline_carry(&before, &now, &options, &kept, &err), PW_OK);
    assert_int_equal(kept, 1);
    assert_true(changed[0].target_ns.median == 1500 && changed[0].ratios[0] == slices_a[0]);
    assert_true(changed[1].target_ns.median == 1950 && changed[1].ratios == slices_b);
    pw_arena_clear(&now.arena);
}

static void test_join(void **state)
{
    struct pw_baseline precision = made(PW_BASELINE_PRECISION), throughput = made(PW_BASELINE_THROUGHPUT);
    struct pw_baseline_set less[] = {{"batch=1", rows + 1, 1}};
    struct pw_baseline now = made(PW_BASELINE_PRECISION);
    struct pw_baseline_pair a = {&precision, &throughput}, b = {&now, NULL};
    struct pw_arena arena = {0};
    struct pw_gate_signature *signatures;
    size_t count, common;

    (void)state;
    now.sets = less;
    for (int partial = 0; partial < 2; partial++) {
        assert_int_equal(pw_baseline_join(&a, &b, "batch=1", partial, &arena, &signatures, &count, &common, NULL),
                         PW_OK);
        assert_int_equal(count, 2);
        assert_int_equal(common, 1);
        assert_true(signatures[0].now.present == (partial || !strcmp(signatures[0].id, rows[1].id)));
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(signatures[i].id, "00112233445566bb")) {
            assert_true(signatures[i].before.error == 2.9e-7 && signatures[i].before.ratio_count == 12);
            assert_string_equal(signatures[i].before.kernel_hash, "abcd");
            assert_int_equal(signatures[i].now.ratio_count, 0);
        }
    assert_int_equal(pw_baseline_join(&a, &b, "batch=2", false, &arena, &signatures, &count, &common, NULL), PW_OK);
    assert_int_equal(count, 0);
    pw_arena_clear(&arena);
}

static void test_ratios_of_slices(void **state)
{
    int64_t target[] = {200, 400, 300, 900, 1000, 1100}, reference[] = {100, 100, 100};
    struct pw_signature_result result = {.target_samples = target,
                                         .target_sample_count = 6,
                                         .reference_samples = reference,
                                         .reference_sample_count = 3};
    double ratios[8];

    (void)state;
    assert_int_equal(pw_baseline_ratios(&result, ratios, 8), 3);
    assert_true(ratios[0] == 3 && ratios[1] == 6 && ratios[2] == 10.5); /* medians of pairs: 300, 600, 1050 */
    assert_int_equal(pw_baseline_ratios(&result, ratios, 1), 1);
    result.reference_sample_count = 0;
    assert_int_equal(pw_baseline_ratios(&result, ratios, 8), 0);
}

/* A kept kernel loads as it was; a changed byte is noticed. */
static void test_kept_kernels(void **state)
{
    char command[512];
    struct pw_ops_dir dir = {path_of("ops"), false};
    struct pw_kernels *kernels_now = NULL, *kept = NULL;
    const struct pw_kernel *kernel, *old = NULL;
    char pack[PW_HASH_TEXT], again[PW_HASH_TEXT], hash[PW_HASH_TEXT], sub[128];
    struct pw_buf why = {0};
    struct pw_error err = {0};

    (void)state;
    snprintf(command, sizeof command, "mkdir -p %s/kernels/%032d.77.tmp/softmax %s/kernels/mine.77.tmp", folder, 7,
             folder);
    assert_int_equal(system(command), 0); /* the first is what a killed writer left */
    snprintf(command, sizeof command, "mkdir %s/ops && cp -r %s/ops/softmax %s/ops/prelude.cl %s/ops", folder,
             getenv("PW_SOURCE") ? getenv("PW_SOURCE") : PW_SRCDIR,
             getenv("PW_SOURCE") ? getenv("PW_SOURCE") : PW_SRCDIR, folder);
    assert_int_equal(system(command), 0);
    if (pw_kernels_load(&dir, 1, &kernels_now, &err) != PW_OK)
        fail_msg("%s", err.message);
    kernel = pw_kernels_find(kernels_now, "softmax_rows");
    assert_non_null(kernel);
    pw_hash_text(pw_kernel_hash(kernel), hash);
    assert_int_equal(pw_kept_save(folder, kernel, pack, &err), PW_OK);
    assert_int_equal(pw_kept_save(folder, kernel, again, &err), PW_OK);
    assert_string_equal(pack, again);
    snprintf(sub, sizeof sub, "kernels/%032d.77.tmp", 7);
    assert_false(pw_file_exists(path_of(sub)));
    assert_true(pw_file_exists(path_of("kernels/mine.77.tmp")));
    assert_int_equal(pw_kept_load(folder, pack, "softmax_rows", hash, &kept, &old, &why, &err), PW_OK);
    assert_non_null(kept);
    assert_true(pw_kernel_foreign(old)); /* it comes out of a repository */
    pw_kernels_destroy(kept);
    assert_int_equal(pw_kept_load(folder, pack, "softmax_rowz", hash, &kept, &old, &why, &err), PW_OK);
    assert_null(kept);
    assert_non_null(strstr(pw_buf_text(&why), "softmax_rowz"));
    assert_int_equal(pw_kept_load(folder, "../ops", "softmax_rows", hash, &kept, &old, &why, &err), PW_OK);
    assert_null(kept);
    snprintf(sub, sizeof sub, "kernels/%s/softmax/softmax.cl", pack);
    snprintf(command, sizeof command, "echo '/* */' >> %s", path_of(sub));
    assert_int_equal(system(command), 0);
    assert_int_equal(pw_kept_load(folder, pack, "softmax_rows", hash, &kept, &old, &why, &err), PW_OK);
    assert_null(kept);
    pw_kernels_destroy(kernels_now);
    pw_buf_clear(&why);
}

static void test_reports(void **state)
{
    struct pw_baseline before = made(PW_BASELINE_PRECISION), after = made(PW_BASELINE_PRECISION);
    struct pw_baseline_row worse[2] = {rows[0], rows[1]};
    struct pw_baseline_set after_sets[] = {{"batch=1", worse, 2}};
    struct pw_baseline_pair a = {&before, NULL}, b = {&after, NULL};
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_report_diff_part part = {.before = &before, .after = &after, .dims = "batch=1", .mark = ""};
    struct pw_report_diff diff = {"latest", "pending", "00000000000000a1", &part, 1};
    struct pw_report_baseline_entry entries[] = {
        {"g/k", "g/k/precision-1.yaml", &before, "", true, NULL},
        {"g/k", "g/k/precision-2.yaml", NULL, "no <good>", false, NULL},
        {"g/k", "g/k/precision-pending.yaml", &after, "", false, "00000000000000a1"}};
    struct pw_arena arena = {0};
    struct pw_gate_signature *signatures;
    struct pw_gate_result results[4];
    struct pw_gate_totals totals;
    struct pw_buf out = {0};
    size_t common;
    char why[2048];
    struct pw_error err = {0};

    (void)state;
    before.number = 1;
    before.approved_by = "ann | bob";
    worse[1].error = 9e-7;
    after.sets = after_sets;
    assert_int_equal(pw_baseline_join(&a, &b, "batch=1", false, &arena, &signatures, &part.count, &common, &err),
                     PW_OK);
    assert_int_equal(pw_gate_decide(&options, signatures, part.count, results, &totals, &err), PW_OK);
    part.signatures = signatures;
    part.results = results;
    pw_report_diff_text(&diff, &out);
    assert_non_null(strstr(pw_buf_text(&out), "worse"));
    assert_non_null(strstr(pw_buf_text(&out), "error 2.9e-07 -> 9e-07"));
    assert_non_null(strstr(pw_buf_text(&out), "1 signatures differ, 1 are as they were"));
    assert_non_null(strstr(pw_buf_text(&out), "state 00000000000000a1: "));
    pw_buf_clear(&out);
    pw_report_diff_md(&diff, &out);
    assert_non_null(strstr(pw_buf_text(&out), "| worse | Softmax-13 |"));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_diff_json(&diff, &out, &err), PW_OK);
    if (!schema_check_text("baseline.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    assert_int_equal(pw_report_baselines_json(entries, 3, &out, &err), PW_OK);
    if (!schema_check_text("baselines.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    pw_report_baselines_md(entries, 2, &out);
    assert_non_null(strstr(pw_buf_text(&out), "ann \\| bob"));
    assert_non_null(strstr(pw_buf_text(&out), "no \\<good\\>"));
    pw_buf_clear(&out);
    pw_report_baselines_text(entries, 2, &out);
    assert_non_null(strstr(pw_buf_text(&out), "1*"));
    pw_buf_clear(&out);
    pw_arena_clear(&arena);
}

static void test_state_text(void **state)
{
    static const char *const wrong[] = {
        "", "12", "0000000000000000", "00000000000000g1", "00000000000000A1", "00000000000000a1 ", "-0000000000000a1"};
    char text[PW_BASELINE_STATE];
    size_t read = 7;

    (void)state;
    assert_string_equal(pw_baseline_state_text(0xa1, text), "00000000000000a1");
    assert_true(pw_baseline_state_parse("fedcba98765432a1", &read));
    assert_true(read == (size_t)UINT64_C(0xfedcba98765432a1));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pw_baseline_state_parse(wrong[i], &read));
}

/* Whatever bytes a file has, reading it ends in a baseline or in a message; what is read can be printed. */
static void test_mutated_files(void **state)
{
    static const char signs[] = "{}[]:,\"'#\n -0x.e";
    int taken = 0;

    (void)state;
    for (int kind = 0; kind < PW_BASELINE_KIND_COUNT; kind++) {
        struct pw_baseline b = made((pw_baseline_kind)kind);
        struct pw_buf text = {0};
        struct pw_error err = {0};

        assert_int_equal(pw_baseline_print(&b, &text, &err), PW_OK);
        for (uint64_t i = 0; i < 1500; i++) {
            struct pw_baseline back = {0};
            struct pw_buf changed = {0}, again = {0};
            FILE *file = fopen(path_of("m.yaml"), "wb");

            assert_non_null(file);
            pw_buf_append(&changed, text.data, text.size);
            for (uint64_t k = 0; k < 1 + i % 3; k++) {
                size_t at = (size_t)pw_random_range(i, k, 0, 0, (int64_t)text.size - 1);

                changed.data[at] = i % 2 ? (char)pw_random_u32(i, k, 8)
                                         : signs[pw_random_range(i, k, 2, 0, (int64_t)sizeof signs - 2)];
            }
            if (i % 5 == 0)
                changed.size = (size_t)pw_random_range(i, 9, 0, 0, (int64_t)changed.size);
            assert_int_equal(fwrite(changed.data, 1, changed.size, file), changed.size);
            fclose(file);
            pw_error_clear(&err);
            if (pw_baseline_read(path_of("m.yaml"), &back, &err) == PW_OK) {
                taken++;
                assert_int_equal(pw_baseline_print(&back, &again, &err), PW_OK);
            } else {
                assert_true(err.message[0]);
            }
            pw_baseline_clear(&back);
            pw_buf_clear(&changed);
            pw_buf_clear(&again);
        }
        pw_buf_clear(&text);
    }
    assert_true(taken > 100); /* most of a file is free text */
}

static void test_short_memory(void **state)
{
    struct pw_baseline b = made(PW_BASELINE_THROUGHPUT);

    (void)state;
    for (uint64_t nth = 1;; nth++) {
        struct pw_baseline back = {0};
        struct pw_buf path = {0};
        pw_status status;

        pw_mem_fail_at(nth, 1);
        status = pw_baseline_save_pending(path_of("short"), &b, &path, NULL);
        if (status == PW_OK)
            status = pw_baseline_read(pw_buf_text(&path), &back, NULL);
        pw_mem_fail_at(0, 0);
        pw_baseline_clear(&back);
        pw_buf_clear(&path);
        if (status == PW_OK)
            break;
        assert_true(nth < 5000);
    }
}

/* Found under a name that says something else: not approved. */
static void test_renamed_pending(void **state)
{
    struct pw_baseline b = made(PW_BASELINE_PRECISION);
    struct pw_buf text = {0};
    struct pw_error err = {0};
    int number;

    (void)state;
    assert_int_equal(pw_baseline_print(&b, &text, &err), PW_OK);
    assert_int_equal(pw_file_mkdirs(path_of("k"), &err), PW_OK);
    assert_int_equal(pw_file_write(path_of("k/throughput-x-pending.yaml"), pw_buf_text(&text), text.size, &err), PW_OK);
    assert_int_equal(approve(&number, &err), -1);
    assert_non_null(strstr(err.message, "its name says something else"));
    pw_buf_clear(&text);
}

/* What is pending, copied to the name of an approved one, and an approved one to another's name. */
static void test_copied_to_a_number(void **state)
{
    struct pw_baseline b = made(PW_BASELINE_PRECISION), back = {0};
    struct pw_error err = {0};

    (void)state;
    for (b.number = 0; b.number < 3; b.number++) {
        struct pw_buf text = {0};
        pw_status status;

        assert_int_equal(pw_baseline_print(&b, &text, &err), PW_OK);
        assert_int_equal(pw_file_write(path_of("precision-2.yaml"), pw_buf_text(&text), text.size, &err), PW_OK);
        assert_int_equal(pw_file_write(path_of("mine.yaml"), pw_buf_text(&text), text.size, &err), PW_OK);
        pw_error_clear(&err);
        status = pw_baseline_read(path_of("precision-2.yaml"), &back, &err);
        assert_int_equal(status == PW_OK, b.number == 2);
        assert_true(b.number == 2 || strstr(err.message, b.number ? "'number' is 1" : "nobody approved it"));
        pw_baseline_clear(&back);
        pw_error_clear(&err);
        assert_int_equal(pw_baseline_read(path_of("mine.yaml"), &back, &err), PW_OK); /* says nothing of a number */
        pw_baseline_clear(&back);
        pw_buf_clear(&text);
    }
}

/* Of so many signatures that the reader would refuse the file, nothing is written: not pending, and not approved. */
static void test_too_many_signatures(void **state)
{
    enum { MANY = 2600 };
    struct pw_baseline b = made(PW_BASELINE_THROUGHPUT);
    struct pw_baseline_row *many = calloc(MANY, sizeof *many);
    char(*ids)[17] = calloc(MANY, sizeof *ids);
    struct pw_baseline_set set = {"batch=1", many, MANY};
    struct pw_buf path = {0};
    struct pw_error err = {0};

    (void)state;
    assert_true(many && ids);
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "%016x", i);
        many[i] = rows[1];
        many[i].id = ids[i];
        many[i].ratios = slices_a;
        many[i].ratio_count = 12;
    }
    b.sets = &set;
    assert_int_equal(pw_baseline_save_pending(path_of("k"), &b, &path, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "100000 values"));
    assert_false(pw_file_exists(path_of("k/throughput-feedfacefeedface-pending.yaml")));
    set.count = MANY / 2;
    pw_error_clear(&err);
    assert_int_equal(pw_baseline_save_pending(path_of("k"), &b, &path, &err), PW_OK);
    pw_buf_clear(&path);
    free(many);
    free(ids);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_bad_files),
        TEST(test_approval),
        TEST(test_approved_together),
        TEST(test_only_what_was_seen),
        TEST(test_approvals_at_once),
        TEST(test_unchanged_lines_stay),
        TEST(test_join),
        TEST(test_ratios_of_slices),
        TEST(test_kept_kernels),
        cmocka_unit_test(test_state_text),
        TEST(test_reports),
        TEST(test_mutated_files),
        TEST(test_short_memory),
        TEST(test_renamed_pending),
        TEST(test_too_many_signatures),
        TEST(test_copied_to_a_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
