/*
 * What chips of the tests that compute in host memory share: buffers, copies, failing with a message. Included by
 * plugins, which are one C file each over target/target.h. No locks: a device has one thread.
 */
#ifndef PW_TESTS_PLUGIN_HOST_H
#define PW_TESTS_PLUGIN_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_ALIGNMENT 64

struct memory {
    void *data; /* of HOST_ALIGNMENT bytes more than size: a test may run over the end without harm to the process */
    size_t size;
};

static inline int fail(char *message, size_t size, const char *text)
{
    snprintf(message, size, "%s", text);
    return -1;
}

static inline int host_alloc(void *device, size_t size, void *host, bool read_only, void **buffer, char *message,
                             size_t message_size)
{
    struct memory *memory = calloc(1, sizeof *memory);

    (void)device;
    (void)host;
    (void)read_only;
    if (memory && size < SIZE_MAX - 2 * HOST_ALIGNMENT)
        memory->data = aligned_alloc(HOST_ALIGNMENT, (size / HOST_ALIGNMENT + 2) * HOST_ALIGNMENT);
    if (!memory || !memory->data) {
        free(memory);
        return fail(message, message_size, "no memory");
    }
    memory->size = size;
    *buffer = memory;
    return 0;
}

static inline void host_free(void *device, void *buffer)
{
    struct memory *memory = buffer;

    (void)device;
    free(memory->data);
    free(memory);
}

static inline int host_upload(void *device, void *buffer, const void *from, size_t size, char *message,
                              size_t message_size)
{
    const struct memory *memory = buffer;

    (void)device;
    if (size > memory->size)
        return fail(message, message_size, "upload of more than the buffer");
    memcpy(memory->data, from, size);
    return 0;
}

static inline int host_download(void *device, void *buffer, void *to, size_t size, char *message, size_t message_size)
{
    const struct memory *memory = buffer;

    (void)device;
    if (size > memory->size)
        return fail(message, message_size, "download of more than the buffer");
    memcpy(to, memory->data, size);
    return 0;
}

static inline int host_sync(void *device, char *message, size_t message_size)
{
    (void)device;
    (void)message;
    (void)message_size;
    return 0;
}

#endif
