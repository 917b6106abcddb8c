/* Fusion of images by Laplacian pyramids. The formulas of the weights are programs of the primitive
 * calc.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/fusion.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/arithmetic/formula.h"
#include "filters/geometry/laplacian_pyramid.h"
#include "kernels/arithmetic.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"

enum { TEXT_NBYTES = 2048 };

struct text {
    char bytes[TEXT_NBYTES];
    size_t n;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->n += (size_t)vsnprintf(text->bytes + text->n, TEXT_NBYTES - text->n, format, arguments);
    va_end(arguments);
}

/* Makes the finite float version of an image, whose full scale is 1. */
static enum gi_status make_real(struct gi_queue *queue, struct gi_image *real,
                                const struct gi_image *image, struct gi_err *err)
{
    struct text text = {.n = 0};
    if (image->type != GI_F32) {
        enum gi_status status =
            queue->k->alloc(queue, real, image->width, image->height, image->channels, GI_F32, err);
        if (!status && (status = queue->k->convert(queue, real, image, NULL, err)))
            queue->k->release(queue, real);
        return status;
    }
    for (int i = 0; i < image->channels; i++)
        put(&text, "%sisnan(a[%d]) ? 0 : clamp(a[%d], %s)", i ? ", " : "", i, i,
            i == gi_color_channels(image) ? "0, 1" : "0 - 1e9, 1e9");
    return gi_formula_make(queue, real, image->channels, text.bytes, image, NULL, NULL, err);
}

/* ---- weights ---- */

/* Sets the value `name` to the luma of the pixel at a distance, or to that of the pixel itself if
 * the other is transparent. The weights of ITU-R BT.601 are those of Mertens' program and of
 * OpenCV. */
static void put_luma(struct text *text, const char *name, int channels, int dx, int dy)
{
    put(text, "%s = ", name);
    if (channels % 2 == 0 && (dx || dy))
        put(text, "a[%d](%d, %d) <= 0 ? middle : ", channels - 1, dx, dy);
    if (channels < 3)
        put(text, "a[0](%d, %d);", dx, dy);
    else
        put(text, "0.299 * a[0](%d, %d) + 0.587 * a[1](%d, %d) + 0.114 * a[2](%d, %d);", dx, dy, dx,
            dy, dx, dy);
}

/* Sets `laplacian` to the sum of the four neighbours' lumas minus four times the pixel's. Pixels
 * outside are mirrored about the centre of the outer pixel. */
static void put_laplacian(struct text *text, int channels)
{
    put_luma(text, "middle", channels, 0, 0);
    put_luma(text, "left", channels, -1, 0);
    put_luma(text, "right", channels, 1, 0);
    put_luma(text, "above", channels, 0, -1);
    put_luma(text, "below", channels, 0, 1);
    put(text, "laplacian = (x > 0 ? left : right) + (x + 1 < width ? right : left) + (y > 0 ? "
              "above : below) + (y + 1 < height ? below : above) - 4 * middle;");
}

/* Writes the formula of the weight of exposure fusion: |laplacian| * the root of the sum of the
 * squared distances of the colours from their mean * the product of exp(-(v - 0.5)^2 / (2 * 0.2^2))
 * over the colours. Gray has no saturation. Mertens' standard deviation has another constant
 * factor, which has no effect. 1e-12, and 1e-24 where all images are transparent, are weights of
 * images that have no other. b is the sum of earlier weights. Contrast and saturation below 1e-6
 * are rounding errors of floats near 1, because steps of 16 bits are larger, and count as 0:
 * otherwise they would decide where all weights are almost 1e-12. */
static void put_exposure(struct text *text, int channels, bool first)
{
    int colors = channels < 3 ? 1 : 3;
    put_laplacian(text, channels);
    if (colors == 3)
        put(text, "mean = (a[0] + a[1] + a[2]) / 3; distance = sqrt((a[0] - mean) ^ 2 + (a[1] - "
                  "mean) ^ 2 + (a[2] - mean) ^ 2); saturation = distance < 1e-6 ? 0 : distance;");
    put(text, "contrast = abs(laplacian) < 1e-6 ? 0 : abs(laplacian); away = (a[0] - 0.5) ^ 2");
    for (int i = 1; i < colors; i++)
        put(text, " + (a[%d] - 0.5) ^ 2", i);
    put(text, "; weight = contrast%s * exp(away / (0 - 0.08)) + 1e-12; %s",
        colors == 3 ? " * saturation" : "", first ? "" : "b + ");
    if (channels % 2 == 0)
        put(text, "(weight * a[%d] + 1e-24)", channels - 1);
    else
        put(text, "weight");
}

