/* Radiance HDR out: a header of text, then rows of RGBE, run-length coded by component (Ward, "Real
 * Pixels", Graphics Gems II; the Radiance manual, "picture file format").
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RLE_MIN = 8,     /* pixels of a row that may be coded */
    RLE_MAX = 32767, /* its length has 15 bits */
    RUN_MIN = 4,     /* shorter ones are cheaper among their neighbours */
    RUN_MAX = 127,
    PLAIN_MAX = 128,
};

/* One pixel: three mantissas of 8 bits under one exponent, cut off as Radiance does. */
static void put_rgbe(uint8_t *to, size_t step, const float *rgb)
{
    float v[3], largest = 0;
    for (int c = 0; c < 3; c++) {
        v[c] = rgb[c] > 0 ? fminf(rgb[c], 0x1.fep126f) : 0; /* NaN fails the test */
        largest = fmaxf(largest, v[c]);
    }
    int exponent = 0;
    float mantissa = frexpf(largest, &exponent);
    bool dark = largest < 1e-32f; /* less than the least exponent can say */
    for (int c = 0; c < 3; c++)
        to[(size_t)c * step] = dark ? 0 : (uint8_t)(v[c] * (mantissa * 256 / largest));
    to[3 * step] = dark ? 0 : (uint8_t)(exponent + 128);
}

/* Length of the run of equal bytes at `at`. */
static size_t run_length(const uint8_t *at, const uint8_t *end)
{
    size_t n = 1;
    while (n < RUN_MAX && n < (size_t)(end - at) && at[n] == *at)
        n++;
    return n;
}

/* Codes `n` bytes: runs as 128 + length and the byte, others as their count and themselves. Returns
 * the end of what it wrote, at most n + n / PLAIN_MAX + 1 bytes. */
static uint8_t *put_runs(uint8_t *to, const uint8_t *at, size_t n)
{
    const uint8_t *end = at + n;
    while (at < end) {
        const uint8_t *plain = at;
        size_t run = 0;
        while (at < end && at - plain < PLAIN_MAX && (run = run_length(at, end)) < RUN_MIN)
            at++;
        if (at > plain) {
            *to++ = (uint8_t)(at - plain);
            memcpy(to, plain, (size_t)(at - plain));
            to += at - plain;
        }
        if (at < end && run >= RUN_MIN) {
            *to++ = (uint8_t)(128 + run);
            *to++ = *at;
            at += run;
        }
    }
    return to;
}

static enum gi_status encode_hdr(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    (void)metadata;
    (void)options;
    size_t width = (size_t)image->width;
    bool coded = width >= RLE_MIN && width <= RLE_MAX;
    size_t line = 4 * (width + width / PLAIN_MAX + 2);
    uint8_t *row = malloc(4 * width + line), *out = row + 4 * width;
    if (!row)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status =
        gi_sink_printf(sink, err, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n",
                       image->height, image->width);
    for (int y = 0; y < image->height && !status; y++) {
        const float *in = gi_row(image, y);
        /* Coded rows have their components one after another. */
        for (size_t x = 0; x < width; x++)
            put_rgbe(coded ? row + x : row + 4 * x, coded ? width : 1, in + 3 * x);
        const uint8_t head[] = {2, 2, (uint8_t)(width >> 8), (uint8_t)width};
        uint8_t *end = out;
        if (coded) {
            memcpy(out, head, sizeof head);
            end += sizeof head;
            for (size_t c = 0; c < 4; c++)
                end = put_runs(end, row + c * width, width);
        }
        status =
            gi_sink_write(sink, coded ? out : row, coded ? (size_t)(end - out) : 4 * width, err);
    }
    free(row);
    return status;
}

const struct gi_format gi_format_hdr = {
    .info = {.name = "hdr",
             .suffixes = "hdr",
             .summary = "Radiance HDR (RGBE)",
             .writes = true,
             .f32 = true},
    .encode = encode_hdr,
    .rgb = true,
};
