/* Every way of the primitive resample gives the same results as plain loops that follow its
 * definition.
 * Sources: geometry
 * SPDX-License-Identifier: MIT */
#include "primitives.h"
#include "definitions.h"
#include "filter_cases.h"
#include "kernels/geometry.h"

enum { TAPS_MAX = 150, RESULTS_MAX = 700 };

/* The tables of one direction. */
struct side {
    int32_t first[RESULTS_MAX], phase[RESULTS_MAX], integers[RESULTS_MAX * TAPS_MAX];
    float weights[RESULTS_MAX * TAPS_MAX], sums[RESULTS_MAX];
};

/* ---- the definition ---- */

static float long_sum(const float *weights, const float *v, size_t step, int n)
{
    float s = 0, c = 0;
    for (int from = 0; from < n; from += GI_TAPS_BLOCK) {
        float p = 0;
        for (int t = from; t < n && t < from + GI_TAPS_BLOCK; t++)
            p = fmaf(weights[t], v[(size_t)t * step], p);
        float y = p - c, sum = s + y, e = (sum - s) - y;
        c = from == 0 || !(fabsf(e) < INFINITY) ? 0 : e;
        s = from == 0 ? p : sum;
    }
    return s;
}

static const float *row_of(const struct gi_resample_side *side, int i)
{
    return side->weights + (size_t)side->phase[i] * (size_t)side->taps;
}

/* Applies the alpha rule in place to the sums f of one pixel. */
static void finish(float *f, int channels, bool weigh)
{
    float a = f[channels - 1];
    for (int c = 0; c < channels && weigh; c++)
        f[c] = !(a > 0) ? 0 : c == channels - 1 ? a : f[c] / a;
}

static void define_float(struct gi_image *dst, const struct gi_image *src,
                         const struct gi_resample *spec)
{
    size_t channels = (size_t)src->channels, n = gi_row_samples(src);
    bool weigh = channels % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    const struct gi_resample_side *row = &spec->row, *col = &spec->col;
    float *all = calloc(n * (size_t)src->height + n, sizeof *all),
          *c = all + n * (size_t)src->height;
    for (int y = 0; y < src->height; y++)
        for (size_t i = 0; i < n; i++) {
            float v = (float)gi_sample(gi_row(src, y), i, src->type);
            size_t a = i / channels * channels + channels - 1;
            bool color = weigh && i != a;
            all[(size_t)y * n + i] = color ? v * (float)gi_sample(gi_row(src, y), a, src->type) : v;
        }
    for (int y = 0; y < dst->height; y++) {
        for (size_t i = 0; i < n; i++)
            c[i] = long_sum(row_of(col, y), all + (size_t)(col->first[y] - col->origin) * n + i, n,
                            col->taps);
        for (int x = 0; x < dst->width; x++) {
            float f[GI_MAX_CHANNELS];
            for (size_t i = 0; i < channels; i++) {
                f[i] = long_sum(row_of(row, x), c + (size_t)row->first[x] * channels + i, channels,
                                row->taps);
                if (row->sums)
                    f[i] /= col->sums[col->phase[y]] * row->sums[row->phase[x]];
            }
            finish(f, (int)channels, weigh);
            for (size_t i = 0; i < channels; i++)
                exact_put(dst, y, x, (int)i, f[i]);
        }
    }
    free(all);
}

static int cut_off(int32_t sum)
{
    int64_t v = (int64_t)sum >> 22;
    return v < 0 ? 0 : v > 255 ? 255 : (int)v;
}

/* Filters along the middle axis of `from`, an array of outer x n x inner samples, and frees this
 * array. */
static uint8_t *integer_pass(uint8_t *from, int outer, int n, int inner,
                             const struct gi_resample_side *side)
{
    uint8_t *to = malloc((size_t)outer * (size_t)side->n * (size_t)inner), *at = to;
    for (int o = 0; o < outer; o++)
        for (int i = 0; i < side->n; i++)
            for (int k = 0; k < inner; k++) {
                int first = o * n + side->first[i] - side->origin;
                int32_t sum = 1 << 21;
                for (int t = 0; t < side->taps; t++)
                    sum += side->integers[side->phase[i] * side->taps + t] *
                           from[(first + t) * inner + k];
                *at++ = (uint8_t)cut_off(sum);
            }
    free(from);
    return to;
}

