/* Median of 3 x 3 bytes in registers. The three columns are sorted; the result is the median of
 * three numbers: the maximum of the minima, the median of the medians, and the minimum of the
 * maxima. J. Smith, "Implementing median filters in XC4000E FPGAs", Xcell 23, 1996.
 *
 * A warp owns a strip of 512 bytes and moves down a band of rows, two rows of the result per step.
 * A thread owns 16 bytes, with AHEAD rows in flight in registers, and gets neighbouring columns by
 * warp shuffles. A column of three is sorted once for all windows that contain it. Bytes are
 * compared two at a time, in 16-bit halves.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/rank/median.cuh"

enum { WORDS = 4, ALL = WORDS + 1, AHEAD = 4, WARPS = 24 };

struct near_args {
    struct box_rows rows;
    struct target dst;
    int band; /* rows per warp */
    bool keep_alpha;
};

/* A thread's chunk. The first and the last lane also have the chunk next to the strip. The word of
 * the halo begins at byte `side` of that chunk (0 for other lanes). */
struct near_chunks {
    struct box_chunk own, beside;
    int side;
};

static __device__ __forceinline__ void near_load(unsigned *words, const struct box_rows *rows,
                                                 const struct near_chunks *chunks, int y)
{
    chunk_load<uint8_t, WORDS>(words, rows, chunks->own, y);
    words[WORDS] = *(const unsigned *)(chunk_row(rows, chunks->beside, y) + chunks->side);
}

/* Returns two bytes of a word (0 and 2, or 1 and 3) in halves. */
static __device__ __forceinline__ unsigned part_of(unsigned word, int i)
{
    return i ? __byte_perm(word, 0, 0x4341) : word & 0x00ff00ff;
}

/* Sorts two words of bytes in halves, by the units that multiply and add, because those that
 * compare have most of the work: a byte is a subnormal number of 16 bits, and differences are
 * exact. */
static __device__ __forceinline__ void exchange(unsigned *low, unsigned *high, unsigned a,
                                                unsigned b)
{
    unsigned over; /* max(a - b, 0) */
    asm("sub.sat.f16x2 %0, %1, %2;" : "=r"(over) : "r"(a), "r"(b));
    asm("sub.f16x2 %0, %1, %2;" : "=r"(*low) : "r"(a), "r"(over));
    asm("add.f16x2 %0, %1, %2;" : "=r"(*high) : "r"(b), "r"(over));
}

/* Columns of three samples, sorted: minima, medians and maxima, in two parts. */
struct near_sorted {
    unsigned v[3][2][ALL];
};

/* Sorts the columns of rows `a`, `b`, `first`, and the columns of rows `a`, `b`, `second`. */
static __device__ __forceinline__ void near_sort(struct near_sorted *out, const unsigned *a,
                                                 const unsigned *b, const unsigned *first,
                                                 const unsigned *second)
{
#pragma unroll
    for (int j = 0; j < ALL; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned low, high, middle;
            exchange(&low, &high, part_of(a[j], i), part_of(b[j], i));
#pragma unroll
            for (int r = 0; r < 2; r++) {
                unsigned v = part_of(r ? second[j] : first[j], i);
                exchange(&middle, &out[r].v[2][i][j], high, v);
                exchange(&out[r].v[0][i][j], &out[r].v[1][i][j], low, middle);
            }
        }
}

/* Two sorted columns, combined into the larger minimum, both medians in order, the smaller
 * maximum. */
struct near_two {
    unsigned least, low, high, most;
};

static __device__ __forceinline__ struct near_two two_of(const unsigned *x, const unsigned *y)
{
    struct near_two two = {__vmaxu2(x[0], y[0]), 0, 0, __vminu2(x[2], y[2])};
    exchange(&two.low, &two.high, x[1], y[1]);
    return two;
}

/* Returns the median of the nine samples of two columns and a third column z. */
static __device__ __forceinline__ unsigned median_of(struct near_two two, const unsigned *z)
{
    unsigned least = __vmaxu2(two.least, z[0]), most = __vminu2(two.most, z[2]);
    unsigned middle = __vmaxu2(two.low, __vminu2(two.high, z[1]));
    unsigned low, high;
    exchange(&low, &high, least, most);
    return __vmaxu2(low, __vminu2(high, middle));
}

/* Returns part i of the samples at a distance of `by` samples from word j. `all` begins one word
 * before word 0. */
static __device__ __forceinline__ unsigned shifted(const unsigned (*all)[WORDS + 2], int j, int i,
                                                   int by)
{
    int at = (i + by) >> 1, part = (i + by) & 1; /* halves from the word's first on */
    const unsigned *words = all[part] + j + 1;
    return at % 2 == 0 ? words[at / 2]
                       : __byte_perm(words[at < 0 ? -1 : 0], words[at < 0 ? 0 : 1], 0x5432);
}

