/* An image in memory: the one type that every folder shares.
 *
 * Samples are interleaved, rows from top to bottom, pixels from left to right. Channels: 1 gray, 2
 * gray and alpha, 3 red green blue, 4 red green blue and alpha. Alpha is straight (colour is not
 * multiplied by it), and 0 is transparent. Samples are in host byte order; full scale is 255, 65535
 * or 1.0 by type. Values are those of the file (no transfer curve is applied).
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
    GI_F32, /* usually 0 to 1, but other values, NaN and infinity are kept */
    /* only for labels; files are read as this if gi_load_options asks for labels; never filtered */
    GI_U32,
};

enum gi_owner {
    GI_OWNER_NONE, /* a view: another image owns the samples */
    GI_OWNER_HOST, /* gi_image_free() frees them */
    GI_OWNER_CUDA, /* device memory, which is released by the CUDA context that made the image */
};

enum {
    GI_MAX_CHANNELS = 4,
    GI_ROW_ALIGN = 64, /* rows that we allocate begin at multiples of this number of bytes */
};

/* Allocator for the samples of host images. `alloc` returns 64-byte aligned memory, or NULL. `free`
 * takes a pointer that `alloc` returned. Any thread may call these functions. */
struct gi_allocator {
    void *self;
    void *(*alloc)(void *self, size_t nbytes);
    void (*free)(void *self, void *samples);
};

/* A rectangle within a picture, in pixels, which has at least one pixel. */
struct gi_window {
    int x, y, width, height;
};

/* Tells how a decoder reduced a picture, or which part of it it read, if gi_shape_listener asked
 * for that. */
struct gi_shrunk {
    /* pixels of the picture across one pixel of the image; 0 if not reduced, 1 for a part */
    int by;
    int width, height; /* pixels of the picture */
    /* Pixels by which the first column and row of the image extend beyond the picture's edges; less
     * than 0 if they are inside. The last column and row extend so far that all have the same size.
     */
    int left, top;
};

/* Whether alpha marks pixels without data, where it is 0. Analyses leave such pixels out. */
enum gi_mask {
    GI_MASK_NONE,   /* alpha, if there is any, is opacity */
    GI_MASK_SHOWN,  /* alpha is opacity, and also 0 where there are no data */
    GI_MASK_HIDDEN, /* alpha is no channel of the file, and reports do not show it */
};

struct gi_coded;
struct gi_image {
    void *data; /* sample 0 of row 0; row y starts at (char *)data + y * stride */
    /* bytes from a row to the next: gi_row_nbytes() or more, but any number in a view */
    size_t stride;
    int width;    /* pixels, 1 or more */
    int height;   /* rows, 1 or more */
    int channels; /* 1 to 4 */
    enum gi_type type;
    enum gi_owner owner;
    /* Takes the samples back, and outlives the image. NULL if the samples are in plain memory or in
     * device memory. */
    const struct gi_allocator *allocator;
    struct gi_shrunk shrunk;
    enum gi_mask mask; /* of host images and of shapes; images on a device have GI_MASK_NONE */
    /* If this is not NULL, `data` is NULL and the samples are still coded (imgio/coded.h). Only the
     * caller that asked for such images gets them (gi_load_options.coded). gi_image_free() frees
     * it. */
    struct gi_coded *coded;
};

