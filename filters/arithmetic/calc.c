/* Arithmetic on the samples of several images by an expression. The plan compiles the expression to
 * a program of the primitive calc, with a copy of each part that depends on the channel.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/calc.h"
#include "filters/arithmetic/calc_parse.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

enum { WITH = GI_SOURCES_MAX - 1, ALPHA = 3 };

struct calc_params {
    const char *expression;
    const char *with[WITH]; /* "PATH" or "NAME=PATH" */
    bool normalized, alpha;
    int band[CALC_BANDS_MAX], nbands; /* bands that are named; set by check() */
    bool chosen;                      /* they are the channels of the input */
};

#define WITH_OPTION(text, member)                                                                  \
    GI_OPTION(text, IMAGE, struct calc_params, member), .picture = true, .named = true,            \
                                                        .metavar = "[NAME=]IMAGE"

static const struct gi_option options[] = {
    {GI_OPTION("expression", TEXT, struct calc_params, expression), .letter = 'e', .operand = true,
     .example = "clamp(a * 1.25 - a(-1, 0) / 4 + full * sin(x / 9) * exp(-y / 20) / 5, 0, full)",
     .form = "'255 - a'", .metavar = "EXPRESSION",
     .help = "The expression, if it is not the first operand"},
    {WITH_OPTION("with", with[0]), .letter = 'w',
     .help = "A second image, of the same size as the input. The expression calls it b, or NAME. "
             "Give --with again for a third and a fourth image, which are c and d"},
    {WITH_OPTION("with-c", with[1]), .help = "What a second --with sets"},
    {WITH_OPTION("with-d", with[2]), .help = "What a third --with sets"},
    {GI_OPTION("normalized", FLAG, struct calc_params, normalized), .also = "normalised",
     .letter = 'n', .help = "Samples and results are 0 to 1 in all depths: 0 is black, 1 is white"},
    {GI_OPTION("alpha", FLAG, struct calc_params, alpha),
     .help = "Compute alpha like the other channels; without this option the result has the alpha "
             "of the input"},
    {.name = NULL},
};

/* Sets the names of the images. `images` are their shapes, or NULL if these are not yet known. */
static enum gi_status make_scope(struct calc_scope *scope, const struct calc_params *p,
                                 const struct gi_image *images, struct gi_err *err)
{
    static const char *const usual[] = {"b", "c", "d"};
    const struct gi_image any = {.width = 1, .height = 1, .channels = 4, .type = GI_U8};
    *scope = (struct calc_scope){.names = {"a"},
                                 .images = {images ? *images : any},
                                 .nimages = 1,
                                 .normalized = p->normalized};
    for (int i = 0; i < WITH; i++) {
        if (!p->with[i])
            continue;
        const char *path = gi_named_path(p->with[i]);
        char *name = scope->names[scope->nimages];
        size_t n = path > p->with[i] ? (size_t)(path - p->with[i]) - 1 : 0;
        snprintf(name, CALC_NAME_NBYTES, "%.*s", n ? (int)n : 1, n ? p->with[i] : usual[i]);
        bool again = false;
        for (int j = 0; j < scope->nimages; j++)
            again = again || strcmp(scope->names[j], name) == 0;
        if (n >= CALC_NAME_NBYTES || again || !calc_is_name(name))
            return gi_fail(
                err, GI_E_USAGE,
                "--with %s: want a name of up to %d letters, digits and underscores that "
                "is not in use",
                p->with[i], CALC_NAME_NBYTES - 1);
        scope->images[scope->nimages] = images ? images[scope->nimages] : any;
        scope->nimages++;
    }
    return GI_OK;
}

static enum gi_status check(void *params, struct gi_err *err)
{
    struct calc_params *p = params;
    struct calc_scope scope;
    struct calc_found found;
    if (!p->expression)
        return gi_fail(err, GI_E_USAGE, "want an expression, for example '255 - a'");
    enum gi_status status = make_scope(&scope, p, NULL, err);
    if (status)
        return status;
    struct calc_code *code = gi_small_calloc(1, sizeof *code);
    status = calc_parse(code, &found, &scope, p->expression, 0, 0, err);
    if (!status && p->alpha && found.nbands > 1)
        status = gi_fail(err, GI_E_USAGE, "--alpha: want one expression, not %d", found.nbands);
    if (!status && found.nnamed && found.channels)
        status = gi_fail(err, GI_E_USAGE,
                         "expression: want either bands of the input, as a[b%d], or its channels",
                         found.band[0]);
    p->nbands = found.nnamed;
    memcpy(p->band, found.band, sizeof p->band);
    p->chosen = false;
    free(code);
    return status;
}

