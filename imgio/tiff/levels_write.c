/* Writes TIFFs of several levels. A COG begins as GDAL's do: behind the header a text promises that
 * all directories come first, that each tile follows its length, and that its last 4 bytes are
 * repeated behind it (GDAL, "COG driver: header ghost area"). Directories go from the image to its
 * smallest version, tiles from the smallest version to the image.
 *
 *     COG       header, ghost area, directories of levels 0, 1, 2 in a chain, tiles of 2, 1, 0
 *     OME-TIFF  header, directory of level 0, its SubIFDs 1 and 2,            tiles of 2, 1, 0
 * SPDX-License-Identifier: MIT */
#include "imgio/levels.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/tiff/directory_write.h"
#include "imgio/tiff/ome.h"

enum { AROUND = 4, TAG_TILE_NBYTES = 325, TAG_SAMPLES = 277, TAG_BITS = 258 };
static const uint64_t big_from = UINT64_C(4000000000);

/* The text has room for YES behind its last line, which a program that breaks the promise writes
 * there. */
static const char ghost[] = "GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n"
                            "LAYOUT=IFDS_BEFORE_DATA\n"
                            "BLOCK_ORDER=ROW_MAJOR\n"
                            "BLOCK_LEADER=SIZE_AS_UINT4\n"
                            "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
                            "KNOWN_INCOMPATIBLE_EDITION=NO\n ";

/* ---- tiles that arrive ---- */

const void *gi_levels_tile(size_t *nbytes, const void *tiff, size_t tiff_nbytes)
{
    struct gi_tags tags;
    uint64_t directory = gi_tags_open(&tags, tiff, tiff_nbytes);
    *nbytes = (size_t)gi_tag_integer_of(&tags, directory, TAG_TILE_NBYTES, 0);
    return (const char *)tiff + gi_tag_integer_of(&tags, directory, GI_TAG_TILES, 0);
}

enum gi_status gi_levels_describe(struct gi_levels *levels, const void *tiff, size_t nbytes,
                                  struct gi_err *err)
{
    static const enum gi_type types[] = {[8] = GI_U8, [16] = GI_U16, [32] = GI_F32};
    struct gi_tags tags;
    struct gi_tag icc;
    uint64_t directory = gi_tags_open(&tags, tiff, nbytes);
    levels->shape = (struct gi_image){
        .width = levels->list[0].width,
        .height = levels->list[0].height,
        .channels = (int)gi_tag_integer_of(&tags, directory, TAG_SAMPLES, 1),
        .type = types[gi_tag_integer_of(&tags, directory, TAG_BITS, 8)],
    };
    levels->stored = gi_tag_integer_of(&tags, directory, GI_TAG_COMPRESSION, 1) == 1;
    if (!gi_tag_find(&icc, &tags, directory, GI_TAG_ICC))
        return GI_OK;
    levels->icc_nbytes = (size_t)icc.nbytes;
    levels->icc = gi_memory_copy(tags.bytes + icc.at, levels->icc_nbytes);
    return levels->icc ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: the ICC profile");
}

void gi_levels_free(struct gi_levels *levels)
{
    free(levels->icc);
    levels->icc = NULL;
}

/* ---- directories ---- */

/* The file that is written. */
struct file {
    const struct gi_levels *levels;
    const struct gi_metadata *metadata; /* of the image */
    char *description;                  /* of OME; NULL: that of the metadata */
    bool big;
    uint64_t directories[GI_LEVELS_MAX]; /* offset of each directory */
    uint64_t tiles[GI_LEVELS_MAX];       /* offset of the first bytes of each level's tiles */
};

static size_t head_nbytes(const struct file *f)
{
    return f->big ? 16 : 8;
}

static size_t around(const struct file *f)
{
    return f->levels->ome ? 0 : AROUND;
}

/* Returns the directory that follows that of a level in the chain, or 0. */
static uint64_t next_of(const struct file *f, int level)
{
    return f->levels->ome || level + 1 == f->levels->n ? 0 : f->directories[level + 1];
}

/* Makes the directory of a level. `places` are the offsets of its tiles; NULL: not yet known. */
static enum gi_status make_directory(struct gi_tiff_directory *d, const struct file *f, int index,
                                     const uint64_t *places, struct gi_err *err)
{
    const struct gi_levels *levels = f->levels;
    const struct gi_tiled_level *level = &levels->list[index];
    const struct gi_metadata profile = {.icc = levels->icc, .icc_nbytes = levels->icc_nbytes};
    const struct gi_metadata *metadata = index ? &profile : f->metadata;
    struct gi_image shape = levels->shape;
    shape.width = level->width;
    shape.height = level->height;
    const struct gi_tiff_form form = {.image = &shape,
                                      .width = level->width,
                                      .stored = levels->stored,
                                      .tiles = true,
                                      .reduced = index > 0,
                                      .strip_width = levels->tile,
                                      .strip_rows = levels->tile,
                                      .nstrips = level->ntiles,
                                      .strip_nbytes = level->nbytes,
                                      .strip_at = places,
                                      .description = index ? NULL : f->description,
                                      .smaller = f->directories + 1,
                                      .nsmaller = levels->ome && !index ? levels->n - 1 : 0};
    enum gi_status status = gi_tiff_directory_new(d, &form, 0, f->big, metadata, err);
    if (status)
        return status;
    gi_tiff_add_image(d, &form, metadata);
    gi_tiff_directory_end(d);
    gi_tiff_directory_next(d, next_of(f, index));
    return GI_OK;
}

