/* Median of 3 x 3, 5 x 5 and 7 x 7 samples with separable sorting networks: A. Adams, "Fast median
 * filters using separable sorting networks", ACM TOG 40(4), 2021.
 *
 * A block owns about THREADS * ACROSS pixels of ROWS rows. Shared memory holds the tile with one
 * sample per word. With PAIRS a word holds two samples of 8 or 16 bits, from rows that are STEPS
 * apart, and packed comparisons process both. A thread moves down ACROSS neighbouring columns, two
 * result rows per step.
 *
 *     K = 5     sorted rows in registers
 *     y - 2     single[0]       --------------------------------  select(): median of row y
 *     y - 1   } pairs[0]                }
 *     y       }                         } middle(): the K + 1 samples
 *     y + 1   } pairs[1]: carry merged  } that can be the median
 *     y + 2   } with next[0]            }
 *     y + 3     next[1]         --------------------------------  select(): median of row y + 1
 *
 * In each step next[] are the two new rows, sorted, and carry is next[1] of the step before.
 * pairs[] are the merged rows that are in the windows of both result rows. single[] are the sorted
 * rows y - HALF, y - HALF + 2 and so on; single[0] is only in the window of row y, and next[1] only
 * in that of row y + 1.
 *
 * Each row of a window is sorted once for all windows that contain it. Rows are merged in pairs
 * (Batcher); the K - 1 common rows of two windows are merged once for both. SKEW staggers words, so
 * that threads that are ACROSS columns apart read without bank conflicts.
 *
 * Phases: load (stage the tile), compute (sort, merge, select), store.
 *
 * Example: for K = 5 and 8-bit gray, 128 threads compute 2 pixels x 64 rows each, from a tile of 36
 * rows of 280 words (40320 bytes).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/rank/median.cuh"
#include "kernels/cuda/rank/sorting_network.cuh"

enum { THREADS = 128, AHEAD = 4, ROWS_MAX = 32768 /* of a grid */ };

template <bool PAIRS, int K> struct network {
    enum {
        HALF = K / 2,
        ACROSS = K == 3   ? 4
                 : K == 5 ? 2
                          : 1,            /* neighbouring pixels per thread */
        STEPS = K == 3 ? 16 : 32,         /* rows of words that a thread computes */
        TILE = STEPS + K - 1,             /* rows of words that it reads */
        ROWS = PAIRS ? 2 * STEPS : STEPS, /* rows of the image */
        SKEW = ACROSS > 1,
    };
};

/* Returns the word of sample i of a row. With SKEW, threads ACROSS samples apart use different
 * banks. */
template <bool SKEW> static __device__ __host__ __forceinline__ int place(int i)
{
    return SKEW ? i + (i >> 5) : i;
}

/* out[0 .. N]: `sorted` with v inserted. */
template <bool PAIRS, int N>
static __device__ __forceinline__ void insert(unsigned *out, const unsigned *sorted, unsigned v)
{
    out[0] = lesser<PAIRS>(sorted[0], v);
#pragma unroll
    for (int i = 1; i < N; i++)
        out[i] = greater<PAIRS>(sorted[i - 1], lesser<PAIRS>(sorted[i], v));
    out[N] = greater<PAIRS>(sorted[N - 1], v);
}

/* Sorts one row of each window of a thread's pixels, from ACROSS + K - 1 words. */
template <bool PAIRS, int K, int ACROSS>
static __device__ __forceinline__ void sort_row(unsigned (*out)[K], const unsigned *words)
{
    if constexpr (ACROSS == 1) {
        sort<PAIRS, K>(out[0], words);
    } else {
#pragma unroll
        for (int i = 0; i < ACROSS; i += 2) {
            unsigned both[K - 1];
            sort<PAIRS, K - 1>(both, words + i + 1);
            insert<PAIRS, K - 1>(out[i], both, words[i]);
            insert<PAIRS, K - 1>(out[i + 1], both, words[i + K]);
        }
    }
}

