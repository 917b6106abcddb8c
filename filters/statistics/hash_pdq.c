/* The PDQ hash: the lowest 16 x 16 coefficients of a DCT of 64 x 64 pixels, compared with their
 * median. Source: "The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm", 2019,
 * hashing.pdf of github.com/facebook/ThreatExchange. All sums are in float32 in the order of that
 * repository's pdq/cpp, so that rounding decides ties in the same way; luma is in double, as in the
 * Python package pdqhash.
 *
 * The image is filtered by a box along the rows and one along the columns, and by both a second
 * time, then 64 x 64 of its pixels are taken. Rows pass through the filters one after the other, so
 * that memory holds only the rows of one box, and behind the second filter only 64 columns:
 *
 *     row -> box along it -> box of rows -> box along it -> 64 columns -> box of rows -> 64 rows
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/hash_pdq.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, LOW = GI_HASH_PDQ_SIDE, BITS = LOW * LOW, SHORTEST = 5, QUALITY_MAX = 100 };

/* A box filter on `n` samples. Output i is the mean of the `window` inputs that end before
 * i + ahead, of which those outside the image do not count. */
struct box {
    int n, window, ahead;
};

/* A box filter along the columns of rows that come one after the other. */
struct columns {
    struct box box;
    int width, y;      /* number of rows so far */
    float *sums, *out; /* `width` of each */
    float *rows;       /* ring buffer of the last box.window rows, at first 0 */
};

/* The reduced image. */
struct small {
    float pixels[SIDE][SIDE];
    int height; /* of the image that is reduced */
    int nrows;  /* rows of `pixels` so far */
};

static struct box box_of(int n)
{
    int window = (n - 1) / (2 * SIDE) + 1;
    return (struct box){n, window, window / 2 + 1};
}

static float count(const struct box *box, int i)
{
    int end = i + box->ahead, first = end - box->window;
    return (float)((end < box->n ? end : box->n) - (first > 0 ? first : 0));
}

/* Returns which of `n` samples is at the centre of the i-th of SIDE equal parts. */
static int centre(int i, int n)
{
    return (int)((int64_t)(2 * i + 1) * n / (2 * SIDE));
}

static void luma(float *row, const uint8_t *pixel, int width, int channels)
{
    int green = channels < 3 ? 0 : 1;
    for (int x = 0; x < width; x++, pixel += channels)
        row[x] = (float)(0.299 * pixel[0] + 0.587 * pixel[green] + 0.114 * pixel[2 * green]);
}

static void filter_row(float *to, const float *from, const struct box *box)
{
    float sum = 0;
    for (int i = 1 - box->ahead; i < box->n; i++) {
        int last = i + box->ahead - 1, gone = last - box->window;
        if (last < box->n)
            sum += from[last];
        if (gone >= 0)
            sum -= from[gone];
        if (i >= 0)
            to[i] = sum / count(box, i);
    }
}

/* Takes the next row, which is NULL behind the last one, and returns the filtered row that it
 * completes, if any. Zeros outside the image change no sum. */
static const float *next_row(struct columns *columns, const float *row)
{
    const struct box *box = &columns->box;
    float *gone = columns->rows + (size_t)(columns->y % box->window) * (size_t)columns->width;
    int i = ++columns->y - box->ahead;
    float n = i < 0 ? 1 : count(box, i);
    for (int x = 0; x < columns->width; x++) {
        float value = row ? row[x] : 0;
        float sum = columns->sums[x] + value;
        columns->sums[x] = sum - gone[x];
        gone[x] = value;
        columns->out[x] = columns->sums[x] / n;
    }
    return i < 0 ? NULL : columns->out;
}

/* Passes a row of SIDE pixels, or NULL behind the last one, through the last filter. */
static void add_row(struct small *small, struct columns *columns, const float *row)
{
    const float *filtered = next_row(columns, row);
    int y = columns->y - columns->box.ahead;
    while (filtered && small->nrows < SIDE && centre(small->nrows, small->height) == y)
        memcpy(small->pixels[small->nrows++], filtered, sizeof *small->pixels);
}

