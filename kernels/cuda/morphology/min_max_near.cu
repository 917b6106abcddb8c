/* Min/max filter of 3 x 3 (erosion, dilation), entirely in registers.
 *
 * A block is one warp, which owns a strip of 1024 bytes and a band of rows, and moves down the
 * band. A thread owns two 16-byte chunks, one in each half of the strip, and keeps the last two
 * rows of both chunks.
 *
 *           part 0: 32 lanes x 16 bytes     part 1: 32 lanes x 16 bytes
 *    +----++----+----+----+- ... -+----+----+----+- ... -+----++----+
 *    | l0 || l0 | l1 | l2 |       |l31 | l0 | l1 |       |l31 ||l31 |
 *    +----++----+----+----+- ... -+----+----+----+- ... -+----++----+
 *    halo         minimum of 3 rows per column, then of 3 columns    halo
 *
 * Exchange: threads get neighbouring columns by warp shuffles, without shared memory. Lanes 0 and
 * 31 also keep the words of the halo. Bytes are compared as the upper bytes of 16-bit halves, in
 * two parts per word (even and odd bytes), with three-operand minima.
 *
 * Phases of a step: compute columns (minimum of three rows), exchange, compute rows, load (the row
 * AHEAD rows further down), store.
 *
 * Example: a row of 8192 pixels of 8-bit gray has 8 strips. A thread keeps 2 x 2 x 9 words of the
 * last two rows (2 parts of 8 words + 1 of the halo) and 2 x 9 words in flight.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/morphology/min_max.cuh"
#include "kernels/morphology.h"

enum { WORDS = 8, NBYTES = 4 * WORDS };

struct near_args {
    struct box_rows rows;
    struct target dst;
    int band;      /* rows per warp */
    unsigned turn; /* see min_max_key() */
    bool keep_alpha;
};

template <typename T, int PIXEL> struct near_of {
    enum {
        PARTS = sizeof(T) == 1 ? 2 : 1, /* bytes are in two parts: the upper bytes of halves */
        SIDE = (PIXEL + 3) / 4,         /* words of a neighbour */
        ALL = WORDS + SIDE,
        UNIT = 16 / (int)sizeof(T),
        AHEAD = sizeof(T) == 1 ? 2 : 4,   /* rows in flight; resident warps per */
        WARPS = sizeof(T) == 1 ? 20 : 16, /* multiprocessor: limited by registers */
    };
};

/* Minimum of three words of samples. */
template <typename T>
static __device__ __forceinline__ unsigned pick(unsigned a, unsigned b, unsigned c)
{
    return sizeof(T) == 4 ? __vimin3_u32(a, b, c) : __vimin3_u16x2(a, b, c);
}

/* Part i of a word. */
template <typename T> static __device__ __forceinline__ unsigned part_of(unsigned word, int i)
{
    return sizeof(T) == 1 && i == 0 ? word << 8 : word;
}

/* Word j from its parts. */
template <typename T, int N>
static __device__ __forceinline__ unsigned join(const unsigned (*parts)[N], int j)
{
    return sizeof(T) == 1 ? __byte_perm(parts[0][j], parts[sizeof(T) == 1][j], 0x7351)
                          : parts[0][j];
}

/* A thread's two chunks. The first and the last lane also load the words of the halo, which begin
 * at byte `side` of the chunk `beside`, next to the strip. */
struct near_chunks {
    struct box_chunk own[2], beside;
    int side;
};

template <typename T, int SIDE>
static __device__ __forceinline__ void near_load(unsigned *words, const struct box_rows *rows,
                                                 const struct near_chunks *chunks, int y)
{
    chunk_load<T, 4>(words, rows, chunks->own[0], y);
    chunk_load<T, 4>(words + 4, rows, chunks->own[1], y);
    const unsigned *p = (const unsigned *)(chunk_row(rows, chunks->beside, y) + chunks->side);
#pragma unroll
    for (int j = 0; j < SIDE; j++)
        words[WORDS + j] = p[j];
}

/* Gets the words before and after a lane's words of part p. The words before are the last SIDE
 * words in `lasts` of the lane on the left; the words after are the first SIDE words in `firsts` of
 * the lane on the right. */
template <int SIDE>
static __device__ __forceinline__ void
neighbours(unsigned *before, unsigned *after, const unsigned *lasts, const unsigned *firsts, int p)
{
    int lane = (int)threadIdx.x;
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        /* The parts meet in the middle of the strip, where lane 31 passes words of part 0 to lane
         * 0, and lane 0 passes words of part 1 to lane 31. */
        unsigned last = p && lane < 31 ? lasts[8 - SIDE + j] : lasts[4 - SIDE + j];
        unsigned first = p || lane == 0 ? firsts[4 + j] : firsts[j];
        before[j] = __shfl_sync(~0u, last, (lane + 31) & 31);
        after[j] = __shfl_sync(~0u, first, (lane + 1) & 31);
        before[j] = p == 0 && lane == 0 ? lasts[WORDS + j] : before[j];
        after[j] = p == 1 && lane == 31 ? firsts[WORDS + j] : after[j];
    }
}

