/* Hit-or-miss transform (J. Serra, Image analysis and mathematical morphology, 1982) of a mask: an
 * erosion by one structuring element, minus a dilation by another one.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/morphology/flat.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "imgio/small.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct hit_or_miss_params {
    const char *hit, *miss; /* rows of numbers; NULL: unset */
    struct gi_reals hit_origin, miss_origin;
    struct gi_level at;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("hit", CONTENT, struct hit_or_miss_params, hit), .drawn = true,
     .metavar = "ROWS|FILE", .example = "0 1; 1 1",
     .help = "Structuring element of pixels that must be foreground: rows of 1 (inside) and 0 "
             "(outside), or the name of a file, which is either a text with such rows or a gray "
             "image in which black is outside"},
    {GI_OPTION("miss", CONTENT, struct hit_or_miss_params, miss), .drawn = true,
     .metavar = "ROWS|FILE",
     .help = "Structuring element of pixels that must be background; by default those of the "
             "rectangle of --hit that are not in --hit"},
    GI_FOOTPRINT_ORIGIN_OPTION("origin", struct hit_or_miss_params, hit_origin, "--hit"),
    GI_FOOTPRINT_ORIGIN_OPTION("miss-origin", struct hit_or_miss_params, miss_origin,
                               "--miss; by default as --origin"),
    {GI_OPTION("threshold", LEVEL, struct hit_or_miss_params, at), .also = "at", .letter = 't',
     .default_text = "0",
     .help = "Pixels brighter than this level are foreground; in a colour image the luma is "
             "compared"},
    {GI_OPTION("border", CHOICE, struct hit_or_miss_params, border.mode), .default_text = "border",
     .choices = gi_border_choices,
     .help = "Border mode: which values the pixels outside the image have"},
    {GI_OPTION("border-value", COLOR, struct hit_or_miss_params, border.value), .default_text = "0",
     .help = "Value of the pixels outside the image, for --border border: background if it is 0, "
             "else foreground"},
    {.name = NULL},
};

/* Makes `miss` the pixels of the rectangle of `hit` that are not in it, which are not all. The
 * caller frees it, also after an error. */
static enum gi_status complement(struct gi_footprint *miss, const struct gi_footprint *hit,
                                 struct gi_err *err)
{
    int top = hit->anchor_y, left = hit->anchor_x, n = 0, i = 0;
    *miss = *hit;
    miss->runs = gi_small_alloc(((size_t)hit->nruns + (size_t)hit->height) * sizeof *hit->runs);
    miss->pixels = hit->width * hit->height - hit->pixels;
    for (int y = -top; y < hit->height - top; y++) {
        int next = -left; /* the first column that no run before covers */
        for (; i < hit->nruns && hit->runs[i].y == y; i++) {
            if (hit->runs[i].first > next)
                miss->runs[n++] = (struct gi_footprint_run){(int16_t)y, (int16_t)next,
                                                            (int16_t)(hit->runs[i].first - 1)};
            next = hit->runs[i].last + 1;
        }
        if (next < hit->width - left)
            miss->runs[n++] = (struct gi_footprint_run){(int16_t)y, (int16_t)next,
                                                        (int16_t)(hit->width - left - 1)};
    }
    miss->nruns = n;
    return n <= GI_RUNS_MAX
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--hit: want at most %d runs of pixels", GI_RUNS_MAX);
}

struct hit_or_miss_tables {
    struct gi_min_max hit, miss; /* miss.width 0: no pixels must be background */
    struct gi_footprint_run runs[];
};

/* Returns the border of the mask, which has one channel. */
static struct gi_border_spec border_of(const struct hit_or_miss_params *p,
                                       const struct gi_image *src)
{
    struct gi_image mask = *src;
    mask.channels = 1;
    struct gi_border_spec border = gi_border_spec_from(&p->border, &mask);
    border.value[0] = border.value[0] > 0 ? gi_type_full_scale(src->type) : 0;
    return border;
}

/* Fills in an erosion, or with `greatest` the maximum under the same pixels. Returns the end of the
 * runs. */
static struct gi_footprint_run *set_filter(struct gi_min_max *spec, struct gi_footprint_run *runs,
                                           const struct gi_footprint *w,
                                           const struct gi_border_spec *border, bool greatest)
{
    *spec = (struct gi_min_max){.width = w->width,
                                .height = w->height,
                                .anchor_x = w->anchor_x,
                                .anchor_y = w->anchor_y,
                                .greatest = greatest,
                                .border = *border,
                                .runs = w->runs ? runs : NULL,
                                .nruns = w->nruns};
    for (int i = 0; i < w->nruns; i++)
        runs[i] = w->runs[i];
    return runs + w->nruns;
}

/* Reads both structuring elements. miss->width 0: there is none. The caller frees both, also after
 * an error. */
