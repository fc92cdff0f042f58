/*
 * Inside of the activation room: the functions and their parameters. Each is a map of one tensor, with a bias along
 * the last dim for the fused operators of com.microsoft. Stateless; any thread.
 */
#ifndef PW_OPS_ACTIVATION_ROOM_H
#define PW_OPS_ACTIVATION_ROOM_H

#include "op/op.h"

typedef enum {
    PW_ACT_RELU,
    PW_ACT_LEAKY_RELU, /* p = alpha */
    PW_ACT_ELU,        /* p = alpha */
    PW_ACT_SELU,       /* p = alpha, q = gamma */
    PW_ACT_CELU,       /* p = alpha */
    PW_ACT_GELU_ERF,
    PW_ACT_GELU_TANH,
    PW_ACT_HARD_SIGMOID, /* p = alpha, q = beta */
    PW_ACT_HARD_SWISH,
    PW_ACT_SIGMOID,
    PW_ACT_SOFTPLUS,
    PW_ACT_SOFTSIGN,
    PW_ACT_THRESHOLDED_RELU, /* p = alpha */
    PW_ACT_MISH,
    PW_ACT_SWISH,  /* p = alpha */
    PW_ACT_SHRINK, /* p = lambd, q = bias */
    PW_ACT_COUNT
} pw_act;

struct pw_act_form {
    pw_act function;
    const char *p, *q; /* attributes behind the parameters, or NULL */
    bool integers;     /* also of integers */
};

struct pw_act_accuracy {
    const char *word; /* entry of the kernels */
    bool exact;
    double ulp, amplification;
    pw_sensitivity sensitivity;
    const char *reason, *why;
};
extern const struct pw_act_accuracy pw_act_accuracies[PW_ACT_COUNT];

/* Gelu-20 chooses by attribute. */
pw_act pw_act_function(const struct pw_call *call);
/* Parameters with the attributes' values; 0 where the function has none. */
void pw_act_parameters(const struct pw_call *call, float *p, float *q);

/* Both references: the dtype of the carried tensors decides. */
pw_status pw_act_eval(struct pw_eval *ev, struct pw_error *err);

/* SwiGLU: two inputs of one shape. */
pw_status pw_act_gated_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_act_gated_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err);
void pw_act_gated_accuracy(const struct pw_call *call, struct pw_accuracy *out);
pw_status pw_act_gated_eval(struct pw_eval *ev, struct pw_error *err);

#endif