struct gi_image gi_fusion_state(const struct gi_fusion *fusion)
{
    bool focus = fusion->method == GI_FUSION_FOCUS;
    return (struct gi_image){.width = fusion->width,
                             .height = fusion->height * (focus ? 2 : 1),
                             .channels = 1,
                             .type = GI_F32};
}

struct gi_image gi_fusion_sum(const struct gi_fusion *fusion)
{
    return (struct gi_image){.width = fusion->width,
                             .height = gi_laplacian_levels(fusion->width, fusion->height).rows,
                             .channels = fusion->channels,
                             .type = GI_F32};
}

/* Makes the measure of focus: the square of the Laplacian, smoothed. Before and after that it is
 * multiplied by alpha, so that a transparent pixel neither contributes nor is chosen. */
static enum gi_status make_focus(struct gi_queue *queue, struct gi_image *energy,
                                 const struct gi_image *real, const struct gi_fusion *fusion,
                                 struct gi_err *err)
{
    struct text square_text = {.n = 0}, energy_text = {.n = 0};
    struct gi_image square, smooth = {0};
    bool alpha = gi_has_alpha(real);
    put_laplacian(&square_text, real->channels);
    put(&square_text, alpha ? "laplacian * laplacian * a[%d]" : "laplacian * laplacian",
        real->channels - 1);
    put(&energy_text, "a * b[%d]", real->channels - 1);
    enum gi_status status =
        gi_formula_make(queue, &square, 1, square_text.bytes, real, NULL, NULL, err);
    if (status)
        return status;
    status = queue->k->alloc(queue, &smooth, real->width, real->height, 1, GI_F32, err);
    if (!status)
        status = queue->k->convolve_separable(queue, &smooth, &square, fusion->smooths, err);
    queue->k->release(queue, &square);
    if (!status && !alpha) {
        *energy = smooth;
        return GI_OK;
    }
    if (!status)
        status = gi_formula_make(queue, energy, 1, energy_text.bytes, &smooth, real, NULL, err);
    if (smooth.data)
        queue->k->release(queue, &smooth);
    return status;
}

/* Updates the maximum of the measures and its image. The first of equal measures counts. */
static enum gi_status weigh_focus(struct gi_queue *queue, struct gi_image *state,
                                  const struct gi_image *real, const struct gi_image *earlier,
                                  int k, const struct gi_fusion *fusion, struct gi_err *err)
{
    int height = fusion->height;
    struct gi_image energy, best = gi_image_rows(state, 0, height),
                            number = gi_image_rows(state, height, 2 * height), was = {0},
                            number_was = {0};
    struct text text = {.n = 0};
    enum gi_status status = make_focus(queue, &energy, real, fusion, err);
    if (status)
        return status;
    if (k) {
        was = gi_image_rows(earlier, 0, height);
        number_was = gi_image_rows(earlier, height, 2 * height);
        put(&text, "a > b ? %d : c", k);
    } else {
        put(&text, "0");
    }
    status =
        gi_formula_run(queue, &best, k ? "max(a, b)" : "a", &energy, k ? &was : NULL, NULL, err);
    if (!status)
        status = gi_formula_run(queue, &number, text.bytes, &energy, k ? &was : NULL,
                                k ? &number_was : NULL, err);
    queue->k->release(queue, &energy);
    return status;
}

enum gi_status gi_fusion_weigh(struct gi_queue *queue, struct gi_image *state,
                               const struct gi_image *image, const struct gi_image *earlier, int k,
                               const struct gi_fusion *fusion, struct gi_err *err)
{
    struct gi_image real;
    struct text text = {.n = 0};
    enum gi_status status = make_real(queue, &real, image, err);
    if (status)
        return status;
    put_exposure(&text, image->channels, !k);
    status = fusion->method == GI_FUSION_FOCUS
                 ? weigh_focus(queue, state, &real, earlier, k, fusion, err)
                 : gi_formula_run(queue, state, text.bytes, &real, k ? earlier : NULL, NULL, err);
    queue->k->release(queue, &real);
    return status;
}

/* Makes the weights of image k, which add up to 1 over all images. */
static enum gi_status make_weights(struct gi_queue *queue, struct gi_image *weights,
                                   const struct gi_image *real, const struct gi_image *state, int k,
                                   const struct gi_fusion *fusion, struct gi_err *err)
{
    struct text text = {.n = 0};
    struct gi_image number = gi_image_rows(state, state->height - fusion->height, state->height);
    if (fusion->method == GI_FUSION_FOCUS) {
        put(&text, "a == %d", k);
        return gi_formula_make(queue, weights, 1, text.bytes, &number, NULL, NULL, err);
    }
    put_exposure(&text, real->channels, true);
    put(&text, " / b");
    return gi_formula_make(queue, weights, 1, text.bytes, real, state, NULL, err);
}

/* ---- pyramids ---- */

