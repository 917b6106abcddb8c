/* Every way of adaptive (local) thresholds gives the same results as plain loops that follow the
 * definition in kernels/tone.h.
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/tone.h"

__extension__ typedef unsigned __int128 wide;

/* The level v of one sample, and the sums s of levels and q of squares over the window at this
 * sample. */
struct plain {
    uint64_t v, s;
    wide q;
};

static uint64_t level(const struct gi_local *spec, const struct gi_image *image, double sample)
{
    if (image->type != GI_F32)
        return (uint64_t)sample;
    double x = (sample - spec->lo) * spec->scale, most = GI_LOCAL_LEVELS - 1;
    return x > 0 ? (uint64_t)((x > most ? most : x) + 0.5) : 0;
}

static struct plain plain_at(const struct gi_image *src, const struct gi_local *spec, int y, int x,
                             int c)
{
    struct plain p = {level(spec, src, (double)exact_sample(src, y, x, c)), 0, 0};
    struct gi_border_spec border = exact_border(&spec->border, src);
    int half = spec->k / 2;
    for (int j = -half; j <= half; j++)
        for (int i = -half; i <= half; i++) {
            double v = (double)exact_at(src, &border, GI_ALPHA_PLAIN, y + j, x + i, c);
            uint64_t l = level(spec, src, v);
            p.s += l;
            p.q += (wide)l * l;
        }
    return p;
}

static double spread_of(const struct plain *p, uint64_t n)
{
    wide d = (wide)n * p->q - (wide)p->s * p->s;
    return (double)(uint64_t)(d >> 64) * 0x1p64 + (double)(uint64_t)d;
}

/* Returns whether the sample exceeds its threshold. The last digits of the exponential may differ
 * from those that the tested code computes. */
static bool above(const struct gi_local *spec, const struct plain *p)
{
    uint64_t n = (uint64_t)spec->k * (uint64_t)spec->k;
    double rest = (double)((int64_t)(n * p->v) - (int64_t)p->s), s = (double)p->s;
    if (spec->mean)
        return rest + spec->shift > 0;
    double a = fma(spec->part, s, rest + spec->shift), t = fma(spec->slope, s, spec->level);
    if (spec->swell != 0)
        a -= spec->swell * gi_local_fall(spec->decay * (s - spec->base)) * (s - spec->base);
    double square = a * a, limit = t * t * spread_of(p, n);
    return t < 0 ? a > 0 || square < limit : a > 0 && square > limit;
}

/* Computes the mask. Returns the maximum of the spread D over the rows that are used. */
static double define(struct gi_image *dst, const struct gi_image *src, const struct gi_local *spec)
{
    double most = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                if (c == gi_color_channels(src)) {
                    exact_put(dst, y, x, c, exact_sample(src, y, x, c));
                    continue;
                }
                struct plain p = plain_at(src, spec, y, x, c);
                bool on = above(spec, &p) != spec->invert;
                if (y >= spec->above && y < src->height - spec->below)
                    most = fmax(most, spread_of(&p, (uint64_t)spec->k * (uint64_t)spec->k));
                exact_put(dst, y, x, c, on ? gi_type_full_scale(src->type) : 0);
            }
    return most;
}

static void define_mask(struct walk_case *c)
{
    define(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image, c->spec);
}

static void define_spread(struct walk_case *c)
{
    struct gi_image mask;
    double *most = walk_data(c, NULL, sizeof *most);
    assert_int_equal(gi_image_alloc(&mask, c->width, c->height, c->channels, c->type, NULL), GI_OK);
    *most = define(&mask, &c->srcs[0].image, c->spec);
    gi_image_free(&mask);
}

/* Returns a rule of the given kind. Kind 0 uses the mean. Kinds 1 and 2 use the deviation, below
 * and above the mean. Kind 3 uses the deviation times the mean. Kind 4 also uses an exponential. */
