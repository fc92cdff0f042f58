/*
 * The commented protocol that `portwright init` writes for a graph: what it says holds already without it, so that the
 * file is a place to start from, not a change; the graph's own dims, categories and delicate operators stand in the
 * examples. Pure.
 */
#ifndef PW_REPORT_PROTOCOL_H
#define PW_REPORT_PROTOCOL_H

#include "base/text.h"
#include "graph/inventory.h"

/* inventory: with no dims bound, so that its assumptions are the dims that can be. */
void pw_report_protocol(const struct pw_inventory *inventory, const char *model_path, struct pw_buf *out);

#endif
