/* Mapped files with a SIGBUS guard. The handler only reads atomics and calls mmap. */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"

#define SLOTS 4096

/* A slot is used while begin != 0. The handler may run at any moment in any thread. */
static struct slot {
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end; /* whole pages */
    _Atomic bool damaged;
    bool taken; /* under `lock` */
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool handler_installed;
static struct sigaction before_us;
static uintptr_t page_bytes;

static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    if ((before_us.sa_flags & SA_SIGINFO) != 0 && before_us.sa_sigaction != NULL) {
        before_us.sa_sigaction(signal_number, info, context);
    } else if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) {
        before_us.sa_handler(signal_number);
    } else {
        /* The instruction faults again after the return, now with the default's effect. */
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal_number, &plain, NULL);
    }
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    int saved_errno = errno;
    for (int i = 0; i < SLOTS; i++) {
        uintptr_t begin = atomic_load(&slots[i].begin);
        uintptr_t end = atomic_load(&slots[i].end);
        if (begin == 0 || address < begin || address >= end)
            continue;
        uintptr_t page = address / page_bytes * page_bytes;
        atomic_store(&slots[i].damaged, true);
        void *zeros = mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        errno = saved_errno;
        if (zeros != MAP_FAILED)
            return;
        break;
    }
    pass_on(signal_number, info, context);
}

/* Under `lock`. */
static pw_status install_handler(struct pw_error *err)
{
    if (handler_installed)
        return PW_OK;
    long page = sysconf(_SC_PAGESIZE);
    page_bytes = page > 0 ? (uintptr_t)page : 4096;
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &before_us) != 0)
        return pw_error_set(err, PW_ERR_INTERNAL, "cannot install the SIGBUS handler: %s", strerror(errno));
    handler_installed = true;
    return PW_OK;
}

/* Maps fd and registers the range. */
static pw_status map_file(struct pw_mapping *map, int fd, size_t size, const char *path, struct pw_error *err)
{
    pw_status status = PW_OK;
    pthread_mutex_lock(&lock);
    int index = 0;
    while (index < SLOTS && slots[index].taken)
        index++;
    status = install_handler(err);
    if (status != PW_OK)
        goto done;
    if (index == SLOTS) {
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "'%s': more than %d files are mapped", path, SLOTS);
        goto done;
    }
    uintptr_t span = (size + page_bytes - 1) / page_bytes * page_bytes;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        status = pw_error_set(err, PW_ERR_IO, "cannot map '%s' (%zu bytes): %s", path, size, strerror(errno));
        goto done;
    }
    struct slot *slot = &slots[index];
    slot->taken = true;
    atomic_store(&slot->damaged, false);
    atomic_store(&slot->end, (uintptr_t)data + span);
    atomic_store(&slot->begin, (uintptr_t)data);
    map->data = data;
    map->size = size;
    map->slot = index + 1;
done:
    pthread_mutex_unlock(&lock);
    return status;
}

pw_status pw_mapping_open(struct pw_mapping *map, const char *path, struct pw_error *err)
{
    pw_status status = PW_OK;
    struct stat facts;
    /* Without O_NONBLOCK, opening a FIFO would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pw_error_set(err, PW_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (fstat(fd, &facts) != 0) {
        status = pw_error_set(err, PW_ERR_IO, "cannot examine '%s': %s", path, strerror(errno));
    } else if (!S_ISREG(facts.st_mode)) {
        status = pw_error_set(err, PW_ERR_IO, "'%s' is %s, expected a regular file", path,
                              S_ISDIR(facts.st_mode) ? "a directory" : "a device, pipe or socket");
    } else if (facts.st_size < 0 || (uint64_t)facts.st_size > PTRDIFF_MAX) {
        status = pw_error_set(err, PW_ERR_IO, "'%s' is too large to map", path);
    } else if (facts.st_size == 0) {
        *map = (struct pw_mapping){0};
    } else {
        status = map_file(map, fd, (size_t)facts.st_size, path, err);
    }
    close(fd);
    return status;
}

bool pw_mapping_damaged(const struct pw_mapping *map)
{
    return map->slot != 0 && atomic_load(&slots[map->slot - 1].damaged);
}

void pw_mapping_close(struct pw_mapping *map)
{
    if (map->slot != 0) {
        struct slot *slot = &slots[map->slot - 1];
        uintptr_t begin = atomic_load(&slot->begin);
        pthread_mutex_lock(&lock);
        /* Unregistered first: a range that others get from mmap afterwards must not be ours. */
        atomic_store(&slot->begin, 0);
        munmap((void *)begin, map->size);
        slot->taken = false;
        pthread_mutex_unlock(&lock);
    }
    *map = (struct pw_mapping){0};
}
