#include "op/bind.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

enum { NAME_MAX_BYTES = 63, INTS_MAX = 65536 };

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

void pw_bindings_init(struct pw_bindings *b, struct pw_arena *arena)
{
    b->arena = arena;
    b->count = 0;
    memset(b->slots, 0, sizeof b->slots);
}

const struct pw_bound *pw_bindings_find(const struct pw_bindings *b, const char *name)
{
    for (uint32_t at = hash_name(name) % PW_BINDINGS_SLOTS; b->slots[at]; at = (at + 1) % PW_BINDINGS_SLOTS) {
        const struct pw_bound *item = &b->items[b->slots[at] - 1];

        if (strcmp(item->name, name) == 0)
            return item;
    }
    return NULL;
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n > NAME_MAX_BYTES || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    }
    return true;
}

static pw_status add(struct pw_bindings *b, const char *name, struct pw_bound **out, struct pw_error *err)
{
    uint32_t at;

    if (!is_name(name))
        return pw_error_set(err, PW_ERR_INTERNAL, "bound name '%s' is not of the form [A-Za-z_][A-Za-z0-9_]*", name);
    if (pw_bindings_find(b, name))
        return pw_error_set(err, PW_ERR_INTERNAL, "the name '%s' is bound twice", name);
    if (b->count == PW_BINDINGS_MAX)
        return pw_error_set(err, PW_ERR_INTERNAL, "more than %d bound names at '%s'", PW_BINDINGS_MAX, name);
    *out = &b->items[b->count];
    memset(*out, 0, sizeof **out);
    (*out)->name = pw_arena_strndup(b->arena, name, strlen(name));
    if (!(*out)->name)
        return pw_error_memory(err, strlen(name));
    at = hash_name(name) % PW_BINDINGS_SLOTS;
    while (b->slots[at])
        at = (at + 1) % PW_BINDINGS_SLOTS;
    b->slots[at] = (uint16_t)++b->count;
    return PW_OK;
}

pw_status pw_bind_int(struct pw_bindings *b, const char *name, int64_t value, struct pw_error *err)
{
    struct pw_bound *item = NULL;
    pw_status status = add(b, name, &item, err);

    if (status != PW_OK)
        return status;
    item->kind = PW_BOUND_INT;
    item->i = value;
    return PW_OK;
}

pw_status pw_bind_float(struct pw_bindings *b, const char *name, double value, struct pw_error *err)
{
    struct pw_bound *item = NULL;
    pw_status status = add(b, name, &item, err);

    if (status != PW_OK)
        return status;
    item->kind = PW_BOUND_FLOAT;
    item->f = value;
    return PW_OK;
}

pw_status pw_bind_numbers(struct pw_bindings *b, const struct pw_named_int *numbers, size_t count, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; status == PW_OK && i < count; i++)
        status = pw_bind_int(b, numbers[i].name, numbers[i].value, err);
    return status;
}

pw_status pw_bind_ints(struct pw_bindings *b, const char *name, const int64_t *values, size_t count,
                       struct pw_error *err)
{
    struct pw_bound *item = NULL;
    int64_t *copy;
    pw_status status;

    if (count > INTS_MAX)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "bound array '%s' has %zu elements; at most %d are kept", name,
                            count, INTS_MAX);
    status = add(b, name, &item, err);
    if (status != PW_OK)
        return status;
    copy = pw_arena_alloc(b->arena, count ? count : 1, sizeof *copy);
    if (!copy)
        return pw_error_memory(err, count * sizeof *copy);
    if (count)
        memcpy(copy, values, count * sizeof *copy);
    item->kind = PW_BOUND_INTS;
    item->ints = copy;
    item->count = count;
    return PW_OK;
}

pw_status pw_bind_word(struct pw_bindings *b, const char *name, const char *word, struct pw_error *err)
{
    struct pw_bound *item = NULL;
    pw_status status;

    if (!*word || strlen(word) > NAME_MAX_BYTES)
        return pw_error_set(err, PW_ERR_INTERNAL, "bound word '%s' has %zu characters; 1 to %d are accepted", name,
                            strlen(word), NAME_MAX_BYTES);
    for (const char *c = word; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_')
            return pw_error_set(err, PW_ERR_INTERNAL, "bound word '%s' = '%s' is not of the form [A-Za-z0-9_]+", name,
                                word);
    }
    status = add(b, name, &item, err);
    if (status != PW_OK)
        return status;
    item->kind = PW_BOUND_WORD;
    item->word = pw_arena_strndup(b->arena, word, strlen(word));
    return item->word ? PW_OK : pw_error_memory(err, strlen(word));
}

/* ---- formals ---- */

