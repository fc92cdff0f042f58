/* A file of the test program's own: its name, and fixtures of a group that make it, empty, and remove it. */
#ifndef PW_TESTS_SCRATCH_FILE_H
#define PW_TESTS_SCRATCH_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static inline int scratch_file_make(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof path, "/tmp/pw-test-XXXXXX");
    fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static inline int scratch_file_remove(void **state)
{
    (void)state;
    return unlink(path);
}

#endif
