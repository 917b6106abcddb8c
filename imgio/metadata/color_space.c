/* Reads the colour space that PNG's chunks cICP, gAMA and cHRM declare.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/color_space.h"

#include <string.h>

#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"

static const struct gi_color_space srgb = {
    .white = GI_D65, .primaries = GI_SRGB_PRIMARIES, GI_SRGB_CURVE};

bool gi_color_space_primaries(struct gi_color_space *space, int code)
{
    static const struct {
        int code;
        double white[2], primaries[3][2];
    } rows[] = {
        {1, GI_D65, GI_SRGB_PRIMARIES},
        {4, {0.310, 0.316}, {{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}}},
        {5, GI_D65, {{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}}},
        {6, GI_D65, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}}},
        {7, GI_D65, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}}},
        {8, {0.310, 0.316}, {{0.681, 0.319}, {0.243, 0.692}, {0.145, 0.049}}},
        {9, GI_D65, {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}}},
        {11, {0.314, 0.351}, {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}},
        {12, GI_D65, {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}},
        {22, GI_D65, {{0.630, 0.340}, {0.295, 0.605}, {0.155, 0.077}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code) {
            memcpy(space->white, rows[i].white, sizeof space->white);
            memcpy(space->primaries, rows[i].primaries, sizeof space->primaries);
            return true;
        }
    return false;
}

static void set_power(struct gi_color_space *space, double exponent)
{
    space->curve = 1;
    space->parameters[0] = exponent;
}

/* Sets the curve by its code (ITU-T H.273, table 3). Returns false for others. */
static bool set_curve(struct gi_color_space *space, int code)
{
    /* the inverse of V = 1.099 L^0.45 - 0.099, and of V = 4.5 L up to L = 0.018 */
    static const double bt709[] = {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081};
    if (code == 4 || code == 5 || code == 8)
        set_power(space, code == 4 ? 2.2 : code == 5 ? 2.8 : 1);
    else if (code == 1 || code == 6 || code == 14 || code == 15) {
        space->curve = 4;
        memcpy(space->parameters, bt709, sizeof bt709);
    }
    return code == 1 || (code >= 4 && code <= 6) || code == 8 || (code >= 13 && code <= 15);
}

static enum gi_status read_code(struct gi_color_space *space, const unsigned char *p, size_t n,
                                struct gi_err *err)
{
    const char *name = n != 4 ? "" : p[1] == 16 ? " (PQ)" : p[1] == 18 ? " (HLG)" : "";
    if (n == 4 && p[2] == 0 && p[3] == 1 && gi_color_space_primaries(space, p[0]) &&
        set_curve(space, p[1]))
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "--profile: its chunk cICP names primaries %d, curve %d%s, matrix %d and range "
                   "%d, which can't be converted: want --assign PROFILE, too",
                   n > 0 ? p[0] : -1, n > 1 ? p[1] : -1, name, n > 2 ? p[2] : -1,
                   n > 3 ? p[3] : -1);
}

/* Sets white and primaries by cHRM. Returns false if they are impossible. */
static bool read_primaries(struct gi_color_space *space, const unsigned char *p)
{
    double *const to[] = {space->white, space->primaries[0], space->primaries[1],
                          space->primaries[2]};
    for (int i = 0; i < 4; i++) {
        uint32_t x = gi_big32(p + 8 * i), y = gi_big32(p + 8 * i + 4);
        if (!y || x > 100000 || y > 100000 || x + y > 100001)
            return false;
        to[i][0] = x * 1e-5;
        to[i][1] = y * 1e-5;
    }
    double(*c)[2] = space->primaries; /* primaries on a line span no colours */
    double area =
        (c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) - (c[2][0] - c[0][0]) * (c[1][1] - c[0][1]);
    return area > 1e-4 || area < -1e-4;
}

enum gi_status gi_color_space_of_chunks(struct gi_color_space *space,
                                        const struct gi_metadata *metadata, struct gi_err *err)
{
    const char *damaged = NULL;
    *space = srgb;
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));)
        if (memcmp(at, "cICP", 4) == 0)
            return read_code(space, at + 5, at[4], err);
    if (gi_metadata_is_srgb(metadata))
        return GI_OK;
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));) {
        if (memcmp(at, "gAMA", 4) == 0) {
            uint32_t gamma = at[4] == 4 ? gi_big32(at + 5) : 0;
            if (gamma < 10000 || gamma > 1000000)
                damaged = "gAMA";
            else
                set_power(space, 1e5 / gamma);
        } else if (memcmp(at, "cHRM", 4) == 0 && (at[4] != 32 || !read_primaries(space, at + 5))) {
            damaged = "cHRM";
        }
    }
    return damaged ? gi_fail(err, GI_E_UNSUPPORTED,
                             "--profile: its chunk %s has impossible values: want --assign "
                             "PROFILE, too",
                             damaged)
                   : GI_OK;
}
