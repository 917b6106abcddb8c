/* Converts samples to linear light and back by the transfer curve that PNG's chunks declare.
 * Sources: imgio/metadata/linear_light*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <math.h>

#include "imgio/metadata/linear_light.h"

/* The string literal and its length. The literal may contain zeros. */
#define BYTES(text) text, sizeof text - 1

/* The transfer curve is the one that PNG's chunks declare; chunks of a wrong length are ignored.
 * The inverse is tested at each depth, and for an image that has become gray. */
TEST(light)
{
    static const struct {
        const char *chunk;
        size_t n;
        double exponent; /* 0: sRGB, -1: refused */
    } cases[] = {
        {BYTES(""), 0},
        {BYTES("cICP\2\1\15"), 0},
        {BYTES("cICP\4\1\10\0\1"), 1},
        {BYTES("cICP\4\1\2\0\1"), -1},
        {BYTES("cICP\4\1\15\0\1"), 0},
        {BYTES("cICP\4\1\4\0\1"), 2.2}, /* ITU-T H.273, table 3 */
        {BYTES("cICP\4\1\5\0\1"), 2.8},
        {BYTES("sRGB\1\0gAMA\4\0\1\x86\xa0"), 0},
        {BYTES("gAMA\4\0\0\xb1\x8f"), 0},
        {BYTES("gAMA\4\0\0\xc3\x50"), 2}, /* 50000 */
        {BYTES("gAMA\3\0\0\xb1"), 0},
        {BYTES("gAMA\4\0\1\x86\xa0"), 1},  /* 100000 */
        {BYTES("gAMA\4\0\0\x27\x0f"), -1}, /* 9999 */
        {BYTES("gAMA\4\0\x0f\x42\x41"), -1},
        {BYTES("cLLI\2xx"), 0},
    };
    static const int bits[] = {0, 8, 16, 32};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int b = 0; b < 4; b++) {
            struct gi_metadata metadata = {.color = (void *)cases[i].chunk,
                                           .color_nbytes = cases[i].n};
            struct gi_load_options options = {.light_bits = bits[b]};
            struct gi_image image = random_image(30, 2, 3, GI_U8, 5), gray, back;
            uint8_t first = *(uint8_t *)image.data;
            enum gi_status status = gi_linear_light_decode(&image, &metadata, &options, NULL);
            assert_int_equal(status == GI_OK, cases[i].exponent >= 0);
            if (!status) {
                double v = first / 255.0, want = cases[i].exponent > 0 ? pow(v, cases[i].exponent)
                                                 : v <= 0.04045        ? v / 12.92
                                                                : pow((v + 0.055) / 1.055, 2.4);
                assert_true(fabs((double)*(float *)image.data - want) < 1e-6);
                ((float *)image.data)[1] = 0x1p-24f;
                assert_int_equal(gi_image_alloc(&gray, 30, 2, 1, GI_F32, NULL), GI_OK);
                memset(gray.data, 0, gray.stride * 2);
                assert_int_equal(gi_linear_light_encode(&back, &image, metadata.light, NULL, NULL),
                                 GI_OK);
                assert_int_equal(back.type, b == 3 ? GI_F32 : b == 2 ? GI_U16 : GI_U8);
                assert_true(fabs(gi_sample(back.data, 0, back.type) /
                                     (double)gi_type_full_scale(back.type) -
                                 v) < 1e-4);
                gi_image_free(&back);
                assert_int_equal(gi_linear_light_encode(&back, &gray, metadata.light, NULL, NULL),
                                 GI_OK);
                assert_true(gi_sample(back.data, 0, back.type) == 0);
                gi_image_free(&back);
                gi_image_free(&gray);
            }
            gi_linear_light_free(&metadata.light);
            gi_image_free(&image);
        }
}
