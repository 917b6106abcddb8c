/* Flips and turns the pixels as an EXIF orientation says (EXIF 2.32, 4.6.4), by the primitive
 * `layout`.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/layout.h"

struct orient_params {
    int as;
};

/* The orientations in the order of EXIF's values, from 1 on. */
static const struct gi_choice orientations[] = {
    {"1", NULL, "as it is"},
    {"2", NULL, "mirrored, left and right"},
    {"3", NULL, "turned by 180 degrees"},
    {"4", NULL, "mirrored, top and bottom"},
    {"5", NULL, "mirrored by the diagonal"},
    {"6", NULL, "turned by 90 degrees to the right"},
    {"7", NULL, "mirrored by the other diagonal"},
    {"8", NULL, "turned by 90 degrees to the left"},
    {"top-left", "1", NULL},
    {"top-right", "2", NULL},
    {"bottom-right", "3", NULL},
    {"bottom-left", "4", NULL},
    {"left-top", "5", NULL},
    {"right-top", "6", NULL},
    {"right-bottom", "7", NULL},
    {"left-bottom", "8", NULL},
    {NULL, NULL, NULL},
};

static const struct gi_option options[] = {
    {GI_OPTION("orientation", CHOICE, struct orient_params, as), .also = "as", .default_text = "1",
     .choices = orientations,
     .help = "The EXIF orientation that the file should have; its pixels are turned upright "
             "accordingly"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct orient_params *p = plan->params;
    return gi_layout_plan(plan, gi_orientation_layout(p->as + 1), err);
}

const struct gi_filter gi_filter_orient = {
    .name = "orient",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Turn upright by the EXIF orientation, or write this tag",
    .manual =
        "A camera stores in EXIF how a picture must be turned to be upright. All commands "
        "of gpuimg turn an image in this way when they read it, and write upright images. So "
        "gpuimg orient without options writes an upright copy. --keep-orientation leaves an "
        "image as it is stored. With --lossless a JPEG is turned without decoding its "
        "samples, as jpegtran and exiftran do: all metadata are kept, but orientation, size and "
        "resolution in EXIF and XMP become those of the upright picture, and thumbnails and "
        "signatures of the old one are dropped.\n\n"
        "--orientation N is for files whose EXIF orientation is missing or wrong. The "
        "image is turned as EXIF orientation N says, after the orientation in the file has "
        "been applied.\n\n"
        "--tag N stores orientation N in the output, if its format holds EXIF. The pixels "
        "are stored turned in the opposite direction, so that programs that apply the "
        "orientation show the same picture.",
    .options = options,
    .params_nbytes = sizeof(struct orient_params),
    .plan = plan,
    .sources.needs = gi_layout_needs,
    .run = gi_layout_run,
};
