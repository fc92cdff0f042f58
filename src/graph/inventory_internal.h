/* Shared by inventory.c, flags.c and the pattern files. */
#ifndef PW_GRAPH_INVENTORY_INTERNAL_H
#define PW_GRAPH_INVENTORY_INTERNAL_H

#include "base/map.h"
#include "base/progress.h"
#include "graph/inventory.h"

/* True for nodes that hold a constant: they are data, not work. */
bool pw_inventory_is_constant(const struct pw_node *node);

/* flags.c: one bool per node number, true where the node only makes shapes. Owned by the caller. */
pw_status pw_flags_shape_arithmetic(const struct pw_inference *inf, size_t node_count, bool **out,
                                    struct pw_error *err);
/* Fills the dynamic-shape fields of a signature from its call. */
pw_status pw_flags_dynamic(struct pw_inventory *inventory, struct pw_signature *signature, struct pw_error *err);
/* Fills sensitivity and its reason. */
void pw_flags_sensitivity(struct pw_signature *signature);

/* cost.c: FLOPs and bytes of a signature's node as expressions. */
pw_status pw_cost_of_call(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err);
/* Assumes sizes for open symbols, evaluates every signature and the totals, shares of patterns too. */
pw_status pw_cost_totals(struct pw_inventory *inventory, struct pw_error *err);
/* Element count of a tensor as an expression; PW_DIM_UNKNOWN when the rank is not known. */
pw_dim pw_cost_elements(struct pw_dims *dims, const struct pw_info *info);

#endif
