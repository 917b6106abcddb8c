/* Morphological reconstruction by dilation, by tiles of 64 x 64 pixels of a channel. A block raises
 * the pixels of a tile until they no longer change, given the pixels around the tile. If pixels at
 * its sides have changed, the tiles beside them follow in the next round (tile_rounds.cuh). The
 * result does not depend on the order (kernels/morphology.h).
 *
 *     shared memory          1. load 66 x 66 values and 64 x 64 limits (src), as floats
 *     +--+-----------+--+    2. threads raise pixels along segments of 16: of columns down and up,
 *     |  |           |  |       then of rows right and left; again while any pixel has changed
 *     +--+-----------+--+    3. store; list the tiles on sides and corners that have changed
 *     |  | 64 x 64   |  |
 *     |  |           |  |    256 threads: 64 columns (or rows) times 4 segments
 *     +--+-----------+--+
 *
 * Example: in a row with the values 0 3 0 0 and the limits 3 3 2 3, moving right raises 0 to 2,
 * then the last pixel to 2, and moving left raises the first pixel to 3. SPDX-License-Identifier:
 * MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/cuda/morphology/tile_rounds.cuh"
#include "kernels/morphology.h"

enum {
    TILE = 64,
    TILE_THREADS = 256,
    SEGMENT = TILE * TILE / TILE_THREADS,
    PITCH = TILE + 3, /* odd: threads one row apart are in different banks */
    BLOCKS_EACH = 4,  /* blocks per multiprocessor */
};

struct reconstruct_args {
    struct gi_image dst, src, seed;
    bool eight;
    struct tile_rounds rounds; /* an image per channel */
};

/* ---- start ---- */

static __device__ __forceinline__ float lower(float src, float seed)
{
    return src == src && seed == seed ? (seed < src ? seed : src) : __int_as_float(0x7fc00000);
}

/* Sets dst to the minimum of seed and src, and copies alpha. One thread per sample of a row. */
template <typename T>
static __device__ __forceinline__ void rows_start(const struct reconstruct_args &args)
{
    long long at = (long long)blockIdx.x * POINTWISE_THREADS + threadIdx.x;
    int channels = args.src.channels;
    if (at >= (long long)args.src.width * channels)
        return;
    bool is_alpha = channels % 2 == 0 && (at + 1) % channels == 0;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        T src = ((const T *)((const char *)args.src.data + (size_t)y * args.src.stride))[at];
        T seed = ((const T *)((const char *)args.seed.data + (size_t)y * args.seed.stride))[at];
        T *to = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride) + at;
        /* -0 + 0 is +0 */
        *to = is_alpha ? src : (T)lower(__fadd_rn((float)src, 0.0f), __fadd_rn((float)seed, 0.0f));
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    reconstruct_start(const __grid_constant__ struct reconstruct_args args)
{
    SAMPLE_TYPES(args.src.type, rows_start<T>(args));
}

/* ---- tiles ---- */

struct tile_memory {
    float v[(TILE + 2) * PITCH]; /* pixel (x, y) of the tile at (y + 1) * PITCH + x + 1 */
    float most[TILE * PITCH];    /* pixel (x, y) at y * PITCH + x */
    unsigned changed[9];         /* sides and corners: (dy + 1) * 3 + dx + 1 */
};

/* The tile's column, row and channel. */
struct tile_place {
    int x, y, channel;
};

static __device__ __forceinline__ struct tile_place place_of(const struct reconstruct_args &args,
                                                             unsigned tile)
{
    unsigned across = (unsigned)args.rounds.across, per = across * (unsigned)args.rounds.down;
    unsigned at = tile % per;
    return {(int)(at % across), (int)(at / across), (int)(tile / per)};
}

/* Loads a tile. Pixels outside the image are -infinity, which raises nothing. The values may change
 * during the load, so they are read through the L2 cache. */
template <typename T>
static __device__ __forceinline__ void tile_load(const struct reconstruct_args &args,
                                                 const struct tile_place &p,
                                                 struct tile_memory &memory)
{
    for (int i = (int)threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE_THREADS) {
        int dx = i % (TILE + 2) - 1, dy = i / (TILE + 2) - 1;
        long long x = (long long)p.x * TILE + dx, y = (long long)p.y * TILE + dy;
        bool inside = x >= 0 && y >= 0 && x < args.src.width && y < args.src.height;
        size_t at = (size_t)x * args.src.channels + (size_t)p.channel;
        float v = -INFINITY;
        if (inside)
            v = (float)__ldcg(
                (const T *)((const char *)args.dst.data + (size_t)y * args.dst.stride) + at);
        memory.v[(dy + 1) * PITCH + dx + 1] = v;
        if (dx >= 0 && dy >= 0 && dx < TILE && dy < TILE)
            memory.most[dy * PITCH + dx] =
                inside ? __fadd_rn((float)((const T *)((const char *)args.src.data +
                                                       (size_t)y * args.src.stride))[at],
                                   0.0f)
                       : -INFINITY;
    }
}

template <typename T>
static __device__ __forceinline__ void tile_store(const struct reconstruct_args &args,
                                                  const struct tile_place &p,
                                                  const struct tile_memory &memory)
{
    for (int i = (int)threadIdx.x; i < TILE * TILE; i += TILE_THREADS) {
        int dx = i % TILE, dy = i / TILE;
        long long x = (long long)p.x * TILE + dx, y = (long long)p.y * TILE + dy;
        if (x < args.src.width && y < args.src.height)
            ((T *)((char *)args.dst.data +
                   (size_t)y * args.dst.stride))[(size_t)x * args.src.channels + p.channel] =
                (T)memory.v[(dy + 1) * PITCH + dx + 1];
    }
}

