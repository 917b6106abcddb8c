/* Reduction of gray bytes by the integer ratio R = 2, 4 or 8 with weights that are integers divided
 * by a power of two (box and triangle filters). No fmaf of the definition rounds then, so integer
 * sums in any order give the same bytes.
 *
 * A thread owns OWN = 16 bytes of a row and moves down a band of rows. From each row it computes
 * OWN / R row sums with dp4a (four products per instruction) and adds them to the K partial sums of
 * the results, in registers. Rows are loaded AHEAD * R rows before their use; words of neighbours
 * come by warp shuffles.
 *
 * Results near the ends have weights of their own; further blocks compute them and come last, when
 * multiprocessors become free.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/resample_ends.cuh"
#include "kernels/cuda/geometry/resample_whole.h"

enum {
    OWN = 16, /* bytes; start and stride of images are multiples of it */
    THREADS = 128,
    BITS_MAX = 15, /* of the divisor: sums of products stay below 2^23 */
    FRACTION_MAX = 12,
};

/* Position of windows relative to words: a window may begin at any byte of a word. */
template <int R, int K> struct place {
    enum {
        TAPS = R * K,
        LEAD = (TAPS - R) / 2, /* bytes that a window extends to the left */
        SIDE = K > 1,          /* words of each neighbour */
        OUT = OWN / R,
        PHASES = R == 2 ? 2 : 1, /* number of positions of windows relative to words */
        WORDS = ((4 - LEAD % 4) % 4 + TAPS + 3) / 4,
        AHEAD = R == 2 ? 2 : 1,
    };
    /* Bytes from the first word of the neighbour to the window of result j. */
    static __host__ __device__ constexpr int start(int j)
    {
        return 4 * SIDE + R * j - LEAD;
    }
};

template <int R, int K> struct whole_args {
    struct gi_image dst, src;
    unsigned along[place<R, K>::PHASES][place<R, K>::WORDS]; /* four byte weights per word */
    unsigned down[R * K];
    float scale, bias; /* see finish() */
    int blocks, bands; /* per row; below each other */
    bool whole;        /* words may be stored */
    struct ends<R * K, 1> row, col;
};

/* The float 2^23: its bits plus an integer below 2^23 are the bits of 2^23 plus that integer. */
#define WHOLE_2_23 8388608.0f

/* ---- the inner results ---- */

/* A thread's bytes of a row; `beside`: for the outermost lanes of a warp, the word next to
 * theirs. */
struct piece {
    uint4 own;
    unsigned beside;
};

template <int SIDE>
static __device__ __forceinline__ void fetch(struct piece *piece, const char *p, int beside)
{
    piece->own = __ldcs((const uint4 *)p); /* streaming load, not needed again: 10 % faster */
    if (SIDE && beside)
        piece->beside = *(const unsigned *)(p + beside);
}

/* Adds row r of R to the partial sums, of which number 0 is the oldest. */
template <int R, int K>
static __device__ __forceinline__ void add_row(unsigned (&sum)[K][place<R, K>::OUT],
                                               const struct whole_args<R, K> &args,
                                               const struct piece &piece, int r)
{
    typedef place<R, K> p;
    unsigned words[4 + 2 * p::SIDE];
    words[p::SIDE] = piece.own.x;
    words[p::SIDE + 1] = piece.own.y;
    words[p::SIDE + 2] = piece.own.z;
    words[p::SIDE + 3] = piece.own.w;
    if (p::SIDE) {
        int lane = (int)threadIdx.x % 32;
        unsigned left = __shfl_up_sync(0xffffffffu, piece.own.w, 1);
        unsigned right = __shfl_down_sync(0xffffffffu, piece.own.x, 1);
        words[0] = lane == 0 ? piece.beside : left;
        words[3 + 2 * p::SIDE] = lane == 31 ? piece.beside : right;
    }
#pragma unroll
    for (int j = 0; j < p::OUT; j++) {
        unsigned h = 0;
#pragma unroll
        for (int i = 0; i < p::WORDS; i++)
            h = __dp4a(words[p::start(j) / 4 + i], args.along[j % p::PHASES][i], h);
#pragma unroll
        for (int k = 0; k < K; k++) {
            unsigned before = r > 0       ? sum[k][j]
                              : k + 1 < K ? sum[k + 1 < K ? k + 1 : k][j]
                                          : __float_as_uint(WHOLE_2_23);
            sum[k][j] = args.down[r + R * (K - 1 - k)] * h + before;
        }
    }
}

/* A partial sum S is stored as the float 2^23 + S. With scale = 2^-bits and bias = 2^23 - 2^(23 -
 * bits) it becomes 2^23 + S / 2^bits, rounded half to even to an integer in the lowest byte. */
