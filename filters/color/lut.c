/* Colour look-up tables: .cube files and HALD images.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "filters/color/cube.h"
#include "filters/filter.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

struct lut_params {
    const char *cube, *hald;
    int interpolation; /* index of interpolations */
};

static const struct gi_choice interpolations[] = {
    {"tetrahedral", NULL, "between 4 entries: grays stay gray"},
    {"trilinear", NULL, "between 8 entries"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("cube", CONTENT, struct lut_params, cube), .letter = 'c', .also = "lut",
     .metavar = "FILE", .example = "LUT_1D_SIZE 2\n0 0.1 0\n1 0.9 0.5", .one_of = true,
     .help = "Table of one or three dimensions, as a .cube file"},
    {GI_OPTION("hald", IMAGE, struct lut_params, hald), .metavar = "IMAGE",
     .help = "Table as a HALD image: a square of 8, 27, 64, 125 ... pixels per side"},
    {GI_OPTION("interpolation", CHOICE, struct lut_params, interpolation), .letter = 'i',
     .default_text = "tetrahedral", .choices = interpolations,
     .help = "Interpolation in tables of three dimensions"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct lut_params *p = params;
    struct gi_cube cube;
    if (!p->cube == !p->hald)
        return gi_fail(err, GI_E_USAGE,
                       p->cube ? "--cube, --hald: want one of them"
                               : "--cube: missing: want a file, or --hald");
    return p->cube && gi_cube_read(&cube, NULL, p->cube, err) ? gi_err_prefix(err, "--cube")
                                                              : GI_OK;
}

/* Returns n of a table with n^3 entries in a square image, or 0 if there is none. */
static int hald_entries(int side)
{
    int level = 2;
    while (level * level * level < side)
        level++;
    return level * level * level == side && level * level <= GI_COLOR_LUT_MOST ? level * level : 0;
}

/* Converts a HALD image to the table that the primitive takes. */
static enum gi_status admit(const void *params, int j, struct gi_image *other, struct gi_err *err)
{
    struct gi_image table;
    int n = hald_entries(other->width);
    if (other->width != other->height || !n)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%d x %d pixels: want a square of 8, 27, 64, 125, 216 ... 4096 per side",
                       other->width, other->height);
    if (other->channels < 3 || other->type == GI_U32)
        return gi_fail(err, GI_E_UNSUPPORTED, "is gray: want a HALD image in colour");
    enum gi_status status = gi_image_alloc(&table, n * n, n, 3, GI_F32, err);
    if (status)
        return status;
    float full = gi_type_full_scale(other->type);
    size_t side = (size_t)other->width, channels = (size_t)other->channels, wide = (size_t)(n * n);
    for (size_t i = 0; i < side * side; i++)
        for (size_t c = 0; c < 3; c++)
            ((float *)gi_row(&table, (int)(i / wide)))[i % wide * 3 + c] =
                gi_sample(gi_row(other, (int)(i / side)), i % side * channels + c, other->type) /
                full;
    gi_image_free(other);
    *other = table;
    return GI_OK;
}

struct lut_tables {
    struct gi_color_lut spec;
    bool gray; /* a gray image stays gray */
    float entries[];
};

/* Returns whether a 1-D table is the same for all channels. */
static bool is_same(const struct gi_cube *cube, const float *entries)
{
    bool same = !cube->solid;
    for (int c = 1; c < 3; c++) {
        same = same && cube->lo[c] == cube->lo[0] && cube->hi[c] == cube->hi[0];
        for (size_t i = 0; i < cube->rows && same; i++)
            same = entries[3 * i + (size_t)c] == entries[3 * i];
    }
    return same;
}

static enum gi_status read_cube(struct gi_cube *cube, struct gi_plan *plan, const char *text,
                                struct gi_err *err)
{
    const char *rows = text;
    int line;
    enum gi_status status = gi_cube_read_head(cube, &rows, &line, err);
    if (status)
        return status;
    struct lut_tables *tables =
        gi_plan_tables(plan, sizeof *tables + 3 * cube->rows * sizeof(float), err);
    if (!tables)
        return GI_E_MEMORY;
    status = gi_cube_read(cube, tables->entries, text, err);
    tables->gray = is_same(cube, tables->entries);
    return status;
}

