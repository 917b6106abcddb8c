/* Bilateral filter of 8-bit gray images, disks up to 15 x 15 pixels: a persistent block processes
 * tiles of 128 x 32 pixels with their halo in shared memory, as floats, and a thread computes 4 x 2
 * pixels. Meanwhile the bytes of the next tile are copied to shared memory. The range weights of
 * all differences from -255 to 255 are in shared memory 32 times, once per bank, so that look-ups
 * are free of bank conflicts. Shared memory for k = 9: 511 * 128 bytes of weights, a tile of
 * 136 * 40 floats, and a tile of 136 * 40 bytes.
 *
 * Blocks take tiles from a counter, because the two blocks of a multiprocessor do not advance at
 * the same rate. When both had the same number of tiles, one ended early: on average 26 of the 32
 * warps of a multiprocessor of an H200 were active, and with the counter 32 are.
 * SPDX-License-Identifier: MIT */
#include <cuda_pipeline_primitives.h>

#include "kernels/cuda/denoise/bilateral.cuh"

enum {
    LANES = 32,
    NEAR_THREADS = 512,
    TILE_Y = 32,
    DIFFERENCES = 511, /* of two bytes */
    NEAR_BLOCKS = 2,   /* per multiprocessor */
};

/* The sizes of a tile for disks of radius R. */
template <int R> struct near_size {
    static constexpr int HALO = (R + 3) / 4 * 4;
    static constexpr int PITCH = TILE_X + 2 * HALO; /* floats */
    static constexpr int FLOATS = PITCH * (TILE_Y + 2 * HALO);
    static constexpr int NBYTES = DIFFERENCES * ENTRY + FLOATS * (int)sizeof(float) + FLOATS;
};

struct near_args {
    struct source src; /* border values are samples */
    struct target dst;
    int across, tiles;
    struct disk space;
    float value[256];
    /* Device memory: the number of tiles that blocks have taken after their first three. If NULL,
     * tiles are divided evenly. */
    unsigned *taken;
};

static __device__ __forceinline__ float shared_float(unsigned address)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

static __device__ __forceinline__ float byte_at(const struct near_args *args, int x, int y)
{
    int xi = gi_border_index(x, args->src.width, args->src.border);
    int yi = gi_border_index(y, args->src.height, args->src.border);
    if (xi < 0 || yi < 0)
        return args->src.value[0];
    return (float)((const uint8_t *)args->src.data)[(size_t)yi * args->src.stride + (size_t)xi];
}

static __device__ __forceinline__ float4 four_of(unsigned word)
{
    return make_float4(sample_unpack<uint8_t>(&word, 0), sample_unpack<uint8_t>(&word, 1),
                       sample_unpack<uint8_t>(&word, 2), sample_unpack<uint8_t>(&word, 3));
}

/* Returns four pixels, of which x is the first. x is a multiple of 4. */
static __device__ __forceinline__ float4 bytes_at(const struct near_args *args, int x, int y)
{
    if (x >= 0 && x + 4 <= args->src.width && y >= 0 && y < args->src.height)
        return four_of(*(const unsigned *)(args->src.data + (size_t)y * args->src.stride + x));
    return make_float4(byte_at(args, x, y), byte_at(args, x + 1, y), byte_at(args, x + 2, y),
                       byte_at(args, x + 3, y));
}

/* The first pixel of a tile, and whether the tile with its halo is inside the image. */
struct corner {
    int x, y;
    bool inside;
};

template <int R>
static __device__ __forceinline__ void corner_find(struct corner *at, const struct near_args *args,
                                                   int t)
{
    constexpr int HALO = near_size<R>::HALO;
    at->x = t % args->across * TILE_X;
    at->y = t / args->across * TILE_Y;
    at->inside = at->x >= HALO && at->x + TILE_X + HALO <= args->src.width && at->y >= HALO &&
                 at->y + TILE_Y + HALO <= args->src.height;
}

/* Starts to copy the bytes of tile t to `stage`, if there is such a tile and it is inside the
 * image. */
template <int R>
static __device__ __forceinline__ void stage_start(unsigned *stage, const struct near_args *args,
                                                   int t)
{
    typedef struct near_size<R> size;
    constexpr int WORDS = size::PITCH / 4;
    struct corner at;
    corner_find<R>(&at, args, t);
    if (t < args->tiles && at.inside) {
        const char *from = args->src.data + (size_t)(at.y - size::HALO) * args->src.stride +
                           (size_t)(at.x - size::HALO);
        for (int i = (int)threadIdx.x; i < size::FLOATS / 4; i += NEAR_THREADS)
            __pipeline_memcpy_async(
                stage + i, from + (size_t)(unsigned)(i / WORDS) * args->src.stride + i % WORDS * 4,
                4);
    }
    __pipeline_commit();
}

