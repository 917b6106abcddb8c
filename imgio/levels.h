/* Tiled TIFFs of an image and smaller versions of it, its levels: cloud-optimized GeoTIFF (COG) and
 * OME-TIFF. All directories precede the tiles, so that a reader finds every tile after one request.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

enum { GI_LEVELS_MAX = 32 };

/* A level, whose tiles are numbered by rows. Each is encoded and kept by the caller. */
struct gi_tiled_level {
    int width, height;
    int ntiles;
    uint64_t *at, *nbytes; /* of each tile: its offset, for gi_levels.read(), and its length */
};

struct gi_levels {
    bool ome; /* OME-TIFF; otherwise COG */
    int tile; /* pixels along the sides of a tile, a multiple of 16 */
    int n;
    uint64_t big_from; /* a longer file is a BigTIFF; 0: 4 GB */
    struct gi_tiled_level
        list[GI_LEVELS_MAX]; /* from the largest to the smallest; owned by the caller */
    void *self;
    /* Reads bytes of the tiles. */
    enum gi_status (*read)(void *self, void *to, size_t nbytes, uint64_t at, struct gi_err *err);
    /* Set by gi_levels_describe(). */
    struct gi_image shape; /* of the image as it is written, without samples */
    bool stored;           /* tiles are not compressed */
    void *icc;             /* the profile of the samples, or NULL; owned here */
    size_t icc_nbytes;
};

/* Returns the encoded samples of a TIFF that gi_save_memory() has written with options->tile and
 * that has one tile. */
const void *gi_levels_tile(size_t *nbytes, const void *tiff, size_t tiff_nbytes);
/* Takes what such a TIFF says about samples of all tiles. gi_levels_free() frees the profile.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_levels_describe(struct gi_levels *levels, const void *tiff, size_t nbytes,
                                  struct gi_err *err);
/* Writes the file. `metadata` are those of the image, except for the ICC profile. Errors: those of
 * the sink and of read(), GI_E_MEMORY. */
enum gi_status gi_levels_write(struct gi_sink *sink, const struct gi_levels *levels,
                               const struct gi_metadata *metadata, struct gi_err *err);
void gi_levels_free(struct gi_levels *levels);
