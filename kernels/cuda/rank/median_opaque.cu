/* Medians of 3 x 3, 5 x 5 and 7 x 7 samples that ignore transparent pixels, in two steps:
 * another way filters the image as if all pixels counted; then the results of windows with
 * transparent pixels are computed again.
 *
 * Block of the second step: 64 x 16 results. Shared memory holds the pixels of the tile with its
 * halo, and a bit per pixel that is set if the pixel is transparent. Windows with such bits are
 * collected in a list, so that all threads have work (stream compaction). A thread then computes
 * one colour of a window of the list. It holds the keys in registers, transparent ones as the
 * maximum, and finds the result bit by bit: the largest number that no more than `rank` keys are
 * below.
 *
 * Phases: load, collect, compute and store.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/rank/median.cuh"

enum {
    THREADS = 256,
    WIDE = 64, /* results per tile */
    TALL = 16,
    WORDS = WIDE / WARP + 1, /* of bits per row, halo included */
};

/* A pixel that is loaded with one access. */
template <typename T, int CHANNELS> struct alignas(sizeof(T) * CHANNELS) pixel {
    T c[CHANNELS];
};

template <typename T, int CHANNELS, int K> struct opaque_tile {
    enum { COLUMNS = WIDE + K - 1, ROWS = TALL + K - 1 };
    pixel<T, CHANNELS> pixels[ROWS][COLUMNS];
    unsigned bits[ROWS][WORDS];
    uint16_t list[WIDE * TALL]; /* y * WIDE + x */
    int n;
};

/* Loads the tile whose first result is at (x0, y0). A warp makes 32 bits of a row. */
template <typename T, int CHANNELS, int K>
static __device__ __forceinline__ void opaque_load(struct opaque_tile<T, CHANNELS, K> *tile,
                                                   const struct source *src, int x0, int y0)
{
    typedef struct opaque_tile<T, CHANNELS, K> shape;
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    for (int i = warp; i < shape::ROWS * WORDS; i += THREADS / WARP) {
        int row = i / WORDS, column = i % WORDS * WARP + lane;
        int xi = gi_border_index(x0 - K / 2 + column, src->width, src->border);
        int yi = gi_border_index(y0 - K / 2 + row, src->height, src->border);
        pixel<T, CHANNELS> v;
        if (xi >= 0 && yi >= 0)
            v = ((const pixel<T, CHANNELS> *)(src->data + (size_t)yi * src->stride))[xi];
        else
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v.c[c] = (T)src->value[c];
        unsigned bits = __ballot_sync(ALL_LANES, !(v.c[CHANNELS - 1] > 0));
        if (column < shape::COLUMNS)
            tile->pixels[row][column] = v;
        if (lane == 0)
            tile->bits[row][i % WORDS] = bits;
    }
}

/* Returns the bits of a row of the window that begins in column x. */
template <int K> static __device__ __forceinline__ unsigned window_bits(const unsigned *row, int x)
{
    return __funnelshift_r(row[x / WARP], row[x / WARP + 1], (unsigned)x) & ((1u << K) - 1);
}

/* Collects the windows with transparent pixels. */
template <typename T, int CHANNELS, int K>
static __device__ __forceinline__ void opaque_collect(struct opaque_tile<T, CHANNELS, K> *tile)
{
    for (int i = (int)threadIdx.x; i < WIDE * TALL; i += THREADS) {
        unsigned bits = 0;
#pragma unroll
        for (int j = 0; j < K; j++)
            bits |= window_bits<K>(tile->bits[i / WIDE + j], i % WIDE);
        if (bits)
            tile->list[atomicAdd(&tile->n, 1)] = (uint16_t)i;
    }
}

/* Returns the result of channel c of the window that begins in row y and column x of the tile. */
template <typename T, int CHANNELS, int K>
static __device__ __forceinline__ T opaque_at(const struct opaque_tile<T, CHANNELS, K> *tile, int y,
                                              int x, int c, double percent)
{
    unsigned keys[K * K], result = 0;
    int count = 0;
#pragma unroll
    for (int j = 0; j < K; j++) {
        unsigned bits = window_bits<K>(tile->bits[y + j], x);
        count += K - __popc(bits);
#pragma unroll
        for (int i = 0; i < K; i++)
            keys[j * K + i] = bits >> i & 1 ? ~0u : key_of<T>(tile->pixels[y + j][x + i].c[c]);
    }
    if (!count)
        return tile->pixels[y + K / 2][x + K / 2].c[c];
    int rank = gi_rank_place(percent, count);
#pragma unroll 1
    for (unsigned bit = 1u << (8 * sizeof(T) - 1); bit; bit >>= 1) {
        int below = 0;
#pragma unroll
        for (int i = 0; i < K * K; i++)
            below += keys[i] < (result | bit);
        if (below <= rank)
            result |= bit;
    }
    return sample_of<T>(result);
}

