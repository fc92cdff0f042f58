/*
 * Random calls of registered operators, for tests: attributes, inputs and bodies within the types that
 * the definition gives, values that a real file would rarely hold. The same seed makes the same call.
 */
#ifndef PW_TESTS_RANDOM_NODE_H
#define PW_TESTS_RANDOM_NODE_H

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "graph/graph.h"
#include "op/op.h"
#include "tensor/dtype.h"

#define RANDOM_INPUTS 8
#define RANDOM_OUTPUTS 6

struct dice {
    uint64_t state;
};

static inline uint64_t roll(struct dice *d)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

static inline int64_t between(struct dice *d, int64_t low, int64_t high)
{
    return low + (int64_t)(roll(d) % (uint64_t)(high - low + 1));
}

static inline bool chance(struct dice *d, int percent)
{
    return between(d, 1, 100) <= percent;
}

/* A one-node model whose inputs have values; freed with random_clear. */
struct random_call {
    struct pw_model model;
    struct pw_graph graph;
    struct pw_node node;
    struct pw_graph_value values[RANDOM_INPUTS + RANDOM_OUTPUTS];
    pw_value_id inputs[RANDOM_INPUTS], outputs[RANDOM_OUTPUTS], graph_inputs[RANDOM_INPUTS];
    struct pw_value given[RANDOM_INPUTS]; /* contents; kind NONE where omitted or absent */
    bool constant[RANDOM_INPUTS];         /* an initializer in the model */
    struct pw_attr attrs[PW_OP_MAX_ATTRS];
    struct pw_arena arena;
};

static inline void *random_alloc(struct random_call *c, size_t count, size_t size)
{
    void *p = pw_arena_alloc(&c->arena, count, size);

    if (p == NULL)
        abort();
    return p;
}

/* ---- tensors ---- */

static inline pw_dtype random_dtype(struct dice *d)
{
    static const pw_dtype common[] = {PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, PW_DTYPE_INT64,
                                      PW_DTYPE_INT32,   PW_DTYPE_BOOL,    PW_DTYPE_FLOAT16, PW_DTYPE_UINT8};

    if (chance(d, 85))
        return common[between(d, 0, PW_COUNT_OF(common) - 1)];
    return (pw_dtype)between(d, 1, PW_DTYPE_COUNT - 1);
}

static inline void random_tensor(struct dice *d, struct pw_value *v, pw_dtype dtype, int rank, const int64_t *dims,
                                 int64_t low, int64_t high)
{
    if (pw_tensor_init(&v->tensor, dtype, rank, dims, NULL) != PW_OK)
        abort();
    v->kind = PW_VALUE_TENSOR;
    for (int64_t i = 0; i < v->tensor.count; i++) {
        if (dtype == PW_DTYPE_STRING) {
            static const char *const words[] = {"", "a", "b b", "Zz", "1.5"};
            const char *word = words[between(d, 0, 4)];

            if (pw_tensor_set_string(&v->tensor, i, word, strlen(word), NULL) != PW_OK)
                abort();
        } else if (pw_dtype_is_float(dtype)) {
            pw_tensor_set(&v->tensor, i, (double)between(d, low * 4, high * 4) / 4.0);
        } else if (pw_dtype_facts(dtype)->kind == PW_KIND_BOOL) {
            pw_tensor_set_int(&v->tensor, i, between(d, 0, 1));
        } else if (pw_dtype_is_integer(dtype)) {
            bool natural = pw_dtype_facts(dtype)->kind == PW_KIND_UNSIGNED && low < 0; /* -1 would be 4294967295 */

            pw_tensor_set_int(&v->tensor, i, between(d, natural ? 0 : low, high));
        }
    }
}

/* ---- attributes ---- */

