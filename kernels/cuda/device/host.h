/* The slots of struct gi_kernels that are no primitives: life, memory, copies, the stopwatch,
 * the roofline.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_HOST_H
#define GI_KERNELS_CUDA_HOST_H

#include "kernels/cuda/cuda.h"

int gi_cuda_probe(struct gi_device_info *infos, int max, struct gi_err *err);
enum gi_status gi_cuda_open(struct gi_queue **queue, const struct gi_open_options *options,
                            struct gi_err *err);
void gi_cuda_close(struct gi_queue **queue);
enum gi_status gi_cuda_alloc(struct gi_queue *queue, struct gi_image *image, int width, int height,
                             int channels, enum gi_type type, struct gi_err *err);
void gi_cuda_release(struct gi_queue *queue, struct gi_image *image);
enum gi_status gi_cuda_upload(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *host, struct gi_err *err);
enum gi_status gi_cuda_download(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                                struct gi_err *err);
enum gi_status gi_cuda_sync(struct gi_queue *queue, struct gi_err *err);
enum gi_status gi_cuda_copy(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err);
enum gi_status gi_cuda_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                            size_t scratch_nbytes, struct gi_err *err);
void gi_cuda_limits(struct gi_queue *queue, size_t *nbytes, int *rows, size_t *row_nbytes);
void gi_cuda_mark(struct gi_queue *queue, int slot);
double gi_cuda_elapsed_ms(struct gi_queue *queue, int from, int to);
enum gi_status gi_cuda_roofline(struct gi_queue *queue, struct gi_roofline *roofline,
                                struct gi_err *err);

#endif
