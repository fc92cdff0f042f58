/* Reading the environment: one table of fields, each with its source. */
#include "bench/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/hash.h"
#include "bench/machine.h"
#include "tensor/blas.h"

#define FIELDS_MAX 4096 /* the machine's, the target's, a hash for each kernel */
#define TEXT_MAX 4096

#define MACHINE_TIMING (PW_ENVIRONMENT_TIMING | PW_ENVIRONMENT_PINNED)
#define TARGET_TIMING (PW_ENVIRONMENT_TIMING | PW_ENVIRONMENT_PINNED | PW_ENVIRONMENT_TARGET)

/* Variables by which people change what runs or how many threads do. */
static const char *const variable_prefixes[] = {"POCL_", "OPENBLAS_", "OMP_", "OCL_ICD_", "CL_"};

struct reader {
    struct pw_environment *environment;
    size_t cap;
    pw_status status;
    struct pw_error *err;
};

static void add(struct reader *r, const char *name, unsigned scope, const char *value)
{
    struct pw_environment *e = r->environment;
    char *kept_name, *kept;

    if (r->status != PW_OK || e->count >= r->cap)
        return;
    kept_name = pw_arena_strndup(&e->arena, name, strlen(name));
    kept = pw_arena_strndup(&e->arena, value, strnlen(value, TEXT_MAX));
    if (!kept_name || !kept) {
        r->status = pw_error_memory(r->err, TEXT_MAX);
        return;
    }
    e->fields[e->count++] = (struct pw_environment_field){kept_name, kept, scope};
}

static void add_number(struct reader *r, const char *name, unsigned scope, long long value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", value);
    add(r, name, scope, value > 0 ? text : "");
}

/* ---- the machine ---- */

