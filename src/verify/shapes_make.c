/* Choosing sizes for the groups of dims: the recipes. */
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "verify/shapes_internal.h"

#define STREAM 0x73686170 /* of the generator */
#define EQUAL 7           /* size of all dims where they must agree */
#define ATTEMPTS 14       /* halvings of what is too large */
#define ODD_GROUPS 6      /* whose sizes are changed for an odd number of elements */

struct chooser {
    struct pw_shapes *shapes;
    uint64_t seed;
    int n;
    uint64_t drawn;
};

static int64_t roll(struct chooser *c, int64_t count)
{
    return count > 1 ? pw_random_range(c->seed, STREAM + (uint64_t)c->n, c->drawn++, 0, count - 1) : 0;
}

static int64_t pick(struct chooser *c, const int64_t *from, size_t count)
{
    return from[roll(c, (int64_t)count)];
}

static int64_t tile(struct chooser *c)
{
    static const int64_t usual[] = {8, 16, 24, 32, 64, 128};

    if (c->shapes->tile_count && roll(c, 2))
        return pick(c, c->shapes->tiles, c->shapes->tile_count);
    return pick(c, usual, PW_COUNT_OF(usual));
}

static const int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
static const int64_t groups[] = {1, 2, 4, 8, 16, 32, 63, 64, 65, 127, 129, 255, 257};
static const int64_t small[] = {1, 2, 3, 4, 5, 7};

/* The group of the last dim of the first input (rows run along it), and that of its first dim. */
static int edge_group(const struct pw_shapes *shapes, bool last)
{
    int found = -1, best = -1;

    for (size_t g = 0; g < shapes->group_count; g++)
        for (int s = 0; s < shapes->slot_count; s++) {
            const struct pw_shape_slot *slot = &shapes->slots[s];
            int rank = 1 + slot->index;

            if (!(shapes->groups[g].slots >> s & 1) || slot->content)
                continue;
            if (found < 0 || (slot->input == 0 && (last ? rank > best : best < 0 || rank < best))) {
                found = (int)g;
                best = slot->input == 0 ? rank : best;
            }
        }
    return found;
}

/* ---- recipes: the size of group g ---- */

static int64_t ones(struct chooser *c, int g)
{
    (void)c;
    (void)g;
    return 1;
}

static int64_t distinct_primes(struct chooser *c, int g)
{
    return primes[(size_t)(g + (int)(c->seed % 5)) % PW_COUNT_OF(primes)];
}

static int64_t above_tile(struct chooser *c, int g)
{
    (void)g;
    return tile(c) + 1;
}

static int64_t below_tile(struct chooser *c, int g)
{
    (void)g;
    return tile(c) - 1;
}

static int64_t long_row(struct chooser *c, int g)
{
    return g == edge_group(c->shapes, true) ? 4099 : pick(c, small, 3);
}

static int64_t large_batch(struct chooser *c, int g)
{
    return g == edge_group(c->shapes, false) ? 1021 : pick(c, small, PW_COUNT_OF(small));
}

static int64_t empty(struct chooser *c, int g)
{
    return g == (int)(c->seed % c->shapes->group_count) ? 0 : 3;
}

static int64_t around_group(struct chooser *c, int g)
{
    (void)g;
    return pick(c, groups, PW_COUNT_OF(groups));
}

static int64_t many(struct chooser *c, int g) /* above 2^16 elements: an index of 16 bits is not enough */
{
    if (g == edge_group(c->shapes, true))
        return 263;
    return g == edge_group(c->shapes, false) ? 257 : 2;
}

static int64_t near_graph(struct chooser *c, int g)
{
    int64_t value = c->shapes->groups[g].value + (roll(c, 2) ? 1 : -1);

    return value < 1 ? 2 : value;
}

static int64_t mixture(struct chooser *c, int g)
{
    switch (roll(c, 5)) {
    case 0:
        return pick(c, small, PW_COUNT_OF(small));
    case 1:
        return tile(c) + 1;
    case 2:
        return tile(c) - 1;
    case 3:
        return around_group(c, g);
    default:
        return pick(c, primes, PW_COUNT_OF(primes));
    }
}

/* ---- recipes that change more than sizes ---- */

