/* Loading of a plugin target. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

typedef const struct pw_target *entry_function(void);

static const char *missing_slot(const struct pw_target *target)
{
    if (!target->open || !target->close || !target->describe)
        return "open, close and describe";
    if (!target->alloc || !target->free || !target->upload || !target->download)
        return "alloc, free, upload and download";
    if (!target->launch || !target->sync)
        return "launch and sync";
    if (!target->compile && !target->library_op)
        return "compile (or library_op)";
    if (target->compile && !target->release)
        return "release, which goes with compile";
    return NULL;
}

pw_status pw_plugin_open(const char *path, bool copy, int *fd, struct pw_error *err)
{
    struct stat st;
    *fd = -1;
    if (!copy)
        return PW_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int memory = memfd_create("plugin", MFD_CLOEXEC);
    off_t left = file >= 0 && fstat(file, &st) == 0 ? st.st_size : 0;
    ssize_t moved = 1;
    while (file >= 0 && memory >= 0 && left > 0 && moved > 0) {
        moved = sendfile(memory, file, NULL, (size_t)left);
        left -= moved > 0 ? moved : 0;
    }
    int error = errno;
    if (file >= 0)
        close(file);
    if (file >= 0 && memory >= 0 && left == 0) {
        *fd = memory;
        return PW_OK;
    }
    if (memory >= 0)
        close(memory);
    return pw_error_set(err, PW_ERR_TARGET, "plugin '%s': %s", path, strerror(error));
}

pw_status pw_plugin_load(const char *path, int fd, const struct pw_target **out, struct pw_error *err)
{
    entry_function *entry = NULL;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    bool readable = fd < 0 || access(path, R_OK) == 0;
    void *library = dlopen(readable ? path : name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return pw_error_set(err, PW_ERR_TARGET, "plugin '%s': %s", path, dlerror());
    void *symbol = dlsym(library, "pw_target_entry");
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast between the two kinds of pointer */
    const struct pw_target *target = entry ? entry() : NULL;
    const char *missing = target && target->abi == PW_TARGET_ABI ? missing_slot(target) : NULL;
    if (!entry)
        pw_error_set(err, PW_ERR_TARGET, "plugin '%s' does not export pw_target_entry", path);
    else if (!target)
        pw_error_set(err, PW_ERR_TARGET, "plugin '%s': pw_target_entry returned nothing", path);
    else if (target->abi != PW_TARGET_ABI)
        pw_error_set(err, PW_ERR_TARGET, "plugin '%s' speaks version %u of the target interface, expected %d", path,
                     target->abi, PW_TARGET_ABI);
    else if (missing)
        pw_error_set(err, PW_ERR_TARGET, "plugin '%s' lacks the required slots %s", path, missing);
    else
        *out = target;
    if (entry && target && target->abi == PW_TARGET_ABI && !missing)
        return PW_OK;
    dlclose(library);
    return PW_ERR_TARGET;
}
