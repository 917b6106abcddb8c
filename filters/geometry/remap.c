/* Remapping: each result pixel is interpolated at coordinates that a map image contains. The
 * coordinates are absolute, or relative to the position of the result pixel (optical flow).
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/transform.h"

struct remap_params {
    const char *map, *map_y;
    bool relative;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("map", IMAGE, struct remap_params, map), .letter = 'm', .example = "map.npy",
     .help = "The map, in float: a .npy array of height x width x 2, or a colour PFM, whose "
             "third channel is ignored. With --map-y: a file of one channel that holds only X"},
    {GI_OPTION("map-y", IMAGE, struct remap_params, map_y),
     .help = "File of one channel, in float, that holds Y"},
    {GI_OPTION("relative", FLAG, struct remap_params, relative), .letter = 'r',
     .help = "The map holds displacements to the right and down instead of positions"},
    GI_TRANSFORM_OPTIONS(struct remap_params),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct remap_params *p = params;
    return p->map ? GI_OK : gi_fail(err, GI_E_USAGE, "--map: missing: want a file of floats");
}

/* Checks that the maps are floats of one shape and contain both coordinates. */
static enum gi_status check_maps(const struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *first = &plan->sources[1];
    bool both = plan->nsources > 2;
    for (int i = 1; i < plan->nsources; i++) {
        const struct gi_image *map = &plan->sources[i];
        if (map->type != GI_F32)
            return gi_fail(err, GI_E_UNSUPPORTED, "a map of %d-bit integers: want floats, as .npy",
                           8 * (int)gi_type_nbytes(map->type));
        if (both ? map->channels != 1 : map->channels < 2)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "a map of %d channel%s: want one of X and Y, or one of X and one of Y",
                           map->channels, map->channels == 1 ? "" : "s");
        if (map->width != first->width || map->height != first->height)
            return gi_fail(err, GI_E_UNSUPPORTED, "maps of %d x %d and %d x %d: want one size",
                           first->width, first->height, map->width, map->height);
    }
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct remap_params *p = plan->params;
    enum gi_status status = check_maps(plan, err);
    if (status)
        return status;
    plan->result.width = plan->sources[1].width;
    plan->result.height = plan->sources[1].height;
    struct gi_remap *transform = gi_transform_plan(plan, &p->transform, 0, err);
    if (!transform)
        return GI_E_MEMORY;
    transform->map.kind = GI_MAP_FIELD;
    transform->map.relative = p->relative;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_remap transform = *(const struct gi_remap *)plan->tables;
    transform.map.field[0] = &work->srcs[1];
    transform.map.field[1] = &work->srcs[plan->nsources - 1];
    return gi_transform_run_map(queue, work, transform, err);
}

const struct gi_filter gi_filter_remap = {
    .name = "remap",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Remap pixels with a coordinate map",
    .manual = "The map is an image of two channels, X and Y. Pixel (x, y) of the result is "
              "interpolated in the input at the position (X, Y) that the map holds at (x, y), "
              "like OpenCV's remap. With --relative the map holds displacements, as optical flow "
              "does, and the position is (x + X, y + Y). Coordinates are in pixels from the "
              "centre of the top left pixel. The result has the size of the map. A pixel "
              "whose X or Y is NaN becomes the border value, in every border mode.\n\n"
              "Each pixel of the result is interpolated from a few pixels of the input, which "
              "causes aliasing where the map makes the image much smaller. Colours are weighted "
              "by alpha, unless --alpha says that it is data.",
    .examples = "gpuimg remap in.png out.png --map map.npy\n"
                "gpuimg remap left.png rectified.png --map x.pfm --map-y y.pfm --border border\n"
                "gpuimg remap frame2.png frame1.png --map flow.npy --relative --border clamp\n"
                "gpuimg remap texture.tga out.tga --map map.npy --alpha straight",
    .options = options,
    .params_nbytes = sizeof(struct remap_params),
    .check = check,
    .plan = plan,
    .run = run,
};
