/* TfIdfVectorizer: counts of known n-grams, also with skips between their words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "text.h"

#define MAX_OUTPUT ((int64_t)1 << 28)
#define MAX_GRAM 64

struct vectorizer {
    int64_t shortest, longest, skips; /* gram lengths, both included; most words skipped */
    const int64_t *counts;            /* start in the pool of the 1-grams, 2-grams… */
    size_t count_size;
    const int64_t *indexes; /* gram -> output coordinate */
    size_t gram_count;
    const int64_t *ints; /* the pool, or */
    const struct pw_bytes *strings;
    size_t pool_size;
    const float *weights; /* per gram, or NULL */
    const char *mode;
    int64_t width;       /* of the output */
    struct pw_map grams; /* words of a gram -> its number */
};

/* ---- attributes ---- */

static pw_status read_pool(const struct pw_call *call, struct vectorizer *v, struct pw_error *err)
{
    const struct pw_attr *strings = pw_node_attr(call->node, "pool_strings");
    size_t count = 0;

    v->ints = pw_call_ints(call, "pool_int64s", &count);
    v->pool_size = count;
    if (strings != NULL && strings->type == PW_ATTR_STRINGS) {
        if (v->ints != NULL)
            return pw_call_error(call, err, "attributes 'pool_int64s' and 'pool_strings' exclude each other");
        v->strings = strings->strings;
        v->pool_size = strings->count;
    } else if (v->ints == NULL) {
        return pw_call_error(call, err, "neither 'pool_int64s' nor 'pool_strings' is given");
    }
    if (call->in[0]->dtype != PW_DTYPE_UNDEFINED && (call->in[0]->dtype == PW_DTYPE_STRING) != (v->strings != NULL))
        return pw_call_error(call, err, "a pool of %s does not fit an input of %s",
                             v->strings != NULL ? "strings" : "integers", pw_dtype_name(call->in[0]->dtype));
    return PW_OK;
}

static pw_status read_attributes(const struct pw_call *call, struct vectorizer *v, struct pw_error *err)
{
    size_t weights = 0;
    pw_status status = read_pool(call, v, err);

    if (status != PW_OK)
        return status;
    v->shortest = pw_call_int(call, "min_gram_length");
    v->longest = pw_call_int(call, "max_gram_length");
    v->skips = pw_call_int(call, "max_skip_count");
    v->mode = pw_call_string(call, "mode");
    v->counts = pw_call_ints(call, "ngram_counts", &v->count_size);
    v->indexes = pw_call_ints(call, "ngram_indexes", &v->gram_count);
    v->weights = pw_call_floats(call, "weights", &weights);
    if (v->shortest < 1 || v->longest < v->shortest || v->longest > MAX_GRAM)
        return pw_call_error(call, err, "gram lengths %" PRId64 " to %" PRId64 " (1 to %d are possible)", v->shortest,
                             v->longest, MAX_GRAM);
    if (v->skips < 0)
        return pw_call_error(call, err, "attribute 'max_skip_count' is %" PRId64, v->skips);
    if (strcmp(v->mode, "TF") != 0 && strcmp(v->mode, "IDF") != 0 && strcmp(v->mode, "TFIDF") != 0)
        return pw_call_error(call, err, "attribute 'mode' must be TF, IDF or TFIDF");
    if (v->weights != NULL && weights != v->gram_count)
        return pw_call_error(call, err, "%zu weights for %zu grams", weights, v->gram_count);
    if ((int64_t)v->count_size < v->longest)
        return pw_call_error(call, err, "attribute 'ngram_counts' has %zu entries, expected %" PRId64, v->count_size,
                             v->longest);
    for (size_t i = 0; i < v->gram_count; i++) {
        if (v->indexes[i] < 0 || v->indexes[i] >= MAX_OUTPUT)
            return pw_call_error(call, err, "ngram_indexes[%zu] is %" PRId64, i, v->indexes[i]);
        v->width = v->indexes[i] + 1 > v->width ? v->indexes[i] + 1 : v->width;
    }
    return PW_OK;
}

/* ---- grams ---- */

static void add_word(struct pw_buf *key, const struct pw_bytes *word)
{
    uint64_t size = word->size;

    pw_buf_append(key, (const char *)&size, sizeof size);
    pw_buf_append(key, word->data, word->size);
}

static void add_number(struct pw_buf *key, int64_t number)
{
    pw_buf_append(key, (const char *)&number, sizeof number);
}

/* The key of the n words of the pool from `at` on. */
static void pool_key(const struct vectorizer *v, int64_t at, size_t n, struct pw_buf *key)
{
    key->size = 0;
    for (size_t w = 0; w < n; w++) {
        if (v->strings != NULL)
            add_word(key, &v->strings[(size_t)at + w]);
        else
            add_number(key, v->ints[(size_t)at + w]);
    }
    pw_buf_putc(key, (char)n);
}

