/*
 * Generates decoder graphs in ONNX, decomposed as exporters write them: LayerNorm as
 * ReduceMean/Sub/Pow/Sqrt/Div/Mul/Add, attention as MatMul/Div/Where/Softmax/MatMul, shapes
 * through Shape/Gather/Unsqueeze/Concat/Reshape, dims named batch, sequence, past_sequence.
 * Weights are uniform draws from Philox, scaled so that activations stay near one.
 * Used by `portwright make-graph`, tests and benchmarks. One thread.
 */
#ifndef PW_GRAPH_DECODER_H
#define PW_GRAPH_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tensor/dtype.h"

typedef enum { PW_DECODER_LAYERNORM, PW_DECODER_RMSNORM } pw_decoder_norm;
typedef enum { PW_DECODER_GELU, PW_DECODER_GELU_TANH, PW_DECODER_SWIGLU } pw_decoder_activation;

struct pw_decoder {
    int64_t layers, width, heads, kv_heads, vocabulary;
    int64_t hidden;    /* of the feed-forward part */
    int64_t positions; /* rows of the learned position table, without rotary */
    int opset;         /* 11..21 */
    pw_decoder_norm norm;
    pw_decoder_activation activation;
    bool kv_cache;  /* past.N.key/value in, present.N.key/value out */
    bool rotary;    /* instead of a position table */
    bool mask;      /* an attention_mask input beside the causal mask */
    pw_dtype dtype; /* float32, float16, bfloat16 */
    uint64_t seed;
    int64_t nodes; /* pads with a chain of Mul and Add up to this many nodes; 0 = no padding */
};

/* The small default: two layers of width 64, GPT style, under 1 MiB. hidden 0 and kv_heads 0 stand for
 * "derived" (4 x width, or 8/3 for SwiGLU; heads). */
void pw_decoder_defaults(struct pw_decoder *decoder);

/* Fills what is derived and refuses what makes no sense, naming the option. */
pw_status pw_decoder_check(struct pw_decoder *decoder, struct pw_error *err);

/* Writes the model; external: name of a file beside it for the weights, or NULL. */
pw_status pw_decoder_write(const struct pw_decoder *decoder, const char *path, const char *external,
                           struct pw_error *err);

#endif
