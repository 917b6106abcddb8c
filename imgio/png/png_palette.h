/* Chooses a palette, or samples of 1, 2 or 4 bits, for a PNG of few colours.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

enum { GI_PNG_COLORS_MAX = 256 };

/* How the pixels of a PNG are coded (PNG, third edition, 11.2 and 11.3.1.1). */
struct gi_png_coding {
    int depth;      /* bits of a sample or of a palette index: 1, 2, 4, 8 or 16 */
    int color_type; /* 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA */
    /* The palette of colour type 3. The first `ntransparent` entries have an alpha, and the others
     * are opaque. */
    uint8_t colors[GI_PNG_COLORS_MAX][4];
    int ncolors, ntransparent;
    int transparent_gray; /* of colour type 0: the sample that is transparent, or -1 */
};

/* Returns whether a palette or fewer bits may be used, by options->palette, options->bits and
 * metadata->few_colors. If so, gi_save_coding() takes no such image. */
bool gi_png_may_have_palette(const struct gi_metadata *metadata,
                             const struct gi_save_options *options);

/* Sets *coding for an image of 8 or 16 bits, whose metadata may be NULL. Pixels that are read back
 * are the same, with the same number of channels. Colours are counted only if a palette is allowed,
 * up to the 257th. The palette of the metadata is taken if it has all colours. With
 * GI_PALETTE_ALWAYS it is an error if there is none. Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_png_choose_coding(struct gi_png_coding *coding, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, struct gi_err *err);

/* Sets *coding to a palette for an image of 3 or 4 channels of GI_U8. Returns false if it has more
 * than 256 colours. With `cuts_alpha`, pixels count as opaque, or as transparent black if alpha is
 * below 128. */
bool gi_png_find_palette(struct gi_png_coding *coding, const struct gi_image *image,
                         bool cuts_alpha);

/* Makes *packed, a GI_U8 image of one channel whose bytes hold indices or gray samples of
 * coding->depth bits, the leftmost pixel in the highest bits. The caller frees it. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_png_pack(struct gi_image *packed, const struct gi_image *image,
                           const struct gi_png_coding *coding, struct gi_err *err);

/* Writes the image with this coding, whose palette has all its colours (png_write.c). Errors: as
 * gi_format.encode. */
enum gi_status gi_png_encode_as(struct gi_sink *sink, const struct gi_image *image,
                                const struct gi_metadata *metadata,
                                const struct gi_png_coding *coding,
                                const struct gi_save_options *options, struct gi_err *err);

/* Returns the index of the first entry of the palette with this red, green and blue, or -1. */
int gi_png_index(const struct gi_png_coding *coding, const uint8_t color[3]);

/* Sets `color` to the background that the file carries for an image of as many channels, with alpha
 * 255. Returns false if there is none. *exact becomes whether it has 8 bits. */
bool gi_png_background(uint8_t color[4], bool *exact, const struct gi_metadata *metadata,
                       const struct gi_image *image);
