#include "baseline/gate_settings.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/yaml.h"

const char *const pw_gate_setting_keys[] = {"effect",    "alpha",      "error_factor", "error_share", "coverage",
                                            "precision", "throughput", "environment",  NULL};

/* low < value <= high */
static pw_status read_number(const struct pw_yaml *map, const char *key, double low, double high, double *out,
                             struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, key);
    double value;
    pw_status status;

    if (!node)
        return PW_OK;
    status = pw_yaml_double(node, &value, err);
    if (status == PW_OK && !(value > low && value <= high))
        status = pw_yaml_error(node, err, "expected a number above %g and up to %g, found '%s'", low, high, node->text);
    if (status == PW_OK)
        *out = value;
    return status;
}

static pw_status read_switch(const struct pw_yaml *map, const char *key, bool *out, struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, key);

    return node ? pw_yaml_bool(node, out, err) : PW_OK;
}

static pw_status read_environment(const struct pw_yaml *map, pw_gate_environment *out, struct pw_error *err)
{
    static const char *const words[] = {"warn", "fail", "ignore"};
    const struct pw_yaml *node = pw_yaml_get(map, "environment");
    const char *text;
    pw_status status;

    if (!node)
        return PW_OK;
    status = pw_yaml_text(node, &text, err);
    for (size_t i = 0; i < PW_COUNT_OF(words) && status == PW_OK; i++)
        if (!strcmp(text, words[i])) {
            *out = (pw_gate_environment)i;
            return PW_OK;
        }
    return status == PW_OK ? pw_yaml_error(node, err, "expected warn, fail or ignore, found '%s'", text) : status;
}

pw_status pw_gate_settings(const struct pw_protocol *protocol, struct pw_gate_options *options,
                           pw_gate_environment *environment, struct pw_error *err)
{
    const struct pw_yaml *gate = protocol->gate;
    pw_status status;

    *options = pw_gate_options_default();
    *environment = PW_GATE_ENVIRONMENT_WARN;
    if (!gate)
        return PW_OK;
    if (gate->kind != PW_YAML_MAP)
        return pw_yaml_error(gate, err, "expected a map");
    status = pw_yaml_only(gate, pw_gate_setting_keys, err);
    if (status == PW_OK)
        status = read_number(gate, "effect", 0, 10, &options->stats.effect, err);
    if (status == PW_OK)
        status = read_number(gate, "alpha", 0, 0.5, &options->stats.alpha, err);
    if (status == PW_OK)
        status = read_number(gate, "error_factor", 0.99, 1e6, &options->error_factor, err);
    if (status == PW_OK)
        status = read_number(gate, "error_share", -1e-9, 1, &options->error_share, err);
    if (status == PW_OK)
        status = read_switch(gate, "coverage", &options->coverage, err);
    if (status == PW_OK)
        status = read_switch(gate, "precision", &options->precision, err);
    if (status == PW_OK)
        status = read_switch(gate, "throughput", &options->throughput, err);
    if (status == PW_OK)
        status = read_environment(gate, environment, err);
    if (options->stats.margin > options->stats.effect / 2)
        options->stats.margin = options->stats.effect / 2; /* the test asks for less than the effect */
    return status;
}
