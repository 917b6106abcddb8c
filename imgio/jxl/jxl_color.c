/* The colour spaces that JPEG XL codes by numbers (ISO/IEC 18181-1, E.2), from PNG's chunks cICP,
 * gAMA and cHRM.
 * SPDX-License-Identifier: MIT */
#include "imgio/jxl/jxl.h"

#if GI_HAVE_JXL
#include "imgio/metadata/color_space.h"
#include "imgio/metadata/metadata.h"

#include <math.h>
#include <string.h>

static bool is_near(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (fabs(a[i] - b[i]) > 1e-6)
            return false;
    return true;
}

/* Sets the white point and the primaries, by their names if they have any. */
static void set_space(JxlColorEncoding *color, const struct gi_color_space *space)
{
    static const double d65[] = GI_D65, dci[] = {0.314, 0.351};
    static const struct {
        JxlPrimaries name;
        double xy[6];
    } named[] = {{JXL_PRIMARIES_SRGB, {0.64, 0.33, 0.30, 0.60, 0.15, 0.06}},
                 {JXL_PRIMARIES_2100, {0.708, 0.292, 0.170, 0.797, 0.131, 0.046}},
                 {JXL_PRIMARIES_P3, {0.680, 0.320, 0.265, 0.690, 0.150, 0.060}}};
    color->white_point = is_near(space->white, d65, 2)   ? JXL_WHITE_POINT_D65
                         : is_near(space->white, dci, 2) ? JXL_WHITE_POINT_DCI
                                                         : JXL_WHITE_POINT_CUSTOM;
    memcpy(color->white_point_xy, space->white, sizeof color->white_point_xy);
    color->primaries = JXL_PRIMARIES_CUSTOM;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (is_near(space->primaries[0], named[i].xy, 6))
            color->primaries = named[i].name;
    memcpy(color->primaries_red_xy, space->primaries[0], sizeof color->primaries_red_xy);
    memcpy(color->primaries_green_xy, space->primaries[1], sizeof color->primaries_green_xy);
    memcpy(color->primaries_blue_xy, space->primaries[2], sizeof color->primaries_blue_xy);
}

/* Sets the curve samples = light^gamma. Returns false if JPEG XL can't hold it. */
static bool set_gamma(JxlColorEncoding *color, double gamma)
{
    color->transfer_function = JXL_TRANSFER_FUNCTION_GAMMA;
    color->gamma = gamma;
    return gamma >= 0.1 && gamma <= 1;
}

/* Sets the curve by its code (ITU-T H.273, table 3), of which 1, 6, 14 and 15 are the same curve.
 * Returns false for others. */
static bool set_curve(JxlColorEncoding *color, int code)
{
    switch (code) {
    case 1:
    case 6:
    case 14:
    case 15:
        color->transfer_function = JXL_TRANSFER_FUNCTION_709;
        return true;
    case 4:
        return set_gamma(color, 1 / 2.2);
    case 5:
        return set_gamma(color, 1 / 2.8);
    case JXL_TRANSFER_FUNCTION_LINEAR:
    case JXL_TRANSFER_FUNCTION_SRGB:
    case JXL_TRANSFER_FUNCTION_PQ:
    case JXL_TRANSFER_FUNCTION_DCI:
    case JXL_TRANSFER_FUNCTION_HLG: /* which have the numbers of H.273 */
        color->transfer_function = (JxlTransferFunction)code;
        return true;
    default:
        return false;
    }
}

bool gi_jxl_color(JxlColorEncoding *color, const struct gi_metadata *metadata, bool gray)
{
    struct gi_color_space space;
    struct gi_err unread;
    gi_jxl.JxlColorEncodingSetToSRGB(color, gray);
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));) {
        const unsigned char *code = at + 5;
        if (memcmp(at, "cICP", 4) != 0)
            continue;
        if (at[4] != 4 || code[2] != 0 || code[3] != 1 ||
            !gi_color_space_primaries(&space, code[0]) || !set_curve(color, code[1]))
            return false;
        set_space(color, &space);
        return true;
    }
    if (gi_color_space_of_chunks(&space, metadata, &unread))
        return false;
    set_space(color, &space);
    return space.curve != 1 || set_gamma(color, 1 / space.parameters[0]);
}

bool gi_jxl_holds_color(const struct gi_metadata *metadata)
{
    JxlColorEncoding color;
    return !metadata->icc && gi_jxl_color(&color, metadata, false);
}
#endif
