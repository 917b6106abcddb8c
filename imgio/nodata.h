/* Pixels without data: those whose colour samples all have a value that the file names in
 * GDAL's tag (GDAL_NODATA, 42113), or the user.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Finds the value. `text` is NULL, "none" or a number that overrides the tag. `image` was loaded
 * with `info` and `metadata`; the value that the file's tag states is converted to
 * the scale of the image's samples, as the samples were when the image was loaded. nodata->given
 * becomes false if no sample of the image's type can have the value. Errors: GI_E_USAGE for another
 * text. */
enum gi_status gi_nodata_find(struct gi_nodata *nodata, const char *text,
                              const struct gi_metadata *metadata, const struct gi_file_info *info,
                              const struct gi_image *image, struct gi_err *err);

/* Returns whether a pixel has no data. In an image of bands all samples must have the value. */
bool gi_nodata_is_in(const struct gi_image *image, const struct gi_nodata *nodata);

/* Makes alpha 0 where the host image has no data, and sets its mask. An image without alpha gets
 * one, which is hidden. `nodata` may be NULL: all pixels have data. Errors: GI_E_MEMORY; the image
 * is freed then. */
enum gi_status gi_nodata_hide(struct gi_image *image, const struct gi_nodata *nodata,
                              struct gi_err *err);

/* Gives the colours of pixels whose alpha is 0 the value, in the unit of the image, and removes a
 * hidden alpha. `light` is that of the metadata, or NULL. Errors: GI_E_MEMORY; the image is freed
 * then. */
enum gi_status gi_nodata_restore(struct gi_image *image, const struct gi_nodata *nodata,
                                 const struct gi_linear_light *light, struct gi_err *err);

/* Returns the value in the unit of samples of `type`, not rounded. */
struct gi_nodata gi_nodata_in(enum gi_type type, const struct gi_nodata *nodata);
/* Adds the tag, in the unit of nodata->type, unless there is one. Returns whether it did. */
bool gi_nodata_name(struct gi_metadata *metadata, const struct gi_nodata *nodata);
/* Removes the tag of an image that becomes a part of another, which gets its own. */
void gi_nodata_remove(struct gi_metadata *metadata);
/* Drops the tag with the reason `why`, constant text. */
void gi_nodata_drop(struct gi_metadata *metadata, const char *why);
/* Converts the tag as a reader converts samples: from 0 to `most` to 0 to `full`, rounded, and then
 * `inverted`. Drops it if it has a value that is no sample of the file, but one of the image. */
void gi_nodata_scale(struct gi_metadata *metadata, uint32_t most, uint32_t full, bool inverted);
