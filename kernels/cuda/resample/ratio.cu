/* Reductions of bytes by whole ratios R, in one pass. A block owns a strip of the source's samples
 * and marches down a band of its rows, a thread 8 neighbouring samples: a row's samples go at once
 * into the TAPS / R sums in flight of each column, which stay in registers. A finished row of
 * column sums goes to shared memory, where a thread makes PIX neighbouring pixels of it.
 *
 * Results near the ends have weights of their own: further blocks make them, a warp each.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/march_raw.cuh"
#include "kernels/cuda/resample/ends.cuh"
#include "kernels/cuda/resample/ratio.h"

enum {
    OWN = 8,       /* samples of a row that a thread owns */
    WARPS_MIN = 2, /* of a block */
    WARPS_MAX = 8,
};

template <int TAPS> struct ratio_args {
    struct gi_image dst, src;
    struct ends<TAPS, 1> row, col;
    float column[TAPS], along[TAPS]; /* the inner weights as raw samples want them */
    bool divide;                     /* by the sums; else by a power of two, */
    float inverse;                   /* times this */
    int edge_blocks, strips, strip_pixels, band_rows;
    int x0; /* where the first strip begins: an inner pixel, or some before */
};

/* Floats to padded places, so that threads at strides of 4, 8, 16, 32 floats meet no bank twice. */
static __device__ __forceinline__ int padded(int chunk)
{
    return chunk + (chunk >> 3);
}

template <int R, int TAPS, int C> struct shape {
    enum {
        K = TAPS / R,
        PIX = C == 1 ? (R == 2   ? 4
                        : R == 4 ? 2
                                 : 1)
                     : (C == 3 && R == 2 ? 2 : 1),
        LEAD = (TAPS - R) / 2 * C,           /* samples in front of a window's own ones */
        SHIFT = (OWN - LEAD % OWN) % OWN,    /* of a strip's first window in its first word */
        WINDOW = (TAPS + (PIX - 1) * R) * C, /* samples under PIX pixels */
        STEP = PIX * R * C,
        SKIP = SHIFT % 4,
        CHUNKS = (SKIP + WINDOW + 3) / 4,
        GROUP = 8 / R > PIX ? 8 / R : PIX, /* a strip begins at a multiple of so many pixels */
        HALO = (SHIFT + (TAPS - R) * C + 3 + OWN - 1) / OWN, /* threads that own no pixels */
    };
};

/* ---- the inner results ---- */

