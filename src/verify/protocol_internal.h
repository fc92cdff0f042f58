/* Shared by the files that read portwright.yaml (protocol.c, protocol_rules.c). */
#ifndef PW_VERIFY_PROTOCOL_INTERNAL_H
#define PW_VERIFY_PROTOCOL_INTERNAL_H

#include "base/yaml.h"
#include "verify/protocol.h"

/* The keys op, category, dtype and node of a rule; keys: all that the rule may have, ended by NULL. */
pw_status pw_protocol_read_match(const struct pw_yaml *item, const char *const *keys, struct pw_rule_match *match,
                                 struct pw_error *err);
/* protocol_rules.c: `precision`, `bitwise` and `loss_scaling`. */
pw_status pw_protocol_read_precision(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err);
pw_status pw_protocol_read_bitwise(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err);
pw_status pw_protocol_read_loss_scaling(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err);

#endif
