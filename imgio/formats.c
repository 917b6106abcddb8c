/* The table of formats, and the part of loading that is the same for all formats.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/frames.h"
#include "imgio/pages.h"
#include "imgio/image_next.h"
#include "imgio/integer.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/geo.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/metadata/metadata.h"
#include "imgio/nodata.h"
#include "imgio/small.h"
#include "imgio/source.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALL_NBYTES = 16 << 20, ENOUGH = 16 }; /* for gi_decode_has_enough() */

const struct gi_format *const gi_formats[] = {
    &gi_format_png,  &gi_format_jpeg, &gi_format_pgm,  &gi_format_ppm, &gi_format_pbm,
    &gi_format_pam,  &gi_format_y4m,  &gi_format_pnm,  &gi_format_pfm, &gi_format_tiff,
    &gi_format_webp, &gi_format_heic, &gi_format_avif, &gi_format_jxl, &gi_format_jp2,
    &gi_format_gif,  &gi_format_ico,  &gi_format_bmp,  &gi_format_hdr, &gi_format_npy,
    &gi_format_fits, &gi_format_exr,  &gi_format_tga,  NULL,
};

const struct gi_format_info *gi_format_at(int index)
{
    int count = (int)(sizeof gi_formats / sizeof gi_formats[0]) - 1;
    return index >= 0 && index < count ? &gi_formats[index]->info : NULL;
}

enum gi_status gi_format_ready(int index, struct gi_err *err)
{
    const struct gi_format *format = gi_formats[index];
    if (format->info.missing)
        return gi_fail(err, GI_E_UNSUPPORTED, "this build has no %s", format->info.missing);
    enum gi_status status = format->reads_by ? gi_library_load(format->reads_by, err) : GI_OK;
    return !status && format->writes_by ? gi_library_load(format->writes_by, err) : status;
}

enum gi_status gi_decode_report(struct gi_decode *decode, struct gi_err *err, bool allowed,
                                const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!allowed)
        return gi_fail(err, GI_E_FORMAT, "%s (--allow-partial takes what can be read)", text);
    if (!decode->warning->status)
        gi_fail(decode->warning, GI_E_FORMAT, "%s", text);
    return GI_OK;
}

/* Any file may have a sixteenth of the limit, so that blank images of ordinary size pass. A
 * file with more pixels must be at least as long as the densest PNG, in which each byte of deflate
 * becomes at most 1032 bytes of 8 pixels each. */
enum gi_status gi_decode_check_flat(const struct gi_decode *decode, uint64_t pixels,
                                    struct gi_err *err)
{
    enum { PIXELS_A_BYTE = 1032 * 8 };
    uint64_t limit = decode->options->limits.max_pixels / 16;
    if (decode->options->header_only || pixels <= limit + decode->nbytes * PIXELS_A_BYTE)
        return GI_OK;
    return gi_fail(err, GI_E_LIMIT,
                   "is %llu pixels in %zu bytes, which only a blank image needs; --max-pixels "
                   "raises the limit",
                   (unsigned long long)pixels, decode->nbytes);
}

bool gi_decode_has_enough(const struct gi_decode *decode, int rows)
{
    const struct gi_image *image = decode->image;
    return image->stride * (size_t)image->height <= SMALL_NBYTES ||
           (int64_t)rows * ENOUGH >= image->height;
}

enum gi_status gi_decode_damaged_at(struct gi_decode *decode, struct gi_err *err, int row,
                                    const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct gi_image *image = decode->image;
    int height = decode->whole_height ? decode->whole_height : image->height;
    if (decode->options->allow_partial && !gi_decode_has_enough(decode, row))
        return gi_fail(err, GI_E_FORMAT, "%s, in row %d of %d: too few for a partial image", text,
                       row, height);
    return gi_decode_damaged(decode, err, "%s, in row %d of %d", text, row, height);
}

/* Zeroes all samples. Whole pages are returned to the system, which supplies zeros on the first
 * access, so that rows that the file lacks take no memory. */
