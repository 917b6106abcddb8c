/* Helpers of the tests of filters: shapes, random samples, parameters, plans and comparison.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_FILTER_CASES_H
#define GI_TESTS_FILTER_CASES_H

#include "guard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/filter.h"
#include "filters/pipeline.h"

enum { FC_SEED = 20240607 };

static const int fc_sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {257, 129}};
enum { FC_SIZES = 6 };

static inline uint32_t fc_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    return (uint32_t)(*seed >> 33);
}

static inline double fc_get(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    const void *row = gi_row(image, y);
    if (image->type == GI_U8)
        return ((const uint8_t *)row)[i];
    if (image->type == GI_U16)
        return ((const uint16_t *)row)[i];
    return (double)((const float *)row)[i];
}

/* Random samples; an eighth of them are 0 and an eighth are full scale. */
static inline void fc_fill(struct gi_image *image, uint64_t *seed)
{
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            uint32_t r = fc_random(seed), pick = r >> 16 & 7;
            uint32_t v = pick == 0 ? 0 : pick == 1 ? 65535 : r & 65535;
            if (image->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[i] = (uint8_t)(v >> 8);
            else if (image->type == GI_U16)
                ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
            else
                ((float *)gi_row(image, y))[i] = (float)v / 65535.0f;
        }
}

static inline struct gi_queue *fc_open(const struct gi_kernels *k, int threads)
{
    struct gi_err err = {0};
    struct gi_queue *queue = NULL;
    struct gi_open_options options = {.threads = threads};
    if (gi_queue_open_alone(&queue, k, &options, &err))
        fail_msg("%s", err.text);
    return queue;
}

static inline bool fc_equal(const struct gi_image *a, const struct gi_image *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels ||
        a->type != b->type)
        return false;
    for (int y = 0; y < a->height; y++)
        if (memcmp(gi_row(a, y), gi_row(b, y), gi_row_nbytes(a)))
            return false;
    return true;
}

static inline const struct gi_option *fc_option(const struct gi_filter *filter, const char *name)
{
    const struct gi_option *row = filter->options;
    while (row->name && strcmp(row->name, name))
        row++;
    return row->name ? row : NULL;
}

/* Sets one option like the command line; fails the test if the value is refused. */
static inline void fc_set(const struct gi_filter *filter, void *params, const char *name,
                          const char *text)
{
    struct gi_err err = {0};
    const struct gi_option *row = fc_option(filter, name);
    assert_non_null(row);
    if (gi_option_read(params, row, row->type == GI_OPT_FLAG ? NULL : text, &err))
        fail_msg("%s: %s", filter->name, err.text);
}

/* Returns the parameters of a filter: its example, then "name=value" words, then its check. The
 * caller frees them. */
static inline void *fc_params(const struct gi_filter *filter, const char *const *words)
{
    void *params = calloc(1, filter->params_nbytes);
    gi_options_example(params, filter->options);
    for (; words && *words; words++) {
        char name[32];
        size_t n = strcspn(*words, "=");
        snprintf(name, sizeof name, "%.*s", (int)n, *words);
        fc_set(filter, params, name, (*words)[n] ? *words + n + 1 : NULL);
    }
    struct gi_err err = {0};
    if (filter->check && filter->check(params, &err))
        fail_msg("%s: %s", filter->name, err.text);
    return params;
}

/* Returns the plan of one filter for the shapes of its sources; fails the test if there is none. */
static inline struct gi_plan fc_plan(const struct gi_filter *filter, const void *params,
                                     const struct gi_image *srcs)
{
    struct gi_err err = {0};
    struct gi_plan plan;
    int n = 1 + gi_filter_others(filter, params);
    if (gi_plan_make(&plan, filter, params, srcs, n, &err))
        fail_msg("%s: %s", filter->name, err.text);
    return plan;
}

/* Like gi_run_one(), with times. */
static inline enum gi_status fc_run(struct gi_queue *queue, struct gi_image *dst, void *result,
                                    const struct gi_image *src, const struct gi_filter *filter,
                                    const void *params, struct gi_times *times, double *nbytes,
                                    struct gi_err *err)
{
    struct gi_step step = {.filter = filter, .params = params};
    struct gi_side side = {.result = result};
    struct gi_pipeline *pipeline;
    double ms;
    *times = (struct gi_times){.step_ms = &ms, .step_nbytes = nbytes};
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, src, NULL, err);
    if (status)
        return status;
    status = gi_pipeline_run(pipeline, queue, dst, src, &side, times, err);
    gi_pipeline_free(&pipeline);
    return status;
}

#endif