/* Rows of the source go into the sums; `fresh` begins a new one. */
template <int R, int TAPS, int K>
static __device__ __forceinline__ void add_row(float (&sum)[K][OWN], float (&done)[K][OWN],
                                               const float *weights, uint2 words, int r)
{
    float v[OWN];
    const unsigned both[2] = {words.x, words.y};
#pragma unroll
    for (int i = 0; i < OWN; i++)
        v[i] = raw_unpack<uint8_t>(both, i);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int tap = r + R * (K - 1 - k); /* sum 0 is the oldest */
        float w = weights[tap];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            float before = r > 0 ? sum[k][i] : k + 1 < K ? sum[k + 1 < K ? k + 1 : k][i] : 0.0f;
            if (TAPS > GI_TAPS_BLOCK && r == 0) { /* a second block begins, or goes on */
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

template <int TAPS>
static __device__ __forceinline__ uint2 words_at(const struct ratio_args<TAPS> &args, long long at,
                                                 int y)
{
    if (at < 0 || at + OWN > (long long)args.src.stride || y >= args.src.height)
        return make_uint2(0, 0);
    return *(const uint2 *)((const char *)args.src.data + (size_t)y * args.src.stride + at);
}

/* PIX pixels from a row of column sums. */
template <int R, int TAPS, int C>
static __device__ __forceinline__ void make_pixels(const struct ratio_args<TAPS> &args,
                                                   const float4 *sums, int thread, int x, int y)
{
    typedef shape<R, TAPS, C> s;
    enum { PIX = s::PIX };
    float v[s::CHUNKS * 4], f[PIX * C] = {}, first[PIX * C] = {};
    int chunk = (s::SHIFT + thread * s::STEP) / 4;
#pragma unroll
    for (int j = 0; j < s::CHUNKS; j++) {
        float4 four = sums[padded(chunk + j)];
        v[4 * j] = four.x;
        v[4 * j + 1] = four.y;
        v[4 * j + 2] = four.z;
        v[4 * j + 3] = four.w;
    }
#pragma unroll
    for (int t = 0; t < TAPS; t++) /* chains side by side */
#pragma unroll
        for (int i = 0; i < PIX * C; i++) {
            if (TAPS > GI_TAPS_BLOCK && t == GI_TAPS_BLOCK) {
                first[i] = f[i];
                f[i] = 0;
            }
            f[i] = __fmaf_rn(args.along[t], v[s::SKIP + (i / C * R + t) * C + i % C], f[i]);
        }
#pragma unroll
    for (int i = 0; i < PIX * C && TAPS > GI_TAPS_BLOCK; i++)
        f[i] = __fadd_rn(first[i], f[i]);
    if (args.divide) {
        float sum = __fmul_rn(args.col.sum, args.row.sum);
#pragma unroll
        for (int i = 0; i < PIX * C; i++)
            f[i] = __fdiv_rn(f[i], sum);
    } else {
#pragma unroll
        for (int i = 0; i < PIX * C; i++)
            f[i] = __fmul_rn(f[i], args.inverse);
    }
    uint8_t *out = (uint8_t *)args.dst.data + (size_t)y * args.dst.stride + (size_t)x * C;
    int left = (inner_end(args.row) - x) * C; /* samples */
    int skip = (args.row.low - x) * C;
    if (C == 1 && PIX == 4 && left >= 4 && skip <= 0 && (size_t)out % 4 == 0) {
        *(unsigned *)out = sample_pack<uint8_t>(f);
        return;
    }
#pragma unroll
    for (int i = 0; i < PIX * C; i++)
        if (i < left && i >= skip)
            sample_store(out + i, f[i]);
}

template <int R, int TAPS, int C>
static __device__ void inner(const struct ratio_args<TAPS> &args, int block, float4 *shared)
{
    typedef shape<R, TAPS, C> s;
    enum { K = s::K, PIX = s::PIX };
    int thread = (int)threadIdx.x;
    int x0 = args.x0 + block % args.strips * args.strip_pixels;
    int y0 = args.col.low + block / args.strips * args.band_rows;
    int y1 = min(y0 + args.band_rows, inner_end(args.col));
    long long at = ((long long)args.row.inner_first[0] + (long long)x0 * R) * C - s::SHIFT +
                   (long long)thread * OWN;
    int y = args.col.inner_first[0] + y0 * R; /* of the source */
    int pitch = padded((int)blockDim.x * (OWN / 4)) + 1;
    int x = x0 + thread * PIX;
    bool mine = thread * PIX < args.strip_pixels && x < inner_end(args.row);
    float sum[K][OWN] = {}, done[K][OWN] = {};
    uint2 ahead[2][R];
#pragma unroll
    for (int i = 0; i < 2 * R; i++)
        ahead[i / R][i % R] = words_at(args, at, y + i);
    for (int step = 0, turn = 0; step < y1 - y0 + K - 1; step++, y += R) {
        uint2 rows[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            rows[r] = ahead[0][r];
            ahead[0][r] = ahead[1][r];
            ahead[1][r] = words_at(args, at, y + 2 * R + r);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
            add_row<R, TAPS, K>(sum, done, args.column, rows[r], r);
        if (step < K - 1)
            continue;
        float4 *sums = shared + turn * pitch;
        turn ^= 1;
#pragma unroll
        for (int j = 0; j < OWN / 4; j++) {
            float f[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                f[i] = TAPS > GI_TAPS_BLOCK ? __fadd_rn(done[0][4 * j + i], sum[0][4 * j + i])
                                            : sum[0][4 * j + i];
            sums[padded(thread * (OWN / 4) + j)] = make_float4(f[0], f[1], f[2], f[3]);
        }
        __syncthreads();
        if (mine)
            make_pixels<R, TAPS, C>(args, sums, thread, x, y0 + step - (K - 1));
    }
}

/* ---- the ends ---- */

/* A warp a result: a lane sums columns, then all of them the row. */
template <int R, int TAPS, int C> static __device__ void edges(const struct ratio_args<TAPS> &args)
{
    int lane = (int)threadIdx.x % 32, x, y;
    long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    long long warps = (long long)args.edge_blocks * blockDim.x / 32;
    for (; edge_place(args.row, args.col, warp / C, &x, &y); warp += warps) {
        int c = (int)(warp % C);
        struct one_side<TAPS> row = side_at(args.row, x), col = side_at(args.col, y);
        float column[(TAPS + 31) / 32] = {};
        for (int t = lane; t < TAPS; t += 32) {
            const uint8_t *p = (const uint8_t *)args.src.data +
                               (size_t)col.first * args.src.stride + (size_t)(row.first + t) * C +
                               c;
            float s = 0, before = 0;
            for (int i = 0; i < TAPS; i++, p += args.src.stride) {
                if (TAPS > GI_TAPS_BLOCK && i == GI_TAPS_BLOCK) {
                    before = s;
                    s = 0;
                }
                s = __fmaf_rn(col.weights[i], (float)*p, s);
            }
            column[t / 32] = TAPS > GI_TAPS_BLOCK ? __fadd_rn(before, s) : s;
        }
        float s = 0, before = 0;
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            if (TAPS > GI_TAPS_BLOCK && t == GI_TAPS_BLOCK) {
                before = s;
                s = 0;
            }
            s = __fmaf_rn(row.weights[t], __shfl_sync(0xffffffffu, column[t / 32], t % 32), s);
        }
        float f = TAPS > GI_TAPS_BLOCK ? __fadd_rn(before, s) : s;
        f = __fdiv_rn(f, __fmul_rn(col.sum, row.sum));
        if (lane == 0)
            sample_store((uint8_t *)args.dst.data + (size_t)y * args.dst.stride + (size_t)x * C + c,
                         f);
    }
}

template <int R, int TAPS, int C>
static __global__ void __launch_bounds__(WARPS_MAX * 32)
    reduce(const __grid_constant__ struct ratio_args<TAPS> args)
{
    extern __shared__ float4 shared[];
    if ((int)blockIdx.x < args.edge_blocks)
        edges<R, TAPS, C>(args);
    else
        inner<R, TAPS, C>(args, (int)blockIdx.x - args.edge_blocks, shared);
}

/* ---- launcher ---- */

static bool reduces(const struct gi_resample_side *side, int *ratio)
{
    int low, high, middle = side->n / 2;
    *ratio = middle > 0 ? side->first[middle] - side->first[middle - 1] : 0;
    return inner_of(side, 1, *ratio, ends<1, 1>::MAX, &low, &high) &&
           raw_fits(GI_U8, side->weights + (size_t)side->phase[side->n / 2] * (size_t)side->taps,
                    side->taps, 1);
}

bool gi_cuda_ratio_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    int x, y, taps = spec->row.taps;
    bool shaped = src->type == GI_U8 && src->channels % 2 == 1 && !spec->integer &&
                  taps == spec->col.taps && src->stride % OWN == 0 && (size_t)src->data % OWN == 0;
    if (!shaped || !reduces(&spec->row, &x) || !reduces(&spec->col, &y) || x != y)
        return false;
    int middle = spec->row.n / 2;
    if (spec->row.first[middle] - middle * x != -(taps - x) / 2) /* strips begin at words */
        return false;
    return (x == 2 && (taps == 2 || taps == 4 || taps == 8 || taps == 12)) ||
           (x == 4 && (taps == 4 || taps == 8 || taps == 16 || taps == 24)) ||
           (x == 8 && (taps == 8 || taps == 16 || taps == 32 || taps == 48));
}

/* Strips of as many threads as leave the fewest idle. */
template <int R, int TAPS, int C> static int strips_of(struct ratio_args<TAPS> *args)
{
    typedef shape<R, TAPS, C> s;
    args->x0 = args->row.low / s::GROUP * s::GROUP;
    int best = 0, pixels = inner_end(args->row) - args->x0;
    long long least = 0;
    for (int warps = WARPS_MIN; warps <= WARPS_MAX; warps++) {
        int wide = (warps * 32 - s::HALO) * OWN / s::STEP * s::PIX; /* pixels */
        wide = wide / s::GROUP * s::GROUP;
        if (wide < s::GROUP)
            continue;
        int strips = ceil_div(pixels, wide);
        long long threads = (long long)strips * warps * 32;
        if (best == 0 || threads < least) {
            best = warps;
            least = threads;
            args->strips = strips;
            args->strip_pixels = ceil_div(ceil_div(pixels, strips), s::GROUP) * s::GROUP;
        }
    }
    return best * 32;
}

template <int R, int TAPS, int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct ratio_args<TAPS> args = {
    };
    args.dst = *dst;
    args.src = *src;
    ends_fill(&args.row, &spec->row, R, 0);
    ends_fill(&args.col, &spec->col, R, 0);
    float sums = args.row.sum * args.col.sum;
    args.divide = sums != ldexpf(1, ilogbf(sums));
    args.inverse = 1 / sums;
    struct raw_scale scale = raw_scale_of(GI_U8, args.col.inner[0], TAPS);
    weights_scale(args.column, args.col.inner[0], TAPS, scale.weights);
    weights_scale(args.along, args.row.inner[0], TAPS, scale.rest);
    int threads = strips_of<R, TAPS, C>(&args), resident = 0;
    size_t nbytes = 2 * sizeof(float4) * ((size_t)threads * OWN / 4 * 9 / 8 + 2);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce<R, TAPS, C>,
                                                              threads, nbytes));
    int rows = args.col.n - args.col.count, most = cu->units * (resident < 1 ? 1 : resident);
    int bands = most / args.strips < 1 ? 1 : most / args.strips;
    int least = 2 * TAPS / R; /* rows of a band that is worth its halo */
    args.band_rows = ceil_div(rows, bands) < least ? least : ceil_div(rows, bands);
    bands = ceil_div(rows, args.band_rows);
    args.edge_blocks = ceil_div(edge_results(args.row, args.col) * C, 4 * (threads / 32));
    unsigned blocks = (unsigned)(args.edge_blocks + args.strips * bands);
    reduce<R, TAPS, C><<<blocks, threads, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int R, int TAPS>
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_resample *spec,
                                      struct gi_err *err)
{
    return src->channels == 1 ? launch<R, TAPS, 1>(cu, dst, src, spec, err)
                              : launch<R, TAPS, 3>(cu, dst, src, spec, err);
}

template <int R, int A, int B, int... MORE>
static enum gi_status launch_taps(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_resample *spec,
                                  struct gi_err *err)
{
    if (spec->row.taps == A)
        return launch_channels<R, A>(cu, dst, src, spec, err);
    if constexpr (sizeof...(MORE) > 0)
        return launch_taps<R, B, MORE...>(cu, dst, src, spec, err);
    else
        return launch_channels<R, B>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_ratio(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int ratio;
    reduces(&spec->row, &ratio);
    if (ratio == 2)
        return launch_taps<2, 2, 4, 8, 12>(cu, dst, src, spec, err);
    if (ratio == 4)
        return launch_taps<4, 4, 8, 16, 24>(cu, dst, src, spec, err);
    return launch_taps<8, 8, 16, 32, 48>(cu, dst, src, spec, err);
}
