/* Interpolation by cubic splines.
 *
 * A cubic spline is a sum of cubic B-splines, one for each pixel. Its values at the pixels, where
 * the B-splines of three pixels overlap with the weights 1/6, 4/6 and 1/6, are the samples. So the
 * coefficients c of a row f solve c(x - 1) + 4 c(x) + c(x + 1) = 6 f(x). The solution is the sum of
 * sqrt(3) z^|k| f(x + k) with z = sqrt(3) - 2, whose terms fall by 0.268 per pixel: 15 pixels on
 * each side leave 3e-9 of it, which is less than float32 resolves. (M. Unser, A. Aldroubi, M. Eden,
 * "B-spline signal processing", IEEE Transactions on Signal Processing 41(2), 1993, has a recursive
 * filter instead, which needs one row after the other.)
 *
 * The steps are: floats, multiplied by alpha if it is opacity; a margin, if pixels outside the
 * image have coefficients of their own; convolution by the terms; interpolation by B-splines;
 * division by alpha; the sample type.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/spline.h"

#include <math.h>

#include "filters/arithmetic/formula.h"
#include "filters/convolution/weights.h"
#include "kernels/kernels.h"

enum { TAPS = 2 * GI_SPLINE_REACH + 1, FLOATS = 2 /* images of floats at a time */ };

void gi_spline_plan(struct gi_plan *plan)
{
    const struct gi_image *src = &plan->sources[0], *dst = &plan->result;
    double pixels = (double)src->width * src->height;
    double ratio = (double)dst->width * dst->height / pixels;
    plan->cost.fmas += 2 * TAPS;
    plan->cost.nbytes += (6 + 2 * ratio) * sizeof(float);
    plan->scratch_nbytes += FLOATS * sizeof(float) * (size_t)pixels * (size_t)src->channels;
}

static enum gi_status alloc_floats(struct gi_queue *queue, struct gi_image *made, int width,
                                   int height, int channels, struct gi_err *err)
{
    return queue->k->alloc(queue, made, width, height, channels, GI_F32, err);
}

/* The image between two steps. */
struct state {
    struct gi_image image;
    bool owned; /* the image is not the source */
};

static void release(struct gi_queue *queue, struct state *state)
{
    if (state->owned)
        queue->k->release(queue, &state->image);
    state->owned = false;
}

/* Replaces the image by *made, or releases *made if `status` is an error. */
static enum gi_status replace(struct gi_queue *queue, struct state *state, struct gi_image *made,
                              enum gi_status status)
{
    if (status) {
        queue->k->release(queue, made);
        return status;
    }
    release(queue, state);
    *state = (struct state){*made, true};
    return GI_OK;
}

/* ---- alpha ---- */

/* Alpha up to 2^-17, which 16 bits store as 0, may be the rounding error of sums. The colour there
 * is 0, as where alpha is 0. */
static const char *product_of(int channels)
{
    return channels == 2 ? "a[0] * a[1], a[1]" : "a[0] * a[3], a[1] * a[3], a[2] * a[3], a[3]";
}

static const char *quotient_of(int channels)
{
    return channels == 2
               ? "seen = a[1] > 1 / 131072; seen ? a[0] / a[1] : 0, a[1] > 0 ? a[1] : 0"
               : "seen = a[3] > 1 / 131072; seen ? a[0] / a[3] : 0, seen ? a[1] / a[3] : 0, "
                 "seen ? a[2] / a[3] : 0, a[3] > 0 ? a[3] : 0";
}

/* Replaces the image by what the formula makes of it. */
static enum gi_status apply(struct gi_queue *queue, struct state *state, const char *formula,
                            struct gi_err *err)
{
    const struct gi_image *image = &state->image;
    struct gi_image made;
    enum gi_status status =
        gi_formula_make(queue, &made, image->channels, formula, image, NULL, NULL, err);
    return status ? status : replace(queue, state, &made, GI_OK);
}

/* Replaces the image by floats with a full scale of 1, multiplied by alpha if `weigh` is set. */
static enum gi_status make_floats(struct gi_queue *queue, struct state *state, bool weigh,
                                  struct gi_err *err)
{
    const struct gi_image *image = &state->image;
    enum gi_status status = GI_OK;
    struct gi_image made;
    if (image->type != GI_F32) {
        status = alloc_floats(queue, &made, image->width, image->height, image->channels, err);
        if (!status)
            status =
                replace(queue, state, &made, queue->k->convert(queue, &made, image, NULL, err));
    }
    return status || !weigh ? status : apply(queue, state, product_of(image->channels), err);
}

/* Sets the border value to that of such floats. */
static void set_border(struct gi_border_spec *border, const struct gi_image *src, bool weigh)
{
    float full = gi_type_full_scale(src->type), alpha;
    for (int c = 0; c < src->channels; c++)
        border->value[c] /= full;
    alpha = border->value[src->channels - 1];
    for (int c = 0; weigh && c < src->channels - 1; c++)
        border->value[c] *= alpha;
}

/* ---- coefficients ---- */

