/*
 * Image streams: BMP without compression (1, 4, 8, 16, 24 and 32 bits) and the portable formats PBM, PGM and PPM, plain
 * and raw. Every size and offset comes from a hostile file and is checked against the bytes that are there.
 */
#include <string.h>

#include "ops/vision/vision.h"

#define MAX_PIXELS ((int64_t)1 << 28)

void pw_image_clear(struct pw_image *image)
{
    pw_free(image->rgb);
    *image = (struct pw_image){0};
}

static pw_status make_image(int64_t height, int64_t width, struct pw_image *out, struct pw_error *err)
{
    *out = (struct pw_image){height, width, pw_calloc((size_t)(height * width), 3)};
    return out->rgb ? PW_OK : pw_error_memory(err, (size_t)(height * width) * 3);
}

/* Extents that are positive and not absurd. */
static bool fits(int64_t height, int64_t width)
{
    return height > 0 && width > 0 && height <= MAX_PIXELS && width <= MAX_PIXELS / height;
}

/* ---- BMP ---- */

static uint32_t little(const uint8_t *p, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

struct bmp {
    const uint8_t *pixels, *palette;
    size_t stride;
    int64_t height, width;
    uint32_t bits, colours;
    bool downward; /* rows from the top */
};

static bool read_bmp(const uint8_t *p, size_t size, struct bmp *b)
{
    if (size < 54)
        return false;
    uint32_t start = little(p + 10, 4), header = little(p + 14, 4), compression = little(p + 30, 4);
    int32_t width = (int32_t)little(p + 18, 4), height = (int32_t)little(p + 22, 4);
    *b = (struct bmp){.bits = little(p + 28, 2), .width = width, .downward = height < 0};
    b->height = height < 0 ? -(int64_t)height : height;
    if (header < 40 || header > size - 14 || compression != 0 || !fits(b->height, b->width))
        return false;
    if (b->bits != 1 && b->bits != 4 && b->bits != 8 && b->bits != 16 && b->bits != 24 && b->bits != 32)
        return false;
    b->stride = ((size_t)b->width * b->bits + 31) / 32 * 4;
    if (start > size || b->stride > (size - start) / (size_t)b->height)
        return false;
    b->pixels = p + start;
    if (b->bits <= 8) {
        b->colours = little(p + 46, 4);
        b->colours = b->colours == 0 || b->colours > 1U << b->bits ? 1U << b->bits : b->colours;
        b->palette = p + 14 + header;
        if ((size_t)b->colours * 4 > size - 14 - header)
            return false;
    }
    return true;
}

static void bmp_pixel(const struct bmp *b, const uint8_t *row, int64_t x, uint8_t *rgb)
{
    const uint8_t *from = NULL;
    if (b->bits == 16) { /* 5 bits a colour */
        uint32_t v = little(row + x * 2, 2);
        for (int c = 0; c < 3; c++) {
            uint32_t five = v >> (10 - 5 * c) & 31;
            rgb[c] = (uint8_t)(five << 3 | five >> 2);
        }
        return;
    }
    if (b->bits <= 8) {
        int64_t bit = x * b->bits;
        uint32_t index = row[bit / 8] >> (8 - b->bits - bit % 8) & ((1U << b->bits) - 1);
        from = index < b->colours ? b->palette + (size_t)index * 4 : NULL;
    } else {
        from = row + (size_t)x * (b->bits / 8);
    }
    for (int c = 0; c < 3; c++)
        rgb[c] = from ? from[2 - c] : 0;
}

static pw_status decode_bmp(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err)
{
    struct bmp b;
    if (!read_bmp(bytes, size, &b))
        return PW_OK;
    pw_status status = make_image(b.height, b.width, out, err);
    for (int64_t y = 0; status == PW_OK && y < b.height; y++) {
        const uint8_t *row = b.pixels + (size_t)(b.downward ? y : b.height - 1 - y) * b.stride;
        for (int64_t x = 0; x < b.width; x++)
            bmp_pixel(&b, row, x, out->rgb + (y * b.width + x) * 3);
    }
    return status;
}

/* ---- PBM, PGM, PPM ---- */

struct cursor {
    const uint8_t *at, *end;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (is_blank(*c->at) || *c->at == '#')) {
        if (*c->at == '#') {
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        } else {
            c->at++;
        }
    }
}

static bool read_number(struct cursor *c, int64_t *value)
{
    int64_t n = 0;
    skip_blanks(c);
    const uint8_t *start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && n < INT32_MAX; c->at++)
        n = n * 10 + (*c->at - '0');
    *value = n;
    return c->at > start && n < INT32_MAX;
}

