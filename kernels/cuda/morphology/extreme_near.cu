/* The least or greatest of 3 x 3 samples. A warp goes down a strip of columns, a thread twice 16
 * bytes of it, with rows ahead in registers; what its neighbours have comes by shuffles, and what
 * stands beside the strip the first and the last thread keep besides. SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/box/early.cuh"
#include "kernels/cuda/morphology/extreme.cuh"

enum { WORDS = 8, NBYTES = 4 * WORDS, AHEAD = 4, WARPS = 16 };

struct near_args {
    struct box_rows rows;
    struct target dst;
    int band;      /* rows that a warp makes */
    unsigned turn; /* see extreme_key() */
    bool keep_alpha;
};

template <typename T, int PIXEL> struct near_of {
    enum {
        PARTS = sizeof(T) == 1 ? 2 : 1, /* bytes are picked in two words, of each half the upper */
        SIDE = (PIXEL + 3) / 4,         /* words of a neighbour */
        ALL = WORDS + SIDE,
        UNIT = 16 / (int)sizeof(T),
    };
};

template <typename T> static __device__ __forceinline__ unsigned pick(unsigned a, unsigned b)
{
    return sizeof(T) == 4 ? min(a, b) : __vminu2(a, b);
}

/* Part i of a word. */
template <typename T> static __device__ __forceinline__ unsigned part_of(unsigned word, int i)
{
    return sizeof(T) == 1 && i == 0 ? word << 8 : word;
}

/* The words that two parts come from. */
template <typename T> static __device__ __forceinline__ unsigned join(const unsigned *parts)
{
    return sizeof(T) == 1 ? __byte_perm(parts[0], parts[1], 0x7351) : parts[0];
}

/* A thread's chunks, and in the first and the last thread the one beside the strip, in which the
 * words are `side` bytes on. */
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

/* The pick of three pixels beside each other, PIXEL bytes apart, in part p of a strip, from the
 * WORDS + SIDE words that each thread has. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void pick_along(unsigned *out, const unsigned *own, int p)
{
    typedef near_of<T, PIXEL> S;
    enum { SIDE = S::SIDE, BITS = (4 * SIDE - PIXEL) * 8 };
    unsigned all[4 + 2 * SIDE]; /* the neighbours' at both ends */
    int lane = (int)threadIdx.x;
#pragma unroll
    for (int j = 0; j < SIDE; j++) { /* at the middle of the strip those of the other part */
        unsigned last = p && lane < 31 ? own[8 - SIDE + j] : own[4 - SIDE + j];
        unsigned first = p || lane == 0 ? own[4 + j] : own[j];
        unsigned before = __shfl_sync(~0u, last, (lane + 31) & 31);
        unsigned after = __shfl_sync(~0u, first, (lane + 1) & 31);
        all[j] = p == 0 && lane == 0 ? own[WORDS + j] : before;
        all[SIDE + 4 + j] = p == 1 && lane == 31 ? own[WORDS + j] : after;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        all[SIDE + j] = own[4 * p + j];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned before = all[j], after = all[j + 2 * SIDE], parts[2];
        if (BITS) {
            before = __funnelshift_r(all[j], all[j + 1], BITS);
            after = __funnelshift_r(all[j + 2 * SIDE - 1], all[j + 2 * SIDE], 32 - BITS);
        }
#pragma unroll
        for (int i = 0; i < S::PARTS; i++)
            parts[i] = pick<T>(pick<T>(part_of<T>(before, i), part_of<T>(after, i)),
                               part_of<T>(all[SIDE + j], i));
        out[j] = join<T>(parts);
    }
}

template <typename T, int PIXEL>
static __device__ __forceinline__ void near_store(unsigned *words, const struct near_args *args,
                                                  const struct near_chunks *chunks, int y)
{
    if (args->keep_alpha) {
        unsigned source[WORDS];
        chunk_load<T, 4>(source, &args->rows, chunks->own[0], y);
        chunk_load<T, 4>(source + 4, &args->rows, chunks->own[1], y);
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            unsigned alpha = alpha_bits<T, PIXEL>(j);
            words[j] = (words[j] & ~alpha) | (source[j] & alpha);
        }
    }
    int samples = args->rows.src.width * (PIXEL / (int)sizeof(T));
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int sample = chunks->own[i].sample;
        if (sample < samples)
            extreme_put<T>(&args->dst, words + 4 * i, sample, y, samples - sample);
    }
}

