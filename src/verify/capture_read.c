/* Reading captured activations: the index at once, tensors when asked for. */
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "verify/capture_internal.h"

#define TENSOR_MAX ((size_t)1 << 33)

struct set {
    const char *key;     /* of the node */
    const char *hash;    /* 16 hex digits */
    const char **inputs; /* "-", 32 hex digits, or "=" and 32 hex digits for a weight of the model */
    int count;
};

struct pw_capture {
    pthread_mutex_t *lock; /* of graph */
    struct pw_capture_graph *graph;
    struct pw_arena arena;
    const char *folder;
    struct set *sets;
    size_t count, cap;
};

static void key_of(const struct pw_capture *capture, const struct pw_node *node, struct pw_buf *out)
{
    pthread_mutex_lock(capture->lock);
    pw_capture_key(capture->graph, node, out);
    pthread_mutex_unlock(capture->lock);
}

static bool is_hex(const char *text, size_t digits)
{
    for (size_t i = 0; i < digits; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return !text[digits];
}

static bool is_input(const char *text)
{
    return !strcmp(text, "-") || is_hex(text + (*text == '='), 32);
}

/* Cuts the next word off; NULL at the end. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " ");

    if (!*word)
        return NULL;
    *at = word + strcspn(word, " ");
    if (**at)
        *(*at)++ = '\0';
    return word;
}

/* "<key>: <set> <input> …"; the line is in the arena and taken apart in place. */
static pw_status read_line(struct pw_capture *capture, char *line, struct pw_error *err)
{
    char *colon = strchr(line, ':'), *at, *word;
    struct set set = {.key = line};
    size_t words = 1;
    pw_status status;

    if (!colon)
        return pw_error_set(err, PW_ERR_FORMAT, "expected '<node>: <set> <inputs>', found '%.60s'", line);
    *colon = '\0';
    at = colon + 1;
    for (const char *c = at; *c; c++)
        words += *c == ' ';
    word = next_word(&at);
    if (!word || !is_hex(word, 16) || words > PW_CAPTURE_INPUTS_MAX + 2)
        return pw_error_set(err, PW_ERR_FORMAT, "node '%.60s': expected a hash of 16 hex digits, found '%.60s'", line,
                            word ? word : "");
    set.hash = word;
    set.inputs = pw_arena_alloc(&capture->arena, words, sizeof *set.inputs);
    if (!set.inputs)
        return pw_error_memory(err, words * sizeof *set.inputs);
    while ((word = next_word(&at))) {
        if (!is_input(word))
            return pw_error_set(err, PW_ERR_FORMAT, "node '%.60s': '%.60s' is no hash", line, word);
        set.inputs[set.count++] = word;
    }
    status = PW_GROW(capture->sets, capture->cap, capture->count + 1, err);
    if (status == PW_OK)
        capture->sets[capture->count++] = set;
    return status;
}

static pw_status read_index(struct pw_capture *capture, const char *text, size_t size, struct pw_error *err)
{
    const char *end = text + size;
    size_t number = 0;
    pw_status status = PW_OK;

    if (size < strlen(PW_CAPTURE_HEAD) || strncmp(text, PW_CAPTURE_HEAD "\n", strlen(PW_CAPTURE_HEAD) + 1))
        return pw_error_set(err, PW_ERR_FORMAT, "expected '%s' at its begin", PW_CAPTURE_HEAD);
    for (const char *at = text + strlen(PW_CAPTURE_HEAD) + 1; at < end && status == PW_OK; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        char *line = pw_arena_strndup(&capture->arena, at, length);

        status = line ? (*line ? read_line(capture, line, err) : PW_OK) : pw_error_memory(err, length);
        if (status != PW_OK)
            pw_error_prefix(err, "line %zu", number + 2);
        at += length + 1;
    }
    return status;
}

pw_status pw_capture_open(const char *folder, struct pw_capture **out, struct pw_error *err)
{
    struct pw_capture *capture = pw_calloc(1, sizeof *capture);
    struct pw_buf path = {0}, text = {0};
    pw_status status = capture ? PW_OK : pw_error_memory(err, sizeof *capture);

    if (status == PW_OK) {
        capture->folder = pw_arena_strndup(&capture->arena, folder, strlen(folder));
        capture->lock = pw_arena_alloc(&capture->arena, 1, sizeof *capture->lock);
        capture->graph = pw_arena_alloc(&capture->arena, 1, sizeof *capture->graph);
        status = capture->folder && capture->lock && capture->graph ? PW_OK : pw_error_memory(err, strlen(folder));
    }
    if (status == PW_OK)
        pthread_mutex_init(capture->lock, NULL);
    pw_file_join(&path, folder, PW_CAPTURE_INDEX);
    if (status == PW_OK)
        status = pw_file_read(pw_buf_text(&path), PW_CAPTURE_INDEX_MAX, &text, err);
    if (status == PW_OK) {
        status = read_index(capture, pw_buf_text(&text), text.size, err);
        if (status != PW_OK)
            pw_error_prefix(err, "%s", pw_buf_text(&path));
    }
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    if (status != PW_OK) {
        pw_capture_close(capture);
        return status;
    }
    *out = capture;
    return PW_OK;
}

void pw_capture_close(struct pw_capture *capture)
{
    if (!capture)
        return;
    if (capture->graph)
        pthread_mutex_destroy(capture->lock);
    pw_free(capture->sets);
    pw_arena_clear(&capture->arena);
    pw_free(capture);
}

size_t pw_capture_sets(const struct pw_capture *capture, const struct pw_node *node, const char **hashes, size_t cap)
{
    struct pw_buf key = {0};
    size_t count = 0;

    key_of(capture, node, &key);
    for (size_t i = 0; i < capture->count; i++) {
        if (strcmp(capture->sets[i].key, pw_buf_text(&key)))
            continue;
        if (count < cap)
            hashes[count] = capture->sets[i].hash;
        count++;
    }
    pw_buf_clear(&key);
    return count;
}

/* ---- tensors ---- */

static pw_status load_weight(const struct pw_node *node, int input, const char *wanted, struct pw_value *out,
                             struct pw_error *err)
{
    const struct pw_tensor *weight = pw_capture_weight(node, input);
    struct pw_buf bytes = {0};
    char hash[PW_HASH_TEXT];
    pw_status status;

    if (!weight)
        return pw_error_set(err, PW_ERR_FORMAT, "input %d was a weight when captured and is none in this graph", input);
    status = pw_capture_pack(weight, &bytes, err);
    if (status == PW_OK && strcmp(pw_hash_text(pw_hash128(bytes.data, bytes.size), hash), wanted))
        status =
            pw_error_set(err, PW_ERR_UNSUPPORTED, "input %d: captured with other weights than this graph has", input);
    if (status == PW_OK)
        status = pw_tensor_copy(&out->tensor, weight, err);
    if (status == PW_OK)
        out->kind = PW_VALUE_TENSOR;
    pw_buf_clear(&bytes);
    return status;
}

static pw_status load_file(const struct pw_capture *capture, const char *wanted, struct pw_value *out,
                           struct pw_error *err)
{
    struct pw_buf path = {0}, bytes = {0};
    char hash[PW_HASH_TEXT];
    pw_status status;

    pw_buf_printf(&path, "%s/%s.tensor", capture->folder, wanted);
    status = pw_file_read(pw_buf_text(&path), TENSOR_MAX, &bytes, err);
    if (status == PW_OK && strcmp(pw_hash_text(pw_hash128(bytes.data, bytes.size), hash), wanted))
        status = pw_error_set(err, PW_ERR_FORMAT, "%s: its content is not what its name says: capture again",
                              pw_buf_text(&path));
    if (status == PW_OK)
        status = pw_capture_unpack(pw_buf_text(&bytes), bytes.size, pw_buf_text(&path), &out->tensor, err);
    if (status == PW_OK)
        out->kind = PW_VALUE_TENSOR;
    pw_buf_clear(&path);
    pw_buf_clear(&bytes);
    return status;
}

static const struct set *find_set(const struct pw_capture *capture, const struct pw_node *node, const char *hash)
{
    const struct set *found = NULL;
    struct pw_buf key = {0};

    key_of(capture, node, &key);
    for (size_t i = 0; i < capture->count && !found; i++)
        if (!strcmp(capture->sets[i].hash, hash) && !strcmp(capture->sets[i].key, pw_buf_text(&key)))
            found = &capture->sets[i];
    pw_buf_clear(&key);
    return found;
}

bool pw_capture_has(const struct pw_capture *capture, const struct pw_node *node, const char *hash)
{
    return find_set(capture, node, hash) != NULL;
}

pw_status pw_capture_load(const struct pw_capture *capture, const struct pw_node *node, const char *hash,
                          struct pw_value *values, int input_count, struct pw_error *err)
{
    const struct set *set = find_set(capture, node, hash);
    char where[192];
    pw_status status = PW_OK;

    if (!set)
        return pw_error_set(err, PW_ERR_USAGE, "%s: %s has no set '%.40s' of it", capture->folder,
                            pw_node_where(node, where, sizeof where), hash);
    if (set->count != input_count)
        return pw_error_set(err, PW_ERR_FORMAT, "%s: set '%s' has %d inputs, the node %d", capture->folder, set->hash,
                            set->count, input_count);
    for (int i = 0; i < input_count && status == PW_OK; i++) {
        const char *input = set->inputs[i];

        if (input[0] == '=')
            status = load_weight(node, i, input + 1, &values[i], err);
        else if (input[0] != '-')
            status = load_file(capture, input, &values[i], err);
    }
    for (int i = 0; i < input_count && status != PW_OK; i++)
        pw_value_clear(&values[i]);
    return status;
}
