/*
 * Shape inference over a whole graph, symbolic or with bindings.
 *
 * Owns an info per value. Constant nodes and shape arithmetic are evaluated: integer contents as
 * symbolic dims, and whole small tensors through the golden reference when all inputs are
 * constant (up to PW_CONTENT_MAX elements). Unknown operators leave what the file declares for
 * their outputs and do not stop the rest. Captures and If/Loop/Scan bodies are inferred too; a body
 * that is entered repeatedly keeps the infos of its last pass.
 * Declared shapes refine what stays unknown and never replace what was inferred.
 * An input dim without number or name, or with the number 0, is the symbol "<input>.<dim>".
 * One per loaded graph and binding set. The model must outlive it. Made by one thread; from then on any number may read
 * it, as long as none calls what says that it writes.
 */
#ifndef PW_GRAPH_INFER_H
#define PW_GRAPH_INFER_H

#include "graph/graph.h"
#include "op/op.h"

struct pw_inference;

/* Runs it. bindings (copied) replace symbols (by name) in the graph's input shapes; a binding whose name
 * no input uses is an error with "did you mean", as is one that contradicts a shape: names the node. */
pw_status pw_infer_graph(const struct pw_model *model, const struct pw_binding *bindings, size_t binding_count,
                         struct pw_inference **out, struct pw_error *err);
void pw_inference_destroy(struct pw_inference *inference);

/* Info of a value of any graph of the model (main or nested); never NULL. */
const struct pw_info *pw_inference_at(const struct pw_inference *inference, const struct pw_graph *graph,
                                      pw_value_id id);
struct pw_dims *pw_inference_dims(const struct pw_inference *inference);
const struct pw_binding *pw_inference_bindings(const struct pw_inference *inference, size_t *count);

/* The graphs of the model: 0 is the main one, then the subgraphs, a node's before its successor's. */
size_t pw_inference_graph_count(const struct pw_inference *inference);
const struct pw_graph *pw_inference_graph(const struct pw_inference *inference, size_t i);
/* Number of a node among all graphs' nodes, in that order; SIZE_MAX for a node of another model. */
size_t pw_inference_node_number(const struct pw_inference *inference, const struct pw_node *node);

/* Fills a call for a node from the inference (arrays in the inference's arena: writes). NULL op is fine: in/out only.
 */
pw_status pw_inference_call(const struct pw_inference *inference, const struct pw_node *node, struct pw_call *call,
                            struct pw_error *err);
/* The same where others read it: arrays in `arena`, callbacks compute with `dims`, borrowed from the inference's. */
pw_status pw_inference_call_in(const struct pw_inference *inference, const struct pw_node *node, struct pw_arena *arena,
                               struct pw_dims *dims, struct pw_call *call, struct pw_error *err);

/* A free-standing concrete call from tensors: for evaluation and cases. Checks the node (pw_op_check) and the
 * inputs (pw_op_check_call), infers the outputs with the op's infer. Every dim is a number; contents of PARAM and small
 * integer inputs are known. The call's arrays live in `arena`; `dims` is the caller's table. */
pw_status pw_call_from_values(const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                              struct pw_dims *dims, struct pw_arena *arena, struct pw_call *call, struct pw_error *err);

/* The same from what is known of the inputs (NULL: omitted) instead of values: constants and contents where they are
 * known. Nothing of the infos is copied. */
pw_status pw_call_from_infos(const struct pw_node *node, const struct pw_info *const *inputs, int input_count,
                             struct pw_dims *dims, struct pw_arena *arena, struct pw_call *call, struct pw_error *err);

#endif
