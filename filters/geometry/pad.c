/* Pads an image to a size or by margins. The primitive `copy_border` makes the added pixels in any
 * border mode.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/geometry/gravity.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"

#include <math.h>

struct pad_params {
    struct gi_reals by;
    struct gi_extent size;
    int gravity;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("margins", REALS, struct pad_params, by), .also = "by", .letter = 'b', .most = 4,
     .unit = "px", .example = "3,2,1,5", .one_of = true, .metavar = "N[,N...]",
     .help = "Number of pixels to add: one number for all sides; two numbers, one for left and "
             "right and one for top and bottom; or four for left, top, right, bottom"},
    {GI_OPTION("size", EXTENT, struct pad_params, size), .letter = 's',
     .help = "Width and height of the result, instead of --margins"},
    GI_GRAVITY_OPTION(struct pad_params, "center", "With --size: where the image is in the result"),
    {GI_OPTION("border", CHOICE, struct pad_params, border.mode), .default_text = "border",
     .choices = gi_border_choices, .help = "Border mode: how the added pixels are made"},
    GI_ADDED_VALUE_OPTION(struct pad_params, border, "Added pixels with --border border"),
    {.name = NULL},
};

struct pad_tables {
    int left, top; /* pixels added there */
    struct gi_border_spec border;
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct pad_params *p = params;
    bool sized = gi_extent_is_set(&p->size);
    if (sized == (p->by.n > 0))
        return gi_fail(err, GI_E_USAGE,
                       sized ? "--margins, --size: want one of them"
                             : "want --margins N[,N...] or --size WIDTHxHEIGHT");
    if (p->by.n == 3)
        return gi_fail(err, GI_E_USAGE, "--margins: 3 numbers: want 1, 2 or 4");
    for (int i = 0; i < p->by.n; i++)
        if (p->by.v[i] < 0 || p->by.v[i] > GI_PIXELS_MAX || p->by.v[i] != floor(p->by.v[i]))
            return gi_fail(err, GI_E_USAGE, "--margins %.10g: want a whole number, 0 to %d px",
                           p->by.v[i], GI_PIXELS_MAX);
    return GI_OK;
}

/* Finds the number of pixels to add on the left and at the top, and the size of the result. */
static enum gi_status sides(struct gi_plan *plan, int *left, int *top, int64_t *width,
                            int64_t *height, struct gi_err *err)
{
    const struct pad_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    if (p->by.n > 0) {
        const double *by = p->by.v;
        int last = p->by.n - 1;
        *left = (int)by[0];
        *top = (int)by[last < 1 ? 0 : 1];
        *width = (int64_t)*left + (int64_t)by[last < 3 ? 0 : 2];
        *height = (int64_t)*top + (int64_t)by[last < 3 ? (last < 1 ? 0 : 1) : 3];
        return GI_OK;
    }
    int wide = src->width, high = src->height;
    gi_extent_pixels(&p->size, &wide, &high);
    if (wide < src->width || high < src->height)
        return gi_fail(err, GI_E_USAGE,
                       "--size %dx%d: the image has %d x %d pixels: want at least these", wide,
                       high, src->width, src->height);
    *width = wide - src->width;
    *height = high - src->height;
    *left = gi_gravity_left(gravity, (int)*width);
    *top = gi_gravity_above(gravity, (int)*height);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct pad_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct pad_tables *t = gi_plan_tables(plan, sizeof *t, err);
    int64_t width = 0, height = 0;
    if (!t)
        return GI_E_MEMORY;
    enum gi_status status = sides(plan, &t->left, &t->top, &width, &height, err);
    if (status)
        return status;
    width += src->width;
    height += src->height;
    if (width > GI_PIXELS_MAX || height > GI_PIXELS_MAX)
        return gi_fail(err, GI_E_USAGE, "%lld x %lld pixels: want at most %d either way",
                       (long long)width, (long long)height, GI_PIXELS_MAX);
    t->border = gi_border_spec_from(&p->border, src);
    plan->result.width = (int)width;
    plan->result.height = (int)height;
    gi_plan_place(plan, -t->left, -t->top);
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->border = t->border.mode;
    plan->cost.other = 1;
    return GI_OK;
}

/* If rows wrap around, and fewer rows are needed than the image has, requests a contiguous range of
 * rows, which may extend past the bottom of the image. */
static struct gi_span needs(const struct gi_plan *plan, int y0, int y1)
{
    const struct pad_tables *t = plan->tables;
    int height = plan->sources[0].height, n = y1 - y0;
    enum gi_border border = t->border.mode;
    struct gi_span span = {height, 0};
    if (border == GI_BORDER_WRAP && n < height) {
        span.top = gi_border_index((long long)y0 - t->top, height, border);
        span.bottom = span.top + n;
        return span;
    }
    for (int y = y0; y < y1; y++) {
        int row = gi_border_index((long long)y - t->top, height, border);
        if (row < 0)
            continue;
        span.top = row < span.top ? row : span.top;
        span.bottom = row >= span.bottom ? row + 1 : span.bottom;
        if (span.bottom - span.top == height)
            break;
    }
    return span.bottom ? span : (struct gi_span){0, 1};
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct pad_tables *t = plan->tables;
    int height = plan->sources[0].height;
    struct gi_copy_border window = {.left = -t->left,
                                    .top = work->dst_y - t->top,
                                    .src_y = work->src_y,
                                    .image_height = height,
                                    .border = t->border};
    struct gi_span have = {work->src_y, work->src_y + work->srcs->height};
    if (have.bottom > height) /* the rows are contiguous already */
        window.top = window.src_y = window.image_height = 0;
    return queue->k->copy_border(queue, work->dst, work->srcs, &window, err);
}

const struct gi_filter gi_filter_pad = {
    .name = "pad",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Pad: add pixels around the image",
    .examples = "gpuimg pad photo.jpg framed.png --margins 20 --background white\n"
                "gpuimg pad photo.jpg square.png --size 800x800 --border mirror\n"
                "gpuimg pad tile.png wall.png --margins 0,0,1024,1024 --border wrap",
    .manual = "By default the added pixels have the colour of --border-value. With another "
              "--border mode they are made from the image: its outermost pixels are repeated, or "
              "the image is mirrored or tiled. The samples of the image do not change.\n\n"
              "A colour such as --border-value red, #f00 or, with alpha, #ff000080 looks the "
              "same in images of all sample types; a gray image gets the luma of the colour. "
              "Numbers such as --border-value 255,0,0 are sample values, here red in an 8-bit "
              "image. A fourth number is alpha. A single number is used for all channels "
              "including alpha, so that 0 is transparent in an image with alpha.",
    .options = options,
    .params_nbytes = sizeof(struct pad_params),
    .check = check,
    .plan = plan,
    .sources.needs = needs,
    .run = run,
};
