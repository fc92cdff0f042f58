/* portwright.lock: the pinned environment as reviewed text. */
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "bench/environment.h"

/* A YAML double-quoted scalar; control bytes and foreign bytes were made safe for display first. */
static void put_quoted(struct pw_buf *out, const char *text)
{
    struct pw_buf safe = {0};

    pw_text_display(&safe, text, strlen(text), 0, false);
    pw_buf_putc(out, '"');
    for (const char *c = pw_buf_text(&safe); *c; c++) {
        if (*c == '"' || *c == '\\')
            pw_buf_putc(out, '\\');
        pw_buf_putc(out, *c);
    }
    pw_buf_putc(out, '"');
    out->failed = out->failed || safe.failed;
    pw_buf_clear(&safe);
}

static void put_fields(const struct pw_environment *e, bool of_target, const char *indent, struct pw_buf *out)
{
    for (size_t i = 0; i < e->count; i++) {
        const struct pw_environment_field *f = &e->fields[i];

        if (!(f->scope & PW_ENVIRONMENT_PINNED) || of_target != ((f->scope & PW_ENVIRONMENT_TARGET) != 0))
            continue;
        pw_buf_printf(out, "%s%s: ", indent, f->name);
        put_quoted(out, f->value);
        pw_buf_putc(out, '\n');
    }
}

pw_status pw_lock_write(const struct pw_environment *environments, size_t count, struct pw_buf *out,
                        struct pw_error *err)
{
    if (count == 0)
        return pw_error_set(err, PW_ERR_USAGE, "a lock needs a target");
    pw_buf_puts(
        out, "# The environment that this project's verdicts and timings are pinned to.\n"
             "# Written by `portwright env --lock`; compared by `portwright env --compare` and `portwright --check`.\n"
             "format: 1\nmachine:\n");
    put_fields(&environments[0], false, "  ", out);
    pw_buf_puts(out, "targets:\n");
    for (size_t i = 0; i < count; i++) {
        pw_buf_puts(out, "  ");
        put_quoted(out, environments[i].target);
        pw_buf_printf(out, ":\n    environment: \"%s\"\n", environments[i].id);
        put_fields(&environments[i], true, "    ", out);
    }
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

/* One map of the lock against the fields of the same kind. */
static pw_status compare_map(const struct pw_yaml *map, const struct pw_environment *e, bool of_target, bool *matches,
                             struct pw_buf *out, struct pw_error *err)
{
    if (map->kind != PW_YAML_MAP)
        return pw_yaml_error(map, err, "expected a map of names and texts");
    for (size_t i = 0; i < map->count; i++) {
        const char *pinned, *name = map->items[i].key;
        pw_status status = pw_yaml_text(&map->items[i], &pinned, err);

        if (status != PW_OK)
            return status;
        if (of_target && !strcmp(name, "environment"))
            continue; /* follows from the others */
        struct pw_buf here = {0};
        const char *value = pw_environment_get(e, name);
        pw_text_display(&here, value, strlen(value), 0, false);
        if (strcmp(pinned, pw_buf_text(&here)) != 0) {
            *matches = false;
            pw_buf_printf(out, "%s: locked ", name);
            pw_text_display(out, pinned[0] ? pinned : "unknown", strlen(pinned[0] ? pinned : "unknown"), 200, false);
            pw_buf_printf(out, ", here %s\n", here.size ? pw_buf_text(&here) : "unknown");
        }
        pw_buf_clear(&here);
    }
    for (size_t i = 0; i < e->count; i++) {
        const struct pw_environment_field *f = &e->fields[i];

        if ((f->scope & PW_ENVIRONMENT_PINNED) && of_target == ((f->scope & PW_ENVIRONMENT_TARGET) != 0) &&
            !pw_yaml_get(map, f->name)) {
            *matches = false;
            pw_buf_printf(out, "%s: not in the lock, here ", f->name);
            pw_text_display(out, f->value, strlen(f->value), 200, false);
            pw_buf_putc(out, '\n');
        }
    }
    return PW_OK;
}

pw_status pw_lock_check(const char *path, const struct pw_environment *environment, bool *matches,
                        struct pw_buf *differences, struct pw_error *err)
{
    static const char *const keys[] = {"format", "machine", "targets", NULL};
    struct pw_arena arena = {0};
    const struct pw_yaml *root = NULL, *machine, *targets, *target;
    int64_t format = 0;
    pw_status status = pw_yaml_read(path, &arena, &root, err);

    if (status == PW_OK && root->kind != PW_YAML_MAP)
        status = pw_yaml_error(root, err, "expected a map");
    if (status == PW_OK)
        status = pw_yaml_only(root, keys, err);
    if (status != PW_OK)
        goto done;
    if (!pw_yaml_get(root, "format"))
        status = pw_yaml_error(root, err, "the lock has no 'format'");
    else
        status = pw_yaml_int(pw_yaml_get(root, "format"), &format, err);
    if (status == PW_OK && format != 1)
        status = pw_yaml_error(pw_yaml_get(root, "format"), err, "expected format 1, found %lld", (long long)format);
    if (status != PW_OK)
        goto done;
    *matches = true;
    machine = pw_yaml_get(root, "machine");
    targets = pw_yaml_get(root, "targets");
    if (!machine || !targets || targets->kind != PW_YAML_MAP) {
        status = pw_yaml_error(root, err, "expected the maps 'machine' and 'targets'");
        goto done;
    }
    status = compare_map(machine, environment, false, matches, differences, err);
    target = pw_yaml_get(targets, environment->target);
    if (status == PW_OK && target) {
        status = compare_map(target, environment, true, matches, differences, err);
    } else if (status == PW_OK) {
        *matches = false;
        pw_buf_puts(differences, "target: the lock has no target ");
        pw_text_display(differences, environment->target, strlen(environment->target), 200, false);
        pw_buf_putc(differences, '\n');
    }
    if (status == PW_OK && differences->failed)
        status = pw_error_memory(err, differences->size);
done:
    pw_arena_clear(&arena);
    return status;
}