/* Fills the map from the pool. A gram that is listed twice counts for its first place. */
static pw_status read_grams(const struct pw_call *call, struct vectorizer *v, struct pw_error *err)
{
    struct pw_buf key = {0};
    size_t gram = 0, known;
    pw_status status = PW_OK;

    for (size_t n = 1; n <= v->count_size && status == PW_OK; n++) {
        int64_t begin = v->counts[n - 1], end = n < v->count_size ? v->counts[n] : (int64_t)v->pool_size;

        if (begin < 0 || end < begin || end > (int64_t)v->pool_size || (end - begin) % (int64_t)n != 0) {
            status = pw_call_error(call, err, "ngram_counts[%zu] is %" PRId64 ": no whole %zu-grams up to %" PRId64,
                                   n - 1, begin, n, end);
            break;
        }
        for (int64_t at = begin; at < end && status == PW_OK; at += (int64_t)n, gram++) {
            if (gram >= v->gram_count) {
                status = pw_call_error(call, err, "the pool has more grams than 'ngram_indexes' (%zu)", v->gram_count);
                break;
            }
            pool_key(v, at, n, &key);
            if (key.failed)
                status = pw_error_memory(err, key.size);
            else if (!pw_map_get(&v->grams, key.data, key.size, &known))
                status = pw_map_set(&v->grams, key.data, key.size, gram, err);
        }
    }
    pw_buf_clear(&key);
    return status;
}

/* ---- counting ---- */

/* The gram of n words from `begin` on, `step` apart; false when it is not in the pool. */
static bool find_gram(const struct vectorizer *v, const struct pw_tensor *in, int64_t begin, int64_t step, int64_t n,
                      struct pw_buf *key, size_t *gram)
{
    key->size = 0;
    for (int64_t w = 0; w < n; w++) {
        if (v->strings != NULL)
            add_word(key, (const struct pw_bytes *)in->data + begin + w * step);
        else
            add_number(key, pw_tensor_get_int(in, begin + w * step));
    }
    pw_buf_putc(key, (char)n);
    return !key->failed && pw_map_get(&v->grams, key->data, key->size, gram);
}

static void count_row(const struct vectorizer *v, const struct pw_tensor *in, int64_t row, int64_t length,
                      struct pw_tensor *out, struct pw_buf *key)
{
    bool once = strcmp(v->mode, "IDF") == 0, weighted = strcmp(v->mode, "TF") != 0 && v->weights != NULL;

    for (int64_t n = v->shortest; n <= v->longest && n <= length; n++) {
        /* a single word has nothing to skip */
        for (int64_t skip = 0; skip <= (n == 1 ? 0 : v->skips) && (n - 1) * (skip + 1) < length; skip++) {
            for (int64_t begin = 0; begin + (n - 1) * (skip + 1) < length; begin++) {
                double weight = 1.0, seen;
                size_t gram;
                int64_t at;

                if (!find_gram(v, in, row * length + begin, skip + 1, n, key, &gram))
                    continue;
                at = row * v->width + v->indexes[gram];
                seen = pw_tensor_get(out, at);
                weight = weighted ? (double)v->weights[gram] : 1.0;
                pw_tensor_set(out, at, once ? weight : seen + weight);
            }
        }
    }
}

pw_status pw_tfidf_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    struct vectorizer v = {.mode = ""};
    pw_dim dims[2];
    pw_status status = read_attributes(call, &v, err);

    if (status != PW_OK)
        return status;
    if (in->rank < 0) {
        pw_call_output_unknown(call, 0, PW_DTYPE_FLOAT32);
        return PW_OK;
    }
    if (in->rank < 1 || in->rank > 2)
        return pw_call_error(call, err, "expected [C] or [N,C], found rank %d", in->rank);
    dims[0] = in->dims[0];
    dims[in->rank - 1] = v.width;
    pw_call_output(call, 0, PW_DTYPE_FLOAT32, in->rank, dims);
    return PW_OK;
}

pw_status pw_tfidf_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct vectorizer v = {.mode = ""};
    struct pw_tensor *out = NULL;
    struct pw_buf key = {0};
    int64_t rows = in->rank == 2 ? in->dims[0] : 1, dims[2];
    pw_status status = read_attributes(ev->call, &v, err);

    if (status == PW_OK)
        status = read_grams(ev->call, &v, err);
    dims[0] = in->dims[0];
    dims[in->rank - 1] = v.width;
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_FLOAT32, in->rank, dims, &out, err);
    for (int64_t row = 0; row < rows && status == PW_OK; row++) {
        count_row(&v, in, row, in->dims[in->rank - 1], out, &key);
        if (key.failed)
            status = pw_error_memory(err, key.size);
    }
    pw_buf_clear(&key);
    pw_map_clear(&v.grams);
    return status;
}

