/*
 * A test_data_set folder: input_I.pb and output_I.pb, TensorProtos in the order of a graph's inputs and outputs.
 * The files are hostile; reading is pw_onnx_read_value's. Any thread.
 */
#ifndef PW_RUN_DATA_SET_H
#define PW_RUN_DATA_SET_H

#include "graph/graph.h"

struct pw_data_set {
    struct pw_value *inputs; /* one a graph input without an initializer; NONE where the folder has none */
    struct pw_value *wanted; /* one a graph output; NONE where the folder has none */
    size_t input_count, output_count;
};

/* strict: an input (but an optional one) or output without a file is an error, as the backend tests have it. */
pw_status pw_data_set_read(const struct pw_graph *graph, const char *folder, bool strict, struct pw_data_set *out,
                           struct pw_error *err);
void pw_data_set_clear(struct pw_data_set *set);

/* One file for a declared type (may be NULL). */
pw_status pw_data_set_value(const char *path, const struct pw_type *type, bool input, struct pw_value *out,
                            struct pw_error *err);

#endif
