/* Shared by kernels that copy bytes: pieces of 16 bytes at unaligned addresses.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_UNALIGNED_CUH
#define GI_KERNELS_CUDA_UNALIGNED_CUH

#include "kernels/cuda/common/pointwise.cuh"

/* Returns bytes shift to shift + 15 of the 32 bytes in low and high; `shift` is 0 to 15. */
static __device__ __forceinline__ uint4 shifted(uint4 low, uint4 high, unsigned shift)
{
    unsigned w[7] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z}, last = high.w;
    if (shift & 8) {
        w[0] = w[2], w[1] = w[3], w[2] = w[4], w[3] = w[5], w[4] = w[6], w[5] = last;
    }
    if (shift & 4) {
        w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = w[4], w[4] = w[5];
    }
    unsigned bits = shift % 4 * 8;
    return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                      __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

/* Returns bytes at to at + 15 of a row. All these bytes must be inside the row. */
static __device__ __forceinline__ uint4 bytes_at(const char *row, long long at)
{
    const uint4 *piece = (const uint4 *)row + (at >> 4);
    unsigned shift = (unsigned)at & 15;
    uint4 low = piece[0];
    return shift ? shifted(low, piece[1], shift) : low;
}

/* Returns a word that consists of bytes a, b, c and d of `words`. The indices must be constants, so
 * that one to three instructions suffice. */
static __device__ __forceinline__ unsigned gather(const unsigned *words, int a, int b, int c, int d)
{
    unsigned low = __byte_perm(words[a / 4], words[b / 4], (unsigned)(a % 4 | (b % 4 + 4) << 4));
    unsigned high = __byte_perm(words[c / 4], words[d / 4], (unsigned)(c % 4 | (d % 4 + 4) << 4));
    return __byte_perm(low, high, 0x5410u);
}

#endif