/* ---- for the kernel ---- */

#define BOUND_WIDTH (1 << 20)
#define GRAM_INTS 3 /* place in the pool, words, bits of the weight */

struct bound_gram {
    int64_t column, place, words;
    int32_t weight; /* bits */
};

static int by_column(const void *a, const void *b)
{
    const struct bound_gram *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The grams that count, in the order of the pool: lengths that are asked for, each only at its first place. */
static size_t list_grams(const struct vectorizer *v, struct pw_buf *key, struct bound_gram *out)
{
    bool weighted = strcmp(v->mode, "TF") != 0 && v->weights != NULL;
    size_t count = 0, gram = 0;

    for (size_t n = 1; n <= v->count_size; n++) {
        int64_t begin = v->counts[n - 1], end = n < v->count_size ? v->counts[n] : (int64_t)v->pool_size;

        for (int64_t at = begin; at < end; at += (int64_t)n, gram++) {
            struct bound_gram *g = &out[count];
            float weight = weighted ? v->weights[gram] : 1.0f;
            size_t earliest;

            if ((int64_t)n < v->shortest || (int64_t)n > v->longest)
                continue;
            pool_key(v, at, n, key);
            if (key->failed || !pw_map_get(&v->grams, key->data, key->size, &earliest) || earliest != gram)
                continue;
            *g = (struct bound_gram){.column = v->indexes[gram], .place = at, .words = (int64_t)n};
            memcpy(&g->weight, &weight, sizeof weight);
            count++;
        }
    }
    return count;
}

static pw_status bind_grams(const struct vectorizer *v, struct pw_bindings *b, struct pw_error *err)
{
    struct bound_gram *grams = pw_calloc(v->gram_count + 1, sizeof *grams);
    int64_t *ints = pw_calloc(v->gram_count * GRAM_INTS + 1, sizeof *ints);
    int64_t *first = pw_calloc((size_t)v->width + 1, sizeof *first);
    struct pw_buf key = {0};
    size_t count = 0;
    bool shared = false;
    pw_status status = PW_OK;

    if (grams == NULL || ints == NULL || first == NULL) {
        status = pw_error_memory(err, v->gram_count * sizeof *grams);
        goto done;
    }
    count = list_grams(v, &key, grams);
    if (key.failed) {
        status = pw_error_memory(err, key.size);
        goto done;
    }
    qsort(grams, count, sizeof *grams, by_column);
    for (size_t i = 0; i < count; i++) {
        shared = shared || (i > 0 && grams[i - 1].column == grams[i].column);
        first[grams[i].column + 1]++;
        ints[GRAM_INTS * i] = grams[i].place;
        ints[GRAM_INTS * i + 1] = grams[i].words;
        ints[GRAM_INTS * i + 2] = grams[i].weight;
    }
    for (int64_t c = 0; c < v->width; c++)
        first[c + 1] += first[c];
    status = pw_bind_ints(b, "grams", ints, count * GRAM_INTS, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "first", first, (size_t)v->width + 1, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pool", v->ints, v->pool_size, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "shared", shared, err);
done:
    pw_buf_clear(&key);
    pw_free(grams);
    pw_free(ints);
    pw_free(first);
    return status;
}

pw_status pw_tfidf_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    struct vectorizer v = {.mode = ""};
    pw_status status = read_attributes(call, &v, err);

    if (status == PW_OK)
        status = read_grams(call, &v, err);
    if (status == PW_OK && (v.strings != NULL || v.width > BOUND_WIDTH || in->rank < 1))
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "only grams of numbers, up to %d columns", BOUND_WIDTH);
    if (status == PW_OK)
        status = bind_grams(&v, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rows", in->rank == 2 ? in->dims[0] : 1, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "width", v.width, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "length", in->dims[in->rank - 1], err);
    if (status == PW_OK)
        status = pw_bind_int(b, "skips", v.skips < INT32_MAX - 1 ? v.skips : INT32_MAX - 2, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "once", strcmp(v.mode, "IDF") == 0, err);
    pw_map_clear(&v.grams);
    return status;
}

/* Words of the pool's range: of others alone no gram is known, and the counts are all zero. Some are far away. */
void pw_tfidf_fill(const struct pw_call *call, int input, struct pw_fill *fill)
{
    size_t count = 0;
    const int64_t *pool = pw_call_ints(call, "pool_int64s", &count);

    for (size_t i = 0; i < count && input == 0; i++) {
        fill->int_low = i == 0 || pool[i] < fill->int_low ? pool[i] : fill->int_low;
        fill->int_high = i == 0 || pool[i] > fill->int_high ? pool[i] : fill->int_high;
        fill->beyond = true;
    }
}
