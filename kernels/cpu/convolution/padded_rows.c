/* Converts rows of samples to padded rows of floats and back.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/cpu/common/simd.h"

static inline void load_type(float *out, const void *in, size_t n, enum gi_type type)
{
    size_t i = 0, nbytes = gi_type_nbytes(type);
    for (; i + GI_LANES <= n; i += GI_LANES)
        vec_store(out + i, vec_load_samples(in, i, type));
    if (i < n) { /* copies the last samples, so that no byte past the row is read */
        float last[GI_LANES] = {0};
        memcpy(last, (const char *)in + i * nbytes, (n - i) * nbytes);
        vec_store(last, vec_load_samples(last, 0, type));
        memcpy(out + i, last, (n - i) * sizeof *out);
    }
}

static inline void store_type(void *out, const float *in, size_t n, enum gi_type type)
{
    size_t i = 0, nbytes = gi_type_nbytes(type);
    for (; i + GI_LANES <= n; i += GI_LANES)
        vec_store_samples(out, i, vec_load(in + i), type);
    if (i < n) {
        float last[GI_LANES] = {0};
        memcpy(last, in + i, (n - i) * sizeof *in);
        vec_store_samples(last, 0, vec_load(last), type);
        memcpy((char *)out + i * nbytes, last, (n - i) * nbytes);
    }
}

void GI_CPU(samples_store)(void *out, const float *in, size_t n, enum gi_type type)
{
    GI_CPU_TYPES(type, store_type(out, in, n, TYPE));
}

void GI_CPU(samples_load)(float *out, const void *in, size_t n, enum gi_type type)
{
    GI_CPU_TYPES(type, load_type(out, in, n, TYPE));
}

static float sample(const void *row, size_t i, enum gi_type type)
{
    GI_CPU_TYPES(type, return ((const T *)row)[i]);
    return 0;
}

/* Loads pixels x0 <= x < x1 that are outside the image, or in a row outside it (y = -1). */
static float *load_outside(const struct gi_sweep *sweep, float *out, int y, long long x0,
                           long long x1)
{
    const struct gi_image *src = sweep->src;
    size_t channels = (size_t)src->channels;
    for (long long x = x0; x < x1; x++) {
        int i = y < 0 ? -1 : gi_border_index(x, src->width, sweep->border->mode);
        for (size_t c = 0; c < channels; c++)
            *out++ = i < 0 ? sweep->border->value[c]
                           : sample(gi_row(src, y), (size_t)i * channels + c, src->type);
    }
    return out;
}

/* Writes the border values as samples, repeated to fill a vector. */
static void border_pixel(float pixel[GI_LANES], const struct gi_border_spec *border,
                         const struct gi_image *src)
{
    float value[GI_LANES] = {0};
    memcpy(value, border->value, sizeof border->value);
    GI_CPU(samples_store)(pixel, value, (size_t)src->channels, src->type);
}

bool GI_CPU(border_is_whole)(const struct gi_border_spec *border, const struct gi_image *src)
{
    float pixel[GI_LANES], value[GI_LANES];
    size_t n = (size_t)src->channels;
    border_pixel(pixel, border, src);
    GI_CPU(samples_load)(value, pixel, n, src->type);
    return border->mode != GI_BORDER_VALUE || memcmp(value, border->value, n * sizeof *value) == 0;
}

void GI_CPU(row_copy)(void *out, const struct gi_image *src, const struct gi_border_spec *border,
                      long long p, long long x0, size_t count)
{
    size_t pixel = (size_t)src->channels * gi_type_nbytes(src->type); /* bytes */
    float outside[GI_LANES] = {0};
    int y = gi_border_index(p, src->height, border->mode);
    const char *row = y < 0 ? NULL : gi_row(src, y);
    long long x1 = x0 + (long long)count;
    char *to = out;
    if (border->mode == GI_BORDER_VALUE)
        border_pixel(outside, border, src);
    for (long long x = x0; x < x1;) {
        long long run = 1;
        int i = row ? gi_border_index(x, src->width, border->mode) : -1;
        if (i >= 0 && i == x)
            run = (x1 < src->width ? x1 : src->width) - x;
        memcpy(to, i < 0 ? (const char *)outside : row + (size_t)i * pixel, (size_t)run * pixel);
        to += (size_t)run * pixel;
        x += run;
    }
}

const void *GI_CPU(row_at)(void *buffer, const struct gi_image *src,
                           const struct gi_border_spec *border, long long p, long long x0,
                           size_t count)
{
    int y = gi_border_index(p, src->height, border->mode);
    if (y >= 0 && x0 >= 0 && x0 + (long long)count <= src->width)
        return (char *)gi_row(src, y) +
               (size_t)x0 * (size_t)src->channels * gi_type_nbytes(src->type);
    GI_CPU(row_copy)(buffer, src, border, p, x0, count);
    return buffer;
}

static void premultiply(float *row, size_t n, int channels)
{
    for (size_t i = 0; i < n; i += GI_LANES) {
        GI_VEC v = vec_load(row + i), a = vec_alpha(v, channels);
        vec_store(row + i, vec_with_alpha(vec_mul(v, a), a, channels));
    }
}

