/*
 * rm -rf relative to directory descriptors, so that no exchanged path component leads elsewhere. What lies deeper
 * than DEPTH_MAX is moved up and emptied from there: code that fills a folder without end costs no descriptors.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define ROUNDS_MAX 4096 /* how often something was moved up: trees of 2^17 levels */

struct removal {
    int root;       /* where deep folders are moved to */
    unsigned moved; /* so many of them so far; names are not used twice */
};

static int open_folder(int parent, const char *name)
{
    struct stat st;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    /* A folder that its owner has closed to himself. */
    if (fd < 0 && fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        st.st_uid == geteuid() && fchmodat(parent, name, 0700, 0) == 0)
        fd = openat(parent, name, flags);
    return fd;
}

static void move_up(struct removal *removal, int parent, const char *name)
{
    char place[32];
    if (removal->moved >= ROUNDS_MAX)
        return;
    snprintf(place, sizeof place, ".moved-%u", removal->moved++);
    renameat(parent, name, removal->root, place);
}

static void empty_folder(struct removal *removal, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    fchmod(fd, 0700); /* ours to empty, if its mode said no */
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        int child = depth < DEPTH_MAX ? open_folder(fd, entry->d_name) : -1;
        if (child >= 0)
            empty_folder(removal, child, depth + 1);
        if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0 && depth >= DEPTH_MAX)
            move_up(removal, fd, entry->d_name);
    }
    closedir(dir);
}

void pw_remove_tree(const char *path)
{
    struct removal removal = {.root = -1};
    bool again = true;
    while (again) {
        unsigned before = removal.moved;
        removal.root = open_folder(AT_FDCWD, path);
        int fd = removal.root >= 0 ? fcntl(removal.root, F_DUPFD_CLOEXEC, 0) : -1;
        if (fd >= 0)
            empty_folder(&removal, fd, 0);
        if (removal.root >= 0)
            close(removal.root);
        again = removal.moved > before;
    }
    unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
