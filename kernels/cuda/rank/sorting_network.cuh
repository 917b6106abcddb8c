/* Sorting networks in registers: lists whose length is a constant. With PAIRS a word is two keys of
 * 16 bits, which are sorted separately by packed comparisons (compute capability 9.0 and higher).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SORTING_NETWORK_CUH
#define GI_KERNELS_CUDA_SORTING_NETWORK_CUH

#include "kernels/cuda/cuda.h"

template <bool PAIRS> static __device__ __forceinline__ unsigned lesser(unsigned a, unsigned b)
{
    return PAIRS ? __vminu2(a, b) : min(a, b);
}

template <bool PAIRS> static __device__ __forceinline__ unsigned greater(unsigned a, unsigned b)
{
    return PAIRS ? __vmaxu2(a, b) : max(a, b);
}

/* Merges the sorted lists a and b, of M and N elements that are BY apart, into `out`. K. Batcher's
 * odd-even merge for any two lengths: D. Knuth, "The Art of Computer Programming" 3, 5.3.4. */
template <bool PAIRS, int M, int N, int BY = 1>
static __device__ __forceinline__ void merge(unsigned *out, const unsigned *a, const unsigned *b)
{
    if constexpr (M == 0 || N == 0) {
#pragma unroll
        for (int i = 0; i < M + N; i++)
            out[i] = M ? a[i * BY] : b[i * BY];
    } else if constexpr (M == 1 && N == 1) {
        out[0] = lesser<PAIRS>(a[0], b[0]);
        out[1] = greater<PAIRS>(a[0], b[0]);
    } else {
        enum { ODD = (M + 1) / 2 + (N + 1) / 2, EVEN = M / 2 + N / 2 };
        unsigned odd[ODD], even[EVEN + 1];
        merge<PAIRS, (M + 1) / 2, (N + 1) / 2, 2 * BY>(odd, a, b);
        merge<PAIRS, M / 2, N / 2, 2 * BY>(even, a + BY, b + BY);
        out[0] = odd[0];
#pragma unroll
        for (int i = 0; i < EVEN; i++) {
            if (i + 1 == ODD) {
                out[2 * i + 1] = even[i];
                continue;
            }
            out[2 * i + 1] = lesser<PAIRS>(odd[i + 1], even[i]);
            out[2 * i + 2] = greater<PAIRS>(odd[i + 1], even[i]);
        }
        if (ODD == EVEN + 2)
            out[M + N - 1] = odd[ODD - 1];
    }
}

template <bool PAIRS, int N>
static __device__ __forceinline__ void sort(unsigned *out, const unsigned *v)
{
    if constexpr (N == 1) {
        out[0] = v[0];
    } else {
        unsigned low[N / 2], high[N - N / 2];
        sort<PAIRS, N / 2>(low, v);
        sort<PAIRS, N - N / 2>(high, v + N / 2);
        merge<PAIRS, N / 2, N - N / 2>(out, low, high);
    }
}

#endif
