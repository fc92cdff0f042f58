/* The liar as a target: memory of its own, no kernels, a library that has every operator. */
#include "base/mem.h"
#include "tensor/blas.h"
#include "tests/liar/liar.h"
#include "tests/plugin/host.h"

/* "fault=NAME,strength=X,seed=N" */
static bool configure(struct liar_chip *chip, const char *spec, char *message, size_t message_size)
{
    char word[128];

    for (const char *at = spec; *at;) {
        size_t size = strcspn(at, ",");
        const char *value;

        if (size >= sizeof word)
            return fail(message, message_size, "a word too long") == 0;
        memcpy(word, at, size);
        word[size] = '\0';
        at += size + (at[size] == ',');
        value = strchr(word, '=');
        if (pw_text_starts(word, "fault="))
            chip->fault = liar_fault_find(word + 6);
        else if (pw_text_starts(word, "strength="))
            chip->strength = strtod(word + 9, NULL);
        else if (pw_text_starts(word, "seed="))
            chip->seed = strtoull(word + 5, NULL, 10);
        else
            value = NULL;
        if (!value || (pw_text_starts(word, "fault=") && !chip->fault)) {
            snprintf(message, message_size, "liar: '%s' is no fault=NAME, strength=X or seed=N", word);
            return false;
        }
    }
    if (chip->strength <= 0)
        chip->strength = chip->fault ? chip->fault->least : 1;
    return true;
}

static int liar_open(const char *spec, void **device, char *message, size_t message_size)
{
    struct liar_chip *chip = pw_calloc(1, sizeof *chip);

    if (!chip)
        return fail(message, message_size, "no memory");
    if (!configure(chip, spec, message, message_size)) {
        pw_free(chip);
        return -1;
    }
    pw_blas_threads(1);
    *device = chip;
    return 0;
}

static void liar_close(void *device)
{
    struct liar_chip *chip = device;

    for (int i = 0; i < LIAR_MEMORY; i++)
        pw_free(chip->memory[i].answer);
    pw_free(chip);
}

static int liar_describe(void *device, struct pw_target_info *info, char *message, size_t message_size)
{
    (void)device;
    (void)message;
    (void)message_size;
    *info = liar_info;
    return 0;
}

static int liar_launch(void *device, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    (void)device;
    (void)launch;
    return fail(message, message_size, "the liar has a library only");
}

static int liar_supports(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    (void)device;
    if (call->input_count >= PW_CASE_MAX_INPUTS || call->output_count >= PW_CASE_MAX_OUTPUTS)
        return snprintf(why, why_size, "more inputs or outputs than the liar has pins") < 0;
    return 1;
}

/* ---- one call ---- */

static void write_outputs(const struct liar_run *run, const struct pw_target_library_call *call)
{
    for (int i = 0; i < run->output_count; i++) {
        const struct pw_tensor *t = &run->out[i];
        struct memory *memory = call->outputs[i].buffer;
        size_t bytes = pw_tensor_bytes(t), element = pw_dtype_bytes(t->dtype);

        if (!memory || !run->call.wanted[i])
            continue;
        if (i == run->main && run->unwritten_from < t->count)
            bytes = (size_t)run->unwritten_from * element;
        if (run->wrote[i] && bytes > 0)
            memcpy(memory->data, t->data, bytes < memory->size ? bytes : memory->size);
        if (i == run->main && run->overrun)
            memset((char *)memory->data + pw_tensor_bytes(t), 0x5a, element); /* the allocation has room for it */
        if (i == run->main && run->alias && call->input_count > 0)
            for (size_t k = 0; k < call->input_count; k++) {
                struct memory *input = call->inputs[k].buffer;

                if (input && input->size > 0)
                    *(char *)input->data = (char)~*(char *)input->data;
            }
    }
}

static int liar_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    const void *inputs[PW_CASE_MAX_INPUTS] = {NULL};
    struct liar_chip *chip = device;
    struct liar_run *run = pw_calloc(1, sizeof *run);
    struct pw_error err = {0};
    pw_status status;

    if (!run || call->input_count > PW_CASE_MAX_INPUTS) {
        pw_free(run);
        return fail(message, message_size, "no memory, or too many inputs");
    }
    chip->calls++;
    for (size_t i = 0; i < call->input_count; i++)
        inputs[i] = call->inputs[i].buffer ? ((const struct memory *)call->inputs[i].buffer)->data : NULL;
    status = liar_run_begin(run, chip, call, inputs, &err);
    if (status == PW_OK)
        status = liar_run_compute(run, &err);
    if (status == PW_OK)
        write_outputs(run, call);
    if (status == PW_OK && call->found)
        *call->found = run->found;
    else
        snprintf(message, message_size, "%s", err.message);
    liar_run_clear(run);
    pw_free(run);
    return status == PW_OK ? 0 : -1;
}

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = liar_open,
        .close = liar_close,
        .describe = liar_describe,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = host_download,
        .launch = liar_launch,
        .sync = host_sync,
        .supports_library = liar_supports,
        .library_op = liar_library_op,
        .library_name = "liar library",
    };
    return &target;
}
