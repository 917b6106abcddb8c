/* Reads TIFF through libtiff: gray, RGB, palette and CMYK of 1 to 16 bits, YCbCr of 8 bits, signed
 * integers, integers of 32 bits and floats. Files may have strips or tiles, may be planar, and may
 * have any compression that libtiff supports.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/metadata.h"
#include "imgio/tiff/tiff_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

/* Canon's CR2 has the structure of TIFF, but its first page is a preview. */
static bool probe_tiff(const unsigned char *bytes, size_t nbytes)
{
    if (nbytes >= 12 && memcmp(bytes + 8, "CR\2\0", 4) == 0)
        return false;
    return nbytes >= 8 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 ||
                           memcmp(bytes, "II+\0", 4) == 0 || memcmp(bytes, "MM\0+", 4) == 0);
}

#if GI_HAVE_TIFF

struct gi_tiff_table gi_tiff;
const struct gi_library gi_tiff_library = GI_LIBRARY(
    GI_TIFF_FUNCTIONS, gi_tiff, "libtiff.so.6", "libtiff", "libtiff6", .version = "TIFFGetVersion");
#define LIBRARY &gi_tiff_library

static int on_message(struct gi_tiff_reader *r, TIFF *file, const char *module, const char *format,
                      va_list args, bool error)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    /* A damaged tag that wants more than libtiff may take is named before. */
    bool limited = strstr(r->complaint.text, "beyond the") || strstr(r->fault.text, "beyond the");
    if (!r->pixels && !limited && gi_tiff_is_starved(text)) {
        if (!r->fault.status)
            gi_fail(&r->fault, GI_E_MEMORY, "out of memory: %s", text);
        return 1;
    }
    enum gi_tiff_meaning meaning = gi_tiff_meaning(r, file, module, text, error);
    struct gi_err *to = meaning == GI_TIFF_COMPLAINT ? &r->complaint : &r->fault;
    bool unsupported = gi_tiff_is_unsupported(text);
    if (meaning != GI_TIFF_NOTHING && (!to->status || (unsupported && to->status == GI_E_FORMAT)))
        gi_fail(to, unsupported ? GI_E_UNSUPPORTED : GI_E_FORMAT, "%s", text);
    return 1;
}

static int on_error(TIFF *file, void *self, const char *module, const char *format, va_list args)
{
    return on_message(self, file, module, format, args, true);
}

static int on_warning(TIFF *file, void *self, const char *module, const char *format, va_list args)
{
    return on_message(self, file, module, format, args, false);
}

/* While samples are read, r->at is where the directory says that they are. */
static tmsize_t read_bytes(thandle_t self, void *to, tmsize_t nbytes)
{
    struct gi_tiff_reader *r = self;
    uint64_t skip = r->pixels ? r->skip : 0, all = r->decode->nbytes;
    size_t have = skip < all - r->at ? (size_t)(all - r->at - skip) : 0;
    size_t n = (size_t)nbytes < have ? (size_t)nbytes : have;
    if (n)
        memcpy(to, r->decode->bytes + r->at + skip, n);
    r->at += n;
    return (tmsize_t)n;
}

static toff_t seek_to(thandle_t self, toff_t offset, int whence)
{
    struct gi_tiff_reader *r = self;
    uint64_t base = whence == SEEK_CUR ? r->at : whence == SEEK_END ? r->decode->nbytes : 0;
    uint64_t at = base + offset;
    if (at > r->decode->nbytes)
        at = r->decode->nbytes;
    return r->at = (size_t)at;
}

static int close_nothing(thandle_t self)
{
    return 0;
}

static toff_t file_size(thandle_t self)
{
    return ((struct gi_tiff_reader *)self)->decode->nbytes;
}

static enum gi_status unsupported(struct gi_err *err, const char *what, unsigned value)
{
    return gi_fail(err, GI_E_UNSUPPORTED, "is a TIFF with %s %u, which can't be read", what, value);
}

/* Finds out what the samples are. A sample that is no colour is alpha only if the file says so:
 * near infrared and the like are of unspecified kind. If there are other samples than colours and
 * one alpha, the image has bands (imgio/bands.h). */
