/* BlurHash and ThumbHash. All is in double, in the order of the published programs, so that sums
 * are equal to theirs.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/placeholder.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/color/spaces.h"
#include "imgio/small.h"

static const double PI = 3.14159265358979323846;

/* Reads the pixel as red, green, blue and alpha. */
static void read_pixel(int rgba[4], const struct gi_image *image, int x, int y)
{
    int n = image->channels;
    const uint8_t *at = (const uint8_t *)gi_row(image, y) + (size_t)x * (size_t)n;
    for (int c = 0; c < 3; c++)
        rgba[c] = at[n < 3 ? 0 : c];
    rgba[3] = n % 2 ? 255 : at[n - 1];
}

static double limit(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* ---- BlurHash ---- */

static int sample_of(double linear)
{
    double v = limit(linear, 0, 1);
    return (int)((v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055) * 255 + 0.5);
}

/* Computes the component (i, j) of the three colours. `pixels` are in linear light. */
static void find_component(double sums[3], const double *pixels, int width, int height, int i,
                           int j)
{
    double columns[GI_PLACEHOLDER_SIDE_MAX];
    for (int x = 0; x < width; x++)
        columns[x] = (i || j ? 2.0 : 1.0) * cos(PI * i * x / width);
    memset(sums, 0, 3 * sizeof *sums);
    for (int y = 0; y < height; y++) {
        double row = cos(PI * j * y / height);
        for (int x = 0; x < width; x++, pixels += 3)
            for (int c = 0; c < 3; c++)
                sums[c] += columns[x] * row * pixels[c];
    }
    for (int c = 0; c < 3; c++)
        sums[c] /= (double)width * height;
}

/* Appends the value as n digits to the base of 83. Returns the end. */
static char *put_digits(char *text, int value, int n)
{
    static const char digits[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
    for (int i = n - 1; i >= 0; i--, value /= 83)
        text[i] = digits[value % 83];
    return text + n;
}

/* Quantizes the components of a colour to 19 levels each, by the square root. */
static int quantize(const double sums[3], double unit)
{
    int value = 0;
    for (int c = 0; c < 3; c++) {
        double root = copysign(sqrt(fabs(sums[c] / unit)), sums[c]);
        value = value * 19 + (int)limit(floor(root * 9 + 9.5), 0, 18);
    }
    return value;
}

void gi_blurhash(char text[GI_PLACEHOLDER_TEXT], const struct gi_image *image, int nx, int ny)
{
    enum { MOST = GI_PLACEHOLDER_COMPONENTS_MAX * GI_PLACEHOLDER_COMPONENTS_MAX };
    double sums[MOST][3], largest = 0;
    double *pixels =
        gi_small_calloc(3 * (size_t)image->width * (size_t)image->height, sizeof *pixels);
    double light[256];
    for (int v = 0; v < 256; v++)
        light[v] = gi_srgb_light(v / 255.0);
    for (int y = 0, at = 0; y < image->height; y++)
        for (int x = 0, rgba[4]; x < image->width; x++) {
            read_pixel(rgba, image, x, y);
            for (int c = 0; c < 3; c++)
                pixels[at++] = light[rgba[c]];
        }
    for (int i = 0; i < nx * ny; i++) {
        find_component(sums[i], pixels, image->width, image->height, i % nx, i / nx);
        for (int c = 0; c < 3 && i; c++)
            largest = fmax(largest, fabs(sums[i][c]));
    }
    free(pixels);
    int level = (int)limit(floor(largest * 166 - 0.5), 0, 82);
    text = put_digits(text, nx - 1 + (ny - 1) * 9, 1);
    text = put_digits(text, level, 1);
    text = put_digits(
        text, sample_of(sums[0][0]) << 16 | sample_of(sums[0][1]) << 8 | sample_of(sums[0][2]), 4);
    for (int i = 1; i < nx * ny; i++)
        text = put_digits(text, quantize(sums[i], (level + 1) / 166.0), 2);
    *text = '\0';
}

/* ---- ThumbHash ---- */

enum { PIXELS_MAX = GI_PLACEHOLDER_SIDE_MAX * GI_PLACEHOLDER_SIDE_MAX, COEFFICIENTS_MAX = 32 };

/* A channel's mean, its other coefficients as 0 to 1, and the largest of these. */
struct dct {
    double mean, scale, rest[COEFFICIENTS_MAX];
    int n;
};

struct thumb {
    int width, height;
    bool alpha;
    double channels[4][PIXELS_MAX]; /* luma, yellow to blue, red to green, alpha */
};

static void transform(struct dct *dct, const struct thumb *thumb, const double *channel, int nx,
                      int ny)
{
    int w = thumb->width, h = thumb->height;
    double columns[GI_PLACEHOLDER_SIDE_MAX];
    *dct = (struct dct){0};
    for (int v = 0; v < ny; v++)
        for (int u = 0; u * ny < nx * (ny - v); u++) {
            double sum = 0;
            for (int x = 0; x < w; x++)
                columns[x] = cos(PI / w * u * (x + 0.5));
            for (int y = 0; y < h; y++) {
                double row = cos(PI / h * v * (y + 0.5));
                for (int x = 0; x < w; x++)
                    sum += channel[x + y * w] * columns[x] * row;
            }
            sum /= w * h;
            if (!u && !v) {
                dct->mean = sum;
                continue;
            }
            dct->rest[dct->n++] = fabs(sum) < 1e-9 ? 0 : sum;
            dct->scale = fmax(dct->scale, fabs(dct->rest[dct->n - 1]));
        }
    for (int i = 0; i < dct->n && dct->scale > 0; i++)
        dct->rest[i] = 0.5 + 0.5 / dct->scale * dct->rest[i];
}

/* Fills the channels, over the mean colour where the image is transparent. */
static void fill(struct thumb *thumb, const struct gi_image *image)
{
    double mean[3] = {0}, opacity = 0;
    int n = image->width * image->height, rgba[4];
    thumb->width = image->width;
    thumb->height = image->height;
    for (int i = 0; i < n; i++) {
        read_pixel(rgba, image, i % image->width, i / image->width);
        double alpha = rgba[3] / 255.0;
        for (int c = 0; c < 3; c++)
            mean[c] += alpha / 255 * rgba[c];
        opacity += alpha;
    }
    for (int c = 0; c < 3 && opacity > 0; c++)
        mean[c] /= opacity;
    thumb->alpha = opacity < n;
    for (int i = 0; i < n; i++) {
        double color[3];
        read_pixel(rgba, image, i % image->width, i / image->width);
        double alpha = rgba[3] / 255.0;
        for (int c = 0; c < 3; c++)
            color[c] = mean[c] * (1 - alpha) + alpha / 255 * rgba[c];
        thumb->channels[0][i] = (color[0] + color[1] + color[2]) / 3;
        thumb->channels[1][i] = (color[0] + color[1]) / 2 - color[2];
        thumb->channels[2][i] = color[0] - color[1];
        thumb->channels[3][i] = alpha;
    }
}

static int nearest(double v)
{
    return (int)rint(v);
}

static void put_base64(char *text, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned word = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                        (i + 2 < n ? bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *text++ = i + k > n ? '=' : digits[word >> (18 - 6 * k) & 63];
    }
    *text = '\0';
}

void gi_thumbhash(char text[GI_PLACEHOLDER_TEXT], const struct gi_image *image)
{
    struct thumb *thumb = gi_small_calloc(1, sizeof *thumb);
    struct dct dcts[4];
    uint8_t bytes[8 + 2 * COEFFICIENTS_MAX] = {0};
    fill(thumb, image);
    int w = thumb->width, h = thumb->height, most = thumb->alpha ? 5 : 7, larger = w > h ? w : h;
    int lx = nearest((double)(most * w) / larger), ly = nearest((double)(most * h) / larger);
    lx = lx > 1 ? lx : 1;
    ly = ly > 1 ? ly : 1;
    transform(&dcts[0], thumb, thumb->channels[0], lx > 3 ? lx : 3, ly > 3 ? ly : 3);
    transform(&dcts[1], thumb, thumb->channels[1], 3, 3);
    transform(&dcts[2], thumb, thumb->channels[2], 3, 3);
    transform(&dcts[3], thumb, thumb->channels[3], 5, 5);
    int head = nearest(63 * dcts[0].mean) | nearest(31.5 + 31.5 * dcts[1].mean) << 6 |
               nearest(31.5 + 31.5 * dcts[2].mean) << 12 | nearest(31 * dcts[0].scale) << 18 |
               thumb->alpha << 23;
    int next = (w > h ? ly : lx) | nearest(63 * dcts[1].scale) << 3 |
               nearest(63 * dcts[2].scale) << 9 | (w > h) << 15;
    size_t n = 0;
    for (int shift = 0; shift < 24; shift += 8)
        bytes[n++] = (uint8_t)(head >> shift);
    bytes[n++] = (uint8_t)next;
    bytes[n++] = (uint8_t)(next >> 8);
    if (thumb->alpha)
        bytes[n++] = (uint8_t)(nearest(15 * dcts[3].mean) | nearest(15 * dcts[3].scale) << 4);
    size_t at = 2 * n;
    for (int c = 0; c < 3 + thumb->alpha; c++)
        for (int i = 0; i < dcts[c].n; i++, at++)
            bytes[at / 2] |= (uint8_t)(nearest(15 * dcts[c].rest[i]) << (at % 2 * 4));
    put_base64(text, bytes, (at + 1) / 2);
    free(thumb);
}
