/* Inside of src/op/cases*.c: a cursor over case text. */
#ifndef PW_OP_CASES_INTERNAL_H
#define PW_OP_CASES_INTERNAL_H

#include "op/cases.h"

struct pw_case_text {
    const char *at, *end;
};

void pw_case_skip(struct pw_case_text *text);           /* blanks */
bool pw_case_accept(struct pw_case_text *text, char c); /* after blanks */
/* The next word, up to a blank, or one of `stops` outside quotes, or the end. False when there is none. */
bool pw_case_word(struct pw_case_text *text, const char *stops, struct pw_case_text *word);
/* The text up to `close` that matches the bracket just read; quotes and nested brackets are skipped. */
bool pw_case_span(struct pw_case_text *text, char open, char close, struct pw_case_text *inner);
/* 'text' with \\, \', \n, \t, \0; appended to out. False when it is not that. */
bool pw_case_quoted(const struct pw_case_text *word, struct pw_buf *out);
bool pw_case_int(const struct pw_case_text *word, int64_t *out);
bool pw_case_number(const struct pw_case_text *word, double *out); /* nan, inf, -inf too */

#endif
