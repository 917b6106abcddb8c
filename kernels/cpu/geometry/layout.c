/* Flips, transposition and quarter turns. Flips work row by row. Transpositions work in square
 * blocks: they read rows of the source into a small buffer, and each cache line only once,
 * transpose the block there, and write it row by row.
 * SPDX-License-Identifier: MIT */
#if !GI_LEVEL_scalar
#include "kernels/cpu/common/sixteen.h"
#endif
#include "kernels/cpu/common/pixel_bytes.h"

enum { SIDE_MAX = 64, SQUARE_NBYTES = 64 * 64 * 2 };

/* ---- flips ---- */

struct layout_work {
    struct gi_image *dst;
    const struct gi_image *src;
    int layout;
    int side; /* side of a block, pixels */
};

/* Does work(n), where n is the number of bytes of a pixel, a constant in each case. */
#define SWITCH_PIXEL(nbytes, work)                                                                 \
    switch (nbytes) {                                                                              \
        PIXEL_CASE(1, work)                                                                        \
        PIXEL_CASE(2, work)                                                                        \
        PIXEL_CASE(3, work)                                                                        \
        PIXEL_CASE(4, work)                                                                        \
        PIXEL_CASE(6, work)                                                                        \
        PIXEL_CASE(8, work)                                                                        \
        PIXEL_CASE(12, work)                                                                       \
        PIXEL_CASE(16, work)                                                                       \
    }
#define PIXEL_CASE(n, work)                                                                        \
    case n:                                                                                        \
        work(n);                                                                                   \
        break;

#if !GI_LEVEL_scalar
/* Mirrors vectors that contain as many whole pixels as fit. The rest of a vector overwrites the
 * next pixel of the row, which is stored later. Returns the number of pixels done. */
static inline __attribute__((always_inline)) size_t mirror_vectors(char *out, const char *in,
                                                                   size_t width, size_t pixel)
{
    uint8_t order[16];
    size_t n = 16 / pixel, x = 0, row = width * pixel;
    for (size_t i = 0; i < 16; i++)
        order[i] = i < n * pixel ? (uint8_t)((n - 1 - i / pixel) * pixel + i % pixel) : 0x80;
    GI_SIXTEEN from = sixteen_load(order);
    for (; x * pixel + 16 <= row; x += n) {
        GI_SIXTEEN v = sixteen_load(in + (width - x - n) * pixel);
        sixteen_store(out + x * pixel, sixteen_pick(v, from));
    }
    return x;
}
#endif

static inline __attribute__((always_inline)) void mirror_row(char *out, const char *in,
                                                             size_t width, size_t pixel)
{
    size_t x = 0;
#if !GI_LEVEL_scalar
    if (16 % pixel != 0) {
        memcpy(out, in + (width - 1) * pixel, pixel);
        x = 1;
    }
    x += mirror_vectors(out + x * pixel, in, width - x, pixel);
#endif
    for (; x < width; x++)
        memcpy(out + x * pixel, in + (width - 1 - x) * pixel, pixel);
}

static void flip_row(void *arg, int y, void *scratch)
{
    const struct layout_work *work = arg;
    const struct gi_image *src = work->src;
    const char *in = gi_row(src, work->layout & GI_LAYOUT_MIRROR_Y ? src->height - 1 - y : y);
    char *out = gi_row(work->dst, y);
    size_t width = (size_t)src->width;
    if (!(work->layout & GI_LAYOUT_MIRROR_X)) {
        memcpy(out, in, gi_row_nbytes(src));
        return;
    }
#define MIRROR_ROW(n) mirror_row(out, in, width, n)
    SWITCH_PIXEL(pixel_nbytes(src), MIRROR_ROW);
}

static enum gi_status flip_rows(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const int *layout, struct gi_err *err)
{
    struct layout_work work = {.dst = dst, .src = src, .layout = *layout};
    return gi_pool_run(gi_cpu_pool(queue), dst->height, flip_row, &work, 0, err);
}

static bool keeps_rows(const struct gi_queue *queue, const struct gi_image *src, const int *layout)
{
    return !(*layout & GI_LAYOUT_TRANSPOSE);
}

static bool transposes(const struct gi_queue *queue, const struct gi_image *src, const int *layout)
{
    return !keeps_rows(queue, src, layout);
}

/* ---- blocks ---- */

/* Returns the side of a block in pixels; its rows fill whole cache lines. */
static int side_of(size_t pixel)
{
    return pixel <= 2 ? SIDE_MAX : pixel <= 8 ? SIDE_MAX / 2 : SIDE_MAX / 4;
}

