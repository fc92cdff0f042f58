/* The signal room's own header: DFT and STFT as one description of many transforms. Pure. */
#ifndef PW_OPS_SIGNAL_H
#define PW_OPS_SIGNAL_H

#include "op/op.h"

/* `count` transforms of length `length`; transform t = (outer, inner) with inner fastest. Pitches and steps count
 * values (an element is `parts` values: 1 real, 2 complex). */
struct pw_transform {
    int64_t count, inner_count, length;
    int64_t in_outer, in_inner, in_step, in_length, in_parts;
    int64_t out_outer, out_inner, out_step, bins, out_parts;
    bool inverse;
    bool hermitian; /* the input is one half of a symmetric spectrum */
    bool windowed;  /* input `window_input` scales the samples */
    int window_input;
};

#define PW_TRANSFORM_LIMIT ((int64_t)1 << 22) /* longest transform */

pw_status pw_dft_transform(const struct pw_call *call, struct pw_transform *t, struct pw_error *err);
pw_status pw_stft_transform(const struct pw_call *call, struct pw_transform *t, struct pw_error *err);

/* Scalar content of an input as an integer or a real; *known false when it is not there to read. */
pw_status pw_signal_integer(const struct pw_call *call, int input, int64_t *value, bool *known, struct pw_error *err);
pw_status pw_signal_real(const struct pw_call *call, int input, double *value, bool *known, struct pw_error *err);

typedef enum { PW_WINDOW_HANN, PW_WINDOW_HAMMING, PW_WINDOW_BLACKMAN } pw_window_kind;

/* The mel bins' edges in spectrum bins: bands + 2 of them, in the call's arena. */
struct pw_mel {
    int64_t bands, bins; /* columns and rows of the matrix */
    int64_t *edges;
};
pw_status pw_mel_edges(const struct pw_call *call, struct pw_mel *mel, struct pw_error *err);
/* The weight of spectrum bin j in a band with edges e[0..2]. */
double pw_mel_weight(const int64_t *e, int64_t j);

pw_status pw_transform_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_signal_window_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_mel_eval(struct pw_eval *ev, struct pw_error *err);

pw_status pw_transform_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_signal_window_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_mel_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

#endif
