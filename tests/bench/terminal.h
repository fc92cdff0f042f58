/*
 * The workbench on a pseudo-terminal, for benchmarks: starts it, types, and reads until a text has been painted. A
 * key's paint is recognised by a glyph that nothing else draws.
 */
#ifndef PW_TESTS_BENCH_TERMINAL_H
#define PW_TESTS_BENCH_TERMINAL_H

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_MAX = 1 << 16 };

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct terminal {
    int fd;
    pid_t child;
    char tail[32]; /* of what came last: a glyph may come in two reads */
    size_t tail_size;
};

/* Starts the workbench; target NULL: its default. False says why on stderr. */
static bool start(struct terminal *terminal, const char *model, const char *dims, const char *target)
{
    struct winsize size = {.ws_row = 50, .ws_col = 160};

    *terminal = (struct terminal){.fd = -1};
    terminal->child = forkpty(&terminal->fd, NULL, NULL, &size);
    if (terminal->child < 0) {
        perror("forkpty");
        return false;
    }
    if (terminal->child == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        execl(getenv("PORTWRIGHT"), "portwright", model, "--dim", dims, "--db", "bench.db", target ? "--target" : NULL,
              target, (char *)NULL);
        _exit(127);
    }
    return true;
}

static void stop(struct terminal *terminal)
{
    int64_t until = now_ns() + (int64_t)20 * 1000000000;

    kill(terminal->child, SIGTERM);
    while (waitpid(terminal->child, NULL, WNOHANG) == 0 && now_ns() < until) {
        char bytes[4096];
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};

        if (poll(&wait, 1, 50) > 0 && read(terminal->fd, bytes, sizeof bytes) < 0)
            usleep(1000);
    }
    kill(terminal->child, SIGKILL);
    waitpid(terminal->child, NULL, WNOHANG);
    close(terminal->fd);
}

/* Reads until the text comes; the time, or -1 when it never did. */
static int64_t until_shown(struct terminal *terminal, const char *text, int64_t limit_ns)
{
    static char bytes[READ_MAX + 16];
    int64_t end = now_ns() + limit_ns;

    while (now_ns() < end) {
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
        ssize_t got;
        size_t size;

        if (poll(&wait, 1, 100) <= 0)
            continue;
        memcpy(bytes, terminal->tail, terminal->tail_size);
        got = read(terminal->fd, bytes + terminal->tail_size, READ_MAX);
        if (got <= 0)
            return -1;
        size = terminal->tail_size + (size_t)got;
        if (memmem(bytes, size, text, strlen(text))) {
            terminal->tail_size = 0;
            return now_ns();
        }
        terminal->tail_size = size < sizeof terminal->tail - 1 ? size : sizeof terminal->tail - 1;
        memmove(terminal->tail, bytes + size - terminal->tail_size, terminal->tail_size);
    }
    return -1;
}

/* When the frame was painted first, and when the inventory's heads stood; -1: never. */
__attribute__((unused)) static void first_paints(struct terminal *terminal, int64_t *frame, int64_t *inventory)
{
    static char bytes[READ_MAX];
    size_t size = 0;
    int64_t end = now_ns() + (int64_t)60 * 1000000000;

    *frame = *inventory = -1;
    while (now_ns() < end && *inventory < 0 && size < sizeof bytes) {
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
        ssize_t got;

        if (poll(&wait, 1, 100) <= 0)
            continue;
        got = read(terminal->fd, bytes + size, sizeof bytes - size);
        if (got <= 0)
            return;
        size += (size_t)got;
        if (*frame < 0 && memmem(bytes, size, "portwright", strlen("portwright")))
            *frame = now_ns();
        if (memmem(bytes, size, "operator", strlen("operator")))
            *inventory = now_ns();
    }
}

static void drain(struct terminal *terminal, int quiet_ms)
{
    char bytes[4096];
    struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
    int64_t end = now_ns() + (int64_t)2 * 1000000000;

    while (now_ns() < end && poll(&wait, 1, quiet_ms) > 0 && read(terminal->fd, bytes, sizeof bytes) > 0)
        ;
    terminal->tail_size = 0;
}

static bool keys(const struct terminal *terminal, const char *text)
{
    return write(terminal->fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

#endif