static void read_samples(struct gi_tiff_reader *r, int colors)
{
    uint16_t n = 0, *kinds = NULL;
    int further = r->samples - colors;
    r->colors = colors == 1 ? 1 : 3;
    r->channels = r->colors + further;
    r->alpha = -1;
    if (further)
        gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_EXTRASAMPLES, &n, &kinds);
    for (int i = 0; i < further && i < n && r->alpha < 0; i++)
        if (kinds[i] != EXTRASAMPLE_UNSPECIFIED) {
            r->alpha = r->colors + i;
            r->decode->info->premultiplied = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
        }
    if (further > (r->alpha >= 0))
        r->decode->info->bands = (struct gi_bands){r->channels, r->colors, r->alpha};
}

/* Reads the palette, whose entries have 16 bits. An entry is 257 or 256 times a byte, or with some
 * writers the byte itself. Returns whether all entries are gray. */
static bool read_palette(struct gi_tiff_reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    uint8_t entries[256][4];
    bool gray = true, narrow = true;
    if (!gi_tiff.TIFFGetField(r->file, TIFFTAG_COLORMAP, &r->palette[0], &r->palette[1],
                              &r->palette[2]))
        return false;
    for (size_t i = 0; i < (size_t)1 << r->bits; i++)
        for (int c = 0; c < 3; c++) {
            narrow = narrow && r->palette[c][i] < 256;
            gray = gray && r->palette[c][i] == r->palette[0][i];
        }
    for (size_t i = 0; narrow && i < (size_t)1 << r->bits; i++)
        for (int c = 0; c < 3; c++)
            r->palette[c][i] = (uint16_t)(r->palette[c][i] * 257);
    for (size_t i = 0; i < (size_t)1 << r->bits; i++)
        for (int c = 0; c < 4; c++)
            entries[i][c] = c < 3 ? (uint8_t)(r->palette[c][i] >> 8) : 255;
    gi_metadata_keep(metadata, &metadata->palette, &metadata->palette_nbytes, entries,
                     (size_t)4 << r->bits);
    return gray;
}

static enum gi_status read_photometric(struct gi_tiff_reader *r, struct gi_err *err)
{
    uint16_t compression;
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_COMPRESSION, &compression);
    int colors = 3;
    r->by_strips = compression == COMPRESSION_OJPEG;
    if (r->by_strips && r->planar == PLANARCONFIG_SEPARATE && r->samples > 1)
        return unsupported(err, "JPEG of the old style in planes:", r->samples);
    switch (r->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        colors = 1;
        break;
    case PHOTOMETRIC_YCBCR:
        if (compression == COMPRESSION_JPEG) {
            gi_tiff.TIFFSetField(r->file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        } else {
            enum gi_status status = gi_tiff_ycbcr_start(r, err);
            if (status)
                return status;
            r->by_strips = true;
        }
        break;
    case PHOTOMETRIC_RGB:
        break;
    case PHOTOMETRIC_SEPARATED:
        r->cmyk = true;
        colors = 4;
        if (r->samples < 4)
            return unsupported(err, "inks in samples of", r->samples);
        break;
    case PHOTOMETRIC_PALETTE:
        r->indexed = true;
        colors = 1;
        break;
    default:
        return gi_tiff_refuse_colors(r->photometric, err);
    }
    if (r->samples < colors)
        return gi_fail(err, GI_E_FORMAT, "is damaged: %u samples per pixel of %d colours",
                       r->samples, colors);
    if (r->samples > colors && r->photometric == PHOTOMETRIC_YCBCR)
        return unsupported(err, "YCbCr in samples of", r->samples);
    read_samples(r, colors);
    if (r->indexed) {
        if (r->samples != 1)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "is a TIFF with a palette and %s beside it (%u samples per pixel), "
                           "which can't be read",
                           r->alpha >= 0 ? "alpha" : "other samples", r->samples);
        if (r->bits > 8)
            return unsupported(err, "a palette and bits of", r->bits);
        r->channels = read_palette(r) ? 1 : 3;
        if (!r->palette[0])
            return gi_fail(err, GI_E_FORMAT, "is damaged: its palette is missing");
    }
    return GI_OK;
}

/* Returns whether a description by ImageJ, OME or tifffile tells how the pages of the file belong
 * together. ImageJ describes a single image without "images=", and tifffile with "images=1". */
static bool is_of_all(const char *text)
{
    static const char images[] = "\nimages=";
    const char *n = strncmp(text, "ImageJ=", 7) == 0 ? strstr(text, images) : NULL;
    return (n && strtol(n + sizeof images - 1, NULL, 10) != 1) || strstr(text, "<OME ") ||
           gi_text_is_shape_of_pages(text);
}

