/* Shared by the files of the text room. */
#ifndef PW_OPS_TEXT_H
#define PW_OPS_TEXT_H

#include "base/text.h"
#include "op/op.h"

pw_status pw_text_normalize_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_text_concat_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_text_split_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_text_match_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_tfidf_infer(struct pw_call *call, struct pw_error *err);
void pw_tfidf_fill(const struct pw_call *call, int input, struct pw_fill *fill);
pw_status pw_tfidf_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_tfidf_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err); /* numbers only */

/* The bytes of a string attribute (they may hold NULs); empty when absent. */
struct pw_bytes pw_text_attr(const struct pw_call *call, const char *name);

/* One code point in the other case, by the C.UTF-8 locale; itself when it has none. */
uint32_t pw_text_to_lower(uint32_t code);
uint32_t pw_text_to_upper(uint32_t code);

/* ---- regular expressions (text_regex.c, text_regex_parse.c) ---- */

struct pw_regex;

/* Compiles RE2 syntax; an error names the pattern's byte. Size and nesting are bounded. */
pw_status pw_regex_compile(const char *pattern, size_t size, struct pw_regex **out, struct pw_error *err);
void pw_regex_destroy(struct pw_regex *regex);
/* Does the whole text match? Time is proportional to text times program. */
pw_status pw_regex_matches(const struct pw_regex *regex, const char *text, size_t size, bool *out,
                           struct pw_error *err);

#endif
