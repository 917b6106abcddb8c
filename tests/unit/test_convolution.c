/* Every way of convolutions, box filters and gradient magnitudes gives exactly the result that
 * kernels/convolution.h defines, also for extreme images and kernels. This result is close to
 * double precision.
 * Sources: convolution kernels/kernels.h kernels/rules.h border common
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"

/* Returns the sample at (y, x), which may be outside the image. With `weigh`, the sample is
 * multiplied by alpha. */
static uint64_t box_sample(const struct gi_image *src, const struct gi_border_spec *border,
                           bool weigh, int y, int x, int c)
{
    uint64_t v = (uint64_t)exact_at(src, border, GI_ALPHA_PLAIN, y, x, c);
    int alpha = src->channels - 1;
    return weigh && c < alpha ? v * (uint64_t)exact_at(src, border, GI_ALPHA_PLAIN, y, x, alpha)
                              : v;
}

/* Sums along the rows, then down the columns. The sum of each window is the sum of the previous
 * window, plus the sample that enters, minus the sample that leaves. This is exact because the sums
 * are integers. */
static void exact_box(struct gi_image *dst, const struct gi_image *src, const struct gi_box *spec)
{
    int n = src->channels, k = spec->k, half = k / 2, w = src->width, h = src->height;
    bool weigh = n % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    struct gi_border_spec border = spec->border;
    uint64_t count = (uint64_t)k * (uint64_t)k;
    size_t row = (size_t)w * (size_t)n;
    uint64_t *along = calloc((size_t)(h + k - 1) * row, sizeof *along);
    for (int c = 0; c < n; c++)
        border.value[c] = rintf(fminf(border.value[c], gi_type_full_scale(src->type)));
    for (int y = 0; y < h + k - 1; y++)
        for (int c = 0; c < n; c++) {
            uint64_t sum = 0, *to = along + (size_t)y * row + (size_t)c;
            for (int i = -half; i < half; i++)
                sum += box_sample(src, &border, weigh, y - half, i, c);
            for (int x = 0; x < w; x++, to += n) {
                *to = sum += box_sample(src, &border, weigh, y - half, x + half, c);
                sum -= box_sample(src, &border, weigh, y - half, x - half, c);
            }
        }
    for (int x = 0; x < w; x++) {
        uint64_t s[4] = {0}, *at = along + (size_t)x * (size_t)n;
        for (int y = 1 - k; y < h;
             y++, at += row) { /* the window's last row is row y + k - 1 of `along` */
            for (int c = 0; c < n; c++)
                s[c] += at[c];
            for (int c = 0; c < n && y >= 0; c++) {
                uint64_t by = weigh && c < n - 1 ? s[n - 1] : count;
                exact_put(dst, y, x, c, (float)(by ? (2 * s[c] + by) / (2 * by) : 0));
            }
            for (int c = 0; c < n && y >= 0; c++)
                s[c] -= at[c - (ptrdiff_t)row * (k - 1)];
        }
    }
    free(along);
}

/* ---- what is drawn ---- */

static struct gi_epilogue epilogue(struct walk_case *c)
{
    float full = gi_type_full_scale(c->type);
    return (struct gi_epilogue){.kind = (enum gi_epilogue_kind)walk_between(c, 0, 3),
                                .settle = walk_between(c, 0, 1),
                                .bias = walk_between(c, 0, 1) ? walk_real(c) * full / 4 : 0,
                                .amount = 2 * walk_real(c),
                                .threshold = walk_between(c, 0, 1) ? full * 0.05f : 0};
}

/* Makes a random image. A fourth of the images are 0 on the left and full scale on the right, where
 * sums are extreme. */
static void source(struct walk_case *c)
{
    struct gi_image *image = walk_source_here(c);
    if (walk_between(c, 0, 3) == 0)
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++)
                for (int i = 0; i < c->channels; i++)
                    exact_put(image, y, x, i, x < c->width / 2 ? 0 : gi_type_full_scale(c->type));
}

static struct gi_border_spec border(struct walk_case *c)
{
    struct gi_border_spec spec = case_border(c->seed, c->border, c->type);
    if (walk_between(c, 0, 3) == 0)
        memset(spec.value, 0, sizeof spec.value);
    return spec;
}

/* Makes n random weights of both signs whose sum is about 1. A few of them are 0. Returns the
 * sum. */
static float weights(struct walk_case *c, float *w, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        w[i] = walk_between(c, 0, 9) ? (walk_real(c) + 0.5f) / (float)n * 2 : 0;
        sum += w[i];
    }
    return sum;
}

