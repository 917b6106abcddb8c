/* The CUDA backend inside: its context, its error macro, scratch and copies. Launchers
 * set the device by gi_cuda(), enqueue on `stream`, and neither wait nor allocate but by what is
 * here. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CUDA_H
#define GI_KERNELS_CUDA_CUDA_H

#include <cuda_runtime.h>

#include "kernels/kernels.h"
#include "kernels/parallel.h"

enum {
    GI_CUDA_ALIGN =
        512, /* bytes: start and stride of our images: padding that wide loads may reach */
    GI_CUDA_MARKS = 8,
};

/* Device memory for an image or for scratch. An idle block may be lent again at once: everything
 * that still uses it is ahead in the stream. */
struct gi_cuda_block {
    void *data;
    size_t nbytes;
    bool lent;
};

struct gi_cuda_queue {
    struct gi_queue base;
    int ordinal;
    int units;         /* multiprocessors */
    int shared_nbytes; /* of shared memory that one block may have, opted in */
    size_t max_bytes;  /* 0: no cap but the device's own */
    cudaStream_t stream;
    struct gi_cuda_block *blocks; /* nblocks of blocks_room are taken */
    int nblocks, blocks_room;
    cudaEvent_t marks[GI_CUDA_MARKS];
    void *scratch; /* device memory of gi_cuda_scratch() */
    size_t scratch_nbytes;
    void *staging[2]; /* pinned host memory, made at the first large copy */
    cudaEvent_t staged[2];
    struct gi_pool *workers; /* that copy between pageable and pinned memory */
};

/* The context as the CUDA backend sees it, its device made the thread's current one. */
static inline struct gi_cuda_queue *gi_cuda(struct gi_queue *queue)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)queue;
    cudaSetDevice(cu->ordinal);
    return cu;
}

/* Records a failed call; GI_E_DEVICE_MEMORY where memory ran out, else GI_E_DEVICE. */
enum gi_status gi_cuda_fail(struct gi_err *err, cudaError_t error, const char *call);

/* Returns from the function, through the `err` in scope, where the call failed. */
#define GI_CUDA_TRY(call)                                                                          \
    do {                                                                                           \
        cudaError_t gi_cuda_error_ = (call);                                                       \
        if (gi_cuda_error_ != cudaSuccess)                                                         \
            return gi_cuda_fail(err, gi_cuda_error_, #call);                                       \
    } while (0)

/* After a launch: did it start? */
#define GI_CUDA_LAUNCHED() GI_CUDA_TRY(cudaGetLastError())

/* Device memory for the primitive at work, GI_CUDA_ALIGN aligned, contents undefined; valid until
 * the next call on this context (one block a primitive: carve it up yourself). Grows in stream
 * order, so kernels already enqueued keep what they had. */
enum gi_status gi_cuda_scratch(struct gi_cuda_queue *cu, void **scratch, size_t nbytes,
                               struct gi_err *err);

/* Rows of bytes from the device to pageable host memory and back, through pinned staging; the first
 * waits until the bytes are there, the second only until `host` has been read. */
enum gi_status gi_cuda_copy_to_host(struct gi_cuda_queue *cu, void *host, size_t host_stride,
                                    const void *device, size_t device_stride, size_t row_nbytes,
                                    size_t nrows, struct gi_err *err);
enum gi_status gi_cuda_copy_to_device(struct gi_cuda_queue *cu, void *device, size_t device_stride,
                                      const void *host, size_t host_stride, size_t row_nbytes,
                                      size_t nrows, struct gi_err *err);

/* The primitives, as the slots of struct gi_kernels. */
gi_convolve_separable_fn gi_cuda_convolve_separable;
gi_convolve_2d_fn gi_cuda_convolve_2d;
gi_box_fn gi_cuda_box;
gi_gradient_fn gi_cuda_gradient;
gi_threshold_fn gi_cuda_threshold;
gi_luma_fn gi_cuda_luma;
gi_histogram_fn gi_cuda_histogram;
gi_moments_fn gi_cuda_moments;
gi_select_fn gi_cuda_select;
gi_label_fn gi_cuda_label;
gi_region_stats_fn gi_cuda_region_stats;

#endif
