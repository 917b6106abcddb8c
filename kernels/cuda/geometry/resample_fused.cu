/* Resampling by any ratio in one pass: shared memory passes the column sums on to the row sums.
 *
 * A block owns a strip of `wide` result pixels and a band of result rows, and moves down the band,
 * GROUP = 4 rows per step. Columns: a thread sums PIECE = 8 neighbouring source samples for all
 * rows of the group; each source row is loaded and unpacked once per group. Rows: a thread computes
 * one pixel of each row of the group from the column sums.
 *
 *      source rows under the group (reach)        sums[GROUP], padded          4 result rows
 *     +------+------+- ... -+------+             +-------------------+        +-------------+
 *     |  t0  |  t1  |       | t127 |  columns    | row y             |  rows  | x0 .. x0+n  |
 *     |      |      |       |      | ----------> | row y + 1         | -----> |             |
 *     |      |      |       |      |   down[]    | row y + 2, y + 3  | along[]|             |
 *     +------+------+- ... -+------+             +-------------------+        +-------------+
 *
 * Shared memory: `down` and `later`, the column weights of this group and the next group, as one
 * float4 per source row (double buffering); `along`, row weights of all pixels of the strip;
 * `sums`, with one word of padding after every 32, so that power-of-two strides are free of bank
 * conflicts; and the carries of sums over more than 32 taps, of gray over more than 64.
 *
 * Phases of a step: load and compute columns, exchange (barrier), compute rows, store.
 *
 * Example: 8192 to 3072 gray pixels with 16 taps: strips of 342 pixels under about 925 source
 * samples; a group reads 3 * 8 / 3 + 16 = 24 source rows once instead of 4 * 16.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/resample_fused.h"
#include "kernels/cuda/geometry/resample_strips.cuh"

enum {
    GROUP = 4,
    THREADS = 128,
    SAMPLES_MAX = THREADS * PIECE, /* maximum source samples of a row under a strip */
    WIDE_MAX = 1024,               /* maximum of pixels of a strip */
    SHARED_MAX = 64 << 10,         /* bytes: the minimum that GPUs have */
};

struct fused_args {
    struct gi_image dst, src;
    struct device_side row, col;
    int wide;      /* pixels per strip */
    int pitch;     /* floats per row of sums, padded */
    int reach;     /* maximum of source rows under a group */
    int band_rows; /* a multiple of GROUP */
    bool weigh;
};

/* Returns a padded index, so that threads whose data are 2, 4, 8, 16 or 32 floats apart do not
 * share banks. */
static __host__ __device__ __forceinline__ int padded(int i)
{
    return i + (i >> 5);
}

/* Returns whether sums over this many taps need carries in shared memory. Two blocks of taps need
 * none. Only gray makes use of that and loads rows in batches: colour gets slower by it (RGB to
 * 3072 takes 387 instead of 351 us on an H100), because its kernel then needs more registers. */
static __host__ __device__ __forceinline__ bool needs_carries(int taps, int channels)
{
    return taps > (channels == 1 ? 2 : 1) * GI_TAPS_BLOCK;
}

/* ---- columns ---- */

/* Computes `down`, which is the weight of each source row for each result row of the group at y.
 * The weight is 0 if the source row is outside the window of the result row. */
static __device__ void weights_down(float4 *down, const struct fused_args &args, int y)
{
    const struct device_side *col = &args.col;
    if (y >= args.dst.height)
        return;
    int last = col->n - 1, from = col->first[y];
    int rows = col->first[min(y + GROUP - 1, last)] + col->taps - from;
    for (int i = (int)threadIdx.x; i < rows * GROUP; i += THREADS) {
        int at = min(y + i % GROUP, last), t = i / GROUP + from - col->first[at];
        bool inside = t >= 0 && t < col->taps;
        ((float *)down)[i] = inside ? col->weights[(size_t)col->phase[at] * col->taps + t] : 0;
    }
}

/* Adds the sum of a finished block of taps to `sums`. `carries` is the offset of the carries, which
 * follow the sums of all rows, or 0 if there are none. */
template <int C>
static __device__ __forceinline__ void fold(float *sums, int carries, const float *block, int at,
                                            bool first)
{
#pragma unroll
    for (int i = 0; i < PIECE; i++) {
        float *s = sums + padded(at) + i;
        bool carried = C > 1 || carries;
        float carry = first || !carried ? 0 : s[carries], sum = first ? 0 : *s;
        add_block(&sum, &carry, block[i]);
        *s = sum;
        if (carried)
            s[carries] = carry;
    }
}

/* Adds the samples of source row r, with weights down[r], to the sums of the rows of the group. */
template <typename T, int C, int WORDS>
static __device__ __forceinline__ void
add_row(float (&block)[GROUP][PIECE], const unsigned (&words)[WORDS], const float4 *down, int r,
        const int (&begin)[GROUP], int taps, bool weigh)
{
    float v[PIECE];
    piece_unpack<T, C>(v, words, weigh);
    float4 w4 = down[r];
    const float w[GROUP] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
    for (int j = 0; j < GROUP; j++)
        if (sizeof(T) < 4 || (unsigned)(r - begin[j]) < (unsigned)taps) /* inf * 0 */
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                block[j][i] = __fmaf_rn(w[j], v[i], block[j][i]);
}

