/* Words under a picture, drawn by cairo.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/plot/pen.h"

/* Returns the height of a label in pixels, under a picture of that height. */
int gi_label_height(int picture_height);

/* The size of labels, in pixels, their number of channels, 1 (gray) or 3, and their colours; alpha
 * is not used. */
struct gi_label_style {
    int width, height, channels;
    struct gi_ink paper, ink;
};

/* Draws `n` labels in a subprocess. *samples becomes their samples of GI_U8, label by label and row
 * by row, which the caller frees. The words, in UTF-8, are in the middle of their label. Words that
 * are too long lose their end. What would control a terminal is written as \xff. Errors:
 * GI_E_MEMORY; GI_E_UNSUPPORTED without cairo, or if no font draws the words; and those of
 * gi_subprocess_run(). */
enum gi_status gi_labels(unsigned char **samples, const struct gi_label_style *style,
                         char *const *words, int n, struct gi_err *err);
