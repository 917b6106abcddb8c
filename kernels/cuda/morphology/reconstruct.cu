/* Morphological reconstruction by dilation, by tiles of 64 x 64 pixels of a channel. A block raises
 * the pixels of a tile until they no longer change, given the pixels around the tile. If pixels at
 * its sides have changed, it puts the tiles beside them on the list of the next launch. The result
 * does not depend on the order (kernels/morphology.h), so blocks may read pixels that other blocks
 * are changing: whoever changes them lists the reader again.
 *
 *     shared memory          1. load 66 x 66 values and 64 x 64 limits (src), as floats
 *     +--+-----------+--+    2. threads raise pixels along segments of 16: of columns down and up,
 *     |  |           |  |       then of rows right and left; again while any pixel has changed
 *     +--+-----------+--+    3. store; list the tiles on sides and corners that have changed
 *     |  | 64 x 64   |  |
 *     |  |           |  |    256 threads: 64 columns (or rows) times 4 segments
 *     +--+-----------+--+
 *
 * Example: 8192 x 8192 pixels: the first list has 16384 tiles, each further list those that the
 * values have reached. The host reads the length of the list after every ROUNDS launches.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/morphology.h"

enum {
    TILE = 64,
    TILE_THREADS = 256,
    SEGMENT = TILE * TILE / TILE_THREADS,
    PITCH = TILE + 3, /* odd: threads one row apart are in different banks */
    BLOCKS_EACH = 4,  /* blocks per multiprocessor */
    ROUNDS = 8,       /* launches between two looks of the host */
};

struct reconstruct_args {
    struct gi_image dst, src, seed;
    int across, down, colors; /* tiles per row and column, channels */
    bool eight;
    unsigned ntiles;     /* across * down * colors */
    unsigned *counts;    /* of three lists, used in rotation */
    unsigned *lists[2];  /* tiles, used in rotation; the first list is all tiles, and not stored */
    unsigned *listed[2]; /* whether a tile is on the list */
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
    unsigned per = (unsigned)args.across * (unsigned)args.down, at = tile % per;
    return {(int)(at % (unsigned)args.across), (int)(at / (unsigned)args.across),
            (int)(tile / per)};
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

/* Puts the tiles that see a change on the list of the next launch. */
static __device__ __forceinline__ void neighbors_list(const struct reconstruct_args &args,
                                                      const struct tile_place &p, unsigned tile,
                                                      const struct tile_memory &memory,
                                                      unsigned round)
{
    int k = (int)threadIdx.x, dx = k % 3 - 1, dy = k / 3 - 1, x = p.x + dx, y = p.y + dy;
    if (k >= 9 || k == 4 || (dx && dy && !args.eight) || !memory.changed[k])
        return;
    if (x < 0 || y < 0 || x >= args.across || y >= args.down)
        return;
    unsigned other = tile + (unsigned)(dy * args.across + dx), next = (round + 1) % 2;
    if (atomicExch(&args.listed[next][other], 1u) == 0)
        args.lists[next][atomicAdd(&args.counts[(round + 1) % 3], 1u)] = other;
}

/* Each block processes every gridDim.x-th tile of the list of this round. */
static __global__ void __launch_bounds__(TILE_THREADS)
    reconstruct_tiles(const __grid_constant__ struct reconstruct_args args, unsigned round)
{
    __shared__ struct tile_memory memory;
    unsigned n = round ? args.counts[round % 3] : args.ntiles;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        args.counts[(round + 2) % 3] = 0;
    for (unsigned i = blockIdx.x; i < n; i += gridDim.x) {
        unsigned tile = round ? args.lists[round % 2][i] : i;
        struct tile_place p = place_of(args, tile);
        if (threadIdx.x == 0)
            args.listed[round % 2][tile] = 0;
        if (threadIdx.x < 9)
            memory.changed[threadIdx.x] = 0;
        SAMPLE_TYPES(args.src.type, tile_load<T>(args, p, memory));
        __syncthreads();
        if (tile_raise(memory, args.eight)) {
            SAMPLE_TYPES(args.src.type, tile_store<T>(args, p, memory));
            neighbors_list(args, p, tile, memory, round);
        }
        __syncthreads();
    }
}

/* ---- launcher ---- */

static enum gi_status rounds_run(struct gi_cuda_queue *cu, const struct reconstruct_args *args,
                                 struct gi_err *err)
{
    unsigned blocks = (unsigned)cu->units * BLOCKS_EACH, left = 1, round = 0;
    blocks = args->ntiles < blocks ? args->ntiles : blocks;
    while (left) {
        for (int i = 0; i < ROUNDS; i++)
            reconstruct_tiles<<<blocks, TILE_THREADS, 0, cu->stream>>>(*args, round++);
        GI_CUDA_LAUNCHED();
        enum gi_status status = gi_cuda_copy_to_host(
            cu, &left, sizeof left, &args->counts[round % 3], sizeof left, sizeof left, 1, err);
        if (status)
            return status;
        round = round % 6 + 6; /* the same remainders, and not 0 */
    }
    return GI_OK;
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
    args.across = ceil_div(src->width, TILE);
    args.down = ceil_div(src->height, TILE);
    args.colors = gi_color_channels(src);
    args.eight = spec->connectivity == 8;
    size_t ntiles = (size_t)args.across * (size_t)args.down * (size_t)args.colors;
    if (ntiles > INT32_MAX)
        return gi_fail(err, GI_E_DEVICE_MEMORY,
                       "%d x %d pixels are too many to reconstruct on CUDA", src->width,
                       src->height);
    args.ntiles = (unsigned)ntiles;
    void *scratch;
    size_t nbytes = (4 + 4 * ntiles) * sizeof(unsigned);
    enum gi_status status = gi_cuda_scratch(cu, &scratch, nbytes, err);
    if (status)
        return status;
    args.counts = (unsigned *)scratch;
    for (int i = 0; i < 2; i++) {
        args.listed[i] = args.counts + 4 + i * ntiles;
        args.lists[i] = args.counts + 4 + (2 + i) * ntiles;
    }
    GI_CUDA_TRY(cudaMemsetAsync(scratch, 0, (4 + 2 * ntiles) * sizeof(unsigned), cu->stream));
    dim3 grid((unsigned)ceil_div((long long)gi_row_samples(src), POINTWISE_THREADS),
              (unsigned)(src->height < 65535 ? src->height : 65535));
    reconstruct_start<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return rounds_run(cu, &args, err);
}

const struct gi_reconstruct_way gi_cuda_reconstruct_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