/* "mesa.icd=libMesaOpenCL.so.1, pocl.icd=libpocl.so.2": what the loader may choose from. */
static void read_icds(struct pw_buf *out)
{
    const char *dir = getenv("OCL_ICD_VENDORS");
    char **names = NULL;
    size_t count = 0;

    if (!dir || !dir[0])
        dir = "/etc/OpenCL/vendors";
    if (pw_file_list(dir, &names, &count, NULL) != PW_OK)
        return;
    for (size_t i = 0; i < count && out->size < TEXT_MAX; i++) {
        struct pw_buf path = {0}, text = {0};

        if (!pw_text_ends(names[i], ".icd"))
            continue;
        pw_file_join(&path, dir, names[i]);
        if (pw_file_read(pw_buf_text(&path), TEXT_MAX, &text, NULL) == PW_OK)
            pw_buf_printf(out, "%s%s=%.*s", out->size ? ", " : "", names[i], (int)strcspn(pw_buf_text(&text), " \r\n"),
                          pw_buf_text(&text));
        pw_buf_clear(&path);
        pw_buf_clear(&text);
    }
    pw_free(names);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

extern char **environ;

static void read_variables(struct pw_buf *out)
{
    const char *found[64];
    size_t count = 0;

    for (char **at = environ; at && *at && count < PW_COUNT_OF(found); at++)
        for (size_t i = 0; i < PW_COUNT_OF(variable_prefixes); i++)
            if (pw_text_starts(*at, variable_prefixes[i])) {
                found[count++] = *at;
                break;
            }
    qsort(found, count, sizeof *found, by_text);
    for (size_t i = 0; i < count && out->size < TEXT_MAX; i++)
        pw_buf_printf(out, "%s%.512s", i ? " " : "", found[i]);
}

static void read_load(char *dst, size_t size)
{
    dst[0] = '\0';
    FILE *file = fopen("/proc/loadavg", "re");
    if (file) {
        double one = 0, five = 0, fifteen = 0;

        if (fscanf(file, "%lf %lf %lf", &one, &five, &fifteen) == 3)
            snprintf(dst, size, "%.2f %.2f %.2f", one, five, fifteen);
        fclose(file);
    }
}

static void read_machine(struct reader *r)
{
    struct pw_machine m;
    struct pw_buf icds = {0}, variables = {0};
    char load[64], caches[96];

    pw_machine_read(&m);
    read_icds(&icds);
    read_variables(&variables);
    read_load(load, sizeof load);
    snprintf(caches, sizeof caches, "%lld %lld %lld", (long long)m.l1_bytes, (long long)m.l2_bytes,
             (long long)m.l3_bytes);
    add(r, "cpu", MACHINE_TIMING, m.cpu);
    add(r, "architecture", MACHINE_TIMING, m.architecture);
    add_number(r, "cores", MACHINE_TIMING, m.cores);
    add(r, "caches", MACHINE_TIMING, caches);
    add(r, "governor", MACHINE_TIMING, m.governor);
    add(r, "virtual", MACHINE_TIMING, m.hypervisor[0] ? "yes" : "no");
    add(r, "openblas", MACHINE_TIMING, pw_blas_describe());
    add(r, "variables", MACHINE_TIMING, pw_buf_text(&variables));
    add_number(r, "memory_bytes", 0, m.memory_bytes);
    add(r, "system", PW_ENVIRONMENT_PINNED, m.system);
    add(r, "distribution", PW_ENVIRONMENT_PINNED, m.distribution);
    add(r, "icd", PW_ENVIRONMENT_PINNED, pw_buf_text(&icds));
    add(r, "portwright", PW_ENVIRONMENT_PINNED, PACKAGE_VERSION);
    add(r, "load", 0, load);
    pw_buf_clear(&icds);
    pw_buf_clear(&variables);
}

/* ---- the target ---- */

static void read_target(struct reader *r, const struct pw_device *device)
{
    const struct pw_target_info *info = pw_device_info(device);
    const char *library = pw_device_library(device);

    add(r, "device", TARGET_TIMING, info->name);
    add(r, "kind", TARGET_TIMING, info->kind);
    add(r, "platform", TARGET_TIMING, info->platform);
    add(r, "vendor", TARGET_TIMING, info->vendor);
    add(r, "driver", TARGET_TIMING, info->driver);
    add(r, "runtime", TARGET_TIMING, info->runtime); /* PoCL's names LLVM's version too */
    add_number(r, "compute_units", TARGET_TIMING, info->compute_units);
    add(r, "library", TARGET_TIMING, library ? library : "none");
}

/* ---- what ran ---- */

/* The first line of a small file, without its end; false when it cannot be read. */
static bool first_line(const char *dir, const char *name, char *dst, size_t size)
{
    struct pw_buf path = {0}, text = {0};
    bool read;

    pw_file_join(&path, dir, name);
    read = pw_file_read(pw_buf_text(&path), 1 << 16, &text, NULL) == PW_OK;
    if (read)
        snprintf(dst, size, "%.*s", (int)strcspn(pw_buf_text(&text), "\r\n"), pw_buf_text(&text));
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    return read;
}

/* "<hash> refs/heads/main" lines of packed-refs. */
static bool packed_ref(const char *dir, const char *ref, char *dst, size_t size)
{
    struct pw_buf path = {0}, text = {0};
    bool found = false;

    pw_file_join(&path, dir, "packed-refs");
    if (pw_file_read(pw_buf_text(&path), 16 << 20, &text, NULL) == PW_OK) {
        for (const char *line = pw_buf_text(&text); *line && !found;) {
            size_t length = strcspn(line, "\n"), hash = strcspn(line, " \n");

            if (hash > 0 && hash + 1 + strlen(ref) == length && !strncmp(line + hash + 1, ref, strlen(ref))) {
                snprintf(dst, size, "%.*s", (int)hash, line);
                found = true;
            }
            line += length + (line[length] == '\n');
        }
    }
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    return found;
}

static bool is_hash(const char *text)
{
    size_t size = strspn(text, "0123456789abcdef");

    return text[size] == '\0' && (size == 40 || size == 64);
}

/* git: the .git folder, of a worktree its own one, whose refs are in `common`. */
static void resolve_head(const char *git, const char *common, char *dst, size_t size)
{
    char head[512], ref[512];

    dst[0] = '\0';
    if (!first_line(git, "HEAD", head, sizeof head))
        return;
    if (is_hash(head)) {
        snprintf(dst, size, "%s", head);
        return;
    }
    if (!pw_text_starts(head, "ref: refs/") || strstr(head, ".."))
        return;
    snprintf(ref, sizeof ref, "%s", head + strlen("ref: "));
    if (!first_line(git, ref, dst, size) && !first_line(common, ref, dst, size) && !packed_ref(common, ref, dst, size))
        dst[0] = '\0';
    if (!is_hash(dst))
        dst[0] = '\0';
}

void pw_environment_revision(const char *dir, char *dst, size_t dst_size)
{
    char *at = realpath(dir, NULL); /* libc's own allocation */

    dst[0] = '\0';
    while (at && at[0]) {
        struct pw_buf git = {0}, common = {0};
        char line[1024];

        pw_file_join(&git, at, ".git");
        if (pw_file_exists(pw_buf_text(&git)) && !pw_file_is_dir(pw_buf_text(&git)) &&
            first_line(at, ".git", line, sizeof line) && pw_text_starts(line, "gitdir: "))
            pw_file_join(&git, at, line + strlen("gitdir: "));
        if (pw_file_is_dir(pw_buf_text(&git))) {
            if (first_line(pw_buf_text(&git), "commondir", line, sizeof line))
                pw_file_join(&common, pw_buf_text(&git), line);
            else
                pw_buf_puts(&common, pw_buf_text(&git));
            resolve_head(pw_buf_text(&git), pw_buf_text(&common), dst, dst_size);
            pw_buf_clear(&git);
            pw_buf_clear(&common);
            break;
        }
        pw_buf_clear(&git);
        char *slash = strrchr(at, '/');
        if (slash)
            *slash = '\0';
    }
    free(at);
}

static void read_kernels(struct reader *r, const struct pw_environment_request *request)
{
    char text[PW_HASH_TEXT + 1024], hash[PW_HASH_TEXT], revision[96];
    struct pw_buf dirs = {0};

    for (size_t i = 0; i < request->ops_dir_count; i++) {
        pw_environment_revision(request->ops_dirs[i].path, revision, sizeof revision);
        pw_buf_printf(&dirs, "%s%.512s@%s", i ? ", " : "", request->ops_dirs[i].path,
                      revision[0] ? revision : "no revision");
    }
    add(r, "ops", 0, pw_buf_text(&dirs));
    pw_buf_clear(&dirs);
    for (size_t i = 0; i < request->kernel_count; i++) {
        snprintf(text, sizeof text, "kernel %.200s", pw_kernel_name(request->kernels[i]));
        if (!pw_environment_get(r->environment, text)[0])
            add(r, text, 0, pw_hash_text(pw_kernel_hash(request->kernels[i]), hash));
    }
}

/* ---- the whole ---- */

static void make_id(struct pw_environment *e)
{
    struct pw_buf text = {0};

    for (size_t i = 0; i < e->count; i++)
        if (e->fields[i].scope & PW_ENVIRONMENT_TIMING)
            pw_buf_printf(&text, "%s=%s\n", e->fields[i].name, e->fields[i].value);
    snprintf(e->id, sizeof e->id, "%016llx", (unsigned long long)pw_hash64(pw_buf_text(&text), text.size, 0));
    pw_buf_clear(&text);
}

static pw_status make_room(struct reader *r, size_t fields)
{
    r->cap = fields < FIELDS_MAX ? fields : FIELDS_MAX;
    r->environment->fields = pw_arena_alloc(&r->environment->arena, r->cap + 1, sizeof *r->environment->fields);
    r->status = r->environment->fields ? PW_OK : pw_error_memory(r->err, r->cap * sizeof *r->environment->fields);
    return r->status;
}

pw_status pw_environment_read(const struct pw_environment_request *request, struct pw_environment *out,
                              struct pw_error *err)
{
    struct pw_environment made = {.count = 0};
    struct reader r = {.environment = &made, .err = err};
    const char *target = request->device ? pw_device_spec(request->device) : request->target;

    if (make_room(&r, 64 + request->kernel_count) == PW_OK) {
        made.target = pw_arena_strndup(&made.arena, target ? target : "", target ? strlen(target) : 0);
        read_machine(&r);
        if (request->device && !pw_device_is_reference(request->device))
            read_target(&r, request->device);
        read_kernels(&r, request);
    }
    if (r.status == PW_OK && !made.target)
        r.status = pw_error_memory(err, 64);
    if (r.status != PW_OK) {
        pw_arena_clear(&made.arena);
        return r.status;
    }
    make_id(&made);
    *out = made;
    return PW_OK;
}

void pw_environment_clear(struct pw_environment *environment)
{
    pw_arena_clear(&environment->arena);
    memset(environment, 0, sizeof *environment);
}

const char *pw_environment_get(const struct pw_environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++)
        if (!strcmp(environment->fields[i].name, name))
            return environment->fields[i].value;
    return "";
}