/* Finds the K + 1 samples of K - 1 rows (sorted pairs of rows) that can be the median of K rows. */
template <bool PAIRS, int K>
static __device__ __forceinline__ void middle(unsigned *out, const unsigned (*pairs)[2 * K])
{
    unsigned all[(K - 1) * K];
    if constexpr (K == 3) {
#pragma unroll
        for (int i = 0; i <= K; i++)
            out[i] = pairs[0][i + 1];
    } else if constexpr (K == 5) {
        merge<PAIRS, 10, 10>(all, pairs[0], pairs[1]);
#pragma unroll
        for (int i = 0; i <= K; i++)
            out[i] = all[i + 7];
    } else { /* the median is the 25th of 49, so not among the first or last 3 of 28 */
        unsigned four[28];
        merge<PAIRS, 14, 14>(four, pairs[0], pairs[1]);
        merge<PAIRS, 22, 14>(all, four + 3, pairs[2]);
#pragma unroll
        for (int i = 0; i <= K; i++)
            out[i] = all[i + 14];
    }
}

/* Returns the median of K + 1 and K samples, both sorted. */
template <bool PAIRS, int K>
static __device__ __forceinline__ unsigned select(const unsigned *a, const unsigned *b)
{
    unsigned least = a[K];
#pragma unroll
    for (int i = 0; i < K; i++)
        least = lesser<PAIRS>(least, greater<PAIRS>(a[i], b[K - 1 - i]));
    return least;
}

/* Loads four samples. */
template <typename T> static __device__ __forceinline__ uint4 load_four(const char *from)
{
    if constexpr (sizeof(T) == 1)
        return make_uint4(*(const unsigned *)from, 0, 0, 0);
    if constexpr (sizeof(T) == 2)
        return make_uint4(((const uint2 *)from)->x, ((const uint2 *)from)->y, 0, 0);
    return *(const uint4 *)from;
}

/* Loads four samples of row y, from `sample` on, of which some may be outside the image. */
template <typename T>
static __device__ __noinline__ uint4 load_outside(const struct median_args *args, int sample, int y)
{
    int channels = args->src.channels, before = sample < 0 ? (3 - sample) / channels : 0;
    int row = gi_border_index(y, args->src.height, args->src.border);
    uint4 words;
    if (row >= 0 && sample >= 0 && sample + 4 <= args->src.width * channels)
        return load_four<T>(args->src.data + (size_t)row * args->src.stride +
                            sizeof(T) * (size_t)sample);
    for (int i = 0; i < 4; i++) {
        int at = sample + i + before * channels;
        ((T *)&words)[i] = value_at<T>(args, at / channels - before, y, at % channels);
    }
    return words;
}

/* Returns the words for four samples of row a and, with PAIRS, of row b. A byte is repeated in its
 * half word, which keeps the order and takes one instruction. */
template <typename T, bool PAIRS> static __device__ __forceinline__ uint4 words_of(uint4 a, uint4 b)
{
    if constexpr (sizeof(T) == 4)
        return make_uint4(key_of<float>(__uint_as_float(a.x)), key_of<float>(__uint_as_float(a.y)),
                          key_of<float>(__uint_as_float(a.z)), key_of<float>(__uint_as_float(a.w)));
    if constexpr (sizeof(T) == 2 && PAIRS)
        return make_uint4(__byte_perm(a.x, b.x, 0x5410), __byte_perm(a.x, b.x, 0x7632),
                          __byte_perm(a.y, b.y, 0x5410), __byte_perm(a.y, b.y, 0x7632));
    if constexpr (sizeof(T) == 2)
        return make_uint4(a.x & 0xffff, a.x >> 16, a.y & 0xffff, a.y >> 16);
    if constexpr (PAIRS)
        return make_uint4(__byte_perm(a.x, b.x, 0x4400), __byte_perm(a.x, b.x, 0x5511),
                          __byte_perm(a.x, b.x, 0x6622), __byte_perm(a.x, b.x, 0x7733));
    return make_uint4(a.x & 0xff, a.x >> 8 & 0xff, a.x >> 16 & 0xff, a.x >> 24);
}

/* The tile of a block in shared memory. */
struct tile {
    unsigned *words;
    int quads, pitch; /* number of groups of four samples, and of words, per row */
    int rows, steps;  /* rows of words; rows between the two samples of a word */
    bool skew;
};

