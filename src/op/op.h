/*
 * What a room (ops/<family>/) provides for each of its operators.
 *
 * A room's <family>.c exports `const struct pw_op pw_<family>_ops[]`, ended by an entry with
 * name NULL; bootstrap finds it, nothing central is edited. One entry per (domain, name, since):
 * a graph's node gets the entry with the highest `since` not above its opset. All callbacks are
 * pure, reentrant and trust nothing: attributes, dtypes and shapes come from hostile files, so
 * they check and return an error; the driver has already checked counts of inputs and outputs
 * and that required attributes exist with the right type.
 *
 * Life of a call: infer (symbolic or concrete) -> cost, accuracy -> golden/fast on tensors, or
 * bind -> kernel plan (op/kernel.h) on a target.
 */
#ifndef PW_OP_OP_H
#define PW_OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "tensor/dim.h"
#include "tensor/tensor.h"

typedef enum {
    PW_CATEGORY_MATMUL,
    PW_CATEGORY_ATTENTION,
    PW_CATEGORY_NORMALIZATION,
    PW_CATEGORY_ACTIVATION,
    PW_CATEGORY_EMBEDDING,
    PW_CATEGORY_CONVOLUTION,
    PW_CATEGORY_RECURRENT,
    PW_CATEGORY_REDUCTION,
    PW_CATEGORY_LAYOUT,
    PW_CATEGORY_ELEMENTWISE,
    PW_CATEGORY_QUANTIZATION,
    PW_CATEGORY_CONTROL,
    PW_CATEGORY_COLLECTIVE,
    PW_CATEGORY_OTHER, /* strings, sequences, random, training */
    PW_CATEGORY_COUNT
} pw_category;

const char *pw_category_name(pw_category category); /* "matrix multiplication", … */

/* ---- declarations ---- */

struct pw_attr_def {
    const char *name;
    pw_attr_type type;
    bool required;
    int64_t i; /* defaults, by type */
    float f;
    const char *s; /* default string; NULL = none */
};

enum {
    PW_FORMAL_OPTIONAL = 1, /* may be omitted */
    PW_FORMAL_VARIADIC = 2, /* last one; repeats */
    PW_FORMAL_PARAM = 4,    /* small content that the host needs to set up the launch (axes, shape,
                               starts, pads, k): part of the signature, never a kernel argument */
    PW_FORMAL_ANY = 8,      /* takes sequences and absent optionals too; without it the driver has
                               refused everything but tensors before a callback sees the input */
    PW_FORMAL_MIXED = 16    /* variadic: each repetition may have another dtype of its variable */
};

struct pw_formal {
    const char *name; /* as in the ONNX definition; kernels bind arguments by it. Max 31 characters */
    const char *type; /* type variable ("T"); formals of one variable share a dtype (checked before infer);
                         NULL: no tie, as for the variadic values of Loop */
    unsigned flags;
};

#define PW_OP_MAX_FORMALS 24
#define PW_OP_MAX_ATTRS 32

/* ---- inference ---- */

/* What is known of a value before anything runs. */
struct pw_info {
    pw_value_kind kind; /* TENSOR; SEQUENCE (dtype/rank/dims are the items'); NONE: unknown or absent */
    bool optional;      /* may be absent at run time */
    pw_dtype dtype;     /* UNDEFINED: unknown */
    int rank;           /* -1: unknown */
    pw_dim dims[PW_MAX_RANK];
    const struct pw_tensor *constant; /* whole content when known at load (weights too), else NULL */
    const pw_dim *content;            /* integer/bool content, symbolic, row-major; NULL when unknown.
                                         Filled from `constant` by the driver for small integer tensors */
    size_t content_count;
    uint32_t open; /* bit d: dims[d] is only the most that it can be (pw_call_take_most) */
    bool fixed;    /* made from initializers and Constant nodes alone, whatever its size: the same in
                   every run, so it can be packed once. Set by the driver */
};
#define PW_CONTENT_MAX 1024 /* elements of content that are tracked */

