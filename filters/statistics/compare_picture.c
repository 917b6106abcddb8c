/* Pictures of the differences of two images: the absolute difference, or marks on one of the
 * images. SPDX-License-Identifier: MIT */
#include "filters/statistics/compare.h"

#include <math.h>
#include <stdlib.h>

/* Rounds half to even and saturates, as all primitives do. */
static void store(const struct gi_image *image, void *row, size_t i, double value)
{
    double full = gi_type_full_scale(image->type);
    if (image->type == GI_F32)
        ((float *)row)[i] = (float)value;
    else if (image->type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)rint(value < full ? value : full);
    else
        ((uint8_t *)row)[i] = (uint8_t)rint(value < full ? value : full);
}

enum gi_status gi_compare_picture(struct gi_image *picture, const struct gi_image *a,
                                  const struct gi_image *b, double gain,
                                  const struct gi_compare_rules *params, struct gi_err *err)
{
    struct gi_image converted;
    uint8_t *ignored = NULL;
    enum gi_status status = gi_compare_match(&converted, &a, &b, err);
    if (!status)
        status = gi_compare_ignored(&ignored, params, a, err);
    if (!status)
        status = gi_image_alloc(picture, a->width, a->height, gi_color_channels(a), a->type, err);
    for (int y = 0; y < a->height && !status; y++) {
        const void *row_a = gi_row(a, y), *row_b = gi_row(b, y);
        void *row = gi_row(picture, y);
        const uint8_t *skip = ignored ? ignored + (size_t)y * (size_t)a->width : NULL;
        for (size_t x = 0; x < (size_t)a->width; x++) {
            size_t i = x * (size_t)a->channels, last = i + (size_t)a->channels - 1;
            double alpha = gi_has_alpha(a) ? gi_compare_distance(gi_sample(row_a, last, a->type),
                                                                 gi_sample(row_b, last, b->type))
                                           : 0;
            for (size_t c = 0; c < (size_t)picture->channels; c++) {
                double d = gi_compare_distance(gi_sample(row_a, i + c, a->type),
                                               gi_sample(row_b, i + c, b->type));
                store(picture, row, x * (size_t)picture->channels + c,
                      skip && skip[x] ? 0 : fmax(d, alpha) * gain);
            }
        }
    }
    gi_image_free(&converted);
    free(ignored);
    return status;
}

/* Returns the luma of pixel x over white, of 8 bits, mixed with 70 % of white. */
static uint8_t faded(const struct gi_image *a, const void *row, size_t x)
{
    const double white = 255, share = 0.7;
    double full = gi_type_full_scale(a->type), rgb[3], alpha = 1;
    size_t i = x * (size_t)a->channels;
    for (size_t c = 0; c < 3; c++)
        rgb[c] = gi_sample(row, i + (gi_color_channels(a) == 3 ? c : 0), a->type) / full;
    if (gi_has_alpha(a))
        alpha = gi_sample(row, i + (size_t)a->channels - 1, a->type) / full;
    double v = gi_luma(rgb) * alpha + 1 - alpha;
    v = v > 0 ? fmin(v, 1) : 0; /* NaN becomes 0 */
    return (uint8_t)rint(white * (share + (1 - share) * v));
}

enum gi_status gi_compare_marks(struct gi_image *picture, const struct gi_image *a,
                                const struct gi_image *b, const struct gi_compare_rules *rules,
                                struct gi_err *err)
{
    struct gi_image converted;
    uint8_t *ignored = NULL;
    enum gi_status status = gi_compare_match(&converted, &a, &b, err);
    if (!status)
        status = gi_compare_ignored(&ignored, rules, a, err);
    if (!status)
        status = gi_image_alloc(picture, a->width, a->height, 3, GI_U8, err);
    for (int y = 0; y < a->height && !status; y++) {
        const void *row_a = gi_row(a, y), *row_b = gi_row(b, y);
        uint8_t *to = gi_row(picture, y);
        for (size_t x = 0; x < (size_t)a->width; x++, to += 3) {
            bool differs = false;
            bool counts = !ignored || !ignored[(size_t)y * (size_t)a->width + x];
            for (size_t i = x * (size_t)a->channels; i < (x + 1) * (size_t)a->channels; i++)
                differs = differs || (counts && gi_compare_distance(gi_sample(row_a, i, a->type),
                                                                    gi_sample(row_b, i, b->type)) >
                                                    rules->tolerance);
            to[0] = differs ? 255 : faded(a, row_a, x);
            to[1] = to[2] = differs ? 0 : to[0];
        }
    }
    gi_image_free(&converted);
    free(ignored);
    return status;
}
