/* An image in memory: the one type that every folder shares.
 *
 * Samples are interleaved, rows from top to bottom, pixels from left to right. Channels: 1 gray,
 * 2 gray and alpha, 3 red green blue, 4 red green blue and alpha. Alpha is straight (colour is not
 * multiplied by it) and 0 is transparent. Samples are in host byte order; full scale is 255, 65535
 * or 1.0 by type; values are as the file holds them (no transfer curve is applied).
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_IMAGE_H
#define GI_IMGIO_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gi_type {
    GI_U8,
    GI_U16,
    GI_F32, /* nominal 0 to 1, but any value is kept, NaN and infinity too */
    GI_U32, /* labels only: read if gi_load_options asks for them, never filtered */
};

enum gi_owner {
    GI_OWNER_NONE, /* a view: another image owns the samples */
    GI_OWNER_HOST, /* gi_image_free() frees them */
    GI_OWNER_CUDA, /* the CUDA context that made the image releases them; `data` is a device
                      address */
};

enum {
    GI_MAX_CHANNELS = 4,
    GI_ROW_ALIGN = 64, /* bytes: rows that we allocate start at multiples of this */
};

/* Allocator for the samples of host images. `alloc` returns 64-byte aligned memory, or NULL; `free`
 * takes a pointer that `alloc` returned. Both may be called by any thread. */
struct gi_allocator {
    void *self;
    void *(*alloc)(void *self, size_t nbytes);
    void (*free)(void *self, void *samples);
};

/* How a decoder reduced a picture, if gi_shape_listener asked it to. */
struct gi_shrunk {
    int by;            /* pixels of the picture per side of one pixel of the image; 0: not
                          reduced */
    int width, height; /* pixels of the picture */
    int left, top;     /* pixels of the picture by which the first column and row of the image
                          extend beyond its edges; the last ones extend until all have the same
                          size */
};

struct gi_image {
    void *data;    /* sample 0 of row 0; row y starts at (char *)data + y * stride */
    size_t stride; /* bytes from a row to the next; at least gi_row_nbytes(). A view may have any */
    int width;     /* pixels, 1 or more */
    int height;    /* rows, 1 or more */
    int channels;  /* 1 to 4 */
    enum gi_type type;
    enum gi_owner owner;
    const struct gi_allocator *allocator; /* takes the samples back; outlives the image. NULL:
                                             plain memory, or device memory */
    struct gi_shrunk shrunk;
};

/* Limits on images that are read or made, checked before memory is allocated. */
struct gi_limits {
    /* width * height (--max-pixels). A file that is at least half as long as its samples is not
     * limited by it, nor is a result with as many pixels as the input. */
    uint64_t max_pixels;
    /* bytes of samples, of an analysis' arrays, and of input through a pipe (--max-bytes) */
    uint64_t max_bytes;
};

/* Bytes of one sample: 1, 2, 4 or 4. */
static inline size_t gi_type_nbytes(enum gi_type type)
{
    return type == GI_U8 ? 1 : type == GI_U16 ? 2 : 4;
}

/* The type's name in messages. */
static inline const char *gi_type_word(enum gi_type type)
{
    return type == GI_U8 ? "8-bit" : type == GI_U16 ? "16-bit" : "float";
}

/* The sample value that stands for white or opaque: 255, 65535 or 1. */
static inline float gi_type_full_scale(enum gi_type type)
{
    return type == GI_U8 ? 255.0f : type == GI_U16 ? 65535.0f : 1.0f;
}

static inline bool gi_has_alpha(const struct gi_image *image)
{
    return image->channels == 2 || image->channels == 4;
}

/* Channels that are colour or gray, that is without alpha: 1 or 3. */
static inline int gi_colour_channels(const struct gi_image *image)
{
    return image->channels - gi_has_alpha(image);
}

