/* Errors, the buffer, safe display of hostile text, number reading, figures, "did you mean". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- errors ---- */

static void the_first_message_stays(void **state)
{
    (void)state;
    struct pw_error err = {0};
    pw_error_prefix(&err, "nothing yet");
    assert_int_equal(err.status, PW_OK);
    assert_int_equal(pw_error_set(&err, PW_ERR_FORMAT, "bad byte %d", 7), PW_ERR_FORMAT);
    assert_int_equal(pw_error_set(&err, PW_ERR_IO, "later"), PW_ERR_IO);
    assert_int_equal(err.status, PW_ERR_FORMAT);
    assert_string_equal(err.message, "bad byte 7");
    pw_error_prefix(&err, "file '%s'", "a.onnx");
    assert_string_equal(err.message, "file 'a.onnx': bad byte 7");
    pw_error_clear(&err);
    assert_int_equal(err.status, PW_OK);
    assert_string_equal(err.message, "");
    assert_int_equal(pw_error_set(NULL, PW_ERR_IO, "x"), PW_ERR_IO);
    pw_error_prefix(NULL, "x");
    pw_error_clear(NULL);
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    char text[3000] = "x";
    for (size_t i = 1; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xC3\xA9", 3);
    for (int shift = 0; shift < 2; shift++) {
        struct pw_error err = {0};
        pw_error_set(&err, PW_ERR_FORMAT, "%s", text + shift);
        assert_in_range(strlen(err.message), PW_ERROR_MAX - 3, PW_ERROR_MAX - 1);
        size_t size = strlen(err.message);
        uint32_t code;
        assert_int_equal(pw_text_decode(err.message + size - 2, 2, &code), 2);
        assert_int_equal(code, 0xE9);
        pw_error_prefix(&err, "a long prefix");
        assert_true(strlen(err.message) < PW_ERROR_MAX);
    }
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < PW_STATUS_COUNT; i++) {
        assert_non_null(pw_status_name((pw_status)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(pw_status_name((pw_status)i), pw_status_name((pw_status)j));
    }
    assert_string_equal(pw_status_name((pw_status)999), "unknown status");
}

/* ---- buffer ---- */

static void buffer_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct pw_buf buf = {0};
    assert_string_equal(pw_buf_text(&buf), "");
    for (int i = 0; i < 1000; i++)
        pw_buf_printf(&buf, "%d,", i);
    assert_int_equal(buf.size, 2 * 10 + 3 * 90 + 4 * 900);
    assert_int_equal(strlen(pw_buf_text(&buf)), buf.size);
    pw_buf_append(&buf, "a\0b", 3);
    assert_memory_equal(buf.data + buf.size - 3, "a\0b", 4);
    pw_buf_printf(&buf, "%2000d", 1);
    assert_int_equal(buf.data[buf.size - 1], '1');
    assert_int_equal(buf.data[buf.size], '\0');
    pw_buf_clear(&buf);
    assert_null(buf.data);
}

#if defined(PW_FAIL_INJECTION)
static void a_failed_append_is_remembered(void **state)
{
    (void)state;
    struct pw_buf buf = {0};
    pw_buf_puts(&buf, "kept");
    pw_mem_fail_at(1, 0);
    pw_buf_printf(&buf, "%500d", 1);
    pw_mem_fail_at(0, 0);
    assert_true(buf.failed);
    pw_buf_puts(&buf, "ignored");
    assert_string_equal(pw_buf_text(&buf), "kept");
    pw_buf_clear(&buf);
}
#endif

/* ---- display ---- */

static void expect_display(const char *text, size_t size, size_t columns, bool ascii, const char *expected)
{
    struct pw_buf buf = {0};
    pw_buf_puts(&buf, "[");
    pw_text_display(&buf, text, size, columns, ascii);
    pw_buf_puts(&buf, "]");
    struct pw_buf want = {0};
    pw_buf_printf(&want, "[%s]", expected);
    assert_string_equal(pw_buf_text(&buf), pw_buf_text(&want));
    pw_buf_clear(&buf);
    pw_buf_clear(&want);
}

static void a_cell_has_its_width(void **state)
{
    static const struct {
        const char *text;
        size_t width;
        bool right;
        const char *expected;
    } rows[] = {
        {"ab", 4, false, "ab  "},         {"ab", 4, true, "  ab"},         {"abcd", 4, true, "abcd"},
        {"abcde", 4, false, "abc\u2026"}, {"\u5b57", 3, false, "\u5b57 "}, /* two columns wide */
        {"\x1b", 2, true, " ?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_buf buf = {0};

        pw_text_cell(&buf, rows[i].text, rows[i].width, rows[i].right);
        assert_string_equal(pw_buf_text(&buf), rows[i].expected);
        pw_buf_clear(&buf);
    }
}

static void display_disarms_hostile_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *expected;
    } rows[] = {
        {"plain", 5, "plain"},
        {"\x1b[31mred\x1b]0;title\x07", 16, "?[31mred?]0;titl"},
        {"a\tb\nc", 5, "a b c"},
        {"nul\0in", 6, "nul?in"},
        {"cr\rdel\x7f", 7, "cr?del?"},
        {"\xC2\x9B"
         "31m",
         5, "?31m"}, /* C1 control sequence introducer */
        {"\xE2\x80\xAE"
         "exe.txt",
         10, "?exe.txt"},                              /* right-to-left override */
        {"\xE2\x81\xA6x\xE2\x81\xA9", 7, "?x?"},       /* isolates */
        {"\xE2\x80\x8B\xEF\xBB\xBF", 6, "??"},         /* zero width, byte order mark */
        {"\xE2\x80\xA8x", 4, "?x"},                    /* line separator */
        {"\xFF\xFE", 2, "??"},                         /* never in UTF-8 */
        {"\xC3", 1, "?"},                              /* cut */
        {"\xC3(", 2, "?("},                            /* wrong continuation */
        {"\xC0\x80", 2, "??"},                         /* overlong NUL */
        {"\xE0\x80\xAF", 3, "???"},                    /* overlong slash */
        {"\xED\xA0\x80", 3, "???"},                    /* surrogate */
        {"\xF4\x90\x80\x80", 4, "????"},               /* above U+10FFFF */
        {"\xC3\xA9t\xC3\xA9", 5, "\xC3\xA9t\xC3\xA9"}, /* été stays */
        {"\xE5\xB1\xA4", 3, "\xE5\xB1\xA4"},           /* 層 stays */
        {"\xEF\xBF\xBD", 3, "\xEF\xBF\xBD"},           /* a replacement character that was there */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_display(rows[i].text, rows[i].size, 0, false, rows[i].expected);
    expect_display("\xC3\xA9t\xC3\xA9", 5, 0, true, "?t?");
}

static void display_cuts_at_the_width(void **state)
{
    (void)state;
    expect_display("abcdef", 6, 6, false, "abcdef");
    expect_display("abcdef", 6, 5, false, "abcd\xE2\x80\xA6");
    expect_display("abcdef", 6, 5, true, "ab...");
    expect_display("abcdef", 6, 2, true, "..");
    expect_display("abcdef", 6, 1, false, "\xE2\x80\xA6");
    /* Two columns each: three fit into seven, and the ellipsis into the seventh. */
    expect_display("\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4", 12, 7, false,
                   "\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE2\x80\xA6");
    expect_display("\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4", 12, 8, false,
                   "\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4");
    char marks[2001];
    for (size_t i = 0; i + 1 < sizeof marks; i += 2)
        memcpy(marks + i, "\xCC\x81", 2);
    struct pw_buf buf = {0};
    pw_text_display(&buf, marks, sizeof marks - 1, 10, false);
    assert_true(buf.size <= 8); /* a pile of accents does not climb over other lines */
    pw_buf_clear(&buf);
}

static void display_of_ten_thousand_characters(void **state)
{
    (void)state;
    struct pw_buf text = {0}, out = {0};
    for (int i = 0; i < 10000; i++)
        pw_buf_puts(&text, i % 3 == 0 ? "\x1b" : "\xC3\xA9");
    pw_text_display(&out, text.data, text.size, 0, false);
    assert_int_equal(pw_text_width(pw_buf_text(&out)), 10000);
    assert_null(memchr(out.data, 0x1b, out.size));
    out.size = 0;
    pw_text_display(&out, text.data, text.size, 40, false);
    assert_int_equal(pw_text_width(pw_buf_text(&out)), 40);
    assert_true(pw_text_ends(pw_buf_text(&out), "\xE2\x80\xA6"));
    char small[16];
    assert_true(strlen(pw_text_show(small, sizeof small, text.data, 0)) < sizeof small);
    assert_true(pw_text_ends(small, "\xE2\x80\xA6"));
    assert_true(strlen(pw_text_show(small, 1, text.data, 0)) == 0);
    assert_string_equal(pw_text_show(small, sizeof small,
                                     "a\x1b"
                                     "b",
                                     10),
                        "a?b");
    assert_string_equal(pw_text_show(small, sizeof small, "abcdef", 3), "ab\xE2\x80\xA6");
    pw_buf_clear(&text);
    pw_buf_clear(&out);
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(pw_text_width_code('a'), 1);
    assert_int_equal(pw_text_width_code(0x301), 0);   /* combining acute */
    assert_int_equal(pw_text_width_code(0x5C64), 2);  /* 層 */
    assert_int_equal(pw_text_width_code(0xAC00), 2);  /* 가 */
    assert_int_equal(pw_text_width_code(0x1F600), 2); /* an emoji */
    assert_int_equal(pw_text_width_code(0xFF21), 2);  /* fullwidth A */
    assert_int_equal(pw_text_width_code(0x2500), 1);  /* box drawing */
    assert_int_equal(pw_text_width_code(0x20AC), 1);  /* euro sign */
    assert_int_equal(pw_text_width("e\xCC\x81\xE5\xB1\xA4"), 3);
}

/* ---- helpers ---- */

static void whole_numbers_only(void **state)
{
    (void)state;
    int64_t n = 5;
    assert_true(pw_text_int64("-9223372036854775808", &n));
    assert_true(n == INT64_MIN);
    static const char *const bad[] = {"", " 1", "1 ", "1x", "9223372036854775808", "0x10", "1.0", "-", "+"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pw_text_int64(bad[i], &n));
    double x = 0;
    assert_true(pw_text_double("-1.5e3", &x));
    assert_true(x == -1500.0);
    assert_true(pw_text_double("inf", &x) && isinf(x));
    assert_true(pw_text_double("1e-320", &x) && x > 0);
    assert_false(pw_text_double("1e999", &x));
    assert_false(pw_text_double("1,5", &x));
    assert_false(pw_text_double("1.5 ", &x));
    static const char text[] = "/Layers.12/Attn/Softmax";

    assert_ptr_equal(pw_text_find(text, "attn/SOFT"), text + 11);
    assert_ptr_equal(pw_text_find(text, ""), text);
    assert_ptr_equal(pw_text_find(text, "/layers.12/attn/softmax"), text);
    assert_string_equal(pw_text_find("aab", "AB"), "ab");
    assert_null(pw_text_find(text, "softmaxx"));
    assert_null(pw_text_find("", "a"));
    assert_non_null(pw_text_find("[", "["));
    assert_null(pw_text_find("[", "{")); /* only letters have a case */
    assert_non_null(pw_text_find("fl\xc3\xa4"
                                 "che",
                                 "L\xc3\xa4"
                                 "C"));
    assert_true(pw_text_starts("softmax", "soft") && !pw_text_starts("so", "soft"));
    assert_true(pw_text_ends("a.onnx", ".onnx") && !pw_text_ends("nnx", ".onnx"));
}

static void figures_for_people(void **state)
{
    (void)state;
    char dst[32];
    static const struct {
        double value;
        const char *bytes, *si, *duration;
    } rows[] = {
        {0, "0 B", "0 x", "0.0 ns"},
        {1023, "1023 B", "1.02 kx", "17m03s"},
        {1536, "1.5 KiB", "1.54 kx", "25m36s"},
        {1572864, "1.5 MiB", "1.57 Mx", "26214m24s"},
        {3.21e9, "3.0 GiB", "3.21 Gx", "53500000m00s"},
        {0.0000123, "0 B", "0.00 x", "12.3 us"},
        {0.99999, "1 B", "1.00 x", "1.0 s"},
        {0.00099999, "0 B", "0.00 x", "1.0 ms"},
        {1.2, "1 B", "1.20 x", "1.2 s"},
        {119.0, "119 B", "119 x", "119 s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(pw_text_bytes(dst, sizeof dst, rows[i].value), rows[i].bytes);
        assert_string_equal(pw_text_si(dst, sizeof dst, rows[i].value, "x"), rows[i].si);
        assert_string_equal(pw_text_duration(dst, sizeof dst, rows[i].value), rows[i].duration);
    }
}

static void did_you_mean(void **state)
{
    (void)state;
    static const char *const words[] = {"verify", "bench", "run", "tune", "baseline"};
    assert_string_equal(pw_text_nearest("verfiy", words, 5), "verify"); /* swapped */
    assert_string_equal(pw_text_nearest("benhc", words, 5), "bench");
    assert_string_equal(pw_text_nearest("base-line", words, 5), "baseline");
    assert_string_equal(pw_text_nearest("tunes", words, 5), "tune");
    assert_null(pw_text_nearest("xyzzy", words, 5));
    assert_string_equal(pw_text_nearest("BENCH", words, 5), "bench"); /* letters are letters */
    /* Half of the letters is too many: no help, but a riddle. */
    assert_null(pw_text_nearest("Foo", (const char *const[]){"Not", "Mod", "If", "Or"}, 4));
    assert_null(pw_text_nearest("elastic", (const char *const[]){"none", "static", "dynamic"}, 3));
    assert_null(pw_text_nearest("q", words, 5));
    char huge[5000];
    memset(huge, 'v', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    assert_null(pw_text_nearest(huge, words, 5));
}

static void cut_between_characters(void **state)
{
    static const char text[] = "ab\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80z"; /* a b é 世 and a face, z */
    static const size_t whole[] = {0, 1, 2, 2, 4, 4, 4, 7, 7, 7, 7, 11, 12, 12};
    char part[sizeof text];

    (void)state;
    for (size_t most = 0; most < sizeof whole / sizeof *whole; most++) {
        assert_int_equal(pw_text_cut(text, most), whole[most]);
        snprintf(part, sizeof part, "%.*s", (int)most, text); /* as printf leaves it */
        assert_int_equal(pw_text_cut(part, sizeof part), whole[most]);
    }
    assert_int_equal(pw_text_cut("a\x80\x80\x80\x80", 5), 5); /* of no character: it stays */
    assert_int_equal(pw_text_cut("\xff\xfe", 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_between_characters),
        cmocka_unit_test(the_first_message_stays),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(buffer_grows_and_stays_terminated),
        cmocka_unit_test(a_cell_has_its_width),
#if defined(PW_FAIL_INJECTION)
        cmocka_unit_test(a_failed_append_is_remembered),
#endif
        cmocka_unit_test(display_disarms_hostile_names),
        cmocka_unit_test(display_cuts_at_the_width),
        cmocka_unit_test(display_of_ten_thousand_characters),
        cmocka_unit_test(widths),
        cmocka_unit_test(whole_numbers_only),
        cmocka_unit_test(figures_for_people),
        cmocka_unit_test(did_you_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
