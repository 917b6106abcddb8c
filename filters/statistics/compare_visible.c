/* The part of two images that is seen, for comparing.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/compare.h"

#include <math.h>
#include <string.h>

/* The channels that say something in one of the images. */
struct channels {
    bool color, alpha;
};

static double alpha_at(const struct gi_image *image, int y, int x)
{
    size_t last = ((size_t)x + 1) * (size_t)image->channels - 1;
    return gi_has_alpha(image) ? gi_sample(gi_row(image, y), last, image->type)
                               : gi_type_full_scale(image->type);
}

/* Returns whether the colour of a pixel does not count, because one of the images is transparent
 * there. */
static bool is_hidden(const struct gi_image *a, const struct gi_image *b, int y, int x)
{
    return alpha_at(a, y, x) == 0 || alpha_at(b, y, x) == 0;
}

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Adds to `said` what the channels of `image` say. */
static void look(struct channels *said, const struct gi_image *image, const struct gi_image *other)
{
    bool colors = gi_color_channels(image) == 3, alphas = gi_has_alpha(image);
    for (int y = 0; y < image->height && (colors || alphas); y++) {
        const void *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++) {
            size_t i = (size_t)x * (size_t)image->channels;
            double red = gi_sample(row, i, image->type);
            said->alpha |= alphas && !(alpha_at(image, y, x) >= gi_type_full_scale(image->type));
            if (colors && !said->color && !is_hidden(image, other, y, x))
                said->color = !equal(red, gi_sample(row, i + 1, image->type)) ||
                              !equal(red, gi_sample(row, i + 2, image->type));
        }
    }
}

/* Makes the image of these channels. Gray becomes equal R, G and B, and an image without alpha gets
 * an opaque one. */
static enum gi_status keep(struct gi_image *kept, const struct gi_image *image,
                           const struct gi_image *other, const struct channels *said,
                           struct gi_err *err)
{
    int colors = said->color ? 3 : 1, channels = colors + said->alpha;
    size_t n = gi_type_nbytes(image->type);
    float one = 1;
    uint16_t full = UINT16_MAX; /* its first byte is the full scale of 8 bits */
    enum gi_status status =
        gi_image_alloc(kept, image->width, image->height, channels, image->type, err);
    for (int y = 0; y < image->height && !status; y++) {
        const char *from = gi_row(image, y);
        char *to = gi_row(kept, y);
        for (int x = 0; x < image->width; x++, from += n * (size_t)image->channels) {
            bool hidden = is_hidden(image, other, y, x);
            for (int c = 0; c < colors; c++, to += n)
                if (hidden)
                    memset(to, 0, n);
                else
                    memcpy(to, from + (gi_color_channels(image) == 3 ? n * (size_t)c : 0), n);
            if (said->alpha && gi_has_alpha(image))
                memcpy(to, from + n * ((size_t)image->channels - 1), n);
            else if (said->alpha)
                memcpy(to, image->type == GI_F32 ? (const void *)&one : &full, n);
            to += said->alpha ? n : 0;
        }
    }
    return status;
}

enum gi_status gi_compare_visible(struct gi_image *a, struct gi_image *b, struct gi_err *err)
{
    struct channels said = {0};
    struct gi_image first = {0}, second = {0};
    if (a->width != b->width || a->height != b->height)
        return GI_OK; /* which the comparison refuses */
    look(&said, a, b);
    look(&said, b, a);
    enum gi_status status = keep(&first, a, b, &said, err);
    if (!status)
        status = keep(&second, b, a, &said, err);
    if (status) {
        gi_image_free(&first);
        return status;
    }
    gi_image_free(a);
    gi_image_free(b);
    *a = first;
    *b = second;
    return GI_OK;
}
