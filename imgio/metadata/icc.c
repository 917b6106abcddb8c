/* Reads the tone curves of ICC profiles, and converts CMYK to sRGB by ICC profiles, through lcms2.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/library.h"
#include "imgio/metadata/icc.h"
#include "imgio/metadata/lcms.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef GI_HAS_LCMS
struct gi_lcms_table gi_lcms;
static const struct gi_library library =
    GI_LIBRARY(GI_LCMS_FUNCTIONS, gi_lcms, "liblcms2.so.2", "lcms2", "liblcms2-2",
               .version = "cmsGetEncodedCMMversion", .version_form = GI_LIBRARY_THOUSANDS);
const struct gi_library *const gi_icc_library = &library;

enum {
    /* the profile's header, before the number of tags and each tag's name, offset and length */
    HEAD = 128,
    TAG_ENTRY = 12,
    /* maximum bytes that lcms2 may allocate at once, because damaged profiles can ask for any
     * size */
    BLOCK_MAX = 16 << 20,
};

/* ---- lcms2's allocator, which sets the flag that gi_lcms_open() got if memory runs out ---- */

static void *note(cmsContext context, void *memory)
{
    bool *starved = memory ? NULL : gi_lcms.cmsGetContextUserData(context);
    if (starved)
        *starved = true;
    return memory;
}

static void *take(cmsContext context, cmsUInt32Number n)
{
    return n > BLOCK_MAX ? NULL : note(context, malloc(n));
}

static void *take_more(cmsContext context, void *memory, cmsUInt32Number n)
{
    return n > BLOCK_MAX ? NULL : note(context, realloc(memory, n));
}

static void give(cmsContext context, void *memory)
{
    free(memory);
}

cmsContext gi_lcms_open(bool *starved)
{
    cmsPluginMemHandler plugin = {
        .base = {.Magic = cmsPluginMagicNumber,
                 .ExpectedVersion = 2060,
                 .Type = cmsPluginMemHandlerSig},
        .MallocPtr = take,
        .FreePtr = give,
        .ReallocPtr = take_more,
    };
    *starved = false;
    cmsContext context = gi_lcms.cmsCreateContext(&plugin, starved);
    *starved = *starved || !context;
    return context;
}

/* ---- curves ---- */

/* A table of 16 bits is interpolated here, because lcms2 would round interpolated values to 16
 * bits, too. */
static double evaluate(const cmsToneCurve *curve, double v)
{
    if (gi_lcms.cmsGetToneCurveParametricType(curve) != 0)
        return (double)gi_lcms.cmsEvalToneCurveFloat(curve, (cmsFloat32Number)v);
    const cmsUInt16Number *table = gi_lcms.cmsGetToneCurveEstimatedTable(curve);
    unsigned last = gi_lcms.cmsGetToneCurveEstimatedTableEntries(curve) - 1;
    double at = v * last;
    unsigned i = at >= last ? last : (unsigned)at;
    double from = table[i], to = table[i < last ? i + 1 : last];
    return (from + (to - from) * (at - i)) / 65535;
}

/* Fills light[i] from the curve. Returns false if the curve falls anywhere or never rises. */
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

enum gi_status gi_icc_curves(double *light, size_t n, int colors,
                             const struct gi_metadata *metadata, struct gi_err *err)
{
    static const cmsTagSignature tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    enum gi_status status = gi_library_load(&library, err);
    if (status)
        return gi_err_prefix(err, "--linear by its ICC profile");
    bool starved;
    cmsContext context = gi_lcms_open(&starved);
    cmsHPROFILE profile =
        context ? gi_lcms.cmsOpenProfileFromMemTHR(context, metadata->icc,
                                                   (cmsUInt32Number)metadata->icc_nbytes)
                : NULL;
    bool ok = profile != NULL;
    for (int c = 0; c < colors && ok; c++) {
        const cmsToneCurve *curve =
            gi_lcms.cmsReadTag(profile, colors == 1 ? cmsSigGrayTRCTag : tags[c]);
        ok = curve && read_curve(light + (size_t)c * n, n, curve);
    }
    if (profile)
        gi_lcms.cmsCloseProfile(profile);
    if (context)
        gi_lcms.cmsDeleteContext(context);
    if (starved)
        return gi_fail(err, GI_E_MEMORY, "out of memory for the ICC profile");
    return ok ? GI_OK
              : gi_fail(err, GI_E_UNSUPPORTED,
                        "--linear: its ICC profile has no curve for each channel, which tells "
                        "light: want a matrix profile or none");
}

/* ---- CMYK inks ---- */

struct gi_inks {
    cmsContext context;
    cmsHTRANSFORM transform;
    bool starved;
};

/* Hides the float tables, because lcms2 would evaluate any number of them in sequence at each grid
 * point, which may take minutes. lcms2 then uses the integer tables, which every profile must have
 * (ICC.1:2022, 8.3.2). */