static void add_dropped(struct gi_tiff_reader *r, const char *name, const char *why)
{
    gi_decode_add_part(
        r->decode, &(struct gi_part){.kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = why},
        "%s", name);
}

/* Removes from tifffile's description of a stack what says that it has a single directory. */
static void forget_truncation(char *text)
{
    static const char *const keys[] = {"\"truncated\": true, ", ", \"truncated\": true"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *at = gi_text_is_shape_of_pages(text) ? strstr(text, keys[i]) : NULL;
        if (at)
            memmove(at, at + strlen(keys[i]), strlen(at + strlen(keys[i])) + 1);
    }
}

/* Reads texts under the keywords that they have in PNG. A description of all pages is wrong for a
 * single page, and is only kept for a file that will have the same pages. tifffile's names the
 * number of samples per pixel, which have to be channels of the image. */
static void read_texts(struct gi_tiff_reader *r)
{
    for (const struct gi_tiff_text *t = gi_tiff_texts; t->tag; t++) {
        char *text;
        if (!gi_tiff.TIFFGetField(r->file, t->tag, &text) || !*text)
            continue;
        forget_truncation(text);
        bool fits = r->samples == r->channels || !gi_text_is_shape_of_pages(text);
        if ((r->decode->options->together && fits) || !is_of_all(text))
            gi_decode_add_text(r->decode, t->keyword, NULL, NULL, text, strlen(text));
        else if (!gi_text_is_shape_of_pages(text) || strstr(text, "], \""))
            add_dropped(r, GI_TIFF_OF_ALL, "by ImageJ, OME or tifffile");
    }
}

static void read_metadata(struct gi_tiff_reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    uint32_t nbytes;
    void *icc;
    float x = 0, y = 0;
    uint16_t unit;
    if (gi_tiff.TIFFGetField(r->file, TIFFTAG_ICCPROFILE, &nbytes, &icc))
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, icc, nbytes);
    if (gi_tiff.TIFFGetField(r->file, TIFFTAG_XMLPACKET, &nbytes, &icc))
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, icc, nbytes);
    read_texts(r);
    gi_tiff.TIFFGetFieldDefaulted(r->file, TIFFTAG_RESOLUTIONUNIT, &unit);
    double inches = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
    bool has_x = gi_tiff.TIFFGetField(r->file, TIFFTAG_XRESOLUTION, &x);
    bool has_y = gi_tiff.TIFFGetField(r->file, TIFFTAG_YRESOLUTION, &y);
    bool valid = has_x && has_y && x > 0 && y > 0 && x < 1e6f && y < 1e6f;
    if (!valid && (x > 0 || y > 0))
        add_dropped(r, "resolution", "of one side, or out of range");
    if (valid) {
        metadata->dpi_x = (double)x * inches;
        metadata->dpi_y = (double)y * inches;
        metadata->no_unit = unit == RESUNIT_NONE;
    }
    r->decode->info->bits = r->bits;
    r->decode->info->integers = r->type == GI_F32 && r->format != SAMPLEFORMAT_IEEEFP;
    r->decode->info->detail = r->indexed                                 ? "palette"
                              : r->cmyk                                  ? "CMYK"
                              : r->ycbcr.across                          ? "YCbCr"
                              : r->planar == PLANARCONFIG_SEPARATE       ? "planar"
                              : r->photometric == PHOTOMETRIC_MINISWHITE ? "white is 0"
                              : r->decode->info->integers                ? "integers read as float"
                                                                         : "";
}

/* Chooses the type of the image. Unsigned integers of 1 to 16 bits are scaled to full range. All
 * other samples become floats of equal value. */
static enum gi_status read_type(struct gi_tiff_reader *r, struct gi_err *err)
{
    switch (r->format) {
    case SAMPLEFORMAT_IEEEFP:
        r->type = GI_F32;
        return r->bits == 32 || r->bits == 64 ? GI_OK
                                              : unsupported(err, "float samples of bits", r->bits);
    case SAMPLEFORMAT_INT:
        r->type = GI_F32;
        return r->bits == 8 || r->bits == 16 || r->bits == 32
                   ? GI_OK
                   : unsupported(err, "signed samples of bits", r->bits);
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
        r->type = r->bits <= 8 ? GI_U8 : r->bits <= 16 ? GI_U16 : GI_F32;
        return (r->bits >= 1 && r->bits <= 16) || r->bits == 32
                   ? GI_OK
                   : unsupported(err, "samples of bits", r->bits);
    default:
        return unsupported(err, "samples of kind", r->format);
    }
}

