/* String operators: definitions and inference. */
#include "text.h"

#include <string.h>

struct pw_bytes pw_text_attr(const struct pw_call *call, const char *name)
{
    const struct pw_attr *attr = pw_node_attr(call->node, name);
    struct pw_bytes none = {"", 0};

    return attr != NULL && attr->type == PW_ATTR_STRING && attr->s.data != NULL ? attr->s : none;
}

static pw_status expect_strings(const struct pw_call *call, int i, struct pw_error *err)
{
    pw_dtype dtype = call->in[i]->dtype;

    if (dtype != PW_DTYPE_UNDEFINED && dtype != PW_DTYPE_STRING)
        return pw_call_error(call, err, "input %d must be string, found %s", i, pw_dtype_name(dtype));
    return PW_OK;
}

/* ---- inference ---- */

static pw_status normalize_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    const char *action = pw_call_string(call, "case_change_action");
    int64_t sensitive = pw_call_int(call, "is_case_sensitive");
    pw_dim dims[2];
    pw_status status = expect_strings(call, 0, err);

    if (status != PW_OK)
        return status;
    if (strcmp(action, "NONE") != 0 && strcmp(action, "LOWER") != 0 && strcmp(action, "UPPER") != 0)
        return pw_call_error(call, err, "attribute 'case_change_action' must be NONE, LOWER or UPPER");
    if (sensitive != 0 && sensitive != 1)
        return pw_call_error(call, err, "attribute 'is_case_sensitive' must be 0 or 1, found %lld",
                             (long long)sensitive);
    if (in->rank < 0) {
        pw_call_output_unknown(call, 0, PW_DTYPE_STRING);
        return PW_OK;
    }
    if (in->rank < 1 || in->rank > 2 || (in->rank == 2 && in->dims[0] >= 0 && in->dims[0] != 1))
        return pw_call_error(call, err, "expected [C] or [1,C], found rank %d", in->rank);
    dims[0] = 1;
    dims[in->rank - 1] = pw_dims_fresh(call->dims, "words");
    pw_call_output(call, 0, PW_DTYPE_STRING, in->rank, dims);
    return PW_OK;
}

static pw_status concat_infer(struct pw_call *call, struct pw_error *err)
{
    pw_status status = expect_strings(call, 0, err);

    if (status == PW_OK)
        status = expect_strings(call, 1, err);
    return status == PW_OK ? pw_infer_broadcast(call, err) : status;
}

static pw_status split_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    pw_status status = expect_strings(call, 0, err);

    if (status != PW_OK)
        return status;
    if (in->rank == PW_MAX_RANK)
        return pw_call_error(call, err, "the result would have rank %d; at most %d is supported", in->rank + 1,
                             PW_MAX_RANK);
    if (in->rank < 0) {
        pw_call_output_unknown(call, 0, PW_DTYPE_STRING);
        pw_call_output_unknown(call, 1, PW_DTYPE_INT64);
        return PW_OK;
    }
    memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
    dims[in->rank] = pw_dims_fresh(call->dims, "pieces");
    pw_call_output(call, 0, PW_DTYPE_STRING, in->rank + 1, dims);
    pw_call_output(call, 1, PW_DTYPE_INT64, in->rank, dims);
    return PW_OK;
}

static pw_status match_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_bytes pattern = pw_text_attr(call, "pattern");
    struct pw_regex *regex = NULL;
    pw_status status = expect_strings(call, 0, err);

    if (status == PW_OK && !pw_call_has(call, "pattern"))
        return pw_call_error(call, err, "attribute 'pattern' is missing");
    if (status == PW_OK)
        status = pw_regex_compile(pattern.data, pattern.size, &regex, err);
    pw_regex_destroy(regex);
    if (status == PW_OK)
        pw_call_output(call, 0, PW_DTYPE_BOOL, call->in[0]->rank, call->in[0]->dims);
    return status;
}

/* ---- definitions ---- */

static void exact_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    (void)call;
    *accuracy = (struct pw_accuracy){
        .exact = true,
        .length = 1,
        .amplification = 1.0,
        .sensitivity = PW_SENSITIVITY_LOW,
        .reason = "works on bytes",
        .why = "strings and counts are exact",
    };
}

static const struct pw_attr_def normalize_attrs[] = {
    {.name = "case_change_action", .type = PW_ATTR_STRING, .s = "NONE"},
    {.name = "is_case_sensitive", .type = PW_ATTR_INT},
    {.name = "locale", .type = PW_ATTR_STRING},
    {.name = "stopwords", .type = PW_ATTR_STRINGS},
    {0},
};
static const struct pw_attr_def split_attrs[] = {
    {.name = "delimiter", .type = PW_ATTR_STRING},
    {.name = "maxsplit", .type = PW_ATTR_INT, .i = -1},
    {0},
};
static const struct pw_attr_def match_attrs[] = {{.name = "pattern", .type = PW_ATTR_STRING}, {0}};
static const struct pw_attr_def tfidf_attrs[] = {
    {.name = "max_gram_length", .type = PW_ATTR_INT, .required = true},
    {.name = "max_skip_count", .type = PW_ATTR_INT, .required = true},
    {.name = "min_gram_length", .type = PW_ATTR_INT, .required = true},
    {.name = "mode", .type = PW_ATTR_STRING, .required = true},
    {.name = "ngram_counts", .type = PW_ATTR_INTS, .required = true},
    {.name = "ngram_indexes", .type = PW_ATTR_INTS, .required = true},
    {.name = "pool_int64s", .type = PW_ATTR_INTS},
    {.name = "pool_strings", .type = PW_ATTR_STRINGS},
    {.name = "weights", .type = PW_ATTR_FLOATS},
    {0},
};
static const struct pw_formal one_input[] = {{"X", "T", 0}, {0}};
static const struct pw_formal two_inputs[] = {{"X", "T", 0}, {"Y", "T", 0}, {0}};
static const struct pw_formal one_output[] = {{"Y", "T1", 0}, {0}};
static const struct pw_formal concat_output[] = {{"Z", "T", 0}, {0}};
static const struct pw_formal split_outputs[] = {{"Y", "T", 0}, {"Z", "T2", 0}, {0}};

#define TEXT(op, version, table, in, outs, infer_fn, run_fn)                                                           \
    {                                                                                                                  \
        .domain = "", .name = op, .since = version, .category = PW_CATEGORY_OTHER, .attrs = table, .inputs = in,       \
        .outputs = outs, .host_only = "strings live on the host: a target has numbers only", .infer = infer_fn,        \
        .cost = pw_cost_none, .accuracy = exact_accuracy, .golden = run_fn                                             \
    }

const struct pw_op pw_text_ops[] = {
    TEXT("StringNormalizer", 10, normalize_attrs, one_input, one_output, normalize_infer, pw_text_normalize_run),
    TEXT("StringConcat", 20, NULL, two_inputs, concat_output, concat_infer, pw_text_concat_run),
    TEXT("StringSplit", 20, split_attrs, one_input, split_outputs, split_infer, pw_text_split_run),
    TEXT("RegexFullMatch", 20, match_attrs, one_input, one_output, match_infer, pw_text_match_run),
    {.domain = "",
     .name = "TfIdfVectorizer",
     .since = 9,
     .category = PW_CATEGORY_OTHER,
     .attrs = tfidf_attrs,
     .inputs = one_input,
     .outputs = one_output,
     .infer = pw_tfidf_infer,
     .cost = pw_cost_none,
     .accuracy = exact_accuracy,
     .golden = pw_tfidf_run,
     .fill = pw_tfidf_fill,
     .bind = pw_tfidf_bind},
    {0},
};
