/* Every way of painting regions, flooding regions and scattering values gives the same results as
 * plain loops that follow the definition in kernels/regions.h.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "patterns.h"
#include "kernels/regions.h"

/* ---- paint ---- */

enum { LABELS = 300 };

static void draw_paint(struct walk_case *c)
{
    struct gi_paint *spec = WALK_SPEC(c, struct gi_paint);
    uint8_t *marked = walk_alloc(c, LABELS);
    walk_source_here(c);
    for (int i = 0; i < LABELS; i++)
        marked[i] = walk_between(c, 0, 2) == 0 ? (uint8_t)walk_between(c, 1, 255) : 0;
    spec->marked = marked;
    spec->n = LABELS;
    spec->value = gi_type_full_scale(c->type);
    struct gi_image *labels = walk_other(c, &spec->labels, c->width, c->height, 1, GI_U32);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            ((uint32_t *)gi_row(labels, y))[x] =
                walk_between(c, 0, 1) ? (uint32_t)walk_between(c, 0, LABELS) : 0;
}

/* Makes `want` a copy of the source. */
static struct gi_image *copied(struct walk_case *c)
{
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        memcpy(gi_row(want, y), gi_row(&c->srcs[0].image, y), gi_row_nbytes(want));
    return want;
}

static void put_colors(struct gi_image *image, int x, int y, float value)
{
    for (int i = 0; i < gi_color_channels(image); i++)
        exact_put(image, y, x, i, value);
}

static void define_paint(struct walk_case *c)
{
    const struct gi_paint *spec = c->spec;
    struct gi_image *want = copied(c);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            uint32_t l = ((uint32_t *)gi_row(&c->others[0].image, y))[x];
            if (l && spec->marked[l - 1])
                put_colors(want, x, y, spec->value);
        }
}

/* ---- flood ---- */

/* Changes foreground pixels of `on` from 1 to 2 if they are connected to a side of the image. */
static void reach(uint8_t *on, const int *size, int connectivity)
{
    int width = size[0], height = size[1], n = 0;
    int *todo = malloc((size_t)width * (size_t)height * sizeof *todo);
    for (int i = 0; i < width * height; i++) {
        int x = i % width, y = i / width;
        if (on[i] && (!x || !y || x == width - 1 || y == height - 1)) {
            on[i] = 2;
            todo[n++] = i;
        }
    }
    while (n) {
        int at = todo[--n];
        for (int k = 0; k < 9; k++) {
            int x = at % width + k % 3 - 1, y = at / width + k / 3 - 1;
            bool near = connectivity == 8 || k % 2 == 1;
            if (near && x >= 0 && y >= 0 && x < width && y < height && on[y * width + x] == 1) {
                on[y * width + x] = 2;
                todo[n++] = y * width + x;
            }
        }
    }
    free(todo);
}

/* A spec, and the predicate that the spec points to. */
struct flood {
    struct gi_flood spec;
    struct gi_predicate foreground;
};

static void draw_flood(struct walk_case *c)
{
    struct flood *f = WALK_SPEC(c, struct flood);
    float full = gi_type_full_scale(c->type);
    bool enclosed = walk_between(c, 0, 1);
    c->inner_at = offsetof(struct flood, spec.foreground);
    c->inner_to = offsetof(struct flood, foreground);
    f->spec = (struct gi_flood){NULL, c->turn % 2 ? 4 : 8, enclosed, enclosed ? full : 0};
    walk_source_here(c);
    draw_pattern(c, walk_other(c, &f->foreground.on, c->width, c->height, 1, c->type));
    f->foreground.above = pattern_level(c->type);
    f->foreground.invert = walk_between(c, 0, 1);
}

static void define_flood(struct walk_case *c)
{
    const struct flood *f = c->spec;
    struct gi_image *want = copied(c);
    uint8_t *on = walk_alloc(c, (size_t)c->width * (size_t)c->height);
    for (int i = 0; i < c->width * c->height; i++)
        on[i] = is_on(&c->others[0].image, f->foreground.above, f->foreground.invert, i % c->width,
                      i / c->width);
    reach(on, (int[]){c->width, c->height}, f->spec.connectivity);
    for (int i = 0; i < c->width * c->height; i++)
        if (on[i] == (f->spec.enclosed ? 1 : 2))
            put_colors(want, i % c->width, i / c->width, f->spec.value);
}

