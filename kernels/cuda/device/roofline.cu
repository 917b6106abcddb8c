/* Measures peak rates of the device: memory copy and fused multiply-add.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

enum {
    COPY_SIDE = 16384, /* 256 MB per image, more than the L2 cache holds */
    THREADS = 256,
    BLOCKS_A_UNIT = 8, /* 2048 threads: the maximum of a multiprocessor */
    CHAINS = 8,
    STEPS = 4096,
    TRIES = 4,
};

enum { FROM, TO, MARKS }; /* marks of the stopwatch */

/* Sums are stored under a condition that is false in every launch, so that the compiler does not
 * remove the computation. */
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

bool gi_cuda_has_code(void)
{
    cudaFuncAttributes code;
    bool has = cudaFuncGetAttributes(&code, fma_chains) == cudaSuccess;
    cudaGetLastError();
    return has;
}

/* Sets *rate to `work` divided by the time between the marks, unless *rate is already larger. */
static enum gi_status note_rate(struct gi_cuda_queue *cu, double *rate, double work,
                                const struct gi_stopwatch *watch, struct gi_err *err)
{
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    double seen = 1e3 * work / gi_cuda_stopwatch_ms(watch, FROM, TO);
    *rate = seen > *rate ? seen : *rate;
    return GI_OK;
}

static enum gi_status measure(struct gi_cuda_queue *cu, struct gi_roofline *roofline,
                              const struct gi_image *dst, const struct gi_image *src,
                              struct gi_stopwatch *watch, struct gi_err *err)
{
    size_t nbytes = src->stride * (size_t)src->height;
    int blocks = cu->units * BLOCKS_A_UNIT;
    enum gi_status status = GI_OK;
    for (int i = 0; i < TRIES && !status; i++) {
        gi_cuda_stopwatch_mark(watch, FROM);
        GI_CUDA_TRY(
            cudaMemcpyAsync(dst->data, src->data, nbytes, cudaMemcpyDeviceToDevice, cu->stream));
        gi_cuda_stopwatch_mark(watch, TO);
        status = note_rate(cu, &roofline->copy_rate, 2.0 * (double)nbytes, watch, err);
    }
    for (int i = 0; i < TRIES && !status; i++) {
        gi_cuda_stopwatch_mark(watch, FROM);
        fma_chains<<<blocks, THREADS, 0, cu->stream>>>((float *)dst->data, 0.999f);
        GI_CUDA_LAUNCHED();
        gi_cuda_stopwatch_mark(watch, TO);
        status = note_rate(cu, &roofline->fma_rate, (double)blocks * THREADS * CHAINS * STEPS,
                           watch, err);
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
        struct gi_stopwatch *watch;
        status = gi_cuda_stopwatch_new(&watch, queue, MARKS, err);
        if (!status)
            status = measure(gi_cuda(queue), roofline, &dst, &src, watch, err);
        gi_cuda_stopwatch_free(&watch);
        gi_cuda_release(queue, &dst);
    }
    gi_cuda_release(queue, &src);
    return status;
}
