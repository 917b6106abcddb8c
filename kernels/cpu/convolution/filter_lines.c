/* The two inner loops of separable convolution: along a row, and down the rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/common/blocks.h"

/* Sums are independent chains of fmaf. Several chains at once hide the latency of fmaf. A NEON
 * vector is two chains, and more than 12 chains would leave no registers for operands. */
#if GI_LEVEL_neon
enum { CHAINS = 6 };
#else
enum { CHAINS = 8 };
#endif
enum { BLOCK = CHAINS * GI_LANES };

static inline void add_block(float *out, GI_VEC *carry, GI_VEC sum)
{
    vec_store(out, vec_add_block(vec_load(out), carry, sum));
}

static inline __attribute__((always_inline)) void
row_chains(GI_VEC *sum, const float *p, const float *taps, int ntaps, int step, int chains)
{
    for (int c = 0; c < chains; c++)
        sum[c] = vec_set(0);
    for (int i = 0; i < ntaps; i++, p += step) {
        GI_VEC tap = vec_set(taps[i]);
        for (int c = 0; c < chains; c++)
            sum[c] = vec_fma(tap, vec_load(p + c * GI_LANES), sum[c]);
    }
}

/* Computes `chains` vectors of a row. `one_block`, a constant, is true if there is only one block
 * of taps. */
static inline __attribute__((always_inline)) void row_block(float *out, const float *p,
                                                            const float *taps, int ntaps, int step,
                                                            int chains, bool one_block)
{
    GI_VEC sum[CHAINS], carry[CHAINS];
    row_chains(sum, p, taps, one_block ? ntaps : GI_TAPS_BLOCK, step, chains);
    for (int c = 0; c < chains; c++) {
        vec_store(out + c * GI_LANES, sum[c]);
        carry[c] = vec_set(0);
    }
    for (int i = GI_TAPS_BLOCK; !one_block && i < ntaps; i += GI_TAPS_BLOCK) {
        row_chains(sum, p + (size_t)i * (size_t)step, taps + i, taps_of_block(ntaps, i), step,
                   chains);
        for (int c = 0; c < chains; c++)
            add_block(out + c * GI_LANES, &carry[c], sum[c]);
    }
}

GI_PER_KIND void row_blocks(float *out, const float *in, size_t n, const float *taps, int ntaps,
                            int step, bool one_block)
{
    size_t x = 0;
    for (; x + BLOCK <= n; x += BLOCK)
        row_block(out + x, in + x, taps, ntaps, step, CHAINS, one_block);
    for (; x < n; x += GI_LANES)
        row_block(out + x, in + x, taps, ntaps, step, 1, one_block);
}

void GI_CPU(row_filter)(float *out, const float *in, size_t n, const float *taps, int ntaps,
                        int step)
{
    if (ntaps == 3)
        row_blocks(out, in, n, taps, 3, step, true);
    else if (ntaps == 5)
        row_blocks(out, in, n, taps, 5, step, true);
    else if (ntaps <= GI_TAPS_BLOCK)
        row_blocks(out, in, n, taps, ntaps, step, true);
    else
        row_blocks(out, in, n, taps, ntaps, step, false);
}

static inline GI_VEC column_chain(const float *const *rows, size_t x, const float *taps, int ntaps)
{
    GI_VEC sum = vec_set(0);
    for (int j = 0; j < ntaps; j++)
        sum = vec_fma(vec_set(taps[j]), vec_load(rows[j] + x), sum);
    return sum;
}

static void column_filter_1(float *out, const float *const *rows, size_t n, const float *taps,
                            int ntaps)
{
    for (size_t x = 0; x < n; x += GI_LANES) {
        GI_VEC carry = vec_set(0);
        vec_store(out + x, column_chain(rows, x, taps, taps_of_block(ntaps, 0)));
        for (int j = GI_TAPS_BLOCK; j < ntaps; j += GI_TAPS_BLOCK)
            add_block(out + x, &carry,
                      column_chain(rows + j, x, taps + j, taps_of_block(ntaps, j)));
    }
}

