#include "graph/wire_write.h"

#include <string.h>

void pw_wire_put_raw_varint(struct pw_buf *buf, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
    pw_buf_append(buf, bytes, n);
}

size_t pw_wire_varint_bytes(uint64_t value)
{
    size_t n = 1;
    while (value > 0x7f) {
        value >>= 7;
        n++;
    }
    return n;
}

void pw_wire_put_tag(struct pw_buf *buf, uint32_t number, unsigned type)
{
    pw_wire_put_raw_varint(buf, (uint64_t)number << 3 | type);
}

void pw_wire_put_int(struct pw_buf *buf, uint32_t number, uint64_t value)
{
    pw_wire_put_tag(buf, number, 0);
    pw_wire_put_raw_varint(buf, value);
}

void pw_wire_put_float(struct pw_buf *buf, uint32_t number, float value)
{
    uint32_t bits;
    char bytes[4];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(bits >> (8 * i) & 0xff);
    pw_wire_put_tag(buf, number, 5);
    pw_buf_append(buf, bytes, sizeof bytes);
}

void pw_wire_put_bytes(struct pw_buf *buf, uint32_t number, const void *data, size_t size)
{
    pw_wire_put_tag(buf, number, 2);
    pw_wire_put_raw_varint(buf, size);
    if (size > 0)
        pw_buf_append(buf, data, size);
}

void pw_wire_put_text(struct pw_buf *buf, uint32_t number, const char *text)
{
    pw_wire_put_bytes(buf, number, text, strlen(text));
}

void pw_wire_put_message(struct pw_buf *buf, uint32_t number, struct pw_buf *body)
{
    pw_wire_put_bytes(buf, number, pw_buf_text(body), body->size);
    if (body->failed)
        buf->failed = true;
    pw_buf_clear(body);
}

void pw_wire_put_packed_ints(struct pw_buf *buf, uint32_t number, const int64_t *values, size_t count)
{
    struct pw_buf body = {0};
    for (size_t i = 0; i < count; i++)
        pw_wire_put_raw_varint(&body, (uint64_t)values[i]);
    pw_wire_put_message(buf, number, &body);
}
