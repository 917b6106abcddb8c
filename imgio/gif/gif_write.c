/* Writes GIF through giflib ("Graphics Interchange Format", version 89a). If the image has more
 * than 256 colours, median cut reduces them. A pixel with alpha below 128 becomes transparent, for
 * which the palette has one entry. Bytes depend on giflib's version.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/gif/gif_parts.h"
#include "imgio/median_cut.h"
#include "imgio/png/png_palette.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<gif_lib.h>)
#include <gif_lib.h>
#if GIFLIB_MAJOR == 5 && GIFLIB_MINOR >= 1

#define FUNCTIONS(X)                                                                               \
    X(EGifOpen)                                                                                    \
    X(EGifSetGifVersion)                                                                           \
    X(EGifPutScreenDesc)                                                                           \
    X(EGifPutExtension)                                                                            \
    X(EGifPutImageDesc)                                                                            \
    X(EGifPutLine)                                                                                 \
    X(EGifCloseFile)                                                                               \
    X(GifMakeMapObject)                                                                            \
    X(GifFreeMapObject)
GI_LIBRARY_TABLE(gif_write_table, FUNCTIONS);
static struct gif_write_table gif;
const struct gi_library gi_gif_writer =
    GI_LIBRARY(FUNCTIONS, gif, "libgif.so.7", "giflib", "libgif7");

enum { SIDE_MAX = 65535, OPAQUE_LEAST = 128, COLORS = 1 << 24 };

/* ---- 256 colours ---- */

/* Makes a copy whose pixels are opaque, or transparent and black. Sets *hides to whether there are
 * transparent ones. */
static enum gi_status make_opaque(struct gi_image *copy, bool *hides, const struct gi_image *image,
                                  struct gi_err *err)
{
    *hides = false;
    enum gi_status status = gi_image_convert(copy, image, GI_U8, err);
    for (int y = 0; !status && image->channels == 4 && y < image->height; y++) {
        uint8_t *pixel = gi_row(copy, y);
        for (int x = 0; x < image->width; x++, pixel += 4) {
            bool hidden = pixel[3] < OPAQUE_LEAST;
            pixel[3] = 255;
            if (hidden)
                memset(pixel, 0, 4);
            *hides = *hides || hidden;
        }
    }
    return status;
}

static size_t number_of(const uint8_t *pixel)
{
    return (size_t)pixel[0] << 16 | (size_t)pixel[1] << 8 | pixel[2];
}

/* Replaces the colours of the opaque pixels by at most `most` colours. */
static enum gi_status reduce(struct gi_image *image, int most, struct gi_err *err)
{
    uint8_t colors[GI_MEDIAN_CUT_MOST][4];
    struct gi_color_counts *counts = calloc(1, sizeof *counts + COLORS * sizeof *counts->each);
    uint8_t *entries = calloc(COLORS, 1);
    int n, channels = image->channels;
    enum gi_status status =
        counts && entries ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a table of colours");
    for (int y = 0; !status && y < image->height; y++) {
        const uint8_t *pixel = gi_row(image, y);
        for (int x = 0; x < image->width; x++, pixel += channels)
            gi_color_counts_add(counts, number_of(pixel), channels == 3 || pixel[3]);
    }
    if (!status)
        status = gi_median_cut(colors, &n, entries, most, counts, 3, err);
    for (int y = 0; !status && y < image->height; y++) {
        uint8_t *pixel = gi_row(image, y);
        for (int x = 0; x < image->width; x++, pixel += channels)
            if (channels == 3 || pixel[3])
                memcpy(pixel, colors[entries[number_of(pixel)]], 3);
    }
    free(counts);
    free(entries);
    return status;
}

/* Makes *indices, an image of one channel, whose values are entries of *coding. The caller frees
 * it. */
static enum gi_status index_colors(struct gi_image *indices, struct gi_png_coding *coding,
                                   const struct gi_image *image, struct gi_err *err)
{
    struct gi_image copy = {0};
    bool hides;
    enum gi_status status = make_opaque(&copy, &hides, image, err);
    bool fits = !status && gi_png_find_palette(coding, &copy, false);
    if (!status && !fits) {
        status = reduce(&copy, GI_MEDIAN_CUT_MOST - hides, err);
        if (!status)
            gi_png_find_palette(coding, &copy, false);
    }
    coding->depth = 8;
    if (!status)
        status = gi_png_pack(indices, &copy, coding, err);
    gi_image_free(&copy);
    return status;
}

/* ---- the file ---- */

struct writer {
    struct gi_sink *sink;
    enum gi_status status; /* of the sink */
    struct gi_err *err;
};

static int write_bytes(GifFileType *file, const GifByteType *bytes, int nbytes)
{
    struct writer *w = file->UserData;
    if (!w->status)
        w->status = gi_sink_write(w->sink, bytes, (size_t)nbytes, w->err);
    return w->status ? 0 : nbytes;
}

/* Returns the palette, with the number of entries rounded up to a power of two, or NULL. */
static ColorMapObject *make_map(const struct gi_png_coding *coding)
{
    GifColorType colors[GI_PNG_COLORS_MAX] = {0};
    int n = 2;
    while (n < coding->ncolors)
        n *= 2;
    for (int i = 0; i < coding->ncolors; i++)
        colors[i] =
            (GifColorType){coding->colors[i][0], coding->colors[i][1], coding->colors[i][2]};
    return gif.GifMakeMapObject(n, colors);
}

static bool put_metadata(struct writer *w, const struct gi_metadata *metadata)
{
    if (metadata && !w->status)
        w->status = gi_gif_write_metadata(w->sink, metadata, w->err);
    return !w->status;
}

static bool put_image(GifFileType *file, const struct gi_image *indices,
                      const struct gi_png_coding *coding, const struct gi_metadata *metadata)
{
    /* The transparent colour is the first one, as its alpha is the lowest. */
    const GifByteType control[] = {1, 0, 0, 0};
    int width = indices->width, height = indices->height;
    ColorMapObject *map = make_map(coding);
    bool ok = map && gif.EGifPutScreenDesc(file, width, height, 8, 0, map) == GIF_OK;
    ok = ok && put_metadata(file->UserData, metadata);
    if (ok && coding->colors[0][3] == 0)
        ok = gif.EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, sizeof control, control) == GIF_OK;
    ok = ok && gif.EGifPutImageDesc(file, 0, 0, width, height, false, NULL) == GIF_OK;
    for (int y = 0; ok && y < height; y++)
        ok = gif.EGifPutLine(file, gi_row(indices, y), width) == GIF_OK;
    gif.GifFreeMapObject(map);
    return ok;
}

enum gi_status gi_gif_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_image indices = {0};
    struct gi_png_coding coding;
    struct writer w = {.sink = sink, .err = err};
    int code = 0;
    if (image->width > SIDE_MAX || image->height > SIDE_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels; GIF holds at most %d a side",
                       image->width, image->height, SIDE_MAX);
    enum gi_status status = index_colors(&indices, &coding, image, err);
    if (status)
        return status;
    GifFileType *file = gif.EGifOpen(&w, write_bytes, &code);
    bool ok = file;
    if (file) {
        gif.EGifSetGifVersion(file, true);
        ok = put_image(file, &indices, &coding, metadata);
        ok = gif.EGifCloseFile(file, &code) == GIF_OK && ok;
    }
    gi_image_free(&indices);
    if (w.status || ok)
        return w.status;
    return gi_fail(err, GI_E_MEMORY, "out of memory for the GIF encoder");
}

#endif
#endif
