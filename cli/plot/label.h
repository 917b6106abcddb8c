/* Words under a picture, drawn by cairo.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/plot/pen.h"

/* Returns the height of a label in pixels, under a picture of that height. */
int gi_label_height(int picture_height);

/* Makes an image of GI_U8 with `channels` channels, 1 (gray) or 3, which the caller frees. The
 * words, in UTF-8, are in its middle, in `ink` on `paper`; alpha is not used. Words that are too
 * long lose their end. Other bytes than UTF-8 are written as \xff. Errors: GI_E_MEMORY;
 * GI_E_UNSUPPORTED without cairo. */
enum gi_status gi_label(struct gi_image *made, int width, int height, int channels,
                        const char *words, struct gi_ink paper, struct gi_ink ink,
                        struct gi_err *err);
