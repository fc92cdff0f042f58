/* Parts of the sanitizer: reading what Oclgrind says. Used by sanitize*.c and their test. */
#ifndef PW_VERIFY_SANITIZE_INTERNAL_H
#define PW_VERIFY_SANITIZE_INTERNAL_H

#include "verify/sanitize.h"

struct pw_complaint {
    pw_finding_kind kind;
    char text[256]; /* its first line */
    char entry[128];
    char file[128];
    int line; /* 0 unknown */
};

/* Reads the complaints of a log, up to cap; hostile text is fine. Returns how many. */
size_t pw_sanitize_complaints(const char *log, struct pw_complaint *out, size_t cap);

/* Line `line` of file `file` in a program's source, or "". */
void pw_sanitize_quote(const char *source, const char *file, int line, char *dst, size_t size);

#endif
