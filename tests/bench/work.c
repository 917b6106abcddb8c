/* The work that the bench programs can do: names, weights, and lower bounds of the cost.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "kernels/kernels.h"
#include "tests/bench/request.h"
#include "kernels/color.h"
#include "kernels/convolution.h"
#include "kernels/morphology.h"
#include "kernels/rank.h"
#include "kernels/regions.h"
#include "kernels/tone.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each work with its primitive, or with the last of its primitives if there are several. */
static const struct {
    const char *name, *primitive;
} works[] = {
    [BENCH_GAUSSIAN] = {"gaussian", "convolve_separable"},
    [BENCH_DENSE] = {"dense", "convolve_2d"},
    [BENCH_BOX] = {"box", "box"},
    [BENCH_ERODE] = {"erode", "min_max"},
    [BENCH_MEDIAN] = {"median", "median"},
    [BENCH_CLAHE] = {"clahe", "clahe"},
    [BENCH_BILATERAL] = {"bilateral", "bilateral"},
    [BENCH_NLMEANS] = {"nlmeans", "nlmeans"},
    [BENCH_SOBEL] = {"sobel", "gradient_magnitude"},
    [BENCH_SOBEL_X] = {"sobel_x", "convolve_separable"},
    [BENCH_THRESHOLD] = {"threshold", "threshold"},
    [BENCH_LOCAL_MEAN] = {"local_mean", "local_threshold"},
    [BENCH_SAUVOLA] = {"sauvola", "local_threshold"},
    [BENCH_INTEGRAL] = {"integral", "scan"},
    [BENCH_AFFINE] = {"affine", "pointwise"},
    [BENCH_TABLE] = {"table", "pointwise"},
    [BENCH_ADD] = {"add", "arithmetic"},
    [BENCH_SUBTRACT] = {"subtract", "arithmetic"},
    [BENCH_MULTIPLY] = {"multiply", "arithmetic"},
    [BENCH_ABSDIFF] = {"absdiff", "arithmetic"},
    [BENCH_BLEND] = {"blend", "arithmetic"},
    [BENCH_MEAN] = {"mean", "arithmetic"},
    [BENCH_DIVIDE] = {"divide", "arithmetic"},
    [BENCH_COMPOSITE] = {"composite", "arithmetic"},
    [BENCH_MASK] = {"mask", "arithmetic"},
    [BENCH_FLIP_H] = {"flip_h", "layout"},
    [BENCH_FLIP_V] = {"flip_v", "layout"},
    [BENCH_TRANSPOSE] = {"transpose", "layout"},
    [BENCH_TURN_90] = {"turn_90", "layout"},
    [BENCH_WINDOW] = {"window", "copy_border"},
    [BENCH_SWAP] = {"swap", "permute_channels"},
    [BENCH_ROTATE] = {"rotate", "remap"},
    [BENCH_PERSPECTIVE] = {"perspective", "remap"},
    [BENCH_POLAR] = {"polar", "remap"},
    [BENCH_MAP_LENS] = {"map_lens", "remap"},
    [BENCH_MAP_POLAR] = {"map_polar", "remap"},
    [BENCH_MAP_JITTER] = {"map_jitter", "remap"},
    [BENCH_MAP_RANDOM] = {"map_random", "remap"},
    [BENCH_RESIZE] = {"resize", "resample"},
    [BENCH_OPERATION] = {"operation", NULL},
    [BENCH_LUMA] = {"luma", "luma"},
    [BENCH_HISTOGRAM] = {"histogram", "histogram"},
    [BENCH_SUM] = {"sum", "reduce"},
    [BENCH_REDUCE] = {"reduce", "reduce"},
    [BENCH_MATRIX] = {"matrix", NULL},
    [BENCH_SORT] = {"sort", NULL},
    [BENCH_BODIES] = {"bodies", NULL},
    [BENCH_TREE] = {"tree", NULL},
    [BENCH_DOUBLES] = {"doubles", NULL},
    [BENCH_SELECT] = {"select", "compact"},
    [BENCH_LABEL] = {"label", "label"},
    [BENCH_REGION_STATS] = {"region_stats", "region_stats"},
    [BENCH_COMPONENTS] = {"components", "region_stats"},
};

