/* Fast conversion of 8-bit RGB between ICC profiles of curves and a matrix, with lcms2's bytes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "imgio/metadata/lcms.h"

#ifdef GI_HAS_LCMS
struct gi_icc_matrix;

/* Returns NULL if the transform, made by lcms2 from 8-bit RGB to 8-bit RGB without optimizations,
 * is not curves, matrices and rising curves, or if memory ran out. The transform must outlive it.
 * The caller frees it with free(). */
struct gi_icc_matrix *gi_icc_matrix_new(cmsHTRANSFORM transform);

/* Converts `n` pixels of `channels` samples, 3 or 4; the fourth is copied. */
void gi_icc_matrix_convert(const struct gi_icc_matrix *matrix, uint8_t *out, const uint8_t *in,
                           int n, int channels);
#endif
