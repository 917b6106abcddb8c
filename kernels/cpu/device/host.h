/* The functions of struct gi_kernels that all instruction levels share: device, queues, memory,
 * stopwatches.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_HOST_H
#define GI_KERNELS_CPU_HOST_H

#include "kernels/kernels.h"

/* As gi_kernels.device_open, for the table `k` of a level. */
enum gi_status gi_cpu_host_device_open(struct gi_device **device, const struct gi_kernels *k,
                                       const struct gi_open_options *options, struct gi_err *err);

int gi_cpu_host_probe(struct gi_device_info *infos, int max, struct gi_err *err);
enum gi_status gi_cpu_host_describe(struct gi_device *device, struct gi_device_info *info,
                                    struct gi_err *err);
void gi_cpu_host_device_close(struct gi_device **device);
enum gi_status gi_cpu_host_queue_open(struct gi_queue **queue, struct gi_device *device,
                                      struct gi_err *err);
void gi_cpu_host_queue_close(struct gi_queue **queue);
void gi_cpu_host_limits(struct gi_queue *queue, struct gi_device_limits *limits);
const struct gi_allocator *gi_cpu_host_allocator(struct gi_device *device);
enum gi_status gi_cpu_host_alloc(struct gi_queue *queue, struct gi_image *image, int width,
                                 int height, int channels, enum gi_type type, struct gi_err *err);
void gi_cpu_host_release(struct gi_queue *queue, struct gi_image *image);
enum gi_status gi_cpu_host_upload(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *host, struct gi_ticket *ticket,
                                  struct gi_err *err);
enum gi_status gi_cpu_host_download(struct gi_queue *queue, struct gi_image *host,
                                    struct gi_image *src, struct gi_ticket *ticket,
                                    struct gi_err *err);
enum gi_status gi_cpu_host_download_into(struct gi_queue *queue, const struct gi_image *host,
                                         struct gi_image *src, struct gi_ticket *ticket,
                                         struct gi_err *err);
enum gi_status gi_cpu_host_wait(struct gi_queue *queue, struct gi_ticket *ticket,
                                struct gi_err *err);
enum gi_status gi_cpu_host_sync(struct gi_queue *queue, struct gi_err *err);
enum gi_status gi_cpu_host_copy(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, struct gi_err *err);
enum gi_status gi_cpu_host_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                                size_t scratch_nbytes, struct gi_err *err);
enum gi_status gi_cpu_host_stopwatch_new(struct gi_stopwatch **watch, struct gi_queue *queue,
                                         int nmarks, struct gi_err *err);
void gi_cpu_host_stopwatch_mark(struct gi_stopwatch *watch, int mark);
double gi_cpu_host_stopwatch_ms(const struct gi_stopwatch *watch, int from, int to);
void gi_cpu_host_stopwatch_free(struct gi_stopwatch **watch);
void gi_cpu_host_range(struct gi_queue *queue, const char *name);

/* The members of struct gi_kernels that do not depend on the level. */
#define GI_CPU_HOST_SLOTS                                                                          \
    .kind = GI_DEVICE_CPU, .name = "cpu", .probe = gi_cpu_host_probe,                              \
    .describe = gi_cpu_host_describe, .device_close = gi_cpu_host_device_close,                    \
    .queue_open = gi_cpu_host_queue_open, .queue_close = gi_cpu_host_queue_close,                  \
    .limits = gi_cpu_host_limits, .host_allocator = gi_cpu_host_allocator,                         \
    .alloc = gi_cpu_host_alloc, .release = gi_cpu_host_release, .upload = gi_cpu_host_upload,      \
    .download = gi_cpu_host_download, .download_into = gi_cpu_host_download_into,                  \
    .wait = gi_cpu_host_wait, .sync = gi_cpu_host_sync, .copy = gi_cpu_host_copy,                  \
    .jobs = gi_cpu_host_jobs, .stopwatch_new = gi_cpu_host_stopwatch_new,                          \
    .stopwatch_mark = gi_cpu_host_stopwatch_mark, .stopwatch_ms = gi_cpu_host_stopwatch_ms,        \
    .stopwatch_free = gi_cpu_host_stopwatch_free, .range = gi_cpu_host_range

#endif
