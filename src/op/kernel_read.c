/* One kernel description: YAML -> struct pw_kernel. Launches are in kernel_read_launch.c, the checks against the
 * operators in kernel_check.c. */
#include <string.h>

#include "base/compiler.h"
#include "base/file.h"
#include "op/kernel_parts.h"

#define KERNELS_COMPARED 4

enum { SOURCE_MAX_BYTES = 1 << 20 };

static pw_status expect_list(const struct pw_yaml *node, size_t max, struct pw_error *err)
{
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list");
    if (node->count > max)
        return pw_yaml_error(node, err, "%zu entries; at most %zu are accepted", node->count, max);
    return PW_OK;
}

static pw_status expect_map(const struct pw_yaml *node, size_t max, struct pw_error *err)
{
    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map");
    if (node->count > max)
        return pw_yaml_error(node, err, "%zu entries; at most %zu are accepted", node->count, max);
    return PW_OK;
}

/* Keys of a map that become names in expressions. */
static pw_status expect_names(const struct pw_yaml *map, size_t max, struct pw_error *err)
{
    pw_status status = expect_map(map, max, err);

    for (size_t i = 0; status == PW_OK && i < map->count; i++) {
        if (!pw_kernel_is_name(map->items[i].key))
            status = pw_yaml_error(&map->items[i], err, "the name is not of the form [A-Za-z_][A-Za-z0-9_]*");
    }
    return status;
}

static void *alloc(const struct pw_kernel_context *context, size_t count, size_t size, pw_status *status,
                   struct pw_error *err)
{
    void *p = pw_arena_alloc(&context->set->arena, count, size);

    if (!p)
        *status = pw_error_memory(err, count * size);
    return p;
}

/* ---- operators ---- */

static pw_status add_op(const struct pw_kernel_context *context, struct pw_kernel *kernel, const struct pw_op *op,
                        struct pw_error *err)
{
    for (size_t i = 0; i < kernel->op_count; i++) {
        if (kernel->ops[i] == op)
            return PW_OK;
    }
    if (kernel->op_count == kernel->op_cap) {
        size_t cap = kernel->op_cap ? kernel->op_cap * 2 : 16;
        pw_status status = PW_OK;
        const struct pw_op **grown = alloc(context, cap, sizeof *grown, &status, err);

        if (!grown)
            return status;
        if (kernel->op_count)
            memcpy(grown, kernel->ops, kernel->op_count * sizeof(*grown));
        kernel->ops = grown;
        kernel->op_cap = cap;
    }
    kernel->ops[kernel->op_count++] = op;
    return PW_OK;
}

static pw_status unknown_op(const struct pw_kernel_context *context, const struct pw_yaml *node, const char *name,
                            struct pw_error *err)
{
    const char **names;
    const char *near;
    size_t count = 0, cap = 0;

    for (const struct pw_room *room = context->rooms; room->name; room++) {
        for (const struct pw_op *op = room->ops; op->name; op++)
            cap++;
    }
    names = pw_calloc(cap, sizeof *names);
    if (!names)
        return pw_error_memory(err, cap * sizeof *names);
    for (const struct pw_room *room = context->rooms; room->name; room++) {
        for (const struct pw_op *op = room->ops; op->name && count < cap; op++)
            names[count++] = op->name;
    }
    near = pw_text_nearest(name, names, count);
    pw_free(names);
    if (near)
        return pw_yaml_error(node, err, "unknown operator '%s', did you mean '%s'?", name, near);
    return pw_yaml_error(node, err, "unknown operator '%s'", name);
}

/* "Softmax-13", "com.microsoft:Gelu-1", or without the version: all of its versions. */
static pw_status read_op(const struct pw_kernel_context *context, const struct pw_yaml *node, struct pw_kernel *kernel,
                         struct pw_error *err)
{
    const char *text = NULL, *dash, *colon;
    char domain[128], name[128];
    int64_t version = -1;
    bool known = false, found = false;
    size_t domain_size, name_size;
    pw_status status = pw_yaml_text(node, &text, err);

