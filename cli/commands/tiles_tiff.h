/* Tiled pyramidal TIFF: an image and its smaller versions in one file, a cloud-optimized GeoTIFF or
 * an OME-TIFF. Encoded tiles are kept in an unnamed temporary file until all are there.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>

#include "cli/args/image_files.h"
#include "filters/geometry/pyramid.h"
#include "imgio/levels.h"

struct gi_tiles_tiff {
    const char *path;
    const struct gi_metadata *metadata; /* of each tile */
    struct gi_io_params io;
    struct gi_levels levels;
    pthread_mutex_t lock;
    int fd;        /* of the temporary file */
    uint64_t used; /* its bytes */
};

/* Begins a file at `path` for a pyramid that is planned. `tile` has the colour metadata, which
 * decide how samples are converted. gi_tiles_tiff_free() must be called in the end, also after an
 * error. Errors: GI_E_MEMORY, as gi_scratch_file_open(). */
enum gi_status gi_tiles_tiff_new(struct gi_tiles_tiff *t, const char *path, bool ome,
                                 const struct gi_pyramid *pyramid, const struct gi_metadata *tile,
                                 const struct gi_io_params *io, struct gi_err *err);
/* Returns the receiver of the tiles. */
struct gi_pyramid_receiver gi_tiles_tiff_receiver(struct gi_tiles_tiff *t);
/* Writes the file, with the metadata of the image. It becomes a part of the bundle
 * io->passed.bundle. Errors: as gi_cli_save(). */
enum gi_status gi_tiles_tiff_end(struct gi_tiles_tiff *t, const struct gi_metadata *metadata,
                                 struct gi_err *err);
void gi_tiles_tiff_free(struct gi_tiles_tiff *t);
