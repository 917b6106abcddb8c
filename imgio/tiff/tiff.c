/* TIFF in through libtiff: gray, RGB, palette and CMYK of 1 to 16 bits or float, in strips or
 * tiles, planar or not, with any compression that libtiff has. Of several pages the first is read.
 * Without libtiff at build time only the message remains. SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool probe_tiff(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 8 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 ||
                           memcmp(bytes, "II+\0", 4) == 0 || memcmp(bytes, "MM\0+", 4) == 0);
}

#if GI_HAVE_TIFF

enum {
    SAMPLES_MAX = 64,
    DROPPED = -1,         /* a sample that is neither colour nor alpha */
    PIECE_MIN = 16 << 20, /* piece_nbytes() */
    PIECE_A_BYTE = 32,
};

struct reader {
    struct gi_decode *decode;
    TIFF *tiff;
    size_t at;           /* next byte of the file */
    struct gi_err fault; /* libtiff's first; while pixels are read its warnings too */
    bool pixels;
    uint32_t width, height;
    uint16_t bits, samples, photometric, planar, format;
    uint16_t *palette[3];
    bool premultiplied, cmyk, indexed;
    bool direct;                   /* lines are rows of the image, byte for byte */
    int channels, to[SAMPLES_MAX]; /* the channel that a sample goes to */
    enum gi_type type;
};

static int on_message(struct reader *r, const char *format, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    if (!r->fault.status)
        gi_fail(&r->fault, GI_E_FORMAT, "%s", text);
    return 1;
}

static int on_error(TIFF *tiff, void *self, const char *module, const char *format, va_list args)
{
    (void)tiff;
    (void)module;
    return on_message(self, format, args);
}

/* In the header strange tags are passed over, as in every TIFF reader, but not those that point out
 * of the file. */
static int on_warning(TIFF *tiff, void *self, const char *module, const char *format, va_list args)
{
    struct reader *r = self;
    (void)tiff;
    (void)module;
    return r->pixels || strstr(format, "IO error") ? on_message(r, format, args) : 1;
}

static tmsize_t read_bytes(thandle_t self, void *to, tmsize_t nbytes)
{
    struct reader *r = self;
    size_t have = r->decode->nbytes - r->at, n = (size_t)nbytes < have ? (size_t)nbytes : have;
    memcpy(to, r->decode->bytes + r->at, n);
    r->at += n;
    return (tmsize_t)n;
}

static toff_t seek_to(thandle_t self, toff_t offset, int whence)
{
    struct reader *r = self;
    uint64_t base = whence == SEEK_CUR ? r->at : whence == SEEK_END ? r->decode->nbytes : 0;
    uint64_t at = base + offset;
    if (at > r->decode->nbytes)
        at = r->decode->nbytes;
    return r->at = (size_t)at;
}

static int close_nothing(thandle_t self)
{
    (void)self;
    return 0;
}

static toff_t file_size(thandle_t self)
{
    return ((struct reader *)self)->decode->nbytes;
}

static int map_bytes(thandle_t self, void **base, toff_t *nbytes)
{
    const struct reader *r = self;
    *base = (void *)r->decode->bytes; /* libtiff only reads there */
    *nbytes = r->decode->nbytes;
    return 1;
}

static enum gi_status unsupported(struct gi_err *err, const char *what, unsigned value)
{
    return gi_fail(err, GI_E_UNSUPPORTED, "is a TIFF with %s %u, which can't be read", what, value);
}

/* Which channel each sample goes to, and what alpha means. */
static void map_samples(struct reader *r, int colours)
{
    uint16_t n = 0, *kinds = NULL;
    bool alpha = false;
    if (r->samples > colours && !r->cmyk && !r->indexed) {
        TIFFGetFieldDefaulted(r->tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds);
        /* Many writers leave the kind of a sole extra sample open. */
        alpha = n == 0 || kinds[0] != EXTRASAMPLE_UNSPECIFIED || r->samples == colours + 1;
        r->premultiplied = n && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    }
    for (int s = 0; s < r->samples; s++)
        r->to[s] = s < colours + alpha ? s : DROPPED;
    r->channels = (colours == 1 ? 1 : 3) + alpha;
}

/* A palette's entries have 16 bits: 257 or 256 times those of a byte, and of some writers the byte
 * itself. True where all are gray. */
static bool read_palette(struct reader *r)
{
    bool gray = true, narrow = true;
    if (!TIFFGetField(r->tiff, TIFFTAG_COLORMAP, &r->palette[0], &r->palette[1], &r->palette[2]))
        return false;
    for (size_t i = 0; i < (size_t)1 << r->bits; i++)
        for (int c = 0; c < 3; c++) {
            narrow = narrow && r->palette[c][i] < 256;
            gray = gray && r->palette[c][i] == r->palette[0][i];
        }
    for (size_t i = 0; narrow && i < (size_t)1 << r->bits; i++)
        for (int c = 0; c < 3; c++)
            r->palette[c][i] = (uint16_t)(r->palette[c][i] * 257);
    return gray;
}

