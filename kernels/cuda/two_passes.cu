/* Separable convolution of any size: rows into a float scratch, columns out of it, band by band so
 * that the scratch stays in the L2 cache. The scratch holds rows outside the image too, so that
 * only the row pass knows of borders. SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolve_separable.h"

#include <string.h>

#include "kernels/cuda/sample.cuh"

enum {
    ROW_THREADS = 128,
    RUN = 8,    /* outputs of a thread along a row, and taps between two loads */
    CHUNK = 64, /* taps for which samples are staged at once */
    STAGED = (ROW_THREADS * RUN + CHUNK * GI_MAX_CHANNELS) * 9 / 8,
    COLUMN_WARPS = 8,
    DEEP = 8, /* rows of a column pass's thread; a thread has 4 samples of each */
    SCRATCH_NBYTES = 32 << 20,
};

/* A side's taps, in constant memory with the arguments: few, the common case, or many. */
template <int MOST> struct taps {
    int n;
    float tap[(MOST + RUN - 1) / RUN * RUN];
};

enum { FEW = 64, MANY = GI_TAPS_MAX };

template <int MOST> struct row_args {
    struct source src;
    int anchor;
    int row0;       /* the row that scratch row 0 stands for, maybe outside the image */
    float *scratch; /* rows of `pitch` floats, a multiple of 4 */
    size_t pitch;
    struct taps<MOST> taps;
};

/* The first n of RUN taps, on a window that moves one sample a tap. */
template <bool WHOLE>
static __device__ __forceinline__ void row_run(float *sum, const float *w, const float *tap, int n)
{
#pragma unroll
    for (int u = 0; u < RUN; u++)
        if (WHOLE || u < n)
#pragma unroll
            for (int k = 0; k < RUN; k++)
                sum[k] = __fmaf_rn(tap[u], w[u + k], sum[k]);
}

/* A thread makes RUN pixels of one channel, side by side. */
template <typename T, int MOST>
static __global__ void __launch_bounds__(ROW_THREADS)
    filter_rows(const __grid_constant__ struct row_args<MOST> args)
{
    __shared__ float staged[STAGED];
    int channels = args.src.channels, groups = ROW_THREADS / channels;
    int c = (int)threadIdx.x % channels, group = (int)threadIdx.x / channels;
    long long x0 = (long long)blockIdx.x * groups * RUN;
    int y = args.row0 + (int)blockIdx.y, n = args.taps.n;
    bool idle = group >= groups;
    int mine = idle ? 0 : group * RUN * channels + c; /* my first sample of those staged */

    float sum[RUN] = {0};
    for (int t0 = 0; t0 < n; t0 += CHUNK) {
        int ntaps = min(CHUNK, n - t0);
        __syncthreads();
        stage<T, ROW_THREADS>(staged, &args.src, x0 - args.anchor + t0, y,
                              (groups * RUN + ntaps - 1) * channels);
        __syncthreads();
        float w[2 * RUN];
#pragma unroll
        for (int k = 0; k < RUN; k++)
            w[RUN + k] = staged[skewed(mine + k * channels)];
        for (int t = 0; t < ntaps; t += RUN) {
            const float *tap = args.taps.tap + t0 + t;
#pragma unroll
            for (int k = 0; k < RUN; k++) {
                w[k] = w[RUN + k];
                w[RUN + k] = staged[skewed(mine + (t + RUN + k) * channels)];
            }
            if (t + RUN <= ntaps)
                row_run<true>(sum, w, tap, RUN);
            else
                row_run<false>(sum, w, tap, ntaps - t);
        }
    }
    float *out = args.scratch + blockIdx.y * args.pitch;
    size_t first = (size_t)(x0 + group * RUN) * channels + c;
#pragma unroll
    for (int k = 0; k < RUN; k++)
        if (!idle && first + (size_t)k * channels < args.pitch)
            out[first + (size_t)k * channels] = sum[k];
}

template <int MOST> struct column_args {
    const float *scratch;
    size_t pitch;
    struct source src; /* for the finish */
    struct target dst;
    struct rule rule;
    int y0, y1; /* rows to make; scratch row 0 is under the first tap of y0 */
    struct taps<MOST> taps;
};

/* Four sums at sample `x` of row `y`, finished and stored. */
template <typename T>
static __device__ void finish_four(const struct source *src, const struct target *dst,
                                   const struct rule *rule, const float *f, size_t x, int y)
{
    size_t samples = (size_t)src->width * src->channels;
    const T *in = (const T *)(src->data + (size_t)y * src->stride) + x;
    T *out = (T *)(dst->data + (size_t)y * dst->stride) + x;
    bool has_alpha = src->channels % 2 == 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (x + k >= samples)
            return;
        float s = rule->plain ? 0.0f : (float)in[k];
        float alpha = src->channels == 2 ? f[k | 1] : f[3];
        bool is_alpha = has_alpha && (k + 1) % src->channels == 0;
        sample_store(out + k,
                     is_alpha ? finish_alpha(rule, f[k], s) : finish_colour(rule, f[k], alpha, s));
    }
}

