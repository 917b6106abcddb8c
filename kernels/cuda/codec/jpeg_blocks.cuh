/* The blocks of a tile of the JPEG encoder (jpeg_encode.cu): from pixels to rows of the DCT, to
 * quantized coefficients, to codes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_JPEG_BLOCKS_CUH
#define GI_KERNELS_CUDA_JPEG_BLOCKS_CUH

#include "kernels/cuda/common/measure.h"
#include "kernels/jpeg_encode.h"

enum {
    PITCH = 72, /* samples from a block to the next in shared memory: 16-byte rows, and the columns
                   of four blocks are free of bank conflicts */
    PIXEL_NBYTES = 3,
};

/* ---- pixels and rows of the DCT ---- */

/* Loads the bytes of N pixels from column x on. Pixels beyond the right edge repeat the edge. */
template <int N, int CHANNELS>
static __device__ inline void load_pixels(uint32_t words[N * CHANNELS / 4], const gi_image &src,
                                          int x, int y)
{
    const uint8_t *row = (const uint8_t *)src.data + (size_t)min(y, src.height - 1) * src.stride;
    if (x + N <= src.width) {
#pragma unroll
        for (int i = 0; i < N * CHANNELS / 8; i++) {
            const uint2 wide = ((const uint2 *)(row + (size_t)x * CHANNELS))[i];
            words[2 * i] = wide.x;
            words[2 * i + 1] = wide.y;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < N * CHANNELS / 4; i++) {
        words[i] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int at = 4 * i + k, column = min(x + at / CHANNELS, src.width - 1);
            words[i] |= (uint32_t)row[column * CHANNELS + at % CHANNELS] << (8 * k);
        }
    }
}

/* Returns component c of pixel i of loaded pixels, minus 128. */
template <int CHANNELS>
static __device__ inline int component_of(const uint32_t *words, int i, int c)
{
    int v[CHANNELS];
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        const int at = i * CHANNELS + k;
        v[k] = (int)(words[at / 4] >> (at % 4 * 8) & 255);
    }
    return CHANNELS == 1 ? v[0] - 128
                         : gi_jpeg_convert(c, v[0], v[CHANNELS == 3], v[2 * (CHANNELS == 3)]);
}

/* Transforms a row of samples and stores it as row y of a block. */
static __device__ inline void put_row(int16_t *block, int y, int v[GI_JPEG_SIDE])
{
    uint32_t words[GI_JPEG_SIDE / 2];
    gi_jpeg_dct_row(v);
#pragma unroll
    for (int i = 0; i < GI_JPEG_SIDE / 2; i++)
        words[i] = (uint16_t)v[2 * i] | (uint32_t)v[2 * i + 1] << 16;
    *(uint4 *)(block + y * GI_JPEG_SIDE) = make_uint4(words[0], words[1], words[2], words[3]);
}

/* Row r of all blocks of the MCU of 8 x 8 pixels at (left, top). */
template <int CHANNELS>
static __device__ inline void put_rows(int16_t (*blocks)[PITCH], const struct gi_image &src,
                                       int left, int top, int r)
{
    uint32_t words[GI_JPEG_SIDE * CHANNELS / 4];
    load_pixels<GI_JPEG_SIDE, CHANNELS>(words, src, left, top + r);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        int v[GI_JPEG_SIDE];
#pragma unroll
        for (int i = 0; i < GI_JPEG_SIDE; i++)
            v[i] = component_of<CHANNELS>(words, i, c);
        put_row(blocks[c], r, v);
    }
}

/* Rows 2 r and 2 r + 1 of the blocks of Y of the MCU of 16 x 16 pixels at (left, top). */
static __device__ inline void put_luma_rows(int16_t (*blocks)[PITCH], const struct gi_image &src,
                                            int left, int top, int r)
{
    constexpr int N = 2 * GI_JPEG_SIDE;
    uint32_t words[N * PIXEL_NBYTES / 4];
#pragma unroll 1
    for (int row = 2 * r; row < 2 * r + 2; row++) {
        load_pixels<N, PIXEL_NBYTES>(words, src, left, top + row);
#pragma unroll
        for (int side = 0; side < 2; side++) {
            int v[GI_JPEG_SIDE];
#pragma unroll
            for (int i = 0; i < GI_JPEG_SIDE; i++)
                v[i] = component_of<PIXEL_NBYTES>(words, side * GI_JPEG_SIDE + i, 0);
            put_row(blocks[row / GI_JPEG_SIDE * 2 + side], row % GI_JPEG_SIDE, v);
        }
    }
}

/* Row r of Cb and Cr of the MCU of 16 x 16 pixels at (left, top). Below the image the last row of
 * chroma is repeated. */
