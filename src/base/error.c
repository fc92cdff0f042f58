/* Status names and the one-message error record. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

static const char *const status_names[PW_STATUS_COUNT] = {
    [PW_OK] = "ok",
    [PW_ERR_NO_MEMORY] = "no memory",
    [PW_ERR_IO] = "input/output",
    [PW_ERR_FORMAT] = "format",
    [PW_ERR_MODEL] = "model",
    [PW_ERR_USAGE] = "usage",
    [PW_ERR_UNSUPPORTED] = "unsupported",
    [PW_ERR_TARGET] = "target",
    [PW_ERR_CRASH] = "crash",
    [PW_ERR_TIMEOUT] = "timeout",
    [PW_ERR_CANCELLED] = "cancelled",
    [PW_ERR_STORE] = "store",
    [PW_ERR_INTERNAL] = "internal",
};

const char *pw_status_name(pw_status status)
{
    if ((int)status < 0 || status >= PW_STATUS_COUNT)
        return "unknown status";
    return status_names[status];
}

pw_status pw_error_set(struct pw_error *err, pw_status status, const char *format, ...)
{
    if (err == NULL || err->status != PW_OK || status == PW_OK)
        return status;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->status = status;
    if (n < 0)
        err->message[0] = '\0';
    else if ((size_t)n >= sizeof err->message)
        err->message[pw_text_cut(err->message, sizeof err->message - 1)] = '\0';
    return status;
}

void pw_error_prefix(struct pw_error *err, const char *format, ...)
{
    if (err == NULL || err->status == PW_OK)
        return;
    char old[PW_ERROR_MAX];
    memcpy(old, err->message, sizeof old);
    old[sizeof old - 1] = '\0';
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used >= sizeof err->message)
        used = sizeof err->message - 1;
    int m = snprintf(err->message + used, sizeof err->message - used, ": %s", old);
    if (m < 0 || used + (size_t)m >= sizeof err->message)
        err->message[pw_text_cut(err->message, sizeof err->message - 1)] = '\0';
}

void pw_error_clear(struct pw_error *err)
{
    if (err == NULL)
        return;
    err->status = PW_OK;
    err->message[0] = '\0';
}