static inline const char *random_word(struct dice *d, const char *preset)
{
    static const char *const words[] = {
        "NOTSET",        "SAME_UPPER", "SAME_LOWER",    "VALID",    "constant", "reflect",   "edge",         "wrap",
        "linear",        "nearest",    "cubic",         "bilinear", "bicubic",  "forward",   "reverse",      "mean",
        "bidirectional", "sum",        "none",          "add",      "mul",      "max",       "min",          "RIGHT",
        "LEFT",          "asymmetric", "half_pixel",    "zeros",    "border",   "Tanh",      "Sigmoid",      "DCR",
        "CRD",           "floor",      "avg",           "tanh",     "TF",       "ij,jk->ik", "bij,bjk->bik", "ii->i",
        "...i->...",     "TFIDF",      "align_corners", "crop",     "",
    };

    if (preset != NULL && chance(d, 50))
        return preset;
    return words[between(d, 0, PW_COUNT_OF(words) - 1)];
}

static inline struct pw_bytes random_bytes(struct random_call *c, const char *word)
{
    char *copy = random_alloc(c, strlen(word) + 1, 1);

    memcpy(copy, word, strlen(word));
    return (struct pw_bytes){copy, strlen(word)};
}

static inline int64_t random_int(struct dice *d, bool hostile)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, -1000000007, 1ll << 40, 1ll << 31, -5};

    if (hostile && chance(d, 20))
        return odd[between(d, 0, PW_COUNT_OF(odd) - 1)];
    return chance(d, 60) ? between(d, 0, 2) : between(d, -3, 4);
}

static inline void random_body(struct random_call *c, struct dice *d, struct pw_attr *attr);

static inline void random_attr(struct random_call *c, struct dice *d, const struct pw_attr_def *def, bool hostile,
                               struct pw_attr *attr)
{
    size_t count = (size_t)between(d, 0, 4);

    *attr = (struct pw_attr){.name = def->name, .type = def->type, .count = count};
    switch (def->type) {
    case PW_ATTR_INT:
        attr->i = strcmp(def->name, "to") == 0 || strstr(def->name, "type") != NULL ? (int64_t)random_dtype(d)
                                                                                    : random_int(d, hostile);
        break;
    case PW_ATTR_FLOAT:
        attr->f = (float)between(d, -8, 8) / 4.0f;
        break;
    case PW_ATTR_STRING:
        attr->s = random_bytes(c, random_word(d, def->s));
        break;
    case PW_ATTR_TENSOR: {
        struct pw_value v = {0};
        int64_t dims[3] = {between(d, 0, 3), between(d, 1, 2), 1};
        struct pw_tensor *t = random_alloc(c, 1, sizeof *t);
        pw_dtype dtype = random_dtype(d);

        random_tensor(d, &v, dtype == PW_DTYPE_STRING ? PW_DTYPE_FLOAT32 : dtype, (int)between(d, 0, 2), dims, -2, 3);
        *t = v.tensor;
        t->data = random_alloc(c, (size_t)t->count + 1, pw_dtype_bytes(t->dtype));
        t->owned = false;
        if (t->count > 0)
            memcpy(t->data, v.tensor.data, pw_tensor_bytes(t));
        pw_value_clear(&v);
        attr->tensor = t;
        break;
    }
    case PW_ATTR_GRAPH:
        random_body(c, d, attr);
        break;
    case PW_ATTR_FLOATS: {
        float *values = random_alloc(c, count + 1, sizeof *values);

        for (size_t i = 0; i < count; i++)
            values[i] = (float)between(d, -4, 8) / 4.0f;
        attr->floats = values;
        break;
    }
    case PW_ATTR_INTS: {
        int64_t *values = random_alloc(c, count + 1, sizeof *values);

        for (size_t i = 0; i < count; i++)
            values[i] = chance(d, 50) ? 1 : random_int(d, hostile);
        attr->ints = values;
        break;
    }
    case PW_ATTR_STRINGS: {
        struct pw_bytes *values = random_alloc(c, count + 1, sizeof *values);

        for (size_t i = 0; i < count; i++)
            values[i] = random_bytes(c, random_word(d, NULL));
        attr->strings = values;
        break;
    }
    default: /* rarer kinds are left out */
        attr->name = NULL;
    }
}