/* Converts tile t to floats, from `stage` or, if it is not inside the image, from the image. */
template <int R>
static __device__ __forceinline__ void tile_load(float *tile, const unsigned *stage,
                                                 const struct near_args *args, int t)
{
    typedef struct near_size<R> size;
    constexpr int WORDS = size::PITCH / 4;
    struct corner at;
    corner_find<R>(&at, args, t);
    if (at.inside)
        for (int i = (int)threadIdx.x; i < size::FLOATS / 4; i += NEAR_THREADS)
            ((float4 *)tile)[i] = four_of(stage[i]);
    else
        for (int i = (int)threadIdx.x; i < size::FLOATS / 4; i += NEAR_THREADS)
            ((float4 *)tile)[i] =
                bytes_at(args, at.x - size::HALO + i % WORDS * 4, at.y - size::HALO + i / WORDS);
}

/* The samples of a row around a thread's four pixels, and the offsets of their weights in the
 * table, in bytes from the weight of difference 0. An offset is the bit pattern of the float v *
 * 2^-142, that is, the integer 128 * v, which is the size of v entries in bytes. */
template <int R> struct window {
    float v[4 + 2 * near_size<R>::HALO];
    unsigned at[4 + 2 * near_size<R>::HALO];
};

template <int R>
static __device__ __forceinline__ void window_load(struct window<R> *window, const float *row)
{
#pragma unroll
    for (int i = 0; i < 1 + near_size<R>::HALO / 2; i++) {
        float4 four = ((const float4 *)row)[i];
        window->v[4 * i] = four.x, window->v[4 * i + 1] = four.y;
        window->v[4 * i + 2] = four.z, window->v[4 * i + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < 4 + 2 * near_size<R>::HALO; i++)
        window->at[i] = __float_as_uint(__fmul_rn(window->v[i], 0x1p-142f));
}

/* Adds row |j| = J of the disk to the sums of four pixels. zero[i] is the address of the weight of
 * difference 0, minus the offset of pixel i. */
template <int R, int J>
static __device__ __forceinline__ void row_add(float *sums, float *weights,
                                               const struct near_args *args,
                                               const struct window<R> *window, const unsigned *zero)
{
    constexpr int HALO = near_size<R>::HALO;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        float s = 0, a = 0;
#pragma unroll
        for (int i = -R; i <= R; i++) {
            if (i * i + J * J > R * R)
                continue;
            if (i == 0 && J == 0) { /* the pixel itself, whose weight is 1 */
                s = __fadd_rn(s, window->v[HALO + x]);
                a = __fadd_rn(a, 1.0f);
                continue;
            }
            float w = shared_float(zero[x] + window->at[HALO + x + i]);
            w = __fmul_rn(w, args->space.at[J][i < 0 ? -i : i]);
            s = __fmaf_rn(w, window->v[HALO + x + i], s);
            a = __fadd_rn(a, w);
        }
        sums[x] = __fadd_rn(sums[x], s);
        weights[x] = __fadd_rn(weights[x], a);
    }
}

/* Like row_add(), for a |j| that is only known at run time. J ascends from 0 until J = |j|. */
template <int R, int J>
static __device__ __forceinline__ void
row_add_any(float *sums, float *weights, const struct near_args *args,
            const struct window<R> *window, const unsigned *zero, int j)
{
    if (abs(j) == J)
        row_add<R, J>(sums, weights, args, window, zero);
    else if constexpr (J < R)
        row_add_any<R, J + 1>(sums, weights, args, window, zero, j);
}

static __device__ __forceinline__ void four_store(const struct near_args *args, const float *sums,
                                                  const float *weights, int x, int y)
{
    if (x >= args->src.width || y >= args->src.height)
        return;
    float v[4];
    uint8_t *to = (uint8_t *)args->dst.data + (size_t)y * args->dst.stride + x;
#pragma unroll
    for (int i = 0; i < 4; i++) /* weights[i] > 0, because the pixel itself has weight 1 */
        v[i] = __fdiv_rn(sums[i], weights[i]);
    if (x + 4 <= args->src.width)
        *(unsigned *)to = sample_pack<uint8_t>(v);
    else
        for (int i = 0; x + i < args->src.width; i++)
            sample_store(to + i, v[i]);
}

/* Loops over small disks are unrolled completely. The code of larger disks would not fit the
 * instruction cache. */
