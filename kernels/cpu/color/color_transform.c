/* Colour transforms, which compute each channel of a pixel from all its channels. Pixels are
 * unpacked into planes of floats, and each step runs over a chunk of the planes. A single 3 x 3
 * matrix is applied in vectors, from samples to samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/color.h"

enum {
    CHUNK = 256 /* pixels: a multiple of GI_LANES of every level; one for each byte value */,
    STRIP_MAX = 1 << 16 /* pixels */
};

struct color_transform_planes {
    float r[CHUNK], g[CHUNK], b[CHUNK], a[CHUNK];
};

struct color_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_color_transform *spec;
    struct gi_tiling tiling;
    int nknown; /* number of leading steps that are looked up in `known` */
    struct color_transform_planes
        known; /* results of those steps for all 256 values of each colour */
    void (*row)(const struct color_work *color_work, void *out, const void *in, size_t pixels);
};

/* ---- steps ---- */

#define EACH_PIXEL for (int i = 0; i < CHUNK; i++)

/* Steps and curves are passed by value, because the compiler must assume that storing samples
 * changes what is behind a pointer. */
static void by_matrix(struct color_transform_planes *p, const struct gi_color_step step)
{
    EACH_PIXEL
    {
        float r = p->r[i], g = p->g[i], b = p->b[i];
        p->r[i] = gi_color_matrix_row(&step, 0, r, g, b, 0, false);
        p->g[i] = gi_color_matrix_row(&step, 1, r, g, b, 0, false);
        p->b[i] = gi_color_matrix_row(&step, 2, r, g, b, 0, false);
    }
}

static void by_matrix_with_alpha(struct color_transform_planes *p, const struct gi_color_step step)
{
    EACH_PIXEL
    {
        float r = p->r[i], g = p->g[i], b = p->b[i], a = p->a[i];
        p->r[i] = gi_color_matrix_row(&step, 0, r, g, b, a, true);
        p->g[i] = gi_color_matrix_row(&step, 1, r, g, b, a, true);
        p->b[i] = gi_color_matrix_row(&step, 2, r, g, b, a, true);
        p->a[i] = gi_color_matrix_row(&step, 3, r, g, b, a, true);
    }
}

/* As gi_color_curve_at(), but all indices are computed before the tables are read. */
static void by_power(float *v, const struct gi_color_curve curve, const struct gi_power *power)
{
    const GI_VEC cut = vec_set(curve.cut), slope = vec_set(curve.slope), low = vec_set(curve.low);
    const GI_VEC scale = vec_set(curve.scale), offset = vec_set(curve.offset), zero = vec_set(0);
    int32_t cell[CHUNK], octave[CHUNK]; /* byte offsets */
    float t[CHUNK];
    EACH_PIXEL
    {
        float size = curve.odd ? fabsf(v[i]) : v[i];
        struct gi_power_place at = gi_power_place_of(fmaf(curve.in_scale, size, curve.in_offset));
        cell[i] = at.cell * (int32_t)sizeof(float);
        octave[i] = at.octave * (int32_t)sizeof(float);
        t[i] = at.t;
    }
    for (int i = 0; i < CHUNK; i += GI_LANES) {
        GI_VEC two[2], by, x = vec_load(v + i), size = curve.odd ? vec_abs(x) : x;
        vec_gather_twice(two, power->cell, cell + i, GI_F32);
        vec_gather(&by, power->octave, octave + i, GI_F32);
        GI_VEC w = vec_mul(by, vec_fma(vec_load(t + i), vec_sub(two[1], two[0]), two[0]));
        GI_VEC y = vec_if_greater(size, cut, vec_fma(scale, w, offset), vec_fma(slope, size, low));
        if (curve.odd)
            y = vec_if_greater(zero, x, vec_mul(y, vec_set(-1)), y);
        vec_store(v + i, y);
    }
}

