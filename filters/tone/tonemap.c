/* Tone mapping: linear light of any range becomes an image for displays. A formula maps each pixel;
 * the primitive calc computes it in floats.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "filters/arithmetic/formula.h"
#include "filters/filter.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

enum method { REINHARD, HABLE, ACES };
enum curve { SRGB, LINEAR };
enum depth { DEPTH_AUTO, DEPTH_8, DEPTH_16, DEPTH_FLOAT };

struct tonemap_params {
    int method, curve, depth;
    double exposure, white;
};

static const struct gi_choice methods[] = {
    {"reinhard", NULL, "l / (1 + l) of the luminance: keeps hues"},
    {"hable", NULL, "filmic curve of Uncharted 2, per channel"},
    {"aces", NULL, "Narkowicz's fit of the ACES filmic curve, per channel: more contrast"},
    {"filmic", "hable", NULL},
    {"uncharted2", "hable", NULL},
    {0},
};

static const struct gi_choice curves[] = {
    {"srgb", NULL, "the curve of sRGB, as displays expect"},
    {"linear", NULL, "linear light, for further work"},
    {0},
};

static const struct gi_choice depths[] = {
    {"auto", NULL, "8, or float with --curve linear"},
    {"8", NULL, "whole numbers, 0 to 255"},
    {"16", NULL, "whole numbers, 0 to 65535"},
    {"float", NULL, "32-bit float, 0 to 1"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct tonemap_params, method), .letter = 'm', .also = "operator",
     .default_text = "reinhard", .choices = methods, .help = "Curve from radiance to display"},
    {GI_OPTION("exposure", REAL, struct tonemap_params, exposure), .letter = 'e',
     .default_text = "0", .min = -30, .max = 30, .unit = "stops",
     .help = "Multiply samples by 2^N first: 1 is twice as bright"},
    {GI_OPTION("white", REAL, struct tonemap_params, white), .letter = 'w', .min = 0.01,
     .max = 1000000,
     .help = "Value that becomes white: a luminance for reinhard (by default infinity), W for "
             "hable (by default 11.2)"},
    {GI_OPTION("curve", CHOICE, struct tonemap_params, curve), .default_text = "srgb",
     .choices = curves, .help = "How the result is encoded"},
    {GI_OPTION("depth", CHOICE, struct tonemap_params, depth), .default_text = "auto",
     .choices = depths, .help = "Sample type of the result, rounded half to even"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct tonemap_params *p = params;
    return p->method == ACES && !isnan(p->white)
               ? gi_fail(err, GI_E_USAGE,
                         "--white: aces has a fixed white point: want --method reinhard or hable, "
                         "or --exposure")
               : GI_OK;
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    const struct tonemap_params *p = params;
    const enum gi_type types[] = {p->curve == LINEAR ? GI_F32 : GI_U8, GI_U8, GI_U16, GI_F32};
    return types[p->depth]; /* in the order of enum depth */
}

static bool recolors(const void *params)
{
    return ((const struct tonemap_params *)params)->curve == SRGB;
}

/* ---- formulas ---- */

enum { FORMULA_NBYTES = 2048 };

/* Hable's curve ((x (A x + C B) + D E) / (x (A x + B) + D F)) - E / F with A = 0.15, B = 0.5, C =
 * 0.1, D = 0.2, E = 0.02, F = 0.3, over a common denominator, so that nothing cancels near 0. */
#define HABLE_TEXT "u * (0.042 * u + 0.005) / (u * (0.045 * u + 0.15) + 0.018)"

static double hable(double x)
{
    return x * (0.042 * x + 0.005) / (x * (0.045 * x + 0.15) + 0.018);
}

/* Writes the formula from the linear value v of a channel, and from red, green and blue, to t. */
static int write_method(char *text, size_t nbytes, const struct tonemap_params *p)
{
    double white = p->white;
    switch ((enum method)p->method) {
    case HABLE:
        return snprintf(text, nbytes, "u = 2 * v; t = " HABLE_TEXT " * %.17g;",
                        1 / hable(isnan(white) ? 11.2 : white));
    case ACES:
        return snprintf(text, nbytes,
                        "t = v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14);");
    default:
        return snprintf(text, nbytes,
                        "l = %.17g * red + %.17g * green + %.17g * blue; "
                        "t = v * ((1 + l * %.17g) / (1 + l));",
                        GI_LUMA_RED, GI_LUMA_GREEN, GI_LUMA_BLUE,
                        isnan(white) ? 0 : 1 / (white * white));
    }
}

/* Above this sum nothing changes any more: all curves are at white. It keeps infinity from becoming
 * NaN. */
#define MOST "1e9"