template <typename T, int CHANNELS, int K>
static __device__ __forceinline__ void tiles_make(struct opaque_tile<T, CHANNELS, K> *tile,
                                                  const struct median_args &args)
{
    int x0 = (int)blockIdx.x * WIDE;
    for (int y0 = (int)blockIdx.y * TALL; y0 < args.src.height; y0 += (int)gridDim.y * TALL) {
        __syncthreads();
        if (threadIdx.x == 0)
            tile->n = 0;
        opaque_load<T, CHANNELS, K>(tile, &args.src, x0, y0);
        __syncthreads();
        opaque_collect<T, CHANNELS, K>(tile);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < tile->n * (CHANNELS - 1); i += THREADS) {
            int at = tile->list[i / (CHANNELS - 1)], y = at / WIDE, x = at % WIDE;
            int c = i % (CHANNELS - 1);
            if (x0 + x < args.src.width && y0 + y < args.src.height)
                ((T *)(args.dst.data +
                       (size_t)(y0 + y) * args.dst.stride))[(x0 + x) * CHANNELS + c] =
                    opaque_at<T, CHANNELS, K>(tile, y, x, c, args.percent);
        }
    }
}

/* Shared memory is a tile of the type and channels of the image. */
template <int K>
static __global__ void __launch_bounds__(THREADS)
    median_opaque(const __grid_constant__ struct median_args args)
{
    extern __shared__ uint4 tile[];
    if (args.src.channels == 2)
        SAMPLE_TYPES(args.src.type, tiles_make((struct opaque_tile<T, 2, K> *)tile, args));
    else
        SAMPLE_TYPES(args.src.type, tiles_make((struct opaque_tile<T, 4, K> *)tile, args));
}

/* Returns the bytes of a tile for windows of `k` x `k` samples. */
template <typename T, int CHANNELS> static size_t tile_nbytes(int k)
{
    return k == 3   ? sizeof(struct opaque_tile<T, CHANNELS, 3>)
           : k == 5 ? sizeof(struct opaque_tile<T, CHANNELS, 5>)
                    : sizeof(struct opaque_tile<T, CHANNELS, 7>);
}

template <typename T>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct median_args *args,
                             struct gi_err *err)
{
    enum { ROWS_MAX = 32768 }; /* of a grid */
    int rows = ceil_div(args->src.height, TALL);
    dim3 grid((unsigned)ceil_div(args->src.width, WIDE),
              (unsigned)(rows < ROWS_MAX ? rows : (int)ROWS_MAX));
    auto *kernel = args->width == 3   ? median_opaque<3>
                   : args->width == 5 ? median_opaque<5>
                                      : median_opaque<7>;
    size_t nbytes =
        args->src.channels == 2 ? tile_nbytes<T, 2>(args->width) : tile_nbytes<T, 4>(args->width);
    kernel<<<grid, THREADS, nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

bool gi_cuda_median_opaque_takes(const struct gi_queue *, const struct gi_image *src,
                                 const struct gi_median *spec)
{
    int k = spec->width;
    return gi_median_hides(spec, src) && spec->height == k && (k == 3 || k == 5 || k == 7) &&
           median_is_rectangle(spec) && gi_rank_place(spec->percent, k * k) == k * k / 2;
}

enum gi_status gi_cuda_median_opaque(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_median *spec,
                                     struct gi_err *err)
{
    struct median_args args = median_args_of(dst, src, spec);
    struct gi_median all = *spec;
    const struct gi_median_way *way = gi_cuda_median_ways;
    all.opaque = false;
    all.runs = NULL;
    all.nruns = 0;
    all.rank = gi_rank_place(spec->percent, spec->width * spec->height);
    while (!way->takes(queue, src, &all))
        way++;
    enum gi_status status = way->run(queue, dst, src, &all, err);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (status)
        return status;
    GI_CUDA_TYPES(src->type, launch<T>(cu, &args, err));
}
