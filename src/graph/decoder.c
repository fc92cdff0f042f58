#include "graph/decoder.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/decoder_emit.h"

/* Nodes and weights are numbered as they are emitted, and C leaves the order of arguments open: no call
 * below has two arguments that emit nodes, nor two that emit weights. */

#define TOTAL_DIM "past_sequence + sequence"

/* What the layers share. */
struct shared {
    const char *past;          /* scalar int64 (with a cache) */
    const char *sequence;      /* scalar int64 */
    const char *positions;     /* int64 [sequence], counted from the past on */
    const char *cosine, *sine; /* [sequence, head] of the model's dtype, with rotary */
    const char *bias;          /* additive mask [batch,1,sequence,total], with --mask */
};

/* Heads of one projection, before and after. */
struct heads {
    const char *q, *k, *v; /* [batch, heads, sequence, head] */
};

static const int64_t swap_heads[4] = {0, 2, 1, 3};
static const int64_t swap_last[4] = {0, 1, 3, 2};

void pw_decoder_defaults(struct pw_decoder *decoder)
{
    memset(decoder, 0, sizeof *decoder);
    decoder->layers = 2;
    decoder->width = 64;
    decoder->heads = 4;
    decoder->vocabulary = 256;
    decoder->positions = 128;
    decoder->opset = 17;
    decoder->norm = PW_DECODER_LAYERNORM;
    decoder->activation = PW_DECODER_GELU_TANH;
    decoder->kv_cache = true;
    decoder->dtype = PW_DTYPE_FLOAT32;
}

static pw_status check_range(const char *option, int64_t value, int64_t low, int64_t high, struct pw_error *err)
{
    if (value >= low && value <= high)
        return PW_OK;
    return pw_error_set(err, PW_ERR_USAGE, "--%s is %" PRId64 ", expected %" PRId64 " to %" PRId64, option, value, low,
                        high);
}

pw_status pw_decoder_check(struct pw_decoder *d, struct pw_error *err)
{
    const struct {
        const char *option;
        int64_t value, low, high;
    } ranges[] = {
        {"layers", d->layers, 1, 100000},          {"width", d->width, 1, 1 << 20},
        {"heads", d->heads, 1, 1 << 16},           {"kv-heads", d->kv_heads, 0, 1 << 16},
        {"vocabulary", d->vocabulary, 1, 1 << 24}, {"hidden", d->hidden, 0, 1 << 24},
        {"positions", d->positions, 1, 1 << 24},   {"opset", d->opset, 11, 21},
        {"nodes", d->nodes, 0, 10000000},
    };
    pw_status status = PW_OK;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && status == PW_OK; i++)
        status = check_range(ranges[i].option, ranges[i].value, ranges[i].low, ranges[i].high, err);
    if (status != PW_OK)
        return status;
    if (d->kv_heads == 0)
        d->kv_heads = d->heads;
    if (d->hidden == 0)
        d->hidden = d->activation == PW_DECODER_SWIGLU ? (d->width * 8 / 3 + 7) / 8 * 8 : 4 * d->width;
    if (d->width % d->heads != 0)
        return pw_error_set(err, PW_ERR_USAGE, "--width %" PRId64 " is not a multiple of --heads %" PRId64, d->width,
                            d->heads);
    if (d->heads % d->kv_heads != 0)
        return pw_error_set(err, PW_ERR_USAGE, "--heads %" PRId64 " is not a multiple of --kv-heads %" PRId64, d->heads,
                            d->kv_heads);
    if (d->rotary && d->width / d->heads % 2 != 0)
        return pw_error_set(err, PW_ERR_USAGE,
                            "--rotary turns pairs, but the heads have %" PRId64 " elements (width / heads)",
                            d->width / d->heads);
    if (d->dtype == PW_DTYPE_BFLOAT16 && d->opset < 16)
        return pw_error_set(err, PW_ERR_USAGE, "--dtype bfloat16 needs --opset 16 or later (Where), found %d",
                            d->opset);
    return PW_OK;
}

/* ---- small parts ---- */

