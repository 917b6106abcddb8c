/* Every way of the gradient and non-maximum suppression of Canny's edge detector gives the same
 * results as plain loops that follow the definition in kernels/canny.h, pixel by pixel.
 * Sources: kernels/canny.h kernels/cpu/convolution/canny.c kernels/cuda/convolution/canny.cu
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/canny.h"

static const int smooth[3][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
static const int slope[3][7] = {{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};

/* A gradient; members of integer images are whole numbers. */
struct gradient {
    double x, y, m;
};

static double sample_at(const struct gi_image *src, int x, int y, int c)
{
    x = x < 0 ? 0 : x >= src->width ? src->width - 1 : x;
    y = y < 0 ? 0 : y >= src->height ? src->height - 1 : y;
    return (double)exact_sample(src, y, x, c);
}

/* One float or exact sum of two. */
static double add(const struct gi_image *src, int tap, double v, double sum)
{
    return src->type == GI_F32 ? (double)fmaf((float)tap, (float)v, (float)sum) : sum + tap * v;
}

static double magnitude(const struct gi_image *src, const struct gi_canny *spec, double x, double y)
{
    float fx = (float)x, fy = (float)y, square = fmaf(fx, fx, fy * fy);
    if (src->type != GI_F32)
        return spec->squared ? x * x + y * y : fabs(x) + fabs(y);
    return (double)(spec->interpolated ? sqrtf(square)
                    : spec->squared    ? square
                                       : fabsf(fx) + fabsf(fy));
}

static struct gradient channel_gradient(const struct gi_image *src, const struct gi_canny *spec,
                                        int x, int y, int c)
{
    int half = spec->size / 2;
    struct gradient g = {0, 0, 0};
    for (int j = 0; j < spec->size; j++) {
        double d = 0, s = 0;
        for (int i = 0; i < spec->size; i++) {
            double v = sample_at(src, x + i - half, y + j - half, c);
            d = add(src, slope[half - 1][i], v, d);
            s = add(src, smooth[half - 1][i], v, s);
        }
        g.x = add(src, smooth[half - 1][j], d, g.x);
        g.y = add(src, slope[half - 1][j], s, g.y);
    }
    if (spec->size == 7) {
        g.x = src->type == GI_F32 ? g.x / 16 : rint(g.x / 16);
        g.y = src->type == GI_F32 ? g.y / 16 : rint(g.y / 16);
    }
    g.m = magnitude(src, spec, g.x, g.y);
    return g;
}

static struct gradient gradient_at(const struct gi_image *src, const struct gi_canny *spec, int x,
                                   int y)
{
    if (x < 0 || y < 0 || x >= src->width || y >= src->height)
        return (struct gradient){0, 0, 0};
    struct gradient best = channel_gradient(src, spec, x, y, 0);
    for (int c = 1; c < gi_color_channels(src); c++) {
        struct gradient g = channel_gradient(src, spec, x, y, c);
        if (g.m > best.m)
            best = g;
    }
    return best;
}

/* Returns the class after OpenCV; n[dy + 1][dx + 1] are the magnitudes. */
static int classify(const struct gi_image *src, struct gradient g, double n[3][3], double low,
                    double high)
{
    double x = fabs(g.x), y = fabs(g.y), flat = x * 13573, m = g.m;
    double steep = x * (13573 + 65536);
    if (src->type == GI_F32) {
        flat = (double)((float)x * (13573 / 32768.0f)) * 32768;
        steep = (double)((float)x * (79109 / 32768.0f)) * 32768;
    }
    int s = (g.x < 0) != (g.y < 0) ? -1 : 1;
    bool ridge = y * 32768 < flat    ? m > n[1][0] && m >= n[1][2]
                 : y * 32768 > steep ? m > n[0][1] && m >= n[2][1]
                                     : m > n[0][1 - s] && m > n[2][1 + s];
    return !ridge || !(m > low) ? 0 : m > high ? 2 : 1;
}

