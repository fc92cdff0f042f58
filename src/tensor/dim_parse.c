/*
 * Reads dim_param texts: sums, products, floor divisions, mod, min, max, floor(), ceil().
 *   sum     = product (("+" | "-") product)*
 *   product = unary (("*" | "/" | "//" | "%") unary)*
 *   unary   = "-" unary | number | name | name "(" sum ("," sum)? ")" | "(" sum ")"
 * Inside ceil( ) the division rounds up. Anything else is one symbol.
 */
#include <string.h>

#include "tensor/dim_table.h"

#define MAX_TEXT 512
#define MAX_NESTING 32
#define MAX_NAME 256

struct parser {
    struct pw_dims *dims;
    const char *at;
    int nesting;
    bool failed;
};

static pw_dim parse_sum(struct parser *p, bool round_up);

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == ':' || c == '#' || c == '$';
}

static char peek(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
    return *p->at;
}

static bool accept(struct parser *p, char c)
{
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static pw_dim fail(struct parser *p)
{
    p->failed = true;
    return PW_DIM_UNKNOWN;
}

static pw_dim parse_number(struct parser *p)
{
    int64_t value = 0;

    for (; is_digit(*p->at); p->at++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p->at - '0', &value))
            return fail(p);
    }
    return is_name_char(*p->at) ? fail(p) : value; /* "3d" is a name */
}

static pw_dim parse_call(struct parser *p, const char *name)
{
    static const struct {
        const char *name;
        int arguments;
        pw_dim (*make)(struct pw_dims *dims, pw_dim a, pw_dim b);
    } calls[] = {
        {"floor", 1, NULL},
        {"ceil", 1, NULL},
        {"min", 2, pw_dims_min},
        {"Min", 2, pw_dims_min},
        {"max", 2, pw_dims_max},
        {"Max", 2, pw_dims_max},
        {"mod", 2, pw_dims_mod},
        {"Mod", 2, pw_dims_mod},
        {"floordiv", 2, pw_dims_floordiv},
        {"ceildiv", 2, pw_dims_ceildiv},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        pw_dim a, b = 0;

        if (strcmp(calls[i].name, name) != 0)
            continue;
        a = parse_sum(p, strcmp(name, "ceil") == 0);
        if (calls[i].arguments == 2) {
            if (!accept(p, ','))
                return fail(p);
            b = parse_sum(p, false);
        }
        if (p->failed || !accept(p, ')'))
            return fail(p);
        return calls[i].make != NULL ? calls[i].make(p->dims, a, b) : a;
    }
    return fail(p);
}

static pw_dim parse_name(struct parser *p)
{
    char name[MAX_NAME];
    size_t size = 0;

    /* "batch-size" without blanks is a name; "n-1" and "a - b" are differences */
    while (is_name_char(*p->at) || (*p->at == '-' && is_letter(p->at[1]))) {
        if (size + 1 == sizeof name)
            return fail(p);
        name[size++] = *p->at++;
    }
    name[size] = '\0';
    if (*p->at != '(')
        return pw_dims_symbol(p->dims, name);
    p->at++;
    return parse_call(p, name);
}

static pw_dim parse_unary(struct parser *p, bool round_up)
{
    pw_dim out = PW_DIM_UNKNOWN;
    char c = peek(p);

    if (p->failed || ++p->nesting > MAX_NESTING)
        return fail(p);
    if (accept(p, '-')) {
        out = pw_dims_sub(p->dims, 0, parse_unary(p, round_up));
    } else if (accept(p, '(')) {
        out = parse_sum(p, false);
        if (!accept(p, ')'))
            out = fail(p);
    } else if (is_digit(c)) {
        out = parse_number(p);
    } else if (is_letter(c)) {
        out = parse_name(p);
    } else {
        out = fail(p);
    }
    p->nesting--;
    return out;
}

static pw_dim parse_product(struct parser *p, bool round_up)
{
    pw_dim out = parse_unary(p, round_up);

    while (!p->failed) {
        if (accept(p, '*')) {
            out = pw_dims_mul(p->dims, out, parse_unary(p, round_up));
        } else if (accept(p, '/')) {
            pw_dim by;

            if (*p->at == '/')
                p->at++;
            by = parse_unary(p, round_up);
            out = round_up ? pw_dims_ceildiv(p->dims, out, by) : pw_dims_floordiv(p->dims, out, by);
        } else if (accept(p, '%')) {
            out = pw_dims_mod(p->dims, out, parse_unary(p, round_up));
        } else {
            break;
        }
    }
    return out;
}

static pw_dim parse_sum(struct parser *p, bool round_up)
{
    pw_dim out = parse_product(p, round_up);

    while (!p->failed) {
        if (accept(p, '+'))
            out = pw_dims_add(p->dims, out, parse_product(p, round_up));
        else if (accept(p, '-'))
            out = pw_dims_sub(p->dims, out, parse_product(p, round_up));
        else
            break;
    }
    return out;
}

pw_dim pw_dims_parse(struct pw_dims *dims, const char *text)
{
    struct parser p = {.dims = dims, .at = text};
    pw_dim out = PW_DIM_UNKNOWN;

    if (text[0] == '\0' || strcmp(text, "?") == 0)
        return PW_DIM_UNKNOWN;
    if (strnlen(text, MAX_TEXT) < MAX_TEXT)
        out = parse_sum(&p, false);
    else
        p.failed = true;
    if (p.failed || peek(&p) != '\0')
        return pw_dims_symbol(dims, text);
    return out;
}
