/* Pointwise operations: floats in explicit vectors, integers in loops that compilers vectorise.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/tone/pointwise.h"
#include "kernels/tone.h"

enum { STRIP_MAX = 1 << 16 /* pixels */ };

/* Further operations, with numbers after those of enum gi_pointwise_op. */
enum { THRESHOLD = GI_POINTWISE_TABLE + 1, LUMA, NOPERATIONS };

/* ---- in floats ---- */

struct pointwise_lanes {
    GI_VEC scale[3], offset[3], alpha[3];
    GI_VEC above, yes, no;
};

static struct pointwise_lanes lanes_of(const struct pointwise *op)
{
    struct pointwise_lanes lanes = {
        .above = vec_set(op->above), .yes = vec_set(op->yes), .no = vec_set(op->no)};
    for (int k = 0; k < 3; k++) {
        lanes.scale[k] = vec_load(op->scale + k * GI_LANES);
        lanes.offset[k] = vec_load(op->offset + k * GI_LANES);
        lanes.alpha[k] = vec_load(op->alpha + k * GI_LANES);
    }
    return lanes;
}

/* The lanes are passed by value, because the compiler must assume that storing samples changes what
 * is behind a pointer. */
static inline __attribute__((always_inline)) void group(const struct pointwise_lanes lanes,
                                                        void *out, const void *src, size_t i,
                                                        enum gi_type type, int what)
{
    for (int k = 0; k < 3; k++) {
        size_t at = i + (size_t)k * GI_LANES;
        GI_VEC a = vec_load_samples(src, at, type);
        GI_VEC f = what == GI_POINTWISE_AFFINE
                       ? vec_fma(lanes.scale[k], a, lanes.offset[k])
                       : vec_if_greater(a, lanes.above, lanes.yes, lanes.no);
        vec_store_samples(out, at, vec_if_greater(lanes.alpha[k], vec_set(0), a, f), type);
    }
}

static inline __attribute__((always_inline)) void float_row(const struct pointwise *op, void *out,
                                                            const void *src, size_t n,
                                                            enum gi_type type, int what)
{
    const struct pointwise_lanes lanes = lanes_of(op);
    size_t i = 0, nbytes = gi_type_nbytes(type);
    for (; i + POINTWISE_GROUP <= n; i += POINTWISE_GROUP)
        group(lanes, out, src, i, type, what);
    if (i < n) { /* copies the last samples, so that no byte past the rows is accessed */
        float a[POINTWISE_GROUP] = {0};
        memcpy(a, (const char *)src + i * nbytes, (n - i) * nbytes);
        group(lanes, a, a, 0, type, what);
        memcpy((char *)out + i * nbytes, a, (n - i) * nbytes);
    }
}

#define FLOATS(name, type, what)                                                                   \
    static void name(const struct pointwise *op, void *out, const void *src, size_t pixels)        \
    {                                                                                              \
        float_row(op, out, src, pixels *(size_t)op->src->channels, type, what);                    \
    }

FLOATS(affine_u8, GI_U8, GI_POINTWISE_AFFINE)
FLOATS(affine_u16, GI_U16, GI_POINTWISE_AFFINE)
FLOATS(affine_f32, GI_F32, GI_POINTWISE_AFFINE)
FLOATS(threshold_f32, GI_F32, THRESHOLD)

/* ---- thresholds in integers ---- */

/* Computes n samples, of which those stay as they are whose `keep` is ~0; `keep` is NULL if there
 * are none. A row is computed in place or into another row, each in loops that compilers make
 * vectors of, because they know which memory is the same. */
#define THRESHOLD_ROW(name, sample, declared, from)                                                \
    static void name(declared, size_t n, sample low, sample yes, sample no,                        \
                     const sample *restrict keep)                                                  \
    {                                                                                              \
        for (size_t i = 0; !keep && i < n; i++)                                                    \
            to[i] = from[i] > low ? yes : no;                                                      \
        for (size_t x = 0, m; keep && x < n; x += m) {                                             \
            m = n - x < POINTWISE_BLOCK ? n - x : POINTWISE_BLOCK;                                 \
            for (size_t i = 0; i < m; i++) {                                                       \
                sample made = from[x + i] > low ? yes : no;                                        \
                to[x + i] = (sample)((made & ~keep[i]) | (from[x + i] & keep[i]));                 \
            }                                                                                      \
        }                                                                                          \
    }
#define PARAMETERS(...) __VA_ARGS__
#define THRESHOLDS(name, sample)                                                                   \
    THRESHOLD_ROW(name##_to, sample, PARAMETERS(sample *restrict to, const sample *restrict from), \
                  from)                                                                            \
    THRESHOLD_ROW(name##_in_place, sample, sample *restrict to, to)                                \
                                                                                                   \
    static void name(const struct pointwise *op, void *out, const void *src, size_t pixels)        \
    {                                                                                              \
        sample low = (sample)op->low, yes = (sample)op->yes, no = (sample)op->no;                  \
        const sample *keep = op->keeps ? (const sample *)op->keep : NULL;                          \
        size_t n = pixels * (size_t)op->src->channels;                                             \
        if (out == src)                                                                            \
            name##_in_place(out, n, low, yes, no, keep);                                           \
        else                                                                                       \
            name##_to(out, src, n, low, yes, no, keep);                                            \
    }

THRESHOLDS(threshold_u8, uint8_t)
THRESHOLDS(threshold_u16, uint16_t)

/* ---- the primitives ---- */

static pointwise_row_fn *const rows[NOPERATIONS][GI_F32 + 1] = {
    [GI_POINTWISE_AFFINE] = {affine_u8, affine_u16, affine_f32},
    [GI_POINTWISE_TABLE] = {GI_CPU(table_u8), GI_CPU(table_u16), GI_CPU(table_f32)},
    [THRESHOLD] = {threshold_u8, threshold_u16, threshold_f32},
    [LUMA] = {GI_CPU(luma_u8), GI_CPU(luma_u16), GI_CPU(luma_f32)},
};

static void pointwise_tile(void *arg, int index, void *scratch)
{
    const struct pointwise *op = arg;
    struct gi_tile tile = GI_CPU(tile)(&op->tiling, op->src, index);
    size_t nbytes = gi_type_nbytes(op->src->type), x0 = (size_t)tile.x0 * nbytes;
    size_t in = x0 * (size_t)op->src->channels, out = x0 * (size_t)op->dst->channels;
    for (int y = tile.y0; y < tile.y1; y++)
        op->row(op, (char *)gi_row(op->dst, y) + out, (const char *)gi_row(op->src, y) + in,
                (size_t)(tile.x1 - tile.x0));
}

/* Runs the operation `what`. If `keeps`, alpha is copied. */
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
    struct pointwise op = {.dst = dst, .src = src};
    int channels = src->channels, looked_up = channels;
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

/* Sets the threshold of integers. An integer sample is > above exactly if it is > floor(above).
 * `low` is floor(above), but at most full scale. `yes` and `no` are the results for foreground and
 * background, which are equal if no sample can be above. */
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
    struct pointwise op = {.dst = dst, .src = src};
    threshold_set(&op, spec->above, spec->invert);
    return run(queue, &op, THRESHOLD, true, err);
}

enum gi_status GI_CPU(luma_by_groups)(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const void *none,
                                      struct gi_err *err)
{
    struct pointwise op = {.dst = dst, .src = src};
    return run(queue, &op, LUMA, false, err);
}

GI_CPU_ONE_WAY(pointwise, "groups", pointwise_by_groups);

GI_CPU_ONE_WAY(threshold, "groups", threshold_by_groups);
