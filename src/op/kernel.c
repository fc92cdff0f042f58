/* The set of kernels: ops directories -> descriptions, and questions about one. */
#include "op/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "op/kernel_parts.h"
#include "paths.h"

enum { KERNELS_MAX = 20000, PRELUDE_MAX_BYTES = 1 << 18 };

/* One load: the set that grows, and the folder at work. */
struct loader {
    struct pw_kernels *set;
    const struct pw_room *rooms;
    const char *prelude; /* of the first directory that has one, or of this one */
    size_t dir_first;    /* kernels from here on come from this directory */
    bool foreign;
};

static pw_status add_kernel(struct loader *l, struct pw_kernel *kernel, struct pw_error *err)
{
    struct pw_kernels *set = l->set;
    pw_status status;

    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i]->name, kernel->name) != 0)
            continue;
        if (i >= l->dir_first || strcmp(set->items[i]->path, kernel->path) == 0)
            return pw_yaml_error(pw_yaml_get(kernel->at, "kernel"), err, "kernel '%s' is already described in %s",
                                 kernel->name, set->items[i]->path);
        /* An overlay's kernel takes the place of the earlier one, at the end of the order. */
        memmove(&set->items[i], &set->items[i + 1], (set->count - i - 1) * sizeof(struct pw_kernel *));
        set->count--;
        l->dir_first--;
        break;
    }
    if (set->count == KERNELS_MAX)
        return pw_yaml_error(kernel->at, err, "more than %d kernels", KERNELS_MAX);
    status = PW_GROW(set->items, set->cap, set->count + 1, err);
    if (status == PW_OK)
        set->items[set->count++] = kernel;
    return status;
}

static pw_status check_format(const struct pw_yaml *root, struct pw_error *err)
{
    const struct pw_yaml *format = pw_yaml_get(root, "format");
    int64_t version = 0;
    pw_status status;

    if (!format)
        return pw_yaml_error(root, err, "the description has no 'format'; this portwright reads format 1");
    status = pw_yaml_int(format, &version, err);
    if (status == PW_OK && version != 1)
        status = pw_yaml_error(format, err, "format %lld; this portwright reads format 1", (long long)version);
    return status;
}

/* One file: a single description, or `kernels: [...]`. */
static pw_status load_file(struct loader *l, const char *dir, const char *path, struct pw_error *err)
{
    static const char *const keys[] = {"format", "kernels", NULL};
    struct pw_arena *arena = &l->set->arena;
    struct pw_kernel_context context = {.set = l->set, .rooms = l->rooms, .prelude = l->prelude, .foreign = l->foreign};
    const struct pw_yaml *root = NULL, *list;
    struct pw_kernel *kernel = NULL;
    pw_status status = pw_yaml_read(path, arena, &root, err);

    if (status != PW_OK)
        return status;
    if (root->kind != PW_YAML_MAP)
        return pw_yaml_error(root, err, "expected a kernel's description, a map");
    context.dir = dir;
    context.path = pw_arena_strndup(arena, path, strlen(path));
    if (!context.path)
        return pw_error_memory(err, strlen(path));
    status = check_format(root, err);
    list = pw_yaml_get(root, "kernels");
    if (status == PW_OK && !list) {
        status = pw_kernel_read(&context, root, &kernel, err);
        return status == PW_OK ? add_kernel(l, kernel, err) : status;
    }
    if (status == PW_OK)
        status = pw_yaml_only(root, keys, err);
    if (status == PW_OK && list->kind != PW_YAML_LIST)
        status = pw_yaml_error(list, err, "expected a list of descriptions");
    for (size_t i = 0; status == PW_OK && i < list->count; i++) {
        status = pw_kernel_read(&context, &list->items[i], &kernel, err);
        if (status == PW_OK)
            status = add_kernel(l, kernel, err);
    }
    return status;
}

static pw_status load_family(struct loader *l, const char *dir, struct pw_error *err)
{
    struct pw_buf path = {0};
    char **names = NULL;
    size_t count = 0;
    pw_status status = pw_file_list(dir, &names, &count, err);

    for (size_t i = 0; status == PW_OK && i < count; i++) {
        if (!pw_text_ends(names[i], ".yaml") || names[i][0] == '.')
            continue;
        pw_file_join(&path, dir, names[i]);
        status = path.failed ? pw_error_memory(err, path.size) : load_file(l, dir, pw_buf_text(&path), err);
    }
    pw_free(names);
    pw_buf_clear(&path);
    return status;
}

