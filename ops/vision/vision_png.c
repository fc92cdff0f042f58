/*
 * PNG (ISO/IEC 15948): all colour types and depths, interlaced or not. Transparency is left out, as it is where an
 * image becomes RGB; of 16 bits the upper 8 count. A file whose checksums do not hold is damaged.
 */
#include <stdlib.h>
#include <string.h>

#include "ops/vision/vision.h"

#define MAX_PIXELS ((int64_t)1 << 28)
#define MOST_EXPANSION 1040 /* bytes that a byte of deflate can become */

struct png {
    int64_t width, height;
    int depth, type, channels, bits; /* bits of a pixel */
    bool interlaced;
    const uint8_t *palette;
    size_t colours;
};

static uint32_t big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t checksum(const uint8_t *p, size_t size)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static bool read_header(struct png *png, const uint8_t *p, size_t size)
{
    static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
    static const uint32_t depths[7] = {0x10116, 0, 0x10100, 0x116, 0x10100, 0, 0x10100}; /* a bit for each allowed */

    if (size != 13)
        return false;
    png->width = big(p);
    png->height = big(p + 4);
    png->depth = p[8];
    png->type = p[9];
    if (png->width < 1 || png->height < 1 || png->width > MAX_PIXELS || png->height > MAX_PIXELS / png->width ||
        png->type > 6 || channels[png->type] == 0 || png->depth > 16 || (depths[png->type] >> png->depth & 1u) == 0 ||
        p[10] != 0 || p[11] != 0 || p[12] > 1)
        return false;
    png->channels = channels[png->type];
    png->bits = png->channels * png->depth;
    png->interlaced = p[12] == 1;
    return true;
}

/* Collects the image data of all chunks, which is not longer than the file. */
static bool read_chunks(struct png *png, const uint8_t *p, size_t size, uint8_t *data, size_t *data_size)
{
    size_t at = 8;
    bool seen = false;

    *data_size = 0;
    while (size - at >= 12) {
        uint32_t length = big(p + at);
        const uint8_t *type = p + at + 4, *body = p + at + 8;

        if (length > size - at - 12 || checksum(type, (size_t)length + 4) != big(body + length))
            return false;
        if (memcmp(type, "IEND", 4) == 0)
            return seen;
        if (memcmp(type, "IHDR", 4) == 0) {
            if (seen || !read_header(png, body, length))
                return false;
            seen = true;
        } else if (!seen) {
            return false;
        } else if (memcmp(type, "PLTE", 4) == 0) {
            if (length % 3 != 0 || length > 768)
                return false;
            png->palette = body;
            png->colours = length / 3;
        } else if (memcmp(type, "IDAT", 4) == 0) {
            memcpy(data + *data_size, body, length);
            *data_size += length;
        } else if ((type[0] & 0x20) == 0) {
            return false; /* critical and unknown */
        }
        at += (size_t)length + 12;
    }
    return false;
}

/* One pass of Adam7, or the whole image: pixels at x0 + i dx, y0 + j dy. */
struct pass {
    int64_t x0, y0, dx, dy, width, height;
    size_t stride; /* bytes of a row without its filter */
};