static enum gi_status read_header(struct gi_tiff_reader *r, struct gi_err *err)
{
    TIFF *t = r->file;
    uint32_t depth = 1;
    gi_tiff.TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &r->width);
    gi_tiff.TIFFGetField(t, TIFFTAG_IMAGELENGTH, &r->height);
    gi_tiff.TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &r->bits);
    gi_tiff.TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &r->samples);
    gi_tiff.TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &r->planar);
    gi_tiff.TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &r->format);
    if (!gi_tiff.TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &r->photometric))
        r->photometric = r->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    gi_tiff.TIFFGetFieldDefaulted(t, TIFFTAG_IMAGEDEPTH, &depth);
    if (depth > 1)
        return unsupported(err, "a volume whose depth is", depth);
    if (!r->samples || r->samples > GI_TIFF_SAMPLES_MAX)
        return unsupported(err, "samples per pixel:", r->samples);
    enum gi_status status = read_type(r, err);
    if (!status)
        status = read_photometric(r, err);
    if (status)
        return status;
    bool wide = r->type == GI_F32, white_is_0 = r->photometric == PHOTOMETRIC_MINISWHITE;
    if (wide && (r->cmyk || r->indexed || r->ycbcr.across || white_is_0))
        return unsupported(err, "float or signed samples and colours of kind", r->photometric);
    if (wide && r->format != SAMPLEFORMAT_IEEEFP && r->alpha >= 0)
        return unsupported(err, "alpha and integer samples of bits", r->bits);
    r->direct = !r->indexed && !r->cmyk && !r->ycbcr.across && !white_is_0 &&
                (!wide || r->format == SAMPLEFORMAT_IEEEFP) && r->planar == PLANARCONFIG_CONTIG &&
                r->samples == r->channels && r->bits == 8 * gi_type_nbytes(r->type);
    read_metadata(r);
    return GI_OK;
}

static enum gi_status decode_open(struct gi_tiff_reader *r, struct gi_err *err)
{
    enum gi_status status = gi_tiff_check_compression(r, err);
    if (!status)
        status = read_header(r, err);
    if (r->fault.status == GI_E_MEMORY) {
        if (err)
            *err = r->fault;
        return GI_E_MEMORY;
    }
    if (!status && r->fault.status)
        status = gi_decode_damaged(r->decode, err, "is damaged: %s", r->fault.text);
    if (!status && r->complaint.status) {
        char warning[sizeof r->complaint.text + 16];
        snprintf(warning, sizeof warning, "has a bad tag: %s", r->complaint.text);
        gi_decode_add_loss(r->decode, "value of a bad tag", warning);
    }
    r->fault = (struct gi_err){0};
    r->decode->info->rows_apart =
        !status && !gi_tiff.TIFFIsTiled(r->file) && gi_tiff_copies_lines(r);
    if (!status && gi_tiff_has_parts(r))
        gi_decode_window(r->decode, r->width, r->height);
    if (!status)
        status = gi_decode_alloc(r->decode, r->width, r->height, r->channels, r->type, err);
    if (status || r->decode->options->header_only)
        return status;
    return gi_tiff_read_pixels(r, err);
}

/* Opens the file and, with `first`, also reads its first directory. Returns NULL if this failed,
 * with the reason in r.fault. */
static TIFF *open_file(struct gi_tiff_reader *r, bool first)
{
    TIFFOpenOptions *options = gi_small_check(gi_tiff.TIFFOpenOptionsAlloc());
    gi_tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, r);
    gi_tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, r);
    gi_tiff.TIFFOpenOptionsSetMaxSingleMemAlloc(options, GI_TIFF_MEMORY_MAX);
    TIFF *file = gi_tiff.TIFFClientOpenExt("TIFF", first ? "r" : "rh", r, read_bytes, read_bytes,
                                           seek_to, close_nothing, file_size, NULL, NULL, options);
    gi_tiff.TIFFOpenOptionsFree(options);
    return file;
}

/* Names smaller versions and masks, which are not read. */
static void add_versions(struct gi_decode *decode, int n)
{
    char name[64], warning[96];
    snprintf(name, sizeof name, "%d smaller version%s or mask%s of the page", n, n == 1 ? "" : "s",
             n == 1 ? "" : "s");
    snprintf(warning, sizeof warning,
             "holds %d smaller versions or masks of its page, which are left out", n);
    gi_decode_add_images(decode, name, warning);
}

