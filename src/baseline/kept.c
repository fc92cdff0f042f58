#include "baseline/kept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "baseline/folder.h"
#include "target/remove.h"

#define FILE_MAX_BYTES ((size_t)4 << 20)
#define FILES_MAX 64

struct pack { /* files to keep: names relative to the folder, contents */
    struct pw_buf names[FILES_MAX], texts[FILES_MAX];
    size_t count;
};

static void pack_clear(struct pack *pack)
{
    for (size_t i = 0; i < pack->count; i++) {
        pw_buf_clear(&pack->names[i]);
        pw_buf_clear(&pack->texts[i]);
    }
    pw_free(pack);
}

static pw_status add_file(struct pack *pack, const char *path, const char *family, const char *name,
                          struct pw_error *err)
{
    struct pw_buf full = {0};
    pw_status status;

    pw_buf_printf(&full, "%s%s%s", family, family[0] ? "/" : "", name);
    for (size_t i = 0; i < pack->count; i++)
        if (!full.failed && !strcmp(pw_buf_text(&pack->names[i]), pw_buf_text(&full))) {
            pw_buf_clear(&full);
            return PW_OK; /* several kernels of a description share a source */
        }
    if (pack->count == FILES_MAX) {
        pw_buf_clear(&full);
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "more than %d sources", FILES_MAX);
    }
    pack->names[pack->count] = full;
    pack->count++;
    status = full.failed ? pw_error_memory(err, strlen(name))
                         : pw_file_read(path, FILE_MAX_BYTES, &pack->texts[pack->count - 1], err);
    return status;
}

/* Names in `sources: {language: name or [name, …]}` of one description. */
static pw_status add_sources(struct pack *pack, const char *dir, const char *family, const struct pw_yaml *map,
                             struct pw_error *err)
{
    const struct pw_yaml *sources = map->kind == PW_YAML_MAP ? pw_yaml_get(map, "sources") : NULL;
    pw_status status = PW_OK;

    for (size_t i = 0; sources && i < sources->count && status == PW_OK; i++) {
        const struct pw_yaml *value = &sources->items[i];
        size_t count = value->kind == PW_YAML_LIST ? value->count : 1;

        for (size_t k = 0; k < count && status == PW_OK; k++) {
            const struct pw_yaml *item = value->kind == PW_YAML_LIST ? &value->items[k] : value;
            struct pw_buf path = {0};
            const char *name;

            status = pw_yaml_text(item, &name, err);
            if (status == PW_OK && (strchr(name, '/') || name[0] == '.'))
                status = pw_yaml_error(item, err, "expected the name of a file in the same folder");
            if (status == PW_OK) {
                pw_file_join(&path, dir, name);
                status = path.failed ? pw_error_memory(err, strlen(name))
                                     : add_file(pack, pw_buf_text(&path), family, name, err);
            }
            pw_buf_clear(&path);
        }
    }
    return status;
}

static pw_status add_description(struct pack *pack, const char *path, const char *dir, const char *family,
                                 struct pw_error *err)
{
    const char *slash = strrchr(path, '/');
    struct pw_arena arena = {0};
    const struct pw_yaml *root = NULL, *kernels;
    pw_status status = add_file(pack, path, family, slash ? slash + 1 : path, err);

    if (status == PW_OK)
        status = pw_yaml_read(path, &arena, &root, err);
    if (status == PW_OK && root->kind == PW_YAML_MAP) {
        kernels = pw_yaml_get(root, "kernels");
        if (!kernels)
            status = add_sources(pack, dir, family, root, err);
        for (size_t i = 0; kernels && i < kernels->count && status == PW_OK; i++)
            status = add_sources(pack, dir, family, &kernels->items[i], err);
    }
    pw_arena_clear(&arena);
    return status;
}

