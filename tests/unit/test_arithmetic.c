/* Every way of binary arithmetic and compositing gives the bytes of plain C, which differ by at
 * most half a step from arithmetic in double.
 * Sources: arithmetic
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/arithmetic.h"

/* The factors of Porter and Duff's operators, and those of plus. */
static const struct mode {
    float above[2], below[2];
    bool plus;
} modes[] = {{{1, 0}, {1, -1}, false}, {{1, -1}, {1, 0}, false},  {{0, 1}, {0, 0}, false},
             {{0, 1}, {1, -1}, false}, {{1, -1}, {1, -1}, false}, {{1, 0}, {1, 0}, true}};

/* Returns sample c (0 to 3) of a pixel as if the image were RGBA, with full scale 1. Gray is
 * repeated for R, G and B, and a missing alpha is 1. */
static double sample_at(const struct gi_image *image, int y, int x, int c)
{
    int colors = gi_color_channels(image);
    if (c == 3 && !gi_has_alpha(image))
        return 1;
    size_t at = (size_t)x * (size_t)image->channels + (size_t)(c == 3 ? colors : c % colors);
    return gi_sample(gi_row(image, y), at, image->type) / (double)gi_type_full_scale(image->type);
}

/* Returns sample c, as sample_at() does, of the pixel of the second image that is combined with (x,
 * y). */
static double beside_at(const struct gi_arithmetic *spec, const struct gi_image *image, double full,
                        int y, int x, int c)
{
    if (!image)
        return (double)spec->value[c] / full;
    int64_t oy = y - spec->y, ox = x - spec->x, w = image->width, h = image->height;
    if (spec->tile) {
        oy = ((oy % h) + h) % h;
        ox = ((ox % w) + w) % w;
    }
    return oy < 0 || ox < 0 || oy >= h || ox >= w ? 0 : sample_at(image, (int)oy, (int)ox, c);
}

static double blended(enum gi_arithmetic_layer_mode blend, double b, double s)
{
    double means[] = {s, b * s, b + s - b * s, fmin(b, s), fmax(b, s), fabs(b - s)};
    return means[blend];
}

static double arithmetic(const struct gi_arithmetic *spec, double full, double a, double b,
                         double d, int c)
{
    double t = (double)spec->t, f = 0;
    a *= full, b *= full, d *= full;
    switch (spec->op) {
    case GI_ARITHMETIC_ADD:
        f = a + b;
        break;
    case GI_ARITHMETIC_SUBTRACT:
        f = a - b;
        break;
    case GI_ARITHMETIC_MULTIPLY:
        f = a * b;
        break;
    case GI_ARITHMETIC_DIVIDE:
        f = (a - d) / (b - d);
        break;
    case GI_ARITHMETIC_DIFFERENCE:
        f = fabs(a - b);
        break;
    case GI_ARITHMETIC_MIDDLE:
        f = (a + b) / 2;
        break;
    case GI_ARITHMETIC_MINIMUM:
        f = fmin(a, b);
        break;
    case GI_ARITHMETIC_MAXIMUM:
        f = fmax(a, b);
        break;
    case GI_ARITHMETIC_OUTLIER:
        f = fabs(a - b) > t ? b : a;
        break;
    default:
        f = a + t * (b - a);
    }
    if (spec->plain)
        return spec->op == GI_ARITHMETIC_MULTIPLY ? f / full : f;
    return f * (double)spec->factor[c] + (double)spec->offset;
}

/* Returns channel c (0 to 3) of a composited pixel as a fraction of full scale. Returns NAN for the
 * colour of a pixel that is so transparent that float32 is not accurate. */
