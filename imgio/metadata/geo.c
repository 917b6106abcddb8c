/* Adapts the tags of GeoTIFF to pixels that have moved, and drops other parts with positions.
 *
 * The position of pixels is either a scale and a tie point (the point at raster position (I, J) has
 * model coordinates (X, Y)), or a matrix, or several tie points. Row numbers grow downwards and Y
 * upwards, so the scale of rows is subtracted.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/geo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/gpano.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/resolution.h"
#include "imgio/metadata/xmp.h"
#include "imgio/tiff/tags.h"

enum {
    TAG_SCALE = 33550, /* ModelPixelScale: 3 numbers */
    TAG_INTERGRAPH = 33920,
    TAG_TIES = 33922,        /* ModelTiepoint: 6 numbers per point: I, J, K, X, Y, Z */
    TAG_MATRIX = 34264,      /* ModelTransformation: 4 rows of 4 numbers */
    TAG_GDAL = 42112,        /* GDAL_METADATA: XML */
    TAG_KEYS = 34735,        /* GeoKeyDirectory: groups of 4 numbers */
    TAG_POLYNOMIALS = 50844, /* RPCCoefficient */
    KEY_RASTER_TYPE = 1025,
    PIXEL_IS_POINT = 2,
    TIE = 6,
    SCALE = 3,
    MATRIX = 16,
};

static const char moved[] = "the pixels have moved";

static struct gi_part *find(struct gi_metadata *metadata, uint32_t tag)
{
    return (struct gi_part *)gi_parts_find(&metadata->parts, GI_PART_GEO, tag);
}

static void drop(struct gi_metadata *metadata, uint32_t tag)
{
    struct gi_part *part = find(metadata, tag);
    if (!part)
        return;
    part->fate = GI_PART_DROPPED;
    part->why = moved;
}

/* Returns the numbers of the tag, if it has doubles, and at least `least` of them. */
static double *numbers(struct gi_metadata *metadata, uint32_t tag, size_t least)
{
    struct gi_part *part = find(metadata, tag);
    bool fits = part && part->place == GI_TAG_DOUBLE && part->nbytes >= least * sizeof(double);
    return fits ? part->bytes : NULL;
}

/* Returns whether raster positions count from the centre of the upper left pixel. */
static bool counts_from_centre(struct gi_metadata *metadata)
{
    const struct gi_part *part = find(metadata, TAG_KEYS);
    uint16_t key[4];
    for (size_t at = sizeof key;
         part && part->place == GI_TAG_SHORT && at + sizeof key <= part->nbytes; at += sizeof key) {
        memcpy(key, (char *)part->bytes + at, sizeof key);
        if (key[0] == KEY_RASTER_TYPE && !key[1])
            return key[3] == PIXEL_IS_POINT;
    }
    return false;
}

/* Multiplies the matrix, row by row, by the map: the first two columns and the last one change. */
static void multiply(double t[MATRIX], const double m[6])
{
    for (double *row = t; row < t + MATRIX; row += 4) {
        double x = row[0], y = row[1];
        row[0] = x * m[0] + y * m[3];
        row[1] = x * m[1] + y * m[4];
        row[3] += x * m[2] + y * m[5];
    }
}

static bool is_scale_or_tie(const struct gi_part *part)
{
    return part->kind == GI_PART_GEO && (part->code == TAG_SCALE || part->code == TAG_TIES);
}

/* Replaces a scale and a tie point, which can't express mirrored or transposed axes, by the matrix
 * that they mean, if there is no matrix. */
static void become_matrix(struct gi_metadata *metadata, const double m[6])
{
    const double *s = numbers(metadata, TAG_SCALE, SCALE), *p = numbers(metadata, TAG_TIES, TIE);
    double t[MATRIX] = {s[0], 0, 0,    p[3] - p[0] * s[0], 0, -s[1], 0, p[4] + p[1] * s[1],
                        0,    0, s[2], p[5] - p[2] * s[2], 0, 0,     0, 1};
    bool has_matrix = find(metadata, TAG_MATRIX) != NULL;
    multiply(t, m);
    gi_parts_remove(&metadata->parts, is_scale_or_tie);
    if (!has_matrix)
        gi_metadata_add_part(metadata,
                             &(struct gi_part){.kind = GI_PART_GEO,
                                               .fate = GI_PART_CARRIED,
                                               .code = TAG_MATRIX,
                                               .place = GI_TAG_DOUBLE,
                                               .nbytes = sizeof t,
                                               .bytes = t},
                             "GeoTIFF tag %d", TAG_MATRIX);
}

