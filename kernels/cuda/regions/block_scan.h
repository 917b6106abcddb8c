/* Exclusive prefix sum of the counts of blocks; it runs between the kernel that counts and the
 * kernel that writes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BLOCK_SCAN_H
#define GI_KERNELS_CUDA_BLOCK_SCAN_H

#include "kernels/cuda/common/measure.h"

/* Replaces counts[i] by the sum of the counts before it, for 0 <= i < n, and sets *total to the sum
 * of all. Launched with one block. */
enum { SCAN_THREADS = 1024, SCAN_EACH = 8 };

static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_counts(uint32_t *counts, unsigned n, device_u64 *total)
{
    unsigned carry = 0;
    for (unsigned first = 0; first < n; first += SCAN_THREADS * SCAN_EACH) {
        unsigned at = first + threadIdx.x * SCAN_EACH, mine[SCAN_EACH], sum = 0, all;
#pragma unroll
        for (unsigned i = 0; i < SCAN_EACH; i++) {
            mine[i] = at + i < n ? counts[at + i] : 0;
            sum += mine[i];
        }
        unsigned before = carry + block_before<SCAN_THREADS / WARP>(sum, &all);
        carry += all;
#pragma unroll
        for (unsigned i = 0; i < SCAN_EACH; i++) {
            if (at + i < n)
                counts[at + i] = before;
            before += mine[i];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = carry;
}

#endif
