/* Every way of thinning gives the same results as plain loops that follow the definition in
 * kernels/morphology.h.
 * Sources: kernels/cpu/morphology/thin.c kernels/cuda/morphology/thin.cu
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "patterns.h"
#include "kernels/morphology.h"

/* Draws tables that keep the ends of lines now and then, so that some cases take many cycles. */
static void draw(struct walk_case *c)
{
    if (c->channels > 1)
        return;
    struct gi_thin *spec = WALK_SPEC(c, struct gi_thin);
    struct gi_image *src = walk_source_here(c);
    if (c->turn % 2)
        draw_pattern(c, src);
    for (int y = 0; y < c->height && c->turn % 2 == 0; y++) /* discs */
        for (int x = 0; x < c->width; x++)
            case_put(src, y, (size_t)x,
                     hypot(x % 40 - 20, y % 31 - 15) < 14 ? gi_type_full_scale(c->type) : 0);
    spec->npasses = walk_between(c, 1, GI_THIN_PASSES_MAX);
    spec->cycles = walk_between(c, 0, 2);
    int rare = walk_between(c, 1, 40);
    for (int p = 0; p < spec->npasses; p++)
        for (int code = 0; code < 256; code++)
            if (walk_between(c, 0, rare) == 0 && (code < 255 || walk_between(c, 0, 9) == 0))
                spec->removes[p][code / 32] |= 1u << code % 32;
}

static void define(struct walk_case *c)
{
    const struct gi_thin *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, 1, c->type);
    size_t pitch = (size_t)c->width + 2, n = pitch * ((size_t)c->height + 2);
    uint8_t *now = walk_alloc(c, n), *next = walk_alloc(c, n);
    const long long across = (long long)pitch;
    const long long to[8] = {-across - 1, -across,    -across + 1, -1,
                             1,           across - 1, across,      across + 1};
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            now[(size_t)(y + 1) * pitch + (size_t)x + 1] = exact_sample(src, y, x, 0) > 0;
    bool any = true;
    for (int cycle = 0; any && (!spec->cycles || cycle < spec->cycles); cycle++) {
        any = false;
        for (int p = 0; p < spec->npasses; p++) {
            memcpy(next, now, n);
            for (size_t i = 0; i < n; i++) {
                unsigned code = 0;
                for (int k = 0; now[i] && k < 8; k++)
                    code |= (unsigned)now[(long long)i + to[k]] << k;
                if (now[i] && spec->removes[p][code / 32] >> code % 32 & 1) {
                    next[i] = 0;
                    any = true;
                }
            }
            memcpy(now, next, n);
        }
    }
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            exact_put(want, y, x, 0,
                      now[(size_t)(y + 1) * pitch + (size_t)x + 1] ? gi_type_full_scale(c->type)
                                                                   : 0);
}

static const int sizes[][2] = {{1, 1},   {1, 17},  {17, 1},   {64, 9},    {65, 33},
                               {63, 40}, {32, 31}, {128, 97}, {193, 130}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("thin", "patterns and discs", draw, define, .sizes = sizes),
};

WALK_ROWS(rows)
