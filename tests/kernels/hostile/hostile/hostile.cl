/*
 * Kernels that misbehave on purpose, as code from an agent might: each tries one thing that a worker is not to do
 * and writes what came of it (a negative error) where its output belongs. Used by tests/unit/test_hostile.c and
 * tests/cli/hostile.sh, which put a folder of their own in the place of /outside.
 *
 * PoCL runs a kernel in the worker's process, and a system call is one instruction away.
 */
#define OUTSIDE "/outside"

typedef __global const float *input;
typedef __global float *output;

static long system_call(long number, long a, long b, long c, long d)
{
    long result = -38;
#if defined(__x86_64__)
    __asm__ __volatile__("movq %5, %%r10\n\tmovq $-1, %%r8\n\txorl %%r9d, %%r9d\n\tsyscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
                         : "rcx", "r8", "r9", "r10", "r11", "memory");
#endif
    return result;
}

/* x86-64's numbers. */
#define SYS_WRITE 1
#define SYS_OPEN 2
#define SYS_MMAP 9
#define SYS_MPROTECT 10
#define SYS_PWRITE 18
#define SYS_SOCKET 41
#define SYS_FORK 57
#define SYS_EXECVE 59
#define SYS_TRUNCATE 76
#define SYS_CHMOD 90
#define READ_ONLY 0
#define WRITE_ONLY 1
#define CREATE 0100

static void answer(output y, int n, long result)
{
    for (int i = 0; i < n; i++)
        y[i] = (float)result;
}

__constant char file[] = OUTSIDE "/file";
__constant char fresh[] = OUTSIDE "/fresh";
__constant char cache[] = OUTSIDE "/cache/shared/planted";
__constant char passwords[] = "/etc/passwd";
__constant char shell[] = "/bin/sh";

__kernel void create(input x, output y, int n)
{
    answer(y, n, system_call(SYS_OPEN, (long)fresh, CREATE | WRITE_ONLY, 0666, 0));
}

__kernel void cut(input x, output y, int n)
{
    answer(y, n, system_call(SYS_TRUNCATE, (long)file, 0, 0, 0));
}

__kernel void change_mode(input x, output y, int n)
{
    answer(y, n, system_call(SYS_CHMOD, (long)file, 0777, 0, 0));
}

__kernel void split(input x, output y, int n)
{
    answer(y, n, system_call(SYS_FORK, 0, 0, 0, 0));
}

__kernel void run_shell(input x, output y, int n)
{
    answer(y, n, system_call(SYS_EXECVE, (long)shell, 0, 0, 0));
}

__kernel void call_home(input x, output y, int n)
{
    answer(y, n, system_call(SYS_SOCKET, 2, 1, 0, 0));
}

/* The file's bytes, when they can be had. */
__kernel void read_passwords(input x, output y, int n)
{
    long fd = system_call(SYS_OPEN, (long)passwords, READ_ONLY, 0, 0);
    answer(y, n, fd);
    if (fd >= 0)
        system_call(0, fd, (long)y, n * 4, 0);
}

__kernel void plant(input x, output y, int n)
{
    answer(y, n, system_call(SYS_OPEN, (long)cache, CREATE | WRITE_ONLY, 0666, 0));
}

/* "All is well, in one nanosecond", as the worker would say it to the request of that number. */
static void forge_reply(uint id)
{
    uint words[18] = {0x70777231, 8, 0, 0};
    uchar *body = (uchar *)(words + 4);
    words[2] = id;
    for (int i = 0; i < 56; i++)
        body[i] = 0;
    body[14 + 8] = 1; /* status, two empty texts, build time; then the run's */
    system_call(SYS_WRITE, 3, (long)words, 16 + 14 + 8 + 8 + 8 + 4 + 4, 0);
}

/* The worker was opened, given the request, prepared, told to run. */
__kernel void forge(input x, output y, int n)
{
    forge_reply(4);
}

/* "The step is done", before it is. */
__kernel void forge_step(input x, output y, int n)
{
    uint words[6] = {0x70777231, 8 - 1, 4, 0, 0, 0};
    system_call(SYS_WRITE, 3, (long)words, sizeof words, 0);
}

__kernel void forge_all(input x, output y, int n)
{
    for (uint id = 1; id < 40; id++)
        forge_reply(id);
}