static void set_group(const struct pw_shapes *shapes, size_t g, int64_t value, pw_slot_values values)
{
    int64_t step = shapes->groups[g].step;

    if (step > 1 && value > 0)
        value = (value + step - 1) / step * step;
    for (int s = 0; s < shapes->slot_count; s++)
        if (shapes->groups[g].slots >> s & 1)
            values[s] = value;
}

/* One operand's dim becomes 1 where the others keep theirs; in every second try the operand loses its leading dim. */
static bool broadcast(struct chooser *c, struct pw_case_spec *spec)
{
    struct pw_shapes *shapes = c->shapes;
    pw_slot_values values;
    int start = (int)roll(c, shapes->slot_count);

    pw_shapes_graph_values(shapes, values);
    for (size_t g = 0; g < shapes->group_count; g++)
        set_group(shapes, g, distinct_primes(c, (int)g), values);
    for (int k = 0; k < shapes->slot_count; k++) {
        int s = (start + k) % shapes->slot_count;
        struct pw_case_spec tried = *spec;
        int64_t kept = values[s];

        if (shapes->slots[s].content || kept <= 1)
            continue;
        values[s] = 1;
        if (pw_shapes_write(shapes, values, &tried) && pw_shapes_serves(shapes, &tried, NULL)) {
            *spec = tried;
            return true;
        }
        values[s] = kept;
    }
    return false;
}

static bool drop_leading(struct chooser *c, struct pw_case_spec *spec)
{
    struct pw_shapes *shapes = c->shapes;
    const struct pw_call *call = shapes->signature->call;

    for (int k = 0; k < call->input_count; k++) {
        int i = (int)((uint64_t)k + c->seed) % call->input_count;
        struct pw_case_spec tried = *spec;
        struct pw_case_change change = {.kind = PW_CHANGE_SHAPE, .input = i};
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (!call->in[i] || call->in[i]->rank < 1 || !formal || (formal->flags & PW_FORMAL_PARAM))
            continue;
        change.count = call->in[i]->rank - 1;
        for (int d = 0; d < change.count && d < PW_CASE_VALUES_MAX; d++)
            pw_dims_value(call->dims, call->in[i]->dims[d + 1], &change.values[d]);
        if (change.count <= PW_CASE_VALUES_MAX && pw_case_change_set(&tried, &change) &&
            pw_shapes_serves(shapes, &tried, NULL)) {
            *spec = tried;
            return true;
        }
    }
    return false;
}

/* Every second operand has 1 in the even dims, counted from the last, the others in the odd ones, where the room's
 * inference lets them: two such cases, the second with the turns exchanged, broadcast every operand in every position.
 */
static bool alternate(struct chooser *c, int turn, struct pw_case_spec *spec)
{
    struct pw_shapes *shapes = c->shapes;
    const struct pw_call *call = shapes->signature->call;
    int place[PW_OP_MAX_FORMALS], operands = 0, kept = 0;
    pw_slot_values values;

    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
        bool data = call->in[i] && call->in[i]->rank > 0 && formal && !(formal->flags & PW_FORMAL_PARAM);

        place[i] = data ? operands++ : -1;
    }
    if (operands < 2)
        return false;
    pw_shapes_graph_values(shapes, values);
    for (size_t g = 0; g < shapes->group_count; g++)
        set_group(shapes, g, distinct_primes(c, (int)g), values);
    for (int s = 0; s < shapes->slot_count; s++) {
        const struct pw_shape_slot *slot = &shapes->slots[s];
        struct pw_case_spec tried = *spec;
        int64_t before = values[s];

        if (slot->content || place[slot->input] < 0 || before <= 1 ||
            (call->in[slot->input]->rank - 1 - slot->index + turn + place[slot->input]) % 2)
            continue;
        values[s] = 1;
        if (pw_shapes_write(shapes, values, &tried) && pw_shapes_infers(shapes, &tried))
            kept++;
        else
            values[s] = before;
    }
    return kept > 0 && pw_shapes_write(shapes, values, spec) && pw_shapes_serves(shapes, spec, NULL);
}

static bool alternating(struct chooser *c, struct pw_case_spec *spec)
{
    return alternate(c, 0, spec);
}

static bool exchanged(struct chooser *c, struct pw_case_spec *spec)
{
    return alternate(c, 1, spec);
}

