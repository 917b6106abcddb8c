/* The EXIF fields that gpuimg reads or changes: orientation, position (GPS), date and
 * thumbnail.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Returns the orientation, 1 to 8, in a TIFF block (without "Exif\0\0"), or 1 if the block has no
 * orientation or is damaged. */
int gi_exif_orientation(const void *exif, size_t nbytes);
/* Returns whether the block has an orientation, valid or not. */
bool gi_exif_has_orientation(const void *exif, size_t nbytes);

/* Finds the day on which the picture was taken (DateTimeOriginal), as "2026-11-25". Returns false,
 * and leaves `date` unchanged, if the block has no valid date. */
bool gi_exif_date(char date[11], const void *exif, size_t nbytes);

/* Sets the image's width and height in the block, where it names them (PixelXDimension,
 * PixelYDimension, ImageWidth, ImageLength, RelatedImageWidth and RelatedImageLength). */
void gi_exif_set_size(void *exif, size_t nbytes, int width, int height);

/* Sets the resolution in pixels per inch, which is a fraction, where the block names one. */
void gi_exif_set_resolution(void *exif, size_t nbytes, unsigned numerator, unsigned denominator);
/* Exchanges the resolutions along rows and columns, if the block names both. */
void gi_exif_exchange_resolutions(void *exif, size_t nbytes);
/* Sets the number of samples per pixel, their bits (8, 16 or 32) and their meaning, gray or
 * colours, where the block names them. */
void gi_exif_set_samples(void *exif, size_t nbytes, int channels, int bits);
/* Removes white point, primaries, transfer function and gamma. Returns their number. */
unsigned gi_exif_forget_colors(void *exif, size_t nbytes);

/* Sets ColorSpace, and the rule of DCF by which files with it are named, where the block names
 * them. */
enum gi_exif_color { GI_EXIF_SRGB = 1, GI_EXIF_ADOBE_RGB, GI_EXIF_OTHER = 65535 };
void gi_exif_set_color_space(void *exif, size_t nbytes, enum gi_exif_color space);

/* Moves the place of the subject (SubjectArea and SubjectLocation, in pixels) as gi_geo_move()
 * moves positions. It is removed if there is no map, or if it is beyond the left or upper side.
 * Returns whether one was removed. */
bool gi_exif_move_subject(void *exif, size_t nbytes, const double map[6]);

/* Sets the orientation of the block to 1 if the block has an orientation. */
void gi_exif_reset(void *exif, size_t nbytes);

/* Sets the orientation, 1 to 8, in the malloc()ed block *exif, which grows if necessary. If *exif
 * is NULL, a new block is made. Errors: GI_E_MEMORY. */
enum gi_status gi_exif_orient(void **exif, size_t *nbytes, int orientation, struct gi_err *err);

/* Removes all entries that point to a GPS directory, and zeroes that directory and all data to
 * which the directory refers. */
void gi_exif_forget_place(void *exif, size_t nbytes);

/* Unlinks and zeroes the thumbnail and its directory. If the thumbnail is at the end of the block,
 * it is cut off. Returns the new length of the block in bytes, and sets *thumbnail to the length of
 * what was removed. */
size_t gi_exif_forget_thumbnail(void *exif, size_t nbytes, size_t *thumbnail);

/* Flips and transposes the host image in place, so that it is shown as `orientation` (1 to 8) says.
 * If the image is still coded, sets its `layout` and its shape.
 * The image is unchanged on an error. Errors: GI_E_MEMORY. */
enum gi_status gi_orientation_apply(struct gi_image *image, int orientation, struct gi_err *err);