/* One row on: `fresh` enters, of `last` and `pair` are kept the row before and its pick with the
 * one before that, and `words` are those of the row in the middle. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
near_step(unsigned *words, const unsigned *fresh, unsigned (*last)[near_of<T, PIXEL>::ALL],
          unsigned (*pair)[near_of<T, PIXEL>::ALL], unsigned turn)
{
    typedef near_of<T, PIXEL> S;
    unsigned down[S::ALL];
#pragma unroll
    for (int j = 0; j < S::ALL; j++) {
        unsigned key = sizeof(T) == 4 ? extreme_key(fresh[j], turn) : fresh[j] ^ turn, parts[2];
#pragma unroll
        for (int i = 0; i < S::PARTS; i++) {
            unsigned now = part_of<T>(key, i), both = pick<T>(last[i][j], now);
            parts[i] = pick<T>(pair[i][j], both);
            last[i][j] = now;
            pair[i][j] = both;
        }
        down[j] = join<T>(parts);
    }
    pick_along<T, PIXEL>(words, down, 0);
    pick_along<T, PIXEL>(words + 4, down, 1);
#pragma unroll
    for (int j = 0; j < WORDS; j++)
        words[j] = sizeof(T) == 4 ? extreme_bits(words[j], turn) : words[j] ^ turn;
}

template <typename T, int PIXEL>
static __global__ void __launch_bounds__(32)
    extreme_near(const __grid_constant__ struct near_args args)
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
    unsigned next[AHEAD][S::ALL] = {}, last[S::PARTS][S::ALL] = {}, pair[S::PARTS][S::ALL] = {};
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        near_load<T, S::SIDE>(next[i], &args.rows, &chunks, y0 - 1 + i);
    for (int y = y0 - 2; y < y1; y += AHEAD) { /* the row in the middle */
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            unsigned words[WORDS];
            near_step<T, PIXEL>(words, next[i], last, pair, args.turn);
            near_load<T, S::SIDE>(next[i], &args.rows, &chunks, y + i + 1 + AHEAD);
            if (y + i >= y0 && y + i < y1)
                near_store<T, PIXEL>(words, &args, &chunks, y + i);
        }
    }
}

template <typename T, int PIXEL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_extreme *spec,
                             struct gi_err *err)
{
    enum { UNIT = 16 / (int)sizeof(T) };
    struct near_args args = {};
    struct gi_edge edge = extreme_edge(src, &spec->edge);
    int blocks = 1;
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    enum gi_status status = gi_cuda_box_rows(cu, &args.rows, src, &edge, UNIT, UNIT, err);
    if (status)
        return status;
    void (*kernel)(const struct near_args) = extreme_near<T, PIXEL>;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
    blocks = blocks < WARPS ? blocks : WARPS;
    int strips = ceil_div((long long)gi_row_nbytes(src), 32 * NBYTES);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args.band = ceil_div(src->height, bands);
    return early_launch(cu, kernel, dim3(strips, ceil_div(src->height, args.band)), 32, 0, &args,
                        err);
}

bool gi_cuda_extreme_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_extreme *spec)
{
    (void)queue;
    (void)src;
    return spec->width == 3 && spec->height == 3 && spec->anchor_x == 1 && spec->anchor_y == 1;
}

template <typename T>
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_extreme *spec,
                                      struct gi_err *err)
{
    enum { N = (int)sizeof(T) };
    return src->channels == 1   ? launch<T, N>(cu, dst, src, spec, err)
           : src->channels == 2 ? launch<T, 2 * N>(cu, dst, src, spec, err)
           : src->channels == 3 ? launch<T, 3 * N>(cu, dst, src, spec, err)
                                : launch<T, 4 * N>(cu, dst, src, spec, err);
}

enum gi_status gi_cuda_extreme_near(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_extreme *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_TYPES(src->type, launch_channels<T>(cu, dst, src, spec, err));
}
