/* Tensor and value texts of cases, and the cursor that cases.c shares. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "op/cases_internal.h"

#define MAX_WORD 64

/* ---- cursor ---- */

void pw_case_skip(struct pw_case_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\n'))
        text->at++;
}

bool pw_case_accept(struct pw_case_text *text, char c)
{
    pw_case_skip(text);
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

/* Moves past a quoted string whose opening quote is at `at`. */
static void skip_quoted(struct pw_case_text *text)
{
    for (text->at++; text->at < text->end && *text->at != '\''; text->at++) {
        if (*text->at == '\\' && text->at + 1 < text->end)
            text->at++;
    }
    if (text->at < text->end)
        text->at++;
}

bool pw_case_word(struct pw_case_text *text, const char *stops, struct pw_case_text *word)
{
    pw_case_skip(text);
    word->at = text->at;
    while (text->at < text->end && *text->at != ' ' && *text->at != '\t' && *text->at != '\n' &&
           strchr(stops, *text->at) == NULL) {
        if (*text->at == '\'')
            skip_quoted(text);
        else
            text->at++;
    }
    word->end = text->at;
    return word->at < word->end;
}

bool pw_case_span(struct pw_case_text *text, char open, char close, struct pw_case_text *inner)
{
    int depth = 1;

    inner->at = text->at;
    while (text->at < text->end) {
        if (*text->at == '\'') {
            skip_quoted(text);
            continue;
        }
        depth += (*text->at == open) - (*text->at == close);
        if (depth == 0) {
            inner->end = text->at++;
            return true;
        }
        text->at++;
    }
    return false;
}

bool pw_case_quoted(const struct pw_case_text *word, struct pw_buf *out)
{
    static const char escapes[][2] = {{'n', '\n'}, {'t', '\t'}, {'0', '\0'}, {'\\', '\\'}, {'\'', '\''}};
    const char *at = word->at, *end = word->end;

    if (end - at < 2 || *at != '\'' || end[-1] != '\'')
        return false;
    for (at++, end--; at < end; at++) {
        char c = *at;

        if (c == '\'')
            return false;
        if (c == '\\') {
            size_t i = 0;

            for (at++; i < sizeof escapes / sizeof escapes[0] && escapes[i][0] != *at;)
                i++;
            if (at == end || i == sizeof escapes / sizeof escapes[0])
                return false;
            c = escapes[i][1];
        }
        pw_buf_putc(out, c);
    }
    return !out->failed;
}

static bool copy_word(const struct pw_case_text *word, char dst[MAX_WORD])
{
    size_t size = (size_t)(word->end - word->at);

    if (size == 0 || size >= MAX_WORD)
        return false;
    memcpy(dst, word->at, size);
    dst[size] = '\0';
    return true;
}

bool pw_case_int(const struct pw_case_text *word, int64_t *out)
{
    char text[MAX_WORD], *end;

    if (!copy_word(word, text))
        return false;
    if (pw_text_int64(text, out))
        return true;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0; /* uint64 above INT64_MAX: its bits */
    *out = (int64_t)strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

bool pw_case_number(const struct pw_case_text *word, double *out)
{
    static const struct {
        const char *text;
        double value;
    } names[] = {{"nan", NAN}, {"inf", INFINITY}, {"+inf", INFINITY}, {"-inf", -INFINITY}};
    char text[MAX_WORD];

    if (!copy_word(word, text))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i].text) == 0) {
            *out = names[i].value;
            return true;
        }
    }
    return pw_text_double(text, out);
}

/* ---- tensors ---- */

static pw_status text_error(const struct pw_case_text *word, struct pw_error *err, const char *expected)
{
    int size = word->end - word->at > 40 ? 40 : (int)(word->end - word->at);

    return pw_error_set(err, PW_ERR_FORMAT, "expected %s, found '%.*s'", expected, size, word->at);
}

