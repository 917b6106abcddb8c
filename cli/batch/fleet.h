/* The devices of a batch and the queues on them: who has an image ready takes a free one.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_FLEET_H
#define GI_CLI_BATCH_FLEET_H

#include "cli/device.h"
#include "filters/pipeline.h"

struct gi_fleet;

/* Reads --device and opens the devices that it names; `images` is the number of images expected, 0
 * if unknown. `device` outlives the fleet. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_fleet_new(struct gi_fleet **fleet, const struct gi_device_params *device,
                            uint64_t images, struct gi_err *err);
void gi_fleet_free(struct gi_fleet **fleet);

/* Threads that keep it busy: one a CPU, and one for each image that a GPU has in hand or waiting.
 */
int gi_fleet_threads(const struct gi_fleet *fleet);

/* Memory for the samples of images that go through it: kept for those to come, and pinned where a
 * GPU takes part. Images from it are freed before the fleet. */
const struct gi_allocator *gi_fleet_allocator(struct gi_fleet *fleet);

/* gi_pipeline_run() on a queue that is free, or becomes free first. A GPU that is lost
 * (GI_E_DEVICE) gets no more images, with a message, and another device does the image; GI_E_DEVICE
 * is returned if none is left. An image that fails with GI_E_LAUNCH is done by the CPU under
 * `auto`, else it fails alone. Many threads call it at once. */
enum gi_status gi_fleet_run(struct gi_fleet *fleet, const struct gi_pipeline *pipeline,
                            struct gi_image *dst, const struct gi_image *src,
                            const struct gi_side *sides, struct gi_times *times,
                            struct gi_err *err);

#endif
