/* Template matching: the primitive correlate makes a map of scores, compact lists the places that
 * are good enough, and the host takes the best of them, each of which suppresses places around it.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/correlate.h"
#include "kernels/kernels.h"
#include "kernels/regions.h"

const struct gi_choice gi_find_methods[] = {
    [GI_CORRELATE_CCOEFF] = {"ccoeff", NULL,
                             "zero-mean normalised cross-correlation: brightness and contrast do "
                             "not matter (OpenCV: TM_CCOEFF_NORMED)"},
    [GI_CORRELATE_NCC] = {"ncc", NULL,
                          "normalised cross-correlation: contrast does not matter (OpenCV: "
                          "TM_CCORR_NORMED)"},
    [GI_CORRELATE_SQDIFF] = {"sqdiff", NULL,
                             "normalised squared differences: 0 where the template is equal "
                             "(OpenCV: TM_SQDIFF_NORMED)"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("template", IMAGE, struct gi_find_params, template), .letter = 't', .picture = true,
     .example = "logo.png", .help = "The picture to find. Its transparent pixels do not count"},
    {GI_OPTION("method", CHOICE, struct gi_find_params, method), .letter = 'm',
     .default_text = "ccoeff", .choices = gi_find_methods, .help = "How the score is computed"},
    {GI_OPTION("count", INT, struct gi_find_params, count), .letter = 'n', .default_text = "0",
     .min = 0, .max = 1000000, .help = "List at most this many places, the best; 0 means all"},
    {GI_OPTION("min-score", REAL, struct gi_find_params, min_score), .min = -1, .max = 1,
     .help = "List only places with this score or more, by default 0.8; not for --method sqdiff"},
    {GI_OPTION("max-score", REAL, struct gi_find_params, max_score), .min = 0, .max = 1,
     .help = "List only places with this score or less, by default 0.1; for --method sqdiff"},
    {GI_OPTION("max-overlap", REAL, struct gi_find_params, max_overlap), .default_text = "25",
     .min = 0, .max = 100, .unit = "%",
     .help = "Drop a place if a better one covers more than this part of its area (non-maximum "
             "suppression)"},
    {.name = NULL},
};

bool gi_find_is_least(int method)
{
    return method == GI_CORRELATE_SQDIFF;
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_find_params *p = params;
    bool least = gi_find_is_least(p->method);
    if (!p->template)
        return gi_fail(err, GI_E_USAGE, "--template: missing: want a picture to find");
    if (least && !isnan(p->min_score))
        return gi_fail(
            err, GI_E_USAGE,
            "--min-score %.10g: want --max-score with --method sqdiff, whose best scores "
            "are the smallest",
            p->min_score);
    if (!least && !isnan(p->max_score))
        return gi_fail(err, GI_E_USAGE,
                       "--max-score %.10g: want --min-score, or --method sqdiff with it",
                       p->max_score);
    return GI_OK;
}

/* Returns the shape of the map. */
static struct gi_image map_of(const struct gi_image *src, const struct gi_image *pattern)
{
    return (struct gi_image){.width = src->width - pattern->width + 1,
                             .height = src->height - pattern->height + 1,
                             .channels = 1,
                             .type = GI_F32};
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_find_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *pattern = &plan->sources[1];
    if (pattern->width > src->width || pattern->height > src->height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--template %s: is %d x %d, want at most %d x %d as the input", p->template,
                       pattern->width, pattern->height, src->width, src->height);
    if (src->width > INT32_MAX / GI_MAX_CHANNELS || src->height > INT32_MAX / GI_MAX_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want sides of at most %d pixels",
                       src->width, src->height, INT32_MAX / GI_MAX_CHANNELS);
    if (pattern->width > GI_CORRELATE_WIDTH_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--template %s: is %d pixels wide, want at most %d",
                       p->template, pattern->width, GI_CORRELATE_WIDTH_MAX);
    if (pattern->type != src->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--template %s: is %s, want %s as the input (--depth)", p->template,
                       gi_type_word(pattern->type), gi_type_word(src->type));
    if (gi_color_channels(pattern) != gi_color_channels(src))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--template %s: is %s, want %s as the input (or --gray)", p->template,
                       gi_color_channels(pattern) == 1 ? "gray" : "in colour",
                       gi_color_channels(src) == 1 ? "gray" : "colour");
    struct gi_image map = map_of(src, pattern);
    double places = (double)map.width * map.height / ((double)src->width * src->height);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    /* Products of bytes take no longer for larger patterns (kernels/cpu, way `fourier`). */
    double sums = 3.0 * pattern->width * pattern->height, most = 600;
    bool quick = src->type == GI_U8 && !gi_has_alpha(pattern) && sums > most;
    plan->cost.fmas = places * (quick ? most : sums);
    plan->cost.nbytes = 4;
    plan->array_nbytes = (size_t)gi_image_nbytes(&map);
    return GI_OK;
}

