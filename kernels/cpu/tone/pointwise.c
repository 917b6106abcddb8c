/* Pointwise operations: floats in explicit vectors, integers in loops that compilers vectorise.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/tone/pointwise.h"
#include "kernels/tone.h"

enum { STRIP_MAX = 1 << 16 /* pixels */ };

/* Further operations, numbered after those of enum gi_pointwise_op. */
enum { THRESHOLD = GI_POINTWISE_OUTLIER + 1, LUMA, NOPERATIONS };

/* ---- in floats ---- */

struct lanes {
    GI_VEC scale[3], offset[3], alpha[3];
    GI_VEC t, minus_t, above, yes, no;
};

static struct lanes lanes_of(const struct pointwise *op)
{
    struct lanes lanes = {.t = vec_set(op->t),
                          .minus_t = vec_set(-op->t),
                          .above = vec_set(op->above),
                          .yes = vec_set(op->yes),
                          .no = vec_set(op->no)};
    for (int k = 0; k < 3; k++) {
        lanes.scale[k] = vec_load(op->scale + k * GI_LANES);
        lanes.offset[k] = vec_load(op->offset + k * GI_LANES);
        lanes.alpha[k] = vec_load(op->alpha + k * GI_LANES);
    }
    return lanes;
}

/* The lanes are passed by value: through a pointer, the compiler must assume that storing samples
 * changes them. */
static inline __attribute__((always_inline)) GI_VEC value(const struct lanes lanes, int k, int what,
                                                          GI_VEC a, GI_VEC b)
{
    switch (what) {
    case GI_POINTWISE_AFFINE:
        return vec_fma(lanes.scale[k], a, lanes.offset[k]);
    case GI_POINTWISE_ADD:
        return vec_add(a, b);
    case GI_POINTWISE_SUBTRACT:
        return vec_sub(a, b);
    case GI_POINTWISE_MULTIPLY:
        return vec_mul(a, b);
    case GI_POINTWISE_BLEND:
        return vec_fma(lanes.t, b, vec_fma(lanes.minus_t, a, a));
    case GI_POINTWISE_MIDDLE:
        return vec_fma(vec_set(0.5f), b, vec_mul(vec_set(0.5f), a));
    case GI_POINTWISE_MINIMUM:
        return vec_if_nan(b, b, vec_if_greater(a, b, b, a));
    case GI_POINTWISE_MAXIMUM:
        return vec_if_nan(b, b, vec_if_greater(b, a, b, a));
    case GI_POINTWISE_DIFFERENCE:
        return vec_abs(vec_sub(a, b));
    case GI_POINTWISE_OUTLIER:
        return vec_if_greater(vec_abs(vec_sub(a, b)), lanes.t, b, a);
    default:
        return vec_if_greater(a, lanes.above, lanes.yes, lanes.no);
    }
}

static inline __attribute__((always_inline)) void group(const struct lanes lanes, void *out,
                                                        const void *src, const void *other,
                                                        size_t i, enum gi_type type, int what)
{
    bool two = what >= GI_POINTWISE_ADD && what != THRESHOLD;
    for (int k = 0; k < 3; k++) {
        size_t at = i + (size_t)k * GI_LANES;
        GI_VEC a = vec_load_samples(src, at, type);
        GI_VEC f = value(lanes, k, what, a, two ? vec_load_samples(other, at, type) : a);
        vec_store_samples(out, at, vec_if_greater(lanes.alpha[k], vec_set(0), a, f), type);
    }
}

static inline __attribute__((always_inline)) void float_row(const struct pointwise *op, void *out,
                                                            const void *src, const void *other,
                                                            size_t n, enum gi_type type, int what)
{
    const struct lanes lanes = lanes_of(op);
    size_t i = 0, nbytes = gi_type_nbytes(type);
    for (; i + POINTWISE_GROUP <= n; i += POINTWISE_GROUP)
        group(lanes, out, src, other, i, type, what);
    if (i <
        n) { /* The last samples are copied, so that no byte past the rows is read or written. */
        float a[POINTWISE_GROUP] = {0}, b[POINTWISE_GROUP] = {0};
        memcpy(a, (const char *)src + i * nbytes, (n - i) * nbytes);
        memcpy(b, (const char *)other + i * nbytes, (n - i) * nbytes);
        group(lanes, a, a, b, 0, type, what);
        memcpy((char *)out + i * nbytes, a, (n - i) * nbytes);
    }
}

