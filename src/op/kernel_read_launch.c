/* Launches, their arguments and the expressions of a kernel description. */
#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "op/kernel_parts.h"

bool pw_kernel_is_name(const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || n > 63 || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    }
    return true;
}

pw_status pw_kernel_read_text_expr(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                   const char *text, struct pw_kernel_expr *out, struct pw_error *err)
{
    struct pw_kernels *set = context->set;
    struct pw_expr *expr = NULL;
    struct pw_error local = {0};
    pw_status status;

    status = PW_GROW(set->exprs, set->expr_cap, set->expr_count + 1, err);
    if (status != PW_OK)
        return status;
    status = pw_expr_parse(text, &expr, &local);
    if (status == PW_ERR_FORMAT)
        return pw_yaml_error(node, err, "%s", local.message);
    if (status != PW_OK)
        return pw_error_set(err, status, "%s", local.message);
    set->exprs[set->expr_count++] = expr;
    out->at = node;
    out->expr = expr;
    return PW_OK;
}

pw_status pw_kernel_read_expr(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel_expr *out, struct pw_error *err)
{
    const char *text = NULL;
    pw_status status = pw_yaml_text(node, &text, err);

    if (status != PW_OK)
        return status;
    return pw_kernel_read_text_expr(context, node, text, out, err);
}

/* Cuts ":long" and the like off `text` (in place). */
static pw_arg_suffix cut_suffix(char *text)
{
    static const struct {
        const char *word;
        pw_arg_suffix suffix;
    } suffixes[] = {
        {"int", PW_SUFFIX_INT}, {"long", PW_SUFFIX_LONG}, {"float", PW_SUFFIX_FLOAT}, {"double", PW_SUFFIX_DOUBLE}};
    char *colon = strrchr(text, ':');
    const char *word;

    if (!colon)
        return PW_SUFFIX_NONE;
    for (word = colon + 1; isspace((unsigned char)*word); word++)
        ;
    for (size_t i = 0; i < PW_COUNT_OF(suffixes); i++) {
        size_t n = strlen(suffixes[i].word);

        if (strncmp(word, suffixes[i].word, n) == 0 && word[n + strspn(word + n, " \t")] == 0) {
            while (colon > text && isspace((unsigned char)colon[-1]))
                colon--;
            *colon = 0;
            return suffixes[i].suffix;
        }
    }
    return PW_SUFFIX_NONE;
}

/* Splits "name[index]" whose bracket spans to the end. */
static bool split_index(const struct pw_kernel_context *context, const char *text, const char **name,
                        const char **index)
{
    const char *open = strchr(text, '[');
    size_t n = strlen(text);
    int level = 0;

    if (!open || open == text || text[n - 1] != ']')
        return false;
    for (const char *c = open; *c; c++) {
        level += *c == '[';
        level -= *c == ']';
        if (level == 0 && c[1])
            return false;
    }
    *name = pw_arena_strndup(&context->set->arena, text, (size_t)(open - text));
    *index = pw_arena_strndup(&context->set->arena, open + 1, (size_t)(text + n - 1 - (open + 1)));
    return *name && *index && pw_kernel_is_name(*name);
}

static pw_status read_arg(const struct pw_kernel_context *context, const struct pw_yaml *node,
                          struct pw_kernel_arg *out, struct pw_error *err)
{
    const char *text = NULL, *name = NULL, *index = NULL;
    char *copy;
    pw_status status = pw_yaml_text(node, &text, err);

    if (status != PW_OK)
        return status;
    copy = pw_arena_strndup(&context->set->arena, text, strlen(text));
    if (!copy)
        return pw_error_memory(err, strlen(text));
    out->at = node;
    out->suffix = cut_suffix(copy);
    if (pw_kernel_is_name(copy)) {
        out->name = copy;
    } else if (split_index(context, copy, &name, &index)) {
        out->name = name;
        out->indexed = true;
        status = pw_kernel_read_text_expr(context, node, index, &out->index, err);
        if (status != PW_OK)
            return status;
    }
    if (out->suffix == PW_SUFFIX_FLOAT || out->suffix == PW_SUFFIX_DOUBLE) {
        if (!out->name || out->indexed)
            return pw_yaml_error(node, err, "argument '%s': a float argument is the name of a bound value", text);
        return PW_OK;
    }
    return pw_kernel_read_text_expr(context, node, copy, &out->expr, err);
}

