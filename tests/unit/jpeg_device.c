/* Draws pictures and random JPEGs of them.
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"

enum { MCU_BLOCKS_MAX = 10 };

void jpeg_draw(struct gi_image *image, int kind, int noise, uint64_t *seed)
{
    double fx = case_between(seed, 1, 40) * 0.01, fy = case_between(seed, 1, 40) * 0.01;
    for (int y = 0; y < image->height; y++) {
        double down = 100 * cos(fy * y);
        unsigned char *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                int wave = 128 + (int)(((x * 7 + c * 50) % 256 / 128.0 - 1) * down * fx * 2.5);
                int square = (x / 5 + y / 7 + c) % 2 ? 255 : 0, area = x > y ? 40 * c : 200;
                int v = kind == 0 ? wave : kind == 1 ? square : kind == 2 ? area : 90;
                v += noise ? case_between(seed, -noise, noise) : 0;
                row[x * image->channels + c] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
    }
}

struct gi_image jpeg_picture(int width, int height, int channels, int noise, uint64_t *seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, GI_U8, NULL), GI_OK);
    jpeg_draw(&image, case_between(seed, 0, 3), noise, seed);
    return image;
}

/* Draws sampling factors that fit in an MCU, and that every program decodes, because the larger
 * ones are multiples of the smaller ones. */
static void draw_sampling(struct jpeg_compress_struct *cinfo, uint64_t *seed)
{
    int n = cinfo->num_components, blocks, h[3], v[3];
    bool whole;
    do {
        int hmax = 1, vmax = 1;
        blocks = 0;
        whole = true;
        for (int i = 0; i < n; i++) {
            bool plain = i > 0 && case_between(seed, 0, 2);
            h[i] = plain ? 1 : case_between(seed, 1, 4);
            v[i] = plain ? 1 : case_between(seed, 1, 4);
            hmax = h[i] > hmax ? h[i] : hmax;
            vmax = v[i] > vmax ? v[i] : vmax;
            blocks += h[i] * v[i];
        }
        for (int i = 0; i < n; i++)
            whole = whole && hmax % h[i] == 0 && vmax % v[i] == 0;
    } while (blocks > MCU_BLOCKS_MAX || !whole);
    for (int i = 0; i < n; i++) {
        cinfo->comp_info[i].h_samp_factor = h[i];
        cinfo->comp_info[i].v_samp_factor = v[i];
    }
}

void jpeg_begin_random(struct jpeg_making *made, const struct gi_image *image, int quality,
                       uint64_t *seed)
{
    struct jpeg_compress_struct *cinfo = &made->cinfo;
    int kind = case_between(seed, 0, 9), restart = case_between(seed, 0, 9);
    bool gray = image->channels == 1;
    jpeg_begin(made, image, gray ? JCS_GRAYSCALE : JCS_RGB, quality);
    jpeg_set_colorspace(cinfo, gray ? JCS_GRAYSCALE : kind == 0 ? JCS_RGB : JCS_YCbCr);
    if (kind == 1)
        jpeg_set_quality(cinfo, quality, FALSE); /* steps of 16 bits */
    if (kind > 2)
        draw_sampling(cinfo, seed);
    cinfo->restart_interval = restart < 3 ? (unsigned)case_between(seed, 1, 40) : 0;
    cinfo->restart_in_rows = restart == 3 ? case_between(seed, 1, 4) : 0;
    cinfo->optimize_coding = case_between(seed, 0, 2) == 0;
}
