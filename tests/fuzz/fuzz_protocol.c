/* Any bytes as portwright.yaml: reading it, its gate, and what it says of every signature of a graph. */
#include "baseline/gate_settings.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"
#include "verify/protocol.h"

static void fuzz_protocol_judge(const struct pw_protocol *protocol, const struct pw_signature *signature)
{
    const struct pw_call *call = signature->call;
    const char *name = signature->nodes[0]->name;
    struct pw_error err = {0};
    struct pw_arena arena = {0};
    struct pw_tolerance tolerance = {0};
    struct pw_precision precision;
    struct pw_order_demand order;

    if (pw_protocol_judgement(protocol, call, name, NULL, &arena, &tolerance, &err) == PW_OK)
        fuzz_check(tolerance.value >= 0 && tolerance.why != NULL);
    pw_protocol_precision(protocol, name, call->op, signature->dtype, &precision);
    fuzz_check(precision.storage < PW_DTYPE_COUNT && precision.accumulate < PW_DTYPE_COUNT);
    pw_protocol_order(protocol, call, name, NULL, &order);
    (void)pw_protocol_accumulation(protocol, call, name);
    (void)pw_protocol_host_allowed(protocol, call, signature->shape_arithmetic);
    pw_arena_clear(&arena);
}

static void fuzz_protocol(const uint8_t *data, size_t size)
{
    const struct pw_inventory *inventory = sample_inventory();
    struct pw_protocol *protocol = NULL;
    struct pw_gate_options options;
    pw_gate_environment environment;
    struct pw_error err = {0};

    if (pw_protocol_load(fuzz_file(data, size), &protocol, &err) != PW_OK) {
        fuzz_check(!protocol && err.message[0]);
        return;
    }
    (void)pw_gate_settings(protocol, &options, &environment, &err);
    pw_error_clear(&err);
    (void)pw_protocol_check(protocol, inventory->model, inventory->inference, &err);
    for (size_t i = 0; i < inventory->signature_count; i++)
        fuzz_protocol_judge(protocol, &inventory->signatures[i]);
    pw_protocol_destroy(protocol);
}

static void fuzz_protocol_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"op",
                                        "category",
                                        "dtype",
                                        "node",
                                        "reason",
                                        "tolerance",
                                        "storage",
                                        "accumulate",
                                        "order",
                                        "integers",
                                        "copies",
                                        "ties",
                                        "random",
                                        "rules",
                                        "accumulation",
                                        "kind",
                                        "scale",
                                        "growth",
                                        "backoff",
                                        "interval",
                                        "sequential",
                                        "pairwise",
                                        "repeatable",
                                        "any",
                                        "none",
                                        "static",
                                        "dynamic",
                                        "Softmax",
                                        "MatMul",
                                        "ReduceSum",
                                        "ArgMax",
                                        "Add",
                                        "elementwise",
                                        "reduction",
                                        "matrix multiplication",
                                        "normalization",
                                        "float32",
                                        "float16",
                                        "bfloat16",
                                        "float64",
                                        "int64",
                                        "batch",
                                        "refuse",
                                        "warn",
                                        "ignore",
                                        "fail",
                                        "effect",
                                        "alpha",
                                        "error_factor",
                                        "error_share",
                                        "throughput",
                                        "n*",
                                        "[a-z]*",
                                        "- {op: Softmax, tolerance: 1e-6}\n",
                                        "gate: {alpha: 0.01}\n",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_protocol, fuzz_protocol_mutate);