/* ---- elements that do not lie side by side ---- */

static bool equal_dims(const struct pw_shapes *shapes, struct pw_case_spec *spec)
{
    pw_slot_values values;

    pw_shapes_graph_values(shapes, values);
    for (size_t g = 0; g < shapes->group_count; g++)
        set_group(shapes, g, EQUAL, values);
    return pw_shapes_write(shapes, values, spec);
}

/* An ONNX tensor is dense, but what an operator runs over need not be its last dim. */
static bool other_axis(struct chooser *c, struct pw_case_spec *spec)
{
    const struct pw_call *call = c->shapes->signature->call;
    int rank = call->input_count > 0 && call->in[0] ? call->in[0]->rank : -1, axis = 0;

    if (rank < 2 || pw_call_axis(call, pw_call_int(call, "axis"), rank, &axis, NULL) != PW_OK)
        return false;
    for (int k = 1; k < 2 * rank - 1; k++) {
        struct pw_case_spec tried = *spec;
        struct pw_case_change change = {.kind = PW_CHANGE_INT, .name = "axis", .count = 1};

        change.values[0] = (axis + 2 * rank - k - k / rank) % rank;
        if (k >= rank && !equal_dims(c->shapes, &tried)) /* what must agree along the other dims does so then */
            return false;
        if (pw_case_change_set(&tried, &change) && pw_shapes_serves(c->shapes, &tried, NULL)) {
            *spec = tried;
            return true;
        }
    }
    return false;
}

/* `axes` or `perm`, each moved on by one dim. */
static bool other_dims(struct chooser *c, const char *name, struct pw_case_spec *spec)
{
    const struct pw_call *call = c->shapes->signature->call;
    int rank = call->input_count > 0 && call->in[0] ? call->in[0]->rank : -1;
    struct pw_case_spec tried = *spec;
    struct pw_case_change change = {.kind = PW_CHANGE_INTS};
    size_t count = 0;
    const int64_t *now = pw_call_ints(call, name, &count);

    if (rank < 2 || !now || !count || count > PW_CASE_VALUES_MAX || count > (size_t)rank)
        return false;
    memcpy(change.name, name, strlen(name) + 1);
    change.count = (int)count;
    for (size_t i = 0; i < count; i++)
        change.values[i] = (now[i] % rank + rank + 1) % rank;
    if (!pw_case_change_set(&tried, &change) || !pw_shapes_serves(c->shapes, &tried, NULL))
        return false;
    *spec = tried;
    return true;
}

/* The same where axes are an input's content. */
static bool other_contents(struct chooser *c, struct pw_case_spec *spec)
{
    const struct pw_call *call = c->shapes->signature->call;
    int rank = call->input_count > 0 && call->in[0] ? call->in[0]->rank : -1;
    pw_slot_values values;
    bool changed = false;

    pw_shapes_graph_values(c->shapes, values);
    for (int s = 0; s < c->shapes->slot_count && rank > 1; s++) {
        const struct pw_shape_slot *slot = &c->shapes->slots[s];
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)slot->input);

        if (!slot->content || !formal || strcmp(formal->name, "axes"))
            continue;
        values[s] = (slot->value % rank + rank + 1) % rank;
        changed = true;
    }
    return changed && pw_shapes_write(c->shapes, values, spec) && pw_shapes_serves(c->shapes, spec, NULL);
}

/* A matrix is read the other way round: transA or transB, and its shape with it. */
static bool transposed(struct chooser *c, struct pw_case_spec *spec)
{
    static const char *const names[] = {"transA", "transB"};
    const struct pw_call *call = c->shapes->signature->call;

    for (int k = 0; k < 2; k++) {
        int i = (int)((uint64_t)k + c->seed) & 1, rank;
        struct pw_case_spec tried = *spec;
        struct pw_case_change flag = {.kind = PW_CHANGE_INT, .count = 1}, shape = {.kind = PW_CHANGE_SHAPE, .input = i};

        if (i >= call->input_count || !call->in[i] || call->in[i]->rank < 2 || call->in[i]->rank > PW_CASE_VALUES_MAX)
            continue;
        rank = call->in[i]->rank;
        memcpy(flag.name, names[i], strlen(names[i]) + 1);
        flag.values[0] = !pw_call_int(call, names[i]);
        shape.count = rank;
        for (int d = 0; d < rank; d++)
            pw_dims_value(call->dims, call->in[i]->dims[d], &shape.values[d < rank - 2 ? d : 2 * rank - 3 - d]);
        if (pw_case_change_set(&tried, &flag) && pw_case_change_set(&tried, &shape) &&
            pw_shapes_serves(c->shapes, &tried, NULL)) {
            *spec = tried;
            return true;
        }
    }
    return false;
}

