/* Opens and closes devices with one queue.
 * SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

enum gi_status gi_queue_open_alone(struct gi_queue **queue, const struct gi_kernels *k,
                                   const struct gi_open_options *options, struct gi_err *err)
{
    struct gi_device *device;
    *queue = NULL;
    enum gi_status status = k->device_open(&device, options, err);
    if (status)
        return status;
    status = k->queue_open(queue, device, err);
    if (status)
        k->device_close(&device);
    return status;
}

void gi_queue_close_alone(struct gi_queue **queue)
{
    if (!*queue)
        return;
    const struct gi_kernels *k = (*queue)->k;
    struct gi_device *device = (*queue)->device;
    k->queue_close(queue);
    k->device_close(&device);
}
