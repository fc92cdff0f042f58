/* A description and a concrete call -> what to build and launch. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "op/kernel_parts.h"

enum { PLAN_BUFFERS_MAX = 4096, PLAN_LAUNCHES_MAX = 4096, EMPTY_BUFFER_BYTES = 64 };

/* Grows towards the plan; arrays are copied into the plan's arena at the end. */
struct builder {
    struct pw_kernel_env env;
    struct pw_bindings bindings;
    struct pw_plan plan;
    struct pw_plan_buffer *buffers;
    const char **buffer_names; /* of scratch, packed and int buffers; else NULL */
    size_t buffer_cap, name_cap;
    struct pw_plan_launch *launches;
    size_t launch_cap;
    struct pw_error *err;
};

static pw_status unsupported(const struct builder *b, const char *format, ...) PW_PRINTF(2, 3);
static pw_status unsupported(const struct builder *b, const char *format, ...)
{
    char text[PW_ERROR_MAX / 2];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pw_error_set(b->err, PW_ERR_UNSUPPORTED, "kernel '%s': %s", b->env.kernel->name, text);
}

/* ---- what the kernel takes ---- */

static pw_status check_info(const struct builder *b, const struct pw_formal_ref *ref, const struct pw_info *info,
                            size_t *bytes)
{
    const struct pw_kernel *kernel = b->env.kernel;
    const struct pw_kernel_dtypes *claim = pw_kernel_dtypes_of(kernel, b->env.call->op, ref->def);
    int64_t size = 1;

    if (info->kind != PW_VALUE_TENSOR || info->dtype == PW_DTYPE_UNDEFINED || info->rank < 0)
        return unsupported(b, "'%s' is not a tensor of known type and rank", ref->def->name);
    if (info->optional)
        return unsupported(b, "'%s' may be absent at run time", ref->def->name);
    if (claim ? !(claim->mask >> info->dtype & 1) : pw_kernel_fixed_dtype(ref->def) != info->dtype)
        return unsupported(b, "'%s' is %s, which it does not serve", ref->def->name, pw_dtype_name(info->dtype));
    if (info->dtype == PW_DTYPE_FLOAT64 && !b->env.facts->has_fp64)
        return unsupported(b, "'%s' is float64, which the device does not have", ref->def->name);
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return unsupported(b, "dim %d of '%s' is not a number", d, ref->def->name);
        if (__builtin_mul_overflow(size, info->dims[d], &size))
            return unsupported(b, "the size of '%s' does not fit 64 bits", ref->def->name);
    }
    if (__builtin_mul_overflow((size_t)size, pw_dtype_bytes(info->dtype), bytes))
        return unsupported(b, "the size of '%s' does not fit 64 bits", ref->def->name);
    if (b->env.facts->max_alloc_bytes > 0 && *bytes > (size_t)b->env.facts->max_alloc_bytes)
        return unsupported(b, "'%s' takes %zu bytes; the device allocates at most %" PRId64, ref->def->name, *bytes,
                           b->env.facts->max_alloc_bytes);
    return PW_OK;
}

/* ---- buffers ---- */

static pw_status add_buffer(struct builder *b, const struct pw_plan_buffer *buffer, const char *name, int *out)
{
    size_t at = b->plan.buffer_count;
    pw_status status;

    if (at == PLAN_BUFFERS_MAX)
        return unsupported(b, "more than %d buffers", PLAN_BUFFERS_MAX);
    status = PW_GROW(b->buffers, b->buffer_cap, at + 1, b->err);
    if (status == PW_OK)
        status = PW_GROW(b->buffer_names, b->name_cap, at + 1, b->err);
    if (status != PW_OK)
        return status;
    b->buffers[at] = *buffer;
    b->buffer_names[at] = name;
    b->plan.buffer_count++;
    *out = (int)at;
    return PW_OK;
}

