/* RotaryEmbedding of ai.onnx and com.microsoft. */
#include <string.h>

#include "base/compiler.h"
#include "ops/attention/attention_room.h"

void pw_rotary_turn(double *x, int64_t rotated, bool interleaved, const double *cosines, const double *sines)
{
    int64_t half = rotated / 2;

    for (int64_t i = 0; i < half; i++) {
        int64_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : half + i;
        double re = x[a], im = x[b];

        x[a] = cosines[i] * re - sines[i] * im;
        x[b] = sines[i] * re + cosines[i] * im;
    }
}

static bool is_microsoft(const struct pw_call *call)
{
    return call->op->domain[0] != 0;
}

static pw_status read_input(const struct pw_call *call, struct pw_rotary *r, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t heads = pw_call_int(call, "num_heads"), width;

    if (x->rank == 4) {
        r->batch = x->dims[0];
        r->heads = x->dims[1];
        r->sequence = x->dims[2];
        r->size = x->dims[3];
        r->x = (struct pw_attention_layout){0, r->heads * r->sequence * r->size, r->sequence * r->size, r->size};
        return PW_OK;
    }
    if (x->rank != 3)
        return pw_call_error(call, err, "the input has rank %d, 3 or 4 expected", x->rank);
    width = x->dims[2];
    if (heads == 0 && is_microsoft(call)) { /* then the whole width of the caches is the head */
        int64_t half = call->in[r->cos_input]->rank == 2 ? call->in[r->cos_input]->dims[1] : 0;

        heads = half > 0 && width % (2 * half) == 0 ? width / (2 * half) : 0;
    }
    if (heads < 1 || width % heads != 0)
        return pw_call_error(call, err, "num_heads %lld does not divide the width %lld", (long long)heads,
                             (long long)width);
    r->batch = x->dims[0];
    r->sequence = x->dims[1];
    r->heads = heads;
    r->size = width / heads;
    r->x = (struct pw_attention_layout){0, r->sequence * width, r->size, width};
    return PW_OK;
}

static pw_status read_caches(const struct pw_call *call, struct pw_rotary *r, struct pw_error *err)
{
    const struct pw_info *cosines = call->in[r->cos_input], *sines = call->in[r->sin_input];
    int64_t half = r->rotated / 2;

    if (cosines->rank != sines->rank || (cosines->rank != 2 && cosines->rank != 3))
        return pw_call_error(call, err, "cos_cache and sin_cache have ranks %d and %d, 2 or 3 expected", cosines->rank,
                             sines->rank);
    for (int d = 0; d < cosines->rank; d++) {
        if (cosines->dims[d] != sines->dims[d])
            return pw_call_error(call, err, "cos_cache and sin_cache differ in dimension %d", d);
    }
    r->by_position = cosines->rank == 2;
    r->positions = cosines->dims[0];
    if (cosines->dims[cosines->rank - 1] != half)
        return pw_call_error(call, err, "the caches are %lld wide, %lld expected",
                             (long long)cosines->dims[cosines->rank - 1], (long long)half);
    if (r->by_position != (r->ids_input >= 0))
        return pw_call_error(call, err, "caches of rank 2 go with position_ids, of rank 3 without");
    if (!r->by_position && (cosines->dims[0] != r->batch || cosines->dims[1] != r->sequence))
        return pw_call_error(call, err, "the caches are not of shape [%lld, %lld, %lld]", (long long)r->batch,
                             (long long)r->sequence, (long long)half);
    return PW_OK;
}