static bool has_attr(const struct pw_call *call, const char *name)
{
    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++)
        if (!strcmp(def->name, name))
            return true;
    return false;
}

static bool strided(struct chooser *c, struct pw_case_spec *spec)
{
    const struct pw_call *call = c->shapes->signature->call;

    if (has_attr(call, "axis"))
        return other_axis(c, spec);
    if (has_attr(call, "transA") || has_attr(call, "transB"))
        return transposed(c, spec);
    return other_dims(c, "axes", spec) || other_dims(c, "perm", spec) || other_contents(c, spec);
}

/* The same axes counted from the other end. */
static bool other_axes(struct chooser *c, struct pw_case_spec *spec)
{
    const struct pw_call *call = c->shapes->signature->call;
    int rank = call->input_count > 0 && call->in[0] ? call->in[0]->rank : -1;
    bool changed = false;

    for (const struct pw_attr_def *def = call->op->attrs; def && def->name && rank > 0; def++) {
        struct pw_case_change change = {.kind = def->type == PW_ATTR_INTS ? PW_CHANGE_INTS : PW_CHANGE_INT};
        const int64_t *axes = NULL;
        size_t count = 0;

        if (strlen(def->name) >= sizeof change.name || (strcmp(def->name, "axis") && strcmp(def->name, "axes")))
            continue;
        memcpy(change.name, def->name, strlen(def->name) + 1);
        if (def->type == PW_ATTR_INT) {
            change.values[0] = pw_call_int(call, def->name);
            count = 1;
        } else if (def->type == PW_ATTR_INTS) {
            axes = pw_call_ints(call, def->name, &count);
        }
        if (!count || count > PW_CASE_VALUES_MAX)
            continue;
        for (size_t i = 0; i < count; i++) {
            int64_t axis = axes ? axes[i] : change.values[0];

            change.values[i] = axis < 0 ? axis + rank : axis - rank;
        }
        change.count = (int)count;
        changed |= pw_case_change_set(spec, &change);
    }
    for (int s = 0; s < c->shapes->slot_count && rank > 0; s++) {
        const struct pw_shape_slot *slot = &c->shapes->slots[s];
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)slot->input);
        pw_slot_values values;

        if (!slot->content || !formal || strcmp(formal->name, "axes"))
            continue;
        if (!pw_shapes_read(c->shapes, spec, values))
            return false;
        values[s] = slot->value < 0 ? slot->value + rank : slot->value - rank;
        changed |= pw_shapes_write(c->shapes, values, spec);
    }
    return changed && pw_shapes_serves(c->shapes, spec, NULL);
}

/* The graph's sizes, some one step larger, so that the elements are an odd number: what takes two at a time has one
 * left over. No case where the graph's own are. */
static bool odd_elements(struct chooser *c, struct pw_case_spec *spec)
{
    struct pw_shapes *shapes = c->shapes;
    size_t count = shapes->group_count < ODD_GROUPS ? shapes->group_count : ODD_GROUPS;
    struct pw_case_spec tried = *spec;
    pw_slot_values values;

    if (pw_shapes_elements(shapes, &tried) % 2 != 0)
        return false;
    for (unsigned larger = 1; larger < 1u << count; larger++) {
        tried = *spec;
        pw_shapes_graph_values(shapes, values);
        for (size_t g = 0; g < count; g++)
            if (larger >> g & 1)
                set_group(shapes, g, shapes->groups[g].value + shapes->groups[g].step, values);
        if (pw_shapes_write(shapes, values, &tried) && pw_shapes_elements(shapes, &tried) % 2 == 1 &&
            pw_shapes_serves(shapes, &tried, NULL)) {
            *spec = tried;
            return true;
        }
    }
    return false;
}

