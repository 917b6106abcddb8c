/* Connected components of a picture drawn in letters, their selection and their order are right.
 * test_regions compares labels of random images with a flood fill.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/regions/extract.h"
#include "kernels/kernels.h"

static struct gi_extract_params defaults(void)
{
    struct gi_extract_params p = {0};
    gi_options_default(&p, gi_filter_extract.options);
    gi_filter_extract.analysis.ask_all(&p);
    p.at = (struct gi_level){.kind = GI_LEVEL_VALUE};
    return p;
}

/* `mask` may be NULL. */
static struct gi_extract extract_masked(const struct gi_image *image, const struct gi_image *mask,
                                        const struct gi_extract_params *params)
{
    struct gi_queue *queue;
    struct gi_open_options options = {.threads = 2};
    struct gi_err err = {0};
    struct gi_extract result = {0};
    struct gi_step step = {
        .filter = &gi_filter_extract, .params = params, .others = mask, .nothers = mask != NULL};
    struct gi_side side = {.others = mask, .result = &result};
    struct gi_pipeline *pipeline;
    assert_int_equal(gi_queue_open_alone(&queue, gi_kernels_cpu(), &options, &err), GI_OK);
    if (gi_pipeline_new(&pipeline, &step, 1, image, NULL, &err) ||
        gi_pipeline_run(pipeline, queue, NULL, image, &side, NULL, &err))
        fail_msg("%s", err.text);
    gi_pipeline_free(&pipeline);
    gi_queue_close_alone(&queue);
    return result;
}

static struct gi_extract extract_of(const struct gi_image *image,
                                    const struct gi_extract_params *params)
{
    return extract_masked(image, NULL, params);
}

/* A picture in which '.' is the sample 0, and a digit is a sample of ten times its value. The
 * picture has three components with 8 neighbours, and five with 4 neighbours. */
static const char *const drawing[] = {
    ".....99.", ".11..99.", ".11.....", "...1..5.", ".....5..",
};

enum { W = 8, H = 5 };

static struct gi_image draw(uint8_t samples[H * W])
{
    for (int i = 0; i < H * W; i++) {
        char letter = drawing[i / W][i % W];
        samples[i] = letter == '.' ? 0 : (uint8_t)(10 * (letter - '0'));
    }
    return (struct gi_image){
        .data = samples, .stride = W, .width = W, .height = H, .channels = 1, .type = GI_U8};
}

TEST(test_drawing)
{
    uint8_t samples[H * W];
    struct gi_image image = draw(samples);
    struct gi_extract_params p = defaults();
    struct gi_extract e = extract_of(&image, &p);
    assert_true(e.n == 3 && e.found == 3);
    struct gi_region r = gi_extract_region(&e, 0);
    assert_true(r.label == 1 && r.area == 4 && r.x == 5 && r.y == 0 && r.width == 2 &&
                r.height == 2);
    assert_true(r.centroid_x == 5.5 && r.centroid_y == 0.5 && r.perimeter == 4);
    assert_true(r.mean == 90 && r.stddev == 0 && r.min == 90 && r.max == 90);
    r = gi_extract_region(&e, 1);
    assert_true(r.area == 5 && r.x == 1 && r.y == 1 && r.width == 3 && r.height == 3);
    assert_true(fabs(r.centroid_x - 1.8) < 1e-15 && r.centroid_y == 1.8);
    r = gi_extract_region(&e, 2);
    assert_true(r.area == 2 && r.x == 5 && r.y == 3 && r.mean == 50);
    assert_int_equal(e.points.n, 11);
    assert_true(e.points.x[0] == 5 && e.points.y[0] == 0 && e.points.value[0] == 90);
    assert_true(e.points.x[10] == 5 && e.points.y[10] == 4 && e.points.value[10] == 50);
    gi_filter_extract.analysis.free(&e);
    p.connectivity = 0;
    e = extract_of(&image, &p);
    assert_int_equal(e.n, 5);
    gi_filter_extract.analysis.free(&e);
}

TEST(test_choice)
{
    uint8_t samples[H * W];
    struct gi_image image = draw(samples);
    struct gi_extract_params p = defaults();
    p.min_area = 3;
    p.sort = GI_REGIONS_BY_X;
    struct gi_extract e = extract_of(&image, &p);
    assert_true(e.n == 2 && e.found == 3);
    assert_true(e.order[0] == 1 && e.order[1] == 0); /* the one on the left first */
    assert_int_equal(e.points.n, 9);
    assert_int_equal(((uint32_t *)gi_row(&e.labels, 3))[6], 0);
    assert_int_equal(((uint32_t *)gi_row(&e.labels, 1))[1], 2);
    gi_filter_extract.analysis.free(&e);
    p = defaults();
    p.keep_top = 1;
    e = extract_of(&image, &p);
    assert_true(e.n == 1 && e.regions[0].area == 5); /* now label 1 */
    assert_int_equal(((uint32_t *)gi_row(&e.labels, 1))[1], 1);
    assert_int_equal(((uint32_t *)gi_row(&e.labels, 0))[5], 0);
    gi_filter_extract.analysis.free(&e);
    p = defaults();
    p.sort = GI_REGIONS_BY_MEAN;
    e = extract_of(&image, &p);
    assert_true(e.order[0] == 0 && e.order[1] == 2 && e.order[2] == 1);
    gi_filter_extract.analysis.free(&e);
    p.min_area = 9;
    e = extract_of(&image, &p);
    assert_true(e.n == 0 && e.found == 3 && e.points.n == 0);
    gi_filter_extract.analysis.free(&e);
}

