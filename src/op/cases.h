/*
 * Named cases of a room, as text: three lines and a name. Parsed into a node and tensors.
 *
 *   {"softmax/two", "Softmax-13 axis=-1", {"float32[1,2] 0 0.6931471805599453"},
 *    {"float32[1,2] 0.3333333333 0.6666666667"}, NULL, 0}
 *
 * A call is "Op-version name=value …" ("domain:Op-version" outside ai.onnx): ints 3, floats 0.5
 * (with a point or e), strings 'text', int lists [1,2], float lists [1.0,2.0], string lists
 * ['a','b'], tensors <float32[2] 1 2>. Tensor text: dtype[dims] then values separated by blanks;
 * nan, inf, -inf; strings quoted; one value fills all ("float32[2,3] 1"); "iota" counts from 0;
 * "uniform SEED" draws in [-1,1). "-" is an omitted input or an output that is not compared.
 * "absent" an absent optional; "seq(T; T)" a sequence of tensor texts, "seq(float32)" an empty one.
 */
#ifndef PW_OP_CASES_H
#define PW_OP_CASES_H

#include "op/op.h"

#define PW_CASE_MAX_INPUTS 16
#define PW_CASE_MAX_OUTPUTS 8

struct pw_room_case {
    const char *name; /* "<room>/<what>" */
    const char *call;
    const char *inputs[PW_CASE_MAX_INPUTS]; /* NULL ends */
    const char *outputs[PW_CASE_MAX_OUTPUTS];
    const char *error; /* expected substring of the error instead of outputs */
    double rtol;       /* relative, on the golden's rounded result; 0 = 1e-6 */
};

/* A parsed case: a one-node graph (inputs named i0…, outputs o0…) and its values. */
struct pw_case_data {
    struct pw_arena arena;
    struct pw_graph *graph;
    struct pw_node *node;
    int opset;
    struct pw_value inputs[PW_CASE_MAX_INPUTS];
    size_t input_count;
    struct pw_value outputs[PW_CASE_MAX_OUTPUTS]; /* kind NONE: not compared */
    size_t output_count;
};

pw_status pw_case_parse(const struct pw_room_case *c, struct pw_case_data *out, struct pw_error *err);
void pw_case_clear(struct pw_case_data *data);

/* A call as one text: "Softmax-13 axis=1 (float32[2,3], -)". Inputs are tensor texts or "-"; one without values is a
 * shape to fill in later, one that begins with '=' is a constant of the graph. "-> 3" behind it asks for optional
 * outputs too. Texts of *out lie in the arena. */
struct pw_case_call {
    struct pw_room_case c;
    bool constant[PW_CASE_MAX_INPUTS];
    bool drawn[PW_CASE_MAX_INPUTS]; /* the text had no values: zeros, or for a constant arbitrary ones */
};
pw_status pw_case_call_parse(const char *text, struct pw_arena *arena, struct pw_case_call *out, struct pw_error *err);

/* An ONNX model of such calls, each a node of its own with graph inputs and outputs; what sets shapes (axes, pads, K)
 * and constants are initializers. All must agree on one opset. */
pw_status pw_case_model(const char *const *calls, size_t count, struct pw_buf *bytes, struct pw_error *err);

/* Parses one tensor text. */
pw_status pw_tensor_parse(const char *text, struct pw_value *out, struct pw_error *err);

#endif
