/* 3 x 3 operators with integer weights on 8-bit samples (Sobel, Scharr, Prewitt) in 16-bit
 * integers. The results are those of the float definition (kernels/convolution.h), because no sum
 * is rounded there.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/sliding_window.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

enum { BLOCK = GI_SLIDING_BLOCK };

struct operator3 {
    int16_t row[3], col[3]; /* for a gradient magnitude `col` is the smoothing kernel */
    bool absolute;
};

/* Converts taps to integers. Returns the sum of their magnitudes, or 2^15 if they are no
 * integers. */
static int whole_taps(int16_t taps[3], const float *from)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        if (!(fabsf(from[i]) <= 255) || from[i] != rintf(from[i]))
            return 1 << 15;
        taps[i] = (int16_t)from[i];
        sum += abs(taps[i]);
    }
    return sum;
}

static inline int16_t sum3(const int16_t *taps, int16_t a, int16_t b, int16_t c)
{
    return (int16_t)(taps[0] * a + taps[1] * b + taps[2] * c);
}

static inline int16_t max16(int16_t a, int16_t b)
{
    return a > b ? a : b;
}

static inline int16_t min16(int16_t a, int16_t b)
{
    return a < b ? a : b;
}

/* Computes a block of a row. `a` and `b` hold the horizontal sums of the two rows above; `kept`
 * becomes the sums of this row. */
static inline __attribute__((always_inline)) void
filter_block(uint8_t *restrict out, int16_t *restrict kept, const uint8_t *restrict in,
             const int16_t *restrict a, const int16_t *restrict b, size_t step,
             const struct operator3 op)
{
    int16_t sign = op.absolute ? -1 : 0;
    for (size_t x = 0; x < BLOCK; x++) {
        int16_t c = sum3(op.row, in[x], in[x + step], in[x + 2 * step]);
        int16_t v = sum3(op.col, a[x], b[x], c);
        kept[x] = c;
        out[x] = (uint8_t)min16(max16(v, (int16_t)(v * sign)), 255);
    }
}

/* Computes a block of the gradient magnitude. What a row keeps alternates between blocks of
 * differences and blocks of smoothed samples. */
static inline __attribute__((always_inline)) void
gradient_block(uint8_t *restrict out, int16_t *restrict kept, const uint8_t *restrict in,
               const int16_t *restrict a, const int16_t *restrict b, size_t step,
               const struct operator3 op)
{
    float f[BLOCK];
    for (size_t x = 0; x < BLOCK; x++) {
        int16_t d = sum3(op.row, in[x], in[x + step], in[x + 2 * step]);
        int16_t s = sum3(op.col, in[x], in[x + step], in[x + 2 * step]);
        int gx = sum3(op.col, a[x], b[x], d);
        int gy = sum3(op.row, a[BLOCK + x], b[BLOCK + x], s);
        kept[x] = d;
        kept[BLOCK + x] = s;
        f[x] = sqrtf((float)(gx * gx + gy * gy));
    }
    for (size_t x = 0; x < BLOCK; x += GI_LANES)
        vec_store_u8(out + x, vec_load(f + x));
}

typedef void block_fn(uint8_t *restrict out, int16_t *restrict kept, const uint8_t *restrict in,
                      const int16_t *restrict a, const int16_t *restrict b, size_t step,
                      const struct operator3 op);

/* Calls `block` for each block of the rows, which keep `planes` numbers per sample. */
static inline __attribute__((always_inline)) void
each_block(const struct gi_sliding_window *sliding_window, const struct gi_sliding_rows *rows,
           size_t n, const struct operator3 op, size_t planes, block_fn *block)
{
    size_t step = (size_t)sliding_window->src->channels;
    for (size_t x = 0; x < n; x += BLOCK) {
        const int16_t *a = (const int16_t *)rows->above[0] + planes * x;
        const int16_t *b = (const int16_t *)rows->above[1] + planes * x;
        gi_sliding_window_prefetch(rows, x);
        for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
            int16_t *kept = (int16_t *)rows->kept[r] + planes * x;
            block((uint8_t *)rows->out[r] + x, kept, (const uint8_t *)rows->in[r] + x, a, b, step,
                  op);
            a = b;
            b = kept;
        }
    }
}

