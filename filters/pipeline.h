/* A pipeline: a list of plans, and the images that pass through them. All operations run as
 * pipelines. No other code knows bands and their halos, device memory, passes, side results and
 * stopwatches.
 *
 * A single operation is a pipeline of one step. The image is uploaded once, stays on the device
 * between steps, and is downloaded once. If the image does not fit on the device, it is processed
 * in bands, and the result has the same bytes. An analysis passes its source on to the next step.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/codec.h"

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
 * it runs. So many threads may run one pipeline, each on its own queue. Errors: as gi_plan_make().
 * If a step failed, *failed becomes the index of that step, unless `failed` is NULL. */
enum gi_status gi_pipeline_new(struct gi_pipeline **pipeline, const struct gi_step *steps,
                               int nsteps, const struct gi_image *src, int *failed,
                               struct gi_err *err);
/* As gi_pipeline_new(), with limits on the result of every step. The limits are checked before
 * memory is allocated, also for steps that are planned later, while the pipeline runs. A limit of 0
 * means that there is none. A result may always have as many pixels as `src`. Additional error:
 * GI_E_LIMIT. */
enum gi_status gi_pipeline_new_within(struct gi_pipeline **pipeline, const struct gi_limits *limits,
                                      const struct gi_step *steps, int nsteps,
                                      const struct gi_image *src, int *failed, struct gi_err *err);
void gi_pipeline_free(struct gi_pipeline **pipeline);

/* Returns the peak of host memory, in bytes, that a run on the CPU needs besides its first source.
 * It consists of the largest source and result of a step, and the state, tables and arrays of all
 * steps. Memory that depends on samples, such as a list of regions, is not included. */
uint64_t gi_pipeline_nbytes(const struct gi_pipeline *pipeline);

/* Returns the shape of the last result; `data` is NULL. */
struct gi_image gi_pipeline_result(const struct gi_pipeline *pipeline);
/* Returns the plan of step i, which belongs to the pipeline, or NULL if the step follows a late
 * plan. */
const struct gi_plan *gi_pipeline_plan(const struct gi_pipeline *pipeline, int i);

/* How the result of a pipeline can leave the device encoded, which takes much less memory than its
 * samples. */
struct gi_ending {
    /* Describes the file of a result of this shape. Returns false if its samples are needed. */
    bool (*coding_of)(void *self, struct gi_coding *coding, const struct gi_image *shape);
    void *self;
    /* The CPU makes scans of JPEGs too, for tests: libjpeg-turbo is faster there. */
    bool on_cpu;
    /* Describes a JPEG of this quality, 1 to 100, for a search. Returns false if the samples are
     * needed. May be NULL if coding_of() asks for no search. */
    bool (*frame_at)(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape,
                     int quality);
    /* Set by the run, zero before; the caller frees it with gi_encoded_free(). If it is set, `dst`
     * has only the shape of the result, otherwise the samples. */
    struct gi_encoded encoded;
};

/* Decodes a file that is still coded into `image`, which the caller has allocated, by jpeg_decode
 * or png_decode (kernels/codec.h). `scan` is gi_coded_scan(coded); both images are on the backend.
 * Errors: those of the primitive. */
enum gi_status gi_coded_decode(struct gi_queue *queue, struct gi_image *image,
                               const struct gi_image *scan, const struct gi_coded *coded,
                               struct gi_err *err);

/* Frees what a device has encoded. *encoded is zero afterwards. */
void gi_encoded_free(struct gi_encoded *encoded);

enum { GI_TOLD_NBYTES = 256 };

/* The further inputs and outputs of a step. */
struct gi_side {
    /* Host images with the shapes in `others` of the struct gi_step. */
    const struct gi_image *others;
    void *result; /* for an analysis: zeroed memory of filter->analysis.nbytes bytes. The caller
                     frees the result with filter->analysis.free, also after an error */
    struct gi_image *copy_out; /* NULL, or a zeroed image that becomes the first source of the step
                                  in host memory. The caller frees it, also after an error */
    struct gi_image *shape; /* NULL, or an image that gets the shape of the step's first source. It
                               may be the same as `copy_out` */
    struct gi_err *warning; /* NULL, or gets the warning of the step's plan, if the run succeeds */
    /* NULL, or gets the placement of the step's plan, if the run succeeds */
    struct gi_placement *placement;
    /* NULL, or "" in GI_TOLD_NBYTES bytes that get what filter->samples.tell() prints, if the run
     * succeeds */
    char *told;
    struct gi_ending *ending; /* of the last step: NULL if `dst` must have samples */
};

