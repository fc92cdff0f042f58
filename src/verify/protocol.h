/*
 * The protocol: the agreed numerical rules (portwright.yaml). Defaults hold without a file.
 */
#ifndef PW_VERIFY_PROTOCOL_H
#define PW_VERIFY_PROTOCOL_H

#include "op/op.h"
#include "op/order.h"
#include "target/target.h"

struct pw_yaml;

/* Which calls a rule speaks of; everything that is given must match. */
struct pw_rule_match {
    const char *op;       /* "Softmax", NULL = any */
    const char *category; /* NULL = any */
    pw_dtype dtype;       /* of the first floating output; UNDEFINED = any */
    const char *node;     /* glob over node names, NULL = any */
    size_t line;
};

struct pw_tolerance_rule {
    struct pw_rule_match match;
    double value;
};

struct pw_precision_rule {
    struct pw_rule_match match;
    pw_dtype storage;    /* float32, float16, bfloat16, float64 */
    pw_dtype accumulate; /* UNDEFINED: as the kernel does (float32) */
};

/* Whether the order of an accumulation matters. */
typedef enum {
    PW_ACCUMULATION_FREE,       /* any order, within the tolerance */
    PW_ACCUMULATION_REPEATABLE, /* any order, but two runs give the same bits: else FAIL instead of WARN */
    PW_ACCUMULATION_SEQUENTIAL, /* the bits of a left-to-right sum in the accumulation dtype */
    PW_ACCUMULATION_PAIRWISE,   /* the bits of a balanced binary tree */
    PW_ACCUMULATION_COUNT
} pw_accumulation;
const char *pw_accumulation_name(pw_accumulation accumulation); /* "free", "repeatable", … */

struct pw_bitwise_rule { /* these calls give golden's bits: tolerance 0 after rounding */
    struct pw_rule_match match;
};

struct pw_accumulation_rule {
    struct pw_rule_match match;
    pw_accumulation accumulation;
    const struct pw_yaml *at; /* `order` in the file */
};

struct pw_bitwise {
    bool integers; /* default true: integer and boolean outputs equal golden's */
    bool copies;   /* default true: what only moves data gives the input's bits */
    bool ties;     /* default true: of equal values ArgMax, TopK… take the one that ONNX names */
    bool random;   /* default false: draws equal the reference generator's; else judged by property */
    struct pw_bitwise_rule *rules;
    size_t rule_count;
    struct pw_accumulation_rule *accumulations; /* the last that matches wins */
    size_t accumulation_count;
};

/* What the protocol demands of a call's sums where it demands an order. */
struct pw_order_demand {
    bool demanded;         /* sequential or pairwise, and the operator's reference takes its sums in that order */
    struct pw_order order; /* fused is not set: either way is right, throughout */
    bool bits;             /* all else is rounded correctly on the device, so that the output's bits follow */
    size_t line;
};

/* How a loss is scaled where gradients are kept in a narrow format. Data for the executor of training graphs. */
typedef enum { PW_LOSS_SCALE_NONE, PW_LOSS_SCALE_STATIC, PW_LOSS_SCALE_DYNAMIC } pw_loss_scale_kind;
struct pw_loss_scale {
    pw_loss_scale_kind kind;
    double scale;     /* initial or fixed; default 65536 */
    double growth;    /* dynamic: factor after `interval` steps without overflow; default 2 */
    double backoff;   /* dynamic: factor after an overflow; default 0.5 */
    int64_t interval; /* default 2000 */
};

/* What a check does when the environment is not the one that portwright.lock pins. */
typedef enum { PW_PIN_REFUSE, PW_PIN_WARN, PW_PIN_IGNORE, PW_PIN_COUNT } pw_pin;

struct pw_binding_set {
    struct pw_binding *items;
    size_t count;
    const struct pw_yaml *at; /* in the file; a value's position by its index */
};

struct pw_protocol {
    struct pw_arena arena;
    const char *path;                     /* NULL: defaults */
    struct pw_tolerance_rule *tolerances; /* the last that matches wins */
    size_t tolerance_count;
    double warn_share;               /* WARN above this share of the tolerance; default 0.5 */
    struct pw_binding_set *bindings; /* from `dims:` */
    size_t binding_count;
    const char **host_allowed; /* operators that may fall to the host, beside integer shape arithmetic */
    size_t host_allowed_count;
    struct pw_precision_rule *precisions; /* the last that matches wins */
    size_t precision_count;
    struct pw_loss_scale loss_scale;
    struct pw_bitwise bitwise;
    pw_pin environment;         /* `environment: refuse|warn|ignore`; default refuse */
    const struct pw_yaml *gate; /* `gate:`, read by baseline/gate_settings.h; NULL: none */
};

/* In which dtypes a node's floating tensors are stored and its sums are kept. */
struct pw_precision {
    pw_dtype storage;    /* UNDEFINED: as the graph says */
    pw_dtype accumulate; /* UNDEFINED: as the kernel does */
    size_t line;         /* of the rule that won; 0: none */
};

pw_status pw_protocol_default(struct pw_protocol **out, struct pw_error *err);
/* Every key that the file may have, with where: "" for the file's own, "tolerances" for those of its rules,
 * "bitwise.accumulation"… Those of `gate` are baseline/gate_settings.h's. For documentation and its tests. */
void pw_protocol_keys(void (*visit)(void *user, const char *section, const char *key), void *user);
pw_status pw_protocol_load(const char *path, struct pw_protocol **out, struct pw_error *err);
void pw_protocol_destroy(struct pw_protocol *protocol);

/* Checks what only a graph can tell: every dim of a binding set is a symbol of an input (without bindings applied). */
struct pw_inference;
pw_status pw_protocol_check(const struct pw_protocol *protocol, const struct pw_model *model,
                            const struct pw_inference *inference, struct pw_error *err);

/* Tolerance of one output of a concrete call on a device against plain golden, with the reason (static or in arena). An
 * order of the sums is no part of it: cases are judged by that, against another reference. */
pw_status pw_protocol_tolerance(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, double *tolerance,
                                const char **why, struct pw_error *err);
/* The same with what decided it. */
struct pw_tolerance {
    double value;
    double rounding; /* its part that the last rounding alone takes: no reason to warn. 0 for a rule's tolerance */
    const char *why; /* the derivation, or "portwright.yaml:12"; static or in the arena */
    double beside;   /* what would be allowed without a demand for bits: for properties, whose two sides round apart */
    bool bitwise;    /* golden's bits after rounding to the dtype are wanted */
    bool by_rule;    /* a rule of the protocol won */
    bool ordered;    /* an order of the sums is demanded: pw_protocol_order; `value` is what is left beside it */
    size_t line;     /* its line */
};
pw_status pw_protocol_judgement(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, struct pw_tolerance *out,
                                struct pw_error *err);
/* The mixed-precision rule for a node; all UNDEFINED when none speaks of it. dtype is the graph's for the node. */
void pw_protocol_precision(const struct pw_protocol *protocol, const char *node_name, const struct pw_op *op,
                           pw_dtype dtype, struct pw_precision *out);
pw_accumulation pw_protocol_accumulation(const struct pw_protocol *protocol, const struct pw_call *call,
                                         const char *node_name);
/* info may be NULL: OpenCL's contract. */
void pw_protocol_order(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                       const struct pw_target_info *info, struct pw_order_demand *out);
/* May this call run on the host without failing the gate? */
bool pw_protocol_host_allowed(const struct pw_protocol *protocol, const struct pw_call *call, bool shape_arithmetic);

#endif