/* Computes the minimum of three neighbouring pixels, PIXEL bytes apart, in part p of a strip, from
 * the WORDS + SIDE words of each thread. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
pick_along(unsigned *out, const unsigned (&down)[near_of<T, PIXEL>::PARTS][near_of<T, PIXEL>::ALL],
           int p)
{
    typedef near_of<T, PIXEL> S;
    enum { SIDE = S::SIDE, BITS = (4 * SIDE - PIXEL) * 8 };
    unsigned own[S::ALL], all[4 + 2 * SIDE]; /* with the neighbours' words at both ends */
#pragma unroll
    for (int j = 0; j < S::ALL; j++)
        own[j] = join<T>(down, j);
    neighbours<SIDE>(all, all + SIDE + 4, own, own, p);
#pragma unroll
    for (int j = 0; j < 4; j++)
        all[SIDE + j] = own[4 * p + j];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned before = all[j], after = all[j + 2 * SIDE], parts[S::PARTS][1];
        if (BITS) {
            before = __funnelshift_r(all[j], all[j + 1], BITS);
            after = __funnelshift_r(all[j + 2 * SIDE - 1], all[j + 2 * SIDE], 32 - BITS);
        }
#pragma unroll
        for (int i = 0; i < S::PARTS; i++)
            parts[i][0] =
                pick<T>(part_of<T>(before, i), part_of<T>(all[SIDE + j], i), part_of<T>(after, i));
        out[j] = join<T>(parts, 0);
    }
}

/* Computes the same for 8-bit gray. The neighbours of an even byte are the odd bytes of the
 * previous half and of its own half. The neighbours of an odd byte are the even bytes of its own
 * half and of the next half. */
template <>
__device__ __forceinline__ void pick_along<uint8_t, 1>(unsigned *out,
                                                       const unsigned (&down)[2][WORDS + 1], int p)
{
    unsigned before, after;
    neighbours<1>(&before, &after, down[1], down[0], p);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned even = down[0][4 * p + j], odd = down[1][4 * p + j], parts[2][1];
        unsigned next = j < 3 ? down[0][4 * p + j + 1] : after;
        unsigned last = j > 0 ? down[1][4 * p + j - 1] : before;
        parts[0][0] = pick<uint8_t>(even, odd, __funnelshift_r(last, odd, 16));
        parts[1][0] = pick<uint8_t>(even, odd, __funnelshift_r(even, next, 16));
        out[j] = join<uint8_t>(parts, 0);
    }
}

/* Replaces the alpha in `words` by the alpha in `source`. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void take_alpha(unsigned *words, const unsigned *source)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        unsigned alpha = alpha_bits<T, PIXEL>(j);
        words[j] = (words[j] & ~alpha) | (source[j] & alpha);
    }
}

template <typename T, int PIXEL>
static __device__ __forceinline__ void near_store(unsigned *words, const struct near_args *args,
                                                  const struct near_chunks *chunks, int y)
{
    if (sizeof(T) == 4 && PIXEL % 8 == 0 && args->keep_alpha) { /* copies NaN unchanged */
        unsigned source[WORDS];
        chunk_load<T, 4>(source, &args->rows, chunks->own[0], y);
        chunk_load<T, 4>(source + 4, &args->rows, chunks->own[1], y);
        take_alpha<T, PIXEL>(words, source);
    }
    int samples = args->rows.src.width * (PIXEL / (int)sizeof(T));
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int sample = chunks->own[i].sample;
        if (sample < samples)
            min_max_put<T>(&args->dst, words + 4 * i, sample, y, samples - sample);
    }
}

