/* Tiled pyramidal TIFF: an image and its smaller versions as pages of one file.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"

/* Writes the image in tiles of `tile` x `tile` pixels, a multiple of 16, and smaller versions of it
 * (filters/geometry/halve.h) down to one tile. The pages of these have the kind "reduced", and the
 * metadata `reduced`. The file becomes a part of the bundle io->passed.bundle. Errors: as
 * gi_cli_save(). */
enum gi_status gi_tiles_tiff(const char *path, const struct gi_image *image,
                             const struct gi_metadata *metadata, const struct gi_metadata *reduced,
                             int tile, const struct gi_io_params *io,
                             const struct gi_parallel *parallel, struct gi_err *err);
