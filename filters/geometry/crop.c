/* Crops to a rectangle, or with --trim to the bounding box of the pixels that differ from the upper
 * left pixel. A measuring pass finds the box, or the place of --attention.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/geometry/attention.h"
#include "filters/geometry/gravity.h"
#include "filters/random.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>

enum like { LIKE_ITSELF, LIKE_TORCHVISION };

struct crop_params {
    struct gi_rect size;
    int gravity, like;
    bool clip, trim, attention, random;
    int seed;
    uint32_t drawn[2];  /* for `random`: position along x and y, as a fraction of 2^32 */
    double tolerance;   /* percent of full scale */
    const char *aspect; /* "16:9"; NULL: that of `size` */
};

static const struct gi_choice likes[] = {
    [LIKE_ITSELF] = {"itself", NULL, "the smaller half is on the left and above"},
    [LIKE_TORCHVISION] = {"torchvision", NULL,
                          "the half with an even number of pixels is on the left and above, as "
                          "in CenterCrop"},
    {NULL, NULL, NULL},
};

static const struct gi_option options[] = {
    {GI_OPTION("size", RECT, struct crop_params, size), .also = "rect", .letter = 's',
     .example = "60%x80%+5%+10%", .one_of = true,
     .help = "Width and height of the rectangle, in pixels or as a percentage of the image, and "
             "its offset from the position of --gravity. A side that is left out is that of the "
             "image. Not needed with --trim"},
    {GI_OPTION("aspect", TEXT, struct crop_params, aspect), .also = "ratio", .metavar = "W:H",
     .form = "16:9",
     .help = "Take the largest rectangle of this aspect ratio, rounded to whole pixels, at the "
             "place of --gravity"},
    GI_GRAVITY_OPTION(struct crop_params, "northwest", "Where the rectangle is in the image"),
    {GI_OPTION("attention", FLAG, struct crop_params, attention), .also = "smart",
     .help = "Put the rectangle of --size or --aspect, in place of --gravity, around the part of "
             "the image that draws attention"},
    {GI_OPTION("random", FLAG, struct crop_params, random),
     .help = "For training data: let the name of the image decide by chance where the rectangle of "
             "--size or --aspect is, in place of --gravity"},
    GI_SEED_OPTION(struct crop_params, seed),
    {GI_OPTION("like", CHOICE, struct crop_params, like), .default_text = "itself",
     .choices = likes,
     .help = "With --gravity center: where the odd pixel is if the margins cannot be equal"},
    {GI_OPTION("clip", FLAG, struct crop_params, clip),
     .help = "If the rectangle extends past the image, take the part inside; without this option "
             "that is an error"},
    {GI_OPTION("trim", FLAG, struct crop_params, trim), .letter = 't',
     .help = "Cut off rows and columns at the sides that have the colour of the upper left "
             "pixel. If --size is given too, the trimmed image is cropped to that size"},
    {GI_OPTION("tolerance", REAL, struct crop_params, tolerance), .default_text = "0", .min = 0,
     .max = 100, .unit = "% of full scale",
     .help = "For --trim: largest difference from the colour of the upper left pixel that still "
             "counts as equal"},
    {.name = NULL},
};

/* The plan's tables: the position of the result in the source. */
struct place {
    int left, top;
};

/* The result of the measuring pass for --trim or --attention. */
struct crop_found {
    bool started;
    int rows; /* rows measured so far */
    struct gi_bounds_spec spec;
    struct gi_bounds bounds;
    struct gi_attention attention;
};

/* Reads two whole numbers with a colon or an x between them. */
static bool read_aspect(int *width, int *height, const char *text)
{
    enum { MOST = 1000000 };
    double v[2];
    const char *end;
    bool read = gi_number_read(&v[0], text, &end) && (*end == ':' || *end == 'x') &&
                gi_number_read(&v[1], end + 1, &end) && !*end;
    for (int i = 0; i < 2 && read; i++)
        read = v[i] >= 1 && v[i] <= MOST && v[i] == (int)v[i];
    *width = read ? (int)v[0] : 1;
    *height = read ? (int)v[1] : 1;
    return read;
}

/* Replaces the sides of an image by those of the largest rectangle in it with the ratio of
 * --aspect, rounded half up. */
static void fit_aspect(int *width, int *height, const char *aspect)
{
    int a, b;
    read_aspect(&a, &b, aspect);
    int64_t across = (2 * (int64_t)*height * a + b) / (2 * (int64_t)b);
    int64_t down = (2 * (int64_t)*width * b + a) / (2 * (int64_t)a);
    if ((int64_t)*width * b > (int64_t)*height * a)
        *width = across < 1 ? 1 : across < *width ? (int)across : *width;
    else
        *height = down < 1 ? 1 : down < *height ? (int)down : *height;
}

