#include "ops/matmul/matmul_room.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

/*
 * Einsum. The equation is parsed into labels; operands are then contracted two at a time, each pair
 * copied into dense [batch][M][K] and [batch][K][N] and multiplied by the room's product.
 *
 *   label in both and kept          -> batch
 *   only in the left one and kept   -> M        only in the right one and kept -> N
 *   not kept                        -> K (stride 0 where an operand does not have it)
 *
 * A label that repeats in an operand walks its diagonal: the strides add up. "..." stands for
 * labels of its own, aligned at the right, which broadcast.
 */

#define LABELS_MAX 84     /* 52 letters and PW_MAX_RANK for "...", twice for safety */
#define ELLIPSIS_FIRST 52 /* labels of "..." follow the letters */
#define OPERANDS_MAX 32

struct term {
    int count;
    signed char labels[PW_MAX_RANK];
};

struct equation {
    int operand_count;
    struct term operands[OPERANDS_MAX];
    struct term output;
};

static int letter(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    if (c >= 'A' && c <= 'Z')
        return 26 + c - 'A';
    return -1;
}

/* Parses letters and "..." up to `end`. rank: of the operand, or -1 for the output, whose "..." has
 * `ellipsis` dims. */
static pw_status parse_term(const struct pw_call *call, const char *text, const char *end, int rank, int ellipsis,
                            struct term *out, struct pw_error *err)
{
    int letters = 0;
    bool dots = false;

    for (const char *c = text; c < end; c++)
        letters += letter(*c) >= 0;
    if (rank >= 0)
        ellipsis = rank - letters;
    out->count = 0;
    for (const char *c = text; c < end; c++) {
        if (*c == ' ')
            continue;
        if (*c == '.') {
            if (dots || end - c < 3 || c[1] != '.' || c[2] != '.' || ellipsis < 0)
                return pw_call_error(call, err, "equation: misplaced '...' or more letters than dimensions");
            if (out->count + ellipsis > PW_MAX_RANK)
                return pw_call_error(call, err, "equation: more than %d dimensions", PW_MAX_RANK);
            dots = true;
            for (int d = 0; d < ellipsis; d++) /* aligned at the right */
                out->labels[out->count++] = (signed char)(ELLIPSIS_FIRST + PW_MAX_RANK - ellipsis + d);
            c += 2;
            continue;
        }
        if (letter(*c) < 0)
            return pw_call_error(call, err, "equation: character 0x%02x, letters expected", (unsigned char)*c);
        if (out->count == PW_MAX_RANK)
            return pw_call_error(call, err, "equation: more than %d dimensions", PW_MAX_RANK);
        out->labels[out->count++] = (signed char)letter(*c);
    }
    if (rank >= 0 && out->count != rank)
        return pw_call_error(call, err, "equation: a term has %d letters, but its operand has rank %d", letters, rank);
    return PW_OK;
}

/* Without "->": "..." first, then the letters that occur once, in alphabetical order ('A' before 'a'). */
static pw_status implicit_output(const struct pw_call *call, struct equation *eq, int ellipsis, struct pw_error *err)
{
    int seen[LABELS_MAX] = {0};

    for (int i = 0; i < eq->operand_count; i++) {
        for (int d = 0; d < eq->operands[i].count; d++)
            seen[(int)eq->operands[i].labels[d]]++;
    }
    eq->output.count = 0;
    for (int d = 0; d < ellipsis; d++)
        eq->output.labels[eq->output.count++] = (signed char)(ELLIPSIS_FIRST + PW_MAX_RANK - ellipsis + d);
    for (int i = 0; i < ELLIPSIS_FIRST; i++) {
        int label = (i + 26) % ELLIPSIS_FIRST; /* capitals first */

        if (seen[label] != 1)
            continue;
        if (eq->output.count == PW_MAX_RANK)
            return pw_call_error(call, err, "equation: more than %d output dimensions", PW_MAX_RANK);
        eq->output.labels[eq->output.count++] = (signed char)label;
    }
    return PW_OK;
}

