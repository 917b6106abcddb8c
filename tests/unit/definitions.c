/* The definitions of some primitives in plain loops.
 * SPDX-License-Identifier: MIT */
#include "definitions.h"

#include <math.h>
#include <stdlib.h>

float exact_sample(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    if (image->type == GI_U8)
        return ((const uint8_t *)gi_row(image, y))[i];
    if (image->type == GI_U16)
        return ((const uint16_t *)gi_row(image, y))[i];
    return ((const float *)gi_row(image, y))[i];
}

void exact_put(struct gi_image *image, int y, int x, int c, float v)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    double full = (double)gi_type_full_scale(image->type);
    double whole = v > 0 ? rint(fmin((double)v, full)) : 0;
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)whole;
    else if (image->type == GI_U16)
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)whole;
    else
        ((float *)gi_row(image, y))[i] = isnan(v) ? NAN : v;
}

/* Returns the value that is filtered, after border mode and premultiplication. */
float exact_at(const struct gi_image *src, const struct gi_border_spec *border,
               enum gi_alpha_rule rule, long long y, long long x, int c)
{
    int i = gi_border_index(y, src->height, border->mode);
    int j = gi_border_index(x, src->width, border->mode);
    int last = src->channels - 1;
    bool outside = i < 0 || j < 0;
    float v = outside ? border->value[c] : exact_sample(src, i, j, c);
    if (rule == GI_ALPHA_PLAIN || c == last)
        return v;
    return v * (outside ? border->value[last] : exact_sample(src, i, j, last));
}

/* Applies the alpha rule and the epilogue to the channels f of one pixel, and stores the pixel. */
static void finish(struct gi_image *dst, const struct gi_image *src, const float *f, int y, int x,
                   enum gi_alpha_rule rule, float sum, const struct gi_epilogue *how)
{
    int channels = src->channels;
    for (int c = 0; c < channels; c++) {
        float s = exact_sample(src, y, x, c), v = f[c];
        bool is_alpha = channels % 2 == 0 && c == channels - 1;
        if (rule == GI_ALPHA_WEIGH) {
            float alpha = f[channels - 1] * (1.0f / sum);
            v = !(alpha > 0) ? 0 : is_alpha ? alpha : v / alpha;
        } else if (rule == GI_ALPHA_KEEP) {
            v = is_alpha ? s : v / gi_type_full_scale(src->type);
        }
        if (how->kind == GI_EPILOGUE_UNSHARP) {
            float d = s - v;
            float sharp = d > how->threshold || -d > how->threshold ? fmaf(how->amount, d, s) : s;
            v = is_alpha ? s : sharp;
        } else if (how->kind == GI_EPILOGUE_ABOVE) {
            v = is_alpha ? s : s - v > how->threshold ? how->amount : how->bias;
        } else if (!is_alpha) {
            v = (how->kind == GI_EPILOGUE_ABS && v < 0 ? -v : v) + how->bias;
        }
        if (how->settle && !GI_EPILOGUE_COMPARES(how->kind) && !(is_alpha && rule == GI_ALPHA_KEEP))
            v = (v + 3072.0f) - 3072.0f;
        exact_put(dst, y, x, c, v);
    }
}

static enum gi_alpha_rule rule_of(const struct gi_image *src, enum gi_alpha_rule rule)
{
    return src->channels % 2 ? GI_ALPHA_PLAIN : rule;
}

static float chain(const float *taps, const float *v, size_t step, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum = fmaf(taps[i], v[(size_t)i * step], sum);
    return sum;
}

/* Returns the sum of taps[i] * v[i * step] for 0 <= i < n. */
static float sum(const float *taps, const float *v, size_t step, int n)
{
    float s = chain(taps, v, step, n < GI_TAPS_BLOCK ? n : GI_TAPS_BLOCK), c = 0;
    for (int i = GI_TAPS_BLOCK; i < n; i += GI_TAPS_BLOCK) {
        int left = n - i < GI_TAPS_BLOCK ? n - i : GI_TAPS_BLOCK;
        float p = chain(taps + i, v + (size_t)i * step, step, left);
        float y = p - c, t = s + y, e = (t - s) - y;
        c = isfinite(e) ? e : 0;
        s = t;
    }
    return s;
}

/* Returns weighted sums, which the caller frees; f[(y * width + x) * channels + c] is the sum of
 * channel c at (x, y). */