static bool find_named(const struct builder *b, pw_buffer_kind kind, const char *name, int *out)
{
    for (size_t i = 0; i < b->plan.buffer_count; i++) {
        if (b->buffers[i].kind == kind && b->buffer_names[i] && strcmp(b->buffer_names[i], name) == 0) {
            *out = (int)i;
            return true;
        }
    }
    return false;
}

/* Element of a formal as a buffer; *out = -1 when omitted. */
static pw_status formal_buffer(struct builder *b, const struct pw_formal_ref *ref, int element, int *out)
{
    const struct pw_info *info = pw_bind_info(b->env.call, ref, element);
    struct pw_plan_buffer buffer = {.kind = ref->output ? PW_BUFFER_OUTPUT : PW_BUFFER_INPUT,
                                    .index = ref->formal + (ref->variadic ? element : 0)};
    pw_status status;

    if (!info) {
        if (ref->variadic)
            return unsupported(b, "there is no element %d of '%s'", element, ref->def->name);
        *out = -1;
        return PW_OK;
    }
    for (size_t i = 0; i < b->plan.buffer_count; i++) {
        if (b->buffers[i].kind == buffer.kind && b->buffers[i].index == buffer.index) {
            *out = (int)i;
            return PW_OK;
        }
    }
    status = check_info(b, ref, info, &buffer.size_bytes);
    return status == PW_OK ? add_buffer(b, &buffer, NULL, out) : status;
}

static pw_status sized_buffer(struct builder *b, pw_buffer_kind kind, const char *name, int index,
                              const struct pw_kernel_expr *bytes, int *out)
{
    struct pw_plan_buffer buffer = {.kind = kind, .index = index};
    int64_t size = 0;
    pw_status status;

    if (find_named(b, kind, name, out))
        return PW_OK;
    status = pw_kernel_eval(&b->env, bytes, &size, b->err);
    if (status != PW_OK)
        return status;
    if (size < 0 || (b->env.facts->max_alloc_bytes > 0 && size > b->env.facts->max_alloc_bytes))
        return unsupported(b, "the buffer '%s' takes %" PRId64 " bytes; the device allocates at most %" PRId64, name,
                           size, b->env.facts->max_alloc_bytes);
    buffer.size_bytes = size ? (size_t)size : EMPTY_BUFFER_BYTES;
    return add_buffer(b, &buffer, name, out);
}

static pw_status ints_buffer(struct builder *b, const struct pw_bound *bound, int *out)
{
    struct pw_plan_buffer buffer = {.kind = PW_BUFFER_INTS};
    int32_t *ints;

    if (find_named(b, PW_BUFFER_INTS, bound->name, out))
        return PW_OK;
    ints = pw_arena_alloc(&b->plan.arena, bound->count ? bound->count : 1, sizeof *ints);
    if (!ints)
        return pw_error_memory(b->err, bound->count * sizeof *ints);
    for (size_t i = 0; i < bound->count; i++) {
        if (bound->ints[i] != (int32_t)bound->ints[i])
            return unsupported(b, "element %zu of '%s' is %" PRId64 ", which does not fit int", i, bound->name,
                               bound->ints[i]);
        ints[i] = (int32_t)bound->ints[i];
    }
    buffer.ints = ints;
    buffer.size_bytes = (bound->count ? bound->count : 1) * sizeof *ints;
    return add_buffer(b, &buffer, bound->name, out);
}

static pw_status found_buffer(struct builder *b, int *out)
{
    const struct pw_plan_buffer buffer = {.kind = PW_BUFFER_FOUND, .size_bytes = sizeof(int32_t)};

    if (find_named(b, PW_BUFFER_FOUND, PW_KERNEL_FOUND, out))
        return PW_OK;
    return add_buffer(b, &buffer, PW_KERNEL_FOUND, out);
}

/* ---- arguments ---- */

static pw_status buffer_arg(pw_status status, int buffer, struct pw_plan_arg *out)
{
    out->kind = buffer < 0 ? PW_ARG_NULL : PW_ARG_BUFFER;
    out->buffer = buffer;
    return status;
}

