/* Which dims of a call may change, and which of them together. */
#include <math.h>
#include <string.h>

#include "verify/shapes_internal.h"

#define MAX_ELEMENTS ((int64_t)1 << 19) /* of one tensor of a fuzzed case */
#define MAX_FLOPS 4e7                   /* golden's loops take a tenth of a second for that */

/* ---- slots and specs ---- */

void pw_shapes_graph_values(const struct pw_shapes *shapes, pw_slot_values values)
{
    for (int s = 0; s < shapes->slot_count; s++)
        values[s] = shapes->slots[s].value;
}

bool pw_shapes_read(const struct pw_shapes *shapes, const struct pw_case_spec *spec, pw_slot_values values)
{
    pw_shapes_graph_values(shapes, values);
    for (int s = 0; s < shapes->slot_count; s++) {
        const struct pw_shape_slot *slot = &shapes->slots[s];
        const struct pw_case_change *change =
            pw_case_change_of(spec, slot->content ? PW_CHANGE_CONTENT : PW_CHANGE_SHAPE, slot->input);

        if (!change)
            continue;
        if (slot->index >= change->count ||
            (!slot->content && change->count != shapes->signature->call->in[slot->input]->rank))
            return false;
        values[s] = change->values[slot->index];
    }
    return true;
}

/* The whole shape or content of an input in the graph's call. */
static bool graph_change(const struct pw_shapes *shapes, int input, bool content, struct pw_case_change *change)
{
    const struct pw_call *call = shapes->signature->call;
    const struct pw_info *info = call->in[input];
    int count = content ? (int)info->content_count : info->rank;

    *change =
        (struct pw_case_change){.kind = content ? PW_CHANGE_CONTENT : PW_CHANGE_SHAPE, .input = input, .count = count};
    if (count > PW_CASE_VALUES_MAX)
        return false;
    for (int i = 0; i < count; i++)
        if (!pw_dims_value(call->dims, content ? info->content[i] : info->dims[i], &change->values[i]))
            return false;
    return true;
}

bool pw_shapes_write(const struct pw_shapes *shapes, const pw_slot_values values, struct pw_case_spec *spec)
{
    for (int s = 0; s < shapes->slot_count; s++) {
        const struct pw_shape_slot *slot = &shapes->slots[s];
        pw_change_kind kind = slot->content ? PW_CHANGE_CONTENT : PW_CHANGE_SHAPE;
        const struct pw_case_change *old = pw_case_change_of(spec, kind, slot->input);
        struct pw_case_change change;

        if (old)
            change = *old;
        else if (values[s] == slot->value)
            continue;
        else if (!graph_change(shapes, slot->input, slot->content, &change))
            return false;
        change.values[slot->index] = values[s];
        if (!pw_case_change_set(spec, &change))
            return false;
    }
    return true;
}

/* ---- asking the room and the kernels ---- */

static bool makes_call(const struct pw_shapes *shapes, const struct pw_case_spec *spec, struct pw_dims *dims,
                       struct pw_arena *arena, struct pw_call *call)
{
    struct pw_buf why = {0};
    bool made = pw_case_call(shapes->signature, spec, dims, arena, call, &why, NULL) == PW_OK && !why.size;
    int64_t n;

    pw_buf_clear(&why);
    if (made)
        pw_call_take_most(call);
    for (int i = 0; i < call->output_count && made; i++) {
        const struct pw_info *info = &call->out[i];

        if (!call->wanted[i])
            continue;
        made = info->kind == PW_VALUE_TENSOR && info->rank >= 0;
        for (int d = 0; made && d < info->rank; d++)
            made = pw_dims_value(dims, info->dims[d], &n);
    }
    return made;
}

bool pw_shapes_infers(const struct pw_shapes *shapes, const struct pw_case_spec *spec)
{
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call = {0};
    bool made = pw_dims_create(&dims, NULL) == PW_OK && makes_call(shapes, spec, dims, &arena, &call);

    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return made;
}

static int64_t elements(const struct pw_dims *dims, const struct pw_info *info)
{
    int64_t count = 1, n;

    for (int d = 0; d < info->rank; d++)
        if (!pw_dims_value(dims, info->dims[d], &n) || __builtin_mul_overflow(count, n, &count))
            return INT64_MAX;
    return count;
}