static double layered(const struct gi_arithmetic *spec, const struct gi_image *src, double full,
                      int y, int x, int c)
{
    double as = beside_at(spec, spec->other, full, y, x, 3) * (double)spec->opacity;
    double ab = sample_at(src, y, x, 3), b = sample_at(src, y, x, c);
    double s = beside_at(spec, spec->other, full, y, x, c);
    double p = as * ((double)spec->above[0] + (double)spec->above[1] * ab);
    double q = ab * ((double)spec->below[0] + (double)spec->below[1] * as);
    if (spec->op == GI_ARITHMETIC_MASK) {
        double rgb[3], m;
        for (int i = 0; i < 3; i++)
            rgb[i] = beside_at(spec, spec->other, full, y, x, i);
        m = gi_luma(rgb) * as;
        m = spec->invert ? 1 - m : m;
        s = (double)spec->value[c] / full;
        p = (1 - m) * (double)spec->value[3] / full;
        q = m * (spec->set ? 1 : ab);
    }
    double alpha = fmin(p + q, 1);
    if (c == 3 || alpha <= 0)
        return alpha;
    if (alpha < 1.0 / 256)
        return (double)NAN;
    s = (1 - ab) * s + ab * blended(spec->blend, b, s);
    return (p * s + (spec->plus ? q : alpha - p) * b) / alpha;
}

/* Returns the arithmetic result in double. Returns NAN if the divisor is a difference so small that
 * float32 is not accurate. */
static double meant(const struct gi_arithmetic *spec, const struct gi_image *src, double full,
                    int y, int x, int c)
{
    bool dark = spec->dark && (c < 3 || gi_has_alpha(spec->dark));
    double b = beside_at(spec, spec->other, full, y, x, c);
    double d = dark ? beside_at(spec, spec->dark, full, y, x, c) : 0;
    if (dark && fabs(b - d) < 1.0 / 16)
        return (double)NAN;
    return arithmetic(spec, full, sample_at(src, y, x, c), b, d, c);
}

/* Returns whether the pixel's stored alpha is 0. */
static bool is_hidden(const struct gi_image *image, int y, int x)
{
    size_t channels = (size_t)image->channels, at = ((size_t)x + 1) * channels - 1;
    return gi_has_alpha(image) && gi_sample(gi_row(image, y), at, image->type) == 0;
}

/* Compares `got` with the result in double. Integers may differ by half a step and float32's error;
 * floats may differ by a relative error. */
static void check_meant(const struct gi_image *got, const struct gi_image *src,
                        const struct gi_arithmetic *spec)
{
    double full = (double)gi_type_full_scale(src->type);
    int colors = gi_color_channels(got);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < got->channels; i++) {
                int c = i == colors ? 3 : i;
                double a = sample_at(src, y, x, c), want;
                if (spec->op >= GI_ARITHMETIC_LAYER && c < 3 && is_hidden(got, y, x))
                    want = 0;
                else if (spec->op >= GI_ARITHMETIC_LAYER)
                    want = full * layered(spec, src, full, y, x, c);
                else if (c == 3 && !spec->alpha_too)
                    want = full * a;
                else
                    want = meant(spec, src, full, y, x, c);
                if (src->type != GI_F32 && !isnan(want))
                    want = want > 0 ? fmin(want, full) : 0;
                double is = gi_sample(gi_row(got, y), (size_t)x * (size_t)got->channels + (size_t)i,
                                      got->type);
                double slack = src->type == GI_F32   ? 2e-5 * fmax(1, fabs(want))
                               : src->type == GI_U16 ? 0.52
                                                     : 0.501;
                if (isfinite(want) && fabs(want) < 1e4 && !(fabs(is - want) <= slack))
                    fail_msg("operation %d, pixel (%d, %d) channel %d: %.9g, want %.9g",
                             (int)spec->op, x, y, i, is, want);
            }
}

