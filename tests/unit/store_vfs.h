/*
 * A VFS for tests, over SQLite's own: logs every write, truncation, sync and deletion, so that any moment of a run can
 * be replayed as a power cut would leave it, and fails writes or syncs on demand. One scenario at a time, one thread.
 */
#ifndef PW_TESTS_STORE_VFS_H
#define PW_TESTS_STORE_VFS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

enum { VFS_MAIN, VFS_WAL, VFS_JOURNAL, VFS_FILES };
enum vfs_kind { VFS_WRITE, VFS_TRUNCATE, VFS_SYNC, VFS_DELETE };

struct vfs_op {
    enum vfs_kind kind;
    int file;
    sqlite3_int64 offset; /* or the size of a truncation */
    int size;
    bool folder; /* a sync that makes the folder durable too, or a deletion that does */
    unsigned char *data;
};

static struct {
    bool logging;
    struct vfs_op *ops;
    size_t count, cap;
    long fail_after; /* writes (or syncs) that still succeed; -1: all */
    int fail_code;
    bool fail_syncs;
    long failures; /* how often something failed */
} vfs_log = {.fail_after = -1};

struct vfs_file {
    sqlite3_file base;
    int kind; /* -1: not ours to log */
    bool created;
    sqlite3_file *real;
};

static sqlite3_vfs *vfs_real;

static struct vfs_op *vfs_add(enum vfs_kind kind, int file)
{
    struct vfs_op *op;

    if (vfs_log.count == vfs_log.cap) {
        vfs_log.cap = vfs_log.cap ? 2 * vfs_log.cap : 256;
        vfs_log.ops = realloc(vfs_log.ops, vfs_log.cap * sizeof *vfs_log.ops);
        if (!vfs_log.ops)
            abort();
    }
    op = &vfs_log.ops[vfs_log.count++];
    memset(op, 0, sizeof *op);
    op->kind = kind;
    op->file = file;
    return op;
}

static inline void vfs_forget(void)
{
    for (size_t i = 0; i < vfs_log.count; i++)
        free(vfs_log.ops[i].data);
    free(vfs_log.ops);
    memset(&vfs_log, 0, sizeof vfs_log);
    vfs_log.fail_after = -1;
}

static bool vfs_fails(bool sync)
{
    if (vfs_log.fail_after < 0 || sync != vfs_log.fail_syncs)
        return false;
    if (vfs_log.fail_after > 0) {
        vfs_log.fail_after--;
        return false;
    }
    vfs_log.failures++;
    return true;
}

static sqlite3_file *vfs_under(sqlite3_file *file)
{
    return ((struct vfs_file *)file)->real;
}

static int vfs_close(sqlite3_file *file)
{
    int code = vfs_under(file)->pMethods ? vfs_under(file)->pMethods->xClose(vfs_under(file)) : SQLITE_OK;

    free(((struct vfs_file *)file)->real);
    return code;
}

static int vfs_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    return vfs_under(file)->pMethods->xRead(vfs_under(file), to, size, offset);
}

static int vfs_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    int kind = ((struct vfs_file *)file)->kind;

    if (kind >= 0 && vfs_fails(false))
        return vfs_log.fail_code;
    if (kind >= 0 && vfs_log.logging) {
        struct vfs_op *op = vfs_add(VFS_WRITE, kind);

        op->offset = offset;
        op->size = size;
        op->data = malloc((size_t)size + 1);
        if (!op->data)
            abort();
        memcpy(op->data, from, (size_t)size);
    }
    return vfs_under(file)->pMethods->xWrite(vfs_under(file), from, size, offset);
}

static int vfs_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    if (((struct vfs_file *)file)->kind >= 0 && vfs_log.logging)
        vfs_add(VFS_TRUNCATE, ((struct vfs_file *)file)->kind)->offset = size;
    return vfs_under(file)->pMethods->xTruncate(vfs_under(file), size);
}

static int vfs_sync(sqlite3_file *file, int flags)
{
    if (((struct vfs_file *)file)->kind >= 0 && vfs_fails(true))
        return vfs_log.fail_code;
    if (((struct vfs_file *)file)->kind >= 0 && vfs_log.logging) {
        vfs_add(VFS_SYNC, ((struct vfs_file *)file)->kind)->folder = ((struct vfs_file *)file)->created;
        ((struct vfs_file *)file)->created = false; /* SQLite's unix VFS syncs the folder of a new file once */
    }
    return vfs_under(file)->pMethods->xSync(vfs_under(file), flags);
}

#define VFS_PASS(name, parameters, ...)                                                                                \
    static int vfs_##name parameters                                                                                   \
    {                                                                                                                  \
        return vfs_under(file)->pMethods->__VA_ARGS__;                                                                 \
    }
