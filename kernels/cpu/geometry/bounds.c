/* Bounding box of the pixels that differ from one colour. Uniform rows are skipped as a whole; in
 * other rows the first and the last pixel that differ are searched.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/pixel_bytes.h"
#include "kernels/geometry.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { CHUNK = 64 /* pixels */ };

struct bounds_work {
    const struct gi_image *src;
    float pixel[GI_MAX_CHANNELS]; /* premultiplied if there is alpha */
    float limit[GI_MAX_CHANNELS];
    int *left, *right; /* one entry per row; left > right if no pixel differs */
};

static inline bool chunk_differs(const struct bounds_work *work, const char *row, size_t x,
                                 size_t n, enum gi_type type, int channels)
{
    bool alpha = channels == 2 || channels == 4;
    int differs = 0;
    for (size_t i = x; i < x + n; i++) {
        float a = alpha ? (float)gi_sample(row, (i + 1) * (size_t)channels - 1, type) : 1;
        for (int c = 0; c < channels; c++) {
            float s = (float)gi_sample(row, i * (size_t)channels + (size_t)c, type);
            s = alpha && c < channels - 1 ? s * a : s;
            differs |= !(fabsf(s - work->pixel[c]) <= work->limit[c]);
        }
    }
    return differs;
}

static bool differs(const struct bounds_work *work, const char *row, size_t x, size_t n)
{
    enum gi_type type = work->src->type;
    int channels = work->src->channels;
    if (type == GI_U8 && channels == 1)
        return chunk_differs(work, row, x, n, GI_U8, 1);
    if (type == GI_U8 && channels == 3)
        return chunk_differs(work, row, x, n, GI_U8, 3);
    if (type == GI_U8 && channels == 4)
        return chunk_differs(work, row, x, n, GI_U8, 4);
    if (type == GI_U16)
        return chunk_differs(work, row, x, n, GI_U16, channels);
    return chunk_differs(work, row, x, n, type, channels);
}

static void find_ends(void *arg, int y, void *scratch)
{
    const struct bounds_work *work = arg;
    const char *row = gi_row(work->src, y);
    size_t width = (size_t)work->src->width, x = 0, end = width;
    work->left[y] = INT_MAX;
    work->right[y] = 0;
    while (x < width && !differs(work, row, x, width - x < CHUNK ? width - x : CHUNK))
        x += CHUNK;
    if (x >= width)
        return;
    while (!differs(work, row, x, 1))
        x++;
    for (size_t n; end > x; end -= n) {
        n = end - x < CHUNK ? end - x : CHUNK;
        if (differs(work, row, end - n, n))
            break;
    }
    while (!differs(work, row, end - 1, 1))
        end--;
    work->left[y] = (int)x;
    work->right[y] = (int)end;
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_bounds *bounds,
                              const struct gi_image *src, const struct gi_bounds_spec *spec,
                              struct gi_err *err)
{
    size_t height = (size_t)src->height;
    int *ends = malloc(2 * height * sizeof *ends), last = src->channels - 1;
    struct bounds_work work = {.src = src, .left = ends, .right = ends + height};
    if (!ends)
        return gi_fail(err, GI_E_MEMORY, "out of memory: bounds");
    for (int c = 0; c < src->channels; c++) {
        bool weighed = gi_has_alpha(src) && c < last;
        work.pixel[c] = weighed ? spec->pixel[c] * spec->pixel[last] : spec->pixel[c];
        work.limit[c] = weighed ? spec->tolerance * gi_type_full_scale(src->type) : spec->tolerance;
    }
    enum gi_status status = gi_pool_run(gi_cpu_pool(queue), src->height, find_ends, &work, 0, err);
    *bounds = (struct gi_bounds){.left = INT_MAX, .top = INT_MAX};
    for (int y = 0; y < src->height && !status; y++) {
        if (work.left[y] >= work.right[y])
            continue;
        bounds->left = work.left[y] < bounds->left ? work.left[y] : bounds->left;
        bounds->right = work.right[y] > bounds->right ? work.right[y] : bounds->right;
        bounds->top = y < bounds->top ? y : bounds->top;
        bounds->bottom = y + 1;
    }
    if (bounds->bottom == 0)
        *bounds = (struct gi_bounds){0};
    free(ends);
    return status;
}

GI_CPU_ONE_WAY(bounds, "rows", by_rows);
