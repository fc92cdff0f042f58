/* Builds the tree from libyaml's events, without recursion, under fixed limits. */
#include "base/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"

#define DEPTH_MAX 64
#define TEXT_MAX ((size_t)1 << 20)
#define NODES_MAX 100000

/* A list or map whose end has not come yet. */
struct level {
    struct pw_yaml node; /* items and count are filled at the end */
    size_t first;        /* its children begin here in builder.pending */
    const char *key;     /* map: the key read last, whose value comes next */
    size_t key_line, key_column;
    struct pw_map keys; /* map: names seen */
};

struct builder {
    struct pw_arena *arena;
    const char *file;
    const char *text; /* what is parsed, for errors that know only an offset */
    size_t size;
    struct level levels[DEPTH_MAX];
    size_t depth;
    struct pw_yaml *pending; /* children of all open levels, a stack */
    size_t pending_count, pending_cap;
    size_t nodes;
    const struct pw_yaml *root;
};

static pw_status syntax_error(const char *file, size_t line, size_t column, struct pw_error *err, const char *text)
{
    return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:%zu: %s", file, line, column, text);
}

static pw_status event_error(const struct builder *b, const yaml_event_t *event, struct pw_error *err, const char *text)
{
    return syntax_error(b->file, event->start_mark.line + 1, event->start_mark.column + 1, err, text);
}

/* A finished node goes to its parent, or becomes the root. */
static pw_status attach(struct builder *b, struct pw_yaml node, struct pw_error *err)
{
    if (b->depth == 0) {
        struct pw_yaml *root = pw_arena_alloc(b->arena, 1, sizeof *root);
        if (root == NULL)
            return pw_error_memory(err, sizeof *root);
        *root = node;
        b->root = root;
        return PW_OK;
    }
    struct level *parent = &b->levels[b->depth - 1];
    if (parent->node.kind == PW_YAML_MAP) {
        node.key = parent->key;
        parent->key = NULL;
        if (node.kind != PW_YAML_SCALAR && node.line != parent->key_line) {
            /* a block begins below its key: the key is where a person looks */
            node.line = parent->key_line;
            node.column = parent->key_column;
        }
    }
    pw_status status = PW_GROW(b->pending, b->pending_cap, b->pending_count + 1, err);
    if (status != PW_OK)
        return status;
    b->pending[b->pending_count++] = node;
    return PW_OK;
}

/* The next scalar of a map that waits for a key. */
static pw_status take_key(struct builder *b, const yaml_event_t *event, const char *text, struct pw_error *err)
{
    struct level *map = &b->levels[b->depth - 1];
    size_t line = event->start_mark.line + 1, column = event->start_mark.column + 1;
    size_t first_line;
    if (pw_map_find(&map->keys, text, &first_line)) {
        char shown[200];
        return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:%zu: key '%s' is already there in line %zu", b->file, line,
                            column, pw_text_show(shown, sizeof shown, text, 80), first_line);
    }
    map->key = text;
    map->key_line = line;
    map->key_column = column;
    return pw_map_put(&map->keys, text, line, err);
}

static bool wants_key(const struct builder *b)
{
    return b->depth > 0 && b->levels[b->depth - 1].node.kind == PW_YAML_MAP && b->levels[b->depth - 1].key == NULL;
}

static struct pw_yaml start_node(const struct builder *b, const yaml_event_t *event, pw_yaml_kind kind)
{
    return (struct pw_yaml){
        .kind = kind,
        .line = event->start_mark.line + 1,
        .column = event->start_mark.column + 1,
        .file = b->file,
    };
}

static pw_status on_scalar(struct builder *b, const yaml_event_t *event, struct pw_error *err)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    if (memchr(value, '\0', size) != NULL)
        return event_error(b, event, err, "a NUL character in text");
    const char *text = pw_arena_strndup(b->arena, value, size);
    if (text == NULL)
        return pw_error_memory(err, size);
    if (wants_key(b))
        return take_key(b, event, text, err);
    struct pw_yaml node = start_node(b, event, PW_YAML_SCALAR);
    node.text = text;
    node.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return attach(b, node, err);
}

static pw_status on_start(struct builder *b, const yaml_event_t *event, pw_yaml_kind kind, struct pw_error *err)
{
    if (wants_key(b))
        return event_error(b, event, err, "a key is a list or map, expected text");
    if (b->depth == DEPTH_MAX)
        return event_error(b, event, err, "lists and maps nested deeper than 64");
    b->levels[b->depth++] = (struct level){.node = start_node(b, event, kind), .first = b->pending_count};
    return PW_OK;
}

static pw_status on_end(struct builder *b, struct pw_error *err)
{
    struct level *level = &b->levels[b->depth - 1];
    struct pw_yaml node = level->node;
    node.count = b->pending_count - level->first;
    if (node.count > 0) {
        node.items = pw_arena_alloc(b->arena, node.count, sizeof *node.items);
        if (node.items == NULL)
            return pw_error_memory(err, node.count * sizeof *node.items);
        memcpy(node.items, &b->pending[level->first], node.count * sizeof *node.items);
    }
    b->pending_count = level->first;
    pw_map_clear(&level->keys);
    b->depth--;
    return attach(b, node, err);
}

static const yaml_char_t *tag_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag;
    default:
        return NULL;
    }
}