/* Variants: without the middle tap along rows, without it down columns, and with all taps. */
static void filter_x(const struct gi_sliding_window *sliding_window,
                     const struct gi_sliding_rows *rows, size_t n)
{
    struct operator3 op = *(const struct operator3 *)sliding_window->spec;
    op.row[1] = 0;
    each_block(sliding_window, rows, n, op, 1, filter_block);
}

static void filter_y(const struct gi_sliding_window *sliding_window,
                     const struct gi_sliding_rows *rows, size_t n)
{
    struct operator3 op = *(const struct operator3 *)sliding_window->spec;
    op.col[1] = 0;
    each_block(sliding_window, rows, n, op, 1, filter_block);
}

static void filter_any(const struct gi_sliding_window *sliding_window,
                       const struct gi_sliding_rows *rows, size_t n)
{
    each_block(sliding_window, rows, n, *(const struct operator3 *)sliding_window->spec, 1,
               filter_block);
}

static void gradient_rows(const struct gi_sliding_window *sliding_window,
                          const struct gi_sliding_rows *rows, size_t n)
{
    struct operator3 op = *(const struct operator3 *)sliding_window->spec;
    memcpy(op.row, (const int16_t[3]){-1, 0, 1}, sizeof op.row);
    each_block(sliding_window, rows, n, op, 2, gradient_block);
}

static bool is_plain_u8(const struct gi_image *src, const struct gi_border_spec *border)
{
    return src->type == GI_U8 && !gi_has_alpha(src) && GI_CPU(border_is_whole)(border, src);
}

bool GI_CPU(separable_whole_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                   const struct gi_separable *spec)
{
    struct operator3 op;
    return is_plain_u8(src, &spec->border) && spec->nrow == 3 && spec->ncol == 3 &&
           !GI_EPILOGUE_COMPARES(spec->epilogue.kind) && spec->epilogue.bias == 0 &&
           255LL * whole_taps(op.row, spec->row) <= INT16_MAX &&
           255LL * whole_taps(op.row, spec->row) * whole_taps(op.col, spec->col) <= INT16_MAX;
}

enum gi_status GI_CPU(separable_whole)(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_separable *spec,
                                       struct gi_err *err)
{
    struct operator3 op = {.absolute = spec->epilogue.kind == GI_EPILOGUE_ABS};
    whole_taps(op.row, spec->row);
    whole_taps(op.col, spec->col);
    struct gi_sliding_window sliding_window = {.dst = dst,
                                               .src = src,
                                               .border = &spec->border,
                                               .spec = &op,
                                               .left = spec->row_anchor,
                                               .right = 2 - spec->row_anchor,
                                               .above = spec->col_anchor,
                                               .nrows = 3,
                                               .kept_nbytes = sizeof(int16_t),
                                               .step = op.row[1] == 0   ? filter_x
                                                       : op.col[1] == 0 ? filter_y
                                                                        : filter_any};
    return GI_CPU(sliding_window)(queue, &sliding_window, err);
}

/* Accepts gradients up to 2^12, for which gy * gy is exact in float, so that both implementations
 * round the sum of the two squares only once. */
bool GI_CPU(gradient_magnitude_whole_takes)(const struct gi_queue *queue,
                                            const struct gi_image *src,
                                            const struct gi_gradient_magnitude *spec)
{
    int16_t smooth[3];
    return is_plain_u8(src, &spec->border) &&
           2 * 255LL * whole_taps(smooth, spec->smooth) <= 1 << 12;
}

enum gi_status GI_CPU(gradient_magnitude_whole)(struct gi_queue *queue, struct gi_image *dst,
                                                const struct gi_image *src,
                                                const struct gi_gradient_magnitude *spec,
                                                struct gi_err *err)
{
    struct operator3 op = {0};
    whole_taps(op.col, spec->smooth);
    struct gi_sliding_window sliding_window = {.dst = dst,
                                               .src = src,
                                               .border = &spec->border,
                                               .spec = &op,
                                               .left = 1,
                                               .right = 1,
                                               .above = 1,
                                               .nrows = 3,
                                               .kept_nbytes = 2 * sizeof(int16_t),
                                               .step = gradient_rows};
    return GI_CPU(sliding_window)(queue, &sliding_window, err);
}