static struct gi_separable *separable(struct walk_case *c, int nrow, int ncol)
{
    struct gi_separable *s = WALK_SPEC(c, struct gi_separable);
    float *row = walk_alloc(c, sizeof(float) * (size_t)nrow);
    float *col = walk_alloc(c, sizeof(float) * (size_t)ncol);
    bool centred = walk_between(c, 0, 1);
    *s = (struct gi_separable){.row = row, .col = col, .nrow = nrow, .ncol = ncol};
    s->row_anchor = centred ? nrow / 2 : walk_between(c, 0, nrow - 1);
    s->col_anchor = centred ? ncol / 2 : walk_between(c, 0, ncol - 1);
    s->sum = weights(c, row, nrow) * weights(c, col, ncol);
    s->alpha = (enum gi_alpha_rule)walk_between(c, 0, 2);
    s->border = border(c);
    s->epilogue = epilogue(c);
    source(c);
    return s;
}

static void any_taps(struct walk_case *c)
{
    static const int counts[] = {1, 2, 3, 4, 5, 8, 16, 31, 33, 64, 66, 300};
    int most = c->large ? 5 : 11;
    separable(c, counts[walk_between(c, 0, most)], counts[walk_between(c, 0, most)]);
}

/* Makes as many random taps for rows as for columns, with the anchor in the middle. */
static void square_taps(struct walk_case *c)
{
    static const int counts[] = {3, 5, 7, 9, 11, 13, 15, 17, 21, 31, 45, 55, 61, 101};
    int n = counts[walk_between(c, 0, c->large ? 9 : 13)];
    struct gi_separable *s = separable(c, n, n);
    s->row_anchor = s->col_anchor = n / 2;
    s->sum = 1;
    float *row = walk_alloc(c, sizeof(float) * (size_t)n);
    for (int i = 0; i < n; i++)
        row[i] = (walk_real(c) + 1.5f) / (float)n / 1.5f;
    s->row = s->col = row;
}

/* Makes 3, 5 or 7 random taps in each direction or, if `whole`, 3 taps that are integers. */
static struct gi_separable *few(struct walk_case *c, bool whole)
{
    int k = whole ? 3 : 2 * walk_between(c, 1, 3) + 1, most = walk_between(c, 1, 9);
    struct gi_separable *s = separable(c, k, k);
    float *taps = walk_alloc(c, sizeof(float) * 2 * (size_t)k);
    for (int i = 0; i < 2 * k; i++)
        taps[i] = whole ? (float)walk_between(c, -most / 2, most) : walk_real(c);
    if (whole && walk_between(c, 0, 1))
        taps[walk_between(c, 0, 1) ? 1 : k + 1] = 0;
    s->row = taps;
    s->col = taps + k;
    s->sum = 1;
    s->alpha = GI_ALPHA_PLAIN;
    for (int i = 0; c->type != GI_F32 && i < GI_MAX_CHANNELS; i++)
        s->border.value[i] = rintf(s->border.value[i]);
    s->epilogue.kind = walk_between(c, 0, 1) ? GI_EPILOGUE_STORE : GI_EPILOGUE_ABS;
    s->epilogue.settle = walk_between(c, 0, 1);
    bool biased = !whole && walk_between(c, 0, 1);
    s->epilogue.bias = biased ? walk_real(c) * gi_type_full_scale(c->type) : 0;
    return s;
}

static void few_taps(struct walk_case *c)
{
    few(c, false);
}

static void whole_taps(struct walk_case *c)
{
    few(c, true);
}

/* Makes bytes whose sums are halfway between integers, far outside the range of samples, or beyond
 * 2^31. */
static void ties_and_ends(struct walk_case *c)
{
    static const float units[] = {0.125f, 40, 3e5f, 1e30f};
    struct gi_separable *s = few(c, false);
    float *taps = walk_alloc(c, sizeof(float) * 2 * (size_t)s->nrow);
    for (int i = 0; i < s->nrow; i++) {
        taps[i] = (float)walk_between(c, -2, 4) * units[c->turn % 4];
        taps[s->nrow + i] = (float)walk_between(c, -1, 4) * 0.25f;
    }
    s->row = taps;
    s->col = taps + s->nrow;
    s->epilogue = (struct gi_epilogue){.kind = GI_EPILOGUE_STORE};
}

/* Returns a random weight of any size, so that sums cancel, vanish or exceed the range of float, or
 * so that quotients by alpha are extreme. */
