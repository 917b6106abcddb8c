/* The patch is the part of the source under a tile of the result. This file finds the bounding box
 * of the patch and copies the patch to shared memory, one texel per pixel.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_TILE_PATCH_CUH
#define GI_KERNELS_CUDA_REMAP_TILE_PATCH_CUH

#include <cuda_pipeline_primitives.h>

#include "kernels/cuda/common/warp_collectives.cuh"
#include "kernels/cuda/geometry/remap.h"
#include "kernels/cuda/geometry/remap.cuh"

enum {
    APART = 8, /* columns between the pixels of a run, and lanes per row: the lanes of a row load
                  neighbouring texels at once, which are mostly in different banks */
    STRIP = REMAP_ACROSS * APART, /* columns per warp */
    CHUNK = 16,                   /* bytes of a patch that are written at once */
};

/* Layout in shared memory of pixels that have C samples of type T. A texel has 4 samples if C is
 * 3. */
template <typename T, int C> struct form {
    enum {
        SAMPLES = C == 3 ? 4 : C,
        TEXEL = SAMPLES * (int)sizeof(T), /* bytes */
        WORDS = (TEXEL + 3) / 4,
        PER = CHUNK / TEXEL,
        OUT = C * (int)sizeof(T), /* bytes of a result pixel */
        CHANGES = OUT % 4 != 0,   /* if pixels are not whole words, lanes exchange pixels */
        THREADS = 128,
        WIDE = TEXEL <= 4 ? 64 : 32, /* of a tile, pixels */
        TALL = TEXEL == 1 ? 96 : WIDE,
        /* Maximum rows of a patch: the diagonal of a tile, plus taps and a margin. */
        ROWS = TEXEL == 1   ? 121
               : WIDE == 64 ? 96
                            : 50,
        CHUNKS = (ROWS + 2 * PER - 2) / PER, /* per patch row; the first chunk is aligned */
        PAD = TEXEL == 4   ? 1
              : TEXEL == 8 ? 2
                           : 0,         /* chunks of padding: four rows begin in different banks */
        PITCH = CHUNK * (CHUNKS + PAD), /* bytes per row */
        BELOW = WARP / APART * (THREADS / WARP * STRIP / WIDE), /* rows between runs */
    };
};

enum patch_kind { PATCH_NONE, PATCH_INSIDE, PATCH_BORDER, PATCH_OUTSIDE };

/* The bounding box of a tile's taps. It begins at pixel (x, y) of the source and has `chunks`
 * chunks per row. */
struct patch {
    enum patch_kind kind;
    int x, y, chunks, rows;
};

/* AFFINE: differences of coordinates. low and high lead from the corner of a tile to the minimum
 * and maximum in the tile. across leads from the first pixel of a run to the other pixels of that
 * run, and down leads to the next run. across and down are shifted like the members of struct
 * steps. */
struct tile_map {
    int64_t low_x, high_x, low_y, high_y;
    uint64_t across_x[REMAP_ACROSS - 1], across_y[REMAP_ACROSS - 1], down_x, down_y;
};

template <class F>
static __device__ __forceinline__ struct patch
patch_of(const struct remap_args *args, int before, int low_x, int high_x, int low_y, int high_y)
{
    struct patch patch;
    patch.x = (low_x - before) & ~(F::PER - 1);
    patch.y = low_y - before;
    patch.chunks = (high_x + before + 1 - patch.x) / F::PER + 1;
    patch.rows = high_y + before + 2 - patch.y;
    int right = patch.x + F::PER * patch.chunks, bottom = patch.y + patch.rows;
    int first = patch.y - args->src_y;
    patch.kind = PATCH_BORDER;
    if (patch.chunks > F::CHUNKS || patch.rows > F::ROWS)
        patch.kind = PATCH_NONE;
    else if (patch.x >= 0 && right <= args->src.width && first >= 0 &&
             first + patch.rows <= args->src.height)
        patch.kind = PATCH_INSIDE;
    else if (args->src.border == GI_BORDER_VALUE &&
             (right <= 0 || patch.x >= args->src.width || bottom <= 0 || patch.y >= args->height))
        patch.kind = PATCH_OUTSIDE;
    return patch;
}

/* Finds the patch of a tile, which is the same for all threads of a block. */
template <class F, int HOW>
static __device__ __forceinline__ struct patch
find_affine(const struct remap_args *args, const struct tile_map *map, int left, int top)
{
    const int64_t *m = args->map.affine;
    int64_t x = m[0] * left + m[1] * top + m[2], y = m[3] * left + m[4] * top + m[5];
    return patch_of<F>(args, HOW == GI_CUBIC, (int)((x + map->low_x) >> GI_AFFINE_BITS),
                       (int)((x + map->high_x) >> GI_AFFINE_BITS),
                       (int)((y + map->low_y) >> GI_AFFINE_BITS),
                       (int)((y + map->high_y) >> GI_AFFINE_BITS));
}

/* Computes the source coordinates of a corner of the tile. Returns whether the map is so smooth at
 * this corner that coordinates inside the tile are between the coordinates of the corners, with a
 * margin far above rounding errors. */
static __device__ bool corner_at(struct gi_place *at, const double *m, int x, int y, int *side)
{
    *at = gi_map_projective(m, x, y);
    double c = fma(m[6], (double)x, fma(m[7], (double)y, m[8])), size = fabs(c);
    double most = fmax(fabs(m[6]) * x + fabs(m[7]) * y + fabs(m[8]),
                       fmax(fabs(m[0]) * x + fabs(m[1]) * y + fabs(m[2]),
                            fabs(m[3]) * x + fabs(m[4]) * y + fabs(m[5])));
    const int64_t far = (int64_t)1 << (GI_PLACE_BITS + 24);
    *side = c > 0 ? 1 : -1;
    return size > 1e-100 && size < 1e100 && most < 1e100 && most < 1e8 * size && at->x < far &&
           at->x > -far && at->y < far && at->y > -far;
}

