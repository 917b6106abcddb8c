/* Makes PNGs of every kind with zlib, chunk by chunk, to compare png_decode with imgio.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "coded_device.h"

enum {
    PNG_FILTERS = 5,  /* None, Sub, Up, Average, Paeth */
    PNG_MIXED = 5,    /* as a filter: a random one per row */
    PNG_PICTURES = 8, /* kinds of pictures */
};

/* How the pixels are stored. */
struct png_recipe {
    int filter; /* 0 to PNG_MIXED */
    /* of deflateInit2() */
    int level, strategy, window_bits, mem_level;
    int flush;    /* Z_NO_FLUSH, or another flush after every row */
    bool changes; /* level and strategy, after every row */
    size_t part;  /* bytes per IDAT chunk; 0: one chunk */
    int ncolors;  /* of the palette whose indices the image has; 0: there is none */
    int nalphas;  /* of them with alpha, in a tRNS chunk */
};

/* Draws one value, noise, waves like those of a photograph, long runs, repeated rows, two values,
 * periods of a few bytes, and noise above flat areas (kind 0 to 7). Samples are below `levels`. */
void png_draw(struct gi_image *image, int kind, unsigned levels, uint64_t *seed);

/* Draws a recipe. If `palette`, it has one. */
struct png_recipe png_random(bool palette, uint64_t *seed);

/* Returns the filtered rows of an image, whose samples are indices if there is a palette. */
struct bytes png_filter_rows(const struct gi_image *image, int filter, uint64_t *seed);
/* Returns the bytes as a zlib stream. `row` is the number of bytes after which it is flushed. */
struct bytes png_deflate(const struct bytes *raw, const struct png_recipe *recipe, size_t row);
/* Writes the right checksum over the one of a damaged stream that zlib inflates up to there, so
 * that the damage is found by nothing else. If there is other damage, there is then more of it. */
void png_mend_sum(const struct bytes *stream, size_t raw_nbytes);
/* Returns a PNG of the shape of the image that holds the stream. */
struct bytes png_wrap(const struct gi_image *image, const struct bytes *stream,
                      const struct png_recipe *recipe);

/* Returns the stream of a file that stays coded. */
struct bytes png_stream(const struct gi_coded *coded);

/* Returns a PNG of the image. */
struct bytes png_make(const struct gi_image *image, const struct png_recipe *recipe,
                      uint64_t *seed);

/* Appends a chunk to a file. Returns the number of bytes then. */
size_t png_append(struct bytes *file, const char *type, const void *data, size_t n);
