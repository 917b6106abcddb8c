/* A pipeline: a list of plans, and the images that pass through them. It is the only driver: only
 * it knows bands and their halos, device memory, passes, side results and stopwatches.
 *
 * One operation is a pipeline of one step. The image is uploaded once, stays on the device between
 * steps and is downloaded once; if it does not fit there it is processed in bands, with the same
 * bytes. An analysis passes its source on.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PIPELINE_H
#define GI_FILTERS_PIPELINE_H

#include "filters/filter.h"

/* One operation with its parameters. */
struct gi_step {
    const struct gi_filter *filter;
    const void *params;            /* have passed its check; outlive the pipeline */
    const struct gi_image *others; /* shapes of the sources besides the first; NULL: none */
    int nothers;                   /* number of `others`, as the filter requires */
};

struct gi_pipeline;

/* Makes the plans of `nsteps` steps, at least 1, for a first source of the shape of `src`.
 * gi_pipeline_free() frees it and sets the pointer to NULL. Read-only while it runs: many threads
 * may run one, each on its own queue. Errors: as gi_plan_make(); `*failed` (may be NULL) becomes
 * the step that failed, and is unchanged if no step did. */
enum gi_status gi_pipeline_new(struct gi_pipeline **pipeline, const struct gi_step *steps,
                               int nsteps, const struct gi_image *src, int *failed,
                               struct gi_err *err);
/* Makes a pipeline with limits on the result of every step, which are checked before memory is
 * allocated, also for steps that are planned later, while the pipeline runs. Members that are 0
 * mean no limit; a result may always have as many pixels as `src`. Errors: GI_E_LIMIT too. */
enum gi_status gi_pipeline_new_within(struct gi_pipeline **pipeline, const struct gi_limits *limits,
                                      const struct gi_step *steps, int nsteps,
                                      const struct gi_image *src, int *failed, struct gi_err *err);
void gi_pipeline_free(struct gi_pipeline **pipeline);

/* Returns the bytes of host memory that a run on the CPU needs at its peak besides its first
 * source: the largest source and result of one step, and the state, tables and arrays of all steps.
 * Memory that depends on the samples, such as the list of regions, is not included. */
uint64_t gi_pipeline_nbytes(const struct gi_pipeline *pipeline);

/* Returns the shape of the last result; `data` is NULL. */
struct gi_image gi_pipeline_result(const struct gi_pipeline *pipeline);

/* The further inputs and outputs of a step. */
struct gi_side {
    const struct gi_image *others; /* host images of the shapes that the step names */
    void *result; /* for an analysis: filter->result_nbytes of zeroed memory; the caller frees it
                     with filter->result_free, also after an error */
    struct gi_image
        *copy_out;          /* NULL: not wanted. Else a zeroed image that becomes the step's first
                          source in host memory, freed by the caller, also after an error */
    struct gi_image *shape; /* NULL: not wanted. Else becomes the shape of the step's first source;
                               may be the same as `copy_out` */
};

/* Milliseconds and bytes, summed over bands. On the CPU upload and download are 0. */
struct gi_times {
    double upload_ms, download_ms;
    int uploads, downloads; /* of whole images or bands */
    int bands;              /* 1 if the whole image was processed at once */
    double *step_ms;        /* an entry per step; the caller's arrays */
    double *step_nbytes;    /* minimum bytes that the step reads and writes */
};

/* Runs the pipeline on host image `src`, which has the pipeline's shape. *dst becomes the result,
 * freed by the caller; `dst` NULL: only the sides are wanted. If a device is used, it is allocated
 * like `src` (pinned or not). `sides` has an entry per step; NULL if no step has any. `times` may
 * be NULL. The image is processed in bands if the backend's limits require it, in smaller ones if
 * memory runs out. Errors: as the primitives'; GI_E_DEVICE_MEMORY if not even one row of the result
 * fits with everything it needs, or if a step needs the whole of an image that does not fit. */
enum gi_status gi_pipeline_run(const struct gi_pipeline *pipeline, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_side *sides, struct gi_times *times,
                               struct gi_err *err);

/* The time of a pipeline alone, with its images on the backend and everything loaded. */
struct gi_pipeline_time {
    double ms;
    double nbytes, fmas; /* minimum bytes read and written, and multiply-adds */
};

/* Times the pipeline on `nsrcs` host images of its shape in turn, as many as are needed to exceed
 * the caches (at most 64). Takes about 0.1 s, or five runs if those take longer. Errors: as the
 * primitives'. */
enum gi_status gi_pipeline_measure(struct gi_pipeline_time *time,
                                   const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                   const struct gi_image *srcs, int nsrcs, struct gi_err *err);

/* Rates of a device per second, and its overheads. */
struct gi_rates {
    double memory;   /* bytes of memory read and written, for results in new memory */
    double fmas;     /* float32 multiply-adds */
    double up, down; /* bytes to and from pageable host memory; INFINITY: no transfer needed */
    double open_s, close_s; /* seconds to open the device, and seconds that it adds to the end of
                               the process */
};

/* Derives rates from a device's properties. `threads`: the number that a CPU may use. */
struct gi_rates gi_rates_of(enum gi_device_kind kind, const struct gi_device_info *info,
                            int threads);
/* Returns optimistic rates for a CUDA device that has not been opened: if the CPU needs longer than
 * these predict, opening the device is worthwhile. */
struct gi_rates gi_rates_hoped_for(void);

/* Estimated seconds for `images` images on each kind of device, without reading and writing files:
 * the reason that `auto` gives. For CUDA it includes the start-up that is not hidden behind
 * decoding, and the end of the process. `threads`: of the process. */
struct gi_estimate {
    double cpu_s, cuda_s;
};

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline, int images, int threads,
                                        const struct gi_rates *cpu, const struct gi_rates *cuda);

/* ---- a single step ---- */

/* Makes, runs and frees a pipeline of one step. `dst` NULL: an analysis with the result in
 * `result`. */
enum gi_status gi_run_one(struct gi_queue *queue, struct gi_image *dst, void *result,
                          const struct gi_image *src, const struct gi_filter *filter,
                          const void *params, struct gi_err *err);

#endif
