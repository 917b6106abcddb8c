/* Layouts of tiled image pyramids: the names of the tiles, and the file that describes them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/geometry/pyramid.h"
#include "filters/option.h"

enum gi_tiles_layout {
    GI_TILES_DZ,
    GI_TILES_XYZ,
    GI_TILES_GOOGLE,
    GI_TILES_ZOOMIFY,
    GI_TILES_IIIF,
    GI_TILES_TIFF,
    GI_TILES_OME,
};
extern const struct gi_choice gi_tiles_layout_choices[]; /* in the order of the enum */

/* A tiled pyramid and its names. */
struct gi_tiles {
    enum gi_tiles_layout layout;
    const char *base;   /* the path that the user gave, without trailing slashes */
    const char *suffix; /* of the tiles, without its dot */
    const char *id;     /* IIIF: the URI of the image; NULL: the last part of `base` */
    struct gi_pyramid pyramid;
};

/* Returns the pyramid of a layout, not yet planned, with its default size and overlap. */
struct gi_pyramid gi_tiles_pyramid(enum gi_tiles_layout layout);

/* Returns whether the layout is one file (cli/commands/tiles_tiff.h). */
bool gi_tiles_is_tiff(enum gi_tiles_layout layout);

/* Returns the folder of all tiles. The caller frees it. */
char *gi_tiles_folder(const struct gi_tiles *tiles);
/* Returns the path of a tile. The caller frees it. With `other` it is a second name of the tile,
 * and NULL if there is none. */
char *gi_tiles_path(const struct gi_tiles *tiles, int level, int column, int row, bool other);

/* Returns the path of the file that describes the pyramid, and sets *text to its text. The caller
 * frees both. Returns NULL if the layout has no such file. */
char *gi_tiles_description(const struct gi_tiles *tiles, char **text);
