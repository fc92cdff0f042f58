/*
 * The protocol: the agreed numerical rules (portwright.yaml). Defaults hold without a file.
 */
#ifndef PW_VERIFY_PROTOCOL_H
#define PW_VERIFY_PROTOCOL_H

#include "op/op.h"
#include "target/target.h"

struct pw_tolerance_rule {
    const char *op;       /* "Softmax", NULL = any */
    const char *category; /* NULL = any */
    pw_dtype dtype;       /* UNDEFINED = any */
    const char *node;     /* glob over node names, NULL = any */
    double value;
    size_t line;
};

struct pw_binding_set {
    struct pw_binding *items;
    size_t count;
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
};

pw_status pw_protocol_default(struct pw_protocol **out, struct pw_error *err);
pw_status pw_protocol_load(const char *path, struct pw_protocol **out, struct pw_error *err);
void pw_protocol_destroy(struct pw_protocol *protocol);

/* Tolerance of one output of a concrete call on a device, with the reason (static or in arena). */
pw_status pw_protocol_tolerance(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, double *tolerance,
                                const char **why, struct pw_error *err);
/* May this call run on the host without failing the gate? */
bool pw_protocol_host_allowed(const struct pw_protocol *protocol, const struct pw_call *call, bool shape_arithmetic);

#endif
