/* Colour spaces, and the steps of kernels/color.h that convert between them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/color.h"

enum gi_space {
    GI_SPACE_RGB, /* sRGB, as in files */
    GI_SPACE_LINEAR,
    GI_SPACE_XYZ,
    GI_SPACE_LAB,
    GI_SPACE_LUV,
    GI_SPACE_LCH,   /* of Lab */
    GI_SPACE_LCHUV, /* of Luv */
    GI_SPACE_HSV,
    GI_SPACE_HSL,
    GI_SPACE_YCBCR_601,
    GI_SPACE_YCBCR_709,
    GI_SPACE_YCBCR_2020,
};

/* The map v' = m * (v, 1), where v is (red, green, blue, alpha) with a full scale of 1. */
struct gi_matrix4 {
    double m[4][5];
};

/* A colour transform under construction. Consecutive matrices are multiplied into one. */
struct gi_color_steps {
    struct gi_color_transform transform;
    enum gi_type type; /* sample type */
    bool pending;      /* `matrix` has not become a step yet */
    struct gi_matrix4 matrix;
    bool asks[GI_POWERS_MAX]; /* asks[i]: steps look up the table of power i */
};

struct gi_matrix4 gi_matrix4_identity(void);

/* Begins a transform of samples of `type`, to which steps are added. */
void gi_color_steps_begin(struct gi_color_steps *steps, enum gi_type type);
void gi_color_steps_matrix(struct gi_color_steps *steps, const struct gi_matrix4 *matrix);
/* Add the steps from a colour space to RGB, or from RGB to a colour space. If `video` is set, Y of
 * YCbCr has the range 16 to 235, and Cb and Cr have the range 16 to 240 (8-bit codes). */
void gi_color_steps_to_rgb(struct gi_color_steps *steps, enum gi_space from, bool video);
void gi_color_steps_from_rgb(struct gi_color_steps *steps, enum gi_space to, bool video);
/* Ends the construction. `transform` then has at least one step. The caller fills in the power
 * tables that the transform looks up. */
void gi_color_steps_end(struct gi_color_steps *steps);

/* Returns the linear light, 0 to 1, of a sample of sRGB from 0 to 1 (IEC 61966-2-1, 5.2), in double
 * precision on the host. */
double gi_srgb_light(double v);

/* Sets the CIE 1976 L*, a* and b* of a colour in sRGB, whose red, green and blue are 0 to 1, in
 * double precision on the host, by the matrix, white point and constants of GI_SPACE_LAB. */
void gi_lab_of_srgb(double lab[3], const double rgb[3]);

/* Fills in the table of power i, which is needed if asks[i] is set. */
void gi_power_fill(struct gi_power *power, int i);