void GI_CPU(row_load)(const struct gi_sweep *sweep, float *out, int y, long long x0, size_t count)
{
    const struct gi_image *src = sweep->src;
    long long x1 = x0 + (long long)count;
    long long in0 = x0 < 0 ? 0 : x0, in1 = x1 < src->width ? x1 : src->width;
    size_t channels = (size_t)src->channels;
    float *p = out;
    if (y < 0 || in0 >= in1) {
        load_outside(sweep, p, y, x0, x1);
    } else {
        size_t n = (size_t)(in1 - in0) * channels;
        const char *row = gi_row(src, y);
        p = load_outside(sweep, p, y, x0, in0);
        GI_CPU(samples_load)
        (p, row + (size_t)in0 * channels * gi_type_nbytes(src->type), n, src->type);
        load_outside(sweep, p + n, y, in1, x1);
    }
    if (sweep->alpha != GI_ALPHA_PLAIN)
        premultiply(out, count * channels, src->channels);
}

/* The parameters of finish(). They are passed by value, because the compiler must assume that
 * storing samples changes parameters behind a pointer. */
struct last_steps {
    enum gi_epilogue_kind kind;
    bool settle;
    enum gi_alpha_rule alpha;
    int channels;
    GI_VEC bias, amount, threshold, inverse_sum, full;
};

/* Applies the epilogue to GI_LANES filtered samples f with source samples s; returns the values to
 * be rounded. */
static inline GI_VEC apply_epilogue(const struct last_steps how, GI_VEC f, GI_VEC s)
{
    GI_VEC alpha = f, zero = vec_set(0);
    if (how.alpha == GI_ALPHA_WEIGH) {
        alpha = vec_mul(vec_alpha(f, how.channels), how.inverse_sum);
        f = vec_if_greater(alpha, zero, vec_div(f, alpha), zero);
        alpha = vec_if_greater(alpha, zero, alpha, zero);
    } else if (how.alpha == GI_ALPHA_KEEP) {
        f = vec_div(f, how.full);
        alpha = s;
    }
    if (GI_EPILOGUE_COMPARES(how.kind)) {
        GI_VEC d = vec_sub(s, f);
        f = how.kind == GI_EPILOGUE_ABOVE
                ? vec_if_greater(d, how.threshold, how.amount, how.bias)
                : vec_if_greater(vec_abs(d), how.threshold, vec_fma(how.amount, d, s), s);
        alpha = s;
    } else {
        f = vec_add(how.kind == GI_EPILOGUE_ABS ? vec_abs(f) : f, how.bias);
    }
    if (how.settle && !GI_EPILOGUE_COMPARES(how.kind)) {
        f = vec_settle(f, GI_U8);
        alpha = how.alpha == GI_ALPHA_KEEP ? alpha : vec_settle(alpha, GI_U8);
    }
    return how.channels % 2 ? f : vec_with_alpha(f, alpha, how.channels);
}

/* Applies the epilogue to a row. `type`, `kind` and `has_alpha` are constants after inlining, so
 * that the loop has no branches. */
static inline __attribute__((always_inline)) void
epilogue_row(struct last_steps how, const float *f, void *out, const void *in, size_t n,
             enum gi_type type, enum gi_epilogue_kind kind, bool has_alpha)
{
    size_t i = 0, nbytes = gi_type_nbytes(type);
    bool needs_source = has_alpha || GI_EPILOGUE_COMPARES(kind);
    how.kind = kind;
    if (!has_alpha) {
        how.alpha = GI_ALPHA_PLAIN;
        how.channels = 1;
    }
    for (; i + GI_LANES <= n; i += GI_LANES) {
        GI_VEC s = needs_source ? vec_load_samples(in, i, type) : vec_set(0);
        vec_store_samples(out, i, apply_epilogue(how, vec_load(f + i), s), type);
    }
    if (i < n) { /* copies the last samples, so that no byte past the rows is accessed */
        float last[GI_LANES] = {0};
        memcpy(last, (const char *)in + i * nbytes, (n - i) * nbytes);
        GI_VEC s = vec_load_samples(last, 0, type);
        vec_store_samples(last, 0, apply_epilogue(how, vec_load(f + i), s), type);
        memcpy((char *)out + i * nbytes, last, (n - i) * nbytes);
    }
}

#define EPILOGUE(kind)                                                                             \
    case kind:                                                                                     \
        if (how->channels % 2)                                                                     \
            epilogue_row(*how, f, out, in, n, type, kind, false);                                  \
        else                                                                                       \
            epilogue_row(*how, f, out, in, n, type, kind, true);                                   \
        break;

static inline __attribute__((always_inline)) void epilogue_type(const struct last_steps *how,
                                                                const float *f, void *out,
                                                                const void *in, size_t n,
                                                                enum gi_type type)
{
    switch (how->kind) {
        EPILOGUE(GI_EPILOGUE_STORE)
        EPILOGUE(GI_EPILOGUE_ABS)
        EPILOGUE(GI_EPILOGUE_UNSHARP)
        EPILOGUE(GI_EPILOGUE_ABOVE)
    }
}

void GI_CPU(row_finish)(const struct gi_sweep *sweep, const float *f, int y, int x0, size_t n)
{
    enum gi_type type = sweep->src->type;
    size_t first = (size_t)x0 * (size_t)sweep->src->channels * gi_type_nbytes(type);
    char *out = (char *)gi_row(sweep->dst, y) + first;
    const char *in = (const char *)gi_row(sweep->src, y) + first;
    const struct last_steps how = {.kind = sweep->epilogue.kind,
                                   .settle = sweep->epilogue.settle,
                                   .alpha = sweep->alpha,
                                   .channels = sweep->src->channels,
                                   .bias = vec_set(sweep->epilogue.bias),
                                   .amount = vec_set(sweep->epilogue.amount),
                                   .threshold = vec_set(sweep->epilogue.threshold),
                                   .inverse_sum = vec_set(sweep->inverse_sum),
                                   .full = vec_set(gi_type_full_scale(type))};
    GI_CPU_TYPES(type, epilogue_type(&how, f, out, in, n, TYPE));
}
