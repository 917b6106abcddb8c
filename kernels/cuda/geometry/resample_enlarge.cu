/* Resampling to R = 2, 3 or 4 times the size in one pass with 2, 4 or 6 taps: a polyphase filter,
 * entirely in registers.
 *
 * Block: WARPS independent warps. A warp owns a strip of the source and a band of its rows, and
 * moves down the band. A lane owns PIX neighbouring pixels and keeps the latest TAPS rows of these
 * pixels, which are the window of R rows of the result.
 *
 *     strip of 32 lanes, PIX source pixels each         result: R rows per source row
 *     +------+------+------+- ... -+------+------+
 *     | idle |  l1  |  l2  |       |  l30 | idle |      column sums of TAPS rows per lane
 *     +------+------+------+- ... -+------+------+
 *                 |  |  |           shuffles              LEAD sums from each neighbour
 *             +----+------+----+
 *             |LEAD| PIX  |LEAD|    window[]      ->     R results for each of PIX pixels
 *             +----+------+----+
 *
 * Exchange: column sums come from neighbouring lanes by warp shuffles; there is no shared memory.
 * The outermost IDLE lanes on each side of a strip only supply column sums (halo).
 *
 * Results at the ends have different weights and are computed one by one in further blocks. These
 * blocks come last, when multiprocessors become free.
 *
 * Example: R = 2, TAPS = 4, 8-bit gray. PIX = 8 pixels per lane, LEAD = 2, IDLE = 1: a strip has 30
 * x 8 = 240 source pixels; a lane keeps 4 x 8 samples, computes 16 results per row and stores them
 * as 16 bytes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/resample_ends.cuh"
#include "kernels/cuda/geometry/resample_enlarge.h"

enum { WARPS = 4 /* per block */ };

template <int R, int TAPS> struct enlarge_args {
    struct gi_image dst, src;
    struct ends<TAPS, R> row, col;
    struct border across; /* end results, and inner results in the same words */
    int sliding_blocks, strips;
    int before;            /* pixels of the first strip that are left of the image */
    int first, end, bands; /* rows first to end - 1 begin windows; number of bands */
};

/* Constants. The windows of phases HALF and above begin one pixel later than the windows of lower
 * phases. */
template <typename T, int R, int TAPS, int C> struct form {
    enum {
        PIX = (C == 1 ? 8 : 4) / (sizeof(T) == 1 ? 1 : 2), /* pixels per lane */
        N = PIX * C,
        WORDS = N * (int)sizeof(T) / 4,
        LEAD = TAPS / 2, /* pixels of a window to the left of its pixel */
        IDLE = (LEAD + PIX - 1) / PIX,
        OWNERS = 32 - 2 * IDLE,
        HALF = R / 2,
        WAVES = TAPS == 2 ? 3 : 1, /* waves of blocks; 3 where memory is the limit */
        TURNS = R > 2       ? 1
                : TAPS == 6 ? 3
                            : 2, /* source rows per unrolled step */
        OUT = R * WORDS,
        VECTOR = OUT % 4 == 0   ? 4
                 : OUT % 2 == 0 ? 2
                                : 1,
    };
};

/* Loads the first `there` of the words that are a lane's samples of a row; the other words do not
 * exist. */
template <int WORDS>
static __device__ __forceinline__ void fetch(unsigned *words, const char *p, int there)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        if (WORDS % 2 == 1) {
            words[i] = i < there ? ((const unsigned *)p)[i] : 0;
        } else if (i % 2 == 0) {
            uint2 two = there > 0 ? ((const uint2 *)p)[i / 2] : make_uint2(0, 0);
            words[i] = two.x;
            words[i + 1 < WORDS ? i + 1 : i] = two.y;
        }
}

/* Computes R results for each pixel of a lane, from LEAD + PIX + LEAD pixels. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void make_results(float *f, const float *window,
                                                    const float (&weights)[R][TAPS])
{
    typedef form<T, R, TAPS, C> m;
#pragma unroll
    for (int t = 0; t < TAPS; t++) /* independent chains of fmaf */
#pragma unroll
        for (int i = 0; i < R * m::N; i++) {
            const int c = i % C, phase = i / C % R, pixel = i / C / R;
            const float v = window[(pixel + (phase >= m::HALF) + t) * C + c];
            f[i] = __fmaf_rn(weights[phase][t], v, t == 0 ? 0.0f : f[i]);
        }
}

