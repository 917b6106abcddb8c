/* The EXIF field that changes pixels, orientation, those that tell where they were made, and the
 * thumbnail.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_EXIF_H
#define GI_IMGIO_EXIF_H

#include "imgio/image.h"

/* Orientation, 1 to 8, in a TIFF block (without "Exif\0\0"); 1 where it has none or is damaged. */
int gi_exif_orientation(const void *exif, size_t nbytes);

/* Sets the orientation of the block to 1, where it has one. */
void gi_exif_reset(void *exif, size_t nbytes);

/* Sets the orientation, 1 to 8, of the malloc()ed block *exif, which grows for that or is made
 * (NULL: there is none yet). Errors: GI_E_MEMORY. */
enum gi_status gi_exif_orient(void **exif, size_t *nbytes, int orientation, struct gi_err *err);

/* Removes the directory of GPS tags from the block, and zeroes it and the data that it refers to.
 */
void gi_exif_forget_place(void *exif, size_t nbytes);

/* Unlinks and zeroes the directory of the thumbnail and the thumbnail. Returns the bytes that the
 * block still has: what was at its end is cut off. */
size_t gi_exif_forget_thumbnail(void *exif, size_t nbytes);

/* Turns and mirrors the host image in place of its samples so that it is seen as `orientation`
 * (1 to 8) says. On an error the image is as before. Errors: GI_E_MEMORY. */
enum gi_status gi_orientation_apply(struct gi_image *image, int orientation, struct gi_err *err);

#endif