static const char *linear(struct pw_emit *e, const char *x, const char *name, int64_t in, int64_t out, double gain)
{
    const char *scope = e->scope;
    const char *y;
    bool biased = e->d->norm == PW_DECODER_LAYERNORM; /* Llama-style layers have no biases */
    e->scope = pw_emit_format(e, "%s/%s", scope, name);
    y = pw_emit_two(e, "MatMul", x,
                    pw_emit_weight(e, pw_emit_format(e, "%s.weight", e->scope + 1), 2, (const int64_t[]){in, out}, 0.0,
                                   gain * sqrt(3.0 / (double)in)));
    if (biased)
        y = pw_emit_two(e, "Add", pw_emit_weight(e, pw_emit_format(e, "%s.bias", e->scope + 1), 1, &out, 0.0, 0.02), y);
    e->scope = scope;
    return y;
}

static const char *layer_norm(struct pw_emit *e, const char *x)
{
    pw_dtype dtype = e->d->dtype;
    const char *centred = pw_emit_two(e, "Sub", x, pw_emit_mean(e, x));
    const char *variance = pw_emit_mean(e, pw_emit_two(e, "Pow", centred, pw_emit_real(e, dtype, 2.0)));
    const char *root = pw_emit_one(e, "Sqrt", pw_emit_two(e, "Add", variance, pw_emit_real(e, dtype, 1e-5)));
    const char *scaled =
        pw_emit_two(e, "Mul", pw_emit_two(e, "Div", centred, root),
                    pw_emit_weight(e, pw_emit_format(e, "%s.weight", e->scope + 1), 1, &e->d->width, 1.0, 0.1));
    return pw_emit_two(e, "Add", scaled,
                       pw_emit_weight(e, pw_emit_format(e, "%s.bias", e->scope + 1), 1, &e->d->width, 0.0, 0.05));
}

static const char *rms_norm(struct pw_emit *e, const char *x)
{
    pw_dtype dtype = e->d->dtype;
    const char *square = pw_emit_mean(e, pw_emit_two(e, "Pow", x, pw_emit_real(e, dtype, 2.0)));
    /* Half precision flushes smaller terms to zero. */
    const char *root = pw_emit_one(
        e, "Sqrt", pw_emit_two(e, "Add", square, pw_emit_real(e, dtype, dtype == PW_DTYPE_FLOAT16 ? 1e-5 : 1e-6)));
    const char *scaled = pw_emit_two(e, "Mul", x, pw_emit_two(e, "Div", pw_emit_real(e, dtype, 1.0), root));
    return pw_emit_two(
        e, "Mul", pw_emit_weight(e, pw_emit_format(e, "%s.weight", e->scope + 1), 1, &e->d->width, 1.0, 0.1), scaled);
}

static const char *norm(struct pw_emit *e, const char *name, const char *x)
{
    const char *scope = e->scope;
    e->scope = pw_emit_format(e, "%s/%s", scope, name);
    x = e->d->norm == PW_DECODER_LAYERNORM ? layer_norm(e, x) : rms_norm(e, x);
    e->scope = scope;
    return x;
}

/* x/2 (1 + erf(x/sqrt 2)) */
static const char *gelu(struct pw_emit *e, const char *x)
{
    pw_dtype dtype = e->d->dtype;
    const char *erf = pw_emit_one(e, "Erf", pw_emit_two(e, "Div", x, pw_emit_real(e, dtype, sqrt(2.0))));
    const char *gated = pw_emit_two(e, "Mul", x, pw_emit_two(e, "Add", erf, pw_emit_real(e, dtype, 1.0)));
    return pw_emit_two(e, "Mul", gated, pw_emit_real(e, dtype, 0.5));
}

/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
static const char *gelu_tanh(struct pw_emit *e, const char *x)
{
    pw_dtype dtype = e->d->dtype;
    const char *half = pw_emit_two(e, "Mul", x, pw_emit_real(e, dtype, 0.5));
    const char *cube = pw_emit_two(e, "Pow", x, pw_emit_real(e, dtype, 3.0));
    const char *sum = pw_emit_two(e, "Add", x, pw_emit_two(e, "Mul", cube, pw_emit_real(e, dtype, 0.044715)));
    const char *tanh_of =
        pw_emit_one(e, "Tanh", pw_emit_two(e, "Mul", sum, pw_emit_real(e, dtype, 0.79788456080286535588)));
    return pw_emit_two(e, "Mul", half, pw_emit_two(e, "Add", tanh_of, pw_emit_real(e, dtype, 1.0)));
}

