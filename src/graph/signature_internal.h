/* Shared by signature.c and signature_attrs.c only. */
#ifndef PW_GRAPH_SIGNATURE_INTERNAL_H
#define PW_GRAPH_SIGNATURE_INTERNAL_H

#include <stdio.h>

#include "graph/signature.h"

/* Bytes of a foreign text with control bytes, quotes and backslashes as \xNN. */
void pw_signature_escape(struct pw_buf *out, const char *text, size_t size);
/* Shortest text that reads back, always recognisable as a float. */
void pw_signature_float(struct pw_buf *out, double value, bool single);
/* "<float32[2] 1.0 2.0>" */
void pw_signature_tensor(const struct pw_tensor *t, struct pw_buf *out);

/* " axis=-1 mode='linear'": what differs from the definition's default, and defaults that are not zero. */
pw_status pw_signature_attrs(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                             struct pw_error *err);
/* Bytes that determine it. */
pw_status pw_signature_attrs_key(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                                 struct pw_error *err);

#endif
