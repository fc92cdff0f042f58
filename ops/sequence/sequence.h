/* Shared by the files of the sequence room. */
#ifndef PW_OPS_SEQUENCE_H
#define PW_OPS_SEQUENCE_H

#include "op/op.h"

pw_status pw_sequence_empty_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_construct_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_insert_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_erase_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_at_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_length_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_split_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_concat_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_sequence_map_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_optional_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_optional_has_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_optional_get_infer(struct pw_call *call, struct pw_error *err);

pw_status pw_sequence_empty_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_construct_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_insert_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_erase_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_at_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_length_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_split_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_concat_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_sequence_map_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_optional_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_optional_has_run(struct pw_eval *ev, struct pw_error *err);
pw_status pw_optional_get_run(struct pw_eval *ev, struct pw_error *err);

/* Element type of SequenceEmpty's and Optional's attributes; UNDEFINED when not a tensor type. */
pw_dtype pw_optional_type(const struct pw_call *call, bool *is_sequence);

#endif
