/* The devices of a batch and the queues on them: who has an image ready takes a free one.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_DEVICE_POOL_H
#define GI_CLI_RUN_DEVICE_POOL_H

#include "cli/run/device_options.h"
#include "filters/pipeline.h"

struct gi_device_pool;

/* Reads --device and opens the devices that it names; `images` is the number of images expected, 0
 * if unknown. `device` outlives the fleet. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_device_pool_new(struct gi_device_pool **devices,
                                  const struct gi_device_params *device, uint64_t images,
                                  struct gi_err *err);
void gi_device_pool_free(struct gi_device_pool **devices);

/* Threads that keep it busy: one a CPU, and one for each image that a GPU has in hand or waiting.
 */
int gi_device_pool_threads(const struct gi_device_pool *devices);

/* Memory for the samples of images that go through it: kept for those to come, and pinned where a
 * GPU takes part. Images from it are freed before the fleet. */
const struct gi_allocator *gi_device_pool_allocator(struct gi_device_pool *devices);

/* gi_pipeline_run() on a queue that is free, or becomes free first. A GPU that is lost
 * (GI_E_DEVICE) gets no more images, with a message, and another device does the image; GI_E_DEVICE
 * is returned if none is left. An image that fails with GI_E_LAUNCH is done by the CPU under
 * `auto`, else it fails alone. Many threads call it at once. */
enum gi_status gi_device_pool_run(struct gi_device_pool *devices,
                                  const struct gi_pipeline *pipeline, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_side *sides,
                                  struct gi_times *times, struct gi_err *err);

#endif