#define FLOATS(name, type, what)                                                                   \
    static void name(const struct pointwise *op, void *out, const void *src, const void *other,    \
                     size_t pixels)                                                                \
    {                                                                                              \
        float_row(op, out, src, other, pixels *(size_t)op->src->channels, type, what);             \
    }

FLOATS(affine_u8, GI_U8, GI_POINTWISE_AFFINE)
FLOATS(affine_u16, GI_U16, GI_POINTWISE_AFFINE)
FLOATS(affine_f32, GI_F32, GI_POINTWISE_AFFINE)
FLOATS(blend_u8, GI_U8, GI_POINTWISE_BLEND)
FLOATS(blend_u16, GI_U16, GI_POINTWISE_BLEND)
FLOATS(blend_f32, GI_F32, GI_POINTWISE_BLEND)
FLOATS(middle_u8, GI_U8, GI_POINTWISE_MIDDLE)
FLOATS(middle_u16, GI_U16, GI_POINTWISE_MIDDLE)
FLOATS(middle_f32, GI_F32, GI_POINTWISE_MIDDLE)
FLOATS(add_f32, GI_F32, GI_POINTWISE_ADD)
FLOATS(subtract_f32, GI_F32, GI_POINTWISE_SUBTRACT)
FLOATS(multiply_f32, GI_F32, GI_POINTWISE_MULTIPLY)
FLOATS(minimum_f32, GI_F32, GI_POINTWISE_MINIMUM)
FLOATS(maximum_f32, GI_F32, GI_POINTWISE_MAXIMUM)
FLOATS(difference_f32, GI_F32, GI_POINTWISE_DIFFERENCE)
FLOATS(outlier_f32, GI_F32, GI_POINTWISE_OUTLIER)
FLOATS(threshold_f32, GI_F32, THRESHOLD)

/* ---- in integers ---- */

/* The samples are computed in a local block, which cannot alias the rows, so that the loops are
 * vectorised even if a row is computed in place. */
#define INTEGERS(name, sample, expression)                                                         \
    static void name(const struct pointwise *op, void *out, const void *src, const void *other,    \
                     size_t pixels)                                                                \
    {                                                                                              \
        const sample *keep = (const sample *)op->keep, low = (sample)op->low;                      \
        const sample yes = (sample)op->yes, no = (sample)op->no;                                   \
        sample made[POINTWISE_BLOCK];                                                              \
        size_t n = pixels * (size_t)op->src->channels;                                             \
        (void)low, (void)yes, (void)no;                                                            \
        for (size_t x = 0; x < n; x += POINTWISE_BLOCK) {                                          \
            size_t m = n - x < POINTWISE_BLOCK ? n - x : POINTWISE_BLOCK;                          \
            const sample *from = (const sample *)src + x, *with = (const sample *)other + x;       \
            for (size_t i = 0; i < m; i++) {                                                       \
                sample a = from[i], b = with[i], rest = (sample)~a;                                \
                (void)b, (void)rest;                                                               \
                made[i] = (sample)(expression);                                                    \
            }                                                                                      \
            for (size_t i = 0; op->keeps && i < m; i++)                                            \
                made[i] = (sample)((made[i] & ~keep[i]) | (from[i] & keep[i]));                    \
            memcpy((sample *)out + x, made, m * sizeof *made);                                     \
        }                                                                                          \
    }

/* Without a branch and in no more bits than the samples have, so that a vector holds as many as
 * possible. */
