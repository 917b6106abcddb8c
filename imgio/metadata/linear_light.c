/* Decodes samples to linear light and encodes linear light to samples, by tables.
 * SPDX-License-Identifier: MIT */
#include "imgio/integer.h"
#include "imgio/metadata/icc.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_EXPONENT = -20, /* below 2^-20 the search begins at sample 0 */
    CELL_BITS = 12,       /* low bits of a float that do not select a cell */
    CELLS = -LEAST_EXPONENT << (23 - CELL_BITS),
    ROWS = 16, /* rows per job */
};

struct curve {
    float *light; /* linear light of each sample */
    /* of each sample: the minimum linear light that is encoded as this sample, which is midway to
     * the sample before */
    float *least;
    uint16_t *start; /* of each cell: the sample nearest to the cell's minimum */
};

struct gi_linear_light {
    int colors;
    enum gi_type type; /* type of the samples; GI_F32 uses the curves of GI_U16 */
    struct curve curves[3];
};

void gi_linear_light_free(struct gi_linear_light **light)
{
    for (int c = 0; *light && c < (*light)->colors; c++)
        free((*light)->curves[c].light);
    free(*light);
    *light = NULL;
}

/* The sRGB transfer function (IEC 61966-2-1, 5.2). */
static double srgb(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* Returns the gamma exponent that PNG's colour chunks declare, or 0 for sRGB, or -1 for another
 * transfer function. */
static double png_exponent(const struct gi_metadata *metadata)
{
    const unsigned char *at = metadata->color, *end = at ? at + metadata->color_nbytes : at;
    double exponent = 0;
    bool settled = false;
    for (; at && at < end && !settled; at += 5 + at[4]) {
        const unsigned char *p = at + 5;
        if (memcmp(at, "cICP", 4) == 0 && at[4] == 4) { /* ITU-T H.273, 8.2 */
            exponent = p[1] == 13 ? 0 : p[1] == 8 ? 1 : p[1] == 4 ? 2.2 : p[1] == 5 ? 2.8 : -1;
            settled = true;
        } else if (memcmp(at, "sRGB", 4) == 0) {
            exponent = 0;
            settled = true;
        } else if (memcmp(at, "gAMA", 4) == 0 && at[4] == 4) {
            uint32_t gamma = gi_big32(p);
            exponent = gamma == 45455 ? 0 : gamma >= 10000 && gamma <= 1000000 ? 1e5 / gamma : -1;
        }
    }
    return exponent;
}

/* Sets light[i] to the linear light of sample i / (n - 1), for each colour channel. */
static enum gi_status fill_tables(double *light, size_t n, int colors,
                                  const struct gi_metadata *metadata, struct gi_err *err)
{
    if (metadata && metadata->icc)
        return gi_icc_curves(light, n, colors, metadata, err);
    double exponent = metadata ? png_exponent(metadata) : 0;
    if (exponent < 0)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--linear: its cICP or gAMA chunk names a curve that is not known here");
    for (size_t i = 0; i < n; i++) {
        double v = (double)i / (double)(n - 1);
        light[i] = exponent ? pow(v, exponent) : srgb(v);
        for (int c = 1; c < colors; c++)
            light[(size_t)c * n + i] = light[i];
    }
    return GI_OK;
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Returns the cell that contains the linear light v, from 2^LEAST_EXPONENT to 1. */
static uint32_t cell_of(float v)
{
    return (bits_of(v) >> CELL_BITS) - ((uint32_t)(127 + LEAST_EXPONENT) << (23 - CELL_BITS));
}

/* Makes a curve of `codes` samples. `steps` alternates between the linear light of a sample and
 * that of the middle between this sample and the next. */
static void make_curve(struct curve *curve, const double *steps, size_t codes)
{
    curve->light = gi_small_alloc(codes * 2 * sizeof(float) + CELLS * sizeof(uint16_t));
    curve->least = curve->light + codes;
    curve->start = (uint16_t *)(curve->least + codes);
    for (size_t i = 0; i < codes; i++) {
        double half = i ? steps[2 * i - 1] : 0;
        curve->light[i] = (float)steps[2 * i];
        curve->least[i] = (float)half;
        if ((double)curve->least[i] < half)
            curve->least[i] = nextafterf(curve->least[i], 2);
    }
    size_t code = 0;
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        uint32_t bits = (cell + ((uint32_t)(127 + LEAST_EXPONENT) << (23 - CELL_BITS)))
                        << CELL_BITS;
        float darkest;
        memcpy(&darkest, &bits, sizeof darkest);
        while (code + 1 < codes && curve->least[code + 1] <= darkest)
            code++;
        curve->start[cell] = (uint16_t)code;
    }
}

static enum gi_status make_linear_light(struct gi_linear_light **light, int colors,
                                        enum gi_type type, const struct gi_metadata *metadata,
                                        struct gi_err *err)
{
    size_t codes = type == GI_U8 ? 256 : 65536, steps = 2 * codes - 1;
    double *values = gi_small_alloc((size_t)colors * steps * sizeof *values);
    struct gi_linear_light *made = gi_small_alloc(sizeof *made);
    *made = (struct gi_linear_light){.colors = colors, .type = type};
    enum gi_status status = fill_tables(values, steps, colors, metadata, err);
    for (int c = 0; c < colors && !status; c++)
        make_curve(&made->curves[c], values + (size_t)c * steps, codes);
    free(values);
    if (status)
        gi_linear_light_free(&made);
    *light = made;
    return status;
}

struct work {
    bool encode;
    const struct gi_linear_light *light;
    struct gi_image *dst;
    const struct gi_image *src;
};

static void decode_row(const struct work *w, int y)
{
    const struct gi_image *src = w->src;
    const void *in = gi_row(src, y);
    float *out = gi_row(w->dst, y);
    size_t channels = (size_t)src->channels, colors = (size_t)gi_color_channels(src);
    float full = gi_type_full_scale(src->type);
    for (size_t c = 0; c < channels; c++) {
        const float *light = w->light->curves[c < colors ? c : 0].light;
        for (size_t i = c; i < gi_row_samples(src); i += channels) {
            unsigned v = src->type == GI_U8 ? ((const uint8_t *)in)[i] : ((const uint16_t *)in)[i];
            out[i] = c < colors ? light[v] : (float)v / full;
        }
    }
}

/* Returns the sample nearest to v. NaN counts as 0. */
static unsigned nearest(const struct curve *curve, unsigned most, float v)
{
    if (!(v > 0))
        return 0;
    if (v >= 1)
        return most;
    unsigned code = v < 0x1p-20f ? 0 : curve->start[cell_of(v)];
    while (code < most && v >= curve->least[code + 1])
        code++;
    return code;
}

/* Returns the float sample for linear light v, 0 to 1, interpolated between two 16-bit samples. */
static float between(const struct curve *curve, float v)
{
    unsigned most = 65535, code = nearest(curve, most, v);
    code -= code && (code == most || curve->light[code] > v);
    double from = (double)curve->light[code], to = (double)curve->light[code + 1];
    double part = to > from ? ((double)v - from) / (to - from) : 0;
    return (float)((code + fmin(fmax(part, 0), 1)) / most);
}

static void encode_row(const struct work *w, int y)
{
    const struct gi_image *dst = w->dst;
    const float *in = gi_row(w->src, y);
    void *out = gi_row(dst, y);
    size_t channels = (size_t)dst->channels, colors = (size_t)gi_color_channels(dst);
    float full = gi_type_full_scale(dst->type);
    for (size_t c = 0; c < channels; c++)
        for (size_t i = c; i < gi_row_samples(dst); i += channels) {
            const struct curve *curve = c < colors ? &w->light->curves[c] : NULL;
            float clamped = in[i] > 0 ? in[i] < 1 ? in[i] : 1 : 0;
            if (dst->type == GI_F32) {
                ((float *)out)[i] = curve ? between(curve, clamped) : clamped;
                continue;
            }
            unsigned v =
                curve ? nearest(curve, (unsigned)full, in[i]) : (unsigned)lrintf(clamped * full);
            if (dst->type == GI_U8)
                ((uint8_t *)out)[i] = (uint8_t)v;
            else
                ((uint16_t *)out)[i] = (uint16_t)v;
        }
}

static void run_rows(void *arg, int job, void *scratch)
{
    const struct work *w = arg;
    for (int y = job * ROWS; y < (job + 1) * ROWS && y < w->src->height; y++)
        if (w->encode)
            encode_row(w, y);
        else
            decode_row(w, y);
}

static enum gi_status run(struct work *work, const struct gi_parallel *parallel, struct gi_err *err)
{
    int jobs = 1 + (work->src->height - 1) / ROWS;
    if (parallel)
        return parallel->run(parallel->self, jobs, run_rows, work, 0, err);
    for (int i = 0; i < jobs; i++)
        run_rows(work, i, NULL);
    return GI_OK;
}

/* Returns the type that options->light_bits asks for. */
static enum gi_type type_after(const struct gi_load_options *options, enum gi_type stored)
{
    int bits = options->light_bits;
    return bits == 8 ? GI_U8 : bits == 16 ? GI_U16 : bits == 32 ? GI_F32 : stored;
}

enum gi_status gi_linear_light_decode(struct gi_image *image, struct gi_metadata *metadata,
                                      const struct gi_load_options *options, struct gi_err *err)
{
    struct gi_linear_light *before = NULL, *after = NULL;
    struct gi_image made;
    int colors = gi_color_channels(image);
    enum gi_status status =
        make_linear_light(&after, colors, type_after(options, image->type), metadata, err);
    bool same = !status && after->type == image->type;
    if (!status && !same)
        status = make_linear_light(&before, colors, image->type, metadata, err);
    if (!status)
        status = gi_image_alloc_from(&made, options->allocator, image->width, image->height,
                                     image->channels, GI_F32, err);
    struct work work = {false, same ? after : before, &made, image};
    if (!status && (status = run(&work, options->parallel, err)))
        gi_image_free(&made);
    gi_linear_light_free(&before);
    if (status) {
        gi_linear_light_free(&after);
        return status;
    }
    made.shrunk = image->shrunk;
    made.mask = image->mask;
    gi_image_free(image);
    *image = made;
    metadata->light = after;
    return GI_OK;
}

enum gi_status gi_linear_light_renew(struct gi_metadata *metadata, struct gi_err *err)
{
    struct gi_linear_light *made, *old = metadata->light;
    if (!old)
        return GI_OK;
    enum gi_status status = make_linear_light(&made, old->colors, old->type, metadata, err);
    if (status)
        return status;
    gi_linear_light_free(&metadata->light);
    metadata->light = made;
    return GI_OK;
}

float gi_linear_light_of(const struct gi_linear_light *light, int colors, int c, double v)
{
    if (light->colors != colors)
        return (float)srgb(v);
    return light->curves[c].light[(size_t)rint(v * (light->type == GI_U8 ? 255 : 65535))];
}

enum gi_status gi_linear_light_encode(struct gi_image *dst, const struct gi_image *src,
                                      const struct gi_linear_light *light,
                                      const struct gi_parallel *parallel, struct gi_err *err)
{
    int colors = gi_color_channels(src);
    struct gi_linear_light *gray = NULL;
    enum gi_status status =
        light->colors == colors ? GI_OK : make_linear_light(&gray, colors, light->type, NULL, err);
    if (!status)
        status = gi_image_alloc(dst, src->width, src->height, src->channels, light->type, err);
    struct work work = {true, gray ? gray : light, dst, src};
    if (!status && (status = run(&work, parallel, err)))
        gi_image_free(dst);
    gi_linear_light_free(&gray);
    return status;
}
