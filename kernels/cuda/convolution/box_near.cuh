/* Arithmetic of box_near.cu: column sums of 16 bytes of samples per thread, sums of windows, and
 * their means or the mask of samples above the mean.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BOX_NEAR_CUH
#define GI_KERNELS_CUDA_BOX_NEAR_CUH

#include "kernels/cuda/convolution/box.cuh"

enum { NEAR_NBYTES = 16 }; /* maximum bytes of a window on each side; also maximum rows */

struct near_args {
    struct source src; /* border values are samples */
    struct target dst;
    int band;              /* rows per warp */
    unsigned start, magic; /* see near_means() */
    float inverse, offset;
    int n; /* k * k to compute a mask (near_mask()), else 0 */
    unsigned flip;
    /* Indices of the image rows and samples that replace rows and samples outside the image;
     * negative: the border value. rows[0] is for rows above the image (nearest first), and rows[1]
     * for rows below it. samples[0] is for the NEAR_NBYTES bytes before a row (nearest last), and
     * samples[1] for the NEAR_NBYTES bytes after the row. */
    int rows[2][NEAR_NBYTES], samples[2][NEAR_NBYTES];
};

/* Adds the samples `fresh` of one row to the column sums (WEIGH: colour times alpha) and subtracts
 * `old`. Each word consists of two sums, which are exact because each result fits in 16 bits. */
template <typename T, bool WEIGH>
static __device__ __forceinline__ void columns_move(unsigned *columns, const unsigned *fresh,
                                                    const unsigned *old)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned f = fresh[i], o = old[i], *at = columns + (WEIGH ? 4 : 2) * i;
        if (WEIGH) {
#pragma unroll
            for (int c = 0; c < 3; c++)
                at[c] += (f >> 8 * c & 255) * (f >> 24) - (o >> 8 * c & 255) * (o >> 24);
            at[3] += (f >> 24) - (o >> 24);
        } else if (sizeof(T) == 1) {
            at[0] += __byte_perm(f, 0, 0x4140) - __byte_perm(o, 0, 0x4140);
            at[1] += __byte_perm(f, 0, 0x4342) - __byte_perm(o, 0, 0x4342);
        } else { /* pairs of fresh and old, times 1 and -1 */
            at[0] = dot2(__byte_perm(f, o, 0x5410), 0xff01, at[0]);
            at[1] = dot2(__byte_perm(f, o, 0x7632), 0xff01, at[1]);
        }
    }
}

/* Loads from shared-memory address `at` the lane's sample of the sides (WEIGH: times alpha). */
template <typename T, bool WEIGH> static __device__ __forceinline__ unsigned side_load(unsigned at)
{
    unsigned v, alpha = 1;
    if (sizeof(T) == 1)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
    else
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(v) : "r"(at));
    if (WEIGH && at % 4 != 3)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(alpha) : "r"(at | 3));
    return v * alpha;
}

/* Stores the lane's column sum of the sides as NBYTES bytes. */
template <int NBYTES> static __device__ __forceinline__ void side_store(unsigned at, unsigned sum)
{
    if (NBYTES == 2)
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"((unsigned short)sum) : "memory");
    else
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(sum) : "memory");
}

/* Returns sum + SIGN * (sum of column i), where column 0 is the thread's first column. `near`
 * begins BESIDE words before that column. If PACKED, a word has two columns. */
template <bool PACKED, int BESIDE, int SIGN>
static __device__ __forceinline__ unsigned column_add(unsigned sum, const unsigned *near, int i)
{
    unsigned factor = SIGN > 0 ? 0x01 : 0xff;
    if (PACKED)
        return dot2(near[(i >> 1) + BESIDE], i & 1 ? factor << 8 : factor, sum);
    return SIGN > 0 ? sum + near[i + BESIDE] : sum - near[i + BESIDE];
}

/* Returns `sum` plus the sums of the columns of the window around sample s. With one channel,
 * packed words are added first, as long as 16 bits suffice. */
template <bool PACKED, int CHANNELS, int K, int BESIDE>
static __device__ __forceinline__ unsigned window_add(unsigned sum, const unsigned *near, int s)
{
    enum { R = K / 2, WORDWISE = PACKED && CHANNELS == 1 };
    static_assert(!WORDWISE || 255 * K * ((R + 1) / 2) < 65536, "sums of R / 2 words fit");
    if (!WORDWISE) {
#pragma unroll
        for (int m = -R; m <= R; m++)
            sum = column_add<PACKED, BESIDE, 1>(sum, near, s + m * CHANNELS);
        return sum;
    }
    unsigned some = 0, rest = 0;
    int first = (s - R + 1) >> 1; /* first of the R words that are completely in the window */
#pragma unroll
    for (int i = 0; i < R; i++)
        (i < R / 2 ? some : rest) += near[first + i + BESIDE];
    sum = column_add<PACKED, BESIDE, 1>(sum, near, (s + R) & 1 ? s - R : s + R);
    return dot2(rest, 0x0101, dot2(some, 0x0101, sum));
}

/* Computes the sums of a thread's N windows, plus `start`: first of the window in the middle, then,
 * as sliding sums, of the windows on both sides of it. */
