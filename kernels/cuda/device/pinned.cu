/* Pinned host memory for image transfers. Pinning is slow (72 to 93 ms for 256 MB), so blocks are
 * kept for later images.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <stdlib.h>

/* Maximum of idle memory to keep, in bytes. Memory that would exceed this maximum is returned to
 * the system. */
static const size_t KEPT_NBYTES = (size_t)1 << 30;

/* Returns the smallest idle block of at least `nbytes` and at most 3/2 * nbytes, or NULL if there
 * is no such block. */
static struct gi_cuda_pinned *idle_block(const struct gi_cuda_device *cu, size_t nbytes)
{
    struct gi_cuda_pinned *best = NULL;
    for (int i = 0; i < cu->npinned; i++) {
        struct gi_cuda_pinned *block = &cu->pinned[i];
        if (!block->lent && block->nbytes >= nbytes && block->nbytes - nbytes <= nbytes / 2 &&
            (!best || block->nbytes < best->nbytes))
            best = block;
    }
    return best;
}

static bool add_block(struct gi_cuda_device *cu, void *data, size_t nbytes)
{
    if (cu->npinned == cu->pinned_room) {
        int room = 2 * cu->pinned_room + 16;
        void *grown = realloc(cu->pinned, (size_t)room * sizeof *cu->pinned);
        if (!grown)
            return false;
        cu->pinned = (struct gi_cuda_pinned *)grown;
        cu->pinned_room = room;
    }
    cu->pinned[cu->npinned++] = (struct gi_cuda_pinned){data, nbytes, true};
    return true;
}

/* Pins memory while the lock is not held, because pinning takes long. */
static void *pinned_alloc(void *self, size_t nbytes)
{
    struct gi_cuda_device *cu = (struct gi_cuda_device *)self;
    void *data = NULL;
    pthread_mutex_lock(&cu->pinned_lock);
    struct gi_cuda_pinned *block = idle_block(cu, nbytes);
    if (block) {
        block->lent = true;
        data = block->data;
    }
    pthread_mutex_unlock(&cu->pinned_lock);
    if (data)
        return data;
    cudaSetDevice(cu->ordinal);
    if (cudaHostAlloc(&data, nbytes, cudaHostAllocPortable)) {
        cudaGetLastError();
        return NULL;
    }
    pthread_mutex_lock(&cu->pinned_lock);
    bool added = add_block(cu, data, nbytes);
    pthread_mutex_unlock(&cu->pinned_lock);
    if (added)
        return data;
    cudaFreeHost(data);
    return NULL;
}

static void pinned_free(void *self, void *samples)
{
    struct gi_cuda_device *cu = (struct gi_cuda_device *)self;
    size_t idle = 0;
    int mine = -1;
    pthread_mutex_lock(&cu->pinned_lock);
    for (int i = 0; i < cu->npinned; i++) {
        if (cu->pinned[i].data == samples)
            mine = i;
        if (cu->pinned[i].data == samples || !cu->pinned[i].lent)
            idle += cu->pinned[i].nbytes;
    }
    bool keep = idle <= KEPT_NBYTES;
    if (mine >= 0 && keep)
        cu->pinned[mine].lent = false;
    else if (mine >= 0)
        cu->pinned[mine] = cu->pinned[--cu->npinned];
    pthread_mutex_unlock(&cu->pinned_lock);
    if (keep)
        return;
    cudaSetDevice(cu->ordinal);
    cudaFreeHost(samples);
}

void gi_cuda_pinned_begin(struct gi_cuda_device *cu)
{
    pthread_mutex_init(&cu->pinned_lock, NULL);
    cu->host_allocator = (struct gi_allocator){cu, pinned_alloc, pinned_free};
}

void gi_cuda_pinned_end(struct gi_cuda_device *cu)
{
    for (int i = 0; i < cu->npinned; i++)
        cudaFreeHost(cu->pinned[i].data);
    free(cu->pinned);
    pthread_mutex_destroy(&cu->pinned_lock);
}

const struct gi_allocator *gi_cuda_host_allocator(struct gi_device *device)
{
    return &((struct gi_cuda_device *)device)->host_allocator;
}
