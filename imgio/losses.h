/* Compares what was read from a file with what the output's format holds.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Writes the losses to `words` as "png cannot hold A, B; not read: C", or "" if there are none.
 * `image` is the image to write and `written` its shape in the file. `wanted` is the sample type
 * that was asked for. Parts that a warning has named already are left out, unless
 * options->strict. */
void gi_losses_list(char *words, size_t size, const struct gi_format *format,
                    const struct gi_image *image, const struct gi_image *written,
                    enum gi_type wanted, const struct gi_metadata *metadata,
                    const struct gi_save_options *options);

/* Returns whether the profile is for images with this number of colour channels, which is 1 or 3.
 */
bool gi_icc_fits(const struct gi_metadata *metadata, int color_channels);
