/* Reduction by the integer ratio R in one pass, for R to 6 R taps: a separable filter evaluated at
 * every R-th pixel. R is 2, 4 or 8 for gray and RGB of 8 bits, 2 or 4 for RGBA of 8 bits with
 * colour weighted by alpha, and 2 for gray of 16 bits and floats.
 *
 * A block owns a strip of source samples and a band of rows, and moves down the band, R source rows
 * per step. A thread owns OWN neighbouring samples. Columns: each source row is added to K =
 * TAPS / R partial sums, which stay in registers. Rows: a finished row of column sums goes to
 * shared memory, where each thread computes PIX neighbouring pixels.
 *
 *     source: OWN samples per thread           shared memory: two rows of column sums
 *     +-----+-----+-----+- ... -+-----+       +----------------------------+
 *     | t0  | t1  | t2  |       | t95 |  put  | even chunks  | odd chunks  |  get
 *     +-----+-----+-----+- ... -+-----+ ----> +----------------------------+ ----> PIX pixels
 *     R rows -> K partial sums (registers)      chunk = 4 floats                  per thread
 *
 * Exchange: double buffering, with one barrier per step. Even and odd chunks of gray are stored in
 * separate halves, so that accesses are free of bank conflicts (SPLIT).
 *
 * Phases of a step: compute columns, load (AHEAD steps ahead), exchange, compute rows, store.
 *
 * Results near the ends have different weights. Further blocks compute these results. Rows at the
 * top and bottom are computed by strips, and all other end results one by one. The further blocks
 * come last, when multiprocessors become free.
 *
 * Example: R = 2, TAPS = 8, gray. K = 4 sums of OWN = 8 samples; PIX = 4 pixels read a window of 14
 * sums in CHUNKS = 4 chunks; 96 threads, of which HALO = 2 own no pixels, compute 376 pixels of a
 * row with 6144 bytes of shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/quotients.cuh"
#include "kernels/cuda/common/sliding_window_raw.cuh"
#include "kernels/cuda/geometry/resample_ends.cuh"
#include "kernels/cuda/geometry/resample_ratio.h"

template <int TAPS> struct ratio_args {
    struct gi_image dst, src;
    float column[TAPS], along[TAPS]; /* inner weights, scaled for raw samples */
    int strips, strip_pixels, bands;
    int end_rows;        /* rows at the top and bottom that are computed by strips */
    struct border alone; /* results that are computed one by one */
    int x0;              /* start of the first strip, at or before the first inner pixel */
    float raw;           /* factor from column sums to raw sums, a power of 2 */
    struct ends<TAPS, 1> row, col;
};

template <typename T, int R, int TAPS, int C> struct shape {
    enum {
        K = TAPS / R,
        /* Samples of a row per thread. There are 8, or 12 (4 pixels) of RGB with few partial
         * sums. */
        OWN = C == 3 && K <= 2 ? 12 : 8,
        WORDS = OWN * (int)sizeof(T) / 4, /* of memory */
        OWN_CHUNKS = OWN / 4,
        PIX = C == 1 ? (R == 2   ? 4
                        : R == 4 ? 2
                                 : 1)
                     : (C == 3 && R == 2 ? 2 : 1),
        LEAD = (TAPS - R) / 2 * C,           /* samples of a window before its result pixels */
        SHIFT = (OWN - LEAD % OWN) % OWN,    /* samples from a strip's start to its first window */
        WINDOW = (TAPS + (PIX - 1) * R) * C, /* samples under PIX pixels */
        STEP = PIX * R * C,
        SKIP = SHIFT % 4,
        CHUNKS = (SKIP + WINDOW + 3) / 4,        /* of 4 floats, from chunk SHIFT / 4 on */
        SPLIT = C == 1 || C == 4,                /* even chunks first, to avoid bank conflicts */
        AHEAD = R == 2 && sizeof(T) < 4 ? 2 : 1, /* steps of R rows that are loaded ahead */
        GROUP = 8 / R > PIX ? 8 / R : PIX,       /* strips begin at multiples of GROUP pixels */
        HALO = (SHIFT + (TAPS - R) * C + 3 + OWN - 1) / OWN, /* threads without pixels */
        THREADS = HALO > 6 ? 256 : 96,
        /* Blocks per multiprocessor, for launch bounds: colour to a half in at most 80 or 64
         * registers. 0: no bound. */
        BOUND = R == 2 && C >= 3 && THREADS == 96 && TAPS >= 8,
        BLOCKS = !BOUND       ? 0
                 : TAPS == 12 ? 8
                              : 10,
    };
};