static pw_status check_output(const struct pw_call *call, const struct equation *eq, struct pw_error *err)
{
    bool known[LABELS_MAX] = {false}, used[LABELS_MAX] = {false};

    for (int i = 0; i < eq->operand_count; i++) {
        for (int d = 0; d < eq->operands[i].count; d++)
            known[(int)eq->operands[i].labels[d]] = true;
    }
    for (int d = 0; d < eq->output.count; d++) {
        int label = eq->output.labels[d];

        if (!known[label] || used[label])
            return pw_call_error(call, err, "equation: an output label %s", used[label] ? "repeats" : "has no operand");
        used[label] = true;
    }
    return PW_OK;
}

/* ranks: of the operands, all known. */
static pw_status parse_equation(const struct pw_call *call, const int *ranks, int count, struct equation *eq,
                                struct pw_error *err)
{
    const char *text = pw_call_string(call, "equation"), *arrow = strstr(text, "->");
    const char *end = arrow ? arrow : text + strlen(text), *from = text;
    int ellipsis = 0;
    pw_status status = PW_OK;

    memset(eq, 0, sizeof *eq);
    if (count < 1 || count > OPERANDS_MAX)
        return pw_call_error(call, err, "%d operands; 1 to %d are accepted", count, OPERANDS_MAX);
    while (status == PW_OK) {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        struct term *term = &eq->operands[eq->operand_count];
        int broadcast = 0;

        if (eq->operand_count == count)
            return pw_call_error(call, err, "equation: more terms than the %d operands", count);
        status = parse_term(call, from, comma ? comma : end, ranks[eq->operand_count], 0, term, err);
        for (int d = 0; d < term->count; d++)
            broadcast += term->labels[d] >= ELLIPSIS_FIRST;
        if (broadcast > ellipsis)
            ellipsis = broadcast;
        eq->operand_count++;
        if (!comma)
            break;
        from = comma + 1;
    }
    if (status != PW_OK)
        return status;
    if (eq->operand_count != count)
        return pw_call_error(call, err, "equation: %d terms for %d operands", eq->operand_count, count);
    if (!arrow)
        return implicit_output(call, eq, ellipsis, err);
    status = parse_term(call, arrow + 2, text + strlen(text), -1, ellipsis, &eq->output, err);
    return status == PW_OK ? check_output(call, eq, err) : status;
}

/* ---- inference ---- */

/* Parses for a call's infos and finds each label's size. *known = false when a rank is not known. */
static pw_status label_sizes(const struct pw_call *call, struct equation *eq, pw_dim *sizes, bool *known,
                             struct pw_error *err)
{
    int ranks[OPERANDS_MAX];
    pw_status status;

    *known = false;
    if (call->input_count < 1 || call->input_count > OPERANDS_MAX)
        return pw_call_error(call, err, "%d operands; 1 to %d are accepted", call->input_count, OPERANDS_MAX);
    for (int i = 0; i < call->input_count; i++) {
        if (!pw_call_input(call, i))
            return pw_call_error(call, err, "operand %d is omitted", i);
        if (call->in[i]->rank < 0)
            return PW_OK;
        ranks[i] = call->in[i]->rank;
    }
    status = parse_equation(call, ranks, call->input_count, eq, err);
    if (status != PW_OK)
        return status;
    for (int l = 0; l < LABELS_MAX; l++)
        sizes[l] = 1;
    for (int i = 0; i < eq->operand_count; i++) {
        for (int d = 0; d < eq->operands[i].count; d++) {
            pw_dim *size = &sizes[(int)eq->operands[i].labels[d]];

            if (!pw_dims_broadcast(call->dims, *size, call->in[i]->dims[d], size))
                return pw_call_error(call, err, "operand %d, dimension %d: %lld, but the label has another size", i, d,
                                     (long long)call->in[i]->dims[d]);
        }
    }
    *known = true;
    return PW_OK;
}