/* Checks the options of a rectangle whose place is chosen by --attention or --random. */
static enum gi_status check_chosen(const struct crop_params *p, struct gi_err *err)
{
    const char *option = p->attention ? "attention" : "random";
    if (p->attention && p->random)
        return gi_fail(err, GI_E_USAGE, "--attention: want no --random with it");
    if (p->trim || p->clip)
        return gi_fail(err, GI_E_USAGE, "--%s: want no --%s with it", option,
                       p->trim ? "trim" : "clip");
    if (p->size.placed)
        return gi_fail(err, GI_E_USAGE, "--%s: want a --size without an offset", option);
    if (!p->aspect && !gi_extent_is_set(&p->size.extent))
        return gi_fail(err, GI_E_USAGE, "--%s: want --size or --aspect with it", option);
    return GI_OK;
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct crop_params *p = params;
    int a, b;
    if (p->aspect && gi_extent_is_set(&p->size.extent))
        return gi_fail(err, GI_E_USAGE, "--aspect: want no --size with it");
    if (p->aspect && !read_aspect(&a, &b, p->aspect))
        return gi_fail(err, GI_E_USAGE,
                       "--aspect %s: want two whole numbers from 1 to 1000000, as in 16:9",
                       p->aspect);
    if (!p->random && p->seed)
        return gi_fail(err, GI_E_USAGE, "--seed: want --random with it");
    if (p->attention || p->random)
        return check_chosen(p, err);
    if (p->aspect)
        return GI_OK;
    if (!gi_extent_is_set(&p->size.extent) && !p->trim)
        return gi_fail(err, GI_E_USAGE, "want --size WIDTHxHEIGHT[+X+Y] or --trim");
    return GI_OK;
}

static bool draw(void *params, uint64_t key)
{
    struct crop_params *p = params;
    uint64_t bits = gi_random_bits(key, p->seed, "crop");
    p->drawn[0] = (uint32_t)(bits >> 32);
    p->drawn[1] = (uint32_t)bits;
    return p->random;
}

/* Returns a place from 0 to `spare`, which is not negative. */
static int drawn_place(uint32_t drawn, int spare)
{
    return (int)((uint64_t)drawn * ((uint64_t)spare + 1) >> 32);
}

/* Returns 1 if torchvision's position in the middle is greater by 1 than that of gravity, else 0.
 * torchvision rounds half of an odd `spare` to an even number, and gravity rounds it down. */
static int to_even(const struct crop_params *p, int third, int spare)
{
    return p->like == LIKE_TORCHVISION && third == 1 && spare > 0 && spare % 4 == 3;
}

/* Limits the *n pixels from *first on to pixels 0 to whole - 1. Returns false if no pixel
 * remains. */
static bool clip_side(int *first, int *n, int whole)
{
    int64_t end = (int64_t)*first + *n < whole ? (int64_t)*first + *n : whole;
    *first = *first < 0 ? 0 : *first;
    *n = end > *first ? (int)(end - *first) : 0;
    return *n > 0;
}

/* Settles the plan for the rectangle of --size or --aspect. The rectangle is relative to `within`,
 * which is a rectangle of the source. `found` has the place for --attention, otherwise it is NULL.
 */
static enum gi_status place_in(struct gi_plan *plan, const struct gi_bounds *within,
                               const struct crop_found *found, struct gi_err *err)
{
    const struct crop_params *p = plan->params;
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    struct place *place = gi_plan_tables(plan, sizeof *place, err);
    int whole_width = within->right - within->left, whole_height = within->bottom - within->top;
    int width = gi_side_pixels(&p->size.extent.width, whole_width);
    int height = gi_side_pixels(&p->size.extent.height, whole_height);
    if (p->aspect)
        fit_aspect(&width, &height, p->aspect);
    if (!place)
        return GI_E_MEMORY;
    int x = gi_gravity_left(gravity, whole_width - width) +
            to_even(p, p->gravity % 3, whole_width - width) +
            gi_gravity_right_is(gravity) * gi_length_pixels(&p->size.x, whole_width);
    int y = gi_gravity_above(gravity, whole_height - height) +
            to_even(p, p->gravity / 3, whole_height - height) +
            gi_gravity_down_is(gravity) * gi_length_pixels(&p->size.y, whole_height);
    bool fits = width <= whole_width && height <= whole_height;
    if (found && fits)
        gi_attention_find(&x, &y, &found->attention, &plan->sources[0], width, height);
    if (p->random && fits) {
        x = drawn_place(p->drawn[0], whole_width - width);
        y = drawn_place(p->drawn[1], whole_height - height);
    }
    bool out = x < 0 || y < 0 || width > whole_width - x || height > whole_height - y;
    if (out && !p->clip)
        return gi_fail(err, GI_E_USAGE,
                       "--size %dx%d%+d%+d: extends past the image of %d x %d pixels: want a "
                       "rectangle inside it, or --clip",
                       width, height, x, y, whole_width, whole_height);
    if (!clip_side(&x, &width, whole_width) || !clip_side(&y, &height, whole_height))
        return gi_fail(err, GI_E_USAGE, "--size: is outside the image of %d x %d pixels",
                       whole_width, whole_height);
    place->left = within->left + x;
    place->top = within->top + y;
    plan->result.width = width;
    plan->result.height = height;
    gi_plan_place(plan, place->left, place->top);
    return GI_OK;
}

