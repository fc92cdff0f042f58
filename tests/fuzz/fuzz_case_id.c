/* Any text as a case id (`--case`): what is read prints to an id that reads back the same, and makes a call of any
 * signature or a reason why not. */
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"
#include "verify/verify_internal.h"

static void fuzz_case_id_make(const struct pw_signature *signature, const struct pw_case_spec *spec)
{
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call = {0};
    struct pw_buf why = {0};
    struct pw_error err = {0};

    fuzz_check(pw_dims_create(&dims, &err) == PW_OK);
    if (pw_case_call(signature, spec, dims, &arena, &call, &why, &err) == PW_OK && !why.size) {
        /* Big ones are inferred, not drawn: a case of gigabytes is asked for, not an accident. */
        double elements = 0;
        for (int i = 0; i < call.input_count + call.output_count; i++) {
            const struct pw_info *info = i < call.input_count ? call.in[i] : &call.out[i - call.input_count];
            double count = 1;
            for (int d = 0; info && d < info->rank; d++)
                count *= info->dims[d] < 0 ? 1e9 : (double)info->dims[d];
            elements += info ? count : 0;
        }
        struct pw_case_inputs inputs = {0};
        pw_buf_clear(&why);
        if (elements < 10000 && pw_case_draw(signature, spec, NULL, &inputs, &why, &err) == PW_OK)
            fuzz_check(why.size || inputs.count > 0);
        pw_case_inputs_clear(&inputs);
    }
    pw_buf_clear(&why);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
}

static void fuzz_case_id(const uint8_t *data, size_t size)
{
    const struct pw_inventory *inventory = sample_inventory();
    char *text = fuzz_text(data, size), id[17], again[17], printed[PW_CASE_ID_MAX], twice[PW_CASE_ID_MAX];
    struct pw_case_spec spec, second;
    struct pw_error err = {0};

    if (pw_case_id_parse(text, id, &spec, &err) == PW_OK) {
        fuzz_check(strlen(id) == 16);
        for (size_t i = 0; i < inventory->signature_count; i++) {
            struct pw_signature signature = inventory->signatures[i];
            memcpy(signature.id, id, sizeof id);
            if (i == 0 && pw_case_id_print(&signature, &spec, printed)) {
                fuzz_check(pw_case_id_parse(printed, again, &second, &err) == PW_OK && !strcmp(id, again));
                fuzz_check(pw_case_id_print(&signature, &second, twice) && !strcmp(printed, twice));
            }
            fuzz_case_id_make(&inventory->signatures[i], &spec);
        }
    } else {
        fuzz_check(err.message[0]);
    }
    pw_free(text);
}

static void fuzz_case_id_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"graph",
                                        "uniform",
                                        "normal",
                                        "exact",
                                        "wide",
                                        "cancel",
                                        "special",
                                        "masked",
                                        "captured",
                                        "f32",
                                        "f16",
                                        "bf16",
                                        "i64",
                                        "float32",
                                        "i0=2x3",
                                        "i0=s",
                                        "i1=0",
                                        "i0=1x1x1x1",
                                        "v1=1.2",
                                        "v1=e",
                                        "v1=-1.",
                                        "axis=-1",
                                        "axis=0.",
                                        "perm=1.0",
                                        "to=1",
                                        "kernel_shape=1.1",
                                        "keepdims=0",
                                        "i25=3",
                                        "v3=9223372036854775807",
                                        "/rows_sum",
                                        "0123456789abcdef",
                                        ",",
                                        "x",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_case_id, fuzz_case_id_mutate);
