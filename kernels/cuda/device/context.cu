/* The CUDA backend's contexts: their life, the stopwatch.
 * Nothing here is global, so several contexts may live at once.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum gi_status gi_cuda_fail(struct gi_err *err, cudaError_t error, const char *call)
{
    cudaGetLastError(); /* so that the next check does not see this error again */
    if (error == cudaErrorInsufficientDriver) /* what the runtime says where there is none, too */
        return gi_fail(err, GI_E_DEVICE, "no NVIDIA driver, or one too old for CUDA %d.%d",
                       CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    enum gi_status status = error == cudaErrorMemoryAllocation ? GI_E_DEVICE_MEMORY : GI_E_DEVICE;
    return gi_fail(err, status, "CUDA: %s (%.*s)", cudaGetErrorString(error),
                   (int)strcspn(call, "("), call);
}

static enum gi_status device_info(struct gi_device_info *info, int ordinal, struct gi_err *err)
{
    struct cudaDeviceProp properties;
    GI_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal));
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%.95s", properties.name);
    info->ordinal = ordinal;
    info->units = properties.multiProcessorCount;
    info->capability = 10 * properties.major + properties.minor;
    GI_CUDA_TRY(cudaSetDevice(ordinal));
    GI_CUDA_TRY(cudaMemGetInfo(&info->free_nbytes, &info->memory_nbytes));
    return GI_OK;
}

int gi_cuda_probe(struct gi_device_info *infos, int max, struct gi_err *err)
{
    int n = 0;
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaErrorNoDevice) {
        cudaGetLastError();
        return 0;
    }
    if (error != cudaSuccess) {
        gi_cuda_fail(err, error, "cudaGetDeviceCount");
        return -1;
    }
    for (int i = 0; i < n && i < max; i++)
        if (device_info(&infos[i], i, err))
            return -1;
    return n;
}

/* The parts of a context that can fail; gi_cuda_close() takes what was made. */
static enum gi_status context_fill(struct gi_cuda_queue *cu, struct gi_err *err)
{
    GI_CUDA_TRY(cudaSetDevice(cu->ordinal));
    GI_CUDA_TRY(cudaDeviceGetAttribute(&cu->units, cudaDevAttrMultiProcessorCount, cu->ordinal));
    GI_CUDA_TRY(cudaDeviceGetAttribute(&cu->shared_nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       cu->ordinal));
    GI_CUDA_TRY(cudaStreamCreateWithFlags(&cu->stream, cudaStreamNonBlocking));
    for (int i = 0; i < GI_CUDA_MARKS; i++)
        GI_CUDA_TRY(cudaEventCreate(&cu->marks[i]));
    for (int i = 0; i < 2; i++)
        GI_CUDA_TRY(cudaEventCreateWithFlags(&cu->staged[i], cudaEventDisableTiming));
    return GI_OK;
}

enum gi_status gi_cuda_open(struct gi_queue **queue, const struct gi_open_options *options,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)calloc(1, sizeof *cu);
    if (!cu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a context");
    cu->base.k = gi_kernels_cuda();
    cu->ordinal = options->ordinal;
    cu->max_bytes = options->max_bytes;
    *queue = &cu->base;
    enum gi_status status =
        gi_pool_new(&cu->workers, options->threads < 1 ? 1 : options->threads, err);
    if (!status)
        status = context_fill(cu, err);
    if (status)
        gi_cuda_close(queue);
    return status;
}

/* Frees what this program holds; the driver's own context goes with the process. */
void gi_cuda_close(struct gi_queue **queue)
{
    if (!*queue)
        return;
    struct gi_cuda_queue *cu = gi_cuda(*queue);
    if (cu->stream)
        cudaStreamSynchronize(cu->stream);
    for (int i = 0; i < GI_CUDA_MARKS; i++)
        if (cu->marks[i])
            cudaEventDestroy(cu->marks[i]);
    for (int i = 0; i < 2; i++) {
        if (cu->staged[i])
            cudaEventDestroy(cu->staged[i]);
        cudaFreeHost(cu->staging[i]);
    }
    if (cu->stream)
        cudaStreamDestroy(cu->stream);
    for (int i = 0; i < cu->nblocks; i++)
        cudaFree(cu->blocks[i].data);
    free(cu->blocks);
    cudaGetLastError();
    gi_pool_free(&cu->workers);
    free(cu);
    *queue = NULL;
}

enum gi_status gi_cuda_sync(struct gi_queue *queue, struct gi_err *err)
{
    GI_CUDA_TRY(cudaStreamSynchronize(gi_cuda(queue)->stream));
    return GI_OK;
}

void gi_cuda_mark(struct gi_queue *queue, int slot)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    cudaEventRecord(cu->marks[slot], cu->stream);
}

double gi_cuda_elapsed_ms(struct gi_queue *queue, int from, int to)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    float ms = 0;
    cudaEventElapsedTime(&ms, cu->marks[from], cu->marks[to]);
    return ms;
}