static void zero(const struct gi_image *image)
{
    char *start = image->data, *end = start + image->stride * (size_t)image->height;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = start + (page - (uintptr_t)start % page) % page, *to = end - (uintptr_t)end % page;
    if (from >= to || madvise(from, (size_t)(to - from), MADV_DONTNEED)) {
        memset(start, 0, (size_t)(end - start));
        return;
    }
    memset(start, 0, (size_t)(from - start));
    memset(to, 0, (size_t)(end - to));
}

int gi_decode_shrink(const struct gi_decode *decode, uint64_t width, uint64_t height)
{
    const struct gi_load_options *options = decode->options;
    const struct gi_shape_listener *listener = options->listener;
    if (!listener || !listener->shrink || options->linear || options->header_only ||
        width > INT_MAX || height > INT_MAX)
        return 1;
    struct gi_image picture = {.width = (int)width, .height = (int)height};
    if (gi_decode_orientation(decode) >= 5)
        picture = (struct gi_image){.width = (int)height, .height = (int)width};
    return listener->shrink(listener->arg, &picture);
}

/* Reduces the shape to the window, if there is one. */
static void cut(struct gi_image *shape, const struct gi_window *window)
{
    if (!window->width)
        return;
    shape->shrunk = (struct gi_shrunk){.by = 1,
                                       .width = shape->width,
                                       .height = shape->height,
                                       .left = -window->x,
                                       .top = -window->y};
    shape->width = window->width;
    shape->height = window->height;
}

enum gi_status gi_decode_alloc(struct gi_decode *decode, uint64_t width, uint64_t height,
                               int channels, enum gi_type type, struct gi_err *err)
{
    const struct gi_limits *limits = &decode->options->limits;
    if (!width || !height)
        return gi_fail(err, GI_E_FORMAT, "is %llu x %llu pixels, which is no image",
                       (unsigned long long)width, (unsigned long long)height);
    if (width > INT_MAX || height > INT_MAX)
        return gi_fail(err, GI_E_LIMIT, "is %llu x %llu pixels; at most %d a side can be held",
                       (unsigned long long)width, (unsigned long long)height, INT_MAX);
    struct gi_image shape = {
        .width = (int)width, .height = (int)height, .channels = channels, .type = type};
    gi_image_shrink(&shape, decode->shrink);
    cut(&shape, &decode->window);
    *decode->image = shape;
    if (decode->options->header_only)
        return GI_OK;
    uint64_t pixels = (uint64_t)shape.width * (uint64_t)shape.height, nbytes;
    if (__builtin_mul_overflow(pixels, (uint64_t)channels * gi_type_nbytes(type), &nbytes))
        nbytes = UINT64_MAX;
    if (pixels > limits->max_pixels && decode->nbytes < nbytes / 2)
        return gi_fail(err, GI_E_LIMIT,
                       "is %llu x %llu pixels, over the limit of %llu; --max-pixels raises it",
                       (unsigned long long)shape.width, (unsigned long long)shape.height,
                       (unsigned long long)limits->max_pixels);
    if (nbytes > limits->max_bytes)
        return gi_fail(err, GI_E_LIMIT,
                       "decodes to %llu bytes, over the limit of %llu; --max-bytes raises it",
                       (unsigned long long)nbytes, (unsigned long long)limits->max_bytes);
    const struct gi_shape_listener *listener = decode->options->listener;
    if (listener && listener->coded && decode->coded_nbytes)
        listener->coded(listener->arg, decode->coded_nbytes);
    if (listener)
        listener->tell(listener->arg, &shape);
    decode->begun = true;
    if (decode->options->taker) {
        decode->image->stride = gi_row_nbytes(&shape);
        decode->whole_height = shape.height;
    }
    if (decode->coded || decode->options->taker)
        return GI_OK;
    /* Partial images use plain memory, because the system supplies its pages only when they are
     * first touched. Pinned memory takes all pages at once. */
    const struct gi_allocator *allocator =
        decode->options->allow_partial ? NULL : decode->options->allocator;
    enum gi_status status = gi_image_alloc_from(decode->image, allocator, shape.width, shape.height,
                                                channels, type, err);
    decode->image->shrunk = shape.shrunk;
    /* Samples that a damaged file lacks are 0. */
    if (!status && decode->options->allow_partial)
        zero(decode->image);
    return status;
}