static struct gi_arithmetic *random_spec(struct walk_case *c)
{
    float full = gi_type_full_scale(c->type);
    struct gi_arithmetic *spec = WALK_SPEC(c, struct gi_arithmetic);
    const struct mode *mode = &modes[walk_between(c, 0, 5)];
    *spec =
        (struct gi_arithmetic){.op = (enum gi_arithmetic_op)walk_between(c, 0, GI_ARITHMETIC_MASK),
                               .t = walk_real(c),
                               .alpha_too = walk_between(c, 0, 1),
                               .offset = walk_between(c, 0, 1) ? walk_real(c) * full : 0,
                               .opacity = walk_between(c, 0, 1) ? 1 : 0.625f,
                               .plus = mode->plus,
                               .set = walk_between(c, 0, 1),
                               .invert = walk_between(c, 0, 1)};
    memcpy(spec->above, mode->above, sizeof spec->above);
    memcpy(spec->below, mode->below, sizeof spec->below);
    if (mode == modes)
        spec->blend = (enum gi_arithmetic_layer_mode)walk_between(c, 0, GI_BLEND_DIFFERENCE);
    if (spec->op == GI_ARITHMETIC_OUTLIER)
        spec->t = floorf(fabsf(spec->t) * full / 2) + 0.5f;
    bool alike = walk_between(c, 0, 1);
    for (int i = 0; i < GI_MAX_CHANNELS; i++) {
        float scale = spec->op == GI_ARITHMETIC_MULTIPLY ? 1 / full
                      : spec->op == GI_ARITHMETIC_DIVIDE ? full / 4
                                                         : 1;
        spec->factor[i] = scale * (walk_between(c, 0, 1) ? 1 : 2 * walk_real(c));
        spec->factor[i] = alike ? spec->factor[0] : spec->factor[i];
        spec->value[i] = rintf((walk_real(c) + 1) / 2 * full);
    }
    if (spec->op == GI_ARITHMETIC_MASK) {
        spec->opacity = 1;
        spec->plus = false;
        spec->blend = GI_BLEND_NORMAL;
    }
    return spec;
}

/* Makes the further images, with random types and channels. A layer also has a random size and
 * position. */
static void random_others(struct walk_case *c, struct gi_arithmetic *spec)
{
    bool layer = spec->op == GI_ARITHMETIC_LAYER, alike = !layer && walk_between(c, 0, 1);
    int width = layer ? walk_between(c, 1, 2 * c->width) : c->width;
    int height = layer ? walk_between(c, 1, 2 * c->height) : c->height;
    const struct gi_image **at[] = {&spec->other, &spec->dark};
    bool wanted[] = {spec->op == GI_ARITHMETIC_MASK || walk_between(c, 0, 4),
                     spec->op == GI_ARITHMETIC_DIVIDE && walk_between(c, 0, 1)};
    for (int j = 0; j < 2; j++) {
        int most = spec->op < GI_ARITHMETIC_LAYER && c->channels < 3 ? 1 : 3;
        int channels = (walk_between(c, 0, 1) ? most : 1) + walk_between(c, 0, 1);
        enum gi_type type = (enum gi_type)walk_between(c, 0, 2);
        if (wanted[j])
            walk_other(c, at[j], width, height, alike ? c->channels : channels,
                       alike ? c->type : type);
    }
    if (layer) {
        spec->x = walk_between(c, -width, c->width);
        spec->y = walk_between(c, -height, c->height);
        spec->tile = walk_between(c, 0, 3) == 0;
    }
    spec->plain = alike && spec->other && spec->op < GI_ARITHMETIC_LAYER && !spec->dark &&
                  walk_between(c, 0, 1);
}

static void draw_any(struct walk_case *c)
{
    struct gi_arithmetic *spec = random_spec(c);
    int channels = spec->op < GI_ARITHMETIC_LAYER ? c->channels : walk_between(c, 1, 4);
    random_others(c, spec);
    walk_source_here(c);
    walk_result(c, c->width, c->height, channels + (c->channels > 2 && channels < 3 ? 2 : 0),
                c->type);
}

/* Makes rows that end at any lane of a vector, in images of the same shape and type whose strides
 * differ. */
