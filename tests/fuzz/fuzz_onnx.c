/* Any bytes as a model: reading, hashing, shape inference and the inventory must end in a result or an error. External
 * data is looked for in a folder that has the files "w" (64 bytes) and "l", a link that leads out of it. */
#include "graph/infer.h"
#include "graph/inventory.h"
#include "tests/fuzz/wire_mutate.h"

static char fuzz_onnx_dir[64];

static const char *fuzz_onnx_path(const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", fuzz_onnx_dir, name);
    return path;
}

static void fuzz_onnx_remove(void)
{
    static const char *const names[] = {"w", "l", ""};
    for (size_t i = 0; i < PW_COUNT_OF(names); i++)
        (void)remove(fuzz_onnx_path(names[i]));
}

static const char *fuzz_onnx_folder(void)
{
    static const char bytes[64] = {1, 2, 3};
    FILE *file;

    if (!fuzz_onnx_dir[0]) {
        snprintf(fuzz_onnx_dir, sizeof fuzz_onnx_dir, "/tmp/pw-fuzz-XXXXXX");
        fuzz_check(mkdtemp(fuzz_onnx_dir) != NULL && atexit(fuzz_onnx_remove) == 0);
        file = fopen(fuzz_onnx_path("w"), "wb");
        fuzz_check(file != NULL && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
        fuzz_check(symlink("/etc/passwd", fuzz_onnx_path("l")) == 0);
    }
    return fuzz_onnx_dir;
}

static void fuzz_onnx(const uint8_t *data, size_t size)
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
    if (pw_model_parse(data, size, "fuzz", fuzz_onnx_folder(), &model, &err) != PW_OK)
        return;
    (void)pw_model_structure_hash(model);
    (void)pw_model_weights_hash(model);
    if (pw_infer_graph(model, NULL, 0, &inference, &err) == PW_OK &&
        pw_inventory_create(model, inference, &inventory, &err) == PW_OK)
        pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
}

static void fuzz_onnx_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    wire_mutate(draws, data, size, 0, out);
}

FUZZ_HARNESS(fuzz_onnx, fuzz_onnx_mutate);
