/*
 * Shared by the files of the attention room: the problem that all attention operators come down to, and the callbacks
 * by operator. Reentrant; used by the room's callbacks only.
 *
 *   S = softcap(scale * Q K^T) + bias,  P = softmax(S),  Y = P V
 *
 * Q [batch, heads, queries, size], K and V [batch, kv_heads, keys, size]; heads / kv_heads query heads share a key
 * head. A score is masked (-inf) by a mask, past the sample's length, after the query (causal) or outside of a window.
 */
#ifndef PW_OPS_ATTENTION_ROOM_H
#define PW_OPS_ATTENTION_ROOM_H

#include "op/op.h"

/* A mask or a bias over [batch, heads, queries, keys]: strides in elements, 0 where it is broadcast. */
struct pw_attention_mask {
    int64_t batch, head, query, key;
    int64_t keys; /* keys that it covers; what follows is masked */
};

/* Dims of an operand's heads: [batch][head][row][element], element stride 1. */
struct pw_attention_layout {
    int64_t offset, batch, head, row;
};

/* Sizes and rules of one call, from concrete shapes. */
struct pw_attention {
    int64_t batch, heads, kv_heads, queries, keys, past, size, value_size;
    int64_t buffer;        /* rows of the past inputs: past, or more of a shared buffer */
    bool shares;           /* the present outputs are that buffer with the new rows in it */
    int64_t total;         /* positions of the longest sample, with a window-sized cache */
    int64_t capacity;      /* rows of a window-sized cache; 0: the cache holds all positions */
    int indirection_input; /* beam of each past row, -1 = none */
    int64_t beams;
    struct pw_attention_layout q, k, v, y; /* in the inputs as they come, and in output 0 */
    struct pw_attention_layout past_k, past_v, present_k, present_v;
    int64_t present; /* rows of the present outputs: keys, or the shared buffer's */
    int q_input, k_input, v_input, past_k_input, past_v_input; /* -1 = none; equal when packed in one */
    int bias_input;                                            /* additive on scores */
    int mask_input;                                            /* bool, or int32 of which 0 is masked */
    int lengths_input;                                         /* int per sample */
    int64_t lengths_add;                                       /* what makes a length of it: 0, or 1 for GQA */
    int projection_bias;                                       /* added to q, k, v; offsets follow */
    int64_t bias_q, bias_k, bias_v;
    struct pw_attention_mask bias, mask;
    bool mask_is_ends; /* mask_input holds end positions (and starts after them when mask_starts) */
    bool mask_starts;
    double filter; /* what a 0 of an int mask adds; -inf for a bool mask */
    double scale, softcap;
    bool causal;
    int64_t fresh, start;           /* new rows, and where they begin among the keys, */
    bool start_by_length;           /* or behind each sample's own past */
    bool projected;                 /* q, k, v come from a projection of input 0 */
    int64_t offset;                 /* position of query 0 among the keys, when lengths do not give it */
    bool offset_by_length;          /* offset = length - queries, by sample */
    int64_t left, right;            /* window, -1 = open */
    int q_norm_input, k_norm_input; /* weights of a norm over the head, -1 = none */
    double norm_epsilon;
    int cos_input, sin_input, positions_input; /* rotation of new queries and keys, -1 = none */
    bool interleaved;
    int sink_input;   /* per head, -1 = none */
    bool smooth;      /* a sink of 0 for all heads */
    int scores_out;   /* output, -1 = none */
    int scores_stage; /* 0 scaled, 1 after softcap, 2 with bias, 3 probabilities */
    int present_k_out, present_v_out;
};

pw_status pw_attention_read(const struct pw_call *call, struct pw_attention *a, struct pw_error *err); /* ai.onnx */
pw_status pw_attention_read_multi_head(const struct pw_call *call, struct pw_attention *a, struct pw_error *err);
pw_status pw_attention_read_group_query(const struct pw_call *call, struct pw_attention *a, struct pw_error *err);
pw_status pw_attention_read_projected(const struct pw_call *call, struct pw_attention *a, struct pw_error *err);