static void draw_widths(struct walk_case *c)
{
    struct gi_arithmetic *spec = random_spec(c);
    spec->op = (enum gi_arithmetic_op)(c->turn % (GI_ARITHMETIC_MASK + 1));
    spec->t = fabsf(spec->t) + 0.5f;
    walk_source_here(c);
    walk_other(c, &spec->other, c->width, c->height, c->channels, c->type);
    if (spec->op == GI_ARITHMETIC_DIVIDE && c->width % 2)
        walk_other(c, &spec->dark, c->width, c->height, c->channels, c->type);
    spec->plain = spec->op < GI_ARITHMETIC_LAYER && !spec->dark && c->width % 3 != 0;
    walk_result(c, c->width, c->height, c->channels, c->type);
}

static void define(struct walk_case *c)
{
    walk_plain(c);
    if (!walk_is_odd(c))
        check_meant(&c->want, &c->srcs[0].image, c->spec);
}

/* ---- plain arithmetic: exactly the definition ---- */

/* The operations of two images. */
static const enum gi_arithmetic_op two_images[] = {
    GI_ARITHMETIC_ADD,        GI_ARITHMETIC_SUBTRACT, GI_ARITHMETIC_MULTIPLY,
    GI_ARITHMETIC_DIFFERENCE, GI_ARITHMETIC_BLEND,    GI_ARITHMETIC_MIDDLE,
    GI_ARITHMETIC_MINIMUM,    GI_ARITHMETIC_MAXIMUM,  GI_ARITHMETIC_OUTLIER};
enum { TWO_IMAGES = sizeof two_images / sizeof *two_images };

/* Returns a * b / full, rounded to nearest. There are no ties, because `full` is odd. */
static float product(float a, float b, enum gi_type type)
{
    uint64_t full = (uint64_t)gi_type_full_scale(type);
    return type == GI_F32 ? a * b : (float)((2 * (uint64_t)a * (uint64_t)b + full) / (2 * full));
}

static float combined(const struct gi_arithmetic *spec, enum gi_type type, float a, float b)
{
    float f;
    switch (spec->op) {
    case GI_ARITHMETIC_ADD:
        return a + b;
    case GI_ARITHMETIC_SUBTRACT:
        return a - b;
    case GI_ARITHMETIC_MULTIPLY:
        return product(a, b, type);
    case GI_ARITHMETIC_BLEND:
        f = fmaf(spec->t, b, fmaf(-spec->t, a, a));
        return type == GI_U8 ? (f + 3072.0f) - 3072.0f : f;
    case GI_ARITHMETIC_MIDDLE:
        return fmaf(0.5f, b, 0.5f * a);
    case GI_ARITHMETIC_MINIMUM:
        return isnan(b) || a > b ? b : a;
    case GI_ARITHMETIC_MAXIMUM:
        return isnan(b) || b > a ? b : a;
    case GI_ARITHMETIC_OUTLIER:
        return a - b > spec->t || b - a > spec->t ? b : a;
    default:
        return fabsf(a - b);
    }
}

static void define_plain(struct walk_case *c)
{
    const struct gi_arithmetic *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, src->width, src->height, src->channels, src->type);
    int kept = gi_has_alpha(src) && !spec->alpha_too ? src->channels - 1 : -1;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < src->channels; i++) {
                float a = exact_sample(src, y, x, i), b = exact_sample(spec->other, y, x, i);
                exact_put(want, y, x, i, i == kept ? a : combined(spec, c->type, a, b));
            }
    if (!walk_is_odd(c))
        check_meant(want, src, spec);
}

/* Factor and offset are not used. */
static struct gi_arithmetic *plain(struct walk_case *c, enum gi_arithmetic_op op)
{
    struct gi_arithmetic *spec = WALK_SPEC(c, struct gi_arithmetic);
    spec->op = op;
    spec->plain = true;
    spec->factor[0] = spec->offset = 3;
    struct gi_image *src = walk_source_here(c);
    if (c->turn % 2)
        walk_fill_odd_bits(c, src);
    src = walk_other(c, &spec->other, c->width, c->height, c->channels, c->type);
    if (c->turn % 3 == 1)
        walk_fill_odd_bits(c, src);
    return spec;
}

