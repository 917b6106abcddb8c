/* 3 x 3 operators with whole weights on 8 bits (Sobel, Scharr, Prewitt), in 16-bit integers: they
 * give what kernels.h defines in float, since no sum is rounded there.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/march.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/small.h"

enum { BLOCK = GI_MARCH_BLOCK };

struct operator3 {
    int16_t row[3], col[3]; /* of a gradient: the difference, the smoothing */
    bool absolute;
};

/* The taps as integers; returns the sum of their magnitudes, 2^15 where they are not whole. */
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

/* One row: `a` and `b` are the sums along the two rows above, `kept` becomes this one's. */
static inline __attribute__((always_inline)) void
filter_row(uint8_t *restrict out, int16_t *restrict kept, const uint8_t *restrict in,
           const int16_t *restrict a, const int16_t *restrict b, size_t n, size_t step,
           const struct operator3 op)
{
    int16_t sign = op.absolute ? -1 : 0;
    for (size_t x = 0; x < n; x++) {
        int16_t c = sum3(op.row, in[x], in[x + step], in[x + 2 * step]);
        int16_t v = sum3(op.col, a[x], b[x], c);
        kept[x] = c;
        out[x] = (uint8_t)min16(max16(v, (int16_t)(v * sign)), 255);
    }
}

/* Without the middle tap along the row, down the column, or with all. */
static void filter_x(uint8_t *out, int16_t *kept, const uint8_t *in, const int16_t *a,
                     const int16_t *b, size_t n, size_t step, struct operator3 op)
{
    op.row[1] = 0;
    filter_row(out, kept, in, a, b, n, step, op);
}

static void filter_y(uint8_t *out, int16_t *kept, const uint8_t *in, const int16_t *a,
                     const int16_t *b, size_t n, size_t step, struct operator3 op)
{
    op.col[1] = 0;
    filter_row(out, kept, in, a, b, n, step, op);
}

static void filter_any(uint8_t *out, int16_t *kept, const uint8_t *in, const int16_t *a,
                       const int16_t *b, size_t n, size_t step, struct operator3 op)
{
    filter_row(out, kept, in, a, b, n, step, op);
}

static void filter_rows(const struct gi_march *march, const struct gi_march_rows *rows, size_t n)
{
    const struct operator3 op = *(const struct operator3 *)march->spec;
    const int16_t *a = rows->above[0], *b = rows->above[1];
    size_t step = (size_t)march->src->channels;
    n = (n + BLOCK - 1) / BLOCK * BLOCK;
    for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
        if (op.row[1] == 0)
            filter_x(rows->out[r], rows->kept[r], rows->in[r], a, b, n, step, op);
        else if (op.col[1] == 0)
            filter_y(rows->out[r], rows->kept[r], rows->in[r], a, b, n, step, op);
        else
            filter_any(rows->out[r], rows->kept[r], rows->in[r], a, b, n, step, op);
        a = b;
        b = rows->kept[r];
    }
}

/* The same for a gradient's magnitude: of each row a block of differences and one of smoothed
 * samples by turns. */
static void gradient_row(uint8_t *restrict out, int16_t *restrict kept, const uint8_t *restrict in,
                         const int16_t *restrict a, const int16_t *restrict b, size_t n,
                         size_t step, const struct operator3 op)
{
    for (size_t x = 0; x < n; x += BLOCK, a += 2 * BLOCK, b += 2 * BLOCK, kept += 2 * BLOCK) {
        float f[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) {
            const uint8_t *p = in + x + i;
            int16_t d = sum3(op.row, p[0], p[step], p[2 * step]);
            int16_t s = sum3(op.col, p[0], p[step], p[2 * step]);
            int gx = sum3(op.col, a[i], b[i], d);
            int gy = sum3(op.row, a[BLOCK + i], b[BLOCK + i], s);
            kept[i] = d;
            kept[BLOCK + i] = s;
            f[i] = sqrtf((float)(gx * gx + gy * gy));
        }
        for (size_t i = 0; i < BLOCK; i += GI_LANES)
            vec_store_u8(out + x + i, vec_load(f + i));
    }
}

static void gradient_rows(const struct gi_march *march, const struct gi_march_rows *rows, size_t n)
{
    const int16_t *a = rows->above[0], *b = rows->above[1];
    for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
        gradient_row(rows->out[r], rows->kept[r], rows->in[r], a, b, n,
                     (size_t)march->src->channels, *(const struct operator3 *)march->spec);
        a = b;
        b = rows->kept[r];
    }
}

static bool is_plain_u8(const struct gi_image *src, const struct gi_edge *edge)
{
    return src->type == GI_U8 && !gi_has_alpha(src) && GI_CPU(edge_is_whole)(edge, src);
}

bool GI_CPU(separable_is_operator3)(const struct gi_image *src, const struct gi_separable *spec)
{
    struct operator3 op;
    return is_plain_u8(src, &spec->edge) && spec->nrow == 3 && spec->ncol == 3 &&
           spec->finish.kind != GI_FINISH_UNSHARP && spec->finish.bias == 0 &&
           255LL * whole_taps(op.row, spec->row) <= INT16_MAX &&
           255LL * whole_taps(op.row, spec->row) * whole_taps(op.col, spec->col) <= INT16_MAX;
}

enum gi_status GI_CPU(separable_operator3)(struct gi_context *cx, struct gi_image *dst,
                                           const struct gi_image *src,
                                           const struct gi_separable *spec, struct gi_err *err)
{
    struct operator3 op = {.absolute = spec->finish.kind == GI_FINISH_ABS};
    whole_taps(op.row, spec->row);
    whole_taps(op.col, spec->col);
    struct gi_march march = {.dst = dst,
                             .src = src,
                             .edge = &spec->edge,
                             .spec = &op,
                             .left = spec->row_anchor,
                             .right = 2 - spec->row_anchor,
                             .above = spec->col_anchor,
                             .nrows = 3,
                             .kept_nbytes = sizeof(int16_t),
                             .step = filter_rows};
    return GI_CPU(march)(cx, &march, err);
}

/* gy * gy is exact in float up to 2^24, and so the sum of both squares is rounded once, there as
 * here. */
bool GI_CPU(gradient_is_operator3)(const struct gi_image *src, const struct gi_gradient *spec)
{
    int16_t smooth[3];
    return is_plain_u8(src, &spec->edge) && 2 * 255LL * whole_taps(smooth, spec->smooth) <= 1 << 12;
}

enum gi_status GI_CPU(gradient_operator3)(struct gi_context *cx, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_gradient *spec, struct gi_err *err)
{
    struct operator3 op = {.row = {-1, 0, 1}};
    whole_taps(op.col, spec->smooth);
    struct gi_march march = {.dst = dst,
                             .src = src,
                             .edge = &spec->edge,
                             .spec = &op,
                             .left = 1,
                             .right = 1,
                             .above = 1,
                             .nrows = 3,
                             .kept_nbytes = 2 * sizeof(int16_t),
                             .step = gradient_rows};
    return GI_CPU(march)(cx, &march, err);
}
