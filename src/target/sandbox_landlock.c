/*
 * Files of a worker: landlock. The system calls and constants are our own, for the distributions' headers
 * are older than the kernels that run; which rights are handled is asked of the running kernel.
 *
 * What is readable is what PoCL 3.1 opens (found with strace) and what drivers of devices are known to
 * need: libraries, the list of OpenCL drivers, facts about the machine, the devices' nodes.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/sandbox_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* The same numbers on every architecture. */
#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_ADD_RULE 445
#define LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION_FLAG 1u
#define LANDLOCK_PATH_BENEATH 1

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15
};
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define READ (FS_READ_FILE | FS_READ_DIR)
#define DEVICE (FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_IOCTL_DEV)
#define SCRATCH                                                                                                        \
    (READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_REFER | FS_TRUNCATE)

/* What each version of the interface can handle, the largest last. */
static const struct abi {
    uint64_t fs, net, scoped;
    size_t attr_size;
    const char *refuses;
} abis[] = {
    {0x1fff, 0, 0, 8, "files and folders"},                     /* 1: Linux 5.13 */
    {0x3fff, 0, 0, 8, "renames and links between folders"},     /* 2: 5.19 */
    {0x7fff, 0, 0, 8, "truncation"},                            /* 3: 6.2 */
    {0x7fff, 0x3, 0, 16, "TCP"},                                /* 4: 6.7 */
    {0xffff, 0x3, 0, 16, "device ioctls"},                      /* 5: 6.10 */
    {0xffff, 0x3, 0x3, 24, "abstract sockets and signals out"}, /* 6: 6.12 */
};
#define ABI_COUNT ((int)(sizeof abis / sizeof *abis))

struct ruleset_attr {
    uint64_t handled_fs, handled_net, scoped;
};

