/* Separable convolution with 3, 5 or 7 taps in each direction, from samples to samples in
 * registers. Only the horizontal sums of the rows above are kept in memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/sliding_window.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

enum {
    ROWS = GI_ROWS_AT_ONCE,
    TAPS_MAX = GI_SLIDING_ROWS_MAX,
    STEP_MAX = 4,       /* maximum number of samples per pixel; if 4, the last is alpha */
    QUICK = GI_F32 + 1, /* a type for bytes whose sums are stored without an epilogue */
    SPAN_MAX = 1 + ((TAPS_MAX - 1) * STEP_MAX + GI_LANES - 1) / GI_LANES,
};

/* Sets sum[r] to the sum over i of taps[i] * the vector that begins i * step samples into v[r]. The
 * rows take turns, so that their chains of fmaf run side by side. */
static inline __attribute__((always_inline)) void
row_sums(GI_VEC sum[ROWS], GI_VEC v[ROWS][SPAN_MAX], const GI_VEC *taps, int k, int step)
{
    for (int r = 0; r < ROWS; r++)
        sum[r] = vec_set(0);
    for (int i = 0; i < k; i++) {
        int at = i * step / GI_LANES, by = i * step % GI_LANES;
        for (int r = 0; r < ROWS; r++)
            sum[r] =
                vec_fma(taps[i], by ? vec_slide(v[r][at], v[r][at + 1], by) : v[r][at], sum[r]);
    }
}

struct small {
    const struct gi_separable *spec;
    float alpha_scale; /* 1, or for a box filter the factor of the sums of alpha */
};

/* Multiply colours by alpha, and divide colours by alpha, as the rule GI_ALPHA_WEIGH says. */
static inline GI_VEC weigh(GI_VEC v, int step)
{
    GI_VEC alpha = vec_alpha(v, step);
    return vec_with_alpha(vec_mul(v, alpha), alpha, step);
}

static inline GI_VEC unweigh(GI_VEC f, GI_VEC inverse_sum, int step)
{
    GI_VEC alpha = vec_mul(vec_alpha(f, step), inverse_sum), zero = vec_set(0);
    GI_VEC color = vec_if_greater(alpha, zero, vec_div(f, alpha), zero);
    return vec_with_alpha(color, vec_if_greater(alpha, zero, alpha, zero), step);
}

/* Adds row j of the window of result row 0 to all results whose window contains that row. */
static inline __attribute__((always_inline)) void column_step(GI_VEC sum[ROWS], GI_VEC v, int j,
                                                              const GI_VEC *taps, int k)
{
    for (int r = 0; r < ROWS; r++)
        if (j >= r && j - r < k)
            sum[r] = vec_fma(taps[j - r], v, sum[r]);
}

GI_PER_KIND void filter_rows(const struct gi_sliding_window *sliding_window,
                             const struct gi_sliding_rows *rows, size_t n, int k, int step,
                             enum gi_type type, bool quick)
{
    const struct small *small = sliding_window->spec;
    const struct gi_separable *spec = small->spec;
    int span = 1 + ((k - 1) * step + GI_LANES - 1) / GI_LANES; /* vectors that a row sum reads */
    bool absolute = spec->epilogue.kind == GI_EPILOGUE_ABS;
    bool settles = spec->epilogue.settle;
    bool weighed = step == 4 && !quick && spec->alpha == GI_ALPHA_WEIGH;
    GI_VEC row[TAPS_MAX], col[TAPS_MAX], bias = vec_set(spec->epilogue.bias), v[ROWS][SPAN_MAX];
    GI_VEC inverse_sum = vec_set(1 / spec->sum), alpha_scale = vec_set(small->alpha_scale);
    for (int i = 0; i < k; i++) {
        row[i] = vec_set(spec->row[i]);
        col[i] = vec_set(spec->col[i]);
    }
    for (int r = 0; r < ROWS; r++)
        for (int m = 0; m < span - 1; m++) {
            v[r][m] = vec_load_samples(rows->in[r], (size_t)(m * GI_LANES), type);
            v[r][m] = weighed ? weigh(v[r][m], step) : v[r][m];
        }
    for (size_t x = 0; x < n; x += GI_LANES) {
        GI_VEC sum[ROWS], fresh[ROWS];
        if (x * gi_type_nbytes(type) % 64 == 0)
            gi_sliding_window_prefetch(rows, x * gi_type_nbytes(type));
        for (int r = 0; r < ROWS; r++) {
            GI_VEC last = vec_load_samples(rows->in[r], x + (size_t)((span - 1) * GI_LANES), type);
            v[r][span - 1] = weighed ? weigh(last, step) : last;
        }
        row_sums(fresh, v, row, k, step);
        for (int r = 0; r < ROWS; r++) {
            for (int m = 0; m < span - 1; m++)
                v[r][m] = v[r][m + 1];
            vec_store((float *)rows->kept[r] + x, fresh[r]);
            sum[r] = vec_set(0);
        }
        for (int j = 0; j < k - 1; j++)
            column_step(sum, vec_load((const float *)rows->above[j] + x), j, col, k);
        for (int r = 0; r < ROWS; r++)
            column_step(sum, fresh[r], k - 1 + r, col, k);
        if (quick) {
            uint8_t *out[ROWS];
            for (int r = 0; r < ROWS; r++)
                out[r] = (uint8_t *)rows->out[r] + x;
            vec_store_u8_rows(out, sum);
        }
        for (int r = 0; r < ROWS && !quick; r++) {
            GI_VEC all = weighed ? unweigh(sum[r], inverse_sum, step) : sum[r];
            GI_VEC f = vec_add(absolute ? vec_abs(all) : all, bias);
            if (step == 4)
                f = vec_with_alpha(f, vec_mul(all, alpha_scale), step);
            vec_store_samples(rows->out[r], x, settles ? vec_settle(f, GI_U8) : f, type);
        }
    }
}