static bool broadcasts(struct chooser *c, struct pw_case_spec *spec)
{
    if (c->seed & 1)
        return broadcast(c, spec) || drop_leading(c, spec);
    return drop_leading(c, spec) || broadcast(c, spec);
}

static const struct recipe {
    const char *name;
    int64_t (*size)(struct chooser *c, int group);
    bool (*other)(struct chooser *c, struct pw_case_spec *spec);
} recipes[PW_SHAPES_KINDS] = {
    {"primes", distinct_primes, NULL},
    {"tile + 1", above_tile, NULL},
    {"ones", ones, NULL},
    {"broadcast", NULL, broadcasts},
    {"tile - 1", below_tile, NULL},
    {"long row", long_row, NULL},
    {"large batch", large_batch, NULL},
    {"empty", empty, NULL},
    {"negative axes", NULL, other_axes},
    {"work-group ± 1", around_group, NULL},
    {"many elements", many, NULL},
    {"near the graph's", near_graph, NULL},
    {"odd elements", NULL, odd_elements},
    {"strides", NULL, strided},
    {"broadcast everywhere", NULL, alternating},
    {"broadcast exchanged", NULL, exchanged},
};

const char *pw_shapes_kind(int n)
{
    return n >= 0 && n < PW_SHAPES_KINDS ? recipes[n].name : "mixture";
}

/* Sizes for all groups; what is too large is halved, the largest group first. */
static bool sized(struct chooser *c, int64_t (*size)(struct chooser *c, int group), struct pw_case_spec *spec)
{
    struct pw_shapes *shapes = c->shapes;
    int64_t sizes[PW_GROUPS_MAX];

    if (!shapes->group_count)
        return false;
    for (size_t g = 0; g < shapes->group_count; g++)
        sizes[g] = size(c, (int)g);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct pw_case_spec tried = *spec;
        pw_slot_values values;
        bool too_large = false;
        size_t largest = 0;

        pw_shapes_graph_values(shapes, values);
        for (size_t g = 0; g < shapes->group_count; g++) {
            set_group(shapes, g, sizes[g], values);
            largest = sizes[g] > sizes[largest] ? g : largest;
        }
        if (!pw_shapes_write(shapes, values, &tried))
            return false;
        if (pw_shapes_serves(shapes, &tried, &too_large)) {
            *spec = tried;
            return tried.change_count > 0;
        }
        if (too_large) {
            sizes[largest] = sizes[largest] / 2 + 1;
            continue;
        }
        /* refused: put one group after the other back to the graph's size */
        if ((size_t)attempt >= shapes->group_count)
            return false;
        sizes[(size_t)attempt] = shapes->groups[attempt].value;
    }
    return false;
}

bool pw_shapes_make(struct pw_shapes *shapes, uint64_t seed, int n, struct pw_case_spec *spec)
{
    struct chooser c = {.shapes = shapes, .seed = seed, .n = n};

    if (n < PW_SHAPES_KINDS && recipes[n].other)
        return shapes->slot_count && recipes[n].other(&c, spec);
    return sized(&c, n < PW_SHAPES_KINDS ? recipes[n].size : mixture, spec);
}

/* ---- smaller ---- */

bool pw_shapes_reduce(struct pw_shapes *shapes, const struct pw_case_spec *spec, size_t group, int step,
                      struct pw_case_spec *out)
{
    pw_slot_values values;
    int64_t now = -1, wanted;

    if (group >= shapes->group_count || !pw_shapes_read(shapes, spec, values))
        return false;
    for (int s = 0; s < shapes->slot_count; s++) /* a broadcast operand's 1 says nothing of the group */
        if ((shapes->groups[group].slots >> s & 1) && values[s] > now)
            now = values[s];
    wanted = step == 1 ? 1 : step == 2 ? now / 2 : now - 1;
    if (shapes->groups[group].step > 1)
        wanted = wanted / shapes->groups[group].step * shapes->groups[group].step;
    if (wanted < 1 || wanted >= now)
        return false;
    for (int s = 0; s < shapes->slot_count; s++)
        if ((shapes->groups[group].slots >> s & 1) && values[s] == now)
            values[s] = wanted;
    *out = *spec;
    return pw_shapes_write(shapes, values, out) && pw_shapes_serves(shapes, out, NULL);
}