static void filter(struct small *small, const struct gi_image *image, struct columns *first,
                   struct columns *second, float *row, float *filtered)
{
    const struct box across = box_of(image->width);
    int behind = first->box.ahead - 1;
    float picked[SIDE];
    for (int y = 0; y < image->height + behind; y++) {
        if (y < image->height) {
            luma(row, gi_row(image, y), image->width, image->channels);
            filter_row(filtered, row, &across);
        }
        const float *once = next_row(first, y < image->height ? filtered : NULL);
        if (!once)
            continue;
        filter_row(row, once, &across);
        for (int i = 0; i < SIDE; i++)
            picked[i] = row[centre(i, image->width)];
        add_row(small, second, picked);
    }
    for (int i = 0; i < behind; i++)
        add_row(small, second, NULL);
}

static enum gi_status reduce(struct small *small, const struct gi_image *image, struct gi_err *err)
{
    const struct box box = box_of(image->height);
    size_t width = (size_t)image->width, nrows = (size_t)box.window;
    float *memory = calloc((4 + nrows) * width + (2 + nrows) * SIDE, sizeof *memory), *at = memory;
    if (!memory)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu rows of %zu pixels", nrows, width);
    struct columns first = {.box = box, .width = image->width},
                   second = {.box = box, .width = SIDE};
    for (struct columns *columns = &first; columns; columns = columns == &first ? &second : NULL) {
        columns->sums = at;
        columns->out = at + columns->width;
        columns->rows = columns->out + columns->width;
        at = columns->rows + nrows * (size_t)columns->width;
    }
    filter(small, image, &first, &second, at, at + width);
    free(memory);
    return GI_OK;
}

/* Returns the sum of the differences of neighbours, in whole hundredths of the full scale, up to a
 * factor. */
static int quality_of(const struct small *small)
{
    int sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float value = small->pixels[y][x];
            if (y + 1 < SIDE)
                sum += abs((int)((value - small->pixels[y + 1][x]) * 100 / 255));
            if (x + 1 < SIDE)
                sum += abs((int)((value - small->pixels[y][x + 1]) * 100 / 255));
        }
    return sum / 90 < QUALITY_MAX ? sum / 90 : QUALITY_MAX;
}

/* The DCT-II of frequencies 1 to LOW, down the columns and then along the rows. */
static void transform(float low[BITS], const struct small *small)
{
    static const double PI = 3.14159265358979323846;
    const float scale = (float)sqrt(2.0 / SIDE);
    float matrix[LOW][SIDE], half[LOW][SIDE];
    for (int i = 0; i < LOW; i++)
        for (int k = 0; k < SIDE; k++)
            matrix[i][k] = (float)(scale * cos(PI / 2 / SIDE * (i + 1) * (2 * k + 1)));
    for (int i = 0; i < LOW; i++)
        for (int x = 0; x < SIDE; x++) {
            half[i][x] = 0;
            for (int k = 0; k < SIDE; k++)
                half[i][x] += matrix[i][k] * small->pixels[k][x];
        }
    for (int i = 0; i < LOW; i++)
        for (int j = 0; j < LOW; j++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += half[i][k] * matrix[j][k];
            low[i * LOW + j] = sum;
        }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

enum gi_status gi_hash_pdq(bool *bits, int *quality, const struct gi_image *image,
                           struct gi_err *err)
{
    struct small small = {.height = image->height};
    float low[BITS], sorted[BITS];
    enum gi_status status = GI_OK;
    memset(bits, 0, BITS * sizeof *bits);
    *quality = 0;
    if (image->width < SHORTEST || image->height < SHORTEST)
        return GI_OK;
    if (image->width == SIDE && image->height == SIDE)
        for (int y = 0; y < SIDE; y++)
            luma(small.pixels[y], gi_row(image, y), SIDE, image->channels);
    else
        status = reduce(&small, image, err);
    if (status)
        return status;
    *quality = quality_of(&small);
    transform(low, &small);
    memcpy(sorted, low, sizeof sorted);
    qsort(sorted, BITS, sizeof *sorted, by_value);
    for (int i = 0; i < BITS; i++) /* the median is the lower one of the two in the middle */
        bits[BITS - 1 - i] = low[i] > sorted[BITS / 2 - 1];
    return GI_OK;
}