/* A body whose outputs are its inputs or constants; a condition of Loop comes first by its dtype. */
static inline void random_body(struct random_call *c, struct dice *d, struct pw_attr *attr)
{
    struct pw_graph *graph = random_alloc(c, 1, sizeof *graph);
    size_t inputs = (size_t)between(d, 0, 4), outputs = (size_t)between(d, 1, 3);

    *graph = (struct pw_graph){.name = "body", .model = &c->model, .parent = &c->graph, .owner = &c->node};
    graph->values = random_alloc(c, inputs + outputs, sizeof *graph->values);
    graph->inputs = random_alloc(c, inputs + 1, sizeof *graph->inputs);
    graph->outputs = random_alloc(c, outputs, sizeof *graph->outputs);
    for (size_t i = 0; i < inputs; i++) {
        graph->values[graph->value_count] = (struct pw_graph_value){.name = "in", .is_input = true};
        graph->inputs[graph->input_count++] = (pw_value_id)graph->value_count++;
    }
    for (size_t i = 0; i < outputs; i++) {
        if (inputs > 0 && chance(d, 70)) {
            graph->outputs[graph->output_count] = graph->inputs[between(d, 0, (int64_t)inputs - 1)];
        } else {
            struct pw_tensor *t = random_alloc(c, 1, sizeof *t);
            bool condition = i == 0 && chance(d, 50);
            int64_t one = 1;

            pw_tensor_borrow(t, condition ? PW_DTYPE_BOOL : PW_DTYPE_FLOAT32, condition ? 0 : (int)between(d, 0, 1),
                             &one, random_alloc(c, 1, 16));
            graph->values[graph->value_count] = (struct pw_graph_value){.name = "k", .initializer = t};
            graph->outputs[graph->output_count] = (pw_value_id)graph->value_count++;
        }
        graph->values[graph->outputs[graph->output_count++]].is_output = true;
    }
    attr->graph = graph;
}

/* ---- the call ---- */

struct random_types {
    const char *names[RANDOM_INPUTS];
    pw_dtype dtypes[RANDOM_INPUTS];
    size_t count;
};

static inline pw_dtype dtype_of(struct dice *d, struct random_types *types, const struct pw_formal *formal)
{
    pw_dtype dtype;

    for (size_t i = 0; formal->type != NULL && i < types->count; i++) {
        if (strcmp(types->names[i], formal->type) == 0)
            return types->dtypes[i];
    }
    dtype = (formal->flags & PW_FORMAL_PARAM) != 0 && chance(d, 80) ? PW_DTYPE_INT64 : random_dtype(d);
    if (formal->type != NULL && types->count < RANDOM_INPUTS) {
        types->names[types->count] = formal->type;
        types->dtypes[types->count++] = dtype;
    }
    return dtype;
}

static inline void random_input(struct random_call *c, struct dice *d, const struct pw_formal *formal, size_t i,
                                struct random_types *types, int common_rank, const int64_t *pool)
{
    struct pw_value *v = &c->given[i];
    int64_t dims[8];
    bool param = (formal->flags & PW_FORMAL_PARAM) != 0;
    int rank = chance(d, 70) ? common_rank : (int)between(d, 0, 5);

    if (param)
        rank = chance(d, 80) ? 1 : (int)between(d, 0, 2);
    for (int k = 0; k < rank; k++)
        dims[k] = chance(d, 90) ? pool[between(d, 0, 3)] : between(d, 0, 6);
    if (param && rank == 1 && chance(d, 70))
        dims[0] = chance(d, 60) ? common_rank : between(d, 0, 3);
    random_tensor(d, v, dtype_of(d, types, formal), rank, dims, param ? -2 : -3, param ? 3 : 5);
    c->constant[i] = chance(d, param ? 80 : 25);
    if ((formal->flags & PW_FORMAL_ANY) != 0 && chance(d, 50)) { /* a sequence of it */
        struct pw_value *items = pw_calloc(2, sizeof *items);

        if (items == NULL || pw_value_copy(&items[0], v, NULL) != PW_OK || pw_value_copy(&items[1], v, NULL) != PW_OK)
            abort();
        v->item_dtype = v->tensor.dtype;
        pw_tensor_clear(&v->tensor);
        v->kind = PW_VALUE_SEQUENCE;
        v->items = items;
        v->count = 2;
        c->constant[i] = false;
    }
}

