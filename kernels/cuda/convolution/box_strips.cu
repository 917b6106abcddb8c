/* Box filter (mean of k x k) in one pass, at a cost that hardly depends on k: running column sums
 * and prefix sums along the row. All sums are modulo 2^32, which is exact because the sum of a
 * window fits in 32 bits.
 *
 * Block: up to 32 warps. It owns a strip of columns (threads * PIXELS, including the halo) and a
 * band of rows, and moves down the band, ROWS rows per step. A thread owns PIXELS = 8 neighbouring
 * pixels and keeps the sums of k samples of each of their columns.
 *
 *       halo          across           halo
 *     +------+-----------------------+------+    row y + r     added to the column sums
 *     |t0|t1 |t2 |t3 |  ...    |     |  |tn |       ...
 *     +------+-----------------------+------+    row y - r - 1 subtracted
 *        column sums: registers
 *     +------+-----------------------+------+
 *     | P0 P1 ...   prefix sums P        Pm |    shared memory, one word of padding every 8
 *     +------+-----------------------+------+
 *        window of pixel x = P(x + r) - P(x - r - 1)
 *
 * Exchange: prefix sums within the thread, then by shuffles within the warp (threads_scan), then
 * the totals of the warps through `before`; the results are stored in shared memory.
 *
 * Phases of a step: compute columns, load (the rows of the next step), exchange (block scan),
 * compute windows, store.
 *
 * Example: k = 31, 8-bit gray: r = 15, halo = 16 pixels, ROWS = 2; 72 bytes of shared memory per
 * thread. Pixel 0 of a thread reads the prefix sums padded(15) = 16 and padded(-16) = -18.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/common/strips.cuh"
#include "kernels/convolution.h"

enum {
    FEW_ROWS = 2, /* gray: rows per step, so that each barrier serves two rows */
};

struct strips_args {
    struct box_rows rows;
    struct target dst;
    int r, halo; /* pixels of halo on each side of a strip: more than r, whole threads */
    struct strips_cut cut;
    int band;                      /* rows per block */
    int shared_nbytes;             /* per block */
    int high[PIXELS], low[PIXELS]; /* words from a thread's prefix sums to the ends of window j */
    unsigned n, half;              /* k * k; half of it rounded down */
    unsigned magic, shift, byte;   /* v / n = v * magic >> 32 >> shift >> 8 * byte, at 8 bits */
};

/* The mean of a window from its sum and, if weighted by alpha, the sum of alpha. At 8 bits it may
 * be in a higher byte of the word, see means_pack(). */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ unsigned window_mean(const struct strips_args *args,
                                                       const unsigned *sums, int c)
{
    if (WEIGH && c != CHANNELS - 1)
        return box_quotient(sums[c], sums[CHANNELS - 1]);
    if (sizeof(T) == 2)
        return box_quotient(sums[c], args->n);
    unsigned v = __umulhi(sums[c] + args->half, args->magic);
    return WEIGH ? v >> args->shift >> 8 * args->byte : v;
}

/* Packs N means into words of samples. */
template <typename T, int N, bool WEIGH>
static __device__ __forceinline__ void means_pack(unsigned *words, unsigned *means,
                                                  const struct strips_args *args)
{
    if (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            words[i] = __byte_perm(means[2 * i], means[2 * i + 1], 0x5410);
        return;
    }
    if (!WEIGH && args->shift)
#pragma unroll
        for (int i = 0; i < N; i++)
            means[i] >>= args->shift;
    unsigned pick = WEIGH ? 0x40 : 0x40 + args->byte * 0x11;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        unsigned *m = means + 4 * i;
        words[i] =
            __byte_perm(__byte_perm(m[0], m[1], pick), __byte_perm(m[2], m[3], pick), 0x5410);
    }
}

template <typename T, int CHANNELS> struct strips_shape {
    enum {
        THREADS = CHANNELS == 1 ? MOST_THREADS : MOST_THREADS / 2,
        ROWS = CHANNELS == 1 ? FEW_ROWS : 1,
        VALUES = ROWS * CHANNELS, /* per pixel and step */
    };
};

