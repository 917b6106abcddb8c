/* Alignment: the shift, rotation and scale that move an image over a reference image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_align_params {
    const char *reference;
    bool rotate, scale; /* find these too */
    int refine;         /* enum gi_align_motion */
};

struct gi_align {
    /* The image has to be rotated about its middle by angle_deg, counterclockwise, and enlarged by
     * `scale`, and then be moved by dx pixels to the right and dy down; fractions are possible. If
     * `matrix` is more than that, these are its nearest rotation and scale, and dx and dy move the
     * middle. */
    double dx, dy, angle_deg, scale;
    /* correlation coefficient of the reference and the moved image, -1 to 1; 0 if one is flat */
    double score;
    /* the same as a matrix for the operation affine: (x, y) becomes (m[0] x + m[1] y + m[2], m[3] x
     * + m[4] y + m[5]), from the centre of the top left pixel */
    double matrix[6];
};

enum { GI_ALIGN_MATRIX_NBYTES = 200 };

/* Returns whether the image only has to be moved. */
bool gi_align_only_moves(const struct gi_align *found);

/* Writes the matrix as "a b c; d e f". */
void gi_align_matrix_text(char text[GI_ALIGN_MATRIX_NBYTES], const struct gi_align *found);

/* The result is a struct gi_align. */
extern const struct gi_filter gi_filter_align;

/* Chooses the operation that moves the image as `found` says, with cubic interpolation: shift, or
 * affine if there is a rotation or a scale. Makes *params, its parameters, which the caller frees,
 * also after an error. Errors: those of gi_option_set(). */
enum gi_status gi_align_step(const struct gi_filter **filter, void **params,
                             const struct gi_align *found, struct gi_err *err);

/* The option rows of --rotate and --scale, flags of the struct `params`; `needs` ends the help. */
#define GI_ALIGN_OPTIONS(params, rotate_member, scale_member, needs)                               \
    {GI_OPTION("rotate", FLAG, params, rotate_member),                                             \
     .help = "Find a rotation by any angle too" needs},                                            \
    {                                                                                              \
        GI_OPTION("scale", FLAG, params, scale_member),                                            \
            .help = "Find a scale from 0.7 to 1.4 too" needs                                       \
    }
