/*
 * The report of an inventory: summary, patterns, signatures with their flags, and per target the
 * implementations; written as text, Markdown, CSV (RFC 4180) or JSON (schema 1) from the same data.
 * Pure: reads plain data, writes into a buffer.
 */
#ifndef PW_REPORT_INVENTORY_H
#define PW_REPORT_INVENTORY_H

#include "graph/inventory.h"
#include "op/impl.h"

#define PW_REPORT_TARGETS 8

struct pw_report_target {
    const char *spec;                 /* as asked for: "opencl:0" */
    const char *device;               /* its name */
    const struct pw_impl_list *impls; /* by signature; NULL: coverage could not be found */
    const char *note;                 /* why not, or what was assumed; "" */
};

struct pw_report_inventory {
    const struct pw_inventory *inventory;
    const char *model_path;
    const char *graph_id; /* structure hash */
    const char *bindings; /* "batch=1,sequence=16" or "" */
    struct pw_report_target targets[PW_REPORT_TARGETS];
    size_t target_count;
};

/* Short word of a category for narrow tables: "matmul", "norm"… */
const char *pw_report_category_word(pw_category category);
/* Order of signatures for a reader: by share of the FLOPs, then appearance; shape arithmetic last. NULL when memory
 * is short; freed with pw_free. */
size_t *pw_report_inventory_order(const struct pw_inventory *inventory);

/* width: columns of the terminal. */
pw_status pw_report_inventory_text(const struct pw_report_inventory *report, int width, struct pw_buf *out,
                                   struct pw_error *err);
pw_status pw_report_inventory_md(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err);
pw_status pw_report_inventory_csv(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err);
pw_status pw_report_inventory_json(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err);

#endif
