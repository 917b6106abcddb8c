/* Resizes by resampling filters. The result fits, fills, pads or stretches to the given size.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/geometry/gravity.h"
#include "filters/geometry/resample_weights.h"
#include "kernels/kernels.h"

enum like { LIKE_ITSELF, LIKE_PILLOW_13, LIKE_PILLOW_12, LIKE_PILLOW_11 };

struct resize_params {
    struct gi_extent size;
    bool fit, fill, pad, stretch, no_enlarge, enlarge, fast;
    int shorter; /* length of the short side in pixels; 0 if `size` is given */
    int gravity, filter, like, alpha;
    struct gi_border_params border; /* parameters of --border-value */
    const char *sizes; /* of the command resize, which runs a chain for each size; else NULL */
};

static const struct gi_choice filters[] = {
    [GI_RESAMPLE_NEAREST] = {"nearest", NULL, "the nearest pixel"},
    [GI_RESAMPLE_BOX] = {"box", NULL,
                         "the mean of the source pixels whose centres a result pixel covers"},
    [GI_RESAMPLE_AREA] = {"area", NULL,
                          "the mean of the area that a result pixel covers; source pixels count by "
                          "the part that is covered"},
    [GI_RESAMPLE_TRIANGLE] = {"triangle", NULL, "linear interpolation, radius 1"},
    [GI_RESAMPLE_HAMMING] = {"hamming", NULL, "a sinc with a Hamming window, radius 1"},
    [GI_RESAMPLE_HERMITE] = {"hermite", NULL, "the cubic of Hermite (smooth step), radius 1"},
    [GI_RESAMPLE_MITCHELL] = {"mitchell", NULL, "the cubic of Mitchell and Netravali, radius 2"},
    [GI_RESAMPLE_CATROM] = {"catrom", NULL, "the cubic of Catmull and Rom, radius 2"},
    [GI_RESAMPLE_LANCZOS2] = {"lanczos2", NULL, "a sinc with a Lanczos window, radius 2"},
    [GI_RESAMPLE_LANCZOS3] = {"lanczos3", NULL, "a sinc with a Lanczos window, radius 3"},
    {"point", "nearest", NULL},
    {"bilinear", "triangle", NULL},
    {"linear", "triangle", NULL},
    {"bicubic", "catrom", NULL},
    {"cubic", "catrom", NULL},
    {"lanczos", "lanczos3", NULL},
    {NULL, NULL, NULL},
};

static const struct gi_choice likes[] = {
    [LIKE_ITSELF] = {"itself", NULL,
                     "that of gpuimg: weights in floating point, and results "
                     "that are rounded once"},
    [LIKE_PILLOW_13] = {"pillow-13", NULL, "the bytes of Image.resize in Pillow 13.0, for 8 bits"},
    [LIKE_PILLOW_12] = {"pillow-12", NULL, "the bytes of Pillow 12.2 and 12.3"},
    [LIKE_PILLOW_11] = {"pillow-11", NULL, "the bytes of Pillow 12.1 and earlier"},
    {"pillow", "pillow-13", NULL},
    {"pillow-12.1", "pillow-11", NULL},
    {"pillow-10", "pillow-11", NULL},
    {"pillow-9", "pillow-11", NULL},
    {NULL, NULL, NULL},
};

/* SIDE_MAX limits a side, because tables take some tens of bytes per pixel of a side. RESULT_MAX is
 * the default limit of the number of pixels. */
enum { SIDE_MAX = 1 << 24 };
static const int64_t RESULT_MAX = 4294967294;

