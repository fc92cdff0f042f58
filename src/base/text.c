/* The growing buffer, small helpers on strings, numbers as people read them. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

/* ---- buffer ---- */

/* Room for `more` bytes and the NUL. */
static bool reserve(struct pw_buf *buf, size_t more)
{
    if (buf->failed)
        return false;
    if (more > SIZE_MAX / 4 || buf->size > SIZE_MAX / 4) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->size + more + 1;
    if (need <= buf->cap)
        return true;
    size_t cap = buf->cap + buf->cap / 2;
    if (cap < 64)
        cap = 64;
    if (cap < need)
        cap = need;
    char *data = pw_reallocarray(buf->data, cap, 1);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void pw_buf_append(struct pw_buf *buf, const char *bytes, size_t size)
{
    if (!reserve(buf, size))
        return;
    if (size > 0)
        memcpy(buf->data + buf->size, bytes, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void pw_buf_puts(struct pw_buf *buf, const char *s)
{
    pw_buf_append(buf, s, strlen(s));
}

void pw_buf_putc(struct pw_buf *buf, char c)
{
    pw_buf_append(buf, &c, 1);
}

void pw_buf_vprintf(struct pw_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof small, format, args);
    if (n < 0) {
        buf->failed = true;
    } else if ((size_t)n < sizeof small) {
        pw_buf_append(buf, small, (size_t)n);
    } else if (reserve(buf, (size_t)n)) {
        vsnprintf(buf->data + buf->size, (size_t)n + 1, format, again);
        buf->size += (size_t)n;
    }
    va_end(again);
}

void pw_buf_printf(struct pw_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pw_buf_vprintf(buf, format, args);
    va_end(args);
}

void pw_buf_clear(struct pw_buf *buf)
{
    pw_free(buf->data);
    *buf = (struct pw_buf){0};
}

const char *pw_buf_text(const struct pw_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}

/* ---- strings ---- */

bool pw_text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool pw_text_ends(const char *text, const char *suffix)
{
    size_t size = strlen(text), tail = strlen(suffix);
    return tail <= size && memcmp(text + size - tail, suffix, tail) == 0;
}

static inline unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

const char *pw_text_find(const char *text, const char *part)
{
    unsigned char first = lower(*part);

    if (!first)
        return text;
    for (; *text; text++) { /* a query compares this with the names of all nodes */
        size_t n = 1;

        if (lower(*text) != first)
            continue;
        while (part[n] && lower(text[n]) == lower(part[n]))
            n++;
        if (!part[n])
            return text;
    }
    return NULL;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool pw_text_int64(const char *text, int64_t *out)
{
    if (text == NULL || text[0] == '\0' || is_space(text[0]))
        return false;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *out = (int64_t)value;
    return true;
}

/* Numbers in files have a point whatever the user's locale says. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

bool pw_text_double(const char *text, double *out)
{
    if (text == NULL || text[0] == '\0' || is_space(text[0]))
        return false;
    pthread_once(&c_locale_once, make_c_locale);
    locale_t before = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    int error = errno;
    if (before != (locale_t)0)
        uselocale(before);
    if (end == text || *end != '\0')
        return false;
    /* Underflow to a denormal or zero is a fine reading; overflow is not. */
    if (error == ERANGE && fabs(value) > 1.0)
        return false;
    *out = value;
    return true;
}

/* ---- figures ---- */

/* At least three digits. */
static const char *with_unit(char *dst, size_t dst_size, double value, const char *prefix, const char *unit)
{
    double size = fabs(value);
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(dst, dst_size, "%.*f %s%s", decimals, value, prefix, unit);
    return dst;
}

const char *pw_text_bytes(char *dst, size_t dst_size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;
    while (fabs(bytes) >= 1023.5 && i + 1 < PW_COUNT_OF(units)) {
        bytes /= 1024;
        i++;
    }
    if (i == 0)
        snprintf(dst, dst_size, "%.0f B", bytes);
    else
        snprintf(dst, dst_size, "%.*f %s", fabs(bytes) < 99.95 ? 1 : 0, bytes, units[i]);
    return dst;
}

const char *pw_text_si(char *dst, size_t dst_size, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    while (fabs(value) >= 999.5 && i + 1 < PW_COUNT_OF(prefixes)) {
        value /= 1000;
        i++;
    }
    if (i == 0 && value == floor(value)) {
        snprintf(dst, dst_size, "%.0f %s", value, unit);
        return dst;
    }
    return with_unit(dst, dst_size, value, prefixes[i], unit);
}

const char *pw_text_duration(char *dst, size_t dst_size, double seconds)
{
    static const struct {
        double from, scale;
        const char *unit;
    } steps[] = {{0.9995, 1, "s"}, {0.9995e-3, 1e3, "ms"}, {0.9995e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    double size = fabs(seconds);
    if (isfinite(seconds) && size >= 119.5) {
        double total = rint(size);
        snprintf(dst, dst_size, "%s%.0fm%02.0fs", seconds < 0 ? "-" : "", floor(total / 60), fmod(total, 60));
        return dst;
    }
    size_t i = 0;
    while (i + 1 < PW_COUNT_OF(steps) && size < steps[i].from)
        i++;
    double value = seconds * steps[i].scale;
    snprintf(dst, dst_size, "%.*f %s", fabs(value) >= 99.95 ? 0 : 1, value, steps[i].unit);
    return dst;
}

/* ---- did you mean ---- */

#define NEAREST_MAX 3
#define WORD_MAX 128

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance (insert, delete, replace, swap of neighbours), whatever the case of letters. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t best = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
                two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[a_size % 3][b_size];
}

const char *pw_text_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t size = strlen(word);
    const char *nearest = NULL;
    size_t best = NEAREST_MAX + 1;
    if (size > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        size_t gap = other > size ? other - size : size - other;
        if (other > WORD_MAX || gap >= best)
            continue;
        size_t d = distance(word, size, candidates[i], other);
        /* Short words are near to everything: of three letters one may be wrong. */
        if (d < best && d * 3 <= (size > other ? size : other) + 1 && (d < size || d == 0)) {
            best = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}
