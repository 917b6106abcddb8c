/* Copies between host memory and the device. Small images are copied directly by the driver, which
 * has pinned buffers. Larger images pass through two pinned staging buffers (double buffering):
 * worker threads fill or empty one buffer while the device copies the other. Pinning the image
 * itself would take longer.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <string.h>

enum {
    /* Pinning the staging buffers takes 3.4 ms. Compared with copies by the driver at 11 GB/s
     * (H200), they save 57 us per megabyte of an upload and nothing of a download. */
    SMALL_NBYTES = 32 << 20,
    STAGING_NBYTES = 4 << 20, /* 73 us at 55 GB/s, far longer than a launch; quick to pin */
    SLICE_NBYTES = 256 << 10, /* bytes that make waking a worker thread worthwhile */
    TINY_NBYTES = 64 << 10,   /* maximum bytes of a result that goes through gi_cuda_queue.tiny */
};

/* Rows in host memory, which worker threads copy in slices. */
struct host_copy {
    char *dst;
    const char *src;
    size_t dst_stride, src_stride, row_nbytes, nrows, slice_rows;
};

static void host_copy_slice(void *arg, int index, void *)
{
    const struct host_copy *copy = (const struct host_copy *)arg;
    size_t first = (size_t)index * copy->slice_rows, end = first + copy->slice_rows;
    for (size_t y = first; y < end && y < copy->nrows; y++)
        memcpy(copy->dst + y * copy->dst_stride, copy->src + y * copy->src_stride,
               copy->row_nbytes);
}

static enum gi_status host_copy_run(struct gi_cuda_queue *cu, struct host_copy *copy,
                                    struct gi_err *err)
{
    copy->slice_rows = (SLICE_NBYTES + copy->row_nbytes - 1) / copy->row_nbytes;
    size_t nslices = (copy->nrows + copy->slice_rows - 1) / copy->slice_rows;
    return gi_pool_run(cu->workers, (int)nslices, host_copy_slice, copy, 0, err);
}

static enum gi_status staging_make(struct gi_cuda_queue *cu, struct gi_err *err)
{
    for (int i = 0; i < 2; i++)
        if (!cu->staging[i])
            GI_CUDA_TRY(cudaHostAlloc(&cu->staging[i], STAGING_NBYTES, cudaHostAllocDefault));
    return GI_OK;
}

/* Rows without gaps on both sides are copied as one row. Rows longer than a staging buffer are
 * divided. In both cases, the copy becomes rows of FLAT_NBYTES bytes and a remainder. */
enum { FLAT_NBYTES = 64 << 10 };

typedef enum gi_status copy_fn(struct gi_cuda_queue *cu, char *dst, size_t dst_stride,
                               const char *src, size_t src_stride, size_t row_nbytes, size_t nrows,
                               struct gi_err *err);

static enum gi_status copy_flat(copy_fn *fn, struct gi_cuda_queue *cu, char *dst, const char *src,
                                size_t nbytes, struct gi_err *err)
{
    size_t rows = nbytes / FLAT_NBYTES, done = rows * FLAT_NBYTES;
    enum gi_status status = GI_OK;
    if (rows)
        status = fn(cu, dst, FLAT_NBYTES, src, FLAT_NBYTES, FLAT_NBYTES, rows, err);
    if (!status && done < nbytes)
        status =
            fn(cu, dst + done, nbytes - done, src + done, nbytes - done, nbytes - done, 1, err);
    return status;
}

static enum gi_status copy_any(copy_fn *fn, struct gi_cuda_queue *cu, char *dst, size_t dst_stride,
                               const char *src, size_t src_stride, size_t row_nbytes, size_t nrows,
                               struct gi_err *err)
{
    enum gi_status status = staging_make(cu, err);
    if (status || row_nbytes == 0 || nrows == 0)
        return status;
    if (nrows == 1 || (dst_stride == row_nbytes && src_stride == row_nbytes))
        return copy_flat(fn, cu, dst, src, row_nbytes * nrows, err);
    if (row_nbytes <= STAGING_NBYTES)
        return fn(cu, dst, dst_stride, src, src_stride, row_nbytes, nrows, err);
    for (size_t y = 0; y < nrows && !status; y++)
        status = copy_flat(fn, cu, dst + y * dst_stride, src + y * src_stride, row_nbytes, err);
    return status;
}

