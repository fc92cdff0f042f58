/*
 * The engine: a tree becomes a program of sets, splits and assertions; all threads of it advance together,
 * one code point at a time (Thompson's simulation). No backtracking, so no pattern is slow.
 */
#include "text_regex.h"

#include "base/mem.h"

#define MAX_STEPS 1000000

typedef enum { OP_SET, OP_SPLIT, OP_JUMP, OP_ASSERT, OP_MATCH } op_kind;

struct instruction {
    op_kind kind;
    size_t x, y; /* SET: x = set; SPLIT: both targets; JUMP: x; ASSERT: x = assertion */
};

struct pw_regex {
    struct pw_regex_tree tree;
    struct instruction *program;
    size_t count, cap;
    size_t steps; /* of compilation: repetitions of nothing emit nothing, but take time */
};

/* ---- compilation ---- */

static pw_status emit(struct pw_regex *regex, op_kind kind, size_t x, size_t y, struct pw_error *err)
{
    pw_status status;

    if (regex->count >= PW_REGEX_MAX_PROGRAM)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "regular expression: more than %d states", PW_REGEX_MAX_PROGRAM);
    status = PW_GROW(regex->program, regex->cap, regex->count + 1, err);
    if (status == PW_OK)
        regex->program[regex->count++] = (struct instruction){kind, x, y};
    return status;
}

static pw_status compile(struct pw_regex *regex, size_t node, struct pw_error *err);

static pw_status compile_choice(struct pw_regex *regex, size_t node, struct pw_error *err)
{
    const struct pw_regex_node *nodes = regex->tree.nodes;
    size_t jumps = PW_REGEX_NONE; /* chain of jumps to the end, through x */
    pw_status status = PW_OK;

    for (size_t child = nodes[node].child; child != PW_REGEX_NONE && status == PW_OK; child = nodes[child].next) {
        size_t split = regex->count;
        bool last = nodes[child].next == PW_REGEX_NONE;

        if (!last)
            status = emit(regex, OP_SPLIT, split + 1, 0, err);
        if (status == PW_OK)
            status = compile(regex, child, err);
        if (status == PW_OK && !last) {
            status = emit(regex, OP_JUMP, jumps, 0, err);
            jumps = regex->count - 1;
            regex->program[split].y = regex->count;
        }
    }
    while (status == PW_OK && jumps != PW_REGEX_NONE) {
        size_t next = regex->program[jumps].x;

        regex->program[jumps].x = regex->count;
        jumps = next;
    }
    return status;
}

static pw_status compile_repeat(struct pw_regex *regex, const struct pw_regex_node *node, struct pw_error *err)
{
    size_t child = node->child, first_optional;
    int optional = node->max < 0 ? 0 : node->max - node->min;
    pw_status status = PW_OK;

    for (int i = 0; i < node->min && status == PW_OK; i++)
        status = compile(regex, child, err);
    if (node->max < 0 && status == PW_OK) { /* split over, child, jump back */
        size_t split = regex->count;

        status = emit(regex, OP_SPLIT, split + 1, 0, err);
        if (status == PW_OK)
            status = compile(regex, child, err);
        if (status == PW_OK)
            status = emit(regex, OP_JUMP, split, 0, err);
        if (status == PW_OK)
            regex->program[split].y = regex->count;
        return status;
    }
    first_optional = PW_REGEX_NONE; /* chain of splits to the end, through y */
    for (int i = 0; i < optional && status == PW_OK; i++) {
        status = emit(regex, OP_SPLIT, regex->count + 1, first_optional, err);
        first_optional = regex->count - 1;
        if (status == PW_OK)
            status = compile(regex, child, err);
    }
    while (status == PW_OK && first_optional != PW_REGEX_NONE) {
        size_t next = regex->program[first_optional].y;

        regex->program[first_optional].y = regex->count;
        first_optional = next;
    }
    return status;
}

static pw_status compile(struct pw_regex *regex, size_t node, struct pw_error *err)
{
    const struct pw_regex_node *n = &regex->tree.nodes[node];
    pw_status status = PW_OK;

    if (++regex->steps > MAX_STEPS)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "regular expression: nested repetitions are too many");
    switch (n->kind) {
    case PW_REGEX_SET:
        return emit(regex, OP_SET, n->set, 0, err);
    case PW_REGEX_ASSERT:
        return emit(regex, OP_ASSERT, n->assertion, 0, err);
    case PW_REGEX_CHOICE:
        return compile_choice(regex, node, err);
    case PW_REGEX_REPEAT:
        return compile_repeat(regex, n, err);
    case PW_REGEX_CONCAT:
        for (size_t child = n->child; child != PW_REGEX_NONE && status == PW_OK; child = regex->tree.nodes[child].next)
            status = compile(regex, child, err);
        return status;
    default:
        return PW_OK;
    }
}