static pw_status float_arg(struct builder *b, const struct pw_kernel_arg *arg, struct pw_plan_arg *out)
{
    const struct pw_bound *bound = pw_bindings_find(&b->bindings, arg->name);
    int64_t value = 0;

    out->kind = arg->suffix == PW_SUFFIX_DOUBLE ? PW_ARG_DOUBLE : PW_ARG_FLOAT;
    if (out->kind == PW_ARG_DOUBLE && !b->env.facts->has_fp64)
        return unsupported(b, "argument '%s' is double, which the device does not have", arg->name);
    if (bound && bound->kind == PW_BOUND_FLOAT) {
        out->f = bound->f;
        return PW_OK;
    }
    for (const struct pw_attr_def *attr = b->env.call->op->attrs; !bound && attr && attr->name; attr++) {
        if (attr->type == PW_ATTR_FLOAT && strcmp(attr->name, arg->name) == 0) {
            out->f = (double)pw_call_float(b->env.call, attr->name);
            return PW_OK;
        }
    }
    if (pw_kernel_lookup(&b->env, arg->name, -1, &value)) {
        out->f = (double)value;
        return PW_OK;
    }
    return pw_yaml_error(arg->at, b->err, "no float '%s' is bound for %s-%d (kernel '%s')", arg->name,
                         b->env.call->op->name, b->env.call->op->since, b->env.kernel->name);
}

static pw_status int_arg(struct builder *b, const struct pw_kernel_arg *arg, struct pw_plan_arg *out)
{
    pw_status status = pw_kernel_eval(&b->env, &arg->expr, &out->i, b->err);

    if (status != PW_OK)
        return status;
    out->kind = arg->suffix == PW_SUFFIX_LONG ? PW_ARG_LONG : PW_ARG_INT;
    if (out->kind == PW_ARG_INT && out->i != (int32_t)out->i)
        return unsupported(b, "argument %s = %" PRId64 " does not fit int", pw_expr_text(arg->expr.expr), out->i);
    return PW_OK;
}

/* A float attribute by its bare name. */
static bool is_float_attribute(const struct pw_op *op, const char *name)
{
    for (const struct pw_attr_def *attr = op->attrs; attr && attr->name; attr++) {
        if (attr->type == PW_ATTR_FLOAT && strcmp(attr->name, name) == 0)
            return true;
    }
    return false;
}

