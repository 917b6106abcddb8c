/* Geometric transforms: options, costs, and the source rows that result rows depend on.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/transform.h"
#include "filters/geometry/spline.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

/* In the order of enum gi_interpolation, then splines. */
enum { SPLINE = GI_CUBIC + 1 };
const struct gi_choice gi_interpolation_choices[] = {
    {"nearest", NULL, "the nearest pixel"},
    {"bilinear", NULL, "linear, between the 2 x 2 nearest pixels"},
    {"bicubic", NULL, "cubic (Keys), from the 4 x 4 nearest pixels"},
    {"bspline", NULL,
     "cubic B-spline through all pixels, smoother and sharper than bicubic; gpuimg help affine"},
    {"linear", "bilinear", NULL},
    {"cubic", "bicubic", NULL},
    {"b-spline", "bspline", NULL},
    {"spline", "bspline", NULL},
    {NULL, NULL, NULL},
};

/* Sets the cost per sample: the multiply-adds, and as `other` the work of computing the
 * position. */
static void set_cost(struct gi_plan *plan, enum gi_interpolation how)
{
    static const double fmas[] = {0, 3, 20}, others[] = {6, 12, 40};
    const struct gi_image *src = &plan->sources[0], *dst = &plan->result;
    double ratio = (double)dst->width * dst->height / ((double)src->width * (double)src->height);
    plan->cost.fmas = fmas[how] * ratio;
    plan->cost.other = others[how] * ratio / dst->channels;
}

struct gi_remap *gi_transform_plan(struct gi_plan *plan, const struct gi_transform_params *params,
                                   size_t more, struct gi_err *err)
{
    struct gi_remap *transform = gi_plan_tables(plan, sizeof *transform + more, err);
    if (!transform)
        return NULL;
    bool spline = params->interpolation == SPLINE;
    transform->interpolation = spline ? GI_CUBIC : (enum gi_interpolation)params->interpolation;
    transform->cubic = spline ? gi_cubic_spline() : gi_cubic_keys((float)params->cubic);
    transform->alpha = gi_alpha_rule_of(plan, params->alpha, GI_ALPHA_WEIGH);
    transform->border = gi_border_spec_from(&params->border, &plan->sources[0]);
    transform->height = plan->sources[0].height;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    set_cost(plan, transform->interpolation);
    if (spline)
        gi_spline_plan(plan);
    return transform;
}

void gi_transform_affine(struct gi_plan *plan, const double m[6])
{
    struct gi_remap *transform = plan->tables;
    double most = ldexp(1, 62 - GI_AFFINE_BITS), unit = ldexp(1, GI_AFFINE_BITS);
    bool fits = true, whole = true;
    for (int i = 0; i < 6; i += 3)
        fits = fits && fabs(m[i]) * plan->result.width + fabs(m[i + 1]) * plan->result.height +
                               fabs(m[i + 2]) <
                           most;
    if (!fits) {
        gi_transform_projective(plan, (double[9]){m[0], m[1], m[2], m[3], m[4], m[5], 0, 0, 1});
        return;
    }
    transform->map.kind = GI_MAP_AFFINE;
    for (int i = 0; i < 6; i++) {
        transform->map.affine[i] = llrint(m[i] * unit);
        whole = whole && transform->map.affine[i] % (1LL << GI_AFFINE_BITS) == 0;
    }
    transform->map.affine[2] += 1LL << (GI_AFFINE_BITS - GI_PLACE_BITS - 1);
    transform->map.affine[5] += 1LL << (GI_AFFINE_BITS - GI_PLACE_BITS - 1);
    if (whole)
        transform->interpolation = GI_NEAREST;
    plan->dependency = GI_DEPENDENCY_MAPPED;
}

void gi_transform_projective(struct gi_plan *plan, const double m[9])
{
    struct gi_remap *transform = plan->tables;
    transform->map.kind = GI_MAP_PROJECTIVE;
    for (int i = 0; i < 9; i++)
        transform->map.m[i] = m[i];
    plan->dependency = GI_DEPENDENCY_MAPPED;
}

