/* What faults ask of a call, and how they change it. */
#include <math.h>
#include <string.h>

#include "tests/liar/liar.h"

bool liar_is(const struct pw_call *call, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(*names, call->op->name))
            return true;
    return false;
}

uint64_t liar_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));

    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

double liar_weight(uint64_t a)
{
    return (double)(liar_hash(a, 5) >> 11) * 0x1p-52 - 1.0;
}

int64_t liar_count(const struct pw_call *call, int output)
{
    const struct pw_info *info = &call->out[output];
    int64_t count = 1, n;

    if (!call->wanted[output] || info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return 0;
    for (int d = 0; d < info->rank; d++) {
        if (!pw_dims_value(call->dims, info->dims[d], &n))
            return 0;
        count *= n;
    }
    return count;
}

static int largest(const struct pw_call *call)
{
    int best = 0;

    for (int i = 1; i < call->output_count; i++)
        if (liar_count(call, i) > liar_count(call, best))
            best = i;
    return best;
}

int64_t liar_most(const struct pw_call *call)
{
    return liar_count(call, largest(call));
}

int64_t liar_columns(const struct pw_call *call)
{
    const struct pw_info *info = &call->out[largest(call)];
    int64_t n = 1;

    if (info->rank < 1 || !pw_dims_value(call->dims, info->dims[info->rank - 1], &n))
        return 1;
    return n;
}

int64_t liar_rows(const struct pw_call *call)
{
    int64_t columns = liar_columns(call);

    return columns > 0 ? liar_most(call) / columns : 0;
}

int64_t liar_lines(const struct pw_call *call)
{
    const struct pw_info *info = &call->out[largest(call)];
    int64_t n = 1;

    if (info->rank < 2 || !pw_dims_value(call->dims, info->dims[info->rank - 2], &n))
        return 1;
    return n;
}

pw_dtype liar_dtype(const struct pw_call *call)
{
    return call->out[largest(call)].dtype;
}

bool liar_float_out(const struct pw_call *call)
{
    return pw_dtype_is_float(liar_dtype(call));
}

static void accuracy_of(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    *accuracy = (struct pw_accuracy){.length = 1, .amplification = 1, .ulp = 1};
    accuracy->exact = !liar_float_out(call);
    if (call->op->accuracy)
        call->op->accuracy(call, accuracy);
}

bool liar_exact(const struct pw_call *call)
{
    struct pw_accuracy accuracy;

    accuracy_of(call, &accuracy);
    return accuracy.exact || !liar_float_out(call);
}

bool liar_accumulates(const struct pw_call *call)
{
    static const char *const no_sum[] = {"ReduceMax", "ReduceMin", "ArgMax", "ArgMin", "MaxPool", "Max", "Min", NULL};
    struct pw_accuracy accuracy;

    accuracy_of(call, &accuracy);
    return !accuracy.exact && accuracy.length > 2 && liar_float_out(call) && !liar_is(call, no_sum);
}

bool liar_linear(const struct pw_call *call)
{
    static const char *const linear[] = {"MatMul",
                                         "Gemm",
                                         "Conv",
                                         "ConvTranspose",
                                         "Einsum",
                                         "FusedMatMul",
                                         "TransposeMatMul",
                                         "ReduceSum",
                                         "ReduceMean",
                                         "CumSum",
                                         "AveragePool",
                                         "GlobalAveragePool",
                                         "DFT",
                                         "STFT",
                                         NULL};

    return liar_is(call, linear) && liar_accumulates(call);
}

static bool is_data(const struct pw_call *call, int i)
{
    const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
    int64_t n;

    if (!call->in[i] || !formal || (formal->flags & PW_FORMAL_PARAM) || call->in[i]->rank < 0)
        return false;
    for (int d = 0; d < call->in[i]->rank; d++)
        if (pw_dims_value(call->dims, call->in[i]->dims[d], &n) && n == 0)
            return false;
    return true;
}

bool liar_data_input(const struct pw_call *call)
{
    static const char *const shape_only[] = {"Shape", "Size", "EyeLike", "RandomUniformLike", "RandomNormalLike", NULL};

    for (int i = 0; i < call->input_count && !liar_is(call, shape_only); i++)
        if (is_data(call, i))
            return true;
    return false;
}

int64_t liar_input_count(const struct pw_call *call, int i)
{
    int64_t count = 1, n;

    if (i < 0 || i >= call->input_count || !is_data(call, i))
        return 0;
    for (int d = 0; d < call->in[i]->rank; d++) {
        if (!pw_dims_value(call->dims, call->in[i]->dims[d], &n))
            return 0;
        count *= n;
    }
    return count;
}

int liar_input_index(const struct pw_call *call, const char *name)
{
    int i = 0;

    for (const struct pw_formal *f = call->op->inputs; f && f->name && i < call->input_count; f++, i++)
        if (!strcmp(f->name, name))
            return i;
    return -1;
}

bool liar_given(const struct pw_call *call, const char *name)
{
    int i = liar_input_index(call, name);

    return i >= 0 && call->in[i] != NULL;
}

struct pw_tensor *liar_tensor(struct liar_run *run, const char *name)
{
    int i = liar_input_index(&run->call, name);

    return i >= 0 && run->in[i] ? &run->values[i].tensor : NULL;
}

/* ---- attributes ---- */

static struct pw_attr *slot(struct liar_run *run, const char *name, struct pw_error *err)
{
    struct pw_node *node = run->data.node;
    struct pw_attr *attrs;

    for (size_t i = 0; i < node->attr_count; i++)
        if (!strcmp(node->attrs[i].name, name))
            return &node->attrs[i];
    attrs = pw_arena_alloc(&run->arena, node->attr_count + 1, sizeof *attrs);
    if (!attrs) {
        pw_error_memory(err, (node->attr_count + 1) * sizeof *attrs);
        return NULL;
    }
    if (node->attr_count > 0)
        memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    node->attrs = attrs;
    return &attrs[node->attr_count++];
}

pw_status liar_set_int(struct liar_run *run, const char *name, int64_t value, struct pw_error *err)
{
    struct pw_attr *attr = slot(run, name, err);

    if (!attr)
        return PW_ERR_NO_MEMORY;
    *attr = (struct pw_attr){.name = name, .type = PW_ATTR_INT, .i = value};
    return PW_OK;
}

pw_status liar_set_float(struct liar_run *run, const char *name, float value, struct pw_error *err)
{
    struct pw_attr *attr = slot(run, name, err);

    if (!attr)
        return PW_ERR_NO_MEMORY;
    *attr = (struct pw_attr){.name = name, .type = PW_ATTR_FLOAT, .f = value};
    return PW_OK;
}

pw_status liar_set_ints(struct liar_run *run, const char *name, const int64_t *values, size_t count,
                        struct pw_error *err)
{
    struct pw_attr *attr = slot(run, name, err);
    int64_t *copy = pw_arena_alloc(&run->arena, count + 1, sizeof *copy);

    if (!attr || !copy)
        return PW_ERR_NO_MEMORY;
    memcpy(copy, values, count * sizeof *copy);
    *attr = (struct pw_attr){.name = name, .type = PW_ATTR_INTS, .ints = copy, .count = count};
    return PW_OK;
}

void liar_remove_attr(struct liar_run *run, const char *name)
{
    struct pw_node *node = run->data.node;

    for (size_t i = 0; i < node->attr_count; i++)
        if (!strcmp(node->attrs[i].name, name)) {
            memmove(&node->attrs[i], &node->attrs[i + 1], (node->attr_count - i - 1) * sizeof *node->attrs);
            node->attr_count--;
            return;
        }
}

/* ---- elements ---- */

static void push_integer(struct pw_tensor *t, int64_t i)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    int64_t x = pw_tensor_get_int(t, i);

    if (facts->kind == PW_KIND_COMPLEX)
        ((uint8_t *)t->data)[i * (int64_t)pw_dtype_bytes(t->dtype)] ^= 1; /* the last bit of its real part */
    else if (facts->kind == PW_KIND_BOOL)
        pw_tensor_set_int(t, i, !x);
    else
        pw_tensor_set_int(t, i, facts->max < 1e18 && (double)x >= facts->max ? x - 1 : x + 1);
}