static pw_status read_rotary(const struct pw_call *call, struct pw_rotary *r, struct pw_error *err)
{
    bool microsoft = is_microsoft(call);
    pw_status status;

    memset(r, 0, sizeof *r);
    if (!pw_attention_known(call))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    r->cos_input = microsoft ? 2 : 1;
    r->sin_input = microsoft ? 3 : 2;
    r->ids_input = microsoft ? 1 : pw_call_input(call, 3) ? 3 : -1;
    r->interleaved = pw_call_int(call, "interleaved") != 0;
    status = read_input(call, r, err);
    if (status != PW_OK)
        return status;
    r->rotated = pw_call_int(call, "rotary_embedding_dim");
    r->rotated = r->rotated == 0 ? r->size : r->rotated;
    if (r->rotated < 0 || r->rotated > r->size || r->rotated % 2 != 0)
        return pw_call_error(call, err, "%lld elements of a head of %lld can't turn in pairs", (long long)r->rotated,
                             (long long)r->size);
    if (microsoft && pw_call_float(call, "scale") != 1.0f)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "a scale other than 1 has no published meaning");
    status = read_caches(call, r, err);
    if (status != PW_OK || r->ids_input < 0)
        return status;
    r->ids_count = 1;
    for (int d = 0; d < call->in[r->ids_input]->rank; d++)
        r->ids_count *= call->in[r->ids_input]->dims[d];
    if (r->ids_count != r->batch * r->sequence && !(microsoft && r->ids_count == 1))
        return pw_call_error(call, err, "position_ids has %lld elements, %lld expected", (long long)r->ids_count,
                             (long long)(r->batch * r->sequence));
    return PW_OK;
}

pw_status pw_rotary_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_rotary r = {0};

    for (int i = 0; i < call->input_count; i++) {
        bool ids = i == (is_microsoft(call) ? 1 : 3);
        pw_dtype dtype = pw_call_input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

        if (dtype != PW_DTYPE_UNDEFINED && (ids ? dtype != PW_DTYPE_INT64 : !pw_dtype_is_float(dtype)))
            return pw_call_error(call, err, "'%s' is %s, %s expected", call->op->inputs[i].name, pw_dtype_name(dtype),
                                 ids ? "int64" : "a float type");
    }
    if (pw_attention_known(call)) {
        struct pw_error why = {0};
        pw_status status = read_rotary(call, &r, &why);

        if (status != PW_OK && status != PW_ERR_UNSUPPORTED)
            return pw_error_set(err, status, "%s", why.message);
    }
    return pw_infer_same(call, err);
}

/* Row of the caches for a token; -1 outside of them. */
static int64_t cache_row(const struct pw_rotary *r, const struct pw_tensor *ids, int64_t batch, int64_t s)
{
    int64_t position;

    if (!r->by_position)
        return batch * r->sequence + s;
    position = r->ids_count == 1 ? pw_tensor_get_int(ids, 0) + s : pw_tensor_get_int(ids, batch * r->sequence + s);
    return position >= 0 && position < r->positions ? position : -1;
}

pw_status pw_rotary_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *cosines, *sines, *ids;
    struct pw_rotary r = {0};
    struct pw_tensor *y = NULL;
    pw_status status = read_rotary(ev->call, &r, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, x->nominal, x->rank, x->dims, &y, err);
    if (status != PW_OK || y->count == 0)
        return status;
    cosines = pw_eval_in(ev, r.cos_input);
    sines = pw_eval_in(ev, r.sin_input);
    ids = r.ids_input < 0 ? NULL : pw_eval_in(ev, r.ids_input);
    memcpy(y->data, x->data, pw_tensor_bytes(x));
    for (int64_t b = 0; b < r.batch; b++) {
        for (int64_t s = 0; s < r.sequence; s++) {
            int64_t row = cache_row(&r, ids, b, s);

            if (row < 0)
                return pw_call_error(ev->call, err, "a position lies outside of the %lld rows of the caches",
                                     (long long)r.positions);
            for (int64_t h = 0; h < r.heads; h++)
                pw_rotary_turn((double *)y->data + b * r.x.batch + h * r.x.head + s * r.x.row, r.rotated, r.interleaved,
                               (const double *)cosines->data + row * (r.rotated / 2),
                               (const double *)sines->data + row * (r.rotated / 2));
        }
    }
    return PW_OK;
}

pw_status pw_rotary_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    static const char *const names[] = {"batch",       "heads",     "sequence", "size",    "rotated", "turns_pairs",
                                        "by_position", "positions", "one_id",   "x_batch", "x_head",  "x_row"};
    struct pw_rotary r = {0};
    pw_status status = read_rotary(call, &r, err);
    const int64_t values[] = {r.batch,       r.heads,     r.sequence,
                              r.size,        r.rotated,   r.interleaved,
                              r.by_position, r.positions, r.ids_count == 1 && r.batch * r.sequence != 1,
                              r.x.batch,     r.x.head,    r.x.row};

    for (size_t i = 0; i < PW_COUNT_OF(names) && status == PW_OK; i++)
        status = pw_bind_int(b, names[i], values[i], err);
    return status;
}
