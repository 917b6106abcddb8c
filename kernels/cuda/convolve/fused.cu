/* Separable convolution in one kernel: a block goes down a strip of columns, STEP rows at a time,
 * and keeps the rows that the column taps reach in a ring in shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolve/convolve_separable.h"

#include <string.h>

#include "kernels/cuda/convolve/taps.cuh"

enum {
    ONE_BLOCK = GI_TAPS_BLOCK,
    MORE = 160, /* with more taps the ring leaves no room for two blocks of threads anywhere */
};

template <int MOST> struct fused_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int nrow, ncol;
    int left, above; /* pixels and rows before the first output's own */
    int lead;        /* rows filtered before the first STEP */
    int ring, band;  /* rows */
    struct staging staging;
    float row[MOST + BODY], col[MOST + BODY];
};

template <int CHANNELS, int R>
static __device__ __forceinline__ void run_store(float *out, const float *f)
{
#pragma unroll
    for (int k = 0; k < R; k++)
        out[k * CHANNELS] = f[k];
}

template <int R>
static __device__ __forceinline__ void runs_store(float *out, const float *f, int channels)
{
    if (channels == 1)
#pragma unroll
        for (int k = 0; k < R; k += 4)
            *(float4 *)(out + k) = make_float4(f[k], f[k + 1], f[k + 2], f[k + 3]);
    else if (channels == 2)
        run_store<2, R>(out, f);
    else if (channels == 3)
        run_store<3, R>(out, f);
    else
        run_store<4, R>(out, f);
}

/* Where a thread filters along rows in every step: first row, first float in the staged row, first
 * float in the ring's row. Eight threads side by side take 8 rows, all threads R of them. */
struct run {
    int row, from, to;
};

template <int R>
static __device__ __forceinline__ struct run run_of(const struct staging *s, int channels)
{
    int group = (int)threadIdx.x / 8, runs = (int)blockDim.x / R, i = group % runs;
    struct run run = {group / runs * 8 + (int)threadIdx.x % 8,
                      i % channels * s->plane + i / channels * R,
                      i / channels * R * channels + i % channels};
    return run;
}

template <bool ONE, int MOST>
static __global__ void __launch_bounds__(ONE ? 256 : 192, 2)
    fused(const __grid_constant__ struct fused_args<MOST> args)
{
    enum { RUN = ONE ? 32 : 16 }; /* sums of a thread along a row: pixels of a channel */
    extern __shared__ float4 shared[];
    int width = (int)blockDim.x, pitch = width + 4;
    float *ring = (float *)shared, *staged = ring + args.ring * pitch;
    uint4 *raw = (uint4 *)(staged + STEP * args.staging.pitch + STAGING_SLACK);
    struct strip strip = strip_of(&args.src, &args.staging,
                                  (long long)blockIdx.x * (width / args.src.channels) - args.left);
    struct run run = run_of<RUN>(&args.staging, args.src.channels);
    int quad = (int)threadIdx.x % (width / 4) * 4, deep = (int)threadIdx.x / (width / 4) * DEEP;

    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, args.src.height);
    int leads = (args.lead + STEP - 1) / STEP, rows = args.lead - (leads - 1) * STEP;
    int from = y0 - args.above, at = 0; /* the next row, and its place in the ring */
    fetch_rows(raw, &args.src, &args.staging, &strip, from);
    for (int y = y0 - leads * STEP; y < y1; y += STEP, rows = STEP) {
        __pipeline_wait_prior(0);
        __syncthreads();
        stage_rows(staged, raw, &args.src, &args.staging, &strip, from);
        __syncthreads();
        from += rows;
        if (y + STEP < y1)
            fetch_rows(raw, &args.src, &args.staging, &strip, from);
        for (int i = 0; i < STEP; i += RUN) { /* rows beyond `rows` come again */
            float f[RUN];
            int r = run.row + i, row = at + r;
            row -= row >= args.ring ? args.ring : 0;
            row_sums<ONE, RUN>(f, staged + r * args.staging.pitch + run.from, args.row, args.nrow);
            runs_store<RUN>(ring + row * pitch + run.to, f, args.src.channels);
        }
        __syncthreads();
        at += rows;
        at -= at >= args.ring ? args.ring : 0;
        if (y < y0)
            continue;
        int first = at + deep; /* the ring's oldest row is under the first tap of row y */
        first -= first >= args.ring ? args.ring : 0;
        struct rows under = {ring + first * pitch + quad, ring + args.ring * pitch, (size_t)pitch,
                             (size_t)args.ring * pitch};
        float sums[4 * DEEP];
        column_sums<ONE, true>(sums, under, args.col, args.ncol);
        store_sums(&args.src, &args.dst, &args.rule, (size_t)blockIdx.x * width + quad, y + deep,
                   y1 - y - deep, sums);
    }
}

