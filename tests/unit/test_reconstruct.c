/* Every way of morphological reconstruction and of hysteresis gives the same results as plain loops
 * that repeat the step of the definition in kernels/morphology.h until nothing changes.
 * Sources: kernels/cpu/morphology/reconstruct.c kernels/cuda/morphology/reconstruct.cu
 *     kernels/cuda/morphology/hysteresis.cu
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "patterns.h"
#include "kernels/morphology.h"

/* Draws an image of few levels, of noise, or of a pattern that leads far. */
static void fill(struct walk_case *c, struct gi_image *image, int kind)
{
    float full = gi_type_full_scale(c->type);
    if (kind == 0 && image->channels == 1)
        draw_pattern(c, image);
    for (int y = 0; y < image->height && kind == 1; y++)
        for (int x = 0; x < (int)gi_row_samples(image); x++)
            if (c->type != GI_F32 || walk_between(c, 0, 99))
                case_put(image, y, (size_t)x, (float)walk_between(c, 0, 3) * full / 4);
}

static void draw(struct walk_case *c)
{
    struct gi_reconstruct *spec = WALK_SPEC(c, struct gi_reconstruct);
    int kind = walk_between(c, 0, 2);
    spec->connectivity = c->turn % 2 ? 4 : 8;
    fill(c, walk_source_here(c), kind);
    struct gi_image *seed = walk_other(c, &spec->seed, c->width, c->height, c->channels, c->type);
    fill(c, seed, walk_between(c, 1, 2));
    /* few seeds */
    for (int y = 0; y < c->height && walk_between(c, 0, 1); y++)
        for (size_t i = 0; i < gi_row_samples(seed); i++)
            if (walk_between(c, 0, 30))
                case_put(seed, y, i, c->type == GI_F32 ? -2 : 0);
}

static float step_at(const struct gi_image *f, const struct gi_image *mask, int x, int y, int c,
                     bool eight)
{
    float v = exact_sample(f, y, x, c), most = exact_sample(mask, y, x, c) + 0.0f, best = v;
    for (int k = 0; k < 9; k++) {
        int dx = k % 3 - 1, dy = k / 3 - 1, i = x + dx, j = y + dy;
        if ((dx && dy && !eight) || i < 0 || j < 0 || i >= f->width || j >= f->height)
            continue;
        float other = exact_sample(f, j, i, c);
        best = other > best ? other : best;
    }
    return best > v && v < most ? fminf(best, most) : v;
}

static void define(struct walk_case *c)
{
    const struct gi_reconstruct *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image, *seed = &c->others[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    bool changed = true;
    for (int y = 0; y < c->height; y++) {
        memcpy(gi_row(want, y), gi_row(src, y), gi_row_nbytes(src));
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < gi_color_channels(src); i++) {
                float a = exact_sample(src, y, x, i), b = exact_sample(seed, y, x, i);
                exact_put(want, y, x, i, isnan(a) || isnan(b) ? NAN : (b < a ? b : a) + 0.0f);
            }
    }
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (int k = 0; k < c->width * c->height; k++) { /* forwards, then backwards */
            int at = pass % 2 ? c->width * c->height - 1 - k : k;
            for (int i = 0; i < gi_color_channels(src); i++) {
                int x = at % c->width, y = at / c->width;
                float v = step_at(want, src, x, y, i, spec->connectivity == 8);
                if (v > exact_sample(want, y, x, i)) {
                    exact_put(want, y, x, i, v);
                    changed = true;
                }
            }
        }
    }
}

/* ---- hysteresis ---- */

/* Draws noise or a pattern whose foreground is above the lower level. Few of its pixels are above
 * the upper level. */
static void draw_levels(struct walk_case *c)
{
    if (c->channels > 1)
        return;
    struct gi_hysteresis *spec = WALK_SPEC(c, struct gi_hysteresis);
    float full = gi_type_full_scale(c->type);
    *spec = (struct gi_hysteresis){pattern_level(c->type), full};
    struct gi_image *src = walk_source_here(c);
    draw_pattern(c, src);
    if (walk_between(c, 0, 3)) {
        spec->high = c->type == GI_F32 ? full : full - 1;
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++)
                if (is_on(src, spec->low, false, x, y))
                    case_put(src, y, (size_t)x,
                             walk_between(c, 0, 200) ? spec->high : spec->high + 1);
    }
}

/* Whether a neighbour of pixel (x, y) is an edge. */
static bool has_edge(const struct gi_image *edges, int x, int y)
{
    for (int k = 0; k < 9; k++) {
        int i = x + k % 3 - 1, j = y + k / 3 - 1;
        if (i >= 0 && j >= 0 && i < edges->width && j < edges->height &&
            exact_sample(edges, j, i, 0) > 0)
            return true;
    }
    return false;
}

static void define_levels(struct walk_case *c)
{
    const struct gi_hysteresis *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, 1, c->type);
    bool changed = true;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            exact_put(want, y, x, 0,
                      is_on(src, spec->high, false, x, y) ? gi_type_full_scale(c->type) : 0);
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (int k = 0; k < c->width * c->height; k++) { /* forwards, then backwards */
            int at = pass % 2 ? c->width * c->height - 1 - k : k, x = at % c->width,
                y = at / c->width;
            if (exact_sample(want, y, x, 0) > 0 || !is_on(src, spec->low, false, x, y) ||
                !has_edge(want, x, y))
                continue;
            exact_put(want, y, x, 0, gi_type_full_scale(c->type));
            changed = true;
        }
    }
}

static const int masks[][2] = {{1, 1},     {1, 17},    {17, 1},   {31, 33},  {67, 5}, {257, 3},
                               {259, 300}, {520, 257}, {33, 600}, {300, 70}, {0, 0}};

static const int sizes[][2] = {{1, 1},  {1, 17},   {17, 1},    {64, 64},   {65, 63},
                               {67, 5}, {66, 129}, {128, 200}, {193, 130}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("reconstruct", "levels, noise and patterns", draw, define, .sizes = sizes,
             .in_place = 2),
    WALK_ROW("hysteresis", "patterns", draw_levels, define_levels, .sizes = masks),
};

WALK_ROWS(rows)
