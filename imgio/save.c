/* Writes images: chooses the format, names what is lost (imgio/losses.h), and converts the samples
 * to a type and a number of channels that the format can hold. SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/jpeg/jpeg_write.h"
#include "imgio/losses.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/icc_convert.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/metadata/metadata.h"
#include "imgio/png/png_palette.h"
#include "imgio/png/png_strips.h"
#include "imgio/save_size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *gi_memory_copy(const void *bytes, size_t nbytes)
{
    void *copy = nbytes ? malloc(nbytes) : NULL;
    return copy ? memcpy(copy, bytes, nbytes) : NULL;
}

/* Returns the format that has the first `n` characters of `word` among its suffixes, in upper or
 * lower case. */
static const struct gi_format *find(const char *word, size_t n)
{
    for (int i = 0; gi_formats[i]; i++)
        for (const char *s = gi_formats[i]->info.suffixes; *s; s += *s == ' ') {
            size_t length = strcspn(s, " ");
            if (length == n && strncasecmp(s, word, n) == 0)
                return gi_formats[i];
            s += length;
        }
    return NULL;
}

static const struct gi_format *by_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash))
        return NULL;
    return find(dot + 1, strlen(dot + 1));
}

/* `found` is the format, which can't be written, or NULL. */
static enum gi_status fail_usage(struct gi_err *err, const char *format, const char *path,
                                 const struct gi_format *found)
{
    char names[256] = "";
    const char *way = format ? NULL : gi_other_writer(path);
    if (way)
        return gi_fail(err, GI_E_USAGE, "%s: can't be written: %s", path, way);
    for (int i = 0; gi_formats[i]; i++) {
        size_t used = strlen(names);
        if (gi_formats[i]->encode)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     gi_formats[i]->info.name);
    }
    if (format)
        return gi_fail(err, GI_E_USAGE, "--format %s: want one of %s", format, names);
    return gi_fail(err, GI_E_USAGE, "%s: %s; want a suffix, --format or a prefix \"png:\" of %s",
                   path,
                   found && found->info.video ? "is the name of a video, not of an image"
                                              : "no image format has this name",
                   names);
}

/* Finds the format, and moves *path past a prefix such as "png:". */
static enum gi_status choose(const struct gi_format **chosen, const char **path, const char *format,
                             struct gi_err *err)
{
    const char *colon = strchr(*path, ':');
    const struct gi_format *prefix = colon ? find(*path, (size_t)(colon - *path)) : NULL;
    const char *whole = *path;
    if (prefix)
        *path = colon + 1;
    *chosen = format ? find(format, strlen(format)) : prefix ? prefix : by_suffix(*path);
    if (*chosen && !(*chosen)->encode && (*chosen)->info.missing)
        return gi_fail(err, GI_E_USAGE, "%s: this build of gpuimg has no %s and can't write %s",
                       whole, (*chosen)->info.missing, (*chosen)->info.name);
    if (!*chosen || !(*chosen)->encode)
        return fail_usage(err, format, whole, *chosen);
    if (!**path)
        return gi_fail(err, GI_E_USAGE, "%s: want a file name or - after the prefix", whole);
    if ((*chosen)->writes_by && gi_library_load((*chosen)->writes_by, err))
        return gi_err_prefix(err, "%s: %s", whole, (*chosen)->info.name);
    return GI_OK;
}

enum gi_status gi_save_check(const char *path, const char *format, struct gi_err *err)
{
    const struct gi_format *chosen;
    return choose(&chosen, &path, format, err);
}

/* Returns the format for this path and format, or NULL if there is none. */
static const struct gi_format *format_of(const char *path, const char *format)
{
    const char *colon = strchr(path, ':');
    const struct gi_format *prefix = colon ? find(path, (size_t)(colon - path)) : NULL;
    return format ? find(format, strlen(format)) : prefix ? prefix : by_suffix(path);
}