/* The rectangle of luma in pixels of chroma. */
static bool subsample(void *params, const struct gi_plan *luma, int dx, int dy)
{
    struct crop_params *p = params;
    const struct place *place = luma->tables;
    if (p->trim || p->attention || place->left % dx || place->top % dy)
        return false;
    p->size = (struct gi_rect){{gi_length_of((luma->result.width + dx - 1) / dx),
                                gi_length_of((luma->result.height + dy - 1) / dy), false},
                               true,
                               gi_length_of(place->left / dx),
                               gi_length_of(place->top / dy)};
    p->gravity = GI_NORTHWEST;
    p->aspect = NULL;
    p->clip = p->random = false;
    return true;
}

/* The rectangle of --size. If there is none within the image, a pixel is enough, because the plan
 * will fail. */
static bool window(const void *params, const struct gi_image *picture, struct gi_window *window)
{
    const struct crop_params *p = params;
    struct gi_plan plan = {.params = params, .result = *picture};
    const struct gi_bounds all = {0, 0, picture->width, picture->height};
    if (p->trim || p->attention || p->random) /* nothing is drawn yet */
        return false;
    *window = (struct gi_window){0, 0, 1, 1};
    if (!place_in(&plan, &all, NULL, NULL)) {
        const struct place *place = plan.tables;
        *window =
            (struct gi_window){place->left, place->top, plan.result.width, plan.result.height};
    }
    gi_plan_free(&plan);
    return true;
}

/* Settles the plan for a source that may be a part of a picture, which contains the rectangle. */
static enum gi_status place_in_part(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_shrunk *part = &src->shrunk;
    struct gi_bounds all = {0, 0, src->width, src->height};
    if (part->by == 1)
        all = (struct gi_bounds){0, 0, part->width, part->height};
    enum gi_status status = place_in(plan, &all, NULL, err);
    if (!status && part->by == 1) {
        struct place *place = plan->tables;
        place->left += part->left;
        place->top += part->top;
    }
    return status;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct crop_params *p = plan->params;
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->cost.other = 1;
    if (!p->trim && !p->attention)
        return place_in_part(plan, err);
    plan->cost.other = p->trim ? 2 : 8;
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct crop_found);
    plan->late = true;
    return p->trim ? GI_OK : gi_attention_plan(plan, err);
}

/* Reads the upper left pixel from the first band. Pixels of this colour are trimmed. */
static enum gi_status read_corner(const struct gi_plan *plan, struct gi_queue *queue,
                                  struct crop_found *found, const struct gi_image *src,
                                  struct gi_err *err)
{
    const struct crop_params *p = plan->params;
    struct gi_image corner = gi_image_rows(src, 0, 1), host;
    corner.width = 1;
    enum gi_status status = queue->k->download(queue, &host, &corner, NULL, err);
    if (status)
        return status;
    for (int c = 0; c < src->channels; c++)
        found->spec.pixel[c] = (float)gi_sample(host.data, (size_t)c, src->type);
    found->spec.tolerance = (float)(p->tolerance / 100 * gi_type_full_scale(src->type));
    found->started = true;
    gi_image_free(&host);
    return GI_OK;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *srcs = look->srcs;
    const struct crop_params *p = plan->params;
    struct crop_found *found = state;
    if (p->attention)
        return gi_attention_measure(plan, queue, &found->attention, srcs, err);
    struct gi_bounds band, *all = &found->bounds;
    enum gi_status status = found->started ? GI_OK : read_corner(plan, queue, found, srcs, err);
    if (!status)
        status = queue->k->bounds(queue, &band, srcs, &found->spec, err);
    if (!status && band.bottom > 0) {
        bool first = all->bottom == 0;
        all->left = first || band.left < all->left ? band.left : all->left;
        all->right = band.right > all->right ? band.right : all->right;
        all->top = first ? found->rows + band.top : all->top;
        all->bottom = found->rows + band.bottom;
    }
    found->rows += srcs->height;
    return status;
}

/* Warns that nothing is trimmed, because all pixels are equal to the upper left pixel (`uniform`),
 * or because no outer row or column is. Some images of a batch have nothing to trim, so this is
 * never an error. */
