/* One axis of a resampling with a simple ratio. The weights of inner results repeat every PHASES
 * results, and the window moves by `step` pixels in PHASES results. Results near the ends have
 * different weights.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_ENDS_CUH
#define GI_KERNELS_CUDA_RESAMPLE_ENDS_CUH

#include <string.h>

#include "kernels/cuda/common/sample.cuh"
#include "kernels/geometry.h"

/* The results along an axis that are computed one by one. They are the first `low` and the last
 * count - low results. */
struct border {
    int n, low, count; /* number of all results; end results at the start; all end results */
};

/* Kernel argument for one axis. Result i has phase (i + shift) % PHASES. End results are the first
 * `low` and the last count - low results. */
template <int TAPS, int PHASES> struct ends {
    enum { MAX = PHASES == 1 ? 12 : 6 * PHASES };
    int n, low, count; /* as in struct border */
    int step, shift;
    int first[MAX];
    float weights[MAX][TAPS];
    float sums[MAX], sum;    /* divisors of each end result; of inner results; 1 if not divided */
    int inner_first[PHASES]; /* [phase]: `first` of inner result i, i + shift < PHASES */
    float inner[PHASES][TAPS];
};

template <int TAPS> struct one_side {
    int first;
    const float *weights;
    float sum;
};

template <int TAPS, int PHASES>
static __device__ struct one_side<TAPS> side_at(const struct ends<TAPS, PHASES> &ends, int i) {
    int end = i < ends.low ? i : i - (ends.n - ends.count);
    if (i >= ends.low && end < ends.low) {
        int phase = (i + ends.shift) % PHASES, turn = (i + ends.shift) / PHASES;
        return {ends.inner_first[phase] + turn * ends.step, ends.inner[phase], ends.sum};
    }
    return {ends.first[end], ends.weights[end], ends.sums[end]};
}

/* Returns the index of the first end result after the inner results. */
template <int TAPS, int PHASES>
static __host__ __device__ __forceinline__ int inner_end(const struct ends<TAPS, PHASES> &ends)
{
    return ends.n - (ends.count - ends.low);
}

template <int TAPS, int PHASES>
static __host__ __device__ __forceinline__ struct border
border_of(const struct ends<TAPS, PHASES> &ends)
{
    return {ends.n, ends.low, ends.count};
}

/* Returns the number of results of an image that are computed one by one. */
static __host__ __device__ __forceinline__ long long edge_results(const struct border &row,
                                                                  const struct border &col)
{
    return (long long)col.count * row.n + (long long)(col.n - col.count) * row.count;
}

/* Returns a / b. Uses a 32-bit division if a is small. */
static __device__ __forceinline__ int quotient(long long a, int b)
{
    return a >> 32 ? (int)(a / b) : (int)((unsigned)a / (unsigned)b);
}

/* Finds the position of edge result `index`. Edge results are first those of whole rows, then those
 * at the ends of the other rows. */
static __device__ __forceinline__ void
edge_place(const struct border &row, const struct border &col, long long index, int *x, int *y)
{
    long long rows = (long long)col.count * row.n;
    if (index < rows) {
        int i = quotient(index, row.n);
        *x = (int)(index - (long long)i * row.n);
        *y = i < col.low ? i : i + col.n - col.count;
        return;
    }
    index -= rows;
    int turn = quotient(index, row.count), i = (int)(index - (long long)turn * row.count);
    *x = i < row.low ? i : i + row.n - row.count;
    *y = col.low + turn;
}

/* Compile-time constants for end results. LANES neighbouring lanes compute each end result. */
template <int TAPS> struct alone {
    enum {
        LANES = TAPS < 4     ? TAPS
                : TAPS <= 16 ? 4
                             : 8,
        EACH = TAPS / LANES,                 /* columns per lane */
        ROWS = (TAPS > 16 ? 72 : 36) / EACH, /* loaded at once */
    };
};

/* Returns the number of blocks that compute the results of these borders. */
template <int TAPS>
static int alone_blocks(const struct border &row, const struct border &col, int channels,
                        int threads)
{
    return ceil_div(edge_results(row, col) * channels * alone<TAPS>::LANES, threads);
}

/* Lane i of a result computes the sums of columns i, i + LANES and so on. Then all LANES lanes of
 * the result compute the row sum. The colours of four channels are weighted by alpha. */
