/* The session: the devices that a command has opened, and the queues on them. A thread whose image
 * is ready takes a free queue.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/device_options.h"
#include "filters/pipeline.h"

struct gi_session;

/* Reads --device, and opens the devices that it names. Returns once the first GPU is open, because
 * CUDA opens several one after another. The others get images from when they are open. Fails if one
 * of them can't be opened before that; if it fails later, a warning says that it gets no images.
 * `images`: the expected number of images, 0 if unknown. `device` must outlive the session.
 * Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_session_new(struct gi_session **devices, const struct gi_device_params *device,
                              uint64_t images, struct gi_err *err);
/* Like gi_session_new(), for images that come one at a time. Each image is processed by one GPU
 * (the first GPU that --device names) or by all threads of the CPU. CUDA is opened on a side
 * thread, while the image is decoded. */
enum gi_status gi_session_new_for_one(struct gi_session **devices,
                                      const struct gi_device_params *device, struct gi_err *err);
void gi_session_free(struct gi_session **devices);

/* Returns the number of threads that keep the devices of the session busy. This is one thread per
 * CPU, plus one thread per image that a GPU processes or that waits for a GPU. */
int gi_session_threads(const struct gi_session *devices);

/* Returns an allocator for the samples of images for the session. Its memory is reused, and pinned
 * if a GPU takes part. All images from this allocator must be freed before the session. Returns
 * NULL if images come one at a time, because plain memory is best for them. */
const struct gi_allocator *gi_session_allocator(struct gi_session *devices);

/* Returns the kinds of files that stay coded (gi_load_options.coded) if the next image, in a file
 * of nbytes, is of such a kind: those of which GPUIMG_WAY forces the primitive, those that an open
 * GPU decodes, and all if `auto` has not yet decided whether to open one. With --device cuda a
 * single JPEG stays coded only if the CPU would decode it for longer than CUDA takes to open; else
 * the CPU decodes it meanwhile. A single PNG never does, because the CPU decodes the largest PNG
 * that may stay coded in about that time. */
enum gi_coded_kinds gi_session_decodes(struct gi_session *devices, uint64_t nbytes);
/* Tells for which of the kinds that gi_session_decodes() returned no image stayed coded, because
 * the file is of another kind, or none that a GPU decodes. */
void gi_session_not_coded(struct gi_session *devices, enum gi_coded_kinds kinds);

/* Runs gi_pipeline_run() on the next free queue. Many threads may call this at once. A GPU that is
 * lost (GI_E_DEVICE) gets no more images, which is logged, and another device processes the image;
 * GI_E_DEVICE is returned if none is left. An image that fails with GI_E_LAUNCH is processed by the
 * CPU under `auto`; otherwise only this image fails.
 * If images come one at a time, only one thread may call this. Each image runs on the device that
 * --device names or the estimate picks, and under `auto` the CPU processes an image that fails on
 * the GPU.
 * Errors: also GI_E_UNSUPPORTED for an image that is still coded, if the device that would process
 * it does not decode it; the caller tries again with the decoded image. */
enum gi_status gi_session_run(struct gi_session *devices, const struct gi_pipeline *pipeline,
                              struct gi_image *dst, const struct gi_image *src,
                              const struct gi_side *sides, struct gi_times *times,
                              struct gi_err *err);

/* Returns whether a GPU may run a pipeline; `auto` has perhaps not opened it yet. */
bool gi_session_has_gpus(const struct gi_session *devices);
/* For images that come one at a time. gi_session_may_open() returns whether `auto` may still open
 * CUDA. gi_session_expect() opens CUDA if, by the estimate, the pipeline that is about to run is
 * faster there. */
bool gi_session_may_open(const struct gi_session *devices);
void gi_session_expect(struct gi_session *devices, const struct gi_pipeline *pipeline);
