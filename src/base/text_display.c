/* Foreign text made safe to show: UTF-8 decoding, unsafe code points, width. */
#include <string.h>

#include "base/text.h"

#define REPLACEMENT 0xFFFD

size_t pw_text_decode(const char *text, size_t size, uint32_t *code)
{
    *code = REPLACEMENT;
    if (size == 0)
        return 0;
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length > size)
        return 1;
    uint32_t value = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (s[i] & 0x3F);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    /* Overlong forms, surrogates and what lies above Unicode are no text. */
    if (value < smallest[length] || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF)
        return 1;
    *code = value;
    return length;
}

size_t pw_text_cut(const char *text, size_t most)
{
    size_t size = strnlen(text, most), start = size, need;
    while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return size;
    unsigned char lead = (unsigned char)text[start - 1];
    need = lead < 0xC2 || lead > 0xF4 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    return size - (start - 1) < need ? start - 1 : size;
}

/* Code points that control the terminal, hide or reorder. */
static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || code == 0xAD ||
           code == 0x61C || code == 0x180E || (code >= 0xFFF9 && code <= 0xFFFB) ||
           (code >= 0xE0000 && code <= 0xE0FFF);
}

size_t pw_text_width(const char *text)
{
    size_t size = strlen(text), columns = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        i += pw_text_decode(text + i, size - i, &code);
        columns += (size_t)pw_text_width_code(code);
    }
    return columns;
}

/* One shown unit: what it becomes and how many columns it takes. */
struct glyph {
    const char *bytes;
    size_t size;
    size_t columns;
};

static size_t next_glyph(const char *text, size_t size, bool ascii, struct glyph *out)
{
    uint32_t code;
    size_t used = pw_text_decode(text, size, &code);
    bool invalid = code == REPLACEMENT && used == 1;
    *out = (struct glyph){text, used, (size_t)pw_text_width_code(code)};
    if (code == '\t' || code == '\n')
        *out = (struct glyph){" ", 1, 1};
    else if (invalid || is_unsafe(code) || (ascii && code >= 0x80))
        *out = (struct glyph){"?", 1, 1};
    return used;
}

/* Combining marks one base may carry; more are dropped, so a name can't climb over other lines. */
#define MARKS_MAX 4

void pw_text_display(struct pw_buf *out, const char *text, size_t size, size_t max_columns, bool ascii)
{
    const char *ellipsis = ascii ? "..." : "\xE2\x80\xA6";
    size_t ellipsis_columns = ascii ? 3 : 1;
    size_t limit = max_columns == 0 ? SIZE_MAX : max_columns;
    size_t columns = 0, marks = 0;
    size_t cut = out->size; /* where the ellipsis goes if the rest does not fit */
    for (size_t i = 0; i < size;) {
        struct glyph glyph;
        i += next_glyph(text + i, size - i, ascii, &glyph);
        marks = glyph.columns == 0 ? marks + 1 : 0;
        if (marks > MARKS_MAX)
            continue;
        if (columns + glyph.columns > limit) {
            if (out->failed)
                return;
            out->size = cut;
            if (out->data != NULL)
                out->data[cut] = '\0';
            pw_buf_append(out, ellipsis, ellipsis_columns <= limit ? strlen(ellipsis) : limit);
            return;
        }
        pw_buf_append(out, glyph.bytes, glyph.size);
        columns += glyph.columns;
        if (max_columns != 0 && columns + ellipsis_columns <= limit)
            cut = out->size;
    }
}

void pw_text_cell(struct pw_buf *out, const char *text, size_t width, bool right)
{
    struct pw_buf safe = {0};
    size_t used;

    pw_text_display(&safe, text, strlen(text), width, false);
    used = pw_text_width(pw_buf_text(&safe));
    for (size_t i = used; right && i < width; i++)
        pw_buf_putc(out, ' ');
    pw_buf_puts(out, pw_buf_text(&safe));
    for (size_t i = used; !right && i < width; i++)
        pw_buf_putc(out, ' ');
    out->failed = out->failed || safe.failed;
    pw_buf_clear(&safe);
}

const char *pw_text_show(char *dst, size_t dst_size, const char *text, size_t max_columns)
{
    static const char ellipsis[] = "\xE2\x80\xA6";
    size_t tail = sizeof ellipsis - 1;
    size_t size = strlen(text), used = 0, columns = 0, cut = 0;
    size_t limit = max_columns == 0 ? SIZE_MAX : max_columns;
    if (dst_size == 0)
        return dst;
    for (size_t i = 0; i < size;) {
        struct glyph glyph;
        i += next_glyph(text + i, size - i, false, &glyph);
        if (columns + glyph.columns > limit || used + glyph.size >= dst_size) {
            used = cut;
            if (cut + tail < dst_size) {
                memcpy(dst + cut, ellipsis, tail);
                used = cut + tail;
            }
            break;
        }
        memcpy(dst + used, glyph.bytes, glyph.size);
        used += glyph.size;
        columns += glyph.columns;
        if (columns + 1 <= limit && used + tail < dst_size)
            cut = used;
    }
    dst[used] = '\0';
    return dst;
}
