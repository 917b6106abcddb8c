/* Fuzzes the reading of ICC profiles with lcms2 for --linear, CMYK and --profile. The first byte
 * selects transfer curves (of gray or of colour), CMYK inks (in 8 or 16 bits, inverted or not) or
 * the conversion of an image to Display P3.
 * Sources: imgio/metadata/icc* imgio/metadata/lcms*
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/metadata/icc.h"
#include "imgio/metadata/icc_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

enum { SAMPLES = 511, WIDTH = 9 };

static void read_curves(const struct gi_metadata *metadata, int colors)
{
    static double light[3 * SAMPLES];
    struct gi_err err = {0};
    if (gi_icc_curves(light, SAMPLES, colors, metadata, &err)) {
        if (!*err.text)
            abort();
        return;
    }
    for (int i = 0; i < colors * SAMPLES; i++) /* from 0 to 1 and never decreasing */
        if (!(light[i] >= 0 && light[i] <= 1) || (i % SAMPLES && light[i] < light[i - 1]))
            abort();
}

static void convert(struct gi_metadata *metadata, enum gi_type type, bool inverted)
{
    static const struct gi_load_options options;
    uint16_t inks[4 * WIDTH], rgb[3 * WIDTH];
    struct gi_err warning = {0};
    struct gi_decode decode = {.metadata = metadata, .options = &options, .warning = &warning};
    struct gi_inks *made = gi_inks_new(&decode, type, inverted);
    for (int i = 0; i < 4 * WIDTH; i++)
        inks[i] = (uint16_t)(i * 2000);
    if (made)
        gi_inks_convert(made, rgb, inks, WIDTH);
    gi_inks_free(&made);
}

/* Converts an image whose profile is `metadata`. The lower bits of `how` choose its shape. A large
 * one repeats its row, and is converted by tables. */
static void convert_image(const struct gi_metadata *metadata, unsigned how)
{
    const struct gi_save_options options = {
        .color = {.profile = "display-p3", .intent = (int)(how >> 4 & 3)}};
    enum { SIDE = 256 };
    static float samples[4 * SIDE];
    const int large = how & 8 ? SIDE : 0;
    for (int i = 0; i < 4 * SIDE; i++)
        samples[i] = (float)(i % 97) / 96;
    const struct gi_image image = {.data = samples,
                                   .stride = large ? 0 : sizeof samples,
                                   .width = large ? large : WIDTH,
                                   .height = large ? large : 1,
                                   .channels = 1 + (int)(how & 3),
                                   .type = how & 4 ? GI_F32 : GI_U8};
    const struct gi_image *made = &image;
    struct gi_color_converted converted;
    struct gi_err note, err = {0};
    if (gi_color_apply(&converted, &made, &metadata, &options, "fuzz", &note, &err)) {
        if (!*err.text)
            abort();
        return;
    }
    if (made->width != image.width || gi_color_channels(made) != 3)
        abort();
    gi_color_free(&converted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 2)
        return 0;
    struct gi_metadata metadata = {.icc = malloc(nbytes - 1), .icc_nbytes = nbytes - 1};
    if (!metadata.icc)
        return 0;
    memcpy(metadata.icc, bytes + 1, nbytes - 1);
    if (bytes[0] & 128)
        convert_image(&metadata, bytes[0]);
    else if (bytes[0] & 2)
        convert(&metadata, bytes[0] & 1 ? GI_U16 : GI_U8, bytes[0] & 4);
    else
        read_curves(&metadata, bytes[0] & 1 ? 3 : 1);
    free(metadata.icc);
    return 0;
}