/* The prelude of the ops directory, else the built-in one: what an overlay without its own is compiled with. */
static pw_status add_prelude(struct pack *pack, const char *ops_dir, struct pw_error *err)
{
    struct pw_buf path = {0};
    pw_status status = PW_OK;

    pw_file_join(&path, ops_dir, "prelude.cl");
    if (!pw_file_exists(pw_buf_text(&path)))
        pw_file_join(&path, pw_ops_dir_default(), "prelude.cl");
    if (path.failed)
        status = pw_error_memory(err, strlen(ops_dir));
    else if (pw_file_exists(pw_buf_text(&path)))
        status = add_file(pack, pw_buf_text(&path), "", "prelude.cl", err);
    pw_buf_clear(&path);
    return status;
}

static pw_status fill(struct pack *pack, const struct pw_kernel *kernel, struct pw_error *err)
{
    struct pw_buf dir = {0}, ops_dir = {0};
    const char *family;
    pw_status status;

    pw_file_dirname(&dir, pw_kernel_path(kernel));
    pw_file_dirname(&ops_dir, pw_buf_text(&dir));
    family = strrchr(pw_buf_text(&dir), '/');
    family = family ? family + 1 : pw_buf_text(&dir);
    status = dir.failed || ops_dir.failed
                 ? pw_error_memory(err, 256)
                 : add_description(pack, pw_kernel_path(kernel), pw_buf_text(&dir), family, err);
    if (status == PW_OK)
        status = add_prelude(pack, pw_buf_text(&ops_dir), err);
    pw_buf_clear(&dir);
    pw_buf_clear(&ops_dir);
    return status;
}

static pw_status hash_pack(const struct pack *pack, char hash[PW_HASH_TEXT], struct pw_error *err)
{
    struct pw_hasher hasher = {0};

    if (pw_hasher_init(&hasher) != 0)
        return pw_error_memory(err, 576);
    for (size_t i = 0; i < pack->count; i++) { /* the order follows from the description: it is the same each time */
        size_t size = pack->texts[i].size;

        pw_hasher_add(&hasher, pw_buf_text(&pack->names[i]), pack->names[i].size + 1);
        pw_hasher_add(&hasher, &size, sizeof size);
        pw_hasher_add(&hasher, pw_buf_text(&pack->texts[i]), size);
    }
    pw_hash_text(pw_hasher_end(&hasher), hash);
    return PW_OK;
}

static pw_status write_pack(const struct pack *pack, const char *folder, struct pw_error *err)
{
    pw_status status = pw_file_mkdirs(folder, err);

    for (size_t i = 0; i < pack->count && status == PW_OK; i++) {
        struct pw_buf path = {0}, dir = {0};

        pw_file_join(&path, folder, pw_buf_text(&pack->names[i]));
        pw_file_dirname(&dir, pw_buf_text(&path));
        status = path.failed || dir.failed ? pw_error_memory(err, path.size) : pw_file_mkdirs(pw_buf_text(&dir), err);
        if (status == PW_OK)
            status = pw_file_write(pw_buf_text(&path), pw_buf_text(&pack->texts[i]), pack->texts[i].size, err);
        pw_buf_clear(&path);
        pw_buf_clear(&dir);
    }
    return status;
}

/* "<hash>.8284.tmp": what a writer names its folder before it is whole. With the lock in hand its writer was killed. */
static void sweep(const char *folder)
{
    char **names = NULL;
    struct pw_error ignored = {0};
    struct pw_buf path = {0};
    size_t count = 0;

    if (pw_file_list(folder, &names, &count, &ignored) != PW_OK)
        return; /* the next one tries again */
    for (size_t i = 0; i < count; i++) {
        size_t hash = strspn(names[i], "0123456789abcdef");

        if (hash != PW_HASH_TEXT - 1 || names[i][hash] != '.' || !pw_text_ends(names[i], ".tmp"))
            continue;
        pw_file_join(&path, folder, names[i]);
        if (!path.failed)
            pw_remove_tree(pw_buf_text(&path));
    }
    pw_free(names);
    pw_buf_clear(&path);
}