static float extreme(struct walk_case *c, int style)
{
    float v = walk_real(c);
    switch (style) {
    case 0:
        return fabsf(v);
    case 1:
        return (float)walk_between(c, -3, 3);
    case 2:
        return ldexpf(fabsf(v), -walk_between(c, 0, 60));
    case 3:
        return c->type == GI_F32 ? v : ldexpf(v, walk_between(c, -149, 60));
    case 4:
        return 0;
    default:
        return c->type == GI_F32 ? v : v * 1e18f;
    }
}

static void extreme_taps(struct walk_case *c)
{
    int style = walk_between(c, 0, 5);
    struct gi_separable *s = separable(c, walk_between(c, 1, 15), walk_between(c, 1, 15));
    float *taps = walk_alloc(c, sizeof(float) * (size_t)(s->nrow + s->ncol)), row = 0, col = 0;
    for (int i = 0; i < s->nrow + s->ncol; i++)
        *(i < s->nrow ? &row : &col) += taps[i] = extreme(c, style);
    s->row = taps;
    s->col = taps + s->nrow;
    s->sum = row * col;
}

/* The maximum number of taps. */
static void most_taps(struct walk_case *c)
{
    separable(c, walk_between(c, 0, 1) ? GI_TAPS_MAX : 1601, walk_between(c, 0, 1) ? 401 : 1);
}

static void define_separable(struct walk_case *c)
{
    exact_separable(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                    c->spec);
}

static struct gi_dense *dense(struct walk_case *c, int width, int height, bool centred)
{
    struct gi_dense *d = WALK_SPEC(c, struct gi_dense);
    float *w = walk_alloc(c, sizeof(float) * (size_t)(width * height));
    *d = (struct gi_dense){.weights = w, .width = width, .height = height};
    d->anchor_x = centred ? width / 2 : walk_between(c, 0, width - 1);
    d->anchor_y = centred ? height / 2 : walk_between(c, 0, height - 1);
    d->sum = weights(c, w, width * height);
    d->alpha = (enum gi_alpha_rule)walk_between(c, 0, 2);
    d->border = border(c);
    d->epilogue = epilogue(c);
    source(c);
    return d;
}

static void any_weights(struct walk_case *c)
{
    dense(c, walk_between(c, 1, 9), walk_between(c, 1, 7), false);
}

static void square_weights(struct walk_case *c)
{
    int k = walk_between(c, 0, c->large ? 4 : 8) * 2 + 1;
    k = k > 15 ? 33 : k;
    dense(c, k, k, true)->sum = 1;
}

static void extreme_weights(struct walk_case *c)
{
    int style = walk_between(c, 0, 5);
    struct gi_dense *d = dense(c, walk_between(c, 1, 9), walk_between(c, 1, 9), true);
    float *w = walk_alloc(c, sizeof(float) * (size_t)(d->width * d->height));
    d->sum = 0;
    for (int i = 0; i < d->width * d->height; i++)
        d->sum += w[i] = extreme(c, style);
    d->weights = w;
}

/* Makes kernels so large that a CUDA block can hold all of their rows, some rows, or not even one
 * row. */
static void most_weights(struct walk_case *c)
{
    static const int shapes[][2] = {
        {89, 89}, {GI_WEIGHTS_MAX, 1}, {1, GI_WEIGHTS_MAX}, {395, 20}, {61, 61}};
    dense(c, shapes[c->turn % 5][0], shapes[c->turn % 5][1], walk_between(c, 0, 1));
}

static void define_dense(struct walk_case *c)
{
    exact_dense(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                c->spec);
}

static void draw_box(struct walk_case *c)
{
    static const int sides[] = {1,  3,  5,  7,  9,  11, 13,  15,  17,  19,
                                23, 29, 31, 33, 63, 65, 125, 127, 129, 301};
    struct gi_box *box = WALK_SPEC(c, struct gi_box);
    box->k = sides[walk_between(c, 0,
                                walk_between(c, 0, 1)        ? 5
                                : c->large || c->width > 200 ? 15
                                                             : 19)];
    box->alpha = walk_between(c, 0, 1) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    box->border = border(c);
    source(c);
}

/* Makes windows so much higher than CUDA's bands that rows are added up in blocks before. */
static void tall_box(struct walk_case *c)
{
    static const int sides[] = {97, 121, 301};
    draw_box(c);
    ((struct gi_box *)c->spec)->k = sides[walk_between(c, 0, 2)];
}

/* Makes bright images, whose sums of products of 8-bit colours and alpha need more than 32 bits. */
static void bright_box(struct walk_case *c)
{
    draw_box(c);
    ((struct gi_box *)c->spec)->k = 301;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(&c->srcs[0].image, y, x, i,
                          gi_type_full_scale(c->type) - (float)((7 * x + 3 * y + 5 * i) % 16));
}

