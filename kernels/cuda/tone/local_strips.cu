/* Local (adaptive) thresholds of gray integers in one pass, like the box filter in box_strips.cu
 * (see the drawing there): a block moves down a strip of columns; each thread keeps the sums of k
 * levels, and of their squares, of its columns; prefix sums along the row give every window as a
 * difference. All sums are modulo 2^32, which is exact because the sums of a window fit in 32 bits.
 * Squares are those of levels minus 128, which leaves D unchanged and lets k be twice as large.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/common/strips.cuh"
#include "kernels/cuda/tone/local_threshold.cuh"
#include "kernels/cuda/tone/local_quick.cuh"

enum {
    VALUES = 2, /* per pixel and step: sums of two rows, or sums and squares of one */
    SPREAD_THREADS = 512,
};

struct local_strips {
    struct box_rows rows;
    struct target dst;
    int r, halo; /* pixels of halo on each side of a strip: more than r, whole threads */
    struct strips_cut cut;
    int band;                      /* rows per block */
    int shared_nbytes;             /* per block */
    int high[PIXELS], low[PIXELS]; /* words from a thread's prefix sums to the ends of window j */
    int n, more;                   /* k * k; `mean`: above if n * v - sum > more */
    unsigned flip;                 /* ~0 for `invert` */
    struct gi_local spec;
    struct local_quick quick;
};

/* Sample j of a thread. */
template <typename T> static __device__ __forceinline__ int sample_of(const unsigned *words, int j)
{
    return sizeof(T) == 1 ? (int)__byte_perm(words[j / 4], 0, 0x4440u | (j & 3))
                          : (int)__byte_perm(words[j / 2], 0, j & 1 ? 0x4432u : 0x4410u);
}

/* squares[j] += fresh * fresh - old * old, of samples minus 128. */
static __device__ __forceinline__ void squares_move(unsigned *squares, const unsigned *fresh,
                                                    const unsigned *old)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        unsigned byte = (unsigned)j & 3, extended = byte | (byte | 8) * 0x1110;
        int f = (int)signs_perm(fresh[j / 4] ^ 0x80808080, 0, extended);
        int o = (int)signs_perm(old[j / 4] ^ 0x80808080, 0, extended);
        squares[j] = (unsigned)(f * f) - ((unsigned)(o * o) - squares[j]);
    }
}

/* Conversion to double without the conversion units, of which there are few. */
static __device__ __forceinline__ double whole_of(unsigned v)
{
    return __hiloint2double(0x43300000, (int)v) - 0x1p52;
}

/* Returns whether sample v is above the threshold of its window, whose sums are given. N times the
 * sum of squares is below 2^53. */
template <bool SWELL>
static __device__ __noinline__ bool above_of(const struct local_strips *args, int v, unsigned sum,
                                             unsigned square)
{
    double n = args->n, s = whole_of(sum), less = s - 128 * n;
    struct gi_local spec = args->spec;
    if (!SWELL)
        spec.swell = 0;
    return gi_local_above(&spec, n * v - s, s, fma(-less, less, n * whole_of(square)));
}

/* signs[j] < 0 if sample j of `words` is above the threshold of its window; the sums of the window
 * are differences of prefix sums. */
template <bool SWELL>
static __device__ __forceinline__ void
signs_of(unsigned *signs, const struct local_strips *args, unsigned top, const unsigned *words,
         const unsigned (*high)[VALUES], const unsigned (*low)[VALUES])
{
    bool doubt = false;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        float s = (float)(high[j][0] - low[j][0]), q = (float)(high[j][1] - low[j][1]);
        float h = quick_side<SWELL>(&args->quick, quick_sample(words[j / 4], top, j % 4), s, q);
        signs[j] = __float_as_uint(h);
        doubt |= quick_doubts(h, s + args->quick.sure);
    }
    if (!doubt)
        return;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        unsigned sum = high[j][0] - low[j][0], square = high[j][1] - low[j][1];
        if (quick_doubts(__uint_as_float(signs[j]), (float)sum + args->quick.sure))
            signs[j] = above_of<SWELL>(args, sample_of<uint8_t>(words, j), sum, square) ? ~0u : 0;
    }
}