int64_t pw_shapes_elements(const struct pw_shapes *shapes, const struct pw_case_spec *spec)
{
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call = {0};
    bool made = pw_dims_create(&dims, NULL) == PW_OK && makes_call(shapes, spec, dims, &arena, &call);
    int64_t most = -1;

    for (int i = 0; made && i < call.output_count; i++)
        if (call.wanted[i] && elements(dims, &call.out[i]) > most)
            most = elements(dims, &call.out[i]);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return most;
}

static bool is_large(const struct pw_call *call)
{
    struct pw_cost cost = {0};
    int64_t flops = 0;

    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && elements(call->dims, call->in[i]) > MAX_ELEMENTS)
            return true;
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && elements(call->dims, &call->out[i]) > MAX_ELEMENTS)
            return true;
    return call->op->cost && call->op->cost(call, &cost, NULL) == PW_OK &&
           pw_dims_value(call->dims, cost.flops, &flops) && (double)flops > MAX_FLOPS;
}

/* Something made of nothing: only sums and products of no terms are defined. */
static bool is_undefined(const struct pw_call *call)
{
    static const char *const sums[] = {"MatMul",   "Gemm",   "ReduceSum", "ReduceProd", "ReduceSumSquare",
                                       "ReduceL1", "Concat", "Pad",       "Expand"};
    bool empty = false, made = false;

    for (int i = 0; i < call->input_count; i++)
        empty |= call->in[i] && elements(call->dims, call->in[i]) == 0;
    for (int i = 0; i < call->output_count; i++)
        made |= call->wanted[i] && elements(call->dims, &call->out[i]) > 0;
    for (size_t i = 0; i < sizeof sums / sizeof *sums && empty && made; i++)
        if (!strcmp(sums[i], call->op->name))
            return false;
    return empty && made;
}

/* The graph's own sizes are never too large: what the graph runs is tested. Contents may be sizes too (of
 * ConstantOfShape, of Expand): they show in the outputs. */
static bool no_larger_than_graph(const struct pw_shapes *shapes, const struct pw_case_spec *spec)
{
    pw_slot_values values;

    if (!pw_shapes_read(shapes, spec, values))
        return false;
    for (int s = 0; s < shapes->slot_count; s++)
        if (!shapes->slots[s].content && values[s] > shapes->slots[s].value)
            return false;
    return pw_shapes_elements(shapes, spec) <= pw_shapes_elements(shapes, &(struct pw_case_spec){0});
}

bool pw_shapes_serves(const struct pw_shapes *shapes, const struct pw_case_spec *spec, bool *too_large)
{
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call = {0};
    struct pw_impl_list list = {0};
    bool serves = pw_dims_create(&dims, NULL) == PW_OK && makes_call(shapes, spec, dims, &arena, &call);
    bool large = serves && is_large(&call) && !no_larger_than_graph(shapes, spec);

    serves = serves && !large && !is_undefined(&call) &&
             pw_impl_find(&call, shapes->request->kernels, shapes->request->device, &arena, &list, NULL) == PW_OK &&
             list.selected >= 0 && list.coverage != PW_COVERAGE_HOST && list.coverage != PW_COVERAGE_MISSING;
    if (too_large)
        *too_large = large;
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return serves;
}

/* ---- which dims go together ---- */

static void add_slots(struct pw_shapes *shapes)
{
    const struct pw_call *call = shapes->signature->call;

    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
        bool content = formal && (formal->flags & PW_FORMAL_PARAM);
        struct pw_case_change whole;

        if (!call->in[i] || call->in[i]->kind != PW_VALUE_TENSOR || call->in[i]->rank < 0 ||
            (content && !call->in[i]->content) || !pw_dtype_bytes(call->in[i]->dtype) ||
            (content && !pw_dtype_is_integer(call->in[i]->dtype)) || !graph_change(shapes, i, content, &whole))
            continue;
        for (int d = 0; d < whole.count && shapes->slot_count < PW_SLOTS_MAX; d++)
            shapes->slots[shapes->slot_count++] =
                (struct pw_shape_slot){.input = i, .index = d, .content = content, .value = whole.values[d]};
    }
}

static bool accepts(const struct pw_shapes *shapes, uint64_t slots, int64_t value)
{
    struct pw_case_spec spec = {0};
    pw_slot_values values;

    pw_shapes_graph_values(shapes, values);
    for (int s = 0; s < shapes->slot_count; s++)
        if (slots >> s & 1)
            values[s] = value;
    return pw_shapes_write(shapes, values, &spec) && pw_shapes_infers(shapes, &spec);
}

