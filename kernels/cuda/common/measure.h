/* Shared code of kernels that measure (histograms, statistics, stream compaction, labelling):
 * foreground bits, a grid-stride loop over an image in 16-byte pieces, sums within a warp, and
 * launchers that do not wait, so that a benchmark can time their kernels.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MEASURE_H
#define GI_KERNELS_CUDA_MEASURE_H

#include <math.h>

#include "kernels/cuda/common/prefix.cuh"
#include "kernels/regions.h"

typedef unsigned long long device_u64; /* the type of 64-bit atomics */

/* ---- launchers, which only enqueue work; all pointers point to device memory ---- */

/* Adds to counts[c * nbins + bin] the number of samples of channel c in that bin. */
gi_histogram_fn gi_cuda_histogram_launch;

/* Stream compaction of the foreground in all rows of predicate->on, which has at most 2^32 - 1
 * pixels. For foreground pixel i at (x, y), index[i] = y * width + x, and value[i] is the sample of
 * `values` at (x, y), in the type of `values`. *n is the number of foreground pixels. `scratch` has
 * gi_cuda_compact_scratch() bytes. */
size_t gi_cuda_compact_scratch(const struct gi_image *on);
enum gi_status gi_cuda_compact_launch(struct gi_cuda_queue *cu, uint32_t *index, void *value,
                                      device_u64 *n, void *scratch, const struct gi_image *values,
                                      const struct gi_predicate *predicate, struct gi_err *err);

/* As gi_kernels.label, into an existing image. `scratch` has gi_cuda_label_scratch() bytes. */
size_t gi_cuda_label_scratch(const struct gi_image *labels);
enum gi_status gi_cuda_label_launch(struct gi_cuda_queue *cu, const struct gi_image *labels,
                                    device_u64 *n, void *scratch,
                                    const struct gi_predicate *predicate, int connectivity,
                                    struct gi_err *err);

/* Computes the sums of a whole image, its minimum and its maximum, whatever spec->sums_only says.
 * `found` receives them. It has gi_cuda_reduce_nbytes() bytes, which must all be 0 before the
 * call. */
size_t gi_cuda_reduce_nbytes(const struct gi_image *src);
enum gi_status gi_cuda_reduce_launch(struct gi_cuda_queue *cu, void *found,
                                     const struct gi_image *src, const struct gi_reduce *spec,
                                     struct gi_err *err);

/* Like gi_kernels.region_stats. */
enum gi_status gi_cuda_region_stats_launch(struct gi_cuda_queue *cu, struct gi_region_sums *regions,
                                           const struct gi_image *labels,
                                           const struct gi_image *values, float lo, float hi,
                                           struct gi_err *err);

/* ---- pixels ---- */

template <typename T>
static __device__ inline T sample_at(const struct gi_image &image, int x, int y)
{
    return ((const T *)((const char *)image.data + (size_t)y * image.stride))[x];
}

/* A predicate as kernel argument. It contains the struct of its image instead of a pointer. */
struct foreground {
    struct gi_image on;
    float above;
    int least; /* for integer samples, the smallest value that is > above */
    bool invert;
};

static inline struct foreground foreground_of(const struct gi_predicate *predicate)
{
    float above = predicate->above, top = gi_type_full_scale(predicate->on->type);
    int least = above < 0 ? 0 : above < top ? (int)above + 1 : 65536;
    return {*predicate->on, above, least, predicate->invert};
}

static __device__ inline bool is_above(const struct foreground &f, int v)
{
    return v >= f.least;
}

static __device__ inline bool is_above(const struct foreground &f, float v)
{
    return v > f.above;
}

/* Returns foreground bits. Bit i is set if sample i of the 16 bytes is above the threshold. */
template <typename T>
static __device__ inline unsigned above_bits(const struct foreground &f, const uint4 &wide)
{
    const T *samples = (const T *)&wide;
    unsigned bits = 0;
#pragma unroll
    for (unsigned i = 0; i < 16 / sizeof(T); i++)
        bits |= is_above(f, samples[i]) ? 1u << i : 0;
    return bits;
}

/* Compares four bytes at a time (SIMD within a register). The top bit of each byte of `low` says
 * whether the lower 7 bits of v are >= the lower 7 bits of `least`. The bitwise majority of the
 * three words `low`, v and ~least has the top bit of a byte set if the byte of v is >= `least`. */
template <>
__device__ inline unsigned above_bits<uint8_t>(const struct foreground &f, const uint4 &wide)
{
    const uint32_t top = 0x80808080u, least = (uint32_t)f.least * 0x01010101u;
    const uint32_t *words = (const uint32_t *)&wide;
    unsigned half[2] = {};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        uint32_t v = words[i], low = (v | top) - (least & ~top);
        uint32_t above = (v & low) | ((v | low) & ~least);
        half[i / 2] = __dp4a(above & top, i % 2 ? 0x80402010u : 0x08040201u, half[i / 2]);
    }
    return f.least > UINT8_MAX ? 0
                               : half[0] >> 7 | half[1] << 1; /* each half is 128 times its bits */
}

/* Returns the foreground bits of 1024 / SPAN rows of SPAN pixels, which begin at (x, y). They are
 * 32 words, of which lane i gets word i. Bits outside the image are 0. All lanes of the warp call
 * it. `words` is 32 words of shared memory of this warp. */
