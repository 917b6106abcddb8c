/* Bilateral filter with one thread per pixel, and the table of all implementations (ways).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/denoise/bilateral.cuh"

/* The colours of a pixel, and its alpha. */
template <int COLORS> struct pixel {
    float v[COLORS], a;
};

/* Returns pixel x of `row`, or the border values if `row` is NULL. */
template <typename T, int COLORS>
static __device__ __forceinline__ struct pixel<COLORS> pixel_at(const struct source *src,
                                                                const T *row, int x) {
    struct pixel<COLORS> p;
    bool alpha = src->channels > COLORS;
    if ((unsigned)x >= (unsigned)src->width)
        x = gi_border_index(x, src->width, src->border);
    bool outside = !row || x < 0;
    const T *at = row + (outside ? 0 : x * src->channels);
#pragma unroll
    for (int c = 0; c < COLORS; c++)
        p.v[c] = outside ? src->value[c] : (float)at[c];
    p.a = !alpha ? 1.0f : outside ? src->value[COLORS] : (float)at[COLORS];
    return p;
}

template <typename T>
static __device__ __forceinline__ const T *row_at(const struct source *src, int y)
{
    int yi = gi_border_index(y, src->height, src->border);
    return yi < 0 ? NULL : (const T *)(src->data + (size_t)yi * src->stride);
}

/* Sets the weight of q, a neighbour of p. Returns false if the neighbour is skipped. */
template <int COLORS>
static __device__ __forceinline__ bool weight_of(float *w, const struct plain_args *args,
                                                 const float2 *table, const struct pixel<COLORS> &p,
                                                 const struct pixel<COLORS> &q, float space)
{
    float d = fabsf(__fsub_rn(q.v[0], p.v[0]));
#pragma unroll
    for (int c = 1; c < COLORS; c++)
        d = __fadd_rn(d, fabsf(__fsub_rn(q.v[c], p.v[c])));
    float t = __fmul_rn(d, args->scale);
    if (!(t < (float)args->n - 0.5f))
        return false;
    float e = rintf(t);
    float2 entry = table[(int)e];
    *w = args->whole ? entry.x : __fmaf_rn(__fsub_rn(t, e), entry.y, entry.x);
    *w = __fmul_rn(*w, space);
    if (args->src.channels > COLORS)
        *w = __fmul_rn(*w, q.a);
    return true;
}

/* `table` is the range table in shared memory. */
template <typename T, int COLORS>
static __device__ __forceinline__ void pixels_make(const struct plain_args &args,
                                                   const float2 *table)
{
    int x = (int)(blockIdx.x * PLAIN_X + threadIdx.x % PLAIN_X), half = args.half;
    if (x >= args.src.width)
        return;
    for (int y = (int)(blockIdx.y * PLAIN_Y + threadIdx.x / PLAIN_X); y < args.src.height;
         y += (int)gridDim.y * PLAIN_Y) {
        struct pixel<COLORS> p = pixel_at<T, COLORS>(&args.src, row_at<T>(&args.src, y), x);
        float sums[COLORS] = {0}, weights = 0;
        for (int j = -half; j <= half; j++) {
            float sum[COLORS] = {0}, a = 0;
            const float *space = args.space + abs(j) * (half + 1);
            const T *row = row_at<T>(&args.src, y + j);
            int reach = args.reach[abs(j)];
            for (int i = -reach; i <= reach; i++) {
                float w, s = __ldg(space + abs(i));
                struct pixel<COLORS> q = pixel_at<T, COLORS>(&args.src, row, x + i);
                if (!weight_of(&w, &args, table, p, q, s))
                    continue;
#pragma unroll
                for (int c = 0; c < COLORS; c++)
                    sum[c] = __fmaf_rn(w, q.v[c], sum[c]);
                a = __fadd_rn(a, w);
            }
#pragma unroll
            for (int c = 0; c < COLORS; c++)
                sums[c] = __fadd_rn(sums[c], sum[c]);
            weights = __fadd_rn(weights, a);
        }
        T *to = (T *)(args.dst.data + (size_t)y * args.dst.stride) + (size_t)x * args.src.channels;
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            sample_store(to + c, weights > 0 ? __fdiv_rn(sums[c], weights) : p.v[c]);
        if (args.src.channels > COLORS)
            to[COLORS] =
                ((const T *)(args.src.data +
                             (size_t)y * args.src.stride))[(size_t)x * args.src.channels + COLORS];
    }
}

template <int COLORS>
static __global__ void __launch_bounds__(PLAIN_X *PLAIN_Y)
    bilateral_plain(const __grid_constant__ struct plain_args args)
{
    __shared__ float2 table[GI_RANGE_ENTRIES];
    for (int i = (int)threadIdx.x; i < args.n; i += PLAIN_X * PLAIN_Y)
        table[i] = args.table[i];
    __syncthreads();
    SAMPLE_TYPES(args.src.type, pixels_make<T, COLORS>(args, table));
}

/* ---- launchers ---- */

static bool plain_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_bilateral *spec)
{
    (void)queue;
    (void)src;
    return !spec->guide;
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
    if (src->channels >= 3)
        bilateral_plain<3><<<plain_grid(&args), PLAIN_X * PLAIN_Y, 0, cu->stream>>>(args);
    else
        bilateral_plain<1><<<plain_grid(&args), PLAIN_X * PLAIN_Y, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Time of each way in us on an H100, 8192 x 8192, k = 9. 8-bit gray: near 864, plain 8389, joint
 * 21460. 8-bit RGB: tile 2746, plain 10057. */
const struct gi_bilateral_way gi_cuda_bilateral_ways[GI_WAYS_MAX] = {
    {{"near", "k up to 15 of 8-bit gray"}, gi_cuda_bilateral_near_takes, gi_cuda_bilateral_near},
    {{"tile", "k up to 15 without alpha"}, gi_cuda_bilateral_tile_takes, gi_cuda_bilateral_tile},
    {{"plain", "no guide"}, plain_takes, plain},
    {{"joint", "everything"}, NULL, gi_cuda_bilateral_joint},
};
