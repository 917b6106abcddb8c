/* Converts pixels between ICC profiles, and makes the profiles that have names.
 *
 * Every pixel is converted independently of others with lcms2's whole pipeline: without its
 * optimizations, which replace it by tables with interpolation, and without its cache of one pixel.
 * So the result does not depend on threads, and is as precise as lcms2 can be. Large images of 8
 * bits are converted by tables with the same bytes.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/icc_convert.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/codecs.h"
#include "imgio/losses.h"
#include "imgio/metadata/color_space.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/icc.h"
#include "imgio/metadata/icc_matrix.h"
#include "imgio/metadata/lcms.h"
#include "imgio/metadata/metadata.h"
#include "imgio/source.h"

/* A profile as bytes, malloc()ed. */
struct profile {
    void *bytes;
    size_t nbytes;
};

#ifdef GI_HAS_LCMS

enum {
    ICC_HEAD = 128,
    ICC_DATE = 24, /* and time, of 12 bytes (ICC.1:2022, 7.2) */
    ICC_NBYTES_MAX = 16 << 20,
    ROWS = 16, /* of a job */
    MEMO_BITS = 18,
    TABLES_PIXELS = 1 << 16, /* minimum of an image for which tables are made */
};
#define FOUND (UINT64_C(1) << 24)

/* ---- profiles with names ---- */

static const struct named {
    const char *name, *title;
    bool gray; /* only the curve of the space is used */
    struct gi_color_space space;
} names[] = {
    {.name = "srgb",
     .title = "sRGB",
     .space = {.white = GI_D65, .primaries = GI_SRGB_PRIMARIES, GI_SRGB_CURVE}},
    /* SMPTE EG 432-1's primaries with sRGB's white and curve */
    {.name = "display-p3",
     .title = "Display P3",
     .space = {.white = GI_D65,
               .primaries = {{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}},
               GI_SRGB_CURVE}},
    /* Adobe RGB (1998) Color Image Encoding, 4.3 */
    {.name = "adobe-rgb",
     .title = "Compatible with Adobe RGB (1998)",
     .space = {.white = GI_D65,
               .primaries = {{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}},
               .curve = 1,
               .parameters = {563.0 / 256}}},
    {.name = "gray",
     .title = "Gray with the curve of sRGB",
     .gray = true,
     .space = {GI_SRGB_CURVE}},
};

static void write_text(cmsContext context, cmsHPROFILE profile, cmsTagSignature tag,
                       const char *text)
{
    cmsMLU *mlu = gi_lcms.cmsMLUalloc(context, 1);
    if (mlu && gi_lcms.cmsMLUsetASCII(mlu, "en", "US", text))
        gi_lcms.cmsWriteTag(profile, tag, mlu);
    if (mlu)
        gi_lcms.cmsMLUfree(mlu);
}

/* Returns the profile, or NULL if lcms2 can't make it. */
static cmsHPROFILE make_named(cmsContext context, const struct named *named)
{
    const struct gi_color_space *space = &named->space;
    const double(*c)[2] = space->primaries;
    const cmsCIExyY white = {space->white[0], space->white[1], 1};
    const cmsCIExyYTRIPLE primaries = {
        {c[0][0], c[0][1], 1}, {c[1][0], c[1][1], 1}, {c[2][0], c[2][1], 1}};
    cmsToneCurve *curve =
        gi_lcms.cmsBuildParametricToneCurve(context, space->curve, space->parameters);
    cmsToneCurve *const curves[] = {curve, curve, curve};
    cmsHPROFILE made = !curve ? NULL
                       : named->gray
                           ? gi_lcms.cmsCreateGrayProfileTHR(context, gi_lcms.cmsD50_xyY(), curve)
                           : gi_lcms.cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
    if (made) {
        write_text(context, made, cmsSigProfileDescriptionTag, named->title);
        write_text(context, made, cmsSigCopyrightTag, "No copyright, use freely");
    }
    if (curve)
        gi_lcms.cmsFreeToneCurve(curve);
    return made;
}

