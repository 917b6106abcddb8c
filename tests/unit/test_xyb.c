/* The scales of XYB and the sums of their maps equal those of plain loops that follow the
 * definition in kernels/xyb.h, for all types and sizes. tests/filters/ssimulacra2_oracle.py has the
 * definition of the metric.
 * Sources: kernels/xyb kernels/cpu/statistics/xyb_scales.c kernels/cpu/statistics/xyb_norms.c
 *     kernels/cuda/statistics/xyb_scales.cu kernels/cuda/statistics/xyb_norms.cu
 * SPDX-License-Identifier: MIT */
#include "kernels/xyb.h"
#include "primitives.h"

static float light[65536];

static void fill_light(void)
{
    for (int i = 0; i < 65536; i++)
        light[i] = (float)i / 300.0f / (float)(1 + i % 7);
}

/* ---- xyb_scales ---- */

static void draw_scales(struct walk_case *c)
{
    if (c->channels % 2 == 0 || !gi_xyb_layout_of(c->width, c->height).n)
        return;
    fill_light();
    struct gi_xyb *spec = WALK_SPEC(c, struct gi_xyb);
    spec->light = c->type == GI_F32 ? NULL : light;
    struct gi_image *src = walk_source_here(c);
    for (int y = 0; y < c->height && c->type == GI_F32; y++)
        for (int i = 0; i < c->width * c->channels; i++)
            case_put(src, y, (size_t)i, walk_real(c) * 0.8f + 0.5f); /* some are below 0 */
}

static double plain_root(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = gi_xyb_guess(bits);
    memcpy(&f, &bits, sizeof f);
    double t = gi_xyb_cube_root(x, (double)f);
    assert_true(fabs(t - cbrt(x)) <= 1e-13 * t + 1e-13);
    return t;
}

static void define_scales(struct walk_case *c)
{
    const struct gi_image *src = &c->srcs[0].image;
    const struct gi_xyb_layout layout = gi_xyb_layout_of(src->width, src->height);
    struct gi_image *want = walk_result(c, layout.width, layout.height, 1, GI_F32);
    float *rgb = malloc((size_t)src->width * (size_t)src->height * 3 * sizeof *rgb), *to = rgb;
    for (int y = 0; y < want->height; y++)
        memset(gi_row(want, y), 0x5a, gi_row_nbytes(want));
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < 3; i++) {
                size_t at = (size_t)(x * src->channels + (src->channels == 3 ? i : 0));
                double v = gi_sample(gi_row(src, y), at, src->type);
                *to++ = src->type == GI_F32 ? (float)v : light[(int)v];
            }
    for (int s = 0; s < layout.n; s++) {
        const struct gi_xyb_scale *scale = &layout.scales[s];
        int width = scale->width, height = scale->height, half = (width + 1) / 2;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                double lms[3];
                float xyb[3], *p = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
                gi_xyb_mix(lms, p[0], p[1], p[2]);
                gi_xyb_of_roots(xyb, plain_root(lms[0]), plain_root(lms[1]), plain_root(lms[2]));
                for (int i = 0; i < 3; i++)
                    ((float *)gi_row(want, scale->y + i * height + y))[scale->x + x] = xyb[i];
            }
        for (int y = 0; y < (height + 1) / 2; y++) /* in place */
            for (int x = 0; x < half; x++)
                for (int i = 0; i < 3; i++) {
                    int right = 2 * x + 1 < width ? 2 * x + 1 : 2 * x;
                    int below = 2 * y + 1 < height ? 2 * y + 1 : 2 * y;
                    float sum = rgb[3 * (2 * y * width + 2 * x) + i];
                    sum += rgb[3 * (2 * y * width + right) + i];
                    sum += rgb[3 * (below * width + 2 * x) + i];
                    sum += rgb[3 * (below * width + right) + i];
                    rgb[3 * (y * half + x) + i] = sum / 4;
                }
    }
    free(rgb);
}

/* ---- xyb_norms ---- */

static void draw_norms(struct walk_case *c)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(c->width, c->height);
    if (c->type != GI_F32 || c->channels != 1 || !layout.n)
        return;
    struct gi_xyb_compare *spec = WALK_SPEC(c, struct gi_xyb_compare);
    spec->width = c->width;
    spec->height = c->height;
    struct gi_image *a = walk_source(c, layout.width, layout.height, 1, GI_F32);
    struct gi_image *b = walk_other(c, &spec->other, layout.width, layout.height, 1, GI_F32);
    for (int y = 0; y < layout.height; y++)
        for (int x = 0; x < layout.width; x++) {
            float v = walk_real(c);
            case_put(a, y, (size_t)x, v);
            case_put(b, y, (size_t)x, c->turn % 3 ? v + 0.1f * walk_real(c) : v);
        }
}

