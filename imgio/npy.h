/* NumPy's .npy files: the header, and images in and out.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* The byte order of this machine, in which the samples are written. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GI_NPY_ORDER ">"
#else
#define GI_NPY_ORDER "<"
#endif

/* Returns whether a file's name ends in .npy. */
bool gi_npy_is(const char *path);

/* Writes the header of an array with `ndim` axes (1 to 3) in C order. `type` is a Python literal
 * such as "'<u4'". The caller must write the samples afterwards, in native byte order. Errors:
 * GI_E_IO. */
enum gi_status gi_npy_head(struct gi_sink *sink, const char *type, const uint64_t *shape, int ndim,
                           struct gi_err *err);