/* "float32[2,3]" */
static pw_status parse_type(struct pw_case_text *text, pw_dtype *dtype, int *rank, int64_t *dims, struct pw_error *err)
{
    struct pw_case_text word, inner;
    char name[MAX_WORD];

    if (!pw_case_word(text, "[", &word) || !copy_word(&word, name))
        return text_error(text, err, "an element type");
    *dtype = pw_dtype_parse(name);
    if (*dtype == PW_DTYPE_UNDEFINED)
        return text_error(&word, err, "an element type");
    if (!pw_case_accept(text, '[') || !pw_case_span(text, '[', ']', &inner))
        return text_error(text, err, "dims in [ ]");
    for (*rank = 0; pw_case_word(&inner, ",", &word); pw_case_accept(&inner, ',')) {
        if (*rank == PW_MAX_RANK || !pw_case_int(&word, &dims[*rank]))
            return text_error(&word, err, "a dim");
        ++*rank;
    }
    return PW_OK;
}

static pw_status parse_element(const struct pw_case_text *word, struct pw_tensor *t, int64_t i, struct pw_error *err)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;
    struct pw_buf bytes = {0};
    double x = 0.0;
    int64_t n = 0;
    bool good = false;
    pw_status status = PW_OK;

    if (kind == PW_KIND_STRING) {
        good = pw_case_quoted(word, &bytes);
        if (good)
            status = pw_tensor_set_string(t, i, bytes.data, bytes.size, err);
        pw_buf_clear(&bytes);
    } else if (kind == PW_KIND_FLOAT || kind == PW_KIND_COMPLEX) {
        good = pw_case_number(word, &x);
        if (good)
            pw_tensor_set(t, i, x);
    } else if (pw_case_int(word, &n)) {
        good = true;
        pw_tensor_set_int(t, i, n);
    } else if (kind == PW_KIND_BOOL && word->end - word->at >= 4) {
        good = *word->at == 't' || *word->at == 'f';
        pw_tensor_set_int(t, i, *word->at == 't');
    }
    return good ? status : text_error(word, err, pw_dtype_name(t->dtype));
}

static void fill_uniform(struct pw_tensor *t, uint64_t seed)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;

    for (int64_t i = 0; i < t->count; i++) {
        if (kind == PW_KIND_BOOL)
            pw_tensor_set_int(t, i, pw_random_range(seed, 0, (uint64_t)i, 0, 1));
        else if (kind == PW_KIND_SIGNED)
            pw_tensor_set_int(t, i, pw_random_range(seed, 0, (uint64_t)i, -8, 7));
        else if (kind == PW_KIND_UNSIGNED)
            pw_tensor_set_int(t, i, pw_random_range(seed, 0, (uint64_t)i, 0, 15));
        else
            pw_tensor_set(t, i, 2.0 * (double)pw_random_unit(seed, 0, (uint64_t)i) - 1.0);
    }
}

/* The values after the type. `t` is made; complex elements are pairs of numbers. */
static pw_status parse_values(struct pw_case_text *text, struct pw_tensor *t, struct pw_error *err)
{
    struct pw_case_text word;
    char name[MAX_WORD];
    int64_t count = 0, seed;
    pw_status status = PW_OK;

    while (status == PW_OK && pw_case_word(text, "", &word)) {
        if (count == 0 && copy_word(&word, name) && strcmp(name, "iota") == 0) {
            for (int64_t i = 0; i < t->count; i++)
                pw_tensor_set(t, i, (double)i);
            return PW_OK;
        }
        if (count == 0 && copy_word(&word, name) && strcmp(name, "uniform") == 0) {
            if (!pw_case_word(text, "", &word) || !pw_case_int(&word, &seed))
                return text_error(&word, err, "a seed");
            fill_uniform(t, (uint64_t)seed);
            return PW_OK;
        }
        if (count == t->count)
            return text_error(&word, err, "no more values");
        status = parse_element(&word, t, count++, err);
    }
    if (status != PW_OK || count == t->count)
        return status;
    if (count != 1)
        return pw_error_set(err, PW_ERR_FORMAT, "expected %lld values, found %lld", (long long)t->count,
                            (long long)count);
    for (int64_t i = 1; i < t->count && status == PW_OK; i++) {
        if (t->dtype == PW_DTYPE_STRING) {
            const struct pw_bytes *first = t->data;

            status = pw_tensor_set_string(t, i, first->data, first->size, err);
        } else {
            size_t bytes = pw_dtype_bytes(t->dtype);

            memcpy((char *)t->data + (size_t)i * bytes, t->data, bytes);
        }
    }
    return status;
}