pw_status pw_matmul_einsum_infer(struct pw_call *call, struct pw_error *err)
{
    struct equation eq;
    pw_dim sizes[LABELS_MAX], dims[PW_MAX_RANK];
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    bool known = false;
    pw_status status;

    for (int i = 0; i < call->input_count; i++) {
        pw_dtype have = pw_call_input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

        if (have != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(have) && !pw_dtype_is_integer(have))
            return pw_call_error(call, err, "operand %d is %s, numbers expected", i, pw_dtype_name(have));
        if (have != PW_DTYPE_UNDEFINED && dtype != PW_DTYPE_UNDEFINED && have != dtype)
            return pw_call_error(call, err, "operands are %s and %s", pw_dtype_name(dtype), pw_dtype_name(have));
        if (have != PW_DTYPE_UNDEFINED)
            dtype = have;
    }
    status = label_sizes(call, &eq, sizes, &known, err);
    if (status != PW_OK)
        return status;
    if (!known) {
        pw_call_output_unknown(call, 0, dtype);
        return PW_OK;
    }
    for (int d = 0; d < eq.output.count; d++)
        dims[d] = sizes[(int)eq.output.labels[d]];
    pw_call_output(call, 0, dtype, eq.output.count, dims);
    return PW_OK;
}

/* Product of the sizes of all labels that occur, and of those that are summed. */
static pw_status work(const struct pw_call *call, pw_dim *all, pw_dim *summed, int *operands)
{
    struct equation eq;
    pw_dim sizes[LABELS_MAX];
    bool known = false, kept[LABELS_MAX] = {false};
    pw_status status = label_sizes(call, &eq, sizes, &known, NULL);

    *all = *summed = PW_DIM_UNKNOWN;
    if (status != PW_OK || !known)
        return status;
    *all = *summed = 1;
    *operands = eq.operand_count;
    for (int d = 0; d < eq.output.count; d++)
        kept[(int)eq.output.labels[d]] = true;
    for (int l = 0; l < LABELS_MAX; l++) { /* labels that do not occur have size 1 */
        *all = pw_dims_mul(call->dims, *all, sizes[l]);
        if (!kept[l])
            *summed = pw_dims_mul(call->dims, *summed, sizes[l]);
    }
    return PW_OK;
}

pw_status pw_matmul_einsum_cost(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    pw_dim all, summed;
    int operands = 1;

    (void)err;
    if (work(call, &all, &summed, &operands) != PW_OK || all == PW_DIM_UNKNOWN) {
        cost->flops = PW_DIM_UNKNOWN;
        return PW_OK;
    }
    cost->flops = operands == 1 ? (summed == 1 ? 0 : all)
                                : pw_dims_mul(call->dims, all, operands == 2 && summed == 1 ? 1 : operands);
    return PW_OK;
}

void pw_matmul_einsum_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    pw_dim all, summed;
    int operands = 1;
    int64_t length = 1;

    accuracy->ulp = 1.0;
    accuracy->amplification = 1.0;
    accuracy->length = 1;
    accuracy->exact = !pw_dtype_is_float(call->out[0].dtype);
    if (work(call, &all, &summed, &operands) == PW_OK && pw_dims_value(call->dims, summed, &length) && length > 0)
        accuracy->length = length;
    accuracy->ulp += operands;
    accuracy->sensitivity = accuracy->length >= 4096 ? PW_SENSITIVITY_MEDIUM : PW_SENSITIVITY_LOW;
    accuracy->reason = "error grows with the length of the sums";
    accuracy->why = accuracy->exact ? "integers" : "sums of products, each rounded in the accumulator";
}

/* ---- evaluation ---- */

/* An operand during contraction: dense data in the working dtype, one label a dim, none repeated after
 * the first contraction. */
