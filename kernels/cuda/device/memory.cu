/* Device memory of a context: blocks that the driver gives once and that go round in stream order.
 * The driver's own pools do that too, but the first allocation from one costs 6 ms.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/host.h"

#include <stdlib.h>
#include <string.h>

/* The smallest idle block that holds `nbytes`; NULL where it would waste more than an eighth:
 * gi_cuda_limits() promises idle bytes to whatever comes. */
static struct gi_cuda_block *idle_block(struct gi_cuda_queue *cu, size_t nbytes)
{
    struct gi_cuda_block *best = NULL;
    for (int i = 0; i < cu->nblocks; i++) {
        struct gi_cuda_block *block = &cu->blocks[i];
        if (!block->lent && block->nbytes >= nbytes && block->nbytes - nbytes <= nbytes / 8 &&
            (!best || block->nbytes < best->nbytes))
            best = block;
    }
    return best;
}

/* Gives idle blocks back to the driver. */
static void trim(struct gi_cuda_queue *cu)
{
    int kept = 0;
    for (int i = 0; i < cu->nblocks; i++) {
        if (cu->blocks[i].lent)
            cu->blocks[kept++] = cu->blocks[i];
        else
            cudaFree(cu->blocks[i].data); /* waits for the device */
    }
    cu->nblocks = kept;
    cudaGetLastError();
}

static size_t held_nbytes(const struct gi_cuda_queue *cu)
{
    size_t nbytes = 0;
    for (int i = 0; i < cu->nblocks; i++)
        nbytes += cu->blocks[i].nbytes;
    return nbytes;
}

static enum gi_status new_block(struct gi_cuda_queue *cu, struct gi_cuda_block **block,
                                size_t nbytes, struct gi_err *err)
{
    if (cu->nblocks == cu->blocks_room) {
        int room = 2 * cu->blocks_room + 16;
        void *grown = realloc(cu->blocks, (size_t)room * sizeof *cu->blocks);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d blocks", room);
        cu->blocks = (struct gi_cuda_block *)grown;
        cu->blocks_room = room;
    }
    if (cu->max_bytes && held_nbytes(cu) + nbytes > cu->max_bytes)
        trim(cu);
    void *data;
    cudaError_t error = cudaMalloc(&data, nbytes);
    if (error == cudaErrorMemoryAllocation) {
        trim(cu);
        error = cudaMalloc(&data, nbytes);
    }
    if (error)
        return gi_cuda_fail(err, error, "cudaMalloc");
    *block = &cu->blocks[cu->nblocks++];
    **block = (struct gi_cuda_block){data, nbytes, false};
    return GI_OK;
}

static enum gi_status take(struct gi_cuda_queue *cu, void **data, size_t nbytes, struct gi_err *err)
{
    struct gi_cuda_block *block = idle_block(cu, nbytes);
    enum gi_status status = block ? GI_OK : new_block(cu, &block, nbytes, err);
    if (status)
        return status;
    block->lent = true;
    *data = block->data;
    return GI_OK;
}

static void give_back(struct gi_cuda_queue *cu, const void *data)
{
    for (int i = 0; i < cu->nblocks; i++)
        if (cu->blocks[i].data == data)
            cu->blocks[i].lent = false;
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
    /* Wide texels read the padding next to the last sample: give it a value, whatever it be. */
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
        give_back((struct gi_cuda_queue *)queue, image->data);
    image->data = NULL;
    image->owner = GI_OWNER_NONE;
}

enum gi_status gi_cuda_scratch(struct gi_cuda_queue *cu, void **scratch, size_t nbytes,
                               struct gi_err *err)
{
    if (nbytes > cu->scratch_nbytes) {
        if (cu->scratch)
            give_back(cu, cu->scratch);
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

void gi_cuda_limits(struct gi_queue *queue, size_t *nbytes, int *rows, size_t *row_nbytes)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    size_t free_nbytes = 0, total = 0;
    cudaMemGetInfo(&free_nbytes, &total);
    for (int i = 0; i < cu->nblocks; i++)
        free_nbytes += cu->blocks[i].lent ? 0 : cu->blocks[i].nbytes;
    free_nbytes -= free_nbytes / 16; /* the driver and fragments want some */
    *nbytes = cu->max_bytes && cu->max_bytes < free_nbytes ? cu->max_bytes : free_nbytes;

    /* Kernels count the bytes of a row in an int: what a texture of 64-bit texels could show is
     * far within that. */
    int pitch = 0, texels = 0;
    cudaDeviceGetAttribute(rows, cudaDevAttrMaxTexture2DLinearHeight, cu->ordinal);
    cudaDeviceGetAttribute(&texels, cudaDevAttrMaxTexture2DLinearWidth, cu->ordinal);
    cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxTexture2DLinearPitch, cu->ordinal);
    size_t widest = (size_t)texels * 8; /* bytes */
    pitch -= pitch % GI_CUDA_ALIGN;
    *row_nbytes = widest < (size_t)pitch ? widest : (size_t)pitch;
}
