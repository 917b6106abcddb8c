/* The mean of k x k at 8 bits, where a window reaches no farther than the next thread's samples. A
 * warp goes down a strip of columns, a thread with 16 samples, whatever their channels: the sums of
 * k samples down each column lie in registers, two a word, and the neighbours' come by shuffles.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "kernels/cuda/box.cuh"

enum {
    SAMPLES = 16, /* of a thread; what one load brings */
    PAIRS = SAMPLES / 2,
    ACROSS = 30 * SAMPLES, /* that a warp makes: its first and last thread only help */
    NEAR_THREADS = 128,
    PACKED_MOST = 15, /* k up to which sums of k * k samples fit in 16 bits */
};

struct near_args {
    struct box_rows rows;
    struct target dst;
    int strips, bands, band; /* band: rows that a warp makes */
    float inverse, offset;   /* up to PACKED_MOST */
    unsigned magic;          /* above */
};

/* Adds one row's samples to the columns and takes another's off: both halves of a word at once,
 * exact as each half's result fits. */
static __device__ __forceinline__ void columns_move(unsigned *columns, const unsigned *fresh,
                                                    const unsigned *old)
{
#pragma unroll
    for (int i = 0; i < SAMPLES / 4; i++) {
        columns[2 * i] += __byte_perm(fresh[i], 0, 0x4140) - __byte_perm(old[i], 0, 0x4140);
        columns[2 * i + 1] += __byte_perm(fresh[i], 0, 0x4342) - __byte_perm(old[i], 0, 0x4342);
    }
}

/* Columns i and i + 1, counted from the thread's first, from pairs that start `beside` before. */
static __device__ __forceinline__ unsigned pair_at(const unsigned *pairs, int i, int beside)
{
    int at = (i + 2 * beside) >> 1;
    return i & 1 ? __byte_perm(pairs[at], pairs[at + 1], 0x5432) : pairs[at];
}

/* Sums of windows, two a word, to four means a word. A sum put into the mantissa of 2^23 times
 * `inverse`, near 1 / k^2, plus `offset`, 2^23 - 2^23 * inverse, rounds to 2^23 plus the mean:
 * inverse is a multiple of 2^-24, so offset is exact; it is 2^-25 off at most, which times 255 *
 * k^2 is less than the 1 / (2 * k^2) that keep every quotient from a tie. */
template <int CHANNELS, int K>
static __device__ __forceinline__ void means_packed(unsigned *words, const unsigned *pairs,
                                                    int beside, const struct near_args *args)
{
    enum { R = K / 2, TURN = CHANNELS % 2 ? 2 : 1, STEP = TURN * CHANNELS };
    unsigned sums[PAIRS], q[SAMPLES];
#pragma unroll
    for (int s = 0; s < SAMPLES; s += 2) {
        if (s < STEP || K <= 2 * TURN) {
            sums[s / 2] = 0;
#pragma unroll
            for (int m = -R; m <= R; m++)
                sums[s / 2] += pair_at(pairs, s + m * CHANNELS, beside);
        } else {
            sums[s / 2] = sums[s < STEP ? 0 : (s - STEP) / 2];
#pragma unroll
            for (int t = 0; t < TURN; t++)
                sums[s / 2] += pair_at(pairs, s + (R - t) * CHANNELS, beside) -
                               pair_at(pairs, s - (R + 1 + t) * CHANNELS, beside);
        }
    }
#pragma unroll
    for (int s = 0; s < SAMPLES; s++) {
        unsigned v = __byte_perm(sums[s / 2], 0x4b000000, s % 2 ? 0x7432 : 0x7410);
        q[s] = __float_as_uint(__fmaf_rn(__uint_as_float(v), args->inverse, args->offset));
    }
#pragma unroll
    for (int i = 0; i < SAMPLES / 4; i++)
        words[i] = __byte_perm(__byte_perm(q[4 * i], q[4 * i + 1], 0x40),
                               __byte_perm(q[4 * i + 2], q[4 * i + 3], 0x40), 0x5410);
}

/* The same for sums beyond 16 bits, one channel: the window slides by a sample at a time. Magic is
 * 2^32 / k^2 rounded up, less than 1 too much, which times 256 * k^2 is below 2^32. */
template <int K>
static __device__ __forceinline__ void means_wide(unsigned *words, const unsigned *pairs,
                                                  int beside, const struct near_args *args)
{
    enum { R = K / 2 };
    unsigned sum = K * K / 2, q[SAMPLES];
#pragma unroll
    for (int i = -2 * beside; i <= R; i += 2) /* columns i and i + 1, those that the window has */
        if (i + 1 >= -R)
            sum = dot2(pairs[(i + 2 * beside) >> 1],
                       (i >= -R ? 0x0001 : 0) + (i + 1 <= R ? 0x0100 : 0), sum);
#pragma unroll
    for (int s = 0; s < SAMPLES; s++) {
        if (s) {
            sum = dot2(pairs[(s + R + 2 * beside) >> 1], (s + R) & 1 ? 0x0100 : 0x0001, sum);
            sum =
                dot2(pairs[(s - 1 - R + 2 * beside) >> 1], (s - 1 - R) & 1 ? 0xff00 : 0x00ff, sum);
        }
        q[s] = __umulhi(sum, args->magic);
    }
#pragma unroll
    for (int i = 0; i < SAMPLES / 4; i++)
        words[i] = __byte_perm(__byte_perm(q[4 * i], q[4 * i + 1], 0x40),
                               __byte_perm(q[4 * i + 2], q[4 * i + 3], 0x40), 0x5410);
}

