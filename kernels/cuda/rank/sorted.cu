/* Rank and mode filters of windows of up to 7 x 7 samples of any shape: each window is sorted by a
 * network in registers. In ascending order the sample of any rank is found by its index, and the
 * most frequent sample is the longest run of equal ones. Samples that do not count, because they
 * are outside the structuring element or transparent, get the key `none`, which is above all
 * others.
 *
 * Block: as many pixels as THREADS threads can do, one colour of a pixel each, and STEPS rows.
 * Shared memory holds the keys of the tile with its halo, without alpha that is copied. With PAIRS
 * a word is two keys of 16 bits, from rows that are STEPS apart, and a thread sorts two windows at
 * a time.
 *
 * Phases: load, compute (sort, pick), store.
 *
 * Example: for 5 x 5 samples of RGB bytes, blocks compute 42 x 64 pixels from 36 rows of
 * (42 + 4) * 3 words.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/rank/median.cuh"
#include "kernels/cuda/rank/sorting_network.cuh"

enum {
    SIDE_MAX = 7,
    THREADS = 128,
    STEPS = 32,      /* rows of words that a block computes */
    ROWS_MAX = 32768 /* of a grid */
};

struct sorted_args {
    struct median_args median;
    uint8_t mask[SIDE_MAX]; /* rows of the square; bit i is set if the sample in column i counts */
    uint8_t places[SIDE_MAX * SIDE_MAX + 1]; /* [n]: index of the result if n samples count */
    int counted;                             /* samples of the structuring element */
    int colors;                              /* channels that are filtered */
    bool square;                             /* whether all samples of the square count */
    bool mode;                               /* whether to pick the mode; else a rank */
};

template <bool PAIRS, int K> struct shape {
    enum {
        TILE = STEPS + K - 1,                       /* rows of words in shared memory */
        PITCH = THREADS + (K - 1) * GI_MAX_CHANNELS /* words per row */
    };
    static constexpr unsigned NONE = PAIRS ? 0xffff : ~0u;
};

/* Returns the key of channel c in row y and column xi of the image; xi is -1 outside. */
template <typename T, unsigned NONE>
static __device__ __forceinline__ unsigned key_at(const struct median_args *args, int xi, int y,
                                                  int c)
{
    int yi = gi_border_index(y, args->src.height, args->src.border);
    int last = args->src.channels - 1;
    T v = (T)args->src.value[c], alpha = (T)args->src.value[last];
    if (xi >= 0 && yi >= 0) {
        const T *pixel = (const T *)(args->src.data + (size_t)yi * args->src.stride) +
                         (size_t)xi * args->src.channels;
        v = pixel[c];
        alpha = args->hides ? pixel[last] : alpha;
    }
    unsigned key = key_of<T>(v);
    key = sizeof(T) == 4 ? min(key, ~1u) : key; /* of NaN */
    return args->hides && !(alpha > 0) ? NONE : key;
}

/* Loads the tile whose first result is at (x0, y0). */
template <typename T, bool PAIRS, int K>
static __device__ __noinline__ void load_tile(unsigned *words, const struct sorted_args *args,
                                              int x0, int y0)
{
    typedef shape<PAIRS, K> S;
    int colors = args->colors, columns = (THREADS / colors + K - 1) * colors;
    for (int i = (int)threadIdx.x; i < columns; i += THREADS) {
        int c = i % colors, y = y0 - K / 2;
        int xi = gi_border_index(x0 - K / 2 + i / colors, args->median.src.width,
                                 args->median.src.border);
#pragma unroll 4
        for (int r = 0; r < S::TILE; r++) {
            unsigned key = key_at<T, S::NONE>(&args->median, xi, y + r, c);
            if (PAIRS)
                key |= key_at<T, S::NONE>(&args->median, xi, y + r + STEPS, c) << 16;
            words[r * S::PITCH + i] = key;
        }
    }
}

/* Returns the element at `index` of N elements in registers, by halving their number. */
template <int N>
static __device__ __forceinline__ unsigned element(const unsigned *v, unsigned index)
{
    if constexpr (N == 1) {
        return v[0];
    } else {
        unsigned half[(N + 1) / 2];
#pragma unroll
        for (int i = 0; i < (N + 1) / 2; i++)
            half[i] = index & 1 && 2 * i + 1 < N ? v[min(2 * i + 1, N - 1)] : v[2 * i];
        return element<(N + 1) / 2>(half, index >> 1);
    }
}