/* TGA has no signature, so that files of other programs are excluded first. */
static const struct gi_format *probe(const unsigned char *bytes, size_t nbytes)
{
    for (int i = 0; gi_formats[i]; i++)
        if (gi_formats[i]->probe && gi_formats[i]->probe(bytes, nbytes))
            return gi_formats[i] == &gi_format_tga && gi_other_file(bytes, nbytes) ? NULL
                                                                                   : gi_formats[i];
    return NULL;
}

const struct gi_format_info *gi_format_of(const void *bytes, size_t nbytes)
{
    const struct gi_format *format = probe(bytes, nbytes);
    return format ? &format->info : NULL;
}

enum gi_source_way gi_format_way(const unsigned char *bytes, size_t nbytes, bool header_only)
{
    const struct gi_format *format = probe(bytes, nbytes);
    if (!format)
        return GI_SOURCE_STOP;
    return format->raw || header_only ? GI_SOURCE_MAP
           : format->coded            ? GI_SOURCE_KEEP
                                      : GI_SOURCE_READ;
}

static enum gi_status fail_unknown(const unsigned char *bytes, size_t nbytes, struct gi_err *err)
{
    char names[256] = "";
    const char *other = gi_other_file(bytes, nbytes);
    if (other)
        return gi_fail(err, GI_E_FORMAT, "%s", other);
    for (int i = 0; gi_formats[i]; i++) {
        size_t used = strlen(names);
        if (gi_formats[i]->decode)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     gi_formats[i]->info.name);
    }
    return gi_fail(err, GI_E_FORMAT, "is no image of a known format (want %s)", names);
}

/* Checks that an ICC profile is as long as its first 4 bytes say (ICC.1:2022, 7.2). A profile that
 * lacks a part is not kept. */
static enum gi_status check_profile(struct gi_decode *decode, struct gi_err *err)
{
    enum { SIGNATURE = 36 };
    struct gi_metadata *metadata = decode->metadata;
    const unsigned char *icc = metadata->icc;
    size_t have = metadata->icc_nbytes;
    if (have < SIGNATURE + 4 || memcmp(icc + SIGNATURE, "acsp", 4) != 0 || gi_big32(icc) <= have)
        return GI_OK;
    uint32_t want = gi_big32(icc);
    free(metadata->icc);
    metadata->icc = NULL;
    metadata->icc_nbytes = 0;
    return gi_decode_damaged_beside(decode, err, "is damaged: %zu of %u bytes of its ICC profile",
                                    have, (unsigned)want);
}

static int stored_orientation(const struct gi_decode *decode)
{
    return decode->orientation ? decode->orientation : gi_metadata_orientation(decode->metadata);
}

int gi_decode_orientation(const struct gi_decode *decode)
{
    return decode->options->keep_orientation ? 1 : stored_orientation(decode);
}

/* Applies the orientation to the pixels and resets it in the metadata, or keeps it there. */
static enum gi_status orient(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_metadata *metadata = decode->metadata;
    int orientation = stored_orientation(decode);
    decode->info->orientation = orientation;
    gi_metadata_settle(metadata);
    const struct gi_shrunk *shrunk = &decode->image->shrunk;
    metadata->width = shrunk->by ? shrunk->width : decode->image->width;
    metadata->height = shrunk->by ? shrunk->height : decode->image->height;
    if (decode->options->keep_orientation)
        return orientation == 1
                   ? GI_OK
                   : gi_exif_orient(&metadata->exif, &metadata->exif_nbytes, orientation, err);
    struct gi_image whole = *decode->image;
    if (decode->window.width) { /* the operation that needs the window moves the position */
        whole.width = decode->whole_width;
        whole.height = decode->whole_height;
    }
    gi_geo_orient(metadata, &whole, orientation);
    if (decode->options->header_only) {
        struct gi_image stored = *decode->image;
        decode->image->width = orientation >= 5 ? stored.height : stored.width;
        decode->image->height = orientation >= 5 ? stored.width : stored.height;
        return GI_OK;
    }
    return gi_orientation_apply(decode->image, orientation, err);
}