/* Compensates for the zeros in `old` that are subtracted while the first 2 * r + 1 rows enter. */
static __device__ __forceinline__ void squares_begin(unsigned *squares, int r)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        squares[j] = (2 * r + 1) * 128 * 128;
}

/* Loads the prefix sums at both ends of a thread's windows. */
static __device__ __forceinline__ void ends_get(unsigned (*high)[VALUES], unsigned (*low)[VALUES],
                                                const struct local_strips *args,
                                                const unsigned *prefix)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        words_get<VALUES>(high[j], prefix + args->high[j]);
        words_get<VALUES>(low[j], prefix + args->low[j]);
    }
}

/* The same for thresholds by the mean; i selects one of the two rows. */
template <typename T>
static __device__ __forceinline__ void
signs_mean(unsigned *signs, const struct local_strips *args, int i, const unsigned *words,
           const unsigned (*high)[VALUES], const unsigned (*low)[VALUES])
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        int rest = args->n * sample_of<T>(words, j) - (int)(high[j][i] - low[j][i]);
        signs[j] = rest > args->more ? ~0u : 0;
    }
}

/* Loads the rows that enter and leave the windows of the step at row y. */
template <typename T, int WORDS, int ROWS>
static __device__ __forceinline__ void turn_load(unsigned (*fresh)[WORDS], unsigned (*old)[WORDS],
                                                 const struct local_strips *args,
                                                 struct box_chunk chunk, int y)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        chunk_load<T, WORDS>(fresh[i], &args->rows, chunk, y + i + args->r);
        chunk_load<T, WORDS>(old[i], &args->rows, chunk, y + i - args->r - 1);
    }
}

template <typename T, bool MEAN, bool SWELL>
static __global__ void __launch_bounds__(MEAN ? MOST_THREADS : SPREAD_THREADS, MEAN ? 1 : 2)
    local_strips(const __grid_constant__ struct local_strips args)
{
    enum { WORDS = PIXELS * (int)sizeof(T) / 4, ROWS = MEAN ? 2 : 1 };
    extern __shared__ uint4 memory[];
    __shared__ __align__(16) unsigned before[2][WARPS * VALUES];
    int me = (int)threadIdx.x, r = args.r, width = args.rows.src.width;
    unsigned *prefix = (unsigned *)memory + me * (PIXELS + 1) * VALUES;
    int x = (int)blockIdx.x % args.cut.strips * args.cut.across - args.halo + me * PIXELS;
    int y0 = (int)blockIdx.x / args.cut.strips * args.band;
    int y1 = min(y0 + args.band, args.rows.src.height);
    bool makes = me * PIXELS >= args.halo && me * PIXELS < args.halo + args.cut.across && x < width;
    struct box_chunk chunk = chunk_at(&args.rows, x, (int)sizeof(T));
    chunk_wait(&args.rows, &chunk);
    char *out = args.dst.data + (size_t)y0 * args.dst.stride + (long long)x * (int)sizeof(T);
    for (int i = me; i < WARPS * VALUES; i += (int)blockDim.x)
        before[0][i] = 0;
    __syncthreads();

    unsigned top = (unsigned)__shfl_sync(~0u, args.quick.top, me);
    unsigned columns[PIXELS] = {}, squares[PIXELS];
    squares_begin(squares, r);
    unsigned fresh[ROWS][WORDS], old[ROWS][WORDS] = {}, centre[ROWS][WORDS];
#pragma unroll 4
    for (int y = y0 - r - 1; y < y0 + r; y++) {
        chunk_load<T, WORDS>(fresh[0], &args.rows, chunk, y);
        columns_move<T, 1, false>(columns, fresh[0], old[0]);
        if (!MEAN)
            squares_move(squares, fresh[0], old[0]);
    }
    turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, y0);
    for (int y = y0, turn = 0; y < y1; y += ROWS, turn ^= 1) {
        unsigned sums[PIXELS][VALUES], base[VALUES];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            /* Compute columns: update the sums, prefix sums within the thread. */
            chunk_load<T, WORDS>(centre[i], &args.rows, chunk, y + i);
            columns_move<T, 1, false>(columns, fresh[i], old[i]);
            if (!MEAN)
                squares_move(squares, fresh[i], old[i]);
#pragma unroll
            for (int j = 0; j < PIXELS; j++) {
                sums[j][i] = columns[j] + (j ? sums[j - 1][i] : 0);
                if (!MEAN)
                    sums[j][1] = squares[j] + (j ? sums[j - 1][1] : 0);
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
        /* Compute windows and store. */
        unsigned high[PIXELS][VALUES], low[PIXELS][VALUES];
        ends_get(high, low, &args, prefix);
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += args.dst.stride) {
            unsigned signs[PIXELS], words[WORDS];
            if (MEAN)
                signs_mean<T>(signs, &args, i, centre[i], high, low);
            else
                signs_of<SWELL>(signs, &args, top, centre[i], high, low);
            signs_mask<T, WORDS>(words, signs, args.flip);
            if (y + i < y1)
                chunk_store<T, WORDS>((T *)out, words, width - x);
        }
    }
}