/* The medians of one row of the result. */
template <int CHANNELS>
static __device__ __forceinline__ void near_medians(unsigned *out, const struct near_sorted *sorted)
{
    unsigned all[3][2][WORDS + 2], parts[WORDS][2];
    int lane = (int)threadIdx.x;
#pragma unroll
    for (int s = 0; s < 3; s++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned *own = sorted->v[s][i];
#pragma unroll
            for (int j = 0; j < WORDS; j++)
                all[s][i][j + 1] = own[j];
            if (CHANNELS > 1 || i == 1) {
                unsigned before = __shfl_sync(ALL_LANES, own[WORDS - 1], (lane + 31) & 31);
                all[s][i][0] = lane == 0 ? own[WORDS] : before;
            }
            if (CHANNELS > 1 || i == 0) {
                unsigned after = __shfl_sync(ALL_LANES, own[0], (lane + 1) & 31);
                all[s][i][WORDS + 1] = lane == 31 ? own[WORDS] : after;
            }
        }
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        struct near_two two; /* gray: both parts are neighbours */
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned own[3], before[3], after[3];
#pragma unroll
            for (int s = 0; s < 3; s++) {
                own[s] = all[s][i][j + 1];
                before[s] = shifted(all[s], j, i, -CHANNELS);
                after[s] = shifted(all[s], j, i, CHANNELS);
            }
            if (CHANNELS > 1 || i == 0)
                two = two_of(own, after);
            parts[j][i] = median_of(two, CHANNELS == 1 && i == 1 ? after : before);
        }
        out[j] = __byte_perm(parts[j][0], parts[j][1], 0x6240);
    }
}

template <int CHANNELS>
static __device__ __forceinline__ void near_put(const struct near_args *args, unsigned *words,
                                                const unsigned *source, int sample, int y)
{
    int n = args->rows.src.width * CHANNELS - sample;
    if (CHANNELS % 2 == 0 && args->keep_alpha)
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            unsigned alpha = CHANNELS == 2 ? 0xff00ff00u : 0xff000000u;
            words[j] = (words[j] & ~alpha) | (source[j] & alpha);
        }
    if (n > 0)
        chunk_store<uint8_t, WORDS>(
            (uint8_t *)args->dst.data + (size_t)y * args->dst.stride + sample, words, n);
}

template <int CHANNELS>
static __global__ void __launch_bounds__(32)
    median_near(const __grid_constant__ struct near_args args)
{
#if GI_CUDA_ARCH >= 900
    constexpr bool THERE = true;
#else
    constexpr bool THERE = false; /* never launched there */
#endif
    if (!THERE)
        return;
    int lane = (int)threadIdx.x, sample = ((int)blockIdx.x * 32 + lane) * 16;
    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, args.rows.src.height);
    int beside = lane == 0 ? sample - 16 : lane == 31 ? sample + 16 : sample;
    struct near_chunks chunks = {chunk_at(&args.rows, sample, 1), chunk_at(&args.rows, beside, 1),
                                 lane ? 0 : 12};
    chunk_wait(&args.rows, &chunks.own);
    chunk_wait(&args.rows, &chunks.beside);
    unsigned next[AHEAD][ALL] = {}, rows[2][ALL] = {}; /* the last two rows */
    near_load(rows[0], &args.rows, &chunks, y0 - 1);
    near_load(rows[1], &args.rows, &chunks, y0);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        near_load(next[i], &args.rows, &chunks, y0 + 1 + i);
    for (int y = y0; y < y1; y += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i += 2) {
            struct near_sorted sorted[2];
            near_sort(sorted, rows[1], next[i], rows[0], next[i + 1]);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                unsigned words[WORDS];
                near_medians<CHANNELS>(words, &sorted[r]);
                if (y + i + r < y1)
                    near_put<CHANNELS>(&args, words, r ? next[i] : rows[1], sample, y + i + r);
            }
#pragma unroll
            for (int j = 0; j < ALL; j++)
                rows[0][j] = next[i][j], rows[1][j] = next[i + 1][j];
            near_load(next[i], &args.rows, &chunks, y + i + 1 + AHEAD);
            near_load(next[i + 1], &args.rows, &chunks, y + i + 2 + AHEAD);
        }
    }
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_median *spec,
                             struct gi_err *err)
{
    struct near_args args = {};
    struct gi_border_spec border = box_border(src, &spec->border);
    int blocks = 1;
    args.dst = target_of(dst);
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    enum gi_status status = gi_cuda_box_rows(cu, &args.rows, src, &border, 16, 16, NULL, 0, err);
    if (status)
        return status;
    void (*kernel)(const struct near_args) = median_near<CHANNELS>;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
    blocks = blocks < WARPS ? blocks : WARPS;
    int strips = ceil_div((long long)gi_row_nbytes(src), 32 * 16);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args.band = ceil_div(src->height, bands);
    args.band += args.band % 2;
    return pdl_launch(cu, kernel, dim3(strips, ceil_div(src->height, args.band)), 32, 0, &args,
                      err);
}

bool gi_cuda_median_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                               const struct gi_median *spec)
{
    cudaFuncAttributes code;
    gi_cuda((struct gi_queue *)queue);
    return gi_median_is(spec, 3) && src->type == GI_U8 &&
           cudaFuncGetAttributes(&code, median_near<1>) == cudaSuccess && code.ptxVersion >= 90;
}

enum gi_status gi_cuda_median_near(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_median *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, dst, src, spec, err));
}
