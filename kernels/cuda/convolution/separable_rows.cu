/* Separable convolution with any number of taps: for each band, a row pass into a float scratch
 * image, then a column pass out of that image. The scratch image includes rows outside the source,
 * so only the row pass handles borders.
 *
 * - filter_rows: a block owns TALL rows of a strip, which has PIECES * RUN pixels of one channel
 *   or fewer pixels of several channels. A thread owns RUN neighbouring pixels of one channel.
 *   Shared memory holds the samples under CHUNK taps as floats, one plane per channel, and
 *   afterwards the sums.
 * - filter_columns: a block owns WARPS * RUN rows of 32 sample columns, and a thread owns RUN rows
 *   of one column. Loads are coalesced (a warp reads 128-byte lines), and neighbouring warps share
 *   them in the L1 cache. Shared memory is only used if colour needs the alpha of its pixel, and
 *   then contains sums.
 *
 * In both kernels a thread's samples are in a circular window of BLOCK registers. Each sample is
 * loaded once, ahead of its use, is overwritten BLOCK taps later, and is never moved.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_separable.h"

#include <math.h>
#include <string.h>

#include "kernels/cuda/common/sliding_window.cuh"
#include "kernels/cuda/convolution/stage.cuh"

enum {
    BLOCK = GI_TAPS_BLOCK,
    RUN = 24,    /* sums per thread; the window has 8 more registers, to load ahead */
    TALL = 8,    /* rows per warp of the row pass; 8 x 16 bytes avoid bank conflicts */
    PIECES = 16, /* runs per row of a block */
    CHUNK = 256, /* taps whose samples are staged at once */
    WARPS = 8,   /* warps per block of the column pass, one below the other */
    FEW_WARPS = 4,
    WIDE = 32,                                 /* columns per warp of the column pass */
    BEYOND = (WARPS * RUN + 3 * BLOCK) * WIDE, /* maximum number of floats that are read past the
                                                  scratch image */
    SCRATCH_NBYTES = 128 << 20,
    SLACK = 2 * BLOCK, /* maximum number of floats that are read past the staged samples */
};

/* The taps along one axis; a kernel argument, so in constant memory. */
struct taps {
    int n;
    bool finite; /* no sum can overflow */
    float tap[(GI_TAPS_MAX + BLOCK - 1) / BLOCK * BLOCK];
};

/* A Kahan sum over blocks of taps: total and carry (kernels/convolution.h). The total starts at -0,
 * the neutral element of addition, so that the first block is no special case. */
struct joined {
    float total[RUN], carry[RUN];
};

static __device__ __forceinline__ void joined_clear(struct joined *joined)
{
#pragma unroll
    for (int k = 0; k < RUN; k++)
        joined->total[k] = -0.0f, joined->carry[k] = 0;
}

template <bool FINITE>
static __device__ __forceinline__ void joined_add(struct joined *joined, const float *sum)
{
#pragma unroll
    for (int k = 0; k < RUN; k++) {
        float y = __fsub_rn(sum[k], joined->carry[k]), t = __fadd_rn(joined->total[k], y);
        float e = __fsub_rn(__fsub_rn(t, joined->total[k]), y);
        joined->carry[k] = FINITE || fabsf(e) < INFINITY ? e : 0.0f;
        joined->total[k] = t;
    }
}

/* Adds tap u of a block to the RUN sums. */
static __device__ __forceinline__ void tap_add(float *sum, float tap, const float *window, int u)
{
#pragma unroll
    for (int k = 0; k < RUN; k++)
        sum[k] = __fmaf_rn(tap, window[(u + k) % BLOCK], sum[k]);
}

/* Adds taps u to u + 3 of a block to the RUN sums, or only n taps if n < 4. tap[0] is tap u. */
static __device__ __forceinline__ void taps_add(float *sum, const float *tap, const float *window,
                                                int u, int n)
{
    if (n >= 4)
#pragma unroll
        for (int v = 0; v < 4; v++)
            tap_add(sum, tap[v], window, u + v);
    else
#pragma unroll
        for (int v = 0; v < 3; v++)
            if (v < n)
                tap_add(sum, tap[v], window, u + v);
}

