/* Declares the functions of struct gi_kernels that are no primitives. They concern devices, queues,
 * memory, copies, stopwatches and the roofline.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_DEVICE_SLOTS_H
#define GI_KERNELS_CUDA_DEVICE_SLOTS_H

#include "kernels/cuda/cuda.h"
#include "kernels/device_functions.h"

#define GI_CUDA_FUNCTION(name) extern GI_DEVICE_FUNCTION(name) gi_cuda_##name;
GI_CUDA_FUNCTION(probe)
GI_CUDA_FUNCTION(describe)
GI_CUDA_FUNCTION(device_open)
GI_DEVICE_FUNCTIONS(GI_CUDA_FUNCTION)
GI_CUDA_FUNCTION(roofline)

/* Shared within this folder. */

/* Returns whether the program has code for the current GPU: a build for one GPU has no PTX code,
 * which the driver could compile for another. */
bool gi_cuda_has_code(void);

/* Initialise and free the device's pinned memory. */
void gi_cuda_pinned_begin(struct gi_cuda_device *cu);
void gi_cuda_pinned_end(struct gi_cuda_device *cu);

/* Makes the memory blocks of a queue available to all queues. The queue's stream must be idle. */
void gi_cuda_blocks_leave(struct gi_cuda_queue *cu);

/* Sets `ticket` so that it is complete when all work now in the stream is done. */
enum gi_status gi_cuda_ticket(struct gi_cuda_queue *cu, struct gi_ticket *ticket,
                              struct gi_err *err);

#endif