static inline void random_inputs(struct random_call *c, struct dice *d, const struct pw_op *op)
{
    struct random_types types = {.count = 0};
    int64_t pool[4] = {between(d, 1, 4), between(d, 1, 4), 1, between(d, 0, 5)};
    int common_rank = (int)between(d, 0, 4);
    size_t formals = 0, count;

    while (op->inputs != NULL && op->inputs[formals].name != NULL)
        formals++;
    count = formals;
    while (count > 0 && (op->inputs[count - 1].flags & PW_FORMAL_OPTIONAL) != 0 && chance(d, 30))
        count--;
    if (count > 0 && (op->inputs[count - 1].flags & PW_FORMAL_VARIADIC) != 0)
        count += (size_t)between(d, 0, 2);
    count = count > RANDOM_INPUTS ? RANDOM_INPUTS : count;
    for (size_t i = 0; i < count; i++) {
        const struct pw_formal *formal = pw_op_formal(op->inputs, i);

        c->inputs[i] = PW_NO_VALUE;
        c->node.input_count = i + 1;
        if ((formal->flags & PW_FORMAL_OPTIONAL) != 0 && chance(d, 30))
            continue;
        random_input(c, d, formal, i, &types, common_rank, pool);
        c->inputs[i] = (pw_value_id)c->graph.value_count;
        c->values[c->graph.value_count] = (struct pw_graph_value){.name = pw_arena_printf(&c->arena, "i%zu", i)};
        if (c->constant[i])
            c->values[c->graph.value_count].initializer = &c->given[i].tensor;
        else
            c->graph_inputs[c->graph.input_count++] = (pw_value_id)c->graph.value_count;
        c->values[c->graph.value_count++].is_input = !c->constant[i];
    }
}

static inline void random_outputs(struct random_call *c, struct dice *d, const struct pw_op *op)
{
    size_t formals = 0, count;

    while (op->outputs != NULL && op->outputs[formals].name != NULL)
        formals++;
    count =
        formals > 0 && (op->outputs[formals - 1].flags & PW_FORMAL_VARIADIC) != 0 ? (size_t)between(d, 1, 4) : formals;
    while (count > (size_t)(op->min_outputs > 0 ? op->min_outputs : 1) && count <= formals &&
           (op->outputs[count - 1].flags & PW_FORMAL_OPTIONAL) != 0 && chance(d, 40))
        count--;
    count = count > RANDOM_OUTPUTS ? RANDOM_OUTPUTS : count;
    for (size_t i = 0; i < count; i++) {
        c->outputs[i] = (pw_value_id)c->graph.value_count;
        c->values[c->graph.value_count++] =
            (struct pw_graph_value){.name = "o", .producer = &c->node, .producer_output = (int)i, .is_output = true};
    }
    c->node.output_count = count;
}

static inline void random_make(struct random_call *c, struct dice *d, const struct pw_op *op, bool hostile)
{
    memset(c, 0, sizeof *c);
    c->model.path = "";
    c->model.graph = &c->graph;
    c->graph = (struct pw_graph){.name = "main",
                                 .model = &c->model,
                                 .values = c->values,
                                 .nodes = &c->node,
                                 .node_count = 1,
                                 .inputs = c->graph_inputs,
                                 .outputs = c->outputs};
    c->node = (struct pw_node){.name = "n",
                               .op_type = op->name,
                               .domain = op->domain,
                               .overload = "",
                               .doc = "",
                               .inputs = c->inputs,
                               .outputs = c->outputs,
                               .attrs = c->attrs,
                               .opset = op->since,
                               .op = op,
                               .graph = &c->graph};
    random_inputs(c, d, op);
    random_outputs(c, d, op);
    c->graph.output_count = c->node.output_count;
    for (const struct pw_attr_def *def = op->attrs; def != NULL && def->name != NULL; def++) {
        if (!def->required && chance(d, 55))
            continue;
        random_attr(c, d, def, hostile, &c->attrs[c->node.attr_count]);
        c->node.attr_count += c->attrs[c->node.attr_count].name != NULL;
    }
}

static inline void random_clear(struct random_call *c)
{
    for (size_t i = 0; i < RANDOM_INPUTS; i++)
        pw_value_clear(&c->given[i]);
    pw_arena_clear(&c->arena);
}

#endif