    if (status != PW_OK)
        return status;
    colon = strchr(text, ':');
    domain_size = colon ? (size_t)(colon - text) : 0;
    text = colon ? colon + 1 : text;
    dash = strrchr(text, '-');
    name_size = dash ? (size_t)(dash - text) : strlen(text);
    if (domain_size >= sizeof domain || name_size >= sizeof name || name_size == 0)
        return pw_yaml_error(node, err, "expected an operator such as Softmax-13 or com.microsoft:Gelu-1");
    memcpy(domain, node->text, domain_size);
    domain[domain_size] = 0;
    memcpy(name, text, name_size);
    name[name_size] = 0;
    if (dash && (!pw_text_int64(dash + 1, &version) || version < 1))
        return pw_yaml_error(node, err, "'%s': expected a version after '-', as in Softmax-13", node->text);
    for (const struct pw_room *room = context->rooms; room->name; room++) {
        for (const struct pw_op *op = room->ops; op->name; op++) {
            if (strcmp(op->name, name) != 0 || strcmp(op->domain, domain) != 0)
                continue;
            known = true;
            if (version >= 0 && op->since != version)
                continue;
            found = true;
            status = add_op(context, kernel, op, err);
            if (status != PW_OK)
                return status;
        }
    }
    if (!known)
        return unknown_op(context, node, name, err);
    return found ? PW_OK : pw_yaml_error(node, err, "operator '%s' has no version %lld", name, (long long)version);
}

static pw_status read_implements(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                 struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_list(node, 512, err);

    if (status == PW_OK && node->count == 0)
        status = pw_yaml_error(node, err, "a kernel implements at least one operator");
    for (size_t i = 0; status == PW_OK && i < node->count; i++)
        status = read_op(context, &node->items[i], kernel, err);
    return status;
}

/* ---- types ---- */

static pw_status read_dtype_list(const struct pw_yaml *node, struct pw_kernel_dtypes *out, struct pw_error *err)
{
    pw_status status = expect_list(node, PW_DTYPE_COUNT, err);

    if (status == PW_OK && node->count == 0)
        status = pw_yaml_error(node, err, "expected at least one dtype");
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        const char *text = NULL;
        pw_dtype dtype;

        status = pw_yaml_text(&node->items[i], &text, err);
        if (status != PW_OK)
            break;
        dtype = pw_dtype_parse(text);
        if (dtype == PW_DTYPE_UNDEFINED) {
            const char *names[PW_DTYPE_COUNT];
            const char *near;

            for (int d = 0; d < PW_DTYPE_COUNT; d++)
                names[d] = pw_dtype_name((pw_dtype)d);
            near = pw_text_nearest(text, names + 1, PW_DTYPE_COUNT - 1);
            status = pw_yaml_error(&node->items[i], err, "unknown dtype '%s'%s%s%s", text,
                                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
        } else {
            if (i == 0)
                out->first = dtype;
            out->mask |= 1u << dtype;
        }
    }
    return status;
}

static pw_status read_dtypes(const struct pw_kernel_context *context, const struct pw_yaml *node,
                             struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (node->kind == PW_YAML_MAP) {
        status = expect_map(node, 32, err);
        if (status != PW_OK)
            return status;
        kernel->dtypes = alloc(context, node->count, sizeof *kernel->dtypes, &status, err);
        for (size_t i = 0; status == PW_OK && i < node->count; i++) {
            kernel->dtypes[i].variable = node->items[i].key;
            kernel->dtype_count = i + 1;
            status = read_dtype_list(&node->items[i], &kernel->dtypes[i], err);
        }
        return status;
    }
    kernel->dtypes = alloc(context, 1, sizeof *kernel->dtypes, &status, err);
    if (status != PW_OK)
        return status;
    kernel->dtype_count = 1;
    return read_dtype_list(node, &kernel->dtypes[0], err);
}

/* ---- sources ---- */

static pw_status append_file(const struct pw_kernel_context *context, const struct pw_yaml *node, struct pw_buf *text,
                             struct pw_error *err)
{
    const char *name = NULL;
    struct pw_buf path = {0};
    struct pw_error local = {0};
    pw_status status = pw_yaml_text(node, &name, err);

