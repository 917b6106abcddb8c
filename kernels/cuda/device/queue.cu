/* CUDA queues, which have one stream each, tickets of copies, stopwatches, and named ranges for
 * profilers.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <stdlib.h>

/* NVTX is a header-only library, which some toolkits lack. NVTX looks for a profiler only once. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define RANGE_PUSH(name) nvtxRangePushA(name)
#define RANGE_POP()      nvtxRangePop()
#else
#define RANGE_PUSH(name) (void)0
#define RANGE_POP()      (void)0
#endif

/* Creates those parts of a queue whose creation can fail. If one fails, the caller calls
 * gi_cuda_queue_close(), which frees the parts that exist. */
static enum gi_status queue_fill(struct gi_cuda_queue *cu, struct gi_err *err)
{
    GI_CUDA_TRY(cudaSetDevice(cu->ordinal));
    GI_CUDA_TRY(cudaStreamCreateWithFlags(&cu->stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++)
        GI_CUDA_TRY(cudaEventCreateWithFlags(&cu->staged[i], cudaEventDisableTiming));
    return GI_OK;
}

enum gi_status gi_cuda_queue_open(struct gi_queue **queue, struct gi_device *base,
                                  struct gi_err *err)
{
    struct gi_cuda_device *device = (struct gi_cuda_device *)base;
    *queue = NULL;
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)calloc(1, sizeof *cu);
    if (!cu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a queue");
    cu->base = (struct gi_queue){base->k, base, NULL};
    cu->device = device;
    cu->ordinal = device->ordinal;
    cu->units = device->units;
    cu->capability = device->capability;
    cu->shared_nbytes = device->shared_nbytes;
    cu->workers = device->workers;
    pthread_mutex_lock(&device->lock);
    device->nqueues++;
    pthread_mutex_unlock(&device->lock);
    *queue = &cu->base;
    enum gi_status status = gi_queue_ways_open(*queue, err);
    if (!status)
        status = queue_fill(cu, err);
    if (status)
        gi_cuda_queue_close(queue);
    return status;
}

void gi_cuda_queue_close(struct gi_queue **queue)
{
    if (!*queue)
        return;
    struct gi_cuda_queue *cu = gi_cuda(*queue);
    if (cu->stream)
        cudaStreamSynchronize(cu->stream);
    gi_cuda_textures_free(cu);
    gi_cuda_array_free(cu);
    for (int i = 0; i < 2; i++) {
        if (cu->staged[i])
            cudaEventDestroy(cu->staged[i]);
        cudaFreeHost(cu->staging[i]);
    }
    if (cu->tiny)
        cu->device->host_allocator.free(cu->device->host_allocator.self, cu->tiny);
    for (int i = 0; i < GI_CUDA_TICKETS; i++)
        if (cu->copied[i])
            cudaEventDestroy(cu->copied[i]);
    if (cu->stream)
        cudaStreamDestroy(cu->stream);
    cudaGetLastError();
    gi_cuda_blocks_leave(cu);
    pthread_mutex_lock(&cu->device->lock);
    cu->device->nqueues--;
    pthread_mutex_unlock(&cu->device->lock);
    gi_queue_ways_close(*queue);
    free(cu);
    *queue = NULL;
}

enum gi_status gi_cuda_sync(struct gi_queue *queue, struct gi_err *err)
{
    GI_CUDA_TRY(cudaStreamSynchronize(gi_cuda(queue)->stream));
    return GI_OK;
}

enum gi_status gi_cuda_ticket(struct gi_cuda_queue *cu, struct gi_ticket *ticket,
                              struct gi_err *err)
{
    uint64_t number = cu->ntickets + 1;
    cudaEvent_t *event = &cu->copied[number % GI_CUDA_TICKETS];
    if (!*event)
        GI_CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    GI_CUDA_TRY(cudaEventRecord(*event, cu->stream));
    cu->ntickets = number;
    ticket->number = number;
    return GI_OK;
}

/* The event may by now belong to a later ticket, whose copy follows this one in the stream. Waiting
 * for the later copy may take longer than necessary, but this copy is complete afterwards. */
enum gi_status gi_cuda_wait(struct gi_queue *queue, struct gi_ticket *ticket, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    uint64_t number = ticket->number;
    ticket->number = 0;
    if (number)
        GI_CUDA_TRY(cudaEventSynchronize(cu->copied[number % GI_CUDA_TICKETS]));
    return GI_OK;
}

struct gi_stopwatch {
    struct gi_cuda_queue *cu;
    int nmarks;
    cudaEvent_t *marks;
};

static enum gi_status stopwatch_fill(struct gi_stopwatch *watch, struct gi_err *err)
{
    for (int i = 0; i < watch->nmarks; i++)
        GI_CUDA_TRY(cudaEventCreate(&watch->marks[i]));
    return GI_OK;
}

enum gi_status gi_cuda_stopwatch_new(struct gi_stopwatch **out, struct gi_queue *queue, int nmarks,
                                     struct gi_err *err)
{
    *out = NULL;
    struct gi_stopwatch *watch = (struct gi_stopwatch *)calloc(1, sizeof *watch);
    cudaEvent_t *marks = (cudaEvent_t *)calloc((size_t)nmarks, sizeof *marks);
    if (!watch || !marks) {
        free(watch);
        free(marks);
        return gi_fail(err, GI_E_MEMORY, "out of memory: a stopwatch");
    }
    *watch = (struct gi_stopwatch){gi_cuda(queue), nmarks, marks};
    *out = watch;
    enum gi_status status = stopwatch_fill(watch, err);
    if (status)
        gi_cuda_stopwatch_free(out);
    return status;
}

void gi_cuda_stopwatch_mark(struct gi_stopwatch *watch, int mark)
{
    if (watch)
        cudaEventRecord(watch->marks[mark], gi_cuda(&watch->cu->base)->stream);
}

double gi_cuda_stopwatch_ms(const struct gi_stopwatch *watch, int from, int to)
{
    float ms = 0;
    gi_cuda(&watch->cu->base);
    cudaEventElapsedTime(&ms, watch->marks[from], watch->marks[to]);
    return ms;
}

void gi_cuda_stopwatch_free(struct gi_stopwatch **out)
{
    struct gi_stopwatch *watch = *out;
    *out = NULL;
    if (!watch)
        return;
    gi_cuda(&watch->cu->base);
    for (int i = 0; i < watch->nmarks; i++)
        if (watch->marks[i])
            cudaEventDestroy(watch->marks[i]);
    free(watch->marks);
    free(watch);
}

void gi_cuda_range(struct gi_queue *queue, const char *name)
{
    (void)queue;
    if (name)
        RANGE_PUSH(name);
    else
        RANGE_POP();
}