int bench_work_of(const char *name)
{
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(works[i].name, name) == 0)
            return (int)i;
    return -1;
}

struct gi_image bench_dst_shape(const struct bench_request *request)
{
    const struct bench_picture *picture = &request->picture;
    bool resize = request->work == BENCH_RESIZE, integral = request->work == BENCH_INTEGRAL;
    int64_t rows = (int64_t)picture->height * request->to / picture->width;
    return (struct gi_image){.width = (resize ? request->to : picture->width) << integral,
                             .height = resize ? (int)rows : picture->height,
                             .channels = request->work == BENCH_LUMA ? 1 : request->channels,
                             .type = integral ? GI_U32 : request->type};
}

const struct gi_ways *bench_ways(const struct gi_kernels *k, enum bench_work work)
{
    const struct gi_ways *const *ways = k->ways;
    if (!works[work].primitive)
        return NULL;
    while (*ways && strcmp((*ways)->primitive, works[work].primitive))
        ways++;
    return *ways;
}

enum gi_status bench_force_way(struct gi_queue *queue, const struct bench_request *request, int i,
                               struct gi_err *err)
{
    const struct gi_ways *ways = bench_ways(queue->k, request->work);
    const char *name = i < 0 ? request->way : gi_way_at(ways, i)->name;
    char text[64] = "";
    if (!ways)
        return name[0] ? gi_fail(err, GI_E_USAGE, "%s: has no ways", works[request->work].name)
                       : GI_OK;
    if (name[0])
        snprintf(text, sizeof text, "%s:%s", ways->primitive, name);
    return gi_queue_force_ways(queue, text, err);
}

static enum gi_status fill_resize(struct bench_weights *weights,
                                  const struct bench_request *request, struct gi_err *err)
{
    struct gi_image dst = bench_dst_shape(request);
    struct gi_resample_places row = gi_resample_all(request->picture.width, dst.width);
    struct gi_resample_places col = gi_resample_all(request->picture.height, dst.height);
    struct gi_resample *tables =
        gi_resample_tables(&weights->plan, request->filter, &row, &col, false, err);
    if (tables && request->alpha == GI_ALPHA_PLAIN)
        tables->alpha = GI_ALPHA_PLAIN;
    return tables ? GI_OK : err->status;
}

/* Returns whether the work is an operation with the same name, whose options are set by
 * set_all(). */
static bool is_operation(enum bench_work work)
{
    return work == BENCH_BILATERAL || work == BENCH_NLMEANS ||
           (work >= BENCH_ADD && work <= BENCH_MASK);
}

static enum gi_status set_all(void *params, const struct gi_filter *filter,
                              const struct bench_request *request, struct gi_err *err)
{
    const struct gi_option *rows = filter->options;
    char k[32], sigma[32];
    snprintf(k, sizeof k, "%d", request->k);
    snprintf(sigma, sizeof sigma, "%.17g", request->k / 3.0);
    enum gi_status status = GI_OK;
    if (request->work == BENCH_NLMEANS)
        return gi_option_set(params, rows, "patch", k, err);
    if (request->work == BENCH_BILATERAL) {
        status = gi_option_set(params, rows, "k", k, err);
        return status ? status : gi_option_set(params, rows, "sigma", sigma, err);
    }
    status = gi_option_set(params, rows, "with", "other", err);
    if (!status && request->work == BENCH_MEAN)
        status = gi_option_set(params, rows, "scale", "0.5", err);
    if (!status && request->work == BENCH_BLEND)
        status = gi_option_set(params, rows, "amount", "0.3", err);
    return status ? status : filter->check(params, err);
}

/* Makes the plan of the work's operation. */
static enum gi_status fill_plan(struct bench_weights *weights, const struct bench_request *request,
                                struct gi_err *err)
{
    bool mean = request->work == BENCH_MEAN;
    const struct gi_filter *filter = gi_filter_find(mean ? "add" : works[request->work].name);
    struct gi_image srcs[2] = {bench_dst_shape(request), bench_dst_shape(request)};
    assert(filter->params_nbytes <= sizeof weights->params);
    gi_options_default(weights->params, filter->options);
    enum gi_status status = set_all(weights->params, filter, request, err);
    return status ? status
                  : gi_plan_make(&weights->plan, filter, weights->params, srcs,
                                 1 + bench_has_other(request), err);
}