/* Makes the bytes of a profile. The date is always the same, so that the bytes are. */
static enum gi_status save_named(struct profile *profile, const struct named *named,
                                 struct gi_err *err)
{
    static const unsigned char date[] = {0x07, 0xd0, 0, 6, 0, 1, 0, 0, 0, 0, 0, 0}; /* 2000-06-01 */
    bool starved;
    cmsUInt32Number nbytes = 0;
    cmsContext context = gi_lcms_open(&starved);
    cmsHPROFILE made = context ? make_named(context, named) : NULL;
    bool ok = made && gi_lcms.cmsSaveProfileToMem(made, NULL, &nbytes) && nbytes >= ICC_HEAD;
    profile->bytes = ok ? malloc(nbytes) : NULL;
    ok = profile->bytes && gi_lcms.cmsSaveProfileToMem(made, profile->bytes, &nbytes);
    profile->nbytes = nbytes;
    if (ok)
        memcpy((char *)profile->bytes + ICC_DATE, date, sizeof date);
    if (made)
        gi_lcms.cmsCloseProfile(made);
    if (context)
        gi_lcms.cmsDeleteContext(context);
    return ok        ? GI_OK
           : starved ? gi_fail(err, GI_E_MEMORY, "out of memory for the ICC profile")
                     : gi_fail(err, GI_E_UNSUPPORTED, "no ICC profile has its primaries and white");
}

static enum gi_status read_file(struct profile *profile, const char *path, struct gi_err *err)
{
    const struct gi_load_options options = {.limits = {.max_bytes = ICC_NBYTES_MAX}};
    struct gi_source source;
    enum gi_status status = gi_source_open(&source, path, &options, NULL, err);
    if (status)
        return status;
    profile->nbytes = source.nbytes;
    profile->bytes = gi_memory_copy(source.bytes, source.nbytes);
    gi_source_close(&source, NULL);
    return profile->bytes ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory");
}

/* Returns the number of colour channels of a profile, 0 if it is for neither RGB nor gray. */
static int colors_of(const struct profile *profile)
{
    const char *model = (const char *)profile->bytes + 16;
    if (profile->nbytes < ICC_HEAD || memcmp((char *)profile->bytes + 36, "acsp", 4) != 0)
        return 0;
    return memcmp(model, "GRAY", 4) == 0 ? 1 : memcmp(model, "RGB ", 4) == 0 ? 3 : 0;
}

/* Makes the profile of a name, or reads it from a file. */
static enum gi_status take_profile(struct profile *profile, const char *name, const char *option,
                                   struct gi_err *err)
{
    *profile = (struct profile){0};
    enum gi_status status = gi_library_load(gi_icc_library, err);
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(names[i].name, name) != 0)
        i++;
    if (!status)
        status = i < sizeof names / sizeof *names ? save_named(profile, &names[i], err)
                                                  : read_file(profile, name, err);
    if (!status && !colors_of(profile)) {
        free(profile->bytes);
        profile->bytes = NULL;
        status = gi_fail(err, GI_E_USAGE,
                         "is no ICC profile for RGB or gray: want srgb, display-p3, adobe-rgb, "
                         "gray or the file of such a profile");
    }
    return status ? gi_err_prefix(err, "--%s %s", option, name) : GI_OK;
}

/* ---- pixels ---- */

struct work {
    cmsHTRANSFORM transform;
    const struct gi_image *dst, *src;
    struct gi_icc_matrix *matrix; /* for 8-bit RGB by profiles of curves and a matrix, or NULL */
    /* For other samples of 8 bits: a table of 1 << MEMO_BITS colours that were converted, which all
     * threads share. An entry is FOUND, the colour and its result, of 24 bits each; a colour
     * replaces another one with the same place. Because each entry is read and written at once, and
     * the result depends on the colour alone, the order of threads does not matter. A photograph of
     * 12 million pixels takes a tenth of the time. NULL: all pixels are converted. */
    _Atomic uint64_t *memo;
};

static uint32_t get_color(const uint8_t *pixel, int colors)
{
    return colors == 1 ? pixel[0]
                       : (uint32_t)pixel[0] | (uint32_t)pixel[1] << 8 | (uint32_t)pixel[2] << 16;
}