/* Writes the formula weights * (image - expanded), in which nothing is subtracted if nothing is
 * expanded. Where the image is transparent, its colours are those of the level below. Alpha is only
 * added up, in the `finest` level. */
static void put_part(struct text *text, const struct gi_image *image, bool expanded, bool finest)
{
    int colors = gi_color_channels(image);
    for (int i = 0; i < colors; i++) {
        put(text, i ? ", " : "");
        if (gi_has_alpha(image))
            put(text, "a[%d] <= 0 ? 0 : ", colors);
        put(text, expanded ? "(a[%d] - c[%d]) * b" : "a[%d] * b", i, i);
    }
    if (gi_has_alpha(image))
        put(text, finest ? ", a[%d] * b" : ", 0", colors);
}

/* Sets level `to` to `earlier`, unless that is NULL, plus the weighted image of the formula. */
static enum gi_status add_level(struct gi_queue *queue, struct gi_image *to,
                                const struct gi_image *earlier, const struct gi_image *image,
                                const struct gi_image *expanded, const struct gi_image *weights,
                                const char *formula, struct gi_err *err)
{
    struct gi_image part;
    if (!earlier)
        return gi_formula_run(queue, to, formula, image, weights, expanded, err);
    enum gi_status status =
        gi_formula_make(queue, &part, image->channels, formula, image, weights, expanded, err);
    if (status)
        return status;
    const struct gi_arithmetic plus = {
        .op = GI_ARITHMETIC_ADD, .other = &part, .plain = true, .alpha_too = true};
    status = queue->k->arithmetic(queue, to, earlier, &plus, err);
    queue->k->release(queue, &part);
    return status;
}

/* Adds all levels of the pyramids of *image and *weights, and releases these. */
static enum gi_status add_levels(struct gi_queue *queue, struct gi_image *sum,
                                 const struct gi_image *earlier, struct gi_image *image,
                                 struct gi_image *weights, struct gi_err *err)
{
    const struct gi_laplacian_levels levels = gi_laplacian_levels(image->width, image->height);
    enum gi_status status = GI_OK;
    for (int i = 0; i < levels.n && !status; i++) {
        struct gi_image half = {0}, half_weights = {0}, expanded = {0}, was = {0};
        struct gi_image to = gi_laplacian_level(sum, &levels, i);
        bool more = i + 1 < levels.n;
        struct text formula = {.n = 0};
        put_part(&formula, image, more, i == 0);
        if (earlier)
            was = gi_laplacian_level(earlier, &levels, i);
        if (more) {
            status = gi_laplacian_reduce(queue, &half, image, GI_ALPHA_WEIGH, err);
            if (!status)
                status = gi_laplacian_reduce(queue, &half_weights, weights, GI_ALPHA_PLAIN, err);
            if (!status)
                status = gi_laplacian_expand(queue, &expanded, &half, image->width, image->height,
                                             GI_ALPHA_WEIGH, err);
        }
        if (!status)
            status = add_level(queue, &to, earlier ? &was : NULL, image, more ? &expanded : NULL,
                               weights, formula.bytes, err);
        if (expanded.data)
            queue->k->release(queue, &expanded);
        queue->k->release(queue, image);
        queue->k->release(queue, weights);
        *image = half;
        *weights = half_weights;
    }
    if (image->data)
        queue->k->release(queue, image);
    if (weights->data)
        queue->k->release(queue, weights);
    return status;
}

enum gi_status gi_fusion_add(struct gi_queue *queue, struct gi_image *sum,
                             const struct gi_image *image, const struct gi_image *state,
                             const struct gi_image *earlier, int k, const struct gi_fusion *fusion,
                             struct gi_err *err)
{
    struct gi_image real, weights;
    enum gi_status status = make_real(queue, &real, image, err);
    if (status)
        return status;
    status = make_weights(queue, &weights, &real, state, k, fusion, err);
    if (status) {
        queue->k->release(queue, &real);
        return status;
    }
    return add_levels(queue, sum, k ? earlier : NULL, &real, &weights, err);
}

/* ---- the result ---- */

/* Sets `dst` from the finest level. Transparent pixels become black. */
static enum gi_status store(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *finest, struct gi_err *err)
{
    struct text text = {.n = 0};
    struct gi_image real;
    int colors = gi_color_channels(finest);
    for (int i = 0; i < colors; i++)
        if (gi_has_alpha(finest))
            put(&text, "a[%d] > 0 ? a[%d] : 0, ", colors, i);
        else
            put(&text, "%sa[%d]", i ? ", " : "", i);
    if (gi_has_alpha(finest))
        put(&text, "a[%d]", colors);
    if (dst->type == GI_F32)
        return gi_formula_run(queue, dst, text.bytes, finest, NULL, NULL, err);
    enum gi_status status =
        gi_formula_make(queue, &real, finest->channels, text.bytes, finest, NULL, NULL, err);
    if (status)
        return status;
    status = queue->k->convert(queue, dst, &real, NULL, err);
    queue->k->release(queue, &real);
    return status;
}