/* Writes column y of `in`, whose rows are `stride` bytes apart, to row y of `out`. */
static inline void transpose_pixels(char *const *out, const char *in, size_t stride, int x0, int x1,
                                    int y0, int y1, size_t pixel)
{
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            memcpy(out[y] + (size_t)x * pixel, in + (size_t)x * stride + (size_t)y * pixel, pixel);
}

#if !GI_LEVEL_scalar
/* Transposes n vectors with lanes of 1 or 2 bytes: lane j of v[i] becomes lane i of v[j]. Each of
 * log2(n) steps interleaves vectors that are n / 2 apart. */
static inline __attribute__((always_inline)) void transpose_lanes(GI_SIXTEEN *v, int n,
                                                                  size_t pixel)
{
#pragma GCC unroll 4
    for (int step = 1; step < n; step *= 2) {
        GI_SIXTEEN w[16];
#pragma GCC unroll 8
        for (int i = 0; i < n / 2; i++) {
            w[2 * i] = sixteen_zip_low(v[i], v[i + n / 2], pixel);
            w[2 * i + 1] = sixteen_zip_high(v[i], v[i + n / 2], pixel);
        }
#pragma GCC unroll 16
        for (int i = 0; i < n; i++)
            v[i] = w[i];
    }
}

static inline __attribute__((always_inline)) void transpose_vectors(char *const *out,
                                                                    const char *in, size_t stride,
                                                                    int width, int height,
                                                                    size_t pixel)
{
    const int n = 16 / (int)pixel;
    for (int y = 0; y < height; y += n)
        for (int x = 0; x < width; x += n) {
            GI_SIXTEEN v[16];
#pragma GCC unroll 16
            for (int i = 0; i < n; i++)
                v[i] = sixteen_load(in + (size_t)(x + i) * stride + (size_t)y * pixel);
            transpose_lanes(v, n, pixel);
#pragma GCC unroll 16
            for (int i = 0; i < n; i++)
                sixteen_store(out[y + i] + (size_t)x * pixel, v[i]);
        }
}
#endif

/* Writes a transposed square: `width` pixels in each of `height` rows of `out`. */
static inline __attribute__((always_inline)) void transpose_square(char *const *out, const char *in,
                                                                   size_t stride, int width,
                                                                   int height, size_t pixel)
{
    int x = 0, y = 0;
#if !GI_LEVEL_scalar
    if (pixel <= 2) {
        int n = 16 / (int)pixel;
        x = width / n * n;
        y = height / n * n;
        transpose_vectors(out, in, stride, x, y, pixel);
    }
#endif
    transpose_pixels(out, in, stride, x, width, 0, y, pixel);
    transpose_pixels(out, in, stride, 0, width, y, height, pixel);
}

/* Processes a row of blocks, which begins at row band * side of dst. */
static void transpose_band(void *arg, int band, void *scratch)
{
    const struct layout_work *work = arg;
    const struct gi_image *src = work->src, *dst = work->dst;
    size_t pixel = pixel_nbytes(src), stride = (size_t)work->side * pixel;
    int y0 = band * work->side;
    int height = dst->height - y0 < work->side ? dst->height - y0 : work->side;
    bool right_first = work->layout & GI_LAYOUT_MIRROR_X,
         last_first = work->layout & GI_LAYOUT_MIRROR_Y;
    int column = right_first ? src->width - y0 - height : y0; /* first column of the block in src */
    for (int x0 = 0; x0 < dst->width; x0 += work->side) {
        int width = dst->width - x0 < work->side ? dst->width - x0 : work->side;
        char *square = scratch, *out[SIDE_MAX];
        for (int x = 0; x < width; x++) {
            const char *row = gi_row(src, last_first ? src->height - 1 - x0 - x : x0 + x);
            memcpy(square + (size_t)x * stride, row + (size_t)column * pixel,
                   (size_t)height * pixel);
        }
        for (int y = 0; y < height; y++)
            out[y] = (char *)gi_row(dst, right_first ? y0 + height - 1 - y : y0 + y) +
                     (size_t)x0 * pixel;
#define TRANSPOSE_SQUARE(n) transpose_square(out, square, stride, width, height, n)
        SWITCH_PIXEL(pixel, TRANSPOSE_SQUARE);
    }
}

static enum gi_status by_squares(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const int *layout, struct gi_err *err)
{
    struct layout_work work = {
        .dst = dst, .src = src, .layout = *layout, .side = side_of(pixel_nbytes(src))};
    int bands = (dst->height + work.side - 1) / work.side;
    return gi_pool_run(gi_cpu_pool(queue), bands, transpose_band, &work, SQUARE_NBYTES, err);
}

const struct gi_layout_way GI_CPU(layout_ways)[GI_WAYS_MAX] = {
    {{"rows", "flips"}, keeps_rows, flip_rows},
    {{"squares", "what is transposed"}, transposes, by_squares},
};
