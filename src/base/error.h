/*
 * Status codes and the error that explains them.
 *
 * Every function that can fail returns a pw_status and takes a caller-owned
 * struct pw_error. The first message wins: later calls to pw_error_set keep the
 * existing text, so the innermost cause survives; pw_error_prefix adds context
 * (file, node) in front of it. No allocation, safe from any thread as long as
 * each thread has its own struct. err may be NULL everywhere.
 */
#ifndef PW_BASE_ERROR_H
#define PW_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define PW_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define PW_PRINTF(fmt, first)
#endif

typedef enum {
    PW_OK = 0,
    PW_ERR_NO_MEMORY,   /* an allocation failed */
    PW_ERR_IO,          /* open, read, write, rename… failed; the message has strerror */
    PW_ERR_FORMAT,      /* bytes that are not what they should be (model, YAML, reply) */
    PW_ERR_MODEL,       /* a well-formed graph that breaks ONNX's rules */
    PW_ERR_USAGE,       /* what the user asked for makes no sense */
    PW_ERR_UNSUPPORTED, /* valid, but not served here; the message says why */
    PW_ERR_TARGET,      /* the device failed or could not be used */
    PW_ERR_CRASH,       /* the worker process died */
    PW_ERR_TIMEOUT,     /* a deadline passed */
    PW_ERR_CANCELLED,   /* the user stopped it */
    PW_ERR_STORE,       /* the database refused */
    PW_ERR_INTERNAL,    /* our bug */
    PW_STATUS_COUNT
} pw_status;

#define PW_ERROR_MAX 1024

struct pw_error {
    pw_status status;           /* PW_OK while empty */
    char message[PW_ERROR_MAX]; /* UTF-8, one line unless it quotes a log; sanitised when shown */
};

/* Records status and message unless err already holds one. Returns status, so that
 * callers write `return pw_error_set(err, PW_ERR_FORMAT, "…", …);`. */
pw_status pw_error_set(struct pw_error *err, pw_status status, const char *format, ...) PW_PRINTF(3, 4);

/* Puts "<text>: " before the message that is there; does nothing when err is empty. */
void pw_error_prefix(struct pw_error *err, const char *format, ...) PW_PRINTF(2, 3);

/* Forgets the message. */
void pw_error_clear(struct pw_error *err);

/* "no memory", "format", …; never NULL. */
const char *pw_status_name(pw_status status);

#endif
