/*
 * What earlier runs left in folders. A text: the index of captured activations, in which '@' stands for the key of a
 * node,
 * '$' for the name of a tensor that is there and '%' for the hash of a set; all sets of the node are loaded. After a
 * NUL: an entry of the compile cache; its first byte says which fields of the head are right.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "bench/environment.h"
#include "target/opencl/opencl_internal.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"
#include "verify/capture_internal.h"

static char fuzz_kept_dir[64], fuzz_kept_tensor[PW_HASH_TEXT];

static const char *fuzz_kept_path(const char *name)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/%s", fuzz_kept_dir, name);
    return path;
}

static void fuzz_kept_remove(void)
{
    char tensor[64];
    snprintf(tensor, sizeof tensor, "%s.tensor", fuzz_kept_tensor);
    (void)remove(fuzz_kept_path(tensor));
    (void)remove(fuzz_kept_path("index"));
    (void)remove(fuzz_kept_path("entry"));
    (void)remove(fuzz_kept_path(".git/HEAD"));
    (void)remove(fuzz_kept_path(".git/packed-refs"));
    (void)remove(fuzz_kept_path(".git"));
    (void)remove(fuzz_kept_dir);
}

static void fuzz_kept_put(const char *name, const struct pw_buf *bytes)
{
    FILE *file = fopen(fuzz_kept_path(name), "wb");
    fuzz_check(file != NULL && fwrite(pw_buf_text(bytes), 1, bytes->size, file) == bytes->size && fclose(file) == 0);
}

static void fuzz_kept_folder(void)
{
    const int64_t dims[] = {2, 8};
    struct pw_tensor t = {0};
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    char name[64];

    if (fuzz_kept_dir[0])
        return;
    snprintf(fuzz_kept_dir, sizeof fuzz_kept_dir, "/tmp/pw-fuzz-XXXXXX");
    fuzz_check(mkdtemp(fuzz_kept_dir) != NULL && atexit(fuzz_kept_remove) == 0);
    fuzz_check(mkdir(fuzz_kept_path(".git"), 0700) == 0);
    fuzz_check(pw_tensor_init(&t, PW_DTYPE_FLOAT32, 2, dims, &err) == PW_OK);
    fuzz_check(pw_capture_pack(&t, &bytes, &err) == PW_OK);
    pw_hash_text(pw_hash128(bytes.data, bytes.size), fuzz_kept_tensor);
    snprintf(name, sizeof name, "%s.tensor", fuzz_kept_tensor);
    fuzz_kept_put(name, &bytes);
    pw_buf_clear(&bytes);
    pw_tensor_clear(&t);
}

static void fuzz_kept_load(const struct pw_capture *capture, const struct pw_node *node)
{
    const char *hashes[4];
    size_t count = pw_capture_sets(capture, node, hashes, PW_COUNT_OF(hashes));

    for (size_t i = 0; i < count && i < PW_COUNT_OF(hashes); i++) {
        struct pw_value values[4] = {{0}};
        struct pw_error err = {0};
        fuzz_check(pw_capture_has(capture, node, hashes[i]));
        if (pw_capture_load(capture, node, hashes[i], values, (int)PW_COUNT_OF(values), &err) == PW_OK)
            for (size_t k = 0; k < PW_COUNT_OF(values); k++)
                fuzz_check(values[k].kind == PW_VALUE_NONE || values[k].tensor.count >= 0);
        for (size_t k = 0; k < PW_COUNT_OF(values); k++)
            pw_value_clear(&values[k]);
    }
}

static void fuzz_kept_index(const uint8_t *data, size_t size)
{
    const struct pw_inventory *inventory = sample_inventory();
    struct pw_capture_graph graph = {0};
    struct pw_capture *capture = NULL;
    struct pw_buf index = {0}, key = {0};
    struct pw_error err = {0};

    pw_capture_key(&graph, inventory->signatures[0].nodes[0], &key);
    for (size_t i = 0; i < size && i < 4096; i++) {
        if (data[i] == '@')
            pw_buf_puts(&index, pw_buf_text(&key));
        else if (data[i] == '$')
            pw_buf_puts(&index, fuzz_kept_tensor);
        else if (data[i] == '%')
            pw_buf_puts(&index, "0123456789abcdef");
        else
            pw_buf_putc(&index, (char)data[i]);
    }
    fuzz_kept_put("index", &index);
    if (pw_capture_open(fuzz_kept_dir, &capture, &err) == PW_OK)
        for (size_t i = 0; i < inventory->signature_count; i++)
            fuzz_kept_load(capture, inventory->signatures[i].nodes[0]);
    else
        fuzz_check(err.message[0]);
    pw_capture_close(capture);
    pw_buf_clear(&index);
    pw_buf_clear(&key);
}

static void fuzz_kept_entry(const uint8_t *data, size_t size)
{
    const struct pw_hash128 key = {1, 2};
    struct {
        char magic[8];
        struct pw_hash128 key, content;
        uint64_t size;
    } head = {"pwclbin2", key, {0, 0}, 0};
    struct pw_buf file = {0}, binary = {0}, log = {0};
    uint8_t wrong = size ? data[0] : 0;

    if (size) {
        data++;
        size--;
    }
    head.content = pw_hash128(data, size);
    head.size = size;
    head.magic[0] = wrong & 1 ? 'x' : head.magic[0];
    head.key.low += wrong >> 1 & 1;
    head.content.low += wrong >> 2 & 1;
    head.size += wrong >> 3 & 1;
    pw_buf_append(&file, (const char *)&head, sizeof head);
    pw_buf_append(&file, (const char *)data, size);
    if (wrong & 16)
        file.size = file.size > wrong ? file.size - wrong : 0;
    fuzz_kept_put("entry", &file);
    if (pw_opencl_cache_load(fuzz_kept_path("entry"), key, &binary, &log)) {
        fuzz_check(!(wrong & 31) && binary.size > 0 && log.size + binary.size + sizeof(uint64_t) == size);
    } else {
        fuzz_check(binary.size == 0 && log.size == 0 && !pw_file_exists(fuzz_kept_path("entry")));
    }
    pw_buf_clear(&file);
    pw_buf_clear(&binary);
    pw_buf_clear(&log);
}

static void fuzz_kept_revision(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t head = end ? (size_t)(end - data) : size;
    struct pw_buf bytes = {0};
    char revision[65];

    pw_buf_append(&bytes, (const char *)data, head);
    fuzz_kept_put(".git/HEAD", &bytes);
    bytes.size = 0;
    if (end)
        pw_buf_append(&bytes, (const char *)end + 1, size - head - 1);
    fuzz_kept_put(".git/packed-refs", &bytes);
    pw_environment_revision(fuzz_kept_dir, revision, sizeof revision);
    fuzz_check(strlen(revision) == strspn(revision, "0123456789abcdef"));
    pw_buf_clear(&bytes);
}

static void fuzz_kept(const uint8_t *data, size_t size)
{
    fuzz_kept_folder();
    if (size > 0 && !data[0])
        fuzz_kept_entry(data + 1, size - 1);
    else if (size > 0 && data[0] == 1)
        fuzz_kept_revision(data + 1, size - 1);
    else
        fuzz_kept_index(data, size);
}

static void fuzz_kept_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {
        "portwright-capture 1\n",           "@: % $", " -", " =", "%", "$", "@", ":", " ",
        "00000000000000000000000000000000", "../x",   NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_kept, fuzz_kept_mutate);
