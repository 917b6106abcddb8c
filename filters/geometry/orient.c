/* Orient: pixels turned as an EXIF orientation says.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/turning.h"

struct params {
    int as;
};

/* In the order of EXIF's values from 1 on. */
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
    {.name = "orientation",
     .also = "as",
     .type = GI_OPT_CHOICE,
     .offset = offsetof(struct params, as),
     .default_text = "1",
     .choices = orientations,
     .help = "The EXIF orientation that the pixels have, where the file says none or a wrong one: "
             "they are shown"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
    return gi_turn_plan(plan, gi_orientation_turn(p->as + 1), err);
}

const struct gi_filter gi_filter_orient = {
    .name = "orient",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Turn upright by the EXIF orientation, or write one",
    .manual =
        "What a camera says of how it was held, EXIF's orientation, is heeded by every operation "
        "when it reads a file, and files that are written are upright and say so: without options "
        "this does just that.\n\n"
        "--orientation N is for files that say nothing, or something wrong: their pixels, as they "
        "come "
        "after what the file itself says, are shown as that orientation means.\n\n"
        "--tag N has the output say that orientation, in formats that hold EXIF: pixels are stored "
        "turned the other way, and the picture is seen the same by all that heed it.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .plan = plan,
    .needs = gi_turn_needs,
    .run = gi_turn_run,
};
