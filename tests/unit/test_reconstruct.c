/* Every way of morphological reconstruction gives the same results as plain loops that repeat the
 * step of the definition in kernels/morphology.h until nothing changes.
 * Sources: kernels/cpu/morphology/reconstruct.c kernels/cuda/morphology/reconstruct.cu
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

static const int sizes[][2] = {{1, 1},  {1, 17},   {17, 1},    {64, 64},   {65, 63},
                               {67, 5}, {66, 129}, {128, 200}, {193, 130}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("reconstruct", "levels, noise and patterns", draw, define, .sizes = sizes,
             .in_place = 2),
};

WALK_ROWS(rows)