/* ---- the inner results ---- */

/* Adds row r of R rows to the partial sums, of which sum `oldest` is the first. Tap 0 begins a new
 * sum. */
template <typename T, int R, int TAPS, int C, int K, int OWN>
static __device__ __forceinline__ void add_row(float (&sum)[K][OWN], float (&done)[K][OWN],
                                               const float *weights, const unsigned *words, int r,
                                               int oldest)
{
    float v[OWN];
    if constexpr (C == 4) {
#pragma unroll
        for (int p = 0; p < OWN / C; p++)
            raw_premultiply<T, C>(v + p * C, words, p);
    } else {
#pragma unroll
        for (int i = 0; i < OWN; i++)
            v[i] = raw_unpack<T>(words, i);
    }
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int tap = r + R * (K - 1 - k); /* sum 0 is the oldest */
        if (k < oldest)
            continue;
        float w = weights[tap];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            float before = r > 0 ? sum[k][i] : k + 1 < K ? sum[k + 1 < K ? k + 1 : k][i] : 0.0f;
            if (TAPS > GI_TAPS_BLOCK && r == 0) { /* a second block of taps begins or continues */
                if (tap == GI_TAPS_BLOCK) {
                    done[k][i] = before;
                    before = 0.0f;
                } else if (tap > GI_TAPS_BLOCK) {
                    done[k][i] = done[k + 1 < K ? k + 1 : k][i];
                }
            }
            sum[k][i] = __fmaf_rn(w, v[i], before);
        }
    }
}

/* Loads the first `there` of the words that are a thread's samples of a row; the other words do not
 * exist. */
template <int WORDS>
static __device__ __forceinline__ void fetch(unsigned (&words)[WORDS], const char *p, int there)
{
    if (WORDS == 2 && there > 0) {
        uint2 two = __ldcs((const uint2 *)p); /* streaming load: not needed again */
        words[0] = two.x;
        words[1] = two.y;
    } else if (WORDS % 4 == 0 && there > 0) {
#pragma unroll
        for (int i = 0; i < WORDS / 4; i++)
            ((uint4 *)words)[i] = __ldcs((const uint4 *)p + i);
    }
#pragma unroll
    for (int i = 0; i < WORDS && WORDS == 3; i++)
        if (i < there)
            words[i] = ((const unsigned *)p)[i];
}

/* Computes PIX pixels from a row of column sums. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void make_pixels(float *f, const struct ratio_args<TAPS> &args,
                                                   const float4 *sums)
{
    typedef shape<T, R, TAPS, C> s;
    enum { N = s::PIX * C, FROM = s::SHIFT / 4 };
    float v[s::CHUNKS * 4], first[N] = {};
    int half = (int)blockDim.x;
#pragma unroll
    for (int j = 0; j < s::CHUNKS; j++) {
        float4 four = s::SPLIT ? sums[(FROM + j) % 2 * half + (FROM + j) / 2] : sums[FROM + j];
        v[4 * j] = four.x;
        v[4 * j + 1] = four.y;
        v[4 * j + 2] = four.z;
        v[4 * j + 3] = four.w;
    }
#pragma unroll
    for (int t = 0; t < TAPS; t++) /* independent chains of fmaf */
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (TAPS > GI_TAPS_BLOCK && t == GI_TAPS_BLOCK)
                first[i] = f[i];
            float before = t % GI_TAPS_BLOCK == 0 ? 0.0f : f[i];
            f[i] = __fmaf_rn(args.along[t], v[s::SKIP + (i / C * R + t) * C + i % C], before);
        }
