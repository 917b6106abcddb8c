/* Fuzzes the reading of ICC profiles with lcms2 for --linear and CMYK. The first byte selects
 * transfer curves (of gray or of colour) or CMYK inks (in 8 or 16 bits, inverted or not).
 * Sources: imgio/metadata/icc*
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/metadata/icc.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 2)
        return 0;
    struct gi_metadata metadata = {.icc = malloc(nbytes - 1), .icc_nbytes = nbytes - 1};
    if (!metadata.icc)
        return 0;
    memcpy(metadata.icc, bytes + 1, nbytes - 1);
    if (bytes[0] & 2)
        convert(&metadata, bytes[0] & 1 ? GI_U16 : GI_U8, bytes[0] & 4);
    else
        read_curves(&metadata, bytes[0] & 1 ? 3 : 1);
    free(metadata.icc);
    return 0;
}