/* Returns the maximum of a, which is not NaN, and b; a if b is NaN, so that NaNs do not raise
 * others. */
static __device__ __forceinline__ float greater(float a, float b)
{
    return b > a ? b : a;
}

/* Raises pixel (x, y) of the tile to its neighbours, but not above src. Other threads may raise
 * those at the same time. Returns whether it has changed. */
static __device__ __forceinline__ bool pixel_raise(struct tile_memory &memory, int x, int y,
                                                   bool eight)
{
    volatile float *v = &memory.v[(y + 1) * PITCH + x + 1];
    float own = *v, most = memory.most[y * PITCH + x];
    if (!(own < most)) /* also if one of them is NaN */
        return false;
    float best = greater(greater(own, v[-1]), v[1]);
    best = greater(greater(best, v[-PITCH]), v[PITCH]);
    if (eight) {
        best = greater(greater(best, v[-PITCH - 1]), v[-PITCH + 1]);
        best = greater(greater(best, v[PITCH - 1]), v[PITCH + 1]);
    }
    if (!(best > own))
        return false;
    *v = best < most ? best : most;
    /* Column 0 and row 0 are next to the tiles before, the last ones next to those after. */
    int dx = x == 0 ? -1 : x == TILE - 1, dy = y == 0 ? -1 : y == TILE - 1;
    if (dx)
        memory.changed[4 + dx] = 1;
    if (dy)
        memory.changed[4 + 3 * dy] = 1;
    if (dx && dy)
        memory.changed[4 + 3 * dy + dx] = 1;
    return true;
}

/* Raises the pixels of the tile until none changes. Returns whether any has changed. */
static __device__ __forceinline__ bool tile_raise(struct tile_memory &memory, bool eight)
{
    int line = (int)threadIdx.x % TILE, from = (int)threadIdx.x / TILE * SEGMENT;
    bool any = false;
    for (int changed = 1; changed; any |= changed != 0) {
        bool raised = false;
        for (int i = 0; i < SEGMENT; i++)
            raised |= pixel_raise(memory, line, from + i, eight);
        for (int i = SEGMENT - 1; i >= 0; i--)
            raised |= pixel_raise(memory, line, from + i, eight);
        __syncthreads();
        for (int i = 0; i < SEGMENT; i++)
            raised |= pixel_raise(memory, from + i, line, eight);
        for (int i = SEGMENT - 1; i >= 0; i--)
            raised |= pixel_raise(memory, from + i, line, eight);
        changed = __syncthreads_or(raised);
    }
    return any;
}

/* Each block processes every gridDim.x-th tile of the list of this round. */
static __global__ void __launch_bounds__(TILE_THREADS)
    reconstruct_tiles(const __grid_constant__ struct reconstruct_args args, unsigned round)
{
    __shared__ struct tile_memory memory;
    const unsigned n = round_count(args.rounds, round);
    for (unsigned i = blockIdx.x; i < n; i += gridDim.x) {
        unsigned tile = round_tile(args.rounds, round, i);
        struct tile_place p = place_of(args, tile);
        if (threadIdx.x < 9)
            memory.changed[threadIdx.x] = 0;
        SAMPLE_TYPES(args.src.type, tile_load<T>(args, p, memory));
        __syncthreads();
        if (tile_raise(memory, args.eight)) {
            SAMPLE_TYPES(args.src.type, tile_store<T>(args, p, memory));
            round_list(args.rounds, round, tile, memory.changed, args.eight);
        }
        __syncthreads();
    }
}

/* ---- launcher ---- */

static void tiles_launch(struct gi_cuda_queue *cu, const void *args, unsigned blocks,
                         unsigned round)
{
    reconstruct_tiles<<<blocks, TILE_THREADS, 0, cu->stream>>>(
        *(const struct reconstruct_args *)args, round);
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_reconstruct *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct reconstruct_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.seed = *spec->seed;
    args.rounds.across = ceil_div(src->width, TILE);
    args.rounds.down = ceil_div(src->height, TILE);
    args.eight = spec->connectivity == 8;
    size_t ntiles =
        (size_t)args.rounds.across * (size_t)args.rounds.down * (size_t)gi_color_channels(src);
    if (ntiles > INT32_MAX)
        return gi_fail(err, GI_E_DEVICE_MEMORY,
                       "%d x %d pixels are too many to reconstruct on CUDA", src->width,
                       src->height);
    args.rounds.ntiles = (unsigned)ntiles;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, tile_rounds_nbytes(ntiles), err);
    if (!status)
        status = tile_rounds_start(&args.rounds, cu, scratch, err);
    if (status)
        return status;
    dim3 grid((unsigned)ceil_div((long long)gi_row_samples(src), POINTWISE_THREADS),
              (unsigned)(src->height < 65535 ? src->height : 65535));
    reconstruct_start<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return tile_rounds_run(&args.rounds, cu, (unsigned)cu->units * BLOCKS_EACH, tiles_launch, &args,
                           err);
}

const struct gi_reconstruct_way gi_cuda_reconstruct_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