struct operand {
    const void *data;
    void *owned;
    int rank;
    signed char labels[LABELS_MAX];
    int64_t dims[LABELS_MAX];
};

static void operand_clear(struct operand *o)
{
    pw_free(o->owned);
    memset(o, 0, sizeof *o);
}

/* Stride of a label in an operand: the sum over the dims that carry it, 0 for size 1. */
static int64_t label_stride(const struct operand *o, int label)
{
    int64_t stride = 1, sum = 0;

    for (int d = o->rank - 1; d >= 0; d--) {
        if (o->labels[d] == label && o->dims[d] != 1)
            sum += stride;
        stride *= o->dims[d];
    }
    return sum;
}

/* A list of labels with their sizes, in the order in which they are laid out. */
struct axes {
    int count;
    int labels[LABELS_MAX];
    int64_t sizes[LABELS_MAX];
    int64_t total;
};

static bool axes_add(struct axes *axes, int label, int64_t size)
{
    axes->labels[axes->count] = label;
    axes->sizes[axes->count++] = size;
    return !__builtin_mul_overflow(axes->total, size, &axes->total);
}

/* Copies the operand into dense [first][second][third] order. 8- or 4-byte elements. */
static void gather(const struct operand *o, const struct axes *const *parts, size_t size, void *to)
{
    int64_t strides[3 * LABELS_MAX], sizes[3 * LABELS_MAX], at[3 * LABELS_MAX] = {0}, offset = 0, total = 1;
    int count = 0;

    for (int p = 0; p < 3; p++) {
        total *= parts[p]->total;
        for (int i = 0; i < parts[p]->count; i++) {
            strides[count] = label_stride(o, parts[p]->labels[i]);
            sizes[count++] = parts[p]->sizes[i];
        }
    }
    for (int64_t n = 0; n < total; n++) {
        if (size == 8)
            ((uint64_t *)to)[n] = ((const uint64_t *)o->data)[offset];
        else
            ((uint32_t *)to)[n] = ((const uint32_t *)o->data)[offset];
        for (int d = count - 1; d >= 0; d--) {
            offset += strides[d];
            if (++at[d] < sizes[d])
                break;
            offset -= strides[d] * sizes[d];
            at[d] = 0;
        }
    }
}

static bool has_label(const struct operand *o, int label)
{
    for (int d = 0; d < o->rank; d++) {
        if (o->labels[d] == label)
            return true;
    }
    return false;
}

/* Sorts the labels of two operands into batch, m, n and k. */
static pw_status classify(const struct operand *a, const struct operand *b, const bool *kept, const int64_t *sizes,
                          struct axes *batch, struct axes *m, struct axes *n, struct axes *k, struct pw_error *err)
{
    bool fits = true;

    batch->total = m->total = n->total = k->total = 1;
    for (int l = 0; l < LABELS_MAX; l++) {
        bool in_a = has_label(a, l), in_b = has_label(b, l);

        if (!in_a && !in_b)
            continue;
        if (!kept[l])
            fits = axes_add(k, l, sizes[l]) && fits;
        else
            fits = axes_add(in_a && in_b ? batch : in_a ? m : n, l, sizes[l]) && fits;
    }
    if (!fits)
        return pw_error_set(err, PW_ERR_MODEL, "einsum: an intermediate result is too large");
    return PW_OK;
}

static pw_status allocate(int64_t a, int64_t b, int64_t c, size_t size, void **out, struct pw_error *err)
{
    int64_t count;

    if (__builtin_mul_overflow(a, b, &count) || __builtin_mul_overflow(count, c, &count) || count > INT64_MAX / 16)
        return pw_error_set(err, PW_ERR_MODEL, "einsum: an intermediate result is too large");
    *out = pw_calloc((size_t)count + 1, size);
    return *out ? PW_OK : pw_error_memory(err, (size_t)count * size);
}

