/* A pipeline: a row of plans and the images that flow through them. The only driver: it alone knows
 * bands and their halos, device memory, passes, side results and stopwatches.
 *
 * One operation is a pipeline of one step. The image is uploaded once, stays on the device between
 * steps and is downloaded once; where it does not fit there it goes in bands, with the same bytes.
 * An analysis passes on what it was given. SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PIPELINE_H
#define GI_FILTERS_PIPELINE_H

#include "filters/filter.h"

/* One operation that is asked for. */
struct gi_step {
    const struct gi_filter *filter;
    const void *params;            /* have passed its check; outlive the pipeline */
    const struct gi_image *others; /* sources besides the one that flows: shapes; NULL: none */
    int nothers;                   /* sources in all: as the filter takes them */
};

struct gi_pipeline;

/* Makes the plans of `nsteps` steps, 1 or more, for a first source of the shape of `src`. Freed by
 * gi_pipeline_free(), which nulls. Read-only while it runs: many threads may run one, each on its
 * own queue. Errors: as gi_plan_make(); `*failed` (may be NULL) becomes the step
 * that failed, and stays where it was none. */
enum gi_status gi_pipeline_new(struct gi_pipeline **pipeline, const struct gi_step *steps,
                               int nsteps, const struct gi_image *src, int *failed,
                               struct gi_err *err);
void gi_pipeline_free(struct gi_pipeline **pipeline);

/* Limits what every step makes as imgio limits what is read: to `max_pixels` pixels, or as many as
 * the pipeline's source has, and to `max_bytes` bytes of samples; steps that are planned later,
 * while the pipeline runs, too. Errors: GI_E_LIMIT for a step that is over; `*failed` (may be NULL)
 * becomes that step. */
enum gi_status gi_pipeline_limit(struct gi_pipeline *pipeline, uint64_t max_pixels,
                                 uint64_t max_bytes, int *failed, struct gi_err *err);

/* Bytes of host memory that a run on the CPU takes at its peak besides its first source: what one
 * step is given and makes, and what all steps count and look up. */
uint64_t gi_pipeline_nbytes(const struct gi_pipeline *pipeline);

/* The shape of the image that comes out; `data` is NULL. */
struct gi_image gi_pipeline_result(const struct gi_pipeline *pipeline);

/* What goes in and comes out beside the image, a step. */
struct gi_side {
    const struct gi_image *others; /* host images of the shapes that the step names */
    void *result; /* of an analysis: filter->result_nbytes of zeroed memory; the caller frees
                     it with filter->result_free, also after an error */
    struct gi_image *tap;   /* NULL: not wanted. Else, zeroed, becomes the step's first source as a
                               host image that the caller frees, also after an error */
    struct gi_image *shape; /* NULL: not wanted. Else becomes the shape of the step's first source;
                               may be `tap` too */
};

/* Milliseconds and bytes, summed over bands. On the CPU upload and download are 0. */
struct gi_times {
    double upload_ms, download_ms;
    int uploads, downloads; /* of whole images or bands */
    int bands;              /* 1 where everything went whole */
    double *step_ms;        /* one a step; the caller's arrays */
    double *step_nbytes;    /* that the step must at least read and write */
};

/* *dst = what comes out of host image `src`, which has the pipeline's shape; `dst` is made here and
 * freed by the caller; NULL: only the sides are wanted. A device makes it in memory like that of
 * `src`. `sides` has an entry a step; NULL where no step has any. `times` may be NULL. Cuts into
 * bands where the backend's limits want it, smaller ones where memory runs out. Errors: as the
 * primitives'; GI_E_DEVICE_MEMORY where not even one row of the result with all it needs fits, or a
 * step wants all of an image that does not. */
enum gi_status gi_pipeline_run(const struct gi_pipeline *pipeline, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_side *sides, struct gi_times *times,
                               struct gi_err *err);

/* A pipeline by itself, its images on the backend, everything loaded. */
struct gi_pipeline_time {
    double ms;
    double nbytes, fmas; /* what it must at least read and write, and multiply and add */
};

/* Times the pipeline on `nsrcs` host images of its shape in turn: as many as it takes that caches
 * do not help (of more than 64 the rest are left out). About 0.1 s, or five runs if those take
 * longer. Errors: as the primitives'. */
enum gi_status gi_pipeline_measure(struct gi_pipeline_time *time,
                                   const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                   const struct gi_image *srcs, int nsrcs, struct gi_err *err);

/* What a device does, a second, and what its use costs besides. */
struct gi_rates {
    double memory;          /* bytes of memory read and written by results that are made anew */
    double fmas;            /* float32 multiply-adds */
    double up, down;        /* bytes from and to pageable host memory; INFINITY: no way to go */
    double open_s, close_s; /* seconds to open it, and that it adds to the end of the process */
};

/* Rates worked out from what a device says of itself. `threads` are those that a CPU may use. */
struct gi_rates gi_rates_of(enum gi_device_kind kind, const struct gi_device_info *info,
                            int threads);
/* Of a CUDA device that nobody has asked yet: what takes longer than this on the CPU is worth
 * asking it. */
struct gi_rates gi_rates_hoped_for(void);

/* Estimated seconds of `images` images on each kind of device, files aside: the reason `auto`
 * gives. With CUDA that includes the start that does not hide behind decoding, and the end of the
 * process. `threads`: of the process. */
struct gi_estimate {
    double cpu_s, cuda_s;
};

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline, int images, int threads,
                                        const struct gi_rates *cpu, const struct gi_rates *cuda);

/* ---- one step, for callers that have no more ---- */

/* Makes, runs and frees a pipeline of one step. `dst` NULL: an analysis into `result`. */
enum gi_status gi_run_one(struct gi_queue *queue, struct gi_image *dst, void *result,
                          const struct gi_image *src, const struct gi_filter *filter,
                          const void *params, struct gi_err *err);

#endif