const char *pw_environment_id(const struct pw_environment *environment)
{
    return environment->id;
}

pw_status pw_environment_json(const struct pw_environment *environment, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = json_object();
    char *text;

    json_object_set_new(root, "id", json_string(environment->id));
    json_object_set_new(root, "target", json_string(environment->target));
    for (size_t i = 0; i < environment->count; i++) {
        struct pw_buf safe = {0}; /* foreign bytes: jansson takes valid UTF-8 only */

        pw_text_display(&safe, environment->fields[i].value, strlen(environment->fields[i].value), 0, false);
        json_object_set_new(root, environment->fields[i].name, json_string(pw_buf_text(&safe)));
        pw_buf_clear(&safe);
    }
    text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text)
        return pw_error_memory(err, 4096);
    pw_buf_puts(out, text);
    free(text); /* jansson's own allocation */
    return PW_OK;
}

/* Scope of a field by its name, for environments that come from the store. */
static unsigned known_scope(const char *name)
{
    static const struct {
        const char *name;
        unsigned scope;
    } known[] = {
        {"cpu", MACHINE_TIMING},
        {"architecture", MACHINE_TIMING},
        {"cores", MACHINE_TIMING},
        {"caches", MACHINE_TIMING},
        {"governor", MACHINE_TIMING},
        {"virtual", MACHINE_TIMING},
        {"openblas", MACHINE_TIMING},
        {"variables", MACHINE_TIMING},
        {"system", PW_ENVIRONMENT_PINNED},
        {"icd", PW_ENVIRONMENT_PINNED},
        {"distribution", PW_ENVIRONMENT_PINNED},
        {"portwright", PW_ENVIRONMENT_PINNED},
        {"device", TARGET_TIMING},
        {"kind", TARGET_TIMING},
        {"platform", TARGET_TIMING},
        {"vendor", TARGET_TIMING},
        {"driver", TARGET_TIMING},
        {"runtime", TARGET_TIMING},
        {"compute_units", TARGET_TIMING},
        {"library", TARGET_TIMING},
    };

    for (size_t i = 0; i < PW_COUNT_OF(known); i++)
        if (!strcmp(known[i].name, name))
            return known[i].scope;
    return 0;
}