/* Lays a complex tensor out as pairs of reals for parsing; undone by the caller. */
static pw_status parse_complex(struct pw_case_text *text, struct pw_tensor *t, struct pw_error *err)
{
    pw_dtype dtype = t->dtype;
    pw_status status;

    t->dtype = dtype == PW_DTYPE_COMPLEX64 ? PW_DTYPE_FLOAT32 : PW_DTYPE_FLOAT64;
    t->count *= 2;
    status = parse_values(text, t, err);
    t->dtype = dtype;
    t->count /= 2;
    return status;
}

static pw_status parse_tensor(struct pw_case_text *text, struct pw_value *out, struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    int64_t dims[PW_MAX_RANK];
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    int rank = 0;
    pw_status status = parse_type(text, &dtype, &rank, dims, err);

    if (status == PW_OK)
        status = pw_tensor_init(&made.tensor, dtype, rank, dims, err);
    if (status == PW_OK && pw_dtype_facts(dtype)->kind == PW_KIND_COMPLEX)
        status = parse_complex(text, &made.tensor, err);
    else if (status == PW_OK)
        status = parse_values(text, &made.tensor, err);
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}

/* ---- sequences ---- */

static pw_status add_item(struct pw_value *sequence, size_t *cap, struct pw_case_text *text, struct pw_error *err)
{
    pw_status status = PW_GROW(sequence->items, *cap, sequence->count + 1, err);

    if (status != PW_OK)
        return status;
    status = parse_tensor(text, &sequence->items[sequence->count], err);
    if (status == PW_OK)
        sequence->item_dtype = sequence->items[sequence->count++].tensor.nominal;
    return status;
}

static pw_status parse_sequence(struct pw_case_text *inner, struct pw_value *out, struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_SEQUENCE};
    struct pw_case_text part = *inner;
    size_t cap = 0;
    pw_status status = PW_OK;
    char name[MAX_WORD];

    /* "seq(float32)": empty */
    pw_case_skip(&part);
    if (copy_word(&part, name) && pw_dtype_parse(name) != PW_DTYPE_UNDEFINED) {
        made.item_dtype = pw_dtype_parse(name);
        *out = made;
        return PW_OK;
    }
    while (status == PW_OK && inner->at < inner->end) {
        part.at = part.end = inner->at;
        while (part.end < inner->end && *part.end != ';') {
            struct pw_case_text rest = {part.end, inner->end};

            if (*part.end == '\'')
                skip_quoted(&rest);
            part.end = *part.end == '\'' ? rest.at : part.end + 1;
        }
        inner->at = part.end < inner->end ? part.end + 1 : part.end;
        status = add_item(&made, &cap, &part, err);
    }
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}

pw_status pw_tensor_parse(const char *text, struct pw_value *out, struct pw_error *err)
{
    struct pw_case_text cursor = {text, text + strlen(text)}, inner;

    pw_case_skip(&cursor);
    if (strcmp(cursor.at, "absent") == 0) {
        *out = (struct pw_value){0};
        return PW_OK;
    }
    if (strncmp(cursor.at, "seq(", 4) == 0) {
        cursor.at += 4;
        if (!pw_case_span(&cursor, '(', ')', &inner))
            return pw_error_set(err, PW_ERR_FORMAT, "seq( without )");
        return parse_sequence(&inner, out, err);
    }
    return parse_tensor(&cursor, out, err);
}