/* Moves the tie point to the raster's origin. */
static void move_scaled(struct gi_metadata *metadata, const double m[6])
{
    double *s = numbers(metadata, TAG_SCALE, SCALE), *p = numbers(metadata, TAG_TIES, TIE);
    p[3] += (m[2] - p[0]) * s[0];
    p[4] -= (m[5] - p[1]) * s[1];
    p[0] = p[1] = 0;
    s[0] *= m[0];
    s[1] *= m[4];
}

/* Moves the raster positions of tie points by the inverse of the map. */
static void move_ties(struct gi_metadata *metadata, const double m[6])
{
    struct gi_part *part = find(metadata, TAG_TIES);
    double *p = numbers(metadata, TAG_TIES, TIE), determinant = m[0] * m[4] - m[1] * m[3];
    for (size_t i = 0; p && i + TIE <= part->nbytes / sizeof *p; i += TIE) {
        double x = p[i] - m[2], y = p[i + 1] - m[5];
        p[i] = (m[4] * x - m[1] * y) / determinant;
        p[i + 1] = (m[0] * y - m[3] * x) / determinant;
    }
}

static bool is_identity(const double m[6])
{
    static const double identity[] = {1, 0, 0, 0, 1, 0};
    for (int i = 0; i < 6; i++)
        if (m[i] != identity[i])
            return false;
    return true;
}

/* Returns whether the part is the position on a page or the size of it, has overlays of ImageJ, or
 * coordinates of the sky. */
static bool is_place(const struct gi_part *part)
{
    enum { X_POSITION = 286, Y_POSITION, FULL_WIDTH = 33300, FULL_HEIGHT };
    static const char *const kinds[] = {"over", "revo", "roi ", " ior"}; /* in both byte orders */
    if (part->kind == GI_PART_FITS_CARDS && part->code == GI_FITS_SKY)
        return true;
    uint32_t tag = part->kind == GI_PART_TIFF_TAG ? part->code : 0;
    for (size_t i = 0; i < 4 && tag == GI_TAG_IMAGEJ && part->bytes; i++)
        if (memmem(part->bytes, part->nbytes, kinds[i], 4))
            return true;
    return tag == X_POSITION || tag == Y_POSITION || tag == FULL_WIDTH || tag == FULL_HEIGHT;
}

static void drop_places(struct gi_metadata *metadata)
{
    for (int i = 0; i < metadata->parts.n; i++) {
        struct gi_part *part = &metadata->parts.list[i];
        if (part->fate == GI_PART_CARRIED && is_place(part)) {
            part->fate = GI_PART_DROPPED;
            part->why = moved;
        }
    }
}

/* Returns the bits of enum gi_layout of the map of a whole image. */
static int layout_of(const double m[6])
{
    bool swaps = m[0] == 0;
    return (swaps ? GI_LAYOUT_TRANSPOSE : 0) | (m[swaps ? 1 : 0] < 0 ? GI_LAYOUT_MIRROR_X : 0) |
           (m[swaps ? 3 : 4] < 0 ? GI_LAYOUT_MIRROR_Y : 0);
}

void gi_metadata_move_subject(struct gi_metadata *metadata, const double map[6], bool whole,
                              const struct gi_image *made)
{
    static const char *const regions[] = {"mwg-rs:Regions", "MP:RegionInfo"};
    struct gi_part part = {.kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = moved};
    if (gi_exif_move_subject(metadata->exif, metadata->exif_nbytes, map))
        gi_metadata_add_part(metadata, &part, "place of the subject in EXIF");
    if (!map || !is_identity(map) || !whole)
        gi_gpano_move(metadata, map, made);
    const struct gi_part *iptc = gi_parts_find(&metadata->parts, GI_PART_IPTC, 0);
    if (iptc && made)
        gi_iptc_set_orientation(iptc->bytes, iptc->nbytes, made->width, made->height);
    if (whole && map && map[0] > 0 && map[4] > 0)
        return; /* regions are shares of the sides */
    size_t before = metadata->xmp_nbytes;
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        gi_xmp_cut_properties(metadata->xmp, &metadata->xmp_nbytes, regions[i]);
    part.nbytes = before - metadata->xmp_nbytes;
    if (part.nbytes)
        gi_metadata_add_part(metadata, &part, "regions in XMP");
}

