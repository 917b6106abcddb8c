/* Convolution with any 2-D kernel. The ring buffer holds padded source rows; each result is one sum
 * over all weights.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/convolution.h"

/* A block is COLUMNS vectors in 4 rows: as many sums as registers can hold. */
enum { COLUMNS = GI_LANES == 16 ? 4 : 2, ROWS = GI_ROWS_AT_ONCE };

/* Adds one source row to result rows lo to hi - 1. For result row 0 it is multiplied by weights[0
 * .. width), for each further result row by the previous row of weights. */
static inline __attribute__((always_inline)) void dense_step(GI_VEC sum[ROWS][COLUMNS],
                                                             const float *p, const float *weights,
                                                             int width, int step, int lo, int hi,
                                                             int columns)
{
    for (int i = 0; i < width; i++, p += step)
        for (int c = 0; c < columns; c++) {
            GI_VEC v = vec_load(p + c * GI_LANES);
            for (int r = lo; r < hi; r++)
                sum[r][c] = vec_fma(vec_set(weights[i - r * width]), v, sum[r][c]);
        }
}

/* Computes 4 rows of `columns` vectors, for a kernel of at least 3 rows. */
static inline __attribute__((always_inline)) void dense_block(float *f, size_t stride,
                                                              const float *const *rows, size_t x,
                                                              const struct gi_dense *spec, int step,
                                                              int columns)
{
    int w = spec->width, h = spec->height;
    const float *weights = spec->weights;
    GI_VEC sum[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++)
            sum[r][c] = vec_set(0);
    dense_step(sum, rows[0] + x, weights, w, step, 0, 1, columns);
    dense_step(sum, rows[1] + x, weights + w, w, step, 0, 2, columns);
    dense_step(sum, rows[2] + x, weights + 2 * w, w, step, 0, 3, columns);
    for (int j = 3; j < h; j++)
        dense_step(sum, rows[j] + x, weights + j * w, w, step, 0, 4, columns);
    weights += h * w;
    dense_step(sum, rows[h] + x, weights, w, step, 1, 4, columns);
    dense_step(sum, rows[h + 1] + x, weights + w, w, step, 2, 4, columns);
    dense_step(sum, rows[h + 2] + x, weights + 2 * w, w, step, 3, 4, columns);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++)
            vec_store(f + (size_t)r * stride + x + c * GI_LANES, sum[r][c]);
}

static void filter_rows_1(const struct gi_sweep *sweep, float *f, const float *const *rows,
                          size_t n)
{
    const struct gi_dense *spec = sweep->spec;
    int step = sweep->src->channels;
    for (size_t x = 0; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        const float *weight = spec->weights;
        for (int j = 0; j < spec->height; j++) {
            const float *p = rows[j] + x;
            for (int i = 0; i < spec->width; i++, p += step)
                sum = vec_fma(vec_set(*weight++), vec_load(p), sum);
        }
        vec_store(f + x, sum);
    }
}

static void filter_rows(const struct gi_sweep *sweep, float *f, size_t stride, int nout,
                        const float *const *rows, size_t n)
{
    const struct gi_dense *spec = sweep->spec;
    int step = sweep->src->channels;
    if (nout < ROWS || spec->height < ROWS - 1) {
        for (int r = 0; r < nout; r++)
            filter_rows_1(sweep, f + (size_t)r * stride, rows + r, n);
        return;
    }
    size_t x = 0;
    for (; x + COLUMNS * GI_LANES <= n; x += COLUMNS * GI_LANES)
        dense_block(f, stride, rows, x, spec, step, COLUMNS);
    for (; x < n; x += GI_LANES)
        dense_block(f, stride, rows, x, spec, step, 1);
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_dense *spec,
                              struct gi_err *err)
{
    struct gi_sweep sweep = {.dst = dst,
                             .src = src,
                             .border = &spec->border,
                             .epilogue = spec->epilogue,
                             .alpha = gi_has_alpha(src) ? spec->alpha : GI_ALPHA_PLAIN,
                             .inverse_sum = 1.0f / spec->sum,
                             .spec = spec,
                             .left = spec->anchor_x,
                             .right = spec->width - 1 - spec->anchor_x,
                             .above = spec->anchor_y,
                             .nrows = spec->height,
                             .filter_rows = filter_rows};
    return GI_CPU(sweep)(queue, &sweep, err);
}

GI_CPU_ONE_WAY(convolve_2d, "rows", by_rows);