/* Replaces the image, which may be a band, by one with a margin, and changes `spec` accordingly. A
 * band gets rows only where the image ends. If rows wrap around, they have no margin. */
static enum gi_status add_margin(struct gi_queue *queue, struct state *state, struct gi_remap *spec,
                                 struct gi_err *err)
{
    const struct gi_image *image = &state->image;
    const int margin = GI_SPLINE_MARGIN, across = 2 * margin;
    struct gi_map *map = &spec->map;
    bool rings = map->kind == GI_MAP_RINGS;
    int down = rings ? 0 : margin, end = spec->src_y + image->height;
    int top = spec->src_y > 0 ? spec->src_y : -down;
    int bottom = end < spec->height ? end : spec->height + down;
    struct gi_copy_border copy = {-margin, top, spec->src_y, spec->height, spec->border};
    struct gi_image made;
    enum gi_status status =
        alloc_floats(queue, &made, image->width + across, bottom - top, image->channels, err);
    if (status)
        return status;
    status = replace(queue, state, &made, queue->k->copy_border(queue, &made, image, &copy, err));
    spec->src_y = top + down;
    spec->height += 2 * down;
    map->affine[2] += (int64_t)margin << GI_AFFINE_BITS;
    map->affine[5] += (int64_t)margin << GI_AFFINE_BITS;
    for (int i = 0; i < 6; i++)
        map->m[i] += margin * map->m[6 + i % 3];
    map->rays.center_x += margin;
    map->rays.center_y += margin;
    map->rings.left += margin;
    map->lens.cx += margin;
    map->lens.cy += margin;
    map->margin = margin;
    return status;
}

/* Replaces the image by the coefficients of its spline. */
static enum gi_status make_coefficients(struct gi_queue *queue, struct state *state,
                                        const struct gi_remap *spec, struct gi_err *err)
{
    static const float one = 1;
    const struct gi_image *image = &state->image;
    float taps[TAPS];
    double term = sqrt(3);
    struct gi_image made;
    for (int k = 0; k <= GI_SPLINE_REACH; k++, term *= sqrt(3) - 2)
        taps[GI_SPLINE_REACH - k] = taps[GI_SPLINE_REACH + k] = (float)term;
    gi_taps_settle(taps, TAPS);
    struct gi_separable rows = {.row = taps,
                                .col = taps,
                                .nrow = TAPS,
                                .ncol = TAPS,
                                .row_anchor = GI_SPLINE_REACH,
                                .col_anchor = GI_SPLINE_REACH,
                                .border = spec->border};
    struct gi_separable columns = rows;
    bool wraps = spec->map.kind == GI_MAP_RINGS; /* the last row is followed by the first one */
    if (wraps) {
        rows.col = columns.row = &one;
        rows.ncol = columns.nrow = 1;
        rows.col_anchor = columns.row_anchor = 0;
        columns.border.mode = GI_BORDER_WRAP;
    }
    for (int i = 0; i < 1 + wraps; i++) {
        enum gi_status status =
            alloc_floats(queue, &made, image->width, image->height, image->channels, err);
        if (!status)
            status = replace(
                queue, state, &made,
                queue->k->convolve_separable(queue, &made, image, i ? &columns : &rows, err));
        if (status)
            return status;
    }
    return GI_OK;
}

/* Makes `dst` from coefficients. */
static enum gi_status interpolate(struct gi_queue *queue, struct gi_image *dst, struct state *state,
                                  const struct gi_remap *spec, bool weigh, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image made;
    if (dst->type == GI_F32 && !weigh)
        return k->remap(queue, dst, &state->image, spec, err);
    enum gi_status status = alloc_floats(queue, &made, dst->width, dst->height, dst->channels, err);
    if (!status)
        status = replace(queue, state, &made, k->remap(queue, &made, &state->image, spec, err));
    if (status)
        return status;
    if (dst->type == GI_F32)
        return gi_formula_run(queue, dst, quotient_of(dst->channels), &state->image, NULL, NULL,
                              err);
    if (weigh)
        status = apply(queue, state, quotient_of(dst->channels), err);
    return status ? status : k->convert(queue, dst, &state->image, NULL, err);
}

enum gi_status gi_spline_run(struct gi_queue *queue, const struct gi_work *work,
                             const struct gi_remap *spec, struct gi_err *err)
{
    const struct gi_image *src = &work->srcs[0];
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    struct gi_remap of = *spec;
    struct state state = {*src, false};
    state.image.mask = GI_MASK_NONE; /* formulas may then name the channel */
    of.alpha = GI_ALPHA_PLAIN;
    set_border(&of.border, src, weigh);
    enum gi_status status = make_floats(queue, &state, weigh, err);
    if (!status && gi_spline_has_margin(&of.border))
        status = add_margin(queue, &state, &of, err);
    if (!status)
        status = make_coefficients(queue, &state, &of, err);
    if (!status)
        status = interpolate(queue, work->dst, &state, &of, weigh, err);
    release(queue, &state);
    return status;
}
