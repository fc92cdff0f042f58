/* Programs that a device's compiler refused, with what it said: a kernel that does not build would be compiled anew for
 * each of its cases, each time by a fresh worker where it comes from outside. */
#include <string.h>

#include "base/mem.h"
#include "target/device_internal.h"

enum { LOG_KEPT = 64 << 10 };

/* Of a plan's programs together. */
static struct pw_hash128 key_of(const struct pw_hash128 *keys, size_t count)
{
    return pw_hash128(keys, count * sizeof *keys);
}

static struct pw_device_failure *find(struct pw_device *device, struct pw_hash128 key)
{
    for (size_t i = 0; i < device->failed_count; i++)
        if (device->failed[i].key.high == key.high && device->failed[i].key.low == key.low)
            return &device->failed[i];
    return NULL;
}

bool pw_device_failed_before(struct pw_device *device, const struct pw_hash128 *keys, size_t count, const char *what,
                             struct pw_buf *log, struct pw_error *err)
{
    const struct pw_device_failure *known;

    if (!count)
        return false;
    pthread_mutex_lock(&device->mutex);
    known = find(device, key_of(keys, count));
    if (known) {
        pw_buf_puts(log, known->log);
        pw_error_set(err, PW_ERR_TARGET, "%s: %s", what, known->message);
    }
    pthread_mutex_unlock(&device->mutex);
    return known != NULL;
}

void pw_device_remember_failure(struct pw_device *device, const struct pw_hash128 *keys, size_t count,
                                const char *message, const char *log)
{
    struct pw_device_failure made = {.key = key_of(keys, count), .message = pw_strdup(message)};
    size_t length = pw_text_cut(log, LOG_KEPT);

    made.log = pw_strndup(log, length);
    pthread_mutex_lock(&device->mutex);
    if (made.message && made.log && !find(device, made.key)) {
        if (device->failed_count == PW_DEVICE_FAILURES) { /* the oldest is compiled again, if it is asked for */
            pw_free(device->failed[0].message);
            pw_free(device->failed[0].log);
            memmove(&device->failed[0], &device->failed[1], (PW_DEVICE_FAILURES - 1) * sizeof *device->failed);
            device->failed_count--;
        }
        device->failed[device->failed_count++] = made;
        made.message = made.log = NULL;
    }
    pthread_mutex_unlock(&device->mutex);
    pw_free(made.message);
    pw_free(made.log);
}

void pw_device_forget_failures(struct pw_device *device)
{
    for (size_t i = 0; i < device->failed_count; i++) {
        pw_free(device->failed[i].message);
        pw_free(device->failed[i].log);
    }
    device->failed_count = 0;
}
