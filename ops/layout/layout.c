/* The room's operators: formals, attributes, cost and accuracy, and the table. */
#include "ops/layout/layout.h"

/* ---- cost and accuracy ---- */

static pw_dim bytes_of(const struct pw_call *call, const struct pw_info *info)
{
    pw_dim bytes = (int64_t)pw_dtype_bytes(info->dtype);
    for (int d = 0; d < info->rank; d++)
        bytes = pw_dims_mul(call->dims, bytes, info->dims[d]);
    return info->rank < 0 ? PW_DIM_UNKNOWN : bytes;
}

/* What is made is read and written; the rest of the input is not touched. */
static pw_status cost_moved(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    pw_dim bytes = 0;
    (void)err;
    for (int i = 0; i < call->output_count; i++) {
        if (call->wanted[i])
            bytes = pw_dims_add(call->dims, bytes, bytes_of(call, &call->out[i]));
    }
    cost->flops = 0;
    cost->bytes = pw_dims_mul(call->dims, bytes, 2);
    return PW_OK;
}

/* Inputs read once, outputs written once: the driver's own figure. */
static pw_status cost_whole(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)call;
    (void)err;
    cost->flops = 0;
    return PW_OK;
}

/* Shape and Size do not look at the data. */
static pw_status cost_written(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = 0;
    cost->bytes = bytes_of(call, &call->out[0]);
    return PW_OK;
}

/* Lengths of ReverseSequence lie on its time axis. */
static void fill_lengths(const struct pw_call *call, int input, struct pw_fill *fill)
{
    struct pw_layout_reverse r;
    if (input != 1 || pw_layout_plan_reverse(call, &r, NULL) != PW_OK)
        return;
    fill->int_low = 0;
    fill->int_high = r.time;
}

/* ---- formals ---- */

