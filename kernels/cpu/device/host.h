/* What every instruction level of the CPU backend shares: contexts, memory, the stopwatch.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_HOST_H
#define GI_KERNELS_CPU_HOST_H

#include "kernels/kernels.h"

/* As gi_kernels.open, for the level's table `k`. */
enum gi_status gi_cpu_host_open(struct gi_queue **queue, const struct gi_kernels *k,
                                const struct gi_open_options *options, struct gi_err *err);

int gi_cpu_host_probe(struct gi_device_info *infos, int max, struct gi_err *err);
void gi_cpu_host_close(struct gi_queue **queue);
enum gi_status gi_cpu_host_alloc(struct gi_queue *queue, struct gi_image *image, int width,
                                 int height, int channels, enum gi_type type, struct gi_err *err);
void gi_cpu_host_release(struct gi_queue *queue, struct gi_image *image);
enum gi_status gi_cpu_host_upload(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *host, struct gi_err *err);
enum gi_status gi_cpu_host_download(struct gi_queue *queue, struct gi_image *host,
                                    struct gi_image *src, struct gi_err *err);
enum gi_status gi_cpu_host_sync(struct gi_queue *queue, struct gi_err *err);
enum gi_status gi_cpu_host_copy(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, struct gi_err *err);
enum gi_status gi_cpu_host_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                                size_t scratch_nbytes, struct gi_err *err);
void gi_cpu_host_limits(struct gi_queue *queue, size_t *nbytes, int *rows, size_t *row_nbytes);
void gi_cpu_host_mark(struct gi_queue *queue, int slot);
double gi_cpu_host_elapsed_ms(struct gi_queue *queue, int from, int to);

/* The slots of struct gi_kernels that do not depend on the level. */
#define GI_CPU_HOST_SLOTS                                                                          \
    .kind = GI_DEVICE_CPU, .name = "cpu", .probe = gi_cpu_host_probe, .close = gi_cpu_host_close,  \
    .alloc = gi_cpu_host_alloc, .release = gi_cpu_host_release, .upload = gi_cpu_host_upload,      \
    .download = gi_cpu_host_download, .sync = gi_cpu_host_sync, .copy = gi_cpu_host_copy,          \
    .jobs = gi_cpu_host_jobs, .limits = gi_cpu_host_limits, .mark = gi_cpu_host_mark,              \
    .elapsed_ms = gi_cpu_host_elapsed_ms

#endif
