/*
 * Compiled programs on disk: <cache_dir>/opencl/<hash>.bin, a header and what clGetProgramInfo gave. The
 * name is the hash of source, options, device and driver; the header has it again, and the hash of the
 * content, so a damaged or exchanged file is noticed, removed and built anew. What the compiler said comes
 * before the binary: warnings must not go away because a program was built yesterday.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "target/opencl/opencl_internal.h"

#define ENTRY_MAX_BYTES ((size_t)256 << 20)

struct entry_header {
    char magic[8];
    struct pw_hash128 key;
    struct pw_hash128 content;
    uint64_t size; /* of the content: the log's size, the log, the binary */
};
static const char entry_magic[8] = "pwclbin2";

bool pw_opencl_cache_path(const struct pw_opencl_device *device, const char *cache_dir, const char *source,
                          const char *options, struct pw_buf *path, struct pw_hash128 *key)
{
    struct pw_hasher hasher;
    char text[PW_HASH_TEXT];
    if (pw_hasher_init(&hasher) != 0)
        return false;
    pw_hasher_add(&hasher, entry_magic, sizeof entry_magic);
    pw_hasher_add(&hasher, device->identity, strlen(device->identity) + 1);
    pw_hasher_add(&hasher, options, strlen(options) + 1);
    pw_hasher_add(&hasher, source, strlen(source) + 1);
    *key = pw_hasher_end(&hasher);
    pw_buf_printf(path, "%s/opencl/%s.bin", cache_dir, pw_hash_text(*key, text));
    return !path->failed;
}

bool pw_opencl_cache_load(const char *path, struct pw_hash128 key, struct pw_buf *binary, struct pw_buf *log)
{
    struct pw_buf file = {0};
    struct entry_header header;
    uint64_t log_size;
    bool good = false;
    if (!pw_file_exists(path))
        return false;
    if (pw_file_read(path, ENTRY_MAX_BYTES, &file, NULL) == PW_OK && file.size > sizeof header + sizeof log_size) {
        memcpy(&header, file.data, sizeof header);
        const char *content = file.data + sizeof header;
        size_t size = file.size - sizeof header;
        struct pw_hash128 hash = pw_hash128(content, size);
        memcpy(&log_size, content, sizeof log_size);
        content += sizeof log_size;
        good = memcmp(header.magic, entry_magic, sizeof entry_magic) == 0 && header.size == size &&
               header.key.high == key.high && header.key.low == key.low && header.content.high == hash.high &&
               header.content.low == hash.low && log_size < size - sizeof log_size;
        if (good) {
            pw_buf_append(log, content, log_size);
            pw_buf_append(binary, content + log_size, size - sizeof log_size - log_size);
        }
    }
    if (!good)
        unlink(path);
    pw_buf_clear(&file);
    return good && !binary->failed && !log->failed;
}

void pw_opencl_cache_store(const char *path, struct pw_hash128 key, cl_program program, const char *log)
{
    struct entry_header header;
    struct pw_buf content = {0}, file = {0}, folder = {0};
    uint64_t log_size = log ? strlen(log) : 0;
    size_t size = 0;
    unsigned char *binary = NULL;
    /* One device a context, so one size and one pointer. */
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0 ||
        size > ENTRY_MAX_BYTES - sizeof header - sizeof log_size - log_size)
        return;
    binary = pw_calloc(1, size);
    if (!binary || clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS)
        goto done;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, entry_magic, sizeof entry_magic);
    header.key = key;
    pw_buf_append(&content, (const char *)&log_size, sizeof log_size);
    pw_buf_append(&content, log ? log : "", log_size);
    pw_buf_append(&content, (const char *)binary, size);
    if (content.failed)
        goto done;
    header.content = pw_hash128(content.data, content.size);
    header.size = content.size;
    pw_buf_append(&file, (const char *)&header, sizeof header);
    pw_buf_append(&file, content.data, content.size);
    pw_file_dirname(&folder, path);
    if (!file.failed && !folder.failed && pw_file_mkdirs(folder.data, NULL) == PW_OK)
        pw_file_write(path, file.data, file.size, NULL);
done:
    pw_free(binary);
    pw_buf_clear(&content);
    pw_buf_clear(&file);
    pw_buf_clear(&folder);
}
