/* A small graph of several operators for harnesses that need one: made once, never changed. */
#ifndef PW_TESTS_FUZZ_SAMPLE_H
#define PW_TESTS_FUZZ_SAMPLE_H

#include "graph/infer.h"
#include "graph/inventory.h"
#include "op/cases.h"
#include "tests/fuzz/fuzz.h"

static struct pw_buf sample_bytes; /* of the model; texts of it point into them */

static inline const struct pw_inventory *sample_inventory(void)
{
    static const char *const calls[] = {"Softmax-13 axis=-1 (float32[2,8])",
                                        "MatMul-13 (float32[4,6], float32[6,8])",
                                        "Add-14 (float32[4,6], float32[6])",
                                        "Gather-13 axis=0 (float32[5,3], =int64[2] 0 4)",
                                        "Conv-11 kernel_shape=[3,3] (float32[1,2,5,5], float32[3,2,3,3])",
                                        "ReduceSum-13 keepdims=1 (float32[3,4], =int64[1] 1)",
                                        "ArgMax-13 axis=1 (float32[3,4])",
                                        "Cast-13 to=10 (float32[7])",
                                        "Slice-13 (float32[6,4], =int64[1] 1, =int64[1] 5, =int64[1] 0, =int64[1] 2)",
                                        "Transpose-13 perm=[1,0] (float32[3,4])",
                                        "Concat-13 axis=0 (float32[2,3], float32[1,3])",
                                        "LayerNormalization-17 axis=-1 (float32[2,6], float32[6], float32[6])"};
    static struct pw_model *model;
    static struct pw_inference *inference;
    static struct pw_inventory *inventory;
    struct pw_error err = {0};

    if (inventory)
        return inventory;
    if (pw_case_model(calls, PW_COUNT_OF(calls), &sample_bytes, &err) != PW_OK ||
        pw_model_parse(sample_bytes.data, sample_bytes.size, "sample", NULL, &model, &err) != PW_OK ||
        pw_infer_graph(model, NULL, 0, &inference, &err) != PW_OK ||
        pw_inventory_create(model, inference, &inventory, &err) != PW_OK)
        fprintf(stderr, "%s\n", err.message);
    fuzz_check(inventory != NULL && inventory->signature_count == PW_COUNT_OF(calls));
    return inventory;
}

#endif