static pw_status on_event(struct builder *b, const yaml_event_t *event, struct pw_error *err)
{
    if (tag_of(event) != NULL)
        return event_error(b, event, err, "tags ('!…') are not accepted");
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return event_error(b, event, err, "aliases ('*…') are not accepted");
    case YAML_DOCUMENT_START_EVENT:
        if (b->root != NULL)
            return event_error(b, event, err, "a second document, expected one");
        return PW_OK;
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (++b->nodes > NODES_MAX)
            return event_error(b, event, err, "more than 100000 values");
        if (event->type == YAML_SCALAR_EVENT)
            return on_scalar(b, event, err);
        return on_start(b, event, event->type == YAML_MAPPING_START_EVENT ? PW_YAML_MAP : PW_YAML_LIST, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b, err);
    default:
        return PW_OK;
    }
}

/* What git leaves in a file it could not merge: inside of [ ] a reader would take the marks for values. */
static pw_status refuse_conflict(const char *text, size_t size, const char *file, struct pw_error *err)
{
    size_t line = 1;

    for (size_t at = 0; at < size; line++) {
        const char *end = memchr(text + at, '\n', size - at);

        if (size - at > 7 && (memcmp(text + at, "<<<<<<< ", 8) == 0 || memcmp(text + at, ">>>>>>> ", 8) == 0))
            return pw_error_set(err, PW_ERR_FORMAT,
                                "%s:%zu:1: a conflict mark of git ('%.7s'): resolve the conflict, keep one side", file,
                                line, text + at);
        if (!end)
            break;
        at = (size_t)(end - text) + 1;
    }
    return PW_OK;
}

static size_t line_of(const char *text, size_t size, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset && i < size; i++)
        line += text[i] == '\n';
    return line;
}

static pw_status parser_error(const yaml_parser_t *parser, const struct builder *b, struct pw_error *err)
{
    const char *file = b->file;

    if (parser->error == YAML_MEMORY_ERROR)
        return pw_error_memory(err, TEXT_MAX);
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    /* The reader (bad UTF-8, control characters) knows an offset, not a line. */
    if (parser->error == YAML_READER_ERROR)
        return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:1: %s at byte %zu", file,
                            line_of(b->text, b->size, parser->problem_offset), problem, parser->problem_offset);
    return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:%zu: %s%s%s", file, parser->problem_mark.line + 1,
                        parser->problem_mark.column + 1, problem, parser->context != NULL ? " " : "",
                        parser->context != NULL ? parser->context : "");
}

static pw_status run_parser(yaml_parser_t *parser, struct builder *b, struct pw_error *err)
{
    for (;;) {
        yaml_event_t event;
        if (yaml_parser_parse(parser, &event) == 0)
            return parser_error(parser, b, err);
        bool end = event.type == YAML_STREAM_END_EVENT;
        pw_status status = on_event(b, &event, err);
        yaml_event_delete(&event);
        if (status != PW_OK || end)
            return status;
    }
}

/* An empty document is an empty map. */
static pw_status finish_root(struct builder *b, struct pw_error *err)
{
    if (b->root != NULL && !(b->root->kind == PW_YAML_SCALAR && !b->root->quoted && b->root->text[0] == '\0'))
        return PW_OK;
    struct pw_yaml *root = pw_arena_alloc(b->arena, 1, sizeof *root);
    if (root == NULL)
        return pw_error_memory(err, sizeof *root);
    *root = (struct pw_yaml){.kind = PW_YAML_MAP, .line = 1, .column = 1, .file = b->file};
    b->root = root;
    return PW_OK;
}

pw_status pw_yaml_parse(const char *text, size_t size, const char *file, struct pw_arena *arena,
                        const struct pw_yaml **out, struct pw_error *err)
{
    pw_status status = PW_OK;
    yaml_parser_t parser;
    if (size > TEXT_MAX)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: %zu bytes, at most %zu are read", file, size, TEXT_MAX);
    status = refuse_conflict(text, size, file, err);
    if (status != PW_OK)
        return status;
    struct builder *b = pw_calloc(1, sizeof *b);
    if (b == NULL)
        return pw_error_memory(err, sizeof *b);
    b->arena = arena;
    b->text = text;
    b->size = size;
    b->file = pw_arena_strndup(arena, file, strlen(file));
    if (b->file == NULL || yaml_parser_initialize(&parser) == 0) {
        pw_free(b);
        return pw_error_memory(err, sizeof parser);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    status = run_parser(&parser, b, err);
    if (status == PW_OK)
        status = finish_root(b, err);
    if (status == PW_OK)
        *out = b->root;
    yaml_parser_delete(&parser);
    for (size_t i = 0; i < b->depth; i++)
        pw_map_clear(&b->levels[i].keys);
    pw_free(b->pending);
    pw_free(b);
    return status;
}

pw_status pw_yaml_read(const char *path, struct pw_arena *arena, const struct pw_yaml **out, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_file_read(path, TEXT_MAX, &text, err);
    if (status == PW_OK)
        status = pw_yaml_parse(pw_buf_text(&text), text.size, path, arena, out, err);
    pw_buf_clear(&text);
    return status;
}

const struct pw_yaml *pw_yaml_get(const struct pw_yaml *map, const char *key)
{
    if (map == NULL || map->kind != PW_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

pw_status pw_yaml_error(const struct pw_yaml *at, struct pw_error *err, const char *format, ...)
{
    char text[PW_ERROR_MAX / 2], shown[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (at->key == NULL)
        return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:%zu: %s", at->file, at->line, at->column, text);
    return pw_error_set(err, PW_ERR_FORMAT, "%s:%zu:%zu: key '%s': %s", at->file, at->line, at->column,
                        pw_text_show(shown, sizeof shown, at->key, 80), text);
}