/* Splits the words of a row into parts, as keys whose minimum is computed. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
near_parts(unsigned (&parts)[near_of<T, PIXEL>::PARTS][near_of<T, PIXEL>::ALL],
           const unsigned *words, unsigned turn)
{
    typedef near_of<T, PIXEL> S;
#pragma unroll
    for (int j = 0; j < S::ALL; j++) {
        unsigned key = sizeof(T) == 4 ? min_max_key(words[j], turn) : words[j] ^ turn;
#pragma unroll
        for (int i = 0; i < S::PARTS; i++)
            parts[i][j] = part_of<T>(key, i);
    }
}

/* Moves one row down. `fresh` is the row below the two rows in `last`; `words` becomes the result
 * of the row in the middle. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
near_step(unsigned *words, const unsigned *fresh,
          unsigned (&last)[2][near_of<T, PIXEL>::PARTS][near_of<T, PIXEL>::ALL],
          const struct near_args *args)
{
    typedef near_of<T, PIXEL> S;
    unsigned now[S::PARTS][S::ALL], down[S::PARTS][S::ALL];
    near_parts<T, PIXEL>(now, fresh, args->turn);
#pragma unroll
    for (int i = 0; i < S::PARTS; i++)
#pragma unroll
        for (int j = 0; j < S::ALL; j++) {
            down[i][j] = pick<T>(last[0][i][j], last[1][i][j], now[i][j]);
            last[0][i][j] = last[1][i][j];
            last[1][i][j] = now[i][j];
        }
    pick_along<T, PIXEL>(words, down, 0);
    pick_along<T, PIXEL>(words + 4, down, 1);
    if (sizeof(T) < 4 && PIXEL / sizeof(T) % 2 == 0 && args->keep_alpha) {
        unsigned source[WORDS];
#pragma unroll
        for (int j = 0; j < WORDS; j++)
            source[j] = join<T>(last[0], j);
        take_alpha<T, PIXEL>(words, source);
    }
#pragma unroll
    for (int j = 0; j < WORDS; j++)
        words[j] = sizeof(T) == 4 ? min_max_bits(words[j], args->turn) : words[j] ^ args->turn;
}

template <typename T, int PIXEL>
static __global__ void __launch_bounds__(32)
    min_max_near(const __grid_constant__ struct near_args args)
{
    typedef near_of<T, PIXEL> S;
    int lane = (int)threadIdx.x, sample = ((int)blockIdx.x * 64 + lane) * S::UNIT;
    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, args.rows.src.height);
    struct near_chunks chunks = {{chunk_at(&args.rows, sample, (int)sizeof(T)),
                                  chunk_at(&args.rows, sample + 32 * S::UNIT, (int)sizeof(T))},
                                 chunk_at(&args.rows,
                                          lane == 0    ? sample - S::UNIT
                                          : lane == 31 ? sample + 33 * S::UNIT
                                                       : sample,
                                          (int)sizeof(T)),
                                 lane ? 0 : 16 - 4 * S::SIDE};
    chunk_wait(&args.rows, &chunks.own[0]);
    chunk_wait(&args.rows, &chunks.own[1]);
    chunk_wait(&args.rows, &chunks.beside);
    unsigned next[S::AHEAD][S::ALL], last[2][S::PARTS][S::ALL];
#pragma unroll
    for (int i = 0; i < 2; i++)
        near_load<T, S::SIDE>(next[i], &args.rows, &chunks, y0 - 1 + i);
#pragma unroll
    for (int i = 0; i < 2; i++)
        near_parts<T, PIXEL>(last[i], next[i], args.turn);
#pragma unroll
    for (int i = 0; i < S::AHEAD; i++)
        near_load<T, S::SIDE>(next[i], &args.rows, &chunks, y0 + 1 + i);
    for (int y = y0; y < y1; y += S::AHEAD) {
#pragma unroll
        for (int i = 0; i < S::AHEAD; i++) {
            unsigned words[WORDS];
            /* Compute columns, exchange, compute rows. */
            near_step<T, PIXEL>(words, next[i], last, &args);
            /* Load and store. */
            near_load<T, S::SIDE>(next[i], &args.rows, &chunks, y + i + 1 + S::AHEAD);
            if (y + i < y1)
                near_store<T, PIXEL>(words, &args, &chunks, y + i);
        }
    }
}

template <typename T, int PIXEL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_min_max *spec,
                             struct gi_err *err)
{
    enum { UNIT = 16 / (int)sizeof(T) };
    struct near_args args = {};
    struct gi_border_spec border = min_max_border(src, &spec->border);
    int blocks = 1;
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    enum gi_status status =
        gi_cuda_box_rows(cu, &args.rows, src, &border, UNIT, UNIT, NULL, 0, err);
    if (status)
        return status;
    void (*kernel)(const struct near_args) = min_max_near<T, PIXEL>;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
    blocks = blocks < near_of<T, PIXEL>::WARPS ? blocks : (int)near_of<T, PIXEL>::WARPS;
    int strips = ceil_div((long long)gi_row_nbytes(src), 32 * NBYTES);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args.band = ceil_div(src->height, bands);
    return pdl_launch(cu, kernel, dim3(strips, ceil_div(src->height, args.band)), 32, 0, &args,
                      err);
}

bool gi_cuda_min_max_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_min_max *spec)
{
    (void)queue;
    (void)src;
    return spec->width == 3 && spec->height == 3 && spec->anchor_x == 1 && spec->anchor_y == 1;
}

template <typename T>
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_min_max *spec,
                                      struct gi_err *err)
{
    enum { N = (int)sizeof(T) };
    return src->channels == 1   ? launch<T, N>(cu, dst, src, spec, err)
           : src->channels == 2 ? launch<T, 2 * N>(cu, dst, src, spec, err)
           : src->channels == 3 ? launch<T, 3 * N>(cu, dst, src, spec, err)
                                : launch<T, 4 * N>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_min_max_near(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_min_max *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_TYPES(src->type, launch_channels<T>(cu, dst, src, spec, err));
}
