/* portwright make-graph: writes a decoder graph in ONNX, of any size. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "graph/decoder.h"
#include "op/cases.h"

struct texts { /* what was given; NULL = not */
    const char *layers, *width, *heads, *kv_heads, *vocabulary, *hidden, *positions, *opset, *nodes;
    const char *norm, *activation, *dtype, *external;
    const char *kv_cache, *no_kv_cache, *rotary, *mask;
};

static pw_status parse_number(const char *option, const char *text, int64_t *out, struct pw_error *err)
{
    char safe[128];

    if (!text || pw_text_int64(text, out))
        return PW_OK;
    return pw_error_set(err, PW_ERR_USAGE, "--%s: expected a whole number, found '%s'", option,
                        pw_text_show(safe, sizeof safe, text, 40));
}

static pw_status parse_numbers(const struct texts *given, struct pw_decoder *d, struct pw_error *err)
{
    int64_t opset = d->opset;
    const struct {
        const char *option, *text;
        int64_t *out;
    } numbers[] = {
        {"layers", given->layers, &d->layers},
        {"width", given->width, &d->width},
        {"heads", given->heads, &d->heads},
        {"kv-heads", given->kv_heads, &d->kv_heads},
        {"hidden", given->hidden, &d->hidden},
        {"vocabulary", given->vocabulary, &d->vocabulary},
        {"positions", given->positions, &d->positions},
        {"opset", given->opset, &opset},
        {"nodes", given->nodes, &d->nodes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        pw_status status = parse_number(numbers[i].option, numbers[i].text, numbers[i].out, err);
        if (status != PW_OK)
            return status;
    }
    if (given->kv_heads && d->kv_heads < 1)
        return pw_error_set(err, PW_ERR_USAGE, "--kv-heads is %" PRId64 ", expected at least 1", d->kv_heads);
    if (given->hidden && d->hidden < 1)
        return pw_error_set(err, PW_ERR_USAGE, "--hidden is %" PRId64 ", expected at least 1", d->hidden);
    d->opset = opset < -1000 ? -1000 : opset > 1000 ? 1000 : (int)opset;
    return PW_OK;
}

/* Index of a word in a list ended by NULL. */
static pw_status parse_word(const char *option, const char *text, const char *const *words, int *out,
                            struct pw_error *err)
{
    struct pw_buf list = {0};
    char safe[128];

    for (int i = 0; text && words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            text = NULL;
        }
    }
    if (!text)
        return PW_OK;
    for (int i = 0; words[i]; i++)
        pw_buf_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    pw_error_set(err, PW_ERR_USAGE, "--%s: expected one of %s, found '%s'", option, pw_buf_text(&list),
                 pw_text_show(safe, sizeof safe, text, 40));
    pw_buf_clear(&list);
    return PW_ERR_USAGE;
}

static pw_status parse_words(const struct texts *given, struct pw_decoder *d, struct pw_error *err)
{
    static const char *const norms[] = {"layernorm", "rmsnorm", NULL};
    static const char *const activations[] = {"gelu", "gelu-tanh", "swiglu", NULL};
    static const char *const dtypes[] = {"float32", "float16", "bfloat16", NULL};
    static const pw_dtype dtype_of[] = {PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT16, PW_DTYPE_BFLOAT16};
    int norm = (int)d->norm, activation = (int)d->activation, dtype = 0;
    pw_status status = parse_word("norm", given->norm, norms, &norm, err);

    if (status == PW_OK)
        status = parse_word("activation", given->activation, activations, &activation, err);
    if (status == PW_OK)
        status = parse_word("dtype", given->dtype, dtypes, &dtype, err);
    if (status != PW_OK)
        return status;
    if (given->kv_cache && given->no_kv_cache)
        return pw_error_set(err, PW_ERR_USAGE, "--kv-cache and --no-kv-cache contradict each other");
    if (given->rotary && given->positions)
        return pw_error_set(err, PW_ERR_USAGE, "--rotary has no position table: --positions has no meaning with it");
    d->norm = (pw_decoder_norm)norm;
    d->activation = (pw_decoder_activation)activation;
    d->dtype = dtype_of[dtype];
    d->kv_cache = !given->no_kv_cache;
    d->rotary = given->rotary != NULL;
    d->mask = given->mask != NULL;
    return PW_OK;
}