    if (status != PW_OK)
        return status;
    /* Sources lie beside the description: a foreign folder must not pull in other files of this machine. */
    if (!*name || strchr(name, '/') || name[0] == '.')
        return pw_yaml_error(node, err, "'%s': expected the name of a file in the same folder", name);
    for (const char *c = name; *c; c++) /* it stands in a #line, by which the compiler's remarks find their lines */
        if (*c == '"' || *c == '\\' || (unsigned char)*c < 0x20 || *c == 0x7f)
            return pw_yaml_error(node, err, "a source's name holds a quote, a backslash or a control character");
    pw_file_join(&path, context->dir, name);
    pw_buf_printf(text, "#line 1 \"%s\"\n", name);
    if (pw_file_read(pw_buf_text(&path), SOURCE_MAX_BYTES, text, &local) != PW_OK)
        status = pw_yaml_error(node, err, "source: %s", local.message);
    pw_buf_putc(text, '\n');
    if (status == PW_OK && text->failed)
        status = pw_error_memory(err, text->size);
    if (status == PW_OK && memchr(text->data, 0, text->size))
        status = pw_yaml_error(node, err, "source '%s' contains a NUL byte", name);
    pw_buf_clear(&path);
    return status;
}

/* Kernels of a description mostly have one source: the text of the latest ones serves again. */
static const char *read_before(const struct pw_kernels *set, const char *text)
{
    for (size_t k = set->count; k-- > 0 && k + KERNELS_COMPARED > set->count;)
        for (size_t i = 0; i < set->items[k]->source_count; i++)
            if (set->items[k]->sources[i].full && !strcmp(set->items[k]->sources[i].full, text))
                return set->items[k]->sources[i].full;
    return NULL;
}

static pw_status read_source(const struct pw_kernel_context *context, const struct pw_yaml *node,
                             struct pw_kernel_source *out, struct pw_error *err)
{
    struct pw_buf text = {0};
    size_t before = 0;
    pw_status status = PW_OK;

    out->language = node->key;
    if (strcmp(node->key, "opencl") == 0) {
        pw_buf_puts(&text, context->prelude);
        pw_buf_putc(&text, '\n');
        before = text.size;
    }
    if (node->kind == PW_YAML_LIST) {
        for (size_t i = 0; status == PW_OK && i < node->count; i++)
            status = append_file(context, &node->items[i], &text, err);
    } else {
        status = append_file(context, node, &text, err);
    }
    if (status == PW_OK && text.size == before)
        status = pw_yaml_error(node, err, "expected at least one file");
    if (status == PW_OK) {
        const struct pw_yaml *last = node->kind == PW_YAML_LIST ? &node->items[node->count - 1] : node;
        const char *name = NULL;
        struct pw_buf path = {0};

        status = pw_yaml_text(last, &name, err);
        if (status == PW_OK)
            pw_file_join(&path, context->dir, name);
        out->file = pw_arena_strndup(&context->set->arena, pw_buf_text(&path), path.size);
        pw_buf_clear(&path);
        if (status == PW_OK && !out->file)
            status = pw_error_memory(err, path.size);
    }
    if (status == PW_OK) {
        out->full = read_before(context->set, pw_buf_text(&text));
        if (!out->full)
            out->full = pw_arena_strndup(&context->set->arena, pw_buf_text(&text), text.size);
        if (!out->full)
            status = pw_error_memory(err, text.size);
        else
            out->text = out->full + before;
    }
    pw_buf_clear(&text);
    return status;
}

static pw_status read_sources(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_map(node, 8, err);

    if (status == PW_OK && node->count == 0)
        status = pw_yaml_error(node, err, "expected at least one language");
    if (status != PW_OK)
        return status;
    kernel->sources = alloc(context, node->count, sizeof *kernel->sources, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        status = read_source(context, &node->items[i], &kernel->sources[i], err);
        kernel->source_count = i + 1;
    }
    return status;
}

/* ---- names and expressions ---- */

static pw_status read_parameters(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                 struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_names(node, PW_KERNEL_PARAMETERS_MAX, err);

    if (status != PW_OK)
        return status;
    kernel->parameters = alloc(context, node->count, sizeof *kernel->parameters, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        const struct pw_yaml *values = &node->items[i];
        struct pw_kernel_parameter *p = &kernel->parameters[i];

        p->name = values->key;
        status = expect_list(values, PW_KERNEL_LIST_MAX, err);
        if (status == PW_OK && values->count == 0)
            status = pw_yaml_error(values, err, "expected at least one value");
        if (status != PW_OK)
            break;
        p->values = alloc(context, values->count, sizeof *p->values, &status, err);
        for (; status == PW_OK && p->count < values->count; p->count++) {
            status = pw_yaml_int(&values->items[p->count], &p->values[p->count], err);
            if (status == PW_OK && p->values[p->count] != (int32_t)p->values[p->count])
                status = pw_yaml_error(&values->items[p->count], err, "the value does not fit 32 bits");
        }
        kernel->parameter_count = i + 1;
    }
    return status;
}