struct pw_call {
    const struct pw_op *op;
    const struct pw_node *node; /* attributes, names, subgraphs */
    int input_count;
    const struct pw_info *const *in; /* NULL = omitted */
    int output_count;
    struct pw_info *out; /* infer fills; elsewhere filled. Omitted outputs have wanted[i] false */
    const bool *wanted;
    struct pw_dims *dims;
    struct pw_arena *arena; /* lives as long as the infos: contents go here */
    uint64_t seed;          /* of this evaluation's draws, the same for reference and kernel */
    /* Infers a subgraph (If, Loop, Scan): `args` bind to its formal inputs, results are written
     * to `results` (subgraph output_count). NULL when not available. */
    pw_status (*infer_graph)(struct pw_call *call, const struct pw_graph *graph, const struct pw_info *args,
                             size_t arg_count, struct pw_info *results, struct pw_error *err);
    void *user; /* the driver's */
};

/* A call of an inventory or an inference is read by several threads. Whoever hands it to a room's callbacks, which may
 * allocate and compute with dims, hands them this: the same operands, but memory and dims of its own. The original must
 * outlive it. */
struct pw_call_own {
    struct pw_call call;
    struct pw_arena arena;
    struct pw_dims *dims;
};
pw_status pw_call_own_init(const struct pw_call *call, struct pw_call_own *out, struct pw_error *err);
void pw_call_own_clear(struct pw_call_own *own); /* also one that is all zeros */

/* Attribute of the call with the definition's default; 0, "" or NULL for a name that this version
 * of the operator does not have, so that versions can share callbacks. */
int64_t pw_call_int(const struct pw_call *call, const char *name);
float pw_call_float(const struct pw_call *call, const char *name);
const char *pw_call_string(const struct pw_call *call, const char *name); /* "" when absent without default */
bool pw_call_has(const struct pw_call *call, const char *name);
/* Ints attribute; *count = 0 and NULL when absent. */
const int64_t *pw_call_ints(const struct pw_call *call, const char *name, size_t *count);
const float *pw_call_floats(const struct pw_call *call, const char *name, size_t *count);
const struct pw_tensor *pw_call_tensor(const struct pw_call *call, const char *name); /* or NULL */

/* Are the call's outputs draws? True also where that is not known yet. */
bool pw_call_draws(const struct pw_call *call);
/* Seed of the nth evaluation of a random operator in a run (n from 0): a run on a target and one on the reference,
 * which meet the nodes in the same order, draw the same; the passes of a loop draw differently. */
uint64_t pw_draw_seed(uint64_t run_seed, uint64_t n);

/* Whether an input or a wanted output holds floats. */
bool pw_call_is_floating(const struct pw_call *call);
/* Is input i given (present and not omitted)? */
bool pw_call_input(const struct pw_call *call, int i);

/* Integer content of a PARAM input as plain numbers in the arena. *known = false when it is not
 * known or is symbolic (not an error). */
pw_status pw_call_content(const struct pw_call *call, int input, const int64_t **values, size_t *count, bool *known,
                          struct pw_error *err);

/* Error "graph 'main', node 17 'x' (Op): <text>" as PW_ERR_MODEL. */
pw_status pw_call_error(const struct pw_call *call, struct pw_error *err, const char *format, ...) PW_PRINTF(3, 4);

/* Output helpers. */
void pw_call_output(struct pw_call *call, int i, pw_dtype dtype, int rank, const pw_dim *dims);
void pw_call_output_like(struct pw_call *call, int i, int input);         /* dtype and shape of an input */
void pw_call_output_unknown(struct pw_call *call, int i, pw_dtype dtype); /* rank unknown */

/* Elements of an operand as a dim; unknown when its rank is. */
pw_dim pw_call_elements(const struct pw_call *call, const struct pw_info *info);
/* Concrete dims into `dims`; an error when one is not a number or the whole is too large for strides in 64 bits. */
pw_status pw_call_numbers(const struct pw_call *call, const struct pw_info *info, int64_t *dims, struct pw_error *err);

