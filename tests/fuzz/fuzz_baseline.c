/* Any bytes as a baseline: what is read prints to a text that reads back and prints the same; the gate takes it against
 * itself and against a fixed one. */
#include "baseline/baseline_make.h"
#include "tests/fuzz/text_mutate.h"

static void fuzz_baseline_gate(const struct pw_baseline *before, const struct pw_baseline *now)
{
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_error err = {0};

    options.throughput_comparable = true;
    for (size_t i = 0; i < now->set_count; i++) {
        struct pw_baseline_pair a = {before, before}, b = {now, now};
        struct pw_arena arena = {0};
        struct pw_gate_signature *signatures = NULL;
        struct pw_gate_totals totals;
        size_t count = 0, common = 0;
        if (pw_baseline_join(&a, &b, now->sets[i].dims, false, &arena, &signatures, &count, &common, &err) == PW_OK) {
            struct pw_gate_result *results = pw_calloc(count + 1, sizeof *results);
            fuzz_check(results != NULL && common <= count);
            (void)pw_gate_decide(&options, signatures, count, results, &totals, &err);
            pw_free(results);
        }
        pw_error_clear(&err);
        pw_arena_clear(&arena);
    }
}

static void fuzz_baseline_rest(struct pw_baseline *baseline)
{
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_environment environment = {0};
    struct pw_error err = {0};
    size_t kept = 0;

    (void)pw_baseline_check_name(baseline, &err);
    pw_error_clear(&err);
    if (pw_baseline_environment(baseline, &environment, &err) == PW_OK)
        pw_environment_clear(&environment);
    (void)pw_baseline_kernel_of(baseline, "softmax_rows");
    fuzz_baseline_gate(baseline, baseline);
    pw_error_clear(&err);
    if (baseline->kind == PW_BASELINE_THROUGHPUT)
        (void)pw_baseline_carry(baseline, baseline, &options, &kept, &err);
}

static void fuzz_baseline(const uint8_t *data, size_t size)
{
    struct pw_baseline first = {0}, second = {0};
    struct pw_buf once = {0}, twice = {0};
    struct pw_error err = {0};

    if (pw_baseline_read(fuzz_file(data, size), &first, &err) == PW_OK) {
        pw_baseline_sort(&first);
        fuzz_check(pw_baseline_print(&first, &once, &err) == PW_OK);
        if (pw_baseline_read(fuzz_file(once.data, once.size), &second, &err) != PW_OK)
            fprintf(stderr, "%s\n%s", err.message, pw_buf_text(&once));
        fuzz_check(err.status == PW_OK);
        fuzz_check(pw_baseline_print(&second, &twice, &err) == PW_OK);
        fuzz_check(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
        fuzz_baseline_gate(&first, &second);
        fuzz_baseline_rest(&first);
    }
    pw_buf_clear(&once);
    pw_buf_clear(&twice);
    pw_baseline_clear(&second);
    pw_baseline_clear(&first);
}

static void fuzz_baseline_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"format",
                                        "baseline",
                                        "number",
                                        "graph",
                                        "model",
                                        "target",
                                        "kind",
                                        "device",
                                        "driver",
                                        "runtime",
                                        "protocol",
                                        "file",
                                        "hash",
                                        "seed",
                                        "portwright",
                                        "recorded",
                                        "approved",
                                        "by",
                                        "at",
                                        "message",
                                        "environment",
                                        "id",
                                        "kernels",
                                        "kept",
                                        "author",
                                        "algorithm",
                                        "tiling",
                                        "foreign",
                                        "sets",
                                        "op",
                                        "shapes",
                                        "coverage",
                                        "kernel",
                                        "standing",
                                        "error",
                                        "tolerance",
                                        "limit",
                                        "cases",
                                        "target_ns",
                                        "reference_ns",
                                        "reference",
                                        "ratio",
                                        "slices",
                                        "precision",
                                        "throughput",
                                        "pending",
                                        "held",
                                        "failed",
                                        "unproven",
                                        "library",
                                        "host",
                                        "missing",
                                        "[1, 2, 3]",
                                        "[1, .nan, .inf]",
                                        "\"24:00000000000000ff\"",
                                        "\"\\x07\"",
                                        "2026-01-01T00:00:00Z",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_baseline, fuzz_baseline_mutate);
