/* Attributes of kernels. CUDA stores attributes per function, not per launch, and several queues
 * may launch a kernel at once with different sizes. Therefore an attribute is set once per device,
 * to the maximum that any launch may need.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <stdlib.h>

static bool is_listed(const struct gi_cuda_device *device, const void *kernel)
{
    for (int i = 0; i < device->nkernels; i++)
        if (device->kernels[i] == kernel)
            return true;
    return false;
}

/* Called with the device's lock held. */
static enum gi_status allow(struct gi_cuda_device *device, const void *kernel, struct gi_err *err)
{
    if (is_listed(device, kernel))
        return GI_OK;
    if (device->nkernels == device->kernels_room) {
        int room = 2 * device->kernels_room + 64;
        void *grown = realloc(device->kernels, (size_t)room * sizeof *device->kernels);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d kernels", room);
        device->kernels = (const void **)grown;
        device->kernels_room = room;
    }
    cudaFuncAttributes code;
    GI_CUDA_TRY(cudaFuncGetAttributes(&code, kernel));
    GI_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     device->shared_nbytes - (int)code.sharedSizeBytes));
    device->kernels[device->nkernels++] = kernel;
    return GI_OK;
}

enum gi_status gi_cuda_allow_shared(struct gi_cuda_queue *cu, const void *kernel,
                                    struct gi_err *err)
{
    pthread_mutex_lock(&cu->device->lock);
    enum gi_status status = allow(cu->device, kernel, err);
    pthread_mutex_unlock(&cu->device->lock);
    return status;
}
