/* Geometric transforms with affine and perspective maps through shared memory, bilinear and
 * bicubic.
 *
 * A block owns a tile of WIDE x TALL result pixels. The map keeps lines straight, so the corners of
 * the tile determine the bounding box of its taps in the source. The block copies the pixels in
 * this box, the patch, to shared memory. Blocks whose patch does not fit use plain loads.
 *
 *     result: tile                     source: patch, at most ROWS rows of PITCH bytes
 *     +----------+----------+             +----------------+
 *     | warp 0   | warp 1   |  4 rows     |     .  ' |      |  one texel per pixel, copied in
 *     +----------+----------+             |  .   tile  |   |  CHUNK = 16 bytes (cp.async)
 *     | warp 2   | warp 3   |  4 rows     |   |    .  '    |
 *     +----------+----------+             |    | . '       |
 *     |     next step       |             +----------------+
 *     +---------------------+
 *
 * A thread computes a run at a time. A run is REMAP_ACROSS = 4 pixels of a row that are APART = 8
 * columns apart. So the 8 lanes of a row load neighbouring texels, mostly free of bank conflicts.
 * Exchange: results are transposed among four lanes, so that every lane stores whole words.
 *
 * Phases: load (find and copy the patch), compute (interpolate a run), exchange (transpose), store.
 *
 * Example: 8-bit gray, WIDE = 64, TALL = 96: 128 threads compute 64 x 8 pixels per step, 12 steps.
 * At 45 degrees the tile spans (64 + 96) / sqrt(2) = 113 rows, of at most ROWS = 121; the patch has
 * 121 * 144 = 17424 bytes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_TILE_CUH
#define GI_KERNELS_CUDA_REMAP_TILE_CUH

#include "kernels/cuda/geometry/remap_pixel.cuh"
#include "kernels/cuda/geometry/remap_tile_places.cuh"
#include "kernels/cuda/geometry/remap_tile_texel.cuh"

/* A tile without a patch: plain loads. */
template <typename T, int C, int HOW>
static __device__ __noinline__ void tile_plain(const struct remap_args *args)
{
    typedef form<T, C> F;
    constexpr int ACROSS = F::WIDE / REMAP_ACROSS;
    int x = (int)blockIdx.x * F::WIDE + REMAP_ACROSS * (int)(threadIdx.x % ACROSS);
    int y = (int)blockIdx.y * F::TALL + (int)(threadIdx.x / ACROSS);
    int end = min(args->dst_height, ((int)blockIdx.y + 1) * F::TALL);
    for (; x < args->dst_width && y < end; y += F::THREADS / ACROSS) {
        struct remap_spot at[REMAP_ACROSS];
        float f[REMAP_ACROSS * C];
        remap_spots_lines<HOW>(at, args, x, args->dst_y + y);
        remap_run<T, C, HOW>(f, args, at, args->dst_width - x);
        remap_store<T, C>(args, x, y, f);
    }
}

/* Fills a tile that only shows the border value. Stores a thread's runs, of which the first is at
 * `out`. */
template <typename T, int C, int HOW>
static __device__ __forceinline__ void tile_empty(const struct remap_args *args, uint8_t *out,
                                                  int n, int rows, uint2 selectors)
{
    typedef form<T, C> F;
    float f[REMAP_ACROSS][C];
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS * C; i++)
        f[i / C][i % C] = args->background[i % C];
    const struct run<F> run = run_of<T, C, HOW>(f, 1.0f, selectors);
    for (int k = 0; k < rows && k < F::TALL; k += F::BELOW, out += F::BELOW * args->dst.stride)
        store_run(out, run, n);
}

/* Resident blocks per multiprocessor, for launch bounds, of 8-bit gray with AFFINE. */
#if GI_CUDA_ARCH < 800
#define BLOCKS 8
#else
#define BLOCKS 10
#endif

/* Returns the resident blocks per multiprocessor for launch bounds. */
static constexpr int blocks_of(int nbytes, int kind)
{
    return nbytes == 1 && kind == GI_MAP_AFFINE ? BLOCKS : nbytes <= 2 ? 8 : nbytes == 8 ? 6 : 5;
}

enum { ANY_LINES = -1 }; /* as KIND: the map is AFFINE or PROJECTIVE, which is tested at run time */

