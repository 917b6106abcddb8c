/* Binary arithmetic on interleaved samples, of two images of one type with the same channels, or of
 * an image and a constant. Floats are in explicit vectors; values per channel are repeated with a
 * period of GROUP samples. Integers are in loops that compilers vectorise.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/arithmetic/arithmetic.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/arithmetic.h"

/* Four vectors are processed at a time. A group consists of whole fours and, for every number of
 * channels, of whole pixels. */
enum { FOUR = 4 * GI_LANES, GROUP = 3 * FOUR, STRIP_MAX = 1 << 16 /* pixels */ };

enum { BLOCK = 768 /* integer samples: whole pixels for all numbers of channels */ };

struct arithmetic_samples_work;

/* Computes n samples of a row. `b` is NULL if the second operand is a constant. `d` is NULL if
 * there is no dark image. */
typedef void row_fn(const struct arithmetic_samples_work *work, void *out, const void *a,
                    const void *b, const void *d, size_t n);

struct arithmetic_samples_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_arithmetic *spec;
    struct gi_tiling tiling;
    bool keeps;                        /* alpha is copied from `src` */
    bool bounded;                      /* GI_U8: results are between -2^21 and 2^21 */
    float factor[GROUP], value[GROUP]; /* per sample of a group, by its channel */
    float alpha[GROUP];                /* 1 for samples that are alpha to be copied, else 0 */
    uint16_t keep[BLOCK];              /* integers: ~0 where alpha[] is 1; GI_U8: array of bytes */
    unsigned t; /* integers: t of OUTLIER, rounded down, at most full scale */
    row_fn *row;
};

/* ---- in floats ---- */

static inline __attribute__((always_inline)) GI_VEC value(enum gi_arithmetic_op op, GI_VEC a,
                                                          GI_VEC b, GI_VEC t, GI_VEC minus_t)
{
    switch (op) {
    case GI_ARITHMETIC_ADD:
        return vec_add(a, b);
    case GI_ARITHMETIC_SUBTRACT:
        return vec_sub(a, b);
    case GI_ARITHMETIC_MULTIPLY:
        return vec_mul(a, b);
    case GI_ARITHMETIC_DIFFERENCE:
        return vec_abs(vec_sub(a, b));
    case GI_ARITHMETIC_BLEND:
        return vec_fma(t, b, vec_fma(minus_t, a, a));
    case GI_ARITHMETIC_MIDDLE:
        return vec_fma(vec_set(0.5f), b, vec_mul(vec_set(0.5f), a));
    case GI_ARITHMETIC_MINIMUM:
        return vec_if_nan(b, b, vec_if_greater(a, b, b, a));
    case GI_ARITHMETIC_MAXIMUM:
        return vec_if_nan(b, b, vec_if_greater(b, a, b, a));
    case GI_ARITHMETIC_OUTLIER:
        return vec_if_greater(vec_abs(vec_sub(a, b)), t, b, a);
    default:
        return vec_div(a, b);
    }
}

/* Parameters that all samples share. They are passed by value, because the compiler must assume
 * that storing bytes changes what is behind a pointer. */
struct arithmetic_shared {
    GI_VEC offset, t, minus_t;
    const float *factor, *value, *alpha; /* factor: NULL if the results are plain */
    const uint8_t *keep;
    bool keeps, bounded;
};

/* Processes FOUR samples from sample i on, whose channels are those of the samples from `at` on in
 * a group. If `other` is NULL, the constant is used. */
static inline __attribute__((always_inline)) void four(const struct arithmetic_shared s, void *out,
                                                       const void *src, const void *other,
                                                       const void *dark, size_t i, size_t at,
                                                       enum gi_type type, enum gi_arithmetic_op op)
{
    GI_VEC f[4];
    for (size_t k = 0; k < 4; k++) {
        size_t lane = at + k * GI_LANES, sample = i + k * GI_LANES;
        GI_VEC a = vec_load_samples(src, sample, type), kept = a;
        GI_VEC b = other ? vec_load_samples(other, sample, type) : vec_load(s.value + lane);
        if (op == GI_ARITHMETIC_DIVIDE && dark) {
            GI_VEC d = vec_load_samples(dark, sample, type);
            a = vec_sub(a, d);
            b = vec_sub(b, d);
        }
        f[k] = value(op, a, b, s.t, s.minus_t);
        if (s.factor)
            f[k] = vec_fma(vec_load(s.factor + lane), f[k], s.offset);
        if (type != GI_U8 && s.keeps)
            f[k] = vec_if_greater(vec_load(s.alpha + lane), vec_set(0), kept, f[k]);
    }
    if (type == GI_U8)
        vec_settle_u8((uint8_t *)out + i, f, s.bounded, (const uint8_t *)src + i, s.keep + at);
    else
        for (size_t k = 0; k < 4; k++)
            vec_store_samples(out, i + k * GI_LANES, f[k], type);
}