/* out = a contracted with b; labels of out: batch, m, n. */
static pw_status contract(const struct operand *a, const struct operand *b, const bool *kept, const int64_t *sizes,
                          pw_dtype dtype, bool precise, struct operand *out, struct pw_error *err)
{
    struct axes batch = {0}, m = {0}, n = {0}, k = {0};
    const struct axes *a_parts[] = {&batch, &m, &k}, *b_parts[] = {&batch, &k, &n}, *y_parts[] = {&batch, &m, &n};
    void *dense_a = NULL, *dense_b = NULL, *dense_y = NULL;
    size_t size = pw_dtype_bytes(dtype);
    pw_status status = classify(a, b, kept, sizes, &batch, &m, &n, &k, err);
    struct pw_matmul_geometry g = {0};

    if (status == PW_OK)
        status = allocate(batch.total, m.total, k.total, size, &dense_a, err);
    if (status == PW_OK)
        status = allocate(batch.total, k.total, n.total, size, &dense_b, err);
    if (status == PW_OK)
        status = allocate(batch.total, m.total, n.total, size, &dense_y, err);
    if (status != PW_OK)
        goto done;
    gather(a, a_parts, size, dense_a);
    gather(b, b_parts, size, dense_b);
    g.m = m.total;
    g.n = n.total;
    g.k = k.total;
    g.a_row = g.k;
    g.b_row = g.n;
    g.a_col = g.b_col = 1;
    g.rank = 1;
    g.batch = g.b_batches = g.dims[0] = batch.total;
    g.a_strides[0] = g.m * g.k;
    g.b_strides[0] = g.k * g.n;
    pw_matmul_product(&g, dtype, precise, 1.0, dense_a, dense_b, 0.0, dense_y);
    memset(out, 0, sizeof *out);
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < y_parts[p]->count; i++) {
            out->labels[out->rank] = (signed char)y_parts[p]->labels[i];
            out->dims[out->rank++] = y_parts[p]->sizes[i];
        }
    }
    out->data = out->owned = dense_y;
    dense_y = NULL;
done:
    pw_free(dense_a);
    pw_free(dense_b);
    pw_free(dense_y);
    return status;
}

/* The inputs in the working dtype: float64, float32, or int64 for integers. */
static pw_status load(const struct pw_tensor *t, const struct term *term, pw_dtype work_dtype, struct operand *out,
                      struct pw_error *err)
{
    struct pw_tensor wide = {0};
    pw_status status = PW_OK;

    memset(out, 0, sizeof *out);
    out->rank = t->rank;
    memcpy(out->labels, term->labels, sizeof term->labels);
    memcpy(out->dims, t->dims, (size_t)t->rank * sizeof *t->dims);
    out->data = t->data;
    if (t->dtype == work_dtype)
        return PW_OK;
    status = pw_tensor_convert(&wide, t, work_dtype, err);
    if (status != PW_OK)
        return status;
    out->owned = pw_calloc((size_t)wide.count + 1, pw_dtype_bytes(work_dtype));
    if (out->owned && wide.count > 0)
        memcpy(out->owned, wide.data, pw_tensor_bytes(&wide));
    pw_tensor_clear(&wide);
    out->data = out->owned;
    return out->owned ? PW_OK : pw_error_memory(err, (size_t)t->count);
}

