#include "report/protocol.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/yaml_write.h"
#include "baseline/gate.h"
#include "verify/protocol.h"

enum { EXAMPLES = 6 };

static void put_dims(const struct pw_inventory *inventory, struct pw_buf *out)
{
    bool first = true;

    pw_buf_puts(out, "# Sizes that the symbolic dims are measured with: one line a binding set, each is verified.\n"
                     "# They hold unless --dim says otherwise.\n");
    if (!inventory->input_symbol_count) {
        pw_buf_puts(out, "# (All dims of this graph are fixed.)\n\n");
        return;
    }
    pw_buf_puts(out, "dims:\n  - {");
    for (size_t i = 0; i < inventory->input_symbol_count; i++) {
        pw_buf_puts(out, first ? "" : ", ");
        pw_yaml_put_quoted(out, inventory->assumed[i].symbol);
        pw_buf_printf(out, ": %" PRId64, inventory->assumed[i].value);
        first = false;
    }
    pw_buf_puts(out, "}\n\n");
}

/* The operators of the highest sensitivity, each once, the ones with the largest share first as they come. */
static size_t delicate(const struct pw_inventory *inventory, const struct pw_signature *out[EXAMPLES])
{
    size_t count = 0;

    for (size_t i = 0; i < inventory->signature_count && count < EXAMPLES; i++) {
        const struct pw_signature *s = &inventory->signatures[i];
        bool known = s->sensitivity != PW_SENSITIVITY_HIGH || !s->op || !s->floating;

        for (size_t k = 0; k < count && !known; k++)
            known = s->op == out[k]->op;
        if (!known)
            out[count++] = s;
    }
    return count;
}

static void put_tolerances(const struct pw_inventory *inventory, struct pw_buf *out)
{
    bool seen[PW_CATEGORY_COUNT] = {false};

    pw_buf_puts(
        out,
        "# Tolerances on the relative error (absolute below the output's scale). Without a rule they are derived\n"
        "# from the dtype, the number of terms that are added, and what the device promises of its functions:\n"
        "# portwright verify MODEL --explain prints each with its reason. The last rule that matches wins; a rule\n"
        "# matches by op, category, dtype, node (with * and ?), or several of them. The larger of a rule and of\n"
        "# what the device's contract permits holds.\n"
        "tolerances: []\n");
    for (size_t i = 0; i < inventory->signature_count; i++) {
        const struct pw_signature *s = &inventory->signatures[i];

        if (s->op && s->floating && !seen[s->category]) {
            seen[s->category] = true;
            pw_buf_puts(out, "#  - {category: ");
            pw_yaml_put_quoted(out, pw_category_name(s->category));
            pw_buf_puts(out, ", dtype: float16, tolerance: 1e-3, reason: \"agreed with the model's owners\"}\n");
            break;
        }
    }
    pw_buf_puts(out, "\n# A case that held is a warning above this share of its tolerance.\nwarn_share: 0.5\n\n");
}

static void put_precision(const struct pw_inventory *inventory, struct pw_buf *out)
{
    const struct pw_signature *items[EXAMPLES];
    size_t count = delicate(inventory, items);

    pw_buf_puts(
        out, "# Mixed precision: what is stored in which type, and in which type sums are kept. Executed as casts by\n"
             "# verify and run. portwright run MODEL --precision-sweep measures what each layer costs.\n"
             "precision: []\n"
             "#  - {storage: float16, accumulate: float32}\n");
    for (size_t i = 0; i < count; i++) {
        pw_buf_printf(out, "#  - {op: %s, storage: float32}  # ", items[i]->op->name);
        pw_text_display(out, items[i]->sensitivity_reason, strlen(items[i]->sensitivity_reason), 70, true);
        pw_buf_putc(out, '\n');
    }
    pw_buf_puts(out, "\n# How a loss would be scaled in training: none, static or dynamic.\n"
                     "loss_scaling: {kind: none}\n\n");
}

static void put_bitwise(struct pw_buf *out)
{
    pw_buf_puts(
        out, "# What must be equal bit for bit: integers, copies (Transpose, Gather, ...), which of several equal\n"
             "# maxima is taken, the draws of random operators. rules adds operators; accumulation says whether sums\n"
             "# may be made in any order (free), must repeat (repeatable), or follow one (sequential, pairwise).\n"
             "bitwise:\n"
             "  integers: true\n"
             "  copies: true\n"
             "  ties: true\n"
             "  random: false\n"
             "  rules: []\n"
             "  accumulation: []\n"
             "#    - {op: ReduceSum, order: repeatable}\n\n");
}

static void put_gate(struct pw_buf *out)
{
    struct pw_gate_options gate = pw_gate_options_default();

    pw_buf_puts(out,
                "# Operators that may stay on the host without failing the gate, beside integer shape arithmetic.\n"
                "host_allowed: []\n\n"
                "# What a check does when portwright.lock pins another environment: refuse, warn or ignore.\n"
                "environment: refuse\n\n"
                "# Against a baseline (check --baseline latest): a change of speed needs both this effect and a test\n"
                "# at this level over all signatures; an error is worse above factor x before + share x tolerance.\n"
                "gate:\n");
    pw_buf_puts(out, "  effect: ");
    pw_yaml_put_number(out, gate.stats.effect, 6);
    pw_buf_puts(out, "\n  alpha: ");
    pw_yaml_put_number(out, gate.stats.alpha, 6);
    pw_buf_puts(out, "\n  error_factor: ");
    pw_yaml_put_number(out, gate.error_factor, 6);
    pw_buf_puts(out, "\n  error_share: ");
    pw_yaml_put_number(out, gate.error_share, 6);
    pw_buf_puts(out, "\n  coverage: true\n  precision: true\n  throughput: true\n");
}

void pw_report_protocol(const struct pw_inventory *inventory, const char *model_path, struct pw_buf *out)
{
    const char *slash = strrchr(model_path, '/');

    pw_buf_puts(out, "# The numerical rules agreed for ");
    pw_text_display(out, slash ? slash + 1 : model_path, strlen(slash ? slash + 1 : model_path), 80, true);
    pw_buf_puts(out,
                ". Everything here is as it is without this file; change what was agreed\n"
                "# otherwise. portwright(1), PROTOCOL FILE, explains every key; an error names file, line and key.\n"
                "format: 1\n\n");
    put_dims(inventory, out);
    put_tolerances(inventory, out);
    put_precision(inventory, out);
    put_bitwise(out);
    put_gate(out);
}
