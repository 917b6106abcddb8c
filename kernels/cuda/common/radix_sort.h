/* Sorting keys on the device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RADIX_SORT_H
#define GI_KERNELS_CUDA_RADIX_SORT_H

#include "kernels/cuda/cuda.h"

/* Returns the bytes of scratch memory for sorting n keys of key_nbytes bytes. */
size_t gi_cuda_sort_scratch(size_t n, int key_nbytes);

/* Enqueues a sort of n unsigned keys, 1 to 2^31 - 1, of key_nbytes bytes (4 or 8). The keys are
 * sorted in ascending order of their lower `nbytes` bytes, an even number. `to` receives the sorted
 * keys and may be `from`; `other` is memory for n further keys. All pointers point to device
 * memory. */
enum gi_status gi_cuda_sort_launch(struct gi_cuda_queue *cu, void *to, void *other,
                                   const void *from, void *scratch, size_t n, int key_nbytes,
                                   int nbytes, struct gi_err *err);

#endif