/* One to three sizes, a list or a single scalar. */
static pw_status read_sizes(const struct pw_kernel_context *context, const struct pw_yaml *node,
                            struct pw_kernel_expr out[3], int *count, struct pw_error *err)
{
    if (node->kind == PW_YAML_SCALAR) {
        *count = 1;
        return pw_kernel_read_expr(context, node, &out[0], err);
    }
    if (node->kind != PW_YAML_LIST || node->count < 1 || node->count > 3)
        return pw_yaml_error(node, err, "expected a list of 1 to 3 expressions");
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = pw_kernel_read_expr(context, &node->items[i], &out[i], err);

        if (status != PW_OK)
            return status;
    }
    *count = (int)node->count;
    return PW_OK;
}

/* Entry names and -D values: letters, digits, '_' and {name}s. */
static pw_status check_template(const struct pw_yaml *node, struct pw_error *err)
{
    const char *text = NULL;
    bool open = false;
    pw_status status = pw_yaml_text(node, &text, err);

    if (status != PW_OK)
        return status;
    if (!*text || strlen(text) > 127)
        return pw_yaml_error(node, err, "expected 1 to 127 characters, found %zu", strlen(text));
    for (const char *c = text; *c; c++) {
        if ((*c == '{' && open) || (*c == '}' && (!open || c[-1] == '{')))
            return pw_yaml_error(node, err, "'%s' has unbalanced or empty braces", text);
        if (*c == '{' || *c == '}')
            open = *c == '{';
        else if (!isalnum((unsigned char)*c) && *c != '_')
            return pw_yaml_error(node, err, "'%s': expected letters, digits, '_' and {words}, found '%c'", text,
                                 isprint((unsigned char)*c) ? *c : '?');
    }
    return open ? pw_yaml_error(node, err, "'%s' has unbalanced or empty braces", text) : PW_OK;
}

static pw_status read_args(const struct pw_kernel_context *context, const struct pw_yaml *args,
                           struct pw_kernel_launch *out, struct pw_error *err)
{
    if (args->kind != PW_YAML_LIST)
        return pw_yaml_error(args, err, "expected a list of arguments");
    if (args->count > PW_KERNEL_ARGS_MAX)
        return pw_yaml_error(args, err, "%zu arguments; at most %d are accepted", args->count, PW_KERNEL_ARGS_MAX);
    out->args = pw_arena_alloc(&context->set->arena, args->count, sizeof *out->args);
    if (!out->args)
        return pw_error_memory(err, args->count * sizeof *out->args);
    for (; out->arg_count < args->count; out->arg_count++) {
        pw_status status = read_arg(context, &args->items[out->arg_count], &out->args[out->arg_count], err);

        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

pw_status pw_kernel_read_launch(const struct pw_kernel_context *context, const struct pw_yaml *map,
                                struct pw_kernel_launch *out, struct pw_error *err)
{
    static const char *const keys[] = {"entry", "global", "local", "args", "each", "when", NULL};
    static const char *const required[] = {"entry", "global", "args", NULL};
    const struct pw_yaml *node;
    int local_dims = 0;
    pw_status status;

    if (map->kind != PW_YAML_MAP)
        return pw_yaml_error(map, err, "expected a launch: a map with entry, global, local, args");
    status = pw_yaml_only(map, keys, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; required[i]; i++) {
        if (!pw_yaml_get(map, required[i]))
            return pw_yaml_error(map, err, "the launch has no '%s'", required[i]);
    }
    out->at = map;
    out->entry = pw_yaml_get(map, "entry");
    status = check_template(out->entry, err);
    if (status == PW_OK)
        status = read_sizes(context, pw_yaml_get(map, "global"), out->global, &out->work_dim, err);
    node = pw_yaml_get(map, "local");
    if (status == PW_OK && node) {
        out->has_local = true;
        status = read_sizes(context, node, out->local, &local_dims, err);
        if (status == PW_OK && local_dims != out->work_dim)
            status = pw_yaml_error(node, err, "local has %d sizes, global has %d", local_dims, out->work_dim);
    }
    node = pw_yaml_get(map, "each");
    if (status == PW_OK && node)
        status = pw_yaml_text(node, &out->each, err);
    node = pw_yaml_get(map, "when");
    if (status == PW_OK && node)
        status = pw_kernel_read_expr(context, node, &out->when, err);
    if (status == PW_OK)
        status = read_args(context, pw_yaml_get(map, "args"), out, err);
    return status;
}