#pragma unroll
    for (int i = 0; i < N && TAPS > GI_TAPS_BLOCK; i++)
        f[i] = __fadd_rn(first[i], f[i]);
    if constexpr (C == 4) {
        float a = f[3] > 0 ? f[3] : 0.0f;
        divide<T, 3>(f, a);
        f[3] = a;
    }
}

/* Stores samples f[begin] to f[end - 1], as whole words where possible. */
template <typename T, int N>
static __device__ __forceinline__ void store(T *out, const float *f, int begin, int end)
{
    enum { WORDS = N * (int)sizeof(T) / 4 };
    if (N % 2 == 0 && begin <= 0 && end >= N) {
        if constexpr (WORDS > 0 && N * sizeof(T) % 4 == 0 && (sizeof(T) > 1 || N == 4)) {
            unsigned words[WORDS];
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                words[i] = sample_pack<T>(f + i * (4 / (int)sizeof(T)));
            words_store<WORDS>(out, words);
        } else {
#pragma unroll
            for (int i = 0; i + 1 < N; i += 2)
                *(uint16_t *)(out + i) = (uint16_t)sample_pack_two(f + i);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i >= begin && i < end)
            sample_store(out + i, f[i]);
}

/* A thread's part of a strip. */
struct part {
    int x, begin, end; /* first pixel; samples begin to end - 1 are inner results */
    bool mine;         /* whether it has any pixels */
    long long at;      /* byte offset of its samples in a row */
    int there;         /* words of them that are in memory */
    int put, get;      /* first chunk of the thread's column sums; of its first window */
};

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ struct part part_of(const struct ratio_args<TAPS> &args,
                                                      int strip)
{
    typedef shape<T, R, TAPS, C> s;
    int thread = (int)threadIdx.x, x0 = args.x0 + strip * args.strip_pixels;
    struct part part;
    part.x = x0 + thread * s::PIX;
    part.begin = (args.row.low - part.x) * C;
    part.end = (inner_end(args.row) - part.x) * C;
    part.mine = thread * s::PIX < args.strip_pixels && part.end > 0;
    part.at = (((long long)args.row.inner_first[0] + (long long)x0 * R) * C - s::SHIFT +
               (long long)thread * s::OWN) *
              (int)sizeof(T);
    long long left = ((long long)args.src.stride - part.at) / 4;
    part.there = part.at < 0 ? 0 : (int)min(max(left, 0ll), (long long)s::WORDS);
    part.put = thread * (s::SPLIT ? 1 : s::OWN_CHUNKS);
    part.get = thread * (s::SPLIT ? s::STEP / 8 : s::STEP / 4);
    return part;
}

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void put_sums(float4 *put,
                                                const float (&f)[shape<T, R, TAPS, C>::OWN])
{
    typedef shape<T, R, TAPS, C> s;
#pragma unroll
    for (int j = 0; j < s::OWN_CHUNKS; j++)
        put[s::SPLIT ? j * (int)blockDim.x : j] =
            make_float4(f[4 * j], f[4 * j + 1], f[4 * j + 2], f[4 * j + 3]);
}

/* State of a thread: its partial sums, beginning with the oldest sum, and rows that are loaded
 * ahead. */
template <typename T, int R, int TAPS, int C> struct sliding_sums {
    typedef shape<T, R, TAPS, C> s;
    float sum[s::K][s::OWN], done[s::K][s::OWN];
    unsigned ahead[s::AHEAD][R][s::WORDS];
    const char *next; /* next row to load */
};

/* Adds R rows to the sums. If `more`, loads R further rows. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void take_rows(struct sliding_sums<T, R, TAPS, C> &m,
                                                 const struct ratio_args<TAPS> &args, int there,
                                                 bool more, int oldest)
{
    enum { AHEAD = shape<T, R, TAPS, C>::AHEAD, WORDS = shape<T, R, TAPS, C>::WORDS };
#pragma unroll
    for (int r = 0; r < R; r++, m.next += args.src.stride) {
        add_row<T, R, TAPS, C>(m.sum, m.done, args.column, m.ahead[0][r], r, oldest);
#pragma unroll
        for (int i = 0; i < (AHEAD - 1) * WORDS; i++)
            m.ahead[i / WORDS][r][i % WORDS] = m.ahead[i / WORDS + 1][r][i % WORDS];
        if (more)
            fetch(m.ahead[AHEAD - 1][r], m.next, there);
    }
}

template <typename T, int R, int TAPS, int C>
static __device__ void inner(const struct ratio_args<TAPS> &args, int block, float4 *shared)
{
    typedef shape<T, R, TAPS, C> s;
    enum { K = s::K, N = s::PIX * C, AHEAD = s::AHEAD };
    struct part part = part_of<T, R, TAPS, C>(args, block % args.strips);
    struct rows rows = rows_of(args.col.n - args.col.count, block / args.strips, args.bands);
    int y0 = args.col.low + rows.from, steps = rows.end - rows.from + K - 1;
    int y = args.col.inner_first[0] + y0 * R;                  /* of the source */
    int there = min((args.src.height - y) / R, steps) - AHEAD; /* steps that may be loaded */
    char *out =
        (char *)args.dst.data + (size_t)y0 * args.dst.stride + (size_t)part.x * C * sizeof(T);
    float4 *put = shared + part.put;
    const float4 *get = shared + part.get;
    int other = s::OWN_CHUNKS * (int)blockDim.x; /* chunks to the other row of sums */
    struct sliding_sums<T, R, TAPS, C> m = {};
    m.next = (const char *)args.src.data + (size_t)y * args.src.stride + part.at;
    /* Load the first steps. */
#pragma unroll
    for (int i = 0; i < AHEAD * R; i++, m.next += args.src.stride)
        if (i / R < there + AHEAD)
            fetch(m.ahead[i / R][i % R], m.next, part.there);
#pragma unroll
    for (int step = 0; step < K - 1; step++)
        take_rows<T, R, TAPS, C>(m, args, part.there, step < there, K - 1 - step);
    for (int step = K - 1; step < steps; step++) {
        /* Compute columns from R rows, and load R later rows. */
        take_rows<T, R, TAPS, C>(m, args, part.there, step < there, 0);
#pragma unroll
        for (int i = 0; i < s::OWN && TAPS > GI_TAPS_BLOCK; i++)
            m.done[0][i] = __fadd_rn(m.done[0][i], m.sum[0][i]);
        /* Exchange: publish the finished row of column sums. */
        put_sums<T, R, TAPS, C>(put, TAPS > GI_TAPS_BLOCK ? m.done[0] : m.sum[0]);
        __syncthreads();
        if (part.mine) {
            /* Compute rows and store. */
            float f[N];
            make_pixels<T, R, TAPS, C>(f, args, get);
            store<T, N>((T *)out, f, part.begin, part.end);
        }
        out += args.dst.stride;
        put += other;
        get += other;
        other = -other;
    }
}