/* Finds the format of the image to be read, and chooses its bytes if several are one behind the
 * other. */
static enum gi_status find_format(const struct gi_format **out, struct gi_decode *decode,
                                  struct gi_err *err)
{
    bool separate = decode->options->image &&
                    gi_image_follows(decode->bytes, decode->nbytes, NULL) &&
                    !gi_pages_starts(decode->bytes, decode->nbytes);
    if (separate) {
        enum gi_status status =
            gi_image_choose(&decode->bytes, &decode->nbytes, decode->options->image, err);
        if (status)
            return status;
    }
    const struct gi_format *format = *out = probe(decode->bytes, decode->nbytes);
    if (!format)
        return fail_unknown(decode->bytes, decode->nbytes, err);
    decode->info->format = format->info.name;
    if (!format->decode)
        return gi_fail(err, GI_E_UNSUPPORTED, "is a %s file, and this build of gpuimg has no %s",
                       format->info.name, format->info.missing);
    if (decode->options->image > 1 && !format->list && !separate)
        return gi_fail(err, GI_E_UNSUPPORTED, "of a %s file the first image can be read: want [0]",
                       format->info.name);
    return GI_OK;
}

static enum gi_status decode_bytes(struct gi_decode *decode, struct gi_err *err)
{
    const struct gi_format *format;
    enum gi_status status = find_format(&format, decode, err);
    if (status)
        return status;
    decode->info->detail = "";
    decode->info->images = 1;
    decode->info->nbytes = decode->nbytes;
    status = format->reads_by ? gi_library_load(format->reads_by, err) : GI_OK;
    if (!status)
        status = format->decode(decode, err);
    if (!status && format->parts)
        format->parts(decode);
    if (!status && format->animation && !decode->options->image)
        status = gi_frames_describe(&decode->info->animation, format->animation, decode->bytes,
                                    decode->nbytes, err);
    if (!status)
        status = gi_decode_settle_rest(decode, err);
    if (!status && decode->metadata->starved)
        status = gi_fail(err, GI_E_MEMORY, "out of memory for its metadata");
    if (!status)
        status = check_profile(decode, err);
    if (!status)
        status = gi_rounding_judge(&decode->rounding, decode->info->bits, decode->options->exact,
                                   decode->warning, err);
    if (!decode->info->maxval && decode->image->type != GI_F32)
        decode->info->maxval = decode->image->type == GI_U16 ? 65535 : 255;
    if (!status)
        status = orient(decode, err);
    if (!status)
        status = gi_bands_settle(decode, err);
    decode->metadata->few_colors = (decode->info->bits > 0 && decode->info->bits < 8) ||
                                   strstr(decode->info->detail, "palette");
    decode->info->dpi_x = decode->metadata->dpi_x;
    decode->info->dpi_y = decode->metadata->dpi_y;
    return status;
}

/* Finds or hides pixels without data before their samples are converted. */
static enum gi_status treat_nodata(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_file_info *info = decode->info;
    struct gi_image *image = decode->image;
    if (!image->data || image->type == GI_U32)
        return GI_OK;
    enum gi_status status =
        gi_nodata_find(&info->nodata, decode->options->nodata, decode->metadata, info, image, err);
    if (!status && !decode->options->hide_nodata)
        info->nodata.given = info->nodata.given && gi_nodata_is_in(image, &info->nodata);
    return status || !info->nodata.given || info->bands.n || !decode->options->hide_nodata
               ? status
               : gi_nodata_hide(image, &info->nodata, err);
}

