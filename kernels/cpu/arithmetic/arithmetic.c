/* Binary arithmetic and compositing in blocks. A block of a row is unpacked into planes of floats,
 * which are processed by plain loops that compilers vectorise.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/arithmetic/arithmetic.h"
#include "kernels/cpu/common/pixel_bytes.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/arithmetic.h"
#include "kernels/color.h"

enum { BLOCK = 256, ALPHA = ARITHMETIC_ALPHA };

/* The pixels of a block: one plane per colour, then alpha. */
struct arithmetic_planes {
    float c[GI_MAX_CHANNELS][BLOCK];
};

struct arithmetic_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_arithmetic *spec;
};

/* Loads pixels x to x + n - 1 of row y, multiplied by `unit`, to the planes from index `at` on. */
static void load(struct arithmetic_planes *to, int at, const struct gi_image *image, int y, int x,
                 int n, float unit)
{
    float samples[BLOCK * GI_MAX_CHANNELS];
    size_t channels = (size_t)image->channels;
    const char *pixels = (char *)gi_row(image, y) + (size_t)x * pixel_nbytes(image);
    GI_CPU(samples_load)(samples, pixels, (size_t)n * channels, image->type);
    for (int c = 0; c < image->channels; c++) {
        float *plane = to->c[arithmetic_channel(image, c)] + at;
        const float *from = samples + c;
        for (int i = 0; i < n; i++)
            plane[i] = from[(size_t)i * channels] * unit;
    }
    for (int c = 1; gi_color_channels(image) == 1 && c < ALPHA; c++)
        memcpy(to->c[c] + at, to->c[0] + at, (size_t)n * sizeof(float));
}

static void fill(float *plane, int at, int n, float value)
{
    for (int i = at; i < at + n; i++)
        plane[i] = value;
}

/* Returns the full scale of `src` divided by the full scale of `image`. */
static float unit_of(const struct gi_image *src, const struct gi_image *image)
{
    return gi_type_full_scale(src->type) / gi_type_full_scale(image->type);
}

/* Loads the pixels of spec->other, or of `image` if it is given, that correspond to pixels x to x +
 * n - 1 of row y of `src`. Their alpha is in sample units. It is `opaque` if the image has no
 * alpha, and 0 outside the image. */
static void load_other(struct arithmetic_planes *to, const struct arithmetic_work *work,
                       const struct gi_image *image, float opaque, int y, int x, int n)
{
    const struct gi_arithmetic *spec = work->spec;
    if (!image) {
        for (int c = 0; c < GI_MAX_CHANNELS; c++)
            fill(to->c[c], 0, n, spec->value[c]);
        return;
    }
    int64_t oy = y - spec->y, width = image->width, height = image->height;
    if (spec->tile)
        oy = ((oy % height) + height) % height;
    if (oy < 0 || oy >= height)
        return;
    for (int i = 0; i < n;) {
        int64_t ox = x + i - spec->x;
        if (spec->tile)
            ox = ((ox % width) + width) % width;
        if (ox >= width)
            return;
        if (ox < 0) {
            i = -ox < n - i ? i + (int)-ox : n;
            continue;
        }
        int piece = width - ox < n - i ? (int)(width - ox) : n - i;
        load(to, i, image, (int)oy, (int)ox, piece, unit_of(work->src, image));
        if (!gi_has_alpha(image))
            fill(to->c[ALPHA], i, piece, opaque);
        i += piece;
    }
}

static void store(const struct arithmetic_work *work, const struct arithmetic_planes *from, int y,
                  int x, int n)
{
    float samples[BLOCK * GI_MAX_CHANNELS];
    const struct gi_image *dst = work->dst;
    size_t channels = (size_t)dst->channels;
    for (int c = 0; c < dst->channels; c++) {
        const float *plane = from->c[arithmetic_channel(dst, c)];
        for (int i = 0; i < n; i++)
            samples[(size_t)i * channels + (size_t)c] = plane[i];
    }
    char *pixels = (char *)gi_row(dst, y) + (size_t)x * pixel_nbytes(dst);
    GI_CPU(samples_store)(pixels, samples, (size_t)n * channels, dst->type);
}

/* ---- arithmetic ---- */

#define EACH_SAMPLE(constant)                                                                      \
    case constant:                                                                                 \
        for (int i = 0; i < BLOCK; i++)                                                            \
            a[i] = fmaf(factor, gi_arithmetic_sample(constant, a[i], b[i], d[i], t), offset);      \
        break