static const struct gi_option options[] = {
    {GI_OPTION("size", EXTENT, struct resize_params, size), .letter = 's', .example = "75%x60%",
     .one_of = true, .form = "WIDTHxHEIGHT, WIDTHx, xHEIGHT, 50% or WIDTHxHEIGHT^",
     .at_least = true,
     .help = "Width and height of the result, or one of them, in pixels or as a percentage of "
             "the image; 256x256^ means the smallest image that has at least this size"},
    {GI_OPTION("short", INT, struct resize_params, shorter), .min = 1, .max = SIDE_MAX,
     .unit = "px", .metavar = "N",
     .help = "Length of the shorter side; the longer one is rounded down, as torchvision's "
             "Resize does"},
    {GI_OPTION("sizes", TEXT, struct resize_params, sizes), .metavar = "LIST", .alone = true,
     .help =
         "Several results of each image, from one decoding: widths, or sizes as in --size, "
         "separated by commas, as in 320,640,1280 or 320x240,640x480, not enlarged; {width} and "
         "{height} in the name of the output tell them apart, and an icon (.ico) holds all"},
    {GI_OPTION("enlarge", FLAG, struct resize_params, enlarge), .alone = true,
     .help = "With --sizes, make small images larger too"},
    {GI_OPTION("fit", FLAG, struct resize_params, fit),
     .help = "Keep the aspect ratio and stay within --size; this is the default"},
    {GI_OPTION("fill", FLAG, struct resize_params, fill),
     .help = "Keep the aspect ratio, cover all of --size and cut off the rest"},
    {GI_OPTION("pad", FLAG, struct resize_params, pad),
     .help = "Keep the aspect ratio, stay within --size and fill it up with --border-value"},
    {GI_OPTION("stretch", FLAG, struct resize_params, stretch),
     .help = "Change the aspect ratio, so that the result has exactly --size"},
    {GI_OPTION("no-enlarge", FLAG, struct resize_params, no_enlarge),
     .help = "Do not make a small image larger"},
    GI_GRAVITY_OPTION(struct resize_params, "center",
                      "With --fill, the part of the image that is kept; with --pad, the position "
                      "of the image"),
    GI_ADDED_VALUE_OPTION(struct resize_params, border, "Pixels that --pad adds"),
    {GI_OPTION("filter", CHOICE, struct resize_params, filter), .letter = 'f',
     .default_text = "lanczos3", .choices = filters, .help = "The resampling filter"},
    {GI_OPTION("like", CHOICE, struct resize_params, like), .default_text = "itself",
     .choices = likes, .help = "Which program's arithmetic is used"},
    GI_ALPHA_OPTION(struct resize_params, alpha),
    {GI_OPTION("fast", FLAG, struct resize_params, fast),
     .help = "Save time: decode a JPEG at a reduced size, at least twice that of the result; "
             "gives nearly the same image"},
    {.name = NULL},
};

static bool pillow_has(enum gi_resample_filter filter)
{
    return filter != GI_RESAMPLE_AREA && filter != GI_RESAMPLE_HERMITE &&
           filter != GI_RESAMPLE_MITCHELL && filter != GI_RESAMPLE_LANCZOS2;
}

static const char *way_of(const struct resize_params *p)
{
    return p->fit ? "fit" : p->fill ? "fill" : p->pad ? "pad" : "stretch";
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct resize_params *p = arg;
    bool both = !gi_length_is_open(&p->size.width) && !gi_length_is_open(&p->size.height);
    int ways = p->fit + p->fill + p->pad + p->stretch;
    p->border.mode = GI_BORDER_VALUE;
    if (p->shorter && (gi_extent_is_set(&p->size) || ways))
        return gi_fail(err, GI_E_USAGE, "--short %d: want no --%s with it", p->shorter,
                       gi_extent_is_set(&p->size) ? "size" : way_of(p));
    if (p->sizes && (gi_extent_is_set(&p->size) || p->shorter))
        return gi_fail(err, GI_E_USAGE, "--sizes: want no --%s with it",
                       p->shorter ? "short" : "size");
    if (p->enlarge && (!p->sizes || p->no_enlarge))
        return gi_fail(err, GI_E_USAGE, "--enlarge: want --sizes with it, and no --no-enlarge");
    if (ways > 1)
        return gi_fail(err, GI_E_USAGE, "want one of --fit, --fill, --pad and --stretch");
    if (p->sizes)
        return GI_OK;
    if (!gi_extent_is_set(&p->size) && !p->shorter)
        return gi_fail(err, GI_E_USAGE, "--size: want 800x600, 800x, x600 or 50%%, or --short 256");
    if (p->size.at_least && ways)
        return gi_fail(err, GI_E_USAGE, "--%s: want --size without ^", way_of(p));
    if ((p->fill || p->pad) && !both)
        return gi_fail(err, GI_E_USAGE, "--%s: want --size with width and height",
                       p->fill ? "fill" : "pad");
    if (p->like != LIKE_ITSELF && !pillow_has((enum gi_resample_filter)p->filter))
        return gi_fail(err, GI_E_USAGE,
                       "--filter %s --like pillow: want nearest, box, bilinear, hamming, bicubic "
                       "or lanczos",
                       filters[p->filter].name);
    if (p->like != LIKE_ITSELF && p->fast)
        return gi_fail(err, GI_E_USAGE,
                       "--fast: want no --like pillow, whose bytes are those of the whole picture");
    return GI_OK;
}

