#include "op/expr.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

/* Expressions come from files of strangers: text, nesting and program size are bounded, so that
 * neither the parser's recursion nor the evaluator's stack can run away. */
enum { TEXT_MAX = 4096, NESTING_MAX = 128, CODE_MAX = 4096, STACK_MAX = 256, NAMES_MAX = 256 };

enum opcode {
    OP_CONST,
    OP_NAME,  /* push name[-1] */
    OP_INDEX, /* pop index, push name[index] */
    OP_NEG,
    OP_NOT,
    OP_BOOL, /* any nonzero becomes 1 */
    OP_ABS,
    OP_POW2,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_MIN,
    OP_MAX,
    OP_CEILDIV,
    OP_ROUNDUP,
    OP_JUMP,
    OP_JUMP_ZERO,    /* pops */
    OP_KEEP_IF_ZERO, /* jumps with the value kept when it is 0, else pops it */
    OP_KEEP_IF_NONZERO
};

struct instruction {
    enum opcode op;
    uint32_t column; /* 1-based, of the operator or name */
    int64_t value;   /* constant, name index or jump target */
};

struct pw_expr {
    char *text;
    struct instruction *code;
    size_t code_count, code_cap;
    char **names;
    size_t name_count, name_cap;
};

struct parser {
    struct pw_expr *expr;
    const char *at;
    int depth; /* values on the evaluator's stack after the code so far */
    int nesting;
    pw_status status;
    struct pw_error *err;
};

static void fail(struct parser *p, const char *what)
{
    char found[64];
    size_t n = 0;

    if (p->status != PW_OK)
        return;
    while (p->at[n] && !isspace((unsigned char)p->at[n]) && n < 16)
        n++;
    if (n == 0 || !*p->at)
        snprintf(found, sizeof found, "the end");
    else
        snprintf(found, sizeof found, "'%.*s'", (int)n, p->at);
    p->status = pw_error_set(p->err, PW_ERR_FORMAT, "expression '%s', column %zu: %s, found %s", p->expr->text,
                             (size_t)(p->at - p->expr->text) + 1, what, found);
}

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static size_t emit(struct parser *p, enum opcode op, int64_t value, size_t column, int effect)
{
    struct pw_expr *e = p->expr;

    if (p->status != PW_OK)
        return 0;
    if (e->code_count >= CODE_MAX) {
        fail(p, "the expression is too long");
        return 0;
    }
    p->status = PW_GROW(e->code, e->code_cap, e->code_count + 1, p->err);
    if (p->status != PW_OK)
        return 0;
    p->depth += effect;
    if (p->depth > STACK_MAX) {
        fail(p, "the expression is nested too deeply");
        return 0;
    }
    e->code[e->code_count] = (struct instruction){op, (uint32_t)column, value};
    return e->code_count++;
}

static size_t column_of(const struct parser *p)
{
    return (size_t)(p->at - p->expr->text) + 1;
}

/* Takes the token when it is next; longer operators with the same start are left alone. */
static bool take(struct parser *p, const char *token)
{
    size_t n = strlen(token);

    skip(p);
    if (strncmp(p->at, token, n) != 0)
        return false;
    if (n == 1 && strchr("<>!=", token[0]) && p->at[1] == '=')
        return false;
    p->at += n;
    return true;
}

static void expect(struct parser *p, const char *token)
{
    char what[32];

    if (p->status != PW_OK || take(p, token))
        return;
    snprintf(what, sizeof what, "expected '%s'", token);
    fail(p, what);
}

static int64_t intern(struct parser *p, const char *name, size_t size)
{
    struct pw_expr *e = p->expr;

    for (size_t i = 0; i < e->name_count; i++) {
        if (strlen(e->names[i]) == size && memcmp(e->names[i], name, size) == 0)
            return (int64_t)i;
    }
    if (e->name_count == NAMES_MAX) {
        fail(p, "too many names");
        return 0;
    }
    p->status = PW_GROW(e->names, e->name_cap, e->name_count + 1, p->err);
    if (p->status != PW_OK)
        return 0;
    e->names[e->name_count] = pw_strndup(name, size);
    if (!e->names[e->name_count]) {
        p->status = pw_error_memory(p->err, size);
        return 0;
    }
    return (int64_t)e->name_count++;
}