static enum gi_status rows_to_device(struct gi_cuda_queue *cu, char *dst, size_t dst_stride,
                                     const char *src, size_t src_stride, size_t row_nbytes,
                                     size_t nrows, struct gi_err *err)
{
    size_t chunk = STAGING_NBYTES / row_nbytes;
    for (size_t y = 0, turn = 0; y < nrows; y += chunk, turn ^= 1) {
        size_t n = nrows - y < chunk ? nrows - y : chunk;
        GI_CUDA_TRY(cudaEventSynchronize(cu->staged[turn]));
        struct host_copy copy = {(char *)cu->staging[turn],
                                 src + y * src_stride,
                                 row_nbytes,
                                 src_stride,
                                 row_nbytes,
                                 n,
                                 0};
        enum gi_status status = host_copy_run(cu, &copy, err);
        if (status)
            return status;
        GI_CUDA_TRY(cudaMemcpy2DAsync(dst + y * dst_stride, dst_stride, cu->staging[turn],
                                      row_nbytes, row_nbytes, n, cudaMemcpyHostToDevice,
                                      cu->stream));
        GI_CUDA_TRY(cudaEventRecord(cu->staged[turn], cu->stream));
    }
    return GI_OK;
}

static enum gi_status rows_to_host(struct gi_cuda_queue *cu, char *dst, size_t dst_stride,
                                   const char *src, size_t src_stride, size_t row_nbytes,
                                   size_t nrows, struct gi_err *err)
{
    size_t chunk = STAGING_NBYTES / row_nbytes, nchunks = (nrows + chunk - 1) / chunk;
    for (size_t i = 0; i <= nchunks; i++) {
        if (i < nchunks) { /* follows, in stream order, an upload that still uses the buffer */
            size_t y = i * chunk, n = nrows - y < chunk ? nrows - y : chunk;
            GI_CUDA_TRY(cudaMemcpy2DAsync(cu->staging[i & 1], row_nbytes, src + y * src_stride,
                                          src_stride, row_nbytes, n, cudaMemcpyDeviceToHost,
                                          cu->stream));
            GI_CUDA_TRY(cudaEventRecord(cu->staged[i & 1], cu->stream));
        }
        if (i > 0) {
            size_t y = (i - 1) * chunk, n = nrows - y < chunk ? nrows - y : chunk;
            GI_CUDA_TRY(cudaEventSynchronize(cu->staged[(i - 1) & 1]));
            struct host_copy copy = {dst + y * dst_stride,
                                     (const char *)cu->staging[(i - 1) & 1],
                                     dst_stride,
                                     row_nbytes,
                                     row_nbytes,
                                     n,
                                     0};
            enum gi_status status = host_copy_run(cu, &copy, err);
            if (status)
                return status;
        }
    }
    return GI_OK;
}

/* Returns whether the rows are copied directly. This is so if the device can access the rows, or if
 * they are so few bytes that a copy by the driver is fastest. */
