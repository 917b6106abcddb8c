/* Search for a rotation, a scale and a shift between two images by phase correlation: B. S. Reddy
 * and B. N. Chatterji, "An FFT-based technique for translation, rotation, and scale-invariant image
 * registration", IEEE TIP 5(8), 1996.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <complex.h>

#include "imgio/image.h"

enum {
    GI_ALIGN_CANDIDATES = 8,
    GI_ALIGN_SPECTRA_NBYTES = 4 << 20, /* memory that gi_align_candidates() takes */
};

/* A similarity transform from pixels of the reference to those of the image, as complex numbers x +
 * i y that count from the centre of the top left pixel: p becomes turn * p + shift. The absolute
 * value of `turn` is the scale, and its argument the angle. */
struct gi_similarity {
    double complex turn, shift;
};

/* Searches the middle square of two gray float images of one size, and stores at most
 * GI_ALIGN_CANDIDATES transforms in *n of `found`. Without `rotates` angles are 0, and without
 * `scales` scales are 1; others are within a factor of 2. Both directions of an axis are found, of
 * which one is wrong. Images with a side of less than 16 pixels get the identity only. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_align_candidates(struct gi_similarity *found, int *n,
                                   const struct gi_image *image, const struct gi_image *reference,
                                   bool rotates, bool scales, struct gi_err *err);