template <bool PACKED, int N, int CHANNELS, int K, int BESIDE>
static __device__ __forceinline__ void windows_slide(unsigned *sums, const unsigned *near,
                                                     const unsigned *start)
{
    enum { MIDDLE = N / 2, REACH = K / 2 * CHANNELS };
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        sums[MIDDLE + c] = window_add<PACKED, CHANNELS, K, BESIDE>(start[c], near, MIDDLE + c);
#pragma unroll
    for (int s = MIDDLE + CHANNELS; s < N; s++) {
        unsigned sum = column_add<PACKED, BESIDE, 1>(sums[s - CHANNELS], near, s + REACH);
        sums[s] = column_add<PACKED, BESIDE, -1>(sum, near, s - CHANNELS - REACH);
    }
#pragma unroll
    for (int s = MIDDLE - 1; s >= 0; s--) {
        unsigned sum = column_add<PACKED, BESIDE, 1>(sums[s + CHANNELS], near, s - REACH);
        sums[s] = column_add<PACKED, BESIDE, -1>(sum, near, s + CHANNELS + REACH);
    }
}

/* Replaces 2^23 + S by 2^23 + (2 * S + A) / (2 * A), for the colours of a pixel. A Newton step
 * towards 1 + 2^-23 instead of 1 makes the reciprocal larger than 1 / A by a factor of 1 + 2^-24 to
 * 1 + 3 * 2^-24. So ties round up. A quotient below a tie is at least 1 / (2 * A) below it, and
 * does not round up if k <= 5. */
static __device__ __forceinline__ void colours_divide(unsigned *q, const unsigned *sums,
                                                      float alpha)
{
    float a = fmaxf(alpha, 1.0f), about = __fdividef(1.0f, a);
    float inverse = __fmaf_rn(about, __fmaf_rn(-a, about, 1.0f + 1.0f / SAMPLE_2_23), about);
#pragma unroll
    for (int c = 0; c < 3; c++)
        q[c] = __float_as_uint(
            __fmaf_rn(__uint_as_float(sums[c]) - SAMPLE_2_23, inverse, SAMPLE_2_23));
}

/* Computes the sums of a thread's windows, plus `start`. If WEIGH, sums of colours start at the
 * bits of the float 2^23. */
template <typename T, int CHANNELS, bool WEIGH, int K, int BESIDE>
static __device__ __forceinline__ void near_sums(unsigned *sums, const unsigned *near,
                                                 unsigned start)
{
    enum { N = 16 / (int)sizeof(T), PACKED = sizeof(T) == 1 && !WEIGH };
    unsigned colour = WEIGH ? 0x4b000000 : start;
    const unsigned starts[4] = {colour, colour, colour, start};
    windows_slide<PACKED, N, CHANNELS, K, BESIDE>(sums, near, starts);
}

/* Computes (2 * sum + n) / (2 * n), n = k * k, for each window of a thread. If WEIGH, colours are
 * divided by colours_divide().
 *
 * - 8 bits: sums start at the float 2^23 + d, a multiple of n. Then sum * inverse + offset, with
 * offset = 2^23 - (2^23 + d) / n, rounds to 2^23 plus the mean. For all k up to 31 the float 1 / n
 * is precise enough, because n is odd, so that a quotient is at least 1 / (2 * n) away from a tie.
 * - 16 bits: `magic` is 2^32 / n rounded up, which is less than 1 too large. Up to k = 15, this
 *   error times (65536 * n) is below 2^32. Sums start at n / 2. */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ void near_means(unsigned *words, const unsigned *sums,
                                                  const struct near_args *args)
{
    enum { N = 16 / (int)sizeof(T) };
    unsigned q[N];
#pragma unroll
    for (int s = 0; s < N; s++)
        if (sizeof(T) == 2)
            q[s] = __umulhi(sums[s], args->magic);
        else
            q[s] =
                __float_as_uint(__fmaf_rn(__uint_as_float(sums[s]), args->inverse, args->offset));
    if (WEIGH)
#pragma unroll
        for (int s = 0; s < N; s += 4)
            colours_divide(q + s, sums + s,
                           __uint_as_float(sums[s + 3]) - __uint_as_float(args->start));
#pragma unroll
    for (int i = 0; i < 4; i++)
        words[i] = sizeof(T) == 2
                       ? __byte_perm(q[2 * i], q[2 * i + 1], 0x5410)
                       : __byte_perm(__byte_perm(q[4 * i], q[4 * i + 1], 0x40),
                                     __byte_perm(q[4 * i + 2], q[4 * i + 3], 0x40), 0x5410);
}

/* Computes the mask. A sample of the mask is full scale where n times the image sample exceeds the
 * sum of its window, else 0, and is then flipped. Sums start at the largest excess that is not
 * above the threshold. */
template <typename T>
static __device__ __forceinline__ void near_mask(unsigned *words, const unsigned *sums,
                                                 const unsigned *samples,
                                                 const struct near_args *args)
{
    enum { N = 16 / (int)sizeof(T), EACH = 4 / (int)sizeof(T) };
    unsigned rest[N]; /* negative: above */
#pragma unroll
    for (int s = 0; s < N; s++) {
        unsigned pick = sizeof(T) == 1 ? 0x4440u | s % EACH : s % EACH ? 0x4432u : 0x4410u;
        rest[s] = sums[s] - __byte_perm(samples[s / EACH], 0, pick) * (unsigned)args->n;
    }
    signs_mask<T, 4>(words, rest, args->flip);
}

#endif