const char *gi_save_format(const char *path, const char *format)
{
    const struct gi_format *found = format_of(path, format);
    return found ? found->info.name : NULL;
}

enum gi_status gi_save_check_orientation(const char *path, const char *format, struct gi_err *err)
{
    const struct gi_format *chosen;
    enum gi_status status = choose(&chosen, &path, format, err);
    if (!status && (!chosen->metadata || chosen->no_exif || chosen->upright))
        return gi_fail(err, GI_E_USAGE,
                       "%s: %s holds no orientation: want a format with EXIF, as png", path,
                       chosen->info.name);
    return status;
}

static int wanted_bits(const struct gi_save_options *options)
{
    return options->compression == GI_COMPRESSION_G4 ? 1 : options->bits;
}

/* Returns the sample type to write, from options->bits or from the image. */
static enum gi_type wanted_type(const struct gi_image *image, const struct gi_save_options *options)
{
    int bits = wanted_bits(options);
    return bits == 8 || bits == 1 ? GI_U8 : bits == 16 ? GI_U16 : bits == 32 ? GI_F32 : image->type;
}

/* Returns the type that is nearest to `type` among those that the format can hold. */
static enum gi_type nearest_type(const struct gi_format *format, enum gi_type type)
{
    const struct gi_format_info *info = &format->info;
    bool holds[] = {info->u8, info->u16, info->f32};
    if (type == GI_F32)
        return info->f32 ? GI_F32 : info->u16 ? GI_U16 : GI_U8;
    for (int wider = (int)type; wider <= GI_F32; wider++)
        if (holds[wider])
            return (enum gi_type)wider;
    return GI_U8; /* the only type left */
}

/* Returns the shape of the image in a file of the format. */
static struct gi_image written_shape(const struct gi_format *format, const struct gi_image *image,
                                     const struct gi_metadata *metadata,
                                     const struct gi_save_options *options)
{
    struct gi_image written = *image;
    bool keeps_alpha = gi_has_alpha(image) && format->info.alpha && !options->background;
    written.type = nearest_type(format, wanted_type(image, options));
    if (!gi_bands_of(metadata)->n)
        written.channels =
            (gi_color_channels(image) == 1 && format->gray ? 1 : 3) + (int)keeps_alpha;
    return written;
}

bool gi_save_coding(struct gi_coding *coding, const struct gi_image *image,
                    const struct gi_metadata *metadata, const char *path,
                    const struct gi_save_options *options)
{
    const struct gi_format *format = format_of(path, options->format);
    bool alpha = gi_has_alpha(image);
    *coding = (struct gi_coding){0};
    if (options->orientation > 1 || wanted_type(image, options) != image->type ||
        wanted_bits(options) == 1 || options->max_nbytes || options->judge ||
        options->color.profile)
        return false;
    if (format == &gi_format_jpeg)
        return image->type == GI_U8 && !alpha &&
               gi_jpeg_frame_of(&coding->frame, image, metadata, options);
    if (format != &gi_format_png || options->compression != GI_COMPRESSION_AUTO ||
        image->type > GI_U16 || (alpha && options->background) ||
        gi_png_may_have_palette(metadata, options))
        return false;
    coding->strip_rows = gi_png_strip_rows(image);
    return true;
}

bool gi_save_takes_rows(const struct gi_image *shape, const struct gi_metadata *metadata,
                        const char *path, const struct gi_save_options *options)
{
    const struct gi_format *format = format_of(path, options->format);
    if (!format || !format->by_rows || options->orientation > 1 || options->color.profile ||
        wanted_bits(options) == 1 || options->channels_first || (metadata && metadata->light) ||
        gi_bands_of(metadata)->n || options->max_nbytes || options->judge ||
        (format == &gi_format_png && gi_png_may_have_palette(metadata, options)))
        return false;
    struct gi_image written = written_shape(format, shape, metadata, options);
    return written.type == shape->type && written.channels == shape->channels;
}

