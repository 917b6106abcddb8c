/* Converts frames of Y4M between planes and RGB (ITU-R BT.601-7 and BT.709-6, section 3).
 * SPDX-License-Identifier: MIT */
#include "imgio/y4m/y4m_rgb.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the samples of a video become colours. */
struct color {
    double red, blue;                    /* weights of red and blue in luma */
    double black, range, middle, spread; /* of luma and chroma, in samples of the file */
    double most;                         /* largest sample of the file */
};

/* Returns whether the header has a parameter that begins with X and contains the text. */
static bool names(const struct gi_y4m *video, const char *text)
{
    for (const char *at = strstr(video->line, " X"); at; at = strstr(at + 1, " X")) {
        const char *found = strstr(at, text);
        if (found && found < at + 1 + strcspn(at + 1, " "))
            return true;
    }
    return false;
}

/* Returns whether the colours are those of BT.709. */
static bool is_hd(const struct gi_y4m *video)
{
    return names(video, "709") || (!names(video, "601") && video->height >= 720);
}

void gi_y4m_keep_matrix(struct gi_y4m *video, const struct gi_y4m *from)
{
    static const char hd[] = " XMATRIX=709", sd[] = " XMATRIX=601";
    size_t used = strlen(video->line);
    if (video->nplanes >= 3 && is_hd(video) != is_hd(from) && used + sizeof hd <= GI_Y4M_LINE_MAX)
        strcpy(video->line + used, is_hd(from) ? hd : sd);
}

static struct color color_of(const struct gi_y4m *video)
{
    bool hd = is_hd(video);
    double unit = (double)(1 << (video->bits - 8)), most = (double)((1 << video->bits) - 1);
    struct color c = {
        .red = hd ? GI_LUMA_RED : 0.299, .blue = hd ? GI_LUMA_BLUE : 0.114, .most = most};
    bool full = names(video, "COLORRANGE=FULL");
    c.black = full ? 0 : 16 * unit;
    c.range = full ? most : 219 * unit;
    c.middle = 128 * unit;
    c.spread = full ? most : 224 * unit;
    return c;
}

static double sample(const struct gi_image *image, int y, size_t i)
{
    return gi_sample(gi_row(image, y), i, image->type);
}

/* Stores a value of 0 to 1. */
static void put(const struct gi_image *image, int y, size_t i, double v)
{
    double full = (double)gi_type_full_scale(image->type);
    long rounded = lrint((v < 0 ? 0 : v > 1 ? 1 : v) * full);
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)rounded;
    else
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)rounded;
}

static void make_pixel(const struct gi_image *image, const struct gi_image *planes,
                       const struct gi_y4m *video, const struct color *c, int x, int y)
{
    double to_file = c->most / (double)gi_type_full_scale(image->type);
    size_t at = (size_t)x * (size_t)image->channels, k = (size_t)(x >> video->shift_x);
    double luma = (rint(sample(&planes[0], y, (size_t)x) * to_file) - c->black) / c->range;
    if (video->nplanes == 1) {
        put(image, y, at, luma);
        return;
    }
    int row = y >> video->shift_y;
    double cb = (rint(sample(&planes[1], row, k) * to_file) - c->middle) / c->spread;
    double cr = (rint(sample(&planes[2], row, k) * to_file) - c->middle) / c->spread;
    double red = luma + 2 * (1 - c->red) * cr, blue = luma + 2 * (1 - c->blue) * cb;
    put(image, y, at, red);
    put(image, y, at + 1, (luma - c->red * red - c->blue * blue) / (1 - c->red - c->blue));
    put(image, y, at + 2, blue);
    if (video->nplanes == 4)
        put(image, y, at + 3, sample(&planes[3], y, (size_t)x) * to_file / c->most);
}

enum gi_status gi_y4m_to_image(struct gi_image *image, const struct gi_image *planes,
                               const struct gi_y4m *video, struct gi_err *err)
{
    const struct color c = color_of(video);
    enum gi_status status = gi_image_alloc(image, video->width, video->height, video->nplanes,
                                           video->bits > 8 ? GI_U16 : GI_U8, err);
    for (int y = 0; y < video->height && !status; y++)
        for (int x = 0; x < video->width; x++)
            make_pixel(image, planes, video, &c, x, y);
    return status;
}

/* Stores a sample of the file. */
static void store(const struct gi_image *plane, int y, size_t i, double v, const struct color *c)
{
    long rounded = lrint(v < 0 ? 0 : v > c->most ? c->most : v);
    if (plane->type == GI_U8)
        ((uint8_t *)gi_row(plane, y))[i] = (uint8_t)rounded;
    else
        ((uint16_t *)gi_row(plane, y))[i] = htole16((uint16_t)rounded);
}

