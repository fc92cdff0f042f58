/* The fused normalizations of the norm room (norm_fused.c); their entries are in norm.c's table. */
#ifndef PW_OPS_NORM_FUSED_H
#define PW_OPS_NORM_FUSED_H

#include "op/op.h"

/* Input positions, -1 where an operator has none. */
struct pw_norm_fused_form {
    bool centres;  /* LayerNorm; else RMSNorm */
    bool embeds;   /* rows are sums of embeddings */
    bool has_axis; /* SimplifiedLayerNormalization */
    int skip, bias, gamma, beta;
    int word, position, segment, segment_ids, position_ids, mask;
    int factor_out, sum_out; /* outputs: 1 / standard deviation, s */
};

struct pw_norm_fused {
    const struct pw_norm_fused_form *form;
    int64_t rows, length;
    int64_t skip_rows;     /* skip repeats after so many rows */
    int64_t sequence;      /* embeddings: tokens a sample */
    int64_t words;         /* rows of word_embedding */
    int64_t position_rows; /* elements of position_ids; 0: the position is the token's index */
};

pw_status pw_norm_fused_read(const struct pw_call *call, struct pw_norm_fused *f, struct pw_error *err);
pw_status pw_norm_fused_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_norm_fused_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err);
void pw_norm_fused_accuracy(const struct pw_call *call, struct pw_accuracy *out);
pw_status pw_norm_fused_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
void pw_norm_fused_fill(const struct pw_call *call, int i, struct pw_fill *out);
pw_status pw_norm_fused_golden(struct pw_eval *ev, struct pw_error *err);

#endif
