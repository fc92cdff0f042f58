#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "target/sandbox.h"

#define NAME_WIDTH 22

typedef pw_status set_option(struct pw_options *options, const char *value, struct pw_error *err);

static pw_status set_target(struct pw_options *options, const char *value, struct pw_error *err)
{
    if (options->target_count == PW_OPTION_TARGETS)
        return pw_error_set(err, PW_ERR_USAGE, "--target: at most %d targets", PW_OPTION_TARGETS);
    options->targets[options->target_count++] = value;
    return PW_OK;
}

pw_status pw_options_dims(const char *text, struct pw_arena *arena, struct pw_binding **items, size_t *count,
                          struct pw_error *err)
{
    size_t n = 1;
    struct pw_binding *out;
    const char *at = text;

    for (const char *p = text; *p; p++)
        n += *p == ',';
    out = pw_arena_alloc(arena, n, sizeof *out);
    if (!out)
        return pw_error_memory(err, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(at, ",");
        char *part = pw_arena_strndup(arena, at, length);
        char *equals = part ? strrchr(part, '=') : NULL;

        if (!part)
            return pw_error_memory(err, length);
        if (!equals || equals == part || !pw_text_int64(equals + 1, &out[i].value) || out[i].value < 0)
            return pw_error_set(err, PW_ERR_USAGE, "--dim '%s': expected NAME=N[,NAME=N] with N >= 0, found '%s'", text,
                                part);
        *equals = '\0';
        out[i].name = part;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(out[k].name, part))
                return pw_error_set(err, PW_ERR_USAGE, "--dim '%s': '%s' is bound twice", text, part);
        at += length + 1;
    }
    *items = out;
    *count = n;
    return PW_OK;
}

static pw_status set_dim(struct pw_options *options, const char *value, struct pw_error *err)
{
    pw_status status;

    if (options->dim_sets == PW_OPTION_SETS)
        return pw_error_set(err, PW_ERR_USAGE, "--dim: at most %d binding sets", PW_OPTION_SETS);
    status = pw_options_dims(value, &options->arena, &options->dims[options->dim_sets],
                             &options->dim_counts[options->dim_sets], err);
    options->dim_sets += status == PW_OK;
    return status;
}

static pw_status set_project(struct pw_options *options, const char *value, struct pw_error *err)
{
    (void)err;
    options->project = value;
    return PW_OK;
}

static pw_status set_db(struct pw_options *options, const char *value, struct pw_error *err)
{
    (void)err;
    options->db = value;
    return PW_OK;
}

static pw_status set_output(struct pw_options *options, const char *value, struct pw_error *err)
{
    (void)err;
    options->output = value;
    return PW_OK;
}

static pw_status set_ops_dir(struct pw_options *options, const char *value, struct pw_error *err)
{
    if (!pw_file_is_dir(value))
        return pw_error_set(err, PW_ERR_USAGE, "--ops-dir '%s': no such folder", value);
    if (options->ops_dir_count == PW_OPTION_TARGETS)
        return pw_error_set(err, PW_ERR_USAGE, "--ops-dir: at most %d folders", PW_OPTION_TARGETS);
    options->ops_dirs[options->ops_dir_count].path = value;
    options->ops_dirs[options->ops_dir_count++].foreign = true;
    return PW_OK;
}

static pw_status set_unsafe_kernels(struct pw_options *options, const char *value, struct pw_error *err)
{
    (void)options;
    (void)value;
    (void)err;
    pw_sandbox_permit_unconfined();
    return PW_OK;
}

static const char *const format_names[PW_FORMAT_COUNT] = {"text", "json", "csv", "md", "junit", "html", "openmetrics"};

static pw_status set_format(struct pw_options *options, const char *value, struct pw_error *err)
{

    for (int i = 0; i < PW_FORMAT_COUNT; i++)
        if (!strcmp(value, format_names[i])) {
            options->format = (pw_format)i;
            options->format_given = true;
            return PW_OK;
        }
    return pw_error_set(err, PW_ERR_USAGE,
                        "--format: expected text, json, csv, md, junit, html or openmetrics, found '%s'", value);
}

static pw_status set_seed(struct pw_options *options, const char *value, struct pw_error *err)
{
    int64_t seed = 0;

    if (!pw_text_int64(value, &seed) || seed < 0)
        return pw_error_set(err, PW_ERR_USAGE, "--seed: expected a whole number >= 0, found '%s'", value);
    options->seed = (uint64_t)seed;
    return PW_OK;
}