static __device__ __forceinline__ void four_load(float *v, const float *from)
{
    float4 t = *(const float4 *)from;
    v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
}

/* Returns an index in the scratch image, which stores WIDE columns of all `rows` rows, then the
 * next WIDE columns. The distance between rows of a column is therefore a compile-time constant. */
static __device__ __forceinline__ size_t scratch_at(int x, int y, int rows)
{
    return ((size_t)(x / WIDE) * (size_t)rows + (size_t)y) * WIDE + (size_t)(x % WIDE);
}

struct row_args {
    struct source src;
    int anchor;
    int row0, rows;       /* image row of scratch row 0, maybe outside; number of rows */
    int pieces;           /* threads per channel across the strip */
    struct planes planes; /* `at` is not set */
    float *scratch;
    struct taps taps;
};

/* Adds taps t0 to t0 + n - 1 to a thread's sums. The thread's samples begin at `at`. */
static __device__ __forceinline__ void row_sums(struct joined *joined, const float *at,
                                                const struct taps *taps, int t0, int n)
{
    float w[BLOCK];
#pragma unroll
    for (int u = 0; u < BLOCK; u += 4)
        four_load(w + u, at + u);
#pragma unroll 1
    for (int t = 0; t < n; t += BLOCK) {
        float sum[RUN] = {};
        if (t + BLOCK <= n) {
#pragma unroll
            for (int u = 0; u < BLOCK; u++) {
                tap_add(sum, taps->tap[t0 + t + u], w, u);
                if (u % 4 == 3)
                    four_load(w + u - 3, at + t + u - 3 + BLOCK);
            }
        } else {
#pragma unroll
            for (int u = 0; u < BLOCK && u < n - t; u += 4) {
                taps_add(sum, taps->tap + t0 + t + u, w, u, n - t - u);
                if (u + BLOCK < n - t + RUN - 1) /* only what a later sum reads */
                    four_load(w + u, at + t + u + BLOCK);
            }
        }
        if (taps->finite)
            joined_add<true>(joined, sum);
        else
            joined_add<false>(joined, sum);
    }
}

/* Stages TALL rows, of which y is the first. For a row outside the image, stages the row that the
 * border mode names instead. */
template <typename T>
static __device__ __forceinline__ void
stage_strip(const struct planes *to, const struct source *src, long long x, int y, int columns)
{
    bool whole = y >= 0 && y + TALL <= src->height;
    int step = whole ? TALL : 1;
    for (int r = 0; r < TALL; r += step) {
        struct planes row = {to->at + r * to->pitch, to->pitch, to->plane};
        int yi = whole ? y : gi_border_index(y + r, src->height, src->border);
        stage_tile<T, TALL / 2>(&row, src, x, yi, step, columns);
    }
}