/* Adds rows j0 .. of a thread's input, counted from under its first tap, to the rows it makes. */
template <bool WHOLE>
static __device__ __forceinline__ void column_run(float (*sum)[4], const float4 *v,
                                                  const float *taps, int j0, int n)
{
#pragma unroll
    for (int u = 0; u < DEEP; u++)
#pragma unroll
        for (int r = 0; r < DEEP; r++) {
            int j = j0 + u - r;
            if (WHOLE || (j >= 0 && j < n)) {
                sum[r][0] = __fmaf_rn(taps[j], v[u].x, sum[r][0]);
                sum[r][1] = __fmaf_rn(taps[j], v[u].y, sum[r][1]);
                sum[r][2] = __fmaf_rn(taps[j], v[u].z, sum[r][2]);
                sum[r][3] = __fmaf_rn(taps[j], v[u].w, sum[r][3]);
            }
        }
}

/* A thread makes 4 samples side by side of DEEP rows, each loaded row adding to all of them. */
template <typename T, int MOST>
static __global__ void __launch_bounds__(32 * COLUMN_WARPS)
    filter_columns(const __grid_constant__ struct column_args<MOST> args)
{
    size_t x = 4 * ((size_t)blockIdx.x * 32 + threadIdx.x);
    int y = args.y0 + (int)(blockIdx.y * COLUMN_WARPS + threadIdx.y) * DEEP, n = args.taps.n;
    if (x >= args.pitch || y >= args.y1)
        return;
    int rows = min(DEEP, args.y1 - y), last = n - 1 + rows - 1;
    const float *in = args.scratch + (size_t)(y - args.y0) * args.pitch + x;
    float sum[DEEP][4] = {};
    for (int j0 = 0; j0 <= last; j0 += DEEP) {
        float4 v[DEEP];
#pragma unroll
        for (int u = 0; u < DEEP; u++)
            v[u] = *(const float4 *)(in + (size_t)min(j0 + u, last) * args.pitch);
        if (j0 >= DEEP && j0 + DEEP <= n)
            column_run<true>(sum, v, args.taps.tap, j0, n);
        else
            column_run<false>(sum, v, args.taps.tap, j0, n);
    }
#pragma unroll
    for (int r = 0; r < DEEP; r++)
        if (r < rows)
            finish_four<T>(&args.src, &args.dst, &args.rule, sum[r], x, y + r);
}

template <typename T, int MOST>
static enum gi_status launch_band(struct gi_cuda_context *cu, float *scratch, size_t pitch,
                                  struct gi_image *dst, const struct gi_image *src,
                                  const struct gi_separable *spec, int y0, int y1,
                                  struct gi_err *err)
{
    struct row_args<MOST> row;
    row.src = source_of(src, &spec->edge, spec->alpha);
    row.anchor = spec->row_anchor;
    row.row0 = y0 - spec->col_anchor;
    row.scratch = scratch;
    row.pitch = pitch;
    row.taps.n = spec->nrow;
    memcpy(row.taps.tap, spec->row, (size_t)spec->nrow * sizeof(float));
    int groups = ROW_THREADS / src->channels;
    dim3 grid(ceil_div((long long)pitch, groups * RUN * src->channels), y1 - y0 + spec->ncol - 1);
    filter_rows<T, MOST><<<grid, ROW_THREADS, 0, cu->stream>>>(row);
    GI_CUDA_LAUNCHED();

    struct column_args<MOST> column;
    column.scratch = scratch;
    column.pitch = pitch;
    column.src = row.src;
    column.dst = target_of(dst);
    column.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    column.y0 = y0;
    column.y1 = y1;
    column.taps.n = spec->ncol;
    memcpy(column.taps.tap, spec->col, (size_t)spec->ncol * sizeof(float));
    dim3 blocks(ceil_div((long long)pitch, 128), ceil_div(y1 - y0, DEEP * COLUMN_WARPS));
    filter_columns<T, MOST><<<blocks, dim3(32, COLUMN_WARPS), 0, cu->stream>>>(column);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T>
static enum gi_status launch_bands(struct gi_cuda_context *cu, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_separable *spec,
                                   struct gi_err *err)
{
    size_t pitch = (gi_row_samples(src) + 3) / 4 * 4;
    long long most = 60000 - spec->ncol; /* rows of a grid */
    long long band = SCRATCH_NBYTES / (long long)(pitch * sizeof(float)) - spec->ncol;
    band = band < 2 * spec->ncol ? 2 * spec->ncol : band; /* few rows are filtered twice */
    band = band > most ? most : band;
    band = band > src->height ? src->height : band;
    void *scratch;
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, pitch * sizeof(float) * (size_t)(band + spec->ncol - 1), err);
    bool few = spec->nrow <= FEW && spec->ncol <= FEW;
    for (long long y = 0; y < src->height && !status; y += band) {
        int end = y + band < src->height ? (int)(y + band) : src->height;
        status =
            few ? launch_band<T, FEW>(cu, (float *)scratch, pitch, dst, src, spec, (int)y, end, err)
                : launch_band<T, MANY>(cu, (float *)scratch, pitch, dst, src, spec, (int)y, end,
                                       err);
    }
    return status;
}

enum gi_status gi_cuda_two_passes(struct gi_cuda_context *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  struct gi_err *err)
{
    switch (src->type) {
    case GI_U8:
        return launch_bands<uint8_t>(cu, dst, src, spec, err);
    case GI_U16:
        return launch_bands<uint16_t>(cu, dst, src, spec, err);
    default:
        return launch_bands<float>(cu, dst, src, spec, err);
    }
}