/* ---- the best places ---- */

/* A place of the map that is good enough. */
struct candidate {
    float score; /* negated if small scores are good */
    int x, y;
};

/* Returns a key that is smaller for better scores. -0 counts as 0. */
static uint32_t key_of(const struct candidate *candidate)
{
    const float score = candidate->score + 0.0f;
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return ~gi_float_key(bits);
}

/* Sorts the candidates, which are in raster order, by their scores, the best first; ties stay in
 * raster order. This is a radix sort, a byte of the key per pass. *all is malloc()ed before and
 * after. */
static enum gi_status sort_by_score(struct candidate **all, size_t n, struct gi_err *err)
{
    size_t ends[sizeof(uint32_t)][256] = {{0}};
    struct candidate *from = *all, *to = malloc(n * sizeof *to);
    if (!to)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of places");
    for (size_t i = 0; i < n; i++)
        for (size_t byte = 0; byte < sizeof(uint32_t); byte++)
            ends[byte][key_of(&from[i]) >> 8 * byte & 255]++;
    for (size_t byte = 0; byte < sizeof(uint32_t); byte++) {
        for (int i = 1; i < 256; i++)
            ends[byte][i] += ends[byte][i - 1];
        for (size_t i = n; i-- > 0;)
            to[--ends[byte][key_of(&from[i]) >> 8 * byte & 255]] = from[i];
        struct candidate *sorted = to;
        to = from;
        from = sorted;
    }
    *all = from;
    free(to);
    return GI_OK;
}

/* Returns the largest float below or at `limit`. */
static float float_below(double limit)
{
    float at = (float)limit;
    return at > limit ? nextafterf(at, -INFINITY) : at;
}

/* Returns the places of `scores` that are good enough. */
static struct gi_predicate good_enough(const struct gi_image *scores,
                                       const struct gi_find_params *p)
{
    double min_score = isnan(p->min_score) ? 0.8 : p->min_score;
    double max_score = isnan(p->max_score) ? 0.1 : p->max_score;
    if (gi_find_is_least(p->method))
        return (struct gi_predicate){scores, float_below(max_score), true};
    float below = float_below(min_score);
    return (struct gi_predicate){scores, below < min_score ? below : nextafterf(below, -INFINITY),
                                 false};
}

/* Lists the places of `scores`, which is on the backend, that are good enough, the best first. The
 * backend chooses them, so that the map stays there. *all is malloc()ed. */
static enum gi_status list_candidates(struct candidate **all, size_t *n, struct gi_queue *queue,
                                      const struct gi_image *scores, const struct gi_find_params *p,
                                      struct gi_err *err)
{
    const struct gi_predicate good = good_enough(scores, p);
    struct gi_pixel_list list;
    *all = NULL;
    *n = 0;
    enum gi_status status = queue->k->compact(queue, &list, scores, &good, err);
    if (status)
        return status;
    *all = malloc((size_t)(list.n + 1) * sizeof **all);
    if (!*all)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a list of places");
    for (uint64_t i = 0; i < list.n && !status; i++)
        (*all)[(*n)++] = (struct candidate){good.invert ? -list.value[i] : list.value[i],
                                            (int)list.x[i], (int)list.y[i]};
    gi_pixel_list_free(&list);
    return status || !*n ? status : sort_by_score(all, *n, err);
}

/* The places that were dropped because of a better one, a byte for each place of the map. */
struct dropped {
    unsigned char *at;
    const struct gi_image *map, *pattern;
    double limit; /* pixels that two templates may share */
};

/* Drops the places whose templates share too many pixels with one at (x, y). */
static void drop_around(const struct dropped *dropped, int x, int y)
{
    const struct gi_image *map = dropped->map;
    double w = dropped->pattern->width, h = dropped->pattern->height;
    for (int dy = 0; dy < h; dy++) {
        int reach = 0; /* places on each side that are dropped, with the one in the middle */
        while (reach < w && (w - reach) * (h - dy) > dropped->limit)
            reach++;
        if (!reach)
            break;
        int first = x - (reach - 1) > 0 ? x - (reach - 1) : 0;
        int end = map->width - x < reach ? map->width : x + reach;
        for (int side = -1; side <= 1; side += 2) {
            int row = y + side * dy;
            if (row >= 0 && row < map->height)
                memset(dropped->at + (size_t)row * (size_t)map->width + (size_t)first, 1,
                       (size_t)(end - first));
        }
    }
}