static __global__ void __launch_bounds__(TALL *PIECES, 4)
    filter_rows(const __grid_constant__ struct row_args args)
{
    extern __shared__ __align__(16) float shared[];
    struct planes planes = {shared, args.planes.pitch, args.planes.plane};
    const struct source *src = &args.src;
    int channels = src->channels, thread = (int)threadIdx.x, piece = thread / TALL;
    bool idle = piece >= args.pieces * channels; /* RGB: the last piece has no work */
    piece = idle ? 0 : piece;
    int c = piece / args.pieces, first = piece % args.pieces * RUN, strip = args.pieces * RUN;
    int y0 = (int)blockIdx.y * TALL;
    long long x0 = (long long)blockIdx.x * strip;
    const float *mine = shared + c * planes.plane + thread % TALL * planes.pitch + first;

    struct joined joined;
    joined_clear(&joined);
    /* Load and compute, CHUNK taps at a time. */
#pragma unroll 1
    for (int t0 = 0; t0 < args.taps.n; t0 += CHUNK) {
        int n = min((int)CHUNK, args.taps.n - t0);
        long long x = x0 - args.anchor + t0;
        __syncthreads();
        if (src->type == GI_U8)
            stage_strip<uint8_t>(&planes, src, x, args.row0 + y0, strip + n - 1);
        else if (src->type == GI_U16)
            stage_strip<uint16_t>(&planes, src, x, args.row0 + y0, strip + n - 1);
        else
            stage_strip<float>(&planes, src, x, args.row0 + y0, strip + n - 1);
        __syncthreads();
        row_sums(&joined, mine, &args.taps, t0, n);
    }

    /* Exchange and store: through shared memory, so that stores to the scratch image are
     * coalesced. */
    int across = strip * channels, out_pitch = across + 4;
    float *out = shared + thread % TALL * out_pitch + first * channels + c;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < RUN; k++)
        if (!idle)
            out[k * channels] = joined.total[k];
    __syncthreads();
    int r = thread / PIECES, s = thread % PIECES * 4, left = (int)(src->width - x0) * channels;
    if (y0 + r >= args.rows)
        return;
    float *to = args.scratch + scratch_at((int)x0 * channels + s, y0 + r, args.rows);
    const float *from = shared + r * out_pitch;
    for (; s < across && s < left; s += PIECES * 4, to += (size_t)args.rows * (PIECES * 4))
        *(float4 *)to = *(const float4 *)(from + s);
}

struct column_args {
    const float *scratch; /* row 0 is under the first tap of y0 */
    int scratch_rows;
    struct source src; /* for the epilogue */
    struct target dst;
    struct rule rule;
    bool weighs; /* samples are integers, and the epilogue only divides colour by alpha */
    int y0, y1;  /* rows to compute */
    struct taps taps;
};

/* Adds all taps to the sums of a thread's column, whose samples begin at `from`. The window may
 * read past the last sample, that is, from other columns or from the slack behind the scratch
 * image. */
static __device__ __forceinline__ void column_sums(struct joined *joined, const float *from,
                                                   const struct taps *taps)
{
    float w[BLOCK];
#pragma unroll
    for (int u = 0; u < BLOCK; u++)
        w[u] = from[u * WIDE];
#pragma unroll 1
    for (int t = 0; t < taps->n; t += BLOCK) {
        /* Taps are loaded ahead, so that ptxas keeps them in uniform registers. */
        float sum[RUN] = {}, tap[BLOCK];
#pragma unroll
        for (int u = 0; u < BLOCK; u++)
            tap[u] = taps->tap[t + u];
        const float *next = from + (t + BLOCK) * WIDE;
        if (t + BLOCK <= taps->n) {
#pragma unroll
            for (int u = 0; u < BLOCK; u++) {
                tap_add(sum, tap[u], w, u);
                w[u] = next[u * WIDE];
            }
        } else {
#pragma unroll
            for (int u = 0; u < BLOCK && u < taps->n - t; u += 4) {
                taps_add(sum, taps->tap + t + u, w, u, taps->n - t - u);
                if (u + BLOCK < taps->n - t + RUN - 1) /* only what a later sum reads */
#pragma unroll
                    for (int v = u; v < u + 4; v++)
                        w[v] = next[v * WIDE];
            }
        }
        if (taps->finite)
            joined_add<true>(joined, sum);
        else
            joined_add<false>(joined, sum);
    }
}

/* Stores `rows` sums, `stride` bytes apart, under the plain epilogue. Adds `zero` to each sum. If
 * `zero` is +0, this turns -0 into +0; if `zero` is -0, sums do not change. */
template <typename T>
static __device__ __forceinline__ void store_plain(char *out, size_t stride, const float *f,
                                                   int rows, float zero)
{
#pragma unroll
    for (int r = 0; r < RUN; r++)
        if (r < rows)
            sample_store((T *)(out + r * stride), f[r] + zero);
}

/* Applies GI_ALPHA_WEIGH to the sums f, which are sums of colour times alpha, or of alpha if
 * `alpha`. The sums of the pixel's alpha begin at `a` and are `wide` floats apart. */
