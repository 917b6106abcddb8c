/* Bilateral filter. 8-bit gray, up to 9 x 9 pixels: a persistent block processes tiles of 128 x 32
 * pixels with their halo in shared memory, as floats, and a thread computes 4 x 2 pixels. The range
 * weights of all differences from -255 to 255 are in shared memory 32 times, once per bank, so that
 * look-ups are free of bank conflicts: 511 * 128 bytes, and the tile 136 * 40 floats. Everything
 * else: one thread per pixel.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/denoise/bilateral.cuh"

enum {
    HALO = 4,
    LANES = 32,
    NEAR_THREADS = 512,
    TILE_X = 128,
    TILE_Y = 32,
    PITCH = TILE_X + 2 * HALO,          /* floats */
    DIFFERENCES = 511,                  /* of two bytes */
    ENTRY = LANES * (int)sizeof(float), /* bytes per difference: one float per lane */
    NEAR_NBYTES = DIFFERENCES * ENTRY + PITCH * (TILE_Y + 2 * HALO) * (int)sizeof(float),
    NEAR_BLOCKS = 2, /* per multiprocessor */
};

struct near_args {
    struct source src; /* border values are samples */
    struct target dst;
    int across, tiles;
    float space[HALO + 1][HALO + 1]; /* 0 outside the disk */
    float value[256];
};

/* ---- 8-bit gray ---- */

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

/* Four pixels from x on, a multiple of 4. */
static __device__ __forceinline__ float4 bytes_at(const struct near_args *args, int x, int y)
{
    if (x >= 0 && x + 4 <= args->src.width && y >= 0 && y < args->src.height) {
        unsigned word = *(const unsigned *)(args->src.data + (size_t)y * args->src.stride + x);
        return make_float4(sample_unpack<uint8_t>(&word, 0), sample_unpack<uint8_t>(&word, 1),
                           sample_unpack<uint8_t>(&word, 2), sample_unpack<uint8_t>(&word, 3));
    }
    return make_float4(byte_at(args, x, y), byte_at(args, x + 1, y), byte_at(args, x + 2, y),
                       byte_at(args, x + 3, y));
}

static __device__ __forceinline__ void tile_load(float *tile, const struct near_args *args, int x0,
                                                 int y0)
{
    for (int i = (int)threadIdx.x; i < PITCH / 4 * (TILE_Y + 2 * HALO); i += NEAR_THREADS) {
        int row = i / (PITCH / 4), column = i % (PITCH / 4) * 4;
        ((float4 *)tile)[i] = bytes_at(args, x0 - HALO + column, y0 - HALO + row);
    }
}

/* The 12 samples of a row around a thread's four pixels, and the offsets of their weights in the
 * table, in bytes from the weight of a difference of 0. The float v * 2^-142 has the bits of the
 * integer 128 v, which is the size of v entries. */
struct window {
    float v[4 + 2 * HALO];
    unsigned at[4 + 2 * HALO];
};

static __device__ __forceinline__ void window_load(struct window *window, const float *row)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float4 four = ((const float4 *)row)[i];
        window->v[4 * i] = four.x, window->v[4 * i + 1] = four.y;
        window->v[4 * i + 2] = four.z, window->v[4 * i + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < 4 + 2 * HALO; i++)
        window->at[i] = __float_as_uint(__fmul_rn(window->v[i], 0x1p-142f));
}

/* Adds row j of the neighbourhood to four pixels; `zero` is the address of the weight of a
 * difference of 0 minus the offset of the pixel itself. */
template <int R>
static __device__ __forceinline__ void
row_add(float *sums, float *weights, const struct near_args *args, const struct window *window,
        const unsigned *zero, int j)
{
#pragma unroll
    for (int x = 0; x < 4; x++) {
        float s = 0, a = 0;
#pragma unroll
        for (int i = -R; i <= R; i++) {
            if (i * i + j * j > R * R)
                continue;
            float w = shared_float(zero[x] + window->at[HALO + x + i]);
            w = __fmul_rn(w, args->space[j < 0 ? -j : j][i < 0 ? -i : i]);
            s = __fmaf_rn(w, window->v[HALO + x + i], s);
            a = __fadd_rn(a, w);
        }
        sums[x] = __fadd_rn(sums[x], s);
        weights[x] = __fadd_rn(weights[x], a);
    }
}

static __device__ __forceinline__ void four_store(const struct near_args *args, const float *sums,
                                                  const float *weights, int x, int y)
{
    if (x >= args->src.width || y >= args->src.height)
        return;
    float v[4];
    uint8_t *to = (uint8_t *)args->dst.data + (size_t)y * args->dst.stride + x;
#pragma unroll
    for (int i = 0; i < 4; i++) /* a pixel is its own neighbour, with the weight 1 */
        v[i] = __fdiv_rn(sums[i], weights[i]);
    if (x + 4 <= args->src.width)
        *(unsigned *)to = sample_pack<uint8_t>(v);
    else
        for (int i = 0; x + i < args->src.width; i++)
            sample_store(to + i, v[i]);
}

