/* Writes BMP and TGA through stb_image_write.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

/* stb_image_write uses int for sizes. */
enum { SAMPLES_MAX = INT_MAX / 4, TGA_SIDE_MAX = 65535 };

struct target {
    struct gi_sink *sink;
    struct gi_err *err;
    enum gi_status status;
};

static void write_piece(void *context, void *bytes, int nbytes)
{
    struct target *t = context;
    if (!t->status)
        t->status = gi_sink_write(t->sink, bytes, (size_t)nbytes, t->err);
}

/* Returns a copy of the samples without padding between rows, which the caller frees. Returns NULL
 * if memory ran out. */
static void *pack(const struct gi_image *image)
{
    size_t row_nbytes = gi_row_nbytes(image);
    char *packed = malloc(row_nbytes * (size_t)image->height);
    for (int y = 0; packed && y < image->height; y++)
        memcpy(packed + (size_t)y * row_nbytes, gi_row(image, y), row_nbytes);
    return packed;
}

enum kind { BMP, TGA };

static enum gi_status encode(enum kind kind, struct gi_sink *sink, const struct gi_image *image,
                             struct gi_err *err)
{
    int side = kind == TGA ? TGA_SIDE_MAX : INT_MAX;
    if (gi_row_samples(image) > SAMPLES_MAX / (size_t)image->height || image->width > side ||
        image->height > side)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels, too large for this format",
                       image->width, image->height);
    void *samples = pack(image);
    if (!samples)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    struct target target = {.sink = sink, .err = err};
    int w = image->width, h = image->height, n = image->channels, done;
    if (kind == BMP)
        done = stbi_write_bmp_to_func(write_piece, &target, w, h, n, samples);
    else
        done = stbi_write_tga_to_func(write_piece, &target, w, h, n, samples);
    free(samples);
    if (!target.status && !done)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    return target.status;
}

enum gi_status gi_bmp_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    return encode(BMP, sink, image, err);
}

enum gi_status gi_tga_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    return encode(TGA, sink, image, err);
}
