/* Printing and parsing case ids. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verify/case_id.h"
#include "verify/verify_internal.h"

int pw_case_dtype_input(const struct pw_call *call)
{
    int first = -1;

    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (!call->in[i] || !formal || (formal->flags & PW_FORMAL_PARAM))
            continue;
        if (pw_dtype_is_float(call->in[i]->dtype))
            return i;
        if (first < 0)
            first = i;
    }
    return first;
}

pw_dtype pw_case_dtype(const struct pw_signature *signature, const struct pw_case_spec *spec)
{
    const struct pw_call *call = signature->call;
    int input = call->op ? pw_case_dtype_input(call) : -1;

    if (spec->dtype != PW_DTYPE_UNDEFINED)
        return spec->dtype;
    if (input >= 0)
        return call->in[input]->dtype;
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && call->out[i].dtype != PW_DTYPE_UNDEFINED)
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

const struct pw_case_change *pw_case_change_of(const struct pw_case_spec *spec, pw_change_kind kind, int input)
{
    for (int i = 0; i < spec->change_count; i++)
        if (spec->changes[i].kind == kind && spec->changes[i].input == input)
            return &spec->changes[i];
    return NULL;
}

bool pw_case_change_set(struct pw_case_spec *spec, const struct pw_case_change *change)
{
    bool attribute = change->kind == PW_CHANGE_INT || change->kind == PW_CHANGE_INTS;

    for (int i = 0; i < spec->change_count; i++) {
        struct pw_case_change *old = &spec->changes[i];

        if (old->kind == change->kind && (attribute ? !strcmp(old->name, change->name) : old->input == change->input)) {
            *old = *change;
            return true;
        }
    }
    if (spec->change_count == PW_CASE_CHANGES_MAX)
        return false;
    spec->changes[spec->change_count++] = *change;
    return true;
}

/* ---- printing ---- */

static void print_change(struct pw_buf *out, const struct pw_case_change *change)
{
    const char *between = change->kind == PW_CHANGE_SHAPE ? "x" : ".";

    if (change->kind == PW_CHANGE_SHAPE || change->kind == PW_CHANGE_CONTENT)
        pw_buf_printf(out, "%c%d=", change->kind == PW_CHANGE_SHAPE ? 'i' : 'v', change->input);
    else
        pw_buf_printf(out, "%s=", change->name);
    if (!change->count)
        pw_buf_puts(out, change->kind == PW_CHANGE_SHAPE ? "s" : "e");
    for (int i = 0; i < change->count; i++)
        pw_buf_printf(out, "%s%" PRId64, i ? between : "", change->values[i]);
    if (change->kind == PW_CHANGE_INTS && change->count == 1)
        pw_buf_puts(out, between);
}

bool pw_case_id_print(const struct pw_signature *signature, const struct pw_case_spec *spec, char dst[PW_CASE_ID_MAX])
{
    struct pw_buf text = {0};
    bool fits;

    pw_buf_printf(&text, "3:%s:%s:", signature->id, pw_dtype_facts(pw_case_dtype(signature, spec))->short_name);
    if (!spec->change_count)
        pw_buf_puts(&text, "graph");
    for (int i = 0; i < spec->change_count; i++) {
        pw_buf_puts(&text, i ? "," : "");
        print_change(&text, &spec->changes[i]);
    }
    pw_buf_printf(&text, ":%s%s%s:", pw_dist_name(spec->dist), spec->property[0] ? "/" : "", spec->property);
    if (spec->dist == PW_DIST_CAPTURED)
        pw_buf_puts(&text, spec->captured);
    else
        pw_buf_printf(&text, "%" PRIu64, spec->seed);
    fits = !text.failed && text.size < PW_CASE_ID_MAX;
    snprintf(dst, PW_CASE_ID_MAX, "%s", pw_buf_text(&text));
    pw_buf_clear(&text);
    return fits;
}

/* ---- parsing ---- */

/* Copies up to the next `end` (which is skipped) or the end of the text. */
static bool take(const char **at, char end, char *dst, size_t size)
{
    size_t length = strcspn(*at, (const char[]){end, '\0'});

    if (length >= size)
        return false;
    memcpy(dst, *at, length);
    dst[length] = '\0';
    *at += length + ((*at)[length] == end);
    return true;
}

static bool parse_values(const char *text, char between, struct pw_case_change *change)
{
    while (*text) {
        char number[24];

        if (change->count == PW_CASE_VALUES_MAX || !take(&text, between, number, sizeof number) ||
            !pw_text_int64(number, &change->values[change->count]))
            return false;
        change->count++;
    }
    return true;
}

static bool is_word(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    return text[0] && text[strspn(text, allowed)] == '\0';
}

