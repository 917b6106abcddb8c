/* Flood fill from a point: the connected component of the pixels that are similar to that point
 * gets a colour. The component is a reconstruction of the point under a mask of similar pixels. The
 * primitive calc makes the mask and paints.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/regions/choose.h"
#include "filters/tone/threshold_level.h"
#include "imgio/small.h"
#include "kernels/calc.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"

enum { PLACE_END = 1 << 24 }; /* below it calc has columns and rows exactly */

struct flood_fill_params {
    struct gi_reals at;
    struct gi_level tolerance;
    struct gi_color value;
    int connectivity; /* of gi_connectivity_choices */
};

static const struct gi_option options[] = {
    {GI_OPTION("at", REALS, struct flood_fill_params, at), .also = "point", .least = 2, .most = 2,
     .unit = "px", .example = "0,0", .metavar = "X,Y",
     .help = "Column and row of the point, from 0; fractions are dropped"},
    {GI_OPTION("tolerance", LEVEL, struct flood_fill_params, tolerance), .letter = 't',
     .amount = true, .default_text = "0",
     .help = "How far a sample may be from that of the point; in a colour image that of each "
             "channel"},
    {GI_OPTION("value", COLOR, struct flood_fill_params, value), .also = "color", .example = "0",
     .help = "The colour to fill with. Give one sample value for all channels, or one per channel "
             "with alpha last"},
    {GI_OPTION("connectivity", CHOICE, struct flood_fill_params, connectivity), .default_text = "8",
     .choices = gi_connectivity_choices, .help = "Which pixels are connected to each other"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct flood_fill_params *p = params;
    if (!p->at.n)
        return gi_fail(err, GI_E_USAGE, "--at: missing: want a column and a row");
    if (!p->value.n)
        return gi_fail(err, GI_E_USAGE, "--value: missing: want a colour");
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct flood_fill_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (p->at.v[0] < 0 || p->at.v[1] < 0 || p->at.v[0] >= fmin(src->width, PLACE_END) ||
        p->at.v[1] >= fmin(src->height, PLACE_END))
        return gi_fail(err, GI_E_USAGE, "--at %.15g,%.15g: want a pixel of the image, 0,0 to %d,%d",
                       p->at.v[0], p->at.v[1], (int)fmin(src->width, PLACE_END) - 1,
                       (int)fmin(src->height, PLACE_END) - 1);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height *
                           (3 * gi_type_nbytes(src->type) + sizeof(uint32_t));
    plan->cost = (struct gi_cost){.other = 60.0 / src->channels, .nbytes = 8};
    return GI_OK;
}

/* ---- programs of calc ---- */

/* Appends a step whose result is a new register, and returns this register. */
static uint8_t step(struct gi_calc *program, enum gi_calc_op op, int a, int b, int c)
{
    struct gi_calc_step *s = &program->steps[program->nsteps++];
    *s = (struct gi_calc_step){.op = (uint8_t)op,
                               .a = (uint8_t)a,
                               .b = (uint8_t)b,
                               .c = (uint8_t)c,
                               .to = (uint8_t)program->nregisters};
    return (uint8_t)program->nregisters++;
}

static void store(struct gi_calc *program, int channel, int a)
{
    program->steps[program->nsteps++] =
        (struct gi_calc_step){.op = GI_CALC_STORE, .a = (uint8_t)a, .to = (uint8_t)channel};
}

/* Returns the operand of a constant. */
static int constant(struct gi_calc *program, double value)
{
    program->constants[program->nconstants] = (float)value;
    return GI_CALC_REGISTERS + program->nconstants++;
}

/* Similar pixels become full scale, all others 0. */
static void similar_program(struct gi_calc *program, const struct flood_fill_params *p,
                            const struct gi_image *src, const float *pixel)
{
    double tolerance = gi_level_number(&p->tolerance, src->type);
    int all = constant(program, 1);
    for (int c = 0; c < gi_color_channels(src); c++) {
        int v = step(program, GI_CALC_LOAD, 0, c, 0);
        int above =
            step(program, GI_CALC_AT_MOST, constant(program, (double)pixel[c] - tolerance), v, 0);
        int below =
            step(program, GI_CALC_AT_MOST, v, constant(program, (double)pixel[c] + tolerance), 0);
        all = step(program, GI_CALC_AND, all, step(program, GI_CALC_AND, above, below, 0), 0);
    }
    int full = constant(program, (double)gi_type_full_scale(src->type));
    store(program, 0, step(program, GI_CALC_MULTIPLY, all, full, 0));
}

/* The point becomes full scale, all other pixels 0. */
static void point_program(struct gi_calc *program, const struct flood_fill_params *p,
                          const struct gi_image *src)
{
    int x = step(program, GI_CALC_EQUAL, step(program, GI_CALC_X, 0, 0, 0),
                 constant(program, floor(p->at.v[0])), 0);
    int y = step(program, GI_CALC_EQUAL, step(program, GI_CALC_Y, 0, 0, 0),
                 constant(program, floor(p->at.v[1])), 0);
    int full = constant(program, (double)gi_type_full_scale(src->type));
    store(program, 0,
          step(program, GI_CALC_MULTIPLY, step(program, GI_CALC_AND, x, y, 0), full, 0));
}

/* Pixels get the colour where the image `filled` is not 0. */
static void paint_program(struct gi_calc *program, const struct flood_fill_params *p,
                          const struct gi_image *src, const struct gi_image *filled)
{
    float pixel[GI_MAX_CHANNELS];
    program->others[0] = filled;
    gi_color_pixel(pixel, &p->value, src);
    int is = step(program, GI_CALC_LOAD, 1, 0, 0);
    for (int c = 0; c < src->channels; c++)
        store(program, c,
              step(program, GI_CALC_SELECT, is, constant(program, (double)pixel[c]),
                   step(program, GI_CALC_LOAD, 0, c, 0)));
}

/* ---- run ---- */

/* Reads the samples of the point. */
static enum gi_status read_point(struct gi_queue *queue, float *pixel,
                                 const struct flood_fill_params *p, const struct gi_image *src,
                                 struct gi_err *err)
{
    struct gi_copy_border crop = {.left = (int)p->at.v[0], .top = (int)p->at.v[1]};
    struct gi_image one, host;
    enum gi_status status = queue->k->alloc(queue, &one, 1, 1, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->copy_border(queue, &one, src, &crop, err);
    if (status)
        queue->k->release(queue, &one);
    else
        status = queue->k->download(queue, &host, &one, NULL, err);
    if (status)
        return status;
    for (int c = 0; c < src->channels; c++)
        pixel[c] = (float)gi_sample(gi_row(&host, 0), (size_t)c, src->type);
    gi_image_free(&host);
    return GI_OK;
}

/* Computes dst from images of one channel. `program` is memory for programs. */
static enum gi_status fill(const struct flood_fill_params *p, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_image *made,
                           struct gi_calc *program, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    struct gi_image *similar = &made[0], *point = &made[1], *filled = &made[2];
    float pixel[GI_MAX_CHANNELS];
    struct gi_reconstruct spec = {point, p->connectivity ? 8 : 4};
    enum gi_status status = read_point(queue, pixel, p, src, err);
    if (status)
        return status;
    *program = (struct gi_calc){.y = 0};
    similar_program(program, p, src, pixel);
    status = queue->k->calc(queue, similar, src, program, err);
    *program = (struct gi_calc){.y = 0};
    point_program(program, p, src);
    if (!status)
        status = queue->k->calc(queue, point, src, program, err);
    if (!status)
        status = queue->k->reconstruct(queue, filled, similar, &spec, err);
    *program = (struct gi_calc){.y = 0};
    paint_program(program, p, src, filled);
    if (!status)
        status = queue->k->calc(queue, work->dst, src, program, err);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    struct gi_calc *program = gi_small_calloc(1, sizeof *program);
    struct gi_image made[3];
    enum gi_status status = GI_OK;
    int n = 0;
    while (!status && n < 3) {
        status = queue->k->alloc(queue, &made[n], src->width, src->height, 1, src->type, err);
        n += !status;
    }
    if (!status)
        status = fill(plan->params, queue, work, made, program, err);
    while (n > 0)
        queue->k->release(queue, &made[--n]);
    free(program);
    return status;
}

const struct gi_filter gi_filter_flood_fill = {
    .name = "flood-fill",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_RGB,
    .summary = "Flood fill: fill the region around a point with a colour",
    .examples = "gpuimg flood-fill in.png out.png --at 12,8 --value red\n"
                "gpuimg flood-fill photo.jpg out.png --at 0,0 --tolerance 8% --value white\n"
                "gpuimg flood-fill mask.png out.png --at 5,5 --value 128 --connectivity 4",
    .manual =
        "A pixel is similar to the point --at if every colour channel is at most --tolerance away "
        "from that of the point. The similar pixels that are connected to the point get the "
        "colour --value. The samples of other pixels do not change. A point that is NaN is similar "
        "to nothing.\n\n"
        "Alpha is not compared. Filled pixels get the alpha of --value. Names, and numbers of the "
        "colours alone, are opaque, but a single number is the value of all channels, alpha "
        "too.\n\n"
        "The result is that of scikit-image's flood_fill(). The tolerance is measured from the "
        "point, not from pixel to pixel, as in OpenCV's FLOODFILL_FIXED_RANGE.",
    .options = options,
    .params_nbytes = sizeof(struct flood_fill_params),
    .check = check,
    .plan = plan,
    .run = run,
};
