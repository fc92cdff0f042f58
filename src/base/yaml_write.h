/*
 * Printing of YAML that we write ourselves: one line an entry, flow maps, always the same text for the same
 * values, so that a review shows what changed and nothing else. Reads back through base/yaml.h.
 */
#ifndef PW_BASE_YAML_WRITE_H
#define PW_BASE_YAML_WRITE_H

#include "base/text.h"

/* "text" in double quotes with escapes; bytes that are no UTF-8 become '?', control characters escapes. */
void pw_yaml_put_quoted(struct pw_buf *out, const char *text);
/* Up to `digits` significant digits, shortest form: 2.9e-07, 0, inf as .inf; NaN as null. */
void pw_yaml_put_number(struct pw_buf *out, double value, int digits);

/* A flow map on one line: begin, keys with values, end. `first` starts true and says whether a comma is due. */
void pw_yaml_put_key(struct pw_buf *out, const char *key, bool *first); /* ", key: " */
void pw_yaml_put_text_of(struct pw_buf *out, const char *key, const char *text, bool *first);
void pw_yaml_put_word_of(struct pw_buf *out, const char *key, const char *word,
                         bool *first); /* unquoted, our own words */
void pw_yaml_put_number_of(struct pw_buf *out, const char *key, double value, int digits, bool *first);

#endif
