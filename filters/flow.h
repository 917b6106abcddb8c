/* Inside the pipeline: one image under way (filters/pipeline.c, filters/bands.c, filters/time.c).
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_FLOW_H
#define GI_FILTERS_FLOW_H

#include "filters/pipeline.h"

/* Plans are made up to the first that is late, and with it; the others follow once that is settled.
 */
struct gi_pipeline {
    int n; /* plans that are made */
    struct gi_plan *plans;
    int nsteps;
    struct gi_step *steps;          /* their `others` too are the pipeline's own */
    uint64_t max_pixels, max_bytes; /* of a step's result; 0: no limit */
};

struct gi_flow {
    const struct gi_pipeline *pipeline; /* what the caller has, or `own` */
    struct gi_pipeline *own;            /* with plans that are settled; NULL: none was late */
    struct gi_queue *queue;
    const struct gi_image *src; /* host */
    const struct gi_side *sides;
    void **states; /* one a step; NULL without passes */
    struct gi_times *times;
    struct gi_stopwatch *watch; /* where times are wanted */
};

/* Reads of an image's samples and writes: bytes. */
double gi_image_nbytes(const struct gi_image *image);

/* Uploads and downloads, timed and named for profilers. */
enum gi_status gi_flow_upload(struct gi_flow *flow, struct gi_image *image,
                              const struct gi_image *host, struct gi_err *err);
enum gi_status gi_flow_download(struct gi_flow *flow, struct gi_image *host, struct gi_image *image,
                                struct gi_err *err);
/* Fills a host image, or rows of one, that is there. */
enum gi_status gi_flow_download_into(struct gi_flow *flow, const struct gi_image *host,
                                     struct gi_image *image, struct gi_err *err);

/* One look of plan i. */
enum gi_status gi_flow_measure(struct gi_flow *flow, int i, const struct gi_look *look,
                               struct gi_err *err);
/* Gives step i, whose plan has looks, a state of zeros in place of what it had. Errors:
 * GI_E_MEMORY.
 */
enum gi_status gi_flow_new_state(struct gi_flow *flow, int i, struct gi_err *err);

/* What steps `from` and on gather is as if nothing had been found yet. Errors: GI_E_MEMORY. */
enum gi_status gi_flow_begin(struct gi_flow *flow, int from, struct gi_err *err);

/* Where plan i is late and its looks are over: it is settled and those behind it are made, in
 * `own`, which the flow goes on with. Errors: as gi_plan_make(). */
enum gi_status gi_flow_settle(struct gi_flow *flow, int i, struct gi_err *err);

/* Runs plan i. */
enum gi_status gi_flow_plan(struct gi_flow *flow, int i, const struct gi_work *work,
                            struct gi_err *err);

/* A copy of an image, or of a band of one, as a host image that the caller frees. */
enum gi_status gi_flow_tap(struct gi_flow *flow, struct gi_image *host,
                           const struct gi_image *image, struct gi_err *err);

/* The rows y0 <= y < y1 of plan i's sources besides the first, on the backend, as srcs[1] and on,
 * all rows for GI_REACH_ALL; released by gi_flow_release_others(). */
enum gi_status gi_flow_others(struct gi_flow *flow, int i, struct gi_image *srcs, int y0, int y1,
                              struct gi_err *err);
void gi_flow_release_others(struct gi_flow *flow, int i, struct gi_image *srcs);

/* Whether bands are of any use: not to a step that wants all of an image. Errors:
 * GI_E_DEVICE_MEMORY. */
enum gi_status gi_flow_check_bands(const struct gi_flow *flow, struct gi_err *err);
/* Everything in bands of at most `rows` rows of each step's result (filters/bands.c). */
enum gi_status gi_flow_bands(struct gi_flow *flow, struct gi_image *dst, int rows,
                             struct gi_err *err);
/* The most rows of results that fit, at most the highest image's; 0 where not even one does;
 * *whole: all at once does. Errors: GI_E_DEVICE_MEMORY where a row is too long. */
enum gi_status gi_flow_fit(const struct gi_flow *flow, int *rows, bool *whole, struct gi_err *err);

#endif