static void most_box(struct walk_case *c)
{
    draw_box(c);
    ((struct gi_box *)c->spec)->k = c->type == GI_U8 ? GI_TAPS_MAX : 1601;
}

static void define_box(struct walk_case *c)
{
    exact_box(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
              c->spec);
}

static void draw_gradient(struct walk_case *c)
{
    static const float smooth[][3] = {{1, 2, 1}, {3, 10, 3}, {1, 1, 1}};
    struct gi_gradient_magnitude *g = WALK_SPEC(c, struct gi_gradient_magnitude);
    int style = walk_between(c, 0, 5);
    memcpy(g->smooth, smooth[walk_between(c, 0, 2)], sizeof smooth[0]);
    for (int i = 0; c->turn % 4 == 0 && i < 3; i++)
        g->smooth[i] = extreme(c, style);
    g->alpha = walk_between(c, 0, 1) ? GI_ALPHA_KEEP : GI_ALPHA_PLAIN;
    g->border = border(c);
    for (int i = 0; c->type != GI_F32 && i < GI_MAX_CHANNELS && c->turn % 2; i++)
        g->border.value[i] = rintf(g->border.value[i]);
    source(c);
}

static void define_gradient(struct walk_case *c)
{
    exact_gradient(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                   c->spec);
}

/* Image sizes around the sizes of the blocks that rows are divided into, sizes with several strips
 * per row, and sizes around the ends of CUDA's strips and bands. */
static const int strips[][2] = {{2, 3},     {63, 5},   {129, 33},   {131, 9},  {195, 4}, {256, 96},
                                {257, 161}, {700, 21}, {1025, 129}, {7001, 5}, {0, 0}};
/* A window of the maximum side reads 270 million samples around an image of any size. */
static const int one[][2] = {{67, 5}, {0, 0}};
static const int tiny[][2] = {{5, 2}, {9, 3}, {0, 0}};
static const int widths[][2] = {{1, 2},  {7, 9},  {15, 3}, {16, 4}, {17, 5},
                                {31, 6}, {32, 7}, {33, 1}, {47, 3}, {48, 2},
                                {63, 2}, {64, 2}, {65, 3}, {70, 8}, {0, 0}};
static const int boxes[][2] = {{64, 7},    {9, 5},   {700, 19}, {9001, 3},
                               {16401, 2}, {130, 5}, {301, 1},  {0, 0}};

static const int tall[][2] = {{9, 170}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("convolve_separable", "any taps", any_taps, define_separable),
    WALK_ROW("convolve_separable", "square", square_taps, define_separable),
    WALK_ROW("convolve_separable", "few taps", few_taps, define_separable),
    WALK_ROW("convolve_separable", "strips", few_taps, define_separable, .sizes = strips,
             .few = true),
    WALK_ROW("convolve_separable", "long strips", square_taps, define_separable, .sizes = strips,
             .few = true),
    WALK_ROW("convolve_separable", "whole taps", whole_taps, define_separable),
    WALK_ROW("convolve_separable", "ties", ties_and_ends, define_separable, .sizes = widths,
             .few = true),
    WALK_ROW("convolve_separable", "extreme taps", extreme_taps, define_separable, .few = true),
    WALK_ROW("convolve_separable", "most taps", most_taps, define_separable, .sizes = tiny,
             .few = true),
    WALK_ROW("convolve_2d", "any weights", any_weights, define_dense),
    WALK_ROW("convolve_2d", "square", square_weights, define_dense),
    WALK_ROW("convolve_2d", "extreme weights", extreme_weights, define_dense, .few = true),
    WALK_ROW("convolve_2d", "most weights", most_weights, define_dense, .sizes = tiny, .few = true),
    WALK_ROW("box", "any side", draw_box, define_box),
    WALK_ROW("box", "strips", draw_box, define_box, .sizes = boxes, .few = true),
    WALK_ROW("box", "tall", tall_box, define_box, .sizes = tall, .few = true),
    WALK_ROW("box", "bright", bright_box, define_box, .sizes = tall, .few = true),
    WALK_ROW("box", "most", most_box, define_box, .sizes = one, .few = true),
    WALK_ROW("gradient_magnitude", "any", draw_gradient, define_gradient),
    WALK_ROW("gradient_magnitude", "strips", draw_gradient, define_gradient, .sizes = strips,
             .few = true),
};

WALK_ROWS(rows)