/* Limits on images that are read or made, checked before memory is allocated. */
struct gi_limits {
    /* width * height (--max-pixels). Two kinds of images are exempt: files at least half as long as
     * their samples, and results with as many pixels as the input. */
    uint64_t max_pixels;
    /* maximum bytes of samples, of an analysis's arrays and of a pipe's input (--max-bytes) */
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

/* Returns the sample value that means white or opaque, which is 255, 65535 or 1. */
static inline float gi_type_full_scale(enum gi_type type)
{
    return type == GI_U8 ? 255.0f : type == GI_U16 ? 65535.0f : 1.0f;
}

static inline bool gi_has_alpha(const struct gi_image *image)
{
    return image->channels == 2 || image->channels == 4;
}

/* Returns the number of colour channels, which is 1 or 3. Alpha is not counted. */
static inline int gi_color_channels(const struct gi_image *image)
{
    return image->channels - gi_has_alpha(image);
}

/* Returns the number of channels that reports show. */
static inline int gi_shown_channels(const struct gi_image *image)
{
    return image->channels - (image->mask == GI_MASK_HIDDEN);
}

/* Weights of red, green and blue in the luma of ITU-R BT.709. */
#define GI_LUMA_RED   0.2126
#define GI_LUMA_GREEN 0.7152
#define GI_LUMA_BLUE  0.0722

/* The luma of red, green and blue by ITU-R BT.709, on the scale of its arguments. */
static inline double gi_luma(const double rgb[3])
{
    return GI_LUMA_RED * rgb[0] + GI_LUMA_GREEN * rgb[1] + GI_LUMA_BLUE * rgb[2];
}

/* Returns the number of bytes of the samples of one row, without padding. */
static inline size_t gi_row_nbytes(const struct gi_image *image)
{
    return (size_t)image->width * (size_t)image->channels * gi_type_nbytes(image->type);
}

/* Returns the number of bytes of all samples without padding, or UINT64_MAX if that number does not
 * fit in 64 bits. */
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

/* Returns sample i of a row of GI_U8, GI_U16 or GI_F32 as a double, which holds all values of these
 * types exactly. */
static inline double gi_sample(const void *row, size_t i, enum gi_type type)
{
    return type == GI_U8    ? ((const uint8_t *)row)[i]
           : type == GI_U16 ? ((const uint16_t *)row)[i]
                            : (double)((const float *)row)[i];
}

/* Stores a * b in *product. Returns false if the product does not fit in a size_t. Every product of
 * sizes is computed by this function. */
static inline bool gi_mul_size(size_t *product, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Checks the shape of an image that is to be made. A limit of 0 means no limit. Errors: GI_E_LIMIT,
 * whose text names the option. */
enum gi_status gi_limits_check(const struct gi_limits *limits, const struct gi_image *made,
                               struct gi_err *err);

/* Makes a host image, which the caller frees with gi_image_free(). `image` need not be initialised,
 * and the samples are not initialised. Rows are 64-byte aligned and padded. Errors: GI_E_MEMORY if
 * the image is too large for a size_t, or if memory ran out. */
enum gi_status gi_image_alloc(struct gi_image *image, int width, int height, int channels,
                              enum gi_type type, struct gi_err *err);

/* As gi_image_alloc(), in memory of `allocator`, or in plain memory if `allocator` is NULL or
 * exhausted. */
enum gi_status gi_image_alloc_from(struct gi_image *image, const struct gi_allocator *allocator,
                                   int width, int height, int channels, enum gi_type type,
                                   struct gi_err *err);

/* Allocates 64-byte aligned plain memory for samples, which free() frees. Returns NULL if memory
 * ran out. */
void *gi_samples_alloc(size_t nbytes);

/* Frees a host image's samples, unless the image is a view, and sets `data` to NULL. Does nothing
 * if `data` is NULL. Must not be called on a CUDA image. */
void gi_image_free(struct gi_image *image);

/* Divides the sides of the shape by `by`, rounded up, and records the shape before. Does nothing if
 * `by` is 1 or less. */
void gi_image_shrink(struct gi_image *shape, int by);

/* Returns rows y0 <= y < y1 of `image` as a view, which is valid only as long as `image`. */
struct gi_image gi_image_rows(const struct gi_image *image, int y0, int y1);

/* Makes `dst`, which is `src` in another type and in the same kind of memory. The caller frees
 * `dst`. Full scale stays full scale (255 -> 65535 -> 1.0). Values are rounded to nearest (half to
 * even) and saturated, and NaN becomes 0 in integers. Errors: GI_E_MEMORY. */
enum gi_status gi_image_convert(struct gi_image *dst, const struct gi_image *src, enum gi_type type,
                                struct gi_err *err);

/* Makes `dst`, the gray image of the colour image `src`, with the alpha of `src`. The caller frees
 * `dst`. Gray is fmaf(weights[2], b, fmaf(weights[1], g, weights[0] * r)), rounded to nearest (half
 * to even) and saturated. Errors: GI_E_MEMORY. */
enum gi_status gi_image_gray(struct gi_image *dst, const struct gi_image *src,
                             const float weights[3], struct gi_err *err);

/* A flip, quarter turn or transposition, as three bits. Pixel (y, x) of the result is pixel (sy,
 * sx) of the source. With GI_LAYOUT_TRANSPOSE (sy, sx) is (x, y), otherwise it is (y, x). Then
 * GI_LAYOUT_MIRROR_X replaces sx by width - 1 - sx, and GI_LAYOUT_MIRROR_Y replaces sy by height -
 * 1 - sy. */
enum gi_layout { GI_LAYOUT_MIRROR_X = 1, GI_LAYOUT_MIRROR_Y = 2, GI_LAYOUT_TRANSPOSE = 4 };

/* Returns the layout that turns an image upright, if the image is stored with this EXIF
 * orientation, 1 to 8. The orientation says at which sides of the scene row 0 and column 0 of the
 * file are (EXIF 2.32, 4.6.4). */
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

/* Returns the orientation whose turn undoes that of this EXIF orientation; that of 0 is 1. */
static inline int gi_orientation_inverse(int orientation)
{
    static const unsigned char inverse[9] = {1, 1, 2, 3, 4, 5, 8, 7, 6};
    return inverse[orientation];
}

/* Returns the layout that undoes `layout`. If that has a transposition, the two mirrors are
 * exchanged. */
static inline int gi_layout_inverse(int layout)
{
    bool one = (layout & GI_LAYOUT_MIRROR_X) != 0, other = (layout & GI_LAYOUT_MIRROR_Y) != 0;
    return (layout & GI_LAYOUT_TRANSPOSE) && one != other
               ? layout ^ (GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y)
               : layout;
}

/* Returns the layout that does `first` and then `second`. */
static inline int gi_layout_join(int first, int second)
{
    bool swaps = (first & GI_LAYOUT_TRANSPOSE) != 0;
    return first ^ (second & GI_LAYOUT_TRANSPOSE) ^
           (swaps ? gi_layout_inverse(second | GI_LAYOUT_TRANSPOSE) ^ GI_LAYOUT_TRANSPOSE
                  : second & (GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y));
}

/* Sets the affine map of coordinates in the result to coordinates in a source of this size: (x, y)
 * becomes (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), where (0, 0) is the upper left corner
 * of the upper left pixel. */
static inline void gi_layout_map(double m[6], int layout, int width, int height)
{
    bool swaps = (layout & GI_LAYOUT_TRANSPOSE) != 0;
    double x = layout & GI_LAYOUT_MIRROR_X ? -1 : 1, y = layout & GI_LAYOUT_MIRROR_Y ? -1 : 1;
    m[0] = swaps ? 0 : x;
    m[1] = swaps ? x : 0;
    m[2] = x < 0 ? width : 0;
    m[3] = swaps ? y : 0;
    m[4] = swaps ? 0 : y;
    m[5] = y < 0 ? height : 0;
}

/* Threads that a caller lends. run() calls job(arg, i, scratch) once for each i from 0 to njobs -
 * 1, in any order and concurrently, and returns when all calls are done. Every thread has scratch
 * memory that no other thread uses. Errors: GI_E_MEMORY for the scratch memory, before any job
 * runs. */
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