template <int R>
static __global__ void __launch_bounds__(NEAR_THREADS, NEAR_BLOCKS)
    bilateral_near(const __grid_constant__ struct near_args args)
{
    constexpr int HALO = near_size<R>::HALO, PITCH = near_size<R>::PITCH;
    constexpr int UNROLL = R <= 4 ? 2 * R + 2 : 1;
    extern __shared__ __align__(16) char shared[];
    float *tile = (float *)(shared + DIFFERENCES * ENTRY);
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    unsigned middle = (unsigned)__cvta_generic_to_shared(shared) + 255 * ENTRY + 4 * lane;
    for (int i = (int)threadIdx.x; i < DIFFERENCES * LANES; i += NEAR_THREADS)
        ((float *)shared)[i] = args.value[abs(i / LANES - 255)];
    unsigned *stage = (unsigned *)(tile + near_size<R>::FLOATS);
    __shared__ int third; /* the tile after the next one */
    int t = (int)blockIdx.x, next = t + (int)gridDim.x;
    stage_start<R>(stage, &args, t);
    if (threadIdx.x == 0)
        third = t + 2 * (int)gridDim.x;
    while (t < args.tiles) {
        /* Load the tile with its halo, and start to copy the next one. */
        __pipeline_wait_prior(0);
        __syncthreads();
        tile_load<R>(tile, stage, &args, t);
        int x0 = t % args.across * TILE_X, y0 = t / args.across * TILE_Y;
        t = next;
        next = args.taken ? third : next + (int)gridDim.x;
        __syncthreads();
        stage_start<R>(stage, &args, t);
        if (args.taken && threadIdx.x == 0)
            third = (int)(atomicAdd(args.taken, 1) + 3 * gridDim.x);
        const float *row = tile + 2 * warp * PITCH + 4 * lane;
        float sums[2][4] = {{0}}, weights[2][4] = {{0}};
        unsigned zero[2][4];
#pragma unroll
        for (int i = 0; i < 8; i++)
            zero[i / 4][i % 4] =
                middle -
                __float_as_uint(__fmul_rn(row[(HALO + i / 4) * PITCH + HALO + i % 4], 0x1p-142f));
            /* Compute. Two output rows share the loads of a source row. */
#pragma unroll UNROLL
        for (int j = -R; j <= R + 1; j++) {
            struct window<R> window;
            window_load<R>(&window, row + (HALO + j) * PITCH);
            if (j <= R)
                row_add_any<R, 0>(sums[0], weights[0], &args, &window, zero[0], j);
            if (j > -R)
                row_add_any<R, 0>(sums[1], weights[1], &args, &window, zero[1], j - 1);
        }
        four_store(&args, sums[0], weights[0], x0 + 4 * (int)lane, y0 + 2 * (int)warp);
        four_store(&args, sums[1], weights[1], x0 + 4 * (int)lane, y0 + 2 * (int)warp + 1);
    }
}

bool gi_cuda_bilateral_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_bilateral *spec)
{
    const struct gi_cuda_queue *cu = (const struct gi_cuda_queue *)queue;
    int nbytes = spec->k <= 9 ? near_size<4>::NBYTES : near_size<RADIUS_MAX>::NBYTES;
    return !spec->guide && src->type == GI_U8 && src->channels == 1 && !spec->slope &&
           cu->shared_nbytes >= nbytes && bilateral_disk(spec, RADIUS_MAX);
}

template <int R>
static enum gi_status near_run(struct gi_cuda_queue *cu, const struct near_args *args, int grid,
                               struct gi_err *err)
{
    GI_CUDA_ALLOW_SHARED(cu, bilateral_near<R>);
    bilateral_near<R><<<grid, NEAR_THREADS, near_size<R>::NBYTES, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_bilateral_near(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_bilateral *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = border_of(src, &spec->border);
    struct near_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    int half = spec->k / 2;
    args.across = ceil_div(src->width, TILE_X);
    args.tiles = args.across * ceil_div(src->height, TILE_Y);
    args.space = disk_of(spec);
    for (int i = 0; i < 256; i++)
        args.value[i] = i < spec->n ? spec->value[i] : 0;
    int grid = args.tiles < NEAR_BLOCKS * cu->units ? args.tiles : NEAR_BLOCKS * cu->units;
    if (args.tiles > 2 * grid) {
        enum gi_status status = gi_cuda_scratch(cu, (void **)&args.taken, sizeof *args.taken, err);
        if (status)
            return status;
        GI_CUDA_TRY(cudaMemsetAsync(args.taken, 0, sizeof *args.taken, cu->stream));
    }
    if (half <= 4)
        return half <= 2 ? near_run<2>(cu, &args, grid, err) : near_run<4>(cu, &args, grid, err);
    return near_run<RADIUS_MAX>(cu, &args, grid, err);
}
