/*
 * Writing captured activations. A tensor's file is named by its content and appears whole (written aside, renamed),
 * so a killed run leaves at most files that no index speaks of. The index is replaced at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "verify/capture_internal.h"

#define DEFAULT_BYTES ((int64_t)1 << 30)
#define DEFAULT_SAMPLES 2

struct pw_capture_writer {
    char *folder; /* owned */
    int64_t max_bytes, bytes;
    size_t samples;
    size_t left_out;
    struct pw_capture_graph graph;
    struct pw_buf index;   /* lines: what was there and what came */
    struct pw_map lines;   /* lines that the index has */
    struct pw_map of_node; /* sets by key */
};

/* ---- what is there already ---- */

static pw_status take_line(struct pw_capture_writer *writer, const char *line, size_t size, struct pw_error *err)
{
    const char *colon = memchr(line, ':', size);
    size_t count = 0;
    pw_status status = PW_OK;

    if (!colon || pw_map_get(&writer->lines, line, size, &count))
        return PW_OK;
    pw_map_get(&writer->of_node, line, (size_t)(colon - line), &count);
    status = pw_map_set(&writer->of_node, line, (size_t)(colon - line), count + 1, err);
    if (status == PW_OK)
        status = pw_map_set(&writer->lines, line, size, 1, err);
    pw_buf_append(&writer->index, line, size);
    pw_buf_putc(&writer->index, '\n');
    return status;
}

static pw_status read_index(struct pw_capture_writer *writer, struct pw_error *err)
{
    struct pw_buf path = {0}, text = {0};
    pw_status status = PW_OK;

    pw_file_join(&path, writer->folder, PW_CAPTURE_INDEX);
    if (pw_file_exists(pw_buf_text(&path)))
        status = pw_file_read(pw_buf_text(&path), PW_CAPTURE_INDEX_MAX, &text, err);
    for (const char *at = pw_buf_text(&text), *end = at + text.size; status == PW_OK && at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);

        if (strncmp(at, PW_CAPTURE_HEAD, strlen(PW_CAPTURE_HEAD)))
            status = take_line(writer, at, size, err);
        at += size + 1;
    }
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    return status;
}

/* Everything of the folder counts towards its bound, indexed or not. */
static pw_status count_bytes(struct pw_capture_writer *writer, struct pw_error *err)
{
    struct pw_buf path = {0};
    char **names = NULL;
    size_t count = 0;
    pw_status status = pw_file_list(writer->folder, &names, &count, err);

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct stat info;

        pw_file_join(&path, writer->folder, names[i]);
        if (pw_text_ends(names[i], ".tensor") && stat(pw_buf_text(&path), &info) == 0)
            writer->bytes += info.st_size;
    }
    pw_free(names);
    pw_buf_clear(&path);
    return status;
}

static void destroy(struct pw_capture_writer *writer)
{
    if (!writer)
        return;
    pw_buf_clear(&writer->index);
    pw_map_clear(&writer->lines);
    pw_map_clear(&writer->of_node);
    pw_free(writer->folder);
    pw_free(writer);
}

pw_status pw_capture_create(const char *folder, int64_t max_bytes, int samples_per_node, struct pw_capture_writer **out,
                            struct pw_error *err)
{
    struct pw_capture_writer *writer = pw_calloc(1, sizeof *writer);
    pw_status status;

    if (!writer || !(writer->folder = pw_strdup(folder))) {
        destroy(writer);
        return pw_error_memory(err, sizeof *writer);
    }
    writer->max_bytes = max_bytes > 0 ? max_bytes : DEFAULT_BYTES;
    writer->samples = samples_per_node > 0 ? (size_t)samples_per_node : DEFAULT_SAMPLES;
    status = pw_file_mkdirs(folder, err);
    if (status == PW_OK)
        status = read_index(writer, err);
    if (status == PW_OK)
        status = count_bytes(writer, err);
    if (status != PW_OK) {
        destroy(writer);
        return status;
    }
    *out = writer;
    return PW_OK;
}

/* ---- one set ---- */

