/* Every way of counting the colours of an image, of finding the nearest colour of a palette by a
 * table, of interpolating in a colour table, and of converting the sample type gives the same
 * results as plain loops.
 * Sources: color kernels/sort_colors imgio/image*
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

static uint64_t color_of(const struct gi_image *image, int y, int x)
{
    uint64_t color = 0;
    for (int c = 0; c < image->channels; c++) {
        size_t at = (size_t)x * (size_t)image->channels + (size_t)c;
        color = color * (image->type == GI_U8 ? 256 : 65536) +
                (uint64_t)gi_sample(gi_row(image, y), at, image->type);
    }
    return color;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes random samples, or runs of pixels with few different values. */
static void draw_colors(struct walk_case *c)
{
    struct gi_image *image = walk_source_here(c);
    size_t nbytes = gi_type_nbytes(c->type) * (size_t)c->channels;
    uint64_t pixel = 0;
    for (int y = 0; c->turn % 2 && y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            if (walk_between(c, 0, 4) == 0)
                pixel = walk_between(c, 0, 1) ? ~(uint64_t)0 : case_random(c->seed) & 0x01010101;
            memcpy((char *)gi_row(image, y) + (size_t)x * nbytes, &pixel, nbytes);
        }
}

/* The sorted colours of all pixels. */
static void define_colors(struct walk_case *c)
{
    const struct gi_image *image = &c->srcs[0].image;
    size_t n = (size_t)c->width * (size_t)c->height;
    struct gi_colors none = {0, NULL};
    walk_data(c, &none, sizeof none);
    uint64_t *all = walk_alloc(c, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = color_of(image, (int)(i / (size_t)c->width), (int)(i % (size_t)c->width));
    qsort(all, n, sizeof *all, by_number);
    c->data = all;
}

static bool equal_colors(struct gi_queue *queue, const struct walk_case *c, void *result)
{
    struct gi_colors *found = result;
    const uint64_t *all = c->data;
    size_t n = (size_t)c->width * (size_t)c->height, at = 0;
    bool equal = true;
    for (size_t i = 0; equal && i < found->n; i++) {
        equal = !i || found->each[i].color > found->each[i - 1].color;
        for (uint64_t k = 0; equal && k < found->each[i].count; k++, at++)
            equal = at < n && all[at] == found->each[i].color;
    }
    free(found->each);
    return equal && at == n;
}

static void draw_recolor(struct walk_case *c)
{
    if (c->channels < 3)
        return;
    struct gi_recolor *spec = WALK_SPEC(c, struct gi_recolor);
    for (int i = 0; i < GI_RECOLOR_MOST; i++)
        for (int k = 0; k < 4; k++)
            spec->colors[i][k] = (uint8_t)case_random(c->seed);
    walk_source_here(c);
    walk_other(c, &spec->table, GI_RECOLOR_SIDE, GI_RECOLOR_SIDE, 1, GI_U8);
}

static void define_recolor(struct walk_case *c)
{
    const struct gi_recolor *spec = c->spec;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, GI_U8);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const uint8_t *v = (uint8_t *)gi_row(&c->srcs[0].image, y) + x * c->channels;
            uint8_t *w = (uint8_t *)gi_row(want, y) + x * c->channels;
            int color = v[0] * 65536 + v[1] * 256 + v[2];
            int entry = ((uint8_t *)gi_row(&c->others[0].image, color / 4096))[color % 4096];
            memcpy(w, v, (size_t)c->channels);
            memcpy(w, spec->colors[entry], 3);
        }
}

/* Random candidates in every cell, and in a fourth of the cases few colours, which are far apart.
 */