static __device__ inline void put_chroma_rows(int16_t (*blocks)[PITCH], const struct gi_image &src,
                                              int left, int top, int r)
{
    constexpr int N = 2 * GI_JPEG_SIDE;
    const int y = 2 * min(top / 2 + r, (src.height - 1) / 2);
    uint32_t upper[N * PIXEL_NBYTES / 4], lower[N * PIXEL_NBYTES / 4];
    load_pixels<N, PIXEL_NBYTES>(upper, src, left, y);
    load_pixels<N, PIXEL_NBYTES>(lower, src, left, y + 1);
#pragma unroll
    for (int c = 1; c < GI_JPEG_COMPONENTS; c++) {
        int v[GI_JPEG_SIDE];
#pragma unroll
        for (int i = 0; i < GI_JPEG_SIDE; i++)
            v[i] = gi_jpeg_halve(component_of<PIXEL_NBYTES>(upper, 2 * i, c) +
                                     component_of<PIXEL_NBYTES>(upper, 2 * i + 1, c) +
                                     component_of<PIXEL_NBYTES>(lower, 2 * i, c) +
                                     component_of<PIXEL_NBYTES>(lower, 2 * i + 1, c),
                                 i);
        put_row(blocks[3 + c], r, v);
    }
}

/* ---- blocks ---- */

template <int BLOCKS> static __device__ inline int component_of_block(int k)
{
    return BLOCKS == 6 ? (k < 4 ? 0 : k - 3) : k;
}

/* Transforms and quantizes the columns of a block, 8 lanes per block, and puts the coefficients in
 * zigzag order. Bit i of *mask tells whether AC coefficient i is not 0. All lanes of the warp call
 * this function. */
static __device__ inline void put_columns(int16_t *block, uint64_t *mask,
                                          const struct gi_jpeg_plan *plan, int c, int x, bool valid)
{
    const struct gi_jpeg_coder *coder = &plan->coders[c];
    int v[GI_JPEG_SIDE];
    uint64_t mine = 0;
#pragma unroll
    for (int y = 0; y < GI_JPEG_SIDE; y++)
        v[y] = valid ? block[y * GI_JPEG_SIDE + x] : 0;
    __syncwarp();
    gi_jpeg_dct_column(v);
#pragma unroll
    for (int y = 0; valid && y < GI_JPEG_SIDE; y++) {
        const int at = y * GI_JPEG_SIDE + x, to = plan->places[at];
        const int q = gi_jpeg_quantize(v[y], coder->reciprocals[at], coder->halves[at]);
        block[to] = (int16_t)q;
        mine |= (uint64_t)(q != 0) << to;
    }
#pragma unroll
    for (int step = 1; step < GI_JPEG_SIDE; step *= 2)
        mine |= __shfl_xor_sync(ALL_LANES, mine, step);
    if (valid && x == 0)
        *mask = mine & ~(uint64_t)1;
}

/* Returns the DC of block k of the MCU at (left, top). That of a dummy is the DC of the block
 * before. */
template <int BLOCKS>
static __device__ inline int dc_of(const int16_t (*mcu)[PITCH], const struct gi_jpeg_layout &layout,
                                   int k, int left, int top)
{
    if (BLOCKS == 6 && k < 4) {
        const bool right = left + GI_JPEG_SIDE >= layout.width;
        const bool below = top + GI_JPEG_SIDE >= layout.height;
        const int column = right ? 0 : below && k >= 2 ? 1 : k % 2;
        k = (below ? 0 : k / 2 * 2) + column;
    }
    return mcu[k][0];
}

/* The two uses of the codes of a block: to count their bits, and to write them. */
struct counter {
    unsigned bits;
    __device__ void put(uint32_t, int length)
    {
        bits += (unsigned)length;
    }
};

struct writer {
    uint32_t *word; /* blocks share words, which are 0 at first */
    uint64_t held;  /* the last `nheld` bits, at most 31 between two calls */
    int nheld;
    __device__ void put(uint32_t bits, int length)
    {
        held = held << length | bits;
        nheld += length;
        if (nheld >= 32) {
            nheld -= 32;
            atomicOr(word++, (uint32_t)(held >> nheld));
        }
    }
    __device__ void end()
    {
        if (nheld)
            atomicOr(word, (uint32_t)(held << (32 - nheld)));
    }
};

/* A block's codes. `mask` tells which AC coefficients are not 0. */
template <typename USE>
static __device__ inline void code_block(USE *use, const struct gi_jpeg_coder *coder,
                                         int difference, const int16_t *block, uint64_t mask)
{
    int length, size = gi_jpeg_size(difference), last = 0;
    uint32_t bits = gi_jpeg_bits(coder->dc[size], difference, size, &length);
    use->put(bits, length);
    for (; mask; mask &= mask - 1) {
        const int at = __ffsll((long long)mask) - 1, v = block[at];
        int zeros = at - last - 1;
        for (; zeros > 15; zeros -= 16) {
            bits = gi_jpeg_bits(coder->ac[GI_JPEG_ZEROS], 0, 0, &length);
            use->put(bits, length);
        }
        size = gi_jpeg_size(v);
        bits = gi_jpeg_bits(coder->ac[16 * zeros + size], v, size, &length);
        use->put(bits, length);
        last = at;
    }
    if (last < GI_JPEG_BLOCK - 1) {
        bits = gi_jpeg_bits(coder->ac[GI_JPEG_END], 0, 0, &length);
        use->put(bits, length);
    }
}

#endif
