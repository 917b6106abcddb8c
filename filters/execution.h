/* Internals of the pipeline: one execution of it (filters/pipeline.c, filters/bands.c,
 * filters/time.c).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/pipeline.h"
#include "imgio/rows.h"

/* Plans exist up to the first late plan. When the late plan is settled, the following plans are
 * made. */
struct gi_pipeline {
    int n; /* number of plans made */
    struct gi_plan *plans;
    int nsteps;
    struct gi_step *steps;   /* the pipeline owns the array `others` of each step */
    struct gi_limits limits; /* limits of the result of each step, as in struct gi_plan */
};

struct gi_execution {
    const struct gi_pipeline *pipeline; /* the caller's pipeline, or `own` */
    struct gi_pipeline *own;            /* a copy with settled plans; NULL if no plan was late */
    struct gi_queue *queue;
    const struct gi_image *src;       /* host; NULL if there are `rows` */
    const struct gi_row_source *rows; /* host rows of the source, or NULL */
    size_t nbytes; /* maximum bytes of a band with all rows that it needs; 0: what fits */
    const struct gi_side *sides;
    void **states; /* an entry per step, which is NULL if the step has no passes */
    struct gi_times *times;
    struct gi_stopwatch *watch; /* NULL if no times are wanted */
};

/* Uploads an image, with timing and a name for profilers. An image that is still coded is decoded
 * on the device. */
enum gi_status gi_execution_upload(struct gi_execution *execution, struct gi_image *image,
                                   const struct gi_image *host, struct gi_err *err);
/* Downloads `image`, which it releases, to the new image *host, with timing. */
enum gi_status gi_execution_download(struct gi_execution *execution, struct gi_image *host,
                                     struct gi_image *image, struct gi_err *err);
/* Downloads into an existing host image, or into some of its rows, with timing. */
enum gi_status gi_execution_download_into(struct gi_execution *execution,
                                          const struct gi_image *host, struct gi_image *image,
                                          struct gi_err *err);

/* Makes an image on the device from a host image that is still coded (filters/coded.c). Errors:
 * those of upload, jpeg_decode and png_decode. */
enum gi_status gi_execution_decode(struct gi_queue *queue, struct gi_image *image,
                                   const struct gi_image *host, struct gi_err *err);

/* Encodes an image on the device, as `coding` says, into memory of `allocator` (filters/coded.c).
 * Errors: those of jpeg_encode and png_encode. */
enum gi_status gi_execution_encode(struct gi_queue *queue, struct gi_encoded *encoded,
                                   const struct gi_image *image, const struct gi_coding *coding,
                                   const struct gi_allocator *allocator, struct gi_err *err);

/* Encodes an image on the device as a JPEG of the lowest quality that reaches coding->ssimulacra2,
 * into ending->encoded (filters/coded_quality.c). Errors: those of the primitives, GI_E_UNSUPPORTED
 * if no quality reaches the score. */
enum gi_status gi_execution_encode_scored(struct gi_queue *queue, struct gi_ending *ending,
                                          const struct gi_image *image,
                                          const struct gi_coding *coding,
                                          const struct gi_allocator *allocator, struct gi_err *err);

/* Runs one measuring pass of plan i. */
enum gi_status gi_execution_measure(struct gi_execution *execution, int i,
                                    const struct gi_look *look, struct gi_err *err);
/* Replaces the state of step i by a zeroed state. The plan of step i must have passes. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_execution_new_state(struct gi_execution *execution, int i, struct gi_err *err);

/* Resets the measurements of the steps from step `from` on. Errors: GI_E_MEMORY. */
enum gi_status gi_execution_begin(struct gi_execution *execution, int from, struct gi_err *err);

/* If plan i is late and has been measured, settles plan i and makes the following plans. They are
 * in `own`, which then replaces the caller's pipeline. Errors: as gi_plan_make(). */
enum gi_status gi_execution_settle(struct gi_execution *execution, int i, struct gi_err *err);

/* Sets the warnings, the placements and the words of the steps in the sides, if there are sides,
 * once all plans are settled and measured. */
void gi_execution_tell(const struct gi_execution *execution);

/* Runs plan i. */
enum gi_status gi_execution_plan(struct gi_execution *execution, int i, const struct gi_work *work,
                                 struct gi_err *err);

/* Loads the further sources of plan i on the backend as srcs[1] and following. Loads only the rows
 * that are needed with rows y0 to y1 - 1 of the first source, as gi_plan_beside() says, but all
 * rows for GI_DEPENDENCY_GLOBAL. gi_execution_release_others() releases the sources. */
enum gi_status gi_execution_others(struct gi_execution *execution, int i, struct gi_image *srcs,
                                   int y0, int y1, struct gi_err *err);
void gi_execution_release_others(struct gi_execution *execution, int i, struct gi_image *srcs);

/* Fails if bands do not help, because a step needs the whole image. Errors: GI_E_DEVICE_MEMORY. */
enum gi_status gi_execution_check_bands(const struct gi_execution *execution, struct gi_err *err);
/* Makes all measuring passes in bands of at most `rows` rows. */
enum gi_status gi_execution_bands_begin(struct gi_execution *execution, int rows,
                                        struct gi_err *err);
/* After the measuring passes, makes the rows `span` of the result in the host image `host`. */
enum gi_status gi_execution_result_rows(struct gi_execution *execution, const struct gi_image *host,
                                        struct gi_span span, struct gi_err *err);
/* Like gi_execution_result_rows(), for rows that fit on the device at once. *view refers to the
 * rows in *image, which may hold more and which the caller frees. Without a copy on the CPU. */
enum gi_status gi_execution_result_band(struct gi_execution *execution, struct gi_image *image,
                                        struct gi_image *view, struct gi_span span,
                                        struct gi_err *err);
/* Runs everything in bands of at most `rows` rows of each step's result (filters/bands.c). */
enum gi_status gi_execution_bands(struct gi_execution *execution, struct gi_image *dst, int rows,
                                  struct gi_err *err);
/* Returns the maximum number of rows of the source that `rows` rows of the result need, which are
 * at most its height. */
int gi_execution_needs(const struct gi_execution *execution, int rows);
/* Sets *rows to the maximum number of result rows that fit on the device, or to 0 if none fits. The
 * maximum is at most the height of the tallest image. Sets *whole if everything fits at once.
 * Errors: GI_E_DEVICE_MEMORY if a row is too long. */
enum gi_status gi_execution_fit(const struct gi_execution *execution, int *rows, bool *whole,
                                struct gi_err *err);