static float *separable_sums(const struct gi_image *src, const struct gi_separable *spec)
{
    int w = src->width, h = src->height, n = src->channels, rows = h + spec->ncol - 1;
    int padded = w + spec->nrow - 1;
    enum gi_alpha_rule rule = rule_of(src, spec->alpha);
    size_t row = (size_t)w * (size_t)n;
    float *v = calloc((size_t)padded, sizeof *v);
    float *r = calloc((size_t)rows * row, sizeof *r);
    float *f = calloc((size_t)h * row, sizeof *f);
    for (int y = 0; y < rows; y++)
        for (int c = 0; c < n; c++) {
            for (int x = 0; x < padded; x++)
                v[x] = exact_at(src, &spec->border, rule, (long long)y - spec->col_anchor,
                                (long long)x - spec->row_anchor, c);
            for (int x = 0; x < w; x++)
                r[(size_t)y * row + (size_t)x * (size_t)n + (size_t)c] =
                    sum(spec->row, v + x, 1, spec->nrow);
        }
    for (size_t i = 0; i < (size_t)h * row; i++)
        f[i] = sum(spec->col, r + i, row, spec->ncol);
    free(v);
    free(r);
    return f;
}

static void finish_all(struct gi_image *dst, const struct gi_image *src, float *f,
                       enum gi_alpha_rule rule, float sum, const struct gi_epilogue *how)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            finish(dst, src,
                   f + ((size_t)y * (size_t)src->width + (size_t)x) * (size_t)src->channels, y, x,
                   rule_of(src, rule), sum, how);
    free(f);
}

void exact_separable(struct gi_image *dst, const struct gi_image *src,
                     const struct gi_separable *spec)
{
    finish_all(dst, src, separable_sums(src, spec), spec->alpha, spec->sum, &spec->epilogue);
}

void exact_dense(struct gi_image *dst, const struct gi_image *src, const struct gi_dense *spec)
{
    int w = src->width, h = src->height, n = src->channels;
    enum gi_alpha_rule rule = rule_of(src, spec->alpha);
    float *f = calloc((size_t)h * (size_t)w * (size_t)n, sizeof *f), *sum = f;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < n; c++, sum++)
                for (int j = 0; j < spec->height; j++)
                    for (int i = 0; i < spec->width; i++)
                        *sum = fmaf(spec->weights[j * spec->width + i],
                                    exact_at(src, &spec->border, rule,
                                             (long long)y + j - spec->anchor_y,
                                             (long long)x + i - spec->anchor_x, c),
                                    *sum);
    finish_all(dst, src, f, spec->alpha, spec->sum, &spec->epilogue);
}

void exact_gradient(struct gi_image *dst, const struct gi_image *src,
                    const struct gi_gradient_magnitude *spec)
{
    static const float d[3] = {-1, 0, 1};
    struct gi_separable one = {.row = d,
                               .col = spec->smooth,
                               .nrow = 3,
                               .ncol = 3,
                               .row_anchor = 1,
                               .col_anchor = 1,
                               .alpha = spec->alpha,
                               .border = spec->border};
    float *gx = separable_sums(src, &one);
    one.row = spec->smooth;
    one.col = d;
    float *gy = separable_sums(src, &one);
    size_t n = (size_t)src->height * gi_row_samples(src);
    for (size_t i = 0; i < n; i++)
        gx[i] = sqrtf(fmaf(gx[i], gx[i], gy[i] * gy[i]));
    free(gy);
    struct gi_epilogue store = {.kind = GI_EPILOGUE_STORE};
    finish_all(dst, src, gx, spec->alpha, 1, &store);
}

void exact_luma(struct gi_image *dst, const struct gi_image *src)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            float v = exact_sample(src, y, x, 0);
            if (src->channels > 2)
                v = fmaf(0.0722f, exact_sample(src, y, x, 2),
                         fmaf(0.7152f, exact_sample(src, y, x, 1), 0.2126f * v));
            exact_put(dst, y, x, 0, v);
        }
}

struct gi_border_spec exact_border(const struct gi_border_spec *border, const struct gi_image *src)
{
    struct gi_border_spec whole = *border;
    for (int c = 0; src->type != GI_F32 && c < src->channels; c++)
        whole.value[c] = rintf(fmaxf(fminf(border->value[c], gi_type_full_scale(src->type)), 0));
    return whole;
}