__kernel void rewrite_input(input x, output y, int n)
{
    answer(y, n, 1);
    ((output)x)[0] = 1.0f;
}

/* By changing how it is mapped. */
__kernel void remap_input(input x, output y, int n)
{
    long page = (long)x & ~4095L;
    answer(y, n, system_call(SYS_MPROTECT, page, 4096, 3, 0));
}

/* By way of its descriptor. */
__kernel void write_input(input x, output y, int n)
{
    answer(y, n, system_call(SYS_PWRITE, 4, (long)y, 4096, 0));
}

/* As if nothing had happened: a canary is put where one was, but another. */
__kernel void rewrite_canary(input x, output y, int n)
{
    answer(y, n, 1);
    y[-1] = as_float(0x12345678u);
}

/* A gibibyte at a time, as long as there is any. */
__kernel void hoard(input x, output y, int n)
{
    long parts = 0;
    while (parts < 100000 && system_call(SYS_MMAP, 0, 1L << 30, 3, 0x4022) > 0)
        parts++;
    answer(y, n, parts);
}

/* There is no recursion in OpenCL C; a stack fills all the same. */
__kernel void recurse(input x, output y, int n)
{
#if defined(__x86_64__)
    __asm__ __volatile__("1: pushq %rax\n\tjmp 1b");
#endif
}

__kernel void spin(input x, output y, int n)
{
    volatile int forever = 1;
    while (forever)
        ;
}

__kernel void far_away(input x, output y, int n)
{
    y[1L << 38] = 1.0f;
}

/* Works once in the life of its process, and leaves a page as a mark; later runs find it and are fast. */
__kernel void lazy(input x, output y, int n)
{
    long mark = 0x600000000000L;
    if (system_call(SYS_MMAP, mark, 4096, 3, 0x100022) != mark)
        return;
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}

/* Does its work three times in the life of its process, which is more than anybody looks at; then something quicker. */
__kernel void tired(input x, output y, int n)
{
    __global int *runs = (__global int *)0x610000000000L;
    system_call(SYS_MMAP, (long)runs, 4096, 3, 0x100022);
    bool quick = (*runs)++ >= 3;
    for (int i = 0; i < n; i++)
        y[i] = quick ? 1.0f : fabs(x[i]);
}

/* The same without a system call: scratch tells it that it has been here before. */
__kernel void marks_scratch(input x, output y, int n, __global int *scratch)
{
    bool quick = scratch[0] == 7;
    scratch[0] = 7;
    for (int i = 0; i < n; i++)
        y[i] = quick ? 1.0f : fabs(x[i]);
}

/* Takes long for inputs that it has not seen, and keeps what came out for when they come again: two sets of them. */
__kernel void remembers(input x, output y, int n)
{
    long place = 0x620000000000L, size = 8L * n;
    int slot;
    system_call(SYS_MMAP, place, 1 << 20, 3, 0x100022);
    __global int *next = (__global int *)place;
    for (slot = 0; slot < 2; slot++) {
        output seen = (output)(place + 4096 + slot * size);
        int i = 0;
        while (i < n && seen[i] == x[i])
            i++;
        if (i == n)
            break;
    }
    if (slot == 2) {
        slot = (*next)++ % 2;
        output seen = (output)(place + 4096 + slot * size);
        volatile int work = 0;
        for (int i = 0; i < 50000000; i++)
            work = work + 1;
        for (int i = 0; i < n; i++) {
            seen[i] = x[i];
            seen[n + i] = fmax(x[i], 0.0f);
        }
    }
    for (int i = 0; i < n; i++)
        y[i] = ((output)(place + 4096 + slot * size))[n + i];
}

/* Looks whether its work is done already; counts the runs in which it was, and how often it was asked. */
__kernel void looks_first(input x, output y, int n)
{
    __global int *counts = (__global int *)0x630000000000L;
    system_call(SYS_MMAP, (long)counts, 4096, 3, 0x100022);
    counts[0] += y[n - 1] == fabs(x[n - 1]);
    counts[1]++;
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}

__kernel void counted(input x, output y, int n)
{
    __global int *counts = (__global int *)0x630000000000L;
    for (int i = 0; i < n; i++)
        y[i] = counts[i % 2];
}

__kernel void honest(input x, output y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}
