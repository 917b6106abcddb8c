/* Enlarging to R times the size, in one pass. A warp owns a strip of the source and marches down a
 * band of it, a lane some neighbouring pixels, of which it holds the TAPS latest rows in registers.
 * They are the window of R rows of the result: for each it sums its columns, has those to both
 * sides from its neighbours' registers, and makes R results of each of its pixels. The outermost
 * lanes do nothing but to lend theirs.
 *
 * Results at the ends, with weights of their own, are made one by one, by all threads.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/resample/ends.cuh"
#include "kernels/cuda/resample/enlarge.h"

enum {
    WARPS = 4,  /* of a block */
    ALIGN = 16, /* bytes: start and stride of images */
};

template <int R, int TAPS> struct enlarge_args {
    struct gi_image dst, src;
    struct ends<TAPS, R> row, col;
    int strips;
    int first, end, band; /* windows of rows of the source: of all warps, of one */
    bool whole;           /* words may be stored */
};

/* The results of a pixel whose windows begin a pixel later are the last ones from HALF on. */
template <typename T, int R, int TAPS, int C> struct form {
    enum {
        PIX = (C == 1 ? 8 : 4) / (sizeof(T) == 1 ? 1 : 2), /* pixels of a lane */
        N = PIX * C,
        WORDS = N * (int)sizeof(T) / 4,
        LEAD = TAPS / 2, /* pixels that a window reaches to the left */
        IDLE = (LEAD + PIX - 1) / PIX,
        OWNERS = 32 - 2 * IDLE,
        HALF = R / 2,
        OUT = R * WORDS,
        VECTOR = OUT % 4 == 0   ? 4
                 : OUT % 2 == 0 ? 2
                                : 1,
    };
};

/* A lane's samples of a row; none where there is no row or no memory. */
template <int WORDS>
static __device__ __forceinline__ void fetch(unsigned *words, const struct gi_image *src,
                                             long long at, int y)
{
    const char *p = (const char *)src->data + (size_t)y * src->stride + at;
    bool row = y >= 0 && y < src->height && at >= 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        bool there = row && at + 4 * (i | (WORDS + 1) % 2) + 4 <= (long long)src->stride;
        if (WORDS % 2 == 1) {
            words[i] = there ? ((const unsigned *)p)[i] : 0;
        } else if (i % 2 == 0) {
            uint2 two = there ? ((const uint2 *)p)[i / 2] : make_uint2(0, 0);
            words[i] = two.x;
            words[i + 1 < WORDS ? i + 1 : i] = two.y;
        }
    }
}

/* R results of each of a lane's pixels, from window[LEAD + PIX + LEAD pixels]. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void make_results(float *f, const float *window,
                                                    const float (&weights)[R][TAPS])
{
    typedef form<T, R, TAPS, C> m;
#pragma unroll
    for (int t = 0; t < TAPS; t++) /* chains side by side */
#pragma unroll
        for (int i = 0; i < R * m::N; i++) {
            const int c = i % C, phase = i / C % R, pixel = i / C / R;
            const float v = window[(pixel + (phase >= m::HALF) + t) * C + c];
            f[i] = __fmaf_rn(weights[phase][t], v, t == 0 ? 0.0f : f[i]);
        }
}

/* What a lane stores of a row: its samples from `begin` to before `end`. `parts`: some lane of the
 * warp stores some of its samples only. */
struct share {
    int begin, end;
    bool parts;
};

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ struct share share_of(const struct enlarge_args<R, TAPS> &args,
                                                        int pixel, int lane)
{
    typedef form<T, R, TAPS, C> m;
    int x = pixel * R, all = m::PIX * R, end = inner_end(args.row) - x;
    struct share share = {max(args.row.low - x, 0) * C, min(end, all) * C, false};
    if (lane < m::IDLE || lane >= 32 - m::IDLE || share.begin >= share.end)
        share.begin = share.end = 0;
    bool part = share.begin < share.end && (share.end - share.begin < all * C || !args.whole);
    share.parts = __any_sync(0xffffffffu, part);
    return share;
}

template <typename T, int WORDS, int VECTOR>
static __device__ __forceinline__ void store(T *out, const unsigned *words,
                                             const struct share &share)
{
    enum { EACH = 4 / (int)sizeof(T) };
    if (!share.parts) {
        if (share.end > 0)
#pragma unroll
            for (int i = 0; i < WORDS; i += VECTOR)
                words_store<VECTOR>((unsigned *)out + i, words + i);
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS * EACH; i++) {
        unsigned bits = words[i / EACH] >> (i % EACH * 8 * (int)sizeof(T));
        if (i < share.begin || i >= share.end)
            continue;
        if constexpr (sizeof(T) == 4)
            out[i] = __uint_as_float(bits);
        else
            out[i] = (T)bits;
    }
}

/* A row of the result from the window of rows v. */
template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void make_row(const struct enlarge_args<R, TAPS> &args,
                                                const float (&weights)[TAPS],
                                                const float (&v)[TAPS][form<T, R, TAPS, C>::N],
                                                int pixel, const struct share &share, int y)
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
    T *out = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride) + (long long)pixel * R * C;
    store<T, m::OUT, m::VECTOR>(out, words, share);
}