static __device__ __forceinline__ void put_four(const struct tile *tile, int r, int q, uint4 v)
{
    unsigned *at = tile->words + r * tile->pitch + 4 * q + (tile->skew ? q >> 3 : 0);
    if (tile->skew)
        at[0] = v.x, at[1] = v.y, at[2] = v.z, at[3] = v.w;
    else
        *(uint4 *)at = v;
}

/* Stages a tile that is completely inside the image, from sample `first` of row y on. */
template <typename T, bool PAIRS>
static __device__ __noinline__ void stage_inside(const struct tile *tile,
                                                 const struct median_args *args, int first, int y)
{
    int quads = tile->quads, r = (int)threadIdx.x / quads, q = (int)threadIdx.x % quads;
    int more_rows = THREADS / quads, more = THREADS % quads;
    size_t stride = args->src.stride, below = (size_t)tile->steps * stride;
    const char *from = args->src.data + (size_t)y * stride + sizeof(T) * (size_t)first;
    while (r < tile->rows) {
        uint4 a[AHEAD], b[AHEAD];
        int rs[AHEAD], qs[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const char *at = from + (size_t)(unsigned)min(r, tile->rows - 1) * stride +
                             4 * sizeof(T) * (unsigned)q;
            rs[i] = r, qs[i] = q;
            a[i] = load_four<T>(at);
            b[i] = PAIRS ? load_four<T>(at + below) : a[i];
            q += more;
            r += more_rows + (q >= quads ? 1 : 0);
            q -= q >= quads ? quads : 0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (rs[i] < tile->rows)
                put_four(tile, rs[i], qs[i], words_of<T, PAIRS>(a[i], b[i]));
    }
}

template <typename T, bool PAIRS>
static __device__ __noinline__ void stage(const struct tile *tile, const struct median_args *args,
                                          int first, int y)
{
    int quads = tile->quads;
    if (first >= 0 && first + 4 * quads <= args->src.width * args->src.channels && y >= 0 &&
        y + tile->rows + (PAIRS ? tile->steps : 0) <= args->src.height) {
        stage_inside<T, PAIRS>(tile, args, first, y);
        return;
    }
    for (int i = (int)threadIdx.x; i < quads * tile->rows; i += THREADS) {
        int r = i / quads, q = i % quads;
        uint4 a = load_outside<T>(args, first + 4 * q, y + r), b = a;
        if (PAIRS)
            b = load_outside<T>(args, first + 4 * q, y + r + tile->steps);
        put_four(tile, r, q, words_of<T, PAIRS>(a, b));
    }
}

/* Stores `across` pixels of row y of the image and, with PAIRS, of row y + steps. */
template <bool PAIRS>
static __device__ __noinline__ void put_each(const struct median_args *args, uint4 words,
                                             int across, int sample, int y, int steps)
{
    int n = args->src.width * args->src.channels;
    for (int i = 0; i < across && sample < n; i++, sample += args->src.channels) {
        char *row = args->dst.data + (size_t)y * args->dst.stride;
        for (int half = 0, at = y; half <= (int)PAIRS && at < args->src.height; half++) {
            if (args->src.type == GI_U8)
                ((uint8_t *)row)[sample] = (uint8_t)(words.x >> (PAIRS ? 16 * half + 8 : 0));
            else if (args->src.type == GI_U16)
                ((uint16_t *)row)[sample] = (uint16_t)(words.x >> 16 * half);
            else
                ((float *)row)[sample] = sample_of<float>(words.x);
            row += (size_t)steps * args->dst.stride;
            at += steps;
        }
        words = make_uint4(words.y, words.z, words.w, 0);
    }
}

template <bool PAIRS, int K>
static __device__ __forceinline__ void put(const struct median_args *args, const unsigned *words,
                                           int sample, int y)
{
    typedef network<PAIRS, K> N;
    int channels = args->src.channels;
    if (!PAIRS || args->src.type != GI_U8 ||
        sample + (N::ACROSS - 1) * channels >= args->src.width * channels) {
        uint4 each = {words[0], words[N::ACROSS > 1 ? 1 : 0], words[N::ACROSS > 2 ? 2 : 0],
                      words[N::ACROSS > 2 ? 3 : 0]};
        put_each<PAIRS>(args, each, N::ACROSS, sample, y, N::STEPS);
        return;
    }
    unsigned two = __byte_perm(words[0], words[N::ACROSS - 1 ? 1 : 0], 0x7351);
    unsigned others = __byte_perm(words[N::ACROSS > 2 ? 2 : 0], words[N::ACROSS - 1], 0x7351);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int at = y + half * N::STEPS;
        char *out = args->dst.data + (size_t)at * args->dst.stride + sample;
        if (at >= args->src.height)
            continue;
        if (channels > 1 && N::ACROSS > 1)
#pragma unroll
            for (int i = 0; i < N::ACROSS; i++)
                out[i * channels] = (char)(words[i] >> (16 * half + 8));
        else if (N::ACROSS == 4)
            *(unsigned *)out = __byte_perm(two, others, half ? 0x7632 : 0x5410);
        else if (N::ACROSS == 2)
            *(uint16_t *)out = (uint16_t)(two >> 16 * half);
        else
            *(uint8_t *)out = (uint8_t)(two >> 16 * half);
    }
}

