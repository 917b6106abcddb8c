/* Pixels without data: those whose samples all have a value that the file names in GDAL's tag
 * (GDAL_NODATA, 42113), or the user.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* The value, as a sample of an image; NaN is possible, too. */
struct gi_nodata {
    bool given;
    double value;
};

/* Finds the value. `text` is NULL, "none" or a number that overrides the tag. `image` was loaded
 * with `info` and `metadata`; the value in the file is scaled as its samples were. Errors:
 * GI_E_USAGE for another text. */
enum gi_status gi_nodata_find(struct gi_nodata *nodata, const char *text,
                              const struct gi_metadata *metadata, const struct gi_file_info *info,
                              const struct gi_image *image, struct gi_err *err);

/* Replaces the host image by one of floats, in which samples without data are NaN. Other samples
 * keep their values, without scaling. Errors: GI_E_MEMORY; the image is freed then. */
enum gi_status gi_nodata_become_nan(struct gi_image *image, const struct gi_nodata *nodata,
                                    struct gi_err *err);

/* Replaces the host image, which has no alpha, by one with alpha, which is 0 for pixels without
 * data. Errors: GI_E_MEMORY; the image is freed then. */
enum gi_status gi_nodata_hide(struct gi_image *image, const struct gi_nodata *nodata,
                              struct gi_err *err);

/* Replaces an image with alpha by one without. Pixels of alpha 0 get the value, or 0 if the type
 * does not hold the value. Errors: GI_E_MEMORY; the image is freed then. */
enum gi_status gi_nodata_restore(struct gi_image *image, const struct gi_nodata *nodata,
                                 struct gi_err *err);

/* Returns whether samples of the type can have the value. */
bool gi_nodata_fits(const struct gi_nodata *nodata, enum gi_type type);

/* Drops the tag, because it does not apply to the samples that are written. */
void gi_nodata_drop(struct gi_metadata *metadata);
