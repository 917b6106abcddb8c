/* Colour transforms: each result channel is computed from all channels of the pixel. Pixels are
 * unpacked into planes of floats, and each step of the transform runs over a chunk of them. A
 * single 3 x 3 matrix keeps its three channels in vectors from samples to samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolve/rows.h"

enum {
    CHUNK = 256 /* pixels: a multiple of every number of lanes, and one per value of a byte */,
    STRIP_MAX = 1 << 16 /* pixels */
};

struct planes {
    float r[CHUNK], g[CHUNK], b[CHUNK], a[CHUNK];
};

struct mix {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_mix *spec;
    struct gi_tiling tiling;
    int nknown;          /* the number of leading steps whose result is looked up: */
    struct planes known; /* their result for every byte value of each colour */
    void (*row)(const struct mix *mix, void *out, const void *in, size_t pixels);
};

/* ---- steps ---- */

#define EACH_PIXEL for (int i = 0; i < CHUNK; i++)

/* Steps and curves are passed by value: through a pointer, the compiler must assume that storing
 * samples changes them. */
static void by_matrix(struct planes *p, const struct gi_mix_step step)
{
    EACH_PIXEL
    {
        float r = p->r[i], g = p->g[i], b = p->b[i];
        p->r[i] = gi_mix_row(&step, 0, r, g, b, 0, false);
        p->g[i] = gi_mix_row(&step, 1, r, g, b, 0, false);
        p->b[i] = gi_mix_row(&step, 2, r, g, b, 0, false);
    }
}

static void by_matrix_with_alpha(struct planes *p, const struct gi_mix_step step)
{
    EACH_PIXEL
    {
        float r = p->r[i], g = p->g[i], b = p->b[i], a = p->a[i];
        p->r[i] = gi_mix_row(&step, 0, r, g, b, a, true);
        p->g[i] = gi_mix_row(&step, 1, r, g, b, a, true);
        p->b[i] = gi_mix_row(&step, 2, r, g, b, a, true);
        p->a[i] = gi_mix_row(&step, 3, r, g, b, a, true);
    }
}

/* As gi_bend_at(), but all indices are computed before the tables are read. */
static void by_power(float *v, const struct gi_bend bend, const struct gi_power *power)
{
    const GI_VEC cut = vec_set(bend.cut), slope = vec_set(bend.slope), low = vec_set(bend.low);
    const GI_VEC scale = vec_set(bend.scale), offset = vec_set(bend.offset), zero = vec_set(0);
    int32_t cell[CHUNK], octave[CHUNK]; /* byte offsets */
    float t[CHUNK];
    EACH_PIXEL
    {
        float size = bend.odd ? fabsf(v[i]) : v[i];
        struct gi_power_place at = gi_power_place_of(fmaf(bend.in_scale, size, bend.in_offset));
        cell[i] = at.cell * (int32_t)sizeof(float);
        octave[i] = at.octave * (int32_t)sizeof(float);
        t[i] = at.t;
    }
    for (int i = 0; i < CHUNK; i += GI_LANES) {
        GI_VEC two[2], by, x = vec_load(v + i), size = bend.odd ? vec_abs(x) : x;
        vec_gather_twice(two, power->cell, cell + i, GI_F32);
        vec_gather(&by, power->octave, octave + i, GI_F32);
        GI_VEC w = vec_mul(by, vec_fma(vec_load(t + i), vec_sub(two[1], two[0]), two[0]));
        GI_VEC y = vec_if_greater(size, cut, vec_fma(scale, w, offset), vec_fma(slope, size, low));
        if (bend.odd)
            y = vec_if_greater(zero, x, vec_mul(y, vec_set(-1)), y);
        vec_store(v + i, y);
    }
}

static void by_bend(float *v, const struct gi_bend bend, const struct gi_mix *spec)
{
    if (bend.power < 0)
        EACH_PIXEL v[i] = gi_bend_at(&bend, NULL, NULL, v[i]);
    else
        by_power(v, bend, spec->powers[bend.power]);
}

