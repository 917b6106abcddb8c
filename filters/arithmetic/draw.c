/* Composites a drawing over the input. This file places the drawing and composites its rows by the
 * primitive `arithmetic`, as the mode "over" of composite does.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/draw.h"

#include "filters/geometry/gravity.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"

static const struct gi_option options[] = {
    {GI_OPTION("box", TEXT, struct gi_draw_params, boxes), .repeats = true,
     .metavar = "X,Y,WIDTH,HEIGHT",
     .help = "Draw a rectangle, with its line inside; this option and the next three may be given "
             "several times"},
    {GI_OPTION("line", TEXT, struct gi_draw_params, lines), .repeats = true,
     .metavar = "X1,Y1,X2,Y2", .help = "Draw a line"},
    {GI_OPTION("circle", TEXT, struct gi_draw_params, circles), .repeats = true,
     .metavar = "X,Y,RADIUS", .help = "Draw a circle"},
    {GI_OPTION("polygon", TEXT, struct gi_draw_params, polygons), .repeats = true,
     .metavar = "'X,Y X,Y X,Y...'", .help = "Draw a closed polygon"},
    {GI_OPTION("table", PATH, struct gi_draw_params, table), .letter = 't', .metavar = "FILE",
     .help = "Draw a shape for each row of this CSV table, such as the boxes of a detector or "
             "those of gpuimg extract"},
    {GI_OPTION("normalized", FLAG, struct gi_draw_params, normalized),
     .help = "Coordinates of shapes are parts of the width and height of the image, from 0 to 1; a "
             "radius is a part of the smaller one"},
    {GI_OPTION("text", TEXT, struct gi_draw_params, text), .metavar = "TEXT", .form = "'{name}'",
     .help = "Write this text, with fields such as {name}, {date} and {index}, as in names of "
             "outputs"},
    {GI_OPTION("scale-bar", TEXT, struct gi_draw_params, scale_bar), .metavar = "LENGTH",
     .form = "20um",
     .help = "Draw a bar of this length with its label, by the resolution of the file or by "
             "--pixel-size; the units are nm, um, mm, cm, m, km and in"},
    {GI_OPTION("pixel-size", TEXT, struct gi_draw_params, pixel_size), .metavar = "LENGTH",
     .form = "0.32um", .help = "Length of a pixel's side, for --scale-bar"},
    GI_GRAVITY_OPTION(struct gi_draw_params, "northwest", "Where text and scale bar are"),
    {GI_OPTION("at", REALS, struct gi_draw_params, at), .also = "position", .least = 2, .most = 2,
     .min = -1000000, .max = 1000000, .unit = "px", .metavar = "X,Y",
     .help = "Offset of text and scale bar from the place of --gravity, inwards; by default half "
             "of --size"},
    {GI_OPTION("color", TEXT, struct gi_draw_params, color), .also = "colour", .letter = 'c',
     .metavar = "COLOUR",
     .help = "Colour of lines and text: a name, #rrggbb or #rrggbbaa; by default yellow, and the "
             "classes of a table have different ones"},
    {GI_OPTION("fill", TEXT, struct gi_draw_params, fill), .metavar = "COLOUR",
     .help = "Colour inside of shapes and behind text; without it there is none"},
    {GI_OPTION("width", REAL, struct gi_draw_params, width), .letter = 'w', .min = 0.1, .max = 1000,
     .unit = "px", .help = "Width of lines; by default 1, and 1 more per 350 pixels of the image"},
    {GI_OPTION("size", REAL, struct gi_draw_params, size), .letter = 's', .min = 1, .max = 10000,
     .unit = "px",
     .help = "Size of letters; by default a 30th of the height of the image, at least 10"},
    {GI_OPTION("font", TEXT, struct gi_draw_params, font), .default_text = "sans-serif",
     .metavar = "NAME", .help = "Family of the font, as fontconfig names it (fc-list : family)"},
    {0},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    plan->result.channels = 3 + gi_has_alpha(&plan->sources[0]);
    /* cairo's picture, and the drawing */
    plan->scratch_nbytes = 8 * (size_t)plan->sources[0].width * (size_t)plan->sources[0].height;
    plan->cost = (struct gi_cost){.fmas = 4, .other = 8};
    return GI_OK;
}