static pw_status read_variables(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_names(node, PW_KERNEL_VARIABLES_MAX, err);

    if (status != PW_OK)
        return status;
    kernel->variables = alloc(context, node->count, sizeof *kernel->variables, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        kernel->variables[i].name = node->items[i].key;
        status = pw_kernel_read_expr(context, &node->items[i], &kernel->variables[i].value, err);
        kernel->variable_count = i + 1;
    }
    return status;
}

static pw_status read_constraints(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                  struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_list(node, PW_KERNEL_LIST_MAX, err);

    if (status != PW_OK)
        return status;
    kernel->constraints = alloc(context, node->count, sizeof *kernel->constraints, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        status = pw_kernel_read_expr(context, &node->items[i], &kernel->constraints[i], err);
        kernel->constraint_count = i + 1;
    }
    return status;
}

static pw_status read_scratch(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_names(node, PW_KERNEL_LIST_MAX, err);

    if (status != PW_OK)
        return status;
    kernel->scratch = alloc(context, node->count, sizeof *kernel->scratch, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        kernel->scratch[i].name = node->items[i].key;
        status = pw_kernel_read_expr(context, &node->items[i], &kernel->scratch[i].bytes, err);
        kernel->scratch_count = i + 1;
    }
    return status;
}

static pw_status read_prepack(const struct pw_kernel_context *context, const struct pw_yaml *map,
                              struct pw_kernel_prepack *out, struct pw_error *err)
{
    static const char *const keys[] = {"output", "input", "bytes", "launch", NULL};
    pw_status status = expect_map(map, 8, err);

    if (status == PW_OK)
        status = pw_yaml_only(map, keys, err);
    for (size_t i = 0; status == PW_OK && keys[i]; i++) {
        if (!pw_yaml_get(map, keys[i]))
            status = pw_yaml_error(map, err, "the prepack has no '%s'", keys[i]);
    }
    out->at = map;
    if (status == PW_OK)
        status = pw_yaml_text(pw_yaml_get(map, "output"), &out->output, err);
    if (status == PW_OK && !pw_kernel_is_name(out->output))
        status = pw_yaml_error(pw_yaml_get(map, "output"), err, "'%s' is no name", out->output);
    if (status == PW_OK)
        status = pw_yaml_text(pw_yaml_get(map, "input"), &out->input, err);
    if (status == PW_OK)
        status = pw_kernel_read_expr(context, pw_yaml_get(map, "bytes"), &out->bytes, err);
    if (status == PW_OK)
        status = pw_kernel_read_launch(context, pw_yaml_get(map, "launch"), &out->launch, err);
    if (status == PW_OK && out->launch.each)
        status = pw_yaml_error(out->launch.at, err, "a prepack launch can't have 'each'");
    return status;
}

static pw_status read_prepacks(const struct pw_kernel_context *context, const struct pw_yaml *node,
                               struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_list(node, 8, err);

    if (status != PW_OK)
        return status;
    kernel->prepacks = alloc(context, node->count, sizeof *kernel->prepacks, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        status = read_prepack(context, &node->items[i], &kernel->prepacks[i], err);
        kernel->prepack_count = i + 1;
    }
    return status;
}

static pw_status read_defines(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_names(node, PW_KERNEL_LIST_MAX, err);

    if (status != PW_OK)
        return status;
    kernel->defines = alloc(context, node->count, sizeof *kernel->defines, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        const struct pw_yaml *item = &node->items[i];
        struct pw_kernel_define *define = &kernel->defines[i];
        const char *text = NULL;

        define->name = item->key;
        if (item->kind == PW_YAML_MAP)
            return pw_yaml_error(item, err, "quote a {word}: %s: \"{word}\"", item->key);
        status = pw_yaml_text(item, &text, err);
        if (status == PW_OK && strchr(text, '{'))
            define->text = item;
        else if (status == PW_OK)
            status = pw_kernel_read_expr(context, item, &define->value, err);
        kernel->define_count = i + 1;
    }
    return status;
}