static void by_curve(float *v, const struct gi_color_curve curve,
                     const struct gi_color_transform *spec)
{
    if (curve.power < 0)
        EACH_PIXEL v[i] = gi_color_curve_at(&curve, NULL, NULL, v[i]);
    else
        by_power(v, curve, spec->powers[curve.power]);
}

/* GI_COLOR_TO_LUV and GI_COLOR_FROM_LUV. */
static void by_luv(struct color_transform_planes *p, const struct gi_color_step step,
                   const struct gi_color_transform *spec)
{
    float bent[CHUNK];
    bool to = step.kind == GI_COLOR_TO_LUV;
    memcpy(bent, to ? p->g : p->r, sizeof bent);
    by_curve(bent, step.curve, spec);
    if (to)
        EACH_PIXEL gi_color_to_luv(&p->r[i], &p->g[i], &p->b[i], bent[i], step.offset);
    else
        EACH_PIXEL gi_color_from_luv(&p->r[i], &p->g[i], &p->b[i], bent[i], step.offset);
}

static void run_step(struct color_transform_planes *p, const struct gi_color_step *step,
                     const struct gi_color_transform *spec)
{
    float full = step->full;
    switch (step->kind) {
    case GI_COLOR_MATRIX:
        if (spec->alpha_too)
            by_matrix_with_alpha(p, *step);
        else
            by_matrix(p, *step);
        break;
    case GI_COLOR_CURVE:
        by_curve(p->r, step->curve, spec);
        by_curve(p->g, step->curve, spec);
        by_curve(p->b, step->curve, spec);
        break;
    case GI_COLOR_TO_HSV:
        EACH_PIXEL gi_color_to_hsv(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_COLOR_FROM_HSV:
        EACH_PIXEL gi_color_from_hsv(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_COLOR_TO_HSL:
        EACH_PIXEL gi_color_to_hsl(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_COLOR_FROM_HSL:
        EACH_PIXEL gi_color_from_hsl(&p->r[i], &p->g[i], &p->b[i], full);
        break;
    case GI_COLOR_TO_LUV:
    case GI_COLOR_FROM_LUV:
        by_luv(p, *step, spec);
        break;
    case GI_COLOR_TO_LCH:
        EACH_PIXEL gi_color_to_lch(&p->g[i], &p->b[i]);
        break;
    case GI_COLOR_FROM_LCH:
        EACH_PIXEL gi_color_from_lch(&p->g[i], &p->b[i]);
        break;
    }
}

/* Returns whether the step changes each colour independently of the others. */
static bool is_per_channel(const struct gi_color_step *step)
{
    if (step->kind != GI_COLOR_MATRIX)
        return step->kind == GI_COLOR_CURVE;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != j && step->matrix[i][j] != 0)
                return false;
    return true;
}

/* Applies the leading steps, which depend on one byte each, to all 256 byte values. */
static void know_bytes(struct color_work *color_work)
{
    const struct gi_color_transform *spec = color_work->spec;
    struct color_transform_planes *p = &color_work->known;
    if (color_work->src->type != GI_U8 || spec->alpha_too)
        return;
    EACH_PIXEL p->r[i] = p->g[i] = p->b[i] = (float)i;
    for (; color_work->nknown < spec->nsteps && is_per_channel(&spec->steps[color_work->nknown]);
         color_work->nknown++)
        run_step(p, &spec->steps[color_work->nknown], spec);
}

/* Looks up the results of the leading steps for n pixels, which are bytes. */
static inline void look_up(struct color_transform_planes *p,
                           const struct color_transform_planes *known, const uint8_t *in, size_t n,
                           size_t channels)
{
    for (size_t i = 0; i < n; i++) {
        p->r[i] = known->r[in[i * channels]];
        p->g[i] = known->g[in[i * channels + 1]];
        p->b[i] = known->b[in[i * channels + 2]];
    }
}

static inline void part(struct color_transform_planes *p, const float *v, size_t n, size_t channels)
{
    for (size_t i = 0; i < n; i++) {
        p->r[i] = v[i * channels];
        p->g[i] = v[i * channels + 1];
        p->b[i] = v[i * channels + 2];
        if (channels == 4)
            p->a[i] = v[i * channels + 3];
    }
}

static inline void join(float *v, const struct color_transform_planes *p, size_t n, size_t channels)
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
static inline void store_bytes_of(const struct color_transform_planes *p, uint8_t *out)
{
    for (size_t i = 0; i < CHUNK; i += GI_LANES) {
        const GI_VEC v[3] = {vec_settle(vec_load(p->r + i), GI_U8),
                             vec_settle(vec_load(p->g + i), GI_U8),
                             vec_settle(vec_load(p->b + i), GI_U8)};
        vec_store_u8_thirds(out + 3 * i, v);
    }
}

static inline __attribute__((always_inline)) void row_of(const struct color_work *color_work,
                                                         char *out, const char *in, size_t pixels,
                                                         size_t channels)
{
    struct color_transform_planes planes = {{0}, {0}, {0}, {0}};
    float v[CHUNK * GI_MAX_CHANNELS];
    enum gi_type type = color_work->src->type;
    size_t nbytes = gi_type_nbytes(type) * channels, sample = gi_type_nbytes(type);
    for (size_t x = 0; x < pixels; x += CHUNK) {
        size_t n = pixels - x < CHUNK ? pixels - x : CHUNK;
        char kept[CHUNK * sizeof(float)]; /* alpha keeps its bits */
        for (size_t i = 0; channels == 4 && !color_work->spec->alpha_too && i < n; i++)
            memcpy(kept + i * sample, in + x * nbytes + i * nbytes + 3 * sample, sample);
        if (color_work->nknown) {
            look_up(&planes, &color_work->known, (const uint8_t *)in + x * nbytes, n, channels);
        } else {
            GI_CPU(samples_load)(v, in + x * nbytes, n * channels, type);
            part(&planes, v, n, channels);
        }
        for (int i = color_work->nknown; i < color_work->spec->nsteps; i++)
            run_step(&planes, &color_work->spec->steps[i], color_work->spec);
        if (type == GI_U8 && channels == 3 && n == CHUNK) {
            store_bytes_of(&planes, (uint8_t *)out + x * nbytes);
            continue;
        }
        join(v, &planes, n, channels);
        for (size_t i = 0; type == GI_U8 && i < n * channels; i++)
            v[i] = gi_settle(v[i], GI_U8);
        GI_CPU(samples_store)(out + x * nbytes, v, n * channels, type);
        for (size_t i = 0; channels == 4 && !color_work->spec->alpha_too && i < n; i++)
            memcpy(out + x * nbytes + i * nbytes + 3 * sample, kept + i * sample, sample);
    }
}

static void row_by_steps(const struct color_work *color_work, void *out, const void *in,
                         size_t pixels)
{
    if (color_work->src->channels == 3)
        row_of(color_work, out, in, pixels, 3);
    else
        row_of(color_work, out, in, pixels, 4);
}

/* ---- one matrix ---- */

static inline GI_VEC matrix_row(const struct gi_color_step *step, int c, const GI_VEC v[3])
{
    GI_VEC f = vec_fma(vec_set(step->matrix[c][0]), v[0], vec_set(step->offset[c]));
    f = vec_fma(vec_set(step->matrix[c][1]), v[1], f);
    return vec_fma(vec_set(step->matrix[c][2]), v[2], f);
}

/* Transforms GI_LANES pixels; reads 64 bytes. */
static inline void matrix_pixels(const struct gi_color_step *step, uint8_t *to, const uint8_t *from)
{
    GI_VEC v[3];
    vec_load_u8_thirds(v, from);
    const GI_VEC made[3] = {matrix_row(step, 0, v), matrix_row(step, 1, v), matrix_row(step, 2, v)};
    vec_settle_thirds(to, made);
}

static void matrix_u8(const struct color_work *color_work, void *out, const void *in, size_t pixels)
{
    enum { READ = 64 / 3 + 1 /* pixels that a load touches */, MOST = READ + 2 * GI_LANES };
    const struct gi_color_step step = color_work->spec->steps[0];
    const uint8_t *from = in;
    uint8_t *to = out, last[3 * MOST] = {0};
    size_t x = 0;
    for (; x + READ <= pixels; x += GI_LANES)
        matrix_pixels(&step, to + 3 * x, from + 3 * x);
    /* Copies the last pixels, so that no byte past the row is accessed. */
    memcpy(last, from + 3 * x, 3 * (pixels - x));
    for (size_t i = 0; x + i < pixels; i += GI_LANES)
        matrix_pixels(&step, last + 3 * i, last + 3 * i);
    memcpy(to + 3 * x, last, 3 * (pixels - x));
}

/* Processes CHUNK pixels: computes samples channel by channel, then interleaves the channels. */
#define MATRIX(name, sample, type)                                                                 \
    static void name(const struct color_work *color_work, void *out, const void *in,               \
                     size_t pixels)                                                                \
    {                                                                                              \
        const struct gi_color_step *step = &color_work->spec->steps[0];                            \
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
        row_by_steps(color_work, (sample *)out + 3 * x, (const sample *)in + 3 * x, pixels - x);   \
    }

MATRIX(matrix_u16, uint16_t, GI_U16)
MATRIX(matrix_f32, float, GI_F32)

/* ---- the primitive ---- */

static void transform_tile(void *arg, int index, void *scratch)
{
    const struct color_work *color_work = arg;
    struct gi_tile tile = GI_CPU(tile)(&color_work->tiling, color_work->src, index);
    size_t at =
        (size_t)tile.x0 * (size_t)color_work->src->channels * gi_type_nbytes(color_work->src->type);
    for (int y = tile.y0; y < tile.y1; y++)
        color_work->row(color_work, (char *)gi_row(color_work->dst, y) + at,
                        (const char *)gi_row(color_work->src, y) + at, (size_t)(tile.x1 - tile.x0));
}

static enum gi_status run(struct gi_queue *queue, struct color_work *color_work, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    color_work->tiling = GI_CPU(tiling)(color_work->src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, color_work->tiling.nstrips * color_work->tiling.nbands, transform_tile,
                       color_work, 0, err);
}

/* Accepts no matrix whose results for bytes may exceed 16 bits. */
static bool matrix_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_color_transform *spec)
{
    const struct gi_color_step *step = &spec->steps[0];
    bool takes = src->channels == 3 && spec->nsteps == 1 && step->kind == GI_COLOR_MATRIX;
    for (int i = 0; takes && src->type == GI_U8 && i < 3; i++) {
        const float *m = step->matrix[i];
        float sum = fabsf(m[0]) + fabsf(m[1]) + fabsf(m[2]);
        takes = 255 * sum + fabsf(step->offset[i]) < INT16_MAX;
    }
    return takes;
}

static enum gi_status by_matrix_alone(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src,
                                      const struct gi_color_transform *spec, struct gi_err *err)
{
    struct color_work color_work = {.dst = dst, .src = src, .spec = spec};
    color_work.row = src->type == GI_U8 ? matrix_u8 : src->type == GI_U16 ? matrix_u16 : matrix_f32;
    return run(queue, &color_work, err);
}

static enum gi_status by_steps(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_color_transform *spec,
                               struct gi_err *err)
{
    struct color_work color_work = {.dst = dst, .src = src, .spec = spec, .row = row_by_steps};
    know_bytes(&color_work);
    return run(queue, &color_work, err);
}

const struct gi_color_transform_way GI_CPU(color_transform_ways)[GI_WAYS_MAX] = {
    {{"matrix", "one matrix, of RGB"}, matrix_takes, by_matrix_alone},
    {{"steps", "everything"}, NULL, by_steps},
};