static __device__ __forceinline__ void column_weigh(float *f, const float *a, int wide, bool alpha,
                                                    float inverse_sum)
{
#pragma unroll
    for (int r = 0; r < RUN; r++) {
        float all = __fmul_rn(a[r * wide], inverse_sum);
        float inverse = all > 0 ? sliding_inverse(all) : 0.0f;
        f[r] = alpha ? all : sliding_quotient(f[r], all, inverse);
    }
}

/* Applies the epilogue to the sum f of sample x of row y and stores the result. a is the sum of the
 * pixel's alpha. */
static __device__ __forceinline__ void store_one(const struct source *src, const struct target *dst,
                                                 const struct rule *rule, int x, int y, float f,
                                                 float a, bool alpha)
{
    const char *in = src->data + (size_t)y * src->stride;
    char *out = dst->data + (size_t)y * dst->stride;
    float s = src->type == GI_U8    ? (float)((const uint8_t *)in)[x]
              : src->type == GI_U16 ? (float)((const uint16_t *)in)[x]
                                    : ((const float *)in)[x];
    f = alpha ? epilogue_alpha(rule, f, s) : epilogue_color(rule, f, a, s);
    if (src->type == GI_U8)
        sample_store((uint8_t *)out + x, f);
    else if (src->type == GI_U16)
        sample_store((uint16_t *)out + x, f);
    else
        sample_store((float *)out + x, f);
}

static __global__ void __launch_bounds__(WIDE *WARPS, 16 / WARPS)
    filter_columns(const __grid_constant__ struct column_args args)
{
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x % WIDE, samples = src->width * src->channels;
    int warps = (int)blockDim.x / WIDE, wide = (int)blockDim.x;
    int x = (int)blockIdx.x * WIDE + lane, above = (int)blockIdx.y * warps * RUN;
    int at = above + (int)threadIdx.x / WIDE * RUN, y = args.y0 + at;
    int rows = x < samples ? min((int)RUN, args.y1 - y) : 0; /* no early return, see stage.cuh */
    extern __shared__ float sums[];
    struct joined joined;
    joined_clear(&joined);
    column_sums(&joined, args.scratch + scratch_at(x, at, args.scratch_rows), &args.taps);
    float *f = joined.total;
    bool alpha = src->channels % 2 == 0 && (x + 1) % src->channels == 0;
    float *mine = sums + threadIdx.x, *a = mine;
    if (!args.rule.plain) {
#pragma unroll
        for (int r = 0; r < RUN; r++)
            mine[r * wide] = f[r];
        __syncwarp();
        a += src->channels % 2 ? 0 : src->channels - 1 - x % src->channels;
    }
    if (args.weighs)
        column_weigh(f, a, wide, alpha, args.rule.inverse_sum);
    if (args.rule.plain || args.weighs) {
        char *out = args.dst.data + (size_t)y * args.dst.stride;
        if (src->type == GI_U8)
            store_plain<uint8_t>(out + x, args.dst.stride, f, rows, 0);
        else if (src->type == GI_U16)
            store_plain<uint16_t>(out + 2 * (size_t)x, args.dst.stride, f, rows, 0);
        else
            store_plain<float>(out + 4 * (size_t)x, args.dst.stride, f, rows, alpha ? -0.0f : 0.0f);
        return;
    }
#pragma unroll 4
    for (int r = 0; r < rows; r++)
        store_one(src, &args.dst, &args.rule, x, y + r, mine[r * wide], a[r * wide], alpha);
}

static void taps_fill(struct taps *taps, const float *from, int n, bool finite)
{
    taps->n = n;
    taps->finite = finite;
    memcpy(taps->tap, from, (size_t)n * sizeof(float));
    memset(taps->tap + n, 0, sizeof taps->tap - (size_t)n * sizeof(float));
}

