/*
 * Inside of the elementwise room: the functions, what is known of each (one table), and the shapes of a call.
 * Semantics are shared by operators that are one idea: the unary maps, the broadcasting binaries, the
 * variadic folds. All stateless; any thread.
 */
#ifndef PW_OPS_ELEMENTWISE_ROOM_H
#define PW_OPS_ELEMENTWISE_ROOM_H

#include "op/op.h"
#include "tensor/broadcast.h"

typedef enum {
    /* maps of one input */
    PW_EW_ABS,
    PW_EW_ACOS,
    PW_EW_ACOSH,
    PW_EW_ASIN,
    PW_EW_ASINH,
    PW_EW_ATAN,
    PW_EW_ATANH,
    PW_EW_BIT_NOT,
    PW_EW_CEIL,
    PW_EW_COS,
    PW_EW_COSH,
    PW_EW_ERF,
    PW_EW_EXP,
    PW_EW_FLOOR,
    PW_EW_IS_INF,
    PW_EW_IS_NAN,
    PW_EW_LOG,
    PW_EW_NEG,
    PW_EW_NOT,
    PW_EW_RECIPROCAL,
    PW_EW_ROUND,
    PW_EW_SIGN,
    PW_EW_SIN,
    PW_EW_SINH,
    PW_EW_SQRT,
    PW_EW_TAN,
    PW_EW_TANH,
    PW_EW_CLIP,
    /* of two inputs, broadcast */
    PW_EW_ADD,
    PW_EW_SUB,
    PW_EW_MUL,
    PW_EW_DIV,
    PW_EW_POW,
    PW_EW_MOD,  /* sign of the divisor */
    PW_EW_FMOD, /* sign of the dividend */
    PW_EW_PRELU,
    PW_EW_MAX,
    PW_EW_MIN,
    PW_EW_SHIFT_LEFT,
    PW_EW_SHIFT_RIGHT,
    PW_EW_BIT_AND,
    PW_EW_BIT_OR,
    PW_EW_BIT_XOR,
    PW_EW_AND,
    PW_EW_OR,
    PW_EW_XOR,
    PW_EW_EQUAL,
    PW_EW_GREATER,
    PW_EW_GREATER_EQUAL,
    PW_EW_LESS,
    PW_EW_LESS_EQUAL,
    /* others */
    PW_EW_SUM,
    PW_EW_MEAN,
    PW_EW_WHERE,
    PW_EW_COUNT
} pw_ew;

#define PW_EW_FIRST_BINARY PW_EW_ADD

struct pw_ew_form {
    const char *word; /* entry of the kernels: map_WORD, fold_WORD */
    uint32_t types;   /* bit per pw_dtype that the function takes */
    bool to_bool;     /* the output is bool */
    bool exact;       /* also of floats: a copy, a comparison, a rounding to integers */
    double ulp;       /* OpenCL's bound for float32 */
    pw_sensitivity sensitivity;
    const char *reason; /* of the sensitivity */
    const char *why;    /* of the tolerance */
    double low, high;   /* sensible floating inputs; both 0 = any */
};

extern const struct pw_ew_form pw_ew_forms[PW_EW_COUNT];

/* The function that a call computes: the operator's own, but Mod and BitShift depend on attributes. */
pw_ew pw_ew_function(const struct pw_call *call);

/* Dims of input i as they are aligned to the right of input 0 (axis attributes before opset 7, PRelu's channel
 * before 7): dims holds PW_MAX_RANK. Works on symbolic and on concrete dims. */
pw_status pw_ew_align(const struct pw_call *call, int i, int rank0, int rank, const int64_t *dims, int *aligned_rank,
                      int64_t *aligned, struct pw_error *err);
/* Does input 0's shape decide the output's (unidirectional broadcasting)? */
bool pw_ew_unidirectional(const struct pw_call *call);

/* Infers outputs: shapes and integer content. */
pw_status pw_ew_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_ew_infer_content(struct pw_call *call, struct pw_error *err);

/* Both references: the dtype of the carried tensors decides (float: fast loops; double: golden). */
pw_status pw_ew_eval(struct pw_eval *ev, struct pw_error *err);

/* ---- loops of the references ---- */

typedef void pw_ew_map(const void *x, void *y, int64_t n);
/* Steps are 0 or 1, not both 0. */
typedef void pw_ew_fold(const void *a, int64_t step_a, const void *b, int64_t step_b, void *y, int64_t n);

/* NULL where the function has none for the type. `precise`: long double inside, for float64 models. */
pw_ew_map *pw_ew_map_float(pw_ew function);
pw_ew_map *pw_ew_map_double(pw_ew function, bool precise);
pw_ew_map *pw_ew_map_integer(pw_ew function, bool is_unsigned); /* on int64 or uint64 */
pw_ew_fold *pw_ew_fold_float(pw_ew function);
pw_ew_fold *pw_ew_fold_double(pw_ew function, bool precise);
pw_ew_fold *pw_ew_fold_integer(pw_ew function, bool is_unsigned); /* on int64 or uint64; comparisons give bytes */
pw_ew_fold *pw_ew_fold_bool(pw_ew function);

#endif
