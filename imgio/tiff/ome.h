/* OME-XML, the description of an image in an OME-TIFF.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Returns the text of ImageDescription for an image that is the only one of its file (OME-TIFF
 * specification; schema 2016-06). It contains the texts that a TIFF without OME would have there.
 * The caller frees it. */
char *gi_ome_text(const struct gi_image *shape, const struct gi_metadata *metadata);
