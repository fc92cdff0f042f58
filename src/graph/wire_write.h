/*
 * Writes the protobuf wire format into a growing buffer.
 *
 * Nested messages are made in a buffer of their own and put into the outer one; memory that
 * ran out shows in buf->failed, so one check at the end is enough. Used by the graph
 * generator and by tests that build files, malformed ones too.
 */
#ifndef PW_GRAPH_WIRE_WRITE_H
#define PW_GRAPH_WIRE_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

void pw_wire_put_raw_varint(struct pw_buf *buf, uint64_t value);           /* no tag */
void pw_wire_put_tag(struct pw_buf *buf, uint32_t number, unsigned type);  /* tag alone */
void pw_wire_put_int(struct pw_buf *buf, uint32_t number, uint64_t value); /* varint */
void pw_wire_put_float(struct pw_buf *buf, uint32_t number, float value);  /* fixed32 */
void pw_wire_put_bytes(struct pw_buf *buf, uint32_t number, const void *data, size_t size);
void pw_wire_put_text(struct pw_buf *buf, uint32_t number, const char *text);
/* The content of `body` as a message; body is emptied (and freed) afterwards. */
void pw_wire_put_message(struct pw_buf *buf, uint32_t number, struct pw_buf *body);
void pw_wire_put_packed_ints(struct pw_buf *buf, uint32_t number, const int64_t *values, size_t count);

size_t pw_wire_varint_bytes(uint64_t value);

#endif
