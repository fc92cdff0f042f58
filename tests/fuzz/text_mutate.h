/* Mutations of texts (YAML, queries, scripts, ids) that keep most of the form: lines and words are dropped, doubled,
 * exchanged, moved in or out, or give way to a word of the harness's list or a number at a limit. */
#ifndef PW_TESTS_FUZZ_TEXT_MUTATE_H
#define PW_TESTS_FUZZ_TEXT_MUTATE_H

#include <ctype.h>

#include "tests/fuzz/fuzz.h"

struct text_span {
    size_t begin, end;
};

static inline bool text_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || (unsigned char)c >= 0x80;
}

/* A word of the text at random; empty when there is none. */
static inline struct text_span text_word(struct fuzz_draws *draws, const char *text, size_t size)
{
    struct text_span word = {0, 0};
    size_t at = size ? (size_t)fuzz_draw(draws, 0, (int64_t)size - 1) : 0;
    while (at < size && !text_in_word(text[at]))
        at++;
    word.begin = at;
    while (word.begin > 0 && text_in_word(text[word.begin - 1]))
        word.begin--;
    while (at < size && text_in_word(text[at]))
        at++;
    word.end = at;
    return word;
}

/* A line at random, with its end. */
static inline struct text_span text_line(struct fuzz_draws *draws, const char *text, size_t size)
{
    size_t at = size ? (size_t)fuzz_draw(draws, 0, (int64_t)size - 1) : 0;
    struct text_span line = {at, at};
    while (line.begin > 0 && text[line.begin - 1] != '\n')
        line.begin--;
    while (line.end < size && text[line.end] != '\n')
        line.end++;
    line.end += line.end < size;
    return line;
}

/* out: the text with `span` replaced. */
static inline void text_replace(struct pw_buf *out, const char *text, size_t size, struct text_span span,
                                const char *with, size_t with_size)
{
    pw_buf_append(out, text, span.begin);
    pw_buf_append(out, with, with_size);
    pw_buf_append(out, text + span.end, size - span.end);
}

static inline const char *text_special(struct fuzz_draws *draws, const char *const *words)
{
    static const char *const specials[] = {
        "0",
        "1",
        "-1",
        "2",
        "8",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "2147483648",
        "4294967296",
        "1e308",
        "1e-320",
        "-0.0",
        ".nan",
        "nan",
        ".inf",
        "inf",
        "0x10",
        "1e999",
        "null",
        "~",
        "true",
        "\"\"",
        "''",
        "[]",
        "{}",
        "[[",
        "{a: {",
        ": ",
        "- ",
        "&a",
        "*a",
        "!!int",
        "|\n",
        ">\n",
        "%",
        "@",
        "`",
        "#",
        "\\",
        "\n",
        "\t",
        "\r",
        "\x1b[2J",
        "\xff",
        "\xc3",
        "\xf0\x9f\x92\xa9",
        "\xe2\x80\xae",
        "\xef\xbb\xbf",
        "%s%n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "../../etc/passwd",
        "/",
        "*",
        "?",
        ",",
        ":",
        "=",
        "<",
        ">",
        "(",
        ")",
        "+",
        "-"};
    size_t count = 0;
    while (words && words[count])
        count++;
    if (count > 0 && fuzz_draw(draws, 0, 2) > 0)
        return words[fuzz_draw(draws, 0, (int64_t)count - 1)];
    return specials[fuzz_draw(draws, 0, (int64_t)PW_COUNT_OF(specials) - 1)];
}

static inline void text_mutate_once(struct fuzz_draws *draws, const char *text, size_t size, const char *const *words,
                                    struct pw_buf *out)
{
    int64_t action = fuzz_draw(draws, 0, 11);
    struct text_span line = text_line(draws, text, size), word = text_word(draws, text, size), other;
    size_t at = size ? (size_t)fuzz_draw(draws, 0, (int64_t)size) : 0;
    struct text_span here = {at, at};
    const char *special = text_special(draws, words);

    switch (action) {
    case 0: /* a line goes */
        text_replace(out, text, size, line, "", 0);
        break;
    case 1: /* a line comes again, here or elsewhere */
        other = text_line(draws, text, size);
        here.begin = here.end = fuzz_draw(draws, 0, 1) ? line.end : other.begin;
        text_replace(out, text, size, here, text + line.begin, line.end - line.begin);
        break;
    case 2: /* a line moves in or out */
        here.begin = here.end = line.begin;
        if (line.end - line.begin > 2 && text[line.begin] == ' ' && fuzz_draw(draws, 0, 1))
            here.end += 2;
        text_replace(out, text, size, here, "  ", here.end == here.begin ? 2 : 0);
        break;
    case 3: /* another of the text's own words */
    case 4:
        other = text_word(draws, text, size);
        text_replace(out, text, size, word, text + other.begin, other.end - other.begin);
        break;
    case 5: /* a word goes, or is cut */
        if (word.end > word.begin && fuzz_draw(draws, 0, 1))
            word.begin = word.end - 1;
        text_replace(out, text, size, word, "", 0);
        break;
    case 6: /* something comes in between */
        text_replace(out, text, size, here, special, strlen(special));
        break;
    case 7: /* a byte */
        here.end += at < size;
        text_replace(out, text, size, here, &(char){(char)fuzz_draw(draws, 0, 255)}, 1);
        break;
    case 8: /* the end is missing */
        here.end = size;
        text_replace(out, text, size, here, "", 0);
        break;
    default:
        text_replace(out, text, size, word, special, strlen(special));
        break;
    }
}

/* words: of the format, ended by NULL; may be NULL. */
static inline void text_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, const char *const *words,
                               struct pw_buf *out)
{
    struct pw_buf from = {0};
    pw_buf_append(out, (const char *)data, size);
    for (int64_t times = fuzz_draw(draws, 1, 3); times > 0; times--) {
        pw_buf_clear(&from);
        from = *out;
        *out = (struct pw_buf){0};
        text_mutate_once(draws, pw_buf_text(&from), from.size, words, out);
    }
    pw_buf_clear(&from);
}

#endif