void bench_weights_free(struct bench_weights *weights)
{
    gi_plan_free(&weights->plan);
    free(weights->state);
    weights->state = NULL;
}

enum gi_status bench_weights_fill(struct bench_weights *weights,
                                  const struct bench_request *request, struct gi_err *err)
{
    int k = request->k;
    double sum = 0, sigma = k / 6.0, at;
    for (int i = 0; i < k; i++) {
        at = i - k / 2;
        sum += weights->taps[i] = (float)exp(-at * at / (2 * sigma * sigma));
    }
    for (int i = 0; i < k; i++)
        weights->taps[i] = (float)(weights->taps[i] / sum);
    /* The weights are random, so that the kernel has full rank and can't run as separable
     * passes. */
    for (int i = 0; i < k * k && k <= BENCH_DENSE_MAX; i++)
        weights->dense[i] = (float)bench_hash((uint64_t)i) / 4294967296.0f / (float)(k * k);
    for (int i = 0; i < 256; i++)
        weights->table8[i] = (uint8_t)(sqrt(i / 255.0) * 255.99);
    for (int i = 0; i < 65536; i++)
        weights->table16[i] = (uint16_t)(sqrt(i / 65535.0) * 65535.99);
    if (request->work == BENCH_OPERATION)
        return bench_operation_fill(weights, request, err);
    if (is_operation(request->work))
        return fill_plan(weights, request, err);
    return request->work == BENCH_RESIZE ? fill_resize(weights, request, err) : GI_OK;
}

static enum gi_status run_pointwise(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct bench_request *request,
                                    const struct bench_weights *weights, struct gi_err *err)
{
    struct gi_pointwise point = {.op = request->work == BENCH_AFFINE ? GI_POINTWISE_AFFINE
                                                                     : GI_POINTWISE_TABLE,
                                 .alpha_too = request->alpha == GI_ALPHA_PLAIN};
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        point.scale[c] = -0.9f;
        point.offset[c] = gi_type_full_scale(src->type);
        point.table[c] = src->type == GI_U8 ? (const void *)weights->table8 : weights->table16;
    }
    return queue->k->pointwise(queue, dst, src, &point, err);
}

static enum gi_status run_layout(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, enum bench_work work,
                                 struct gi_err *err)
{
    struct gi_copy_border window = {.left = 13, .top = 7};
    struct gi_permute_channels swap = {.nsources = 1};
    for (int c = 0; c < src->channels; c++)
        swap.from[c].channel = src->channels - 1 - c;
    switch (work) {
    case BENCH_FLIP_H:
        return queue->k->layout(queue, dst, src, &(int){GI_LAYOUT_MIRROR_X}, err);
    case BENCH_FLIP_V:
        return queue->k->layout(queue, dst, src, &(int){GI_LAYOUT_MIRROR_Y}, err);
    case BENCH_TRANSPOSE:
        return queue->k->layout(queue, dst, src, &(int){GI_LAYOUT_TRANSPOSE}, err);
    case BENCH_TURN_90:
        return queue->k->layout(queue, dst, src, &(int){GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_Y},
                                err);
    case BENCH_WINDOW:
        return queue->k->copy_border(queue, dst, src, &window, err);
    default:
        return queue->k->permute_channels(queue, dst, src, &swap, err);
    }
}