static enum gi_status read_photometric(struct reader *r, struct gi_err *err)
{
    uint16_t compression;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    int colours = 3;
    switch (r->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        colours = 1;
        break;
    case PHOTOMETRIC_YCBCR:
        if (compression != COMPRESSION_JPEG)
            return unsupported(err, "colours of kind", r->photometric);
        TIFFSetField(r->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        break;
    case PHOTOMETRIC_RGB:
        break;
    case PHOTOMETRIC_SEPARATED:
        r->cmyk = true;
        colours = 4;
        if (r->samples < 4 || r->planar != PLANARCONFIG_CONTIG)
            return unsupported(err, "inks in planes or samples of", r->samples);
        break;
    case PHOTOMETRIC_PALETTE:
        r->indexed = true;
        colours = 1;
        break;
    default:
        return unsupported(err, "colours of kind", r->photometric);
    }
    if (r->samples < colours)
        return gi_fail(err, GI_E_FORMAT, "is damaged: %u samples a pixel of %d colours", r->samples,
                       colours);
    map_samples(r, colours);
    if (r->indexed) {
        if (r->bits > 8 || r->samples != 1)
            return unsupported(err, "a palette and bits of", r->bits);
        r->channels = read_palette(r) ? 1 : 3;
        if (!r->palette[0])
            return gi_fail(err, GI_E_FORMAT, "is damaged: its palette is missing");
    }
    return GI_OK;
}

static void read_metadata(struct reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    uint32_t nbytes;
    void *icc;
    float x = 0, y = 0;
    uint16_t unit, orientation;
    if (TIFFGetField(r->tiff, TIFFTAG_ICCPROFILE, &nbytes, &icc) &&
        (metadata->icc = gi_memory_copy(icc, nbytes)))
        metadata->icc_nbytes = nbytes;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    double inches = unit == RESUNIT_INCH ? 1 : unit == RESUNIT_CENTIMETER ? 2.54 : 0;
    if (TIFFGetField(r->tiff, TIFFTAG_XRESOLUTION, &x) &&
        TIFFGetField(r->tiff, TIFFTAG_YRESOLUTION, &y) && x > 0 && y > 0 && x < 1e6f && y < 1e6f) {
        metadata->dpi_x = (double)x * inches;
        metadata->dpi_y = (double)y * inches;
    }
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_ORIENTATION, &orientation);
    r->decode->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    r->decode->info->bits = r->bits;
    r->decode->info->detail = r->indexed                                 ? "palette"
                              : r->cmyk                                  ? "CMYK"
                              : r->planar == PLANARCONFIG_SEPARATE       ? "planar"
                              : r->photometric == PHOTOMETRIC_MINISWHITE ? "white is 0"
                                                                         : "";
}

static enum gi_status read_header(struct reader *r, struct gi_err *err)
{
    TIFF *t = r->tiff;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &r->width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &r->height);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &r->bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &r->samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &r->planar);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &r->format);
    if (!TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &r->photometric))
        r->photometric = r->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    if (!r->samples || r->samples > SAMPLES_MAX)
        return unsupported(err, "samples a pixel:", r->samples);
    bool is_float = r->format == SAMPLEFORMAT_IEEEFP;
    if (!is_float && r->format != SAMPLEFORMAT_UINT && r->format != SAMPLEFORMAT_VOID)
        return unsupported(err, "samples of kind", r->format);
    if (is_float ? r->bits != 32 && r->bits != 64 : r->bits < 1 || r->bits > 16)
        return unsupported(err, is_float ? "float samples of bits" : "samples of bits", r->bits);
    r->type = is_float ? GI_F32 : r->bits <= 8 ? GI_U8 : GI_U16;
    enum gi_status status = read_photometric(r, err);
    if (status)
        return status;
    if (is_float && (r->cmyk || r->photometric == PHOTOMETRIC_MINISWHITE))
        return unsupported(err, "float samples and colours of kind", r->photometric);
    r->direct = !r->indexed && !r->cmyk && r->photometric != PHOTOMETRIC_MINISWHITE &&
                r->planar == PLANARCONFIG_CONTIG && r->samples == r->channels &&
                r->bits == 8 * gi_type_nbytes(r->type);
    read_metadata(r);
    return GI_OK;
}

