/* Kinds of TIFF that can't be read, and the meaning of libtiff's messages: damage or a bad tag.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

#include <stdio.h>
#include <string.h>

/* Compressions that libtiff does not know, or that it may be built without (TIFF 6.0 and its
 * supplements, TIFF/FX, DNG 1.7, tags registered with Adobe). */
static const struct {
    unsigned number;
    const char *name;
} compressions[] = {
    {9, "JBIG"},
    {10, "JBIG"},
    {22610, "JPEG XR"},
    {32766, "NeXT's run lengths"},
    {32767, "Sony's raw"},
    {32769, "packed raw"},
    {32770, "Samsung's raw"},
    {32809, "ThunderScan"},
    {32895, "IT8"},
    {32896, "IT8"},
    {32897, "IT8"},
    {32898, "IT8"},
    {32908, "PixarFilm"},
    {32909, "PixarLog"},
    {32947, "Kodak's DCS"},
    {33003, "JPEG 2000"},
    {33004, "JPEG 2000"},
    {33005, "JPEG 2000"},
    {33007, "JPEG 2000"},
    {34661, "JBIG"},
    {34676, "SGI's LogLuv"},
    {34677, "SGI's LogLuv"},
    {34712, "JPEG 2000"},
    {34713, "Nikon's raw"},
    {34715, "JBIG2"},
    {34887, "LERC"},
    {34892, "lossy JPEG of DNG"},
    {34925, "LZMA"},
    {34926, "Zstandard"},
    {34927, "WebP"},
    {34933, "PNG"},
    {34934, "JPEG XR"},
    {50000, "Zstandard"},
    {50001, "WebP"},
    {50002, "JPEG XL"},
    {52546, "JPEG XL"},
    {65000, "Kodak's raw"},
    {65535, "Pentax's raw"},
};

enum gi_status gi_tiff_check_compression(struct gi_tiff_reader *r, struct gi_err *err)
{
    uint16_t number = COMPRESSION_NONE;
    const char *name = "an unknown method";
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_COMPRESSION, &number);
    if (gi_tiff.TIFFIsCODECConfigured(number))
        return GI_OK;
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        if (compressions[i].number == number)
            name = compressions[i].name;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "is a TIFF compressed by %s (compression %u), which is not supported: write it "
                   "with LZW or Deflate by a program that reads it",
                   name, number);
}

enum gi_status gi_tiff_refuse_colors(unsigned photometric, struct gi_err *err)
{
    static const struct {
        unsigned number;
        const char *is;
    } kinds[] = {
        {PHOTOMETRIC_MASK, "a mask of transparent pixels"},
        {PHOTOMETRIC_CIELAB, "CIE L*a*b* colours"},
        {PHOTOMETRIC_ICCLAB, "ICC L*a*b* colours"},
        {PHOTOMETRIC_ITULAB, "ITU L*a*b* colours"},
        {PHOTOMETRIC_LOGL, "SGI's LogL luminance"},
        {PHOTOMETRIC_LOGLUV, "SGI's LogLuv colours"},
        {32803, "a camera's raw samples: develop it first, as with dcraw -T or darktable-cli"},
        {34892, "a camera's raw samples: develop it first, as with dcraw -T or darktable-cli"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].number == photometric)
            return gi_fail(err, GI_E_UNSUPPORTED, "is a TIFF with colours of kind %u, %s",
                           photometric, kinds[i].is);
    return gi_fail(err, GI_E_UNSUPPORTED, "is a TIFF with colours of kind %u, which can't be read",
                   photometric);
}

static bool holds_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

bool gi_tiff_is_unsupported(const char *text)
{
    /* of the codecs and of libjpeg, such as "Unsupported JPEG process: SOF type 0xc3" */
    static const char *const words[] = {"Unsupported JPEG",  "Unsupported BitsPerSample",
                                        "not configured",    "not implemented",
                                        "not supported",     "doesn't support",
                                        "does not support",  "only supports",
                                        "can't handle",      "must be 1 for Group",
                                        "No support for",    "driver requires",
                                        "Predictor\" value", NULL};
    return holds_one_of(text, words);
}

bool gi_tiff_is_starved(const char *text)
{
    static const char *const words[] = {
        "ot enough memory",  "ut of memory", "ailed to allocate", "annot allocate",
        "nable to allocate", "No space for", "malloc(sizeof",     NULL};
    return !strstr(text, "(0 elements") && holds_one_of(text, words);
}

/* Returns whether, after a warning while pixels are read, every pixel is as the writer intended. */
static bool is_harmless(const char *module, const char *text)
{
    static const char *const texts[] = {
        "Old-style LZW codes", /* bits in the other order, as before TIFF 5.0 */
        "JPEG strip size exceeds expected dimensions", /* the last one, which is cut off */
        "unknown JFIF revision",
        "Unknown Adobe color transform",
        NULL,
    };
    bool old_jpeg = module && (strcmp(module, "OJPEGSetupDecode") == 0 ||
                               strcmp(module, "OJPEGSubsamplingCorrect") == 0);
    return old_jpeg || holds_one_of(text, texts);
}

/* Returns whether libtiff's message is about a tag that the reader does not use. Such a tag is
 * carried with its values, or named, as a part (tiff_parts.c). */
static bool is_of_carried_tag(TIFF *file, const char *text)
{
    char name[64];
    if (sscanf(text, "%*[^\"]\"%63[^\"]", name) != 1)
        return false;
    const TIFFField *field = gi_tiff.TIFFFieldWithName(file, name);
    return field && !gi_tiff_is_used(gi_tiff.TIFFFieldTag(field));
}

enum gi_tiff_meaning gi_tiff_meaning(const struct gi_tiff_reader *r, TIFF *file, const char *module,
                                     const char *text, bool error)
{
    /* Tags that are kept in other ways, or that no reader of TIFF knows. */
    static const char *const others[] = {"\"Tag ", "\"RichTIFFIPTC\"", "\"Photoshop\"", NULL};
    if (r->pixels)
        return error || !is_harmless(module, text) ? GI_TIFF_DAMAGE : GI_TIFF_NOTHING;
    if (!error && strstr(text, "IO error")) /* a tag points out of the file */
        return GI_TIFF_DAMAGE;
    if (error)
        return strstr(text, "Tag InkNames") ? GI_TIFF_NOTHING : GI_TIFF_COMPLAINT;
    return strstr(text, "tag ignored") && !holds_one_of(text, others) &&
                   !is_of_carried_tag(file, text)
               ? GI_TIFF_COMPLAINT
               : GI_TIFF_NOTHING;
}

#endif