static const char *feed_forward(struct pw_emit *e, const char *x)
{
    const struct pw_decoder *d = e->d;
    double gain = 1.0 / sqrt(2.0 * (double)d->layers);
    if (d->activation == PW_DECODER_SWIGLU) {
        const char *gate = linear(e, x, "gate", d->width, d->hidden, 1.0);
        const char *silu = pw_emit_two(e, "Mul", gate, pw_emit_one(e, "Sigmoid", gate));
        const char *up = linear(e, x, "up", d->width, d->hidden, 1.0);
        return linear(e, pw_emit_two(e, "Mul", silu, up), "down", d->hidden, d->width, gain);
    }
    x = linear(e, x, "up", d->width, d->hidden, 1.0);
    x = d->activation == PW_DECODER_GELU ? gelu(e, x) : gelu_tanh(e, x);
    return linear(e, x, "down", d->hidden, d->width, gain);
}

/* ---- attention ---- */

/* [batch, sequence, heads*head] -> [batch, heads, sequence, head] */
static const char *split_heads(struct pw_emit *e, const char *x, const char *batch, const char *sequence, int64_t heads)
{
    const char *dims[4];
    dims[0] = pw_emit_unsqueeze(e, batch, 0);
    dims[1] = pw_emit_unsqueeze(e, sequence, 0);
    dims[2] = pw_emit_int1(e, heads);
    dims[3] = pw_emit_int1(e, e->d->width / e->d->heads);
    x = pw_emit_two(e, "Reshape", x, pw_emit_concat(e, 0, NULL, 4, dims));
    return pw_emit_transpose(e, x, swap_heads);
}

/* Turns pairs (i, i + head/2) by the position's angle. */
static const char *rotate(struct pw_emit *e, const char *x, const struct shared *s)
{
    int64_t half = e->d->width / e->d->heads / 2;
    const char *halves[2];
    const char *turned;
    halves[1] = pw_emit_slice(e, x, 3, 0, half);
    halves[0] = pw_emit_slice(e, x, 3, half, INT64_MAX);
    x = pw_emit_two(e, "Mul", x, s->cosine);
    halves[0] = pw_emit_one(e, "Neg", halves[0]);
    turned = pw_emit_two(e, "Mul", pw_emit_concat(e, -1, NULL, 2, halves), s->sine);
    return pw_emit_two(e, "Add", x, turned);
}

/* Repeats each key-value head for its group of query heads. */
static const char *repeat_heads(struct pw_emit *e, const char *x, const char *batch)
{
    const struct pw_decoder *d = e->d;
    const int64_t expanded[5] = {1, 1, d->heads / d->kv_heads, 1, 1};
    const char *dims[4];
    x = pw_emit_unsqueeze(e, x, 2);
    x = pw_emit_two(e, "Expand", x, pw_emit_ints(e, 1, expanded, 5));
    dims[0] = pw_emit_unsqueeze(e, batch, 0);
    dims[1] = pw_emit_int1(e, d->heads);
    dims[2] = pw_emit_int1(e, -1);
    dims[3] = pw_emit_int1(e, d->width / d->heads);
    return pw_emit_two(e, "Reshape", x, pw_emit_concat(e, 0, NULL, 4, dims));
}

/* GPT style: one product, then Split. */
static void fused_projection(struct pw_emit *e, const char *x, const char *batch, const char *sequence, struct heads *h)
{
    const struct pw_decoder *d = e->d;
    const int64_t sizes[3] = {d->width, d->width, d->width};
    struct pw_buf attrs = {0};
    const char *parts[3] = {NULL, NULL, NULL};
    x = linear(e, x, "qkv", d->width, 3 * d->width, 1.0);
    pw_onnx_put_attr_int(&attrs, "axis", 2);
    if (d->opset >= 13) {
        const char *inputs[2] = {x, pw_emit_ints(e, 1, sizes, 3)};
        pw_emit_many(e, "Split", &attrs, 2, inputs, 3, parts);
    } else {
        pw_onnx_put_attr_ints(&attrs, "split", sizes, 3);
        pw_emit_many(e, "Split", &attrs, 1, &x, 3, parts);
    }
    h->q = split_heads(e, parts[0], batch, sequence, d->heads);
    h->k = split_heads(e, parts[1], batch, sequence, d->heads);
    h->v = split_heads(e, parts[2], batch, sequence, d->heads);
}

static void project(struct pw_emit *e, const char *x, const char *batch, const char *sequence, struct heads *h)
{
    const struct pw_decoder *d = e->d;
    int64_t kv_width = d->width / d->heads * d->kv_heads;
    if (d->kv_heads == d->heads && d->norm == PW_DECODER_LAYERNORM) {
        fused_projection(e, x, batch, sequence, h);
        return;
    }
    h->q = split_heads(e, linear(e, x, "q", d->width, d->width, 1.0), batch, sequence, d->heads);
    h->k = split_heads(e, linear(e, x, "k", d->width, kv_width, 1.0), batch, sequence, d->kv_heads);
    h->v = split_heads(e, linear(e, x, "v", d->width, kv_width, 1.0), batch, sequence, d->kv_heads);
}