/* 2^33 pixels are too many for 32-bit labels. The image has no samples, so that a read would
 * crash. */
TEST(test_most_pixels)
{
    struct gi_image image = {.width = 131072, .height = 65536, .channels = 1, .type = GI_U8};
    struct gi_extract_params p = defaults();
    struct gi_plan plan;
    struct gi_err err = {0};
    assert_int_equal(gi_plan_make(&plan, &gi_filter_extract, &p, &image, 1, &err),
                     GI_E_UNSUPPORTED);
    assert_string_equal(err.text, "131072 x 65536 pixels: regions want at most 4294967294 in all");
}

/* A plan counts the label image, of 4 bytes per pixel, against --max-bytes if any result needs
 * it. */
TEST(test_array_nbytes)
{
    struct gi_image shape = {.width = 300, .height = 20, .channels = 1, .type = GI_U8};
    for (int i = 0; i < 5; i++) {
        struct gi_extract_params p = defaults();
        struct gi_plan plan;
        p.labels = i == 1, p.points = i == 2, p.descriptors = i == 3, p.moments = i == 4;
        assert_int_equal(gi_plan_make(&plan, &gi_filter_extract, &p, &shape, 1, NULL), GI_OK);
        assert_int_equal(plan.array_nbytes, i ? 4 * 300 * 20 : 0);
        gi_plan_free(&plan);
    }
}

TEST(test_mask)
{
    uint8_t samples[H * W], on[H * W] = {0};
    struct gi_image image = draw(samples), mask = image;
    mask.data = on;
    on[W + 4] = 1;
    on[W + 5] = 200;
    struct gi_extract_params p = defaults();
    struct gi_extract e = extract_masked(&image, &mask, &p);
    struct gi_region r = gi_extract_region(&e, 0);
    assert_true(e.n == 1 && r.area == 2 && r.mean == 45 && r.stddev == 45 && r.min == 0);
    gi_filter_extract.analysis.free(&e);
}

TEST(test_floats)
{
    float samples[] = {1, INFINITY, 0, 2, 3, 0, NAN, 0};
    struct gi_image image = {.data = samples,
                             .stride = sizeof samples,
                             .width = 8,
                             .height = 1,
                             .channels = 1,
                             .type = GI_F32};
    struct gi_extract_params p = defaults();
    p.at.value = 0.5;
    struct gi_extract e = extract_of(&image, &p);
    assert_int_equal(e.n, 2); /* NaN is not foreground */
    struct gi_region r = gi_extract_region(&e, 0);
    assert_true(isinf(r.mean) && isnan(r.stddev) && r.min == 1 && isinf(r.max));
    r = gi_extract_region(&e, 1);
    assert_true(fabs(r.mean - 2.5) < 1e-8 && fabs(r.stddev - 0.5) < 1e-8);
    gi_filter_extract.analysis.free(&e);
}

/* Backends without the primitive flood, such as CUDA, compute the same result from labels
 * instead. */
TEST(test_without_flood)
{
    static const char *const names[] = {"clear-border", "fill-holes"};
    const char *const words[] = {"connectivity=4", NULL};
    struct gi_err err = {0};
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    const struct gi_kernels *kernels = queue->k;
    struct gi_kernels by_labels = *kernels;
    by_labels.flood = NULL;
    for (int i = 0; i < 20; i++) {
        const struct gi_filter *filter = gi_filter_find(names[i % 2]);
        struct gi_image src, flooded, labelled;
        uint32_t random = (uint32_t)i; /* Numerical Recipes' generator */
        assert_int_equal(gi_image_alloc(&src, 37, 29, 1, GI_U8, NULL), GI_OK);
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++) {
                random = 1664525 * random + 1013904223;
                ((uint8_t *)gi_row(&src, y))[x] = (random >> 24) < (i % 2 ? 150 : 80) ? 200 : 0;
            }
        void *params = case_params(filter, words);
        queue->k = kernels;
        assert_int_equal(gi_run_one(queue, &flooded, NULL, &src, filter, params, &err), GI_OK);
        queue->k = &by_labels;
        assert_int_equal(gi_run_one(queue, &labelled, NULL, &src, filter, params, &err), GI_OK);
        for (int y = 0; y < src.height; y++)
            assert_memory_equal(gi_row(&labelled, y), gi_row(&flooded, y), (size_t)src.width);
        free(params);
        gi_image_free(&src);
        gi_image_free(&flooded);
        gi_image_free(&labelled);
    }
    queue->k = kernels;
    gi_queue_close_alone(&queue);
}
