/*
 * The inputs of a run: from a data-set folder, from named files, and drawn where nothing is given.
 *
 * Order of use: pw_inputs_read (files; also which dims they fix), shape inference with those bindings,
 * pw_inputs_complete (draws the rest, checks everything). What is wrong with an input is said before anything runs:
 * name, dtype, rank, dims, a dim that nobody bound, a token beyond its table, a NaN.
 * Draws suit the graph: indices lie within the tables that they are looked up in, masks keep the first positions of
 * every row, positions ascend, a number that the graph compares with a constant is that constant, floats keep to the
 * domain that the room of their first reader states. Any thread.
 */
#ifndef PW_RUN_INPUTS_H
#define PW_RUN_INPUTS_H

#include "graph/infer.h"

struct pw_input_file {
    const char *name, *path; /* .npy, else a TensorProto */
};

typedef enum { PW_INPUT_DRAWN, PW_INPUT_FILE } pw_input_source;

struct pw_inputs {
    struct pw_arena arena;
    const struct pw_graph *graph;
    struct pw_value *values; /* one a graph input without an initializer */
    size_t count;
    pw_value_id *ids;        /* by position: the graph's value */
    const char **sources;    /* by position: path, or how it was drawn ("indices below 512"); NULL: nothing yet */
    bool *drawn;             /* by position */
    struct pw_value *wanted; /* by graph output; NONE: no file */
    bool has_wanted;
    struct pw_binding *bindings; /* that the given values fix */
    size_t binding_count;
};

/* folder: NULL or a data-set folder, whose files may be fewer than the inputs. files override it. */
pw_status pw_inputs_read(const struct pw_model *model, const char *folder, const struct pw_input_file *files,
                         size_t file_count, struct pw_inputs *out, struct pw_error *err);
/* Draws what was not given; inference has the run's bindings. Then checks all of it. */
pw_status pw_inputs_complete(struct pw_inputs *inputs, const struct pw_inference *inference, uint64_t seed,
                             struct pw_error *err);
void pw_inputs_clear(struct pw_inputs *inputs);

/* ---- inside: what the graph says of an input (inputs_hint.c) ---- */

struct pw_input_hint {
    int64_t low, high; /* integers, both included; of tables' rows: 0 … rows - 1 */
    double float_low, float_high;
    const struct pw_node *table; /* the lookup that the integer bound comes from, or NULL */
    int64_t rows;                /* of the smallest table */
    const struct pw_node *param; /* reads it as a setting (a shape, axes…): cannot be drawn */
    bool has_constant;           /* is compared with this number */
    double constant;
    bool added; /* a float that is added somewhere: an additive mask when named so */
};
pw_status pw_input_hint_find(const struct pw_inference *inference, const struct pw_graph *graph, pw_value_id id,
                             struct pw_input_hint *out, struct pw_error *err);

#endif
