/* Any bytes as portwright.lock, and as the JSON that the store keeps of an environment. */
#include "bench/environment.h"
#include "tests/fuzz/text_mutate.h"

static void fuzz_lock_json(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct pw_environment environment = {0}, again = {0};
    struct pw_buf json = {0}, second = {0}, differences = {0};
    struct pw_error err = {0};

    if (pw_environment_parse(text, &environment, &err) == PW_OK) {
        (void)pw_environment_get(&environment, "cpu");
        fuzz_check(pw_environment_json(&environment, &json, &err) == PW_OK);
        fuzz_check(pw_environment_parse(pw_buf_text(&json), &again, &err) == PW_OK);
        (void)pw_environment_differences(&environment, &again, ~0u, "then", "now", &differences);
        fuzz_check(pw_environment_json(&again, &second, &err) == PW_OK);
        fuzz_check(!strcmp(pw_buf_text(&json), pw_buf_text(&second)));
    }
    pw_environment_clear(&environment);
    pw_environment_clear(&again);
    pw_buf_clear(&json);
    pw_buf_clear(&second);
    pw_buf_clear(&differences);
    pw_free(text);
}

static void fuzz_lock(const uint8_t *data, size_t size)
{
    static struct pw_environment_field fields[] = {
        {"cpu", "A \"fast\" one", PW_ENVIRONMENT_PINNED | PW_ENVIRONMENT_TIMING},
        {"os", "", PW_ENVIRONMENT_PINNED},
        {"driver", "1.2 \xff\x1b[2J", PW_ENVIRONMENT_PINNED | PW_ENVIRONMENT_TARGET}};
    const struct pw_environment environment = {.target = "opencl", .fields = fields, .count = PW_COUNT_OF(fields)};
    struct pw_buf differences = {0}, text = {0};
    struct pw_error err = {0};
    bool matches = false;

    if (pw_lock_check(fuzz_file(data, size), &environment, &matches, &differences, &err) == PW_OK)
        fuzz_check(matches == (differences.size == 0));
    pw_buf_clear(&differences);
    pw_error_clear(&err);
    /* What we write of an environment matches it. */
    fuzz_check(pw_lock_write(&environment, 1, &text, &err) == PW_OK);
    fuzz_check(pw_lock_check(fuzz_file(text.data, text.size), &environment, &matches, &differences, &err) == PW_OK);
    fuzz_check(matches);
    pw_buf_clear(&text);
    pw_buf_clear(&differences);
    fuzz_lock_json(data, size);
}

static void fuzz_lock_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {
        "format", "machine", "targets",     "opencl",  "environment", "cpu",     "os",    "driver",
        "id",     "target",  "\"target\":", "\"id\":", "\\u0000",     "\\ud800", "[1,2]", NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_lock, fuzz_lock_mutate);