/* Rows of a band: bands share the device in whole waves, and each filters `lead` rows more. */
static int band_of(int height, int strips, int resident, int lead)
{
    long long best = INT64_MAX;
    int band = height;
    for (int bands = 1; bands <= ceil_div(height, STEP) && bands <= 4 * resident; bands++) {
        int rows = ceil_div(ceil_div(height, bands), STEP) * STEP;
        long long waves = ceil_div((long long)strips * ceil_div(height, rows), resident);
        long long cost = waves * (rows + lead / 2 + STEP);
        if (cost < best)
            best = cost, band = rows;
    }
    return band;
}

/* The threads of a block, as many as its strip has samples: whole runs of each channel. Those of
 * which the device holds most at once, in the fewest blocks; 0 where it holds too few. */
template <bool ONE, int MOST>
static enum gi_status fit(int *threads, struct fused_args<MOST> *args, size_t *nbytes,
                          int *resident, struct gi_cuda_queue *cu, const struct gi_image *src,
                          struct gi_err *err)
{
    int least = src->channels == 3 ? 192 : 128, most = ONE && src->channels != 3 ? 256 : least;
    *threads = *resident = 0;
    GI_CUDA_TRY(cudaFuncSetAttribute(fused<ONE, MOST>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     cu->shared_nbytes));
    for (int width = most; width >= least; width /= 2) {
        struct staging s = staging_of(src, width / src->channels + args->nrow - 1, width);
        size_t size = ((size_t)args->ring * (width + 4) + (size_t)STEP * s.pitch + STAGING_SLACK +
                       (size_t)STEP * s.units * 4) *
                      sizeof(float);
        int blocks = 0;
        if (!s.every || !s.deep || size > (size_t)cu->shared_nbytes)
            continue;
        GI_CUDA_TRY(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fused<ONE, MOST>, width, size));
        if (blocks < (ONE ? 1 : 2) || blocks * width <= *resident * *threads)
            continue;
        *threads = width;
        *resident = blocks;
        *nbytes = size;
        args->staging = s;
    }
    *resident *= cu->units;
    return GI_OK;
}

template <bool ONE, int MOST>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             bool *done, struct gi_err *err)
{
    struct fused_args<MOST> args;
    memset(&args, 0, sizeof args);
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    args.nrow = spec->nrow;
    args.ncol = spec->ncol;
    args.left = spec->row_anchor;
    args.above = spec->col_anchor;
    args.lead = ceil_div(spec->ncol - 1, CHUNK) * CHUNK;
    args.ring = args.lead + STEP;
    memcpy(args.row, spec->row, (size_t)spec->nrow * sizeof(float));
    memcpy(args.col, spec->col, (size_t)spec->ncol * sizeof(float));

    int threads, resident;
    size_t nbytes = 0;
    enum gi_status status = fit<ONE, MOST>(&threads, &args, &nbytes, &resident, cu, src, err);
    *done = threads > 0;
    if (status || !*done)
        return status;
    int strips = ceil_div((long long)gi_row_samples(src), threads);
    args.band = band_of(src->height, strips, resident, args.lead);
    dim3 grid(strips, ceil_div(src->height, args.band));
    fused<ONE, MOST><<<grid, threads, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_fused(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             bool *done, struct gi_err *err)
{
    *done = false;
    if (spec->nrow <= ONE_BLOCK && spec->ncol <= ONE_BLOCK)
        return launch<true, ONE_BLOCK>(cu, dst, src, spec, done, err);
    if (spec->nrow <= MORE && spec->ncol <= MORE)
        return launch<false, MORE>(cu, dst, src, spec, done, err);
    return GI_OK;
}