/* Sample i of a line of whole numbers, as the file has it. */
static uint32_t raw_sample(const unsigned char *line, size_t i, unsigned bits)
{
    if (bits == 8)
        return line[i];
    if (bits == 16) {
        uint16_t v;
        memcpy(&v, line + 2 * i, sizeof v);
        return v;
    }
    size_t at = i * bits;
    const unsigned char *p = line + at / 8; /* a line has two bytes more than it needs */
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    return v >> (24 - at % 8 - bits) & ((1u << bits) - 1);
}

static float float_sample(const unsigned char *line, size_t i, unsigned bits)
{
    float narrow;
    double wide;
    if (bits == 32) {
        memcpy(&narrow, line + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, line + 8 * i, sizeof wide);
    return (float)wide;
}

/* As the image has it: full scale is full scale. */
static uint32_t scaled_sample(const struct reader *r, const unsigned char *line, size_t i)
{
    uint32_t full = r->type == GI_U8 ? 255 : 65535, most = (1u << r->bits) - 1;
    uint32_t v = raw_sample(line, i, r->bits);
    if (most != full)
        v = (v * full + most / 2) / most;
    return r->photometric == PHOTOMETRIC_MINISWHITE ? full - v : v;
}

static void put(void *row, enum gi_type type, size_t at, uint32_t v)
{
    if (type == GI_U8)
        ((uint8_t *)row)[at] = (uint8_t)v;
    else
        ((uint16_t *)row)[at] = (uint16_t)v;
}

/* Each of red, green and blue is what its ink and the black leave. */
static void put_inks(const struct reader *r, void *row, size_t x, const unsigned char *line,
                     size_t i)
{
    uint64_t full = r->type == GI_U8 ? 255 : 65535;
    uint64_t black = full - scaled_sample(r, line, i + 3);
    for (size_t c = 0; c < 3; c++)
        put(row, r->type, 3 * x + c,
            (uint32_t)(((full - scaled_sample(r, line, i + c)) * black + full / 2) / full));
}

/* Puts `n` pixels from `x` on of row `y`; `line` has their samples from `first` on, `each` a pixel.
 */
static void put_line(const struct reader *r, uint32_t y, uint32_t x, uint32_t n, int first,
                     int each, const unsigned char *line)
{
    void *row = gi_row(r->decode->image, (int)y);
    size_t channels = (size_t)r->channels, pixel = channels * gi_type_nbytes(r->type);
    if (r->direct)
        memcpy((char *)row + x * pixel, line, n * pixel);
    for (size_t p = 0; p < n && !r->direct; p++) {
        size_t in = p * (size_t)each, out = (x + p) * channels;
        if (r->indexed) {
            uint32_t index = raw_sample(line, in, r->bits);
            for (size_t c = 0; c < channels; c++)
                put(row, r->type, out + c, r->palette[c][index] >> 8);
            continue;
        }
        if (r->cmyk) {
            put_inks(r, row, x + p, line, in);
            continue;
        }
        for (int s = 0; s < each; s++) {
            int c = r->to[first + s];
            if (c == DROPPED)
                continue;
            if (r->type == GI_F32)
                ((float *)row)[out + (size_t)c] = float_sample(line, in + (size_t)s, r->bits);
            else
                put(row, r->type, out + (size_t)c, scaled_sample(r, line, in + (size_t)s));
        }
    }
}

/* A read that failed, or of which libtiff complained. */
static enum gi_status damaged(struct reader *r, uint32_t y, struct gi_err *err)
{
    return gi_decode_damaged_at(r->decode, err, (int)y, "is damaged: %s",
                                *r->fault.text ? r->fault.text : "its pixels end early");
}

/* *whole: whether there was no damage. */
static enum gi_status read_strips(struct reader *r, unsigned char *line, bool *whole,
                                  struct gi_err *err)
{
    bool planar = r->planar == PLANARCONFIG_SEPARATE;
    for (int s = 0; s < (planar ? r->samples : 1); s++) {
        if (planar && r->to[s] == DROPPED)
            continue;
        for (uint32_t y = 0; y < r->height; y++) {
            int read = TIFFReadScanline(r->tiff, line, y, (uint16_t)s);
            if (read < 0 || r->fault.status) {
                *whole = false;
                return damaged(r, planar && s ? r->height : y, err);
            }
            put_line(r, y, 0, r->width, s, planar ? 1 : r->samples, line);
        }
    }
    return GI_OK;
}

static enum gi_status read_tiles(struct reader *r, unsigned char *tile, bool *whole,
                                 struct gi_err *err)
{
    bool planar = r->planar == PLANARCONFIG_SEPARATE;
    uint32_t w = 0, h = 0;
    TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &w);
    TIFFGetField(r->tiff, TIFFTAG_TILELENGTH, &h);
    size_t row_nbytes = (size_t)TIFFTileRowSize(r->tiff);
    for (int s = 0; s < (planar ? r->samples : 1); s++) {
        if (planar && r->to[s] == DROPPED)
            continue;
        for (uint32_t y = 0; y < r->height; y += h < r->height - y ? h : r->height - y)
            for (uint32_t x = 0; x < r->width; x += w < r->width - x ? w : r->width - x) {
                tmsize_t read = TIFFReadTile(r->tiff, tile, x, y, 0, (uint16_t)s);
                if (read < 0 || r->fault.status) {
                    *whole = false;
                    return damaged(r, planar && s ? r->height : y, err);
                }
                uint32_t n = w < r->width - x ? w : r->width - x;
                uint32_t rows = h < r->height - y ? h : r->height - y;
                for (uint32_t i = 0; i < rows; i++)
                    put_line(r, y + i, x, n, s, planar ? 1 : r->samples, tile + i * row_nbytes);
            }
    }
    return GI_OK;
}

