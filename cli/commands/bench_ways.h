/* gpuimg bench --ways: times the ways (implementations) of an operation's primitives.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/json.h"
#include "filters/pipeline.h"

enum { GI_WAY_TIMES_MAX = 64 };

struct gi_way_time {
    const char *primitive, *way; /* static */
    bool chosen;                 /* this way runs if none is forced */
    double ms;
};

/* The ways of one operation on one device. */
struct gi_way_times {
    struct gi_way_time ways[GI_WAY_TIMES_MAX];
    int n;
};

/* Times the pipeline as gi_pipeline_measure() does, once for every way of the primitives that the
 * pipeline runs. For each measurement one way is forced. A way that can't do the work is left out.
 * Afterwards the queue uses the ways of GPUIMG_WAY again. Errors: as gi_pipeline_measure(). */
enum gi_status gi_way_times_measure(struct gi_way_times *times, const struct gi_pipeline *pipeline,
                                    struct gi_queue *queue, const struct gi_image *srcs, int nsrcs,
                                    struct gi_err *err);

/* gi_way_times_head() prints the head of the table. The other function prints the lines of one
 * operation on one device. */
void gi_way_times_head(bool markdown);
void gi_way_times_print(const struct gi_way_times *times, const char *operation, const char *device,
                        bool markdown);
/* Appends an object per way to the array. */
void gi_way_times_json(json_t *array, const struct gi_way_times *times, const char *device);