/* Brings a call whose output sizes the data decides to a target: unknown dims of wanted outputs become the most that
 * they can be and are marked open. Nothing happens where the operator has no `most` or it is not known yet. */
void pw_call_take_most(struct pw_call *call);
/* After the run: `found` is what the kernel wrote. Open dims of the outputs become it. An error where it is more than
 * there is room for: a target is not trusted. */
pw_status pw_call_cut(const struct pw_call *call, int64_t found, struct pw_value *outputs, struct pw_error *err);

/* Normalises an axis in [-rank, rank); an error names it. */
pw_status pw_call_axis(const struct pw_call *call, int64_t axis, int rank, int *out, struct pw_error *err);

/* Broadcast shape of several inputs (numpy rules). An error names both shapes. rank -1 in any
 * gives *rank = -1. */
pw_status pw_call_broadcast(const struct pw_call *call, const int *inputs, int count, int *rank, pw_dim *dims,
                            struct pw_error *err);

/* Ready-made infer callbacks. */
pw_status pw_infer_same(struct pw_call *call, struct pw_error *err);      /* out 0 = shape, dtype of in 0 */
pw_status pw_infer_broadcast(struct pw_call *call, struct pw_error *err); /* dtype of in 0 */
pw_status pw_infer_compare(struct pw_call *call, struct pw_error *err);   /* broadcast, bool */

/* ---- cost ---- */

struct pw_cost {
    pw_dim flops; /* what the algorithm requires: a multiply-add is 2, exp/tanh/sqrt/div… 1 each */
    pw_dim bytes; /* inputs read once + outputs written once; the driver fills it before `cost` is called */
};

pw_status pw_cost_none(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err); /* ready-made: moves */

/* ---- accuracy and sensitivity ---- */

typedef enum { PW_SENSITIVITY_LOW, PW_SENSITIVITY_MEDIUM, PW_SENSITIVITY_HIGH } pw_sensitivity;
const char *pw_sensitivity_name(pw_sensitivity sensitivity); /* "low", "medium", "high" */

struct pw_accuracy {
    bool exact;           /* copies, integers, comparisons: bitwise */
    double ulp;           /* sum of the used functions' OpenCL ULP bounds plus roundings, per element */
    int64_t length;       /* accumulated terms behind one output element; 1 = none */
    double amplification; /* condition factor known from the formula (softmax: range of logits…); 1 = none */
    pw_sensitivity sensitivity;
    const char *reason; /* for sensitivity: "exponential of large arguments", static text */
    const char *why;    /* for the tolerance, static text */
    bool pointwise; /* the error of each output element is relative to that element itself: nothing is summed, nothing
                       cancels, so small elements are judged as strictly as large ones */
    bool constant;  /* no data changes the result: IsInf in a format without infinities */
    const char
        *functions; /* names of struct pw_target_accuracy's fields behind `ulp`, blank-separated ("exp divide"):
                       a device whose contract allows more than OpenCL's table gets the difference; may be NULL */
};

void pw_accuracy_copy(const struct pw_call *call, struct pw_accuracy *accuracy); /* ready-made: bits are copied */

/* ---- evaluation (references) ---- */

typedef enum { PW_EVAL_GOLDEN, PW_EVAL_FAST } pw_eval_mode;

struct pw_eval {
    const struct pw_call *call; /* concrete infos of inputs (constants set for PARAM) */
    pw_eval_mode mode;
    int input_count;
    const struct pw_value *const *in; /* NULL = omitted. Floats are carried: float64 (golden), float32 (fast) */
    int output_count;
    struct pw_value *out;         /* to fill through pw_eval_output */
    const struct pw_order *order; /* of the operator's sums (op/order.h): for `ordered`, else NULL */
    /* Runs a subgraph with captures; outputs are owned by the caller afterwards. */
    pw_status (*run_graph)(struct pw_eval *ev, const struct pw_graph *graph, const struct pw_value *args,
                           size_t arg_count, struct pw_value *results, struct pw_error *err);
    void *user;
};

