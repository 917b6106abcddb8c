/* The hash of blockhash.io: sums of blocks, compared with medians. Source: B. Yang, F. Gu and X.
 * Niu, "Block Mean Value Based Image Perceptual Hashing", 2006, as method 2 of blockhash-python.
 *
 * A block is width / n pixels wide, which need not be a whole number. Weights are therefore counted
 * in nths of a pixel, and sums are integers: n * n times those of the source.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/hash_block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/hash.h"

enum { SIDE_MAX = GI_HASH_SIDE_MAX, CELLS = SIDE_MAX * SIDE_MAX, WHITE = 3 * 255 };

/* The one or two blocks, along an axis, to which a pixel belongs, in nths. */
struct share {
    int first, second, of_second;
};

static struct share share_of(int at, int length, int n)
{
    int64_t end = (int64_t)(at + 1) * n % length, first = (int64_t)at * n / length;
    struct share share = {(int)first, (int)first, (int)(end % n)};
    if (end < n && at + 1 < length) /* a border of blocks is within the pixel, or at its end */
        share.second = (int)(((int64_t)at * n + length - 1) / length);
    return share;
}

/* Returns R + G + B. */
static int total(const uint8_t *pixel, int channels)
{
    if (channels % 2 == 0 && pixel[channels - 1] == 0)
        return WHITE;
    return channels < 3 ? 3 * pixel[0] : pixel[0] + pixel[1] + pixel[2];
}

static enum gi_status add_up(int64_t *sums, const struct gi_image *image, int n, struct gi_err *err)
{
    struct share *columns = calloc((size_t)image->width, sizeof *columns);
    if (!columns)
        return gi_fail(err, GI_E_MEMORY, "out of memory: blocks of %d columns", image->width);
    for (int x = 0; x < image->width; x++)
        columns[x] = share_of(x, image->width, n);
    for (int y = 0; y < image->height; y++) {
        const uint8_t *pixel = gi_row(image, y);
        const struct share rows = share_of(y, image->height, n);
        int64_t row[SIDE_MAX] = {0};
        for (int x = 0; x < image->width; x++, pixel += image->channels) {
            const struct share *share = &columns[x];
            int64_t value = total(pixel, image->channels);
            row[share->first] += value * (n - share->of_second);
            row[share->second] += value * share->of_second;
        }
        for (int i = 0; i < n; i++) {
            sums[rows.first * n + i] += row[i] * (n - rows.of_second);
            sums[rows.second * n + i] += row[i] * rows.of_second;
        }
    }
    free(columns);
    return GI_OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns twice the median. */
static int64_t twice_median(const int64_t *sums, int n)
{
    int64_t sorted[CELLS];
    memcpy(sorted, sums, (size_t)n * sizeof *sums);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return sorted[n / 2] + sorted[(n - 1) / 2];
}

enum gi_status gi_hash_block(bool *bits, const struct gi_image *image, int n, struct gi_err *err)
{
    int64_t sums[CELLS] = {0};
    int64_t bright = (int64_t)256 * 3 * image->width * image->height; /* twice half of a block */
    int part = n * n / 4;
    enum gi_status status = add_up(sums, image, n, err);
    for (int first = 0; first < n * n && !status; first += part) {
        int64_t median = twice_median(sums + first, part);
        for (int i = first; i < first + part; i++) {
            int64_t above = 2 * sums[i] - median;
            bool equal = llabs(above) < 2 * n * n;
            bits[i] = above > 0 || (equal && median > bright);
        }
    }
    return status;
}