static pw_status read_launches(const struct pw_kernel_context *context, const struct pw_yaml *node,
                               struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = expect_list(node, PW_KERNEL_LIST_MAX, err);

    if (status == PW_OK && node->count == 0)
        status = pw_yaml_error(node, err, "a kernel has at least one launch");
    if (status != PW_OK)
        return status;
    kernel->launches = alloc(context, node->count, sizeof *kernel->launches, &status, err);
    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        status = pw_kernel_read_launch(context, &node->items[i], &kernel->launches[i], err);
        kernel->launch_count = i + 1;
    }
    return status;
}

/* ---- texts ---- */

static pw_status read_options(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel *kernel, struct pw_error *err)
{
    /* Only these: a description must not reach the compiler's include paths or files. */
    static const char *const allowed[] = {"-cl-mad-enable", "-cl-fast-relaxed-math", "-cl-no-signed-zeros",
                                          "-cl-denorms-are-zero", "-cl-finite-math-only"};
    struct pw_buf out = {0};
    pw_status status = expect_list(node, PW_COUNT_OF(allowed), err);

    for (size_t i = 0; status == PW_OK && i < node->count; i++) {
        const char *text = NULL;
        bool known = false;

        status = pw_yaml_text(&node->items[i], &text, err);
        for (size_t k = 0; status == PW_OK && k < PW_COUNT_OF(allowed); k++)
            known = known || strcmp(text, allowed[k]) == 0;
        if (status == PW_OK && !known)
            status = pw_yaml_error(&node->items[i], err, "build option '%s' is not allowed; nearest: '%s'", text,
                                   pw_text_nearest(text, allowed, PW_COUNT_OF(allowed))
                                       ? pw_text_nearest(text, allowed, PW_COUNT_OF(allowed))
                                       : allowed[0]);
        if (status == PW_OK)
            pw_buf_printf(&out, "%s ", text);
    }
    if (status == PW_OK) {
        kernel->options = pw_arena_strndup(&context->set->arena, pw_buf_text(&out), out.size);
        if (!kernel->options || out.failed)
            status = pw_error_memory(err, out.size);
    }
    pw_buf_clear(&out);
    return status;
}

static pw_status read_provenance(const struct pw_yaml *node, struct pw_kernel *kernel, struct pw_error *err)
{
    static const char *const authors[] = {"hand", "tuned", "agent", "generated"};
    const struct pw_yaml *author, *text;
    bool known = false;
    pw_status status = expect_map(node, 32, err);

    if (status != PW_OK)
        return status;
    author = pw_yaml_get(node, "author");
    if (!author)
        return pw_yaml_error(node, err, "provenance has no 'author' (hand, tuned, agent or generated)");
    status = pw_yaml_text(author, &kernel->author, err);
    for (size_t i = 0; status == PW_OK && i < PW_COUNT_OF(authors); i++)
        known = known || strcmp(kernel->author, authors[i]) == 0;
    if (status == PW_OK && !known)
        status = pw_yaml_error(author, err, "author '%s': expected hand, tuned, agent or generated", kernel->author);
    text = pw_yaml_get(node, "algorithm");
    if (status == PW_OK && text)
        status = pw_yaml_text(text, &kernel->algorithm, err);
    text = pw_yaml_get(node, "tiling");
    if (status == PW_OK && text)
        status = pw_yaml_text(text, &kernel->tiling, err);
    return status;
}

static pw_status read_equals(const struct pw_kernel_context *context, const struct pw_yaml *node,
                             struct pw_kernel *kernel, struct pw_error *err)
{
    const char *slash;
    pw_status status = pw_yaml_text(node, &kernel->equals, err);

    if (status != PW_OK)
        return status;
    slash = strchr(kernel->equals, '/');
    for (const struct pw_room *room = context->rooms; slash && room->name; room++) {
        size_t n = strlen(room->name);

        if ((size_t)(slash - kernel->equals) == n && strncmp(room->name, kernel->equals, n) == 0)
            return PW_OK;
    }
    return pw_yaml_error(node, err, "'%s': expected the room of the reference, as in softmax/reference",
                         kernel->equals);
}

/* ---- the whole ---- */

static void add_text(struct pw_buf *out, const char *text)
{
    /* The terminating NUL separates, so that two texts never run together. */
    pw_buf_append(out, text, strlen(text) + 1);
}

static void flatten(const struct pw_yaml *node, struct pw_buf *out)
{
    pw_buf_putc(out, "SLM"[node->kind]);
    if (node->key)
        add_text(out, node->key);
    if (node->kind == PW_YAML_SCALAR)
        add_text(out, node->text);
    for (size_t i = 0; i < node->count; i++)
        flatten(&node->items[i], out);
    pw_buf_putc(out, 'E');
}