static void draw_two_images(struct walk_case *c, int op)
{
    static const float ts[] = {0, 1, 0.5f, 0.25f, -0.75f, 1.5f};
    struct gi_arithmetic *spec = plain(c, two_images[op]);
    spec->alpha_too = walk_between(c, 0, 1);
    spec->t = walk_between(c, 0, 2) ? walk_real(c) : ts[walk_between(c, 0, 5)];
    if (spec->op == GI_ARITHMETIC_OUTLIER)
        spec->t = fabsf(spec->t) * gi_type_full_scale(c->type) / 2;
}

/* Runs each operation on each shape. The border mode of the case selects the operation. */
static void draw_first_half(struct walk_case *c)
{
    draw_two_images(c, (int)c->border);
}

static void draw_second_half(struct walk_case *c)
{
    int op = CASE_BORDERS + (int)c->border;
    if (op < TWO_IMAGES)
        draw_two_images(c, op);
}

/* Fills the images with all pairs of bytes, times `unit`. */
static void fill_pairs(struct walk_case *c, int unit)
{
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < c->width; x++)
            for (int k = 0; k < c->channels; k++) {
                exact_put(&c->srcs[0].image, y, x, k, (float)(x % 256 * unit));
                exact_put(&c->others[0].image, y, x, k, (float)(y * unit));
            }
}

/* Makes every pair of bytes, and blends at the ends of their range and between these ends. */
static void draw_pairs_of_bytes(struct walk_case *c)
{
    static const float t[] = {0, 1, 0.5f, 0.1f, 2};
    if (c->type != GI_U8)
        return;
    struct gi_arithmetic *spec = plain(c, two_images[c->turn % TWO_IMAGES]);
    spec->t = t[c->turn % 5];
    spec->alpha_too = true;
    fill_pairs(c, 1);
}

/* Makes every 16-bit sample, each paired with some samples around the values at which products and
 * sums round differently. */
static void draw_many_words(struct walk_case *c)
{
    static const uint16_t others[] = {0,     1,     2,     127,   255,   256,
                                      32767, 32768, 32769, 43691, 65534, 65535};
    if (c->type != GI_U16 || c->channels > 1)
        return;
    struct gi_arithmetic *spec = plain(c, two_images[(c->height - 192) % TWO_IMAGES]);
    spec->t = 0.3f;
    for (int y = 0; y < 192; y++)
        for (int x = 0; x < 4096; x++) {
            exact_put(&c->srcs[0].image, y, x, 0, (float)(y % 16 * 4096 + x));
            exact_put(&c->others[0].image, y, x, 0, others[y / 16]);
        }
}

/* ---- factors and offsets of all pairs of bytes ---- */

/* Half of a sum, results beyond 16 bits, and ratios whose divisor may be 0. */
static const struct gi_arithmetic factors[] = {
    {.op = GI_ARITHMETIC_ADD, .factor = {0.5f}},
    {.op = GI_ARITHMETIC_ADD, .factor = {0.5f}, .offset = -20.5f},
    {.op = GI_ARITHMETIC_MULTIPLY, .factor = {-200}, .offset = 3e5f},
    {.op = GI_ARITHMETIC_DIVIDE, .factor = {-255}, .offset = 300},
    {.op = GI_ARITHMETIC_BLEND, .factor = {1}, .t = 0.3f},
    {.op = GI_ARITHMETIC_BLEND, .factor = {1e5f}, .t = -3},
};

static void draw_factors(struct walk_case *c)
{
    if (c->type == GI_F32)
        return;
    struct gi_arithmetic *spec = plain(c, GI_ARITHMETIC_ADD);
    const struct gi_image *other = spec->other;
    *spec = factors[(size_t)c->turn % (sizeof factors / sizeof *factors)];
    spec->other = other;
    for (int i = 1; i < GI_MAX_CHANNELS; i++)
        spec->factor[i] = spec->factor[0];
    fill_pairs(c, c->type == GI_U8 ? 1 : 257);
}

