/* ICC profiles through lcms2.
 * SPDX-License-Identifier: MIT */
#include "imgio/icc.h"
#include "imgio/library.h"

#include <math.h>
#include <stdbool.h>

#if __has_include(<lcms2.h>)
#include <lcms2.h>

#define FUNCTIONS(X)                                                                               \
    X(cmsOpenProfileFromMem)                                                                       \
    X(cmsCloseProfile)                                                                             \
    X(cmsReadTag)                                                                                  \
    X(cmsGetToneCurveParametricType)                                                               \
    X(cmsGetToneCurveEstimatedTable)                                                               \
    X(cmsGetToneCurveEstimatedTableEntries)                                                        \
    X(cmsEvalToneCurveFloat)
GI_LIBRARY_TABLE(lcms_table, FUNCTIONS);
static struct lcms_table lcms;
static const struct gi_library library =
    GI_LIBRARY(FUNCTIONS, lcms, "liblcms2.so.2", "lcms2", "liblcms2-2");

/* A table of 16 bits is gone through here: lcms2 would round what lies between to 16 bits too. */
static double evaluate(const cmsToneCurve *curve, double v)
{
    if (lcms.cmsGetToneCurveParametricType(curve) != 0)
        return (double)lcms.cmsEvalToneCurveFloat(curve, (cmsFloat32Number)v);
    const cmsUInt16Number *table = lcms.cmsGetToneCurveEstimatedTable(curve);
    unsigned last = lcms.cmsGetToneCurveEstimatedTableEntries(curve) - 1;
    double at = v * last;
    unsigned i = at >= last ? last : (unsigned)at;
    double from = table[i], to = table[i < last ? i + 1 : last];
    return (from + (to - from) * (at - i)) / 65535;
}

/* False where the curve falls somewhere or does not rise at all. */
static bool read_curve(double *light, size_t n, const cmsToneCurve *curve)
{
    for (size_t i = 0; i < n; i++) {
        double v = evaluate(curve, (double)i / (double)(n - 1));
        light[i] = v > 0 ? fmin(v, 1) : 0;
        if (i && light[i] < light[i - 1])
            return false;
    }
    return light[n - 1] > light[0];
}

enum gi_status gi_icc_curves(double *light, size_t n, int colours,
                             const struct gi_metadata *metadata, struct gi_err *err)
{
    static const cmsTagSignature tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    enum gi_status status = gi_library_load(&library, err);
    if (status)
        return gi_err_prefix(err, "--linear by its ICC profile");
    cmsHPROFILE profile =
        lcms.cmsOpenProfileFromMem(metadata->icc, (cmsUInt32Number)metadata->icc_nbytes);
    bool ok = profile != NULL;
    for (int c = 0; c < colours && ok; c++) {
        const cmsToneCurve *curve =
            lcms.cmsReadTag(profile, colours == 1 ? cmsSigGrayTRCTag : tags[c]);
        ok = curve && read_curve(light + (size_t)c * n, n, curve);
    }
    if (profile)
        lcms.cmsCloseProfile(profile);
    return ok ? GI_OK
              : gi_fail(err, GI_E_UNSUPPORTED,
                        "--linear: its ICC profile has no curve for each channel, which tells "
                        "light: want a matrix profile or none");
}

#else

enum gi_status gi_icc_curves(double *light, size_t n, int colours,
                             const struct gi_metadata *metadata, struct gi_err *err)
{
    (void)light;
    (void)n;
    (void)colours;
    (void)metadata;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "--linear: it has an ICC profile, and this build has no lcms2");
}

#endif
