/* Every way of stream compaction, connected components and sums of regions gives the same results
 * as plain loops that follow the definition in kernels/regions.h.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "kernels/kernels.h"
#include "patterns.h"
#include "kernels/regions.h"

static float get(const struct gi_image *image, int x, int y)
{
    return exact_sample(image, y, x, 0);
}

/* Labels connected components by flood fill. Labels follow the raster order of the components'
 * first pixels. */
static uint32_t label(uint32_t *labels, const struct gi_image *on, float above, bool invert,
                      int connectivity)
{
    int width = on->width, height = on->height;
    size_t pixels = (size_t)width * (size_t)height, depth;
    size_t *stack = malloc(pixels * sizeof *stack);
    uint32_t n = 0;
    memset(labels, 0, pixels * sizeof *labels);
    for (size_t i = 0; i < pixels; i++) {
        if (labels[i] ||
            !is_on(on, above, invert, (int)(i % (size_t)width), (int)(i / (size_t)width)))
            continue;
        labels[i] = ++n;
        stack[0] = i;
        for (depth = 1; depth > 0;) {
            size_t at = stack[--depth];
            for (int k = 0; k < 9; k++) {
                int dx = k % 3 - 1, dy = k / 3 - 1;
                int x = (int)(at % (size_t)width) + dx, y = (int)(at / (size_t)width) + dy;
                if ((connectivity == 4 && dx && dy) || x < 0 || y < 0 || x >= width || y >= height)
                    continue;
                size_t j = (size_t)y * (size_t)width + (size_t)x;
                if (!labels[j] && is_on(on, above, invert, x, y)) {
                    labels[j] = n;
                    stack[depth++] = j;
                }
            }
        }
    }
    free(stack);
    return n;
}

struct grid {
    const uint32_t *labels;
    int width, height;
};

static uint32_t at(const struct grid *g, int x, int y)
{
    return x < 0 || y < 0 || x >= g->width || y >= g->height
               ? 0
               : g->labels[(size_t)y * (size_t)g->width + (size_t)x];
}

static bool is_border(const struct grid *g, int x, int y, uint32_t label)
{
    return at(g, x, y) == label && (at(g, x - 1, y) != label || at(g, x + 1, y) != label ||
                                    at(g, x, y - 1) != label || at(g, x, y + 1) != label);
}

static void perimeter_add(struct gi_region_sums *r, const struct grid *g, int x, int y)
{
    uint32_t l = at(g, x, y);
    if (!is_border(g, x, y, l))
        return;
    int class = 1;
    for (int d = -1; d <= 1; d += 2) {
        class += 2 * is_border(g, x + d, y, l) + 2 * is_border(g, x, y + d, l);
        class += 10 * is_border(g, x + d, y + d, l) + 10 * is_border(g, x + d, y - d, l);
    }
    if (class == 5 || class == 7 || class == 15 || class == 17 || class == 25 || class == 27)
        r->straight++;
    else if (class == 21 || class == 33)
        r->diagonal++;
    else if (class == 13 || class == 23)
        r->mixed++;
}