static void parse_choice(struct parser *p);

static void parse_number(struct parser *p)
{
    size_t column = column_of(p);
    const char *start = p->at;
    int64_t value = 0;

    while (isdigit((unsigned char)*p->at)) {
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(*p->at - '0'), &value)) {
            p->at = start;
            fail(p, "the number does not fit 64 bits");
            return;
        }
        p->at++;
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == '.') {
        fail(p, "expected an operator (only integers are known)");
        return;
    }
    emit(p, OP_CONST, value, column, 1);
}

static const struct function {
    const char *name;
    int arguments;
    enum opcode op;
} functions[] = {
    {"min", 2, OP_MIN},         {"max", 2, OP_MAX},   {"ceildiv", 2, OP_CEILDIV},
    {"roundup", 2, OP_ROUNDUP}, {"pow2", 1, OP_POW2}, {"abs", 1, OP_ABS},
};

static void parse_function(struct parser *p, const struct function *f, size_t column)
{
    for (int i = 0; i < f->arguments; i++) {
        if (i > 0)
            expect(p, ",");
        parse_choice(p);
    }
    expect(p, ")");
    emit(p, f->op, 0, column, 1 - f->arguments);
}

static void parse_name(struct parser *p)
{
    size_t column = column_of(p);
    const char *start = p->at;
    size_t size;
    int64_t name;

    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size = (size_t)(p->at - start);
    skip(p);
    if (*p->at == '(') {
        const char *known[PW_COUNT_OF(functions)];
        char word[32], what[96];
        const char *near;

        snprintf(word, sizeof word, "%.*s", (int)(size < 31 ? size : 31), start);
        for (size_t i = 0; i < PW_COUNT_OF(functions); i++) {
            known[i] = functions[i].name;
            if (strcmp(functions[i].name, word) == 0) {
                p->at++;
                parse_function(p, &functions[i], column);
                return;
            }
        }
        near = pw_text_nearest(word, known, PW_COUNT_OF(known));
        p->at = start;
        snprintf(what, sizeof what, "unknown function '%s'%s%s%s", word, near ? ", did you mean '" : "",
                 near ? near : "", near ? "'" : "");
        fail(p, what);
        return;
    }
    name = intern(p, start, size);
    if (*p->at == '[') {
        p->at++;
        parse_choice(p);
        expect(p, "]");
        emit(p, OP_INDEX, name, column, 0);
        return;
    }
    emit(p, OP_NAME, name, column, 1);
}

static void parse_unary(struct parser *p)
{
    size_t column;

    if (p->status != PW_OK)
        return;
    skip(p);
    if (++p->nesting > NESTING_MAX) {
        fail(p, "the expression is nested too deeply");
        return;
    }
    column = column_of(p);
    if (take(p, "-")) {
        parse_unary(p);
        emit(p, OP_NEG, 0, column, 0);
    } else if (take(p, "!")) {
        parse_unary(p);
        emit(p, OP_NOT, 0, column, 0);
    } else if (take(p, "(")) {
        parse_choice(p);
        expect(p, ")");
    } else if (isdigit((unsigned char)*p->at)) {
        parse_number(p);
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        parse_name(p);
    } else {
        fail(p, "expected a value");
    }
    p->nesting--;
}

/* Binary operators that evaluate both sides, by level; tighter levels later. */
static const struct binary {
    const char *token;
    enum opcode op;
    int level;
} binaries[] = {
    {"==", OP_EQ, 0}, {"!=", OP_NE, 0}, {"<=", OP_LE, 1}, {">=", OP_GE, 1}, {"<", OP_LT, 1},  {">", OP_GT, 1},
    {"+", OP_ADD, 2}, {"-", OP_SUB, 2}, {"*", OP_MUL, 3}, {"/", OP_DIV, 3}, {"%", OP_MOD, 3},
};
enum { BINARY_LEVELS = 4 };

