/* Checks a read kernel against its operators: names, formals, type variables. What only a concrete call can
 * tell (names that a room binds) is checked when a plan is made. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "op/kernel_parts.h"

static const char *const fact_names[] = {"local_mem_bytes", "max_work_group",
                                         "vector_width",    "work_group_multiple",
                                         "compute_units",   "global_mem_bytes",
                                         "max_alloc_bytes", "has_fp64",
                                         "has_fp16",        "is_cpu"};

pw_dtype pw_kernel_fixed_dtype(const struct pw_formal *formal)
{
    char name[32];
    size_t n;

    if (!formal->type)
        return PW_DTYPE_UNDEFINED;
    n = strlen(formal->type);
    if (!pw_text_starts(formal->type, "tensor(") || n < 8 || n - 8 >= sizeof name)
        return pw_dtype_parse(formal->type);
    memcpy(name, formal->type + 7, n - 8);
    name[n - 8] = 0;
    /* ONNX writes the types of C: tensor(float), tensor(double). */
    if (strcmp(name, "float") == 0)
        return PW_DTYPE_FLOAT32;
    if (strcmp(name, "double") == 0)
        return PW_DTYPE_FLOAT64;
    return pw_dtype_parse(name);
}

const struct pw_kernel_dtypes *pw_kernel_dtypes_of(const struct pw_kernel *kernel, const struct pw_op *op,
                                                   const struct pw_formal *formal)
{
    const char *type = formal->type;

    for (size_t i = 0; type && i < kernel->dtype_count; i++) {
        const char *variable = kernel->dtypes[i].variable;

        if (!variable) /* the list form */
            variable = op->inputs && op->inputs[0].name ? op->inputs[0].type : op->outputs[0].type;
        if (variable && strcmp(variable, type) == 0)
            return &kernel->dtypes[i];
    }
    return NULL;
}

const struct pw_kernel_scratch *pw_kernel_find_scratch(const struct pw_kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->scratch_count; i++) {
        if (strcmp(kernel->scratch[i].name, name) == 0)
            return &kernel->scratch[i];
    }
    return NULL;
}

const struct pw_kernel_prepack *pw_kernel_find_prepack(const struct pw_kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->prepack_count; i++) {
        if (strcmp(kernel->prepacks[i].output, name) == 0)
            return &kernel->prepacks[i];
    }
    return NULL;
}

/* ---- which parameters an expression depends on ---- */

struct dependence {
    const struct pw_kernel *kernel;
    size_t variables; /* how many are defined before */
    uint32_t mask;
    const char *early; /* a variable that is defined later */
};

static void note_dependence(void *user, const char *name)
{
    struct dependence *d = user;

    for (size_t p = 0; p < d->kernel->parameter_count; p++) {
        if (strcmp(d->kernel->parameters[p].name, name) == 0)
            d->mask |= 1u << p;
    }
    for (size_t v = 0; v < d->kernel->variable_count; v++) {
        if (strcmp(d->kernel->variables[v].name, name) != 0)
            continue;
        if (v < d->variables)
            d->mask |= d->kernel->variables[v].value.parameters;
        else
            d->early = name;
    }
}

static pw_status find_dependences(struct pw_kernel *kernel, struct pw_error *err)
{
    struct dependence d = {.kernel = kernel};

    for (size_t v = 0; v < kernel->variable_count; v++) {
        struct pw_kernel_expr *value = &kernel->variables[v].value;

        d.variables = v;
        d.mask = 0;
        pw_expr_names(value->expr, note_dependence, &d);
        if (d.early)
            return pw_yaml_error(value->at, err, "the variable '%s' is not defined yet: order them", d.early);
        value->parameters = d.mask;
    }
    d.variables = kernel->variable_count;
    for (size_t c = 0; c < kernel->constraint_count; c++) {
        d.mask = 0;
        pw_expr_names(kernel->constraints[c].expr, note_dependence, &d);
        kernel->constraints[c].parameters = d.mask;
    }
    return PW_OK;
}

/* A parameter that names an entry selects among the entries of one program. */
static void note_entry_parameters(struct pw_kernel *kernel)
{
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        char word[72];

        snprintf(word, sizeof word, "{%s}", kernel->parameters[p].name);
        for (size_t l = 0; l < kernel->launch_count + kernel->prepack_count; l++) {
            const struct pw_kernel_launch *launch =
                l < kernel->launch_count ? &kernel->launches[l] : &kernel->prepacks[l - kernel->launch_count].launch;

            if (strstr(launch->entry->text, word))
                kernel->parameters[p].in_entry = true;
        }
    }
}

/* ---- own names ---- */