/* Writes the formula of the operation. `encoded`: the samples have the curve of sRGB. */
static void write_formula(char *text, const struct tonemap_params *p, bool encoded)
{
    static const char *const values[][2] = {
        {"v", "a"}, {"red", "a.r"}, {"green", "a.g"}, {"blue", "a.b"}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *name = values[i][0], *from = values[i][1];
        n += (size_t)snprintf(text + n, FORMULA_NBYTES - n, "%s = clamp((", name);
        /* IEC 61966-2-1, 5.2 */
        n +=
            (size_t)(encoded ? snprintf(text + n, FORMULA_NBYTES - n,
                                        "%s <= 0.04045 ? %s / 12.92 : ((%s + 0.055) / 1.055) ^ 2.4",
                                        from, from, from)
                             : snprintf(text + n, FORMULA_NBYTES - n, "%s", from));
        n += (size_t)snprintf(text + n, FORMULA_NBYTES - n, ") * %.17g, 0, " MOST ");",
                              exp2(p->exposure));
    }
    n += (size_t)write_method(text + n, FORMULA_NBYTES - n, p);
    snprintf(text + n, FORMULA_NBYTES - n, "%s",
             p->curve == LINEAR ? "min(t, 1)"
                                : "s = min(t, 1); s <= 0.0031308 ? 12.92 * s : 1.055 * s ^ (1 / "
                                  "2.4) - 0.055");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct tonemap_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    char text[FORMULA_NBYTES];
    plan->result.type = result_type(p, src->type);
    plan->cost.fmas = 40;
    struct gi_calc *program = gi_plan_tables(plan, sizeof *program, err);
    if (!program)
        return GI_E_MEMORY;
    write_formula(text, p, src->type != GI_F32);
    return gi_formula_compile(program, src->channels, text, err);
}

/* Maps floats, and converts them to the type of `dst`. */
static enum gi_status map(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const struct gi_calc *program, struct gi_err *err)
{
    struct gi_image mapped;
    if (dst->type == GI_F32)
        return queue->k->calc(queue, dst, src, program, err);
    enum gi_status status =
        queue->k->alloc(queue, &mapped, src->width, src->height, src->channels, GI_F32, err);
    if (status)
        return status;
    status = queue->k->calc(queue, &mapped, src, program, err);
    if (!status)
        status = queue->k->convert(queue, dst, &mapped, NULL, err);
    queue->k->release(queue, &mapped);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    struct gi_image floats;
    if (src->type == GI_F32)
        return map(queue, work->dst, src, plan->tables, err);
    enum gi_status status =
        queue->k->alloc(queue, &floats, src->width, src->height, src->channels, GI_F32, err);
    if (status)
        return status;
    status = queue->k->convert(queue, &floats, src, NULL, err);
    if (!status)
        status = map(queue, work->dst, &floats, plan->tables, err);
    queue->k->release(queue, &floats);
    return status;
}

const struct gi_filter gi_filter_tonemap = {
    .name = "tonemap",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .samples.result_type = result_type,
    .samples.recolors = recolors,
    .summary = "Tone mapping: show HDR images on a display (Reinhard, Hable, ACES)",
    .examples = "gpuimg tonemap light.hdr out.png\n"
                "gpuimg tonemap light.hdr out.jpg --method aces --exposure -1\n"
                "gpuimg tonemap light.hdr out.png --method reinhard --white 4 --depth 16\n"
                "gpuimg run 'gaussian --sigma 2 | tonemap --method hable --curve linear' light.hdr "
                "out.pfm",
    .manual =
        "Compresses linear light of any range to 0 to 1, then applies the curve of sRGB. Float "
        "images, such as HDR, EXR, PFM and float TIFF, hold linear light. Images of 8 and 16 bits "
        "are "
        "decoded with the curve of sRGB first. Every sample is multiplied by 2^exposure, which "
        "gives v. With the luminance l = 0.2126 R + 0.7152 G + 0.0722 B of the pixel (BT.709) and "
        "x = 2 v the result t is\n\n"
        "  reinhard  v (1 + l / white^2) / (1 + l)\n"
        "  hable     U(x) / U(white),\n"
        "            U(x) = x (0.042 x + 0.005) / (x (0.045 x + 0.15) + 0.018)\n"
        "  aces      v (2.51 v + 0.03) / (v (2.43 v + 0.59) + 0.14)\n\n"
        "limited to 1. The result has 8 bits, or those of --depth, which here is this option and "
        "not the common one. It has no colour profile with --curve srgb: primaries are those of "
        "sRGB. In gpuimg run --linear give --curve linear.\n\n"
        "Alpha does not change. Negative samples count as 0, and samples above 10^9 (infinity, "
        "too) as 10^9. NaN stays in floats and becomes black in 8 and 16 bits; for reinhard the "
        "whole pixel is NaN. The exposure does not depend on the image: --exposure replaces the "
        "key and the mean luminance of Reinhard's equations 1 and 2. U is Hable's curve with A = "
        "0.15, B = 0.5, C = 0.1, D = 0.2, E = 0.02, F = 0.3, over a common denominator, and 2 is "
        "his exposure bias.\n\n"
        "Sources: E. Reinhard, M. Stark, P. Shirley and J. Ferwerda, \"Photographic tone "
        "reproduction for digital images\", SIGGRAPH 2002, equations 3 and 4; J. Hable, \"Filmic "
        "tonemapping operators\", 2010; K. Narkowicz, \"ACES filmic tone mapping curve\", 2015.",
    .options = options,
    .params_nbytes = sizeof(struct tonemap_params),
    .check = check,
    .plan = plan,
    .run = run,
};