/* Allocates output i: `nominal` as the model says; the memory dtype is the carrier for the mode.
 * The tensor is ev->out[i].tensor. */
pw_status pw_eval_output(struct pw_eval *ev, int i, pw_dtype nominal, int rank, const int64_t *dims,
                         struct pw_tensor **out, struct pw_error *err);
/* Makes output i a copy of a tensor (carried or nominal), in the carrier of its nominal dtype. */
pw_status pw_eval_output_copy(struct pw_eval *ev, int i, const struct pw_tensor *src, struct pw_error *err);
/* Carrier of a nominal dtype in a mode (float16 -> float64 in golden…). Integers, bool, float64,
 * strings carry themselves. */
pw_dtype pw_eval_carrier(pw_eval_mode mode, pw_dtype nominal);
const struct pw_tensor *pw_eval_in(const struct pw_eval *ev, int i); /* NULL when omitted or not a tensor */
/* Content of a PARAM input as int64 in the call's arena. */
pw_status pw_eval_ints(struct pw_eval *ev, int input, const int64_t **values, size_t *count, struct pw_error *err);

/* ---- inputs of generated cases ---- */

struct pw_fill {               /* how to draw input i; the room changes the defaults it cares about */
    double low, high;          /* domain of sensible values, -inf/inf = any */
    int64_t int_low, int_high; /* integers, both included */
    bool distinct;             /* without repetition along the last axis (TopK, permutations) */
    bool distinct_all;         /* the same over the whole tensor (places to write to) */
    bool positive_definite;    /* reserved */
    bool ascending;
    bool first_high;  /* the first of each row is int_high: a mask that leaves something */
    bool first_index; /* the first of each row is one of the integers, also among floats: regions of a batch entry */
    bool from_end;    /* of distinct indices up to int_high some count from the end: negative */
    bool beyond;      /* what lies outside the range is defined too, however far: also NaN and infinities */
    bool only;        /* nothing outside the range is defined: not NaN, infinities or zeros either */
    bool keep;        /* use the graph's constant content (PARAM inputs: always kept) */
};

/* ---- binding to kernels ---- */

/* Named values that a kernel's expressions and arguments use. Beside what `bind` adds, every formal
 * X gives X_rank, X_size, X_d0…X_d7, has_X, and every int attribute gives its name. */
struct pw_bindings;
pw_status pw_bind_int(struct pw_bindings *b, const char *name, int64_t value, struct pw_error *err);
pw_status pw_bind_float(struct pw_bindings *b, const char *name, double value, struct pw_error *err);
/* An int array: in kernels a `__global const int *`; in expressions name[i]. */
pw_status pw_bind_ints(struct pw_bindings *b, const char *name, const int64_t *values, size_t count,
                       struct pw_error *err);
struct pw_named_int {
    const char *name;
    int64_t value;
};
pw_status pw_bind_numbers(struct pw_bindings *b, const struct pw_named_int *numbers, size_t count,
                          struct pw_error *err);
/* A word for -D and {name} in entries: [A-Za-z0-9_]+ */
pw_status pw_bind_word(struct pw_bindings *b, const char *name, const char *word, struct pw_error *err);

/* ---- the operator ---- */

struct pw_op {
    const char *domain; /* "" = ai.onnx */
    const char *name;
    int since; /* first opset of this definition; 1 for com.microsoft */
    pw_category category;
    const struct pw_attr_def *attrs; /* ended by name NULL; may be NULL */
    const struct pw_formal *inputs;  /* ended by name NULL */
    const struct pw_formal *outputs;
    int min_outputs;        /* 0 = all non-optional */
    const char *host_only;  /* why no target can run it ("data-dependent output size"), or NULL */
    const char *deprecated; /* "use Resize", or NULL */