static void define_integer(struct gi_image *dst, const struct gi_image *src,
                           const struct gi_resample *spec)
{
    int channels = src->channels, n = src->width * channels, m = dst->width * channels;
    bool weigh = channels % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    uint8_t *v = malloc((size_t)n * (size_t)src->height);
    for (int y = 0; y < src->height; y++)
        for (int i = 0; i < n; i++) {
            const uint8_t *row = gi_row(src, y);
            int a = i / channels * channels + channels - 1, w = row[i] * row[a] + 128;
            v[y * n + i] = weigh && i != a ? (uint8_t)(((w >> 8) + w) >> 8) : row[i];
        }
    if (spec->columns_first)
        v = integer_pass(v, 1, src->height, n, &spec->col);
    v = integer_pass(v, spec->columns_first ? dst->height : src->height, src->width, channels,
                     &spec->row);
    if (!spec->columns_first)
        v = integer_pass(v, 1, src->height, m, &spec->col);
    for (int y = 0; y < dst->height; y++) {
        uint8_t *out = gi_row(dst, y);
        memcpy(out, v + (size_t)y * (size_t)m, (size_t)m);
        for (int i = 0; i < m && weigh; i++) {
            int a = out[i / channels * channels + channels - 1];
            if (i % channels != channels - 1 && a != 0 && a != 255)
                out[i] = (uint8_t)(255 * out[i] / a < 255 ? 255 * out[i] / a : 255);
        }
    }
    free(v);
}

/* ---- random tables of one direction ---- */

static void random_weights(struct walk_case *c, struct side *s, const struct gi_resample_side *side,
                           bool whole)
{
    for (int p = 0; p < side->nphases; p++) {
        s->sums[p] = (float)(1 + side->taps * (whole ? 1 : 2) / 2);
        int32_t left = 1 << 22;
        for (int t = 0; t < side->taps; t++) {
            int i = p * side->taps + t;
            s->weights[i] = whole ? 1.0f : (walk_real(c) + 0.3f) / (float)side->taps * 2;
            int32_t part = (1 << 22) / side->taps * 2;
            s->integers[i] = t == side->taps - 1 ? left : walk_between(c, -part / 4, part);
            left -= s->integers[i];
        }
    }
}

/* Makes random tables for resampling n samples to m. If `regular`, all samples except those at the
 * ends have the same weights, as in reductions by an integer. */
static struct gi_resample_side random_side(struct walk_case *c, int n, int m, int taps,
                                           bool regular, bool whole)
{
    struct side *s = walk_alloc(c, sizeof *s);
    struct gi_resample_side side = {.n = m,
                                    .taps = taps < n ? taps : n,
                                    .first = s->first,
                                    .phase = s->phase,
                                    .weights = s->weights,
                                    .sums = whole ? s->sums : NULL,
                                    .integers = s->integers};
    int lead = side.taps / 2;
    for (int i = 0; i < m; i++) {
        int64_t at = !regular ? (int64_t)i * n / m
                     : m < n  ? (int64_t)i * (n / m) + n / m / 2
                              : ((2 * i + 1) * (int64_t)n + m) / (2 * m); /* the nearest pixel */
        int64_t first = at - lead, latest = n - side.taps;
        bool end = first < 0 || first > latest;
        s->first[i] = (int32_t)(first < 0 ? 0 : first > latest ? latest : first);
        s->phase[i] = regular && !end && m < n ? 0
                      : regular && !end        ? i % (m / n ? m / n : 1)
                                               : (side.nphases ? side.nphases : 4);
        side.nphases = s->phase[i] + 1 > side.nphases ? s->phase[i] + 1 : side.nphases;
    }
    random_weights(c, s, &side, whole);
    return side;
}

/* Makes random sizes of the source and the result. The result is smaller, larger, or related by an
 * integer ratio. */
static void random_shape(struct walk_case *c, int *n, int *m)
{
    static const int ratios[] = {1, 2, 2, 3, 4, 8};
    *n = walk_between(c, 1, walk_between(c, 0, 3) ? 60 : 400);
    switch (walk_between(c, 0, 3)) {
    case 0:
        *m = walk_between(c, 1, 90);
        break;
    case 1:
        *m = *n * (*n < 150 ? ratios[walk_between(c, 0, 4)] : 1);
        break;
    default:
        *m = *n / ratios[walk_between(c, 0, 5)];
        *m = *m < 1 ? 1 : *m;
    }
}

static int random_taps(struct walk_case *c)
{
    static const int counts[] = {1, 2, 2, 4, 6, 8, 12, 16, 24, 31, 32, 33, 48, 64, 65, TAPS_MAX};
    return counts[walk_between(c, 0, 15)];
}