/* What an entry's `data` points to. */
struct pw_attention_form {
    pw_status (*read)(const struct pw_call *call, struct pw_attention *a, struct pw_error *err);
};

/* Where the rows come from, in the carried type of the reference. */
struct pw_attention_source {
    struct pw_eval *ev;
    const struct pw_attention *a;
    const void *q, *k, *v, *bias, *past_k, *past_v, *q_norm, *k_norm, *cosines, *sines;
    int64_t half, cache_rows; /* of the rotation's caches */
    const struct pw_tensor *positions, *indirection;
};
/* Also checks positions and beams. projected: Q, K and V of com.microsoft.Attention, else NULL. */
pw_status pw_attention_source_read(struct pw_eval *ev, const struct pw_attention *a, const void *projected,
                                   struct pw_attention_source *s, struct pw_error *err);

/* Fills a mask's strides from an input's dims, aligned at the right with [batch, heads, queries, keys]. */
pw_status pw_attention_broadcast(const struct pw_call *call, int input, const struct pw_attention *a,
                                 struct pw_attention_mask *out, struct pw_error *err);

/* Output i as inference has it; *out NULL when nobody wants it. */
pw_status pw_attention_output(struct pw_eval *ev, int i, struct pw_tensor **out, struct pw_error *err);
/* Bytes of a*b*c*d + 1 elements; false when that overflows. */
bool pw_attention_bytes(int64_t a, int64_t b, int64_t c, int64_t d, size_t element, size_t *out);
/* Of a sample: keys that count, position of its first query among them, and the row of its first new key. */
int64_t pw_attention_length(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch);
int64_t pw_attention_offset(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch);
int64_t pw_attention_start(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch);
/* Of a window-sized cache: the rows that the present holds, and how many keys come before them. */
void pw_attention_resident(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch, int64_t *skip,
                           int64_t *rows);
/* Position of a new row in its sequence; the sample whose past holds a row. */
int64_t pw_attention_position(const struct pw_attention_source *s, int64_t batch, int64_t row);
int64_t pw_attention_beam(const struct pw_attention_source *s, int64_t batch, int64_t row);

/* Everything but masks, lengths and positions is of a float type. */
pw_status pw_attention_check_types(const struct pw_call *call, struct pw_error *err);
bool pw_attention_known(const struct pw_call *call); /* all shapes are numbers */
void pw_attention_defaults(struct pw_attention *a);
pw_status pw_attention_heads(const struct pw_call *call, const struct pw_attention *a, struct pw_error *err);
pw_status pw_attention_bind_common(const struct pw_call *call, const struct pw_attention *a, struct pw_bindings *b,
                                   struct pw_error *err);

pw_status pw_attention_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_attention_fast(struct pw_eval *ev, struct pw_error *err);
pw_status pw_attention_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_attention_multi_head_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_attention_group_query_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_attention_projected_infer(struct pw_call *call, struct pw_error *err);

/* Rotation of x[0..size) at a position; shared with GroupQueryAttention. */
struct pw_rotary {
    int64_t batch, heads, sequence, size, rotated; /* rotated: leading elements of a head that turn */
    struct pw_attention_layout x;
    bool interleaved;
    int cos_input, sin_input, ids_input; /* ids: -1 = none */
    int64_t ids_count;                   /* 1: an offset for all */
    bool by_position;                    /* the caches are [positions, rotated / 2], else [batch, sequence, …] */
    int64_t positions;
};
void pw_rotary_turn(double *x, int64_t rotated, bool interleaved, const double *cosines, const double *sines);
pw_status pw_rotary_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_rotary_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_rotary_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

/* attention_fill.c */
void pw_attention_fill(const struct pw_call *call, int input, struct pw_fill *fill);

#endif