VFS_PASS(size, (sqlite3_file * file, sqlite3_int64 *size), xFileSize(vfs_under(file), size))
VFS_PASS(lock, (sqlite3_file * file, int level), xLock(vfs_under(file), level))
VFS_PASS(unlock, (sqlite3_file * file, int level), xUnlock(vfs_under(file), level))
VFS_PASS(reserved, (sqlite3_file * file, int *out), xCheckReservedLock(vfs_under(file), out))
VFS_PASS(control, (sqlite3_file * file, int what, void *arg), xFileControl(vfs_under(file), what, arg))
VFS_PASS(sector, (sqlite3_file * file), xSectorSize(vfs_under(file)))
VFS_PASS(shm_map, (sqlite3_file * file, int page, int size, int extend, void volatile **out),
         xShmMap(vfs_under(file), page, size, extend, out))
VFS_PASS(shm_lock, (sqlite3_file * file, int offset, int n, int flags), xShmLock(vfs_under(file), offset, n, flags))
VFS_PASS(shm_unmap, (sqlite3_file * file, int delete), xShmUnmap(vfs_under(file), delete))

static void vfs_shm_barrier(sqlite3_file *file)
{
    vfs_under(file)->pMethods->xShmBarrier(vfs_under(file));
}

/* A disk that promises nothing: no atomic sectors, no ordered writes; only what was synced is there. */
static int vfs_characteristics(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods vfs_methods = {.iVersion = 2,
                                               .xClose = vfs_close,
                                               .xRead = vfs_read,
                                               .xWrite = vfs_write,
                                               .xTruncate = vfs_truncate,
                                               .xSync = vfs_sync,
                                               .xFileSize = vfs_size,
                                               .xLock = vfs_lock,
                                               .xUnlock = vfs_unlock,
                                               .xCheckReservedLock = vfs_reserved,
                                               .xFileControl = vfs_control,
                                               .xSectorSize = vfs_sector,
                                               .xDeviceCharacteristics = vfs_characteristics,
                                               .xShmMap = vfs_shm_map,
                                               .xShmLock = vfs_shm_lock,
                                               .xShmBarrier = vfs_shm_barrier,
                                               .xShmUnmap = vfs_shm_unmap};

static int vfs_file_kind(const char *name, int flags)
{
    if (!name)
        return -1;
    if (flags & SQLITE_OPEN_WAL)
        return VFS_WAL;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL)
        return VFS_JOURNAL;
    return flags & SQLITE_OPEN_MAIN_DB ? VFS_MAIN : -1;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct vfs_file *mine = (struct vfs_file *)file;
    int code, existed = 0;

    (void)vfs;
    if (name)
        vfs_real->xAccess(vfs_real, name, SQLITE_ACCESS_EXISTS, &existed);
    memset(mine, 0, sizeof *mine);
    mine->real = calloc(1, (size_t)vfs_real->szOsFile);
    if (!mine->real)
        return SQLITE_NOMEM;
    code = vfs_real->xOpen(vfs_real, name, mine->real, flags, out);
    if (code != SQLITE_OK) {
        free(mine->real);
        return code;
    }
    mine->kind = vfs_file_kind(name, flags);
    mine->created = !existed && mine->kind > VFS_MAIN;
    mine->base.pMethods = &vfs_methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    size_t length = strlen(name);
    int code = vfs_real->xDelete(vfs_real, name, sync);

    (void)vfs;
    if (code == SQLITE_OK && vfs_log.logging) {
        int kind = length > 4 && !strcmp(name + length - 4, "-wal")       ? VFS_WAL
                   : length > 8 && !strcmp(name + length - 8, "-journal") ? VFS_JOURNAL
                                                                          : -1;

        if (kind >= 0)
            vfs_add(VFS_DELETE, kind)->folder = sync != 0;
    }
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    return vfs_real->xAccess(vfs_real, name, flags, out);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    return vfs_real->xFullPathname(vfs_real, name, size, out);
}

static int vfs_random(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    return vfs_real->xRandomness(vfs_real, size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return vfs_real->xSleep(vfs_real, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    return vfs_real->xCurrentTime(vfs_real, out);
}

static int vfs_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    return vfs_real->xGetLastError(vfs_real, size, out);
}

static sqlite3_vfs vfs_shim = {.iVersion = 1,
                               .szOsFile = sizeof(struct vfs_file),
                               .zName = "pw-test",
                               .xOpen = vfs_open,
                               .xDelete = vfs_delete,
                               .xAccess = vfs_access,
                               .xFullPathname = vfs_full_path,
                               .xRandomness = vfs_random,
                               .xSleep = vfs_sleep,
                               .xCurrentTime = vfs_time,
                               .xGetLastError = vfs_error};

/* Every database opened from now on goes through it, until vfs_remove. */
static inline void vfs_install(void)
{
    vfs_real = sqlite3_vfs_find(NULL);
    vfs_shim.mxPathname = vfs_real->mxPathname;
    sqlite3_vfs_register(&vfs_shim, 1);
}

static inline void vfs_remove(void)
{
    sqlite3_vfs_unregister(&vfs_shim);
}

#endif