/* Writes the last result in the output's order. */
static pw_status finish(struct pw_eval *ev, const struct operand *last, const struct equation *eq, const int64_t *sizes,
                        pw_dtype nominal, pw_dtype work_dtype, struct pw_error *err)
{
    struct axes order = {.total = 1}, none = {.total = 1};
    const struct axes *parts[] = {&order, &none, &none};
    int64_t dims[PW_MAX_RANK];
    struct pw_tensor *y = NULL;
    void *dense = NULL;
    pw_status status = PW_OK;

    for (int d = 0; d < eq->output.count; d++) {
        dims[d] = sizes[(int)eq->output.labels[d]];
        if (!axes_add(&order, eq->output.labels[d], dims[d]))
            return pw_call_error(ev->call, err, "the output is too large");
    }
    status = pw_eval_output(ev, 0, nominal, eq->output.count, dims, &y, err);
    if (status != PW_OK)
        return status;
    if (y->dtype == work_dtype) {
        if (y->count > 0)
            gather(last, parts, pw_dtype_bytes(work_dtype), y->data);
        return PW_OK;
    }
    status = allocate(y->count, 1, 1, pw_dtype_bytes(work_dtype), &dense, err);
    if (status != PW_OK)
        return status;
    gather(last, parts, pw_dtype_bytes(work_dtype), dense);
    for (int64_t i = 0; i < y->count; i++)
        pw_tensor_set_int(y, i, ((const int64_t *)dense)[i]);
    pw_free(dense);
    return PW_OK;
}

/* Labels that are needed after operand `done` was contracted. */
static void needed(const struct equation *eq, int done, bool *kept)
{
    memset(kept, 0, LABELS_MAX * sizeof *kept);
    for (int d = 0; d < eq->output.count; d++)
        kept[(int)eq->output.labels[d]] = true;
    for (int i = done + 1; i < eq->operand_count; i++) {
        for (int d = 0; d < eq->operands[i].count; d++)
            kept[(int)eq->operands[i].labels[d]] = true;
    }
}

static pw_status tensor_sizes(struct pw_eval *ev, struct equation *eq, int64_t *sizes, struct pw_error *err)
{
    int ranks[OPERANDS_MAX];
    pw_status status;

    if (ev->input_count < 1 || ev->input_count > OPERANDS_MAX)
        return pw_call_error(ev->call, err, "%d operands; 1 to %d are accepted", ev->input_count, OPERANDS_MAX);
    for (int i = 0; i < ev->input_count; i++) {
        const struct pw_tensor *t = pw_eval_in(ev, i);

        if (!t || t->dtype != pw_eval_in(ev, 0)->dtype)
            return pw_call_error(ev->call, err, "operand %d is missing or of another type", i);
        ranks[i] = t->rank;
    }
    status = parse_equation(ev->call, ranks, ev->input_count, eq, err);
    for (int l = 0; l < LABELS_MAX; l++)
        sizes[l] = 1;
    for (int i = 0; i < ev->input_count && status == PW_OK; i++) {
        const struct pw_tensor *t = pw_eval_in(ev, i);

        for (int d = 0; d < t->rank; d++) {
            int64_t *size = &sizes[(int)eq->operands[i].labels[d]];

            if (*size != t->dims[d] && *size != 1 && t->dims[d] != 1)
                return pw_call_error(ev->call, err, "operand %d, dimension %d is %lld, but %lld elsewhere", i, d,
                                     (long long)t->dims[d], (long long)*size);
            if (t->dims[d] != 1)
                *size = t->dims[d];
        }
    }
    return status;
}