/* Makes the spec from both sides, and a random source of width x height pixels. */
static struct gi_resample *draw(struct walk_case *c, struct gi_resample_side row,
                                struct gi_resample_side col, int width, int height, int channels)
{
    struct gi_resample *spec = WALK_SPEC(c, struct gi_resample);
    *spec = (struct gi_resample){.row = row, .col = col, .alpha = GI_ALPHA_WEIGH};
    walk_source(c, c->width = width, c->height = height, channels, c->type);
    return spec;
}

static void draw_any(struct walk_case *c)
{
    int width, height, w, h, taps = random_taps(c);
    bool regular = walk_between(c, 0, 1), whole = walk_between(c, 0, 3) == 0;
    random_shape(c, &width, &w);
    random_shape(c, &height, &h);
    struct gi_resample_side row = random_side(c, width, w, taps, regular, whole);
    struct gi_resample_side col =
        random_side(c, height, h, regular ? taps : random_taps(c), regular, whole);
    struct gi_resample *spec = draw(c, row, col, width, height, c->channels);
    spec->alpha = walk_between(c, 0, 3) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    spec->integer = c->type == GI_U8 && walk_between(c, 0, 1);
    spec->columns_first = walk_between(c, 0, 1);
}

/* Makes reductions by integers (and enlargements, if the ratio is 1) of images that are divided
 * into several blocks and strips. The size of the case is used as the ratio and the number of
 * taps. */
static void draw_large(struct walk_case *c)
{
    int ratio = c->width, taps = c->height, up = ratio == 1 ? 2 : 1;
    int w = walk_between(c, 250, 330), h = walk_between(c, 40, 90);
    draw(c, random_side(c, w * ratio, w * up, taps, true, taps == ratio),
         random_side(c, h * ratio, h * up, taps, true, taps == ratio), w * ratio, h * ratio,
         c->channels);
}

/* Makes random tables for reducing n samples to m, whose windows have six times the ratio, as those
 * of lanczos3. Every result has weights of its own. Taps outside the source have weight 0. */
static struct gi_resample_side six_lobes(struct walk_case *c, int n, int m)
{
    struct gi_resample_side side = random_side(c, n, m, 6 * n / m, false, false);
    struct side *s = (struct side *)side.first; /* its first member */
    side.nphases = m;
    random_weights(c, s, &side, false);
    for (int i = 0; i < m; i++) {
        int wanted = (2 * i + 1) * n / (2 * m) - 3 * n / m, last = n - side.taps;
        s->phase[i] = i;
        s->first[i] = wanted < 0 ? 0 : wanted > last ? last : wanted;
        for (int t = 0; t < side.taps; t++) {
            int place = s->first[i] + t - wanted;
            if (place < 0 || place >= side.taps)
                s->weights[i * side.taps + t] = 0;
        }
    }
    return side;
}

/* Makes reductions to between a quarter and a tenth, with up to 60 taps. */
static void draw_strong(struct walk_case *c)
{
    int w = walk_between(c, 20, 160), h = walk_between(c, 12, 40);
    int width = w * walk_between(c, 65, 160) / 16, height = h * walk_between(c, 65, 160) / 16;
    draw(c, six_lobes(c, width, w), six_lobes(c, height, h), width, height, c->channels);
}

/* Sets the inner weights to those of the box or of the triangle, which are integers divided by a
 * power of two. */
static void set_whole(const struct gi_resample_side *side, int ratio)
{
    float *weights = (float *)side->weights, *sums = (float *)side->sums;
    for (int t = 0; t < side->taps; t++) {
        int place = t < side->taps / 2 ? t : side->taps - 1 - t;
        weights[t] = side->taps == ratio ? 1 : (float)(2 * place + 1) / (float)(2 * ratio * ratio);
    }
    if (sums)
        sums[0] = (float)ratio;
}

static void draw_whole(struct walk_case *c)
{
    int ratio = 2 << c->turn % 3, taps = c->turn / 3 % 2 ? ratio : 2 * ratio;
    int w = walk_between(c, 9, RESULTS_MAX), h = walk_between(c, 9, 60);
    struct gi_resample_side row = random_side(c, w * ratio, w, taps, true, taps == ratio);
    struct gi_resample_side col = random_side(c, h * ratio, h, taps, true, taps == ratio);
    if (c->type != GI_U8)
        return;
    set_whole(&row, ratio);
    set_whole(&col, ratio);
    draw(c, row, col, w * ratio, h * ratio, c->turn % 8 == 7 ? 3 : 1);
}