static __device__ __forceinline__ unsigned finish(unsigned sum, float scale, float bias)
{
    return __float_as_uint(__fmaf_rn(__uint_as_float(sum), scale, bias));
}

template <int R, int K>
static __device__ __forceinline__ void store(uint8_t *out, const unsigned (&sum)[place<R, K>::OUT],
                                             const struct whole_args<R, K> &args, int begin,
                                             int end)
{
    enum { OUT = place<R, K>::OUT };
    unsigned bytes[OUT];
#pragma unroll
    for (int j = 0; j < OUT; j++)
        bytes[j] = finish(sum[j], args.scale, args.bias);
    if (!args.whole || begin > 0 || end < OUT) {
#pragma unroll
        for (int j = 0; j < OUT; j++)
            if (j >= begin && j < end)
                out[j] = (uint8_t)bytes[j];
        return;
    }
    unsigned words[(OUT + 3) / 4];
#pragma unroll
    for (int j = 0; j < OUT; j += 4) {
        words[j / 4] = __byte_perm(bytes[j], bytes[j + 1], 0x0040);
        if (OUT >= 4)
            words[j / 4] = __byte_perm(
                words[j / 4], __byte_perm(bytes[(j + 2) % OUT], bytes[(j + 3) % OUT], 0x0040),
                0x5410);
    }
    if (OUT == 2)
        *(uint16_t *)out = (uint16_t)words[0];
    else
        words_store<(OUT + 3) / 4>(out, words);
}

template <int R, int K> static __device__ void inner(const struct whole_args<R, K> &args, int block)
{
    typedef place<R, K> p;
    enum { AHEAD = p::AHEAD };
    size_t at = ((size_t)(block % args.blocks) * THREADS + threadIdx.x) * OWN;
    int x = (int)(at / R);
    struct rows rows = rows_of(args.col.n - args.col.count, block / args.blocks, args.bands);
    int y0 = args.col.low + rows.from, steps = rows.end - rows.from + K - 1;
    size_t stride = args.src.stride;
    /* No inner result uses bytes outside the rows. */
    const char *from = (const char *)args.src.data + min(at, stride - OWN) +
                       (size_t)(args.col.inner_first[0] + y0 * R) * stride;
    int lane = (int)threadIdx.x % 32;
    int beside = lane == 0 && at > 0 ? -4 : lane == 31 && at + OWN < stride ? OWN : 0;
    int begin = args.row.low - x, end = inner_end(args.row) - x;
    uint8_t *out = (uint8_t *)args.dst.data + (size_t)y0 * args.dst.stride + x;
    unsigned sum[K][p::OUT] = {};
    struct piece ahead[AHEAD][R] = {};
#pragma unroll
    for (int i = 0; i < AHEAD * R; i++, from += stride)
        if (i / R < steps)
            fetch<p::SIDE>(&ahead[i / R][i % R], from, beside);
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int r = 0; r < R; r++, from += stride) {
            add_row<R, K>(sum, args, ahead[0][r], r);
#pragma unroll
            for (int i = 0; i + 1 < AHEAD; i++)
                ahead[i][r] = ahead[i + 1][r];
            if (step + AHEAD < steps)
                fetch<p::SIDE>(&ahead[AHEAD - 1][r], from, beside);
        }
        if (step < K - 1)
            continue;
        store<R, K>(out, sum[0], args, begin, end);
        out += args.dst.stride;
    }
}

template <int R, int K>
static __global__ void __launch_bounds__(THREADS)
    reduce_whole(const __grid_constant__ struct whole_args<R, K> args)
{
    int block = (int)blockIdx.x, inner_blocks = args.blocks * args.bands;
    if (block < inner_blocks)
        inner<R, K>(args, block);
    else
        make_alone<R * K, 1>(args.dst, args.src, args.row, args.col, border_of(args.row),
                             border_of(args.col), block - inner_blocks);
}

/* ---- launcher ---- */

/* The inner weights as integers of at most 8 bits, divided by 2^*bits. */
static bool whole_of(const struct gi_resample_side *side, unsigned *numbers, int *bits)
{
    const float *weights = side->weights + (size_t)side->phase[side->n / 2] * (size_t)side->taps;
    for (*bits = 0; *bits <= FRACTION_MAX; ++*bits) {
        bool fits = true;
        for (int t = 0; t < side->taps && fits; t++) {
            float number = ldexpf(weights[t], *bits);
            fits = number >= 0 && number <= 255 && number == floorf(number);
            numbers[t] = fits ? (unsigned)number : 0;
        }
        if (fits)
            return true;
    }
    return false;
}