static void draw_dither(struct walk_case *c)
{
    if (c->type != GI_U8)
        return;
    struct gi_dither *spec = WALK_SPEC(c, struct gi_dither);
    spec->kind = c->turn % 2 ? GI_DITHER_FLOYD_STEINBERG : GI_DITHER_ORDERED;
    spec->spread = walk_between(c, 0, 255);
    for (int i = 0; i < GI_RECOLOR_MOST; i++)
        for (int k = 0; k < 4; k++)
            spec->colors[i][k] =
                (uint8_t)(c->turn % 4 < 2 && k < 3 ? 255 * walk_between(c, 0, 1)
                                                   : (int)(case_random(c->seed) & 255));
    walk_source_here(c);
    struct gi_image *cells =
        walk_other(c, &spec->cells, GI_DITHER_CELL_NBYTES, GI_DITHER_CELLS, 1, GI_U8);
    for (int i = 0; i < GI_DITHER_CELLS && c->turn % 8; i++)
        *(uint8_t *)gi_row(cells, i) %= 12;
}

/* The nearest candidate. The cell is where each of the three samples has its four high bits. */
static const uint8_t *nearest_of(const struct walk_case *c, const int v[3])
{
    const struct gi_dither *spec = c->spec;
    const uint8_t *cell = gi_row(&c->others[0].image, v[0] / 16 * 256 + v[1] / 16 * 16 + v[2] / 16);
    const uint8_t *best = NULL;
    double least = INFINITY;
    for (int i = 0; i <= cell[0]; i++) {
        const uint8_t *color = spec->colors[cell[1 + i]];
        double sum = 0;
        for (int k = 0; k < (c->channels < 3 ? 1 : 3); k++)
            sum += pow(v[k] - color[k], 2);
        for (int k = 1; k < 3 && c->channels < 3; k++) /* a gray has no green and blue */
            sum += pow(color[k], 2);
        if (sum < least) {
            least = sum;
            best = color;
        }
    }
    return best;
}

/* Every pixel collects what its four neighbours before have passed on. */
static void define_dither(struct walk_case *c)
{
    static const int bayer[8][8] = {
        {0, 32, 8, 40, 2, 34, 10, 42},  {48, 16, 56, 24, 50, 18, 58, 26},
        {12, 44, 4, 36, 14, 46, 6, 38}, {60, 28, 52, 20, 62, 30, 54, 22},
        {3, 35, 11, 43, 1, 33, 9, 41},  {51, 19, 59, 27, 49, 17, 57, 25},
        {15, 47, 7, 39, 13, 45, 5, 37}, {63, 31, 55, 23, 61, 29, 53, 21}};
    static const int from[4][3] = {
        {-1, 0, 7}, {1, -1, 3}, {0, -1, 5}, {-1, -1, 1}}; /* x, y, part */
    const struct gi_dither *spec = c->spec;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, GI_U8);
    int colors = c->channels < 3 ? 1 : 3;
    int(*d)[3] = walk_alloc(c, (size_t)c->width * (size_t)c->height * sizeof *d);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const uint8_t *in = (uint8_t *)gi_row(&c->srcs[0].image, y) + x * c->channels;
            uint8_t *out = (uint8_t *)gi_row(want, y) + x * c->channels;
            int v[3] = {0};
            for (int k = 0; k < colors; k++) {
                int sum = 0;
                for (int i = 0; i < 4; i++) {
                    int nx = x + from[i][0], ny = y + from[i][1];
                    if (nx >= 0 && nx < c->width && ny >= 0)
                        sum += from[i][2] * d[ny * c->width + nx][k];
                }
                double more = spec->kind == GI_DITHER_ORDERED
                                  ? (2 * bayer[y % 8][x % 8] - 63) * spec->spread / 128.0
                                  : sum / 16.0;
                v[k] = (int)fmin(255, fmax(0, in[k] + trunc(more)));
            }
            memcpy(out, in, (size_t)c->channels);
            memcpy(out, nearest_of(c, v), (size_t)colors);
            for (int k = 0; k < colors; k++)
                d[y * c->width + x][k] = v[k] - out[k];
        }
}

/* A table of one dimension, of 1 or 3 channels, or of three dimensions, with a domain that samples
 * exceed. */