/* The words of a row that a lane stores, which are words begin to end - 1. `parts` is set if at
 * least one lane of the warp does not store all of its words. */
struct share {
    int begin, end;
    bool parts;
};

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ struct share share_of(const struct enlarge_args<R, TAPS> &args,
                                                        int pixel, int lane)
{
    typedef form<T, R, TAPS, C> m;
    enum { BYTES = C * (int)sizeof(T) };
    int x = pixel * R, end = args.across.n - (args.across.count - args.across.low) - x;
    bool lends = pixel < 0 || (lane < m::IDLE && pixel >= m::IDLE * m::PIX) ||
                 (lane >= 32 - m::IDLE && pixel + m::IDLE * m::PIX < args.src.width);
    struct share share = {max((args.across.low - x) * BYTES / 4, 0),
                          min(end * BYTES / 4, (int)m::OUT), false};
    if (lends || share.begin >= share.end)
        share.begin = share.end = 0;
    bool part = share.begin < share.end && share.end - share.begin < m::OUT;
    share.parts = __any_sync(0xffffffffu, part);
    return share;
}

template <int WORDS, int VECTOR>
static __device__ __forceinline__ void store(unsigned *out, const unsigned *words,
                                             const struct share &share)
{
    if (!share.parts) {
        if (share.end > 0)
#pragma unroll
            for (int i = 0; i < WORDS; i += VECTOR)
                words_store<VECTOR>(out + i, words + i);
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        if (i >= share.begin && i < share.end)
            out[i] = words[i];
}

/* Computes and stores one row of the result, from the window of rows v. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void
make_row(const struct enlarge_args<R, TAPS> &args, const float (&weights)[TAPS],
         const float (&v)[TAPS][form<T, R, TAPS, C>::N], const struct share &share, unsigned *out)
{
    typedef form<T, R, TAPS, C> m;
    enum { N = m::N, SIDE = m::LEAD * C };
    float window[N + 2 * SIDE], f[R * N];
    float *sums = window + SIDE;
#pragma unroll
    for (int t = 0; t < TAPS; t++)
#pragma unroll
        for (int i = 0; i < N; i++)
            sums[i] = __fmaf_rn(weights[t], v[t][i], t == 0 ? 0.0f : sums[i]);
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        const int far = (SIDE - i + N - 1) / N, near = i / N + 1; /* lanes to the left, right */
        window[i] = __shfl_up_sync(0xffffffffu, sums[i - SIDE + far * N], far);
        sums[N + i] = __shfl_down_sync(0xffffffffu, sums[i % N], near);
    }
    make_results<T, R, TAPS, C>(f, window, args.row.inner);
    unsigned words[m::OUT];