struct own_names {
    const char *items[PW_KERNEL_PARAMETERS_MAX + PW_KERNEL_VARIABLES_MAX + PW_KERNEL_LIST_MAX + 16];
    size_t count;
};

static pw_status claim(const struct pw_kernel *kernel, struct own_names *own, const char *name,
                       const struct pw_yaml *at, struct pw_error *err)
{
    struct pw_formal_ref ref;

    if (strcmp(name, "i") == 0)
        return pw_yaml_error(at, err, "'i' is the index of a launch with 'each'");
    for (size_t i = 0; i < PW_COUNT_OF(fact_names); i++) {
        if (strcmp(name, fact_names[i]) == 0)
            return pw_yaml_error(at, err, "'%s' is a fact of the device", name);
    }
    for (size_t i = 0; i < own->count; i++) {
        if (strcmp(name, own->items[i]) == 0)
            return pw_yaml_error(at, err, "the name '%s' is used twice", name);
    }
    for (size_t i = 0; i < kernel->op_count; i++) {
        if (pw_bind_formal(kernel->ops[i], name, strlen(name), &ref))
            return pw_yaml_error(at, err, "'%s' is a formal of %s", name, kernel->ops[i]->name);
    }
    if (own->count < PW_COUNT_OF(own->items))
        own->items[own->count++] = name;
    return PW_OK;
}

static pw_status check_own_names(const struct pw_kernel *kernel, struct own_names *own, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; status == PW_OK && i < kernel->parameter_count; i++)
        status = claim(kernel, own, kernel->parameters[i].name, pw_yaml_get(kernel->at, "parameters"), err);
    for (size_t i = 0; status == PW_OK && i < kernel->variable_count; i++)
        status = claim(kernel, own, kernel->variables[i].name, kernel->variables[i].value.at, err);
    for (size_t i = 0; status == PW_OK && i < kernel->scratch_count; i++)
        status = claim(kernel, own, kernel->scratch[i].name, kernel->scratch[i].bytes.at, err);
    for (size_t i = 0; status == PW_OK && i < kernel->prepack_count; i++)
        status = claim(kernel, own, kernel->prepacks[i].output, kernel->prepacks[i].at, err);
    return status;
}

/* ---- references to an operator ---- */

static bool is_attribute(const struct pw_op *op, const char *name)
{
    for (const struct pw_attr_def *attr = op->attrs; attr && attr->name; attr++) {
        if ((attr->type == PW_ATTR_INT || attr->type == PW_ATTR_FLOAT) && strcmp(attr->name, name) == 0)
            return true;
    }
    return false;
}

/* "X_size", "has_X" and the like, of any call. */
static bool is_derived(const struct pw_op *op, const char *name)
{
    static const char *const properties[] = {"rank", "size", "bytes", "count"};
    const char *cut = strrchr(name, '_');
    struct pw_formal_ref ref;

    if (strncmp(name, "has_", 4) == 0 && pw_bind_formal(op, name + 4, strlen(name + 4), &ref))
        return true;
    if (!cut || !pw_bind_formal(op, name, (size_t)(cut - name), &ref))
        return false;
    for (size_t i = 0; i < PW_COUNT_OF(properties); i++) {
        if (strcmp(cut + 1, properties[i]) == 0)
            return true;
    }
    return cut[1] == 'd' && cut[2];
}

/* All names of one expression or argument against one operator. */
struct reference_check {
    const struct own_names *own;
    const struct pw_op *op;
    const char *unknown;
};

static void check_name(void *user, const char *name)
{
    struct reference_check *check = user;

    if (strcmp(name, "i") == 0 || is_derived(check->op, name) || is_attribute(check->op, name))
        return;
    for (size_t i = 0; i < PW_COUNT_OF(fact_names); i++) {
        if (strcmp(name, fact_names[i]) == 0)
            return;
    }
    for (size_t i = 0; i < check->own->count; i++) {
        if (strcmp(name, check->own->items[i]) == 0)
            return;
    }
    if (!check->unknown)
        check->unknown = name;
}

