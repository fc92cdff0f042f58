/*
 * LinearAttention: a state S [key size][value size] for each sample and key head, updated token by token.
 *   S = exp(decay) S;  v' = beta (v - S^T k)  (delta rules; else v);  S = S + k v'^T;  o = scale S^T q
 * Shared by the files of the room; reentrant.
 */
#ifndef PW_OPS_ATTENTION_LINEAR_H
#define PW_OPS_ATTENTION_LINEAR_H

#include "op/op.h"

struct pw_linear_attention {
    pw_dim batch, tokens, size, value_size; /* symbolic where shapes are; PW_DIM_UNKNOWN when not known */
    int64_t heads, kv_heads;
    bool gated, delta;
    int64_t decays; /* of a head and token: 1, or the key size (numbers only); 0: no decay */
    int64_t betas;  /* of a token: 1, or kv_heads; 0: none */
    double scale;   /* numbers only */
};

/* Checks everything that is known. */
pw_status pw_linear_attention_read(const struct pw_call *call, struct pw_linear_attention *a, struct pw_error *err);
pw_status pw_linear_attention_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_linear_attention_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err);
void pw_linear_attention_accuracy(const struct pw_call *call, struct pw_accuracy *out);
void pw_linear_attention_fill(const struct pw_call *call, int input, struct pw_fill *fill);
pw_status pw_linear_attention_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_linear_attention_eval(struct pw_eval *ev, struct pw_error *err);

#endif
