/* Thinning of a mask to lines of one pixel (skeletons), by the lookup tables of Zhang and Suen or
 * of Guo and Hall, or on the host by the method of Lee (thin_lee.c). SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "filters/morphology/thin_lee.h"
#include "filters/regions/choose.h"
#include "filters/regions/host_image.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"
#include "kernels/tone.h"

enum method { ZHANG, GUO_HALL, LEE };
enum like { OPENCV, SKIMAGE };

struct thin_params {
    struct gi_choose_params choose; /* `at` is the threshold */
    int method, like, cycles;
};

static const struct gi_choice methods[] = {
    {"zhang", NULL, "T. Y. Zhang and C. Y. Suen, 1984"},
    {"guo-hall", NULL, "Z. Guo and R. W. Hall, 1989: fewer pixels at corners of lines"},
    {"lee", NULL, "T.-C. Lee, R. L. Kashyap and C.-N. Chu, 1994: one pixel after the other"},
    {"zhang-suen", "zhang", NULL},
    {"guohall", "guo-hall", NULL},
    {0},
};

static const struct gi_choice peers[] = {
    {"opencv", NULL, "the tables of the papers"},
    {"skimage", NULL, "those of skeletonize() for zhang and of thin() for guo-hall"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct thin_params, method), .letter = 'm',
     .default_text = "zhang", .choices = methods, .help = "Which pixels are removed"},
    {GI_OPTION("like", CHOICE, struct thin_params, like), .default_text = "opencv",
     .choices = peers, .help = "Whose variant of zhang or guo-hall"},
    {GI_OPTION("cycles", INT, struct thin_params, cycles), .also = "iterations", .letter = 'n',
     .min = 1, .max = 1000000,
     .help = "Stop after this many cycles, each of which removes pixels on all sides; by default "
             "the mask is thinned until nothing changes"},
    GI_CHOOSE_AT_OPTION,
    {.name = NULL},
};

/* ---- tables ---- */

/* The neighbours P2 to P9 of the papers, clockwise from above, as numbers of struct gi_thin. */
static const int clockwise[8] = {1, 2, 4, 7, 6, 5, 3, 0};

/* Sets p[2] to p[9], and p[10] = p[2]. */
static void neighbors_of(bool p[11], int code)
{
    for (int i = 0; i < 9; i++)
        p[2 + i] = code >> clockwise[i % 8] & 1;
}

/* Zhang and Suen, conditions (a) to (d) and (c') to (d'). */
static bool zhang_removes(const bool *p, int pass)
{
    int neighbors = 0, rises = 0;
    for (int i = 2; i < 10; i++) {
        neighbors += p[i];
        rises += !p[i] && p[i + 1];
    }
    bool closed = pass == 0 ? (p[2] && p[4] && p[6]) || (p[4] && p[6] && p[8])
                            : (p[2] && p[4] && p[8]) || (p[2] && p[6] && p[8]);
    return neighbors >= 2 && neighbors <= 6 && rises == 1 && !closed;
}

/* Guo and Hall, algorithm A1. */
static bool guo_hall_removes(const bool *p, int pass)
{
    int components = 0, first = 0, second = 0;
    for (int i = 2; i < 10; i += 2) {
        components += !p[i] && (p[i + 1] || p[i == 8 ? 2 : i + 2]);
        first += p[i == 2 ? 9 : i - 1] || p[i];
        second += p[i] || p[i + 1];
    }
    int least = first < second ? first : second;
    bool kept = pass == 0 ? (p[6] || p[7] || !p[9]) && p[8] : (p[2] || p[3] || !p[5]) && p[4];
    return components == 1 && least >= 2 && least <= 3 && !kept;
}

/* The table of scikit-image's skeletonize() (morphology/_skeletonize_cy.pyx), which differs from
 * the paper's in 31 of 512 entries. */
static const uint32_t skimage_zhang[2][8] = {
    {0x80dcccc8, 0x8000ce00, 0x00010300, 0x00008a00, 0x80d00000, 0x00000000, 0x00100000,
     0x00110b01},
    {0x00848480, 0x00008b00, 0x00010100, 0x00110301, 0x00d50000, 0x00000000, 0x00d10100,
     0x13510301},
};