GI_PER_KIND void row(const struct arithmetic_samples_work *work, void *out, const void *a,
                     const void *b, const void *d, size_t n, enum gi_type type,
                     enum gi_arithmetic_op op)
{
    const struct gi_arithmetic *spec = work->spec;
    const struct arithmetic_shared s = {vec_set(spec->offset),
                                        vec_set(spec->t),
                                        vec_set(-spec->t),
                                        spec->plain ? NULL : work->factor,
                                        work->value,
                                        work->alpha,
                                        (const uint8_t *)work->keep,
                                        work->keeps,
                                        work->bounded};
    size_t i = 0, at = 0, nbytes = gi_type_nbytes(type);
    for (; i + FOUR <= n; i += FOUR, at = at + FOUR < GROUP ? at + FOUR : 0)
        four(s, out, a, b, d, i, at, type, op);
    if (i < n) { /* copies the last samples, so that no byte past the rows is accessed */
        float last[3][FOUR] = {{0}};
        const void *rows[3] = {a, b, d};
        for (int j = 0; j < 3; j++)
            if (rows[j])
                memcpy(last[j], (const char *)rows[j] + i * nbytes, (n - i) * nbytes);
        four(s, last[0], last[0], b ? last[1] : NULL, d ? last[2] : NULL, 0, at, type, op);
        memcpy((char *)out + i * nbytes, last[0], (n - i) * nbytes);
    }
}

#define ROW(name, type, op)                                                                        \
    static void name(const struct arithmetic_samples_work *work, void *out, const void *a,         \
                     const void *b, const void *d, size_t n)                                       \
    {                                                                                              \
        row(work, out, a, b, d, n, type, op);                                                      \
    }
#define ROWS(name, op)                                                                             \
    ROW(name##_u8, GI_U8, op) ROW(name##_u16, GI_U16, op) ROW(name##_f32, GI_F32, op)

ROWS(add, GI_ARITHMETIC_ADD)
ROWS(subtract, GI_ARITHMETIC_SUBTRACT)
ROWS(multiply, GI_ARITHMETIC_MULTIPLY)
ROWS(divide, GI_ARITHMETIC_DIVIDE)
ROWS(difference, GI_ARITHMETIC_DIFFERENCE)
ROWS(mix, GI_ARITHMETIC_BLEND)
ROWS(middle, GI_ARITHMETIC_MIDDLE)
ROWS(minimum, GI_ARITHMETIC_MINIMUM)
ROWS(maximum, GI_ARITHMETIC_MAXIMUM)
ROWS(outlier, GI_ARITHMETIC_OUTLIER)

/* ---- in integers ---- */

/* Compilers make vectors of the loop of name_to(), with `keep` and without, because its result is
 * in other memory than its operands. If the result replaces an operand, it is computed in a local
 * block. */
#define INTEGERS(name, sample, expression)                                                         \
    static void name##_to(sample *restrict to, const sample *from, const sample *with,             \
                          const sample *keep, size_t n, sample t)                                  \
    {                                                                                              \
        (void)t;                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            sample a = from[i], b = with[i], rest = (sample)~a, made = (sample)(expression);       \
            (void)rest;                                                                            \
            to[i] = keep ? (sample)((made & ~keep[i]) | (a & keep[i])) : made;                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name(const struct arithmetic_samples_work *work, void *out, const void *src,       \
                     const void *other, const void *dark, size_t n)                                \
    {                                                                                              \
        const sample *keep = work->keeps ? (const sample *)work->keep : NULL;                      \
        sample made[BLOCK], t = (sample)work->t;                                                   \
        bool replaces = out == src || out == other;                                                \
        size_t block = keep || replaces ? BLOCK : n;                                               \
        (void)dark;                                                                                \
        for (size_t x = 0; x < n; x += block) {                                                    \
            size_t m = n - x < block ? n - x : block;                                              \
            sample *to = (sample *)out + x;                                                        \
            name##_to(replaces ? made : to, (const sample *)src + x, (const sample *)other + x,    \
                      keep, m, t);                                                                 \
            if (replaces)                                                                          \
                memcpy(to, made, m * sizeof *made);                                                \
        }                                                                                          \
    }
