/* Running a filter on a host image: upload, bands where needed, plan, download.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_RUN_H
#define GI_FILTERS_RUN_H

#include "filters/filter.h"

/* Milliseconds of each stage, summed over bands, and the bytes that the plan must at least read and
 * write. On the CPU upload and download are 0. */
struct gi_run_times {
    double upload_ms, kernels_ms, download_ms;
    double kernel_nbytes;
    int bands; /* 1 where the image went whole */
};

/* dst = filter(src), both host images; `dst` is made here and freed by the caller. Cuts the image
 * into bands where the backend's limits want it. `times` may be NULL. Errors: as the primitives';
 * GI_E_DEVICE_MEMORY where not even one row with its halo fits. */
enum gi_status gi_run_filter(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_filter *filter,
                             const void *params, struct gi_run_times *times, struct gi_err *err);

/* result = analysis(src); `result` is filter->result_nbytes of zeroed memory. */
enum gi_status gi_run_analysis(struct gi_queue *queue, void *result, const struct gi_image *src,
                               const struct gi_filter *filter, const void *params,
                               struct gi_run_times *times, struct gi_err *err);

/* A plan by itself, its image on the backend, everything loaded. */
struct gi_run_time {
    double ms;
    double nbytes, fmas; /* what it must at least read and write, and multiply and add */
};

/* Times `filter` on `nsrcs` host images of one shape in turn: as many as it takes that caches do
 * not help (of more than 64 the rest are left out). About 0.1 s, or five runs if those take longer.
 * Errors: as the primitives'. */
enum gi_status gi_run_time(struct gi_run_time *time, struct gi_queue *queue,
                           const struct gi_image *srcs, int nsrcs, const struct gi_filter *filter,
                           const void *params, struct gi_err *err);

/* Estimated seconds of a command on each kind of device, files aside: the reason `auto` gives. With
 * CUDA that includes the start that does not hide behind decoding, and the end of the process. */
struct gi_estimate {
    double cpu_s, cuda_s;
};

/* `src` gives the shape only; `threads` are the CPU's. */
struct gi_estimate gi_run_estimate(const struct gi_filter *filter, const void *params,
                                   const struct gi_image *src, int images, int threads);

#endif
