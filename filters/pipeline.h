/* A pipeline: a list of plans, and the images that pass through it. All operations run as
 * pipelines. No other code knows bands and their halos, device memory, passes, side results and
 * stopwatches.
 *
 * An operation alone is a pipeline of one step. The image is uploaded once, stays on the device
 * between steps, and is downloaded once. If it does not fit on the device, it is processed in
 * bands, with the same bytes. An analysis passes its source on.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PIPELINE_H
#define GI_FILTERS_PIPELINE_H

#include "filters/filter.h"

/* One operation with its parameters. */
struct gi_step {
    const struct gi_filter *filter;
    const void *params;            /* checked by the filter; must outlive the pipeline */
    const struct gi_image *others; /* shapes of the sources after the first; NULL: none */
    int nothers;                   /* number of `others`, as many as the filter requires */
};

struct gi_pipeline;

/* Makes the plans of `nsteps` steps, at least 1, for a first source shaped as `src`.
 * gi_pipeline_free() frees the pipeline and sets the pointer to NULL. A pipeline is read-only while
 * it runs: many threads may run one, each on its own queue. Errors: as gi_plan_make(); `*failed`
 * (`failed` may be NULL) becomes the step that failed, if one did. */
enum gi_status gi_pipeline_new(struct gi_pipeline **pipeline, const struct gi_step *steps,
                               int nsteps, const struct gi_image *src, int *failed,
                               struct gi_err *err);
/* As gi_pipeline_new(), with limits on the result of every step. They are checked before memory is
 * allocated, also for steps that are planned later, while the pipeline runs. A limit of 0 is none;
 * a result may always have as many pixels as `src`. Additional error: GI_E_LIMIT. */
enum gi_status gi_pipeline_new_within(struct gi_pipeline **pipeline, const struct gi_limits *limits,
                                      const struct gi_step *steps, int nsteps,
                                      const struct gi_image *src, int *failed, struct gi_err *err);
void gi_pipeline_free(struct gi_pipeline **pipeline);

/* Returns the peak of host memory, in bytes, that a run on the CPU needs besides its first source:
 * the largest source and result of a step, and the state, tables and arrays of all steps. Memory
 * that depends on samples, such as a list of regions, is not included. */
uint64_t gi_pipeline_nbytes(const struct gi_pipeline *pipeline);

/* Returns the shape of the last result; `data` is NULL. */
struct gi_image gi_pipeline_result(const struct gi_pipeline *pipeline);

/* The further inputs and outputs of a step. */
struct gi_side {
    const struct gi_image *others; /* host images with the shapes that the step gives */
    void *result; /* for an analysis: filter->result_nbytes of zeroed memory, which the caller frees
                     with filter->result_free, also after an error */
    struct gi_image *copy_out; /* NULL: not wanted. Else a zeroed image that becomes the first
                                  source of the step in host memory; the caller frees it, also after
                                  an error */
    struct gi_image *shape; /* NULL: not wanted. Else gets the shape of the step's first source; may
                               be the same as `copy_out` */
};

/* Milliseconds and bytes, summed over bands. On the CPU upload and download take 0. */
struct gi_times {
    double upload_ms, download_ms;
    int uploads, downloads; /* of whole images or bands */
    int bands;              /* 1: the whole image was processed at once */
    double *step_ms;        /* an entry per step; the caller's arrays */
    double *step_nbytes;    /* minimum of bytes that the step reads and writes */
};

/* Runs the pipeline on the host image `src`, which has the pipeline's shape. *dst becomes the
 * result, which the caller frees; if a device is used, it is in pinned memory if `src` is. `dst`
 * NULL: only the sides are wanted. `sides` has an entry per step; NULL: no step has any. `times`
 * may be NULL. The image is processed in bands if the limits of the backend require it, and in
 * smaller ones if memory runs out. Errors: those of the primitives; GI_E_DEVICE_MEMORY if not even
 * one row of the result fits with all it needs, or if a step needs the whole of an image that does
 * not fit. */
enum gi_status gi_pipeline_run(const struct gi_pipeline *pipeline, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_side *sides, struct gi_times *times,
                               struct gi_err *err);

/* The time of a pipeline alone, while its images are on the backend and everything is loaded. */
struct gi_pipeline_time {
    double ms;
    double nbytes, fmas; /* minimum bytes read and written; multiply-adds */
};

/* Times the pipeline on `nsrcs` host images of its shape in turn: enough to exceed the caches, at
 * most 64. Takes about 0.1 s, or five runs if these take longer. Errors: those of the
 * primitives. */
enum gi_status gi_pipeline_measure(struct gi_pipeline_time *time,
                                   const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                   const struct gi_image *srcs, int nsrcs, struct gi_err *err);

/* Rates of a device per second, and its overheads. */
struct gi_rates {
    double memory;          /* bytes of memory read and written, if results are in new memory */
    double fmas;            /* float32 multiply-adds */
    double up, down;        /* bytes from and to pageable host memory; INFINITY: no copies */
    double open_s, close_s; /* seconds to open the device, and that it adds to the process' end */
};

/* Derives rates from the properties of a device. `threads`: how many a CPU may use. */
struct gi_rates gi_rates_of(enum gi_device_kind kind, const struct gi_device_info *info,
                            int threads);
/* Returns optimistic rates for a CUDA device that is not open. If the CPU takes longer than these
 * predict, opening the device is worthwhile. */
struct gi_rates gi_rates_hoped_for(void);

/* Estimated seconds for `images` images on each kind of device, without reading and writing files:
 * the reasons for the choice of `auto`. For CUDA they include the end of the process, and the
 * start-up as far as it is not hidden behind decoding. `threads`: of the process. */
struct gi_estimate {
    double cpu_s, cuda_s;
};

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline, int images, int threads,
                                        const struct gi_rates *cpu, const struct gi_rates *cuda);

/* ---- a single step ---- */

/* Makes, runs and frees a pipeline of one step. `dst` NULL: an analysis; it fills `result`. */
enum gi_status gi_run_one(struct gi_queue *queue, struct gi_image *dst, void *result,
                          const struct gi_image *src, const struct gi_filter *filter,
                          const void *params, struct gi_err *err);

#endif