enum { TAPS_MAX = 16 };

/* The ratio of a side; 0 if this kernel does not apply. */
static int ratio_of(const struct gi_resample_side *side, unsigned *numbers, int *bits)
{
    int low, high, middle = side->n / 2;
    int ratio = middle > 0 ? side->first[middle] - side->first[middle - 1] : 0;
    bool known = (ratio == 2 || ratio == 4 || ratio == 8) &&
                 (side->taps == ratio || side->taps == 2 * ratio) &&
                 inner_of(side, 1, ratio, ends<1, 1>::MAX, &low, &high) &&
                 whole_of(side, numbers, bits);
    return known ? ratio : 0;
}

/* Weights of both sides; 2^bits is the divisor of the sum of their products. */
struct whole {
    int ratio, bits;
    unsigned along[TAPS_MAX], down[TAPS_MAX];
};

static bool whole_fill(struct whole *whole, const struct gi_resample *spec)
{
    const struct gi_resample_side *row = &spec->row, *col = &spec->col;
    int across, down;
    if (row->taps != col->taps || row->taps > TAPS_MAX)
        return false;
    whole->ratio = ratio_of(row, whole->along, &across);
    if (whole->ratio == 0 || ratio_of(col, whole->down, &down) != whole->ratio)
        return false;
    int middle = row->n / 2, lead = (row->taps - whole->ratio) / 2;
    if (row->first[middle] - middle * whole->ratio != -lead)
        return false;
    float sums = row->sums ? row->sums[row->phase[middle]] * col->sums[col->phase[col->n / 2]] : 1;
    unsigned along_sum = 0, down_sum = 0;
    for (int t = 0; t < row->taps; t++) {
        along_sum += whole->along[t];
        down_sum += whole->down[t];
    }
    float divisor = ldexpf(sums, across + down);
    whole->bits = sums > 0 ? ilogbf(divisor) : -1;
    return whole->bits >= 0 && whole->bits <= BITS_MAX && divisor == ldexpf(1, whole->bits) &&
           (float)along_sum * (float)down_sum == divisor;
}

bool gi_cuda_whole_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    struct whole whole;
    return src->type == GI_U8 && src->channels == 1 && !spec->integer && src->stride % OWN == 0 &&
           (size_t)src->data % OWN == 0 && whole_fill(&whole, spec);
}

template <int R, int K>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             const struct whole *whole, struct gi_err *err)
{
    typedef place<R, K> p;
    struct whole_args<R, K> args = {};
    int resident = 0;
    args.dst = *dst;
    args.src = *src;
    ends_fill(&args.row, &spec->row, R, 0);
    ends_fill(&args.col, &spec->col, R, 0);
    for (int phase = 0; phase < p::PHASES; phase++)
        for (int t = 0; t < R * K; t++) {
            int at = p::start(phase) % 4 + t;
            args.along[phase][at / 4] |= whole->along[t] << at % 4 * 8;
        }
    memcpy(args.down, whole->down, sizeof args.down);
    args.scale = ldexpf(1, -whole->bits);
    args.bias = WHOLE_2_23 - ldexpf(WHOLE_2_23, -whole->bits);
    args.whole = dst->stride % 8 == 0 && (size_t)dst->data % 8 == 0;
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce_whole<R, K>, THREADS, 0));
    args.blocks = ceil_div(src->width, THREADS * OWN);
    int rows = args.col.n - args.col.count;
    int bands = cu->units * (resident < 1 ? 1 : resident) / args.blocks;
    int most = ceil_div(rows, 2 * K); /* bands that are worth their halo rows */
    args.bands = bands < 1 ? 1 : bands < most ? bands : most;
    int alone = alone_blocks<R * K>(border_of(args.row), border_of(args.col), 1, THREADS);
    unsigned blocks = (unsigned)(alone + args.blocks * args.bands);
    reduce_whole<R, K><<<blocks, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_whole(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct whole whole = {};
    whole_fill(&whole, spec);
    bool box = spec->row.taps == whole.ratio;
    if (whole.ratio == 2)
        return box ? launch<2, 1>(cu, dst, src, spec, &whole, err)
                   : launch<2, 2>(cu, dst, src, spec, &whole, err);
    if (whole.ratio == 4)
        return box ? launch<4, 1>(cu, dst, src, spec, &whole, err)
                   : launch<4, 2>(cu, dst, src, spec, &whole, err);
    return box ? launch<8, 1>(cu, dst, src, spec, &whole, err)
               : launch<8, 2>(cu, dst, src, spec, &whole, err);
}
