/*
 * The deflate format of RFC 1951 within the zlib format of RFC 1950, into memory of a size that is known before. Every
 * length and distance comes from a hostile file and is checked against what was read and written.
 */
#include <string.h>

#include "ops/vision/vision.h"

enum { LONGEST = 15, LITERALS = 288, DISTANCES = 30 };

struct stream {
    const uint8_t *at, *end;
    uint32_t hold; /* bits not yet used, the next one lowest */
    int held;
    uint8_t *out;
    size_t size, filled;
    bool bad;
};

/* A canonical prefix code: how many codes of each length, and the symbols in order of their codes. */
struct code {
    uint16_t count[LONGEST + 1], symbol[LITERALS];
};

static uint32_t take(struct stream *s, int bits)
{
    uint32_t value;

    while (s->held < bits) {
        if (s->at == s->end) {
            s->bad = true;
            return 0;
        }
        s->hold |= (uint32_t)*s->at++ << s->held;
        s->held += 8;
    }
    value = s->hold & ((1u << bits) - 1u);
    s->hold >>= bits;
    s->held -= bits;
    return value;
}

/* False when the lengths claim more codes than there are; fewer are fine, as they are of one distance. */
static bool make_code(struct code *code, const uint8_t *lengths, int n)
{
    uint16_t first[LONGEST + 2] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    for (int i = 0; i < n; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    for (int l = 1; l <= LONGEST; l++) {
        left = left * 2 - code->count[l];
        if (left < 0)
            return false;
        first[l + 1] = (uint16_t)(first[l] + code->count[l]);
    }
    for (int i = 0; i < n; i++) {
        if (lengths[i] != 0)
            code->symbol[first[lengths[i]]++] = (uint16_t)i;
    }
    return true;
}

static int next_symbol(struct stream *s, const struct code *code)
{
    int value = 0, first = 0, at = 0;

    for (int l = 1; l <= LONGEST; l++) {
        value |= (int)take(s, 1);
        if (s->bad)
            return -1;
        if (value - first < code->count[l])
            return code->symbol[at + value - first];
        at += code->count[l];
        first = (first + code->count[l]) * 2;
        value *= 2;
    }
    s->bad = true;
    return -1;
}

static void put(struct stream *s, uint8_t byte)
{
    if (s->filled == s->size)
        s->bad = true;
    else
        s->out[s->filled++] = byte;
}

static void stored(struct stream *s)
{
    uint32_t length;

    s->hold = 0; /* to the next byte: at most 7 bits are held */
    s->held = 0;
    length = take(s, 16);
    if (take(s, 16) != (length ^ 0xffffu))
        s->bad = true;
    for (; length > 0 && !s->bad; length--)
        put(s, (uint8_t)take(s, 8));
}

static void copy(struct stream *s, int symbol, const struct code *distances)
{
    static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                           31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[DISTANCES] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    uint32_t length, distance;
    int which = symbol - 257;

    if (which >= (int)(sizeof length_bits)) {
        s->bad = true;
        return;
    }
    length = length_base[which] + take(s, length_bits[which]);
    which = next_symbol(s, distances);
    if (which < 0 || which >= DISTANCES) {
        s->bad = true;
        return;
    }
    distance = distance_base[which] + take(s, which < 2 ? 0 : which / 2 - 1);
    if (distance > s->filled)
        s->bad = true;
    for (; length > 0 && !s->bad; length--)
        put(s, s->out[s->filled - distance]);
}

static void compressed(struct stream *s, const struct code *literals, const struct code *distances)
{
    while (!s->bad) {
        int symbol = next_symbol(s, literals);

        if (symbol == 256)
            return;
        if (symbol > 256)
            copy(s, symbol, distances);
        else if (symbol >= 0)
            put(s, (uint8_t)symbol);
    }
}

static void fixed_codes(struct code *literals, struct code *distances)
{
    uint8_t lengths[LITERALS];

    for (int i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    (void)make_code(literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    (void)make_code(distances, lengths, DISTANCES);
}

/* Lengths of both codes, themselves written in a code. */
static void read_codes(struct stream *s, struct code *literals, struct code *distances)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    int n_literals = (int)take(s, 5) + 257, n_distances = (int)take(s, 5) + 1, n_lengths = (int)take(s, 4) + 4, n = 0;
    uint8_t lengths[LITERALS + 32] = {0};
    struct code code;

    for (int i = 0; i < n_lengths; i++)
        lengths[order[i]] = (uint8_t)take(s, 3);
    if (s->bad || n_literals > 286 || n_distances > DISTANCES || !make_code(&code, lengths, 19)) {
        s->bad = true;
        return;
    }
    memset(lengths, 0, sizeof lengths);
    while (n < n_literals + n_distances && !s->bad) {
        int symbol = next_symbol(s, &code), times = 1;
        uint8_t value = (uint8_t)(symbol < 0 ? 0 : symbol);

        if (symbol == 16) {
            value = n > 0 ? lengths[n - 1] : 0;
            s->bad |= n == 0;
            times = (int)take(s, 2) + 3;
        } else if (symbol >= 17) {
            value = 0;
            times = symbol == 17 ? (int)take(s, 3) + 3 : (int)take(s, 7) + 11;
        }
        if (times > n_literals + n_distances - n)
            s->bad = true;
        for (; times > 0 && !s->bad; times--)
            lengths[n++] = value;
    }
    if (s->bad || lengths[256] == 0 || !make_code(literals, lengths, n_literals) ||
        !make_code(distances, lengths + n_literals, n_distances))
        s->bad = true;
}

static uint32_t adler(const uint8_t *p, size_t size)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < size; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

bool pw_image_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t out_size)
{
    struct stream s = {.at = bytes, .end = bytes + size, .out = out, .size = out_size};
    struct code literals, distances;
    uint32_t header, sum = 0, last = 0;

    if (size < 6)
        return false;
    header = (uint32_t)bytes[0] << 8 | bytes[1];
    if (header % 31 != 0 || (header & 0x0f00) != 0x0800 || (header & 0x20) != 0)
        return false;
    s.at += 2;
    while (!last && !s.bad) {
        uint32_t kind;

        last = take(&s, 1);
        kind = take(&s, 2);
        if (s.bad || kind == 3)
            return false;
        if (kind == 0) {
            stored(&s);
            continue;
        }
        if (kind == 1)
            fixed_codes(&literals, &distances);
        else
            read_codes(&s, &literals, &distances);
        compressed(&s, &literals, &distances);
    }
    s.hold = 0;
    s.held = 0;
    for (int i = 0; i < 4; i++)
        sum = sum << 8 | take(&s, 8);
    return !s.bad && s.filled == out_size && sum == adler(out, out_size);
}
