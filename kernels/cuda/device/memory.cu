/* Device memory: a pool of blocks from cudaMalloc(), reused in stream order. The driver has such
 * pools, too, but the first allocation from a pool of the driver takes 6 ms.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Limits of the kernels' index arithmetic: the rows of a grid and the bytes of a row are ints, and
 * the limits leave room for halos and for tiles that extend past the end. */
enum { ROWS_MAX = 65000, ROW_NBYTES_MAX = 1 << 20, ASK_MS = 100 };

/* The functions up to take() and give_back() are called with the device's lock held. */

/* Returns the smallest idle block of at least `nbytes`, or NULL if more than an eighth of that
 * block would be wasted. Waste must be limited because gi_cuda_limits() promises all idle bytes. */
static struct gi_cuda_block *idle_block(const struct gi_cuda_queue *cu, size_t nbytes)
{
    struct gi_cuda_block *best = NULL;
    for (int i = 0; i < cu->device->nblocks; i++) {
        struct gi_cuda_block *block = &cu->device->blocks[i];
        if (!block->lent && (!block->queue || block->queue == cu) && block->nbytes >= nbytes &&
            block->nbytes - nbytes <= nbytes / 8 && (!best || block->nbytes < best->nbytes))
            best = block;
    }
    return best;
}

/* Returns all idle blocks, of all queues, to the driver. */
static void trim(struct gi_cuda_device *device)
{
    int kept = 0;
    for (int i = 0; i < device->nblocks; i++) {
        if (device->blocks[i].lent)
            device->blocks[kept++] = device->blocks[i];
        else
            cudaFree(device->blocks[i].data); /* waits for the device */
    }
    device->nblocks = kept;
    cudaGetLastError();
}

static size_t held_nbytes(const struct gi_cuda_device *device)
{
    size_t nbytes = 0;
    for (int i = 0; i < device->nblocks; i++)
        nbytes += device->blocks[i].nbytes;
    return nbytes;
}

static enum gi_status new_block(struct gi_cuda_device *device, struct gi_cuda_block **block,
                                size_t nbytes, struct gi_err *err)
{
    if (device->nblocks == device->blocks_room) {
        int room = 2 * device->blocks_room + 16;
        void *grown = realloc(device->blocks, (size_t)room * sizeof *device->blocks);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d blocks", room);
        device->blocks = (struct gi_cuda_block *)grown;
        device->blocks_room = room;
    }
    if (device->max_bytes && held_nbytes(device) + nbytes > device->max_bytes)
        trim(device);
    void *data;
    cudaError_t error = cudaMalloc(&data, nbytes);
    if (error == cudaErrorMemoryAllocation) {
        trim(device);
        device->asked_ms = 0;
        error = cudaMalloc(&data, nbytes);
    }
    if (error)
        return gi_cuda_fail(err, error, "cudaMalloc");
    *block = &device->blocks[device->nblocks++];
    **block = (struct gi_cuda_block){data, nbytes, NULL, false};
    return GI_OK;
}

static enum gi_status take_block(struct gi_cuda_queue *cu, void **data, size_t nbytes,
                                 struct gi_err *err)
{
    pthread_mutex_lock(&cu->device->lock);
    struct gi_cuda_block *block = idle_block(cu, nbytes);
    enum gi_status status = block ? GI_OK : new_block(cu->device, &block, nbytes, err);
    if (!status) {
        block->lent = true;
        block->queue = cu;
        *data = block->data;
    }
    pthread_mutex_unlock(&cu->device->lock);
    return status;
}

/* If memory runs out, frees the queue's CUDA array, because that array is only kept for later
 * images. */
static enum gi_status take(struct gi_cuda_queue *cu, void **data, size_t nbytes, struct gi_err *err)
{
    enum gi_status status = take_block(cu, data, nbytes, err);
    if (status != GI_E_DEVICE_MEMORY || !cu->gathered.array)
        return status;
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    gi_cuda_array_free(cu);
    if (err)
        *err = (struct gi_err){};
    return take_block(cu, data, nbytes, err);
}

static void give_back(struct gi_cuda_device *device, const void *data)
{
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < device->nblocks; i++)
        if (device->blocks[i].data == data)
            device->blocks[i].lent = false;
    pthread_mutex_unlock(&device->lock);
}