#define LESSER(a, b)  ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define ADD           a + LESSER(b, rest)
#define SUBTRACT      GREATER(a, b) - b
#define DIFFERENCE    GREATER(a, b) - LESSER(a, b)
#define OUTLIER       DIFFERENCE > low ? b : a
/* (a b) / (2^n - 1), rounded: with p = a b + 2^(n - 1) it is (p + floor(p / 2^n)) / 2^n. J. Blinn,
 * "Three wrongs make a right", IEEE CG&A 15(6), 1995. Neither sum exceeds 2 n bits. */
static inline uint16_t product_u8(uint16_t a, uint16_t b)
{
    uint16_t p = (uint16_t)(a * b + 128);
    return (uint16_t)((uint16_t)(p + (p >> 8)) >> 8);
}

static inline uint32_t product_u16(uint32_t a, uint32_t b)
{
    uint32_t p = a * b + 32768;
    return (p + (p >> 16)) >> 16;
}

INTEGERS(add_u8, uint8_t, ADD)
INTEGERS(add_u16, uint16_t, ADD)
INTEGERS(subtract_u8, uint8_t, SUBTRACT)
INTEGERS(subtract_u16, uint16_t, SUBTRACT)
INTEGERS(multiply_u8, uint8_t, product_u8(a, b))
INTEGERS(multiply_u16, uint16_t, product_u16(a, b))
INTEGERS(minimum_u8, uint8_t, LESSER(a, b))
INTEGERS(minimum_u16, uint16_t, LESSER(a, b))
INTEGERS(maximum_u8, uint8_t, GREATER(a, b))
INTEGERS(maximum_u16, uint16_t, GREATER(a, b))
INTEGERS(difference_u8, uint8_t, DIFFERENCE)
INTEGERS(difference_u16, uint16_t, DIFFERENCE)
INTEGERS(outlier_u8, uint8_t, OUTLIER)
INTEGERS(outlier_u16, uint16_t, OUTLIER)
INTEGERS(threshold_u8, uint8_t, a > low ? yes : no)
INTEGERS(threshold_u16, uint16_t, a > low ? yes : no)

/* ---- the primitives ---- */

static pointwise_row_fn *const rows[NOPERATIONS][GI_F32 + 1] = {
    [GI_POINTWISE_AFFINE] = {affine_u8, affine_u16, affine_f32},
    [GI_POINTWISE_TABLE] = {GI_CPU(table_u8), GI_CPU(table_u16), GI_CPU(table_f32)},
    [GI_POINTWISE_ADD] = {add_u8, add_u16, add_f32},
    [GI_POINTWISE_SUBTRACT] = {subtract_u8, subtract_u16, subtract_f32},
    [GI_POINTWISE_MULTIPLY] = {multiply_u8, multiply_u16, multiply_f32},
    [GI_POINTWISE_BLEND] = {blend_u8, blend_u16, blend_f32},
    [GI_POINTWISE_MIDDLE] = {middle_u8, middle_u16, middle_f32},
    [GI_POINTWISE_MINIMUM] = {minimum_u8, minimum_u16, minimum_f32},
    [GI_POINTWISE_MAXIMUM] = {maximum_u8, maximum_u16, maximum_f32},
    [GI_POINTWISE_DIFFERENCE] = {difference_u8, difference_u16, difference_f32},
    [GI_POINTWISE_OUTLIER] = {outlier_u8, outlier_u16, outlier_f32},
    [THRESHOLD] = {threshold_u8, threshold_u16, threshold_f32},
    [LUMA] = {GI_CPU(luma_u8), GI_CPU(luma_u16), GI_CPU(luma_f32)},
};

static void pointwise_tile(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct pointwise *op = arg;
    struct gi_tile tile = GI_CPU(tile)(&op->tiling, op->src, index);
    size_t nbytes = gi_type_nbytes(op->src->type), x0 = (size_t)tile.x0 * nbytes;
    size_t in = x0 * (size_t)op->src->channels, out = x0 * (size_t)op->dst->channels;
    for (int y = tile.y0; y < tile.y1; y++)
        op->row(op, (char *)gi_row(op->dst, y) + out, (const char *)gi_row(op->src, y) + in,
                (const char *)gi_row(op->other, y) + in, (size_t)(tile.x1 - tile.x0));
}