static void convert_row_by_memo(const struct work *w, const uint8_t *in, uint8_t *out)
{
    int from = gi_color_channels(w->src), to = gi_color_channels(w->dst);
    bool alpha = gi_has_alpha(w->src);
    for (int x = 0; x < w->src->width; x++, in += w->src->channels, out += w->dst->channels) {
        uint32_t color = get_color(in, from);
        _Atomic uint64_t *entry = &w->memo[color * 2654435761U >> (32 - MEMO_BITS)];
        uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);
        if (found >> 24 != (FOUND | color)) {
            gi_lcms.cmsDoTransform(w->transform, in, out, 1);
            found = (FOUND | color) << 24 | get_color(out, to);
            atomic_store_explicit(entry, found, memory_order_relaxed);
            continue;
        }
        for (int c = 0; c < to; c++)
            out[c] = (uint8_t)(found >> 8 * c);
        if (alpha)
            out[to] = in[from];
    }
}

static void convert_rows(void *arg, int job, void *scratch)
{
    const struct work *w = arg;
    for (int y = job * ROWS; y < (job + 1) * ROWS && y < w->src->height; y++)
        if (w->matrix)
            gi_icc_matrix_convert(w->matrix, gi_row(w->dst, y), gi_row(w->src, y), w->src->width,
                                  w->src->channels);
        else if (w->memo)
            convert_row_by_memo(w, gi_row(w->src, y), gi_row(w->dst, y));
        else
            gi_lcms.cmsDoTransform(w->transform, gi_row(w->src, y), gi_row(w->dst, y),
                                   (cmsUInt32Number)w->src->width);
}

/* Makes the tables for an image that is worth it. `shapers` tells whether both profiles may be of
 * curves and a matrix. */
static void make_tables(struct work *work, bool shapers)
{
    const struct gi_image *src = work->src;
    bool colors = gi_color_channels(src) == 3 && gi_color_channels(work->dst) == 3;
    if (src->type != GI_U8 || (int64_t)src->width * src->height < TABLES_PIXELS)
        return;
    if (colors && shapers)
        work->matrix = gi_icc_matrix_new(work->transform);
    if (!work->matrix)
        work->memo = calloc((size_t)1 << MEMO_BITS, sizeof(uint64_t));
}

/* Returns lcms2's number for samples as those of the image. */
static cmsUInt32Number pixels_of(const struct gi_image *image)
{
    int colors = gi_color_channels(image);
    unsigned alpha = gi_has_alpha(image);
    return (cmsUInt32Number)(COLORSPACE_SH(colors == 1 ? PT_GRAY : PT_RGB) |
                             CHANNELS_SH((unsigned)colors) | EXTRA_SH(alpha) |
                             BYTES_SH((unsigned)gi_type_nbytes(image->type)) |
                             FLOAT_SH((unsigned)(image->type == GI_F32)));
}

/* *shapers becomes whether both profiles have curves and a matrix. */
static cmsHTRANSFORM make_transform(cmsContext context, const struct profile *from,
                                    const struct profile *to, const struct work *work,
                                    const struct gi_save_color *color, bool *shapers, bool *starved)
{
    cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE | cmsFLAGS_COPY_ALPHA;
    cmsHPROFILE source = gi_lcms_profile(context, from->bytes, from->nbytes, starved);
    cmsHPROFILE target = gi_lcms_profile(context, to->bytes, to->nbytes, starved);
    if (!color->no_black_point)
        flags |= cmsFLAGS_BLACKPOINTCOMPENSATION;
    cmsHTRANSFORM made = source && target
                             ? gi_lcms.cmsCreateTransformTHR(context, source, pixels_of(work->src),
                                                             target, pixels_of(work->dst),
                                                             (cmsUInt32Number)color->intent, flags)
                             : NULL;
    *shapers = made && gi_lcms.cmsIsMatrixShaper(source) && gi_lcms.cmsIsMatrixShaper(target);
    if (source)
        gi_lcms.cmsCloseProfile(source);
    if (target)
        gi_lcms.cmsCloseProfile(target);
    return made;
}