static void fill_tables(struct gi_thin *spec, const struct thin_params *p)
{
    bool swaps = p->like == SKIMAGE; /* thin() begins with the second pass */
    for (int pass = 0; pass < 2; pass++)
        for (int code = 0; code < 256; code++) {
            bool neighbors[11];
            neighbors_of(neighbors, code);
            if (p->method == ZHANG ? zhang_removes(neighbors, pass)
                                   : guo_hall_removes(neighbors, pass != swaps))
                spec->removes[pass][code / 32] |= 1u << code % 32;
        }
    if (p->method == ZHANG && p->like == SKIMAGE)
        memcpy(spec->removes, skimage_zhang, sizeof skimage_zhang);
}

/* ---- plan and run ---- */

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct thin_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_thin *spec = gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return GI_E_MEMORY;
    *spec = (struct gi_thin){.npasses = 2, .cycles = p->cycles};
    fill_tables(spec, p);
    plan->result.channels = 1;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    size_t pixel = (size_t)gi_type_nbytes(src->type) + 1;
    if (p->method == LEE)
        pixel += 32; /* flags, and lists of pixels that may be removed */
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height * pixel + gi_luma_nbytes(src);
    plan->cost.other = 40.0 / src->channels;
    return GI_OK;
}

/* Thins `mask`, which is released, by the method of Lee. */
static enum gi_status thin_on_host(struct gi_queue *queue, struct gi_image *dst,
                                   struct gi_image *mask, int cycles, struct gi_err *err)
{
    struct gi_image host = {0};
    enum gi_status status = queue->k->download(queue, &host, mask, NULL, err);
    if (!status)
        status = gi_thin_lee(&host, cycles, err);
    if (!status)
        status = gi_host_store(queue, dst, &host, err);
    gi_image_free(&host);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct thin_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    bool by_luma = gi_luma_decides(src, false);
    struct gi_image judge, mask;
    struct gi_threshold level = {0, false};
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &level.above, &p->choose.at, &judge, err);
    if (!status)
        status = queue->k->alloc(queue, &mask, src->width, src->height, 1, src->type, err);
    if (!status) {
        status = queue->k->threshold(queue, &mask, &judge, &level, err);
        if (!status && p->method == LEE)
            status = thin_on_host(queue, work->dst, &mask, p->cycles, err);
        else if (!status)
            status = queue->k->thin(queue, work->dst, &mask, plan->tables, err);
        if (mask.data)
            queue->k->release(queue, &mask);
    }
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

const struct gi_filter gi_filter_thin = {
    .name = "thin",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "Thin a mask to its skeleton: lines of one pixel",
    .examples = "gpuimg thin mask.png skeleton.png\n"
                "gpuimg thin vessels.tif skeleton.tif --threshold otsu --method guo-hall\n"
                "gpuimg thin mask.png thinner.png --cycles 3",
    .manual =
        "Pixels brighter than --threshold are foreground; by default these are all pixels that "
        "are not black. Pixels at the sides of the foreground are removed, layer by layer, "
        "without parting or shortening what they belong to, until lines of one pixel are left: "
        "the skeleton. The result is a mask of one channel. On a page of black text on white "
        "invert the page first.\n\n"
        "zhang and guo-hall look up in a table, by the 8 neighbours, whether a pixel is removed, "
        "and "
        "remove all such pixels at once, first at the lower and right sides, then at the upper "
        "and left ones (or the reverse). lee removes pixels at the upper, lower, right and left "
        "sides in turn, one after the other, and only where the rest stays connected. Pixels "
        "outside the image are background.\n\n"
        "The result is that of OpenCV's ximgproc.thinning(), except in the outermost pixels, "
        "which OpenCV does not remove. With --like skimage it is that of scikit-image's "
        "skeletonize(), whose table differs from the paper's, and of thin(), whose passes have "
        "the other order; --cycles is max_num_iter there. With --method lee it is that of "
        "skeletonize(method='lee').\n\n"
        "Sources: T. Y. Zhang, C. Y. Suen, A fast parallel algorithm for thinning digital "
        "patterns, Comm. ACM 27(3), 1984; Z. Guo, R. W. Hall, Parallel thinning with "
        "two-subiteration algorithms, Comm. ACM 32(3), 1989; T.-C. Lee, R. L. Kashyap, C.-N. Chu, "
        "Building skeleton models via 3-D medial surface/axis thinning algorithms, CVGIP 56(6), "
        "1994.",
    .options = options,
    .params_nbytes = sizeof(struct thin_params),
    .plan = plan,
    .run = run,
};
