/* What the device can do at most: memory copied and fused multiply-adds.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/host.h"

enum {
    COPY_SIDE = 16384, /* 256 MB a side of the copy: more than the second cache holds */
    THREADS = 256,
    BLOCKS_A_UNIT = 8, /* 2048 threads: all that a multiprocessor takes */
    CHAINS = 8,
    STEPS = 4096,
    TRIES = 4,
};

/* The sums go nowhere but to where no launch asks for. */
static __global__ void fma_chains(float *out, float factor)
{
    float sums[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sums[c] = (float)(threadIdx.x + c);
    for (int i = 0; i < STEPS; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            sums[c] = fmaf(sums[c], factor, 0.001f);
    float sum = 0;
    for (int c = 0; c < CHAINS; c++)
        sum += sums[c];
    if (factor > 1)
        out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* rate = the best of `work` over the time between the events. */
static enum gi_status note_rate(struct gi_cuda_queue *cu, double *rate, double work,
                                cudaEvent_t from, cudaEvent_t to, struct gi_err *err)
{
    float ms;
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    GI_CUDA_TRY(cudaEventElapsedTime(&ms, from, to));
    double seen = 1e3 * work / ms;
    *rate = seen > *rate ? seen : *rate;
    return GI_OK;
}

static enum gi_status measure(struct gi_cuda_queue *cu, struct gi_roofline *roofline,
                              const struct gi_image *dst, const struct gi_image *src,
                              struct gi_err *err)
{
    cudaEvent_t from = cu->marks[0], to = cu->marks[1];
    size_t nbytes = src->stride * (size_t)src->height;
    int blocks = cu->units * BLOCKS_A_UNIT;
    enum gi_status status = GI_OK;
    for (int i = 0; i < TRIES && !status; i++) {
        GI_CUDA_TRY(cudaEventRecord(from, cu->stream));
        GI_CUDA_TRY(
            cudaMemcpyAsync(dst->data, src->data, nbytes, cudaMemcpyDeviceToDevice, cu->stream));
        GI_CUDA_TRY(cudaEventRecord(to, cu->stream));
        status = note_rate(cu, &roofline->copy_rate, 2.0 * (double)nbytes, from, to, err);
    }
    for (int i = 0; i < TRIES && !status; i++) {
        GI_CUDA_TRY(cudaEventRecord(from, cu->stream));
        fma_chains<<<blocks, THREADS, 0, cu->stream>>>((float *)dst->data, 0.999f);
        GI_CUDA_LAUNCHED();
        GI_CUDA_TRY(cudaEventRecord(to, cu->stream));
        status = note_rate(cu, &roofline->fma_rate, (double)blocks * THREADS * CHAINS * STEPS, from,
                           to, err);
    }
    return status;
}

enum gi_status gi_cuda_roofline(struct gi_queue *queue, struct gi_roofline *roofline,
                                struct gi_err *err)
{
    struct gi_image src, dst;
    roofline->copy_rate = roofline->fma_rate = 0;
    enum gi_status status = gi_cuda_alloc(queue, &src, COPY_SIDE, COPY_SIDE, 1, GI_U8, err);
    if (status)
        return status;
    status = gi_cuda_alloc(queue, &dst, COPY_SIDE, COPY_SIDE, 1, GI_U8, err);
    if (!status) {
        status = measure(gi_cuda(queue), roofline, &dst, &src, err);
        gi_cuda_release(queue, &dst);
    }
    gi_cuda_release(queue, &src);
    return status;
}