static void hide_floats(unsigned char *icc, size_t nbytes)
{
    size_t room = nbytes < HEAD + 4 ? 0 : (nbytes - HEAD - 4) / TAG_ENTRY;
    for (size_t i = 0, n = room ? gi_big32(icc + HEAD) : 0; i < n && i < room; i++) {
        unsigned char *entry = icc + HEAD + 4 + i * TAG_ENTRY;
        size_t at = gi_big32(entry + 4);
        if (at <= nbytes && nbytes - at >= 4 && memcmp(icc + at, "mpet", 4) == 0)
            entry[0] = 'x';
    }
}

cmsHPROFILE gi_lcms_profile(cmsContext context, const void *bytes, size_t nbytes, bool *starved)
{
    unsigned char *icc = gi_memory_copy(bytes, nbytes);
    *starved = *starved || !icc;
    if (icc)
        hide_floats(icc, nbytes);
    cmsHPROFILE profile =
        icc ? gi_lcms.cmsOpenProfileFromMemTHR(context, icc, (cmsUInt32Number)nbytes) : NULL;
    free(icc);
    return profile;
}

/* Returns false if lcms2 can't make a transform. */
static bool make_transform(struct gi_inks *made, const struct gi_metadata *metadata,
                           enum gi_type type, bool inverted)
{
    cmsHPROFILE from =
        gi_lcms_profile(made->context, metadata->icc, metadata->icc_nbytes, &made->starved);
    cmsHPROFILE to = gi_lcms.cmsCreate_sRGBProfileTHR(made->context);
    cmsUInt32Number inks = type == GI_U8 ? inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8
                           : inverted    ? TYPE_CMYK_16_REV
                                         : TYPE_CMYK_16;
    if (from && to && gi_lcms.cmsGetColorSpace(from) == cmsSigCmykData)
        made->transform = gi_lcms.cmsCreateTransformTHR(
            made->context, from, inks, to, type == GI_U8 ? TYPE_RGB_8 : TYPE_RGB_16,
            INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_BLACKPOINTCOMPENSATION);
    if (from)
        gi_lcms.cmsCloseProfile(from);
    if (to)
        gi_lcms.cmsCloseProfile(to);
    return made->transform;
}

/* Returns NULL if memory ran out (metadata->starved) or the profile is unusable. */
static struct gi_inks *make_inks(struct gi_metadata *metadata, enum gi_type type, bool inverted)
{
    struct gi_inks *made = calloc(1, sizeof *made);
    if (made)
        made->context = gi_lcms_open(&made->starved);
    bool good = made && made->context && make_transform(made, metadata, type, inverted);
    metadata->starved = metadata->starved || !made || made->starved;
    if (!good)
        gi_inks_free(&made);
    return made;
}

struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted)
{
    struct gi_metadata *metadata = decode->metadata;
    struct gi_err why;
    if (!metadata->icc)
        return NULL;
    if (gi_library_load(&library, &why)) {
        if (!decode->warning->status)
            gi_fail(decode->warning, GI_E_UNSUPPORTED,
                    "its CMYK is read without its profile, which %s", why.text);
        return NULL;
    }
    struct gi_inks *inks = make_inks(metadata, type, inverted);
    bool cmyk = metadata->icc_nbytes >= HEAD && memcmp((char *)metadata->icc + 16, "CMYK", 4) == 0;
    if (!inks && cmyk && !decode->warning->status)
        gi_fail(decode->warning, GI_E_FORMAT,
                "its CMYK is read without its profile, which is damaged");
    if (inks) {
        free(metadata->icc);
        metadata->icc = NULL;
        metadata->icc_nbytes = 0;
        decode->profile_used = metadata->inks_read = true;
    }
    return inks;
}

void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width)
{
    gi_lcms.cmsDoTransform(inks->transform, cmyk, rgb, (cmsUInt32Number)width);
}

void gi_inks_free(struct gi_inks **inks)
{
    struct gi_inks *made = *inks;
    *inks = NULL;
    if (made && made->transform)
        gi_lcms.cmsDeleteTransform(made->transform);
    if (made && made->context)
        gi_lcms.cmsDeleteContext(made->context);
    free(made);
}

#else

struct gi_inks *gi_inks_new(struct gi_decode *decode, enum gi_type type, bool inverted)
{
    if (decode->metadata->icc && !decode->warning->status)
        gi_fail(decode->warning, GI_E_UNSUPPORTED,
                "its CMYK is read without its profile: this build has no lcms2");
    return NULL;
}

void gi_inks_convert(const struct gi_inks *inks, void *rgb, const void *cmyk, int width)
{
}

void gi_inks_free(struct gi_inks **inks)
{
    *inks = NULL;
}

enum gi_status gi_icc_curves(double *light, size_t n, int colors,
                             const struct gi_metadata *metadata, struct gi_err *err)
{
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "--linear: it has an ICC profile, and this build has no lcms2");
}

const struct gi_library *const gi_icc_library = NULL;

#endif