/* True where a query must not look: key position > query position. [sequence, total] */
static const char *causal(struct pw_emit *e, const char *sequence, const char *total)
{
    const char *first = pw_emit_two(e, "Sub", total, sequence);
    const char *rows = pw_emit_two(e, "Add", pw_emit_unsqueeze(e, pw_emit_range(e, sequence), 1), first);
    const char *columns = pw_emit_unsqueeze(e, pw_emit_range(e, total), 0);
    return pw_emit_cast(e, pw_emit_two(e, "Greater", columns, rows), PW_DTYPE_BOOL);
}

static const char *mask_scores(struct pw_emit *e, const char *scores, const char *sequence, const char *keys,
                               const struct shared *s)
{
    const char *inputs[3];
    if (s->bias)
        return pw_emit_two(e, "Add", scores, s->bias);
    inputs[0] = causal(e, sequence, pw_emit_dim(e, keys, 2));
    inputs[1] = pw_emit_real(e, e->d->dtype, -(double)INFINITY);
    inputs[2] = scores;
    return pw_emit_node(e, "Where", NULL, NULL, 3, inputs);
}

static const char *attention(struct pw_emit *e, const char *x, int64_t layer, const struct shared *s)
{
    const struct pw_decoder *d = e->d;
    struct heads h;
    const char *batch = pw_emit_dim(e, x, 0), *sequence = pw_emit_dim(e, x, 1), *width = pw_emit_dim(e, x, 2);
    const char *keys, *values, *y, *dims[3];
    project(e, x, batch, sequence, &h);
    if (d->rotary) {
        h.q = rotate(e, h.q, s);
        h.k = rotate(e, h.k, s);
    }
    if (d->kv_cache) {
        const char *with_k[2] = {pw_emit_format(e, "past.%" PRId64 ".key", layer), h.k};
        const char *with_v[2] = {pw_emit_format(e, "past.%" PRId64 ".value", layer), h.v};
        h.k = pw_emit_concat(e, 2, pw_emit_format(e, "present.%" PRId64 ".key", layer), 2, with_k);
        h.v = pw_emit_concat(e, 2, pw_emit_format(e, "present.%" PRId64 ".value", layer), 2, with_v);
    }
    keys = d->kv_heads < d->heads ? repeat_heads(e, h.k, batch) : h.k;
    values = d->kv_heads < d->heads ? repeat_heads(e, h.v, batch) : h.v;
    y = pw_emit_two(e, "MatMul", h.q, pw_emit_transpose(e, keys, swap_last));
    y = pw_emit_two(e, "Div", y, pw_emit_real(e, d->dtype, sqrt((double)(d->width / d->heads))));
    y = pw_emit_softmax(e, mask_scores(e, y, sequence, keys, s));
    y = pw_emit_transpose(e, pw_emit_two(e, "MatMul", y, values), swap_heads);
    dims[0] = pw_emit_unsqueeze(e, batch, 0);
    dims[1] = pw_emit_unsqueeze(e, sequence, 0);
    dims[2] = pw_emit_unsqueeze(e, width, 0);
    y = pw_emit_two(e, "Reshape", y, pw_emit_concat(e, 0, NULL, 3, dims));
    return linear(e, y, "out", d->width, d->width, 1.0 / sqrt(2.0 * (double)d->layers));
}

static const char *layer(struct pw_emit *e, const char *x, int64_t index, const struct shared *s)
{
    const char *y;
    e->scope = pw_emit_format(e, "/layers.%" PRId64, index);
    y = norm(e, "norm1", x);
    e->scope = pw_emit_format(e, "/layers.%" PRId64 "/attention", index);
    y = attention(e, y, index, s);
    e->scope = pw_emit_format(e, "/layers.%" PRId64, index);
    x = pw_emit_two(e, "Add", x, y);
    y = norm(e, "norm2", x);
    e->scope = pw_emit_format(e, "/layers.%" PRId64 "/mlp", index);
    y = feed_forward(e, y);
    e->scope = pw_emit_format(e, "/layers.%" PRId64, index);
    return pw_emit_two(e, "Add", x, y);
}

/* ---- what comes before the layers ---- */