pw_status pw_regex_compile(const char *pattern, size_t size, struct pw_regex **out, struct pw_error *err)
{
    struct pw_regex *regex = pw_calloc(1, sizeof *regex);
    pw_status status;

    if (regex == NULL)
        return pw_error_memory(err, sizeof *regex);
    status = pw_regex_parse(pattern, size, &regex->tree, err);
    if (status == PW_OK)
        status = compile(regex, regex->tree.root, err);
    if (status == PW_OK)
        status = emit(regex, OP_MATCH, 0, 0, err);
    if (status != PW_OK) {
        pw_regex_destroy(regex);
        return status;
    }
    *out = regex;
    return PW_OK;
}

void pw_regex_destroy(struct pw_regex *regex)
{
    if (regex == NULL)
        return;
    pw_regex_tree_clear(&regex->tree);
    pw_free(regex->program);
    pw_free(regex);
}

/* ---- matching ---- */

struct threads { /* a set of instructions in order of arrival */
    size_t *items;
    size_t count;
};

struct machine {
    const struct pw_regex *regex;
    const char *text;
    size_t size, at;
    size_t *seen; /* position + 1 at which an instruction was last added */
    size_t *stack;
    size_t generation;
};

static bool in_ranges(const struct pw_regex_tree *tree, const struct pw_regex_set *set, uint32_t code)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct pw_regex_range *range = &tree->ranges[set->first + i];

        if (code >= range->low && code <= range->high)
            return true;
    }
    return false;
}

static bool in_set(const struct pw_regex *regex, size_t item, uint32_t code)
{
    const struct pw_regex_set *set = &regex->tree.sets[item];
    bool found = in_ranges(&regex->tree, set, code);

    if (set->fold && !found)
        found = in_ranges(&regex->tree, set, pw_text_to_lower(code)) ||
                in_ranges(&regex->tree, set, pw_text_to_upper(code));
    return found != set->negated;
}

static bool is_word(const struct machine *m, size_t at)
{
    char c = at < m->size ? m->text[at] : '\0';

    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool holds(const struct machine *m, size_t assertion)
{
    bool edge = (m->at > 0 && is_word(m, m->at - 1)) != is_word(m, m->at);

    switch (assertion) {
    case PW_REGEX_TEXT_BEGIN:
        return m->at == 0;
    case PW_REGEX_TEXT_END:
        return m->at == m->size;
    case PW_REGEX_LINE_BEGIN:
        return m->at == 0 || m->text[m->at - 1] == '\n';
    case PW_REGEX_LINE_END:
        return m->at == m->size || m->text[m->at] == '\n';
    default:
        return edge == (assertion == PW_REGEX_WORD_EDGE);
    }
}

/* Adds an instruction and all that it leads to without reading. Each is pushed once at most: it is marked
 * when pushed, so the stack needs no more room than the program. */
static void add_thread(struct machine *m, struct threads *threads, size_t start)
{
    size_t depth = 0;

    if (m->seen[start] == m->generation)
        return;
    m->seen[start] = m->generation;
    m->stack[depth++] = start;
    while (depth > 0) {
        size_t pc = m->stack[--depth], targets[2], count = 0;
        const struct instruction *in = &m->regex->program[pc];

        if (in->kind == OP_SET || in->kind == OP_MATCH) {
            threads->items[threads->count++] = pc;
        } else if (in->kind == OP_ASSERT) {
            if (holds(m, in->x))
                targets[count++] = pc + 1;
        } else {
            targets[count++] = in->x;
            if (in->kind == OP_SPLIT)
                targets[count++] = in->y;
        }
        for (size_t i = 0; i < count; i++) {
            if (m->seen[targets[i]] != m->generation) {
                m->seen[targets[i]] = m->generation;
                m->stack[depth++] = targets[i];
            }
        }
    }
}

static bool run(struct machine *m, struct threads *now, struct threads *next)
{
    m->generation = 1;
    add_thread(m, now, 0);
    while (m->at < m->size && now->count > 0) {
        struct threads *swap = now;
        uint32_t code;

        m->at += pw_text_decode(m->text + m->at, m->size - m->at, &code);
        m->generation++;
        next->count = 0;
        for (size_t i = 0; i < now->count; i++) {
            const struct instruction *in = &m->regex->program[now->items[i]];

            if (in->kind == OP_SET && in_set(m->regex, in->x, code))
                add_thread(m, next, now->items[i] + 1);
        }
        now = next;
        next = swap;
    }
    for (size_t i = 0; i < now->count; i++) {
        if (m->at == m->size && m->regex->program[now->items[i]].kind == OP_MATCH)
            return true;
    }
    return false;
}

pw_status pw_regex_matches(const struct pw_regex *regex, const char *text, size_t size, bool *out, struct pw_error *err)
{
    size_t *memory = pw_calloc(4 * regex->count, sizeof *memory);
    struct machine m = {.regex = regex, .text = text, .size = size};
    struct threads now = {0}, next = {0};

    if (memory == NULL)
        return pw_error_memory(err, 4 * regex->count * sizeof *memory);
    m.seen = memory;
    m.stack = memory + regex->count;
    now.items = memory + 2 * regex->count;
    next.items = memory + 3 * regex->count;
    *out = run(&m, &now, &next);
    pw_free(memory);
    return PW_OK;
}