template <int R>
static __global__ void __launch_bounds__(NEAR_THREADS, NEAR_BLOCKS)
    bilateral_near(const __grid_constant__ struct near_args args)
{
    extern __shared__ __align__(16) char shared[];
    float *tile = (float *)(shared + DIFFERENCES * ENTRY);
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    unsigned middle = (unsigned)__cvta_generic_to_shared(shared) + 255 * ENTRY + 4 * lane;
    for (int i = (int)threadIdx.x; i < DIFFERENCES * LANES; i += NEAR_THREADS)
        ((float *)shared)[i] = args.value[abs(i / LANES - 255)];
    for (int t = (int)blockIdx.x; t < args.tiles; t += (int)gridDim.x) {
        int x0 = t % args.across * TILE_X, y0 = t / args.across * TILE_Y;
        /* Load the tile with its halo. */
        __syncthreads();
        tile_load(tile, &args, x0, y0);
        __syncthreads();
        const float *row = tile + 2 * warp * PITCH + 4 * lane;
        float sums[2][4] = {{0}}, weights[2][4] = {{0}};
        unsigned zero[2][4];
#pragma unroll
        for (int i = 0; i < 8; i++)
            zero[i / 4][i % 4] =
                middle -
                __float_as_uint(__fmul_rn(row[(HALO + i / 4) * PITCH + HALO + i % 4], 0x1p-142f));
#pragma unroll
        /* Compute: two output rows share the loads of a source row. */
        for (int j = -R; j <= R + 1; j++) {
            struct window window;
            window_load(&window, row + (HALO + j) * PITCH);
            if (j <= R)
                row_add<R>(sums[0], weights[0], &args, &window, zero[0], j);
            if (j > -R)
                row_add<R>(sums[1], weights[1], &args, &window, zero[1], j - 1);
        }
        four_store(&args, sums[0], weights[0], x0 + 4 * (int)lane, y0 + 2 * (int)warp);
        four_store(&args, sums[1], weights[1], x0 + 4 * (int)lane, y0 + 2 * (int)warp + 1);
    }
}

/* ---- everything ---- */

/* The colours of a pixel, and its alpha. */
template <int COLOURS> struct pixel {
    float v[COLOURS], a;
};

/* Pixel x of a row; `row` is NULL for border values. */
template <typename T, int COLOURS>
static __device__ __forceinline__ struct pixel<COLOURS> pixel_at(const struct source *src,
                                                                 const T *row, int x) {
    struct pixel<COLOURS> p;
    bool alpha = src->channels > COLOURS;
    if ((unsigned)x >= (unsigned)src->width)
        x = gi_border_index(x, src->width, src->border);
    bool outside = !row || x < 0;
    const T *at = row + (outside ? 0 : x * src->channels);
#pragma unroll
    for (int c = 0; c < COLOURS; c++)
        p.v[c] = outside ? src->value[c] : (float)at[c];
    p.a = !alpha ? 1.0f : outside ? src->value[COLOURS] : (float)at[COLOURS];
    return p;
}

template <typename T>
static __device__ __forceinline__ const T *row_at(const struct source *src, int y)
{
    int yi = gi_border_index(y, src->height, src->border);
    return yi < 0 ? NULL : (const T *)(src->data + (size_t)yi * src->stride);
}

/* The weight of the neighbour q of p; returns false if it is left out. */
template <int COLOURS>
static __device__ __forceinline__ bool
weight_of(float *w, const struct plain_args *args, const float2 *table,
          const struct pixel<COLOURS> &p, const struct pixel<COLOURS> &q, float space)
{
    float d = fabsf(__fsub_rn(q.v[0], p.v[0]));
#pragma unroll
    for (int c = 1; c < COLOURS; c++)
        d = __fadd_rn(d, fabsf(__fsub_rn(q.v[c], p.v[c])));
    float t = __fmul_rn(d, args->scale);
    if (!(t < (float)args->n - 0.5f))
        return false;
    float e = rintf(t);
    float2 entry = table[(int)e];
    *w = args->whole ? entry.x : __fmaf_rn(__fsub_rn(t, e), entry.y, entry.x);
    *w = __fmul_rn(*w, space);
    if (args->src.channels > COLOURS)
        *w = __fmul_rn(*w, q.a);
    return true;
}