static pw_status write_file(const char *path, const char *data, size_t size, struct pw_error *err)
{
    struct pw_buf aside = {0};
    size_t done = 0;
    int fd;
    bool whole;

    pw_buf_printf(&aside, "%s.%ld.part", path, (long)getpid());
    if (aside.failed) {
        pw_buf_clear(&aside);
        return pw_error_memory(err, size);
    }
    fd = open(pw_buf_text(&aside), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    while (fd >= 0 && done < size) {
        ssize_t n = write(fd, data + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    whole = fd >= 0 && done == size;
    if (fd >= 0 && close(fd) != 0)
        whole = false;
    if (whole && rename(pw_buf_text(&aside), path) == 0) {
        pw_buf_clear(&aside);
        return PW_OK;
    }
    pw_error_set(err, PW_ERR_IO, "%s: %s", path, strerror(errno));
    unlink(pw_buf_text(&aside));
    pw_buf_clear(&aside);
    return PW_ERR_IO;
}

/* Appends " <hash>" to the line; *fits false when the folder is full. */
static pw_status add_tensor(struct pw_capture_writer *writer, const struct pw_tensor *t, bool weight,
                            struct pw_buf *line, bool *fits, struct pw_error *err)
{
    struct pw_buf bytes = {0}, path = {0};
    char hash[PW_HASH_TEXT];
    pw_status status = pw_capture_pack(t, &bytes, err);

    if (status != PW_OK)
        goto done;
    pw_hash_text(pw_hash128(bytes.data, bytes.size), hash);
    pw_buf_printf(line, " %s%s", weight ? "=" : "", hash);
    pw_buf_printf(&path, "%s/%s.tensor", writer->folder, hash);
    if (weight || pw_file_exists(pw_buf_text(&path)))
        goto done; /* the model has it; or stored before */
    *fits = writer->bytes + (int64_t)bytes.size <= writer->max_bytes;
    if (!*fits)
        goto done;
    status = write_file(pw_buf_text(&path), bytes.data, bytes.size, err);
    if (status == PW_OK)
        writer->bytes += (int64_t)bytes.size;
done:
    pw_buf_clear(&bytes);
    pw_buf_clear(&path);
    return status;
}

static bool storable(const struct pw_value *const *inputs, int input_count)
{
    bool floating = false;

    if (input_count > PW_CAPTURE_INPUTS_MAX)
        return false;
    for (int i = 0; i < input_count; i++) {
        pw_dtype_kind kind;

        if (!inputs[i] || inputs[i]->kind == PW_VALUE_NONE)
            continue;
        kind = pw_dtype_facts(inputs[i]->tensor.nominal)->kind;
        if (inputs[i]->kind != PW_VALUE_TENSOR || kind == PW_KIND_STRING || kind == PW_KIND_NONE)
            return false;
        floating = true;
    }
    return floating;
}

pw_status pw_capture_add(struct pw_capture_writer *writer, const struct pw_node *node,
                         const struct pw_value *const *inputs, int input_count, struct pw_error *err)
{
    struct pw_buf line = {0}, hashes = {0};
    size_t sets = 0;
    bool fits = true;
    pw_status status = PW_OK;

    if (!storable(inputs, input_count))
        return PW_OK;
    pw_capture_key(&writer->graph, node, &line);
    if (pw_map_get(&writer->of_node, pw_buf_text(&line), line.size, &sets) && sets >= writer->samples)
        goto done;
    for (int i = 0; i < input_count && status == PW_OK && fits; i++) {
        if (!inputs[i] || inputs[i]->kind == PW_VALUE_NONE)
            pw_buf_puts(&hashes, " -");
        else
            status = add_tensor(writer, &inputs[i]->tensor, pw_capture_weight(node, i) != NULL, &hashes, &fits, err);
    }
    if (status == PW_OK && !fits)
        writer->left_out++;
    if (status != PW_OK || !fits)
        goto done;
    pw_buf_printf(&line, ": %016" PRIx64 "%s", pw_hash64(pw_buf_text(&hashes), hashes.size, 0), pw_buf_text(&hashes));
    if (line.failed || hashes.failed)
        status = pw_error_memory(err, line.size);
    else
        status = take_line(writer, pw_buf_text(&line), line.size, err);
done:
    pw_buf_clear(&line);
    pw_buf_clear(&hashes);
    return status;
}

pw_status pw_capture_finish(struct pw_capture_writer *writer, size_t *left_out, struct pw_error *err)
{
    struct pw_buf path = {0}, text = {0};
    pw_status status = PW_OK;

    if (!writer)
        return PW_OK;
    pw_file_join(&path, writer->folder, PW_CAPTURE_INDEX);
    pw_buf_puts(&text, PW_CAPTURE_HEAD "\n");
    pw_buf_append(&text, pw_buf_text(&writer->index), writer->index.size);
    if (text.failed || path.failed || writer->index.failed)
        status = pw_error_memory(err, writer->index.size);
    else
        status = pw_file_write(pw_buf_text(&path), text.data, text.size, err);
    if (left_out)
        *left_out = writer->left_out;
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    destroy(writer);
    return status;
}