static void parse_binary(struct parser *p, int level)
{
    if (level == BINARY_LEVELS) {
        parse_unary(p);
        return;
    }
    parse_binary(p, level + 1);
    while (p->status == PW_OK) {
        const struct binary *found = NULL;
        size_t column;

        skip(p);
        column = column_of(p);
        for (size_t i = 0; i < PW_COUNT_OF(binaries) && !found; i++) {
            if (binaries[i].level == level && take(p, binaries[i].token))
                found = &binaries[i];
        }
        if (!found)
            return;
        parse_binary(p, level + 1);
        emit(p, found->op, 0, column, -1);
    }
}

static void patch(struct parser *p, size_t at)
{
    if (p->status == PW_OK)
        p->expr->code[at].value = (int64_t)p->expr->code_count;
}

static void parse_and(struct parser *p)
{
    parse_binary(p, 0);
    for (;;) {
        size_t column, jump;

        skip(p);
        column = column_of(p);
        if (p->status != PW_OK || !take(p, "&&"))
            return;
        jump = emit(p, OP_KEEP_IF_ZERO, 0, column, -1);
        parse_binary(p, 0);
        emit(p, OP_BOOL, 0, column, 0);
        patch(p, jump);
    }
}

static void parse_or(struct parser *p)
{
    parse_and(p);
    for (;;) {
        size_t column, jump;

        skip(p);
        column = column_of(p);
        if (p->status != PW_OK || !take(p, "||"))
            return;
        jump = emit(p, OP_KEEP_IF_NONZERO, 0, column, -1);
        parse_and(p);
        emit(p, OP_BOOL, 0, column, 0);
        patch(p, jump);
    }
}

static void parse_choice(struct parser *p)
{
    size_t otherwise, end, column;

    if (p->status != PW_OK)
        return;
    if (++p->nesting > NESTING_MAX) {
        fail(p, "the expression is nested too deeply");
        return;
    }
    parse_or(p);
    skip(p);
    column = column_of(p);
    if (take(p, "?")) {
        otherwise = emit(p, OP_JUMP_ZERO, 0, column, -1);
        parse_choice(p);
        expect(p, ":");
        end = emit(p, OP_JUMP, 0, column, -1); /* only one of the two branches leaves its value */
        patch(p, otherwise);
        parse_choice(p);
        patch(p, end);
    }
    p->nesting--;
}

/* Kernels have thousands of expressions, most of them one name: what was grown ahead is given back. */
static void trim(struct pw_expr *expr)
{
    struct instruction *code = pw_reallocarray(expr->code, expr->code_count, sizeof *code);
    char **names = expr->name_count ? pw_reallocarray(expr->names, expr->name_count, sizeof *names) : NULL;

    if (code) {
        expr->code = code;
        expr->code_cap = expr->code_count;
    }
    if (names) {
        expr->names = names;
        expr->name_cap = expr->name_count;
    }
}

pw_status pw_expr_parse(const char *text, struct pw_expr **out, struct pw_error *err)
{
    struct pw_expr *expr = NULL;
    struct parser p = {.status = PW_OK, .err = err};

    if (strlen(text) > TEXT_MAX)
        return pw_error_set(err, PW_ERR_FORMAT, "an expression of %zu bytes; at most %d are read", strlen(text),
                            TEXT_MAX);
    expr = pw_calloc(1, sizeof *expr);
    if (!expr)
        return pw_error_memory(err, sizeof *expr);
    expr->text = pw_strdup(text);
    if (!expr->text) {
        p.status = pw_error_memory(err, strlen(text));
        goto done;
    }
    p.expr = expr;
    p.at = expr->text;
    parse_choice(&p);
    skip(&p);
    if (p.status == PW_OK && *p.at)
        fail(&p, "expected an operator");
    if (p.status != PW_OK)
        goto done;
    trim(expr);
    *out = expr;
    expr = NULL;
done:
    pw_expr_destroy(expr);
    return p.status;
}

void pw_expr_destroy(struct pw_expr *expr)
{
    if (!expr)
        return;
    for (size_t i = 0; i < expr->name_count; i++)
        pw_free(expr->names[i]);
    pw_free(expr->names);
    pw_free(expr->code);
    pw_free(expr->text);
    pw_free(expr);
}

