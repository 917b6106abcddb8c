/* Dense convolution: by the march where the kernel is small and square, or can be padded to that;
 * else a shared row of samples, each thread 8 x 8 outputs of one channel in registers.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cuda/march.cuh"

template <typename T, int CHANNELS, int N, int WORDS>
static enum gi_status launch(struct gi_cuda_context *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_dense *spec,
                             struct gi_err *err)
{
    struct march_args<MARCH_DENSE, N> args = {
    };
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    float *first = args.weights.w + (N / 2 - spec->anchor_y) * N + N / 2 - spec->anchor_x;
    for (int j = 0; j < spec->height; j++)
        memcpy(first + j * N, spec->weights + j * spec->width, (size_t)spec->width * sizeof(float));
    return march_launch<MARCH_DENSE, T, CHANNELS, N, WORDS>(cu, dst, src, &args, err);
}

template <typename T, int WORDS>
static enum gi_status launch_type(struct gi_cuda_context *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_dense *spec, int n,
                                  struct gi_err *err)
{
    if (src->channels == 3)
        return n == 3 ? launch<T, 3, 3, WORDS>(cu, dst, src, spec, err)
                      : launch<T, 3, 5, WORDS>(cu, dst, src, spec, err);
    if (src->channels == 4)
        return n == 3 ? launch<T, 4, 3, WORDS>(cu, dst, src, spec, err)
                      : launch<T, 4, 5, WORDS>(cu, dst, src, spec, err);
    switch (n) {
    case 3:
        return launch<T, 1, 3, WORDS>(cu, dst, src, spec, err);
    case 5:
        return launch<T, 1, 5, WORDS>(cu, dst, src, spec, err);
    case 7:
        return launch<T, 1, 7, WORDS>(cu, dst, src, spec, err);
    default:
        return launch<T, 1, 9, WORDS>(cu, dst, src, spec, err);
    }
}

/* As for separable kernels; padding must not cost more than it saves. */
static int march_size(const struct gi_image *src, const struct gi_dense *spec)
{
    int nx = march_centred(spec->width, spec->anchor_x);
    int ny = march_centred(spec->height, spec->anchor_y), n = nx > ny ? nx : ny;
    n = n < 3 ? 3 : n;
    if (!march_holds(src, &spec->edge))
        return 0;
    if (src->type == GI_U8 && src->channels == 1 && (n == 13 || n == 15))
        n = 15;
    else if (src->channels == 2 || n > (src->channels == 1 ? 9 : 5))
        return 0;
    if (src->type == GI_F32)
        return spec->width == n && spec->height == n ? n : 0;
    return march_most(spec->weights, spec->width * spec->height) < MARCH_MOST ? n : 0;
}

enum {
    THREADS = 128,
    RUN = 8,    /* outputs of a thread along a row */
    DEEP = 8,   /* rows of a thread */
    CHUNK = 64, /* taps for which samples are staged at once */
    STAGED = (THREADS * RUN + CHUNK * GI_MAX_CHANNELS) * 9 / 8,
};

struct dense_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int width, height, anchor_x, anchor_y;
    float weights[GI_WEIGHTS_MAX]; /* in constant memory, with the arguments */
};

/* TAPS taps, from weight `first` of a kernel's row on, meet one row of samples: for each of my rows
 * that has this one under it, in row `row` - r of the kernel. Then the window moves on; the samples
 * that it needs begin at `at`. */
template <int TAPS>
static __device__ __forceinline__ void dense_taps(float (*sum)[RUN], float *w, const float *staged,
                                                  int at, const struct dense_args *args, int row,
                                                  int first)
{
#pragma unroll
    for (int k = 0; k < TAPS; k++)
        w[RUN + k] = staged[skewed(at + k * args->src.channels)];
#pragma unroll
    for (int r = 0; r < DEEP; r++) {
        int j = row - r;
        if (j < 0 || j >= args->height)
            continue;
        const float *weight = args->weights + j * args->width + first;
#pragma unroll
        for (int u = 0; u < TAPS; u++)
#pragma unroll
            for (int k = 0; k < RUN; k++)
                sum[r][k] = __fmaf_rn(weight[u], w[u + k], sum[r][k]);
    }
#pragma unroll
    for (int k = 0; k < RUN; k++)
        w[k] = w[k + TAPS];
}