bool gi_calc_choose_bands(char text[GI_CALC_BANDS_TEXT], void *params)
{
    struct calc_params *p = params;
    const int *band = p->band;
    p->chosen = p->nbands > 0;
    if (p->nbands == 1)
        snprintf(text, GI_CALC_BANDS_TEXT, "%d", band[0]);
    else if (p->nbands) /* two would be gray and alpha */
        snprintf(text, GI_CALC_BANDS_TEXT, "%d,%d,%d", band[0], band[1], band[p->nbands - 1]);
    return p->chosen;
}

/* Checks that the named bands are the channels of the input. */
static enum gi_status check_bands(const struct gi_plan *plan, struct gi_err *err)
{
    const struct calc_params *p = plan->params;
    if (p->nbands && !p->chosen)
        return gi_fail(err, GI_E_USAGE,
                       "a[b%d]: want the command calc, not a chain, or --bands and a[0]",
                       p->band[0]);
    if (p->nbands && gi_color_channels(&plan->sources[0]) != (p->nbands > 1 ? 3 : 1))
        return gi_fail(err, GI_E_USAGE, "a[b%d]: want no --gray with bands", p->band[0]);
    return GI_OK;
}

static enum gi_status check_sources(const struct gi_plan *plan, const struct calc_scope *scope,
                                    int nbands, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    for (int j = 1; j < plan->nsources; j++)
        if (plan->sources[j].width != src->width || plan->sources[j].height != src->height)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "--with: %s: %d x %d pixels: want %d x %d, as the input has",
                           scope->names[j], plan->sources[j].width, plan->sources[j].height,
                           src->width, src->height);
    if (nbands % 2 == 0 && src->mask)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%d expressions set alpha, which marks pixels without data: want 1 or 3, or "
                       "--nodata none",
                       nbands);
    return GI_OK;
}

/* Sets the channels of the result, from the number of expressions and of colours. */
static void set_result(struct gi_plan *plan, const struct calc_found *found)
{
    int colors =
        found->nbands > 2 || (found->nbands == 1 && found->whole && found->colors == 3) ? 3 : 1;
    bool has_alpha = found->nbands % 2 == 0 || gi_has_alpha(&plan->sources[0]);
    plan->result.channels = colors + has_alpha;
    if (found->nbands % 2 == 0)
        plan->result.mask = GI_MASK_NONE;
}

/* Makes the value of channel c of the result. */
static enum gi_status compile_channel(struct calc_code *code, const struct gi_plan *plan,
                                      const struct calc_scope *scope, int nbands, int c,
                                      struct gi_err *err)
{
    const struct calc_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    bool is_alpha = gi_has_alpha(&plan->result) && c == plan->result.channels - 1;
    struct calc_found found;
    int *output = &code->outputs[code->noutputs++];
    if (is_alpha && nbands % 2 == 1 && (!p->alpha || src->mask == GI_MASK_HIDDEN)) {
        *output = calc_load(code, 0, gi_color_channels(src), 0, 0);
        return GI_OK;
    }
    enum gi_status status = calc_parse(code, &found, scope, p->expression, is_alpha ? ALPHA : c,
                                       nbands == 1 ? 0 : c, err);
    if (status)
        return status;
    float full = gi_type_full_scale(src->type);
    *output = p->normalized && full > 1 ? calc_value(code, GI_CALC_MULTIPLY, found.value,
                                                     calc_constant(code, (double)full), 0)
                                        : found.value;
    return GI_OK;
}

static double cost_of(const struct gi_calc *program)
{
    double cost = 0;
    for (int i = 0; i < program->nsteps; i++) {
        int op = program->steps[i].op;
        bool slow = (op >= GI_CALC_EXP && op <= GI_CALC_ASINH) || op == GI_CALC_POWER ||
                    op == GI_CALC_ATAN2;
        cost += slow ? 20 : 1;
    }
    return cost;
}