/* Computes the column sums of the piece at sample `at` of the strip. The samples of the piece begin
 * at p in the first of `rows` source rows. begin[j] is the first source row in the window of row j
 * of the group. */
template <typename T, int C>
static __device__ __forceinline__ void column_sums(float *sums, const struct fused_args &args,
                                                   const float4 *down, const char *p, int at,
                                                   int rows, const int (&begin)[GROUP])
{
    enum { WORDS = PIECE * (int)sizeof(T) / 4, BATCH = C == 1 ? 16 / WORDS : 1 };
    int taps = args.col.taps, r = 0;
    int carries = needs_carries(taps, C) ? GROUP * args.pitch : 0;
    float block[GROUP][PIECE] = {};
    while (r < rows) {
        int end = rows; /* next end of a block of taps, except the last block of a row */
#pragma unroll
        for (int j = 0; j < GROUP && taps > GI_TAPS_BLOCK; j++) {
            int next = (max(r - begin[j], 0) / GI_TAPS_BLOCK + 1) * GI_TAPS_BLOCK;
            end = next < taps ? min(end, begin[j] + next) : end;
        }
        if constexpr (C == 1) {
            for (; r < end; r += BATCH, p += BATCH * args.src.stride) {
                unsigned words[BATCH][WORDS];
#pragma unroll
                for (int i = 0; i < BATCH; i++)
                    if (r + i < end)
                        piece_load(words[i], p + (size_t)i * args.src.stride);
#pragma unroll
                for (int i = 0; i < BATCH; i++)
                    if (r + i < end)
                        add_row<T, C>(block, words[i], down, r + i, begin, taps, args.weigh);
            }
            p -= (size_t)(r - end) * args.src.stride;
            r = end;
        } else {
#pragma unroll 4
            for (; r < end; r++, p += args.src.stride) {
                unsigned words[WORDS];
                piece_load(words, p);
                add_row<T, C>(block, words, down, r, begin, taps, args.weigh);
            }
        }
#pragma unroll
        for (int j = 0; j < GROUP && taps > GI_TAPS_BLOCK; j++) {
            int t = r - begin[j];
            if (t <= 0 || t % GI_TAPS_BLOCK || t >= taps)
                continue;
            fold<C>(sums + j * args.pitch, C > 1 ? GROUP * args.pitch : carries, block[j], at,
                    t == GI_TAPS_BLOCK);
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                block[j][i] = 0;
        }
    }
#pragma unroll
    for (int j = 0; j < GROUP; j++)
        if (taps > GI_TAPS_BLOCK)
            fold<C>(sums + j * args.pitch, C > 1 ? GROUP * args.pitch : carries, block[j], at,
                    false);
        else
#pragma unroll
            for (int i = 0; i < PIECE; i++)
                sums[j * args.pitch + padded(at) + i] = block[j][i];
}

/* ---- rows ---- */

/* Computes f[row][channel], which are sums along a row that begin at sample `from` of the strip.
 * `along` points to the weights of the pixel, which are `step` floats apart. */
template <int C>
static __device__ __forceinline__ void row_sums(float (&f)[GROUP][C], const struct fused_args &args,
                                                const float *sums, const float *along, int step,
                                                int from)
{
    float carry[GROUP][C] = {};
    for (int t = 0; t < args.row.taps; t += GI_TAPS_BLOCK) {
        float block[GROUP][C] = {};
        int end = min(args.row.taps, t + GI_TAPS_BLOCK);
#pragma unroll(C == 1 ? 4 : 2)
        for (int i = t; i < end; i++) {
            float w = along[i * step];
#pragma unroll
            for (int c = 0; c < C; c++) {
                const float *s = sums + padded(from + i * C + c);
#pragma unroll
                for (int j = 0; j < GROUP; j++)
                    block[j][c] = __fmaf_rn(w, s[j * args.pitch], block[j][c]);
            }
        }
#pragma unroll
        for (int j = 0; j < GROUP; j++)
#pragma unroll
            for (int c = 0; c < C; c++)
                if (t == 0)
                    f[j][c] = block[j][c];
                else
                    add_block(&f[j][c], &carry[j][c], block[j][c]);
    }
}

