/* Portable float maps for results that are no images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Returns whether a file's name ends in .pfm. */
bool gi_pfm_is(const char *path);

/* Makes row y of a map: width x channels floats, interleaved. */
typedef void gi_pfm_row(float *row, int y, const void *self);

/* Writes a PFM of 1 or 3 channels. `make` is called for each row, in the order of the file: the
 * last row first. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_pfm_write(struct gi_sink *sink, int width, int height, int channels,
                            gi_pfm_row *make, const void *self, struct gi_err *err);
