/* White balance by a factor per channel, which makes the exact means of all channels equal. The
 * means are taken over the image (gray-world assumption), or over a pixel or rectangle that should
 * be gray.
 * SPDX-License-Identifier: MIT */
#include "filters/color/balance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "filters/statistics/exact.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"

/* Reads "X,Y" as a rectangle of one pixel. */
static bool read_point(struct gi_balance *balance, const char *text)
{
    double at[2];
    if (gi_numbers_read(at, 2, text) != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (!(at[i] >= 0 && at[i] <= GI_PIXELS_MAX && at[i] == floor(at[i])))
            return false;
    *balance = (struct gi_balance){GI_BALANCE_RECT, (int)at[0], (int)at[1], 1, 1};
    return true;
}

static bool is_pixels(const struct gi_length *length, double least)
{
    return !gi_length_is_open(length) && !length->percent && length->value >= least &&
           length->value <= GI_PIXELS_MAX;
}

static bool read_rect(struct gi_balance *balance, const char *text)
{
    struct gi_rect rect;
    if (!gi_rect_read(&rect, text) || !rect.placed || !is_pixels(&rect.extent.width, 1) ||
        !is_pixels(&rect.extent.height, 1) || !is_pixels(&rect.x, 0) || !is_pixels(&rect.y, 0))
        return false;
    *balance = (struct gi_balance){GI_BALANCE_RECT, (int)rect.x.value, (int)rect.y.value,
                                   (int)rect.extent.width.value, (int)rect.extent.height.value};
    return true;
}

enum gi_status gi_balance_read(struct gi_balance *balance, const char *text, struct gi_err *err)
{
    if (strcmp(text, "gray") == 0 || strcmp(text, "grey") == 0) {
        *balance = (struct gi_balance){.kind = GI_BALANCE_ALL};
        return GI_OK;
    }
    if (read_point(balance, text) || read_rect(balance, text))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE,
                   "--balance %s: want gray, a pixel X,Y or a rectangle WxH+X+Y in pixels", text);
}

enum gi_status gi_balance_plan(const struct gi_balance *balance, struct gi_plan *plan,
                               struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    if ((uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--balance: %d x %d: want fewer than 2^32 pixels",
                       src->width, src->height);
    if (balance->kind == GI_BALANCE_RECT && ((int64_t)balance->left + balance->width > src->width ||
                                             (int64_t)balance->top + balance->height > src->height))
        return gi_fail(err, GI_E_USAGE, "--balance: %dx%d+%d+%d: want it within the %d x %d pixels",
                       balance->width, balance->height, balance->left, balance->top, src->width,
                       src->height);
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct gi_balance_state);
    plan->cost.other += 4;
    return GI_OK;
}

/* Measures the part of the rectangle that is in `band`. The band begins at row state->rows of the
 * image. */
static enum gi_status measure_rect(const struct gi_balance *balance, struct gi_queue *queue,
                                   struct gi_balance_state *state, const struct gi_image *band,
                                   struct gi_err *err)
{
    int bottom = balance->top + balance->height, end = state->rows + band->height;
    int from = balance->top > state->rows ? balance->top : state->rows;
    int to = bottom < end ? bottom : end;
    struct gi_copy_border window = {.left = balance->left, .top = from - state->rows};
    struct gi_reduce all = {.sums_only = true, .y = from - balance->top};
    struct gi_image part;
    if (from >= to)
        return GI_OK;
    enum gi_status status =
        queue->k->alloc(queue, &part, balance->width, to - from, band->channels, band->type, err);
    if (status)
        return status;
    status = queue->k->copy_border(queue, &part, band, &window, err);
    if (!status)
        status = queue->k->reduce(queue, state->found, &part, &all, err);
    queue->k->release(queue, &part);
    return status;
}

enum gi_status gi_balance_measure(const struct gi_balance *balance, struct gi_queue *queue,
                                  struct gi_balance_state *state, const struct gi_image *band,
                                  struct gi_err *err)
{
    struct gi_reduce opaque = {.sums_only = true, .opaque = true, .y = state->rows};
    enum gi_status status = balance->kind == GI_BALANCE_ALL
                                ? queue->k->reduce(queue, state->found, band, &opaque, err)
                                : measure_rect(balance, queue, state, band, err);
    state->type = band->type;
    state->rows += band->height;
    return status;
}

struct gi_matrix4 gi_balance_matrix(const struct gi_balance_state *state)
{
    struct gi_matrix4 matrix = gi_matrix4_identity();
    double mean[3], gray = 0;
    for (int c = 0; c < 3; c++) {
        const struct gi_reduction *found = &state->found[c];
        int unit = state->type == GI_F32 ? GI_EXACT_SUM : 0;
        mean[c] = found->n ? gi_exact_quotient(&found->sum, unit, found->n) : 0;
        gray += mean[c] / 3;
    }
    for (int c = 0; c < 3; c++)
        if (mean[c] > 0 && gray > 0 && gray / mean[c] < (double)FLT_MAX)
            matrix.m[c][c] = gray / mean[c];
    return matrix;
}