/* Loads the rows that enter and leave the windows of the step at row y. */
template <typename T, int WORDS, int ROWS>
static __device__ __forceinline__ void turn_load(unsigned (*fresh)[WORDS], unsigned (*old)[WORDS],
                                                 const struct strips_args *args,
                                                 struct box_chunk chunk, int y)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        chunk_load<T, WORDS>(fresh[i], &args->rows, chunk, y + i + args->r);
        chunk_load<T, WORDS>(old[i], &args->rows, chunk, y + i - args->r - 1);
    }
}

template <typename T, int CHANNELS, bool WEIGH>
static __global__ void __launch_bounds__(strips_shape<T, CHANNELS>::THREADS)
    box_strips(const __grid_constant__ struct strips_args args)
{
    enum { SAMPLES = PIXELS * CHANNELS, PIXEL_NBYTES = CHANNELS * sizeof(T) };
    enum { WORDS = PIXELS * PIXEL_NBYTES / 4 };
    enum { ROWS = strips_shape<T, CHANNELS>::ROWS, VALUES = strips_shape<T, CHANNELS>::VALUES };
    extern __shared__ uint4 memory[];
    __shared__ __align__(16) unsigned before[2][WARPS * VALUES];
    int me = (int)threadIdx.x, r = args.r, width = args.rows.src.width;
    unsigned *prefix = (unsigned *)memory + me * (PIXELS + 1) * VALUES;
    int x = (int)blockIdx.x % args.cut.strips * args.cut.across - args.halo + me * PIXELS;
    int y0 = (int)blockIdx.x / args.cut.strips * args.band;
    int y1 = min(y0 + args.band, args.rows.src.height);
    bool makes = me * PIXELS >= args.halo && me * PIXELS < args.halo + args.cut.across && x < width;
    struct box_chunk chunk = chunk_at(&args.rows, x * CHANNELS, (int)sizeof(T));
    chunk_wait(&args.rows, &chunk);
    char *out = args.dst.data + (size_t)y0 * args.dst.stride + (long long)x * PIXEL_NBYTES;
    for (int i = me; i < WARPS * VALUES; i += (int)blockDim.x)
        before[0][i] = 0;
    __syncthreads();

    unsigned columns[SAMPLES] = {};
    unsigned fresh[ROWS][WORDS], old[ROWS][WORDS] = {};
#pragma unroll 4
    for (int y = y0 - r - 1; y < y0 + r; y++) {
        chunk_load<T, WORDS>(fresh[0], &args.rows, chunk, y);
        columns_move<T, CHANNELS, WEIGH>(columns, fresh[0], old[0]);
    }
    turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, y0);
    for (int y = y0, turn = 0; y < y1; y += ROWS, turn ^= 1) {
        /* Compute columns: update the column sums, prefix sums within the thread. */
        unsigned sums[PIXELS][VALUES], base[VALUES];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            columns_move<T, CHANNELS, WEIGH>(columns, fresh[i], old[i]);
#pragma unroll
            for (int s = 0; s < SAMPLES; s++) {
                int j = s / CHANNELS, v = s % CHANNELS + i * CHANNELS;
                sums[j][v] = columns[s] + (j ? sums[j - 1][v] : 0);
            }
        }
        /* Load the rows of the next step. Exchange: prefix sums over the block. */
        turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, y + ROWS);
        threads_scan<VALUES>(base, before[turn], sums[PIXELS - 1]);
        __syncthreads();
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            base[v] += before[turn][me / 32 * VALUES + v];
        if (me < WARPS)
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                before[turn ^ 1][me * VALUES + v] = 0;
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                sums[j][v] += base[v];
            words_put<VALUES>(prefix + j * VALUES, sums[j]);
        }
        __syncthreads();
        if (!makes)
            continue;
        /* Compute windows as differences of prefix sums, and store. */
        unsigned means[ROWS][SAMPLES], words[ROWS][WORDS];
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned high[VALUES], low[VALUES];
            words_get<VALUES>(high, prefix + args.high[j]);
            words_get<VALUES>(low, prefix + args.low[j]);
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                high[v] -= low[v];
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                means[v / CHANNELS][j * CHANNELS + v % CHANNELS] = window_mean<T, CHANNELS, WEIGH>(
                    &args, high + v / CHANNELS * CHANNELS, v % CHANNELS);
        }
        means_pack<T, ROWS * SAMPLES, WEIGH>(words[0], means[0], &args);
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += args.dst.stride)
            if (y + i < y1)
                chunk_store<T, WORDS>((T *)out, words[i], (width - x) * CHANNELS);
    }
}

