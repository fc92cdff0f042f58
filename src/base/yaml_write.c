#include "base/yaml_write.h"

#include <math.h>
#include <string.h>

static void put_code(struct pw_buf *out, uint32_t code, const char *bytes, size_t size)
{
    if (code == '"' || code == '\\')
        pw_buf_printf(out, "\\%c", (char)code);
    else if (code == '\n')
        pw_buf_puts(out, "\\n");
    else if (code == '\t')
        pw_buf_puts(out, "\\t");
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        pw_buf_printf(out, "\\x%02x", (unsigned)code);
    else if (code == 0xfeff || code == 0x2028 || code == 0x2029 || (code >= 0x200b && code <= 0x200f) ||
             (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
        pw_buf_printf(out, "\\u%04x", (unsigned)code); /* they reorder or hide what a reviewer sees */
    else
        pw_buf_append(out, bytes, size);
}

void pw_yaml_put_quoted(struct pw_buf *out, const char *text)
{
    size_t size = strlen(text);

    pw_buf_putc(out, '"');
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t used = pw_text_decode(text + at, size - at, &code);

        if (code == 0xfffd && used == 1)
            pw_buf_putc(out, '?');
        else
            put_code(out, code, text + at, used);
        at += used;
    }
    pw_buf_putc(out, '"');
}

void pw_yaml_put_number(struct pw_buf *out, double value, int digits)
{
    if (isnan(value))
        pw_buf_puts(out, "null");
    else if (isinf(value))
        pw_buf_puts(out, value > 0 ? ".inf" : "-.inf");
    else
        pw_buf_printf(out, "%.*g", digits, value);
}

void pw_yaml_put_key(struct pw_buf *out, const char *key, bool *first)
{
    pw_buf_printf(out, "%s%s: ", *first ? "" : ", ", key);
    *first = false;
}

void pw_yaml_put_text_of(struct pw_buf *out, const char *key, const char *text, bool *first)
{
    pw_yaml_put_key(out, key, first);
    pw_yaml_put_quoted(out, text);
}

void pw_yaml_put_word_of(struct pw_buf *out, const char *key, const char *word, bool *first)
{
    pw_yaml_put_key(out, key, first);
    pw_buf_puts(out, word);
}

void pw_yaml_put_number_of(struct pw_buf *out, const char *key, double value, int digits, bool *first)
{
    pw_yaml_put_key(out, key, first);
    pw_yaml_put_number(out, value, digits);
}