/* Adds the colour differences of a row of pixels to the sums of chroma, and stores the luma of
 * these pixels. */
static void divide_row(const struct gi_image *planes, const struct gi_image *image,
                       const struct gi_y4m *video, const struct color *c, int y, double *sums)
{
    int colors = gi_color_channels(image);
    double full = (double)gi_type_full_scale(image->type);
    bool alpha = gi_has_alpha(image);
    for (int x = 0; x < video->width; x++) {
        size_t at = (size_t)x * (size_t)image->channels, k = (size_t)(x >> video->shift_x);
        double opacity = alpha ? sample(image, y, at + (size_t)colors) / full : 1;
        double shown = (video->nplanes == 4 ? 1 : opacity) / full;
        double red = sample(image, y, at) * shown;
        double green = colors == 3 ? sample(image, y, at + 1) * shown : red;
        double blue = colors == 3 ? sample(image, y, at + 2) * shown : red;
        double luma = c->red * red + (1 - c->red - c->blue) * green + c->blue * blue;
        store(&planes[0], y, (size_t)x, c->black + luma * c->range, c);
        if (video->nplanes == 4)
            store(&planes[3], y, (size_t)x, opacity * c->most, c);
        sums[3 * k] += (blue - luma) / (2 * (1 - c->blue));
        sums[3 * k + 1] += (red - luma) / (2 * (1 - c->red));
        sums[3 * k + 2] += 1;
    }
}

enum gi_status gi_y4m_from_image(struct gi_image planes[GI_Y4M_PLANES],
                                 const struct gi_image *image, const struct gi_y4m *video,
                                 struct gi_err *err)
{
    const struct color c = color_of(video);
    enum gi_status status = GI_OK;
    for (int i = 0; i < video->nplanes && !status; i++) {
        struct gi_image shape = gi_y4m_plane(video, i);
        status = gi_image_alloc(&planes[i], shape.width, shape.height, 1, shape.type, err);
    }
    size_t n = 3 * (size_t)video->width;
    double *sums = status ? NULL : malloc(n * sizeof *sums);
    if (!status && !sums)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a row of chroma");
    int rows = 1 << video->shift_y;
    for (int y = 0; y < video->height && !status; y++) {
        if (y % rows == 0)
            memset(sums, 0, n * sizeof *sums);
        divide_row(planes, image, video, &c, y, sums);
        bool last = (y + 1) % rows == 0 || y + 1 == video->height;
        for (int x = 0; last && video->nplanes > 1 && x < planes[1].width; x++)
            for (size_t k = 0; k < 2; k++) {
                const double *sum = sums + 3 * (size_t)x;
                store(&planes[1 + k], y / rows, (size_t)x, c.middle + sum[k] / sum[2] * c.spread,
                      &c);
            }
    }
    free(sums);
    return status;
}

/* Reads a rate as numerator and denominator. */
static bool read_rate(long *n, long *d, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    *n = lrint(v);
    *d = 1;
    if (*end == '/' || *end == ':')
        *d = strtol(end + 1, &end, 10);
    else if (v != (double)*n) { /* 29.97, 23.976: thousandths, as in NTSC */
        *n = lrint(v) * 1000;
        *d = fabs(v * 1001 - (double)*n) < 0.5 ? 1001 : 0;
        if (!*d) {
            *n = lrint(v * 1000);
            *d = 1000;
        }
    }
    return !*end && end != text && *n > 0 && *n < 1000000000 && *d > 0 && *d < 1000000000;
}

enum gi_status gi_y4m_new_head(struct gi_y4m *video, int width, int height, bool gray,
                               const char *rate, struct gi_err *err)
{
    long n = 25, d = 1;
    if (rate && !read_rate(&n, &d, rate))
        return gi_fail(err, GI_E_USAGE, "--fps %s: want frames per second, as 25 or 30000/1001",
                       rate);
    *video = (struct gi_y4m){.width = width,
                             .height = height,
                             .nplanes = gray ? 1 : 3,
                             .shift_x = !gray,
                             .shift_y = !gray,
                             .bits = 8};
    snprintf(video->line, sizeof video->line, "YUV4MPEG2 W%d H%d F%ld:%ld Ip A1:1 C%s", width,
             height, n, d, gray ? "mono" : "420jpeg XCOLORRANGE=LIMITED");
    return GI_OK;
}

void gi_y4m_fill_neutral(const struct gi_image *plane, int number, int bits)
{
    const struct color c = {.most = (double)((1 << bits) - 1)};
    double v = number == 3 ? c.most : (double)(1 << (bits - 1));
    for (int y = 0; y < plane->height; y++)
        for (int x = 0; x < plane->width; x++)
            store(plane, y, (size_t)x, v, &c);
}
