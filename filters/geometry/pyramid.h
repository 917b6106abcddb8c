/* Tiled image pyramids: an image and smaller versions of it, each half as wide and as high as the
 * one before, cut into tiles. The tiles of a row of tiles are made as soon as its pixels are there,
 * so that memory holds about two rows of tiles of the image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

enum { GI_PYRAMID_LEVELS_MAX = 32 };

/* Level 0 is the image. The sides of each further level are half as long, rounded up. */
struct gi_pyramid {
    int size;       /* width and height of a tile without its overlap */
    int overlap;    /* pixels of each neighbour that a tile contains too; less than `size` */
    bool one_pixel; /* the last level has one pixel, otherwise one tile */
    bool padded;    /* tiles at the right and lower side are filled up to `size` x `size` */
    int nlevels;    /* this and the rest are set by gi_pyramid_plan() */
    struct {
        int width, height;
        int columns, rows; /* of tiles */
        int64_t smaller;   /* number of tiles of the smaller levels */
    } levels[GI_PYRAMID_LEVELS_MAX];
};

/* Chooses the levels for an image of this size. */
void gi_pyramid_plan(struct gi_pyramid *pyramid, int width, int height);
/* Returns the pixels of its level that a tile contains, with its overlap. */
struct gi_window gi_pyramid_tile(const struct gi_pyramid *pyramid, int level, int column, int row);

/* The receiver of the tiles. A level's rows of tiles come from top to bottom. */
struct gi_pyramid_receiver {
    void *self;
    /* Announces a row of tiles. */
    enum gi_status (*begin)(void *self, int level, int row, struct gi_err *err);
    /* Takes a tile, which is valid during the call. Several threads call it at once for the tiles
     * of a row, except for the first tile of level 0, which is received alone. */
    enum gi_status (*tile)(void *self, const struct gi_image *tile, int level, int column, int row,
                           struct gi_err *err);
};

/* The rows of a level that are kept. */
struct gi_pyramid_level {
    struct gi_image rows; /* memory for all rows that a row of tiles needs; `data` NULL at first */
    int top, bottom;      /* the rows top <= y < bottom of the level are in `rows` */
    int halved;           /* number of rows of the next level that have been made */
    int next;             /* number of rows of tiles that have been made */
};

struct gi_pyramid_builder {
    const struct gi_pyramid *pyramid;
    const struct gi_parallel *parallel;
    struct gi_pyramid_receiver receiver;
    struct gi_pyramid_level levels[GI_PYRAMID_LEVELS_MAX]; /* zeroed by the caller */
};

/* Takes the next rows of the image, from top to bottom. gi_pyramid_close() must be called in the
 * end, also after an error. Errors: GI_E_MEMORY, and those of the receiver; if several tiles of a
 * row fail, the error is that of the first. */
enum gi_status gi_pyramid_add(struct gi_pyramid_builder *builder, const struct gi_image *rows,
                              struct gi_err *err);
void gi_pyramid_close(struct gi_pyramid_builder *builder);
