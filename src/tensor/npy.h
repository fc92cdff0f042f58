/*
 * Reading .npy files (NumPy's format 1.0 to 3.0): dense, C order, little endian or one byte, numbers and bool.
 * The file is hostile: every size is checked before memory is taken. Pure functions, any thread.
 */
#ifndef PW_TENSOR_NPY_H
#define PW_TENSOR_NPY_H

#include "tensor/tensor.h"

pw_status pw_npy_read(const char *path, struct pw_tensor *out, struct pw_error *err);
/* From memory; name for messages. */
pw_status pw_npy_parse(const void *bytes, size_t size, const char *name, struct pw_tensor *out, struct pw_error *err);

#endif
