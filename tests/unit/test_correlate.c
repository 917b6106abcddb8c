/* Template matching gives the scores of plain loops that follow the definition, for all types,
 * patterns with alpha, constant areas and unusual floats.
 * Sources: kernels/correlate.h kernels/cpu/statistics/correlate.c
 *     kernels/cpu/statistics/correlate_fourier kernels/fourier
 *     kernels/cuda/statistics/correlate.cu kernels/cuda/statistics/correlate_tensor.cu
 * SPDX-License-Identifier: MIT */
#include "primitives.h"
#include "kernels/correlate.h"

/* Integers are added exactly here too: sums of products of 16 bits are below 2^53 in these cases,
 * and those of the variance are computed from the differences to one sample, which are exact. */
static float score(const struct gi_correlate *spec, const struct gi_image *src, int x0, int y0)
{
    const struct gi_image *pattern = spec->pattern;
    int colors = gi_color_channels(pattern);
    struct gi_correlate_total total = {0};
    for (int c = 0; c < colors; c++) {
        struct gi_correlate_integers whole = {0};
        struct gi_correlate_reals real = {0};
        for (int y = 0; y < pattern->height; y++)
            for (int x = 0; x < pattern->width; x++) {
                size_t at = (size_t)(x * pattern->channels);
                double p = gi_sample(gi_row(pattern, y), at + (size_t)c, pattern->type);
                double v = gi_sample(gi_row(src, y0 + y), (size_t)((x0 + x) * src->channels + c),
                                     src->type);
                if (gi_has_alpha(pattern) &&
                    !(gi_sample(gi_row(pattern, y), at + (size_t)colors, pattern->type) > 0))
                    continue;
                real.n += 1;
                real.p += p;
                real.pp += p * p;
                real.v += v;
                real.vv += v * v;
                real.pv += p * v;
                if (src->type == GI_F32)
                    continue;
                whole.n++;
                whole.p += (uint64_t)p;
                whole.pp += (uint64_t)(p * p);
                whole.v += (uint64_t)v;
                whole.vv += (uint64_t)(v * v);
                whole.pv += (uint64_t)(p * v);
            }
        if (src->type == GI_F32)
            gi_correlate_add_reals(&total, spec->method, &real);
        else
            gi_correlate_add_integers(&total, spec->method, &whole);
    }
    return gi_correlate_score(&total, spec->method);
}

static void define(struct walk_case *c)
{
    const struct gi_correlate *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image, *pattern = spec->pattern;
    struct gi_image *want = walk_result(c, src->width - pattern->width + 1,
                                        src->height - pattern->height + 1, 1, GI_F32);
    for (int y = 0; y < want->height; y++)
        for (int x = 0; x < want->width; x++)
            ((float *)gi_row(want, y))[x] = score(spec, src, x, y);
}

/* Makes an image of few values, constant on the left, so that windows without variance occur. */
static void draw(struct walk_case *c)
{
    struct gi_correlate *spec = WALK_SPEC(c, struct gi_correlate);
    struct gi_image *src = walk_source_here(c);
    int most = c->large ? 5 : 20;
    int width = walk_between(c, 1, c->width < most ? c->width : most),
        height = walk_between(c, 1, c->height < most ? c->height : most);
    bool alpha = walk_between(c, 0, 1);
    spec->method = (enum gi_correlate_method)(c->turn % 3);
    if (c->turn % 2)
        for (int y = 0; y < c->height; y++)
            for (int i = 0; i < c->width * c->channels / 2; i++)
                case_put(src, y, (size_t)i, 1);
    struct gi_image *pattern =
        walk_other(c, &spec->pattern, width, height, gi_color_channels(src) + alpha, c->type);
    for (int y = 0; y < height && alpha; y++)
        for (int x = 0; x < width; x++)
            if (walk_between(c, 0, 2) == 0)
                case_put(pattern, y, (size_t)((x + 1) * pattern->channels - 1), 0);
}

/* A pattern that is wider than a block of scores. */
static void draw_wide(struct walk_case *c)
{
    struct gi_correlate *spec = WALK_SPEC(c, struct gi_correlate);
    spec->method = (enum gi_correlate_method)(c->turn % 3);
    struct gi_image *src = walk_source_here(c);
    walk_other(c, &spec->pattern, c->width / 2, 1 + c->height / 2, gi_color_channels(src), c->type);
}

/* Gray bytes with patterns of these sizes, so that CUDA's tensor cores and Fourier transforms have
 * several tiles of scores, and parts of the pattern across and down. The sums of the last two are
 * large; those of the last one nearly fill 32 bits. */
static const int tiles[][2] = {{540, 110}, {700, 45},  {1100, 9}, {160, 150},
                               {300, 221}, {265, 260}, {0, 0}};
static const int patterns[][2] = {{20, 75}, {130, 9}, {600, 1}, {130, 137}, {129, 100}, {257, 257}};

static void draw_tiles(struct walk_case *c)
{
    int i = 0;
    if (c->type != GI_U8 || c->channels > 1)
        return;
    while (tiles[i][0] != c->width)
        i++;
    struct gi_correlate *spec = WALK_SPEC(c, struct gi_correlate);
    spec->method = (enum gi_correlate_method)(i % 3);
    struct gi_image *src = walk_source_here(c);
    struct gi_image *pattern =
        walk_other(c, &spec->pattern, patterns[i][0], patterns[i][1], 1, c->type);
    for (int image = 0; i >= 4 && image < 2; image++)
        for (int y = 0; y < (image ? pattern : src)->height; y++)
            for (int x = 0; x < (image ? pattern : src)->width; x++)
                case_put(image ? pattern : src, y, (size_t)x, walk_between(c, 0, 9) ? 255 : 254);
}

static const int wide[][2] = {{1300, 3}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("correlate", "small patterns", draw, define, .few = true),
    WALK_ROW("correlate", "a wide pattern", draw_wide, define, .sizes = wide, .few = true),
    WALK_ROW("correlate", "tiles", draw_tiles, define, .sizes = tiles, .few = true),
};
WALK_ROWS(rows)
