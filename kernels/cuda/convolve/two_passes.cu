/* Separable convolution of any size: rows into a float scratch, columns out of it, band by band so
 * that the scratch stays in the L2 cache. The scratch holds rows outside the image too, so that
 * only the row pass knows of borders. SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolve/convolve_separable.h"

#include <math.h>
#include <string.h>

#include "kernels/cuda/common/sample.cuh"

enum {
    ROW_THREADS = 128,
    RUN = 8,    /* outputs of a thread along a row, and taps between two loads */
    CHUNK = 64, /* taps for which samples are staged at once */
    STAGED = (ROW_THREADS * RUN + CHUNK * GI_MAX_CHANNELS) * 9 / 8,
    COLUMN_WARPS = 4,
    DEEP = 8, /* rows of a column pass's thread; a thread has 4 samples of each */
    SCRATCH_NBYTES = 32 << 20,
};

/* A side's taps, in constant memory with the arguments. */
struct taps {
    int n;
    float tap[(GI_TAPS_MAX + RUN - 1) / RUN * RUN];
};

/* The sum of a block of taps joins those before it, as kernels.h has it; `sum` starts anew. */
static __device__ __forceinline__ void add_block(float *total, float *carry, float *sum, bool first)
{
    float y = __fsub_rn(*sum, *carry), t = __fadd_rn(*total, y);
    float e = __fsub_rn(__fsub_rn(t, *total), y);
    *carry = !first && fabsf(e) < INFINITY ? e : 0.0f;
    *total = first ? *sum : t;
    *sum = 0;
}