/* Returns value k (a, b, a^2 + b^2, a b) at a position, 0 outside the image. */
static double value_at(const struct walk_case *c, const struct gi_xyb_scale *scale, int plane,
                       int k, int x, int y)
{
    if (x < 0 || x >= scale->width || y < 0 || y >= scale->height)
        return 0;
    int row = scale->y + plane * scale->height + y, at = scale->x + x;
    double a = (double)((const float *)gi_row(&c->srcs[0].image, row))[at];
    double b = (double)((const float *)gi_row(&c->others[0].image, row))[at];
    return k == 0 ? a : k == 1 ? b : k == 2 ? a * a + b * b : a * b;
}

static double blurred_at(const struct walk_case *c, const struct gi_xyb_scale *scale, int plane,
                         int k, int x, int y)
{
    double columns[2 * GI_XYB_REACH + 1], values[2 * GI_XYB_REACH + 1];
    for (int i = 0; i <= 2 * GI_XYB_REACH; i++) {
        for (int j = 0; j <= 2 * GI_XYB_REACH; j++)
            values[j] = value_at(c, scale, plane, k, x + i - GI_XYB_REACH, y + j - GI_XYB_REACH);
        columns[i] = gi_xyb_blur(values + GI_XYB_REACH, 1);
    }
    return gi_xyb_blur(columns + GI_XYB_REACH, 1);
}

/* Adds up a tile whose first pixel is at (left, top). */
static void add_tile(double norms[GI_XYB_NORMS], const struct walk_case *c,
                     const struct gi_xyb_scale *scale, int plane, int left, int top)
{
    double columns[GI_XYB_NORMS][GI_XYB_TILE] = {{0}};
    for (int x = left; x < left + GI_XYB_TILE && x < scale->width; x++)
        for (int first = top; first < top + GI_XYB_TILE; first += GI_XYB_ROWS) {
            double few[GI_XYB_NORMS] = {0};
            for (int y = first; y < first + GI_XYB_ROWS && y < scale->height; y++) {
                double m[4], maps[3];
                for (int k = 0; k < 4; k++)
                    m[k] = blurred_at(c, scale, plane, k, x, y);
                gi_xyb_maps(maps, value_at(c, scale, plane, 0, x, y),
                            value_at(c, scale, plane, 1, x, y), m[0], m[1], m[2], m[3]);
                for (int i = 0; i < 3; i++) {
                    few[2 * i] += maps[i];
                    few[2 * i + 1] += maps[i] * maps[i] * (maps[i] * maps[i]);
                }
            }
            for (int i = 0; i < GI_XYB_NORMS; i++)
                columns[i][x - left] += few[i];
        }
    for (int i = 0; i < GI_XYB_NORMS; i++) {
        for (int half = GI_XYB_TILE / 2; half; half /= 2)
            for (int x = 0; x < half; x++)
                columns[i][x] += columns[i][x + half];
        norms[i] += columns[i][0];
    }
}

static void define_norms(struct walk_case *c)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(c->width, c->height);
    struct gi_xyb_norms *want = walk_data(c, NULL, sizeof *want);
    for (int s = 0; s < layout.n; s++)
        for (int plane = 0; plane < 3; plane++)
            for (int y = 0; y < layout.scales[s].height; y += GI_XYB_TILE)
                for (int x = 0; x < layout.scales[s].width; x += GI_XYB_TILE)
                    add_tile(want->v[s][plane], c, &layout.scales[s], plane, x, y);
}

static const int sizes[][2] = {{8, 8}, {9, 31}, {33, 40}, {67, 15}, {300, 35}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("xyb_scales", "all types", draw_scales, define_scales, .sizes = sizes, .few = true),
    WALK_ROW("xyb_norms", "images alike", draw_norms, define_norms, .sizes = sizes, .few = true),
};
WALK_ROWS(rows)

/* The planes of all scales are inside the image of the layout, and none shares a sample. */
TEST(the_scales_are_apart)
{
    for (int width = 1; width < 70; width++)
        for (int height = 1; height < 70; height += 3) {
            const struct gi_xyb_layout layout = gi_xyb_layout_of(width, height);
            assert_int_equal(layout.n == 0, width < 8 || height < 8);
            for (int s = 0; s < layout.n; s++) {
                const struct gi_xyb_scale *a = &layout.scales[s];
                assert_true(a->x + a->width <= layout.width);
                assert_true(a->y + 3 * a->height <= layout.height);
                for (int other = 0; other < s; other++) {
                    const struct gi_xyb_scale *b = &layout.scales[other];
                    assert_true(b->x + b->width <= a->x || b->y + 3 * b->height <= a->y);
                }
            }
        }
}