static void run_step(struct planes *p, const struct gi_mix_step *step, const struct gi_mix *spec)
{
    float full = step->full;
    switch (step->kind) {
    case GI_MIX_MATRIX:
        if (spec->alpha_too)
            by_matrix_with_alpha(p, *step);
        else
            by_matrix(p, *step);
        break;
    case GI_MIX_BEND:
        by_bend(p->r, step->bend, spec);
        by_bend(p->g, step->bend, spec);
        by_bend(p->b, step->bend, spec);
        break;
    case GI_MIX_TO_HSV:
        EACH_PIXEL gi_mix_to_hsv(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_MIX_FROM_HSV:
        EACH_PIXEL gi_mix_from_hsv(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_MIX_TO_HSL:
        EACH_PIXEL gi_mix_to_hsl(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_MIX_FROM_HSL:
        EACH_PIXEL gi_mix_from_hsl(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    }
}

/* Returns whether the step changes each colour independently of the others. */
static bool is_apart(const struct gi_mix_step *step)
{
    if (step->kind != GI_MIX_MATRIX)
        return step->kind == GI_MIX_BEND;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != j && step->matrix[i][j] != 0)
                return false;
    return true;
}

/* Applies the leading steps that depend on one byte each to all 256 byte values. */
static void know_bytes(struct mix *mix)
{
    const struct gi_mix *spec = mix->spec;
    struct planes *p = &mix->known;
    if (mix->src->type != GI_U8 || spec->alpha_too)
        return;
    EACH_PIXEL p->r[i] = p->g[i] = p->b[i] = (float)i;
    for (; mix->nknown < spec->nsteps && is_apart(&spec->steps[mix->nknown]); mix->nknown++)
        run_step(p, &spec->steps[mix->nknown], spec);
}

/* Looks up n pixels of bytes in the results of those steps. */
static inline void look_up(struct planes *p, const struct planes *known, const uint8_t *in,
                           size_t n, size_t channels)
{
    for (size_t i = 0; i < n; i++) {
        p->r[i] = known->r[in[i * channels]];
        p->g[i] = known->g[in[i * channels + 1]];
        p->b[i] = known->b[in[i * channels + 2]];
    }
}

static inline void part(struct planes *p, const float *v, size_t n, size_t channels)
{
    for (size_t i = 0; i < n; i++) {
        p->r[i] = v[i * channels];
        p->g[i] = v[i * channels + 1];
        p->b[i] = v[i * channels + 2];
        if (channels == 4)
            p->a[i] = v[i * channels + 3];
    }
}

static inline void join(float *v, const struct planes *p, size_t n, size_t channels)
{
    for (size_t i = 0; i < n; i++) {
        v[i * channels] = p->r[i];
        v[i * channels + 1] = p->g[i];
        v[i * channels + 2] = p->b[i];
        if (channels == 4)
            v[i * channels + 3] = p->a[i];
    }
}

/* Stores a whole chunk. */
static inline void store_bytes_of(const struct planes *p, uint8_t *out)
{
    for (size_t i = 0; i < CHUNK; i += GI_LANES) {
        const GI_VEC v[3] = {vec_load(p->r + i), vec_load(p->g + i), vec_load(p->b + i)};
        vec_store_u8_thirds(out + 3 * i, v);
    }
}

static inline __attribute__((always_inline)) void
row_of(const struct mix *mix, char *out, const char *in, size_t pixels, size_t channels)
{
    struct planes planes = {{0}, {0}, {0}, {0}};
    float v[CHUNK * GI_MAX_CHANNELS];
    enum gi_type type = mix->src->type;
    size_t nbytes = gi_type_nbytes(type) * channels, sample = gi_type_nbytes(type);
    for (size_t x = 0; x < pixels; x += CHUNK) {
        size_t n = pixels - x < CHUNK ? pixels - x : CHUNK;
        char kept[CHUNK * sizeof(float)]; /* alpha keeps its bits */
        for (size_t i = 0; channels == 4 && !mix->spec->alpha_too && i < n; i++)
            memcpy(kept + i * sample, in + x * nbytes + i * nbytes + 3 * sample, sample);
        if (mix->nknown) {
            look_up(&planes, &mix->known, (const uint8_t *)in + x * nbytes, n, channels);
        } else {
            GI_CPU(samples_load)(v, in + x * nbytes, n * channels, type);
            part(&planes, v, n, channels);
        }
        for (int i = mix->nknown; i < mix->spec->nsteps; i++)
            run_step(&planes, &mix->spec->steps[i], mix->spec);
        if (type == GI_U8 && channels == 3 && n == CHUNK) {
            store_bytes_of(&planes, (uint8_t *)out + x * nbytes);
            continue;
        }
        join(v, &planes, n, channels);
        GI_CPU(samples_store)(out + x * nbytes, v, n * channels, type);
        for (size_t i = 0; channels == 4 && !mix->spec->alpha_too && i < n; i++)
            memcpy(out + x * nbytes + i * nbytes + 3 * sample, kept + i * sample, sample);
    }
}

static void row_by_steps(const struct mix *mix, void *out, const void *in, size_t pixels)
{
    if (mix->src->channels == 3)
        row_of(mix, out, in, pixels, 3);
    else
        row_of(mix, out, in, pixels, 4);
}

/* ---- one matrix ---- */

static inline GI_VEC matrix_row(const struct gi_mix_step *step, int c, const GI_VEC v[3])
{
    GI_VEC f = vec_fma(vec_set(step->matrix[c][0]), v[0], vec_set(step->offset[c]));
    f = vec_fma(vec_set(step->matrix[c][1]), v[1], f);
    return vec_fma(vec_set(step->matrix[c][2]), v[2], f);
}

static void matrix_u8(const struct mix *mix, void *out, const void *in, size_t pixels)
{
    enum { AFTER = 64 / 3 /* pixels that a load may read in addition */ };
    const struct gi_mix_step step = mix->spec->steps[0];
    const uint8_t *from = in;
    uint8_t *to = out;
    size_t x = 0;
    for (; x + GI_LANES + AFTER <= pixels; x += GI_LANES) {
        GI_VEC v[3], made[3];
        vec_load_u8_thirds(v, from + 3 * x);
        for (int c = 0; c < 3; c++)
            made[c] = matrix_row(&step, c, v);
        vec_store_u8_thirds(to + 3 * x, made);
    }
    row_by_steps(mix, to + 3 * x, from + 3 * x, pixels - x);
}

/* CHUNK pixels: the samples of each channel are computed side by side, then interleaved. */
#define MATRIX(name, sample, type)                                                                 \
    static void name(const struct mix *mix, void *out, const void *in, size_t pixels)              \
    {                                                                                              \
        const struct gi_mix_step *step = &mix->spec->steps[0];                                     \
        sample made[3][CHUNK];                                                                     \
        size_t x = 0;                                                                              \
        for (; x + CHUNK <= pixels; x += CHUNK) {                                                  \
            sample *to = (sample *)out + 3 * x;                                                    \
            for (size_t i = 0; i < CHUNK; i += GI_LANES) {                                         \
                GI_VEC v[3], p = vec_load_samples(in, 3 * (x + i), type);                          \
                GI_VEC q = vec_load_samples(in, 3 * (x + i) + GI_LANES, type);                     \
                GI_VEC s = vec_load_samples(in, 3 * (x + i) + 2 * GI_LANES, type);                 \
                for (int c = 0; c < 3; c++)                                                        \
                    v[c] = vec_third(p, q, s, c);                                                  \
                for (int c = 0; c < 3; c++)                                                        \
                    vec_store_samples(made[c], i, matrix_row(step, c, v), type);                   \
            }                                                                                      \
            for (size_t i = 0; i < CHUNK; i++)                                                     \
                for (size_t c = 0; c < 3; c++)                                                     \
                    to[3 * i + c] = made[c][i];                                                    \
        }                                                                                          \
        row_by_steps(mix, (sample *)out + 3 * x, (const sample *)in + 3 * x, pixels - x);          \
    }

MATRIX(matrix_u16, uint16_t, GI_U16)
MATRIX(matrix_f32, float, GI_F32)

/* ---- the primitive ---- */

static void mix_tile(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct mix *mix = arg;
    struct gi_tile tile = GI_CPU(tile)(&mix->tiling, mix->src, index);
    size_t at = (size_t)tile.x0 * (size_t)mix->src->channels * gi_type_nbytes(mix->src->type);
    for (int y = tile.y0; y < tile.y1; y++)
        mix->row(mix, (char *)gi_row(mix->dst, y) + at, (const char *)gi_row(mix->src, y) + at,
                 (size_t)(tile.x1 - tile.x0));
}

static enum gi_status run(struct gi_queue *queue, struct mix *mix, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    mix->tiling = GI_CPU(tiling)(mix->src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, mix->tiling.nstrips * mix->tiling.nbands, mix_tile, mix, 0, err);
}

static bool is_matrix(const struct gi_queue *queue, const struct gi_image *src,
                      const struct gi_mix *spec)
{
    (void)queue;
    return src->channels == 3 && spec->nsteps == 1 && spec->steps[0].kind == GI_MIX_MATRIX;
}

static enum gi_status by_matrix_alone(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_mix *spec,
                                      struct gi_err *err)
{
    struct mix mix = {.dst = dst, .src = src, .spec = spec};
    mix.row = src->type == GI_U8 ? matrix_u8 : src->type == GI_U16 ? matrix_u16 : matrix_f32;
    return run(queue, &mix, err);
}

static enum gi_status by_steps(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_mix *spec,
                               struct gi_err *err)
{
    struct mix mix = {.dst = dst, .src = src, .spec = spec, .row = row_by_steps};
    know_bytes(&mix);
    return run(queue, &mix, err);
}

static const struct gi_mix_way ways[] = {
    {{"matrix", "one matrix, of RGB"}, is_matrix, by_matrix_alone},
    {{"steps", "everything"}, NULL, by_steps},
};

const struct gi_ways GI_CPU(mix_ways) = GI_WAYS(mix, GI_SAMPLE_TYPES, ways);

enum gi_status GI_CPU(mix)(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_mix *spec, struct gi_err *err)
{
    GI_WAYS_RUN(GI_CPU(mix_ways), ways, queue, src, (queue, src, spec),
                (queue, dst, src, spec, err), err);
}