/* Restricts the result to the rows from y0 to y1, and the source to the rows that these depend on.
 * Returns the number of rows of the source. */
static int cut(struct gi_resample_side *col, int y0, int y1)
{
    col->first += y0;
    col->phase += y0;
    col->n = y1 - y0;
    col->origin = col->first[0];
    return col->first[col->n - 1] - col->origin + col->taps;
}

/* Makes enlargements by an integer of a whole image, or of a band of its rows. */
static void draw_enlarged(struct walk_case *c)
{
    int ratio = walk_between(c, 2, 4), taps = walk_between(c, 1, 3) * 2;
    int w = walk_between(c, 6, RESULTS_MAX / ratio), h = walk_between(c, 9, 60);
    struct gi_resample_side row = random_side(c, w, w * ratio, taps, true, false);
    struct gi_resample_side col = random_side(c, h, h * ratio, taps, true, false);
    if (c->turn % 2) {
        int y0 = walk_between(c, 0, h);
        h = cut(&col, y0, walk_between(c, y0 + 1, h * ratio));
    }
    draw(c, row, col, w, h, c->channels);
}

/* The source is a band. The result has only rows that depend on no source rows outside this
 * band. */
static void draw_band(struct walk_case *c)
{
    struct gi_resample_side row = random_side(c, 31, 17, 6, true, false);
    struct gi_resample_side col = random_side(c, 90, 60, 12, false, false);
    int y0 = walk_between(c, 0, 50), h = cut(&col, y0, walk_between(c, y0 + 1, 60));
    struct gi_resample *spec = draw(c, row, col, 31, h, c->channels);
    spec->alpha = GI_ALPHA_PLAIN;
    spec->integer = c->type == GI_U8 && walk_between(c, 0, 1);
    spec->columns_first = walk_between(c, 0, 1);
}

static void define(struct walk_case *c)
{
    const struct gi_resample *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, spec->row.n, spec->col.n, src->channels, src->type);
    (spec->integer ? define_integer : define_float)(want, src, spec);
}

/* Only the number of entries in `once` and `often` counts, because the cases use random sizes of
 * their own. `ratios` has the ratios and the numbers of taps for draw_large(). */
static const int once[][2] = {{1, 1}, {0, 0}}, often[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1},
                                                             {6, 1}, {7, 1}, {8, 1}, {0, 0}};
static const int ratios[][2] = {{2, 2},  {2, 4},  {2, 8},  {2, 12}, {4, 4},
                                {4, 24}, {8, 16}, {8, 48}, {1, 6},  {0, 0}};

/* Pillow 12.3 resamples columns first if the image is more than 100 times as high as wide and
 * becomes lower: "self.size[1] > self.size[0] * 100 and size[1] < self.size[1]" (PIL/Image.py). */
TEST(columns_first)
{
    static const struct {
        int width, height, lower;
        bool first;
    } sides[] = {{2, 201, 1, true},   {2, 201, 150, true},  {2, 201, 0, false}, {2, 201, -1, false},
                 {2, 200, 1, false},  {2, 199, 1, false},   {1, 101, 1, true},  {1, 100, 1, false},
                 {30, 3001, 1, true}, {30, 3000, 1, false}, {201, 2, 1, false}};
    const struct gi_filter *resize = gi_filter_find("resize");
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct gi_image src = {.width = sides[i].width, .height = sides[i].height, .channels = 1};
        char size[32];
        snprintf(size, sizeof size, "size=3x%d", src.height - sides[i].lower);
        void *params = case_params(
            resize, (const char *const[]){size, "stretch", "filter=box", "like=pillow-12", NULL});
        struct gi_plan plan = case_plan(resize, params, &src);
        const struct gi_resample *spec = plan.tables;
        assert_int_equal(spec->columns_first, sides[i].first);
        gi_plan_free(&plan);
        free(params);
    }
}

static const struct walk_row rows[] = {
    WALK_ROW("resample", "any", draw_any, define, .sizes = often),
    WALK_ROW("resample", "large", draw_large, define, .sizes = ratios, .few = true),
    WALK_ROW("resample", "strong reductions", draw_strong, define, .sizes = often, .few = true),
    WALK_ROW("resample", "whole weights", draw_whole, define, .sizes = often, .few = true),
    WALK_ROW("resample", "enlarged", draw_enlarged, define, .sizes = often, .few = true),
    WALK_ROW("resample", "bands", draw_band, define, .sizes = once),
};

WALK_ROWS(rows)