/* Computes the part of a row near the top or bottom whose results are inner results in x. The
 * column weights are those of the row. */
template <typename T, int R, int TAPS, int C>
static __device__ void end_row(const struct ratio_args<TAPS> &args, int block, float4 *shared)
{
    enum { N = shape<T, R, TAPS, C>::PIX * C, OWN = shape<T, R, TAPS, C>::OWN };
    struct part part = part_of<T, R, TAPS, C>(args, block % args.strips);
    int i = block / args.strips, y = i < args.col.low ? i : i + args.col.n - args.col.count;
    const char *p =
        (const char *)args.src.data + (size_t)args.col.first[i] * args.src.stride + part.at;
    float sum[OWN] = {}, before[OWN] = {};
#pragma unroll(12)
    for (int t = 0; t < TAPS; t++, p += args.src.stride) {
        unsigned words[shape<T, R, TAPS, C>::WORDS] = {};
        fetch(words, p, part.there);
#pragma unroll
        for (int j = 0; j < OWN; j++) {
            if (TAPS > GI_TAPS_BLOCK && t == GI_TAPS_BLOCK) {
                before[j] = sum[j];
                sum[j] = 0;
            }
            float v = sample_unpack<T>(words, j);
            if (C == 4 && j % C < 3)
                v = __fmul_rn(v, sample_unpack<T>(words, j / C * C + 3));
            sum[j] = __fmaf_rn(args.col.weights[i][t], v, sum[j]);
        }
    }
#pragma unroll
    for (int j = 0; j < OWN; j++)
        sum[j] = __fmul_rn(TAPS > GI_TAPS_BLOCK ? __fadd_rn(before[j], sum[j]) : sum[j], args.raw);
    put_sums<T, R, TAPS, C>(shared + part.put, sum);
    __syncthreads();
    if (!part.mine)
        return;
    float f[N];
    make_pixels<T, R, TAPS, C>(f, args, shared + part.get);
    store<T, N>((T *)((char *)args.dst.data + (size_t)y * args.dst.stride) + (size_t)part.x * C, f,
                part.begin, part.end);
}