template <typename T, int TAPS, int C>
static __device__ void make_alone(const struct gi_image &dst, const struct gi_image &src,
                                  const struct ends<TAPS, 1> &row, const struct ends<TAPS, 1> &col,
                                  const struct border &across_at, const struct border &down_at,
                                  int block)
{
    enum { LANES = alone<TAPS>::LANES, EACH = alone<TAPS>::EACH };
    int lane = (int)threadIdx.x % LANES;
    long long all = edge_results(across_at, down_at) * C;
    long long at = ((long long)block * blockDim.x + threadIdx.x) / LANES;
    long long index = min(at, all - 1); /* lanes without a result take part in shuffles */
    int c = (int)(index % C), x, y;
    edge_place(across_at, down_at, index / C, &x, &y);
    struct one_side<TAPS> across = side_at(row, x), down = side_at(col, y);
    const char *p = (const char *)src.data + (size_t)down.first * src.stride +
                    ((size_t)(across.first + lane) * C + c) * sizeof(T);
    float column[EACH] = {}, s = 0, f = 0;
#pragma unroll
    for (int from = 0; from < TAPS; from += GI_TAPS_BLOCK) {
        float sums[EACH] = {};
#pragma unroll(alone <TAPS>::ROWS)
        for (int i = from; i < min(TAPS, from + GI_TAPS_BLOCK); i++, p += src.stride) {
            float w = down.weights[i];
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const T *sample = (const T *)p + j * LANES * C;
                float v = (float)sample[0];
                if (C == 4 && c < 3)
                    v = __fmul_rn(v, (float)sample[3 - c]);
                sums[j] = __fmaf_rn(w, v, sums[j]);
            }
        }
#pragma unroll
        for (int j = 0; j < EACH; j++)
            column[j] = from == 0 ? sums[j] : __fadd_rn(column[j], sums[j]);
    }
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
        if (TAPS > GI_TAPS_BLOCK && t == GI_TAPS_BLOCK) {
            f = s;
            s = 0;
        }
        s = __fmaf_rn(across.weights[t],
                      __shfl_sync(0xffffffffu, column[t / LANES], t % LANES, LANES), s);
    }
    f = __fdiv_rn(TAPS > GI_TAPS_BLOCK ? __fadd_rn(f, s) : s, __fmul_rn(down.sum, across.sum));
    if (C == 4) {
        float a = __shfl_sync(0xffffffffu, f, 3 * LANES, C * LANES);
        f = !(a > 0) ? 0.0f : c < 3 ? __fdiv_rn(f, a) : a;
    }
    if (lane == 0 && at < all)
        sample_store((T *)((char *)dst.data + (size_t)y * dst.stride) + (size_t)x * C + c, f);
}

/* The rows of one part, if rows are divided into `parts` parts whose sizes differ by at most one
 * row. A part past the last row is empty. */
struct rows {
    int from, end;
};

static __device__ __forceinline__ struct rows rows_of(int rows, int part, int parts)
{
    int least = rows / parts, more = rows % parts;
    int from = part * least + min(part, more);
    return {from, min(from + least + (part < more), rows)};
}

/* Returns whether result i + phases continues the pattern of result i. */
static inline bool inner_goes_on(const struct gi_resample_side *side, int phases, int step, int i)
{
    return side->phase[i] == side->phase[i + phases] &&
           side->first[i + phases] - side->first[i] == step;
}

/* Finds the inner results, which are *low to *high - 1. Returns false if more than `most` results
 * are not inner. */
static inline bool inner_of(const struct gi_resample_side *side, int phases, int step, int most,
                            int *low, int *high)
{
    int middle = side->n / 2, differ = 0;
    if (side->n < 8 || middle + phases > side->n)
        return false;
    *low = most < middle ? most : middle;
    *high = side->n - most > middle + phases ? side->n - most : middle + phases;
    for (int i = *low; i < *high - phases; i++) /* no branches, so that the loop is vectorised */
        differ |= (side->phase[i] ^ side->phase[i + phases]) |
                  (side->first[i + phases] - side->first[i] - step);
    while (*low > 0 && inner_goes_on(side, phases, step, *low - 1))
        --*low;
    while (*high < side->n && inner_goes_on(side, phases, step, *high - phases))
        ++*high;
    return differ == 0 && *low + side->n - *high <= most;
}

template <int TAPS, int PHASES>
static void ends_fill(struct ends<TAPS, PHASES> *ends, const struct gi_resample_side *side,
                      int step, int shift)
{
    int low = 0, high = side->n, middle = side->n / 2;
    inner_of(side, PHASES, step, ends->MAX, &low, &high);
    ends->n = side->n;
    ends->low = low;
    ends->count = low + side->n - high;
    ends->step = step;
    ends->shift = shift;
    for (int i = middle; i < middle + PHASES; i++) {
        int phase = (i + shift) % PHASES, turn = (i + shift) / PHASES;
        ends->inner_first[phase] = side->first[i] - side->origin - turn * step;
        memcpy(ends->inner[phase], side->weights + (size_t)side->phase[i] * TAPS,
               sizeof ends->inner[phase]);
    }
    ends->sum = side->sums ? side->sums[side->phase[middle]] : 1;
    for (int i = 0; i < ends->count; i++) {
        int at = i < low ? i : i - low + high, phase = side->phase[at];
        ends->first[i] = side->first[at] - side->origin;
        memcpy(ends->weights[i], side->weights + (size_t)phase * TAPS, sizeof ends->weights[i]);
        ends->sums[i] = side->sums ? side->sums[phase] : 1;
    }
}

#endif