/* Launches the row pass. Scratch row 0 is image row y0 - col_anchor. */
static enum gi_status launch_rows(struct gi_cuda_queue *cu, float *scratch,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  int y0, int rows, bool finite, struct gi_err *err)
{
    struct row_args args;
    args.src = source_of(src, &spec->border, spec->alpha);
    args.anchor = spec->row_anchor;
    args.row0 = y0 - spec->col_anchor;
    args.rows = rows;
    args.pieces = PIECES / src->channels;
    args.scratch = scratch;
    taps_fill(&args.taps, spec->row, spec->nrow, finite);
    int strip = args.pieces * RUN;
    int staged = strip + (spec->nrow < CHUNK ? spec->nrow : CHUNK) - 1;
    args.planes.pitch = (staged + 7) / 8 * 8 + 4;
    args.planes.plane = TALL * args.planes.pitch;
    int samples = src->channels * args.planes.plane + SLACK;
    int sums = TALL * (strip * src->channels + 4);
    size_t nbytes = (size_t)(samples > sums ? samples : sums) * sizeof(float);
    GI_CUDA_ALLOW_SHARED(cu, filter_rows);
    dim3 grid(ceil_div(src->width, strip), ceil_div(rows, TALL));
    filter_rows<<<grid, TALL * PIECES, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status launch_columns(struct gi_cuda_queue *cu, const float *scratch,
                                     struct gi_image *dst, const struct gi_image *src,
                                     const struct gi_separable *spec, int y0, int y1, bool finite,
                                     struct gi_err *err)
{
    struct column_args args;
    args.scratch = scratch;
    args.scratch_rows = y1 - y0 + spec->ncol - 1;
    args.src = source_of(src, &spec->border, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    double most = sliding_most(spec->row, spec->nrow) * sliding_most(spec->col, spec->ncol);
    double least = sliding_least(spec->row, spec->nrow) * sliding_least(spec->col, spec->ncol);
    args.weighs = args.rule.alpha == GI_ALPHA_WEIGH && epilogue_stores(&spec->epilogue) &&
                  src->type != GI_F32 && sliding_divides(src, spec->alpha, least, most, spec->sum);
    args.y0 = y0;
    args.y1 = y1;
    taps_fill(&args.taps, spec->col, spec->ncol, finite);
    /* Warps of a block share their loads in the L1 cache, but small blocks end sooner. */
    int warps = spec->ncol > 2 * BLOCK ? WARPS : FEW_WARPS;
    size_t nbytes = args.rule.plain ? 0 : (size_t)RUN * WIDE * warps * sizeof(float);
    dim3 grid(ceil_div((long long)gi_row_samples(src), WIDE), ceil_div(y1 - y0, RUN * warps));
    filter_columns<<<grid, WIDE * warps, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_separable_rows(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_separable *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    size_t pitch = (gi_row_samples(src) + WIDE - 1) / WIDE * WIDE;
    long long most = 60000 - spec->ncol; /* rows of a grid */
    long long band = SCRATCH_NBYTES / (long long)(pitch * sizeof(float)) - spec->ncol;
    band = band < 2 * spec->ncol ? 2 * spec->ncol : band; /* so that few rows are filtered twice */
    band = band > most ? most : band;
    long long bands = ceil_div(src->height, band);
    band = ceil_div(ceil_div(src->height, bands), RUN * WARPS) * RUN * WARPS;
    band = band > src->height ? src->height : band;
    bool finite =
        src->type != GI_F32 &&
        sliding_most(spec->row, spec->nrow) * sliding_most(spec->col, spec->ncol) < SLIDING_MOST;
    void *memory;
    enum gi_status status = gi_cuda_scratch(
        cu, &memory, (pitch * (size_t)(band + spec->ncol - 1) + BEYOND) * sizeof(float), err);
    float *scratch = (float *)memory;
    for (long long y = 0; y < src->height && !status; y += band) {
        int y0 = (int)y, y1 = y + band < src->height ? (int)(y + band) : src->height;
        status = launch_rows(cu, scratch, src, spec, y0, y1 - y0 + spec->ncol - 1, finite, err);
        if (!status)
            status = launch_columns(cu, scratch, dst, src, spec, y0, y1, finite, err);
    }
    return status;
}