static pw_status set_jobs(struct pw_options *options, const char *value, struct pw_error *err)
{
    int64_t jobs = 0;

    if (!pw_text_int64(value, &jobs) || jobs < 1 || jobs > 64)
        return pw_error_set(err, PW_ERR_USAGE, "--jobs: expected 1 to 64, found '%s'", value);
    options->jobs = (int)jobs;
    return PW_OK;
}

static pw_status set_quiet(struct pw_options *options, const char *value, struct pw_error *err)
{
    (void)value;
    (void)err;
    options->quiet = true;
    return PW_OK;
}

static pw_status set_color(struct pw_options *options, const char *value, struct pw_error *err)
{
    if (!strcmp(value, "auto"))
        options->color = -1;
    else if (!strcmp(value, "always") || !strcmp(value, "never"))
        options->color = value[0] == 'a';
    else
        return pw_error_set(err, PW_ERR_USAGE, "--color: expected auto, always or never, found '%s'", value);
    return PW_OK;
}

static pw_status set_bound(const char *name, double *out, const char *value, struct pw_error *err)
{
    if (!pw_text_double(value, out) || !(*out >= 0))
        return pw_error_set(err, PW_ERR_USAGE, "--%s: expected a number >= 0, found '%s'", name, value);
    return PW_OK;
}

static pw_status set_rtol(struct pw_options *options, const char *value, struct pw_error *err)
{
    return set_bound("rtol", &options->rtol, value, err);
}

static pw_status set_atol(struct pw_options *options, const char *value, struct pw_error *err)
{
    return set_bound("atol", &options->atol, value, err);
}

static const struct shared_option {
    const char *name, *value, *help;
    set_option *set;
} shared_options[] = {
    {"target", "T", "opencl[:platform[:device]], plugin:FILE.so or reference; repeatable", set_target},
    {"dim", "NAME=N[,NAME=N]", "bind symbolic dims; repeat for more binding sets", set_dim},
    {"project", "FILE", "the protocol (default portwright.yaml when it exists)", set_project},
    {"db", "FILE", "the store (default .portwright/portwright.db; \"\" = none)", set_db},
    {"ops-dir", "DIR", "kernels that replace or add to the built-in ones; repeatable", set_ops_dir},
    {"unsafe-kernels", NULL, "run kernels of --ops-dir also where the system cannot confine them", set_unsafe_kernels},
    {"format", "F", NULL, set_format},
    {"output", "FILE", "write there instead of the terminal (also -o)", set_output},
    {"rtol", "X", "relative tolerance", set_rtol},
    {"atol", "X", "absolute tolerance", set_atol},
    {"seed", "N", "seed of generated inputs (default 1)", set_seed},
    {"jobs", "N", "how many cases at once (default: the target's workers)", set_jobs},
    {"quiet", NULL, "results only, no progress", set_quiet},
    {"color", "WHEN", "auto, always or never; NO_COLOR is honoured", set_color},
};

static bool has_word(const char *words, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = words; p && *p;) {
        size_t word = strcspn(p, " ");

        if (word == length && !memcmp(p, name, length))
            return true;
        p += word;
        p += strspn(p, " ");
    }
    return false;
}

static bool takes(const struct pw_command_usage *usage, const char *name)
{
    return has_word(usage->shared, strcmp(name, "unsafe-kernels") ? name : "ops-dir"); /* these go together */
}

static void print_option(const char *name, const char *value, const char *help)
{
    struct pw_buf left = {0};

    pw_buf_printf(&left, "--%s%s%s", name, value ? " " : "", value ? value : "");
    if (pw_text_width(pw_buf_text(&left)) > NAME_WIDTH)
        printf("  %s\n  %*s  %s\n", pw_buf_text(&left), NAME_WIDTH, "", help);
    else
        printf("  %-*s  %s\n", NAME_WIDTH, pw_buf_text(&left), help);
    pw_buf_clear(&left);
}

static bool writes(const struct pw_command_usage *usage, pw_format format)
{
    const char *name = format_names[format];
    char lacks[32];

    snprintf(lacks, sizeof lacks, "-%s", name);
    return format <= PW_FORMAT_MD ? !has_word(usage->shared, lacks) : has_word(usage->shared, name);
}

static void list_formats(const struct pw_command_usage *usage, struct pw_buf *out)
{
    for (int i = 0; i < PW_FORMAT_COUNT; i++)
        if (writes(usage, (pw_format)i))
            pw_buf_printf(out, "%s%s", i ? ", " : "", format_names[i]);
}