static void settle(float *plane, enum gi_type type)
{
    for (int i = 0; type == GI_U8 && i < BLOCK; i++)
        plane[i] = gi_settle(plane[i], GI_U8);
}

/* Computes f of samples of `type`, with factor and offset. */
static void arithmetic_values(const struct gi_arithmetic *spec, enum gi_type type, float factor,
                              float *restrict a, const float *restrict b, const float *restrict d)
{
    float offset = spec->offset, t = spec->t;
    for (int i = 0; spec->plain && i < BLOCK; i++)
        a[i] = gi_arithmetic_plain(spec->op, type, a[i], b[i], t);
    if (spec->plain)
        return;
    switch (spec->op) {
        EACH_SAMPLE(GI_ARITHMETIC_ADD);
        EACH_SAMPLE(GI_ARITHMETIC_SUBTRACT);
        EACH_SAMPLE(GI_ARITHMETIC_MULTIPLY);
        EACH_SAMPLE(GI_ARITHMETIC_DIFFERENCE);
        EACH_SAMPLE(GI_ARITHMETIC_BLEND);
        EACH_SAMPLE(GI_ARITHMETIC_MIDDLE);
        EACH_SAMPLE(GI_ARITHMETIC_MINIMUM);
        EACH_SAMPLE(GI_ARITHMETIC_MAXIMUM);
        EACH_SAMPLE(GI_ARITHMETIC_OUTLIER);
    default:
        EACH_SAMPLE(GI_ARITHMETIC_DIVIDE);
    }
}

static void arithmetic_plane(const struct gi_arithmetic *spec, enum gi_type type, float factor,
                             float *restrict a, const float *restrict b, const float *restrict d)
{
    arithmetic_values(spec, type, factor, a, b, d);
    settle(a, type);
}

static void arithmetic_row(void *arg, int y, void *scratch)
{
    const struct arithmetic_work *work = arg;
    const struct gi_arithmetic *spec = work->spec;
    int width = work->src->width, colors = gi_color_channels(work->src);
    enum gi_type type = work->src->type;
    float full = gi_type_full_scale(type);
    for (int x = 0; x < width; x += BLOCK) {
        struct arithmetic_planes a = {0}, b = {0}, d = {0};
        int n = width - x < BLOCK ? width - x : BLOCK;
        load(&a, 0, work->src, y, x, n, 1);
        load_other(&b, work, spec->other, full, y, x, n);
        if (spec->dark)
            load_other(&d, work, spec->dark, 0, y, x, n);
        for (int c = 0; c < colors; c++)
            arithmetic_plane(spec, type, spec->factor[c], a.c[c], b.c[c], d.c[c]);
        if (spec->alpha_too)
            arithmetic_plane(spec, type, spec->factor[ALPHA], a.c[ALPHA], b.c[ALPHA], d.c[ALPHA]);
        store(work, &a, y, x, n);
    }
}

/* ---- layers ---- */

/* Computes the weights of the pixels of a layer: s are the planes of the layer, b are the planes
 * below the layer. */
static void weigh_layers(struct gi_arithmetic_weights *weights, const struct gi_arithmetic *spec,
                         const struct arithmetic_planes *s, const struct arithmetic_planes *b)
{
    const float above[2] = {spec->above[0], spec->above[1]};
    const float below[2] = {spec->below[0], spec->below[1]};
    for (int i = 0; i < BLOCK; i++)
        weights[i] = gi_arithmetic_layers(above, below, s->c[ALPHA][i], b->c[ALPHA][i]);
}

/* Computes the weights of the pixels of a mask from its luma. Then fills its colour planes with
 * `value`, which replaces `src` where the mask is black. */
static void weigh_mask(struct gi_arithmetic_weights *weights, const struct arithmetic_work *work,
                       struct arithmetic_planes *mask, const struct arithmetic_planes *b)
{
    const struct gi_arithmetic *spec = work->spec;
    float inverse = (float)(1 / (double)gi_type_full_scale(work->src->type));
    float behind = spec->value[ALPHA] * inverse;
    bool color = spec->other && gi_color_channels(spec->other) == 3;
    for (int i = 0; i < BLOCK; i++) {
        float luma =
            color ? gi_pixel_luma(mask->c[0][i], mask->c[1][i], mask->c[2][i]) : mask->c[0][i];
        float m = gi_arithmetic_share(luma * inverse, mask->c[ALPHA][i], spec->invert);
        float q = spec->set ? m : m * b->c[ALPHA][i];
        weights[i] = gi_arithmetic_parts((1.0f - m) * behind, q);
    }
    for (int c = 0; c < ALPHA; c++)
        fill(mask->c[c], 0, BLOCK, spec->value[c]);
}

