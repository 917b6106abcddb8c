/* Reads PNG through libpng. png_quick.c reads the pixels of ordinary files. All other files are
 * read row by row directly into the image. An ancillary chunk with a wrong checksum is left out,
 * with a warning. Other faults of which libpng only warns, such as a misplaced chunk, are ignored.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/png/png_coded.h"
#include "imgio/png/png_frames.h"
#include "imgio/png/png_parts.h"
#include "imgio/png/png_quick.h"

#include <libdeflate.h>
#include <limits.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* State of a decode by libpng. Everything that is set after setjmp() and read after a longjmp() is
 * in this struct. */
struct reader {
    struct gi_decode *decode;
    png_structp png;
    png_infop info;
    size_t at;  /* next byte of the file */
    bool ended; /* libpng asked for more bytes than the file has */
    struct gi_png_frame frame;
    /* status of gi_decode_alloc() or gi_png_keep_coded() if it failed, with the error's text
     * already set */
    enum gi_status refused;
    struct gi_err fault;   /* libpng's error */
    struct gi_err profile; /* libpng's warning about the ICC profile */
    bool surplus;          /* the image data is longer than the pixels need */
    bool starved;          /* an allocation by libpng failed */
    int pass, row;         /* position of the row being read */
};

static void on_error(png_structp png, png_const_charp message)
{
    struct reader *r = png_get_error_ptr(png);
    gi_fail(&r->fault, GI_E_FORMAT, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

/* Notes a wrong checksum, which libpng reports as "tEXt: CRC error", a profile that libpng refuses,
 * and image data that is too long. */
static void on_warning(png_structp png, png_const_charp message)
{
    struct reader *r = png_get_error_ptr(png);
    struct gi_err *warning = r->decode->warning;
    bool ancillary = message[0] & 0x20; /* PNG, third edition, 5.4 */
    if (strncmp(message, "iCCP: ", 6) == 0)
        gi_fail(&r->profile, GI_E_FORMAT, "%s", message + 6);
    if (strcmp(message, "IDAT: Extra compressed data") == 0 ||
        strcmp(message, "IDAT: Too much image data") == 0)
        r->surplus = true;
    if (warning->status || !strstr(message, ": CRC error"))
        return;
    if (ancillary)
        gi_fail(warning, GI_E_FORMAT, "has a wrong checksum in its chunk %.4s, which is left out",
                message);
    else
        gi_fail(warning, GI_E_FORMAT, "is damaged: %s", message);
}

static void read_bytes(png_structp png, png_bytep to, size_t nbytes)
{
    struct reader *r = png_get_io_ptr(png);
    if (nbytes > r->decode->nbytes - r->at) {
        r->ended = true;
        png_error(png, "ends early");
    }
    memcpy(to, r->decode->bytes + r->at, nbytes);
    r->at += nbytes;
    gi_decode_forget(r->decode, r->at);
}

/* Takes an unknown critical chunk out of libpng's hands, which would end with an error. Returns 0
 * if it may do so. */
static int pass_critical_chunk(png_structp png, png_unknown_chunkp chunk)
{
    struct reader *r = png_get_user_chunk_ptr(png);
    const struct gi_load_options *options = r->decode->options;
    bool critical = !(chunk->name[0] & 0x20);
    if (!critical || !(options->allow_partial || options->header_only))
        return 0;
    if (!r->decode->warning->status && !options->header_only)
        gi_fail(r->decode->warning, GI_E_UNSUPPORTED,
                "has the critical chunk %.4s, which is left out", (const char *)chunk->name);
    return 1;
}

static void skip_unused_chunks(png_structp png)
{
    static const png_byte names[] =
        "bKGD\0hIST\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt\0iTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / 5);
}

/* Makes libpng convert the samples to 8 or 16 bits of gray, gray and alpha, RGB or RGBA in host
 * byte order. Returns the number of channels. */
static int set_transforms(struct reader *r)
{
    png_byte color = png_get_color_type(r->png, r->info), bits = png_get_bit_depth(r->png, r->info);
    bool trns = png_get_valid(r->png, r->info, PNG_INFO_tRNS);
    if (color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(r->png);
    if (color == PNG_COLOR_TYPE_GRAY && bits < 8)
        png_set_expand_gray_1_2_4_to_8(r->png);
    if (trns)
        png_set_tRNS_to_alpha(r->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (bits == 16)
        png_set_swap(r->png);
#endif
    return (color & PNG_COLOR_MASK_COLOR ? 3 : 1) + (trns || color & PNG_COLOR_MASK_ALPHA);
}

static void describe(struct reader *r)
{
    bool palette = png_get_color_type(r->png, r->info) == PNG_COLOR_TYPE_PALETTE;
    bool interlaced = png_get_interlace_type(r->png, r->info) != PNG_INTERLACE_NONE;
    r->decode->info->bits = png_get_bit_depth(r->png, r->info);
    if (!palette)
        r->decode->info->maxval = (1u << r->decode->info->bits) - 1;
    r->decode->info->detail = palette && interlaced ? "palette, interlaced"
                              : palette             ? "palette"
                              : interlaced          ? "interlaced"
                                                    : "";
}

/* Reads the palette as red, green, blue, alpha. Returns its number of colours, 0 if there is no
 * palette. */
static int palette_of(const struct reader *r, uint8_t entries[256][4])
{
    png_colorp colors;
    png_bytep alpha = NULL;
    int n = 0, nalpha = 0;
    if (png_get_color_type(r->png, r->info) != PNG_COLOR_TYPE_PALETTE)
        return 0;
    png_get_PLTE(r->png, r->info, &colors, &n);
    png_get_tRNS(r->png, r->info, &alpha, &nalpha, NULL);
    for (int i = 0; i < n; i++) {
        const uint8_t entry[] = {colors[i].red, colors[i].green, colors[i].blue,
                                 i < nalpha ? alpha[i] : 255};
        memcpy(entries[i], entry, sizeof entry);
    }
    return n;
}

static void read_palette(const struct reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    uint8_t entries[256][4];
    int n = palette_of(r, entries);
    if (n)
        gi_metadata_keep(metadata, &metadata->palette, &metadata->palette_nbytes, entries,
                         4 * (size_t)n);
}

static void read_metadata(struct reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    png_charp name;
    png_bytep bytes;
    png_uint_32 nbytes, x, y;
    int method, unit;
    read_palette(r);
    if (png_get_iCCP(r->png, r->info, &name, &method, &bytes, &nbytes))
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, bytes, nbytes);
    else if (r->profile.status && !r->decode->warning->status)
        gi_fail(r->decode->warning, GI_E_FORMAT, "has an ICC profile that is left out: %s",
                r->profile.text);
    if (png_get_eXIf_1(r->png, r->info, &nbytes, &bytes))
        gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, bytes, nbytes);
    if (png_get_pHYs(r->png, r->info, &x, &y, &unit) && x && y && unit <= PNG_RESOLUTION_METER) {
        double per_inch = unit == PNG_RESOLUTION_METER ? 0.0254 : 1;
        metadata->dpi_x = x * per_inch;
        metadata->dpi_y = y * per_inch;
        metadata->no_unit = unit != PNG_RESOLUTION_METER;
    }
}

/* Looks for an eXIf chunk after the pixels, by the lengths of the chunks from the first IDAT on. */
static void find_late_exif(const struct reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    const unsigned char *bytes = r->decode->bytes;
    size_t at = r->at - 8, end = r->decode->nbytes; /* libpng has read the header of the chunk */
    while (!metadata->exif && end - at >= 12) {
        size_t nbytes = gi_big32(bytes + at);
        if (nbytes > end - at - 12)
            return;
        const unsigned char *type = bytes + at + 4;
        if (memcmp(type, "eXIf", 4) == 0 &&
            libdeflate_crc32(0, type, nbytes + 4) == gi_big32(type + 4 + nbytes))
            gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, bytes + at + 8,
                             nbytes);
        at += nbytes + 12;
        gi_decode_forget(r->decode, at);
    }
}

/* Looks for image data in chunks behind the one in which the stream of pixels ends. libpng does not
 * warn of them. */
static bool has_late_data(const struct reader *r)
{
    const unsigned char *bytes = r->decode->bytes;
    size_t at = r->at, end = r->decode->nbytes;
    while (end - at >= 12) {
        size_t nbytes = gi_big32(bytes + at);
        if (nbytes > end - at - 12 || memcmp(bytes + at + 4, "IEND", 4) == 0)
            return false;
        if (nbytes && memcmp(bytes + at + 4, "IDAT", 4) == 0)
            return true;
        at += nbytes + 12;
    }
    return false;
}

/* Fills in *frame. Returns whether the file stores exactly the samples of the image, or indices of
 * 8 bits into a palette, apart from filters and byte order. */
static bool is_ordinary(const struct reader *r, struct gi_png_frame *frame)
{
    int bits = png_get_bit_depth(r->png, r->info);
    bool palette = png_get_color_type(r->png, r->info) == PNG_COLOR_TYPE_PALETTE;
    *frame = (struct gi_png_frame){.width = (int)png_get_image_width(r->png, r->info),
                                   .height = (int)png_get_image_height(r->png, r->info),
                                   .channels = png_get_channels(r->png, r->info),
                                   .type = bits == 16 ? GI_U16 : GI_U8};
    frame->ncolors = palette_of(r, frame->palette);
    return bits >= 8 && palette == (frame->ncolors > 0) &&
           (palette || !png_get_valid(r->png, r->info, PNG_INFO_tRNS)) &&
           png_get_interlace_type(r->png, r->info) == PNG_INTERLACE_NONE;
}

/* Decodes the image. libpng's errors leave this function by longjmp(). Returns false after an
 * error, or if gi_decode_alloc() refused the image. */
static bool read_png(struct reader *r, struct gi_err *err)
{
    struct gi_decode *decode = r->decode;
    if (setjmp(png_jmpbuf(r->png)))
        return false;
    png_set_read_fn(r->png, r, read_bytes);
    png_set_user_limits(r->png, INT_MAX, INT_MAX);
    png_set_crc_action(r->png,
                       decode->options->allow_partial ? PNG_CRC_WARN_USE : PNG_CRC_ERROR_QUIT,
                       PNG_CRC_WARN_DISCARD);
    skip_unused_chunks(r->png);
    png_set_read_user_chunk_fn(r->png, r, pass_critical_chunk);
    png_read_info(r->png, r->info);
    describe(r);
    int channels = set_transforms(r);
    bool ordinary = is_ordinary(r, &r->frame);
    struct gi_png_stream stream;
    if (ordinary && gi_png_stays_coded(&stream, decode, r->at, &r->frame))
        gi_decode_stay_coded(decode, gi_png_list_nbytes(&stream));
    /* Checks the limits before png_read_update_info() is called, in which libpng allocates memory
     * for rows. */
    r->refused =
        gi_decode_alloc(decode, png_get_image_width(r->png, r->info),
                        png_get_image_height(r->png, r->info), channels, r->frame.type, err);
    if (r->refused)
        return false;
    read_metadata(r);
    if (decode->options->header_only) {
        find_late_exif(r);
        return true;
    }
    if (decode->coded)
        return !(r->refused = gi_png_keep_coded(decode, &stream, &r->frame, err));
    bool taken = decode->options->taker;
    if (!taken && ordinary &&
        gi_png_quick(decode->image, decode->bytes, decode->nbytes, r->at, &r->frame))
        return true;
    int passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    if (png_get_rowbytes(r->png, r->info) != gi_row_nbytes(decode->image) || (taken && passes > 1))
        png_error(r->png, "rows of an unexpected length or order");
    for (r->pass = 0; r->pass < passes; r->pass++)
        for (r->row = 0; r->row < decode->image->height; r->row++) {
            void *row = gi_decode_row(decode, r->row);
            if (!row)
                png_error(r->png, "rows are not wanted");
            png_read_row(r->png, row, NULL);
        }
    r->surplus = r->surplus || has_late_data(r);
    png_read_end(r->png, r->info);
    read_metadata(r); /* eXIf may follow the pixels */
    return true;
}

static bool probe_png(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static void *take_memory(png_structp png, png_alloc_size_t nbytes)
{
    void *memory = malloc(nbytes);
    if (!memory)
        ((struct reader *)png_get_mem_ptr(png))->starved = true;
    return memory;
}

static void give_memory(png_structp png, void *memory)
{
    free(memory);
}

/* Fills `err`, or the warning of a partial image, after an error of libpng. */
static enum gi_status report_fault(const struct reader *r, struct gi_err *err)
{
    struct gi_decode *decode = r->decode;
    const char *fault = r->fault.text, *damaged = r->ended ? "" : "is damaged: ";
    bool checksum = strcmp(fault, "IHDR: CRC error") == 0 || strcmp(fault, "PLTE: CRC error") == 0;
    if (strstr(fault, ": unhandled critical chunk"))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "has the critical chunk %.4s, which is not supported; --allow-partial reads "
                       "the image without it",
                       fault);
    if (checksum && !decode->options->allow_partial)
        return gi_decode_damaged(decode, err, "is damaged: %s", fault);
    if (!decode->begun)
        return gi_fail(err, GI_E_FORMAT, r->ended ? "ends early" : "is damaged: %s", fault);
    if (r->row == decode->image->height)
        return gi_decode_damaged(decode, err, "is damaged after its pixels: %s", fault);
    if (r->pass) /* an image with several passes has pixels in all parts after the first pass */
        return gi_decode_damaged(decode, err, "%s%s, in pass %d of 7", damaged, fault, r->pass + 1);
    return gi_decode_damaged_at(decode, err, r->row, "%s%s", damaged, fault);
}

static enum gi_status decode_one(struct gi_decode *decode, struct gi_err *err)
{
    struct reader r = {.decode = decode};
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning, &r,
                                     take_memory, give_memory);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (!r.info) {
        png_destroy_read_struct(&r.png, NULL, NULL);
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    }
    bool whole = read_png(&r, err);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    if (whole) {
        if (r.surplus)
            gi_decode_add_loss(decode, "surplus image data",
                               "has more image data than its pixels need, which is left out");
        decode->metadata->starved = decode->metadata->starved || r.starved;
        return GI_OK;
    }
    if (r.refused)
        return r.refused;
    if (r.starved)
        return gi_fail(err, GI_E_MEMORY, "out of memory for the PNG decoder");
    return report_fault(&r, err);
}