void gi_cuda_blocks_leave(struct gi_cuda_queue *cu)
{
    pthread_mutex_lock(&cu->device->lock);
    for (int i = 0; i < cu->device->nblocks; i++)
        if (cu->device->blocks[i].queue == cu) {
            cu->device->blocks[i].queue = NULL;
            cu->device->blocks[i].lent = false;
        }
    pthread_mutex_unlock(&cu->device->lock);
}

enum gi_status gi_cuda_alloc(struct gi_queue *queue, struct gi_image *image, int width, int height,
                             int channels, enum gi_type type, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    memset(image, 0, sizeof *image);
    image->width = width;
    image->height = height;
    image->channels = channels;
    image->type = type;
    size_t row = gi_row_nbytes(image), nbytes;
    image->stride = (row + GI_CUDA_ALIGN - 1) / GI_CUDA_ALIGN * GI_CUDA_ALIGN;
    if (!gi_mul_size(&nbytes, image->stride, (size_t)height))
        return gi_fail(err, GI_E_DEVICE_MEMORY, "out of device memory: an image of %d x %d", width,
                       height);
    enum gi_status status = take(cu, &image->data, nbytes, err);
    if (status)
        return status;
    image->owner = GI_OWNER_CUDA;
    /* Wide loads read the padding after the last sample, so the padding is initialised. */
    size_t texels = (row + 15) / 16 * 16;
    cudaError_t error = cudaSuccess;
    if (texels > row)
        error = cudaMemset2DAsync((char *)image->data + row, image->stride, 0, texels - row,
                                  (size_t)height, cu->stream);
    if (!error)
        return GI_OK;
    gi_cuda_release(queue, image);
    return gi_cuda_fail(err, error, "cudaMemset2DAsync");
}

void gi_cuda_release(struct gi_queue *queue, struct gi_image *image)
{
    if (image->data && image->owner == GI_OWNER_CUDA)
        give_back(((struct gi_cuda_queue *)queue)->device, image->data);
    image->data = NULL;
    image->owner = GI_OWNER_NONE;
}

enum gi_status gi_cuda_scratch(struct gi_cuda_queue *cu, void **scratch, size_t nbytes,
                               struct gi_err *err)
{
    if (nbytes > cu->scratch_nbytes) {
        if (cu->scratch)
            give_back(cu->device, cu->scratch);
        cu->scratch = NULL;
        cu->scratch_nbytes = 0;
        enum gi_status status = take(cu, &cu->scratch, nbytes, err);
        if (status)
            return status;
        cu->scratch_nbytes = nbytes;
    }
    *scratch = cu->scratch;
    return GI_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A queue may use all idle blocks, but no more than its share of all memory. */
/* Returns the bytes of device memory that are free, or held by blocks of the device. CUDA is asked
 * at most every ASK_MS milliseconds, because the call goes to the driver. */
static size_t usable_nbytes(struct gi_cuda_device *device)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    size_t free_nbytes = 0, total;
    if (device->asked_ms && ms - device->asked_ms < ASK_MS)
        return device->usable_nbytes;
    cudaMemGetInfo(&free_nbytes, &total);
    device->usable_nbytes = free_nbytes + held_nbytes(device);
    device->asked_ms = ms;
    return device->usable_nbytes;
}

void gi_cuda_limits(struct gi_queue *queue, struct gi_device_limits *limits)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_cuda_device *device = cu->device;
    size_t lent = 0;
    pthread_mutex_lock(&device->lock);
    size_t parts = (size_t)device->nqueues, all = usable_nbytes(device), held = held_nbytes(device);
    size_t free_nbytes = all - smaller(held, all);
    for (int i = 0; i < device->nblocks; i++) {
        const struct gi_cuda_block *block = &device->blocks[i];
        free_nbytes += block->lent ? 0 : block->nbytes;
        lent += block->lent && block->queue == cu ? block->nbytes : 0;
    }
    pthread_mutex_unlock(&device->lock);
    if (parts > 1)
        free_nbytes = smaller(free_nbytes, all / parts - smaller(lent, all / parts));
    free_nbytes -= free_nbytes / 16; /* a reserve for the driver and for fragmentation */
    if (device->max_bytes)
        free_nbytes = smaller(free_nbytes, device->max_bytes / parts);
    *limits = (struct gi_device_limits){free_nbytes, ROWS_MAX, ROW_NBYTES_MAX, GI_CUDA_ALIGN};
}