#define BOTH(name, expression)                                                                     \
    INTEGERS(name##_bytes, uint8_t, expression) INTEGERS(name##_words, uint16_t, expression)

/* Computes gi_arithmetic_product() of two bytes in 16 bits instead of 32, so that a vector holds
 * twice as many products. */
static inline uint16_t product_u8(uint16_t a, uint16_t b)
{
    uint16_t p = (uint16_t)(a * b + 128);
    return (uint16_t)((uint16_t)(p + (p >> 8)) >> 8);
}

/* These macros have no branches, and do not widen samples, so that vectors hold as many samples as
 * possible. */
#define LESSER(a, b)  ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define APART         GREATER(a, b) - LESSER(a, b)
#define MEAN_DOWN     ((a & b) + ((a ^ b) >> 1)) /* the mean, rounded down */

BOTH(add, a + LESSER(b, rest))
BOTH(subtract, GREATER(a, b) - b)
INTEGERS(multiply_bytes, uint8_t, product_u8(a, b))
INTEGERS(multiply_words, uint16_t, gi_arithmetic_product(a, b, 16))
BOTH(minimum, LESSER(a, b))
BOTH(maximum, GREATER(a, b))
BOTH(difference, APART)
BOTH(outlier, APART > t ? b : a)
BOTH(middle, MEAN_DOWN + ((a ^ b) & MEAN_DOWN & 1)) /* half to even */

/* ---- both ---- */

static void tile(void *arg, int index, void *scratch)
{
    const struct arithmetic_samples_work *work = arg;
    const struct gi_image *src = work->src, *other = work->spec->other, *dark = work->spec->dark;
    struct gi_tile tile = GI_CPU(tile)(&work->tiling, src, index);
    size_t channels = (size_t)src->channels, n = (size_t)(tile.x1 - tile.x0) * channels;
    size_t at = (size_t)tile.x0 * channels * gi_type_nbytes(src->type);
    for (int y = tile.y0; y < tile.y1; y++)
        work->row(work, (char *)gi_row(work->dst, y) + at, (const char *)gi_row(src, y) + at,
                  other ? (const char *)gi_row(other, y) + at : NULL,
                  dark ? (const char *)gi_row(dark, y) + at : NULL, n);
}

/* Returns whether results for bytes are numbers between -2^21 and 2^21. */
static bool is_bounded(const struct gi_arithmetic *spec)
{
    bool bounded = spec->op != GI_ARITHMETIC_DIVIDE;
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        float b = spec->other ? 255 : fabsf(spec->value[c]), f = 255 + b;
        f = spec->op == GI_ARITHMETIC_MULTIPLY ? 255 * b : f;
        f = spec->op == GI_ARITHMETIC_BLEND ? 255 + fabsf(spec->t) * f : f;
        f = spec->plain ? f : fabsf(spec->factor[c]) * f + fabsf(spec->offset);
        bounded = bounded && f < 1 << 21;
    }
    return bounded;
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const struct gi_arithmetic *spec, row_fn *each, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct arithmetic_samples_work work = {.dst = dst, .src = src, .spec = spec, .row = each};
    size_t nbytes = gi_type_nbytes(src->type), channels = (size_t)src->channels;
    work.keeps = gi_has_alpha(src) && !spec->alpha_too;
    work.bounded = is_bounded(spec);
    if (spec->op == GI_ARITHMETIC_OUTLIER)
        work.t = (unsigned)fminf(spec->t, gi_type_full_scale(src->type));
    for (int i = 0, channel = 0; i < GROUP; i++, channel++) {
        channel = channel < src->channels ? channel : 0;
        int c = arithmetic_channel(src, channel);
        work.factor[i] = spec->factor[c];
        work.value[i] = spec->value[c];
        work.alpha[i] = work.keeps && c == ARITHMETIC_ALPHA;
    }
    for (size_t i = channels - 1; work.keeps && nbytes < 4 && i < BLOCK; i += channels)
        memset((char *)work.keep + i * nbytes, 255, nbytes);
    work.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, work.tiling.nstrips * work.tiling.nbands, tile, &work, 0, err);
}