static struct gi_local *rule(struct walk_case *c, int kind, int k)
{
    struct gi_local *spec = WALK_SPEC(c, struct gi_local);
    bool floats = c->type == GI_F32;
    double n = (double)k * k, full = floats ? GI_LOCAL_LEVELS : gi_type_full_scale(c->type);
    *spec = (struct gi_local){.k = k, .mean = kind == 0, .invert = walk_between(c, 0, 3) == 0};
    spec->border = case_border(c->seed, c->border, c->type);
    spec->lo = -0.25;
    spec->scale = GI_LOCAL_LEVELS / 1.5;
    if (walk_between(c, 0, 1))
        spec->shift = n * rint(full * (double)walk_real(c) / 8) / 2;
    else if (walk_between(c, 0, 7) == 0)
        spec->shift = walk_between(c, 0, 1) ? 1e12 : -1e12; /* decides alone */
    if (kind == 1 || kind == 2)
        spec->level = kind == 1 ? -0.2 : 0.3;
    if (kind > 2) {
        spec->part = 0.2 * kind - 0.4;
        spec->slope = spec->part / (n * full / 2);
    }
    if (kind == 4) {
        spec->swell = 2;
        spec->decay = 10 / (n * full);
        spec->base = full;
    }
    return spec;
}

enum { KINDS = 5 };

