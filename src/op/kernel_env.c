/* Names and expressions of a description for one call: lookup, {word}s, the choice of parameters. */
#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "op/kernel_parts.h"

static bool find_fact(const struct pw_device_facts *facts, const char *name, int64_t *value)
{
    const struct {
        const char *name;
        int64_t value;
    } table[] = {
        {"local_mem_bytes", facts->local_mem_bytes},
        {"max_work_group", facts->max_work_group},
        {"vector_width", facts->vector_width},
        {"work_group_multiple", facts->work_group_multiple},
        {"compute_units", facts->compute_units},
        {"global_mem_bytes", facts->global_mem_bytes},
        {"max_alloc_bytes", facts->max_alloc_bytes},
        {"has_fp64", facts->has_fp64},
        {"has_fp16", facts->has_fp16},
        {"is_cpu", facts->is_cpu},
    };

    for (size_t i = 0; i < PW_COUNT_OF(table); i++) {
        if (strcmp(name, table[i].name) == 0) {
            *value = table[i].value;
            return true;
        }
    }
    return false;
}

static bool find_own(const struct pw_kernel_env *env, const char *name, int64_t *value)
{
    const struct pw_kernel *kernel = env->kernel;

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        if ((env->parameters_set >> p & 1) && strcmp(kernel->parameters[p].name, name) == 0) {
            *value = env->parameters[p];
            return true;
        }
    }
    for (size_t v = 0; v < kernel->variable_count; v++) {
        if ((env->variables_set >> v & 1) && strcmp(kernel->variables[v].name, name) == 0) {
            *value = env->variables[v];
            return true;
        }
    }
    return false;
}

bool pw_kernel_lookup(void *user, const char *name, int64_t index, int64_t *value)
{
    struct pw_kernel_env *env = user;
    const struct pw_bound *bound = pw_bindings_find(env->bindings, name);

    if (bound) {
        if (bound->kind == PW_BOUND_INT && index < 0) {
            *value = bound->i;
            return true;
        }
        if (bound->kind == PW_BOUND_INTS && index >= 0 && (size_t)index < bound->count) {
            *value = bound->ints[index];
            return true;
        }
    } else if (index >= 0) {
        if (index <= INT32_MAX && pw_bind_derived(env->call, name, (int)index, value))
            return true;
    } else if (find_own(env, name, value) || find_fact(env->facts, name, value) ||
               pw_bind_derived(env->call, name, env->repeating ? env->element : 0, value)) {
        return true;
    } else if (env->repeating && strcmp(name, "i") == 0) {
        *value = env->element;
        return true;
    }
    env->missed = name;
    return false;
}

struct candidates {
    const char *missed;
    char best[96];
};

/* Keeps the nearest so far: the names are made on the fly. */
static void consider(void *user, const char *name)
{
    struct candidates *c = user;
    const char *pair[2] = {c->best[0] ? c->best : name, name};
    const char *near = pw_text_nearest(c->missed, pair, 2);

    if (near && near != c->best && strlen(near) < sizeof c->best)
        memmove(c->best, near, strlen(near) + 1);
}

static pw_status explain_missed(struct pw_kernel_env *env, const struct pw_yaml *at, const char *message,
                                struct pw_error *err)
{
    struct candidates c = {.missed = env->missed};
    const struct pw_kernel *kernel = env->kernel;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        consider(&c, kernel->parameters[p].name);
    for (size_t v = 0; v < kernel->variable_count; v++)
        consider(&c, kernel->variables[v].name);
    pw_bind_names(env->call, env->bindings, consider, &c);
    return pw_yaml_error(at, err, "%s%s%s%s (kernel '%s', %s-%d)", message, c.best[0] ? ", did you mean '" : "", c.best,
                         c.best[0] ? "'?" : "", kernel->name, env->call->op->name, env->call->op->since);
}

pw_status pw_kernel_eval(struct pw_kernel_env *env, const struct pw_kernel_expr *expr, int64_t *out,
                         struct pw_error *err)
{
    struct pw_error local = {0};
    pw_status status;

    env->missed = NULL;
    status = pw_expr_eval(expr->expr, pw_kernel_lookup, env, out, &local);
    if (status == PW_ERR_FORMAT && env->missed)
        return explain_missed(env, expr->at, local.message, err);
    if (status != PW_OK)
        return pw_error_set(err, status, "kernel '%s': %s", env->kernel->name, local.message);
    return PW_OK;
}

pw_status pw_kernel_expand(struct pw_kernel_env *env, const struct pw_yaml *text, struct pw_arena *arena,
                           const char **out, struct pw_error *err)
{
    struct pw_buf buf = {0};
    pw_status status = PW_OK;

    for (const char *c = text->text; *c && status == PW_OK; c++) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        const struct pw_bound *bound;
        char word[80];
        int64_t value;

        if (!end) {
            pw_buf_putc(&buf, *c);
            continue;
        }
        if ((size_t)(end - c) > sizeof word) {
            status = pw_yaml_error(text, err, "the {word} in '%s' is too long", text->text);
            break;
        }
        memcpy(word, c + 1, (size_t)(end - c - 1));
        word[end - c - 1] = 0;
        c = end;
        bound = pw_bindings_find(env->bindings, word);
        if (strcmp(word, "operator") == 0)
            pw_buf_puts(&buf, env->call->op->name);
        else if (bound && bound->kind == PW_BOUND_WORD)
            pw_buf_puts(&buf, bound->word);
        else if (pw_kernel_lookup(env, word, -1, &value) && value >= 0)
            pw_buf_printf(&buf, "%lld", (long long)value);
        else
            status = pw_yaml_error(text, err, "nothing is bound to {%s} for %s-%d (kernel '%s')", word,
                                   env->call->op->name, env->call->op->since, env->kernel->name);
    }
    if (status == PW_OK && !buf.failed)
        *out = pw_arena_strndup(arena, pw_buf_text(&buf), buf.size);
    if (status == PW_OK && (buf.failed || !*out))
        status = pw_error_memory(err, buf.size);
    pw_buf_clear(&buf);
    return status;
}