static enum gi_status read_elements(struct gi_footprint *hit, struct gi_footprint *miss,
                                    const struct hit_or_miss_params *p, struct gi_err *err)
{
    bool apart = p->miss_origin.n > 0;
    *hit = *miss = (struct gi_footprint){0};
    enum gi_status status = gi_footprint_read(hit, p->hit, "hit", GI_TAPS_MAX, err);
    if (!status && p->miss)
        status = gi_footprint_read(miss, p->miss, "miss", GI_TAPS_MAX, err);
    if (!status && !p->miss && hit->runs)
        status = complement(miss, hit, err);
    if (!status)
        status = gi_footprint_place(hit, &p->hit_origin, "origin", err);
    if (!status && miss->width)
        status = gi_footprint_place(miss, apart ? &p->miss_origin : &p->hit_origin,
                                    apart ? "miss-origin" : "origin", err);
    return status;
}

static enum gi_status check(void *params, struct gi_err *err)
{
    struct gi_footprint hit, miss;
    const struct hit_or_miss_params *p = params;
    if (!p->hit)
        return gi_fail(err, GI_E_USAGE, "--hit: missing: want rows of 1 and 0");
    enum gi_status status = read_elements(&hit, &miss, p, err);
    gi_footprint_free(&hit);
    gi_footprint_free(&miss);
    return status;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct hit_or_miss_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_footprint hit, miss;
    struct hit_or_miss_tables *tables = NULL;
    struct gi_border_spec border = border_of(p, src);
    enum gi_status status = read_elements(&hit, &miss, p, err);
    size_t nruns = (size_t)hit.nruns + (size_t)miss.nruns;
    if (!status)
        tables = gi_plan_tables(plan, sizeof *tables + nruns * sizeof *tables->runs, err);
    if (!status && !tables)
        status = GI_E_MEMORY;
    if (tables) {
        struct gi_footprint_run *rest =
            set_filter(&tables->hit, tables->runs, &hit, &border, false);
        if (miss.width)
            set_filter(&tables->miss, rest, &miss, &border, true);
    }
    plan->halo = gi_footprint_halo(&hit);
    if (miss.width && gi_footprint_halo(&miss) > plan->halo)
        plan->halo = gi_footprint_halo(&miss);
    plan->border = border.mode;
    plan->cost.other = (4.0 + (double)nruns) / src->channels;
    plan->cost.nbytes = 6.0 / src->channels;
    plan->result.channels = 1;
    gi_level_plan(plan, &p->at);
    gi_footprint_free(&hit);
    gi_footprint_free(&miss);
    return status;
}

/* Computes the transform of a mask. `below` has its shape. */
static enum gi_status transform(const struct hit_or_miss_tables *tables, struct gi_queue *queue,
                                struct gi_image *dst, const struct gi_image *mask,
                                struct gi_image *below, struct gi_err *err)
{
    const struct gi_threshold above = {0, false};
    enum gi_status status = queue->k->min_max(queue, dst, mask, &tables->hit, err);
    if (status || !tables->miss.width)
        return status;
    status = queue->k->min_max(queue, below, mask, &tables->miss, err);
    if (!status)
        status = gi_flat_subtract(queue, dst, dst, below, err);
    if (!status) /* floats: -1 becomes 0 */
        status = queue->k->threshold(queue, dst, dst, &above, err);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct hit_or_miss_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    struct gi_threshold level = {0, false};
    double value;
    bool by_luma = gi_luma_decides(src, false);
    struct gi_image judge, made[2];
    int n = 0;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    while (!status && n < 2) {
        status = queue->k->alloc(queue, &made[n], src->width, src->height, 1, src->type, err);
        n += !status;
    }
    if (!status)
        status = gi_level_resolve(&value, &p->at, src->type, work->state, err);
    if (!status) {
        level.above = gi_level_value(value, src->type);
        status = queue->k->threshold(queue, &made[0], &judge, &level, err);
    }
    if (!status)
        status = transform(plan->tables, queue, work->dst, &made[0], &made[1], err);
    while (n > 0)
        queue->k->release(queue, &made[--n]);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

const struct gi_filter gi_filter_hit_or_miss = {
    .name = "hit-or-miss",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "Hit-or-miss transform: find the places of a pattern in a mask",
    .examples =
        "gpuimg hit-or-miss mask.png corners.png --hit \"0 1 0; 0 1 1; 0 0 0\"\n"
        "gpuimg hit-or-miss mask.png single.png --hit \"0 0 0; 0 1 0; 0 0 0\"\n"
        "gpuimg hit-or-miss lines.png ends.png --hit \"0 0 0; 0 1 0; 0 1 0\" --miss \"1 1 1; "
        "1 0 1; 0 0 0\"",
    .manual =
        "Pixels brighter than --threshold are foreground; by default these are all pixels that "
        "are not black. A pixel of the result is white if all pixels under --hit are foreground "
        "and all pixels under --miss are background. By default --miss is the rest of the "
        "rectangle of --hit. Pixels that are in neither do not matter. Pixels outside the image "
        "are background, unless --border says otherwise.\n\n"
        "Rows are separated by ';' or line ends. If a side is even, the later one of its two "
        "middle pixels counts as the middle. The result is a mask of one "
        "channel.\n\n" GI_FOOTPRINT_ORIGIN_MANUAL "\n\n"
        "The result is that of scipy's binary_hit_or_miss(), whose origin1 and origin2 are "
        "--origin and --miss-origin (J. Serra, Image analysis and mathematical morphology, 1982).",
    .options = options,
    .params_nbytes = sizeof(struct hit_or_miss_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = gi_level_measure,
};
