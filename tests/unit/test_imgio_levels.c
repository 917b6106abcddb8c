/* Tiled TIFFs of several levels, small ones and BigTIFFs, are read by libtiff with the samples that
 * were written.
 * Sources: imgio/levels.h imgio/tiff/levels_write.c imgio/tiff/image_tags.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio/levels.h"
#include "imgio/tiff/tiff.h"

static char path[128];

#if GI_HAVE_TIFF

enum { TILE = 16, WIDTH = 61, HEIGHT = 45, LEVELS = 3, TILES = 64, ROOM = 1 << 20 };

/* The tiles, one behind the other. */
struct kept {
    unsigned char bytes[ROOM];
    uint64_t used, at[LEVELS][TILES], nbytes[LEVELS][TILES];
};

static enum gi_status read_kept(void *self, void *to, size_t nbytes, uint64_t at,
                                struct gi_err *err)
{
    const struct kept *kept = self;
    assert_true(at + nbytes <= kept->used);
    memcpy(to, kept->bytes + at, nbytes);
    return GI_OK;
}

/* Keeps the tile at (x, y) of a level. */
static void keep_tile(struct gi_levels *levels, struct kept *kept, int level, int number,
                      const struct gi_image *image, int x, int y)
{
    int right = x + TILE < image->width ? x + TILE : image->width;
    struct gi_image tile =
        gi_image_rows(image, y, y + TILE < image->height ? y + TILE : image->height);
    tile.data =
        (char *)tile.data + (size_t)x * (size_t)image->channels * gi_type_nbytes(image->type);
    tile.width = right - x;
    const struct gi_save_options options = {.tile = TILE, .compression = 1};
    struct gi_err warning;
    void *tiff;
    size_t nbytes, n;
    assert_int_equal(gi_save_memory(&tiff, &nbytes, &tile, NULL, "a.tif", &options, &warning, NULL),
                     GI_OK);
    if (!level && !number)
        assert_int_equal(gi_levels_describe(levels, tiff, nbytes, NULL), GI_OK);
    const void *samples = gi_levels_tile(&n, tiff, nbytes);
    assert_true(kept->used + n <= ROOM);
    memcpy(kept->bytes + kept->used, samples, n);
    kept->at[level][number] = kept->used;
    kept->nbytes[level][number] = n;
    kept->used += n;
    free(tiff);
}

static void write_levels(const struct gi_image *images, bool ome, uint64_t big_from)
{
    static struct kept kept;
    struct gi_levels levels = {.ome = ome,
                               .tile = TILE,
                               .n = LEVELS,
                               .big_from = big_from,
                               .self = &kept,
                               .read = read_kept};
    struct gi_sink *sink;
    kept.used = 0;
    for (int i = 0; i < LEVELS; i++) {
        int n = 0;
        levels.list[i].width = images[i].width;
        levels.list[i].height = images[i].height;
        for (int y = 0; y < images[i].height; y += TILE)
            for (int x = 0; x < images[i].width; x += TILE)
                keep_tile(&levels, &kept, i, n++, &images[i], x, y);
        levels.list[i].ntiles = n;
        levels.list[i].at = kept.at[i];
        levels.list[i].nbytes = kept.nbytes[i];
    }
    assert_int_equal(gi_sink_open(&sink, path, false, NULL), GI_OK);
    assert_int_equal(gi_levels_write(sink, &levels, NULL, NULL), GI_OK);
    assert_int_equal(gi_sink_commit(&sink, false, NULL), GI_OK);
    gi_levels_free(&levels);
}

/* Checks the current directory of the file against an image. */
static void check_level(TIFF *tiff, const struct gi_image *want, bool reduced)
{
    static unsigned char tile[TILE * TILE * 16];
    uint32_t width = 0, height = 0, kind = 0;
    size_t pixel = (size_t)want->channels * gi_type_nbytes(want->type);
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
    assert_int_equal(kind, reduced ? FILETYPE_REDUCEDIMAGE : 0);
    assert_true((int)width == want->width && (int)height == want->height);
    for (int y = 0; y < want->height; y += TILE)
        for (int x = 0; x < want->width; x += TILE) {
            int rows = want->height - y < TILE ? want->height - y : TILE;
            int columns = want->width - x < TILE ? want->width - x : TILE;
            assert_true(TIFFReadTile(tiff, tile, (uint32_t)x, (uint32_t)y, 0, 0) ==
                        (tmsize_t)(TILE * TILE * pixel));
            for (int i = 0; i < rows; i++)
                assert_memory_equal(tile + (size_t)i * TILE * pixel,
                                    (const char *)gi_row(want, y + i) + (size_t)x * pixel,
                                    (size_t)columns * pixel);
        }
}

static void check_file(const struct gi_image *images, bool ome, bool big)
{
    TIFF *tiff = TIFFOpen(path, "r");
    assert_non_null(tiff);
    assert_int_equal(TIFFIsBigTIFF(tiff), big);
    check_level(tiff, &images[0], false);
    uint16_t n = 0;
    toff_t *smaller = NULL, at[LEVELS];
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_SUBIFD, &n, &smaller), ome);
    assert_int_equal(n, ome ? LEVELS - 1 : 0);
    if (ome)
        memcpy(at, smaller, n * sizeof *at);
    for (int i = 1; i < LEVELS; i++) {
        assert_int_equal(ome ? TIFFSetSubDirectory(tiff, at[i - 1]) : TIFFReadDirectory(tiff), 1);
        check_level(tiff, &images[i], true);
    }
    assert_int_equal(TIFFReadDirectory(tiff), 0);
    TIFFClose(tiff);
}

TEST(there_and_back)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_F32; type++) {
            struct gi_image images[LEVELS];
            for (int i = 0; i < LEVELS; i++)
                images[i] = random_image(((WIDTH - 1) >> i) + 1, ((HEIGHT - 1) >> i) + 1, channels,
                                         (enum gi_type)type, (unsigned)i);
            for (int ome = 0; ome < 2; ome++)
                for (int big = 0; big < 2; big++) {
                    write_levels(images, ome, big);
                    check_file(images, ome, big);
                    struct gi_image back = load_or_fail(path);
                    assert_same_image(&images[0], &back);
                    gi_image_free(&back);
                }
            for (int i = 0; i < LEVELS; i++)
                gi_image_free(&images[i]);
        }
}

#else

TEST(no_libtiff)
{
    without_libtiff();
}

#endif

TEST_PATH(path, "a.tif")