/* Returns the bytes of a level's tiles, with the bytes before and after each tile. */
static uint64_t tiles_nbytes(const struct file *f, const struct gi_tiled_level *level)
{
    uint64_t nbytes = 0;
    for (int i = 0; i < level->ntiles; i++)
        nbytes += level->nbytes[i] + 2 * around(f);
    return nbytes;
}

/* Finds the offsets of the directories and of the tiles. */
static enum gi_status place_in(struct file *f, bool big, uint64_t *end, struct gi_err *err)
{
    f->big = big;
    uint64_t at = head_nbytes(f) + (f->levels->ome ? 0 : sizeof ghost - 1);
    at += at % 2; /* as GDAL places the first directory */
    for (int i = 0; i < f->levels->n; i++) {
        struct gi_tiff_directory d;
        enum gi_status status = make_directory(&d, f, i, NULL, err);
        if (status)
            return status;
        f->directories[i] = at;
        at += d.end - head_nbytes(f);
        gi_tiff_directory_free(&d);
    }
    for (int i = f->levels->n - 1; i >= 0; i--) {
        f->tiles[i] = at;
        at += tiles_nbytes(f, &f->levels->list[i]);
    }
    *end = at;
    return GI_OK;
}

/* The file is a BigTIFF only if it must be, because not all readers know it. */
static enum gi_status place(struct file *f, struct gi_err *err)
{
    uint64_t end = 0, most = f->levels->big_from ? f->levels->big_from : big_from;
    enum gi_status status = place_in(f, false, &end, err);
    return status || end <= most ? status : place_in(f, true, &end, err);
}

/* Returns the offsets of a level's tiles less `from`, which the caller frees, or NULL if there is
 * no memory. */
static uint64_t *places_of(const struct file *f, int index, uint64_t from)
{
    const struct gi_tiled_level *level = &f->levels->list[index];
    uint64_t *places = malloc((size_t)level->ntiles * sizeof *places), at = f->tiles[index];
    for (int i = 0; i < level->ntiles && places; i++) {
        places[i] = at + around(f) - from;
        at += level->nbytes[i] + 2 * around(f);
    }
    return places;
}

static enum gi_status write_head(struct gi_sink *sink, const struct file *f,
                                 const struct gi_tiff_directory *first, struct gi_err *err)
{
    unsigned char head[16 + sizeof ghost] = {0};
    size_t n = head_nbytes(f);
    memcpy(head, first->bytes, n);
    gi_put_own(head + (f->big ? 8 : 4), f->big ? 8 : 4, f->directories[0]);
    memcpy(head + n, ghost, f->levels->ome ? 0 : sizeof ghost - 1);
    return gi_sink_write(sink, head, (size_t)f->directories[0], err);
}

static enum gi_status write_directories(struct gi_sink *sink, const struct file *f,
                                        struct gi_err *err)
{
    const struct gi_levels *levels = f->levels;
    enum gi_status status = GI_OK;
    for (int i = 0; i < levels->n && !status; i++) {
        struct gi_tiff_directory d = {0};
        uint64_t delta = f->directories[i] - head_nbytes(f), *places = places_of(f, i, delta);
        status = places ? make_directory(&d, f, i, places, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: offsets of tiles");
        if (!status) {
            gi_tiff_move(d.bytes, f->big, delta);
            status = i ? GI_OK : write_head(sink, f, &d, err);
        }
        if (!status)
            status = gi_sink_write(sink, d.bytes + head_nbytes(f), d.end - head_nbytes(f), err);
        free(places);
        gi_tiff_directory_free(&d);
    }
    return status;
}

/* ---- the file ---- */

static enum gi_status write_tiles(struct gi_sink *sink, const struct file *f, struct gi_err *err)
{
    const struct gi_levels *levels = f->levels;
    size_t most = 0;
    for (int i = 0; i < levels->n; i++)
        for (int k = 0; k < levels->list[i].ntiles; k++)
            most = levels->list[i].nbytes[k] > most ? (size_t)levels->list[i].nbytes[k] : most;
    unsigned char *bytes = malloc(most + 2 * AROUND);
    enum gi_status status = bytes ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a tile");
    for (int i = levels->n - 1; i >= 0; i--)
        for (int k = 0; k < levels->list[i].ntiles && !status; k++) {
            unsigned char *tile = bytes + AROUND;
            size_t n = (size_t)levels->list[i].nbytes[k];
            status = levels->read(levels->self, tile, n, levels->list[i].at[k], err);
            if (status)
                break;
            gi_put_little32(bytes, (uint32_t)n);
            memcpy(tile + n, tile + n - AROUND, AROUND); /* no compressed tile is shorter */
            status = gi_sink_write(sink, tile - around(f), n + 2 * around(f), err);
        }
    free(bytes);
    return status;
}

enum gi_status gi_levels_write(struct gi_sink *sink, const struct gi_levels *levels,
                               const struct gi_metadata *metadata, struct gi_err *err)
{
    struct gi_metadata fitted;
    struct file f = {.levels = levels, .metadata = &fitted};
    enum gi_status status = gi_metadata_fit_image(&fitted, metadata, &levels->shape, 1, err);
    fitted.icc = levels->icc;
    fitted.icc_nbytes = levels->icc_nbytes;
    if (!status && levels->ome)
        f.description = gi_ome_text(&levels->shape, &fitted);
    if (!status)
        status = place(&f, err);
    if (!status)
        status = write_directories(sink, &f, err);
    if (!status)
        status = write_tiles(sink, &f, err);
    free(f.description);
    gi_metadata_free_fitted(&fitted);
    return status;
}