/* Runs operation `what`; alpha is copied if `keeps`. */
static enum gi_status run(struct gi_queue *queue, struct pointwise *op, int what, bool keeps,
                          struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    enum gi_type type = op->src->type;
    size_t channels = (size_t)op->src->channels;
    op->row = type <= GI_F32 ? rows[what][type] : NULL;
    if (!op->row)
        return gi_fail(err, GI_E_UNSUPPORTED, "pointwise: operation %d takes no samples of type %d",
                       what, (int)type);
    op->keeps = keeps && gi_has_alpha(op->src);
    for (size_t i = channels - 1; op->keeps && i < POINTWISE_GROUP; i += channels)
        op->alpha[i] = 1;
    for (size_t i = channels - 1; op->keeps && type != GI_F32 && i < POINTWISE_BLOCK; i += channels)
        memset((char *)op->keep + i * gi_type_nbytes(type), 255, type == GI_U8 ? 1 : 2);
    op->tiling = GI_CPU(tiling)(op->src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, op->tiling.nstrips * op->tiling.nbands, pointwise_tile, op, 0, err);
}

static enum gi_status pointwise_by_groups(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_pointwise *spec, struct gi_err *err)
{
    struct pointwise op = {
        .dst = dst, .src = src, .other = spec->other ? spec->other : src, .t = spec->t};
    int channels = src->channels, looked_up = channels;
    float full = gi_type_full_scale(src->type);
    op.low = spec->op == GI_POINTWISE_OUTLIER ? (unsigned)fminf(spec->t, full) : 0;
    for (int i = 0; i < POINTWISE_GROUP; i++) {
        op.scale[i] = spec->scale[i % channels];
        op.offset[i] = spec->offset[i % channels];
    }
    if (gi_has_alpha(src) && !spec->alpha_too)
        looked_up--;
    op.one_table = true;
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        bool stays = c >= looked_up && src->type == GI_F32;
        op.table[c] = stays ? NULL : spec->table[c < looked_up ? c : 0];
        op.one_table = op.one_table && op.table[c] == op.table[0];
    }
    return run(queue, &op, (int)spec->op, !spec->alpha_too, err);
}

/* An integer sample is > above exactly if it is > floor(above), so integers are compared as
 * integers: `low` is that integer, at most full scale; `yes` and `no` are the results for
 * foreground and background (the same value if no sample can be above). */
static void threshold_set(struct pointwise *op, float above, bool invert)
{
    float full = gi_type_full_scale(op->src->type);
    op->above = above;
    op->yes = invert ? 0 : full;
    op->no = full - op->yes;
    if (op->src->type == GI_F32)
        return;
    if (above < 0)
        op->no = op->yes;
    else
        op->low = (unsigned)(above < full ? floorf(above) : full); /* NaN: no sample is above */
}

static enum gi_status threshold_by_groups(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_threshold *spec, struct gi_err *err)
{
    struct pointwise op = {.dst = dst, .src = src, .other = src};
    threshold_set(&op, spec->above, spec->invert);
    return run(queue, &op, THRESHOLD, true, err);
}

enum gi_status GI_CPU(luma_by_groups)(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const void *none,
                                      struct gi_err *err)
{
    (void)none;
    struct pointwise op = {.dst = dst, .src = src, .other = src};
    return run(queue, &op, LUMA, false, err);
}

const struct gi_pointwise_way GI_CPU(pointwise_ways)[GI_WAYS_MAX] = {
    {{"groups", "everything"}, NULL, pointwise_by_groups},
};

const struct gi_threshold_way GI_CPU(threshold_ways)[GI_WAYS_MAX] = {
    {{"groups", "everything"}, NULL, threshold_by_groups},
};