template <typename T, int C>
static __device__ __forceinline__ void strip_make(const struct fused_args &args, float4 *shared)
{
    const struct device_side *row = &args.row, *col = &args.col;
    float4 *down = shared, *later = shared + args.reach; /* of this group, of the next group */
    float *along = (float *)(later + args.reach), *sums = along + args.wide * row->taps;
    int tid = (int)threadIdx.x;
    int x0 = (int)blockIdx.x * args.wide, n = min(args.wide, row->n - x0);
    int left = (row->first[x0] - row->origin) * C / PIECE * PIECE; /* sample of the source */
    int nsamples = (row->first[x0 + n - 1] - row->origin + row->taps) * C - left;
    for (int x = tid; x < n; x += THREADS) {
        const float *weights = row->weights + (size_t)row->phase[x0 + x] * row->taps;
        for (int t = 0; t < row->taps; t++)
            along[t * args.wide + x] = weights[t];
    }
    int y = (int)blockIdx.y * args.band_rows, end = min(y + args.band_rows, col->n);
    weights_down(down, args, y);
    __syncthreads();
    for (; y < end; y += GROUP) {
        int from = col->first[y], begin[GROUP];
#pragma unroll
        for (int j = 0; j < GROUP; j++)
            begin[j] = col->first[min(y + j, col->n - 1)] - from;
        int rows = begin[GROUP - 1] + col->taps;
        /* Load and compute columns. */
        const char *p = (const char *)args.src.data +
                        (size_t)(from - col->origin) * args.src.stride + (size_t)left * sizeof(T);
        if (tid * PIECE < nsamples)
            column_sums<T, C>(sums, args, down, p + (size_t)(tid * PIECE) * sizeof(T), tid * PIECE,
                              rows, begin);
        weights_down(later, args, y + GROUP);
        __syncthreads();
        /* Exchange done: compute rows and store. */
        for (int x = tid; x < n; x += THREADS) {
            float f[GROUP][C];
            row_sums<C>(f, args, sums, along + x, args.wide,
                        (row->first[x0 + x] - row->origin) * C - left);
#pragma unroll
            for (int j = 0; j < GROUP; j++)
                if (y + j < end)
                    pixel_store<T, C>(args.dst, *row, *col, args.weigh, f[j], x0 + x, y + j);
        }
        float4 *free = down;
        down = later;
        later = free;
        __syncthreads();
    }
}

template <int C>
static __global__ void __launch_bounds__(THREADS, C > 2 ? 5 : 6)
    fused(const __grid_constant__ struct fused_args args)
{
    extern __shared__ float4 shared[];
    SAMPLE_TYPES(args.src.type, strip_make<T, C>(args, shared));
}

/* ---- launcher ---- */

/* Maximum of source rows under a group. */
static int reach_of(const struct gi_resample_side *col)
{
    int most = 0;
    for (int y = 0; y < col->n; y += GROUP) {
        int last = y + GROUP <= col->n ? y + GROUP - 1 : col->n - 1;
        int n = col->first[last] - col->first[y] + col->taps;
        most = n > most ? n : most;
    }
    return most;
}

/* Chooses the shape of all strips, and the bytes of shared memory. Returns false if not even a
 * strip of one pixel fits. */
static bool shape_of(struct fused_args *args, size_t *nbytes, const struct gi_resample *spec,
                     int channels)
{
    const struct gi_resample_side *row = &spec->row;
    int wide = row->n < WIDE_MAX ? row->n : WIDE_MAX;
    args->reach = reach_of(&spec->col);
    for (; wide > 0; wide = wide * 15 / 16) {
        args->wide = ceil_div(row->n, ceil_div(row->n, wide));
        int n = samples_of(row, args->wide, channels);
        if (n > SAMPLES_MAX)
            continue;
        args->pitch = padded(ceil_div(n, PIECE) * PIECE) + 1;
        bool carries = needs_carries(spec->col.taps, channels);
        *nbytes = 2 * (size_t)args->reach * sizeof(float4) +
                  sizeof(float) * ((size_t)args->wide * (size_t)row->taps +
                                   (size_t)(carries ? 2 * GROUP : GROUP) * (size_t)args->pitch);
        if (*nbytes <= SHARED_MAX)
            return true;
    }
    return false;
}

bool gi_cuda_fused_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    struct fused_args args;
    size_t nbytes;
    return !spec->integer && shape_of(&args, &nbytes, spec, src->channels);
}

template <int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct fused_args *args, size_t nbytes,
                             struct gi_err *err)
{
    int resident = 0;
    GI_CUDA_ALLOW_SHARED(cu, fused<C>);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, fused<C>, THREADS, nbytes));
    int strips = ceil_div(args->row.n, args->wide);
    int bands = ceil_div(2LL * cu->units * (resident < 1 ? 1 : resident), strips);
    if (C == 1 && args->col.taps > GI_TAPS_BLOCK) /* a group is so much work that it is a band */
        bands = args->col.n;
    bands = bands > 65535 ? 65535 : bands;
    args->band_rows = ceil_div(ceil_div(args->col.n, bands), GROUP) * GROUP;
    dim3 grid((unsigned)strips, (unsigned)ceil_div(args->col.n, args->band_rows));
    fused<C><<<grid, THREADS, nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_fused(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct fused_args args = {};
    size_t nbytes;
    enum gi_status status = strips_prepare(cu, &args, dst, src, spec, err);
    if (status)
        return status;
    shape_of(&args, &nbytes, spec, src->channels);
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, &args, nbytes, err));
}