/* Bytes of a line or a tile, which libtiff clears where it finds damage; 0 where that is out of all
 * proportion to the file, or less than put_line() reads. */
static uint64_t piece_nbytes(const struct reader *r)
{
    bool tiled = TIFFIsTiled(r->tiff);
    uint32_t width = r->width;
    if (tiled)
        TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &width);
    uint64_t bits = (uint64_t)width * r->bits;
    bits *= r->planar == PLANARCONFIG_SEPARATE ? 1 : r->samples;
    uint64_t line = tiled ? TIFFTileRowSize64(r->tiff) : TIFFScanlineSize64(r->tiff);
    uint64_t nbytes = tiled ? TIFFTileSize64(r->tiff) : line;
    bool sane = nbytes <= PIECE_MIN + (uint64_t)r->decode->nbytes * PIECE_A_BYTE;
    return sane && line >= (bits + 7) / 8 ? nbytes : 0;
}

static enum gi_status read_pixels(struct reader *r, struct gi_err *err)
{
    uint64_t nbytes = piece_nbytes(r);
    if (!nbytes)
        return gi_fail(err, GI_E_FORMAT, "is damaged: the size of its tiles or rows");
    unsigned char *piece = calloc(1, (size_t)nbytes + 4); /* raw_sample() looks 2 bytes ahead */
    if (!piece)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    bool whole = true;
    r->pixels = true;
    enum gi_status status = TIFFIsTiled(r->tiff) ? read_tiles(r, piece, &whole, err)
                                                 : read_strips(r, piece, &whole, err);
    free(piece);
    if (status)
        return status;
    if (r->premultiplied)
        gi_tiff_unmultiply(r->decode->image);
    if (whole && !TIFFLastDirectory(r->tiff) && !r->decode->warning->status)
        gi_fail(r->decode->warning, GI_E_UNSUPPORTED, "holds more pages; only the first is read");
    return GI_OK;
}

static enum gi_status decode_open(struct reader *r, struct gi_err *err)
{
    enum gi_status status = read_header(r, err);
    if (!status && r->fault.status)
        status = gi_decode_damaged(r->decode, err, "is damaged: %s", r->fault.text);
    r->fault = (struct gi_err){0};
    if (!status)
        status = gi_decode_alloc(r->decode, r->width, r->height, r->channels, r->type, err);
    if (status || r->decode->options->header_only)
        return status;
    return read_pixels(r, err);
}

static enum gi_status decode_tiff(struct gi_decode *decode, struct gi_err *err)
{
    struct reader r = {.decode = decode};
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, &r);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, &r);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, GI_TIFF_MEMORY_MAX);
    r.tiff = TIFFClientOpenExt("TIFF", "r", &r, read_bytes, read_bytes, seek_to, close_nothing,
                               file_size, map_bytes, NULL, options);
    TIFFOpenOptionsFree(options);
    if (!r.tiff)
        return gi_fail(err, GI_E_FORMAT, "is damaged: %s",
                       *r.fault.text ? r.fault.text : "no image in it");
    enum gi_status status = decode_open(&r, err);
    TIFFClose(r.tiff);
    return status;
}

#else
#define decode_tiff NULL
#endif

const struct gi_format gi_format_tiff = {
    .info = {.name = "tiff",
             .suffixes = "tif tiff",
             .summary = "Tagged Image File Format",
             .reads = GI_HAVE_TIFF,
             .writes = true,
             .u8 = true,
             .u16 = true,
             .f32 = true,
             .alpha = true,
             .missing = GI_HAVE_TIFF ? NULL : "libtiff"},
    .probe = probe_tiff,
    .decode = decode_tiff,
    .encode = gi_tiff_encode,
    .gray = true,
    .rgb = true,
    .metadata = true,
    .no_exif = true,
};