template <typename T, int C, int HOW, int KIND>
static __global__ void __launch_bounds__(form<T, C>::THREADS, blocks_of(form<T, C>::TEXEL, KIND))
    tiles(const __grid_constant__ struct remap_args args,
          const __grid_constant__ struct tile_map map)
{
    typedef form<T, C> F;
    __shared__ __align__(CHUNK) uint8_t bytes[F::ROWS * F::PITCH];
    __shared__ struct patch found;
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int left = (int)blockIdx.x * F::WIDE, top = (int)blockIdx.y * F::TALL, y0 = args.dst_y + top;
    struct patch patch;
    /* Load: find the patch. */
    const bool affine = (KIND == ANY_LINES ? (int)args.map.kind : KIND) == GI_MAP_AFFINE;
    if (affine) {
        patch = find_affine<F, HOW>(&args, &map, left, y0);
    } else {
        if (warp == 0) {
            patch = find_projective<F, HOW>(&args, left, y0);
            if (lane == 0)
                found = patch;
        }
        __syncthreads();
        patch = found;
    }
    if (patch.kind == PATCH_NONE) {
        tile_plain<T, C, HOW>(&args);
        return;
    }
    unsigned column = STRIP * (warp % (F::WIDE / STRIP));
    unsigned row = warp / (F::WIDE / STRIP) * (WARP / APART) + lane / APART;
    int to_x = left + (int)(column + (F::CHANGES ? APART * (lane % 4) + (lane & 4) : lane % APART));
    int n = args.dst_width - to_x, rows = n > 0 ? args.dst_height - top - (int)row : 0;
    bool ragged = args.dst_width - left < F::WIDE && args.dst_width % REMAP_ACROSS;
    n = kept(F::CHANGES && !ragged ? (int)REMAP_ACROSS : n);
    rows = kept(rows);
    const uint2 selectors = transpose_selectors();
    bool weigh = C % 2 == 0 && args.weigh;
    const float scale = weigh ? 1.0f : 0x1p23f;
    uint8_t *out = (uint8_t *)args.dst.data + (size_t)(top + (int)row) * args.dst.stride +
                   (size_t)to_x * F::OUT;
    if (patch.kind == PATCH_OUTSIDE) {
        tile_empty<T, C, HOW>(&args, out, n, rows, selectors);
        return;
    }
    column += lane % APART;
    struct steps steps;
    if (affine) {
        steps.x = first_place(args.map.affine, patch.x, left, y0, column, row);
        steps.y = first_place(args.map.affine + 3, patch.y, left, y0, column, row);
    } else {
        first_projective(&steps, &patch, left + (int)column, y0 + (int)row);
    }
    /* Load: copy the patch. */
    if (patch.kind == PATCH_INSIDE)
        load_inside<T, C>(bytes, &args, &patch);
    else
        load_border<T, C>(bytes, &args, patch.x, patch.y, patch.chunks, patch.rows);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    constexpr int TURNS = C > 1 ? 1 : KIND != GI_MAP_AFFINE ? 2 : HOW == GI_LINEAR ? 4 : 1;
#pragma unroll(TURNS)
    for (int k = 0; k < F::TALL; k += F::BELOW, out += F::BELOW * args.dst.stride) {
        /* Compute: coordinates of a run, then interpolation. */
        uint2 at[REMAP_ACROSS];
        float f[REMAP_ACROSS][C];
        if (affine)
            run_affine(at, &map, &steps);
        else
            run_projective(at, &args, &patch, &steps, F::BELOW);
#pragma unroll
        for (int i = 0; i < REMAP_ACROSS; i++) {
            const uint8_t *from = bytes + (at[i].y >> GI_PLACE_BITS) * F::PITCH +
                                  (at[i].x >> GI_PLACE_BITS) * F::TEXEL;
            if (C % 2 == 0 && weigh)
                pixel_at<T, C, HOW, C % 2 == 0>(f[i], from, &args.cubic, at[i].x, at[i].y);
            else
                pixel_at<T, C, HOW, false>(f[i], from, &args.cubic, at[i].x, at[i].y);
        }
        /* Exchange and store. */
        const struct run<F> run = run_of<T, C, HOW>(f, scale, selectors);
        if (k < rows)
            store_run(out, run, n);
    }
}

/* Extends the interval *low to *high by 0 at one end and by step * last at the other. */
static inline void span(int64_t *low, int64_t *high, int64_t step, int last)
{
    int64_t end = step * last;
    *(end < 0 ? low : high) += end;
}

template <class F> static struct tile_map map_of(const struct remap_args *args)
{
    const int64_t *m = args->map.affine;
    struct tile_map map = {};
    span(&map.low_x, &map.high_x, m[0], F::WIDE - 1);
    span(&map.low_x, &map.high_x, m[1], F::TALL - 1);
    span(&map.low_y, &map.high_y, m[3], F::WIDE - 1);
    span(&map.low_y, &map.high_y, m[4], F::TALL - 1);
    for (int i = 1; i < REMAP_ACROSS; i++) {
        map.across_x[i - 1] = (uint64_t)m[0] * (uint64_t)(APART * i) << UP;
        map.across_y[i - 1] = (uint64_t)m[3] * (uint64_t)(APART * i) << UP;
    }
    map.down_x = (uint64_t)m[1] * F::BELOW << UP;
    map.down_y = (uint64_t)m[4] * F::BELOW << UP;
    return map;
}

template <typename T, int C, int HOW>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct remap_args *args,
                             struct gi_err *err)
{
    typedef form<T, C> F;
    dim3 grid(ceil_div(args->dst_width, F::WIDE), ceil_div(args->dst_height, F::TALL));
    bool affine = args->map.kind == GI_MAP_AFFINE;
    struct tile_map map = affine ? map_of<F>(args) : tile_map();
    constexpr int FIRST = C > 1 ? (int)ANY_LINES : GI_MAP_AFFINE,
                  OTHER = C > 1 ? (int)ANY_LINES : GI_MAP_PROJECTIVE;
    if (affine)
        tiles<T, C, HOW, FIRST><<<grid, F::THREADS, 0, cu->stream>>>(*args, map);
    else
        tiles<T, C, HOW, OTHER><<<grid, F::THREADS, 0, cu->stream>>>(*args, map);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T, int C>
static enum gi_status launch_how(struct gi_cuda_queue *cu, const struct remap_args *args,
                                 enum gi_interpolation how, struct gi_err *err)
{
    return how == GI_LINEAR ? launch<T, C, GI_LINEAR>(cu, args, err)
                            : launch<T, C, GI_CUBIC>(cu, args, err);
}

#endif