#define EACH_COLOR(constant)                                                                       \
    case constant:                                                                                 \
        for (int i = 0; i < BLOCK; i++)                                                            \
            s[i] = gi_arithmetic_blend(s[i], gi_arithmetic_blended(constant, b[i], s[i], inverse), \
                                       ab[i]);                                                     \
        break

/* Applies the blend function to plane s and the plane b below it, weighted by the alpha of b. */
static void blend_plane(enum gi_arithmetic_layer_mode blend, float *restrict s,
                        const float *restrict b, const float *restrict ab, float inverse)
{
    switch (blend) {
        EACH_COLOR(GI_BLEND_MULTIPLY);
        EACH_COLOR(GI_BLEND_SCREEN);
        EACH_COLOR(GI_BLEND_DARKEN);
        EACH_COLOR(GI_BLEND_LIGHTEN);
        EACH_COLOR(GI_BLEND_DIFFERENCE);
    case GI_BLEND_NORMAL:
        break;
    }
}

static void scale(float *plane, float by)
{
    for (int i = 0; i < BLOCK; i++)
        plane[i] *= by;
}

static void layer_block(const struct arithmetic_work *work, int y, int x, int n)
{
    const struct gi_arithmetic *spec = work->spec;
    float full = gi_type_full_scale(work->src->type), inverse = (float)(1 / (double)full);
    float hidden = gi_arithmetic_hidden(work->dst);
    enum gi_type type = work->dst->type;
    struct arithmetic_planes b = {0}, s = {0};
    struct gi_arithmetic_weights weights[BLOCK];
    load(&b, 0, work->src, y, x, n, 1);
    if (!gi_has_alpha(work->src))
        fill(b.c[ALPHA], 0, n, full);
    load_other(&s, work, spec->other, full, y, x, n);
    scale(b.c[ALPHA], inverse);
    scale(s.c[ALPHA], (float)((double)spec->opacity / (double)full));
    if (spec->op == GI_ARITHMETIC_MASK)
        weigh_mask(weights, work, &s, &b);
    else
        weigh_layers(weights, spec, &s, &b);
    for (int c = 0; c < gi_color_channels(work->dst); c++) {
        blend_plane(spec->blend, s.c[c], b.c[c], b.c[ALPHA], inverse);
        for (int i = 0; i < BLOCK; i++)
            b.c[c][i] = gi_arithmetic_color(weights[i], spec->plus, b.c[c][i], s.c[c][i], full,
                                            hidden, type);
    }
    for (int i = 0; i < BLOCK; i++)
        b.c[ALPHA][i] = gi_settle(weights[i].alpha * full, type);
    store(work, &b, y, x, n);
}

static void layer_row(void *arg, int y, void *scratch)
{
    const struct arithmetic_work *work = arg;
    int width = work->src->width;
    for (int x = 0; x < width; x += BLOCK)
        layer_block(work, y, x, width - x < BLOCK ? width - x : BLOCK);
}

static enum gi_status by_blocks(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_arithmetic *spec,
                                struct gi_err *err)
{
    struct arithmetic_work work = {dst, src, spec};
    return gi_pool_run(gi_cpu_pool(queue), src->height,
                       spec->op < GI_ARITHMETIC_LAYER ? arithmetic_row : layer_row, &work, 0, err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray. Half the sum of two
 * images: integers 120, samples 240, blocks 9100. */
const struct gi_arithmetic_way GI_CPU(arithmetic_ways)[GI_WAYS_MAX] = {
    {{"integers", "plain arithmetic on integers, except weighted means; half of a sum"},
     GI_CPU(arithmetic_by_integers_takes),
     GI_CPU(arithmetic_by_integers)},
    {{"samples", "arithmetic on images alike, or a value"},
     GI_CPU(arithmetic_by_samples_takes),
     GI_CPU(arithmetic_by_samples)},
    {{"blocks", "everything"}, NULL, by_blocks},
};