static enum gi_status run_remap(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_image *field,
                                const struct bench_request *request, struct gi_err *err)
{
    const double one = (double)((int64_t)1 << GI_AFFINE_BITS), pi = 3.14159265358979323846;
    double x = (src->width - 1) / 2.0, y = (src->height - 1) / 2.0, w = src->width;
    double c = cos(request->degrees * pi / 180), s = sin(request->degrees * pi / 180);
    double turn[6] = {c, s, x - c * x - s * y, -s, c, y + s * x - c * y};
    double keystone[9] = {1, 0.1, -0.025 * w, 0.08, 1, -0.018 * w, 0.16 / w, 0.08 / w, 1};
    struct gi_remap warp = {.interpolation = request->interpolation,
                            .cubic = gi_cubic_keys(-0.5f),
                            .alpha = request->alpha,
                            .border = {GI_BORDER_VALUE, {0}},
                            .height = src->height};
    struct gi_map *map = &warp.map;
    map->kind = request->work == BENCH_ROTATE        ? GI_MAP_AFFINE
                : request->work == BENCH_PERSPECTIVE ? GI_MAP_PROJECTIVE
                : bench_has_map(request)             ? GI_MAP_FIELD
                                                     : GI_MAP_RINGS;
    for (int i = 0; i < 6; i++)
        map->affine[i] = llrint(turn[i] * one);
    memcpy(map->m, keystone, sizeof keystone);
    map->field[0] = map->field[1] = field;
    map->rings = (struct gi_rings){
        .center_x = x, .center_y = y, .radial = 1.4, .angular = src->height / (2 * pi)};
    return queue->k->remap(queue, dst, src, &warp, err);
}

static enum gi_status run_local(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct bench_request *request,
                                struct gi_err *err)
{
    double n = (double)request->k * request->k, full = (double)gi_type_full_scale(src->type);
    struct gi_local local = {.k = request->k, .scale = GI_LOCAL_LEVELS - 1};
    double most = src->type == GI_F32 ? local.scale : full;
    local.mean = request->work == BENCH_LOCAL_MEAN;
    local.shift = local.mean ? n * rint(most * 10 / 255) : 0;
    local.part = 0.2;
    local.slope = 0.2 / (n * most / 2);
    return queue->k->local_threshold(queue, dst, src, &local, err);
}

enum gi_status bench_filter_run(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_image *other,
                                const struct bench_request *request,
                                const struct bench_weights *weights, struct gi_err *err)
{
    static const float difference[3] = {-1, 0, 1}, smooth[3] = {1, 2, 1};
    const float *taps = weights->taps;
    int k = request->k;
    struct gi_border_spec border = {GI_BORDER_CLAMP, {0}};
    struct gi_separable gaussian = {.row = taps,
                                    .col = taps,
                                    .nrow = k,
                                    .ncol = k,
                                    .row_anchor = k / 2,
                                    .col_anchor = k / 2,
                                    .sum = 1,
                                    .alpha = request->alpha,
                                    .border = border};
    struct gi_separable sobel_x = {.row = difference,
                                   .col = smooth,
                                   .nrow = 3,
                                   .ncol = 3,
                                   .row_anchor = 1,
                                   .col_anchor = 1,
                                   .alpha = GI_ALPHA_PLAIN,
                                   .border = border,
                                   .epilogue = {.kind = GI_EPILOGUE_ABS}};
    struct gi_dense dense = {.weights = weights->dense,
                             .width = k,
                             .height = k,
                             .anchor_x = k / 2,
                             .anchor_y = k / 2,
                             .sum = 1,
                             .alpha = request->alpha,
                             .border = border};
    struct gi_box box = {k, request->alpha, border};
    struct gi_min_max erode = {k, k, k / 2, k / 2, false, false, border, NULL, 0};
    struct gi_median median = {.width = k, .height = k, .rank = k * k / 2, .border = border};
    struct gi_gradient_magnitude gradient = {{1, 2, 1}, GI_ALPHA_PLAIN, border};
    const struct gi_image srcs[2] = {*src, bench_has_other(request) ? *other : *src};
    struct gi_scan integral = {.along = GI_SCAN_BOTH, .words = 2, .shift = 30};
    if (request->work >= BENCH_FLIP_H && request->work <= BENCH_SWAP)
        return run_layout(queue, dst, src, request->work, err);
    if (request->work >= BENCH_ROTATE && request->work <= BENCH_MAP_RANDOM)
        return run_remap(queue, dst, src, other, request, err);
    if (request->work == BENCH_OPERATION)
        return bench_operation_run(queue, dst, srcs, weights, err);
    if (is_operation(request->work))
        return weights->plan.filter->run(&weights->plan, queue,
                                         &(struct gi_work){.dst = dst, .srcs = srcs}, err);
    switch (request->work) {
    case BENCH_RESIZE:
        return queue->k->resample(queue, dst, src, weights->plan.tables, err);
    case BENCH_GAUSSIAN:
        return queue->k->convolve_separable(queue, dst, src, &gaussian, err);
    case BENCH_SOBEL_X:
        return queue->k->convolve_separable(queue, dst, src, &sobel_x, err);
    case BENCH_DENSE:
        return queue->k->convolve_2d(queue, dst, src, &dense, err);
    case BENCH_BOX:
        return queue->k->box(queue, dst, src, &box, err);
    case BENCH_ERODE:
        return queue->k->min_max(queue, dst, src, &erode, err);
    case BENCH_MEDIAN:
        return queue->k->median(queue, dst, src, &median, err);
    case BENCH_CLAHE:
        return queue->k->clahe(queue, dst, src,
                               &(struct gi_clahe){.across = 8, .down = 8, .clip = 2}, err);
    case BENCH_SOBEL:
        return queue->k->gradient_magnitude(queue, dst, src, &gradient, err);
    case BENCH_THRESHOLD:
        return queue->k->threshold(
            queue, dst, src, &(struct gi_threshold){gi_type_full_scale(src->type) / 2, false}, err);
    case BENCH_LOCAL_MEAN:
    case BENCH_SAUVOLA:
        return run_local(queue, dst, src, request, err);
    case BENCH_INTEGRAL:
        return queue->k->scan(queue, dst, src, &integral, err);
    case BENCH_LUMA:
        return queue->k->luma(queue, dst, src, NULL, err);
    default:
        return run_pointwise(queue, dst, src, request, weights, err);
    }
}