/* Does gi_load_memory() for the bytes of a source, which the image may keep. */
static enum gi_status load_source(struct gi_image *image, struct gi_metadata *metadata,
                                  struct gi_file_info *info, struct gi_source *source,
                                  const char *name, const struct gi_load_options *options,
                                  struct gi_err *warning, struct gi_err *err)
{
    struct gi_metadata own_metadata = {0};
    struct gi_file_info own_info = {0};
    struct gi_err own_warning = {0};
    struct gi_decode decode = {
        .bytes = source->bytes,
        .nbytes = source->nbytes,
        .source = source,
        .options = options,
        .image = image,
        .metadata = &own_metadata,
        .info = &own_info,
        .warning = &own_warning,
    };
    struct gi_load_options whole = *options;
    if (options->choose.n) {
        whole.coded = GI_CODED_NONE;
        decode.options = &whole;
    }
    *image = (struct gi_image){0};
    enum gi_status status = decode_bytes(&decode, err);
    if (!status && (options->hide_nodata || options->find_nodata))
        status = treat_nodata(&decode, err);
    if (!status && options->linear && !options->header_only && image->type != GI_F32)
        status = gi_linear_light_decode(image, &own_metadata, options, err);
    if (status) {
        gi_image_free(image);
        gi_err_prefix(err, "%s", name);
    }
    if (own_warning.status)
        gi_err_prefix(&own_warning, "%s", name);
    if (!status && image->coded)
        image->coded->warning = own_warning;
    if (warning)
        *warning = own_warning;
    if (info)
        *info = own_info;
    if (status || !metadata)
        gi_metadata_free(&own_metadata);
    if (metadata)
        *metadata = own_metadata;
    return status;
}

enum gi_status gi_load_memory(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const void *bytes, size_t nbytes,
                              const char *name, const struct gi_load_options *options,
                              struct gi_err *warning, struct gi_err *err)
{
    struct gi_source source = {.bytes = bytes, .nbytes = nbytes, .guard = -1};
    return load_source(image, metadata, info, &source, name, options, warning, err);
}

enum gi_status gi_source_open_image(struct gi_source *source, struct gi_load_options *options,
                                    const char *path, struct gi_err *err)
{
    struct gi_selection selection;
    char *file = gi_small_copy_n(path, gi_path_file(path, &selection));
    /* "[*]" may be a single image */
    bool any = !selection.given || (selection.first == 0 && selection.last < 0);
    if (!options->image && !any)
        options->image = 1 + selection.first;
    if (selection.bands.n)
        options->choose = selection.bands;
    enum gi_status status =
        options->ahead ? gi_source_continue(source, options->ahead, options, gi_format_way, err)
                       : gi_source_open(source, file, options, gi_format_way, err);
    if (!status && !any && selection.first != selection.last) {
        gi_source_close(source, NULL);
        status =
            gi_fail(err, GI_E_USAGE, "are several images, and one is wanted: [0] after the name");
    }
    free(file);
    return status;
}

enum gi_status gi_load(struct gi_image *image, struct gi_metadata *metadata,
                       struct gi_file_info *info, const char *path,
                       const struct gi_load_options *options, struct gi_err *warning,
                       struct gi_err *err)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    *image = (struct gi_image){0};
    if (metadata)
        *metadata = (struct gi_metadata){0};
    if (warning)
        *warning = (struct gi_err){0};
    struct gi_source source;
    struct gi_load_options which = *options;
    enum gi_status status = gi_source_open_image(&source, &which, path, err);
    if (status) {
        gi_err_prefix(err, "%s", name);
        return status;
    }
    status = load_source(image, metadata, info, &source, name, &which, warning, err);
    /* A file that changed may look damaged, so this is the reason to tell. */
    enum gi_status closed = gi_source_close(&source, status == GI_E_FORMAT || !status ? err : NULL);
    if (!closed || (status && status != GI_E_FORMAT))
        return status;
    gi_err_prefix(err, "%s", name);
    gi_image_free(image);
    if (metadata)
        gi_metadata_free(metadata);
    return closed;
}