/* Loads a thread's words of row r of the tile, and sorts them for each window. */
template <bool PAIRS, int K>
static __device__ __forceinline__ void read_row(unsigned (*out)[K], const unsigned *const *columns,
                                                int r, int pitch)
{
    enum { N = network<PAIRS, K>::ACROSS + K - 1 };
    unsigned words[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        words[i] = columns[i][r * pitch];
    sort_row<PAIRS, K, network<PAIRS, K>::ACROSS>(out, words);
}

/* Moves down the tile, two rows per step. `single` are the sorted rows y - HALF, y - HALF + 2 and
 * so on; `carry` is the row before the rows of the step; `pairs` are merged rows from y - HALF + 1
 * on. */
template <bool PAIRS, int K>
static __device__ __forceinline__ void go_down(const unsigned *const *columns,
                                               const struct median_args *args, int sample, int y0,
                                               int pitch)
{
    typedef network<PAIRS, K> N;
    enum { HALF = N::HALF, W = N::ACROSS };
    bool keep = args->keep_alpha && sample % args->src.channels == args->src.channels - 1;
    unsigned single[HALF][W][K], carry[W][K], pairs[W][HALF][2 * K];
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        read_row<PAIRS, K>(single[i], columns, 2 * i, pitch);
        read_row<PAIRS, K>(carry, columns, 2 * i + 1, pitch);
        if (i + 1 < HALF) {
            unsigned next[W][K];
            read_row<PAIRS, K>(next, columns, 2 * i + 2, pitch);
#pragma unroll
            for (int j = 0; j < W; j++)
                merge<PAIRS, K, K>(pairs[j][i], carry[j], next[j]);
        }
    }
#pragma unroll(PAIRS ? 2 : 1)
    for (int y = 0; y < N::STEPS; y += 2) {
        /* Compute: sort two new rows, merge, select two medians per column. */
        unsigned next[2][W][K], out[2][W];
        read_row<PAIRS, K>(next[0], columns, y + 2 * HALF, pitch);
        read_row<PAIRS, K>(next[1], columns, y + 2 * HALF + 1, pitch);
#pragma unroll
        for (int j = 0; j < W; j++) {
            unsigned candidates[K + 1];
            merge<PAIRS, K, K>(pairs[j][HALF - 1], carry[j], next[0][j]);
            middle<PAIRS, K>(candidates, pairs[j]);
            out[0][j] = select<PAIRS, K>(candidates, single[0][j]);
            out[1][j] = select<PAIRS, K>(candidates, next[1][j]);
#pragma unroll
            for (int i = 0; i < K; i++) {
#pragma unroll
                for (int m = 0; m < HALF; m++)
                    single[m][j][i] = m + 1 < HALF ? single[m + 1][j][i] : next[0][j][i];
                carry[j][i] = next[1][j][i];
            }
#pragma unroll
            for (int m = 0; m + 1 < HALF; m++)
#pragma unroll
                for (int i = 0; i < 2 * K; i++)
                    pairs[j][m][i] = pairs[j][m + 1][i];
        }
        /* Store two rows. */
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (keep)
#pragma unroll
                for (int j = 0; j < W; j++)
                    out[i][j] = columns[j + HALF][(y + i + HALF) * pitch];
            if (y0 + y + i < args->src.height)
                put<PAIRS, K>(args, out[i], sample, y0 + y + i);
        }
    }
}