struct row_args {
    struct source src;
    int anchor;
    int row0;       /* the row that scratch row 0 stands for, maybe outside the image */
    float *scratch; /* rows of `pitch` floats, a multiple of 4 */
    size_t pitch;
    struct taps taps;
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
static __global__ void __launch_bounds__(ROW_THREADS)
    filter_rows(const __grid_constant__ struct row_args args)
{
    __shared__ float staged[STAGED];
    int channels = args.src.channels, groups = ROW_THREADS / channels;
    int c = (int)threadIdx.x % channels, group = (int)threadIdx.x / channels;
    long long x0 = (long long)blockIdx.x * groups * RUN;
    int y = args.row0 + (int)blockIdx.y, n = args.taps.n;
    bool idle = group >= groups;
    int mine = idle ? 0 : group * RUN * channels + c; /* my first sample of those staged */

    float sum[RUN] = {}, total[RUN] = {}, carry[RUN] = {};
    for (int t0 = 0; t0 < n; t0 += CHUNK) {
        int ntaps = min(CHUNK, n - t0);
        __syncthreads();
        stage_any<ROW_THREADS>(staged, &args.src, x0 - args.anchor + t0, y,
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
            if ((t + RUN) % GI_TAPS_BLOCK == 0 || t + RUN >= ntaps)
#pragma unroll
                for (int k = 0; k < RUN; k++)
                    add_block(&total[k], &carry[k], &sum[k], t0 + t < GI_TAPS_BLOCK);
        }
    }
    float *out = args.scratch + blockIdx.y * args.pitch;
    size_t first = (size_t)(x0 + group * RUN) * channels + c;
#pragma unroll
    for (int k = 0; k < RUN; k++)
        if (!idle && first + (size_t)k * channels < args.pitch)
            out[first + (size_t)k * channels] = total[k];
}

struct column_args {
    const float *scratch;
    size_t pitch;
    struct source src; /* for the finish */
    struct target dst;
    struct rule rule;
    int y0, y1; /* rows to make; scratch row 0 is under the first tap of y0 */
    struct taps taps;
};

/* What a thread of the column pass has in the making. */
struct column_sums {
    float sum[DEEP][4], total[DEEP][4], carry[DEEP][4];
};

/* Adds rows j0 .. of a thread's input, counted from under its first tap, to the rows it makes. With
 * JOIN a block of taps ends where row r meets tap j0. */
template <bool WHOLE, bool JOIN>
static __device__ __forceinline__ void column_run(struct column_sums *sums, const float4 *v,
                                                  const float *taps, int j0, int n)
{
#pragma unroll
    for (int u = 0; u < DEEP; u++)
#pragma unroll
        for (int r = 0; r < DEEP; r++) {
            int j = j0 + u - r;
            float *sum = sums->sum[r];
            if (JOIN && u == r)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    add_block(&sums->total[r][k], &sums->carry[r][k], &sum[k], j0 == GI_TAPS_BLOCK);
            if (WHOLE || (j >= 0 && j < n)) {
                sum[0] = __fmaf_rn(taps[j], v[u].x, sum[0]);
                sum[1] = __fmaf_rn(taps[j], v[u].y, sum[1]);
                sum[2] = __fmaf_rn(taps[j], v[u].z, sum[2]);
                sum[3] = __fmaf_rn(taps[j], v[u].w, sum[3]);
            }
        }
}

/* A thread makes 4 samples side by side of DEEP rows, each loaded row adding to all of them. */
static __global__ void __launch_bounds__(32 * COLUMN_WARPS)
    filter_columns(const __grid_constant__ struct column_args args)
{
    size_t x = 4 * ((size_t)blockIdx.x * 32 + threadIdx.x);
    int y = args.y0 + (int)(blockIdx.y * COLUMN_WARPS + threadIdx.y) * DEEP, n = args.taps.n;
    if (x >= args.pitch || y >= args.y1)
        return;
    int rows = min(DEEP, args.y1 - y), last = n - 1 + rows - 1;
    const float *in = args.scratch + (size_t)(y - args.y0) * args.pitch + x;
    struct column_sums sums = {};
    for (int j0 = 0; j0 < n + DEEP - 1; j0 += DEEP) {
        float4 v[DEEP];
#pragma unroll
        for (int u = 0; u < DEEP; u++)
            v[u] = *(const float4 *)(in + (size_t)min(j0 + u, last) * args.pitch);
        bool whole = j0 >= DEEP && j0 + DEEP <= n;
        bool join = j0 > 0 && j0 % GI_TAPS_BLOCK == 0 && j0 < n;
        if (whole && !join)
            column_run<true, false>(&sums, v, args.taps.tap, j0, n);
        else if (join)
            column_run<false, true>(&sums, v, args.taps.tap, j0, n);
        else
            column_run<false, false>(&sums, v, args.taps.tap, j0, n);
    }
    size_t samples = (size_t)args.src.width * args.src.channels;
    bool four =
        args.rule.plain && x + 4 <= samples && (args.src.type != GI_F32 || args.src.channels % 2);
#pragma unroll
    for (int r = 0; r < DEEP; r++) {
        float *f = sums.total[r];
#pragma unroll
        for (int k = 0; k < 4; k++)
            add_block(&f[k], &sums.carry[r][k], &sums.sum[r][k], n <= GI_TAPS_BLOCK);
        if (r >= rows)
            continue;
        if (four) {
            store_four(&args.dst, args.src.type, x, y + r, f);
            continue;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (x + k < samples)
                store_any(&args.src, &args.dst, &args.rule, x + k, y + r, f[k],
                          args.src.channels == 2 ? f[k | 1] : f[3]);
    }
}

/* Rows y0 - col_anchor .. to the scratch. */
static enum gi_status launch_rows(struct gi_cuda_queue *cu, float *scratch, size_t pitch,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  int y0, int y1, struct gi_err *err)
{
    struct row_args row;
    row.src = source_of(src, &spec->edge, spec->alpha);
    row.anchor = spec->row_anchor;
    row.row0 = y0 - spec->col_anchor;
    row.scratch = scratch;
    row.pitch = pitch;
    row.taps.n = spec->nrow;
    memcpy(row.taps.tap, spec->row, (size_t)spec->nrow * sizeof(float));
    int groups = ROW_THREADS / src->channels;
    dim3 grid(ceil_div((long long)pitch, groups * RUN * src->channels), y1 - y0 + spec->ncol - 1);
    filter_rows<<<grid, ROW_THREADS, 0, cu->stream>>>(row);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status launch_columns(struct gi_cuda_queue *cu, const float *scratch, size_t pitch,
                                     struct gi_image *dst, const struct gi_image *src,
                                     const struct gi_separable *spec, int y0, int y1,
                                     struct gi_err *err)
{
    struct column_args column;
    column.scratch = scratch;
    column.pitch = pitch;
    column.src = source_of(src, &spec->edge, spec->alpha);
    column.dst = target_of(dst);
    column.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    column.y0 = y0;
    column.y1 = y1;
    column.taps.n = spec->ncol;
    memcpy(column.taps.tap, spec->col, (size_t)spec->ncol * sizeof(float));
    dim3 blocks(ceil_div((long long)pitch, 128), ceil_div(y1 - y0, DEEP * COLUMN_WARPS));
    filter_columns<<<blocks, dim3(32, COLUMN_WARPS), 0, cu->stream>>>(column);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_two_passes(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  struct gi_err *err)
{
    size_t pitch = (gi_row_samples(src) + 3) / 4 * 4;
    long long most = 60000 - spec->ncol; /* rows of a grid */
    long long band = SCRATCH_NBYTES / (long long)(pitch * sizeof(float)) - spec->ncol;
    band = band < 2 * spec->ncol ? 2 * spec->ncol : band; /* few rows are filtered twice */
    band = band > most ? most : band;
    band = band > src->height ? src->height : band;
    void *memory;
    enum gi_status status =
        gi_cuda_scratch(cu, &memory, pitch * sizeof(float) * (size_t)(band + spec->ncol - 1), err);
    float *scratch = (float *)memory;
    for (long long y = 0; y < src->height && !status; y += band) {
        int y0 = (int)y, y1 = y + band < src->height ? (int)(y + band) : src->height;
        status = launch_rows(cu, scratch, pitch, src, spec, y0, y1, err);
        if (!status)
            status = launch_columns(cu, scratch, pitch, dst, src, spec, y0, y1, err);
    }
    return status;
}