static void region_oracle(struct gi_region_sums *regions, uint32_t n, const struct grid *g,
                          const struct gi_image *values, float lo, float hi)
{
    for (uint32_t i = 0; i < n; i++)
        regions[i] = (struct gi_region_sums){
            .min_x = UINT32_MAX, .min_y = UINT32_MAX, .min_key = UINT32_MAX};
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            uint32_t l = at(g, x, y), key;
            if (l == 0)
                continue;
            struct gi_region_sums *r = &regions[l - 1];
            uint32_t ux = (uint32_t)x, uy = (uint32_t)y;
            r->area++;
            r->sum_x += ux;
            r->sum_y += uy;
            r->min_x = ux < r->min_x ? ux : r->min_x;
            r->max_x = ux > r->max_x ? ux : r->max_x;
            r->min_y = uy < r->min_y ? uy : r->min_y;
            r->max_y = uy > r->max_y ? uy : r->max_y;
            perimeter_add(r, g, x, y);
            double v = (double)get(values, x, y);
            if (isnan(v))
                continue;
            uint64_t q = values->type == GI_F32 ? 0 : (uint64_t)v;
            key = (uint32_t)q;
            if (values->type == GI_F32) {
                float f = (float)v;
                memcpy(&key, &f, 4);
                key = key >> 31 ? ~key : key + 0x80000000u;
                v = v < (double)lo ? (double)lo : v > (double)hi ? (double)hi : v;
                q = (uint64_t)rint((v - (double)lo) * (2147483647.0 / ((double)hi - (double)lo)));
            }
            r->min_key = key < r->min_key ? key : r->min_key;
            r->max_key = key > r->max_key ? key : r->max_key;
            r->value.n++;
            r->value.q += q;
            r->value.q2_low += q * q % (1ull << 32);
            r->value.q2_high += q * q >> 32;
        }
}

/* ---- compact ---- */

static void draw_compact(struct walk_case *c)
{
    static const float above[] = {-1,   0,        99.5f,     254, 255, 65535,
                                  1e9f, INFINITY, -INFINITY, NAN, 0.5f};
    enum gi_type type = (enum gi_type)walk_between(c, 0, 2);
    if (c->channels > 1)
        return;
    struct gi_predicate *p = WALK_SPEC(c, struct gi_predicate);
    walk_source_here(c);
    draw_pattern(c, walk_other(c, &p->on, c->width, c->height, 1, type));
    p->above = c->turn % 3 ? pattern_level(type) : above[walk_between(c, 0, 10)];
    p->invert = walk_between(c, 0, 1);
}

static void define_compact(struct walk_case *c)
{
    const struct gi_predicate *p = c->spec;
    size_t pixels = (size_t)c->width * (size_t)c->height;
    struct gi_pixel_list *list = walk_data(c, NULL, sizeof *list);
    list->x = walk_alloc(c, pixels * sizeof *list->x);
    list->y = walk_alloc(c, pixels * sizeof *list->y);
    list->value = walk_alloc(c, pixels * sizeof *list->value);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            if (is_on(&c->others[0].image, p->above, p->invert, x, y)) {
                list->x[list->n] = (uint32_t)x;
                list->y[list->n] = (uint32_t)y;
                list->value[list->n++] = get(&c->srcs[0].image, x, y);
            }
}

static bool equal_compact(struct gi_queue *queue, const struct walk_case *c, void *result)
{
    struct gi_pixel_list *got = result, *want = c->data;
    bool equal = got->n == want->n && !memcmp(got->x, want->x, want->n * sizeof *want->x) &&
                 !memcmp(got->y, want->y, want->n * sizeof *want->y) &&
                 !memcmp(got->value, want->value, want->n * sizeof *want->value);
    gi_pixel_list_free(got);
    return equal;
}

/* ---- label and region_stats ---- */

static void draw_label(struct walk_case *c)
{
    if (c->channels > 1)
        return;
    struct gi_label *spec = WALK_SPEC(c, struct gi_label);
    *spec = (struct gi_label){pattern_level(c->type), walk_between(c, 0, 1), c->turn % 2 ? 4 : 8};
    draw_pattern(c, walk_source_here(c));
}

/* The expected labels and their number. */
struct labels {
    uint32_t n, *labels;
};

static void define_label(struct walk_case *c)
{
    const struct gi_label *spec = c->spec;
    struct gi_labels none = {.n = 0};
    walk_data(c, &none, sizeof none);
    struct labels *want = walk_alloc(c, sizeof *want);
    want->labels = walk_alloc(c, (size_t)c->width * (size_t)c->height * sizeof(uint32_t));
    want->n = label(want->labels, &c->srcs[0].image, spec->above, spec->invert, spec->connectivity);
    c->data = want;
}

