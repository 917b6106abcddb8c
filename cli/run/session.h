/* The session: the devices that a command has opened and the queues on them. A thread that has an
 * image ready takes a free queue.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_SESSION_H
#define GI_CLI_RUN_SESSION_H

#include "cli/run/device_options.h"
#include "filters/pipeline.h"

struct gi_session;

/* Reads --device and opens the devices that it names; `images` is the number of images expected, 0
 * if unknown. `device` must outlive the session. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_session_new(struct gi_session **devices, const struct gi_device_params *device,
                              uint64_t images, struct gi_err *err);
/* The same for images that come one at a time, each of which takes the GPU (the first that --device
 * names) or the CPU: the CPU by all threads, and CUDA opened on a side thread, while the image is
 * decoded. */
enum gi_status gi_session_new_for_one(struct gi_session **devices,
                                      const struct gi_device_params *device, struct gi_err *err);
void gi_session_free(struct gi_session **devices);

/* Returns the number of threads that keep the session busy: one per CPU, and one for each image
 * that a GPU processes or that waits for it. */
int gi_session_threads(const struct gi_session *devices);

/* Returns an allocator for the samples of images for the session: its memory is reused, and pinned
 * if a GPU takes part. All images from it must be freed before the session. NULL if images come one
 * at a time: plain memory is best. */
const struct gi_allocator *gi_session_allocator(struct gi_session *devices);

/* Runs gi_pipeline_run() on the next free queue. A GPU that is lost (GI_E_DEVICE) gets no more
 * images, with a message, and another device processes the image; GI_E_DEVICE is returned if none
 * is left. An image that fails with GI_E_LAUNCH is processed by the CPU under `auto`, else it fails
 * alone. May be called by many threads at once. If images come one at a time, each takes the device
 * that --device or the estimate picks, only one thread may call it, and under `auto` the CPU
 * processes an image that fails on the GPU. */
enum gi_status gi_session_run(struct gi_session *devices, const struct gi_pipeline *pipeline,
                              struct gi_image *dst, const struct gi_image *src,
                              const struct gi_side *sides, struct gi_times *times,
                              struct gi_err *err);

/* For images that come one at a time: whether `auto` may still open CUDA, and to do so where the
 * estimate for the pipeline that is to come says so. */
bool gi_session_may_open(const struct gi_session *devices);
void gi_session_expect(struct gi_session *devices, const struct gi_pipeline *pipeline);
#endif