/* Finds the directory to read, which is that of options->image, or of the only page. Sets *skip to
 * the number of bytes by which the samples are further on than the directory says. */
static enum gi_status find_directory(uint64_t *offset, uint64_t *skip, struct gi_decode *decode,
                                     struct gi_err *err)
{
    const struct gi_load_options *options = decode->options;
    struct gi_tiff_pages found;
    *offset = options->offset;
    *skip = options->skip;
    if (*offset)
        return GI_OK;
    gi_tiff_find_page(&found, decode->bytes, decode->nbytes, options->image - 1);
    int stacked = found.n == 1 ? gi_tiff_stack(skip, NULL, decode->bytes, decode->nbytes) : 1;
    int n = stacked > 1 ? stacked : found.n, own = stacked > 1 ? stacked : found.own;
    int smaller = gi_tiff_smaller(decode->bytes, decode->nbytes, found.offset);
    decode->info->images = found.damage ? 0 : own;
    if (stacked > 1 && options->image > 1 && options->image <= stacked)
        gi_tiff_find_page(&found, decode->bytes, decode->nbytes, 0);
    *offset = found.offset;
    *skip *= options->image > 1 ? (uint64_t)options->image - 1 : 0;
    if (options->image > 1 && !found.offset)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       n == 1 ? "holds one page: want [0]" : "holds %d pages: want [0] to [%d]", n,
                       n - 1);
    if (found.damage && options->header_only)
        gi_fail(decode->warning, GI_E_FORMAT, "is damaged: %s", found.damage);
    if (options->image || options->header_only)
        return GI_OK;
    if (found.damage)
        return gi_decode_damaged(decode, err, "is damaged: %s", found.damage);
    if (own > 1)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "holds %d pages, and one is wanted: [0] to [%d] after the name", n, n - 1);
    if (found.in_subifd)
        gi_decode_add_images(decode, "a smaller version of the picture",
                             "holds a smaller version of its picture, which is left out");
    else if (found.only_reduced)
        gi_fail(decode->warning, GI_E_UNSUPPORTED,
                "says that it is a smaller version of a picture, and does not hold that");
    else if (n + smaller > 1)
        add_versions(decode, n + smaller - 1);
    return GI_OK;
}

static enum gi_status decode_tiff(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_tiff_reader r = {.decode = decode};
    uint64_t offset;
    enum gi_status status = find_directory(&offset, &r.skip, decode, err);
    if (status)
        return status;
    r.file = open_file(&r, !offset);
    if (!r.file || (offset && !gi_tiff.TIFFSetSubDirectory(r.file, offset))) {
        const struct gi_err *why = r.fault.status ? &r.fault : &r.complaint;
        status = gi_fail(err, why->status ? why->status : GI_E_FORMAT, "%s%s",
                         why->status == GI_E_MEMORY ? "" : "is damaged: ",
                         *why->text ? why->text : "no image in it");
    }
    if (!status) {
        gi_tiff_find_orientation(decode, offset);
        status = decode_open(&r, err);
    }
    if (r.file)
        gi_tiff.TIFFClose(r.file);
    if (!status)
        gi_tiff_add_parts(decode, offset);
    if (!status)
        gi_tiff_convert_nodata(&r);
    if (!status && !decode->options->image)
        gi_tiff_add_rest(decode);
    return status;
}

#else
#define decode_tiff NULL
#define LIBRARY     NULL
#endif

const struct gi_format gi_format_tiff = {
    .info = {.name = "tiff",
             .suffixes = "tif tiff",
             .summary = "Tagged Image File Format",
             .reads = GI_HAVE_TIFF,
             .writes = true,
             GI_HOLDS_INTEGERS,
             .f32 = true,
             .alpha = true,
             .missing = GI_HAVE_TIFF ? NULL : "libtiff"},
    .probe = probe_tiff,
    .decode = decode_tiff,
    .encode = gi_tiff_encode,
    .by_rows = true,
    .bands = true,
    .one_bit = true,
    .reads_by = LIBRARY,
    .list = gi_tiff_list_pages,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
    .metadata = true,
    .ratio = true,
    .holds = gi_tiff_holds,
    .texts = true,
};