/* Returns the key of a word's lower half or, if `half` is 1, of its upper half. */
template <bool PAIRS> static __device__ __forceinline__ unsigned half_of(unsigned word, int half)
{
    return !PAIRS ? word : half ? word >> 16 : word & 0xffff;
}

/* Returns the key of the result among N keys in ascending order, or NONE if no sample counts. */
template <bool PAIRS, int N, unsigned NONE>
static __device__ __forceinline__ unsigned ranked(const unsigned *sorted,
                                                  const struct sorted_args *args, int half)
{
    unsigned place = args->median.rank;
    if (args->median.hides) {
        int n = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            n += half_of<PAIRS>(sorted[i], half) != NONE;
        place = args->places[n];
    }
    return half_of<PAIRS>(element<N>(sorted, place), half);
}

/* The same for the mode. The length of a run and the complement of its key are parts of one number,
 * whose maximum is the first of the longest runs. Keys have 16 bits. */
template <bool PAIRS, int N, unsigned NONE>
static __device__ __forceinline__ unsigned most_frequent(const unsigned *sorted,
                                                         const struct sorted_args *args, int half)
{
    bool some = args->median.hides || !args->square; /* may not count */
    unsigned best = 0, run = 0, before = NONE;
#pragma unroll
    for (int i = 0; i < N; i++) {
        unsigned key = half_of<PAIRS>(sorted[i], half);
        run = i && key == before ? run + 65536 : 65536;
        before = key;
        if (!some || key != NONE)
            best = max(best, run + 65535 - key);
    }
    return best ? 65535 - (best & 65535) : NONE;
}

/* Stores the sample of a key at sample i of row y, or the sample of the source if `copy`. */
template <typename T>
static __device__ __forceinline__ void put(const struct median_args *args, unsigned key, bool copy,
                                           size_t i, int y)
{
    T v = sample_of<T>(sizeof(T) == 4 && key == ~1u ? ~0u : key);
    ((T *)(args->dst.data + (size_t)y * args->dst.stride))[i] =
        copy ? ((const T *)(args->src.data + (size_t)y * args->src.stride))[i] : v;
}

template <bool PAIRS>
static __device__ __forceinline__ void put_any(const struct median_args *args, unsigned key,
                                               bool copy, size_t i, int y)
{
    if (args->src.type == GI_U8)
        put<uint8_t>(args, key, copy, i, y);
    else if (args->src.type == GI_U16)
        put<uint16_t>(args, key, copy, i, y);
    else if (!PAIRS)
        put<float>(args, key, copy, i, y);
}

/* Sorts the window whose first word is at `at`. */
template <bool PAIRS, int K>
static __device__ __forceinline__ void sort_window(unsigned *sorted, const unsigned *at,
                                                   const struct sorted_args *args)
{
    typedef shape<PAIRS, K> S;
    unsigned keys[K * K];
#pragma unroll
    for (int i = 0; i < K * K; i++)
        keys[i] = at[i / K * S::PITCH + i % K * args->colors];
    if (!args->square)
#pragma unroll
        for (int i = 0; i < K * K; i++)
            keys[i] = args->mask[i / K] >> i % K & 1 ? keys[i] : ~0u;
    sort<PAIRS, K * K>(sorted, keys);
}