static void draw_color_lut(struct walk_case *c)
{
    struct gi_color_lut *spec = WALK_SPEC(c, struct gi_color_lut);
    float full = gi_type_full_scale(c->type);
    spec->kind = c->channels < 3 ? GI_COLOR_LUT_CURVES : (enum gi_color_lut_kind)(c->turn % 3);
    bool solid = spec->kind != GI_COLOR_LUT_CURVES;
    spec->n = walk_between(c, 2, solid ? 9 : 300);
    spec->full = full;
    for (int k = 0; k < 3; k++) {
        spec->scale[k] = (float)(spec->n - 1) / full * (1.2f + 0.4f * walk_real(c));
        spec->offset[k] = 0.1f * walk_real(c) * (float)spec->n;
    }
    struct gi_image *image = walk_source_here(c);
    walk_fill_odd(image, c->seed);
    walk_other(c, &spec->table, solid ? spec->n * spec->n : spec->n, solid ? spec->n : 1,
               solid || walk_between(c, 0, 1) ? 3 : 1, GI_F32);
    for (int x = 0; !solid && c->type != GI_F32 && x < c->width && c->channels >= 3; x++)
        exact_put(image, 0, x, 1, exact_sample(image, 0, x, 0)); /* equal fractions */
}

/* Returns channel c of the entry that is dr, dg and db steps after the entry at `i`. */
static float entry_of(const struct walk_case *c, const int i[3], int dr, int dg, int db,
                      int channel)
{
    const struct gi_color_lut *spec = c->spec;
    return exact_sample(&c->others[0].image, i[2] + db, (i[1] + dg) * spec->n + i[0] + dr, channel);
}

static float mixed(float t, float a, float b)
{
    return fmaf(t, b - a, a);
}

static float solid_of(const struct walk_case *c, const int i[3], const float t[3], int channel)
{
    const struct gi_color_lut *spec = c->spec;
    float at[2][2][2], *e = &at[0][0][0];
    for (int k = 0; k < 8; k++)
        e[k] = entry_of(c, i, k >> 2, k >> 1 & 1, k & 1, channel);
    if (spec->kind == GI_COLOR_LUT_TRILINEAR)
        return mixed(t[2],
                     mixed(t[1], mixed(t[0], at[0][0][0], at[1][0][0]),
                           mixed(t[0], at[0][1][0], at[1][1][0])),
                     mixed(t[1], mixed(t[0], at[0][0][1], at[1][0][1]),
                           mixed(t[0], at[0][1][1], at[1][1][1])));
    int order[3] = {0, 1, 2}, step[3] = {0, 0, 0};
    for (int pass = 0; pass < 2; pass++) /* stable */
        for (int k = 0; k < 2; k++)
            if (t[order[k]] < t[order[k + 1]]) {
                int first = order[k];
                order[k] = order[k + 1];
                order[k + 1] = first;
            }
    float y = at[0][0][0], before = y;
    for (int k = 0; k < 3; k++) {
        step[order[k]] = 1;
        float next = at[step[0]][step[1]][step[2]];
        y = fmaf(t[order[k]], next - before, y);
        before = next;
    }
    return y;
}

