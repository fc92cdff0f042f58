/* Inside of the liar: the appliers that the table (faults.c) names. Families by file. */
#ifndef PW_TESTS_LIAR_FAULT_H
#define PW_TESTS_LIAR_FAULT_H

#include "tests/liar/liar.h"

/* Whole answers and places in them: fault_place.c */
void liar_zeros(struct liar_run *run);
void liar_constant(struct liar_run *run);
void liar_unwritten(struct liar_run *run);
void liar_replay(struct liar_run *run);
void liar_torn(struct liar_run *run);
void liar_second_run(struct liar_run *run);
void liar_tail(struct liar_run *run);
void liar_tail_last(struct liar_run *run);
void liar_tail_row(struct liar_run *run);
void liar_last_row(struct liar_run *run);
void liar_off_by_one_row(struct liar_run *run);
void liar_swapped_lanes(struct liar_run *run);
void liar_row_stride(struct liar_run *run);
void liar_transposed(struct liar_run *run);
void liar_index_wrap(struct liar_run *run);
void liar_large_only(struct liar_run *run);
void liar_other_shape(struct liar_run *run);
void liar_one_element(struct liar_run *run);
void liar_racy(struct liar_run *run);
void liar_overrun(struct liar_run *run);
void liar_alias(struct liar_run *run);
void liar_crash_odd(struct liar_run *run);
void liar_bool_bytes(struct liar_run *run);
bool liar_known_shape(const struct pw_call *call);

/* Arithmetic: fault_number.c */
pw_status liar_coarse(struct liar_run *run, struct pw_error *err);       /* a function off by a pattern */
pw_status liar_coarse_rows(struct liar_run *run, struct pw_error *err);  /* a sum behind each row off */
pw_status liar_half_parts(struct liar_run *run, struct pw_error *err);   /* parts added up in float16 */
pw_status liar_brain_parts(struct liar_run *run, struct pw_error *err);  /* … in bfloat16 */
pw_status liar_single_parts(struct liar_run *run, struct pw_error *err); /* … in float32 (of float64) */
pw_status liar_lost_part(struct liar_run *run, struct pw_error *err);    /* one of the parts is lost, now and then */
pw_status liar_single(struct liar_run *run, struct pw_error *err);       /* float64 computed in float32 */
pw_status liar_truncate(struct liar_run *run, struct pw_error *err);
pw_status liar_half_away(struct liar_run *run, struct pw_error *err);
pw_status liar_tf32(struct liar_run *run, struct pw_error *err);
pw_status liar_brain_inputs(struct liar_run *run, struct pw_error *err);
pw_status liar_flush_inputs(struct liar_run *run, struct pw_error *err);
void liar_flush_outputs(struct liar_run *run);
pw_status liar_nan_inputs(struct liar_run *run, struct pw_error *err); /* NaN taken for 0 */
void liar_nan_lost(struct liar_run *run);
void liar_inf_to_max(struct liar_run *run);
void liar_inf_to_nan(struct liar_run *run);
pw_status liar_zero_sign(struct liar_run *run, struct pw_error *err);
pw_status liar_saturate(struct liar_run *run, struct pw_error *err);
pw_status liar_wrap(struct liar_run *run, struct pw_error *err);
pw_status liar_unsigned_as_signed(struct liar_run *run, struct pw_error *err);
pw_status liar_narrow_ints(struct liar_run *run, struct pw_error *err);
pw_status liar_floor_division(struct liar_run *run, struct pw_error *err);
pw_status liar_round_to_int(struct liar_run *run, struct pw_error *err);
pw_status liar_softmax_no_max(struct liar_run *run, struct pw_error *err);
pw_status liar_naive_variance(struct liar_run *run, struct pw_error *err);