static void warn(struct gi_err *warning, double tolerance, bool uniform)
{
    enum { LARGE = 25 /* percent */ };
    char within[64];
    snprintf(within, sizeof within, " within --tolerance %.10g %%", tolerance);
    if (uniform)
        gi_fail(warning, GI_E_UNSUPPORTED,
                "--trim: nothing is trimmed, because the image has one colour%s",
                tolerance > 0 ? within : "");
    else
        gi_fail(warning, GI_E_UNSUPPORTED,
                "--trim: nothing is trimmed: no outer row or column has the colour of the upper "
                "left pixel%s%s",
                within, tolerance < LARGE ? " (try --tolerance 25)" : "");
    warning->status = GI_OK;
}

/* An image of one colour is not cropped. */
static enum gi_status settle(struct gi_plan *plan, const void *state, struct gi_err *err)
{
    const struct crop_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const struct crop_found *found = state;
    struct gi_bounds bounds = found->bounds;
    if (p->attention) {
        bounds = (struct gi_bounds){0, 0, src->width, src->height};
        return place_in(plan, &bounds, found, err);
    }
    if (bounds.bottom == 0) {
        bounds = (struct gi_bounds){0, 0, src->width, src->height};
        warn(&plan->warning, p->tolerance, true);
    } else if (bounds.right - bounds.left == src->width &&
               bounds.bottom - bounds.top == src->height) {
        warn(&plan->warning, p->tolerance, false);
    }
    return place_in(plan, &bounds, NULL, err);
}

static struct gi_span needs(const struct gi_plan *plan, int y0, int y1)
{
    const struct place *place = plan->tables;
    return (struct gi_span){place->top + y0, place->top + y1};
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct place *place = plan->tables;
    struct gi_copy_border window = {.left = place->left,
                                    .top = place->top + work->dst_y,
                                    .src_y = work->src_y,
                                    .image_height = plan->sources[0].height};
    return queue->k->copy_border(queue, work->dst, work->srcs, &window, err);
}

const struct gi_filter gi_filter_crop = {
    .name = "crop",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Crop to a rectangle, or trim an empty border",
    .examples = "gpuimg crop photo.jpg part.png --size 400x300+120+80\n"
                "gpuimg crop photo.jpg wide.jpg --aspect 16:9 --gravity center\n"
                "gpuimg crop photo.jpg square.jpg --aspect 1:1 --attention\n"
                "gpuimg crop photos/*.jpg --size 224x224 --random --seed 2 --out-dir crops\n"
                "gpuimg crop photo.jpg middle.png --size 50% --gravity center\n"
                "gpuimg crop scan.png text.png --trim --tolerance 25",
    .manual =
        "--size 400x300+120+80 takes 400 x 300 pixels at an offset of 120 pixels from the "
        "left and 80 from the top. Sizes such as 50%, 50%x and x300 are possible too, and "
        "offsets may be percentages. With --gravity the rectangle is in another corner, at "
        "a side or in the middle, and offsets count inwards from there: --size "
        "100x50+10+10 --gravity southeast leaves out 10 pixels on the right and 10 at the "
        "bottom of the image. Samples do not change.\n\n"
        "--trim cuts off the border: it keeps the smallest rectangle that contains every "
        "pixel with a sample that differs from the upper left pixel by more than "
        "--tolerance. In an image with alpha, colours are multiplied by alpha before they "
        "are compared, so that all fully transparent pixels are equal. An image of one "
        "colour does not change. Paper that is lit unevenly differs from its corner: scans "
        "need a --tolerance of 20 to 30. If nothing is trimmed, there is a warning.\n\n"
        "--attention is a smart crop, as thumbnails need it (gpuimg run 'resize --size "
        "256x256^ | crop --size 256x256 --attention'). The image is reduced to 32 x 32 "
        "pixels, each of which gets a score: 5 times the magnitude of the Laplacian of CIE "
        "Y, plus, unless it is dark, up to 100 for the colour of skin, plus a* of CIE "
        "L*a*b*, which is high for saturated reds. The scores are blurred in proportion to "
        "the rectangle, which is centred at the highest one, within the image. Transparent "
        "pixels count as black. This is the definition of libvips' smartcrop with "
        "interesting=attention; the reduced pixels can differ by a rounding.\n\n"
        "--random takes every place with the same probability. The name of the image and "
        "--seed decide, as in gpuimg flip --random: a second run, another device and other "
        "shards give the same places, and so do images/a.png, masks/a.png, the members a.png and "
        "a.seg.png of a tar, and the pages or frames of a file, if they have the same size. "
        "Each --seed gives others.",
    .options = options,
    .params_nbytes = sizeof(struct crop_params),
    .check = check,
    .sources.window = window,
    .sources.draw = draw,
    .samples.subsample = subsample,
    .plan = plan,
    .sources.needs = needs,
    .measure = measure,
    .settle = settle,
    .run = run,
};
