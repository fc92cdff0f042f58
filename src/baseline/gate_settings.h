/*
 * What a project sets about the gate, in portwright.yaml:
 *   gate: {effect: 0.05, alpha: 0.01, error_factor: 2, error_share: 0.02,
 *          coverage: true, precision: true, throughput: true, environment: warn}
 * environment: warn (times are not compared, and it is said), fail, or ignore (they are compared all the same).
 */
#ifndef PW_BASELINE_GATE_SETTINGS_H
#define PW_BASELINE_GATE_SETTINGS_H

#include "baseline/gate.h"
#include "verify/protocol.h"

typedef enum { PW_GATE_ENVIRONMENT_WARN, PW_GATE_ENVIRONMENT_FAIL, PW_GATE_ENVIRONMENT_IGNORE } pw_gate_environment;

extern const char *const pw_gate_setting_keys[]; /* of `gate`, ended by NULL */

/* Defaults, then what the protocol says; PW_ERR_FORMAT names file, line and key. */
pw_status pw_gate_settings(const struct pw_protocol *protocol, struct pw_gate_options *options,
                           pw_gate_environment *environment, struct pw_error *err);

#endif