#pragma unroll
    for (int i = 0; i < m::OUT; i++)
        words[i] = sample_pack<T>(f + i * (4 / (int)sizeof(T)));
    store<m::OUT, m::VECTOR>(out, words, share);
}

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void slide(const struct enlarge_args<R, TAPS> &args, int warp)
{
    typedef form<T, R, TAPS, C> m;
    enum { N = m::N, WORDS = m::WORDS };
    if (warp >= args.strips * args.bands)
        return;
    int lane = (int)threadIdx.x % 32;
    int pixel = (warp % args.strips * m::OWNERS + lane) * m::PIX - args.before;
    struct rows rows = rows_of(args.end - args.first, warp / args.strips, args.bands);
    int from = args.first + rows.from, end = args.first + rows.end;
    int low = args.col.low, inner = inner_end(args.col) - low; /* rows */
    struct share share = share_of<T, R, TAPS, C>(args, pixel, lane);
    size_t start = (size_t)pixel * C * sizeof(T), stride = args.src.stride;
    int there = start < stride ? (int)((stride - start) / 4) : 0;
    const char *next = (const char *)args.src.data + start + (size_t)from * stride;
    int y = (from - args.col.inner_first[0]) * R - (R - m::HALF) - args.col.shift - low;
    char *out = (char *)args.dst.data + ((long long)y + low) * (long long)args.dst.stride +
                (size_t)(pixel / m::PIX) * m::OUT * 4;
    float v[TAPS][N];
    unsigned ahead[2][WORDS];
#pragma unroll
    for (int t = 1; t < TAPS; t++, next += stride) {
        /* Load the first TAPS - 1 rows, and two rows ahead. */
        fetch<WORDS>(ahead[0], next, there);
#pragma unroll
        for (int i = 0; i < N; i++)
            v[t][i] = sample_unpack<T>(ahead[0], i);
    }
#pragma unroll
    for (int i = 0; i < 2; i++, next += stride)
        fetch<WORDS>(ahead[i], next, from + TAPS - 1 + i < args.src.height ? there : 0);
#pragma unroll(m::TURNS)
    for (int window = from; window < end; window++, next += stride) {
        /* Shift the window of rows by one. Load the row after the next row. */
#pragma unroll
        for (int i = 0; i < N; i++) {
#pragma unroll
            for (int t = 0; t + 1 < TAPS; t++)
                v[t][i] = v[t + 1][i];
            v[TAPS - 1][i] = sample_unpack<T>(ahead[0], i);
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            ahead[0][i] = ahead[1][i];
        fetch<WORDS>(ahead[1], next, window + TAPS + 1 < args.src.height ? there : 0);
        /* Compute columns, exchange, compute rows, store: R rows of the result. */
#pragma unroll
        for (int i = 0; i < R; i++, y++, out += args.dst.stride)
            if ((unsigned)y < (unsigned)inner)
                make_row<T, R, TAPS, C>(args, args.col.inner[(i + m::HALF) % R], v, share,
                                        (unsigned *)out);
    }
}

template <typename T, int TAPS>
static __device__ __forceinline__ float result_of(const T *p, size_t stride, int channels,
                                                  const struct one_side<TAPS> &row,
                                                  const struct one_side<TAPS> &col)
{
    float sums[TAPS] = {}, f = 0;
#pragma unroll
    for (int i = 0; i < TAPS; i++)
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            T v = *(const T *)((const char *)(p + t * channels) + i * stride);
            sums[t] = __fmaf_rn(col.weights[i], (float)v, sums[t]);
        }
#pragma unroll
    for (int t = 0; t < TAPS; t++)
        f = __fmaf_rn(row.weights[t], sums[t], f);
    return f;
}

/* One thread per sample. */
template <typename T, int R, int TAPS, int C>
static __device__ void make_alone(const struct enlarge_args<R, TAPS> &args, int block)
{
    long long sample = (long long)block * blockDim.x + threadIdx.x;
    struct border down = border_of(args.col);
    if (sample >= edge_results(args.across, down) * C)
        return;
    int c = (int)(sample % C), x, y;
    edge_place(args.across, down, sample / C, &x, &y);
    struct one_side<TAPS> row = side_at(args.row, x), col = side_at(args.col, y);
    const char *from = (const char *)args.src.data + (size_t)col.first * args.src.stride;
    T *out = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride) + (size_t)x * C + c;
    sample_store(
        out, result_of((const T *)from + (size_t)row.first * C + c, args.src.stride, C, row, col));
}

template <typename T, int R, int TAPS, int C>
static __global__ void __launch_bounds__(WARPS * 32)
    enlarge(const __grid_constant__ struct enlarge_args<R, TAPS> args)
{
    int block = (int)blockIdx.x;
    if (block < args.sliding_blocks)
        slide<T, R, TAPS, C>(args, block * WARPS + (int)threadIdx.x / 32);
    else
        make_alone<T, R, TAPS, C>(args, block - args.sliding_blocks);
}

/* ---- launcher ---- */