template <bool PAIRS, int K>
static __global__ void __launch_bounds__(THREADS)
    median_network(const __grid_constant__ struct median_args args, int quads, int pitch)
{
#if GI_CUDA_ARCH >= 900
    constexpr bool THERE = true;
#else
    constexpr bool THERE = !PAIRS; /* without packed comparisons this kernel is not launched */
#endif
    typedef network<PAIRS, K> N;
    extern __shared__ uint4 shared[];
    if constexpr (THERE) {
        struct tile tile = {(unsigned *)shared, quads, pitch, N::TILE, N::STEPS, N::SKEW};
        int channels = args.src.channels, i = (int)(blockIdx.x * THREADS), W = N::ACROSS;
        int first = (i / channels * W - N::HALF) * channels & ~3;
        i += (int)threadIdx.x;
        int sample = i / channels * W * channels + i % channels;
        const unsigned *columns[N::ACROSS + K - 1];
#pragma unroll
        for (int j = 0; j < N::ACROSS + K - 1; j++)
            columns[j] = tile.words + place<N::SKEW>(sample - first + (j - N::HALF) * channels);
        for (int y = (int)blockIdx.y * N::ROWS; y < args.src.height;
             y += (int)gridDim.y * N::ROWS) {
            /* Load: stage the tile. */
            if (args.src.type == GI_U8)
                stage<uint8_t, PAIRS>(&tile, &args, first, y - N::HALF);
            else if (args.src.type == GI_U16)
                stage<uint16_t, PAIRS>(&tile, &args, first, y - N::HALF);
            else if constexpr (!PAIRS)
                stage<float, PAIRS>(&tile, &args, first, y - N::HALF);
            __syncthreads();
            if (sample < args.src.width * channels)
                go_down<PAIRS, K>(columns, &args, sample, y, pitch);
            __syncthreads();
        }
    }
}

template <bool PAIRS, int K>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct median_args *args,
                             struct gi_err *err)
{
    typedef network<PAIRS, K> N;
    int channels = args->src.channels;
    int pixels = ((THREADS - 1) / channels + 2) * N::ACROSS + K - 1;
    int quads = (pixels * channels + 3 + 3) / 4, pitch = (place<N::SKEW>(4 * quads) + 4) / 4 * 4;
    size_t nbytes = (size_t)N::TILE * (size_t)pitch * sizeof(unsigned);
    int rows = ceil_div(args->src.height, N::ROWS);
    dim3 grid(ceil_div((long long)ceil_div(args->src.width, N::ACROSS) * channels, THREADS),
              rows < ROWS_MAX ? (unsigned)rows : (unsigned)ROWS_MAX);
    void (*kernel)(const struct median_args, int, int) = median_network<PAIRS, K>;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    kernel<<<grid, THREADS, nbytes, cu->stream>>>(*args, quads, pitch);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <bool PAIRS>
static enum gi_status launch_side(struct gi_cuda_queue *cu, const struct median_args *args,
                                  struct gi_err *err)
{
    return args->width == 3   ? launch<PAIRS, 3>(cu, args, err)
           : args->width == 5 ? launch<PAIRS, 5>(cu, args, err)
                              : launch<PAIRS, 7>(cu, args, err);
}

bool gi_cuda_median_network_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_median *spec)
{
    (void)queue, (void)src;
    return gi_median_is(spec, 3) || gi_median_is(spec, 5) || gi_median_is(spec, 7);
}

enum gi_status gi_cuda_median_network(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_median *spec,
                                      struct gi_err *err)
{
    struct median_args args = median_args_of(dst, src, spec);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    cudaFuncAttributes code;
    GI_CUDA_TRY(cudaFuncGetAttributes(&code, median_network<true, 3>));
    bool pairs = src->type != GI_F32 && code.ptxVersion >= 90;
    return pairs ? launch_side<true>(cu, &args, err) : launch_side<false>(cu, &args, err);
}