/* Makes *dst, whose shape is set, from `src`. */
static enum gi_status convert_pixels(struct gi_image *dst, const struct gi_image *src,
                                     const struct profile *from, const struct profile *to,
                                     const struct gi_save_options *options, struct gi_err *err)
{
    bool starved, shapers = false;
    cmsContext context = gi_lcms_open(&starved);
    struct work work = {.dst = dst, .src = src};
    if (context)
        work.transform =
            make_transform(context, from, to, &work, &options->color, &shapers, &starved);
    enum gi_status status =
        starved          ? gi_fail(err, GI_E_MEMORY, "out of memory for the ICC profile")
        : work.transform ? GI_OK
                         : gi_fail(err, GI_E_UNSUPPORTED,
                                   "its ICC profile or that of --profile is damaged, or has no "
                                   "tables for this conversion");
    if (!status)
        status = gi_image_alloc(dst, dst->width, dst->height, dst->channels, dst->type, err);
    if (!status)
        make_tables(&work, shapers);
    int jobs = 1 + (src->height - 1) / ROWS;
    const struct gi_parallel *parallel = options->parallel;
    if (!status && parallel)
        status = parallel->run(parallel->self, jobs, convert_rows, &work, 0, err);
    for (int i = 0; i < jobs && !status && !parallel; i++)
        convert_rows(&work, i, NULL);
    free(work.matrix);
    free((void *)work.memo);
    if (status)
        gi_image_free(dst);
    if (work.transform)
        gi_lcms.cmsDeleteTransform(work.transform);
    if (context)
        gi_lcms.cmsDeleteContext(context);
    return status;
}

/* Sets *from to the profile of an image. *missing becomes true if the image has none. */
static enum gi_status own_profile(struct profile *from, const struct gi_image *image,
                                  const struct gi_metadata *metadata, bool *missing,
                                  struct gi_err *err)
{
    static const struct gi_metadata none;
    const struct gi_metadata *m = metadata ? metadata : &none;
    int colors = gi_color_channels(image);
    *missing = !m->icc || !gi_icc_fits(m, colors);
    if (!*missing) {
        *from = (struct profile){gi_memory_copy(m->icc, m->icc_nbytes), m->icc_nbytes};
        return from->bytes ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory for its ICC profile");
    }
    *missing = !m->color && !m->inks_read;
    if (!gi_metadata_is_srgb(m)) {
        struct named made = {.title = "Colours of PNG's chunks", .gray = colors == 1};
        enum gi_status status = gi_color_space_of_chunks(&made.space, m, err);
        return status ? status : save_named(from, &made, err);
    }
    return take_profile(from, colors == 1 ? "gray" : "srgb", "profile", err);
}

static bool are_equal(const struct profile *a, const struct profile *b)
{
    return a->nbytes == b->nbytes && memcmp(a->bytes, b->bytes, a->nbytes) == 0;
}

static enum gi_status convert(struct gi_color_converted *made, struct profile *own,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    const struct gi_save_color *color = &options->color;
    struct profile to, from = *own;
    struct gi_image shape = made->image;
    bool missing = false;
    enum gi_status status = take_profile(&to, color->profile, "profile", err);
    if (!status && !from.bytes)
        status = own_profile(&from, &made->image, &made->metadata, &missing, err);
    if (!status && missing && !are_equal(&from, &to))
        gi_fail(warning, GI_E_UNSUPPORTED, "--profile: has no ICC profile, and is taken as %s",
                gi_color_channels(&shape) == 1 ? "gray with the curve of sRGB" : "sRGB");
    if (!status && !are_equal(&from, &to)) {
        shape.channels = colors_of(&to) + gi_has_alpha(&made->image);
        status = convert_pixels(&shape, &made->image, &from, &to, options, err);
        if (!status)
            made->image = shape;
    }
    free(from.bytes);
    *own = to;
    return status;
}

#else