static enum gi_status compile(struct gi_plan *plan, struct calc_code *code, struct gi_err *err)
{
    const struct calc_params *p = plan->params;
    struct calc_scope scope;
    struct calc_found found;
    enum gi_status status = make_scope(&scope, p, plan->sources, err);
    if (!status)
        status = check_bands(plan, err);
    if (!status)
        status = calc_parse(code, &found, &scope, p->expression, 0, 0, err);
    if (!status)
        status = check_sources(plan, &scope, found.nbands, err);
    if (status)
        return status;
    set_result(plan, &found);
    plan->halo = found.reach;
    struct gi_calc *program = gi_plan_tables(plan, sizeof *program, err);
    if (!program)
        return GI_E_MEMORY;
    code->n = 0; /* the values of channel 0 may be of another band */
    for (int c = 0; c < plan->result.channels && !status; c++)
        status = compile_channel(code, plan, &scope, found.nbands, c, err);
    if (!status)
        status = calc_program(program, code, err);
    plan->cost.fmas = cost_of(program) / plan->sources[0].channels;
    return status;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    struct calc_code *code = gi_small_calloc(1, sizeof *code);
    enum gi_status status = compile(plan, code, err);
    free(code);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_calc spec = *(const struct gi_calc *)plan->tables;
    for (int j = 1; j < plan->nsources; j++)
        spec.others[j - 1] = &work->srcs[j];
    spec.y = work->src_y;
    return queue->k->calc(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_calc = {
    .name = "calc",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Calculate an expression of the samples of one or more images",
    .examples = "gpuimg calc 'a * 1.2 - 10' in.png out.png\n"
                "gpuimg calc '(a - b) / (a + b)' nir.tif ndvi.tif --with red.tif --depth float\n"
                "gpuimg calc '(a[b4] - a[b1]) / (a[b4] + a[b1])' rgbn.tif ndvi.tif --depth float\n"
                "gpuimg calc 'a > 2 * dark ? full : 0' in.png mask.png --with dark=other.png\n"
                "gpuimg calc 'a.b, a.g, a.r' in.png swapped.png\n"
                "gpuimg run 'gaussian --sigma 2 | calc \"a ^ 0.45\" --normalized' in.png out.png",
    .manual =
        "Evaluates the expression for every pixel. a is the input, and b, c and d, or NAME, are "
        "the "
        "images of --with. An image without a channel is each colour in turn: a * 2 doubles red, "
        "green and blue. a.r, a.g, a.b and a.a are single channels, a[0] to a[3] are channels by "
        "number. Gray stands for each colour, and an image without alpha is opaque. a(1, -2) is "
        "the "
        "pixel 1 to the right and 2 above, up to 64 pixels away; outside the image it is the "
        "nearest "
        "pixel.\n\n"
        "A TIFF with other bands than gray or RGB and alpha, as one of red, green, blue and near "
        "infrared, is calculated part by part: a is its colours, then each further band as gray. "
        "a[b4] is the fourth band of the input, counted from 1; an expression may name three such "
        "bands, and then no other channels of a. So the third example makes the vegetation index "
        "NDVI of a file of four or more bands. Further bands are images, as --with "
        "b='x.tif[bands=5]'. In a chain, --bands chooses them.\n\n"
        "One expression makes all colours, or gray if all images in it have a channel: a.r - a.g "
        "is "
        "gray. Three expressions separated by commas make red, green and blue. The result has the "
        "alpha of the input, unless --alpha is given. Two expressions make gray and alpha, four "
        "make "
        "red, green, blue and alpha. NAME = EXPRESSION; in front names a value.\n\n"
        "  + - * / % ^ (or **)   -a ^ 2 is -(a ^ 2); % has the sign of its divisor\n"
        "  < <= > >= == !=       1 if it holds, else 0\n"
        "  && || ! p ? q : r     0 is false, all other values are true\n"
        "  abs sign floor ceil round trunc min max clamp(v, low, high) mod\n"
        "  sqrt pow exp log (or ln) log2 log10 sin cos tan atan atan2(y, x)\n"
        "  asinh hypot mix(p, q, t) isnan(v) where(p, q, r)\n"
        "  x y width height      position from 0, and size, in pixels\n"
        "  full pi               full scale of the samples: 255, 65535 or 1\n\n"
        "Samples have their stored values: 0 to 255 in 8 bits, 0 to 65535 in 16 bits, 0 to 1 in "
        "floats. With --normalized they are 0 to 1 in all depths, and so is the result. Other "
        "images are scaled to the depth of the input. The result has the depth of the input: it is "
        "rounded once, a tie to the even number, and limited to 0 to full scale; NaN, such as 0 / "
        "0, "
        "becomes 0. An index from -1 to 1 therefore needs --depth float, with which samples are 0 "
        "to "
        "1, and negative values, NaN and infinity stay. Pixels without data stay without data "
        "(--nodata), but their neighbours may read their values.\n\n"
        "Every operation is one of 32-bit floats. Functions are within 0.51 units in the last "
        "place, "
        "sin, cos and tan up to 2^20 (NaN beyond), % up to quotients of 2^24; round has ties to "
        "the "
        "even number. min and max are NaN if an argument is. An expression that begins with - "
        "needs "
        "parentheses, or --expression=TEXT. Its limits are 512 operations, 224 numbers and 32 "
        "values at a time.",
    .options = options,
    .params_nbytes = sizeof(struct calc_params),
    .samples.averages = true,
    .samples.masks_others = true,
    .check = check,
    .plan = plan,
    .run = run,
};