/* Beside the final name, then renamed: a folder under its final name is whole. */
static pw_status place(const struct pack *pack, const char *root, const char *hash, struct pw_error *err)
{
    struct pw_buf folder = {0}, final = {0}, draft = {0};
    int lock = -1;
    pw_status status = PW_OK;

    pw_buf_printf(&folder, "%s/kernels", root);
    pw_buf_printf(&final, "%s/kernels/%s", root, hash);
    pw_buf_printf(&draft, "%s/kernels/%s.%ld.tmp", root, hash, (long)getpid());
    if (folder.failed || final.failed || draft.failed) {
        status = pw_error_memory(err, strlen(root));
    } else if (!pw_file_is_dir(pw_buf_text(&final))) {
        status = pw_folder_lock(pw_buf_text(&folder), &lock, err);
        if (status == PW_OK) {
            sweep(pw_buf_text(&folder));
            status = write_pack(pack, pw_buf_text(&draft), err);
        }
        if (status == PW_OK && rename(pw_buf_text(&draft), pw_buf_text(&final)) != 0 &&
            !pw_file_is_dir(pw_buf_text(&final))) /* another process may have been first with the same content */
            status = pw_error_set(err, PW_ERR_IO, "cannot create '%s': %s", pw_buf_text(&final), strerror(errno));
        pw_remove_tree(pw_buf_text(&draft));
        pw_folder_unlock(lock);
    }
    pw_buf_clear(&folder);
    pw_buf_clear(&final);
    pw_buf_clear(&draft);
    return status;
}

pw_status pw_kept_save(const char *root, const struct pw_kernel *kernel, char hash[PW_HASH_TEXT], struct pw_error *err)
{
    struct pack *pack = pw_calloc(1, sizeof *pack);
    pw_status status;

    if (!pack)
        return pw_error_memory(err, sizeof *pack);
    status = fill(pack, kernel, err);
    if (status == PW_OK)
        status = hash_pack(pack, hash, err);
    if (status == PW_OK)
        status = place(pack, root, hash, err);
    if (status != PW_OK)
        pw_error_prefix(err, "kernel '%s' could not be kept", pw_kernel_name(kernel));
    pack_clear(pack);
    return status;
}

pw_status pw_kept_load(const char *root, const char *kept, const char *name, const char *hash, struct pw_kernels **out,
                       const struct pw_kernel **kernel, struct pw_buf *why, struct pw_error *err)
{
    struct pw_buf folder = {0};
    struct pw_error local = {0};
    struct pw_kernels *kernels = NULL;
    const struct pw_kernel *found;
    char text[PW_HASH_TEXT];
    struct pw_ops_dir dir = {.foreign = true};
    pw_status status = PW_OK;

    *out = NULL;
    pw_buf_printf(&folder, "%s/kernels/%s", root, kept);
    dir.path = pw_buf_text(&folder);
    if (folder.failed)
        status = pw_error_memory(err, strlen(root));
    else if (!kept[0] || strspn(kept, "0123456789abcdef") != strlen(kept) || !pw_file_is_dir(dir.path))
        pw_buf_printf(why, "kernel '%s' of the baseline was not kept", name);
    else if (pw_kernels_load(&dir, 1, &kernels, &local) != PW_OK)
        pw_buf_printf(why, "kernel '%s' of the baseline: %s", name, local.message);
    else if (!(found = pw_kernels_find(kernels, name)) || strcmp(pw_hash_text(pw_kernel_hash(found), text), hash) != 0)
        pw_buf_printf(why, "%s does not hold the baseline's kernel '%s' any more", dir.path, name);
    else {
        *kernel = found;
        *out = kernels;
        kernels = NULL;
    }
    pw_kernels_destroy(kernels);
    pw_buf_clear(&folder);
    return status;
}