struct gi_histogram_spec bench_histogram_spec(const struct bench_request *request)
{
    struct gi_histogram_spec range = {.key = GI_KEY_RANGE, .nbins = 256, .lo = 0, .hi = 1};
    struct gi_histogram_spec values = {.key = GI_KEY_VALUE,
                                       .nbins = request->type == GI_U8 ? 256 : 65536};
    return request->type == GI_F32 ? range : values;
}

struct bench_cost bench_cost_of(const struct bench_request *request, double kept)
{
    double pixels = (double)request->picture.width * request->picture.height, k = request->k;
    double samples = pixels * request->channels, size = (double)gi_type_nbytes(request->type);
    double regions = kept * (double)sizeof(struct gi_region_sums), labels = pixels * 4;
    struct bench_cost cost = {samples * size, 0};
    struct gi_image dst = bench_dst_shape(request);
    if (bench_is_filter(request->work))
        cost.bytes +=
            (double)dst.width * dst.height * dst.channels * (double)gi_type_nbytes(dst.type);
    if (bench_has_other(request))
        cost.bytes += samples * size;
    if (bench_has_map(request))
        cost.bytes += 2 * sizeof(float) * pixels;
    switch (request->work) {
    case BENCH_GAUSSIAN:
        cost.fmas = 2 * k * samples;
        break;
    case BENCH_DENSE:
        cost.fmas = k * k * samples;
        break;
    case BENCH_MATRIX:
        cost.bytes += samples * size;
        cost.fmas = BENCH_MATRIX_SIDE * samples;
        break;
    case BENCH_SORT: /* counts the digits, then reads and writes once per pass */
        cost.bytes = (1 + 2 * BENCH_SORT_PASSES) * samples * size;
        break;
    case BENCH_BODIES:
        cost.bytes += samples * size;
        cost.fmas = BENCH_BODIES_FMAS * pixels * pixels;
        break;
    case BENCH_TREE: /* every level reads the values of the level before and writes its own */
        cost.bytes *= (request->by + 1.0) / (request->by - 1.0);
        break;
    case BENCH_DOUBLES:
        cost.bytes = BENCH_DOUBLES_A_PIXEL * pixels * sizeof(double);
        break;
    case BENCH_SELECT:
        cost.bytes += kept * (4 + size);
        break;
    case BENCH_LABEL:
        cost.bytes += labels;
        break;
    case BENCH_REGION_STATS:
    case BENCH_COMPONENTS:
        cost.bytes += labels + regions;
        break;
    default:
        break;
    }
    return cost;
}