static void define_color_lut(struct walk_case *c)
{
    const struct gi_color_lut *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image, *table = &c->others[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    int colors = gi_color_channels(src);
    for (int y = 0; y < c->height; y++) {
        memcpy(gi_row(want, y), gi_row(src, y), gi_row_nbytes(src)); /* alpha */
        for (int x = 0; x < c->width; x++) {
            int i[3];
            float t[3];
            for (int k = 0; k < colors; k++) {
                float p = fmaf(spec->scale[k], exact_sample(src, y, x, k), spec->offset[k]);
                p = p != p || p < 0 ? 0 : p > (float)(spec->n - 1) ? (float)(spec->n - 1) : p;
                i[k] = (int)p > spec->n - 2 ? spec->n - 2 : (int)p;
                t[k] = p - (float)i[k];
            }
            for (int k = 0; k < colors; k++) {
                float v = exact_sample(src, y, x, k);
                int from = table->channels == 3 ? k : 0;
                bool curve = spec->kind == GI_COLOR_LUT_CURVES;
                float made = curve ? mixed(t[k], exact_sample(table, 0, i[k], from),
                                           exact_sample(table, 0, i[k] + 1, from))
                                   : solid_of(c, i, t, k);
                exact_put(want, y, x, k, curve && v != v ? v : made * spec->full);
            }
        }
    }
}

/* Makes random samples, or all values of an integer type, or floats at the midpoints between
 * integer codes, those next to these midpoints, and unusual floats. */
static void draw_convert(struct walk_case *c)
{
    struct gi_image *image = walk_source_here(c);
    int n = (int)gi_row_samples(image);
    for (int y = 0; (c->large || c->turn % 2) && y < c->height; y++)
        for (int x = 0; x < n; x++) {
            int i = y * n + x;
            float middle = ((float)(i / 3 % 65536) + 0.5f) / (i % 2 ? 255.0f : 65535.0f);
            if (c->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[x] = (uint8_t)i;
            else if (c->type == GI_U16)
                ((uint16_t *)gi_row(image, y))[x] = (uint16_t)i;
            else
                ((float *)gi_row(image, y))[x] =
                    i % 3 ? nextafterf(middle, (float)(i % 3 - 1) * 9) : middle;
        }
    walk_fill_odd(image, c->seed);
}

/* Converts to each type in turn. gi_image_convert() computes in double. */
static void define_convert(struct walk_case *c)
{
    enum gi_type type = (enum gi_type)(c->turn % (GI_F32 + 1));
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, src->width, src->height, src->channels, type), made;
    assert_int_equal(gi_image_convert(&made, src, type, NULL), GI_OK);
    for (int y = 0; y < made.height; y++)
        memcpy(gi_row(want, y), gi_row(&made, y), gi_row_nbytes(&made));
    gi_image_free(&made);
}

static const int counted[][2] = {{1, 1}, {1, 17}, {67, 5}, {513, 33}, {0, 0}};
static const int converted[][2] = {{1, 1}, {5, 3}, {31, 33}, {97, 7}, {129, 2}, {331, 594}, {0, 0}};
static const int dithered[][2] = {{1, 1},  {1, 17}, {17, 1},    {31, 9},
                                  {9, 40}, {77, 5}, {21, 1100}, {0, 0}};
static const int recolored[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 9}, {1027, 5}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("count_colors", "many and few", draw_colors, define_colors, .sizes = counted,
             .few = true, .equal = equal_colors),
    WALK_ROW("convert", "all types", draw_convert, define_convert, .sizes = converted),
    WALK_ROW("color_lut", "curves and solids", draw_color_lut, define_color_lut, .sizes = recolored,
             .few = true),
    WALK_ROW("recolor", "any table", draw_recolor, define_recolor, .sizes = recolored, .few = true,
             .in_place = 1),
    WALK_ROW("dither", "both kinds", draw_dither, define_dither, .sizes = dithered, .few = true,
             .in_place = 1),
};

WALK_ROWS(rows)

/* More than the 2^24 pixels that the CPU counts at a time, with colours that only the last rows
 * have. */
TEST(colors_of_a_large_image_are_counted)
{
    enum { WIDTH = 4099, HEIGHT = 4110, LATE = 4096 };
    const struct gi_kernels *k = gi_kernels_cpu();
    const struct gi_open_options options = {.threads = 3};
    struct gi_queue *queue;
    struct gi_image image;
    struct gi_colors found;
    uint32_t *counts = calloc(1 << 16, sizeof *counts);
    assert_non_null(counts);
    assert_int_equal(gi_queue_open_alone(&queue, k, &options, NULL), GI_OK);
    assert_int_equal(gi_image_alloc(&image, WIDTH, HEIGHT, 1, GI_U16, NULL), GI_OK);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int value = y < LATE ? 2 * ((3 * x + 7 * y) & 0x3fff) : (x + y) & 0xffff;
            ((uint16_t *)gi_row(&image, y))[x] = (uint16_t)value;
            counts[value]++;
        }
    assert_int_equal(k->count_colors(queue, &found, &image, NULL, NULL), GI_OK);
    size_t at = 0;
    for (uint64_t color = 0; color < 1 << 16; color++) {
        if (!counts[color])
            continue;
        assert_true(at < found.n);
        assert_int_equal(found.each[at].color, color);
        assert_int_equal(found.each[at++].count, counts[color]);
    }
    assert_int_equal(at, found.n);
    free(found.each);
    free(counts);
    gi_image_free(&image);
    gi_queue_close_alone(&queue);
}
