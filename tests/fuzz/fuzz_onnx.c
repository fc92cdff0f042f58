/* Any bytes as a model: reading, hashing, shape inference and the inventory must end in a result or an error.
 * tests/unit/test_fuzz_replay.c includes this file to run the corpus in `make check`. */
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "graph/infer.h"
#include "graph/inventory.h"
#include "tests/fuzz/wire_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pw_type tensor = {.kind = PW_TYPE_TENSOR, .dtype = PW_DTYPE_FLOAT32};
    static const struct pw_type sequence = {.kind = PW_TYPE_SEQUENCE, .element = &tensor};
    static const struct pw_type optional = {.kind = PW_TYPE_OPTIONAL, .element = &sequence};
    static const struct pw_type *const types[] = {&tensor, &sequence, &optional};
    struct pw_error err = {0};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_value value = {0};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (pw_onnx_parse_value(data, size, types[i], &value, &err) == PW_OK)
            pw_value_clear(&value);
        pw_error_clear(&err);
    }
    if (pw_model_parse(data, size, "fuzz", NULL, &model, &err) != PW_OK)
        return 0;
    (void)pw_model_structure_hash(model);
    (void)pw_model_weights_hash(model);
    if (pw_infer_graph(model, NULL, 0, &inference, &err) == PW_OK &&
        pw_inventory_create(model, inference, &inventory, &err) == PW_OK)
        pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    return 0;
}

#if defined(PW_FUZZING) &&                                                                                             \
    !defined(PW_FUZZ_REPLAY) /* libFuzzer is linked: one mutation in eight is its own, the others keep the form */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct wire_draws draws = {seed, 0};
    struct pw_buf out = {0};

    if (wire_draw(&draws, 0, 7) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    wire_mutate(&draws, data, size, 0, &out);
    if (!out.failed && out.size > 0 && out.size <= max_size) {
        memcpy(data, out.data, out.size);
        size = out.size;
    }
    pw_buf_clear(&out);
    return size;
}
#endif