static void print_formats(const struct pw_command_usage *usage)
{
    struct pw_buf names = {0};

    list_formats(usage, &names);
    print_option("format", "F", pw_buf_text(&names));
    pw_buf_clear(&names);
}

static pw_status check_format(const struct pw_command_usage *usage, pw_format format, struct pw_error *err)
{
    struct pw_buf names = {0};

    if (writes(usage, format))
        return PW_OK;
    list_formats(usage, &names);
    pw_error_set(err, PW_ERR_USAGE, "%s: --format: expected one of %s; found '%s'", usage->name, pw_buf_text(&names),
                 format_names[format]);
    pw_buf_clear(&names);
    return PW_ERR_USAGE;
}

static void print_help(const struct pw_command_usage *usage)
{
    printf("portwright %s%s%s\n%s\n\nOptions\n", usage->name, usage->synopsis[0] ? " " : "", usage->synopsis,
           usage->summary);
    for (const struct pw_option_own *own = usage->own; own && own->name; own++)
        print_option(own->name, own->value, own->help);
    for (size_t i = 0; i < PW_COUNT_OF(shared_options); i++)
        if (takes(usage, shared_options[i].name)) {
            if (shared_options[i].help)
                print_option(shared_options[i].name, shared_options[i].value, shared_options[i].help);
            else
                print_formats(usage);
        }
    print_option("help", NULL, "this text");
}

/* One option of the command line, found in the tables. */
struct found {
    const struct shared_option *shared;
    const struct pw_option_own *own;
};

static bool find(const struct pw_command_usage *usage, const char *name, size_t length, struct found *out)
{
    for (const struct pw_option_own *own = usage->own; own && own->name; own++)
        if (strlen(own->name) == length && !memcmp(own->name, name, length)) {
            out->own = own;
            return true;
        }
    for (size_t i = 0; i < PW_COUNT_OF(shared_options); i++)
        if (strlen(shared_options[i].name) == length && !memcmp(shared_options[i].name, name, length) &&
            takes(usage, shared_options[i].name)) {
            out->shared = &shared_options[i];
            return true;
        }
    return false;
}

/* The workbench has no name of its own. */
static const char *colon_of(const struct pw_command_usage *usage)
{
    return *usage->name ? ": " : "";
}

static pw_status unknown(const struct pw_command_usage *usage, const char *arg, struct pw_error *err)
{
    const char *names[PW_COUNT_OF(shared_options) + 32];
    size_t count = 0;
    const char *near;

    for (const struct pw_option_own *own = usage->own; own && own->name && count < 32; own++)
        names[count++] = own->name;
    for (size_t i = 0; i < PW_COUNT_OF(shared_options); i++)
        if (takes(usage, shared_options[i].name))
            names[count++] = shared_options[i].name;
    near = pw_text_nearest(arg + strspn(arg, "-"), names, count);
    if (near)
        return pw_error_set(err, PW_ERR_USAGE, "%s%sunknown option '%s'; did you mean --%s?", usage->name,
                            colon_of(usage), arg, near);
    return pw_error_set(err, PW_ERR_USAGE, "%s%sunknown option '%s'; see portwright%s%s --help", usage->name,
                        colon_of(usage), arg, *usage->name ? " " : "", usage->name);
}

static pw_status parse_one(int argc, char **argv, int *i, const struct pw_command_usage *usage,
                           struct pw_options *options, struct pw_error *err)
{
    const char *arg = argv[*i];
    const char *name = arg + 2;
    const char *equals = strchr(name, '=');
    const char *value = equals ? equals + 1 : NULL;
    struct found found = {0};
    const char *wanted;

    if (!strcmp(arg, "-o"))
        name = "output";
    else if (arg[1] != '-')
        return unknown(usage, arg, err);
    if (!find(usage, name, equals && arg[1] == '-' ? (size_t)(equals - name) : strlen(name), &found))
        return unknown(usage, arg, err);
    wanted = found.own ? found.own->value : found.shared->value;
    if (!wanted && value)
        return pw_error_set(err, PW_ERR_USAGE, "%s%s'%s' takes no value", usage->name, colon_of(usage), arg);
    if (wanted && !value) {
        if (*i + 1 >= argc)
            return pw_error_set(err, PW_ERR_USAGE, "%s%s'%s' needs a value (%s)", usage->name, colon_of(usage), arg,
                                wanted);
        value = argv[++*i];
    }
    if (found.own) {
        *found.own->text = value ? value : "";
        return PW_OK;
    }
    return found.shared->set(options, value, err);
}

