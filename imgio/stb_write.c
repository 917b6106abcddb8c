/* Writes TGA through stb_image_write.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/tga/tga_parts.h"

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
enum { SAMPLES_MAX = INT_MAX / 4, TGA_SIDE_MAX = 65535, HEAD = 18 };

struct target {
    struct gi_sink *sink;
    struct gi_err *err;
    enum gi_status status;
    unsigned char head[HEAD];
    size_t nhead;             /* bytes of the header so far */
    const struct gi_part *id; /* image ID; NULL if there is none */
};

/* Writes the header with the length of the image ID, and the ID behind it. */
static void write_head(struct target *t)
{
    t->head[0] = t->id ? (unsigned char)t->id->nbytes : 0;
    t->status = gi_sink_write(t->sink, t->head, HEAD, t->err);
    if (!t->status && t->id)
        t->status = gi_sink_write(t->sink, t->id->bytes, t->id->nbytes, t->err);
}

static void write_piece(void *context, void *bytes, int nbytes)
{
    struct target *t = context;
    unsigned char *at = bytes, *end = at + nbytes;
    while (at < end && t->nhead < HEAD) {
        t->head[t->nhead++] = *at++;
        if (t->nhead == HEAD)
            write_head(t);
    }
    if (at < end && !t->status)
        t->status = gi_sink_write(t->sink, at, (size_t)(end - at), t->err);
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

enum gi_status gi_tga_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    if (gi_row_samples(image) > SAMPLES_MAX / (size_t)image->height ||
        image->width > TGA_SIDE_MAX || image->height > TGA_SIDE_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels, too large for this format",
                       image->width, image->height);
    void *samples = pack(image);
    if (!samples)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    struct target target = {.sink = sink, .err = err, .id = gi_tga_id(metadata)};
    bool done = stbi_write_tga_to_func(write_piece, &target, image->width, image->height,
                                       image->channels, samples);
    free(samples);
    if (!target.status && !done)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    return target.status;
}