template <bool PAIRS, int K>
static __global__ void __launch_bounds__(THREADS)
    sorted_windows(const __grid_constant__ struct sorted_args args)
{
#if GI_CUDA_ARCH >= 900
    constexpr bool THERE = true;
#else
    constexpr bool THERE = !PAIRS; /* without packed comparisons this kernel is not launched */
#endif
    typedef shape<PAIRS, K> S;
    __shared__ unsigned words[THERE ? S::TILE * S::PITCH : 1];
    if constexpr (THERE) {
        const struct median_args *median = &args.median;
        int colors = args.colors, pixels = THREADS / colors, channels = median->src.channels;
        int x0 = (int)blockIdx.x * pixels, height = median->src.height;
        int x = x0 + (int)threadIdx.x / colors, c = (int)threadIdx.x % colors;
        bool works = x < x0 + pixels && x < median->src.width;
        size_t at = (size_t)x * channels + c;
        for (int y0 = (int)blockIdx.y * STEPS * (1 + PAIRS); y0 < height;
             y0 += (int)gridDim.y * STEPS * (1 + PAIRS)) {
            /* Load the tile. */
            __syncthreads();
            if (median->src.type == GI_U8)
                load_tile<uint8_t, PAIRS, K>(words, &args, x0, y0);
            else if (median->src.type == GI_U16)
                load_tile<uint16_t, PAIRS, K>(words, &args, x0, y0);
            else if constexpr (!PAIRS)
                load_tile<float, PAIRS, K>(words, &args, x0, y0);
            __syncthreads();
            for (int i = 0; works && i < STEPS && y0 + i < height; i++) {
                /* Compute: sort, pick. */
                unsigned sorted[K * K];
                sort_window<PAIRS, K>(sorted, words + i * S::PITCH + (int)threadIdx.x, &args);
#pragma unroll
                for (int half = 0; half <= (int)PAIRS; half++) {
                    int y = y0 + i + half * STEPS;
                    unsigned key = args.mode
                                       ? most_frequent<PAIRS, K * K, S::NONE>(sorted, &args, half)
                                       : ranked<PAIRS, K * K, S::NONE>(sorted, &args, half);
                    /* Store. */
                    if (y >= height)
                        continue;
                    put_any<PAIRS>(median, key, median->hides && key == S::NONE, at, y);
                    if (colors < channels && c == 0)
                        put_any<PAIRS>(median, 0, true, at + colors, y);
                }
            }
        }
    }
}

template <bool PAIRS, int K>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct sorted_args *args,
                             struct gi_err *err)
{
    int rows = ceil_div(args->median.src.height, STEPS * (1 + PAIRS));
    dim3 grid((unsigned)ceil_div(args->median.src.width, THREADS / args->colors),
              (unsigned)(rows < ROWS_MAX ? rows : (int)ROWS_MAX));
    sorted_windows<PAIRS, K><<<grid, THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <bool PAIRS>
static enum gi_status launch_side(struct gi_cuda_queue *cu, const struct sorted_args *args, int k,
                                  struct gi_err *err)
{
    return k <= 3   ? launch<PAIRS, 3>(cu, args, err)
           : k <= 5 ? launch<PAIRS, 5>(cu, args, err)
                    : launch<PAIRS, 7>(cu, args, err);
}

/* Fills the mask of a square of k x k samples. */
static void fill_mask(struct sorted_args *args, const struct gi_median *spec, int k)
{
    int before_x = k / 2 - spec->width / 2, before_y = k / 2 - spec->height / 2;
    for (int j = 0; j < spec->height && !spec->runs; j++)
        args->mask[before_y + j] = (uint8_t)(((1 << spec->width) - 1) << before_x);
    for (int r = 0; r < spec->nruns; r++)
        for (int i = spec->runs[r].first; i <= spec->runs[r].last; i++)
            args->mask[k / 2 + spec->runs[r].y] |= (uint8_t)(1 << (k / 2 + i));
    for (int j = 0; j < k; j++)
        for (int i = 0; i < k; i++)
            args->counted += args->mask[j] >> i & 1;
    args->square = args->counted == k * k;
}

static enum gi_status filter(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_median *spec, bool mode,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct sorted_args args = {};
    cudaFuncAttributes code;
    int side = spec->width > spec->height ? spec->width : spec->height;
    int k = side <= 3 ? 3 : side <= 5 ? 5 : 7;
    args.median = median_args_of(dst, src, spec);
    args.colors = src->channels - args.median.keep_alpha;
    args.mode = mode;
    fill_mask(&args, spec, k);
    for (int n = 1; n <= args.counted; n++)
        args.places[n] = (uint8_t)gi_rank_place(spec->percent, n);
    GI_CUDA_TRY(cudaFuncGetAttributes(&code, sorted_windows<true, 3>));
    bool all = args.square && !args.median.hides; /* so that no key of 16 bits means `none` */
    bool pairs = code.ptxVersion >= 90 && (src->type == GI_U8 || (src->type == GI_U16 && all));
    return pairs ? launch_side<true>(cu, &args, k, err) : launch_side<false>(cu, &args, k, err);
}

bool gi_cuda_sorted_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_median *spec)
{
    return spec->width <= SIDE_MAX && spec->height <= SIDE_MAX;
}

enum gi_status gi_cuda_rank_sorted(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_median *spec,
                                   struct gi_err *err)
{
    return filter(queue, dst, src, spec, false, err);
}

enum gi_status gi_cuda_mode_sorted(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_median *spec,
                                   struct gi_err *err)
{
    return filter(queue, dst, src, spec, true, err);
}