static int floor_div(int a, int b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Returns whether the windows of inner results are positioned as in an enlargement by `ratio` with
 * this `shift`. *first is then the start of the window of result 0. */
static bool lies(const struct gi_resample_side *side, int ratio, int shift, int *first)
{
    int low, high, middle = side->n / 2;
    for (int i = middle; i < middle + ratio && i < side->n; i++) {
        int phase = (i + shift) % ratio, turn = (i + shift) / ratio;
        int zero = side->first[i] - side->origin - turn - (phase >= ratio / 2);
        if (i > middle && zero != *first)
            return false;
        *first = zero;
    }
    return inner_of(side, ratio, 1, 6 * ratio, &low, &high);
}

static int shift_of(const struct gi_resample_side *side, int ratio)
{
    int first = 0, shift = 0;
    while (shift < ratio && !lies(side, ratio, shift, &first))
        shift++;
    return shift;
}

/* 2, 3 or 4; 0 for any other ratio. */
static int ratio_of(const struct gi_resample *spec)
{
    int first = 0;
    for (int ratio = 2; ratio <= 4; ratio++)
        if (lies(&spec->row, ratio, 0, &first) && first == -spec->row.taps / 2 &&
            shift_of(&spec->col, ratio) < ratio)
            return ratio;
    return 0;
}

bool gi_cuda_enlarge_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    int taps = spec->row.taps;
    return (taps == 2 || taps == 4 || taps == 6) && taps == spec->col.taps && !spec->integer &&
           !spec->row.sums && (src->channels == 1 || (src->channels == 3 && src->type == GI_U8)) &&
           ratio_of(spec) > 0;
}

/* Extends the results that are computed one by one, so that they fill whole words of `each`
 * results. */
static struct border words_of(const struct border &border, int each)
{
    int low = ceil_div(border.low, each) * each;
    int end = (border.n - (border.count - border.low)) / each * each;
    if (end <= low)
        return {border.n, border.n, border.n};
    return {border.n, low, low + border.n - end};
}

template <typename T, int R, int TAPS, int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    typedef form<T, R, TAPS, C> m;
    struct enlarge_args<R, TAPS> args = {};
    int resident = 0;
    args.dst = *dst;
    args.src = *src;
    ends_fill(&args.row, &spec->row, 1, 0);
    ends_fill(&args.col, &spec->col, 1, shift_of(&spec->col, R));
    int later = R - m::HALF + args.col.shift; /* results whose window begins a pixel early */
    args.first = floor_div(args.col.low + later, R) + args.col.inner_first[0];
    args.end = floor_div(inner_end(args.col) - 1 + later, R) + args.col.inner_first[0] + 1;
    args.across = words_of(border_of(args.row), 4 / (int)sizeof(T));
    /* At the ends of a row a strip needs no halo lane. If the first strip nevertheless has a halo
     * lane, strips begin at whole memory sectors, but one more strip may be necessary. */
    int lanes = ceil_div(src->width, m::PIX);
    int apart = ceil_div(max(lanes - 2 * m::IDLE, 1), m::OWNERS);
    args.strips = ceil_div(max(lanes - m::IDLE, 1), m::OWNERS);
    args.before = m::IDLE * m::PIX;
    if (m::WAVES == 1 && apart < args.strips) {
        args.strips = apart;
        args.before = 0;
    }
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, enlarge<T, R, TAPS, C>,
                                                              WARPS * 32, 0));
    int bands = m::WAVES * cu->units * (resident < 1 ? 1 : resident) * WARPS / args.strips;
    bands = min(bands, (args.end - args.first) / TAPS);
    args.bands = bands < 1 ? 1 : bands;
    args.sliding_blocks = ceil_div((long long)args.strips * args.bands, WARPS);
    long long alone = edge_results(args.across, border_of(args.col)) * C;
    unsigned blocks = (unsigned)(args.sliding_blocks + ceil_div(alone, WARPS * 32));
    enlarge<T, R, TAPS, C><<<blocks, WARPS * 32, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int R, int TAPS>
static enum gi_status launch_type(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_resample *spec,
                                  struct gi_err *err)
{
    if (src->channels == 3)
        return launch<uint8_t, R, TAPS, 3>(cu, dst, src, spec, err);
    GI_CUDA_TYPES(src->type, launch<T, R, TAPS, 1>(cu, dst, src, spec, err));
}

template <int R>
static enum gi_status launch_taps(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_resample *spec,
                                  struct gi_err *err)
{
    return spec->row.taps == 2   ? launch_type<R, 2>(cu, dst, src, spec, err)
           : spec->row.taps == 4 ? launch_type<R, 4>(cu, dst, src, spec, err)
                                 : launch_type<R, 6>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_enlarge(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_resample *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int ratio = ratio_of(spec);
    return ratio == 2   ? launch_taps<2>(cu, dst, src, spec, err)
           : ratio == 3 ? launch_taps<3>(cu, dst, src, spec, err)
                        : launch_taps<4>(cu, dst, src, spec, err);
}