void gi_metadata_fit(struct gi_metadata *metadata, int color_channels)
{
    if (!metadata->icc || gi_icc_fits(metadata, color_channels))
        return;
    gi_metadata_add_part(metadata,
                         &(struct gi_part){.kind = GI_PART_METADATA,
                                           .fate = GI_PART_DROPPED,
                                           .nbytes = metadata->icc_nbytes,
                                           .why = "samples are of another colour model"},
                         "the ICC profile");
    free(metadata->icc);
    metadata->icc = NULL;
    metadata->icc_nbytes = 0;
}

/* Returns channel c of the background, 0 to 1. For a gray image this is the background's luma. */
static double behind(const struct gi_save_options *options, int colors, int c)
{
    const double *rgb = options->background;
    if (!rgb)
        return 0;
    return colors == 1 ? gi_luma(rgb) : rgb[c];
}

/* Makes `dst`, which is `src` composited over the background. Alpha is dropped unless `keep_alpha`,
 * and gray is repeated as red, green and blue if `to_rgb`. */
static enum gi_status reshape(struct gi_image *dst, const struct gi_image *src, bool keep_alpha,
                              bool to_rgb, const struct gi_save_options *options,
                              struct gi_err *err)
{
    int colors = gi_color_channels(src), alpha = gi_has_alpha(src);
    int channels = (to_rgb ? 3 : colors) + (alpha && keep_alpha);
    enum gi_status status = gi_image_alloc(dst, src->width, src->height, channels, src->type, err);
    if (status)
        return status;
    double full = (double)gi_type_full_scale(src->type);
    for (int y = 0; y < src->height; y++) {
        const void *in = gi_row(src, y);
        void *out = gi_row(dst, y);
        for (int x = 0; x < src->width; x++) {
            size_t from = (size_t)x * (size_t)src->channels, to = (size_t)x * (size_t)channels;
            double opacity = alpha ? gi_sample(in, from + (size_t)colors, src->type) / full : 1;
            for (int c = 0; c < (to_rgb ? 3 : colors); c++) {
                double v = gi_sample(in, from + (size_t)(colors == 1 ? 0 : c), src->type);
                double below = full * behind(options, to_rgb ? 3 : colors, c) * (1 - opacity);
                gi_sample_set(out, to + (size_t)c, src->type, keep_alpha ? v : v * opacity + below);
            }
            if (alpha && keep_alpha)
                gi_sample_set(out, to + (size_t)channels - 1, src->type, opacity * full);
        }
    }
    return GI_OK;
}

/* Turns the samples as those of an image with this orientation, and encodes them. */
static enum gi_status encode_turned(struct gi_sink *sink, const struct gi_format *format,
                                    const struct gi_image *image, int orientation,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_image turned;
    enum gi_status status = gi_image_convert(&turned, image, image->type, err);
    if (!status) {
        status = gi_orientation_apply(&turned, orientation, err);
        if (!status)
            status = gi_encode_sized(sink, format, &turned, metadata, options, err);
        gi_image_free(&turned);
    }
    return status;
}

/* An orientation to write turns the samples by its inverse, so that viewers show `image`. A kept
 * one turns them if readers of the format would ignore it. */
static enum gi_status fit_and_encode(struct gi_sink *sink, const struct gi_format *format,
                                     const struct gi_image *image,
                                     const struct gi_metadata *metadata,
                                     const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_metadata fitted = {0};
    int kept = 1;
    if (format->upright && metadata && metadata->exif)
        kept = gi_exif_orientation(metadata->exif, metadata->exif_nbytes);
    int stored = kept > 1 ? kept : options->orientation;
    int turn = kept > 1 ? kept : gi_orientation_inverse(stored);
    enum gi_status status = gi_metadata_fit_image(&fitted, metadata, image, stored, err);
    if (kept > 1)
        gi_exif_reset(fitted.exif, fitted.exif_nbytes);
    if (!status)
        status = turn > 1 ? encode_turned(sink, format, image, turn, &fitted, options, err)
                          : gi_encode_sized(sink, format, image, &fitted, options, err);
    gi_metadata_free_fitted(&fitted);
    return status;
}

