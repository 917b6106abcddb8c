/* ICC profiles through lcms2.
 * SPDX-License-Identifier: MIT */
#include "imgio/icc.h"
#include "imgio/library.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#if __has_include(<lcms2.h>)
#include <lcms2.h>

#define FUNCTIONS(X)                                                                               \
    X(cmsOpenProfileFromMem)                                                                       \
    X(cmsCloseProfile)                                                                             \
    X(cmsReadTag)                                                                                  \
    X(cmsGetToneCurveParametricType)                                                               \
    X(cmsGetToneCurveEstimatedTable)                                                               \
    X(cmsGetToneCurveEstimatedTableEntries)                                                        \
    X(cmsEvalToneCurveFloat)                                                                       \
    X(cmsGetColorSpace)                                                                            \
    X(cmsCreate_sRGBProfile)                                                                       \
    X(cmsCreateTransform)                                                                          \
    X(cmsDoTransform)                                                                              \
    X(cmsDeleteTransform)
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

/* lcms2's transform itself. */
static struct gi_inks *make_inks(const struct gi_metadata *metadata, enum gi_type type,
                                 bool inverted)
{
    cmsHPROFILE from =
        lcms.cmsOpenProfileFromMem(metadata->icc, (cmsUInt32Number)metadata->icc_nbytes);
    cmsHPROFILE to = lcms.cmsCreate_sRGBProfile();
    cmsHTRANSFORM made = NULL;
    cmsUInt32Number inks = type == GI_U8 ? inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8
                           : inverted    ? TYPE_CMYK_16_REV
                                         : TYPE_CMYK_16;
    if (from && to && lcms.cmsGetColorSpace(from) == cmsSigCmykData)
        made =
            lcms.cmsCreateTransform(from, inks, to, type == GI_U8 ? TYPE_RGB_8 : TYPE_RGB_16,
                                    INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_BLACKPOINTCOMPENSATION);
    if (from)
        lcms.cmsCloseProfile(from);
    if (to)
        lcms.cmsCloseProfile(to);
    return made;
}

struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted)
{
    struct gi_metadata *metadata = decode->metadata;
    struct gi_err why;
    if (!metadata->icc || decode->options->header_only)
        return NULL;
    if (gi_library_load(&library, &why)) {
        if (!decode->warning->status)
            gi_fail(decode->warning, GI_E_UNSUPPORTED,
                    "its CMYK is read without its profile, which %s", why.text);
        return NULL;
    }
    struct gi_inks *inks = make_inks(metadata, type, inverted);
    if (inks) {
        free(metadata->icc);
        metadata->icc = NULL;
        metadata->icc_nbytes = 0;
    }
    return inks;
}

void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width)
{
    lcms.cmsDoTransform((cmsHTRANSFORM)inks, cmyk, rgb, (cmsUInt32Number)width);
}

void gi_inks_free(struct gi_inks **inks)
{
    if (*inks)
        lcms.cmsDeleteTransform(*inks);
    *inks = NULL;
}

#else

struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted)
{
    (void)type;
    (void)inverted;
    if (decode->metadata->icc && !decode->warning->status)
        gi_fail(decode->warning, GI_E_UNSUPPORTED,
                "its CMYK is read without its profile: this build has no lcms2");
    return NULL;
}

void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width)
{
    (void)inks;
    (void)rgb;
    (void)cmyk;
    (void)width;
}

void gi_inks_free(struct gi_inks **inks)
{
    *inks = NULL;
}

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