/* In a fourth of the cases, half of the image is constant, as on a blank page. */
static struct gi_image *local(struct walk_case *c, int k)
{
    bool spread = strcmp(c->row->primitive, "local_spread") == 0; /* the mean has none */
    struct gi_local *spec = rule(c, spread ? 1 + c->turn % (KINDS - 1) : c->turn % KINDS, k);
    struct gi_image *image = walk_source_here(c);
    for (int y = 0; c->turn % 4 == 0 && y < c->height; y++)
        for (int x = 0; x < c->width / 2; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(image, y, x, i, gi_type_full_scale(c->type));
    spec->above = walk_between(c, 0, 1) * walk_between(c, 0, c->height);
    spec->below = walk_between(c, 0, 1) * walk_between(c, 0, c->height - spec->above);
    return image;
}

static void draw(struct walk_case *c)
{
    static const int ks[] = {1, 3, 5, 9, 17};
    local(c, c->width > 1000 || c->large ? 3 : ks[walk_between(c, 0, 4)]);
}

/* Makes 8-bit gray images for each rule and border mode. The images are so wide and high that they
 * are divided among threads, warps and bands. */
static void draw_bytes(struct walk_case *c)
{
    static const int ks[] = {3, 7, 15, 21, 31, 33};
    if (c->type == GI_U8 && c->channels == 1)
        local(c, ks[walk_between(c, 0, 5)]);
}

/* Makes colours, 16-bit and float images, so wide and high that they are divided likewise. */
static void draw_divided(struct walk_case *c)
{
    static const int ks[] = {3, 7, 9, 17};
    if (c->type != GI_U8 || c->channels > 1)
        local(c, ks[walk_between(c, 0, 3)]);
}

/* Makes windows so much higher than CUDA's bands that rows are added up in blocks before. */
static void draw_tall(struct walk_case *c)
{
    static const int ks[] = {97, 121};
    local(c, ks[walk_between(c, 0, 1)]);
}

/* Makes images whose sums, those of squares among them, just fit or just don't fit in 32 bits:
 * black bytes with a few white samples, and white samples of other types. */
static void draw_black(struct walk_case *c)
{
    static const int ks[][3] = {{361, 511, 513}, {181, 255, 257}, {45, 63, 65}};
    if (c->channels > 1)
        return;
    bool bytes = c->type == GI_U8;
    bool spread = strcmp(c->row->primitive, "local_spread") == 0; /* the mean has none */
    int kind = bytes ? 1 + c->turn % 3 : walk_between(c, spread, KINDS - 1);
    int k = ks[bytes ? 0 : c->type == GI_U16 ? 1 : 2][c->turn / 3 % 3];
    struct gi_local *spec = rule(c, kind, k);
    struct gi_image *image = walk_source_here(c);
    float full = c->type == GI_F32 ? 1.5f : gi_type_full_scale(c->type); /* beyond the last level */
    float black = bytes ? 0 : full, white = full - black;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            exact_put(image, y, x, 0, walk_between(c, 0, 99) || y < 200 ? black : white);
    spec->border = (struct gi_border_spec){.mode = GI_BORDER_VALUE};
    if (!bytes)
        spec->border.value[0] = black;
    if (bytes && kind == 3 && walk_between(c, 0, 1)) {
        /* the threshold of black must not become less than 0, and -0 must not either */
        spec->part = -spec->part;
        spec->slope = -spec->slope;
        spec->shift = 0;
        spec->level = -0.0;
    }
}

/* Makes windows wider than the image, and windows whose sums don't fit in 32 bits, in 2^53 or in 64
 * bits. */
static void draw_wide(struct walk_case *c)
{
    static const int ks[] = {181, 183, 257, 259, 611, 1001};
    if (c->channels == 1)
        local(c, ks[walk_between(c, 0, c->width == 1 ? 5 : 3)]);
}

/* ---- Bernsen: midway between minimum and maximum ---- */

/* Makes random images with ties for all three sources of samples. */
static void draw_bernsen(struct walk_case *c)
{
    struct gi_bernsen *spec = WALK_SPEC(c, struct gi_bernsen);
    double full = (double)gi_type_full_scale(c->type);
    int i = c->turn % 4;
    spec->contrast = full * (i == 0 ? 0.06 : i == 1 ? 0.5 : 0);
    spec->more = i == 2 ? full / 10 : 0;
    spec->invert = i == 3;
    walk_source_here(c);
    walk_other(c, &spec->least, c->width, c->height, c->channels, c->type);
    walk_other(c, &spec->greatest, c->width, c->height, c->channels, c->type);
}

static void define_bernsen(struct walk_case *c)
{
    const struct gi_bernsen *spec = c->spec;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    double full = (double)gi_type_full_scale(c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++) {
                float s = exact_sample(&c->srcs[0].image, y, x, i);
                double v = (double)s, l = (double)exact_sample(&c->others[0].image, y, x, i);
                double g = (double)exact_sample(&c->others[1].image, y, x, i);
                bool alpha = c->channels % 2 == 0 && i == c->channels - 1;
                bool on = g - l >= spec->contrast ? v + v - l - g > spec->more : l + g > full;
                exact_put(want, y, x, i, alpha ? s : on != spec->invert ? (float)full : 0);
            }
}

TEST(test_fall)
{
    for (double x = -690; x < 690; x += 0.37)
        assert_true(fabs(gi_local_fall(x) / exp(-x) - 1) < 1e-14);
    assert_true(gi_local_fall(0) == 1);
    assert_true(gi_local_fall(1e300) == gi_local_fall(700));
}

static const int usual[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {1100, 9}, {0, 0}};
static const int bytes[][2] = {{1063, 23}, {1026, 35}, {989, 41}, {952, 53}, {0, 0}};
static const int divided[][2] = {{563, 23}, {2041, 9}, {0, 0}};
static const int tall[][2] = {{3, 260}, {0, 0}};
static const int high[][2] = {{9, 170}, {0, 0}};
static const int tiny[][2] = {{3, 2}, {2, 2}, {1, 1}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("local_threshold", "any", draw, define_mask, .sizes = usual),
    WALK_ROW("local_threshold", "bytes", draw_bytes, define_mask, .sizes = bytes),
    WALK_ROW("local_threshold", "types", draw_divided, define_mask, .sizes = divided, .few = true),
    WALK_ROW("local_threshold", "tall", draw_tall, define_mask, .sizes = high, .few = true),
    WALK_ROW("local_threshold", "black", draw_black, define_mask, .sizes = tall),
    WALK_ROW("local_threshold", "wide", draw_wide, define_mask, .sizes = tiny),
    WALK_ROW("local_spread", "any", draw, define_spread, .sizes = usual),
    WALK_ROW("local_spread", "black", draw_black, define_spread, .sizes = tall),
    WALK_ROW("local_spread", "wide", draw_wide, define_spread, .sizes = tiny),
    WALK_ROW("bernsen", "any", draw_bernsen, define_bernsen),
};

WALK_ROWS(rows)