/* Reads the frame that is asked for, with the metadata that the first image has. */
static enum gi_status decode_frame(struct gi_decode *decode, bool *taken, struct gi_err *err)
{
    struct gi_load_options header = *decode->options;
    struct gi_decode head = *decode;
    enum gi_status status = gi_frames_decode(decode, &gi_png_animation, taken, err);
    if (status || !*taken)
        return status;
    struct gi_image shape;
    header.header_only = true;
    header.listener = NULL;
    head.options = &header;
    head.image = &shape;
    status = decode_one(&head, err);
    decode->info->bits = 8;
    decode->info->maxval = 255;
    if (status)
        gi_image_free(decode->image);
    return status;
}

static enum gi_status decode_png(struct gi_decode *decode, struct gi_err *err)
{
    bool taken = false;
    enum gi_status status = GI_OK;
    if (decode->options->image && gi_png_animation.starts(decode->bytes, decode->nbytes))
        status = decode_frame(decode, &taken, err);
    return taken ? status : decode_one(decode, err);
}

const struct gi_format gi_format_png = {
    .info = {.name = "png",
             .suffixes = "png apng",
             .summary = "Portable Network Graphics, also animated",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS,
             .alpha = true},
    .probe = probe_png,
    .decode = decode_png,
    .encode = gi_png_encode,
    .coded = true,
    .by_rows = true,
    .one_bit = true,
    GI_HOLDS_GRAY_AND_RGB,
    .metadata = true,
    .texts = true,
    .color = true,
    .parts = gi_png_parts,
    .list = gi_png_list,
    .animation = &gi_png_animation,
    .holds = gi_png_holds,
    .ratio = true,
    .resolution_loss = gi_png_resolution_loss,
};