/* The luma of red, green and blue (ITU-R BT.709), in their range. */
static inline double gi_luma(const double rgb[3])
{
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

/* Bytes of the samples of one row, without padding. */
static inline size_t gi_row_nbytes(const struct gi_image *image)
{
    return (size_t)image->width * (size_t)image->channels * gi_type_nbytes(image->type);
}

/* Bytes of all samples, without padding; UINT64_MAX if there are more. */
static inline uint64_t gi_image_nbytes(const struct gi_image *image)
{
    uint64_t nbytes;
    bool fits =
        !__builtin_mul_overflow((uint64_t)gi_row_nbytes(image), (uint64_t)image->height, &nbytes);
    return fits ? nbytes : UINT64_MAX;
}

/* Samples of one row. */
static inline size_t gi_row_samples(const struct gi_image *image)
{
    return (size_t)image->width * (size_t)image->channels;
}

static inline void *gi_row(const struct gi_image *image, int y)
{
    return (char *)image->data + (size_t)y * image->stride;
}

/* Sample i of a row of GI_U8, GI_U16 or GI_F32 as a number; every one of them is exact. */
static inline double gi_sample(const void *row, size_t i, enum gi_type type)
{
    return type == GI_U8    ? ((const uint8_t *)row)[i]
           : type == GI_U16 ? ((const uint16_t *)row)[i]
                            : (double)((const float *)row)[i];
}

/* Stores a * b in *product. Returns false if it does not fit in a size_t. All products of sizes are
 * computed here. */
static inline bool gi_mul_size(size_t *product, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Checks the shape of an image that is to be made. Members of `limits` that are 0 mean no limit.
 * Errors: GI_E_LIMIT, whose text names the option. */
enum gi_status gi_limits_check(const struct gi_limits *limits, const struct gi_image *made,
                               struct gi_err *err);

/* Makes a host image; its samples are not initialised, its rows are 64-byte aligned and padded.
 * `image` need not be initialised. The caller frees it with gi_image_free(). Errors: GI_E_MEMORY
 * (too large for a size_t, or out of memory). */
enum gi_status gi_image_alloc(struct gi_image *image, int width, int height, int channels,
                              enum gi_type type, struct gi_err *err);

/* Does the same in memory of `allocator`, or in plain memory if that is NULL or has none left. */
enum gi_status gi_image_alloc_from(struct gi_image *image, const struct gi_allocator *allocator,
                                   int width, int height, int channels, enum gi_type type,
                                   struct gi_err *err);

/* Allocates plain memory for samples: 64-byte aligned, freed by free(). NULL: out of memory. */
void *gi_samples_alloc(size_t nbytes);

/* Frees a host image's samples (a view is only forgotten) and sets `data` to NULL. Never call it on
 * a CUDA image. NULL data: does nothing. */
void gi_image_free(struct gi_image *image);

/* The rows y0 <= y < y1 of `image` as a view; both stay valid only as long as `image`. */
struct gi_image gi_image_rows(const struct gi_image *image, int y0, int y1);

/* Makes `dst`, in memory like that of `src` and freed by the caller: `src` in another type. Full
 * scale stays full scale (255 -> 65535 -> 1.0), rounded to nearest (half to even), saturated; NaN
 * becomes 0 in integers. Errors: GI_E_MEMORY. */
enum gi_status gi_image_convert(struct gi_image *dst, const struct gi_image *src, enum gi_type type,
                                struct gi_err *err);

/* Makes `dst`, freed by the caller: the gray of colour image `src`, and its alpha: fmaf(weights[2],
 * b, fmaf(weights[1], g, weights[0] * r)), rounded to nearest (half to even), saturated. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_image_gray(struct gi_image *dst, const struct gi_image *src,
                             const float weights[3], struct gi_err *err);

/* A flip, quarter turn or transposition, as three bits. The pixel of the result at (y, x) is that
 * of the source at (sy, sx): (x, y) with GI_LAYOUT_TRANSPOSE, else (y, x); then width - 1 - sx for
 * sx with GI_LAYOUT_MIRROR_X, height - 1 - sy for sy with GI_LAYOUT_MIRROR_Y. */
enum gi_layout { GI_LAYOUT_MIRROR_X = 1, GI_LAYOUT_MIRROR_Y = 2, GI_LAYOUT_TRANSPOSE = 4 };

/* Returns the layout that shows an image stored with this EXIF orientation, 1 to 8, upright. EXIF
 * 2.32, 4.6.4: the value says which sides of the scene the stored row 0 and column 0 are. */
static inline int gi_orientation_layout(int orientation)
{
    static const unsigned char turns[9] = {
        0,
        0,
        GI_LAYOUT_MIRROR_X,
        GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y,
        GI_LAYOUT_MIRROR_Y,
        GI_LAYOUT_TRANSPOSE,
        GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_Y,
        GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y,
        GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_X,
    };
    return turns[orientation];
}

/* Returns the layout that undoes `layout`: with a transposition, the mirrors are exchanged. */
static inline int gi_layout_inverse(int layout)
{
    bool one = (layout & GI_LAYOUT_MIRROR_X) != 0, other = (layout & GI_LAYOUT_MIRROR_Y) != 0;
    return (layout & GI_LAYOUT_TRANSPOSE) && one != other
               ? layout ^ (GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y)
               : layout;
}

/* Threads that a caller lends. run() calls job(arg, i, scratch) once for each i from 0 to njobs -
 * 1, in any order and concurrently, every thread with its own `scratch`, and returns when all are
 * done. Errors: GI_E_MEMORY for the scratch, before any job. */
struct gi_parallel {
    void *self;
    int threads; /* maximum number of threads of run(), 1 or more */
    enum gi_status (*run)(void *self, int njobs, void (*job)(void *arg, int index, void *scratch),
                          void *arg, size_t scratch_nbytes, struct gi_err *err);
};

#ifdef __cplusplus
}
#endif
#endif