template <typename T, int R, int TAPS, int C>
static __global__ void __launch_bounds__(shape<T, R, TAPS, C>::THREADS,
                                         shape<T, R, TAPS, C>::BLOCKS)
    reduce(const __grid_constant__ struct ratio_args<TAPS> args)
{
    extern __shared__ float4 shared[];
    int block = (int)blockIdx.x, inner_blocks = args.strips * args.bands;
    int end_blocks = args.strips * args.end_rows;
    if (block < inner_blocks)
        inner<T, R, TAPS, C>(args, block, shared);
    else if (block < inner_blocks + end_blocks)
        end_row<T, R, TAPS, C>(args, block - inner_blocks, shared);
    else
        make_alone<T, TAPS, C>(args.dst, args.src, args.row, args.col, border_of(args.row),
                               args.alone, block - inner_blocks - end_blocks);
}

/* ---- launcher ---- */

/* Returns whether results are not divided, or divided by a power of 2. */
static bool halves(const struct gi_resample *spec)
{
    const struct gi_resample_side *row = &spec->row, *col = &spec->col;
    if (!row->sums)
        return true;
    float sums = row->sums[row->phase[row->n / 2]] * col->sums[col->phase[col->n / 2]];
    return sums > 0 && sums == ldexpf(1, ilogbf(sums));
}

static bool reduces(const struct gi_resample_side *side, enum gi_type type, int *ratio)
{
    int low, high, middle = side->n / 2;
    *ratio = middle > 0 ? side->first[middle] - side->first[middle - 1] : 0;
    return inner_of(side, 1, *ratio, ends<1, 1>::MAX, &low, &high) &&
           raw_fits(type, side->weights + (size_t)side->phase[side->n / 2] * (size_t)side->taps,
                    side->taps, 1);
}

bool gi_cuda_ratio_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    int x, y, taps = spec->row.taps;
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, bytes = src->type == GI_U8;
    bool shaped =
        src->channels == 1 || (bytes && (src->channels == 3 || (src->channels == 4 && weigh)));
    if (!shaped || spec->integer || taps != spec->col.taps ||
        (src->type == GI_F32 && spec->row.sums) || !reduces(&spec->row, src->type, &x) ||
        !reduces(&spec->col, src->type, &y) || x != y)
        return false;
    int middle = spec->row.n / 2;
    if (!halves(spec) ||
        spec->row.first[middle] - middle * x != -(taps - x) / 2) /* strips begin at words */
        return false;
    if (x == 2 || !bytes)
        return x == 2 && (taps == 2 || taps == 4 || taps == 8 || taps == 12);
    return (x == 4 && (taps == 4 || taps == 8 || taps == 16 || taps == 24)) ||
           (x == 8 && src->channels < 4 && (taps == 8 || taps == 16 || taps == 32 || taps == 48));
}