static enum gi_status take_profile(struct profile *profile, const char *name, const char *option,
                                   struct gi_err *err)
{
    *profile = (struct profile){0};
    return gi_fail(err, GI_E_UNSUPPORTED, "--%s %s: this build has no lcms2", option, name);
}

static int colors_of(const struct profile *profile)
{
    return 0;
}

static enum gi_status convert(struct gi_color_converted *made, struct profile *own,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    return gi_fail(err, GI_E_UNSUPPORTED, "--profile: this build has no lcms2");
}

#endif

enum gi_status gi_color_check_profiles(const struct gi_save_color *color, struct gi_err *err)
{
    struct profile profile = {0};
    enum gi_status status = GI_OK;
    if (color->profile)
        status = take_profile(&profile, color->profile, "profile", err);
    if (!status)
        free(profile.bytes);
    profile.bytes = NULL;
    if (!status && color->assign)
        status = take_profile(&profile, color->assign, "assign", err);
    if (!status)
        free(profile.bytes);
    return status;
}

/* Returns what EXIF calls the colour space of a profile, which may be a file. */
static enum gi_exif_color color_space_of(const char *profile)
{
    return strcmp(profile, "srgb") == 0        ? GI_EXIF_SRGB
           : strcmp(profile, "adobe-rgb") == 0 ? GI_EXIF_ADOBE_RGB
                                               : GI_EXIF_OTHER;
}

static enum gi_status apply(struct gi_color_converted *made, const struct gi_image *image,
                            const struct gi_metadata *metadata,
                            const struct gi_save_options *options, struct gi_err *note,
                            struct gi_err *err)
{
    const struct gi_save_color *color = &options->color;
    struct profile own = {0};
    enum gi_status status = GI_OK;
    *made = (struct gi_color_converted){.image = *image};
    made->image.owner = GI_OWNER_NONE;
    made->metadata = metadata ? *metadata : (struct gi_metadata){0};
    if (made->metadata.bands.n)
        return gi_fail(err, GI_E_UNSUPPORTED, "--profile: an image of bands has no profile");
    if (color->assign)
        status = take_profile(&own, color->assign, "assign", err);
    if (!status && own.bytes && colors_of(&own) != gi_color_channels(image))
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "--assign %s: the profile is for %s, and the image is %s", color->assign,
                         colors_of(&own) == 1 ? "gray" : "RGB",
                         gi_color_channels(image) == 1 ? "gray" : "RGB");
    if (!status && color->profile)
        status = convert(made, &own, options, note, err);
    made->icc = own.bytes;
    made->metadata.icc = own.bytes;
    made->metadata.icc_nbytes = own.nbytes;
    made->metadata.color = NULL;
    made->metadata.color_nbytes = 0;
    made->metadata.new_color_space =
        color_space_of(color->profile ? color->profile : color->assign);
    if (status)
        gi_color_free(made);
    return status;
}

enum gi_status gi_color_apply(struct gi_color_converted *made, const struct gi_image **image,
                              const struct gi_metadata **metadata,
                              const struct gi_save_options *options, const char *name,
                              struct gi_err *note, struct gi_err *err)
{
    *made = (struct gi_color_converted){0};
    *note = (struct gi_err){0};
    if (!options->color.profile && !options->color.assign)
        return GI_OK;
    enum gi_status status = apply(made, *image, *metadata, options, note, err);
    if (!status && note->status && options->strict) {
        gi_color_free(made);
        status = gi_fail(err, note->status, "--strict: %s", note->text);
    }
    if (status) {
        gi_err_prefix(err, "%s", name);
        return status;
    }
    *image = &made->image;
    *metadata = &made->metadata;
    return GI_OK;
}

void gi_color_warn(struct gi_err *warning, const struct gi_err *note, const char *name)
{
    struct gi_err other = warning ? *warning : (struct gi_err){0};
    if (warning && note->status)
        gi_fail(warning, note->status, "%s: %s%s%s", name, note->text, *other.text ? "; " : "",
                other.text);
}

void gi_color_free(struct gi_color_converted *made)
{
    gi_image_free(&made->image);
    free(made->icc);
    made->icc = NULL;
}
