/* Shared by the files of the linear algebra room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_LINALG_ROOM_H
#define PW_OPS_LINALG_ROOM_H

#include "op/op.h"

pw_status pw_det_eval(struct pw_eval *ev, struct pw_error *err);

#endif
