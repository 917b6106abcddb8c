/* Rotation by any angle about any point, interpolated by the primitive `remap`. Multiples of 90
 * degrees copy pixels unchanged.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/geometry/layout.h"
#include "filters/geometry/transform.h"

struct rotate_params {
    double angle_deg; /* counterclockwise */
    bool expand;
    struct gi_reals center;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("angle", REAL, struct rotate_params, angle_deg), .letter = 'a', .example = "30",
     .min = -100000, .max = 100000, .unit = "degrees",
     .help = "Angle by which the image is rotated counterclockwise; a negative one rotates "
             "clockwise"},
    {GI_OPTION("expand", FLAG, struct rotate_params, expand), .letter = 'e',
     .help = "Make the result large enough for the whole rotated image"},
    {GI_OPTION("center", REALS, struct rotate_params, center), .least = 2, .most = 2,
     .metavar = "X,Y",
     .help = "Point that the image is rotated around, in pixels from the centre of the top left "
             "pixel; by default the middle of the image"},
    GI_TRANSFORM_OPTIONS(struct rotate_params),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct rotate_params *p = arg;
    if (isnan(p->angle_deg))
        return gi_fail(err, GI_E_USAGE, "--angle: missing: want degrees, counterclockwise");
    return GI_OK;
}

/* Returns whether the angle is a multiple of 90 degrees. *quarters becomes the number of quarter
 * turns, 0 to 3. */
static bool quarters_of(const struct rotate_params *p, int *quarters)
{
    double n = fmod(p->angle_deg, 360) / 90;
    *quarters = ((int)n + 4) % 4;
    return n == rint(n);
}

/* Returns whether the rotation is about the centre of the image and moves only whole pixels. */
static bool turns(const struct rotate_params *p)
{
    int quarters;
    return quarters_of(p, &quarters) && (p->expand || !p->center.n);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    static const int turn_of[] = {0, GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_X,
                                  GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y,
                                  GI_LAYOUT_TRANSPOSE | GI_LAYOUT_MIRROR_Y};
    const struct rotate_params *p = plan->params;
    int width = plan->sources[0].width, height = plan->sources[0].height, quarters;
    bool exact = quarters_of(p, &quarters);
    if (turns(p))
        return gi_layout_plan(plan, turn_of[quarters], err);
    double angle = fmod(p->angle_deg, 360) * (acos(-1) / 180);
    double c = exact ? (quarters == 0) - (quarters == 2) : cos(angle);
    double s = exact ? (quarters == 1) - (quarters == 3) : sin(angle);
    double x = (width - 1) / 2.0, y = (height - 1) / 2.0; /* source pixel at the centre of
                                                             rotation */
    double to_x = x, to_y = y;                            /* its position in the result */
    if (p->expand) {
        /* Sides are slightly less, so that rounding errors do not add a row. */
        plan->result.width = (int)ceil(width * fabs(c) + height * fabs(s) - 1e-6);
        plan->result.height = (int)ceil(width * fabs(s) + height * fabs(c) - 1e-6);
        to_x = (plan->result.width - 1) / 2.0;
        to_y = (plan->result.height - 1) / 2.0;
    } else if (p->center.n) {
        x = to_x = p->center.v[0];
        y = to_y = p->center.v[1];
    }
    if (!gi_transform_plan(plan, &p->transform, 0, err))
        return GI_E_MEMORY;
    gi_transform_affine(plan,
                        (double[6]){c, -s, x - c * to_x + s * to_y, s, c, y - s * to_x - c * to_y});
    return GI_OK;
}

static struct gi_span needs(const struct gi_plan *plan, int y0, int y1)
{
    return turns(plan->params) ? gi_layout_needs(plan, y0, y1) : gi_transform_needs(plan, y0, y1);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return turns(plan->params) ? gi_layout_run(plan, queue, work, err)
                               : gi_transform_run(plan, queue, work, err);
}

const struct gi_filter gi_filter_rotate = {
    .name = "rotate",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Rotate by any angle; multiples of 90 degrees are exact",
    .examples = "gpuimg rotate in.jpg out.jpg --angle 90\n"
                "gpuimg rotate scan.png straight.png --angle -1.3 --background white\n"
                "gpuimg rotate in.png out.png --angle 45 --expand --interpolation bicubic\n"
                "gpuimg run 'rotate --angle 2 | crop --size 95% --gravity center' photo.jpg "
                "straight.jpg\n"
                "gpuimg rotate texture.tga out.tga --angle 45 --border wrap --alpha straight",
    .manual = "The image is rotated counterclockwise around its middle, or around --center. "
              "Multiples of 90 degrees without --center only move pixels, and swap width and "
              "height as needed. In all other cases pixels are interpolated where necessary, and "
              "the result has the size of the input, so that corners are cut off. --expand makes "
              "the result large enough for the whole rotated image and puts the image in its "
              "middle, so that --center does not matter.\n\n"
              "Places in the result that the image does not cover get the value of "
              "--border-value, by default 0, which is black, or transparent in an image with "
              "alpha. Other --border modes fill them from the image. Colours are weighted by "
              "alpha, unless --alpha says that it is data.\n\n"
              "To straighten a photograph, rotate it by a small angle, and crop it so that no "
              "empty corners are left, as in the last example. The largest inscribed rectangle of "
              "the same aspect ratio has 1 / (cos a + r sin a) times the sides of the image, less "
              "a pixel, where a is the angle and r the longer side divided by the shorter one: for "
              "2 degrees and 3:2 these are 95%.\n\n"
              "Positions in the input are computed in fixed point, with 40 bits of fraction. "
              "Pillow, OpenCV and scipy rotate in the same direction.",
    .options = options,
    .params_nbytes = sizeof(struct rotate_params),
    .check = check,
    .plan = plan,
    .sources.needs = needs,
    .run = run,
};
