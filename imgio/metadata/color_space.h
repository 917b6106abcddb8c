/* RGB colour spaces as numbers, of which ICC profiles are made: those that PNG's colour chunks and
 * HEIF's nclx boxes declare.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* A colour space. Chromaticities are x and y of CIE 1931. */
struct gi_color_space {
    double white[2], primaries[3][2];
    /* The curve from samples to light, both 0 to 1, as ICC's parametric curve of type 1 (a power,
     * parameters[0]) or 4 (a power with a line below it; ICC.1:2022, 10.18). */
    int curve;
    double parameters[5];
};

/* The curve of sRGB (IEC 61966-2-1), for the initializer of a struct gi_color_space. */
#define GI_SRGB_CURVE .curve = 4, .parameters = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}
#define GI_SRGB_PRIMARIES                                                                          \
    {                                                                                              \
        {0.64, 0.33}, {0.30, 0.60},                                                                \
        {                                                                                          \
            0.15, 0.06                                                                             \
        }                                                                                          \
    }
#define GI_D65                                                                                     \
    {                                                                                              \
        0.3127, 0.3290                                                                             \
    }

/* Sets white and primaries by their code (ITU-T H.273, table 2). Returns false for others. */
bool gi_color_space_primaries(struct gi_color_space *space, int code);

/* Sets *space to what the chunks of the metadata declare: cICP, or if there is none sRGB, or if
 * there is none gAMA and cHRM, of which a missing one is that of sRGB (PNG, third edition, 4.3).
 * Errors: GI_E_UNSUPPORTED for PQ, HLG and other codes without a display-independent curve or
 * primaries, and for chunks with impossible values. */
enum gi_status gi_color_space_of_chunks(struct gi_color_space *space,
                                        const struct gi_metadata *metadata, struct gi_err *err);