static void rotary_tables(struct pw_emit *e, struct shared *s)
{
    int64_t half = e->d->width / e->d->heads / 2;
    struct pw_tensor frequencies = {0};
    struct pw_buf body = {0}, attrs = {0};
    const char *angle, *twice[2];
    const int64_t dims[2] = {1, half};
    if (pw_tensor_init(&frequencies, PW_DTYPE_FLOAT32, 2, dims, e->err) != PW_OK) {
        e->status = PW_ERR_NO_MEMORY;
        return;
    }
    for (int64_t i = 0; i < half; i++)
        pw_tensor_set(&frequencies, i, pow(10000.0, -(double)i / (double)half));
    pw_onnx_put_tensor(&body, NULL, &frequencies);
    pw_tensor_clear(&frequencies);
    pw_onnx_put_attr_message(&attrs, "value", PW_ATTR_TENSOR, &body);
    angle = pw_emit_unsqueeze(e, pw_emit_cast(e, s->positions, PW_DTYPE_FLOAT32), 1);
    angle = pw_emit_two(e, "Mul", angle, pw_emit_node(e, "Constant", &attrs, NULL, 0, NULL));
    twice[0] = twice[1] = angle;
    angle = pw_emit_concat(e, -1, NULL, 2, twice);
    s->cosine = pw_emit_one(e, "Cos", angle);
    s->sine = pw_emit_one(e, "Sin", angle);
    if (e->d->dtype != PW_DTYPE_FLOAT32) {
        s->cosine = pw_emit_cast(e, s->cosine, e->d->dtype);
        s->sine = pw_emit_cast(e, s->sine, e->d->dtype);
    }
}

/* The causal and the given mask as one addend: 0 to keep, the least number to drop. */
static const char *mask_bias(struct pw_emit *e, const struct shared *s)
{
    pw_dtype dtype = e->d->dtype;
    double least = -pw_dtype_facts(dtype)->max;
    const char *total = s->past ? pw_emit_two(e, "Add", s->past, s->sequence) : s->sequence;
    const char *inputs[3], *hidden, *given;
    inputs[0] = causal(e, s->sequence, total);
    inputs[1] = pw_emit_real(e, dtype, least);
    inputs[2] = pw_emit_real(e, dtype, 0.0);
    hidden = pw_emit_node(e, "Where", NULL, NULL, 3, inputs);
    given = pw_emit_unsqueeze(e, pw_emit_unsqueeze(e, "attention_mask", 1), 2);
    given = pw_emit_cast(e, given, dtype);
    given = pw_emit_two(e, "Sub", pw_emit_real(e, dtype, 1.0), given);
    given = pw_emit_two(e, "Mul", given, pw_emit_real(e, dtype, least));
    return pw_emit_two(e, "Add", given, hidden);
}

static const char *embed(struct pw_emit *e, struct shared *s)
{
    const struct pw_decoder *d = e->d;
    const char *x;
    e->scope = "";
    s->past = d->kv_cache ? pw_emit_dim(e, "past.0.key", 2) : NULL;
    s->sequence = pw_emit_dim(e, "input_ids", 1);
    s->positions = pw_emit_range(e, s->sequence);
    if (s->past)
        s->positions = pw_emit_two(e, "Add", s->positions, s->past);
    if (d->rotary)
        rotary_tables(e, s);
    s->bias = d->mask ? mask_bias(e, s) : NULL;
    e->scope = "/tokens";
    x = pw_emit_gather(e, pw_emit_weight(e, "tokens.weight", 2, (const int64_t[]){d->vocabulary, d->width}, 0.0, 1.0),
                       "input_ids");
    if (!d->rotary) {
        e->scope = "/positions";
        s->positions = pw_emit_gather(
            e, pw_emit_weight(e, "positions.weight", 2, (const int64_t[]){d->positions, d->width}, 0.0, 0.2),
            s->positions);
        e->scope = "";
        x = pw_emit_two(e, "Add", x, s->positions);
    }
    return x;
}

/* ---- the whole ---- */

