/* The names of tiles, as `vips dzsave` has them.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/tiles_layout.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "imgio/small.h"

const struct gi_choice gi_tiles_layout_choices[] = {
    {"dz", NULL, "DeepZoom: OUT.dzi and OUT_files/LEVEL/COLUMN_ROW.jpg"},
    {"xyz", NULL, "slippy map: OUT/LEVEL/COLUMN/ROW.jpg"},
    {"google", NULL, "the same as OUT/LEVEL/ROW/COLUMN.jpg"},
    {"zoomify", NULL, "OUT/ImageProperties.xml and OUT/TileGroup0/LEVEL-COLUMN-ROW.jpg"},
    {"iiif", NULL, "IIIF Image API 3, level 0: OUT/info.json and OUT/REGION/SIZE/0/default.jpg"},
    {"tiff", NULL, "tiled pyramidal TIFF, a cloud-optimized GeoTIFF (COG): the file OUT"},
    {"ome-tiff", NULL, "tiled pyramidal OME-TIFF: the file OUT"},
    {"cog", "tiff", NULL},
    {0},
};

struct gi_pyramid gi_tiles_pyramid(enum gi_tiles_layout layout)
{
    static const struct gi_pyramid pyramids[] = {
        [GI_TILES_DZ] = {.size = 254, .overlap = 1, .one_pixel = true},
        [GI_TILES_XYZ] = {.size = 256, .padded = true},
        [GI_TILES_GOOGLE] = {.size = 256, .padded = true},
        [GI_TILES_ZOOMIFY] = {.size = 256},
        [GI_TILES_IIIF] = {.size = 512},
        [GI_TILES_TIFF] = {.size = 256},
        [GI_TILES_OME] = {.size = 256},
    };
    return pyramids[layout];
}

bool gi_tiles_is_tiff(enum gi_tiles_layout layout)
{
    return layout == GI_TILES_TIFF || layout == GI_TILES_OME;
}

/* ---- names ---- */

char *gi_tiles_folder(const struct gi_tiles *tiles)
{
    return gi_small_format("%s%s", tiles->base, tiles->layout == GI_TILES_DZ ? "_files" : "");
}

/* Returns a tile's name for IIIF: its rectangle in the image, and the size of the tile. If that is
 * the whole image, the rectangle has the `other` name "full", and the size "max" unless it is
 * reduced (IIIF Image API 3.0, 4.7: canonical URI). */
static char *iiif_path(const struct gi_tiles *tiles, int level, int column, int row, bool other)
{
    const struct gi_window tile = gi_pyramid_tile(&tiles->pyramid, level, column, row);
    int64_t x = (int64_t)tile.x << level, y = (int64_t)tile.y << level;
    int64_t right = (int64_t)(tile.x + tile.width) << level, lower = (int64_t)(tile.y + tile.height)
                                                                     << level;
    int64_t width = tiles->pyramid.levels[0].width, height = tiles->pyramid.levels[0].height;
    char region[96] = "full", size[32] = "max";
    if (!other)
        snprintf(region, sizeof region, "%lld,%lld,%lld,%lld", (long long)x, (long long)y,
                 (long long)((right < width ? right : width) - x),
                 (long long)((lower < height ? lower : height) - y));
    if (!other || level)
        snprintf(size, sizeof size, "%d,%d", tile.width, tile.height);
    return gi_small_format("%s/%s/%s/0/default.%s", tiles->base, region, size, tiles->suffix);
}