/* A block is COLUMNS vectors in 4 rows: as many sums as registers can hold. */
enum { COLUMNS = GI_LANES == 16 ? 4 : 2, ROWS = GI_ROWS_AT_ONCE };

/* Adds source row j of the block to result rows lo to hi - 1; `tap` is the tap for result row 0. */
static inline __attribute__((always_inline)) void column_step(GI_VEC sum[ROWS][COLUMNS],
                                                              const float *row, const float *tap,
                                                              int lo, int hi, int columns)
{
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
        GI_VEC v = vec_load(row + c * GI_LANES);
#pragma GCC unroll 4
        for (int r = lo; r < hi; r++)
            sum[r][c] = vec_fma(vec_set(tap[-r]), v, sum[r][c]);
    }
}

/* Computes sums of at least 3 taps, for 4 rows of `columns` vectors. */
static inline __attribute__((always_inline)) void column_chains(GI_VEC sum[ROWS][COLUMNS],
                                                                const float *const *rows, size_t x,
                                                                const float *taps, int ntaps,
                                                                int columns)
{
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
}

/* The same for any number of taps. */
static inline __attribute__((always_inline)) void column_block(GI_VEC sum[ROWS][COLUMNS],
                                                               const float *const *rows, size_t x,
                                                               const float *taps, int ntaps,
                                                               int columns)
{
    if (ntaps >= ROWS - 1)
        column_chains(sum, rows, x, taps, ntaps, columns);
    else
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < columns; c++)
                sum[r][c] = column_chain(rows + r, x + (size_t)c * GI_LANES, taps, ntaps);
}

/* Computes 4 rows of `columns` vectors with at least 3 taps. `one_block`, a constant, is true if
 * there is only one block of taps. */
static inline __attribute__((always_inline)) void column_rows(float *out, size_t stride,
                                                              const float *const *rows, size_t x,
                                                              const float *taps, int ntaps,
                                                              int columns, bool one_block)
{
    GI_VEC sum[ROWS][COLUMNS], carry[ROWS][COLUMNS];
    column_chains(sum, rows, x, taps, one_block ? ntaps : GI_TAPS_BLOCK, columns);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c++) {
            vec_store(out + (size_t)r * stride + x + c * GI_LANES, sum[r][c]);
            carry[r][c] = vec_set(0);
        }
    for (int j = GI_TAPS_BLOCK; !one_block && j < ntaps; j += GI_TAPS_BLOCK) {
        column_block(sum, rows + j, x, taps + j, taps_of_block(ntaps, j), columns);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < columns; c++)
                add_block(out + (size_t)r * stride + x + c * GI_LANES, &carry[r][c], sum[r][c]);
    }
}

GI_PER_KIND void column_blocks(float *out, size_t stride, const float *const *rows, size_t n,
                               const float *taps, int ntaps, bool one_block)
{
    size_t x = 0;
    for (; x + COLUMNS * GI_LANES <= n; x += COLUMNS * GI_LANES)
        column_rows(out, stride, rows, x, taps, ntaps, COLUMNS, one_block);
    for (; x < n; x += GI_LANES)
        column_rows(out, stride, rows, x, taps, ntaps, 1, one_block);
}

void GI_CPU(column_filter)(float *out, size_t stride, int nout, const float *const *rows, size_t n,
                           const float *taps, int ntaps)
{
    if (nout < ROWS || ntaps < ROWS - 1)
        for (int r = 0; r < nout; r++)
            column_filter_1(out + (size_t)r * stride, rows + r, n, taps, ntaps);
    else if (ntaps == 3)
        column_blocks(out, stride, rows, n, taps, 3, true);
    else if (ntaps == 5)
        column_blocks(out, stride, rows, n, taps, 5, true);
    else if (ntaps <= GI_TAPS_BLOCK)
        column_blocks(out, stride, rows, n, taps, ntaps, true);
    else
        column_blocks(out, stride, rows, n, taps, ntaps, false);
}
