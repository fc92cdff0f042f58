/*
 * Canonical texts of nodes: what makes two calls the same piece of work. Used by the inventory and
 * the patterns; same threading rule as the inference it reads.
 */
#ifndef PW_GRAPH_SIGNATURE_H
#define PW_GRAPH_SIGNATURE_H

#include "base/text.h"
#include "graph/infer.h"

#define PW_SIGNATURE_VALUES 64 /* elements of a constant that are written out; more are hashed */

/* A cheap byte string: nodes with equal keys have equal texts (not the other way round). */
pw_status pw_signature_key(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                           struct pw_error *err);
/* "Softmax-13 axis=-1 (float32[batch,6]) -> (float32[batch,6])". */
pw_status pw_signature_text(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                            struct pw_error *err);
/* "[batch,6] [6] -> [batch,6]": shapes of what flows, without parameters. */
void pw_signature_shapes(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out);
/* "Softmax-13"; "com.example:Foo" when the operator is unknown. */
void pw_signature_label(const struct pw_node *node, struct pw_buf *out);
/* 16 hex digits of a text's hash. */
void pw_signature_id(const char *text, size_t size, char id[17]);
/* Is this constant input's value part of the signature (a setting), rather than a weight? */
bool pw_signature_has_value(const struct pw_node *node, size_t input, const struct pw_info *info);
/* "float32[batch,6]" */
void pw_signature_type(const struct pw_dims *dims, const struct pw_info *info, struct pw_buf *out);

#endif