enum gi_status gi_fusion_finish(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *sum, const struct gi_fusion *fusion,
                                struct gi_err *err)
{
    const struct gi_laplacian_levels levels = gi_laplacian_levels(fusion->width, fusion->height);
    struct gi_image smaller = {0};
    enum gi_status status = GI_OK;
    for (int i = levels.n - 2; i >= 0 && !status; i--) {
        const struct gi_image level = gi_laplacian_level(sum, &levels, i),
                              last = gi_laplacian_level(sum, &levels, i + 1);
        struct gi_image expanded = {0};
        status = gi_laplacian_expand(queue, &expanded, smaller.data ? &smaller : &last, level.width,
                                     level.height, GI_ALPHA_PLAIN, err);
        const struct gi_arithmetic plus = {
            .op = GI_ARITHMETIC_ADD, .other = &level, .plain = true, .alpha_too = true};
        if (smaller.data)
            queue->k->release(queue, &smaller);
        smaller = expanded;
        if (!status)
            status = queue->k->arithmetic(queue, &smaller, &smaller, &plus, err);
    }
    const struct gi_image only = gi_laplacian_level(sum, &levels, 0);
    if (!status)
        status = store(queue, dst, smaller.data ? &smaller : &only, err);
    if (smaller.data)
        queue->k->release(queue, &smaller);
    return status;
}

/* ---- all images ---- */

size_t gi_fusion_nbytes(const struct gi_fusion *fusion, enum gi_type type)
{
    /* A cut image; two states; the sum; and at the finest level the image, its weights, their
     * halves, the expanded half, and the weighted part. */
    size_t pixels = (size_t)fusion->width * (size_t)fusion->height,
           channels = (size_t)fusion->channels;
    const struct gi_image state = gi_fusion_state(fusion), sum = gi_fusion_sum(fusion);
    return pixels * channels * gi_type_nbytes(type) + 2 * (size_t)gi_image_nbytes(&state) +
           (size_t)gi_image_nbytes(&sum) + pixels * (4 * channels + 2) * sizeof(float);
}

static enum gi_status cut(struct gi_queue *queue, struct gi_image *image,
                          const struct gi_image *strip, int k, const struct gi_fusion *fusion,
                          struct gi_err *err)
{
    const struct gi_copy_border spec = {.left = k * fusion->width,
                                        .border = {.mode = GI_BORDER_CLAMP}};
    enum gi_status status = queue->k->alloc(queue, image, fusion->width, fusion->height,
                                            strip->channels, strip->type, err);
    if (!status && (status = queue->k->copy_border(queue, image, strip, &spec, err)))
        queue->k->release(queue, image);
    return status;
}

/* Makes the state of all images. */
static enum gi_status weigh_all(struct gi_queue *queue, struct gi_image *state,
                                const struct gi_image *strip, int n, const struct gi_fusion *fusion,
                                struct gi_err *err)
{
    const struct gi_image shape = gi_fusion_state(fusion);
    enum gi_status status = GI_OK;
    *state = (struct gi_image){0};
    for (int k = 0; k < n && !status; k++) {
        struct gi_image image, next = {0};
        status = cut(queue, &image, strip, k, fusion, err);
        if (status)
            break;
        status = queue->k->alloc(queue, &next, shape.width, shape.height, 1, shape.type, err);
        if (!status)
            status = gi_fusion_weigh(queue, &next, &image, state, k, fusion, err);
        queue->k->release(queue, &image);
        if (state->data)
            queue->k->release(queue, state);
        *state = next;
    }
    if (status && state->data)
        queue->k->release(queue, state);
    return status;
}

enum gi_status gi_fusion_all(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *strip, int n, const struct gi_fusion *fusion,
                             struct gi_err *err)
{
    const struct gi_image shape = gi_fusion_sum(fusion);
    struct gi_image state, sum;
    enum gi_status status = weigh_all(queue, &state, strip, n, fusion, err);
    if (status)
        return status;
    status = queue->k->alloc(queue, &sum, shape.width, shape.height, shape.channels, GI_F32, err);
    if (!status) {
        for (int k = 0; k < n && !status; k++) {
            struct gi_image image;
            status = cut(queue, &image, strip, k, fusion, err);
            if (status)
                break;
            status = gi_fusion_add(queue, &sum, &image, &state, &sum, k, fusion, err);
            queue->k->release(queue, &image);
        }
        if (!status)
            status = gi_fusion_finish(queue, dst, &sum, fusion, err);
        queue->k->release(queue, &sum);
    }
    queue->k->release(queue, &state);
    return status;
}