pw_status pw_environment_parse(const char *json, struct pw_environment *out, struct pw_error *err)
{
    struct pw_environment made = {.count = 0};
    struct reader r = {.environment = &made, .err = err};
    json_error_t where;
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &where), *value;
    const char *key;

    if (!json_is_object(root)) {
        json_decref(root);
        return pw_error_set(err, PW_ERR_FORMAT, "a recorded environment is not a JSON object: %s", where.text);
    }
    if (make_room(&r, json_object_size(root)) == PW_OK) {
        made.target = "";
        json_object_foreach(root, key, value)
        {
            const char *text = json_string_value(value);

            if (!text)
                continue;
            if (!strcmp(key, "target"))
                made.target = pw_arena_strndup(&made.arena, text, strlen(text));
            else if (!strcmp(key, "id"))
                snprintf(made.id, sizeof made.id, "%.16s", text);
            else
                add(&r, key, known_scope(key), text);
        }
    }
    json_decref(root);
    if (r.status == PW_OK && !made.target)
        r.status = pw_error_memory(err, 64);
    if (r.status != PW_OK) {
        pw_arena_clear(&made.arena);
        return r.status;
    }
    *out = made;
    return PW_OK;
}

static bool has_field(const struct pw_environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++)
        if (!strcmp(environment->fields[i].name, name))
            return true;
    return false;
}

static void put_value(struct pw_buf *out, const char *value)
{
    if (!value[0]) {
        pw_buf_puts(out, "unknown");
        return;
    }
    pw_buf_putc(out, '\'');
    pw_text_display(out, value, strlen(value), 120, false);
    pw_buf_putc(out, '\'');
}

static void put_difference(struct pw_buf *out, size_t number, const char *name, const char *old, const char *then,
                           const char *new, const char *now)
{
    pw_buf_printf(out, "%s%s: ", number ? "; " : "", name);
    put_value(out, old);
    pw_buf_printf(out, " %s, ", then);
    put_value(out, new);
    pw_buf_printf(out, " %s", now);
}

size_t pw_environment_differences(const struct pw_environment *before, const struct pw_environment *after,
                                  unsigned scopes, const char *then, const char *now, struct pw_buf *out)
{
    size_t found = 0;

    for (size_t i = 0; i < after->count; i++) {
        const struct pw_environment_field *f = &after->fields[i];
        const char *old = pw_environment_get(before, f->name);

        if ((f->scope & scopes) && strcmp(old, f->value) != 0)
            put_difference(out, found++, f->name, old, then, f->value, now);
    }
    for (size_t i = 0; i < before->count; i++) {
        const struct pw_environment_field *f = &before->fields[i];

        if ((f->scope & scopes) && f->value[0] && !has_field(after, f->name))
            put_difference(out, found++, f->name, f->value, then, "", now);
    }
    return found;
}
