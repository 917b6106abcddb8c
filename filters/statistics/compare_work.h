/* What the metrics of a comparison share. Each metric runs rows of two images on all CPU threads,
 * on the host in double precision, with the same bytes whatever the device. Each row has its own
 * sums, which are then added from the top down, so that the result does not depend on the number of
 * threads.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/compare.h"
#include "kernels/kernels.h"

/* Samples of a row that are processed at once, a constant so that loops vectorise. It exceeds the
 * samples by which an SSIM window extends past its first one. */
enum { GI_COMPARE_PIECE = 256 };

/* Two host images of the same shape and type, and where they differ. */
struct gi_compare_work {
    const struct gi_image *a, *b;
    const struct gi_compare_rules *rules;
    /* a byte per pixel, row by row: 1 if the pixel is not compared; NULL: all are compared */
    const uint8_t *ignored;
    /* `npieces` bytes per row: 0 if all samples of the piece are equal and finite */
    uint8_t *differs;
    size_t npieces;
    struct gi_queue *queue;
};

/* Returns the row of work->ignored, or NULL. */
static inline const uint8_t *gi_compare_ignored_row(const struct gi_compare_work *work, int y)
{
    return work->ignored ? work->ignored + (size_t)y * (size_t)work->a->width : NULL;
}

/* Returns the number of samples of a piece of a row, of which the last one may be shorter. */
static inline size_t gi_compare_piece(const struct gi_compare_work *work, size_t at)
{
    size_t left = gi_row_samples(work->a) - at;
    return left < GI_COMPARE_PIECE ? left : GI_COMPARE_PIECE;
}

/* Returns the first pixel of row y, from pixel x on, that is compared and in a piece that differs;
 * the width if there is none. */
static inline size_t gi_compare_next(const struct gi_compare_work *work, int y, size_t x)
{
    const uint8_t *ignored = gi_compare_ignored_row(work, y);
    const uint8_t *differs = work->differs + (size_t)y * work->npieces;
    size_t width = (size_t)work->a->width, channels = (size_t)work->a->channels;
    while (x < width) {
        size_t first = x * channels / GI_COMPARE_PIECE;
        size_t last = (x * channels + channels - 1) / GI_COMPARE_PIECE;
        size_t after = (first + 1) * GI_COMPARE_PIECE / channels; /* in the next piece, in part */
        if (!differs[first] && !differs[last])
            x = after > x ? after : x + 1;
        else if (ignored && ignored[x])
            x++;
        else
            return x;
    }
    return width;
}

/* Allocates work->differs and sets work->npieces. The caller frees the memory. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_compare_pieces(struct gi_compare_work *work, struct gi_err *err);
/* Fills a row of work->differs. */
void gi_compare_mark(const struct gi_compare_work *work, int y);

/* Fills work->differs, and adds to samples, differing, max and, unless it is NAN, the sum of
 * squares in mse of the channels. Errors: GI_E_MEMORY. */
enum gi_status gi_compare_differences(struct gi_comparison *result,
                                      const struct gi_compare_work *work, struct gi_err *err);
/* Sets ssim and ms_ssim of the result and of its channels, those that are asked. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_compare_similarities(struct gi_comparison *result,
                                       const struct gi_compare_work *work, struct gi_err *err);
/* Sets ciede2000 and ciede2000_max of the result, whose numbers of samples are set. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_compare_colors(struct gi_comparison *result, const struct gi_compare_work *work,
                                 struct gi_err *err);
/* Sets ssimulacra2 of the result. Errors: GI_E_MEMORY. */
enum gi_status gi_compare_ssimulacra2(struct gi_comparison *result,
                                      const struct gi_compare_work *work, struct gi_err *err);
/* Sets pixelmatch and antialiased of the result. Errors: GI_E_MEMORY. */
enum gi_status gi_compare_pixelmatch(struct gi_comparison *result,
                                     const struct gi_compare_work *work, struct gi_err *err);