static const struct pw_formal in_input[] = {{"input", "T", 0}, {0}};
static const struct pw_formal out_output[] = {{"output", "T", 0}, {0}};
static const struct pw_formal in_any[] = {{"input", "V", PW_FORMAL_ANY}, {0}};
static const struct pw_formal out_any[] = {{"output", "V", PW_FORMAL_ANY}, {0}};
static const struct pw_formal in_data[] = {{"data", "T", 0}, {0}};
static const struct pw_formal in_reshape[] = {{"data", "T", 0}, {"shape", "int64", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal out_reshaped[] = {{"reshaped", "T", 0}, {0}};
static const struct pw_formal in_squeeze[] = {
    {"data", "T", 0}, {"axes", "int64", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal out_squeezed[] = {{"squeezed", "T", 0}, {0}};
static const struct pw_formal in_unsqueeze[] = {{"data", "T", 0}, {"axes", "int64", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal out_expanded[] = {{"expanded", "T", 0}, {0}};
static const struct pw_formal out_transposed[] = {{"transposed", "T", 0}, {0}};
static const struct pw_formal in_concat[] = {{"inputs", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal out_concat[] = {{"concat_result", "T", 0}, {0}};
static const struct pw_formal in_split_1[] = {
    {"input", "T", 0}, {"split", "T", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal in_split[] = {
    {"input", "T", 0}, {"split", "int64", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal out_split[] = {{"outputs", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal in_slice[] = {{"data", "T", 0},
                                            {"starts", "Tind", PW_FORMAL_PARAM},
                                            {"ends", "Tind", PW_FORMAL_PARAM},
                                            {"axes", "Tind", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                            {"steps", "Tind", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                            {0}};
static const struct pw_formal in_pad_11[] = {
    {"data", "T", 0}, {"pads", "int64", PW_FORMAL_PARAM}, {"constant_value", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal in_pad_18[] = {{"data", "T", 0},
                                             {"pads", "int64", PW_FORMAL_PARAM},
                                             {"constant_value", "T", PW_FORMAL_OPTIONAL},
                                             {"axes", "Tind", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                             {0}};
static const struct pw_formal in_expand[] = {{"input", "T", 0}, {"shape", "int64", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal in_tile_1[] = {
    {"input", "T", 0}, {"tiles", "T", PW_FORMAL_PARAM}, {"axis", "T", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal in_tile[] = {{"input", "T", 0}, {"repeats", "int64", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal out_shape[] = {{"shape", "int64", 0}, {0}};
static const struct pw_formal out_size[] = {{"size", "int64", 0}, {0}};
static const struct pw_formal in_trilu[] = {
    {"input", "T", 0}, {"k", "int64", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal in_reverse[] = {{"input", "T", 0}, {"sequence_lens", "int64", 0}, {0}};
static const struct pw_formal out_y[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal in_center[] = {{"input_data", "T", 0}, {"shape", "Tind", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal out_center[] = {{"output_data", "T", 0}, {0}};

/* ---- attributes ---- */

static const struct pw_attr_def attrs_reshape_1[] = {
    {.name = "shape", .type = PW_ATTR_INTS}, {.name = "consumed_inputs", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def attrs_reshape_14[] = {{.name = "allowzero", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_flatten[] = {{.name = "axis", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def attrs_axes[] = {{.name = "axes", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def attrs_axes_required[] = {{.name = "axes", .type = PW_ATTR_INTS, .required = true}, {0}};
static const struct pw_attr_def attrs_perm[] = {{.name = "perm", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def attrs_concat_1[] = {{.name = "axis", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def attrs_concat[] = {{.name = "axis", .type = PW_ATTR_INT, .required = true}, {0}};
static const struct pw_attr_def attrs_split_1[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "split", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def attrs_split_13[] = {{.name = "axis", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_split_18[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "num_outputs", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_slice_1[] = {{.name = "starts", .type = PW_ATTR_INTS, .required = true},
                                                   {.name = "ends", .type = PW_ATTR_INTS, .required = true},
                                                   {.name = "axes", .type = PW_ATTR_INTS},
                                                   {0}};
static const struct pw_attr_def attrs_pad_1[] = {{.name = "paddings", .type = PW_ATTR_INTS, .required = true},
                                                 {.name = "mode", .type = PW_ATTR_STRING, .s = "constant"},
                                                 {.name = "value", .type = PW_ATTR_FLOAT},
                                                 {0}};
static const struct pw_attr_def attrs_pad_2[] = {{.name = "pads", .type = PW_ATTR_INTS, .required = true},
                                                 {.name = "mode", .type = PW_ATTR_STRING, .s = "constant"},
                                                 {.name = "value", .type = PW_ATTR_FLOAT},
                                                 {0}};
static const struct pw_attr_def attrs_pad[] = {{.name = "mode", .type = PW_ATTR_STRING, .s = "constant"}, {0}};
static const struct pw_attr_def attrs_shape_15[] = {
    {.name = "start", .type = PW_ATTR_INT}, {.name = "end", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_block[] = {{.name = "blocksize", .type = PW_ATTR_INT, .required = true}, {0}};
static const struct pw_attr_def attrs_block_mode[] = {{.name = "blocksize", .type = PW_ATTR_INT, .required = true},
                                                      {.name = "mode", .type = PW_ATTR_STRING, .s = "DCR"},
                                                      {0}};
static const struct pw_attr_def attrs_trilu[] = {{.name = "upper", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def attrs_reverse[] = {
    {.name = "batch_axis", .type = PW_ATTR_INT, .i = 1}, {.name = "time_axis", .type = PW_ATTR_INT}, {0}};

/* ---- the table: versions of an operator share all that did not change ---- */

#define IDENTITY                                                                                                       \
    .domain = "", .name = "Identity", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_identity,               \
    .cost = cost_whole, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_identity,                                \
    .fast = pw_layout_ref_identity, .bind = pw_layout_bind_copy, .data = &pw_layout_dense
#define RESHAPE                                                                                                        \
    .domain = "", .name = "Reshape", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_reshape,                 \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_dense
#define FLATTEN                                                                                                        \
    .domain = "", .name = "Flatten", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_flatten,                 \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_dense
#define SQUEEZE                                                                                                        \
    .domain = "", .name = "Squeeze", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_squeeze,                 \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_dense
#define UNSQUEEZE                                                                                                      \
    .domain = "", .name = "Unsqueeze", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_unsqueeze,             \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_dense
#define TRANSPOSE                                                                                                      \
    .domain = "", .name = "Transpose", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_transpose,             \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_transpose
#define CONCAT                                                                                                         \
    .domain = "", .name = "Concat", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_concat,                   \
    .cost = cost_whole, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_concat, .fast = pw_layout_ref_concat,    \
    .bind = pw_layout_bind_copy, .data = &pw_layout_concat
#define SPLIT                                                                                                          \
    .domain = "", .name = "Split", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_split, .cost = cost_moved, \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_split, .fast = pw_layout_ref_split,                          \
    .bind = pw_layout_bind_copy, .data = &pw_layout_split
#define SLICE                                                                                                          \
    .domain = "", .name = "Slice", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_slice, .cost = cost_moved, \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,                            \
    .bind = pw_layout_bind_copy, .data = &pw_layout_slice
#define EXPAND                                                                                                         \
    .domain = "", .name = "Expand", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_expand,                   \
    .cost = cost_whole, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_expand
#define TILE                                                                                                           \
    .domain = "", .name = "Tile", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_tile, .cost = cost_whole,   \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,                            \
    .bind = pw_layout_bind_copy, .data = &pw_layout_tile
#define DEPTH_TO_SPACE                                                                                                 \
    .domain = "", .name = "DepthToSpace", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_depth_to_space,     \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_depth_to_space
#define SPACE_TO_DEPTH                                                                                                 \
    .domain = "", .name = "SpaceToDepth", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_space_to_depth,     \
    .cost = cost_moved, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_copy, .fast = pw_layout_ref_copy,        \
    .bind = pw_layout_bind_copy, .data = &pw_layout_space_to_depth
#define SHAPE                                                                                                          \
    .domain = "", .name = "Shape", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_shape,                     \
    .cost = cost_written, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_shape, .fast = pw_layout_ref_shape,    \
    .bind = pw_layout_bind_shape
#define SIZE                                                                                                           \
    .domain = "", .name = "Size", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_size, .cost = cost_written, \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_size, .fast = pw_layout_ref_size,                            \
    .bind = pw_layout_bind_size
#define PAD                                                                                                            \
    .domain = "", .name = "Pad", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_pad, .cost = cost_whole,     \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_pad, .fast = pw_layout_ref_pad, .bind = pw_layout_bind_pad
#define CENTER                                                                                                         \
    .domain = "", .name = "CenterCropPad", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_center,            \
    .cost = cost_whole, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_center, .fast = pw_layout_ref_center,    \
    .bind = pw_layout_bind_center
#define TRILU                                                                                                          \
    .domain = "", .name = "Trilu", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_trilu, .cost = cost_whole, \
    .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_trilu, .fast = pw_layout_ref_trilu,                          \
    .bind = pw_layout_bind_trilu
#define REVERSE                                                                                                        \
    .domain = "", .name = "ReverseSequence", .category = PW_CATEGORY_LAYOUT, .infer = pw_layout_infer_reverse,         \
    .cost = cost_whole, .accuracy = pw_accuracy_copy, .golden = pw_layout_ref_reverse, .fast = pw_layout_ref_reverse,  \
    .fill = fill_lengths, .bind = pw_layout_bind_reverse

const struct pw_op pw_layout_ops[] = {
    {IDENTITY, .since = 1, .inputs = in_input, .outputs = out_output},
    {IDENTITY, .since = 13, .inputs = in_input, .outputs = out_output},
    {IDENTITY, .since = 14, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 16, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 19, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 21, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 23, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 24, .inputs = in_any, .outputs = out_any},
    {IDENTITY, .since = 25, .inputs = in_any, .outputs = out_any},
    {RESHAPE, .since = 1, .attrs = attrs_reshape_1, .inputs = in_data, .outputs = out_reshaped},
    {RESHAPE, .since = 5, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 13, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 14, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 19, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 21, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 23, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 24, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {RESHAPE, .since = 25, .attrs = attrs_reshape_14, .inputs = in_reshape, .outputs = out_reshaped},
    {FLATTEN, .since = 1, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 9, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 11, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 13, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 21, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 23, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 24, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {FLATTEN, .since = 25, .attrs = attrs_flatten, .inputs = in_input, .outputs = out_output},
    {SQUEEZE, .since = 1, .attrs = attrs_axes, .inputs = in_data, .outputs = out_squeezed},
    {SQUEEZE, .since = 11, .attrs = attrs_axes, .inputs = in_data, .outputs = out_squeezed},
    {SQUEEZE, .since = 13, .inputs = in_squeeze, .outputs = out_squeezed},
    {SQUEEZE, .since = 21, .inputs = in_squeeze, .outputs = out_squeezed},
    {SQUEEZE, .since = 23, .inputs = in_squeeze, .outputs = out_squeezed},
    {SQUEEZE, .since = 24, .inputs = in_squeeze, .outputs = out_squeezed},
    {SQUEEZE, .since = 25, .inputs = in_squeeze, .outputs = out_squeezed},
    {UNSQUEEZE, .since = 1, .attrs = attrs_axes_required, .inputs = in_data, .outputs = out_expanded},
    {UNSQUEEZE, .since = 11, .attrs = attrs_axes_required, .inputs = in_data, .outputs = out_expanded},
    {UNSQUEEZE, .since = 13, .inputs = in_unsqueeze, .outputs = out_expanded},
    {UNSQUEEZE, .since = 21, .inputs = in_unsqueeze, .outputs = out_expanded},
    {UNSQUEEZE, .since = 23, .inputs = in_unsqueeze, .outputs = out_expanded},
    {UNSQUEEZE, .since = 24, .inputs = in_unsqueeze, .outputs = out_expanded},
    {UNSQUEEZE, .since = 25, .inputs = in_unsqueeze, .outputs = out_expanded},
    {TRANSPOSE, .since = 1, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {TRANSPOSE, .since = 13, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {TRANSPOSE, .since = 21, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {TRANSPOSE, .since = 23, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {TRANSPOSE, .since = 24, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {TRANSPOSE, .since = 25, .attrs = attrs_perm, .inputs = in_data, .outputs = out_transposed},
    {CONCAT, .since = 1, .attrs = attrs_concat_1, .inputs = in_concat, .outputs = out_concat},
    {CONCAT, .since = 4, .attrs = attrs_concat, .inputs = in_concat, .outputs = out_concat},
    {CONCAT, .since = 11, .attrs = attrs_concat, .inputs = in_concat, .outputs = out_concat},
    {CONCAT, .since = 13, .attrs = attrs_concat, .inputs = in_concat, .outputs = out_concat},
    {SPLIT, .since = 1, .attrs = attrs_split_1, .inputs = in_split_1, .outputs = out_split},
    {SPLIT, .since = 2, .attrs = attrs_split_1, .inputs = in_input, .outputs = out_split},
    {SPLIT, .since = 11, .attrs = attrs_split_1, .inputs = in_input, .outputs = out_split},
    {SPLIT, .since = 13, .attrs = attrs_split_13, .inputs = in_split, .outputs = out_split},
    {SPLIT, .since = 18, .attrs = attrs_split_18, .inputs = in_split, .outputs = out_split},
    {SLICE, .since = 1, .attrs = attrs_slice_1, .inputs = in_data, .outputs = out_output},
    {SLICE, .since = 10, .inputs = in_slice, .outputs = out_output},
    {SLICE, .since = 11, .inputs = in_slice, .outputs = out_output},
    {SLICE, .since = 13, .inputs = in_slice, .outputs = out_output},
    {PAD, .since = 1, .attrs = attrs_pad_1, .inputs = in_data, .outputs = out_output},
    {PAD, .since = 2, .attrs = attrs_pad_2, .inputs = in_data, .outputs = out_output},
    {PAD, .since = 11, .attrs = attrs_pad, .inputs = in_pad_11, .outputs = out_output},
    {PAD, .since = 13, .attrs = attrs_pad, .inputs = in_pad_11, .outputs = out_output},
    {PAD, .since = 18, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {PAD, .since = 19, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {PAD, .since = 21, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {PAD, .since = 23, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {PAD, .since = 24, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {PAD, .since = 25, .attrs = attrs_pad, .inputs = in_pad_18, .outputs = out_output},
    {EXPAND, .since = 8, .inputs = in_expand, .outputs = out_output},
    {EXPAND, .since = 13, .inputs = in_expand, .outputs = out_output},
    {TILE, .since = 1, .inputs = in_tile_1, .outputs = out_output},
    {TILE, .since = 6, .inputs = in_tile, .outputs = out_output},
    {TILE, .since = 13, .inputs = in_tile, .outputs = out_output},
    {SHAPE, .since = 1, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 13, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 15, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 19, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 21, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 23, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 24, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SHAPE, .since = 25, .attrs = attrs_shape_15, .inputs = in_data, .outputs = out_shape},
    {SIZE, .since = 1, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 13, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 19, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 21, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 23, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 24, .inputs = in_data, .outputs = out_size},
    {SIZE, .since = 25, .inputs = in_data, .outputs = out_size},
    {DEPTH_TO_SPACE, .since = 1, .attrs = attrs_block, .inputs = in_input, .outputs = out_output},
    {DEPTH_TO_SPACE, .since = 11, .attrs = attrs_block_mode, .inputs = in_input, .outputs = out_output},
    {DEPTH_TO_SPACE, .since = 13, .attrs = attrs_block_mode, .inputs = in_input, .outputs = out_output},
    {DEPTH_TO_SPACE, .since = 28, .attrs = attrs_block_mode, .inputs = in_input, .outputs = out_output},
    {SPACE_TO_DEPTH, .since = 1, .attrs = attrs_block, .inputs = in_input, .outputs = out_output},
    {SPACE_TO_DEPTH, .since = 13, .attrs = attrs_block, .inputs = in_input, .outputs = out_output},
    {SPACE_TO_DEPTH, .since = 28, .attrs = attrs_block_mode, .inputs = in_input, .outputs = out_output},
    {TRILU, .since = 14, .attrs = attrs_trilu, .inputs = in_trilu, .outputs = out_output},
    {REVERSE, .since = 10, .attrs = attrs_reverse, .inputs = in_reverse, .outputs = out_y},
    {REVERSE, .since = 28, .attrs = attrs_reverse, .inputs = in_reverse, .outputs = out_y},
    {CENTER, .since = 18, .attrs = attrs_axes, .inputs = in_center, .outputs = out_center},
    {0},
};
