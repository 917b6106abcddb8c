/* Internals of the pipeline: one execution of it (filters/pipeline.c, filters/bands.c,
 * filters/time.c).
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_EXECUTION_H
#define GI_FILTERS_EXECUTION_H

#include "filters/pipeline.h"

/* The plans exist up to and including the first that is late; the others are made when that one is
 * settled. */
struct gi_pipeline {
    int n; /* number of plans made */
    struct gi_plan *plans;
    int nsteps;
    struct gi_step *steps;   /* their `others` belong to the pipeline, too */
    struct gi_limits limits; /* of a step's result, as in struct gi_plan */
};

struct gi_execution {
    const struct gi_pipeline *pipeline; /* the caller's, or `own` */
    struct gi_pipeline *own;            /* a copy with settled plans; NULL: no plan was late */
    struct gi_queue *queue;
    const struct gi_image *src; /* host */
    const struct gi_side *sides;
    void **states; /* an entry per step; NULL without passes */
    struct gi_times *times;
    struct gi_stopwatch *watch; /* if times are wanted */
};

/* Uploads and downloads, timed, and named for profilers. */
enum gi_status gi_execution_upload(struct gi_execution *execution, struct gi_image *image,
                                   const struct gi_image *host, struct gi_err *err);
enum gi_status gi_execution_download(struct gi_execution *execution, struct gi_image *host,
                                     struct gi_image *image, struct gi_err *err);
/* Downloads into an existing host image, or into rows of one. */
enum gi_status gi_execution_download_into(struct gi_execution *execution,
                                          const struct gi_image *host, struct gi_image *image,
                                          struct gi_err *err);

/* Runs one measuring pass of plan i. */
enum gi_status gi_execution_measure(struct gi_execution *execution, int i,
                                    const struct gi_look *look, struct gi_err *err);
/* Gives step i, whose plan measures, a zeroed state in place of its old one. Errors: GI_E_MEMORY.
 */
enum gi_status gi_execution_new_state(struct gi_execution *execution, int i, struct gi_err *err);

/* Resets what steps `from` and on have measured. Errors: GI_E_MEMORY. */
enum gi_status gi_execution_begin(struct gi_execution *execution, int from, struct gi_err *err);

/* If plan i is late and has been measured: settles it and makes the following plans, in `own`,
 * which the run then uses. Errors: as gi_plan_make(). */
enum gi_status gi_execution_settle(struct gi_execution *execution, int i, struct gi_err *err);

/* Runs plan i. */
enum gi_status gi_execution_plan(struct gi_execution *execution, int i, const struct gi_work *work,
                                 struct gi_err *err);

/* Copies an image, or a band of one, to a host image that the caller frees. */
enum gi_status gi_execution_copy_out(struct gi_execution *execution, struct gi_image *host,
                                     const struct gi_image *image, struct gi_err *err);

/* Loads the rows y0 <= y < y1 of plan i's further sources as srcs[1] and on, on the backend; all
 * rows for GI_DEPENDENCY_GLOBAL. Released by gi_execution_release_others(). */
enum gi_status gi_execution_others(struct gi_execution *execution, int i, struct gi_image *srcs,
                                   int y0, int y1, struct gi_err *err);
void gi_execution_release_others(struct gi_execution *execution, int i, struct gi_image *srcs);

/* Checks that bands help: they do not for a step that needs the whole image. Errors:
 * GI_E_DEVICE_MEMORY. */
enum gi_status gi_execution_check_bands(const struct gi_execution *execution, struct gi_err *err);
/* Runs everything in bands of at most `rows` rows of each step's result (filters/bands.c). */
enum gi_status gi_execution_bands(struct gi_execution *execution, struct gi_image *dst, int rows,
                                  struct gi_err *err);
/* Finds the maximum number of result rows that fit on the device, at most the height of the tallest
 * image; 0 if not even one does; *whole: everything fits at once. Errors: GI_E_DEVICE_MEMORY if a
 * row is too long. */
enum gi_status gi_execution_fit(const struct gi_execution *execution, int *rows, bool *whole,
                                struct gi_err *err);

#endif