pw_status pw_matmul_einsum_golden(struct pw_eval *ev, struct pw_error *err)
{
    static const double one_double = 1.0;
    static const float one_float = 1.0f;
    static const int64_t one_int = 1;
    struct equation eq;
    int64_t sizes[LABELS_MAX];
    struct operand acc = {0}, next = {0}, result = {0};
    const struct pw_tensor *first;
    pw_dtype dtype;
    bool kept[LABELS_MAX], precise;
    pw_status status = tensor_sizes(ev, &eq, sizes, err);

    if (status != PW_OK)
        return status;
    first = pw_eval_in(ev, 0);
    dtype = first->dtype == PW_DTYPE_FLOAT64 || first->dtype == PW_DTYPE_FLOAT32 ? first->dtype : PW_DTYPE_INT64;
    precise = first->nominal == PW_DTYPE_FLOAT64 && ev->mode == PW_EVAL_GOLDEN;
    acc.data = dtype == PW_DTYPE_FLOAT64   ? (const void *)&one_double
               : dtype == PW_DTYPE_FLOAT32 ? (const void *)&one_float
                                           : (const void *)&one_int;
    /* A single operand is multiplied by the scalar 1; otherwise the first pair comes at once. */
    if (eq.operand_count > 1)
        status = load(first, &eq.operands[0], dtype, &acc, err);
    for (int i = eq.operand_count > 1 ? 1 : 0; i < eq.operand_count && status == PW_OK; i++) {
        needed(&eq, i, kept);
        status = load(pw_eval_in(ev, i), &eq.operands[i], dtype, &next, err);
        if (status == PW_OK)
            status = contract(&acc, &next, kept, sizes, dtype, precise, &result, err);
        operand_clear(&next);
        operand_clear(&acc);
        acc = result;
        memset(&result, 0, sizeof result);
    }
    if (status == PW_OK)
        status = finish(ev, &acc, &eq, sizes, first->nominal, dtype, err);
    operand_clear(&acc);
    return status;
}

/* ---- binding ---- */

#define BOUND_OPERANDS 4

struct layout { /* of one operand or the result: dims and strides, outermost first */
    int64_t dims[LABELS_MAX], strides[LABELS_MAX];
    size_t rank;
};

/* A dim of size 1 is left out; one that continues the one outside of it joins it. */
static void layout_add(struct layout *l, int64_t dim, int64_t stride)
{
    if (dim == 1)
        return;
    if (l->rank > 0 && l->strides[l->rank - 1] == dim * stride) {
        l->dims[l->rank - 1] *= dim;
        l->strides[l->rank - 1] = stride;
        return;
    }
    l->dims[l->rank] = dim;
    l->strides[l->rank++] = stride;
}

static pw_status bind_layout(struct pw_bindings *b, const char *prefix, struct layout *l, struct pw_error *err)
{
    char name[32];
    pw_status status;

    if (l->rank == 0) { /* a scalar: one line of one element */
        l->dims[0] = l->strides[0] = 1;
        l->rank = 1;
    }
    snprintf(name, sizeof name, "%s_dims", prefix);
    status = pw_bind_ints(b, name, l->dims, l->rank, err);
    snprintf(name, sizeof name, "%s_strides", prefix);
    if (status == PW_OK)
        status = pw_bind_ints(b, name, l->strides, l->rank, err);
    snprintf(name, sizeof name, "%s_rank", prefix);
    return status == PW_OK ? pw_bind_int(b, name, (int64_t)l->rank, err) : status;
}

static pw_status bind_operand(struct pw_bindings *b, const char *prefix, const struct operand *o,
                              const struct axes *const *parts, struct pw_error *err)
{
    struct layout l = {.rank = 0};

    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < parts[p]->count; i++)
            layout_add(&l, parts[p]->sizes[i], label_stride(o, parts[p]->labels[i]));
    }
    return bind_layout(b, prefix, &l, err);
}

/* Two operands as a product of dense matrices, and where its elements go. */
static pw_status bind_pair(struct pw_bindings *b, const struct operand *operands, const bool *kept,
                           const int64_t *sizes, const struct axes *out, struct pw_error *err)
{
    struct axes batch = {0}, m = {0}, n = {0}, k = {0};
    const struct axes *a_parts[] = {&batch, &m, &k}, *b_parts[] = {&batch, &k, &n}, *y_parts[] = {&batch, &m, &n};
    struct operand y = {.rank = 0};
    struct layout spread = {.rank = 0};
    pw_status status = classify(&operands[0], &operands[1], kept, sizes, &batch, &m, &n, &k, err);

    if (status == PW_OK)
        status = bind_operand(b, "left", &operands[0], a_parts, err);
    if (status == PW_OK)
        status = bind_operand(b, "right", &operands[1], b_parts, err);
    if (status != PW_OK)
        return status;
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < y_parts[p]->count; i++) {
            y.labels[y.rank] = (signed char)y_parts[p]->labels[i];
            y.dims[y.rank++] = y_parts[p]->sizes[i];
        }
    }
    for (int d = 0; d < out->count; d++)
        layout_add(&spread, out->sizes[d], label_stride(&y, out->labels[d]));
    const struct pw_named_int numbers[] = {{"batch", batch.total}, {"M", m.total}, {"N", n.total}, {"K", k.total}};
    status = bind_layout(b, "spread", &spread, err);
    return status == PW_OK ? pw_bind_numbers(b, numbers, PW_COUNT_OF(numbers), err) : status;
}

