/* PNG streams with errors in them: an image or an empty one, no crash, no memory beyond the image's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ops/vision/vision.h"

/* 24 x 16 RGB; its deflate stream has codes of its own. */
static const uint8_t seed[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68,  82,  0,   0,   0,   24,  0,   0,   0,
    16,  8,   2,   0,   0,   0,   131, 70,  40,  194, 0,   0,   2,   110, 73,  68,  65,  84,  120, 218, 53,  147, 241,
    71,  228, 81,  20,  197, 239, 231, 190, 204, 104, 68,  99,  18,  165, 196, 164, 196, 172, 73,  68,  68,  68,  244,
    175, 174, 205, 82,  54,  75,  41,  253, 144, 205, 82,  26,  17,  203, 210, 79,  209, 159, 240, 216, 159, 222, 187,
    123, 223, 157, 102, 60,  215, 185, 231, 158, 121, 190, 231, 157, 247, 16,  17,  218, 79,  193, 65,  5,   11,  108,
    209, 78,  107, 130, 66,  214, 152, 18,  204, 84,  48,  93,  49,  117, 106, 42,  236, 96,  243, 212, 5,   116, 17,
    6,   212, 101, 116, 5,   93,  131, 13,  210, 16,  217, 202, 236, 80,  71,  164, 49,  236, 161, 251, 216, 1,   118,
    136, 29,  33,  199, 212, 19,  56,  69,  231, 4,   139, 141, 164, 11,  93,  74,  23,  237, 98,  1,   82,  48,  210,
    205, 22,  100, 249, 74,  141, 145, 243, 53,  70,  83,  165, 70,  43,  72,  74,  61,  74,  15,  122, 104, 15,  139,
    229, 88,  162, 214, 179, 204, 140, 105, 109, 104, 74,  76,  219, 191, 206, 102, 160, 151, 147, 91,  43,  51,  107,
    178, 0,   139, 232, 0,   89,  198, 174, 144, 155, 172, 27,  216, 16,  182, 112, 107, 50,  130, 103, 202, 11,  188,
    146, 254, 80,  254, 162, 71,  112, 76,  57,  201, 242, 65,  157, 139, 51,  18,  183, 54,  143, 45,  32,  139, 72,
    31,  187, 240, 51,  202, 165, 79,  114, 220, 135, 62,  213, 25,  175, 227, 198, 184, 160, 58,  121, 209, 70,  210,
    207, 62,  149, 211, 150, 65,  135, 37,  124, 201, 18,  22,  85,  46,  29,  228, 41,  211, 200, 75,  52,  4,   101,
    137, 20,  211, 26,  188, 54,  38,  123, 251, 249, 119, 141, 195, 150, 176, 230, 95,  164, 231, 216, 32,  55,  107,
    158, 218, 13,  114, 7,   67,  108, 139, 178, 3,   143, 212, 103, 234, 30,  120, 106, 205, 90,  230, 141, 116, 140,
    157, 80,  63,  16,  183, 150, 98,  35,  124, 163, 239, 200, 106, 246, 248, 89,  166, 94,  81,  60,  254, 85,  103,
    208, 235, 86,  109, 212, 42,  215, 84,  175, 7,   217, 156, 185, 198, 50,  242, 143, 116, 234, 87,  76,  230, 117,
    29,  137, 85,  111, 51,  235, 104, 3,   16,  12,  129, 27,  227, 237, 45,  22,  83,  89,  207, 220, 82,  66,  160,
    183, 109, 228, 178, 118, 33,  229, 211, 90,  78,  113, 216, 101, 128, 46,  195, 10,  182, 70,  185, 67,  135, 148,
    45,  236, 119, 251, 34,  198, 200, 75,  246, 212, 228, 0,   249, 139, 91,  243, 212, 228, 29,  155, 90,  139, 141,
    50,  223, 144, 77,  108, 145, 244, 131, 178, 137, 172, 144, 110, 168, 14,  134, 164, 123, 234, 14,  186, 73,  185,
    207, 186, 215, 100, 114, 143, 30,  194, 61,  86,  208, 147, 214, 122, 106, 11,  186, 157, 101, 27,  121, 160, 122,
    221, 134, 7,   44,  170, 70,  91,  2,   208, 64,  118, 80,  31,  26,  214, 208, 187, 204, 162, 186, 204, 47,  100,
    246, 212, 172, 67,  141, 11,  153, 206, 63,  47,  164, 127, 145, 31,  182, 69,  106, 181, 89,  203, 105, 132, 61,
    147, 252, 173, 189, 182, 212, 228, 16,  121, 107, 111, 77,  223, 97,  122, 33,  53,  81,  58,  104, 108, 228, 214,
    196, 83,  251, 9,   95,  16,  223, 104, 163, 89,  227, 87,  174, 222, 62,  34,  99,  236, 9,   217, 111, 211, 226,
    192, 31,  173, 87,  127, 180, 79,  45,  53,  149, 93,  216, 69,  38,  173, 50,  193, 91,  155, 96,  51,  204, 36,
    215, 96,  28,  167, 9,   142, 117, 166, 113, 125, 13,  89,  19,  255, 7,   223, 41,  3,   246, 75,  47,  33,  137,
    0,   0,   0,   0,   73,  69,  78,  68,  174, 66,  96,  130};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
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

/* Makes the checksums of all whole chunks hold again, so that errors reach what lies behind them. */
static void mend(uint8_t *p, size_t size)
{
    for (size_t at = 8; size - at >= 12;) {
        uint32_t length = (uint32_t)p[at] << 24 | (uint32_t)p[at + 1] << 16 | (uint32_t)p[at + 2] << 8 | p[at + 3], crc;

        if (length > size - at - 12)
            return;
        crc = checksum(p + at + 4, (size_t)length + 4);
        for (int i = 0; i < 4; i++)
            p[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += (size_t)length + 12;
    }
}

static void decode(const uint8_t *bytes, size_t size, size_t *whole)
{
    uint8_t *exact = pw_calloc(size, 1); /* so that a sanitizer sees a step too far */
    struct pw_image image;
    struct pw_error err = {0};

    assert_non_null(exact);
    memcpy(exact, bytes, size);
    if (pw_image_decode(exact, size, &image, &err) == PW_OK && image.rgb) {
        assert_true(image.height > 0 && image.width > 0);
        *whole += 1;
    }
    pw_image_clear(&image);
    pw_free(exact);
}

static void test_seed(void **state)
{
    size_t whole = 0;

    (void)state;
    decode(seed, sizeof seed, &whole);
    assert_int_equal(whole, 1);
}

static void test_cut_short(void **state)
{
    size_t whole = 0;

    (void)state;
    for (size_t size = 8; size < sizeof seed; size++)
        decode(seed, size, &whole);
    assert_int_equal(whole, 0);
}

static void test_mutations(void **state)
{
    uint64_t random = 5;
    size_t whole = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[sizeof seed];

        memcpy(bytes, seed, sizeof seed);
        for (uint64_t n = draw(&random) % 3 + 1; n > 0; n--)
            bytes[8 + draw(&random) % (sizeof seed - 8)] = (uint8_t)draw(&random);
        mend(bytes, sizeof seed);
        decode(bytes, sizeof bytes, &whole);
    }
    assert_true(whole < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