/* What is read: fault_input.c, fault_attribute.c */
pw_status liar_input_tail(struct liar_run *run, struct pw_error *err);
pw_status liar_input_wrap(struct liar_run *run, struct pw_error *err);
pw_status liar_first_batch(struct liar_run *run, struct pw_error *err);
pw_status liar_bias_dropped(struct liar_run *run, struct pw_error *err);
pw_status liar_operand_layout(struct liar_run *run, struct pw_error *err);
pw_status liar_broadcast_axis(struct liar_run *run, struct pw_error *err);
pw_status liar_operands_swapped(struct liar_run *run, struct pw_error *err);
pw_status liar_negative_index(struct liar_run *run, struct pw_error *err);
pw_status liar_index_off(struct liar_run *run, struct pw_error *err);
pw_status liar_group_off(struct liar_run *run, struct pw_error *err);
pw_status liar_scale_first(struct liar_run *run, struct pw_error *err);
pw_status liar_zero_point_off(struct liar_run *run, struct pw_error *err);
pw_status liar_zero_point_ignored(struct liar_run *run, struct pw_error *err);
pw_status liar_nibbles(struct liar_run *run, struct pw_error *err);
pw_status liar_mask_off(struct liar_run *run, struct pw_error *err);
pw_status liar_lengths_ignored(struct liar_run *run, struct pw_error *err);
pw_status liar_state_dropped(struct liar_run *run, struct pw_error *err);
pw_status liar_biased_variance(struct liar_run *run, struct pw_error *err);
pw_status liar_param_off(struct liar_run *run, struct pw_error *err);
pw_status liar_attr_default(struct liar_run *run, struct pw_error *err);
pw_status liar_epsilon_missing(struct liar_run *run, struct pw_error *err);
pw_status liar_axis_off(struct liar_run *run, struct pw_error *err);
pw_status liar_pads_swapped(struct liar_run *run, struct pw_error *err);
pw_status liar_flag_flipped(struct liar_run *run, struct pw_error *err);
pw_status liar_causal_diagonal(struct liar_run *run, struct pw_error *err);
pw_status liar_tie(struct liar_run *run, struct pw_error *err);
void liar_masked_rows(struct liar_run *run);

pw_status liar_attr_default_2(struct liar_run *run, struct pw_error *err);
pw_status liar_attr_default_3(struct liar_run *run, struct pw_error *err);
pw_status liar_negative_axis(struct liar_run *run, struct pw_error *err);
pw_status liar_ceil_floor(struct liar_run *run, struct pw_error *err);
pw_status liar_count_pad(struct liar_run *run, struct pw_error *err);
pw_status liar_dilation_one(struct liar_run *run, struct pw_error *err);

bool liar_has_off_default_2(const struct pw_call *call);
bool liar_has_off_default_3(const struct pw_call *call);
bool liar_has_variance(const struct pw_call *call);
bool liar_has_negative_axis(const struct pw_call *call);
bool liar_has_ceil(const struct pw_call *call);
bool liar_has_count_pad(const struct pw_call *call);
bool liar_has_dilations(const struct pw_call *call);
bool liar_has_causal(const struct pw_call *call);
bool liar_has_bias(const struct pw_call *call);
bool liar_has_broadcast(const struct pw_call *call);
bool liar_has_index(const struct pw_call *call);
bool liar_has_zero_point(const struct pw_call *call);
bool liar_has_scales(const struct pw_call *call);
bool liar_has_nibbles(const struct pw_call *call);
bool liar_has_mask(const struct pw_call *call);
bool liar_has_lengths(const struct pw_call *call);
bool liar_has_state(const struct pw_call *call);
bool liar_has_layout(const struct pw_call *call);
bool liar_has_batch(const struct pw_call *call);
bool liar_has_off_default(const struct pw_call *call);
bool liar_has_epsilon(const struct pw_call *call);
bool liar_has_axis(const struct pw_call *call);
bool liar_has_pads(const struct pw_call *call);
bool liar_has_flag(const struct pw_call *call);
bool liar_has_tie(const struct pw_call *call);
bool liar_has_param(const struct pw_call *call);

#endif
