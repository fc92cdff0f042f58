/* The text room's reference, but for the regular expressions' engine and the n-grams. */
#include "base/compiler.h" /* first: memmem wants _GNU_SOURCE */

#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wctype.h>

#include "text.h"

#define MAX_TOTAL_BYTES ((uint64_t)1 << 33)

/* ---- case ---- */

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t utf8_locale; /* lives as long as the process */

static void make_locale(void)
{
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

uint32_t pw_text_to_lower(uint32_t code)
{
    pthread_once(&locale_once, make_locale);
    if (utf8_locale == (locale_t)0)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return (uint32_t)towlower_l((wint_t)code, utf8_locale);
}

uint32_t pw_text_to_upper(uint32_t code)
{
    pthread_once(&locale_once, make_locale);
    if (utf8_locale == (locale_t)0)
        return code >= 'a' && code <= 'z' ? code - 32 : code;
    return (uint32_t)towupper_l((wint_t)code, utf8_locale);
}

static void put_code(struct pw_buf *out, uint32_t code)
{
    if (code < 0x80) {
        pw_buf_putc(out, (char)code);
    } else if (code < 0x800) {
        pw_buf_putc(out, (char)(0xc0 | code >> 6));
        pw_buf_putc(out, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        pw_buf_putc(out, (char)(0xe0 | code >> 12));
        pw_buf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
        pw_buf_putc(out, (char)(0x80 | (code & 0x3f)));
    } else {
        pw_buf_putc(out, (char)(0xf0 | code >> 18));
        pw_buf_putc(out, (char)(0x80 | (code >> 12 & 0x3f)));
        pw_buf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
        pw_buf_putc(out, (char)(0x80 | (code & 0x3f)));
    }
}

/* Appends s with each code point mapped; bytes that are no UTF-8 stay. */
static void put_mapped(struct pw_buf *out, const struct pw_bytes *s, uint32_t (*map)(uint32_t code))
{
    size_t at = 0;

    while (at < s->size) {
        uint32_t code;
        size_t used = pw_text_decode(s->data + at, s->size - at, &code);
        uint32_t mapped = map(code);

        if (mapped == code)
            pw_buf_append(out, s->data + at, used);
        else
            put_code(out, mapped);
        at += used;
    }
}

/* ---- StringNormalizer ---- */

static bool equal_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

struct stopwords {
    const struct pw_bytes *words;
    size_t count;
    bool sensitive;
};

static bool is_stopword(const struct stopwords *stop, const struct pw_bytes *s, struct pw_error *err, pw_status *status)
{
    struct pw_buf a = {0}, b = {0};
    bool found = false;

    for (size_t i = 0; i < stop->count && !found; i++) {
        if (stop->sensitive) {
            found = equal_bytes(s->data, s->size, stop->words[i].data, stop->words[i].size);
            continue;
        }
        a.size = b.size = 0;
        put_mapped(&a, s, pw_text_to_lower);
        put_mapped(&b, &stop->words[i], pw_text_to_lower);
        if (a.failed || b.failed) {
            *status = pw_error_memory(err, s->size);
            break;
        }
        found = equal_bytes(a.data, a.size, b.data, b.size);
    }
    pw_buf_clear(&a);
    pw_buf_clear(&b);
    return found;
}

static pw_status put_normalized(const struct pw_call *call, struct pw_tensor *out, int64_t i, const struct pw_bytes *s,
                                struct pw_error *err)
{
    const char *action = pw_call_string(call, "case_change_action");
    struct pw_buf text = {0};
    pw_status status;

    if (strcmp(action, "NONE") == 0)
        return pw_tensor_set_string(out, i, s->data, s->size, err);
    put_mapped(&text, s, strcmp(action, "LOWER") == 0 ? pw_text_to_lower : pw_text_to_upper);
    status = text.failed ? pw_error_memory(err, s->size) : pw_tensor_set_string(out, i, text.data, text.size, err);
    pw_buf_clear(&text);
    return status;
}

pw_status pw_text_normalize_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_attr *attr = pw_node_attr(ev->call->node, "stopwords");
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    const struct pw_bytes *strings = in->data;
    struct stopwords stop = {.sensitive = pw_call_int(ev->call, "is_case_sensitive") != 0};
    int64_t *kept = NULL, count = 0, dims[2] = {1, 1};
    struct pw_tensor *out = NULL;
    pw_status status = PW_OK;

    if (attr != NULL && attr->type == PW_ATTR_STRINGS) {
        stop.words = attr->strings;
        stop.count = attr->count;
    }
    kept = pw_calloc((size_t)in->count, sizeof *kept);
    if (kept == NULL)
        return pw_error_memory(err, (size_t)in->count * sizeof *kept);
    for (int64_t i = 0; i < in->count && status == PW_OK; i++) {
        if (!is_stopword(&stop, &strings[i], err, &status))
            kept[count++] = i;
    }
    dims[in->rank - 1] = count > 0 ? count : 1; /* nothing left: one empty string */
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_STRING, in->rank, dims, &out, err);
    if (status == PW_OK && count == 0)
        status = pw_tensor_set_string(out, 0, "", 0, err);
    for (int64_t i = 0; i < count && status == PW_OK; i++)
        status = put_normalized(ev->call, out, i, &strings[kept[i]], err);
    pw_free(kept);
    return status;
}

/* ---- StringConcat ---- */

/* Steps of an operand's index per output dim: 0 where it is broadcast. */
static void broadcast_steps(const struct pw_tensor *t, int rank, int64_t *steps)
{
    int64_t step = 1;

    for (int d = rank - 1; d >= 0; d--) {
        int own = d - (rank - t->rank);

        steps[d] = own >= 0 && t->dims[own] != 1 ? step : 0;
        step *= own >= 0 ? t->dims[own] : 1;
    }
}