const char *pw_expr_text(const struct pw_expr *expr)
{
    return expr->text;
}

/* ---- evaluation ---- */

enum outcome { FINE, OVERFLOWED, BY_ZERO };

static bool floor_div(int64_t a, int64_t b, int64_t *out)
{
    if (a == INT64_MIN && b == -1)
        return false;
    *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

static enum outcome ceil_div(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return BY_ZERO;
    if (a == INT64_MIN && b == -1)
        return OVERFLOWED;
    *out = a / b + (a % b != 0 && (a < 0) == (b < 0));
    return FINE;
}

static enum outcome apply_unary(enum opcode op, int64_t a, int64_t *out)
{
    switch (op) {
    case OP_NEG:
        return __builtin_sub_overflow((int64_t)0, a, out) ? OVERFLOWED : FINE;
    case OP_ABS:
        if (a == INT64_MIN)
            return OVERFLOWED;
        *out = a < 0 ? -a : a;
        return FINE;
    case OP_POW2:
        if (a > (int64_t)1 << 62)
            return OVERFLOWED;
        *out = 1;
        while (*out < a)
            *out *= 2;
        return FINE;
    case OP_NOT:
        *out = !a;
        return FINE;
    default:
        *out = a != 0;
        return FINE;
    }
}

static enum outcome apply_binary(enum opcode op, int64_t a, int64_t b, int64_t *out)
{
    int64_t blocks = 0;
    enum outcome outcome;

    switch (op) {
    case OP_ADD:
        return __builtin_add_overflow(a, b, out) ? OVERFLOWED : FINE;
    case OP_SUB:
        return __builtin_sub_overflow(a, b, out) ? OVERFLOWED : FINE;
    case OP_MUL:
        return __builtin_mul_overflow(a, b, out) ? OVERFLOWED : FINE;
    case OP_DIV:
        if (b == 0)
            return BY_ZERO;
        return floor_div(a, b, out) ? FINE : OVERFLOWED;
    case OP_MOD:
        if (b == 0)
            return BY_ZERO;
        *out = b == -1 ? 0 : a % b;
        if (*out != 0 && (*out < 0) != (b < 0))
            *out += b;
        return FINE;
    case OP_CEILDIV:
        return ceil_div(a, b, out);
    case OP_ROUNDUP:
        outcome = ceil_div(a, b, &blocks);
        if (outcome != FINE)
            return outcome;
        return __builtin_mul_overflow(blocks, b, out) ? OVERFLOWED : FINE;
    case OP_MIN:
        *out = a < b ? a : b;
        return FINE;
    case OP_MAX:
        *out = a > b ? a : b;
        return FINE;
    case OP_LT:
        *out = a < b;
        return FINE;
    case OP_LE:
        *out = a <= b;
        return FINE;
    case OP_GT:
        *out = a > b;
        return FINE;
    case OP_GE:
        *out = a >= b;
        return FINE;
    case OP_EQ:
        *out = a == b;
        return FINE;
    default:
        *out = a != b;
        return FINE;
    }
}

static pw_status eval_error(const struct pw_expr *expr, const struct instruction *in, pw_status status,
                            struct pw_error *err, const char *what)
{
    return pw_error_set(err, status, "expression '%s', column %u: %s", expr->text, in->column, what);
}

static pw_status load(const struct pw_expr *expr, const struct instruction *in, int64_t index, pw_expr_lookup *lookup,
                      void *user, int64_t *out, struct pw_error *err)
{
    const char *name = expr->names[in->value];

    if (in->op == OP_INDEX && index < 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "expression '%s', column %u: index %lld of '%s' is negative",
                            expr->text, in->column, (long long)index, name);
    if (lookup(user, name, index, out))
        return PW_OK;
    if (in->op == OP_INDEX)
        return pw_error_set(err, PW_ERR_FORMAT, "expression '%s', column %u: there is no '%s[%lld]'", expr->text,
                            in->column, name, (long long)index);
    return pw_error_set(err, PW_ERR_FORMAT, "expression '%s', column %u: unknown name '%s'", expr->text, in->column,
                        name);
}

/* Executes one instruction that is no jump. *top is the number of values on the stack. */
static pw_status step(const struct pw_expr *expr, const struct instruction *in, int64_t *stack, size_t *top,
                      pw_expr_lookup *lookup, void *user, struct pw_error *err)
{
    enum outcome outcome = FINE;

    switch (in->op) {
    case OP_CONST:
        stack[(*top)++] = in->value;
        return PW_OK;
    case OP_NAME:
        return load(expr, in, -1, lookup, user, &stack[(*top)++], err);
    case OP_INDEX:
        return load(expr, in, stack[*top - 1], lookup, user, &stack[*top - 1], err);
    default:
        break;
    }
    if (in->op < OP_ADD) {
        outcome = apply_unary(in->op, stack[*top - 1], &stack[*top - 1]);
    } else {
        (*top)--;
        outcome = apply_binary(in->op, stack[*top - 1], stack[*top], &stack[*top - 1]);
    }
    if (outcome == BY_ZERO)
        return eval_error(expr, in, PW_ERR_UNSUPPORTED, err, "division by zero");
    if (outcome == OVERFLOWED)
        return eval_error(expr, in, PW_ERR_UNSUPPORTED, err, "the result does not fit 64 bits");
    return PW_OK;
}

pw_status pw_expr_eval(const struct pw_expr *expr, pw_expr_lookup *lookup, void *user, int64_t *out,
                       struct pw_error *err)
{
    int64_t stack[STACK_MAX + 1];
    size_t top = 0, pc = 0;

    while (pc < expr->code_count) {
        const struct instruction *in = &expr->code[pc++];
        pw_status status;

        switch (in->op) {
        case OP_JUMP:
            pc = (size_t)in->value;
            continue;
        case OP_JUMP_ZERO:
            if (stack[--top] == 0)
                pc = (size_t)in->value;
            continue;
        case OP_KEEP_IF_ZERO:
        case OP_KEEP_IF_NONZERO:
            if ((stack[top - 1] == 0) == (in->op == OP_KEEP_IF_ZERO)) {
                stack[top - 1] = stack[top - 1] != 0;
                pc = (size_t)in->value;
            } else {
                top--;
            }
            continue;
        default:
            break;
        }
        status = step(expr, in, stack, &top, lookup, user, err);
        if (status != PW_OK)
            return status;
    }
    *out = stack[0];
    return PW_OK;
}

/* ---- names ---- */

struct trace {
    pw_expr_lookup *lookup;
    void *user;
    struct pw_buf *out;
    struct {
        const char *name;
        int64_t index;
    } seen[32];
    size_t count;
};

static bool trace_lookup(void *user, const char *name, int64_t index, int64_t *value)
{
    struct trace *t = user;

    if (!t->lookup(t->user, name, index, value))
        return false;
    for (size_t i = 0; i < t->count; i++) {
        if (t->seen[i].name == name && t->seen[i].index == index)
            return true;
    }
    if (t->count == PW_COUNT_OF(t->seen))
        return true;
    t->seen[t->count].name = name;
    t->seen[t->count].index = index;
    if (t->count++ > 0)
        pw_buf_puts(t->out, ", ");
    if (index < 0)
        pw_buf_printf(t->out, "%s = %lld", name, (long long)*value);
    else
        pw_buf_printf(t->out, "%s[%lld] = %lld", name, (long long)index, (long long)*value);
    return true;
}

void pw_expr_explain(const struct pw_expr *expr, pw_expr_lookup *lookup, void *user, struct pw_buf *out)
{
    struct trace t = {.lookup = lookup, .user = user, .out = out};
    int64_t ignored;

    /* Evaluating again visits exactly the names that decided the outcome, with array indices known. */
    (void)pw_expr_eval(expr, trace_lookup, &t, &ignored, NULL);
}

void pw_expr_names(const struct pw_expr *expr, pw_expr_visit *visit, void *user)
{
    for (size_t i = 0; i < expr->name_count; i++)
        visit(user, expr->names[i]);
}
