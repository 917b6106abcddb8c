/* Squares of 4 x 4 pixels for region_stats.cu: which pixels are foreground, their perimeter
 * classes, and whether their region continues outside the square, by bit operations on words of 32
 * pixels.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REGION_SQUARES_H
#define GI_KERNELS_CUDA_REGION_SQUARES_H

#include "kernels/cuda/regions/shared_region_table.h"

/* 8 rows of a lane's four columns, one bit per pixel; rows 2 to 5 are a square. `on`: the pixel is
 * foreground. `left`, `up`, `falling`: the pixel has the label of the pixel to its left, above it,
 * and to its upper left. `rising`: the pixels to the left and above have the same label. */
struct window {
    uint32_t on, left, up, falling, rising;
};

/* Labels of a row: the lane's four labels, and the label to their left. */
struct row {
    uint32_t left, own[SIDE];
};

static const uint32_t LEFT_COLUMN = 0x11111111, RIGHT_COLUMN = 0x88888888;
static const uint32_t TOP_ROW = 0xf00, BOTTOM_ROW = 0xf00000; /* of the square */

static __device__ inline void window_add(struct window *w, int row, const struct row &above,
                                         const struct row &at)
{
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
        const uint32_t bit = 1u << (SIDE * row + c);
        uint32_t left = c ? at.own[c - 1] : at.left, above_left = c ? above.own[c - 1] : above.left;
        w->on |= at.own[c] ? bit : 0;
        w->left |= at.own[c] == left ? bit : 0;
        w->up |= at.own[c] == above.own[c] ? bit : 0;
        w->falling |= at.own[c] == above_left ? bit : 0;
        w->rising |= left == above.own[c] ? bit : 0;
    }
}

/* Returns, for each pixel, the bit of its left (or right) neighbour. */
static __device__ inline uint32_t from_left(uint32_t bits)
{
    uint32_t other = __shfl_up_sync(ALL_LANES, bits, 1);
    return (bits << 1 & ~LEFT_COLUMN) | (other >> (SIDE - 1) & LEFT_COLUMN);
}

static __device__ inline uint32_t from_right(uint32_t bits)
{
    uint32_t other = __shfl_down_sync(ALL_LANES, bits, 1);
    return (bits >> 1 & ~RIGHT_COLUMN) | (other << (SIDE - 1) & RIGHT_COLUMN);
}

/* The sum of four bits, bit-sliced: sums 0 to 3 are in `ones` and `twos`, the sum 4 is a separate
 * bit. */
struct sum4 {
    uint32_t ones, twos, four;
};

static __device__ inline struct sum4 sum_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t ab = a ^ b, cd = c ^ d, both_ab = a & b, both_cd = c & d;
    return {ab ^ cd, both_ab ^ both_cd ^ (ab & cd), both_ab & both_cd};
}

/* The pixel (x, y) of an image. */
template <typename T>
static __device__ inline const T *pixel_at(const struct gi_image &image, int x, int y)
{
    return (const T *)((const char *)image.data + (ptrdiff_t)y * (ptrdiff_t)image.stride) + x;
}

template <typename T> static __device__ inline const T *below(const T *pixel, size_t stride)
{
    return (const T *)((const char *)pixel + stride);
}

/* Loads the next four rows of a lane's columns, from row y on. Labels outside the image are 0, like
 * the padding of a label image. */
static __device__ inline void window_next(struct window *w, struct row *above,
                                          const struct gi_image &labels, int x, int y)
{
    const bool inside = (unsigned)x < (unsigned)labels.width;
    const uint32_t *at = pixel_at<uint32_t>(labels, x, y);
    uint4 own[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++, at = below(at, labels.stride)) {
        own[k] = make_uint4(0, 0, 0, 0);
        if (inside && (unsigned)(y + k) < (unsigned)labels.height)
            own[k] = *(const uint4 *)at;
    }
    *w = {w->on >> 16, w->left >> 16, w->up >> 16, w->falling >> 16, w->rising >> 16};
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        struct row row = {__shfl_up_sync(ALL_LANES, own[k].w, 1),
                          {own[k].x, own[k].y, own[k].z, own[k].w}};
        window_add(w, SIDE + k, *above, row);
        *above = row;
    }
}

/* Returns the square at (x, y) of the tile. Regions may touch: a neighbour counts if it has the
 * same label. The bits of background pixels have no meaning except in `on` and `border`. */
static __device__ inline struct square square_of(const struct window &w, uint32_t x, uint32_t y)
{
    const uint32_t left = w.left, right = from_right(w.left), up = w.up, down = w.up >> SIDE;
    const uint32_t up_right = from_right(w.rising), down_left = w.rising >> SIDE,
                   down_right = from_right(w.falling) >> SIDE;
    const uint32_t border = w.on & ~(left & right & up & down);
    const uint32_t border_left = from_left(border), border_right = from_right(border);
    struct sum4 edges = sum_of(left & border_left, right & border_right, up & border << SIDE,
                               down & border >> SIDE);
    struct sum4 corners =
        sum_of(w.falling & border_left << SIDE, up_right & border_right << SIDE,
               down_left & border_left >> SIDE, down_right & border_right >> SIDE);
    uint32_t one_edge = edges.ones & ~edges.twos, three_corners = corners.ones & corners.twos;
    uint32_t straight = border & edges.twos & ~three_corners & ~corners.four;
    uint32_t mixed = border & one_edge & (corners.ones ^ corners.twos);
    uint32_t diagonal =
        border & ((corners.twos & ~corners.ones & ~(edges.ones | edges.twos | edges.four)) |
                  (three_corners & one_edge));
    uint32_t over_left = (left | w.falling | down_left) & LEFT_COLUMN,
             over_right = (right | up_right | down_right) & RIGHT_COLUMN,
             over_top = (up | w.falling | up_right) & TOP_ROW,
             over_bottom = (down | down_left | down_right) & BOTTOM_ROW;
    uint32_t over = over_left | over_right | over_top | over_bottom;
    uint32_t far = (x == 0 ? over_left : 0) | (x == TILE_WIDTH - SIDE ? over_right : 0) |
                   (y == 0 ? over_top : 0) | (y == TILE_ROWS - SIDE ? over_bottom : 0);
    /* Bits 8 to 23 of two words, combined. */
    return {x | y << 8 | (w.on >> 8) << 16, __byte_perm(straight, mixed, 0x6521),
            __byte_perm(diagonal, over, 0x6521), far >> 8 & 0xffff};
}

static __device__ inline uint32_t square_x(const struct square &square)
{
    return square.place_rest & 255;
}

static __device__ inline uint32_t square_y(const struct square &square)
{
    return square.place_rest >> 8 & 255;
}

static __device__ inline uint32_t square_rest(const struct square &square)
{
    return square.place_rest >> 16;
}

/* Appends the squares of lanes whose `in` is true to the `n` squares in the queue. Returns their
 * new number. */
static __device__ inline unsigned queue_put(struct queue *queue, unsigned n, const struct square &s,
                                            bool in)
{
    unsigned lanes = __ballot_sync(ALL_LANES, in);
    unsigned at = n + (unsigned)__popc(lanes & ((1u << threadIdx.x % WARP) - 1));
    if (in)
        queue->squares[at] = s;
    __syncwarp();
    return n + (unsigned)__popc(lanes);
}

#endif