    pw_status (*infer)(struct pw_call *call, struct pw_error *err);                            /* required */
    pw_status (*cost)(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err); /* NULL: one flop an
                                                                          output element for floats, else 0 */
    void (*accuracy)(const struct pw_call *call, struct pw_accuracy *accuracy); /* NULL: exact for non-floats, ulp 1 */
    pw_status (*golden)(struct pw_eval *ev, struct pw_error *err); /* required unless control flow is special */
    pw_status (*fast)(struct pw_eval *ev, struct pw_error *err);   /* NULL: golden serves, and timing says so */
    /* As golden, with the operator's sums in ev->order, each step rounded to its dtype, as is all that follows; the
     * output in golden's carrier. NULL: there are no sums, or no order of them is computed. Only called where the
     * output is a float; PW_ERR_UNSUPPORTED for a call that it does not compute. */
    pw_status (*ordered)(struct pw_eval *ev, struct pw_error *err);
    const char *ordered_functions; /* names of struct pw_target_accuracy's fields that `ordered` uses beside add and
                                      mul, blank-separated: bits follow only where a device rounds them correctly */
    bool fast_is_blas;             /* fast times OpenBLAS: named so */
    bool (*fast_uses_blas)(const struct pw_call *call); /* where it depends on the call; NULL: fast_is_blas says */
    void (*fill)(const struct pw_call *call, int input, struct pw_fill *fill); /* NULL: defaults */
    pw_status (*bind)(const struct pw_call *call, struct pw_bindings *b,
                      struct pw_error *err); /* NULL: no more names */
    /* Outputs with one dim, the same in all, that only the data decides: the most it can be (UNKNOWN: not known yet).
     * Kernels lay the outputs out densely for what came out and write the dim into `found` (op/kernel.h). */
    pw_dim (*most)(const struct pw_call *call);
    bool random;                               /* outputs are draws: judged by property */
    bool (*draws)(const struct pw_call *call); /* random: does this call draw (Dropout: in training)? NULL: always */
    /* Random: could the outputs be what the call draws from the inputs (carried or nominal)? The error names the
     * property that does not hold: range, moments, mask… NULL: shape and dtype only. */
    pw_status (*property)(const struct pw_call *call, const struct pw_value *const *in, const struct pw_value *out,
                          struct pw_error *err);
    const void *data; /* the room's own: tables shared by callbacks */
};

/* ---- registry ---- */

struct pw_room_case; /* op/cases.h */

struct pw_room {
    const char *name;
    const struct pw_op *ops;
    const struct pw_room_case *cases;
};
extern const struct pw_room pw_rooms[]; /* generated; ended by name NULL */

/* The definition for an opset; NULL when unknown. *known_name (may be NULL) tells whether any version exists. */
const struct pw_op *pw_op_find(const char *domain, const char *name, int opset, bool *known_name);
/* The newest opset of ai.onnx that brought a definition here. */
int pw_op_newest(void);
/* "Softmax-13" (domain prefixed with ':' when not ai.onnx: "com.microsoft:Gelu-1") into dst. */
const char *pw_op_label(const struct pw_op *op, char *dst, size_t dst_size);
const struct pw_room *pw_op_room(const struct pw_op *op);
/* Checks a node's attributes (known, typed, required present) and input/output counts. */
pw_status pw_op_check(const struct pw_op *op, const struct pw_node *node, struct pw_error *err);
/* Checks what is known of a call's inputs before its infer runs: only tensors where the formal has no
 * PW_FORMAL_ANY, one dtype per type variable. Drivers call it; rooms may rely on it. */
pw_status pw_op_check_call(const struct pw_call *call, struct pw_error *err);
/* The formal behind input or output i (a variadic one repeats); NULL when out of range. */
const struct pw_formal *pw_op_formal(const struct pw_formal *formals, size_t i);

#endif
