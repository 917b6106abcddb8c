/* The two inner loops of separable filters: along a row and down the rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rows.h"
#include "kernels/cpu/simd.h"

/* Sums are independent chains of fmaf: so many at once hide its latency. */
enum { CHAINS = 8, BLOCK = CHAINS * GI_LANES };

void GI_CPU(row_filter)(float *out, const float *in, size_t n, const float *taps, int ntaps,
                        int step)
{
    size_t x = 0;
    for (; x + BLOCK <= n; x += BLOCK) {
        GI_VEC sum[CHAINS];
        for (int c = 0; c < CHAINS; c++)
            sum[c] = vec_set(0);
        const float *p = in + x;
        for (int i = 0; i < ntaps; i++, p += step) {
            GI_VEC tap = vec_set(taps[i]);
            for (int c = 0; c < CHAINS; c++)
                sum[c] = vec_fma(tap, vec_load(p + c * GI_LANES), sum[c]);
        }
        for (int c = 0; c < CHAINS; c++)
            vec_store(out + x + c * GI_LANES, sum[c]);
    }
    for (; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        const float *p = in + x;
        for (int i = 0; i < ntaps; i++, p += step)
            sum = vec_fma(vec_set(taps[i]), vec_load(p), sum);
        vec_store(out + x, sum);
    }
}

static void column_filter_1(float *out, const float *const *rows, size_t n, const float *taps,
                            int ntaps)
{
    for (size_t x = 0; x < n; x += GI_LANES) {
        GI_VEC sum = vec_set(0);
        for (int j = 0; j < ntaps; j++)
            sum = vec_fma(vec_set(taps[j]), vec_load(rows[j] + x), sum);
        vec_store(out + x, sum);
    }
}

/* COLUMNS vectors of 4 rows: as many sums as the registers hold. */
enum { COLUMNS = GI_LANES == 16 ? 4 : 2, ROWS = GI_ROWS_AT_ONCE };

/* Slot j of the window as it goes into result rows lo to hi - 1; `tap` is that of row 0. */
static inline __attribute__((always_inline)) void column_step(GI_VEC sum[ROWS][COLUMNS],
                                                              const float *row, const float *tap,
                                                              int lo, int hi, int columns)
{
    for (int c = 0; c < columns; c++) {
        GI_VEC v = vec_load(row + c * GI_LANES);
        for (int r = lo; r < hi; r++)
            sum[r][c] = vec_fma(vec_set(tap[-r]), v, sum[r][c]);
    }
}

/* 4 rows of `columns` vectors, for 3 taps or more. */
static inline __attribute__((always_inline)) void column_block(float *out, size_t stride,
                                                               const float *const *rows, size_t x,
                                                               const float *taps, int ntaps,
                                                               int columns)
{
    GI_VEC sum[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++)
            sum[r][c] = vec_set(0);
    column_step(sum, rows[0] + x, taps, 0, 1, columns);
    column_step(sum, rows[1] + x, taps + 1, 0, 2, columns);
    column_step(sum, rows[2] + x, taps + 2, 0, 3, columns);
    for (int j = 3; j < ntaps; j++)
        column_step(sum, rows[j] + x, taps + j, 0, 4, columns);
    column_step(sum, rows[ntaps] + x, taps + ntaps, 1, 4, columns);
    column_step(sum, rows[ntaps + 1] + x, taps + ntaps + 1, 2, 4, columns);
    column_step(sum, rows[ntaps + 2] + x, taps + ntaps + 2, 3, 4, columns);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++)
            vec_store(out + (size_t)r * stride + x + c * GI_LANES, sum[r][c]);
}

void GI_CPU(column_filter)(float *out, size_t stride, int nout, const float *const *rows, size_t n,
                           const float *taps, int ntaps)
{
    if (nout < ROWS || ntaps < ROWS - 1) {
        for (int r = 0; r < nout; r++)
            column_filter_1(out + (size_t)r * stride, rows + r, n, taps, ntaps);
        return;
    }
    size_t x = 0;
    for (; x + COLUMNS * GI_LANES <= n; x += COLUMNS * GI_LANES)
        column_block(out, stride, rows, x, taps, ntaps, COLUMNS);
    for (; x < n; x += GI_LANES)
        column_block(out, stride, rows, x, taps, ntaps, 1);
}