static void declare(struct pw_emit *e)
{
    const struct pw_decoder *d = e->d;
    const char *total = d->kv_cache ? TOTAL_DIM : "sequence";
    int64_t values[4] = {0, d->kv_heads, 0, d->width / d->heads};
    struct pw_onnx_shape ids = {PW_DTYPE_INT64, 2, values, (const char *const[]){"batch", "sequence"}};
    struct pw_onnx_shape mask = {PW_DTYPE_INT64, 2, values, (const char *const[]){"batch", total}};
    struct pw_onnx_shape past = {d->dtype, 4, values, (const char *const[]){"batch", NULL, "past_sequence", NULL}};
    struct pw_onnx_shape present = {d->dtype, 4, values, (const char *const[]){"batch", NULL, TOTAL_DIM, NULL}};
    int64_t logit_values[3] = {0, 0, d->vocabulary};
    struct pw_onnx_shape logits = {d->dtype, 3, logit_values, (const char *const[]){"batch", "sequence", NULL}};
    pw_onnx_put_info(&e->out.graph, PW_GRAPH_INPUT, "input_ids", &ids);
    if (d->mask)
        pw_onnx_put_info(&e->out.graph, PW_GRAPH_INPUT, "attention_mask", &mask);
    pw_onnx_put_info(&e->out.graph, PW_GRAPH_OUTPUT, "logits", &logits);
    for (int64_t i = 0; d->kv_cache && i < d->layers; i++) {
        pw_onnx_put_info(&e->out.graph, PW_GRAPH_INPUT, pw_emit_format(e, "past.%" PRId64 ".key", i), &past);
        pw_onnx_put_info(&e->out.graph, PW_GRAPH_INPUT, pw_emit_format(e, "past.%" PRId64 ".value", i), &past);
        pw_onnx_put_info(&e->out.graph, PW_GRAPH_OUTPUT, pw_emit_format(e, "present.%" PRId64 ".key", i), &present);
        pw_onnx_put_info(&e->out.graph, PW_GRAPH_OUTPUT, pw_emit_format(e, "present.%" PRId64 ".value", i), &present);
    }
}

/* A chain that changes its input little, up to `left` nodes before the final norm and head. */
static const char *pad(struct pw_emit *e, const char *x, int64_t left)
{
    const char *scale, *shift;
    if (left <= 0)
        return x;
    e->scope = "/padding";
    scale = pw_emit_weight(e, "padding.scale", 1, &e->d->width, 1.0, 1e-4);
    shift = pw_emit_weight(e, "padding.shift", 1, &e->d->width, 0.0, 1e-4);
    for (int64_t i = 0; i < left && e->status == PW_OK; i++)
        x = pw_emit_two(e, i % 2 == 0 ? "Mul" : "Add", x, i % 2 == 0 ? scale : shift);
    return x;
}

/* The final norm (with its constants) and the head. */
static int64_t tail_nodes(const struct pw_decoder *d)
{
    bool layernorm = d->norm == PW_DECODER_LAYERNORM;
    int64_t axes = d->opset >= 18 ? 1 : 0; /* a constant for each ReduceMean */
    return 1 + (layernorm ? 11 + 2 * axes : 10 + axes);
}

static void build(struct pw_emit *e)
{
    const struct pw_decoder *d = e->d;
    struct shared s = {0};
    const char *x;
    declare(e);
    x = embed(e, &s);
    for (int64_t i = 0; i < d->layers && e->status == PW_OK; i++)
        x = layer(e, x, i, &s);
    if (d->nodes > 0 && e->node_count + tail_nodes(d) > d->nodes && e->status == PW_OK)
        e->status = pw_error_set(e->err, PW_ERR_USAGE,
                                 "--nodes %" PRId64 ": the decoder alone has %" PRId64 " (fewer --layers?)", d->nodes,
                                 e->node_count + tail_nodes(d));
    x = pad(e, x, d->nodes - e->node_count - tail_nodes(d));
    e->scope = "";
    x = norm(e, "norm", x);
    e->scope = "/head";
    pw_emit_node(
        e, "MatMul", NULL, "logits", 2,
        (const char *const[]){x, pw_emit_weight(e, "head.weight", 2, (const int64_t[]){d->width, d->vocabulary}, 0.0,
                                                sqrt(3.0 / (double)d->width))});
}

pw_status pw_decoder_write(const struct pw_decoder *decoder, const char *path, const char *external,
                           struct pw_error *err)
{
    struct pw_emit e = {.d = decoder, .scope = "", .err = err};
    pw_status status;
    pw_onnx_out_init(&e.out, "decoder", decoder->opset);
    build(&e);
    status = e.status;
    if (status == PW_OK)
        status = pw_onnx_out_write(&e.out, path, external, err);
    pw_onnx_out_clear(&e.out);
    pw_map_clear(&e.counters);
    pw_arena_clear(&e.arena);
    return status;
}