static bool goes_as_it_is(const struct gi_cuda_queue *cu, const void *host, size_t nbytes)
{
    struct cudaPointerAttributes attributes;
    if (!cu->staging[1] && nbytes <= SMALL_NBYTES)
        return true;
    if (cudaPointerGetAttributes(&attributes, host) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    cudaGetLastError();
    return false;
}

/* Ends a direct copy. Sets its ticket if there is one, else waits for the copy. */
static enum gi_status ticket_or_wait(struct gi_cuda_queue *cu, struct gi_ticket *ticket,
                                     struct gi_err *err)
{
    if (ticket)
        return gi_cuda_ticket(cu, ticket, err);
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    return GI_OK;
}

static enum gi_status copy_to_host(struct gi_cuda_queue *cu, void *host, size_t host_stride,
                                   const void *device, size_t device_stride, size_t row_nbytes,
                                   size_t nrows, struct gi_ticket *ticket, struct gi_err *err)
{
    if (ticket)
        ticket->number = 0; /* staged copies are complete when the call returns */
    if (!goes_as_it_is(cu, host, row_nbytes * nrows))
        return copy_any(rows_to_host, cu, (char *)host, host_stride, (const char *)device,
                        device_stride, row_nbytes, nrows, err);
    GI_CUDA_TRY(cudaMemcpy2DAsync(host, host_stride, device, device_stride, row_nbytes, nrows,
                                  cudaMemcpyDeviceToHost, cu->stream));
    return ticket_or_wait(cu, ticket, err);
}

static enum gi_status copy_to_device(struct gi_cuda_queue *cu, void *device, size_t device_stride,
                                     const void *host, size_t host_stride, size_t row_nbytes,
                                     size_t nrows, struct gi_ticket *ticket, struct gi_err *err)
{
    if (goes_as_it_is(cu, host, row_nbytes * nrows)) {
        GI_CUDA_TRY(cudaMemcpy2DAsync(device, device_stride, host, host_stride, row_nbytes, nrows,
                                      cudaMemcpyHostToDevice, cu->stream));
        return ticket_or_wait(cu, ticket, err); /* some devices read pageable memory late */
    }
    enum gi_status status = copy_any(rows_to_device, cu, (char *)device, device_stride,
                                     (const char *)host, host_stride, row_nbytes, nrows, err);
    return status || !ticket ? status : gi_cuda_ticket(cu, ticket, err);
}

/* Copies a few bytes through pinned memory. The driver holds a lock while it waits for a copy to
 * other memory, and then threads of other queues can't launch kernels. */
static enum gi_status tiny_to_host(struct gi_cuda_queue *cu, void *host, const void *device,
                                   size_t nbytes, struct gi_err *err)
{
    const struct gi_allocator *pinned = &cu->device->host_allocator;
    if (!cu->tiny && !(cu->tiny = pinned->alloc(pinned->self, TINY_NBYTES)))
        return gi_fail(err, GI_E_MEMORY, "out of memory: pinned memory");
    GI_CUDA_TRY(cudaMemcpyAsync(cu->tiny, device, nbytes, cudaMemcpyDeviceToHost, cu->stream));
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    memcpy(host, cu->tiny, nbytes);
    return GI_OK;
}

enum gi_status gi_cuda_copy_to_host(struct gi_cuda_queue *cu, void *host, size_t host_stride,
                                    const void *device, size_t device_stride, size_t row_nbytes,
                                    size_t nrows, struct gi_err *err)
{
    if (nrows == 1 && row_nbytes <= TINY_NBYTES)
        return tiny_to_host(cu, host, device, row_nbytes, err);
    return copy_to_host(cu, host, host_stride, device, device_stride, row_nbytes, nrows, NULL, err);
}

enum gi_status gi_cuda_copy_to_device(struct gi_cuda_queue *cu, void *device, size_t device_stride,
                                      const void *host, size_t host_stride, size_t row_nbytes,
                                      size_t nrows, struct gi_err *err)
{
    return copy_to_device(cu, device, device_stride, host, host_stride, row_nbytes, nrows, NULL,
                          err);
}

enum gi_status gi_cuda_upload(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *host, struct gi_ticket *ticket,
                              struct gi_err *err)
{
    enum gi_status status =
        gi_cuda_alloc(queue, dst, host->width, host->height, host->channels, host->type, err);
    if (status)
        return status;
    status = copy_to_device(gi_cuda(queue), dst->data, dst->stride, host->data, host->stride,
                            gi_row_nbytes(host), (size_t)host->height, ticket, err);
    if (status)
        gi_cuda_release(queue, dst);
    return status;
}

enum gi_status gi_cuda_download_into(struct gi_queue *queue, const struct gi_image *host,
                                     struct gi_image *src, struct gi_ticket *ticket,
                                     struct gi_err *err)
{
    enum gi_status status =
        copy_to_host(gi_cuda(queue), host->data, host->stride, src->data, src->stride,
                     gi_row_nbytes(src), (size_t)src->height, ticket, err);
    gi_cuda_release(queue, src);
    return status;
}

enum gi_status gi_cuda_download(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                                struct gi_ticket *ticket, struct gi_err *err)
{
    enum gi_status status =
        gi_image_alloc(host, src->width, src->height, src->channels, src->type, err);
    if (status) {
        gi_cuda_release(queue, src);
        return status;
    }
    status = gi_cuda_download_into(queue, host, src, ticket, err);
    if (status)
        gi_image_free(host);
    return status;
}

enum gi_status gi_cuda_copy(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err)
{
    GI_CUDA_TRY(cudaMemcpy2DAsync(dst->data, dst->stride, src->data, src->stride,
                                  gi_row_nbytes(src), (size_t)src->height, cudaMemcpyDeviceToDevice,
                                  gi_cuda(queue)->stream));
    return GI_OK;
}

enum gi_status gi_cuda_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                            size_t scratch_nbytes, struct gi_err *err)
{
    return gi_pool_run(gi_cuda(queue)->workers, njobs, fn, arg, scratch_nbytes, err);
}