static pw_status put_joined(struct pw_tensor *out, int64_t i, const struct pw_bytes *a, const struct pw_bytes *b,
                            struct pw_buf *joined, struct pw_error *err)
{
    joined->size = 0;
    pw_buf_append(joined, a->data, a->size);
    pw_buf_append(joined, b->data, b->size);
    if (joined->failed)
        return pw_error_memory(err, a->size + b->size);
    return pw_tensor_set_string(out, i, joined->data, joined->size, err);
}

pw_status pw_text_concat_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *y = pw_eval_in(ev, 1);
    const struct pw_info *shape = &ev->call->out[0]; /* inferred: broadcast and numeric */
    int64_t x_steps[PW_MAX_RANK], y_steps[PW_MAX_RANK], at[PW_MAX_RANK] = {0}, xi = 0, yi = 0;
    struct pw_tensor *out = NULL;
    struct pw_buf joined = {0};
    uint64_t total = 0;
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_STRING, shape->rank, shape->dims, &out, err);

    if (status != PW_OK)
        return status;
    broadcast_steps(x, out->rank, x_steps);
    broadcast_steps(y, out->rank, y_steps);
    for (int64_t i = 0; i < out->count && status == PW_OK; i++) {
        const struct pw_bytes *a = (const struct pw_bytes *)x->data + xi, *b = (const struct pw_bytes *)y->data + yi;

        total += a->size + b->size;
        if (total > MAX_TOTAL_BYTES)
            status = pw_call_error(ev->call, err, "the result has more than %" PRIu64 " bytes", MAX_TOTAL_BYTES);
        if (status == PW_OK)
            status = put_joined(out, i, a, b, &joined, err);
        for (int d = out->rank - 1; d >= 0; d--) { /* the next index, and where it lies in x and y */
            xi += x_steps[d];
            yi += y_steps[d];
            if (++at[d] < out->dims[d])
                break;
            xi -= at[d] * x_steps[d];
            yi -= at[d] * y_steps[d];
            at[d] = 0;
        }
    }
    pw_buf_clear(&joined);
    return status;
}

/* ---- StringSplit ---- */

struct splitter {
    struct pw_bytes delimiter; /* empty: runs of blanks */
    int64_t most;              /* splits; negative: no limit */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next piece of s from *at on; false at the end. *at > size marks that the end was delivered. */
static bool next_piece(const struct splitter *splitter, const struct pw_bytes *s, size_t *at, int64_t made,
                       struct pw_bytes *piece)
{
    size_t size = splitter->delimiter.size, begin = *at, end;
    bool last = splitter->most >= 0 && made >= splitter->most;

    if (size == 0) {
        while (begin < s->size && is_blank(s->data[begin]))
            begin++;
        if (begin >= s->size)
            return false;
        for (end = begin; end < s->size && !is_blank(s->data[end]);)
            end++;
        end = last ? s->size : end;
        *at = end;
    } else {
        const char *found = NULL;

        if (begin > s->size)
            return false;
        if (!last && begin < s->size)
            found = memmem(s->data + begin, s->size - begin, splitter->delimiter.data, size);
        end = found != NULL ? (size_t)(found - s->data) : s->size;
        *at = found != NULL ? end + size : s->size + 1;
    }
    *piece = (struct pw_bytes){s->data + begin, end - begin};
    return true;
}

static int64_t count_pieces(const struct splitter *splitter, const struct pw_bytes *s)
{
    struct pw_bytes piece;
    size_t at = 0;
    int64_t count = 0;

    while (next_piece(splitter, s, &at, count, &piece))
        count++;
    return count;
}

pw_status pw_text_split_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    const struct pw_bytes *strings = in->data;
    struct splitter splitter = {pw_text_attr(ev->call, "delimiter"), pw_call_int(ev->call, "maxsplit")};
    struct pw_tensor *out = NULL, *counts = NULL;
    int64_t dims[PW_MAX_RANK + 1], longest = 0;
    pw_status status = PW_OK;

    for (int64_t i = 0; i < in->count; i++) {
        int64_t count = count_pieces(&splitter, &strings[i]);

        longest = count > longest ? count : longest;
    }
    memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
    dims[in->rank] = longest;
    status = pw_eval_output(ev, 0, PW_DTYPE_STRING, in->rank + 1, dims, &out, err);
    if (status == PW_OK && ev->output_count > 1)
        status = pw_eval_output(ev, 1, PW_DTYPE_INT64, in->rank, in->dims, &counts, err);
    for (int64_t i = 0; i < in->count && status == PW_OK; i++) {
        struct pw_bytes piece;
        size_t at = 0;
        int64_t made = 0;

        while (status == PW_OK && next_piece(&splitter, &strings[i], &at, made, &piece))
            status = pw_tensor_set_string(out, i * longest + made++, piece.data, piece.size, err);
        if (counts != NULL)
            pw_tensor_set_int(counts, i, made);
    }
    return status;
}

/* ---- RegexFullMatch ---- */

pw_status pw_text_match_run(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_bytes pattern = pw_text_attr(ev->call, "pattern");
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    const struct pw_bytes *strings = in->data;
    struct pw_regex *regex = NULL;
    struct pw_tensor *out = NULL;
    pw_status status = pw_regex_compile(pattern.data, pattern.size, &regex, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_BOOL, in->rank, in->dims, &out, err);
    for (int64_t i = 0; i < in->count && status == PW_OK; i++) {
        bool matches = false;

        status = pw_regex_matches(regex, strings[i].data, strings[i].size, &matches, err);
        pw_tensor_set_int(out, i, matches);
    }
    pw_regex_destroy(regex);
    return status;
}