/* Milliseconds and bytes, summed over bands. On the CPU uploads and downloads take 0. */
struct gi_times {
    double upload_ms, download_ms, encode_ms;
    int uploads, downloads; /* numbers, of whole images or bands */
    int encodes;            /* number of results that left encoded */
    int bands;              /* number of bands; 1 if the whole image was processed at once */
    double *step_ms;        /* an entry per step; the caller owns both arrays */
    double *step_nbytes;    /* minimum of bytes that the step reads and writes */
};

/* Runs the pipeline on the host image `src`, which has the pipeline's shape. *dst becomes the
 * result, which the caller frees. If a device is used and `src` is in pinned memory, the result is
 * in pinned memory, too. `dst` is NULL if only the outputs in `sides` are wanted. `sides` has an
 * entry per step, or is NULL if no step has further inputs or outputs. `times` may be NULL. If
 * `src` is still coded, it is decoded by jpeg_decode or png_decode; if that refuses it or the image
 * does not fit at once, the error is GI_E_UNSUPPORTED and the caller runs the pipeline on the
 * decoded image. Other images are processed in bands if the limits of the backend require it, and
 * in smaller bands if memory runs out. Errors: those of the primitives. GI_E_DEVICE_MEMORY if not
 * even one row of the result fits with all that it needs, or if a step needs a whole image that
 * does not fit. */
enum gi_status gi_pipeline_run(const struct gi_pipeline *pipeline, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_side *sides, struct gi_times *times,
                               struct gi_err *err);

/* The time of a pipeline without transfers: its images are on the backend, and everything is
 * loaded. */
struct gi_pipeline_time {
    double ms;
    double nbytes, fmas; /* minimum bytes read and written; multiply-adds */
};

/* Times the pipeline on `nsrcs` host images of its shape in turn. There should be enough images to
 * exceed the caches, at most 64. Takes about 0.1 s, or five runs if these take longer. Errors:
 * those of the primitives. */
enum gi_status gi_pipeline_measure(struct gi_pipeline_time *time,
                                   const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                   const struct gi_image *srcs, int nsrcs, struct gi_err *err);

/* Rates of a device per second, and its overheads. */
struct gi_rates {
    double memory;   /* bytes of memory read and written, if results are in new memory */
    double fmas;     /* float32 multiply-adds */
    double up, down; /* bytes from and to pageable host memory; INFINITY: no copies */
    /* bytes of samples of JPEGs and PNGs, by all threads of a CPU or all queues of a GPU */
    double jpeg_decode, jpeg_encode, png_decode, png_encode;
    /* Seconds to open the device; seconds that it adds to the end of the process. */
    double open_s, close_s;
};

/* Derives rates from the properties of a device. `threads` is how many threads a CPU may use. */
struct gi_rates gi_rates_of(enum gi_device_kind kind, const struct gi_device_info *info,
                            int threads);
/* Returns optimistic rates for a CUDA device that is not open. If the CPU takes longer than these
 * rates predict, opening the device is worthwhile. */
struct gi_rates gi_rates_hoped_for(void);

/* Estimated seconds for several images on each kind of device. The choice of --device auto follows
 * from them. They include decoding and encoding only where a GPU could do it, because other files
 * take the same time in both cases. The seconds for CUDA include the end of the process, and the
 * part of the start-up that is not hidden behind decoding. */
struct gi_estimate {
    double cpu_s, cuda_s;
    bool with_coding; /* they include decoding or encoding */
};

/* The number of images, the threads of the process, and how the images come and go. */
struct gi_estimate_options {
    int images, threads;
    enum gi_coded_kinds coded;      /* the images are of this kind, which a GPU decodes */
    const struct gi_ending *ending; /* of the results; NULL if their samples are needed */
};

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline,
                                        const struct gi_estimate_options *options,
                                        const struct gi_rates *cpu, const struct gi_rates *cuda);
/* Returns the ending in `sides`, which has an entry per step or is NULL; NULL if there is none. */
const struct gi_ending *gi_pipeline_ending(const struct gi_pipeline *pipeline,
                                           const struct gi_side *sides);

/* ---- a single step ---- */

/* Makes, runs and frees a pipeline of one step. If `dst` is NULL, the step is an analysis, which
 * fills `result`. */
enum gi_status gi_run_one(struct gi_queue *queue, struct gi_image *dst, void *result,
                          const struct gi_image *src, const struct gi_filter *filter,
                          const void *params, struct gi_err *err);