static int list_passes(const struct png *png, struct pass passes[7])
{
    static const uint8_t steps[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                        {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    int count = 0;

    for (int i = 0; i < (png->interlaced ? 7 : 1); i++) {
        struct pass *pass = &passes[count];

        *pass = png->interlaced ? (struct pass){steps[i][0], steps[i][1], steps[i][2], steps[i][3], 0, 0, 0}
                                : (struct pass){0, 0, 1, 1, 0, 0, 0};
        pass->width = (png->width - pass->x0 + pass->dx - 1) / pass->dx;
        pass->height = (png->height - pass->y0 + pass->dy - 1) / pass->dy;
        pass->stride = ((size_t)pass->width * (size_t)png->bits + 7) / 8;
        count += pass->width > 0 && pass->height > 0;
    }
    return count;
}

static uint8_t paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Undoes a row's filter in place; `above` is the row before, or NULL. */
static bool unfilter(uint8_t *row, const uint8_t *above, size_t stride, size_t pixel, int filter)
{
    if (filter > 4)
        return false;
    for (size_t i = 0; i < stride && filter > 0; i++) {
        int left = i >= pixel ? row[i - pixel] : 0, up = above ? above[i] : 0;
        int corner = above && i >= pixel ? above[i - pixel] : 0;
        int guess = filter == 1 ? left : filter == 2 ? up : filter == 3 ? (left + up) / 2 : paeth(left, up, corner);

        row[i] = (uint8_t)(row[i] + guess);
    }
    return true;
}

/* Sample c of pixel x, 8 bits of it (as it is below 8). */
static unsigned sample(const struct png *png, const uint8_t *row, int64_t x, int c)
{
    size_t bit = (size_t)x * (size_t)png->bits + (size_t)(c * png->depth);

    if (png->depth >= 8)
        return row[bit / 8];
    return row[bit / 8] >> (8 - png->depth - (int)(bit % 8)) & ((1u << png->depth) - 1u);
}

static bool put_pixel(const struct png *png, const uint8_t *row, int64_t x, uint8_t *rgb)
{
    unsigned first = sample(png, row, x, 0);

    if (png->type == 3) {
        if (first >= png->colours)
            return false;
        memcpy(rgb, png->palette + (size_t)first * 3, 3);
        return true;
    }
    if (png->channels >= 3) {
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)sample(png, row, x, c);
        return true;
    }
    if (png->depth < 8)
        first = first * 255u / ((1u << png->depth) - 1u);
    memset(rgb, (int)first, 3);
    return true;
}

static bool put_pass(const struct png *png, const struct pass *pass, uint8_t *raw, struct pw_image *out)
{
    size_t pixel = png->bits >= 8 ? (size_t)png->bits / 8 : 1;
    const uint8_t *above = NULL;

    for (int64_t j = 0; j < pass->height; j++) {
        uint8_t *row = raw + 1;

        if (!unfilter(row, above, pass->stride, pixel, raw[0]))
            return false;
        for (int64_t i = 0; i < pass->width; i++) {
            int64_t at = (pass->y0 + j * pass->dy) * png->width + pass->x0 + i * pass->dx;

            if (!put_pixel(png, row, i, out->rgb + at * 3))
                return false;
        }
        above = row;
        raw += pass->stride + 1;
    }
    return true;
}

pw_status pw_image_decode_png(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err)
{
    struct png png = {0};
    struct pass passes[7];
    uint8_t *data = pw_calloc(size, 1), *raw = NULL;
    size_t data_size = 0, raw_size = 0, at = 0;
    bool good = false;
    int count;
    pw_status status = data ? PW_OK : pw_error_memory(err, size);

    if (status != PW_OK || !read_chunks(&png, bytes, size, data, &data_size) || (png.type == 3 && !png.palette))
        goto done;
    count = list_passes(&png, passes);
    for (int i = 0; i < count; i++)
        raw_size += (passes[i].stride + 1) * (size_t)passes[i].height;
    if (raw_size / MOST_EXPANSION > data_size)
        goto done;
    raw = pw_calloc(raw_size, 1);
    out->rgb = pw_calloc((size_t)(png.height * png.width), 3);
    if (!raw || !out->rgb) {
        status = pw_error_memory(err, raw_size);
        goto done;
    }
    out->height = png.height;
    out->width = png.width;
    good = pw_image_inflate(data, data_size, raw, raw_size);
    for (int i = 0; i < count && good; i++) {
        good = put_pass(&png, &passes[i], raw + at, out);
        at += (passes[i].stride + 1) * (size_t)passes[i].height;
    }
done:
    if (!good)
        pw_image_clear(out); /* a damaged stream gives an empty image */
    pw_free(data);
    pw_free(raw);
    return status;
}