/* Converts `image` to samples that the format can hold, then encodes the image. */
static enum gi_status convert_and_encode(struct gi_sink *sink, const struct gi_format *format,
                                         const struct gi_image *image,
                                         const struct gi_metadata *metadata,
                                         const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_image typed = {0}, shaped = {0};
    struct gi_metadata without = {0};
    enum gi_status status = GI_OK;
    const struct gi_image written = written_shape(format, image, metadata, options);
    int colors = gi_bands_colors(&written, gi_bands_of(metadata));
    if (metadata && metadata->icc && !gi_icc_fits(metadata, colors)) {
        without = *metadata;
        without.icc = NULL;
        without.icc_nbytes = 0;
        metadata = &without;
    }
    if (written.type != image->type) {
        status = gi_image_convert(&typed, image, written.type, err);
        image = &typed;
    }
    if (!status && written.channels != image->channels) {
        status = reshape(&shaped, image, gi_has_alpha(&written), gi_color_channels(&written) == 3,
                         options, err);
        image = &shaped;
    }
    if (!status && options->compression == GI_COMPRESSION_G4 && format != &gi_format_tiff)
        status = gi_fail(err, GI_E_UNSUPPORTED, "--compression g4: is for TIFF, not for %s",
                         format->info.name);
    if (!status && options->bits == 1 && !format->one_bit)
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "--depth 1: %s has no samples of one bit: want "
                         "png, tiff or pbm",
                         format->info.name);
    if (!status)
        status = fit_and_encode(sink, format, image, metadata, options, err);
    gi_image_free(&typed);
    gi_image_free(&shaped);
    return status;
}

/* Warns that the replaced file has other names (hard links), which keep the older content. */
static void warn_of_links(const struct gi_sink *sink, const char *path, struct gi_err *warning)
{
    unsigned long links = gi_sink_other_links(sink);
    struct gi_err before = *warning;
    if (links)
        gi_fail(warning, GI_E_IO, "%s%s%s: the older file keeps its %lu other name%s (hard links)",
                before.text, *before.text ? "; " : "", path, links, links == 1 ? "" : "s");
}

static enum gi_status save_to(const char *path, const struct gi_format *format,
                              const struct gi_image *image, const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    struct gi_sink *sink;
    enum gi_status status = gi_bundle_open(options->bundle, &sink, path, options->no_clobber, err);
    if (status)
        return status;
    if (warning)
        warn_of_links(sink, path, warning);
    struct gi_err fault = {0};
    status = convert_and_encode(sink, format, image, metadata, options, &fault);
    if (!status)
        return gi_bundle_keep(options->bundle, &sink, options->durable, err);
    gi_sink_abandon(&sink);
    /* The errors of a sink name the file already. */
    if (err)
        *err = fault;
    if (status != GI_E_IO && status != GI_E_PIPE && status != GI_E_AGAIN)
        gi_err_prefix(err, "%s", strcmp(path, "-") == 0 ? "standard output" : path);
    return status;
}

/* Chooses the format and lists the losses, which with --strict are an error, and otherwise a text
 * in `warning`. Messages begin with `name`. Moves *path past its prefix. */
