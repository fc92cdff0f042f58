/* A damaged store: a small sound one, cut to so many 16ths of a kilobyte (first byte, 0 not), with bytes overwritten
 * (each three bytes: a place, a value), then all that reads it. Bytes that begin as a database are one. */
#include "tests/fuzz/store_sample.h"

static void fuzz_store_file(const uint8_t *data, size_t size)
{
    const struct pw_buf *sample = store_sample();
    struct pw_buf bytes = {0};

    if (size > 16 && !memcmp(data, "SQLite format 3", 15)) {
        store_put((const char *)data, size);
    } else {
        pw_buf_append(&bytes, sample->data, sample->size);
        for (size_t i = 1; i + 2 < size; i += 3)
            bytes.data[(data[i] | (size_t)data[i + 1] << 8) % bytes.size] = (char)data[i + 2];
        if (size > 0 && data[0] && (size_t)data[0] * 64 < bytes.size)
            bytes.size = (size_t)data[0] * 64;
        store_put(bytes.data, bytes.size);
    }
    store_use(size);
    pw_buf_clear(&bytes);
}

/* Most of a database is found from its header and the schema's page. */
static void fuzz_store_file_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    int64_t at;

    pw_buf_append(out, (const char *)data, size);
    if (out->size == 0)
        pw_buf_putc(out, (char)(fuzz_draw(draws, 0, 3) ? 0 : fuzz_draw(draws, 0, 255)));
    for (int64_t edits = fuzz_draw(draws, 1, 4); edits > 0; edits--) {
        at = fuzz_draw(draws, 0, 2) ? fuzz_draw(draws, 16, 120) : fuzz_draw(draws, 0, 65535);
        pw_buf_putc(out, (char)(at & 0xff));
        pw_buf_putc(out, (char)(at >> 8));
        pw_buf_putc(out, (char)fuzz_draw(draws, 0, 255));
    }
    if (out->size > 300)
        out->size = (size_t)fuzz_draw(draws, 1, 300);
}

FUZZ_HARNESS(fuzz_store_file, fuzz_store_file_mutate);
