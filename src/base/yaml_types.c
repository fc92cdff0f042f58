/* Typed reads of YAML nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "base/yaml.h"

static const char *kind_name(const struct pw_yaml *node)
{
    static const char *const names[] = {"text", "a list", "a map"};
    return names[node->kind];
}

/* "expected an integer, found 'abc'". */
static pw_status wrong(const struct pw_yaml *node, const char *expected, struct pw_error *err)
{
    char shown[160];
    if (node->kind != PW_YAML_SCALAR)
        return pw_yaml_error(node, err, "expected %s, found %s", expected, kind_name(node));
    return pw_yaml_error(node, err, "expected %s, found %s'%s'", expected, node->quoted ? "the quoted text " : "",
                         pw_text_show(shown, sizeof shown, node->text, 60));
}

static bool is_plain(const struct pw_yaml *node)
{
    return node->kind == PW_YAML_SCALAR && !node->quoted;
}

static bool hex_int64(const char *text, int64_t *out)
{
    uint64_t value = 0;
    if (!pw_text_starts(text, "0x") || text[2] == '\0' || strlen(text) > 2 + 16)
        return false;
    for (const char *c = text + 2; *c != '\0'; c++) {
        unsigned digit = *c >= '0' && *c <= '9'   ? (unsigned)(*c - '0')
                         : *c >= 'a' && *c <= 'f' ? (unsigned)(*c - 'a') + 10
                         : *c >= 'A' && *c <= 'F' ? (unsigned)(*c - 'A') + 10
                                                  : 16;
        if (digit == 16)
            return false;
        value = value << 4 | digit;
    }
    if (value > INT64_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

pw_status pw_yaml_int(const struct pw_yaml *node, int64_t *out, struct pw_error *err)
{
    if (is_plain(node) && (pw_text_int64(node->text, out) || hex_int64(node->text, out)))
        return PW_OK;
    return wrong(node, "an integer", err);
}

pw_status pw_yaml_double(const struct pw_yaml *node, double *out, struct pw_error *err)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{".inf", INFINITY}, {"+.inf", INFINITY}, {"-.inf", -INFINITY}, {".nan", NAN}};
    if (is_plain(node)) {
        for (size_t i = 0; i < PW_COUNT_OF(words); i++) {
            if (strcmp(node->text, words[i].text) == 0) {
                *out = words[i].value;
                return PW_OK;
            }
        }
        /* Neither C's "inf" and "nan" nor its hexadecimal floats are numbers in YAML. */
        if (strspn(node->text, "+-.0123456789eE") == strlen(node->text) && pw_text_double(node->text, out))
            return PW_OK;
    }
    return wrong(node, "a number", err);
}

pw_status pw_yaml_bool(const struct pw_yaml *node, bool *out, struct pw_error *err)
{
    if (is_plain(node) && strcmp(node->text, "true") == 0) {
        *out = true;
        return PW_OK;
    }
    if (is_plain(node) && strcmp(node->text, "false") == 0) {
        *out = false;
        return PW_OK;
    }
    return wrong(node, "true or false", err);
}

pw_status pw_yaml_text(const struct pw_yaml *node, const char **out, struct pw_error *err)
{
    if (node->kind != PW_YAML_SCALAR)
        return wrong(node, "text", err);
    *out = node->text;
    return PW_OK;
}

pw_status pw_yaml_only(const struct pw_yaml *map, const char *const *allowed, struct pw_error *err)
{
    if (map->kind != PW_YAML_MAP)
        return wrong(map, "a map", err);
    size_t count = 0;
    while (allowed[count] != NULL)
        count++;
    for (size_t i = 0; i < map->count; i++) {
        const struct pw_yaml *item = &map->items[i];
        size_t j = 0;
        while (j < count && strcmp(allowed[j], item->key) != 0)
            j++;
        if (j < count)
            continue;
        const char *near = pw_text_nearest(item->key, allowed, count);
        if (near != NULL)
            return pw_yaml_error(item, err, "unknown key; did you mean '%s'?", near);
        return pw_yaml_error(item, err, "unknown key");
    }
    return PW_OK;
}