static int clamp(int64_t y, int height)
{
    return y < 0 ? 0 : y > height ? height : (int)y;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    static const struct gi_image none = {.width = 1, .channels = 4, .type = GI_U8};
    struct gi_drawer *drawer = ((const struct gi_draw_params *)plan->params)->drawer;
    const struct gi_image *drawing = &none, *src = &plan->sources[0];
    struct gi_image rows = none;
    struct gi_arithmetic spec = {.op = GI_ARITHMETIC_LAYER,
                                 .other = &rows,
                                 .opacity = 1,
                                 .above = {1, 0},
                                 .below = {1, -1},
                                 .blend = GI_BLEND_NORMAL};
    int x = 0, y = 0;
    enum gi_status status =
        drawer ? drawer->draw(drawer, &drawing, &x, &y, src->width, src->height, err) : GI_OK;
    if (status)
        return status;
    int64_t first = (int64_t)work->src_y - y; /* row of the drawing where the source begins */
    int top = clamp(first, drawing->height);
    int bottom = clamp(first + work->srcs->height, drawing->height);
    spec.x = x;
    spec.y = top - first;
    bool visible = top < bottom;
    if (visible) {
        const struct gi_image host = gi_image_rows(drawing, top, bottom);
        status = queue->k->upload(queue, &rows, &host, NULL, err);
    }
    if (status)
        return status;
    status = queue->k->arithmetic(queue, work->dst, work->srcs, &spec, err);
    if (visible)
        queue->k->release(queue, &rows);
    return status;
}

const struct gi_filter gi_filter_draw = {
    .name = "draw",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Draw boxes, lines, circles, text and scale bars (annotate)",
    .manual =
        "Shapes and text are drawn by cairo, with smooth edges, on a transparent image of 8 bits, "
        "which is composited onto the input as gpuimg composite does. So images of 16 bits and "
        "floats keep their depth, with colours as parts of full scale, and CPU and CUDA give the "
        "same bytes. A gray image becomes one in colour if the drawing has colour. Coordinates "
        "are pixels from the upper left; parts outside the image are left out. Without text the "
        "result depends on the version of cairo at most; with text also on the fonts of the "
        "system.\n\n"
        "--table is a CSV table with a row per shape, whose columns are found by their names: x "
        "and y with w and h, xmin, ymin, xmax and ymax, x1, y1, x2 and y2, or bbox_x, bbox_y, "
        "bbox_width and bbox_height, as gpuimg extract and most detectors write them, or x_center "
        "and y_center with w and h, as YOLO does. If all of them are parts of the image, from 0 to "
        "1, --normalized draws them; without it a warning says so. Columns "
        "that may be there: file (also filename, image, image_path), which chooses the rows of "
        "each image of a batch, or else image_id, a name that may lack its suffix; label (class, "
        "name, category) and score (confidence), which are written above "
        "a box; shape (box, line, circle, polygon or text), radius, points (\"X,Y X,Y X,Y\"), "
        "color, fill, line_width and size. Each class has a colour of its own. Other columns are "
        "ignored.\n\n"
        "Options draw in this order: the table, boxes, lines, circles, polygons, text and scale "
        "bar. A line or circle goes through the centres of the pixels that are named, and the "
        "line of a box is inside it. A scale bar is rounded to whole pixels.\n\n"
        "As a step of a chain, draw draws on the image that the steps before it make, and knows "
        "the name and the resolution of the input: gpuimg run 'resize --size 50% | draw --text "
        "{name}' in.jpg out.jpg. In a tar, the names are those of the members. {index} counts the "
        "inputs, the images of a tar, or the images of a stream, such as the frames of a video.",
    .examples =
        "gpuimg draw photo.jpg marked.jpg --box 120,80,200,150 --color red --width 4\n"
        "gpuimg draw cells.png boxes.png --table regions.csv --size 14\n"
        "gpuimg draw photo.jpg signed.jpg --text '{name}' --gravity southwest --fill '#00000080'\n"
        "gpuimg draw cells.png scaled.png --scale-bar 20um --pixel-size 0.32um --gravity "
        "southeast\n"
        "gpuimg draw photos/*.jpg --table detections.csv --out-dir drawn",
    .options = options,
    .params_nbytes = sizeof(struct gi_draw_params),
    .samples.needs_color = true,
    .plan = plan,
    .run = run,
};
