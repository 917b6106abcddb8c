/* Internals of the pipeline: one execution of it (filters/pipeline.c, filters/bands.c,
 * filters/time.c).
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_FLOW_H
#define GI_FILTERS_FLOW_H

#include "filters/pipeline.h"

/* Plans are made up to and including the first that is late; the others are made when that one is
 * settled. */
struct gi_pipeline {
    int n; /* number of plans made */
    struct gi_plan *plans;
    int nsteps;
    struct gi_step *steps;   /* their `others` belong to the pipeline, too */
    struct gi_limits limits; /* of a step's result, as in struct gi_plan */
};

struct gi_flow {
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
enum gi_status gi_flow_upload(struct gi_flow *flow, struct gi_image *image,
                              const struct gi_image *host, struct gi_err *err);
enum gi_status gi_flow_download(struct gi_flow *flow, struct gi_image *host, struct gi_image *image,
                                struct gi_err *err);
/* Downloads into an existing host image, or into rows of one. */
enum gi_status gi_flow_download_into(struct gi_flow *flow, const struct gi_image *host,
                                     struct gi_image *image, struct gi_err *err);

/* Runs one measuring pass of plan i. */
enum gi_status gi_flow_measure(struct gi_flow *flow, int i, const struct gi_look *look,
                               struct gi_err *err);
/* Gives step i, whose plan measures, a zeroed state in place of its old one. Errors: GI_E_MEMORY.
 */
enum gi_status gi_flow_new_state(struct gi_flow *flow, int i, struct gi_err *err);

/* Resets what steps `from` and on have measured. Errors: GI_E_MEMORY. */
enum gi_status gi_flow_begin(struct gi_flow *flow, int from, struct gi_err *err);

/* If plan i is late and has been measured: settles it and makes the following plans, in `own`,
 * which the run then uses. Errors: as gi_plan_make(). */
enum gi_status gi_flow_settle(struct gi_flow *flow, int i, struct gi_err *err);

/* Runs plan i. */
enum gi_status gi_flow_plan(struct gi_flow *flow, int i, const struct gi_work *work,
                            struct gi_err *err);

/* Copies an image, or a band of one, to a host image that the caller frees. */
enum gi_status gi_flow_tap(struct gi_flow *flow, struct gi_image *host,
                           const struct gi_image *image, struct gi_err *err);

/* Loads the rows y0 <= y < y1 of plan i's further sources as srcs[1] and on, on the backend; all
 * rows for GI_REACH_ALL. Released by gi_flow_release_others(). */
enum gi_status gi_flow_others(struct gi_flow *flow, int i, struct gi_image *srcs, int y0, int y1,
                              struct gi_err *err);
void gi_flow_release_others(struct gi_flow *flow, int i, struct gi_image *srcs);

/* Checks that bands help: they do not for a step that needs the whole image. Errors:
 * GI_E_DEVICE_MEMORY. */
enum gi_status gi_flow_check_bands(const struct gi_flow *flow, struct gi_err *err);
/* Runs everything in bands of at most `rows` rows of each step's result (filters/bands.c). */
enum gi_status gi_flow_bands(struct gi_flow *flow, struct gi_image *dst, int rows,
                             struct gi_err *err);
/* Finds the maximum number of result rows that fit on the device, at most the height of the tallest
 * image; 0 if not even one does; *whole: everything fits at once. Errors: GI_E_DEVICE_MEMORY if a
 * row is too long. */
enum gi_status gi_flow_fit(const struct gi_flow *flow, int *rows, bool *whole, struct gi_err *err);

#endif