static bool find_formal(const struct pw_formal *formals, const char *name, size_t size, int *index)
{
    for (int i = 0; formals && formals[i].name; i++) {
        if (strncmp(formals[i].name, name, size) == 0 && formals[i].name[size] == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* "in12" with prefix "in" to 12. */
static bool position(const struct pw_formal *formals, const char *name, size_t size, const char *prefix, int *index)
{
    size_t n = strlen(prefix);
    int value = 0;

    if (size <= n || size > n + 2 || strncmp(name, prefix, n) != 0)
        return false;
    for (size_t i = n; i < size; i++) {
        if (!isdigit((unsigned char)name[i]))
            return false;
        value = value * 10 + (name[i] - '0');
    }
    for (int i = 0; formals && formals[i].name; i++) {
        if (i == value) {
            *index = i;
            return true;
        }
    }
    return false;
}

bool pw_bind_formal(const struct pw_op *op, const char *name, size_t size, struct pw_formal_ref *out)
{
    int index = 0;
    bool output = false;

    if (size == 0)
        return false;
    if (find_formal(op->inputs, name, size, &index)) {
        output = false;
    } else if (find_formal(op->outputs, name, size, &index)) {
        output = true;
    } else if (position(op->inputs, name, size, "in", &index)) {
        output = false;
    } else if (position(op->outputs, name, size, "out", &index)) {
        output = true;
    } else if (size > 4 && strncmp(name, "out_", 4) == 0 && find_formal(op->outputs, name + 4, size - 4, &index)) {
        output = true;
    } else {
        return false;
    }
    out->output = output;
    out->formal = index;
    out->def = output ? &op->outputs[index] : &op->inputs[index];
    out->variadic = (out->def->flags & PW_FORMAL_VARIADIC) != 0;
    return true;
}

int pw_bind_count(const struct pw_call *call, const struct pw_formal_ref *ref)
{
    int given = ref->output ? call->output_count : call->input_count;

    if (ref->variadic)
        return given > ref->formal ? given - ref->formal : 0;
    return pw_bind_info(call, ref, 0) ? 1 : 0;
}

const struct pw_info *pw_bind_info(const struct pw_call *call, const struct pw_formal_ref *ref, int element)
{
    int given = ref->output ? call->output_count : call->input_count;
    int at;

    if (!ref->variadic)
        element = 0;
    if (element < 0 || element >= given - ref->formal)
        return NULL;
    at = ref->formal + element;
    if (!ref->output)
        return call->in[at] && call->in[at]->kind != PW_VALUE_NONE ? call->in[at] : NULL;
    return !call->wanted || call->wanted[at] ? &call->out[at] : NULL;
}

static bool info_size(const struct pw_info *info, int64_t *value)
{
    int64_t size = 1;

    if (info->rank < 0)
        return false;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0 || __builtin_mul_overflow(size, info->dims[d], &size))
            return false;
    }
    *value = size;
    return true;
}

/* The part after the last '_' of "X_size". An omitted formal has rank -1 and size 0, so that expressions
 * need no guard around it. */
static bool info_property(const struct pw_info *info, const char *what, int64_t *value)
{
    int64_t d;

    if (strcmp(what, "rank") == 0) {
        *value = info ? info->rank : -1;
        return !info || info->rank >= 0;
    }
    if (strcmp(what, "size") == 0) {
        *value = 0;
        return !info || info_size(info, value);
    }
    if (strcmp(what, "bytes") == 0) {
        *value = info ? (int64_t)pw_dtype_bytes(info->dtype) : 0;
        return true;
    }
    if (what[0] != 'd' || !pw_text_int64(what + 1, &d) || d < 0 || d >= PW_MAX_RANK)
        return false;
    if (!info || d >= info->rank || info->dims[d] < 0)
        return false;
    *value = info->dims[d];
    return true;
}

bool pw_bind_derived(const struct pw_call *call, const char *name, int element, int64_t *value)
{
    const struct pw_attr_def *attr = call->op->attrs;
    const char *cut = strrchr(name, '_');
    struct pw_formal_ref ref;

    if (strncmp(name, "has_", 4) == 0 && pw_bind_formal(call->op, name + 4, strlen(name + 4), &ref)) {
        *value = pw_bind_count(call, &ref) > 0;
        return true;
    }
    if (cut && pw_bind_formal(call->op, name, (size_t)(cut - name), &ref)) {
        if (strcmp(cut + 1, "count") == 0) {
            *value = pw_bind_count(call, &ref);
            return true;
        }
        if (info_property(pw_bind_info(call, &ref, element), cut + 1, value))
            return true;
    }
    for (; attr && attr->name; attr++) {
        if (attr->type == PW_ATTR_INT && strcmp(attr->name, name) == 0) {
            *value = pw_call_int(call, name);
            return true;
        }
    }
    return false;
}

static void visit_formal(const char *name, const struct pw_info *info, pw_bind_visit *visit, void *user)
{
    static const char *const properties[] = {"rank", "size", "bytes", "count"};
    char text[80];

    snprintf(text, sizeof text, "has_%s", name);
    visit(user, text);
    for (size_t i = 0; i < PW_COUNT_OF(properties); i++) {
        snprintf(text, sizeof text, "%s_%s", name, properties[i]);
        visit(user, text);
    }
    for (int d = 0; info && d < info->rank; d++) {
        snprintf(text, sizeof text, "%s_d%d", name, d);
        visit(user, text);
    }
}

void pw_bind_names(const struct pw_call *call, const struct pw_bindings *b, pw_bind_visit *visit, void *user)
{
    const struct pw_op *op = call->op;

    for (size_t i = 0; i < b->count; i++)
        visit(user, b->items[i].name);
    for (int i = 0; op->inputs && op->inputs[i].name; i++) {
        struct pw_formal_ref ref = {false, i, (op->inputs[i].flags & PW_FORMAL_VARIADIC) != 0, &op->inputs[i]};

        visit_formal(op->inputs[i].name, pw_bind_info(call, &ref, 0), visit, user);
    }
    for (int i = 0; op->outputs && op->outputs[i].name; i++) {
        struct pw_formal_ref ref = {true, i, (op->outputs[i].flags & PW_FORMAL_VARIADIC) != 0, &op->outputs[i]};

        visit_formal(op->outputs[i].name, pw_bind_info(call, &ref, 0), visit, user);
    }
    for (const struct pw_attr_def *attr = op->attrs; attr && attr->name; attr++) {
        if (attr->type == PW_ATTR_INT)
            visit(user, attr->name);
    }
}