/* Foreign kernels are not let loose by accident. A command that draws inputs runs kernels; others only read what
 * their descriptions say. */
static pw_status check_unsafe(const struct pw_command_usage *usage, const struct pw_options *options,
                              struct pw_error *err)
{
    char why[160];

    if (options->ops_dir_count == 0 || !takes(usage, "seed") || pw_sandbox_unconfined_permitted() ||
        pw_sandbox_confines(why, sizeof why))
        return PW_OK;
    return pw_error_set(err, PW_ERR_TARGET,
                        "--ops-dir '%s': its kernels are foreign code and cannot be confined here: %s. "
                        "--unsafe-kernels runs them with all the rights of a driver",
                        options->ops_dirs[0].path, why);
}

void pw_options_parse(int argc, char **argv, const struct pw_command_usage *usage, struct pw_options *options,
                      int *exit_code)
{
    struct pw_error err = {0};
    pw_status status = PW_OK;
    bool only_args = false;

    *exit_code = -1;
    *options = (struct pw_options){.seed = 1, .color = -1, .rtol = -1, .atol = -1};
    options->args = pw_arena_alloc(&options->arena, (size_t)argc + 1, sizeof *options->args);
    if (!options->args)
        status = pw_error_memory(&err, (size_t)argc * sizeof *options->args);
    for (int i = 1; i < argc && status == PW_OK; i++) {
        if (!only_args && !strcmp(argv[i], "--")) {
            only_args = true;
        } else if (!only_args && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
            print_help(usage);
            *exit_code = PW_EXIT_HELD;
            return;
        } else if (!only_args && argv[i][0] == '-' && argv[i][1]) {
            status = parse_one(argc, argv, &i, usage, options, &err);
        } else {
            options->args[options->arg_count++] = argv[i];
        }
    }
    if (status == PW_OK)
        status = check_unsafe(usage, options, &err);
    if (status == PW_OK && options->format_given)
        status = check_format(usage, options->format, &err);
    if (status != PW_OK)
        *exit_code = pw_options_fail(&err);
}

void pw_options_clear(struct pw_options *options)
{
    pw_arena_clear(&options->arena);
}

pw_status pw_options_duration(const char *what, const char *text, int64_t *ns, struct pw_error *err)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
    size_t digits = strspn(text, "0123456789.");
    char *end = NULL;
    double value = strtod(text, &end);

    /* A time that rounds to nothing would be taken for none given. */
    for (size_t i = 0; digits && end == text + digits && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit) && value * units[i].ns >= 1 && value * units[i].ns < 1e17) {
            *ns = (int64_t)(value * units[i].ns);
            return PW_OK;
        }
    return pw_error_set(err, PW_ERR_USAGE, "%s '%s': expected a duration such as 10s, 2m or 500ms", what, text);
}

int pw_options_fail(const struct pw_error *err)
{
    struct pw_buf safe = {0};
    char shown[1200];

    pw_text_display(&safe, err->message, strlen(err->message), 0, false);
    fprintf(stderr, "portwright: %s\n", /* that there is no memory is said without any */
            safe.failed ? pw_text_show(shown, sizeof shown, err->message, sizeof shown - 1) : pw_buf_text(&safe));
    pw_buf_clear(&safe);
    return err->status == PW_ERR_TARGET || err->status == PW_ERR_CRASH || err->status == PW_ERR_TIMEOUT ? PW_EXIT_TARGET
                                                                                                        : PW_EXIT_USAGE;
}

int pw_options_write(const struct pw_options *options, const char *text, size_t size)
{
    struct pw_error err = {0};

    if (options->output && strcmp(options->output, "-")) {
        if (pw_file_write(options->output, text, size, &err) != PW_OK)
            return pw_options_fail(&err);
        return PW_EXIT_HELD;
    }
    if (fwrite(text, 1, size, stdout) != size || fflush(stdout) != 0) {
        pw_error_set(&err, PW_ERR_IO, "standard output could not be written");
        return pw_options_fail(&err);
    }
    return PW_EXIT_HELD;
}

pw_status pw_options_kernels(const struct pw_options *options, struct pw_kernels **out, struct pw_error *err)
{
    struct pw_ops_dir dirs[PW_OPTION_TARGETS + 1];

    dirs[0] = (struct pw_ops_dir){.path = pw_ops_dir_default(), .foreign = false};
    for (size_t i = 0; i < options->ops_dir_count; i++)
        dirs[i + 1] = options->ops_dirs[i];
    return pw_kernels_load(dirs, options->ops_dir_count + 1, out, err);
}

int pw_options_width(void)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}