char *gi_tiles_path(const struct gi_tiles *tiles, int level, int column, int row, bool other)
{
    int zoom = tiles->pyramid.nlevels - 1 - level, columns = tiles->pyramid.levels[level].columns;
    bool whole = columns == 1 && tiles->pyramid.levels[level].rows == 1;
    int64_t number = tiles->pyramid.levels[level].smaller + (int64_t)row * columns + column;
    const char *base = tiles->base, *suffix = tiles->suffix;
    if (other && (tiles->layout != GI_TILES_IIIF || !whole))
        return NULL;
    switch (tiles->layout) {
    case GI_TILES_DZ:
        return gi_small_format("%s_files/%d/%d_%d.%s", base, zoom, column, row, suffix);
    case GI_TILES_XYZ:
        return gi_small_format("%s/%d/%d/%d.%s", base, zoom, column, row, suffix);
    case GI_TILES_GOOGLE:
        return gi_small_format("%s/%d/%d/%d.%s", base, zoom, row, column, suffix);
    case GI_TILES_ZOOMIFY:
        return gi_small_format("%s/TileGroup%lld/%d-%d-%d.%s", base, (long long)(number / 256),
                               zoom, column, row, suffix);
    default:
        return iiif_path(tiles, level, column, row, other);
    }
}

/* ---- descriptions ---- */

static char *dz_text(const struct gi_tiles *tiles)
{
    return gi_small_format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<Image xmlns=\"http://schemas.microsoft.com/deepzoom/2008\" "
                           "Format=\"%s\" Overlap=\"%d\" TileSize=\"%d\">\n"
                           "  <Size Width=\"%d\" Height=\"%d\"/>\n"
                           "</Image>\n",
                           tiles->suffix, tiles->pyramid.overlap, tiles->pyramid.size,
                           tiles->pyramid.levels[0].width, tiles->pyramid.levels[0].height);
}

static char *zoomify_text(const struct gi_tiles *tiles)
{
    long long n = tiles->pyramid.levels[0].smaller +
                  (int64_t)tiles->pyramid.levels[0].columns * tiles->pyramid.levels[0].rows;
    return gi_small_format("<IMAGE_PROPERTIES WIDTH=\"%d\" HEIGHT=\"%d\" NUMTILES=\"%lld\" "
                           "NUMIMAGES=\"1\" VERSION=\"1.8\" TILESIZE=\"%d\" />\n",
                           tiles->pyramid.levels[0].width, tiles->pyramid.levels[0].height, n,
                           tiles->pyramid.size);
}

static char *iiif_text(const struct gi_tiles *tiles)
{
    const char *slash = strrchr(tiles->base, '/'), *name = slash ? slash + 1 : tiles->base;
    json_t *sizes = gi_small_check(json_array()), *factors = gi_small_check(json_array());
    for (int i = tiles->pyramid.nlevels - 1; i >= 0; i--) {
        if (tiles->pyramid.levels[i].columns == 1 && tiles->pyramid.levels[i].rows == 1)
            json_array_append_new(sizes,
                                  json_pack("{s:i, s:i}", "width", tiles->pyramid.levels[i].width,
                                            "height", tiles->pyramid.levels[i].height));
        json_array_insert_new(factors, 0, json_integer((json_int_t)1 << i));
    }
    json_t *formats = json_pack("[s]", tiles->suffix);
    json_t *info = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:i, s:i, s:o, s:[{s:i, s:o}], s:o}", "@context",
        "http://iiif.io/api/image/3/context.json", "id", gi_json_text(tiles->id ? tiles->id : name),
        "type", "ImageService3", "protocol", "http://iiif.io/api/image", "profile", "level0",
        "width", tiles->pyramid.levels[0].width, "height", tiles->pyramid.levels[0].height, "sizes",
        sizes, "tiles", "width", tiles->pyramid.size, "scaleFactors", factors, "preferredFormats",
        formats);
    char *text = gi_json_dump(gi_small_check(info), JSON_INDENT(2));
    char *line = gi_small_format("%s\n", text);
    free(text);
    return line;
}

char *gi_tiles_description(const struct gi_tiles *tiles, char **text)
{
    switch (tiles->layout) {
    case GI_TILES_DZ:
        *text = dz_text(tiles);
        return gi_small_format("%s.dzi", tiles->base);
    case GI_TILES_ZOOMIFY:
        *text = zoomify_text(tiles);
        return gi_small_format("%s/ImageProperties.xml", tiles->base);
    case GI_TILES_IIIF:
        *text = iiif_text(tiles);
        return gi_small_format("%s/info.json", tiles->base);
    default:
        return NULL;
    }
}