template <typename T, int R, int TAPS, int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    typedef shape<T, R, TAPS, C> s;
    struct ratio_args<TAPS> args = {};
    args.dst = *dst;
    args.src = *src;
    ends_fill(&args.row, &spec->row, R, 0);
    ends_fill(&args.col, &spec->col, R, 0);
    struct raw_scale scale = raw_scale_of(src->type, args.col.inner[0], TAPS);
    args.raw = ldexpf(1, -scale.rest);
    weights_scale(args.column, args.col.inner[0], TAPS, scale.weights);
    weights_scale(args.along, args.row.inner[0], TAPS,
                  scale.rest - ilogbf(args.row.sum * args.col.sum));
    args.x0 = args.row.low / s::GROUP * s::GROUP;
    int wide = (s::THREADS - s::HALO) * s::OWN / s::STEP * s::PIX / s::GROUP * s::GROUP;
    int pixels = inner_end(args.row) - args.x0, resident = 0;
    args.strips = ceil_div(pixels, wide);
    args.strip_pixels = ceil_div(ceil_div(pixels, args.strips), s::GROUP) * s::GROUP;
    size_t nbytes = 2 * sizeof(float4) * s::THREADS * s::OWN_CHUNKS;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce<T, R, TAPS, C>,
                                                              s::THREADS, nbytes));
    int rows = args.col.n - args.col.count, most = cu->units * (resident < 1 ? 1 : resident);
    int bands = most / args.strips, worth = rows * R / (2 * TAPS); /* limited by the halo rows */
    bands = bands < worth ? bands : worth;
    args.bands = bands < 1 ? 1 : bands;
    args.end_rows = spec->row.sums ? 0 : args.col.count;
    args.alone = border_of(args.col);
    if (args.end_rows)
        args.alone.low = args.alone.count = 0;
    int alone = alone_blocks<TAPS>(border_of(args.row), args.alone, C, s::THREADS);
    unsigned blocks = (unsigned)(args.strips * (args.bands + args.end_rows) + alone);
    reduce<T, R, TAPS, C><<<blocks, s::THREADS, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T, int R, int TAPS>
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_resample *spec,
                                      struct gi_err *err)
{
    if constexpr (sizeof(T) == 1)
        if (src->channels == 3)
            return launch<T, R, TAPS, 3>(cu, dst, src, spec, err);
    if constexpr (sizeof(T) == 1 && R < 8)
        if (src->channels == 4)
            return launch<T, R, TAPS, 4>(cu, dst, src, spec, err);
    return launch<T, R, TAPS, 1>(cu, dst, src, spec, err);
}

template <typename T, int R, int A, int B, int... MORE>
static enum gi_status launch_taps(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_resample *spec,
                                  struct gi_err *err)
{
    if (spec->row.taps == A)
        return launch_channels<T, R, A>(cu, dst, src, spec, err);
    if constexpr (sizeof...(MORE) > 0)
        return launch_taps<T, R, B, MORE...>(cu, dst, src, spec, err);
    else
        return launch_channels<T, R, B>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_ratio(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int ratio;
    reduces(&spec->row, src->type, &ratio);
    if (ratio == 2)
        GI_CUDA_TYPES(src->type, launch_taps<T, 2, 2, 4, 8, 12>(cu, dst, src, spec, err));
    if (ratio == 4)
        return launch_taps<uint8_t, 4, 4, 8, 16, 24>(cu, dst, src, spec, err);
    return launch_taps<uint8_t, 8, 8, 16, 32, 48>(cu, dst, src, spec, err);
}