struct path_attr {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

int pw_sandbox_landlock(void)
{
    long version = syscall(LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION_FLAG);
    return version > 0 ? (int)version : 0;
}

const char *pw_sandbox_landlock_refuses(int version)
{
    return version >= 1 && version <= ABI_COUNT ? abis[version - 1].refuses : NULL;
}

struct rules {
    int fd;
    uint64_t handled;
    pw_status status;
    struct pw_error *err;
};

/* A path that is not there needs no rule. */
static void allow(struct rules *rules, const char *path, uint64_t rights)
{
    struct stat st;
    if (rules->status != PW_OK || !path[0])
        return;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rights &= FS_OF_FILES;
    struct path_attr attr = {.allowed = rights & rules->handled, .parent_fd = fd};
    if (attr.allowed != 0 && syscall(LANDLOCK_ADD_RULE, rules->fd, LANDLOCK_PATH_BENEATH, &attr, 0u) != 0)
        rules->status = pw_error_set(rules->err, PW_ERR_TARGET, "landlock rule for '%s': %s", path, strerror(errno));
    close(fd);
}

/* Shell patterns, so that nodes and versions need no names here. */
static void allow_pattern(struct rules *rules, const char *pattern, uint64_t rights)
{
    glob_t found;
    if (!strpbrk(pattern, "*?[")) {
        allow(rules, pattern, rights);
        return;
    }
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        allow(rules, found.gl_pathv[i], rights);
    globfree(&found);
}

/* A list "a:b:c" of paths. */
static void allow_list(struct rules *rules, const char *list, uint64_t rights)
{
    while (list && *list) {
        size_t size = strcspn(list, ":");
        char *path = size > 0 ? pw_strndup(list, size) : NULL;
        if (path)
            allow(rules, path, rights);
        pw_free(path);
        list += size + (list[size] == ':');
    }
}

static const struct {
    const char *pattern;
    uint64_t rights;
} system_paths[] = {
    /* libraries, and the data of compilers */
    {"/usr/lib", READ},
    {"/usr/lib[0-9x]*", READ},
    {"/lib", READ},
    {"/lib[0-9x]*", READ},
    {"/usr/local/lib", READ},
    {"/usr/local/lib[0-9x]*", READ},
    {"/usr/share/pocl", READ},
    {"/usr/share/libdrm", READ},
    {"/opt/rocm*", READ},
    {"/opt/intel", READ},
    {"/etc/ld.so.cache", FS_READ_FILE},
    {"/etc/OpenCL", READ},
    /* facts about the machine */
    {"/proc/cpuinfo", FS_READ_FILE},
    {"/proc/meminfo", FS_READ_FILE},
    {"/proc/devices", FS_READ_FILE},
    {"/proc/self", READ},
    {"/proc/driver/nvidia", READ},
    {"/sys/devices", READ},
    {"/sys/bus", READ},
    {"/sys/class/drm", READ},
    {"/sys/class/kfd", READ},
    {"/sys/dev", READ},
    {"/sys/module/nvidia*", READ},
    {"/sys/kernel/mm/hugepages", READ},
    {"/sys/fs/cgroup", READ},
    /* devices */
    {"/dev/null", FS_READ_FILE | FS_WRITE_FILE},
    {"/dev/zero", FS_READ_FILE},
    {"/dev/urandom", FS_READ_FILE},
    {"/dev/random", FS_READ_FILE},
    {"/dev/nvidia*", DEVICE},
    {"/dev/dri", DEVICE},
    {"/dev/kfd", DEVICE},
    {"/dev/dxg", DEVICE},
    {"/dev/accel", DEVICE},
    {"/dev/mali*", DEVICE},
    /* the linker, and what starts it */
    {"/usr/bin/ld", FS_READ_FILE | FS_EXECUTE},
    {"/usr/bin/ld.lld", FS_READ_FILE | FS_EXECUTE},
    {"/usr/lib/llvm-*/bin/ld.lld", FS_READ_FILE | FS_EXECUTE},
    {"/lib64/ld-linux-x86-64.so.2", FS_READ_FILE | FS_EXECUTE},
    {"/lib64/ld64.so.2", FS_READ_FILE | FS_EXECUTE},
    {"/lib/ld-linux-*.so.*", FS_READ_FILE | FS_EXECUTE},
    {"/lib/ld-musl-*.so.1", FS_READ_FILE | FS_EXECUTE},
};

/* Variables that say where drivers are. */
static const struct {
    const char *name;
    uint64_t rights;
} path_variables[] = {
    {"OCL_ICD_VENDORS", READ}, {"OCL_ICD_FILENAMES", READ},       {"OPENCL_VENDOR_PATH", READ},
    {"LD_LIBRARY_PATH", READ}, {"PORTWRIGHT_SANDBOX_READ", READ}, {"PORTWRIGHT_SANDBOX_DEVICES", DEVICE},
};

#define ICD_MAX_BYTES 4096

/* The folder of a driver whose .icd file names it by a whole path. */
static void allow_driver(struct rules *rules, const char *icd)
{
    struct pw_buf text = {0}, folder = {0};
    if (pw_file_read(icd, ICD_MAX_BYTES, &text, NULL) == PW_OK && text.size > 0 && text.data[0] == '/') {
        text.data[strcspn(text.data, "\r\n")] = '\0';
        pw_file_dirname(&folder, text.data);
        if (!folder.failed && strcmp(folder.data, "/") != 0)
            allow(rules, folder.data, READ);
    }
    pw_buf_clear(&text);
    pw_buf_clear(&folder);
}

static void allow_drivers(struct rules *rules)
{
    const char *vendors = getenv("OCL_ICD_VENDORS");
    struct pw_buf path = {0};
    char **names = NULL;
    size_t count = 0;
    if (!vendors || !vendors[0])
        vendors = "/etc/OpenCL/vendors";
    if (!pw_file_is_dir(vendors)) {
        allow_driver(rules, vendors);
        return;
    }
    if (pw_file_list(vendors, &names, &count, NULL) != PW_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        pw_file_join(&path, vendors, names[i]);
        if (!path.failed)
            allow_driver(rules, path.data);
    }
    pw_buf_clear(&path);
    pw_free(names);
}

pw_status pw_landlock_prepare(const struct pw_sandbox_policy *policy, int *ruleset, struct pw_error *err)
{
    int version = pw_sandbox_landlock();
    *ruleset = -1;
    if (version == 0)
        return PW_OK;
    const struct abi *abi = &abis[(version < ABI_COUNT ? version : ABI_COUNT) - 1];
    struct ruleset_attr attr = {abi->fs, abi->net, abi->scoped};
    struct rules rules = {.handled = abi->fs, .status = PW_OK, .err = err};
    rules.fd = (int)syscall(LANDLOCK_CREATE_RULESET, &attr, abi->attr_size, 0u);
    if (rules.fd < 0)
        return pw_error_set(err, PW_ERR_TARGET, "landlock ruleset: %s", strerror(errno));
    for (size_t i = 0; i < PW_COUNT_OF(system_paths); i++)
        allow_pattern(&rules, system_paths[i].pattern, system_paths[i].rights);
    for (size_t i = 0; i < PW_COUNT_OF(path_variables); i++)
        allow_list(&rules, getenv(path_variables[i].name), path_variables[i].rights);
    allow_drivers(&rules);
    if (policy->plugin)
        allow(&rules, policy->plugin, FS_READ_FILE);
    if (policy->scratch_dir)
        allow(&rules, policy->scratch_dir, SCRATCH);
    if (rules.status != PW_OK)
        close(rules.fd);
    else
        *ruleset = rules.fd;
    return rules.status;
}

pw_status pw_landlock_enforce(int ruleset, struct pw_error *err)
{
    if (ruleset < 0)
        return PW_OK;
    long rc = syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0u);
    int error = errno;
    close(ruleset);
    if (rc != 0)
        return pw_error_set(err, PW_ERR_TARGET, "landlock: %s", strerror(error));
    return PW_OK;
}