enum gi_status GI_CPU(arithmetic_by_samples)(struct gi_queue *queue, struct gi_image *dst,
                                             const struct gi_image *src,
                                             const struct gi_arithmetic *spec, struct gi_err *err)
{
    static row_fn *const rows[][GI_F32 + 1] = {
        [GI_ARITHMETIC_ADD] = {add_u8, add_u16, add_f32},
        [GI_ARITHMETIC_SUBTRACT] = {subtract_u8, subtract_u16, subtract_f32},
        [GI_ARITHMETIC_MULTIPLY] = {multiply_u8, multiply_u16, multiply_f32},
        [GI_ARITHMETIC_DIVIDE] = {divide_u8, divide_u16, divide_f32},
        [GI_ARITHMETIC_DIFFERENCE] = {difference_u8, difference_u16, difference_f32},
        [GI_ARITHMETIC_BLEND] = {mix_u8, mix_u16, mix_f32},
        [GI_ARITHMETIC_MIDDLE] = {middle_u8, middle_u16, middle_f32},
        [GI_ARITHMETIC_MINIMUM] = {minimum_u8, minimum_u16, minimum_f32},
        [GI_ARITHMETIC_MAXIMUM] = {maximum_u8, maximum_u16, maximum_f32},
        [GI_ARITHMETIC_OUTLIER] = {outlier_u8, outlier_u16, outlier_f32},
    };
    return run(queue, dst, src, spec, rows[spec->op][src->type], err);
}

static row_fn *const integer_rows[GI_ARITHMETIC_LAYER][2] = {
    [GI_ARITHMETIC_ADD] = {add_bytes, add_words},
    [GI_ARITHMETIC_SUBTRACT] = {subtract_bytes, subtract_words},
    [GI_ARITHMETIC_MULTIPLY] = {multiply_bytes, multiply_words},
    [GI_ARITHMETIC_DIFFERENCE] = {difference_bytes, difference_words},
    [GI_ARITHMETIC_MINIMUM] = {minimum_bytes, minimum_words},
    [GI_ARITHMETIC_MAXIMUM] = {maximum_bytes, maximum_words},
    [GI_ARITHMETIC_OUTLIER] = {outlier_bytes, outlier_words},
    [GI_ARITHMETIC_MIDDLE] = {middle_bytes, middle_words},
};

static bool alike(const struct gi_image *image, const struct gi_image *src)
{
    return !image || (image->type == src->type && image->channels == src->channels);
}

/* Returns whether the result is half of a sum, which is MIDDLE: floats hold both exactly. */
static bool is_half_sum(const struct gi_arithmetic *spec, const struct gi_image *src)
{
    bool half = spec->op == GI_ARITHMETIC_ADD && !spec->plain && spec->offset == 0;
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        half = half && spec->factor[c] == 0.5f;
    return half && spec->other && alike(spec->other, src);
}

enum gi_status GI_CPU(arithmetic_by_integers)(struct gi_queue *queue, struct gi_image *dst,
                                              const struct gi_image *src,
                                              const struct gi_arithmetic *spec, struct gi_err *err)
{
    enum gi_arithmetic_op op = is_half_sum(spec, src) ? GI_ARITHMETIC_MIDDLE : spec->op;
    return run(queue, dst, src, spec, integer_rows[op][src->type], err);
}

bool GI_CPU(arithmetic_by_integers_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                          const struct gi_arithmetic *spec)
{
    return spec->op < GI_ARITHMETIC_LAYER && src->type < GI_F32 &&
           ((spec->plain && integer_rows[spec->op][src->type]) || is_half_sum(spec, src));
}

/* Accepts no products of integers, which floats cannot hold. */
bool GI_CPU(arithmetic_by_samples_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                         const struct gi_arithmetic *spec)
{
    if (spec->plain && spec->op == GI_ARITHMETIC_MULTIPLY && src->type != GI_F32)
        return false;
    return spec->op < GI_ARITHMETIC_LAYER && alike(spec->other, src) && alike(spec->dark, src);
}
