/* Flips an image horizontally and vertically, without interpolation.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/layout.h"
#include "filters/random.h"

struct flip_params {
    bool h, v, random, quarter_turns;
    int seed;
    int drawn; /* bits of enum gi_layout, for `random` */
};

static const struct gi_option options[] = {
    {GI_OPTION("h", FLAG, struct flip_params, h), .also = "horizontal", .example = "",
     .one_of = true, .help = "Swap left and right, like a mirror"},
    {GI_OPTION("v", FLAG, struct flip_params, v), .also = "vertical",
     .help = "Swap top and bottom"},
    {GI_OPTION("random", FLAG, struct flip_params, random),
     .help = "For training data: let the name of the image decide by chance whether it is flipped, "
             "by --h, by --v, or in each of the four ways if neither or both are given"},
    {GI_OPTION("quarter-turns", FLAG, struct flip_params, quarter_turns),
     .help = "With --random, rotate by 90 degrees too, one of eight ways in all"},
    GI_SEED_OPTION(struct flip_params, seed),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct flip_params *p = params;
    if (!p->random && (p->quarter_turns || p->seed))
        return gi_fail(err, GI_E_USAGE, "--%s: want --random with it",
                       p->seed ? "seed" : "quarter-turns");
    if (p->quarter_turns && p->h != p->v)
        return gi_fail(err, GI_E_USAGE, "--quarter-turns: want no --%s with it", p->h ? "h" : "v");
    return p->h || p->v || p->random ? GI_OK
                                     : gi_fail(err, GI_E_USAGE, "want --h, --v, both or --random");
}

static bool draw(void *params, uint64_t key)
{
    struct flip_params *p = params;
    if (!p->random)
        return false;
    uint64_t bits = gi_random_bits(key, p->seed, "flip");
    bool all = p->h == p->v;
    p->drawn = (bits & 1 && (all || p->h) ? GI_LAYOUT_MIRROR_X : 0) |
               (bits & 2 && (all || p->v) ? GI_LAYOUT_MIRROR_Y : 0) |
               (bits & 4 && p->quarter_turns ? GI_LAYOUT_TRANSPOSE : 0);
    return true;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct flip_params *p = plan->params;
    if (p->random)
        return gi_layout_plan(plan, p->drawn, err);
    return gi_layout_plan(plan, (p->h ? GI_LAYOUT_MIRROR_X : 0) | (p->v ? GI_LAYOUT_MIRROR_Y : 0),
                          err);
}

const struct gi_filter gi_filter_flip = {
    .name = "flip",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Flip horizontally or vertically",
    .examples = "gpuimg flip photo.jpg mirrored.jpg --h\n"
                "gpuimg flip texture.png texture-gl.png --v\n"
                "gpuimg flip photo.jpg upside-down.jpg --h --v\n"
                "gpuimg flip photos/*.jpg --random --seed 2 --out-dir flipped",
    .manual =
        "--h moves column x to width - 1 - x, and --v moves row y to height - 1 - y. Both "
        "together turn the image by 180 degrees. Samples do not change. At least one of "
        "the two, or --random, is required.\n\n"
        "--random is for the augmentation of training data. The name of the image and --seed "
        "decide what is done, so that a second run, another device and other shards give the "
        "same images, and each --seed gives others. The name counts without its folder and "
        "from its first point on: images/a.png, masks/a.png and the members a.png and "
        "a.seg.png of a tar, which WebDataset joins to one sample, are flipped in the same "
        "way, and so are all pages or frames of a file. With --random and --h half of all names "
        "are mirrored, and with --random alone a quarter is left as it is.",
    .options = options,
    .params_nbytes = sizeof(struct flip_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_layout_needs,
    .sources.draw = draw,
    .run = gi_layout_run,
};
