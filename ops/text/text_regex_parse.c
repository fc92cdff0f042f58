/* RE2 syntax to a tree. */
#include <string.h>

#include "base/mem.h"
#include "text_regex.h"

#define MAX_CODE 0x10ffffu

struct parser {
    const char *pattern;
    size_t size, at;
    struct pw_regex_tree *tree;
    int nesting;
    bool fold, dot_newline, multiline, literal; /* (?i) (?s) (?m), \Q…\E */
    struct pw_error *err;
};

static pw_status parse_choice(struct parser *p, size_t *out);

static pw_status fail(struct parser *p, const char *what)
{
    return pw_error_set(p->err, PW_ERR_UNSUPPORTED, "regular expression, byte %zu: %s", p->at, what);
}

static bool at_end(const struct parser *p)
{
    return p->at >= p->size;
}

static bool looking_at(const struct parser *p, const char *text)
{
    size_t size = strlen(text);

    return p->size - p->at >= size && memcmp(p->pattern + p->at, text, size) == 0;
}

static bool accept(struct parser *p, const char *text)
{
    bool here = looking_at(p, text);

    if (here)
        p->at += strlen(text);
    return here;
}

/* ---- tree ---- */

static pw_status add_node(struct parser *p, pw_regex_kind kind, size_t *out)
{
    struct pw_regex_tree *tree = p->tree;
    pw_status status = PW_GROW(tree->nodes, tree->node_cap, tree->node_count + 1, p->err);

    if (status != PW_OK)
        return status;
    tree->nodes[tree->node_count] = (struct pw_regex_node){kind, PW_REGEX_NONE, PW_REGEX_NONE, 0, 0, 0, 0};
    *out = tree->node_count++;
    return PW_OK;
}

static pw_status add_range(struct parser *p, uint32_t low, uint32_t high)
{
    struct pw_regex_tree *tree = p->tree;
    pw_status status = PW_GROW(tree->ranges, tree->range_cap, tree->range_count + 1, p->err);

    if (status == PW_OK)
        tree->ranges[tree->range_count++] = (struct pw_regex_range){low, high};
    return status;
}

/* A set of the ranges from `first` on, as a node. */
static pw_status add_set(struct parser *p, size_t first, bool negated, size_t *out)
{
    struct pw_regex_tree *tree = p->tree;
    pw_status status = PW_GROW(tree->sets, tree->set_cap, tree->set_count + 1, p->err);

    if (status != PW_OK)
        return status;
    tree->sets[tree->set_count] = (struct pw_regex_set){first, tree->range_count - first, negated, p->fold};
    status = add_node(p, PW_REGEX_SET, out);
    if (status == PW_OK)
        tree->nodes[*out].set = tree->set_count++;
    return status;
}

static pw_status add_code(struct parser *p, uint32_t code, size_t *out)
{
    size_t first = p->tree->range_count;
    pw_status status = add_range(p, code, code);

    return status == PW_OK ? add_set(p, first, false, out) : status;
}

static pw_status add_assert(struct parser *p, pw_regex_assertion assertion, size_t *out)
{
    pw_status status = add_node(p, PW_REGEX_ASSERT, out);

    if (status == PW_OK)
        p->tree->nodes[*out].assertion = assertion;
    return status;
}

/* ---- classes ---- */

struct named_class {
    const char *name;
    struct pw_regex_range ranges[4]; /* ends at {0, 0}, but for the first */
    size_t count;
};