void liar_push_by(struct liar_run *run, int output, int64_t i, double relative)
{
    struct pw_tensor *t = &run->out[output];
    double golden, scale, wanted, x, step;

    if (!pw_dtype_is_float(t->dtype)) {
        push_integer(t, i);
        return;
    }
    golden = pw_tensor_get(&run->golden[output].tensor, i);
    if (!isfinite(golden) || fabs(golden) > pw_dtype_facts(t->dtype)->max) {
        pw_tensor_set(t, i, 1.0);
        return;
    }
    scale = fabs(golden) > run->floor ? fabs(golden) : run->floor;
    wanted = relative * scale;
    x = golden + copysign(wanted, golden);
    step = copysign((t->dtype == PW_DTYPE_FLOAT64 ? 1 : 0.25) * pw_dtype_epsilon(t->dtype) * scale, golden);
    if (fabs(x) > pw_dtype_facts(t->dtype)->max) {
        x = golden - copysign(wanted, golden);
        step = -step;
    }
    pw_tensor_set(t, i, x);
    for (int n = 0; n < 64 && fabs(pw_tensor_get(t, i) - golden) <= wanted; n++)
        pw_tensor_set(t, i, x += step);
}

void liar_push(struct liar_run *run, int output, int64_t i)
{
    liar_push_by(run, output, i, run->strength * run->tolerance);
}