template <typename T, unsigned SPAN>
static __device__ inline uint32_t foreground_words(uint32_t *words, const struct foreground &f,
                                                   unsigned x, unsigned y)
{
    constexpr unsigned N = 16 / sizeof(T), LOADS = 32 / N;
    const unsigned lane = threadIdx.x % WARP, width = (unsigned)f.on.width;
    uint4 wide[LOADS];
    unsigned left[LOADS]; /* pixels from here to the end of the row */
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++) {
        unsigned first = (i * WARP + lane) * N, at_x = x + first % SPAN, at_y = y + first / SPAN;
        left[i] = at_y < (unsigned)f.on.height && at_x < width ? width - at_x : 0;
        wide[i] = left[i] ? *(const uint4 *)((const char *)f.on.data + (size_t)at_y * f.on.stride +
                                             at_x * sizeof(T))
                          : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++) {
        unsigned bits = above_bits<T>(f, wide[i]);
        bits = (f.invert ? ~bits : bits) & (left[i] < N ? (1u << left[i]) - 1 : (1u << N) - 1);
        unsigned piece = i * WARP + lane;
        if (N == 16)
            ((uint16_t *)words)[piece] = (uint16_t)bits;
        if (N == 4)
            bits |= __shfl_down_sync(ALL_LANES, bits, 1) << 4;
        if (N == 8 || (N == 4 && lane % 2 == 0))
            ((uint8_t *)words)[piece * N / 8] = (uint8_t)bits;
    }
    __syncwarp();
    return words[lane];
}

/* ---- grid-stride loop in which neighbouring threads process neighbouring pieces ---- */

struct walk {
    unsigned pieces;             /* per row; the last piece of a row may be partial */
    unsigned step_piece, step_y; /* columns of pieces, and rows, that a thread advances by */
};

static inline struct walk walk_of(const struct gi_image *image, size_t piece_nbytes, size_t threads)
{
    size_t pieces = (gi_row_nbytes(image) + piece_nbytes - 1) / piece_nbytes;
    return {(unsigned)pieces, (unsigned)(threads % pieces), (unsigned)(threads / pieces)};
}

static __device__ inline void walk_start(const struct walk &walk, unsigned *y, unsigned *piece,
                                         unsigned thread)
{
    *y = thread / walk.pieces;
    *piece = thread % walk.pieces;
}

static __device__ inline void walk_next(const struct walk &walk, unsigned *y, unsigned *piece)
{
    *y += walk.step_y;
    *piece += walk.step_piece;
    if (*piece >= walk.pieces) {
        *piece -= walk.pieces;
        *y += 1;
    }
}

/* A piece: 16 bytes of samples, or 48 bytes of three-channel pixels, so that pieces begin with a
 * whole pixel. Only the first `n` samples of the piece belong to the row. */
template <typename T, int CHANNELS> struct piece {
    enum { SAMPLES = (CHANNELS == 3 ? 48 : 16) / (int)sizeof(T), WIDE = CHANNELS == 3 ? 3 : 1 };
    __align__(16) T samples[SAMPLES];
    int n;
};

/* Loads a piece with 16-byte accesses, which may read row padding. n is 0 below the last row. */
template <typename T, int CHANNELS>
static __device__ inline void piece_load(struct piece<T, CHANNELS> *piece,
                                         const struct gi_image &image, unsigned y, unsigned index)
{
    constexpr int WIDE = piece->WIDE, PIXELS = piece->SAMPLES / CHANNELS;
    const uint4 *row = (const uint4 *)((const char *)image.data + (size_t)y * image.stride);
    int left = image.width - (int)index * PIXELS;
    piece->n = y >= (unsigned)image.height ? 0 : min(left, PIXELS) * CHANNELS;
#pragma unroll
    for (int i = 0; i < WIDE; i++)
        if (i * 16 < piece->n * (int)sizeof(T))
            ((uint4 *)piece->samples)[i] = row[(size_t)index * WIDE + i];
}

/* ---- reductions ---- */

static __device__ inline device_u64 warp_sum(device_u64 v)
{
    for (int step = WARP / 2; step > 0; step /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, step);
    return v;
}

/* ---- floats as integers ---- */

/* Constants, computed on the host, with which quantise() quantises floats as gi_sums defines. */
struct quantiser {
    float least, most;
    double lo, scale; /* lo: `least` in double precision */
};

static inline struct quantiser quantiser_of(float lo, float hi)
{
    double span = (double)hi - (double)lo;
    if (!(span > 0) || !(span < (double)INFINITY))
        return {0, 0, 0, 0};
    return {lo, hi, (double)lo, 2147483647.0 / span};
}

/* Returns the integer q that gi_sums defines, or 0 for NaN. Adding 2^52 rounds half to even and
 * leaves q in the low bits. */
static __device__ inline uint32_t quantise(float v, const struct quantiser &z)
{
    double d = (double)fminf(fmaxf(v, z.least), z.most);
    return (uint32_t)__double2loint((d - z.lo) * z.scale + 0x1p52);
}

/* Like gi_sums, for at most 64 samples, so that the members can have narrower types. */
template <typename T> struct some_sums {
    uint64_t q, q2_low, q2_high;
    uint32_t n;
};

template <> struct some_sums<uint16_t> {
    uint64_t q2_low;
    uint32_t n, q, q2_high;
};

template <> struct some_sums<uint8_t> {
    uint32_t n, q, q2_low, q2_high;
};

static __device__ inline void some_add(struct some_sums<float> *sums, float v,
                                       const struct quantiser &z)
{
    uint32_t q = quantise(v, z);
    uint64_t q2 = (uint64_t)q * q;
    sums->n++;
    sums->q += q;
    sums->q2_low += (uint32_t)q2;
    sums->q2_high += q2 >> 32;
}

template <typename T>
static __device__ inline void some_add(struct some_sums<T> *sums, uint32_t q,
                                       const struct quantiser &)
{
    sums->n++;
    sums->q += q;
    sums->q2_low += q * q; /* below 2^32 */
}

#endif