#define FILTER(name, k, step, type, quick)                                                         \
    static void name(const struct gi_sliding_window *sliding_window,                               \
                     const struct gi_sliding_rows *rows, size_t n)                                 \
    {                                                                                              \
        filter_rows(sliding_window, rows, n, k, step, type, quick);                                \
    }
#define FILTERS(k, step)                                                                           \
    FILTER(quick_##k##_##step, k, step, GI_U8, true)                                               \
    FILTER(u8_##k##_##step, k, step, GI_U8, false)                                                 \
    FILTER(u16_##k##_##step, k, step, GI_U16, false)                                               \
    FILTER(f32_##k##_##step, k, step, GI_F32, false)
#define NAMES(k, step) u8_##k##_##step, u16_##k##_##step, f32_##k##_##step, quick_##k##_##step

FILTERS(3, 1)
FILTERS(5, 1)
FILTERS(7, 1)
FILTERS(3, 3)
FILTERS(5, 3)
FILTERS(7, 3)
FILTERS(3, 4)
FILTERS(5, 4)
FILTERS(7, 4)

bool GI_CPU(separable_small_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                   const struct gi_separable *spec)
{
    int k = spec->nrow;
    return (!gi_has_alpha(src) || (src->channels == 4 && spec->alpha != GI_ALPHA_KEEP)) &&
           !GI_EPILOGUE_COMPARES(spec->epilogue.kind) && k == spec->ncol && k >= 3 &&
           k <= TAPS_MAX && k % 2 && GI_CPU(border_is_whole)(&spec->border, src);
}

/* Returns whether sums can be stored without an epilogue and are in the range of
 * vec_store_u8_rows(). */
static bool is_quick(const struct small *small, const struct gi_image *src)
{
    const struct gi_separable *spec = small->spec;
    bool alike = !gi_has_alpha(src) || (spec->alpha == GI_ALPHA_PLAIN && small->alpha_scale == 1);
    double row = 0, col = 0;
    for (int i = 0; i < spec->nrow; i++) {
        row += fabs((double)spec->row[i]);
        col += fabs((double)spec->col[i]);
    }
    return src->type == GI_U8 && alike && spec->epilogue.kind == GI_EPILOGUE_STORE &&
           spec->epilogue.bias == 0 && !spec->epilogue.settle && row < 0x1p30 &&
           256 * row * col < 0x1p30;
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const struct small *small, struct gi_err *err)
{
    static void (*const filters[3][3][4])(const struct gi_sliding_window *,
                                          const struct gi_sliding_rows *,
                                          size_t) = {{{NAMES(3, 1)}, {NAMES(5, 1)}, {NAMES(7, 1)}},
                                                     {{NAMES(3, 3)}, {NAMES(5, 3)}, {NAMES(7, 3)}},
                                                     {{NAMES(3, 4)}, {NAMES(5, 4)}, {NAMES(7, 4)}}};
    const struct gi_separable *spec = small->spec;
    int k = spec->nrow, channels = src->channels;
    int kind = is_quick(small, src) ? QUICK : (int)src->type;
    struct gi_sliding_window sliding_window = {
        .dst = dst,
        .src = src,
        .border = &spec->border,
        .spec = small,
        .left = spec->row_anchor,
        .right = k - 1 - spec->row_anchor,
        .above = spec->col_anchor,
        .nrows = k,
        .kept_nbytes = sizeof(float),
        .step = filters[channels == 1 ? 0 : channels - 2][(k - 3) / 2][kind]};
    return GI_CPU(sliding_window)(queue, &sliding_window, err);
}

enum gi_status GI_CPU(separable_small)(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_separable *spec,
                                       struct gi_err *err)
{
    return run(queue, dst, src, &(struct small){spec, 1}, err);
}

bool GI_CPU(box_weighed_takes)(const struct gi_queue *queue, const struct gi_image *src,
                               const struct gi_box *spec)
{
    return src->type == GI_U8 && src->channels == 4 && spec->alpha == GI_ALPHA_WEIGH &&
           spec->k >= 3 && spec->k <= TAPS_MAX;
}

/* With taps of 1, the sums S of c * a and A of a are integers below 2^24, so they are exact. S / A
 * is below 256, so that its rounding error is less than 2^-17. A tie is exact. Any other quotient
 * is at least 1 / (2 * A) away from a tie, which is more than 2^-15. So a bias of 2^-16 rounds ties
 * up and changes no other result. A * (1 / k^2) is never close to a tie, because k is odd. */
enum gi_status GI_CPU(box_weighed)(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_box *spec,
                                   struct gi_err *err)
{
    static const float ones[TAPS_MAX] = {1, 1, 1, 1, 1, 1, 1};
    int k = spec->k;
    struct gi_separable sums = {.row = ones,
                                .col = ones,
                                .nrow = k,
                                .ncol = k,
                                .row_anchor = k / 2,
                                .col_anchor = k / 2,
                                .sum = 1,
                                .alpha = GI_ALPHA_WEIGH,
                                .border = spec->border,
                                .epilogue = {.kind = GI_EPILOGUE_STORE, .bias = 0x1p-16f}};
    return run(queue, dst, src, &(struct small){&sums, 1.0f / (float)(k * k)}, err);
}