static bool equal_label(struct gi_queue *queue, const struct walk_case *c, void *result)
{
    struct gi_labels *got = result;
    const struct labels *want = c->data;
    size_t width = (size_t)c->width;
    struct gi_image host;
    bool equal =
        got->n == want->n && got->image.width == c->width && got->image.height == c->height;
    if (queue->k->download(queue, &host, &got->image, NULL, NULL))
        return false;
    for (int y = 0; equal && y < c->height; y++)
        equal =
            !memcmp(gi_row(&host, y), want->labels + (size_t)y * width, width * sizeof(uint32_t));
    gi_image_free(&host);
    return equal;
}

/* Makes the labels of a random pattern, in a third of the cases with labels of the background too,
 * so that regions touch. */
static void draw_stats(struct walk_case *c)
{
    enum gi_type type = (enum gi_type)walk_between(c, 0, 2);
    struct guard on;
    size_t pixels = (size_t)c->width * (size_t)c->height;
    bool invert = walk_between(c, 0, 1), touching = !walk_between(c, 0, 2);
    int connectivity = c->turn % 2 ? 4 : 8;
    if (c->channels > 1)
        return;
    struct gi_region_stats *spec = WALK_SPEC(c, struct gi_region_stats);
    uint32_t *flat = walk_alloc(c, pixels * sizeof *flat);
    walk_source_here(c);
    guard_alloc(&on, c->width, c->height, 1, type, 0);
    draw_pattern(c, &on.image);
    spec->n = label(flat, &on.image, pattern_level(type), invert, connectivity);
    uint32_t *rest = walk_alloc(c, pixels * sizeof *rest), n = spec->n;
    if (touching)
        spec->n += label(rest, &on.image, pattern_level(type), !invert, connectivity);
    for (size_t i = 0; i < pixels && touching; i++)
        flat[i] = flat[i] ? flat[i] : n + rest[i];
    guard_free(&on);
    spec->lo = walk_between(c, 0, 1) ? 0 : -0.5f;
    spec->hi = walk_between(c, 0, 1) ? 1 : 1.5f;
    struct gi_image *labels = walk_other(c, &spec->labels, c->width, c->height, 1, GI_U32);
    for (int y = 0; y < c->height; y++)
        memcpy(gi_row(labels, y), flat + (size_t)y * (size_t)c->width, gi_row_nbytes(labels));
}

static void define_stats(struct walk_case *c)
{
    const struct gi_region_stats *spec = c->spec;
    const struct gi_image *labels = &c->others[0].image;
    uint32_t *flat = walk_alloc(c, (size_t)c->width * (size_t)c->height * sizeof *flat);
    for (int y = 0; y < c->height; y++)
        memcpy(flat + (size_t)y * (size_t)c->width, gi_row(labels, y), gi_row_nbytes(labels));
    struct gi_region_sums *sums =
        walk_data(c, NULL, (spec->n ? spec->n : 1) * sizeof(struct gi_region_sums));
    memset(c->start, 0xee, spec->n * sizeof *sums);
    region_oracle(sums, spec->n, &(struct grid){flat, c->width, c->height}, &c->srcs[0].image,
                  spec->lo, spec->hi);
}

/* The larger images have more components than 16 bits can count, and more components per strip than
 * the table of a CUDA block holds. */
static const int pictures[][2] = {{1, 1},     {1, 17},   {17, 1},    {31, 33},
                                  {67, 5},    {64, 9},   {128, 130}, {257, 129},
                                  {391, 203}, {3, 9001}, {700, 500}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("compact", "patterns", draw_compact, define_compact, .sizes = pictures,
             .equal = equal_compact),
    WALK_ROW("label", "patterns", draw_label, define_label, .sizes = pictures,
             .equal = equal_label),
    /* regions are connected, and all labels occur */
    WALK_ROW("region_stats", "patterns", draw_stats, define_stats, .sizes = pictures),
};

WALK_ROWS(rows)