static pw_status named_arg(struct builder *b, const struct pw_kernel_arg *arg, struct pw_plan_arg *out, bool *done)
{
    const struct pw_kernel *kernel = b->env.kernel;
    const struct pw_kernel_scratch *scratch = pw_kernel_find_scratch(kernel, arg->name);
    const struct pw_kernel_prepack *prepack = pw_kernel_find_prepack(kernel, arg->name);
    const struct pw_bound *bound = pw_bindings_find(&b->bindings, arg->name);
    struct pw_formal_ref ref;
    int buffer = -1;
    pw_status status;

    *done = true;
    if (b->env.call->op->most && strcmp(arg->name, PW_KERNEL_FOUND) == 0) {
        status = found_buffer(b, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (scratch) {
        status = sized_buffer(b, PW_BUFFER_SCRATCH, scratch->name, 0, &scratch->bytes, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (prepack && pw_bind_formal(b->env.call->op, prepack->input, strlen(prepack->input), &ref)) {
        status = sized_buffer(b, PW_BUFFER_PACKED, prepack->output, ref.formal, &prepack->bytes, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (pw_bind_formal(b->env.call->op, arg->name, strlen(arg->name), &ref)) {
        status = formal_buffer(b, &ref, b->env.repeating ? b->env.element : 0, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (bound && bound->kind == PW_BOUND_INTS && !arg->indexed) {
        status = ints_buffer(b, bound, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (arg->suffix == PW_SUFFIX_NONE &&
        ((bound && bound->kind == PW_BOUND_FLOAT) || (!bound && is_float_attribute(b->env.call->op, arg->name))))
        return float_arg(b, arg, out);
    *done = false;
    return PW_OK;
}

static pw_status make_arg(struct builder *b, const struct pw_kernel_arg *arg, struct pw_plan_arg *out)
{
    struct pw_formal_ref ref;
    bool done = false;
    pw_status status;

    memset(out, 0, sizeof *out);
    if (arg->suffix == PW_SUFFIX_FLOAT || arg->suffix == PW_SUFFIX_DOUBLE)
        return float_arg(b, arg, out);
    if (arg->indexed && pw_bind_formal(b->env.call->op, arg->name, strlen(arg->name), &ref)) {
        int64_t element = 0;
        int buffer = -1;

        status = pw_kernel_eval(&b->env, &arg->index, &element, b->err);
        if (status == PW_OK && (element < 0 || element > INT32_MAX))
            status = unsupported(b, "there is no element %" PRId64 " of '%s'", element, arg->name);
        if (status == PW_OK)
            status = formal_buffer(b, &ref, (int)element, &buffer);
        return buffer_arg(status, buffer, out);
    }
    if (arg->name && !arg->indexed) {
        status = named_arg(b, arg, out, &done);
        if (done)
            return status;
    }
    return int_arg(b, arg, out);
}

/* ---- launches ---- */

static pw_status make_sizes(struct builder *b, const struct pw_kernel_launch *launch, struct pw_plan_launch *out,
                            bool *empty)
{
    int64_t group = 1;

    out->work_dim = launch->work_dim;
    for (int d = 0; d < launch->work_dim; d++) {
        int64_t global = 0, local = 0;
        pw_status status = pw_kernel_eval(&b->env, &launch->global[d], &global, b->err);

        if (status == PW_OK && launch->has_local)
            status = pw_kernel_eval(&b->env, &launch->local[d], &local, b->err);
        if (status != PW_OK)
            return status;
        if (global < 0 || (launch->has_local && local < 1))
            return unsupported(b, "entry %s: global[%d] = %" PRId64 " and local[%d] = %" PRId64, out->entry, d, global,
                               d, local);
        if (launch->has_local && global % local != 0)
            return unsupported(b, "entry %s: global[%d] = %" PRId64 " is no multiple of local[%d] = %" PRId64,
                               out->entry, d, global, d, local);
        if (launch->has_local && __builtin_mul_overflow(group, local, &group))
            return unsupported(b, "entry %s: the work-group's size does not fit 64 bits", out->entry);
        *empty = *empty || global == 0;
        out->global[d] = (uint64_t)global;
        out->local[d] = (uint64_t)local;
    }
    if (b->env.facts->max_work_group > 0 && group > b->env.facts->max_work_group)
        return unsupported(b, "entry %s: a work-group of %" PRId64 "; the device takes at most %" PRId64, out->entry,
                           group, b->env.facts->max_work_group);
    return PW_OK;
}

static pw_status make_launch(struct builder *b, const struct pw_kernel_launch *launch, bool pack)
{
    struct pw_plan_launch out = {.pack = pack};
    struct pw_plan_arg *args;
    int64_t when = 1;
    bool empty = false;
    pw_status status = PW_OK;

    if (launch->when.expr)
        status = pw_kernel_eval(&b->env, &launch->when, &when, b->err);
    if (status != PW_OK || !when)
        return status;
    status = pw_kernel_expand(&b->env, launch->entry, &b->plan.arena, &out.entry, b->err);
    if (status == PW_OK)
        status = make_sizes(b, launch, &out, &empty);
    if (status != PW_OK)
        return status;
    args = pw_arena_alloc(&b->plan.arena, launch->arg_count ? launch->arg_count : 1, sizeof *args);
    if (!args)
        return pw_error_memory(b->err, launch->arg_count * sizeof *args);
    /* Arguments of an empty launch are still checked: support must not depend on a size being 0. */
    for (size_t i = 0; status == PW_OK && i < launch->arg_count; i++)
        status = make_arg(b, &launch->args[i], &args[i]);
    if (status != PW_OK || empty)
        return status;
    out.args = args;
    out.arg_count = launch->arg_count;
    if (b->plan.launch_count == PLAN_LAUNCHES_MAX)
        return unsupported(b, "more than %d launches", PLAN_LAUNCHES_MAX);
    status = PW_GROW(b->launches, b->launch_cap, b->plan.launch_count + 1, b->err);
    if (status == PW_OK)
        b->launches[b->plan.launch_count++] = out;
    return status;
}

static pw_status make_launches(struct builder *b)
{
    const struct pw_kernel *kernel = b->env.kernel;
    pw_status status = PW_OK;

    for (size_t i = 0; status == PW_OK && i < kernel->prepack_count; i++)
        status = make_launch(b, &kernel->prepacks[i].launch, true);
    for (size_t i = 0; status == PW_OK && i < kernel->launch_count; i++) {
        const struct pw_kernel_launch *launch = &kernel->launches[i];
        struct pw_formal_ref ref;
        int count;

        if (!launch->each) {
            status = make_launch(b, launch, false);
            continue;
        }
        if (!pw_bind_formal(b->env.call->op, launch->each, strlen(launch->each), &ref))
            continue; /* refused at load */
        count = pw_bind_count(b->env.call, &ref);
        b->env.repeating = true;
        for (b->env.element = 0; status == PW_OK && b->env.element < count; b->env.element++) {
            if (pw_bind_info(b->env.call, &ref, b->env.element))
                status = make_launch(b, launch, false);
        }
        b->env.repeating = false;
    }
    return status;
}

/* ---- the program ---- */

/* Storage type of a formal: its own, its variable's in this call, or when neither is known (omitted and
 * alone) the first that the kernel serves: the kernel does not touch it then. */
static pw_dtype formal_dtype(const struct builder *b, const struct pw_formal_ref *ref)
{
    const struct pw_call *call = b->env.call;
    const struct pw_info *info = pw_bind_info(call, ref, 0);
    const struct pw_kernel_dtypes *claim;

    if (info && info->dtype != PW_DTYPE_UNDEFINED)
        return info->dtype;
    if (pw_kernel_fixed_dtype(ref->def) != PW_DTYPE_UNDEFINED)
        return pw_kernel_fixed_dtype(ref->def);
    for (int side = 0; side < 2; side++) {
        const struct pw_formal *formals = side ? call->op->outputs : call->op->inputs;

        for (int i = 0; formals && formals[i].name; i++) {
            struct pw_formal_ref other = {side == 1, i, (formals[i].flags & PW_FORMAL_VARIADIC) != 0, &formals[i]};
            const struct pw_info *known = pw_bind_info(call, &other, 0);

            if (known && known->dtype != PW_DTYPE_UNDEFINED && formals[i].type && ref->def->type &&
                strcmp(formals[i].type, ref->def->type) == 0)
                return known->dtype;
        }
    }
    claim = pw_kernel_dtypes_of(b->env.kernel, call->op, ref->def);
    return claim ? claim->first : PW_DTYPE_FLOAT32;
}

static void define_types(const struct builder *b, struct pw_buf *options)
{
    const struct pw_kernel *kernel = b->env.kernel;
    const struct pw_op *op = b->env.call->op;
    struct pw_formal_ref ref;
    bool has_first;

    for (size_t i = 0; i < kernel->arg_name_count; i++) {
        const struct pw_dtype_facts *facts;

        if (!pw_bind_formal(op, kernel->arg_names[i], strlen(kernel->arg_names[i]), &ref))
            continue;
        facts = pw_dtype_facts(formal_dtype(b, &ref));
        pw_buf_printf(options, "-D%s_dtype=%s -D%s_bytes=%zu ", kernel->arg_names[i], facts->short_name,
                      kernel->arg_names[i], facts->bytes);
    }
    has_first = pw_bind_formal(op, "in0", 3, &ref) || pw_bind_formal(op, "out0", 4, &ref);
    if (has_first)
        pw_buf_printf(options, "-DT_dtype=%s ", pw_dtype_facts(formal_dtype(b, &ref))->short_name);
}

static pw_status make_options(struct builder *b, const char **out)
{
    const struct pw_kernel *kernel = b->env.kernel;
    struct pw_buf options = {0};
    pw_status status = PW_OK;

    pw_buf_puts(&options, kernel->options);
    define_types(b, &options);
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        if (!kernel->parameters[p].in_entry)
            pw_buf_printf(&options, "-D%s=%" PRId64 " ", kernel->parameters[p].name, b->env.parameters[p]);
    }
    for (size_t i = 0; status == PW_OK && i < kernel->define_count; i++) {
        const struct pw_kernel_define *define = &kernel->defines[i];
        const char *text = NULL;
        int64_t value = 0;

        if (define->text) {
            status = pw_kernel_expand(&b->env, define->text, &b->plan.arena, &text, b->err);
            pw_buf_printf(&options, "-D%s=%s ", define->name, text ? text : "");
        } else {
            status = pw_kernel_eval(&b->env, &define->value, &value, b->err);
            pw_buf_printf(&options, "-D%s=%" PRId64 " ", define->name, value);
        }
    }
    if (status == PW_OK && !options.failed) {
        size_t size = options.size;

        while (size > 0 && options.data[size - 1] == ' ')
            size--;
        *out = pw_arena_strndup(&b->plan.arena, pw_buf_text(&options), size);
    }
    if (status == PW_OK && (options.failed || !*out))
        status = pw_error_memory(b->err, options.size);
    pw_buf_clear(&options);
    return status;
}

static pw_status make_program(struct builder *b)
{
    static const char *const only_opencl[] = {"opencl", NULL};
    const struct pw_kernel *kernel = b->env.kernel;
    const char *const *languages = b->env.facts->languages ? b->env.facts->languages : only_opencl;
    const struct pw_kernel_source *source = NULL;
    struct pw_plan_program *program;

    for (; *languages && !source; languages++) {
        for (size_t i = 0; i < kernel->source_count && !source; i++) {
            if (strcmp(kernel->sources[i].language, *languages) == 0)
                source = &kernel->sources[i];
        }
    }
    if (!source)
        return unsupported(b, "it has no source in a language of the device (it has %s)", kernel->sources[0].language);
    program = pw_arena_alloc(&b->plan.arena, 1, sizeof *program);
    if (!program)
        return pw_error_memory(b->err, sizeof *program);
    program->language = source->language;
    program->source = source->full; /* lives as long as the kernel set, as plan.kernel does */
    program->foreign = kernel->foreign;
    b->plan.programs = program;
    b->plan.program_count = 1;
    return make_options(b, &program->options);
}

/* ---- the whole ---- */

/* Every tensor that an argument may name, before any expression asks for its size. */
static pw_status check_formals(struct builder *b)
{
    const struct pw_kernel *kernel = b->env.kernel;
    struct pw_formal_ref ref;

    for (size_t i = 0; i < kernel->arg_name_count; i++) {
        if (!pw_bind_formal(b->env.call->op, kernel->arg_names[i], strlen(kernel->arg_names[i]), &ref))
            continue;
        for (int element = 0; element < pw_bind_count(b->env.call, &ref); element++) {
            const struct pw_info *info = pw_bind_info(b->env.call, &ref, element);
            size_t bytes;
            pw_status status = info ? check_info(b, &ref, info, &bytes) : PW_OK;

            if (status != PW_OK)
                return status;
        }
    }
    return PW_OK;
}

static pw_status copy_arrays(struct builder *b)
{
    struct pw_plan *plan = &b->plan;

    plan->buffers = pw_arena_alloc(&plan->arena, plan->buffer_count + 1, sizeof *plan->buffers);
    plan->launches = pw_arena_alloc(&plan->arena, plan->launch_count + 1, sizeof *plan->launches);
    if (!plan->buffers || !plan->launches)
        return pw_error_memory(b->err, plan->buffer_count * sizeof *plan->buffers);
    if (plan->buffer_count)
        memcpy(plan->buffers, b->buffers, plan->buffer_count * sizeof *plan->buffers);
    if (plan->launch_count)
        memcpy(plan->launches, b->launches, plan->launch_count * sizeof *plan->launches);
    return PW_OK;
}

/* Without *out only the support is decided. */
static pw_status build(const struct pw_kernel *kernel, const struct pw_call *call, const struct pw_device_facts *facts,
                       const struct pw_parameter *parameters, size_t parameter_count, struct pw_plan *out,
                       int64_t *priority, struct pw_error *err)
{
    struct builder b = {.env = {.kernel = kernel, .call = call, .facts = facts}, .err = err};
    int64_t rank = 0;
    pw_status status;

    b.env.bindings = &b.bindings;
    b.plan.kernel = kernel;
    pw_bindings_init(&b.bindings, &b.plan.arena);
    status = check_formals(&b);
    if (status == PW_OK && call->op->bind)
        status = call->op->bind(call, &b.bindings, err);
    if (status == PW_OK)
        status = pw_kernel_choose(&b.env, parameters, parameter_count, err);
    if (status == PW_OK)
        status = make_program(&b);
    if (status == PW_OK)
        status = make_launches(&b);
    if (status == PW_OK && kernel->priority.expr)
        status = pw_kernel_eval(&b.env, &kernel->priority, &rank, err);
    if (status == PW_OK && out)
        status = copy_arrays(&b);
    if (status != PW_OK)
        goto done;
    if (priority)
        *priority = rank;
    if (out) {
        *out = b.plan;
        b.plan = (struct pw_plan){0};
    }
done:
    pw_free(b.buffers);
    pw_free(b.buffer_names);
    pw_free(b.launches);
    pw_plan_clear(&b.plan);
    return status;
}

void pw_plan_clear(struct pw_plan *plan)
{
    pw_arena_clear(&plan->arena);
    *plan = (struct pw_plan){0};
}

pw_status pw_kernel_plan(const struct pw_kernel *kernel, const struct pw_call *call,
                         const struct pw_device_facts *facts, const struct pw_parameter *parameters,
                         size_t parameter_count, struct pw_plan *out, struct pw_error *err)
{
    if (!pw_kernel_implements(kernel, call->op))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "kernel '%s' does not implement %s-%d", kernel->name,
                            call->op->name, call->op->since);
    return build(kernel, call, facts, parameters, parameter_count, out, NULL, err);
}

pw_status pw_kernel_supports(const struct pw_kernel *kernel, const struct pw_call *call,
                             const struct pw_device_facts *facts, const struct pw_parameter *parameters,
                             size_t parameter_count, bool *supported, int64_t *priority, struct pw_buf *why,
                             struct pw_error *err)
{
    struct pw_error local = {0};
    int64_t rank = 0;
    pw_status status;

    if (pw_kernel_implements(kernel, call->op))
        status = build(kernel, call, facts, parameters, parameter_count, NULL, &rank, &local);
    else
        status = pw_error_set(&local, PW_ERR_UNSUPPORTED, "kernel '%s' does not implement %s-%d", kernel->name,
                              call->op->name, call->op->since);
    if (status != PW_OK && status != PW_ERR_UNSUPPORTED)
        return pw_error_set(err, status, "%s", local.message);
    *supported = status == PW_OK;
    if (*supported && priority)
        *priority = rank;
    if (!*supported && why)
        pw_buf_puts(why, local.message);
    return PW_OK;
}
