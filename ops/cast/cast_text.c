/* Numbers from and to strings. To a string: the shortest decimal that reads back as the same element, plain
 * between 1e-4 and 1e16 and with an exponent outside, as numpy prints scalars. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ops/cast/cast_room.h"

enum { TEXT_MAX = 128 };

/* ---- from strings ---- */

static bool parse_number(const char *text, double *out)
{
    char *end = NULL;
    const char *c = text;

    while (isspace((unsigned char)*c))
        c++;
    if (strcasecmp(c, "nan") == 0) {
        *out = NAN;
        return true;
    }
    if (strcasecmp(c, "inf") == 0 || strcasecmp(c, "+inf") == 0 || strcasecmp(c, "-inf") == 0) {
        *out = *c == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (!*c || strspn(c, "+-0123456789.eE \t\r\n") != strlen(c)) /* strtod also reads hexadecimal and names */
        return false;
    *out = strtod(c, &end);
    while (end && isspace((unsigned char)*end))
        end++;
    return end && end != c && !*end;
}

static bool parse_integer(const char *text, bool is_unsigned, int64_t *out)
{
    char *end = NULL;

    errno = 0;
    if (is_unsigned && !strchr(text, '-'))
        *out = (int64_t)strtoull(text, &end, 10);
    else
        *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && !*end;
}

pw_status pw_cast_from_text(const struct pw_call *call, const struct pw_tensor *src, struct pw_tensor *dst,
                            struct pw_error *err)
{
    const struct pw_bytes *strings = src->data;
    bool floating = pw_dtype_is_float(dst->dtype);
    bool is_unsigned = pw_dtype_facts(dst->dtype)->kind == PW_KIND_UNSIGNED;

    for (int64_t i = 0; i < src->count; i++) {
        char text[TEXT_MAX];
        double value = 0;
        int64_t whole = 0;

        if (strings[i].size >= sizeof text)
            return pw_call_error(call, err, "element %" PRId64 " has %zu characters: no number", i, strings[i].size);
        if (strings[i].size)
            memcpy(text, strings[i].data, strings[i].size);
        text[strings[i].size] = 0;
        if (!floating && parse_integer(text, is_unsigned, &whole)) {
            pw_tensor_set_int(dst, i, dst->dtype == PW_DTYPE_BOOL ? whole != 0 : whole);
            continue;
        }
        if (!parse_number(text, &value)) {
            char shown[64];

            return pw_call_error(call, err, "element %" PRId64 " '%s' is no number", i,
                                 pw_text_show(shown, sizeof shown, text, 40));
        }
        if (floating)
            pw_tensor_set(dst, i, value);
        else if (dst->dtype == PW_DTYPE_BOOL)
            pw_tensor_set_int(dst, i, value != 0.0);
        else
            pw_tensor_set_int(dst, i, value > -0x1p63 && value < 0x1p63 ? (int64_t)value : 0);
    }
    return PW_OK;
}

/* ---- to strings ---- */

/* Digits and exponent of "d.ddde+xx" to plain or exponent notation. */
static void lay_out(const char *scientific, char *dst, size_t size)
{
    const char *e = strchr(scientific, 'e');
    bool negative = scientific[0] == '-';
    char digits[32];
    int count = 0, exponent = e ? (int)strtol(e + 1, NULL, 10) : 0;
    struct pw_buf out = {0};

    for (const char *c = scientific; c < e && count < 31; c++) {
        if (isdigit((unsigned char)*c))
            digits[count++] = *c;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    pw_buf_puts(&out, negative ? "-" : "");
    if (exponent < -4 || exponent >= 16) {
        pw_buf_printf(&out, "%c", digits[0]);
        if (count > 1)
            pw_buf_printf(&out, ".%.*s", count - 1, digits + 1);
        pw_buf_printf(&out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        pw_buf_puts(&out, "0.");
        for (int i = -1; i > exponent; i--)
            pw_buf_putc(&out, '0');
        pw_buf_append(&out, digits, (size_t)count);
    } else {
        for (int i = 0; i <= exponent; i++)
            pw_buf_putc(&out, i < count ? digits[i] : '0');
        pw_buf_putc(&out, '.');
        if (count > exponent + 1)
            pw_buf_append(&out, digits + exponent + 1, (size_t)(count - exponent - 1));
        else
            pw_buf_putc(&out, '0');
    }
    snprintf(dst, size, "%s", pw_buf_text(&out));
    pw_buf_clear(&out);
}

static void print_float(double x, pw_dtype nominal, char *dst, size_t size)
{
    char text[48];

    if (isnan(x) || isinf(x)) {
        snprintf(dst, size, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 0; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, x);
        if (pw_dtype_round(nominal, strtod(text, NULL)) == x)
            break;
    }
    lay_out(text, dst, size);
}

pw_status pw_cast_to_text(const struct pw_tensor *src, struct pw_tensor *dst, struct pw_error *err)
{
    pw_dtype_kind kind = pw_dtype_facts(src->nominal)->kind;
    pw_status status = PW_OK;

    for (int64_t i = 0; i < src->count && status == PW_OK; i++) {
        char text[TEXT_MAX];

        if (kind == PW_KIND_FLOAT)
            print_float(pw_dtype_round(src->nominal, pw_tensor_get(src, i)), src->nominal, text, sizeof text);
        else if (kind == PW_KIND_BOOL)
            snprintf(text, sizeof text, "%s", pw_tensor_get_int(src, i) ? "True" : "False");
        else if (kind == PW_KIND_UNSIGNED)
            snprintf(text, sizeof text, "%" PRIu64, (uint64_t)pw_tensor_get_int(src, i));
        else
            snprintf(text, sizeof text, "%" PRId64, pw_tensor_get_int(src, i));
        status = pw_tensor_set_string(dst, i, text, strlen(text), err);
    }
    return status;
}