static void define_factors(struct walk_case *c)
{
    const struct gi_arithmetic *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, src->width, src->height, src->channels, src->type);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < src->channels; i++) {
                float a = exact_sample(src, y, x, i), b = exact_sample(spec->other, y, x, i);
                float f = spec->op == GI_ARITHMETIC_DIVIDE     ? a / b
                          : spec->op == GI_ARITHMETIC_MULTIPLY ? a * b
                          : spec->op == GI_ARITHMETIC_BLEND ? fmaf(spec->t, b, fmaf(-spec->t, a, a))
                                                            : combined(spec, c->type, a, b);
                f = fmaf(spec->factor[0], f, spec->offset);
                if (c->type == GI_U8)
                    f = (f + 3072.0f) - 3072.0f;
                if (spec->op == GI_ARITHMETIC_ADD && spec->offset == 0)
                    f = rintf((a + b) / 2);
                exact_put(want, y, x, i, gi_has_alpha(src) && i == src->channels - 1 ? a : f);
            }
}

/* ---- rows ---- */

/* Makes a layer that has no rows in this band, where it counts as transparent. */
static void draw_no_rows(struct walk_case *c)
{
    static const struct gi_image none = {.width = 5, .channels = 4, .type = GI_U8};
    struct gi_arithmetic *spec = WALK_SPEC(c, struct gi_arithmetic);
    *spec = (struct gi_arithmetic){
        .op = GI_ARITHMETIC_LAYER, .opacity = 1, .other = &none, .above = {1, 0}, .below = {1, -1}};
    if (c->type == GI_U8 && c->channels % 2)
        walk_source_here(c);
}

static void define_no_rows(struct walk_case *c)
{
    assert_int_equal(gi_image_convert(&c->want, &c->srcs[0].image, c->type, NULL), GI_OK);
}

static const int some[][2] = {{33, 5}, {0, 0}};
static const int usual[][2] = {{1, 1},     {1, 17},    {17, 1},     {31, 33}, {67, 5},
                               {257, 129}, {70001, 3}, {1031, 517}, {0, 0}};
static const int bytes[][2] = {{256, 256}, {257, 256}, {258, 256}, {0, 0}};
static const int words[][2] = {{4096, 192}, {4096, 193}, {4096, 194}, {4096, 195}, {4096, 196},
                               {4096, 197}, {4096, 198}, {4096, 199}, {4096, 200}, {0, 0}};
static int widths[71][2]; /* 1 x 2 to 70 x 2 */

static const struct walk_row rows[] = {
    WALK_ROW("arithmetic", "any", draw_any, define),
    WALK_ROW("arithmetic", "widths", draw_widths, define, .sizes = (const int (*)[2])widths,
             .few = true),
    WALK_ROW("arithmetic", "no rows", draw_no_rows, define_no_rows, .sizes = some,
             .some_ways = true),
    WALK_ROW("arithmetic", "plain, the first operations", draw_first_half, define_plain,
             .sizes = usual, .in_place = 3, .some_ways = true),
    WALK_ROW("arithmetic", "plain, the next operations", draw_second_half, define_plain,
             .sizes = usual, .in_place = 3),
    WALK_ROW("arithmetic", "pairs of bytes", draw_pairs_of_bytes, define_plain, .sizes = bytes),
    WALK_ROW("arithmetic", "factors of pairs of bytes", draw_factors, define_factors,
             .sizes = bytes),
    WALK_ROW("arithmetic", "many words", draw_many_words, define_plain, .sizes = words,
             .few = true),
};

__attribute__((constructor)) static void fill_widths(void)
{
    for (int i = 0; i < 70; i++)
        memcpy(widths[i], (int[]){i + 1, 2}, sizeof *widths);
}

WALK_ROWS(rows)
