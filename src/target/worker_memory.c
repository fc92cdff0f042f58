/*
 * Memory of the worker's own between guard pages (what is shared: worker_windows.c), and a fault handler that says
 * which buffer was overrun. The handler only uses write(2) and the table below, which changes only while
 * no kernel runs.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "target/sandbox.h"
#include "target/worker.h"

static pw_status reserve(size_t body, struct pw_worker_buffer *out, struct pw_error *err)
{
    out->reserved = body + 2 * PW_WORKER_GUARD_BYTES;
    void *base = mmap(NULL, out->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        out->reserved = 0;
        return pw_error_set(err, PW_ERR_TARGET, "no address space for a buffer of %zu bytes: %s", body,
                            strerror(errno));
    }
    out->base = base;
    return PW_OK;
}

pw_status pw_worker_private(size_t size, size_t alignment, struct pw_worker_buffer *out, struct pw_error *err)
{
    size_t page = pw_shm_page();
    if (size > (SIZE_MAX >> 3))
        return pw_error_set(err, PW_ERR_TARGET, "a buffer of %zu bytes is too large", size);
    size_t room = (size + alignment - 1) / alignment * alignment;
    size_t body = (room + page) / page * page;
    pw_status status = reserve(body, out, err);
    if (status != PW_OK)
        return status;
    if (mprotect(out->base + PW_WORKER_GUARD_BYTES, body, PROT_READ | PROT_WRITE) != 0)
        return pw_error_set(err, PW_ERR_TARGET, "a buffer of %zu bytes: %s", size, strerror(errno));
    out->data = out->base + PW_WORKER_GUARD_BYTES + body - room;
    out->size = size;
    return PW_OK;
}

void pw_worker_unmap(struct pw_worker_buffer *buffer)
{
    if (buffer->reserved > 0 && !buffer->window)
        munmap(buffer->base, buffer->reserved);
    memset(buffer, 0, sizeof *buffer);
}

/* ---- faults ---- */

#define WATCH_MAX 256
static struct {
    uintptr_t low, high; /* reserved range */
    uintptr_t data;
    size_t size;
    bool read_only;
    char name[32];
} watched[WATCH_MAX];
static volatile sig_atomic_t watched_count;

void pw_worker_watch_clear(void)
{
    watched_count = 0;
}

void pw_worker_watch_add(const struct pw_worker_buffer *buffer, const char *name, bool read_only)
{
    int i = watched_count;
    if (i >= WATCH_MAX || buffer->reserved == 0)
        return;
    watched[i].low = (uintptr_t)buffer->base;
    watched[i].high = (uintptr_t)buffer->base + buffer->reserved;
    watched[i].data = (uintptr_t)buffer->data;
    watched[i].size = buffer->size;
    watched[i].read_only = read_only;
    snprintf(watched[i].name, sizeof watched[i].name, "%s", name);
    watched_count = i + 1;
}

/* Text building without stdio: safe in a signal handler. */
struct line {
    char text[256];
    size_t size;
};

static void line_puts(struct line *line, const char *s)
{
    while (*s && line->size < sizeof line->text - 1)
        line->text[line->size++] = *s++;
}

static void line_number(struct line *line, uintptr_t value, unsigned base)
{
    char digits[24];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    do {
        digits[--n] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    line_puts(line, digits + n);
}

static const char *access_kind(const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *machine = context;
    return machine->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
#else
    (void)context;
    return "access";
#endif
}

static void explain_place(struct line *line, uintptr_t at)
{
    for (int i = 0; i < watched_count; i++) {
        if (at < watched[i].low || at >= watched[i].high)
            continue;
        if (at < watched[i].data) {
            line_number(line, watched[i].data - at, 10);
            line_puts(line, " bytes before ");
        } else if (at >= watched[i].data + watched[i].size) {
            line_number(line, at - watched[i].data - watched[i].size, 10);
            line_puts(line, " bytes past the end of ");
        } else {
            line_puts(line, "byte ");
            line_number(line, at - watched[i].data, 10);
            line_puts(line, watched[i].read_only ? " of the read-only " : " of ");
        }
        line_puts(line, watched[i].name);
        line_puts(line, " (");
        line_number(line, watched[i].size, 10);
        line_puts(line, " bytes)");
        return;
    }
    line_puts(line, "address 0x");
    line_number(line, at, 16);
    line_puts(line, ", in no buffer");
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct line line = {.size = 0};
    line_puts(&line, "fault: ");
    if (info->si_code == SI_KERNEL) {
        /* The processor does not say which. */
        line_puts(&line, "access " PW_WORKER_FAULT_NOWHERE ", in no buffer");
    } else {
        line_puts(&line, access_kind(context));
        line_puts(&line, " at ");
        explain_place(&line, (uintptr_t)info->si_addr);
    }
    line_puts(&line, "\n");
    ssize_t unused = write(STDERR_FILENO, line.text, line.size);
    (void)unused;
    /* Returning repeats the access, which now ends the process by the same signal. */
    signal(number, SIG_DFL);
}

/* A call that the sandbox traps. A driver that starts is told no, as by any system that is configured so; while a
 * kernel runs such a call is the kernel's, and the end. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    struct line line = {.size = 0};
    const char *name = pw_sandbox_call_name(info->si_syscall);
    line_puts(&line, "sandbox: refused the system call ");
    line_puts(&line, name ? name : "number ");
    if (!name)
        line_number(&line, (uintptr_t)info->si_syscall, 10);
    line_puts(&line, "\n");
    ssize_t unused = write(STDERR_FILENO, line.text, line.size);
    (void)unused;
#if defined(__x86_64__)
    ucontext_t *machine = context;
    machine->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
    ucontext_t *machine = context;
    machine->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
    (void)context;
#endif
    if (watched_count > 0) {
        signal(number, SIG_DFL);
        raise(number); /* comes when this handler returns */
    }
}

void pw_worker_watch_faults(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    action.sa_sigaction = on_trap;
    sigaction(SIGSYS, &action, NULL);
}
