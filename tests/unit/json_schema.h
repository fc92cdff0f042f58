/* The part of JSON Schema that our schemas use: type, const, enum, required, properties,
 * additionalProperties, items. Used by test programs only. */
#ifndef PW_TESTS_JSON_SCHEMA_H
#define PW_TESTS_JSON_SCHEMA_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "paths.h"

static inline bool schema_has_type(const json_t *value, const char *type)
{
    return (!strcmp(type, "object") && json_is_object(value)) || (!strcmp(type, "array") && json_is_array(value)) ||
           (!strcmp(type, "string") && json_is_string(value)) || (!strcmp(type, "integer") && json_is_integer(value)) ||
           (!strcmp(type, "number") && json_is_number(value)) || (!strcmp(type, "boolean") && json_is_boolean(value)) ||
           (!strcmp(type, "null") && json_is_null(value));
}

/* Writes where and what does not hold into why; true when the value is valid. */
static inline bool schema_check(const json_t *schema, const json_t *value, const char *where, char *why,
                                size_t why_size)
{
    const json_t *type = json_object_get(schema, "type"), *want = json_object_get(schema, "const");
    const json_t *choices = json_object_get(schema, "enum"), *items = json_object_get(schema, "items");
    const json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required");
    json_t *more = json_object_get(schema, "additionalProperties");
    char path[512];
    size_t i;
    json_t *item;
    const char *key;
    bool good = !type || json_is_string(type) ? !type || schema_has_type(value, json_string_value(type)) : false;
    if (json_is_array(type))
        json_array_foreach(type, i, item) good = good || schema_has_type(value, json_string_value(item));
    if (good && want)
        good = json_equal(want, value);
    if (good && choices) {
        bool any = false;
        json_array_foreach(choices, i, item) any = any || json_equal(item, value);
        good = any;
    }
    if (!good) {
        snprintf(why, why_size, "%s: wrong type or value", where);
        return false;
    }
    if (json_is_array(value) && items) {
        json_array_foreach(value, i, item)
        {
            snprintf(path, sizeof path, "%s[%zu]", where, i);
            if (!schema_check(items, item, path, why, why_size))
                return false;
        }
    }
    if (!json_is_object(value))
        return true;
    json_array_foreach(required, i, item)
    {
        if (!json_object_get(value, json_string_value(item))) {
            snprintf(why, why_size, "%s: '%s' is missing", where, json_string_value(item));
            return false;
        }
    }
    void *at = json_object_iter((json_t *)(uintptr_t)value);
    for (; at; at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        key = json_object_iter_key(at);
        item = json_object_iter_value(at);
        const json_t *of = json_object_get(properties, key);
        snprintf(path, sizeof path, "%s.%s", where, key);
        if (!of && json_is_false(more)) {
            snprintf(why, why_size, "%s: not in the schema", path);
            return false;
        }
        if (!of)
            of = json_is_object(more) ? more : NULL;
        if (of && !schema_check(of, item, path, why, why_size))
            return false;
    }
    return true;
}

/* Loads share/schema/NAME from the source tree ($PW_SOURCE) and checks the text against it. */
static inline bool schema_check_text(const char *schema_name, const char *text, char *why, size_t why_size)
{
    char path[1024];
    json_error_t error;
    const char *source = getenv("PW_SOURCE");
    snprintf(path, sizeof path, "%s/share/schema/%s", source ? source : PW_SRCDIR, schema_name);
    json_t *schema = json_load_file(path, 0, &error);
    json_t *value = json_loads(text, 0, &error);
    bool good = schema && value;
    if (!good)
        snprintf(why, why_size, "%s: %s", schema ? "the report" : path, error.text);
    good = good && schema_check(schema, value, "$", why, why_size);
    json_decref(schema);
    json_decref(value);
    return good;
}

#endif