/* The sizes and positions that follow from the parameters and the source's shape. */
struct layout {
    int frame_width, frame_height; /* size of the result */
    int width, height;             /* size of the image within it */
    int left, top;                 /* position of the image within it */
    struct gi_resample_places row, col;
};

/* Returns side * to / from, rounded half up, at least 1. */
static int scaled(int side, int to, int from)
{
    int64_t n = (2 * (int64_t)side * to + from) / (2 * (int64_t)from);
    return n < 1 ? 1 : n > GI_PIXELS_MAX ? GI_PIXELS_MAX : (int)n;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Fits the image into the frame by the smaller of the two ratios, or around the frame by the larger
 * ratio. If one side of the frame is open, it follows from the other side. */
static void fit(struct layout *l, const struct resize_params *p, const struct gi_image *src)
{
    bool by_height = gi_length_is_open(&p->size.width);
    if (!by_height && !gi_length_is_open(&p->size.height))
        by_height = ((int64_t)l->frame_width * src->height >
                     (int64_t)l->frame_height * src->width) != p->size.at_least;
    bool percent = p->size.width.percent && p->size.width.value == p->size.height.value;
    l->width = l->frame_width;
    l->height = l->frame_height;
    if (by_height && !percent)
        l->width = scaled(src->width, l->height, src->height);
    else if (!percent)
        l->height = scaled(src->height, l->width, src->width);
    if (p->no_enlarge && (l->width > src->width || l->height > src->height)) {
        l->width = src->width;
        l->height = src->height;
    }
}

/* Sets the size for a given length of the short side. The long side is rounded down as in
 * torchvision (transforms/functional.py, _compute_resized_output_size). */
static void fit_short(struct layout *l, const struct resize_params *p, const struct gi_image *src)
{
    bool tall = src->width <= src->height;
    int shorter = least(src->width, src->height);
    int64_t longer = (int64_t)p->shorter * (tall ? src->height : src->width) / shorter;
    int side = longer > GI_PIXELS_MAX ? GI_PIXELS_MAX : (int)longer;
    bool stays = p->no_enlarge && p->shorter > shorter;
    l->width = stays ? src->width : tall ? p->shorter : side;
    l->height = stays ? src->height : tall ? side : p->shorter;
}

/* Fills the frame with a part of the source. One side of the source is used completely, and the
 * other side is cropped as gravity says. */
static void fill(struct layout *l, const struct resize_params *p, const struct gi_image *src)
{
    int64_t to_width = l->frame_width, to_height = l->frame_height;
    bool by_width = to_width * src->height >= to_height * src->width;
    int64_t step = by_width ? src->width : src->height, unit = by_width ? to_width : to_height;
    if (p->no_enlarge && unit > step) {
        step = unit = 1;
        to_width = least(l->frame_width, src->width);
        to_height = least(l->frame_height, src->height);
    }
    l->width = l->frame_width = (int)to_width;
    l->height = l->frame_height = (int)to_height;
    int64_t across = src->width * unit - to_width * step; /* excess, in fractions of a pixel */
    int64_t above = src->height * unit - to_height * step;
    l->row =
        (struct gi_resample_places){src->width, l->width, across * (p->gravity % 3), step, unit};
    l->col =
        (struct gi_resample_places){src->height, l->height, above * (p->gravity / 3), step, unit};
    if (step == unit) { /* integer offsets stay integers */
        enum gi_gravity gravity = (enum gi_gravity)p->gravity;
        l->row.offset = 2 * unit * gi_gravity_left(gravity, (int)(across / unit));
        l->col.offset = 2 * unit * gi_gravity_above(gravity, (int)(above / unit));
    }
}

static struct layout layout_of_whole(const struct resize_params *p, const struct gi_image *src)
{
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    struct layout l = {.frame_width = gi_side_pixels(&p->size.width, src->width),
                       .frame_height = gi_side_pixels(&p->size.height, src->height)};
    if (p->fill) {
        fill(&l, p, src);
        return l;
    }
    l.width = p->stretch && p->no_enlarge ? least(l.frame_width, src->width) : l.frame_width;
    l.height = p->stretch && p->no_enlarge ? least(l.frame_height, src->height) : l.frame_height;
    if (p->shorter)
        fit_short(&l, p, src);
    else if (!p->stretch)
        fit(&l, p, src);
    l.frame_width = p->pad ? l.frame_width : l.width;
    l.frame_height = p->pad ? l.frame_height : l.height;
    l.left = gi_gravity_left(gravity, l.frame_width - l.width);
    l.top = gi_gravity_above(gravity, l.frame_height - l.height);
    l.row = gi_resample_all(src->width, l.width);
    l.col = gi_resample_all(src->height, l.height);
    return l;
}

/* Converts positions in an image to positions in a reduced decoding of the image. The reduced image
 * has `source` pixels along the side. A reduced pixel is as long as `by` original pixels, and the
 * first one begins `before` original pixels outside the original image. */
static void shrink_places(struct gi_resample_places *places, int source, int before, int by)
{
    places->source = source;
    places->offset += 2 * before * places->unit;
    places->unit *= by;
}

static struct layout layout_of(const struct resize_params *p, const struct gi_image *src)
{
    struct gi_image picture = *src;
    const struct gi_shrunk *shrunk = &src->shrunk;
    if (!shrunk->by)
        return layout_of_whole(p, src);
    picture.width = shrunk->width;
    picture.height = shrunk->height;
    struct layout l = layout_of_whole(p, &picture);
    shrink_places(&l.row, src->width, shrunk->left, shrunk->by);
    shrink_places(&l.col, src->height, shrunk->top, shrunk->by);
    return l;
}

/* Leaves a reduction by at least a factor of 2 to the filter, as vipsthumbnail does. So the result
 * depends on the filter, not on the decoder's averages. */
static int shrink(const void *arg, const struct gi_image *source)
{
    const struct resize_params *p = arg;
    struct layout l = layout_of_whole(p, source);
    int n = p->fast ? 8 : 1; /* libjpeg makes at least one pixel per block of 8 x 8 */
    while (n > 1 && (l.row.step < 2 * n * l.row.unit || l.col.step < 2 * n * l.col.unit))
        n /= 2;
    return n;
}

static bool stays(const struct gi_resample_places *places)
{
    return places->source == places->result && places->step == places->unit && places->offset == 0;
}

/* Returns whether the version of Pillow that `like` names filters columns first. 13.0 decides as in
 * ImagingResampleInner (libImaging/Resample.c), 12.2 and 12.3 as in Image.resize (PIL/Image.py). */
static bool columns_first(enum like like, const struct gi_image *src, const struct layout *l)
{
    int64_t less = (int64_t)src->height - l->height;
    if (like == LIKE_PILLOW_13)
        return less > 0 && less > 2 * ((int64_t)src->width - l->width);
    return like == LIKE_PILLOW_12 && less > 0 && src->height > 100 * (int64_t)src->width;
}

/* Tells positions in the picture, also for a source that was decoded at a reduced size. */
static void place(struct gi_plan *plan, const struct layout *l)
{
    const struct gi_shrunk *shrunk = &plan->sources[0].shrunk;
    double by = shrunk->by ? shrunk->by : 1;
    double across = (double)l->row.unit / by, down = (double)l->col.unit / by;
    double x = (double)l->row.step / across, y = (double)l->col.step / down;
    double left = (double)l->row.offset / (2 * across) - shrunk->left - l->left * x;
    double top = (double)l->col.offset / (2 * down) - shrunk->top - l->top * y;
    plan->placement = (struct gi_placement){.known = true, .m = {x, 0, left, 0, y, top}};
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct resize_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (p->sizes)
        return gi_fail(err, GI_E_USAGE, "--sizes: want the command resize, not a chain");
    if (p->like != LIKE_ITSELF && src->type != GI_U8)
        return gi_fail(err, GI_E_UNSUPPORTED, "--like pillow: want an image of 8 bits");
    struct layout l = layout_of(p, src);
    if (l.frame_width > SIDE_MAX || l.frame_height > SIDE_MAX ||
        (int64_t)l.frame_width * l.frame_height > RESULT_MAX)
        return gi_fail(err, GI_E_LIMIT,
                       "a result of %d x %d pixels: want at most %d a side and %lld in all",
                       l.frame_width, l.frame_height, SIDE_MAX, (long long)RESULT_MAX);
    plan->result.width = l.frame_width;
    plan->result.height = l.frame_height;
    place(plan, &l);
    struct gi_resample *spec = gi_resample_tables(plan, (enum gi_resample_filter)p->filter, &l.row,
                                                  &l.col, p->like != LIKE_ITSELF, err);
    if (!spec)
        return GI_E_MEMORY;
    spec->alpha = gi_alpha_rule_of(plan, p->alpha, spec->alpha);
    spec->columns_first = columns_first((enum like)p->like, src, &l);
    double down = (double)src->width * l.height * spec->col.taps;
    double along = (double)l.width * l.height * spec->row.taps;
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->cost.fmas = (down + along) / ((double)src->width * src->height);
    return GI_OK;
}

/* Returns whether a side of chroma, a sample per d pixels of luma, scales exactly as luma does. */
static bool scales_alike(int from, int to, int d)
{
    return from == to || (from % d == 0 && to % d == 0);
}

/* The size of luma's result in pixels of chroma, if chroma has whole numbers of them or does not
 * change. */
static bool subsample(void *params, const struct gi_plan *luma, int dx, int dy)
{
    struct resize_params *p = params;
    const struct gi_image *src = &luma->sources[0], *dst = &luma->result;
    bool same = dst->width == src->width && dst->height == src->height;
    if (((p->fill || p->pad) && !same) || !scales_alike(src->width, dst->width, dx) ||
        !scales_alike(src->height, dst->height, dy))
        return false;
    p->size = (struct gi_extent){gi_length_of((dst->width + dx - 1) / dx),
                                 gi_length_of((dst->height + dy - 1) / dy), false};
    p->shorter = 0;
    p->fit = p->fill = p->pad = p->no_enlarge = false;
    p->stretch = true;
    return true;
}

/* Returns which rows of the image are in rows y0 to y1 - 1 of the frame. If there are none, bottom
 * <= top. */
static struct gi_span rows_within(const struct layout *l, int y0, int y1)
{
    int top = y0 - l->top, bottom = y1 - l->top;
    return (struct gi_span){top < 0 ? 0 : top, least(bottom, l->height)};
}

static struct gi_span needs(const struct gi_plan *plan, int y0, int y1)
{
    const struct gi_resample_side *col = &((const struct gi_resample *)plan->tables)->col;
    struct layout l = layout_of(plan->params, &plan->sources[0]);
    struct gi_span in = rows_within(&l, y0, y1);
    if (in.bottom <= in.top) /* the range is empty, but at least one row must be requested */
        return (struct gi_span){0, 1};
    return (struct gi_span){col->first[in.top], col->first[in.bottom - 1] + col->taps};
}

/* Resamples the rows `in` of the image, without its frame. */
static enum gi_status resample(const struct gi_plan *plan, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_work *work, struct gi_span in,
                               struct gi_err *err)
{
    struct layout l = layout_of(plan->params, &plan->sources[0]);
    if (stays(&l.row) && stays(&l.col)) {
        struct gi_image rows =
            gi_image_rows(work->srcs, in.top - work->src_y, in.bottom - work->src_y);
        return queue->k->copy(queue, dst, &rows, err);
    }
    struct gi_resample spec = *(const struct gi_resample *)plan->tables;
    spec.col.n = dst->height;
    spec.col.first += in.top;
    spec.col.phase += in.top;
    spec.col.origin = work->src_y;
    return queue->k->resample(queue, dst, work->srcs, &spec, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct resize_params *p = plan->params;
    const struct gi_kernels *k = queue->k;
    struct gi_image *dst = work->dst, image;
    struct layout l = layout_of(p, &plan->sources[0]);
    struct gi_span in = rows_within(&l, work->dst_y, work->dst_y + dst->height);
    bool none = in.bottom <= in.top;
    if (l.width == l.frame_width && l.height == l.frame_height)
        return resample(plan, queue, dst, work, in, err);
    struct gi_copy_border window = {.left = -l.left,
                                    .top = none ? 1 : work->dst_y - l.top - in.top,
                                    .border = gi_border_spec_from(&p->border, dst)};
    enum gi_status status = k->alloc(queue, &image, l.width, none ? 1 : in.bottom - in.top,
                                     dst->channels, dst->type, err);
    if (status)
        return status;
    if (!none)
        status = resample(plan, queue, &image, work, in, err);
    if (!status)
        status = k->copy_border(queue, dst, &image, &window, err);
    k->release(queue, &image);
    return status;
}

const struct gi_filter gi_filter_resize = {
    .name = "resize",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Resize with a resampling filter",
    .examples =
        "gpuimg resize photo.jpg small.jpg --size 800x600\n"
        "gpuimg resize photo.png square.png --size 512x512 --fill --gravity north\n"
        "gpuimg resize in.png train.png --size 224x224 --stretch --filter bicubic --like pillow\n"
        "gpuimg resize texture.tga half.tga --size 50% --alpha straight\n"
        "gpuimg resize photos/*.jpg --sizes 320,640,1280 --out 'web/{stem}-{width}.webp'\n"
        "gpuimg resize logo.png favicon.ico --sizes 16,32,48\n"
        "gpuimg run 'resize --short 256 --filter bilinear --like pillow, crop --size 224x224 "
        "--gravity center --like torchvision' in.jpg train.png",
    .manual =
        "By default the image keeps its aspect ratio and gets as large as --size allows: "
        "one side is that of --size, and the other side is rounded to whole pixels. --fill "
        "covers the whole size and cuts off the part that does not fit. --pad fits the "
        "image into the size and adds pixels. --stretch changes the aspect ratio. If only "
        "one side is given, as in 800x, the other follows from the aspect ratio; with "
        "--stretch the other side does not change. --size 256x256^ and --short 256 cover "
        "the size and cut off nothing. --size 400 means 400x400.\n\n"
        "--sizes makes several images of each input, for example the thumbnails and the "
        "srcset of a web page (responsive images). Each has the bytes that --size 320x "
        "--no-enlarge and so on would give. Sizes that are larger than the image become one "
        "image of its own size. All results of an input appear or none. With --out-dir and "
        "without --out the names are {stem}-{width}.{ext}.\n\n"
        "The image is smoothed as far as needed when it is made smaller (antialiasing). --"
        "filter nearest only copies pixels.\n\n" GI_ALPHA_FILTERED_MANUAL ".\n\n"
        "If a side of n pixels becomes m pixels long, result pixel i is a weighted mean of "
        "the source pixels j, with the weights f((j + 0.5 - (i + 0.5) n / m) / s) divided "
        "by their sum. f is the function of --filter, and s is the larger of 1 and n / m. "
        "Pixels outside the image have no weight. A side whose length does not change is "
        "not filtered. The function box is 1 from -1/2 to 1/2: source pixels whose centre "
        "the result pixel covers have the same weight, and other pixels have none, even if "
        "the result pixel covers a part of them. area counts these by their part, as OpenCV's "
        "INTER_AREA does for smaller images; where sides are divided by whole numbers both "
        "are the same.\n\n"
        "--fast lets libjpeg-turbo reduce a JPEG by 2, 4 or 8 while it is decoded, as long "
        "as the decoded image has at least twice the size of the result; the filter does "
        "the rest. The result has the same size as without --fast, and slightly different "
        "samples. --fast works in the first step of a chain, and not with --linear.\n\n"
        "--like pillow gives, for 8-bit images, the bytes of Pillow's Image.resize with "
        "its filters NEAREST, BOX, BILINEAR, HAMMING, BICUBIC and LANCZOS. So weights have "
        "22 bits, the result of the first pass is rounded to 8 bits, and so are colours "
        "after they are multiplied by alpha. The versions differ in the order of the "
        "passes. The version \"pillow-13\" (13.0; also called \"pillow\") filters "
        "vertically first if the height loses more than twice as many pixels as the width "
        "does. The version \"pillow-12\" (12.2 and 12.3) does so if the height is reduced "
        "and the image is over 100 times as high as wide. The version \"pillow-11\" (12.1 "
        "and earlier) never does.\n\n"
        "The last example has the bytes of torchvision's Resize(256) and CenterCrop(224) of "
        "a PIL image in RGB. All commands turn a photograph upright by its EXIF orientation "
        "first, as PIL's ImageOps.exif_transpose() does; Image.open() alone leaves it as it "
        "is stored, and so does --keep-orientation.",
    .options = options,
    .params_nbytes = sizeof(struct resize_params),
    .samples.averages = true,
    .check = check,
    .samples.subsample = subsample,
    .sources.shrink = shrink,
    .plan = plan,
    .sources.needs = needs,
    .run = run,
};
