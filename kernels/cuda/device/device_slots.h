/* Declares the functions of struct gi_kernels that are no primitives: devices, queues, memory,
 * copies, stopwatches, the roofline.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_DEVICE_SLOTS_H
#define GI_KERNELS_CUDA_DEVICE_SLOTS_H

#include "kernels/cuda/cuda.h"

int gi_cuda_probe(struct gi_device_info *infos, int max, struct gi_err *err);
enum gi_status gi_cuda_describe(struct gi_device *device, struct gi_device_info *info,
                                struct gi_err *err);
enum gi_status gi_cuda_device_open(struct gi_device **device, const struct gi_open_options *options,
                                   struct gi_err *err);
void gi_cuda_device_close(struct gi_device **device);
enum gi_status gi_cuda_queue_open(struct gi_queue **queue, struct gi_device *device,
                                  struct gi_err *err);
void gi_cuda_queue_close(struct gi_queue **queue);
void gi_cuda_limits(struct gi_queue *queue, struct gi_device_limits *limits);
const struct gi_allocator *gi_cuda_host_allocator(struct gi_device *device);
enum gi_status gi_cuda_alloc(struct gi_queue *queue, struct gi_image *image, int width, int height,
                             int channels, enum gi_type type, struct gi_err *err);
void gi_cuda_release(struct gi_queue *queue, struct gi_image *image);
enum gi_status gi_cuda_upload(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *host, struct gi_ticket *ticket,
                              struct gi_err *err);
enum gi_status gi_cuda_download(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                                struct gi_ticket *ticket, struct gi_err *err);
enum gi_status gi_cuda_download_into(struct gi_queue *queue, const struct gi_image *host,
                                     struct gi_image *src, struct gi_ticket *ticket,
                                     struct gi_err *err);
enum gi_status gi_cuda_wait(struct gi_queue *queue, struct gi_ticket *ticket, struct gi_err *err);
enum gi_status gi_cuda_sync(struct gi_queue *queue, struct gi_err *err);
enum gi_status gi_cuda_copy(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err);
enum gi_status gi_cuda_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                            size_t scratch_nbytes, struct gi_err *err);
enum gi_status gi_cuda_stopwatch_new(struct gi_stopwatch **watch, struct gi_queue *queue,
                                     int nmarks, struct gi_err *err);
void gi_cuda_stopwatch_mark(struct gi_stopwatch *watch, int mark);
double gi_cuda_stopwatch_ms(const struct gi_stopwatch *watch, int from, int to);
void gi_cuda_stopwatch_free(struct gi_stopwatch **watch);
void gi_cuda_range(struct gi_queue *queue, const char *name);
enum gi_status gi_cuda_roofline(struct gi_queue *queue, struct gi_roofline *roofline,
                                struct gi_err *err);

/* Shared within this folder. */

/* Initialise and free the device's pinned memory. */
void gi_cuda_pinned_begin(struct gi_cuda_device *cu);
void gi_cuda_pinned_end(struct gi_cuda_device *cu);

/* Makes the blocks of a queue available to all queues; the queue's stream must be idle. */
void gi_cuda_blocks_leave(struct gi_cuda_queue *cu);

/* Sets `ticket` so that it is complete when all work now in the stream is done. */
enum gi_status gi_cuda_ticket(struct gi_cuda_queue *cu, struct gi_ticket *ticket,
                              struct gi_err *err);

#endif
