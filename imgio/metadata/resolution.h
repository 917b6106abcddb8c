/* The resolution of an image, also where EXIF, XMP and Photoshop's resources repeat it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Sets the resolution, in pixels per inch. `metadata` may be a shallow copy: EXIF and the like are
 * changed when the image is written. */
void gi_metadata_set_resolution(struct gi_metadata *metadata, double dpi);

/* Exchanges the resolutions along rows and columns, because the image was transposed. */
void gi_metadata_exchange_resolutions(struct gi_metadata *metadata);

/* Sets a new resolution in EXIF and XMP, which `fitted` owns. Errors: GI_E_MEMORY. */
enum gi_status gi_resolution_fit(struct gi_metadata *fitted, struct gi_err *err);
/* The same in a copy of Photoshop's resources, which may be NULL. Does nothing if the resolution is
 * that of the file. */
void gi_resolution_fit_photoshop(void *bytes, size_t nbytes, const struct gi_metadata *metadata);