template <typename T, int COLOURS>
static __global__ void __launch_bounds__(PLAIN_X *PLAIN_Y)
    bilateral_plain(const __grid_constant__ struct plain_args args)
{
    __shared__ float2 table[GI_RANGE_ENTRIES];
    for (int i = (int)threadIdx.x; i < args.n; i += PLAIN_X * PLAIN_Y)
        table[i] = args.table[i];
    __syncthreads();
    int x = (int)(blockIdx.x * PLAIN_X + threadIdx.x % PLAIN_X), half = args.half;
    if (x >= args.src.width)
        return;
    for (int y = (int)(blockIdx.y * PLAIN_Y + threadIdx.x / PLAIN_X); y < args.src.height;
         y += (int)gridDim.y * PLAIN_Y) {
        struct pixel<COLOURS> p = pixel_at<T, COLOURS>(&args.src, row_at<T>(&args.src, y), x);
        float sums[COLOURS] = {0}, weights = 0;
        for (int j = -half; j <= half; j++) {
            float sum[COLOURS] = {0}, a = 0;
            const float *space = args.space + abs(j) * (half + 1);
            const T *row = row_at<T>(&args.src, y + j);
            int reach = args.reach[abs(j)];
            for (int i = -reach; i <= reach; i++) {
                float w, s = __ldg(space + abs(i));
                struct pixel<COLOURS> q = pixel_at<T, COLOURS>(&args.src, row, x + i);
                if (!weight_of(&w, &args, table, p, q, s))
                    continue;
#pragma unroll
                for (int c = 0; c < COLOURS; c++)
                    sum[c] = __fmaf_rn(w, q.v[c], sum[c]);
                a = __fadd_rn(a, w);
            }
#pragma unroll
            for (int c = 0; c < COLOURS; c++)
                sums[c] = __fadd_rn(sums[c], sum[c]);
            weights = __fadd_rn(weights, a);
        }
        T *to = (T *)(args.dst.data + (size_t)y * args.dst.stride) + (size_t)x * args.src.channels;
#pragma unroll
        for (int c = 0; c < COLOURS; c++)
            sample_store(to + c, weights > 0 ? __fdiv_rn(sums[c], weights) : p.v[c]);
        if (args.src.channels > COLOURS)
            to[COLOURS] =
                ((const T *)(args.src.data +
                             (size_t)y * args.src.stride))[(size_t)x * args.src.channels + COLOURS];
    }
}

/* ---- launchers ---- */

static bool near_takes(const struct gi_queue *queue, const struct gi_image *src,
                       const struct gi_bilateral *spec)
{
    const struct gi_cuda_queue *cu = (const struct gi_cuda_queue *)queue;
    if (spec->guide || src->type != GI_U8 || src->channels != 1 || spec->k > 2 * HALO + 1 ||
        spec->slope || cu->shared_nbytes < NEAR_NBYTES)
        return false;
    int half = spec->k / 2;
    for (int j = 0; j <= half; j++) /* no weight outside the disk of radius half */
        for (int i = 0; i <= half; i++)
            if (i * i + j * j > half * half && spec->space[j * (half + 1) + i] != 0)
                return false;
    return spec->value[0] == 1 && spec->space[0] == 1;
}

static bool plain_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_bilateral *spec)
{
    (void)queue;
    (void)src;
    return !spec->guide;
}

template <int R>
static enum gi_status near_run(struct gi_cuda_queue *cu, const struct near_args *args,
                               struct gi_err *err)
{
    int grid = args->tiles < NEAR_BLOCKS * cu->units ? args->tiles : NEAR_BLOCKS * cu->units;
    GI_CUDA_ALLOW_SHARED(cu, bilateral_near<R>);
    bilateral_near<R><<<grid, NEAR_THREADS, NEAR_NBYTES, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status near(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_bilateral *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = border_of(src, &spec->border);
    struct near_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    int half = spec->k / 2;
    args.across = ceil_div(src->width, TILE_X);
    args.tiles = args.across * ceil_div(src->height, TILE_Y);
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++)
            args.space[j][i] = spec->space[j * (half + 1) + i];
    for (int i = 0; i < 256; i++)
        args.value[i] = i < spec->n ? spec->value[i] : 0;
    return half <= 2 ? near_run<2>(cu, &args, err) : near_run<HALO>(cu, &args, err);
}

template <typename T>
static enum gi_status plain_run(struct gi_cuda_queue *cu, const struct plain_args *args,
                                struct gi_err *err)
{
    dim3 grid = plain_grid(args);
    if (args->src.channels >= 3)
        bilateral_plain<T, 3><<<grid, PLAIN_X * PLAIN_Y, 0, cu->stream>>>(*args);
    else
        bilateral_plain<T, 1><<<grid, PLAIN_X * PLAIN_Y, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_bilateral *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct plain_args args;
    enum gi_status status = plain_args_make(cu, &args, dst, src, spec, err);
    if (status)
        return status;
    GI_CUDA_TYPES(src->type, plain_run<T>(cu, &args, err));
}

/* H100, 8192 x 8192, 8-bit gray, us: k 9: near 860, plain 8387, joint 21460. */
const struct gi_bilateral_way gi_cuda_bilateral_ways[GI_WAYS_MAX] = {
    {{"near", "k up to 9 of 8-bit gray"}, near_takes, near},
    {{"plain", "no guide"}, plain_takes, plain},
    {{"joint", "everything"}, NULL, gi_cuda_bilateral_joint},
};