static pw_status unknown_name(const struct reference_check *check, const struct pw_yaml *at, struct pw_error *err)
{
    const char *candidates[PW_COUNT_OF(fact_names) + 2 * PW_OP_MAX_FORMALS + PW_COUNT_OF(check->own->items)];
    const char *near;
    size_t count = 0;

    for (size_t i = 0; i < PW_COUNT_OF(fact_names); i++)
        candidates[count++] = fact_names[i];
    for (size_t i = 0; i < check->own->count; i++)
        candidates[count++] = check->own->items[i];
    for (size_t i = 0; i < PW_OP_MAX_FORMALS && check->op->inputs && check->op->inputs[i].name; i++)
        candidates[count++] = check->op->inputs[i].name;
    for (size_t i = 0; i < PW_OP_MAX_FORMALS && check->op->outputs && check->op->outputs[i].name; i++)
        candidates[count++] = check->op->outputs[i].name;
    near = pw_text_nearest(check->unknown, candidates, count);
    return pw_yaml_error(at, err, "unknown name '%s' for %s-%d%s%s%s", check->unknown, check->op->name,
                         check->op->since, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static pw_status check_expr(struct reference_check *check, const struct pw_kernel_expr *expr, struct pw_error *err)
{
    if (!expr->expr)
        return PW_OK;
    pw_expr_names(expr->expr, check_name, check);
    return check->unknown ? unknown_name(check, expr->at, err) : PW_OK;
}

static pw_status check_type(const struct pw_kernel *kernel, const struct pw_op *op, const struct pw_formal_ref *ref,
                            const struct pw_yaml *at, struct pw_error *err)
{
    if (pw_kernel_fixed_dtype(ref->def) != PW_DTYPE_UNDEFINED || pw_kernel_dtypes_of(kernel, op, ref->def))
        return PW_OK;
    if (!ref->def->type)
        return pw_yaml_error(at, err, "'%s' of %s-%d has no type variable: a kernel can't take it", ref->def->name,
                             op->name, op->since);
    return pw_yaml_error(at, err, "'%s' of %s-%d has the type variable '%s', which dtypes does not list",
                         ref->def->name, op->name, op->since, ref->def->type);
}

/* `each` or NULL: the launch's. */
static pw_status check_arg(const struct pw_kernel *kernel, struct reference_check *check, const char *each,
                           const struct pw_kernel_arg *arg, struct pw_error *err)
{
    const struct pw_op *op = check->op;
    struct pw_formal_ref ref;

    if (!arg->name || !pw_bind_formal(op, arg->name, strlen(arg->name), &ref)) {
        if (op->bind || (op->most && arg->name && strcmp(arg->name, PW_KERNEL_FOUND) == 0))
            return PW_OK; /* the room may bind it */
        if (arg->expr.expr)
            return check_expr(check, &arg->expr, err);
        check_name(check, arg->name);
        return check->unknown ? unknown_name(check, arg->at, err) : PW_OK;
    }
    if (ref.def->flags & PW_FORMAL_PARAM)
        return pw_yaml_error(arg->at, err, "'%s' of %s-%d is set up by the host and never a kernel argument", arg->name,
                             op->name, op->since);
    if (arg->suffix != PW_SUFFIX_NONE)
        return pw_yaml_error(arg->at, err, "'%s' is a buffer: it takes no suffix", arg->name);
    if (ref.variadic && !arg->indexed && !each)
        return pw_yaml_error(arg->at, err, "'%s' of %s-%d repeats: use 'each' or %s[index]", arg->name, op->name,
                             op->since, arg->name);
    if (!ref.variadic && arg->indexed)
        return pw_yaml_error(arg->at, err, "'%s' of %s-%d does not repeat: it takes no index", arg->name, op->name,
                             op->since);
    return check_type(kernel, op, &ref, arg->at, err);
}

static pw_status check_launch(const struct pw_kernel *kernel, struct reference_check *check,
                              const struct pw_kernel_launch *launch, struct pw_error *err)
{
    struct pw_formal_ref ref;
    pw_status status = PW_OK;

    if (launch->each && (!pw_bind_formal(check->op, launch->each, strlen(launch->each), &ref) || !ref.variadic))
        return pw_yaml_error(launch->at, err, "each: '%s' is no variadic formal of %s-%d", launch->each,
                             check->op->name, check->op->since);
    for (size_t i = 0; status == PW_OK && i < launch->arg_count; i++)
        status = check_arg(kernel, check, launch->each, &launch->args[i], err);
    if (check->op->bind)
        return status;
    if (status == PW_OK)
        status = check_expr(check, &launch->when, err);
    for (int d = 0; status == PW_OK && d < launch->work_dim; d++) {
        status = check_expr(check, &launch->global[d], err);
        if (status == PW_OK && launch->has_local)
            status = check_expr(check, &launch->local[d], err);
    }
    return status;
}

static bool takes_found(const struct pw_kernel *kernel)
{
    for (size_t l = 0; l < kernel->launch_count; l++) {
        for (size_t a = 0; a < kernel->launches[l].arg_count; a++) {
            if (kernel->launches[l].args[a].name && strcmp(kernel->launches[l].args[a].name, PW_KERNEL_FOUND) == 0)
                return true;
        }
    }
    return false;
}

static pw_status check_op(const struct pw_kernel *kernel, const struct own_names *own, const struct pw_op *op,
                          struct pw_error *err)
{
    struct reference_check check = {.own = own, .op = op};
    struct pw_formal_ref ref;
    pw_status status = PW_OK;

    if (op->most && !takes_found(kernel))
        return pw_yaml_error(kernel->at, err, "the data decides the size of %s-%d's outputs: a launch must take '%s'",
                             op->name, op->since, PW_KERNEL_FOUND);
    for (size_t i = 0; status == PW_OK && i < kernel->launch_count; i++)
        status = check_launch(kernel, &check, &kernel->launches[i], err);
    for (size_t i = 0; status == PW_OK && i < kernel->prepack_count; i++) {
        const struct pw_kernel_prepack *prepack = &kernel->prepacks[i];

        if (!pw_bind_formal(op, prepack->input, strlen(prepack->input), &ref) || ref.output || ref.variadic)
            return pw_yaml_error(prepack->at, err, "prepack of '%s', which is no single input of %s-%d", prepack->input,
                                 op->name, op->since);
        status = check_launch(kernel, &check, &prepack->launch, err);
    }
    for (size_t i = 0; !op->bind && status == PW_OK && i < kernel->variable_count; i++)
        status = check_expr(&check, &kernel->variables[i].value, err);
    for (size_t i = 0; !op->bind && status == PW_OK && i < kernel->constraint_count; i++)
        status = check_expr(&check, &kernel->constraints[i], err);
    return status;
}

static pw_status check_dtype_keys(const struct pw_kernel *kernel, struct pw_error *err)
{
    for (size_t i = 0; i < kernel->dtype_count; i++) {
        const char *variable = kernel->dtypes[i].variable;
        bool known = variable == NULL;

        for (size_t o = 0; !known && o < kernel->op_count; o++) {
            const struct pw_op *op = kernel->ops[o];

            for (int side = 0; side < 2; side++) {
                const struct pw_formal *formal = side ? op->outputs : op->inputs;

                for (; formal && formal->name; formal++)
                    known = known || (formal->type && strcmp(formal->type, variable) == 0);
            }
        }
        if (!known)
            return pw_yaml_error(&pw_yaml_get(kernel->at, "dtypes")->items[i], err,
                                 "'%s' is no type variable of %s-%d or the others that it implements", variable,
                                 kernel->ops[0]->name, kernel->ops[0]->since);
    }
    return PW_OK;
}

/* ---- argument names: each formal among them gets its macros ---- */

static void collect_arg_name(struct pw_kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->arg_name_count; i++) {
        if (strcmp(kernel->arg_names[i], name) == 0)
            return;
    }
    kernel->arg_names[kernel->arg_name_count++] = name;
}

static void collect_launch(struct pw_kernel *kernel, const struct pw_kernel_launch *launch)
{
    for (size_t i = 0; i < launch->arg_count; i++) {
        if (launch->args[i].name)
            collect_arg_name(kernel, launch->args[i].name);
    }
}

static pw_status collect_arg_names(const struct pw_kernel_context *context, struct pw_kernel *kernel,
                                   struct pw_error *err)
{
    size_t cap = 0;

    for (size_t i = 0; i < kernel->launch_count; i++)
        cap += kernel->launches[i].arg_count;
    for (size_t i = 0; i < kernel->prepack_count; i++)
        cap += kernel->prepacks[i].launch.arg_count;
    kernel->arg_names = pw_arena_alloc(&context->set->arena, cap, sizeof *kernel->arg_names);
    if (!kernel->arg_names)
        return pw_error_memory(err, cap * sizeof *kernel->arg_names);
    for (size_t i = 0; i < kernel->launch_count; i++)
        collect_launch(kernel, &kernel->launches[i]);
    for (size_t i = 0; i < kernel->prepack_count; i++)
        collect_launch(kernel, &kernel->prepacks[i].launch);
    return PW_OK;
}

pw_status pw_kernel_check(const struct pw_kernel_context *context, struct pw_kernel *kernel, struct pw_error *err)
{
    struct own_names own = {.count = 0};
    pw_status status = check_own_names(kernel, &own, err);

    if (status == PW_OK)
        status = find_dependences(kernel, err);
    if (status == PW_OK)
        status = check_dtype_keys(kernel, err);
    for (size_t i = 0; status == PW_OK && i < kernel->op_count; i++)
        status = check_op(kernel, &own, kernel->ops[i], err);
    if (status == PW_OK)
        status = collect_arg_names(context, kernel, err);
    if (status == PW_OK)
        note_entry_parameters(kernel);
    return status;
}
