/* The arithmetic of the near way to a mean of k x k: the sums of a thread's columns, 16 bytes of
 * samples wide, and the means of the windows over them, or what is above them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BOX_NEAR_CUH
#define GI_KERNELS_CUDA_BOX_NEAR_CUH

#include "kernels/cuda/box/box.cuh"

enum { NEAR_NBYTES = 16 }; /* the reach to each side; so at most as many rows */

struct near_args {
    struct source src; /* border values are samples */
    struct target dst;
    int band;              /* rows that a warp makes */
    unsigned start, magic; /* see near_means() */
    float inverse, offset;
    int n; /* not 0: a mask is wanted, see near_mask() */
    unsigned flip;
    /* Where the border repeats the image, less than 0 where it does not: rows before it, the last
     * one first, and after it; samples of a row in NEAR_NBYTES before it, the last one last, and
     * after it. */
    int rows[2][NEAR_NBYTES], samples[2][NEAR_NBYTES];
};

/* Adds one row's samples, where WEIGH colour times alpha, to the columns and takes another's off.
 * Two in a word are exact as each half's result fits. */
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

/* A lane's sample of the sides, where WEIGH times its alpha, at an address of shared memory. */
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

/* The sum of a lane's column of the sides, of so many bytes. */
template <int NBYTES> static __device__ __forceinline__ void side_store(unsigned at, unsigned sum)
{
    if (NBYTES == 2)
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"((unsigned short)sum) : "memory");
    else
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(sum) : "memory");
}

/* sum + or - column i, counted from the thread's first; `near` starts BESIDE words before it.
 * PACKED: two columns lie in a word. */
template <bool PACKED, int BESIDE, int SIGN>
static __device__ __forceinline__ unsigned column_add(unsigned sum, const unsigned *near, int i)
{
    unsigned factor = SIGN > 0 ? 0x01 : 0xff;
    if (PACKED)
        return dot2(near[(i >> 1) + BESIDE], i & 1 ? factor << 8 : factor, sum);
    return SIGN > 0 ? sum + near[i + BESIDE] : sum - near[i + BESIDE];
}

/* sum + the columns of the window around sample s. Of one channel packed words are added up first,
 * as far as that fits. */
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
    int first = (s - R + 1) >> 1; /* of R words that lie wholly in the window */
#pragma unroll
    for (int i = 0; i < R; i++)
        (i < R / 2 ? some : rest) += near[first + i + BESIDE];
    sum = column_add<PACKED, BESIDE, 1>(sum, near, (s + R) & 1 ? s - R : s + R);
    return dot2(rest, 0x0101, dot2(some, 0x0101, sum));
}

/* The sums of a thread's N windows, which slide both ways from the middle, on top of `start`. */
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

/* The means of a pixel's colours, (2 * S + A) / (2 * A), from 2^23 + S, with 2^23 on top. The
 * reciprocal, one step of Newton's towards 1 + 2^-23 instead of 1, is 2^-24 to 3 * 2^-24 above
 * 1 / A: so ties go up and, up to k = 5, nothing below a tie, 1 / (2 * A) away at least, does. */
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

/* The sums of a thread's windows, each started at `start`, and where WEIGH those of colours at 2^23
 * as a float. */
template <typename T, int CHANNELS, bool WEIGH, int K, int BESIDE>
static __device__ __forceinline__ void near_sums(unsigned *sums, const unsigned *near,
                                                 unsigned start)
{
    enum { N = 16 / (int)sizeof(T), PACKED = sizeof(T) == 1 && !WEIGH };
    unsigned colour = WEIGH ? 0x4b000000 : start;
    const unsigned starts[4] = {colour, colour, colour, start};
    windows_slide<PACKED, N, CHANNELS, K, BESIDE>(sums, near, starts);
}

/* (2 * sum + n) / (2 * n), n = k * k, of each of a thread's windows; colours that alpha weighs as
 * above.
 * 8 bits: sums start as the float 2^23 + d that n divides, then sum * inverse + offset, offset
 * 2^23 - (2^23 + d) / n, rounds to 2^23 plus the mean: the float 1 / n is so near that no quotient,
 * each at least 1 / (2 * n) from a tie as n is odd, rounds elsewhere, for all k up to 31.
 * 16 bits: magic is 2^32 / n rounded up, less than 1 too much, which times 65536 * n is below 2^32
 * up to k = 15; sums start at n / 2. */
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

/* Full scale where n times the sample is more than its window's sum, which started at the least
 * excess that does not count, else 0; then flipped. */
template <typename T>
static __device__ __forceinline__ void near_mask(unsigned *words, const unsigned *sums,
                                                 const unsigned *samples,
                                                 const struct near_args *args)
{
    enum { N = 16 / (int)sizeof(T), EACH = 4 / (int)sizeof(T) };
    unsigned rest[N]; /* less than 0: above */
#pragma unroll
    for (int s = 0; s < N; s++) {
        unsigned pick = sizeof(T) == 1 ? 0x4440u | s % EACH : s % EACH ? 0x4432u : 0x4410u;
        rest[s] = sums[s] - __byte_perm(samples[s / EACH], 0, pick) * (unsigned)args->n;
    }
    signs_mask<T, 4>(words, rest, args->flip);
}

#endif