static enum gi_status prepare(const struct gi_format **format, const char **path, const char *name,
                              const struct gi_image *image, const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    enum gi_status status = choose(format, path, options->format, err);
    if (status)
        return status;
    if (!name)
        name = strcmp(*path, "-") == 0 ? "standard output" : *path;
    if (warning)
        *warning = (struct gi_err){0};
    if (image->type == GI_U32)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: no format holds 32-bit integers", name);
    if (gi_bands_check_save(*format, image, metadata, options, err))
        return gi_err_prefix(err, "%s", name);
    char losses[600];
    struct gi_image written = written_shape(*format, image, metadata, options);
    gi_losses_list(losses, sizeof losses, *format, image, &written, wanted_type(image, options),
                   metadata, options);
    if (losses[0] && options->strict)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: %s", name, losses);
    if (losses[0])
        gi_fail(warning, GI_E_UNSUPPORTED, "%s: %s", name, losses);
    return GI_OK;
}

/* Encodes an image that is in linear light. *image then becomes *made, which the caller frees. */
static enum gi_status leave_linear_light(struct gi_image *made, const struct gi_image **image,
                                         const struct gi_metadata *metadata,
                                         const struct gi_save_options *options, struct gi_err *err)
{
    *made = (struct gi_image){0};
    if (!metadata || !metadata->light || (*image)->type != GI_F32)
        return GI_OK;
    enum gi_status status =
        gi_linear_light_encode(made, *image, metadata->light, options->parallel, err);
    *image = made;
    return status;
}

enum gi_status gi_save(const struct gi_image *image, const struct gi_metadata *metadata,
                       const char *path, const struct gi_save_options *options,
                       struct gi_err *warning, struct gi_err *err)
{
    const struct gi_format *format;
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    struct gi_image made;
    struct gi_color_converted colored = {0};
    struct gi_err note = {0};
    enum gi_status status = leave_linear_light(&made, &image, metadata, options, err);
    if (!status)
        status = gi_color_apply(&colored, &image, &metadata, options, name, &note, err);
    if (!status)
        status = prepare(&format, &path, NULL, image, metadata, options, warning, err);
    if (!status)
        status = save_to(path, format, image, metadata, options, warning, err);
    if (!status)
        gi_color_warn(warning, &note, name);
    gi_color_free(&colored);
    gi_image_free(&made);
    return status;
}

static enum gi_status save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                                  const struct gi_metadata *metadata, const char *name,
                                  const struct gi_save_options *options, struct gi_err *warning,
                                  struct gi_err *err)
{
    const struct gi_format *format;
    const char *path = name;
    struct gi_sink *sink;
    enum gi_status status = prepare(&format, &path, name, image, metadata, options, warning, err);
    if (!status)
        status = gi_sink_open_memory(&sink, name, err);
    if (status)
        return status;
    status = convert_and_encode(sink, format, image, metadata, options, err);
    if (!status)
        return gi_sink_take(&sink, bytes, nbytes, err);
    gi_sink_abandon(&sink);
    return gi_err_prefix(err, "%s", name);
}

enum gi_status gi_save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                              const struct gi_metadata *metadata, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    struct gi_image made;
    struct gi_color_converted colored = {0};
    struct gi_err note = {0};
    enum gi_status status = leave_linear_light(&made, &image, metadata, options, err);
    if (!status)
        status = gi_color_apply(&colored, &image, &metadata, options, name, &note, err);
    if (!status)
        status = save_memory(bytes, nbytes, image, metadata, name, options, warning, err);
    if (!status)
        gi_color_warn(warning, &note, name);
    gi_color_free(&colored);
    gi_image_free(&made);
    return status;
}

enum gi_status gi_save_bytes(const void *bytes, size_t nbytes, const char *path,
                             const struct gi_save_options *options, struct gi_err *warning,
                             struct gi_err *err)
{
    const struct gi_format *format;
    struct gi_sink *sink;
    enum gi_status status = choose(&format, &path, options->format, err);
    if (!status)
        status = gi_bundle_open(options->bundle, &sink, path, options->no_clobber, err);
    if (status)
        return status;
    warn_of_links(sink, path, warning);
    status = gi_sink_write(sink, bytes, nbytes, err);
    if (!status)
        return gi_bundle_keep(options->bundle, &sink, options->durable, err);
    gi_sink_abandon(&sink);
    return status;
}