/* Stores a thread's outputs; the alpha of a pixel is made by a neighbouring lane. */
static __device__ __forceinline__ void dense_store(float (*sum)[RUN], const struct dense_args *args,
                                                   int x0, int y0, int c, bool idle)
{
    const struct source *src = &args->src;
    int channels = src->channels, last = channels - 1;
    bool has_alpha = channels % 2 == 0;
#pragma unroll
    for (int r = 0; r < DEEP; r++) {
        if (args->rule.plain && channels == 1 && x0 + RUN <= src->width) {
            if (y0 + r < src->height) {
                store_four(&args->dst, src->type, x0, y0 + r, sum[r]);
                store_four(&args->dst, src->type, x0 + 4, y0 + r, sum[r] + 4);
            }
            continue;
        }
#pragma unroll
        for (int k = 0; k < RUN; k++) {
            float f = sum[r][k];
            float a = has_alpha ? __shfl_sync(~0u, f, (int)(threadIdx.x % 32) | last) : 0.0f;
            if (!idle && x0 + k < src->width && y0 + r < src->height)
                store_any(src, &args->dst, &args->rule, (size_t)(x0 + k) * channels + c, y0 + r, f,
                          a);
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    dense(const __grid_constant__ struct dense_args args)
{
    __shared__ float staged[STAGED];
    const struct source *src = &args.src;
    int channels = src->channels, groups = THREADS / channels;
    int c = (int)threadIdx.x % channels, group = (int)threadIdx.x / channels;
    bool idle = group >= groups;
    int mine = idle ? 0 : group * RUN * channels + c; /* my first sample of those staged */
    long long x0 = (long long)blockIdx.x * groups * RUN;
    int y0 = (int)blockIdx.y * DEEP;

    float sum[DEEP][RUN] = {};
    for (int row = 0; row < args.height + DEEP - 1; row++) {
        int y = y0 - args.anchor_y + row;
        for (int i0 = 0; i0 < args.width; i0 += CHUNK) {
            int end = min(i0 + CHUNK, args.width);
            __syncthreads();
            stage_any<THREADS>(staged, src, x0 - args.anchor_x + i0, y,
                               (groups * RUN + end - i0 - 1) * channels);
            __syncthreads();
            float w[RUN + 4];
#pragma unroll
            for (int k = 0; k < RUN; k++)
                w[k] = staged[skewed(mine + k * channels)];
            int at = mine + RUN * channels; /* sample after the window */
            int i = i0;
            for (; i + 4 <= end; i += 4, at += 4 * channels)
                dense_taps<4>(sum, w, staged, at, &args, row, i);
            if ((end - i) & 2) {
                dense_taps<2>(sum, w, staged, at, &args, row, i);
                i += 2, at += 2 * channels;
            }
            if ((end - i) & 1)
                dense_taps<1>(sum, w, staged, at, &args, row, i);
        }
    }
    dense_store(sum, &args, (int)x0 + group * RUN, y0, c, idle);
}

static enum gi_status launch_any(struct gi_cuda_context *cu, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_dense *spec,
                                 struct gi_err *err)
{
    struct dense_args args;
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    args.width = spec->width;
    args.height = spec->height;
    args.anchor_x = spec->anchor_x;
    args.anchor_y = spec->anchor_y;
    memcpy(args.weights, spec->weights, (size_t)spec->width * spec->height * sizeof(float));
    dim3 grid(ceil_div(src->width, THREADS / src->channels * RUN), ceil_div(src->height, DEEP));
    dense<<<grid, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T, int WORDS>
static enum gi_status convolve(struct gi_cuda_context *cu, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_dense *spec,
                               struct gi_err *err)
{
    int n = march_size(src, spec);
    if (n == 15)
        return launch<uint8_t, 1, 15, 2>(cu, dst, src, spec, err);
    if (n)
        return launch_type<T, WORDS>(cu, dst, src, spec, n, err);
    return launch_any(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_convolve_2d(struct gi_context *cx, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    switch (src->type) {
    case GI_U8:
        return convolve<uint8_t, 4>(cu, dst, src, spec, err);
    case GI_U16:
        return convolve<uint16_t, 4>(cu, dst, src, spec, err);
    default:
        return convolve<float, 4>(cu, dst, src, spec, err);
    }
}