/* ---- scatter ---- */

/* Sample c of pixel i in raster order. */
static float pixel(const struct gi_image *image, int64_t i, int c)
{
    return exact_sample(image, (int)(i / image->width), (int)(i % image->width), c);
}

/* Makes random positions inside the image and around it. Many positions are repeated, and some are
 * invalid. */
static void draw_places(struct walk_case *c, struct gi_image *places, int y0)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.25f, -1, 3e9f, 2147483648.0f};
    for (int y = 0; y < places->height; y++)
        for (int x = 0; x < places->width; x++)
            for (int i = 0; i < 2; i++) {
                int span = i ? c->height : c->width, from = i ? y0 : 0;
                float v = (float)walk_between(c, from, from + span + span / 8);
                if (places->type == GI_F32 && walk_between(c, 0, 15) == 0)
                    v = walk_between(c, 0, 1) ? odd[walk_between(c, 0, 6)] : v + 0.75f;
                exact_put(places, y, x, i, v);
            }
}

/* Makes the values of a scatter. They are an image, further channels of the positions, or one value
 * for all positions. */
static void draw_scatter(struct walk_case *c)
{
    struct gi_scatter *spec = WALK_SPEC(c, struct gi_scatter);
    int kind = walk_between(c, 0, 2), width = walk_between(c, 1, 2 * c->width);
    int height = walk_between(c, 1, c->height);
    enum gi_type place_type = walk_between(c, 0, 2) ? GI_F32 : GI_U16;
    enum gi_type type = kind == 1 ? place_type : (enum gi_type)walk_between(c, 0, 2);
    int nvalues = walk_between(c, 1, kind != 1 && c->channels > 2 ? 4 : 2);
    int place_channels = kind == 1 ? 2 + nvalues : 2;
    spec->first = kind == 1 ? 2 : 0;
    spec->scale = gi_type_full_scale(c->type) / gi_type_full_scale(type);
    spec->y = walk_between(c, 0, 1) ? 0 : walk_between(c, 1, 70);
    for (int i = 0; i < c->channels; i++)
        spec->value[i] = walk_real(c) * 1.2f * gi_type_full_scale(c->type);
    walk_source_here(c);
    draw_places(c, walk_other(c, &spec->places, width, height, place_channels, place_type),
                spec->y);
    if (kind == 0)
        walk_other(c, &spec->values, width * height, 1, nvalues, type);
    if (kind == 1) {
        struct gi_image *values =
            walk_other(c, &spec->values, width, height, place_channels, place_type);
        for (int y = 0; y < height; y++)
            memcpy(gi_row(values, y), gi_row(&c->others[0].image, y), gi_row_nbytes(values));
    }
}

static void define_scatter(struct walk_case *c)
{
    const struct gi_scatter *spec = c->spec;
    const struct gi_image *places = &c->others[0].image, *values = &c->others[1].image;
    struct gi_image *want = copied(c);
    int n = spec->values ? values->channels - spec->first : 0;
    for (int64_t i = 0; i < (int64_t)places->width * places->height; i++) {
        double x = trunc((double)pixel(places, i, 0)), y = trunc((double)pixel(places, i, 1));
        bool inside = pixel(places, i, 0) >= 0 && pixel(places, i, 1) >= 0 && x < c->width &&
                      y >= spec->y && y < spec->y + c->height;
        for (int k = 0; inside && k < c->channels; k++) {
            bool is_alpha = c->channels % 2 == 0 && k == c->channels - 1;
            float v = spec->value[k];
            if (spec->values && is_alpha)
                v = n % 2 ? gi_type_full_scale(c->type)
                          : pixel(values, i, values->channels - 1) * spec->scale;
            else if (spec->values)
                v = pixel(values, i, spec->first + (n > 2 ? k : 0)) * spec->scale;
            exact_put(want, (int)y - spec->y, (int)x, k, v);
        }
    }
}

static const int usual[][2] = {{1, 1},  {1, 17},    {17, 1},    {31, 33},   {67, 5},
                               {64, 9}, {128, 130}, {257, 129}, {391, 203}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("paint", "any labels", draw_paint, define_paint, .sizes = usual, .few = true),
    WALK_ROW("flood", "patterns", draw_flood, define_flood, .sizes = usual),
    WALK_ROW("scatter", "any places", draw_scatter, define_scatter, .in_place = 1),
};

WALK_ROWS(rows)