static enum gi_status take_hald(struct gi_cube *cube, struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *table = &plan->sources[1];
    *cube = (struct gi_cube){.solid = true, .n = table->height, .hi = {1, 1, 1}};
    if (table->type != GI_F32 || table->channels != 3 || table->height < 2 ||
        table->height > GI_COLOR_LUT_MOST || table->width != table->height * table->height)
        return gi_fail(err, GI_E_UNSUPPORTED, "--hald: want a HALD image");
    return gi_plan_tables(plan, sizeof(struct lut_tables), err) ? GI_OK : GI_E_MEMORY;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct lut_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_cube cube;
    enum gi_status status =
        p->cube ? read_cube(&cube, plan, p->cube, err) : take_hald(&cube, plan, err);
    if (status)
        return status;
    struct lut_tables *tables = plan->tables;
    double full = (double)gi_type_full_scale(src->type);
    tables->spec.kind = !cube.solid             ? GI_COLOR_LUT_CURVES
                        : p->interpolation == 1 ? GI_COLOR_LUT_TRILINEAR
                                                : GI_COLOR_LUT_TETRAHEDRAL;
    tables->spec.n = cube.n;
    tables->spec.full = (float)full;
    for (int c = 0; c < 3; c++) {
        double steps = (cube.n - 1) / (cube.hi[c] - cube.lo[c]);
        tables->spec.scale[c] = (float)(steps / full);
        tables->spec.offset[c] = (float)(-cube.lo[c] * steps);
    }
    if (src->channels < 3 && !tables->gray)
        plan->result.channels += 2;
    plan->cost.other = cube.solid ? 20 : 6;
    return GI_OK;
}

/* Returns all rows of the HALD image. */
static struct gi_span beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    return (struct gi_span){0, plan->sources[j].height};
}

/* Applies the table to `src`, which becomes colour first if the result is. */
static enum gi_status apply(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_color_lut *spec,
                            struct gi_err *err)
{
    const struct gi_permute_channels copy = {.from[3].channel = 1, .nsources = 1};
    struct gi_image color;
    if (src->channels == dst->channels)
        return queue->k->color_lut(queue, dst, src, spec, err);
    enum gi_status status =
        queue->k->alloc(queue, &color, src->width, src->height, dst->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->permute_channels(queue, &color, src, &copy, err);
    if (!status)
        status = queue->k->color_lut(queue, dst, &color, spec, err);
    queue->k->release(queue, &color);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct lut_tables *tables = plan->tables;
    struct gi_color_lut spec = tables->spec;
    bool solid = spec.kind != GI_COLOR_LUT_CURVES;
    struct gi_image table, host = {.data = (void *)(uintptr_t)tables->entries,
                                   .width = solid ? spec.n * spec.n : spec.n,
                                   .height = solid ? spec.n : 1,
                                   .channels = 3,
                                   .type = GI_F32};
    if (plan->nsources > 1) {
        spec.table = &work->srcs[1];
        return apply(queue, work->dst, work->srcs, &spec, err);
    }
    host.stride = gi_row_nbytes(&host);
    spec.table = &table;
    enum gi_status status = queue->k->upload(queue, &table, &host, NULL, err);
    if (status)
        return status;
    status = apply(queue, work->dst, work->srcs, &spec, err);
    queue->k->release(queue, &table);
    return status;
}

const struct gi_filter gi_filter_lut = {
    .name = "lut",
    .group = GI_GROUP_COLOR,
    .planes = GI_PLANES_RGB,
    .samples.needs_color = true,
    .summary = "Apply a colour look-up table (LUT): .cube files and HALD images",
    .examples = "gpuimg lut in.png out.png --cube look.cube\n"
                "gpuimg lut in.png out.png --hald clut.png\n"
                "gpuimg lut in.png out.png --cube look.cube --interpolation trilinear",
    .manual =
        "A .cube file is a table of one dimension, which is a curve per channel, or of three, "
        "which gives a colour for each colour. Between its entries the result is interpolated. "
        "Samples outside the domain of the table (DOMAIN_MIN to DOMAIN_MAX, LUT_1D_INPUT_RANGE or "
        "LUT_3D_INPUT_RANGE; by default 0 to 1, where 1 is full scale) get the result of the "
        "nearest sample inside. A HALD image of level L is a square of L^3 pixels per side, whose "
        "pixels in reading order are a table of L^2 entries a side in which red changes first.\n\n"
        "The result is computed in float and rounded once; a result of a float image is not "
        "limited. Alpha does not change. A gray image becomes colour, except with a curve that "
        "all channels share. In tables of three dimensions NaN counts as 0.\n\n"
        "Tables are applied to samples as they are stored. --linear is for tables that are made "
        "for linear light. A table of one dimension has at most 65536 entries, one of three "
        "dimensions at most 256 a side. Files with both kinds of table are refused.\n\n"
        "Sources: Adobe, \"Cube LUT specification\", version 1.0, 2013; for tetrahedral "
        "interpolation J. Kasson, W. Plouffe and S. Nin, \"A tetrahedral interpolation technique "
        "for color space conversion\", SPIE 1909, 1993.",
    .options = options,
    .params_nbytes = sizeof(struct lut_params),
    .check = check,
    .sources.admit = admit,
    .sources.beside = beside,
    .plan = plan,
    .run = run,
};