/* Takes the best places from the map, which is on the backend. */
static enum gi_status take_best(struct gi_find *find, struct gi_queue *queue,
                                const struct gi_image *map, const struct gi_image *pattern,
                                const struct gi_find_params *p, struct gi_err *err)
{
    struct candidate *all;
    size_t n, most;
    struct dropped dropped = {.map = map, .pattern = pattern};
    dropped.limit = p->max_overlap / 100 * pattern->width * pattern->height;
    enum gi_status status = list_candidates(&all, &n, queue, map, p, err);
    most = p->count && (size_t)p->count < n ? (size_t)p->count : n;
    if (!status && n) {
        find->hits = malloc(most * sizeof *find->hits);
        dropped.at = calloc((size_t)map->width, (size_t)map->height);
        if (!find->hits || !dropped.at)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: a list of places");
    }
    for (size_t i = 0; i < n && !status && find->n < most; i++) {
        const struct candidate *c = &all[i];
        if (dropped.at[(size_t)c->y * (size_t)map->width + (size_t)c->x])
            continue;
        double score = (double)(gi_find_is_least(p->method) ? -c->score : c->score);
        find->hits[find->n++] = (struct gi_hit){c->x, c->y, pattern->width, pattern->height, score};
        drop_around(&dropped, c->x, c->y);
    }
    free(dropped.at);
    free(all);
    return status;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_find_params *p = plan->params;
    const struct gi_correlate spec = {(enum gi_correlate_method)p->method, &srcs[1]};
    const struct gi_image shape = map_of(&srcs[0], &srcs[1]);
    struct gi_find *find = result;
    struct gi_image scores;
    enum gi_status status =
        queue->k->alloc(queue, &scores, shape.width, shape.height, 1, GI_F32, err);
    if (status)
        return status;
    status = queue->k->correlate(queue, &scores, srcs, &spec, err);
    if (!status)
        status = take_best(find, queue, &scores, &srcs[1], p, err);
    if (!status && p->map)
        return queue->k->download(queue, &find->map, &scores, NULL, err);
    queue->k->release(queue, &scores);
    return status;
}

static void result_free(void *result)
{
    struct gi_find *find = result;
    free(find->hits);
    gi_image_free(&find->map);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_find *find = result;
    gi_digest_integer(digest, (int64_t)find->n);
    for (size_t i = 0; i < find->n; i++) {
        gi_digest_integer(digest, find->hits[i].x);
        gi_digest_integer(digest, find->hits[i].y);
        gi_digest_reals(digest, &find->hits[i].score, 1);
    }
    if (find->map.data)
        gi_digest_image(digest, &find->map);
}

static void ask_all(void *params)
{
    ((struct gi_find_params *)params)->map = true;
}

const struct gi_filter gi_filter_find_places = {
    .name = "find",
    .group = GI_GROUP_MEASUREMENT,
    .planes = GI_PLANES_RGB,
    .summary = "Find a picture in an image: template matching by cross-correlation",
    .manual =
        "Lists the places where the picture of --template fits, the best first: the coordinates "
        "of its upper left pixel, its width and height, and the score. The template must have the "
        "size and the angle that it has in the image.\n\n"
        "At each place the samples p of the template are compared with the samples v below them, "
        "over all colour channels. With --method ccoeff the score is the sum of (p - mean p) * (v "
        "- mean v), with the means of each channel, divided by the root of the product of the "
        "sums of their squares; it is 1 where the image is equal up to brightness and contrast, "
        "and -1 for a negative. With ncc it is the sum of p * v, divided by the root of sum p * p "
        "times sum v * v, and with sqdiff the sum of (p - v)^2 divided by this root, at most 1. "
        "Where the divisor is 0, as in areas of one value, the score is 0, with sqdiff 1 unless "
        "the samples are equal. OpenCV's matchTemplate() gives the same scores within 0.0001, "
        "except there. Sums are exact integers for 8 and 16 bits, and double for floats. The alpha "
        "of the image does not count.\n\n"
        "A place is dropped if a better one covers more than --max-overlap of its area. An image "
        "without a place has no row in the CSV of --table, and an empty list in its .jsonl.\n\n"
        "In 8 bits, with a template that has no alpha, the time hardly depends on the size of the "
        "template. Otherwise it grows with the number of pixels of the template times those of "
        "the image: reduce both by gpuimg resize to find large pictures.",
    .options = options,
    .params_nbytes = sizeof(struct gi_find_params),
    .check = check,
    .plan = plan,
    .analysis = {.nbytes = sizeof(struct gi_find),
                 .run = analyse,
                 .free = result_free,
                 .digest = result_digest,
                 .ask_all = ask_all},
};