static bool parse_change(const char *text, struct pw_case_spec *spec)
{
    struct pw_case_change change = {.input = -1};
    const char *equals = strchr(text, '=');
    int64_t input = 0;

    if (!equals || (size_t)(equals - text) >= sizeof change.name)
        return false;
    memcpy(change.name, text, (size_t)(equals - text));
    text = equals + 1;
    if ((change.name[0] == 'i' || change.name[0] == 'v') && pw_text_int64(change.name + 1, &input)) {
        bool shape = change.name[0] == 'i';

        if (input < 0 || input >= PW_OP_MAX_FORMALS)
            return false;
        change.kind = shape ? PW_CHANGE_SHAPE : PW_CHANGE_CONTENT;
        change.input = (int)input;
        change.name[0] = '\0';
        if (strcmp(text, shape ? "s" : "e") != 0 && (!text[0] || !parse_values(text, shape ? 'x' : '.', &change)))
            return false;
        for (int i = 0; i < change.count && shape; i++)
            if (change.values[i] < 0)
                return false;
        return pw_case_change_set(spec, &change);
    }
    change.kind = strchr(text, '.') || !strcmp(text, "e") ? PW_CHANGE_INTS : PW_CHANGE_INT;
    if (!is_word(change.name) || (strcmp(text, "e") != 0 && (!text[0] || !parse_values(text, '.', &change))))
        return false;
    return pw_case_change_set(spec, &change);
}

static bool parse_shapes(const char *text, struct pw_case_spec *spec)
{
    if (!strcmp(text, "graph"))
        return true;
    if (!text[0])
        return false;
    while (*text) {
        char change[PW_CASE_ID_MAX];

        if (!take(&text, ',', change, sizeof change) || !parse_change(change, spec))
            return false;
    }
    return true;
}

static bool is_hex(const char *text, size_t size)
{
    return strlen(text) == size && strspn(text, "0123456789abcdef") == size;
}

static bool parse_seed(const char *text, struct pw_case_spec *spec)
{
    int used = 0;

    if (spec->dist == PW_DIST_CAPTURED) {
        if (!is_hex(text, 16))
            return false;
        memcpy(spec->captured, text, sizeof spec->captured);
        return true;
    }
    return text[0] >= '0' && text[0] <= '9' && sscanf(text, "%" SCNu64 "%n", &spec->seed, &used) == 1 && !text[used] &&
           (used < 20 || (used == 20 && strcmp(text, "18446744073709551615") <= 0));
}

pw_status pw_case_id_parse(const char *id, char signature[17], struct pw_case_spec *spec, struct pw_error *err)
{
    char version[4], dtype[16], shapes[PW_CASE_ID_MAX], dist[2 * PW_CASE_NAME_MAX], seed[32];
    const char *at = id;
    char *slash;

    memset(spec, 0, sizeof *spec);
    if (strlen(id) >= PW_CASE_ID_MAX)
        return pw_error_set(err, PW_ERR_USAGE, "case '%.64s…': expected fewer than %d characters, found %zu", id,
                            PW_CASE_ID_MAX, strlen(id));
    if (!take(&at, ':', version, sizeof version) || strcmp(version, "3") != 0)
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': expected format 3 (3:<signature>:…), found '%.*s'", id,
                            (int)strcspn(id, ":"), id);
    if (!take(&at, ':', signature, 17) || !is_hex(signature, 16) || !take(&at, ':', dtype, sizeof dtype) ||
        !take(&at, ':', shapes, sizeof shapes) || !take(&at, ':', dist, sizeof dist) ||
        !take(&at, ':', seed, sizeof seed) || *at)
        return pw_error_set(err, PW_ERR_USAGE,
                            "case '%s': expected 3:<signature>:<dtype>:<shapes>:<distribution>[/<property>]:<seed>",
                            id);
    spec->dtype = pw_dtype_parse(dtype);
    if (spec->dtype == PW_DTYPE_UNDEFINED && strcmp(dtype, pw_dtype_facts(PW_DTYPE_UNDEFINED)->short_name) != 0)
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': no dtype is named '%s'", id, dtype);
    if (!parse_shapes(shapes, spec))
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': '%s' is neither 'graph' nor changes as i0=2x3,axis=1", id,
                            shapes);
    slash = strchr(dist, '/');
    if (slash) {
        *slash = '\0';
        if (strlen(slash + 1) >= sizeof spec->property || !is_word(slash + 1))
            return pw_error_set(err, PW_ERR_USAGE, "case '%s': no property is named '%s'", id, slash + 1);
        snprintf(spec->property, sizeof spec->property, "%s", slash + 1);
    }
    if (!pw_dist_parse(dist, &spec->dist))
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': no distribution is named '%s'", id, dist);
    if (!parse_seed(seed, spec))
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': '%s' is no %s", id, seed,
                            spec->dist == PW_DIST_CAPTURED ? "hash of captured tensors" : "seed");
    return PW_OK;
}
