/* Inside of the cast room. Stateless; any thread. */
#ifndef PW_OPS_CAST_ROOM_H
#define PW_OPS_CAST_ROOM_H

#include "op/op.h"

typedef enum { PW_CAST_VALUE, PW_CAST_LIKE, PW_CAST_BITS } pw_cast_kind;

typedef enum { PW_CAST_UP, PW_CAST_DOWN, PW_CAST_NEAREST } pw_cast_round; /* of float8e8m0 */

struct pw_cast_form {
    pw_cast_kind kind;
};

/* The element type of the output; UNDEFINED when CastLike's target is not known. An error for a bad `to`. */
pw_status pw_cast_target(const struct pw_call *call, pw_dtype *out, struct pw_error *err);
bool pw_cast_saturates(const struct pw_call *call);
pw_status pw_cast_round_mode(const struct pw_call *call, pw_cast_round *out, struct pw_error *err);

pw_status pw_cast_eval(struct pw_eval *ev, struct pw_error *err);

/* Strings (cast_text.c): dst has its dtype and dims already. */
pw_status pw_cast_from_text(const struct pw_call *call, const struct pw_tensor *src, struct pw_tensor *dst,
                            struct pw_error *err);
pw_status pw_cast_to_text(const struct pw_tensor *src, struct pw_tensor *dst, struct pw_error *err);

#endif