/* One bit of a plain bitmap: digits need no blanks between them. */
static bool read_bit(struct cursor *c, int64_t *value)
{
    skip_blanks(c);
    if (c->at >= c->end || (*c->at != '0' && *c->at != '1'))
        return false;
    *value = *c->at++ - '0';
    return true;
}

struct portable {
    int64_t height, width, most;
    int channels;
    bool bitmap, raw;
};

/* Sample `i` of row `y`; raw rows begin at c->at. */
static bool read_sample(const struct portable *p, struct cursor *c, size_t row, int64_t i, int64_t *value)
{
    size_t bytes = p->most > 255 ? 2 : 1;
    if (!p->raw)
        return p->bitmap ? read_bit(c, value) : read_number(c, value);
    const uint8_t *at = c->at + row + (p->bitmap ? (size_t)i / 8 : (size_t)i * bytes);
    if (p->bitmap)
        *value = at[0] >> (7 - i % 8) & 1;
    else
        *value = bytes == 2 ? at[0] << 8 | at[1] : at[0];
    return true;
}

static pw_status read_portable(const struct portable *p, struct cursor c, struct pw_image *out, struct pw_error *err)
{
    int64_t samples = p->width * p->channels;
    size_t stride = p->bitmap ? ((size_t)samples + 7) / 8 : (size_t)samples * (p->most > 255 ? 2 : 1);
    if (p->raw ? stride > (size_t)(c.end - c.at) / (size_t)p->height : p->height * samples > (c.end - c.at))
        return PW_OK; /* fewer bytes than samples */
    pw_status status = make_image(p->height, p->width, out, err);
    for (int64_t y = 0; status == PW_OK && y < p->height; y++) {
        for (int64_t i = 0; i < samples; i++) {
            int64_t value = 0;
            if (!read_sample(p, &c, (size_t)y * stride, i, &value) || value > p->most) {
                pw_image_clear(out);
                return PW_OK;
            }
            uint8_t level = (uint8_t)((value * 255 + p->most / 2) / p->most);
            level = p->bitmap ? (uint8_t)(255 - level) : level; /* a 1 is black */
            uint8_t *rgb = out->rgb + (y * p->width + i / p->channels) * 3;
            if (p->channels == 3)
                rgb[i % 3] = level;
            else
                memset(rgb, level, 3);
        }
    }
    return status;
}

static pw_status decode_portable(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err)
{
    struct cursor c = {bytes + 2, bytes + size};
    int kind = bytes[1] - '0'; /* 1 to 3 plain, 4 to 6 raw: bitmap, gray, colour */
    struct portable p = {.most = 1, .channels = kind % 3 == 0 ? 3 : 1, .bitmap = kind % 3 == 1, .raw = kind > 3};
    if (!read_number(&c, &p.width) || !read_number(&c, &p.height) || !fits(p.height, p.width))
        return PW_OK;
    if (!p.bitmap && (!read_number(&c, &p.most) || p.most < 1 || p.most > 65535))
        return PW_OK;
    if (p.raw && c.at < c.end)
        c.at++; /* one blank after the header */
    return read_portable(&p, c, out, err);
}

/* ---- formats ---- */

static const struct {
    const char *name;
    const char *magic;
    size_t size, at;
} unserved[] = {
    {"JPEG", "\xff\xd8\xff", 3, 0},
    {"WebP", "WEBP", 4, 8},
    {"TIFF", "II*\0", 4, 0},
    {"TIFF", "MM\0*", 4, 0},
    {"JPEG 2000", "\xff\x4f\xff\x51", 4, 0},
    {"JPEG 2000", "jP  \r\n\x87\n", 8, 4},
};

pw_status pw_image_decode(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err)
{
    *out = (struct pw_image){0};
    for (size_t i = 0; i < sizeof unserved / sizeof *unserved; i++) {
        if (size >= unserved[i].at + unserved[i].size &&
            memcmp(bytes + unserved[i].at, unserved[i].magic, unserved[i].size) == 0)
            return pw_error_set(err, PW_ERR_UNSUPPORTED,
                                "ImageDecoder: %s streams are not decoded here (BMP, PNG and portable "
                                "formats are)",
                                unserved[i].name);
    }
    if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        return pw_image_decode_png(bytes, size, out, err);
    if (size >= 2 && bytes[0] == 'B' && bytes[1] == 'M')
        return decode_bmp(bytes, size, out, err);
    if (size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6')
        return decode_portable(bytes, size, out, err);
    return PW_OK;
}