static bool is_spline(const struct gi_remap *transform)
{
    return transform->interpolation == GI_CUBIC && !gi_cubic_keeps_samples(&transform->cubic);
}

/* ---- the source rows that result rows depend on ---- */

/* Finds the source rows, which may extend past the image into its border. Near the horizon of a
 * projective map there are many. The row coordinate of an affine map has its minimum and maximum at
 * corners of the result rows. So has the row coordinate of a projective map, along either axis, as
 * long as the divisor of the map keeps its sign. One more row on either side covers rounding.
 * Returns false if all source rows may be needed. */
static bool mapped_rows(const struct gi_plan *plan, int y0, int y1, int *low, int *high)
{
    const struct gi_remap *transform = plan->tables;
    const struct gi_map *map = &transform->map;
    int64_t least = INT64_MAX, most = INT64_MIN;
    double near = INFINITY, far = 0;
    int signs = 0;
    for (int i = 0; i < 4; i++) {
        int x = i % 2 ? plan->result.width - 1 : 0, y = i / 2 ? y1 - 1 : y0;
        struct gi_place at;
        if (map->kind == GI_MAP_AFFINE) {
            at = gi_map_affine(map->affine, x, y);
        } else {
            double by = fma(map->m[6], x, fma(map->m[7], y, map->m[8]));
            near = fmin(near, fabs(by));
            far = fmax(far, fabs(by));
            signs += by > 0 ? 1 : -1;
            at = gi_map_projective(map->m, x, y);
        }
        least = at.y < least ? at.y : least;
        most = at.y > most ? at.y : most;
    }
    int more = transform->interpolation == GI_CUBIC ? 2 : 1;
    more += map->kind == GI_MAP_PROJECTIVE;
    *low = (int)(least >> GI_PLACE_BITS) - more;
    *high = (int)(most >> GI_PLACE_BITS) + more;
    return map->kind == GI_MAP_AFFINE || (abs(signs) == 4 && near > 1e-6 * far);
}

static int within(int y, int height)
{
    return y < 0 ? 0 : y < height ? y : height - 1;
}

struct gi_span gi_transform_needs(const struct gi_plan *plan, int y0, int y1)
{
    const struct gi_remap *transform = plan->tables;
    int height = transform->height, most = height + 2 * GI_SPLINE_MARGIN, low, high;
    struct gi_span all = {0, height};
    enum gi_border border = transform->border.mode;
    if (!mapped_rows(plan, y0, y1, &low, &high))
        return all;
    if (is_spline(transform)) {
        if (gi_spline_has_margin(&transform->border)) {
            low = within(low + GI_SPLINE_MARGIN, most) - GI_SPLINE_MARGIN;
            high = within(high + GI_SPLINE_MARGIN, most) - GI_SPLINE_MARGIN;
        }
        low -= GI_SPLINE_REACH;
        high += GI_SPLINE_REACH;
    }
    bool past = low < 0 || high >= height;
    if (past && border == GI_BORDER_WRAP) { /* counted from a row of the image */
        int top = gi_border_index(low, height, border), bottom = top + (high - low) + 1;
        return (long long)high - low + 1 < height ? (struct gi_span){top, bottom} : all;
    }
    if (past && (border == GI_BORDER_MIRROR || border == GI_BORDER_REFLECT101)) {
        int from_below = 2 * height - 2 - high, from_above = -low;
        if (low < -height || high > 2 * height)
            return all;
        low = from_below < low ? from_below : low;
        high = from_above > high ? from_above : high;
    }
    return (struct gi_span){within(low, height), within(high, height) + 1};
}

enum gi_status gi_transform_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err)
{
    struct gi_remap transform = *(const struct gi_remap *)plan->tables;
    transform.src_y = work->src_y;
    transform.dst_y = work->dst_y;
    return gi_transform_run_map(queue, work, transform, err);
}

enum gi_status gi_transform_run_map(struct gi_queue *queue, const struct gi_work *work,
                                    struct gi_remap transform, struct gi_err *err)
{
    return is_spline(&transform) ? gi_spline_run(queue, work, &transform, err)
                                 : queue->k->remap(queue, work->dst, work->srcs, &transform, err);
}
