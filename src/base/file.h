/* Files: whole reads, atomic writes, paths. */
#ifndef PW_BASE_FILE_H
#define PW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

/* Whole regular file into buf (appends); refuses more than max_bytes. */
pw_status pw_file_read(const char *path, size_t max_bytes, struct pw_buf *buf, struct pw_error *err);

/* PW_ERR_IO, naming it, where the folder that a file is to be written to is not there. A file that a person names is
 * never a reason to make folders: a slip of the pen would make them. What portwright keeps for itself, it makes. */
pw_status pw_file_need_folder(const char *path, struct pw_error *err);

/* Writes through a temporary file in the same folder, fsync, rename: the old file stays
 * whole whatever happens (full disk, kill). A pipe or a device is written to. */
pw_status pw_file_write(const char *path, const char *data, size_t size, struct pw_error *err);

pw_status pw_file_mkdirs(const char *path, struct pw_error *err); /* mkdir -p, 0777 & umask */
bool pw_file_exists(const char *path);
bool pw_file_is_dir(const char *path);

/* Which file stands under a path, and in which state: of two that are the same nobody has written in between. Taken
 * before it is read, so that a change meanwhile shows as one. */
struct pw_file_identity {
    bool exists;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec time;
};
struct pw_file_identity pw_file_identify(const char *path);
bool pw_file_same(const struct pw_file_identity *a, const struct pw_file_identity *b);

/* "dir/name" (or name when absolute or dir is empty); into buf, replacing its content. */
void pw_file_join(struct pw_buf *buf, const char *dir, const char *name);
/* Folder part of a path, "." when none. */
void pw_file_dirname(struct pw_buf *buf, const char *path);

/* Names in a folder, sorted bytewise, without . and ..; *names is one allocation, free with pw_free. */
pw_status pw_file_list(const char *path, char ***names, size_t *count, struct pw_error *err);

#endif