/* Returns the class after scikit-image. */
static int interpolate(struct gradient g, double n[3][3], double low, double high)
{
    float x = fabsf((float)g.x), y = fabsf((float)g.y), m = (float)g.m;
    int same = (g.x >= 0 && g.y >= 0) || (g.x <= 0 && g.y <= 0) ? 1 : -1;
    float most = m * (y >= x ? y : x);
    for (int s = -1; s <= 1; s += 2) { /* before and after */
        float straight = (float)(y >= x ? n[1 + s][1] : n[1][1 + s]);
        float diagonal = (float)(y >= x ? n[1 + s][1 + s * same] : n[1 + s * same][1 + s]);
        float far = y >= x ? y : x, near = y >= x ? x : y;
        if (!(fmaf(diagonal, near, straight * (far - near)) <= most))
            return 0;
    }
    return !(m > 0 && m >= (float)low) ? 0 : m >= (float)high ? 2 : 1;
}

static void define(struct walk_case *c)
{
    const struct gi_canny *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, 1, c->type);
    struct gradient *all = walk_alloc(c, (size_t)c->width * (size_t)c->height * sizeof *all);
    for (int i = 0; i < c->width * c->height; i++)
        all[i] = gradient_at(src, spec, i % c->width, i / c->width);
    for (int i = 0; i < c->width * c->height; i++) {
        int x0 = i % c->width, y0 = i / c->width;
        bool frame = x0 == 0 || y0 == 0 || x0 == c->width - 1 || y0 == c->height - 1;
        double n[3][3];
        for (int k = 0; k < 9; k++) {
            int x = x0 + k % 3 - 1, y = y0 + k / 3 - 1;
            bool inside = x >= 0 && y >= 0 && x < c->width && y < c->height;
            n[k / 3][k % 3] = inside ? all[y * c->width + x].m : 0;
        }
        int made = !spec->interpolated ? classify(src, all[i], n, spec->low, spec->high)
                   : frame             ? 0
                                       : interpolate(all[i], n, spec->low, spec->high);
        exact_put(want, y0, x0, 0, (float)made);
    }
}

/* Draws smooth images too, in which most pixels have long edges beside them. */
static void draw(struct walk_case *c)
{
    struct gi_canny *spec = WALK_SPEC(c, struct gi_canny);
    struct gi_image *src = walk_source_here(c);
    double full = (double)gi_type_full_scale(c->type);
    for (int y = 0; y < src->height && c->turn % 2; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < src->channels; i++)
                case_put(src, y, (size_t)(x * src->channels + i),
                         (float)(rint(full / 2 * (1 + sin(x * 0.3 + y * 0.2 * (i + 1)))) *
                                 (c->type == GI_F32 ? 1 / 3.0 : 1)));
    spec->interpolated = c->type == GI_F32 && walk_between(c, 0, 2) == 0;
    spec->size = spec->interpolated ? 3 : 3 + 2 * walk_between(c, 0, 2);
    spec->squared = walk_between(c, 0, 1);
    double unit = full * (spec->size == 3 ? 1 : spec->size == 5 ? 12 : 10);
    double low = unit * walk_between(c, 0, 8) / 8, high = low * (1 + walk_between(c, 0, 4) / 2.0);
    spec->low = spec->squared && !spec->interpolated ? low * low : low;
    spec->high = spec->squared && !spec->interpolated ? high * high : high;
    if (c->type != GI_F32) {
        spec->low = floor(spec->low);
        spec->high = floor(spec->high);
    }
}

static const int sizes[][2] = {{1, 1},   {1, 17},  {17, 1},   {2, 2},     {5, 70}, {126, 3},
                               {127, 3}, {64, 65}, {131, 66}, {253, 129}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("canny", "noise and waves", draw, define, .sizes = sizes, .few = true),
};

WALK_ROWS(rows)