void gi_geo_move(struct gi_metadata *metadata, const double map[6], bool whole,
                 const struct gi_image *made)
{
    gi_metadata_move_subject(metadata, map, whole, made);
    if (!whole)
        gi_gain_map_drop(metadata, moved);
    else
        gi_gain_map_turn(metadata, layout_of(map));
    if (map && is_identity(map))
        return;
    if (map && map[0] == 0 && map[4] == 0)
        gi_metadata_exchange_resolutions(metadata);
    drop_places(metadata);
    drop(metadata, TAG_INTERGRAPH);
    drop(metadata, TAG_POLYNOMIALS);
    double *matrix = map ? numbers(metadata, TAG_MATRIX, MATRIX) : NULL;
    double *scale = map ? numbers(metadata, TAG_SCALE, SCALE) : NULL;
    double *ties = map ? numbers(metadata, TAG_TIES, TIE) : NULL;
    const struct gi_part *part = find(metadata, TAG_TIES);
    bool scaled = scale && ties && part->nbytes < 2 * TIE * sizeof(double);
    double m[6];
    if (!scale || !scaled) /* a scale without a tie point, or with several, means nothing */
        drop(metadata, TAG_SCALE);
    if (!ties)
        drop(metadata, TAG_TIES);
    if (!matrix)
        drop(metadata, TAG_MATRIX);
    if (!map || (!matrix && !ties))
        return;
    memcpy(m, map, sizeof m);
    if (counts_from_centre(metadata)) {
        m[2] += (m[0] + m[1] - 1) / 2;
        m[5] += (m[3] + m[4] - 1) / 2;
    }
    if (matrix)
        multiply(matrix, m);
    if (scaled && m[1] == 0 && m[3] == 0 && m[0] > 0 && m[4] > 0)
        move_scaled(metadata, m);
    else if (scaled)
        become_matrix(metadata, m);
    else if (ties)
        move_ties(metadata, m);
}

void gi_geo_orient(struct gi_metadata *metadata, const struct gi_image *stored, int orientation)
{
    double map[6];
    struct gi_image made = *stored;
    if (gi_orientation_layout(orientation) & GI_LAYOUT_TRANSPOSE) {
        made.width = stored->height;
        made.height = stored->width;
    }
    gi_layout_map(map, gi_orientation_layout(orientation), stored->width, stored->height);
    gi_geo_move(metadata, map, true, &made);
}

/* GDAL writes <Item name="STATISTICS_MEAN" sample="0">12.5</Item> (its GTiff driver). */
void gi_geo_forget_statistics(struct gi_metadata *metadata)
{
    static const char start[] = "<Item name=\"STATISTICS_", end[] = "</Item>";
    struct gi_part *part = find(metadata, TAG_GDAL);
    if (!part || !part->bytes)
        return;
    char *to = part->bytes;
    const char *from = to, *behind = from + part->nbytes, *item, *close;
    while ((item = memmem(from, (size_t)(behind - from), start, sizeof start - 1)) &&
           (close = memmem(item, (size_t)(behind - item), end, sizeof end - 1))) {
        memmove(to, from, (size_t)(item - from));
        to += item - from;
        from = close + sizeof end - 1;
    }
    memmove(to, from, (size_t)(behind - from));
    const size_t removed = (size_t)(from - to);
    part->nbytes -= removed;
    if (removed)
        gi_metadata_add_part(metadata,
                             &(struct gi_part){.kind = GI_PART_METADATA,
                                               .fate = GI_PART_DROPPED,
                                               .nbytes = removed,
                                               .why = "of the old samples"},
                             "statistics in GDAL's metadata");
}