static const struct named_class perl_classes[] = {
    {"d", {{'0', '9'}}, 1},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
};
static const struct named_class posix_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
    {"ascii", {{0, 127}}, 1},
    {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
    {"cntrl", {{0, 31}, {127, 127}}, 2},
    {"digit", {{'0', '9'}}, 1},
    {"graph", {{'!', '~'}}, 1},
    {"lower", {{'a', 'z'}}, 1},
    {"print", {{' ', '~'}}, 1},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
    {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {"upper", {{'A', 'Z'}}, 1},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};

/* Adds a class, or what is outside of it (its ranges are sorted). */
static pw_status add_class(struct parser *p, const struct named_class *class, bool negated)
{
    uint32_t next = 0;
    pw_status status = PW_OK;

    for (size_t i = 0; i < class->count && status == PW_OK; i++) {
        if (!negated)
            status = add_range(p, class->ranges[i].low, class->ranges[i].high);
        else if (class->ranges[i].low > next)
            status = add_range(p, next, class->ranges[i].low - 1);
        next = class->ranges[i].high + 1;
    }
    if (negated && status == PW_OK)
        status = add_range(p, next, MAX_CODE);
    return status;
}

/* \d and the like at p->at (after the backslash). */
static const struct named_class *perl_class(struct parser *p, bool *negated)
{
    for (size_t i = 0; i < sizeof perl_classes / sizeof perl_classes[0] && !at_end(p); i++) {
        char lower = perl_classes[i].name[0], c = p->pattern[p->at];

        if (c == lower || c == lower - 32) {
            *negated = c != lower;
            p->at++;
            return &perl_classes[i];
        }
    }
    return NULL;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static pw_status parse_hex(struct parser *p, uint32_t *code)
{
    bool braces = accept(p, "{");
    int digits = 0;

    *code = 0;
    while (!at_end(p) && hex_value(p->pattern[p->at]) >= 0 && digits < (braces ? 6 : 2)) {
        *code = *code * 16 + (uint32_t)hex_value(p->pattern[p->at++]);
        digits++;
    }
    if (digits == 0 || (!braces && digits != 2) || (braces && !accept(p, "}")) || *code > MAX_CODE)
        return fail(p, "bad \\x escape");
    return PW_OK;
}

/* An escape that stands for one code point; p->at is after the backslash. */
static pw_status parse_escape(struct parser *p, uint32_t *code)
{
    static const char letters[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
    const char *known;
    char c;

    if (at_end(p))
        return fail(p, "trailing backslash");
    c = p->pattern[p->at++];
    known = c != '\0' ? strchr(letters, c) : NULL;
    if (known != NULL) {
        *code = (unsigned char)codes[known - letters];
        return PW_OK;
    }
    if (c == 'x')
        return parse_hex(p, code);
    if (c == '0' || (c >= '1' && c <= '7' && !at_end(p) && p->pattern[p->at] >= '0' && p->pattern[p->at] <= '7')) {
        *code = (uint32_t)(c - '0');
        for (int i = 0; i < 2 && !at_end(p) && p->pattern[p->at] >= '0' && p->pattern[p->at] <= '7'; i++)
            *code = *code * 8 + (uint32_t)(p->pattern[p->at++] - '0');
        return PW_OK;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80) {
        p->at--;
        return fail(p, "unsupported escape");
    }
    *code = (unsigned char)c;
    return PW_OK;
}

static uint32_t next_code(struct parser *p)
{
    uint32_t code;

    p->at += pw_text_decode(p->pattern + p->at, p->size - p->at, &code);
    return code;
}

/* [:name:] inside brackets; p->at is after "[:". */
static pw_status parse_posix(struct parser *p)
{
    bool negated = accept(p, "^");

    for (size_t i = 0; i < sizeof posix_classes / sizeof posix_classes[0]; i++) {
        size_t size = strlen(posix_classes[i].name);

        if (looking_at(p, posix_classes[i].name) && p->size - p->at >= size + 2 &&
            memcmp(p->pattern + p->at + size, ":]", 2) == 0) {
            p->at += size + 2;
            return add_class(p, &posix_classes[i], negated);
        }
    }
    return fail(p, "unknown character class");
}

static pw_status parse_member(struct parser *p, uint32_t *code)
{
    if (accept(p, "\\"))
        return parse_escape(p, code);
    *code = next_code(p);
    return PW_OK;
}

static pw_status parse_brackets(struct parser *p, size_t *out)
{
    size_t first = p->tree->range_count;
    bool negated = accept(p, "^"), begun = false;
    pw_status status = PW_OK;

    while (status == PW_OK) {
        const struct named_class *class = NULL;
        bool outside = false;
        uint32_t low, high;

        if (at_end(p))
            return fail(p, "missing ]");
        if (begun && accept(p, "]"))
            break;
        begun = true;
        if (accept(p, "[:")) {
            status = parse_posix(p);
            continue;
        }
        if (looking_at(p, "\\")) {
            p->at++;
            class = perl_class(p, &outside);
            if (class == NULL)
                p->at--;
        }
        if (class != NULL) {
            status = add_class(p, class, outside);
            continue;
        }
        status = parse_member(p, &low);
        high = low;
        if (status == PW_OK && looking_at(p, "-") && p->size - p->at > 1 && p->pattern[p->at + 1] != ']') {
            p->at++;
            status = parse_member(p, &high);
        }
        if (status == PW_OK && high < low)
            return fail(p, "range out of order");
        if (status == PW_OK)
            status = add_range(p, low, high);
    }
    return status == PW_OK ? add_set(p, first, negated, out) : status;
}

/* ---- groups ---- */

/* Flags of (?flags) and (?flags:…); p->at is after "(?". */
static pw_status parse_flags(struct parser *p, bool *group)
{
    bool on = true;

    while (!at_end(p)) {
        char c = p->pattern[p->at++];

        if (c == ')' || c == ':') {
            *group = c == ':';
            return PW_OK;
        }
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            p->fold = on;
        else if (c == 's')
            p->dot_newline = on;
        else if (c == 'm')
            p->multiline = on;
        else if (c != 'U') /* greediness does not matter for a full match */
            break;
    }
    p->at--;
    return fail(p, "unsupported group");
}

static pw_status parse_group(struct parser *p, size_t *out)
{
    bool fold = p->fold, dot = p->dot_newline, multi = p->multiline, group = true;
    pw_status status = PW_OK;

    if (++p->nesting > PW_REGEX_MAX_NESTING)
        return fail(p, "nested too deeply");
    if (accept(p, "?P<") || accept(p, "?<")) {
        while (!at_end(p) && p->pattern[p->at] != '>')
            p->at++;
        if (!accept(p, ">"))
            return fail(p, "missing >");
    } else if (accept(p, "?")) {
        status = parse_flags(p, &group);
        if (status == PW_OK && !group) { /* the flags hold to the end of the enclosing group */
            p->nesting--;
            return add_node(p, PW_REGEX_EMPTY, out);
        }
    }
    if (status == PW_OK)
        status = parse_choice(p, out);
    if (status == PW_OK && !accept(p, ")"))
        status = fail(p, "missing )");
    p->fold = fold;
    p->dot_newline = dot;
    p->multiline = multi;
    p->nesting--;
    return status;
}

/* ---- the grammar ---- */

static pw_status parse_dot(struct parser *p, size_t *out)
{
    size_t first = p->tree->range_count;
    pw_status status = PW_OK;

    if (!p->dot_newline)
        status = add_range(p, '\n', '\n');
    return status == PW_OK ? add_set(p, first, true, out) : status;
}

static pw_status parse_backslash(struct parser *p, size_t *out)
{
    static const struct {
        const char *text;
        pw_regex_assertion assertion;
    } assertions[] = {
        {"A", PW_REGEX_TEXT_BEGIN}, {"z", PW_REGEX_TEXT_END}, {"b", PW_REGEX_WORD_EDGE}, {"B", PW_REGEX_NO_WORD_EDGE}};
    const struct named_class *class;
    size_t first = p->tree->range_count;
    bool negated = false;
    uint32_t code;
    pw_status status;

    for (size_t i = 0; i < sizeof assertions / sizeof assertions[0]; i++) {
        if (accept(p, assertions[i].text))
            return add_assert(p, assertions[i].assertion, out);
    }
    class = perl_class(p, &negated);
    if (class != NULL) {
        status = add_class(p, class, negated);
        return status == PW_OK ? add_set(p, first, false, out) : status;
    }
    status = parse_escape(p, &code);
    return status == PW_OK ? add_code(p, code, out) : status;
}

static pw_status parse_atom(struct parser *p, size_t *out)
{
    if (!p->literal && accept(p, "("))
        return parse_group(p, out);
    if (!p->literal && accept(p, "["))
        return parse_brackets(p, out);
    if (!p->literal && accept(p, "."))
        return parse_dot(p, out);
    if (!p->literal && accept(p, "^"))
        return add_assert(p, p->multiline ? PW_REGEX_LINE_BEGIN : PW_REGEX_TEXT_BEGIN, out);
    if (!p->literal && accept(p, "$"))
        return add_assert(p, p->multiline ? PW_REGEX_LINE_END : PW_REGEX_TEXT_END, out);
    if (!p->literal && accept(p, "\\"))
        return parse_backslash(p, out);
    if (!p->literal && (looking_at(p, "*") || looking_at(p, "+") || looking_at(p, "?")))
        return fail(p, "nothing to repeat");
    return add_code(p, next_code(p), out);
}

static int parse_count(struct parser *p)
{
    int value = -1;

    while (!at_end(p) && p->pattern[p->at] >= '0' && p->pattern[p->at] <= '9' && value <= PW_REGEX_MAX_REPEAT)
        value = (value < 0 ? 0 : value * 10) + (p->pattern[p->at++] - '0');
    return value;
}

/* {n}, {n,}, {n,m}; anything else is literal text and p->at stays. */
static bool parse_braces(struct parser *p, int *min, int *max)
{
    size_t begin = p->at;

    if (!accept(p, "{"))
        return false;
    *min = *max = parse_count(p);
    if (*min >= 0 && accept(p, ","))
        *max = looking_at(p, "}") ? -1 : parse_count(p);
    if (*min < 0 || !accept(p, "}") || (*max < 0 && p->pattern[p->at - 2] != ',')) {
        p->at = begin;
        return false;
    }
    return true;
}

static pw_status parse_repeat(struct parser *p, size_t *out)
{
    size_t node;
    int min, max;
    pw_status status = parse_atom(p, out);

    if (p->literal && accept(p, "\\E")) /* what follows repeats the last literal */
        p->literal = false;
    for (int chain = 0; status == PW_OK && !p->literal; chain++) {
        if (accept(p, "*")) {
            min = 0;
            max = -1;
        } else if (accept(p, "+")) {
            min = 1;
            max = -1;
        } else if (accept(p, "?")) {
            min = 0;
            max = 1;
        } else if (!parse_braces(p, &min, &max)) {
            break;
        }
        if (min > PW_REGEX_MAX_REPEAT || max > PW_REGEX_MAX_REPEAT || (max >= 0 && max < min))
            return fail(p, "bad repetition");
        if (chain > 2 || (!accept(p, "?") && (looking_at(p, "*") || looking_at(p, "+"))))
            return fail(p, "repetition of a repetition");
        status = add_node(p, PW_REGEX_REPEAT, &node);
        if (status != PW_OK)
            break;
        p->tree->nodes[node].child = *out;
        p->tree->nodes[node].min = min;
        p->tree->nodes[node].max = max;
        *out = node;
    }
    return status;
}

static pw_status parse_concat(struct parser *p, size_t *out)
{
    size_t last = PW_REGEX_NONE, item;
    pw_status status = add_node(p, PW_REGEX_CONCAT, out);

    while (status == PW_OK && !at_end(p)) {
        if (accept(p, "\\E")) {
            p->literal = false;
            continue;
        }
        if (!p->literal && accept(p, "\\Q")) {
            p->literal = true;
            continue;
        }
        if (!p->literal && (looking_at(p, "|") || looking_at(p, ")")))
            break;
        status = parse_repeat(p, &item);
        if (status != PW_OK)
            break;
        if (last == PW_REGEX_NONE)
            p->tree->nodes[*out].child = item;
        else
            p->tree->nodes[last].next = item;
        last = item;
    }
    return status;
}

static pw_status parse_choice(struct parser *p, size_t *out)
{
    size_t last = PW_REGEX_NONE, item;
    pw_status status = add_node(p, PW_REGEX_CHOICE, out);

    while (status == PW_OK) {
        status = parse_concat(p, &item);
        if (status != PW_OK)
            break;
        if (last == PW_REGEX_NONE)
            p->tree->nodes[*out].child = item;
        else
            p->tree->nodes[last].next = item;
        last = item;
        if (!accept(p, "|"))
            break;
    }
    return status;
}

pw_status pw_regex_parse(const char *pattern, size_t size, struct pw_regex_tree *tree, struct pw_error *err)
{
    struct parser p = {.pattern = pattern, .size = size, .tree = tree, .err = err};
    pw_status status;

    if (size > PW_REGEX_MAX_PATTERN)
        return fail(&p, "the pattern is too long");
    status = parse_choice(&p, &tree->root);
    if (status == PW_OK && !at_end(&p))
        status = fail(&p, "unexpected )");
    return status;
}

void pw_regex_tree_clear(struct pw_regex_tree *tree)
{
    pw_free(tree->nodes);
    pw_free(tree->ranges);
    pw_free(tree->sets);
    *tree = (struct pw_regex_tree){0};
}