/* Strides of all operands along the output's labels, and along the summed ones: [operand][label]. */
static pw_status bind_strides(struct pw_bindings *b, const struct operand *operands, int count, const struct axes *out,
                              const struct axes *sum, struct pw_error *err)
{
    int64_t strides[2][BOUND_OPERANDS * LABELS_MAX];
    pw_status status;

    for (int o = 0; o < count; o++) {
        for (int d = 0; d < out->count; d++)
            strides[0][o * out->count + d] = label_stride(&operands[o], out->labels[d]);
        for (int d = 0; d < sum->count; d++)
            strides[1][o * sum->count + d] = label_stride(&operands[o], sum->labels[d]);
    }
    status = pw_bind_ints(b, "out_strides", strides[0], (size_t)(count * out->count), err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "sum_strides", strides[1], (size_t)(count * sum->count), err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "out_dims", out->sizes, (size_t)out->count, err);
    return status == PW_OK ? pw_bind_ints(b, "sum_dims", sum->sizes, (size_t)sum->count, err) : status;
}

pw_status pw_matmul_einsum_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct equation eq;
    struct operand operands[BOUND_OPERANDS] = {{0}};
    pw_dim sizes[LABELS_MAX];
    bool known = false, kept[LABELS_MAX] = {false}, fits = true;
    struct axes out = {.total = 1}, sum = {.total = 1};
    int count = call->input_count;
    pw_status status = label_sizes(call, &eq, sizes, &known, err);

    if (status != PW_OK)
        return status;
    if (!known || count > BOUND_OPERANDS)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the kernels take up to %d operands of known shape",
                            BOUND_OPERANDS);
    for (int d = 0; d < eq.output.count; d++) {
        kept[(int)eq.output.labels[d]] = true;
        fits = axes_add(&out, eq.output.labels[d], sizes[(int)eq.output.labels[d]]) && fits;
    }
    for (int l = 0; l < LABELS_MAX; l++) {
        if (!kept[l] && sizes[l] != 1)
            fits = axes_add(&sum, l, sizes[l]) && fits;
    }
    if (!fits)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the sums are too long");
    for (int i = 0; i < count; i++) {
        operands[i].rank = call->in[i]->rank;
        memcpy(operands[i].labels, eq.operands[i].labels, sizeof eq.operands[i].labels);
        memcpy(operands[i].dims, call->in[i]->dims, (size_t)operands[i].rank * sizeof *operands[i].dims);
    }
    const struct pw_named_int numbers[] = {
        {"out_rank", out.count}, {"sum_rank", sum.count}, {"sum_count", sum.total}, {"operands", count}};
    const struct pw_named_int none[] = {{"batch", 0}, {"M", 0}, {"N", 0}, {"K", 0}};
    status = pw_bind_numbers(b, numbers, PW_COUNT_OF(numbers), err);
    if (status == PW_OK)
        status = bind_strides(b, operands, count, &out, &sum, err);
    if (status == PW_OK)
        status = count == 2 ? bind_pair(b, operands, kept, sizes, &out, err)
                            : pw_bind_numbers(b, none, PW_COUNT_OF(none), err);
    return status == PW_OK ? pw_matmul_bind_accumulator(call->in[0]->dtype, b, err) : status;
}