/* ---- parameters ---- */

/* Depth-first over the parameters in order: each variable and constraint is evaluated as soon as the last
 * parameter it depends on has a value, so whole branches fall early. */
struct choice {
    struct pw_kernel_env *env;
    int64_t fixed[PW_KERNEL_PARAMETERS_MAX];
    uint32_t fixed_mask;
    int budget;          /* visits left */
    int furthest;        /* how far the trial got whose reason is kept: level, then constraint */
    struct pw_error why; /* UNSUPPORTED */
    struct pw_error *err;
};

enum { VISITS_MAX = 20000 };

/* The level at which all of a mask's parameters are known: 0 before any, p + 1 after parameter p. */
static int level_of(uint32_t mask)
{
    return mask ? 32 - __builtin_clz(mask) : 0;
}

static void keep_reason(struct choice *c, int reached, const struct pw_error *why)
{
    if (reached > c->furthest) {
        c->furthest = reached;
        c->why = *why;
    }
}

/* Variables and constraints of one level. *holds = false leaves a reason. */
static pw_status check_level(struct choice *c, int level, bool *holds)
{
    struct pw_kernel_env *env = c->env;
    const struct pw_kernel *kernel = env->kernel;
    struct pw_error local = {0};
    pw_status status = PW_OK;
    int64_t value = 0;
    int reached = level * PW_KERNEL_LIST_MAX;

    *holds = false;
    for (size_t v = 0; status == PW_OK && v < kernel->variable_count; v++) {
        if (level_of(kernel->variables[v].value.parameters) != level)
            continue;
        status = pw_kernel_eval(env, &kernel->variables[v].value, &env->variables[v], &local);
        env->variables_set |= (uint64_t)1 << v;
    }
    for (size_t k = 0; status == PW_OK && k < kernel->constraint_count; k++) {
        const struct pw_kernel_expr *constraint = &kernel->constraints[k];

        if (level_of(constraint->parameters) != level)
            continue;
        reached = level * PW_KERNEL_LIST_MAX + (int)k;
        status = pw_kernel_eval(env, constraint, &value, &local);
        if (status == PW_OK && !value) {
            struct pw_buf names = {0};

            pw_expr_explain(constraint->expr, pw_kernel_lookup, env, &names);
            status = pw_error_set(&local, PW_ERR_UNSUPPORTED, "kernel '%s' needs %s (%s)", kernel->name,
                                  pw_expr_text(constraint->expr), pw_buf_text(&names));
            pw_buf_clear(&names);
        }
    }
    if (status == PW_ERR_UNSUPPORTED) {
        keep_reason(c, reached, &local);
        return PW_OK;
    }
    if (status != PW_OK)
        return pw_error_set(c->err, status, "%s", local.message);
    *holds = true;
    return PW_OK;
}

static pw_status choose_from(struct choice *c, size_t p, bool *found)
{
    struct pw_kernel_env *env = c->env;
    const struct pw_kernel_parameter *parameter;
    bool fixed;
    size_t count;

    if (p == env->kernel->parameter_count) {
        *found = true;
        return PW_OK;
    }
    parameter = &env->kernel->parameters[p];
    fixed = c->fixed_mask >> p & 1;
    count = fixed ? 1 : parameter->count;
    for (size_t v = 0; v < count && !*found; v++) {
        bool holds = false;
        pw_status status;

        if (c->budget-- <= 0)
            return pw_error_set(c->err, PW_ERR_UNSUPPORTED, "kernel '%s': no parameters found in %d trials",
                                env->kernel->name, VISITS_MAX);
        env->parameters[p] = fixed ? c->fixed[p] : parameter->values[v];
        env->parameters_set |= 1u << p;
        status = check_level(c, (int)p + 1, &holds);
        if (status == PW_OK && holds)
            status = choose_from(c, p + 1, found);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status fix_parameters(struct choice *c, const struct pw_parameter *given, size_t count)
{
    const struct pw_kernel *kernel = c->env->kernel;

    for (size_t g = 0; g < count; g++) {
        const char *names[PW_KERNEL_PARAMETERS_MAX];
        const char *near;
        size_t p = 0;

        for (; p < kernel->parameter_count && strcmp(kernel->parameters[p].name, given[g].name) != 0; p++)
            names[p] = kernel->parameters[p].name;
        if (p < kernel->parameter_count) {
            c->fixed[p] = given[g].value;
            c->fixed_mask |= 1u << p;
            continue;
        }
        near = pw_text_nearest(given[g].name, names, p);
        return pw_error_set(c->err, PW_ERR_USAGE, "kernel '%s' has no parameter '%s'%s%s%s", kernel->name,
                            given[g].name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return PW_OK;
}

pw_status pw_kernel_choose(struct pw_kernel_env *env, const struct pw_parameter *given, size_t given_count,
                           struct pw_error *err)
{
    struct choice c = {.env = env, .budget = VISITS_MAX, .furthest = -1, .err = err};
    bool holds = false, found = false;
    pw_status status;

    status = fix_parameters(&c, given, given_count);
    if (status == PW_OK)
        status = check_level(&c, 0, &holds);
    if (status == PW_OK && holds)
        status = choose_from(&c, 0, &found);
    if (status == PW_OK && !found)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "%s", c.why.message);
    return status;
}
