/* Joint (cross) bilateral filter: the range weights come from a guide image. One thread per pixel,
 * any type and number of channels.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/denoise/bilateral.cuh"

enum { COLORS_MAX = 3 };

/* The colours of a pixel and its alpha. Colours that the image does not have are 0. */
struct joint_pixel {
    float v[COLORS_MAX], a;
};

static __device__ __forceinline__ float joint_sample(const struct source *src, const char *row,
                                                     size_t at)
{
    return src->type == GI_U8    ? (float)((const uint8_t *)row)[at]
           : src->type == GI_U16 ? (float)((const uint16_t *)row)[at]
                                 : ((const float *)row)[at];
}

/* Returns NULL for border values. */
static __device__ __forceinline__ const char *joint_row(const struct source *src, int y)
{
    int yi = gi_border_index(y, src->height, src->border);
    return yi < 0 ? NULL : src->data + (size_t)yi * src->stride;
}

static __device__ __forceinline__ struct joint_pixel joint_at(const struct source *src,
                                                              const char *row, int x)
{
    struct joint_pixel p;
    int channels = src->channels, colors = channels - (channels % 2 == 0);
    int xi = gi_border_index(x, src->width, src->border);
    bool outside = !row || xi < 0;
    size_t at = outside ? 0 : (size_t)xi * channels;
#pragma unroll
    for (int c = 0; c < COLORS_MAX; c++)
        p.v[c] = c >= colors ? 0.0f : outside ? src->value[c] : joint_sample(src, row, at + c);
    p.a = channels == colors ? 1.0f
          : outside          ? src->value[colors]
                             : joint_sample(src, row, at + colors);
    return p;
}

/* Sets the weight of a neighbour. g is the guide's pixel at the neighbour, and p is the guide's
 * pixel in the middle. Returns false if the neighbour is skipped. */
static __device__ __forceinline__ bool joint_weight(float *w, const struct plain_args *args,
                                                    const float2 *table,
                                                    const struct joint_pixel &p,
                                                    const struct joint_pixel &g, float space)
{
    float d = fabsf(__fsub_rn(g.v[0], p.v[0]));
    if (args->guide.channels >= COLORS_MAX)
#pragma unroll
        for (int c = 1; c < COLORS_MAX; c++)
            d = __fadd_rn(d, fabsf(__fsub_rn(g.v[c], p.v[c])));
    float t = __fmul_rn(d, args->scale);
    if (!(t < (float)args->n - 0.5f))
        return false;
    float e = rintf(t);
    float2 entry = table[(int)e];
    *w = args->whole ? entry.x : __fmaf_rn(__fsub_rn(t, e), entry.y, entry.x);
    *w = __fmul_rn(*w, space);
    return true;
}

static __device__ __forceinline__ bool joint_finite(const struct joint_pixel &q)
{
    return fabsf(q.v[0]) < INFINITY && fabsf(q.v[1]) < INFINITY && fabsf(q.v[2]) < INFINITY;
}

struct joint_sums {
    float s[COLORS_MAX], a;
};

/* Returns the sums over row j of the neighbourhood of pixel (x, y), whose guide pixel is p. */
static __device__ __forceinline__ struct joint_sums joint_add(const struct plain_args *args,
                                                              const float2 *table,
                                                              const struct joint_pixel &p, int x,
                                                              int y, int j)
{
    struct joint_sums row = {};
    const float *space = args->space + abs(j) * (args->half + 1);
    const char *at = joint_row(&args->src, y + j), *guide = joint_row(&args->guide, y + j);
    int reach = args->reach[abs(j)];
    for (int i = -reach; i <= reach; i++) {
        float w;
        struct joint_pixel g = joint_at(&args->guide, guide, x + i);
        if (!joint_weight(&w, args, table, p, g, __ldg(space + abs(i))))
            continue;
        struct joint_pixel q = joint_at(&args->src, at, x + i);
        if (!joint_finite(q))
            continue;
        if (args->src.channels % 2 == 0)
            w = __fmul_rn(w, q.a);
#pragma unroll
        for (int c = 0; c < COLORS_MAX; c++)
            row.s[c] = __fmaf_rn(w, q.v[c], row.s[c]);
        row.a = __fadd_rn(row.a, w);
    }
    return row;
}

template <typename T>
static __device__ __forceinline__ void joint_store(const struct plain_args *args,
                                                   const struct joint_sums &sums, int x, int y)
{
    int channels = args->src.channels, colors = channels - (channels % 2 == 0);
    const T *own = (const T *)(args->src.data + (size_t)y * args->src.stride);
    T *to = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * channels;
    own += (size_t)x * channels;
#pragma unroll 1
    for (int c = 0; c < channels; c++) {
        float s = c == 0 ? sums.s[0] : c == 1 ? sums.s[1] : sums.s[2];
        if (c < colors)
            sample_store(to + c, sums.a > 0 ? __fdiv_rn(s, sums.a) : (float)own[c]);
        else
            to[c] = own[c];
    }
}

/* 48 registers are enough without spilling; with more, fewer threads run at once. */
static __global__ void __maxnreg__(48)
    bilateral_joint(const __grid_constant__ struct plain_args args)
{
    __shared__ float2 table[GI_RANGE_ENTRIES];
    for (int i = (int)threadIdx.x; i < args.n; i += PLAIN_X * PLAIN_Y)
        table[i] = args.table[i];
    __syncthreads();
    int x = (int)(blockIdx.x * PLAIN_X + threadIdx.x % PLAIN_X);
    if (x >= args.src.width)
        return;
    for (int y = (int)(blockIdx.y * PLAIN_Y + threadIdx.x / PLAIN_X); y < args.src.height;
         y += (int)gridDim.y * PLAIN_Y) {
        struct joint_pixel p = joint_at(&args.guide, joint_row(&args.guide, y), x);
        struct joint_sums sums = {};
        for (int j = -args.half; j <= args.half; j++) {
            if (args.reach[abs(j)] < 0)
                continue;
            struct joint_sums row = joint_add(&args, table, p, x, y, j);
#pragma unroll
            for (int c = 0; c < COLORS_MAX; c++)
                sums.s[c] = __fadd_rn(sums.s[c], row.s[c]);
            sums.a = __fadd_rn(sums.a, row.a);
        }
        SAMPLE_TYPES(args.src.type, joint_store<T>(&args, sums, x, y));
    }
}

enum gi_status gi_cuda_bilateral_joint(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_bilateral *spec,
                                       struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct plain_args args;
    enum gi_status status = plain_args_make(cu, &args, dst, src, spec, err);
    if (status)
        return status;
    bilateral_joint<<<plain_grid(&args), PLAIN_X * PLAIN_Y, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