static pw_status load_prelude(struct loader *l, const char *dir, struct pw_error *err)
{
    struct pw_buf path = {0}, text = {0};
    pw_status status = PW_OK;

    pw_file_join(&path, dir, "prelude.cl");
    if (!pw_file_exists(pw_buf_text(&path)))
        goto done;
    pw_buf_puts(&text, "#line 1 \"prelude.cl\"\n");
    status = pw_file_read(pw_buf_text(&path), PRELUDE_MAX_BYTES, &text, err);
    if (status != PW_OK)
        goto done;
    l->prelude = text.failed ? NULL : pw_arena_strndup(&l->set->arena, text.data, text.size);
    if (!l->prelude)
        status = pw_error_memory(err, text.size);
done:
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    return status;
}

static pw_status load_dir(struct loader *l, const struct pw_ops_dir *dir, struct pw_error *err)
{
    struct pw_buf path = {0};
    char **names = NULL;
    size_t count = 0;
    pw_status status;

    if (!pw_file_is_dir(dir->path))
        return pw_error_set(err, PW_ERR_IO, "'%s': no such folder of kernels%s", dir->path,
                            dir->foreign ? "" : " (PORTWRIGHT_OPS_DIR names another)");
    status = load_prelude(l, dir->path, err);
    l->foreign = dir->foreign;
    l->dir_first = l->set->count;
    if (status == PW_OK)
        status = pw_file_list(dir->path, &names, &count, err);
    for (size_t i = 0; status == PW_OK && i < count; i++) {
        if (names[i][0] == '.')
            continue;
        pw_file_join(&path, dir->path, names[i]);
        if (path.failed)
            status = pw_error_memory(err, path.size);
        else if (pw_file_is_dir(pw_buf_text(&path)))
            status = load_family(l, pw_buf_text(&path), err);
    }
    pw_free(names);
    pw_buf_clear(&path);
    return status;
}

pw_status pw_kernels_load_rooms(const struct pw_ops_dir *dirs, size_t dir_count, const struct pw_room *rooms,
                                struct pw_kernels **out, struct pw_error *err)
{
    struct loader l = {.rooms = rooms, .prelude = ""};
    const char *first_prelude = NULL;
    pw_status status = PW_OK;

    l.set = pw_calloc(1, sizeof *l.set);
    if (!l.set)
        return pw_error_memory(err, sizeof *l.set);
    for (size_t i = 0; status == PW_OK && i < dir_count; i++) {
        /* An overlay without a prelude of its own is compiled with the first one. */
        if (first_prelude)
            l.prelude = first_prelude;
        status = load_dir(&l, &dirs[i], err);
        if (!first_prelude && *l.prelude)
            first_prelude = l.prelude;
    }
    if (status != PW_OK)
        goto done;
    *out = l.set;
    l.set = NULL;
done:
    pw_kernels_destroy(l.set);
    return status;
}

pw_status pw_kernels_load(const struct pw_ops_dir *dirs, size_t dir_count, struct pw_kernels **out,
                          struct pw_error *err)
{
    pw_status status = pw_kernels_load_rooms(dirs, dir_count, pw_rooms, out, err);

    /* Else every operator would be missing, and nobody would know why. */
    if (status == PW_OK && dir_count && !dirs[0].foreign && !(*out)->count) {
        pw_kernels_destroy(*out);
        *out = NULL;
        status = pw_error_set(err, PW_ERR_FORMAT, "'%s': no kernels in it (PORTWRIGHT_OPS_DIR names another folder)",
                              dirs[0].path);
    }
    return status;
}

void pw_kernels_destroy(struct pw_kernels *kernels)
{
    if (!kernels)
        return;
    for (size_t i = 0; i < kernels->expr_count; i++)
        pw_expr_destroy(kernels->exprs[i]);
    pw_free(kernels->exprs);
    pw_free(kernels->items);
    pw_arena_clear(&kernels->arena);
    pw_free(kernels);
}