/* Divides the work: all of `args` except the images. Returns false if strips are not applicable. */
static bool divide(struct local_strips *args, const struct gi_cuda_queue *cu,
                   const struct gi_image *src, const struct gi_local *spec)
{
    double n = (double)spec->k * spec->k, full = gi_type_full_scale(src->type);
    double more = floor(-spec->shift);
    bool fits = spec->mean ? n * full <= INT32_MAX : n * 128 * 128 < 4294967296.0;
    if (spec->k / 2 >= src->height || src->channels != 1 || src->type == GI_F32 || !fits ||
        (!spec->mean && src->type != GI_U8))
        return false;
    args->r = spec->k / 2;
    args->halo = (args->r / PIXELS + 1) * PIXELS;
    args->n = (int)n;
    args->more = (int)(more > INT32_MAX ? INT32_MAX : more > INT32_MIN ? more : INT32_MIN);
    args->flip = spec->invert ? ~0u : 0;
    args->spec = *spec;
    args->quick = local_quick_of(spec);
    args->cut =
        strips_cut_of(src->width, args->halo, spec->mean ? (int)MOST_THREADS : (int)SPREAD_THREADS);
    args->shared_nbytes = args->cut.threads * (PIXELS + 1) * VALUES * (int)sizeof(unsigned);
    for (int j = 0; j < PIXELS; j++) {
        args->high[j] = padded(j + args->r) * VALUES;
        args->low[j] = padded(j - args->r - 1) * VALUES;
    }
    return args->cut.threads && args->shared_nbytes + 4096 <= cu->shared_nbytes;
}

template <typename T, bool MEAN, bool SWELL>
static enum gi_status launch(struct gi_cuda_queue *cu, struct local_strips *args,
                             const struct gi_image *src, struct gi_err *err)
{
    struct gi_border_spec border = box_border(src, &args->spec.border);
    enum gi_status status =
        gi_cuda_box_rows(cu, &args->rows, src, &border, PIXELS, args->halo, err);
    if (status)
        return status;
    void (*kernel)(const struct local_strips) = local_strips<T, MEAN, SWELL>;
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

bool gi_cuda_local_strips_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_local *spec)
{
    struct local_strips args = {};
    return divide(&args, (const struct gi_cuda_queue *)queue, src, spec);
}

enum gi_status gi_cuda_local_strips(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_local *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct local_strips args = {};
    args.dst = target_of(dst);
    divide(&args, cu, src, spec);
    if (!spec->mean)
        return spec->swell != 0 ? launch<uint8_t, false, true>(cu, &args, src, err)
                                : launch<uint8_t, false, false>(cu, &args, src, err);
    return src->type == GI_U8 ? launch<uint8_t, true, false>(cu, &args, src, err)
                              : launch<uint16_t, true, false>(cu, &args, src, err);
}