/* The least set around slot s that may take `value`; 0: none does. */
static uint64_t group_of(const struct pw_shapes *shapes, int s, int64_t value)
{
    uint64_t all = 0, own = (uint64_t)1 << s;

    if (accepts(shapes, own, value))
        return own;
    for (int k = 0; k < shapes->slot_count; k++)
        if (shapes->slots[k].value == shapes->slots[s].value)
            all |= (uint64_t)1 << k;
    if (all == own || !accepts(shapes, all, value))
        return 0;
    for (int k = 0; k < shapes->slot_count; k++) {
        uint64_t bit = (uint64_t)1 << k;

        if (k != s && (all & bit) && accepts(shapes, all & ~bit, value))
            all &= ~bit;
    }
    return all;
}

/* A size that an operator makes of a content by itself (Expand, ConstantOfShape). */
static bool leads(const struct pw_shapes *shapes, const struct pw_shape_slot *slot)
{
    const struct pw_formal *formal = pw_op_formal(shapes->signature->call->op->inputs, (size_t)slot->input);

    return !slot->content ||
           (formal && slot->value > 0 && (!strcmp(formal->name, "shape") || !strcmp(formal->name, "input")));
}

static void find_groups(struct pw_shapes *shapes)
{
    uint64_t taken = 0;

    for (int k = 0; k < 2 * shapes->slot_count && shapes->group_count < PW_GROUPS_MAX; k++) {
        int s = k % shapes->slot_count; /* dims first, then contents */
        int64_t value = shapes->slots[s].value, step = 1;
        uint64_t slots;

        if (shapes->slots[s].content != (k >= shapes->slot_count) || !leads(shapes, &shapes->slots[s]) ||
            (taken >> s & 1))
            continue;
        slots = group_of(shapes, s, value + 1);
        if (!slots && value > 1) { /* heads, groups of channels: only multiples */
            slots = group_of(shapes, s, 2 * value);
            step = value;
            for (int64_t divisor = 2; slots && divisor <= 8 && divisor < value; divisor *= 2)
                if (value % divisor == 0 && group_of(shapes, s, value + value / divisor) == slots)
                    step = value / divisor;
        }
        if (!slots)
            continue;
        taken |= slots;
        shapes->groups[shapes->group_count++] = (struct pw_shape_group){.slots = slots, .value = value, .step = step};
    }
}

pw_status pw_shapes_create(const struct pw_signature *signature, const struct pw_verify_request *request,
                           const struct pw_impl *impl, struct pw_shapes **out, struct pw_error *err)
{
    struct pw_shapes *shapes = pw_calloc(1, sizeof *shapes);

    if (!shapes)
        return pw_error_memory(err, sizeof *shapes);
    shapes->signature = signature;
    shapes->request = request;
    if (impl && impl->kernel) {
        shapes->tile_count = pw_kernel_parameter_values(impl->kernel, shapes->tiles, PW_SHAPE_TILES);
        if (shapes->tile_count > PW_SHAPE_TILES)
            shapes->tile_count = PW_SHAPE_TILES;
    }
    add_slots(shapes);
    find_groups(shapes);
    *out = shapes;
    return PW_OK;
}

void pw_shapes_destroy(struct pw_shapes *shapes)
{
    pw_free(shapes);
}

bool pw_shapes_can_vary(const struct pw_shapes *shapes)
{
    return shapes->group_count > 0;
}

size_t pw_shapes_group_count(const struct pw_shapes *shapes)
{
    return shapes->group_count;
}

void pw_shapes_describe(const struct pw_shapes *shapes, struct pw_buf *out)
{
    for (size_t g = 0; g < shapes->group_count; g++) {
        const struct pw_shape_group *group = &shapes->groups[g];
        const char *between = "";

        pw_buf_puts(out, "varies: ");
        for (int s = 0; s < shapes->slot_count; s++)
            if (group->slots >> s & 1) {
                pw_buf_printf(out, "%s%s %d %s %d", between, shapes->slots[s].content ? "content of input" : "input",
                              shapes->slots[s].input, shapes->slots[s].content ? "element" : "dim",
                              shapes->slots[s].index);
                between = " = ";
            }
        pw_buf_printf(out, " (%lld in the graph", (long long)group->value);
        if (group->step > 1)
            pw_buf_printf(out, "; a multiple of %lld", (long long)group->step);
        pw_buf_puts(out, ")\n");
    }
}