size_t pw_kernels_count(const struct pw_kernels *kernels)
{
    return kernels->count;
}

const struct pw_kernel *pw_kernels_at(const struct pw_kernels *kernels, size_t i)
{
    return kernels->items[i];
}

const struct pw_kernel *pw_kernels_find(const struct pw_kernels *kernels, const char *name)
{
    for (size_t i = 0; i < kernels->count; i++) {
        if (strcmp(kernels->items[i]->name, name) == 0)
            return kernels->items[i];
    }
    return NULL;
}

size_t pw_kernels_for(const struct pw_kernels *kernels, const struct pw_op *op, const struct pw_kernel **out,
                      size_t cap)
{
    size_t count = 0;

    for (size_t i = 0; i < kernels->count; i++) {
        if (!pw_kernel_implements(kernels->items[i], op))
            continue;
        if (count < cap)
            out[count] = kernels->items[i];
        count++;
    }
    return count;
}

/* ---- one kernel ---- */

const char *pw_kernel_name(const struct pw_kernel *kernel)
{
    return kernel->name;
}

const char *pw_kernel_path(const struct pw_kernel *kernel)
{
    return kernel->path;
}

bool pw_kernel_foreign(const struct pw_kernel *kernel)
{
    return kernel->foreign;
}

const char *pw_kernel_author(const struct pw_kernel *kernel)
{
    return kernel->author;
}

const char *pw_kernel_algorithm(const struct pw_kernel *kernel)
{
    return kernel->algorithm;
}

const char *pw_kernel_tiling(const struct pw_kernel *kernel)
{
    return kernel->tiling;
}

static const struct pw_kernel_source *find_source(const struct pw_kernel *kernel, const char *language)
{
    for (size_t i = 0; i < kernel->source_count; i++)
        if (strcmp(kernel->sources[i].language, language) == 0)
            return &kernel->sources[i];
    return NULL;
}

const char *pw_kernel_language(const struct pw_kernel *kernel, size_t i)
{
    return i < kernel->source_count ? kernel->sources[i].language : NULL;
}

const char *pw_kernel_source(const struct pw_kernel *kernel, const char *language)
{
    const struct pw_kernel_source *source = find_source(kernel, language);

    return source ? source->text : NULL;
}

const char *pw_kernel_source_path(const struct pw_kernel *kernel, const char *language)
{
    const struct pw_kernel_source *source = find_source(kernel, language);

    return source ? source->file : NULL;
}

struct pw_hash128 pw_kernel_hash(const struct pw_kernel *kernel)
{
    return kernel->hash;
}

size_t pw_kernel_parameter_values(const struct pw_kernel *kernel, int64_t *out, size_t cap)
{
    size_t count = 0;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        for (size_t v = 0; v < kernel->parameters[p].count; v++) {
            int64_t value = kernel->parameters[p].values[v];
            bool known = value <= 1;

            for (size_t i = 0; i < count && i < cap && !known; i++)
                known = out[i] == value;
            if (known)
                continue;
            if (count < cap)
                out[count] = value;
            count++;
        }
    return count;
}

bool pw_kernel_implements(const struct pw_kernel *kernel, const struct pw_op *op)
{
    for (size_t i = 0; i < kernel->op_count; i++) {
        if (kernel->ops[i] == op)
            return true;
    }
    return false;
}

bool pw_kernel_claims(const struct pw_kernel *kernel, const char *type_variable, pw_dtype dtype)
{
    if ((int)dtype <= 0 || (int)dtype >= PW_DTYPE_COUNT)
        return false;
    for (size_t i = 0; i < kernel->dtype_count; i++) {
        const char *variable = kernel->dtypes[i].variable;

        if (!variable || strcmp(variable, type_variable) == 0)
            return kernel->dtypes[i].mask >> dtype & 1;
    }
    return false;
}

/* ---- where the kernels are ---- */

const char *pw_ops_dir_default(void)
{
    const char *dir = getenv("PORTWRIGHT_OPS_DIR");

    if (dir && *dir)
        return dir;
    if (pw_file_is_dir(PW_DATADIR "/ops"))
        return PW_DATADIR "/ops";
    return PW_SRCDIR "/ops";
}