template <typename T, int R, int TAPS, int C>
static __device__ __forceinline__ void march(const struct enlarge_args<R, TAPS> &args, int warp)
{
    typedef form<T, R, TAPS, C> m;
    enum { N = m::N, WORDS = m::WORDS };
    int lane = (int)threadIdx.x % 32;
    int pixel = (warp % args.strips * m::OWNERS + lane - m::IDLE) * m::PIX;
    int from = args.first + warp / args.strips * args.band, end = min(from + args.band, args.end);
    int low = args.col.low, high = inner_end(args.col);
    struct share share = share_of<T, R, TAPS, C>(args, pixel, lane);
    long long at = (long long)pixel * C * (int)sizeof(T);
    float v[TAPS][N];
    unsigned ahead[2][WORDS];
#pragma unroll
    for (int t = 1; t < TAPS; t++) {
        fetch<WORDS>(ahead[0], &args.src, at, from + t - 1);
#pragma unroll
        for (int i = 0; i < N; i++)
            v[t][i] = sample_unpack<T>(ahead[0], i);
    }
    fetch<WORDS>(ahead[0], &args.src, at, from + TAPS - 1);
    fetch<WORDS>(ahead[1], &args.src, at, from + TAPS);
#pragma unroll(R == 2 ? 2 : 1)
    for (int window = from; window < end; window++) {
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
        fetch<WORDS>(ahead[1], &args.src, at, window + TAPS + 1);
        int y = (window - args.col.inner_first[0]) * R - (R - m::HALF) - args.col.shift;
#pragma unroll
        for (int i = 0; i < R; i++)
            if (y + i >= low && y + i < high)
                make_row<T, R, TAPS, C>(args, args.col.inner[(i + m::HALF) % R], v, pixel, share,
                                        y + i);
    }
}

template <typename T, int TAPS>
static __device__ float result_of(const T *p, size_t stride, int channels,
                                  const struct one_side<TAPS> &row,
                                  const struct one_side<TAPS> &col)
{
    float f = 0;
    for (int t = 0; t < TAPS; t++, p += channels) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < TAPS; i++)
            s = __fmaf_rn(col.weights[i], (float)*(const T *)((const char *)p + i * stride), s);
        f = __fmaf_rn(row.weights[t], s, f);
    }
    return f;
}

template <typename T, int R, int TAPS, int C>
static __global__ void __launch_bounds__(WARPS * 32)
    enlarge(const __grid_constant__ struct enlarge_args<R, TAPS> args)
{
    march<T, R, TAPS, C>(args, (int)(blockIdx.x * WARPS + threadIdx.x / 32));
    long long sample = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int x, y;
    for (; edge_place(args.row, args.col, sample / C, &x, &y);
         sample += (long long)gridDim.x * blockDim.x) {
        int c = (int)(sample % C);
        struct one_side<TAPS> row = side_at(args.row, x), col = side_at(args.col, y);
        const char *from = (const char *)args.src.data + (size_t)col.first * args.src.stride;
        T *out = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride) + (size_t)x * C + c;
        sample_store(out, result_of((const T *)from + (size_t)row.first * C + c, args.src.stride, C,
                                    row, col));
    }
}

/* ---- launcher ---- */

static int floor_div(int a, int b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Do the windows of the inner results lie as those of a side enlarged `ratio` times do, counted
 * from `shift`? Then *first is where that of result 0 would begin. */
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

/* 2, 3 or 4; 0: another. */
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
           src->stride % ALIGN == 0 && (size_t)src->data % ALIGN == 0 && ratio_of(spec) > 0;
}

template <typename T, int R, int TAPS, int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    typedef form<T, R, TAPS, C> m;
    struct enlarge_args<R, TAPS> args = {
    };
    int resident = 0;
    args.dst = *dst;
    args.src = *src;
    args.whole = dst->stride % ALIGN == 0 && (size_t)dst->data % ALIGN == 0;
    ends_fill(&args.row, &spec->row, 1, 0);
    ends_fill(&args.col, &spec->col, 1, shift_of(&spec->col, R));
    int later = R - m::HALF + args.col.shift; /* results that a window begins before its pixel's */
    args.first = floor_div(args.col.low + later, R) + args.col.inner_first[0];
    args.end = floor_div(inner_end(args.col) - 1 + later, R) + args.col.inner_first[0] + 1;
    args.strips = ceil_div(src->width, m::OWNERS * m::PIX);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, enlarge<T, R, TAPS, C>,
                                                              WARPS * 32, 0));
    int bands = cu->units * (resident < 1 ? 1 : resident) * WARPS / args.strips;
    args.band = ceil_div(args.end - args.first, bands < 1 ? 1 : bands);
    args.band = args.band < TAPS ? TAPS : args.band;
    bands = ceil_div(args.end - args.first, args.band);
    unsigned blocks = (unsigned)ceil_div((long long)args.strips * bands, WARPS);
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
