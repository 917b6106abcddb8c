/* Packs images of black and white into bits, and judges how many bits samples need.
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio/codecs.h"

#include <string.h>

enum gi_status gi_bits_pack(struct gi_image *packed, const struct gi_image *image,
                            struct gi_err *err)
{
    *packed = (struct gi_image){0};
    if (image->channels != 1 || image->type != GI_U8)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--depth 1: the image has %d channels: want a gray image without alpha",
                       image->channels);
    enum gi_status status =
        gi_image_alloc(packed, 1 + (image->width - 1) / 8, image->height, 1, GI_U8, err);
    for (int y = 0; y < image->height && !status; y++) {
        const uint8_t *row = gi_row(image, y);
        uint8_t *bits = gi_row(packed, y);
        memset(bits, 0, gi_row_nbytes(packed));
        for (int x = 0; x < image->width && !status; x++) {
            bits[x / 8] |= (uint8_t)((row[x] & 1) << (7 - x % 8));
            if (row[x] != 0 && row[x] != 255)
                status = gi_fail(err, GI_E_UNSUPPORTED,
                                 "--depth 1: pixel (%d, %d) is %d: want an image of 0 and 255, as "
                                 "gpuimg threshold makes it",
                                 x, y, row[x]);
        }
    }
    return status;
}

static bool hold(const struct gi_image *image, int bits)
{
    for (int y = 0; y < image->height; y++) {
        const uint16_t *row = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (row[i] != gi_bits_scale(gi_bits_narrow(row[i], bits), (1u << bits) - 1, 65535))
                return false;
    }
    return true;
}

int gi_bits_needed(const struct gi_image *image, const int depths[2])
{
    for (int i = 0; i < 2; i++)
        if (depths[i] && hold(image, depths[i]))
            return depths[i];
    return 0;
}

bool gi_bits_are_coded(const void *bytes, size_t nbytes, const struct gi_image *image, int bits)
{
    const struct gi_load_options options = {.limits = {UINT64_MAX, UINT64_MAX}};
    struct gi_image back;
    if (gi_load_memory(&back, NULL, NULL, bytes, nbytes, "", &options, NULL, NULL))
        return false;
    bool same = back.width == image->width && back.height == image->height &&
                back.channels == image->channels && back.type == image->type;
    for (int y = 0; y < image->height && same; y++) {
        const uint16_t *a = gi_row(image, y), *b = gi_row(&back, y);
        if (image->type != GI_U16)
            same = memcmp(a, b, gi_row_nbytes(image)) == 0;
        for (size_t i = 0; image->type == GI_U16 && i < gi_row_samples(image) && same; i++)
            same = gi_bits_narrow(a[i], bits) == gi_bits_narrow(b[i], bits);
    }
    gi_image_free(&back);
    return same;
}

bool gi_bits_divide_by_alpha(const struct gi_image *image, int y)
{
    bool cut = false;
    void *row = gi_row(image, y);
    size_t colors = (size_t)image->channels - 1;
    double full = (double)gi_type_full_scale(image->type);
    for (size_t x = 0; x < (size_t)image->width; x++) {
        double alpha = gi_sample(row, x * (colors + 1) + colors, image->type);
        for (size_t c = 0; c < colors; c++) {
            double v = gi_sample(row, x * (colors + 1) + c, image->type);
            cut = cut || (v > alpha && (image->type != GI_F32 || !(alpha > 0)));
            v = alpha > 0 ? v * full / alpha : 0;
            gi_sample_set(row, x * (colors + 1) + c, image->type,
                          image->type != GI_F32 && v > full ? full : v);
        }
    }
    return cut;
}
