/* Any words as a command line: one argument a line. Nothing is run: the options are parsed, and the values that
 * commands parse themselves. */
#include "cli/options.h"
#include "tests/fuzz/text_mutate.h"

#define FUZZ_OPTIONS_ARGS 64

/* What a command says of wrong usage is not for us. */
static void fuzz_options_parse(int argc, char **argv, const struct pw_command_usage *usage)
{
    static FILE *nowhere;
    FILE *out = stdout, *err = stderr;
    struct pw_options options = {0};
    int exit_code = -1;

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    fuzz_check(nowhere != NULL);
    stdout = stderr = nowhere;
    pw_options_parse(argc, argv, usage, &options, &exit_code);
    stdout = out;
    stderr = err;
    fuzz_check(exit_code <= PW_EXIT_TARGET);
    if (exit_code < 0)
        fuzz_check(options.jobs >= 0 && options.dim_sets <= PW_OPTION_SETS &&
                   options.target_count <= PW_OPTION_TARGETS && options.format < PW_FORMAT_COUNT &&
                   options.arg_count < FUZZ_OPTIONS_ARGS);
    pw_options_clear(&options);
}

static void fuzz_options(const uint8_t *data, size_t size)
{
    const char *text_value = NULL, *flag = NULL;
    const struct pw_option_own own[] = {
        {"budget", "TIME", "a value", &text_value}, {"fail-fast", NULL, "a flag", &flag}, {0}};
    const struct pw_command_usage usage = {
        .name = "check",
        .synopsis = "MODEL",
        .summary = "All options.",
        .shared = "target dim project db ops-dir format junit html openmetrics output seed jobs quiet color rtol atol",
        .own = own};
    char program[] = "portwright", *argv[FUZZ_OPTIONS_ARGS + 1] = {program}, *text = fuzz_text(data, size);
    struct pw_arena arena = {0};
    struct pw_binding *items = NULL;
    struct pw_error err = {0};
    size_t count = 0;
    int64_t ns = 0;
    int argc = 1;

    if (pw_options_dims(text, &arena, &items, &count, &err) == PW_OK)
        for (size_t i = 0; i < count; i++)
            fuzz_check(items[i].name[0] && items[i].value >= 0);
    pw_error_clear(&err);
    if (pw_options_duration("--budget", text, &ns, &err) == PW_OK)
        fuzz_check(ns >= 0);
    for (char *at = text; *at && argc < FUZZ_OPTIONS_ARGS - 1;) {
        size_t length = strcspn(at, "\n");
        bool last = at[length] == '\0';
        argv[argc++] = at;
        at[length] = '\0';
        at += length + !last;
    }
    fuzz_options_parse(argc, argv, &usage);
    pw_arena_clear(&arena);
    pw_free(text);
}

static void fuzz_options_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {
        "--target", "--dim",   "--project",     "--db",   "--ops-dir", "--format", "--output",    "-o",     "--seed",
        "--jobs",   "--quiet", "--color",       "--rtol", "--atol",    "--budget", "--fail-fast", "--help", "-h",
        "--",       "-",       "--format=json", "opencl", "reference", "json",     "csv",         "never",  "a=1,b=2",
        "a=",       "=1",      "a=1,,",         "10s",    "500ms",     "1h",       "\n",          NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_options, fuzz_options_mutate);