/* Finds magic, shift and byte for 8-bit means. v * magic / 2^b, with b = 32 + shift + 8 * byte,
 * exceeds v / n by v * rest / (n * 2^b). That is too little to reach the next integer, at least 1 /
 * n away, as long as v * rest < 2^b; v is below 256 * n. A few large n have no solution. */
static bool division_of(struct strips_args *args)
{
    uint64_t n = args->n;
    for (unsigned i = 0; i < 48; i++) { /* whole bytes first: they need no shift */
        unsigned down = i < 24 ? i / 8 * 8 : i - 24;
        uint64_t power = 1ull << (32 + down), magic = (power + n - 1) / n, rest = magic * n - power;
        args->magic = (unsigned)magic;
        args->shift = down % 8;
        args->byte = down / 8;
        if (magic <= UINT32_MAX && rest * 256 * n <= power)
            return true;
    }
    return false;
}

/* Divides the work: all of `args` except the images. Returns false if strips are not applicable. */
static bool divide(struct strips_args *args, const struct gi_cuda_queue *cu,
                   const struct gi_image *src, const struct gi_box *spec)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, u8 = src->type == GI_U8;
    int gray = src->channels == 1, values = gray ? (int)FEW_ROWS : src->channels;
    double most = gi_type_full_scale(src->type) * (weigh ? 255.0 : 1.0) + 0.5;
    args->r = spec->k / 2;
    args->halo = (args->r / PIXELS + 1) * PIXELS;
    args->n = (unsigned)(spec->k * spec->k);
    args->half = args->n / 2;
    if (spec->k <= 1 || args->r >= src->height || src->channels == 2 ||
        most * args->n >= 4294967296.0 || (!u8 && weigh) || (u8 && !division_of(args)))
        return false;
    args->cut = strips_cut_of(src->width, args->halo, gray ? MOST_THREADS : MOST_THREADS / 2);
    args->shared_nbytes = args->cut.threads * (PIXELS + 1) * values * (int)sizeof(unsigned);
    for (int j = 0; j < PIXELS; j++) {
        args->high[j] = padded(j + args->r) * values;
        args->low[j] = padded(j - args->r - 1) * values;
    }
    return args->cut.threads && args->shared_nbytes + 4096 <= cu->shared_nbytes;
}

template <typename T, int CHANNELS, bool WEIGH>
static enum gi_status launch(struct gi_cuda_queue *cu, struct strips_args *args,
                             const struct gi_image *src, const struct gi_box *spec,
                             struct gi_err *err)
{
    struct gi_border_spec border = box_border(src, &spec->border);
    enum gi_status status = gi_cuda_box_rows(cu, &args->rows, src, &border, PIXELS * CHANNELS,
                                             args->halo * CHANNELS, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_args) = box_strips<T, CHANNELS, WEIGH>;
    int threads = args->cut.threads, shared = args->shared_nbytes;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    int blocks = 1;
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared));
    int bands = blocks * cu->units / args->cut.strips; /* one wave */
    args->band = ceil_div(src->height, bands < 1 ? 1 : bands);
    dim3 grid(args->cut.strips * ceil_div(src->height, args->band));
    return pdl_launch(cu, kernel, grid, threads, shared, args, err);
}

bool gi_cuda_box_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_box *spec)
{
    struct strips_args args = {};
    return divide(&args, (const struct gi_cuda_queue *)queue, src, spec);
}

enum gi_status gi_cuda_box_strips(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_box *spec,
                                  struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, u8 = src->type == GI_U8;
    struct strips_args args = {};
    args.dst = target_of(dst);
    divide(&args, cu, src, spec);
    if (src->channels == 1)
        return u8 ? launch<uint8_t, 1, false>(cu, &args, src, spec, err)
                  : launch<uint16_t, 1, false>(cu, &args, src, spec, err);
    if (src->channels == 3)
        return u8 ? launch<uint8_t, 3, false>(cu, &args, src, spec, err)
                  : launch<uint16_t, 3, false>(cu, &args, src, spec, err);
    if (weigh)
        return launch<uint8_t, 4, true>(cu, &args, src, spec, err);
    return u8 ? launch<uint8_t, 4, false>(cu, &args, src, spec, err)
              : launch<uint16_t, 4, false>(cu, &args, src, spec, err);
}