/* Content, not layout: comments and other kernels of the same file do not change a kernel's hash. */
static pw_status hash_kernel(const struct pw_yaml *map, struct pw_kernel *kernel, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = PW_OK;

    flatten(map, &text);
    for (size_t i = 0; i < kernel->source_count; i++)
        add_text(&text, kernel->sources[i].full);
    if (text.failed)
        status = pw_error_memory(err, text.size);
    else
        kernel->hash = pw_hash128(text.data, text.size);
    pw_buf_clear(&text);
    return status;
}

static pw_status read_name(const struct pw_yaml *node, struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = pw_yaml_text(node, &kernel->name, err);

    if (status == PW_OK && !pw_kernel_is_name(kernel->name))
        status = pw_yaml_error(node, err, "'%s': a kernel's name is of the form [A-Za-z_][A-Za-z0-9_]*", kernel->name);
    return status;
}

static pw_status read_optional(const struct pw_kernel_context *context, const struct pw_yaml *map,
                               struct pw_kernel *kernel, struct pw_error *err)
{
    static const struct {
        const char *key;
        pw_status (*read)(const struct pw_kernel_context *, const struct pw_yaml *, struct pw_kernel *,
                          struct pw_error *);
    } parts[] = {{"equals", read_equals},           {"parameters", read_parameters}, {"variables", read_variables},
                 {"constraints", read_constraints}, {"scratch", read_scratch},       {"prepack", read_prepacks},
                 {"defines", read_defines},         {"options", read_options}};
    pw_status status = PW_OK;

    for (size_t i = 0; status == PW_OK && i < PW_COUNT_OF(parts); i++) {
        const struct pw_yaml *node = pw_yaml_get(map, parts[i].key);

        if (node)
            status = parts[i].read(context, node, kernel, err);
    }
    if (status == PW_OK && pw_yaml_get(map, "priority"))
        status = pw_kernel_read_expr(context, pw_yaml_get(map, "priority"), &kernel->priority, err);
    return status;
}

pw_status pw_kernel_read(const struct pw_kernel_context *context, const struct pw_yaml *map, struct pw_kernel **out,
                         struct pw_error *err)
{
    static const char *const keys[] = {"format",  "kernel",   "implements", "equals",     "dtypes",      "sources",
                                       "defines", "options",  "parameters", "variables",  "constraints", "scratch",
                                       "prepack", "launches", "priority",   "provenance", NULL};
    static const char *const required[] = {"kernel", "implements", "dtypes", "sources", "launches", "provenance", NULL};
    struct pw_kernel *kernel;
    pw_status status = PW_OK;

    if (map->kind != PW_YAML_MAP)
        return pw_yaml_error(map, err, "expected a kernel's description, a map");
    status = pw_yaml_only(map, keys, err);
    for (size_t i = 0; status == PW_OK && required[i]; i++) {
        if (!pw_yaml_get(map, required[i]))
            status = pw_yaml_error(map, err, "the description has no '%s'", required[i]);
    }
    if (status != PW_OK)
        return status;
    kernel = alloc(context, 1, sizeof *kernel, &status, err);
    if (!kernel)
        return status;
    kernel->at = map;
    kernel->path = context->path;
    kernel->foreign = context->foreign;
    kernel->options = "";
    kernel->algorithm = "";
    kernel->tiling = "";
    status = read_name(pw_yaml_get(map, "kernel"), kernel, err);
    if (status == PW_OK)
        status = read_implements(context, pw_yaml_get(map, "implements"), kernel, err);
    if (status == PW_OK)
        status = read_dtypes(context, pw_yaml_get(map, "dtypes"), kernel, err);
    if (status == PW_OK)
        status = read_sources(context, pw_yaml_get(map, "sources"), kernel, err);
    if (status == PW_OK)
        status = read_optional(context, map, kernel, err);
    if (status == PW_OK)
        status = read_launches(context, pw_yaml_get(map, "launches"), kernel, err);
    if (status == PW_OK)
        status = read_provenance(pw_yaml_get(map, "provenance"), kernel, err);
    if (status == PW_OK)
        status = pw_kernel_check(context, kernel, err);
    if (status == PW_OK)
        status = hash_kernel(map, kernel, err);
    if (status == PW_OK)
        *out = kernel;
    return status;
}