/* The reader accepts external data in the model's folder only, so that is where it goes. */
static pw_status check_external(const char *external, const char *output, struct pw_error *err)
{
    const char *base = strrchr(output, '/');
    char safe[128];

    if (!external)
        return PW_OK;
    pw_text_show(safe, sizeof safe, external, 60);
    if (external[0] == '\0' || strchr(external, '/') || strcmp(external, ".") == 0 || strcmp(external, "..") == 0)
        return pw_error_set(err, PW_ERR_USAGE,
                            "--external-data: expected a file name without a folder (it lies beside the model), "
                            "found '%s'",
                            safe);
    if (strcmp(external, base ? base + 1 : output) == 0)
        return pw_error_set(err, PW_ERR_USAGE, "--external-data '%s' is the model's own file", safe);
    return PW_OK;
}

static void report(const struct pw_options *options, const char *external)
{
    struct stat facts;
    char size[64], safe[512];

    if (options->quiet || stat(options->output, &facts) != 0)
        return;
    pw_text_bytes(size, sizeof size, (double)facts.st_size);
    printf("wrote %s (%s)", pw_text_show(safe, sizeof safe, options->output, 0), size);
    if (external)
        printf(", weights in %s beside it", pw_text_show(safe, sizeof safe, external, 0));
    putchar('\n');
}

/* A graph of single operators, each given as "Softmax-13 axis=1 (float32[2,3])". */
static pw_status write_calls(const struct pw_options *options, struct pw_error *err)
{
    struct pw_buf bytes = {0};
    pw_status status = pw_case_model((const char *const *)options->args, (size_t)options->arg_count, &bytes, err);

    if (status == PW_OK)
        status = pw_file_write(options->output, bytes.data, bytes.size, err);
    pw_buf_clear(&bytes);
    return status;
}

int pw_cmd_make_graph(int argc, char **argv)
{
    struct texts given = {0};
    const struct pw_option_own own[] = {
        {"layers", "N", "decoder layers (2)", &given.layers},
        {"width", "N", "width of the residual stream (64)", &given.width},
        {"heads", "N", "attention heads (4)", &given.heads},
        {"kv-heads", "N", "key-value heads, fewer for grouped attention (as many as heads)", &given.kv_heads},
        {"vocabulary", "N", "tokens (256)", &given.vocabulary},
        {"hidden", "N", "width of the feed-forward part (4 x width; 8/3 for swiglu)", &given.hidden},
        {"positions", "N", "rows of the position table (128)", &given.positions},
        {"opset", "N", "11 to 21 (17)", &given.opset},
        {"norm", "KIND", "layernorm or rmsnorm", &given.norm},
        {"activation", "KIND", "gelu, gelu-tanh or swiglu", &given.activation},
        {"dtype", "TYPE", "float32, float16 or bfloat16", &given.dtype},
        {"kv-cache", NULL, "past keys and values as inputs and outputs (default)", &given.kv_cache},
        {"no-kv-cache", NULL, "without them", &given.no_kv_cache},
        {"rotary", NULL, "rotary embedding instead of a position table", &given.rotary},
        {"mask", NULL, "an attention_mask input", &given.mask},
        {"external-data", "FILE", "weights into a file of that name beside the model", &given.external},
        {"nodes", "N", "pad with a chain of small operators up to N nodes", &given.nodes},
        {NULL, NULL, NULL, NULL},
    };
    const struct pw_command_usage usage = {
        "make-graph", "[CALL...] -o FILE",
        "Writes a decoder graph, or one of the calls given, in ONNX. A call: \"Softmax-13 axis=1 (float32[2,3])\".",
        "output seed quiet", own};
    struct pw_options options;
    struct pw_decoder decoder;
    struct pw_error err = {0};
    pw_status status;
    int code = -1;

    pw_options_parse(argc, argv, &usage, &options, &code);
    if (code >= 0)
        goto done;
    pw_decoder_defaults(&decoder);
    decoder.seed = options.seed;
    if (options.arg_count > 0 && options.output) {
        status = write_calls(&options, &err);
        code = status == PW_OK ? PW_EXIT_HELD : pw_options_fail(&err);
        goto done;
    }
    if (!options.output)
        status = pw_error_set(&err, PW_ERR_USAGE, "make-graph: expected -o FILE");
    else
        status = parse_numbers(&given, &decoder, &err);
    if (status == PW_OK)
        status = parse_words(&given, &decoder, &err);
    if (status == PW_OK)
        status = check_external(given.external, options.output, &err);
    if (status == PW_OK)
        status = pw_decoder_check(&decoder, &err);
    if (status == PW_OK)
        status = pw_decoder_write(&decoder, options.output, given.external, &err);
    code = status == PW_OK ? PW_EXIT_HELD : pw_options_fail(&err);
    if (status == PW_OK)
        report(&options, given.external);
done:
    pw_options_clear(&options);
    return code;
}
