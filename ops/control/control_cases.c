/* Subgraphs have no text form: the room's behaviour is tested in tests/unit/test_control.c on whole models. What is
 * refused before a subgraph runs can be said here. */
#include "op/cases.h"

const struct pw_room_case pw_control_cases[] = {
    {"control/if_without_branches", "If-13", {"bool[] 1"}, {NULL}, "'then_branch' is missing", 0},
    {"control/loop_without_body", "Loop-13", {"int64[] 3", "bool[] 1"}, {NULL}, "'body' is missing", 0},
    {"control/scan_without_count", "Scan-11", {"float32[3] 0"}, {NULL}, "'body' is missing", 0},
    {0},
};
