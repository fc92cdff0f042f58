#include "graph/assume.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

#define ASSUMED_BATCH 1

static bool is_batch(const char *symbol)
{
    static const char *const exact[] = {"n", "b", "bs", "bsz", "nbatch"};
    char lower[64];
    size_t size = 0;

    for (; symbol[size] != '\0' && size + 1 < sizeof lower; size++)
        lower[size] = (char)tolower((unsigned char)symbol[size]);
    lower[size] = '\0';
    for (size_t i = 0; i < PW_COUNT_OF(exact); i++) {
        if (strcmp(lower, exact[i]) == 0)
            return true;
    }
    return strstr(lower, "batch") != NULL || pw_text_ends(symbol, ".0"); /* "input.0": the first dim */
}

int64_t pw_assume_size(const char *symbol, int64_t size)
{
    return is_batch(symbol) ? ASSUMED_BATCH : size;
}

static void take(struct pw_binding *bindings, size_t given, size_t count, int64_t size)
{
    for (size_t i = given; i < count; i++)
        bindings[i].value = pw_assume_size(bindings[i].name, size);
}

/* Networks of images halve a side five times or more and add what they scale up again: sizes that this does not divide
 * fail there. */
pw_status pw_assume_infer(const struct pw_model *model, struct pw_binding *bindings, size_t given, size_t count,
                          struct pw_inference **out, struct pw_error *err)
{
    static const int64_t sizes[] = {PW_ASSUMED_SIZE, 32, 64, 128, 224, 256};
    struct pw_error failure = {0};

    for (size_t s = 0; s < PW_COUNT_OF(sizes); s++) {
        struct pw_error why = {0};
        pw_status status;

        take(bindings, given, count, sizes[s]);
        status = pw_infer_graph(model, bindings, count, out, &why);
        if (status == PW_OK)
            return PW_OK;
        if (s == 0 || status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED)
            failure = why;
        if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED)
            break;
    }
    take(bindings, given, count, sizes[0]);
    return pw_error_set(err, failure.status, "%s", failure.message);
}
