/* Any text as a call of `make-graph` ("Softmax-13 axis=1 (float32[2,3])"), as a tensor, as a dim and as an expression
 * of a kernel's description. */
#include "op/cases.h"
#include "op/expr.h"
#include "tensor/dim.h"
#include "tests/fuzz/text_mutate.h"

static bool fuzz_call_lookup(void *user, const char *name, int64_t index, int64_t *value)
{
    static const int64_t values[] = {0, 1, -1, 7, 64, INT64_MAX, INT64_MIN};
    (void)user;
    *value = values[(strlen(name) + (size_t)(index & 7)) % PW_COUNT_OF(values)];
    return index < 4;
}

static void fuzz_call_expression(const char *text)
{
    struct pw_expr *expr = NULL;
    struct pw_buf why = {0};
    struct pw_error err = {0};
    int64_t value;

    if (pw_expr_parse(text, &expr, &err) == PW_OK) {
        (void)pw_expr_eval(expr, fuzz_call_lookup, NULL, &value, &err);
        pw_expr_explain(expr, fuzz_call_lookup, NULL, &why);
    }
    pw_buf_clear(&why);
    pw_expr_destroy(expr);
}

/* What a dim prints to is the dim. */
static void fuzz_call_dim(const char *text)
{
    struct pw_dims *dims = NULL;
    struct pw_buf printed = {0};
    struct pw_error err = {0};
    int64_t value;

    fuzz_check(pw_dims_create(&dims, &err) == PW_OK);
    pw_dim dim = pw_dims_parse(dims, text);
    if (dim != PW_DIM_UNKNOWN) {
        const struct pw_binding bindings[] = {{"a", 3}, {"batch", INT64_MAX}, {"n", 0}};
        pw_dims_print(dims, dim, &printed);
        /* A text that is too long, or whose number is, is taken for a name. */
        if (printed.size < 200 && !strstr(pw_buf_text(&printed), "9223372036854775808"))
            fuzz_check(pw_dims_parse(dims, pw_buf_text(&printed)) == dim);
        (void)pw_dims_eval(dims, dim, bindings, PW_COUNT_OF(bindings), &value);
        (void)pw_dims_substitute(dims, dim, bindings, PW_COUNT_OF(bindings));
    }
    pw_buf_clear(&printed);
    pw_dims_destroy(dims);
}

/* Tensors of megabytes to the machine's memory are made as the user asked; that takes time and finds nothing. */
static bool fuzz_call_is_big(const char *text)
{
    for (const char *open = strchr(text, '['); open; open = strchr(open + 1, '[')) {
        double product = 1;
        for (const char *at = open; (at = strpbrk(at, "0123456789]")) && *at != ']'; at += strspn(at, "0123456789"))
            product *= strtod(at, NULL) + 1;
        if (product > 1e5 && product < 1e19)
            return true;
    }
    return false;
}

static void fuzz_call(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const char *const calls[] = {text};
    struct pw_buf bytes = {0};
    struct pw_value value = {0};
    struct pw_error err = {0};

    if (fuzz_call_is_big(text))
        goto parts;
    if (pw_case_model(calls, 1, &bytes, &err) == PW_OK)
        fuzz_check(bytes.size > 0);
    pw_error_clear(&err);
    if (pw_tensor_parse(text, &value, &err) == PW_OK)
        pw_value_clear(&value);
parts:
    fuzz_call_expression(text);
    fuzz_call_dim(text);
    pw_buf_clear(&bytes);
    pw_free(text);
}

static void fuzz_call_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"Softmax-13",
                                        "MatMul-13",
                                        "com.microsoft:Gelu-1",
                                        "If-16",
                                        "Reshape-14",
                                        "axis=-1",
                                        "perm=[1,0]",
                                        "mode='nearest'",
                                        "values=[1.0,2.0]",
                                        "value=<float32[2] 1 2>",
                                        "float32[2,3]",
                                        "=int64[2] 1 2",
                                        "int8[0]",
                                        "float32[]",
                                        "bool[2] 1 0",
                                        "string[1] 'a\\n'",
                                        "complex64[1]",
                                        "uint4[3] 1 2 3",
                                        "float8e4m3fn[2]",
                                        "iota",
                                        "uniform 7",
                                        "absent",
                                        "seq(float32)",
                                        "seq(float32[1] 1; float32[2] 2)",
                                        "-> 3",
                                        "- ",
                                        "nan",
                                        "-inf",
                                        "float32[9223372036854775807]",
                                        "float32[65536,65536,65536]",
                                        "floor(",
                                        "max(",
                                        "min(",
                                        "a*b",
                                        "n",
                                        "batch",
                                        "mod(",
                                        "ceildiv(",
                                        "roundup(",
                                        "pow2(",
                                        "abs(",
                                        "&&",
                                        "||",
                                        "?",
                                        "x[i]",
                                        "==",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_call, fuzz_call_mutate);
