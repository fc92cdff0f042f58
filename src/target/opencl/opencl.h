/* The OpenCL target: any device behind the ICD loader. Called in the worker process only: a process that
 * has used OpenCL can no longer fork, and a kernel's crash takes it along. */
#ifndef PW_TARGET_OPENCL_H
#define PW_TARGET_OPENCL_H

#include "target/target.h"

const struct pw_target *pw_opencl_target(void);

#endif