/* All threads of a warp call it. */
template <class F, int HOW>
static __device__ struct patch find_projective(const struct remap_args *args, int left, int top)
{
    int lane = (int)threadIdx.x & 31, side;
    struct gi_place at;
    bool tame = corner_at(&at, args->map.m, left + (lane & 1 ? F::WIDE - 1 : 0),
                          top + (lane & 2 ? F::TALL - 1 : 0), &side);
    int x = remap_whole(at.x), y = remap_whole(at.y);
    struct patch patch = patch_of<F>(args, 1 + (HOW == GI_CUBIC), warp_reduce_min(x),
                                     warp_reduce_max(x), warp_reduce_min(y), warp_reduce_max(y));
    if (!__all_sync(ALL_LANES, tame) || warp_reduce_min(side) != warp_reduce_max(side))
        patch.kind = PATCH_NONE;
    return patch;
}

/* Expands three words, which are four 3-sample pixels, to a chunk of four texels with undefined
 * padding. */
template <typename T> static __device__ __forceinline__ uint4 spread(const unsigned *w)
{
    if (sizeof(T) == 1)
        return make_uint4(w[0], __byte_perm(w[0], w[1], 0x6543), __byte_perm(w[1], w[2], 0x5432),
                          w[2] >> 8);
    if (sizeof(T) == 2)
        return make_uint4(w[0], w[1], __byte_perm(w[1], w[2], 0x5432), w[2] >> 16);
    return make_uint4(w[0], w[1], w[2], 0);
}

/* The chunks of a patch that a thread copies. They are in one column of chunks, `down` rows apart.
 * If a thread has no work, `row` is below every patch. */
struct share {
    int chunk, row, down;
};

template <class F> static __device__ __forceinline__ struct share share_of(int chunks)
{
    float each = __fdividef(1.0f, (float)chunks); /* exact enough: far from integers */
    int thread = (int)threadIdx.x, row = (int)(((float)thread + 0.5f) * each);
    int down = (int)((F::THREADS + 0.5f) * each);
    return {thread - row * chunks, row < down ? row : 1 << 20, down};
}

/* Starts an asynchronous copy of chunks. The copy is complete after __pipeline_wait_prior(). */
template <typename T, int C>
static __device__ __forceinline__ void
load_inside(uint8_t *patch_bytes, const struct remap_args *args, const struct patch *patch)
{
    typedef form<T, C> F;
    constexpr int BYTES = F::PER * F::OUT; /* source bytes per chunk */
    struct share share = share_of<F>(patch->chunks);
    int row = share.row, next = share.down * F::PITCH;
    if (row >= patch->rows)
        return;
    unsigned stride = (unsigned)args->src.stride;
    const char *from =
        args->src.data + (int64_t)(patch->y - args->src_y) * stride + (int64_t)patch->x * F::OUT;
    uint8_t *to = patch_bytes + row * F::PITCH + CHUNK * share.chunk;
    from += (uint64_t)row * stride + BYTES * share.chunk;
    uint64_t down = (uint64_t)stride * share.down;
    if (C != 3) {
#pragma unroll 1
        for (; row < patch->rows; row += share.down, from += down, to += next)
            __pipeline_memcpy_async(to, from, CHUNK);
        return;
    }
    constexpr int AHEAD = 4;
#pragma unroll 1
    while (row < patch->rows) {
        unsigned w[AHEAD][3];
#pragma unroll
        for (int i = 0; i < AHEAD; i++, from += down)
#pragma unroll
            for (int k = 0; k < 3; k++)
                w[i][k] =
                    row + i * share.down < patch->rows ? __ldg((const unsigned *)from + k) : 0;
#pragma unroll
        for (int i = 0; i < AHEAD; i++, row += share.down, to += next)
            if (row < patch->rows)
                *(uint4 *)to = spread<T>(w[i]);
    }
}

template <typename T, int C>
static __device__ __noinline__ void load_border(uint8_t *patch_bytes, const struct remap_args *args,
                                                int patch_x, int patch_y, int chunks, int rows)
{
    typedef form<T, C> F;
    struct share share = share_of<F>(chunks);
    int columns[F::PER]; /* -1: border value */
#pragma unroll
    for (int i = 0; i < F::PER; i++)
        columns[i] =
            gi_border_index(patch_x + F::PER * share.chunk + i, args->src.width, args->src.border);
    for (int row = share.row; row < rows; row += share.down) {
        T *to = (T *)(patch_bytes + row * F::PITCH + CHUNK * share.chunk);
        int y = gi_border_index(patch_y + row, args->height, args->of_rows);
        int there = y < 0 ? -1 : gi_band_row(y, args->src_y, args->height);
        if (there >= args->src.height || (y >= 0 && there < 0))
            continue; /* used by no tap */
        const T *from = (const T *)(args->src.data + (size_t)max(there, 0) * args->src.stride);
#pragma unroll
        for (int i = 0; i < F::PER; i++)
#pragma unroll
            for (int c = 0; c < C; c++)
                to[i * F::SAMPLES + c] = there < 0 || columns[i] < 0
                                             ? (T)args->src.value[c]
                                             : from[(size_t)columns[i] * C + c];
    }
}

#endif
