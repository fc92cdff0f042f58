/* rm -rf relative to directory descriptors, so that no exchanged path component leads elsewhere. */
#include "target/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

static void empty_folder(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    DIR *dir = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    if (!dir) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        empty_folder(fd, entry->d_name, depth + 1);
        unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

void pw_remove_tree(const char *path)
{
    empty_folder(AT_FDCWD, path, 0);
    unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