template <int CHANNELS, int K>
static __global__ void __launch_bounds__(NEAR_THREADS)
    box_near(const __grid_constant__ struct near_args args)
{
    enum { R = K / 2, BESIDE = (R * CHANNELS + 1) / 2, WORDS = SAMPLES / 4 };
    int task = (int)(blockIdx.x * (NEAR_THREADS / 32) + threadIdx.x / 32);
    int lane = (int)threadIdx.x % 32, strip = task % args.strips, band = task / args.strips;
    if (band >= args.bands)
        return;
    int sample = strip * ACROSS + (lane - 1) * SAMPLES;
    int left = args.rows.src.width * CHANNELS - sample; /* samples in the row from there on */
    bool makes = lane >= 1 && lane <= 30 && left > 0;
    struct box_chunk chunk = chunk_at(&args.rows, sample, 1);
    int y0 = band * args.band, y1 = min(y0 + args.band, args.rows.src.height);
    char *out = args.dst.data + (size_t)y0 * args.dst.stride + (makes ? sample : 0);

    unsigned columns[PAIRS] = {}, fresh[WORDS], old[WORDS] = {};
#pragma unroll 4
    for (int y = y0 - R - 1; y < y0 + R; y++) {
        chunk_load<uint8_t, WORDS>(fresh, &args.rows, chunk, y);
        columns_move(columns, fresh, old);
    }
    chunk_load<uint8_t, WORDS>(fresh, &args.rows, chunk, y0 + R);
    chunk_load<uint8_t, WORDS>(old, &args.rows, chunk, y0 - R - 1);
    for (int y = y0; y < y1; y++, out += args.dst.stride) {
        columns_move(columns, fresh, old);
        chunk_load<uint8_t, WORDS>(fresh, &args.rows, chunk, y + 1 + R);
        chunk_load<uint8_t, WORDS>(old, &args.rows, chunk, y - R);
        unsigned pairs[PAIRS + 2 * BESIDE], words[WORDS];
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            pairs[BESIDE + i] = columns[i];
#pragma unroll
        for (int i = 0; i < BESIDE; i++) {
            pairs[i] = __shfl_up_sync(~0u, columns[PAIRS - BESIDE + i], 1);
            pairs[BESIDE + PAIRS + i] = __shfl_down_sync(~0u, columns[i], 1);
        }
        if constexpr (K <= PACKED_MOST)
            means_packed<CHANNELS, K>(words, pairs, BESIDE, &args);
        else
            means_wide<K>(words, pairs, BESIDE, &args);
        if (makes)
            chunk_store<uint8_t, WORDS>((uint8_t *)out, words, left);
    }
}

template <int CHANNELS, int K>
static enum gi_status launch(struct gi_cuda_context *cu, struct near_args *args, struct gi_err *err)
{
    int height = args->rows.src.height, blocks = 1, n = K * K;
    double inverse = floor(16777216.0 / n + 0.5) / 16777216;
    args->inverse = (float)inverse;
    args->offset = (float)(8388608 - 8388608 * inverse);
    args->magic = (unsigned)((4294967296 + n - 1) / n);
    void (*kernel)(const struct near_args) = box_near<CHANNELS, K>;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, NEAR_THREADS, 0));
    args->strips = ceil_div((long long)args->rows.src.width * CHANNELS, ACROSS);
    int bands = blocks * cu->units * (NEAR_THREADS / 32) / args->strips; /* one wave */
    args->band = ceil_div(height, bands < 1 ? 1 : bands);
    args->bands = ceil_div(height, args->band);
    int grid = ceil_div((long long)args->strips * args->bands, NEAR_THREADS / 32);
    kernel<<<grid, NEAR_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_box_near(struct gi_cuda_context *cu, bool *fits, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_edge *edge,
                                const struct gi_box *spec, struct gi_err *err)
{
    typedef enum gi_status launch_fn(struct gi_cuda_context * cu, struct near_args * args,
                                     struct gi_err * err);
    /* By k / 2 - 1, up to the reach of the next thread's samples. */
    static launch_fn *const gray[] = {launch<1, 3>,  launch<1, 5>,  launch<1, 7>,  launch<1, 9>,
                                      launch<1, 11>, launch<1, 13>, launch<1, 15>, launch<1, 17>,
                                      launch<1, 19>, launch<1, 21>, launch<1, 23>, launch<1, 25>,
                                      launch<1, 27>, launch<1, 29>, launch<1, 31>};
    static launch_fn *const rgb[] = {launch<3, 3>, launch<3, 5>, launch<3, 7>, launch<3, 9>,
                                     launch<3, 11>};
    static launch_fn *const rgba[] = {launch<4, 3>, launch<4, 5>, launch<4, 7>, launch<4, 9>};
    launch_fn *const *list = src->channels == 1 ? gray : src->channels == 3 ? rgb : rgba;
    int n = src->channels == 1 ? 15 : src->channels == 3 ? 5 : src->channels == 4 ? 4 : 0;
    int i = spec->k / 2 - 1;
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    *fits = src->type == GI_U8 && !weigh && i >= 0 && i < n;
    if (!*fits)
        return GI_OK;
    struct near_args args = {};
    args.dst = target_of(dst);
    enum gi_status status = gi_cuda_box_rows(cu, &args.rows, src, edge, SAMPLES, SAMPLES, err);
    return status ? status : list[i](cu, &args, err);
}
