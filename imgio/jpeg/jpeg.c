/* Reads JPEG through libjpeg-turbo. The file may be gray, RGB or CMYK. CMYK becomes RGB, by the
 * file's profile if there is one.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/jpeg/jpeg_callbacks.h"
#include "imgio/jpeg/jpeg_coded.h"
#include "imgio/jpeg/jpeg_segments.h"
#include "imgio/jpeg/jpeg_settings.h"
#include "imgio/jpeg/jpeg_strips.h"
#include "imgio/jpeg/jpeg_work.h"
#include "imgio/jpeg/jpeg_write.h"
#include "imgio/metadata/icc.h"
#include "imgio/metadata/metadata.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

enum {
    APP_EXIF = JPEG_APP0 + 1,
    APP_ICC = JPEG_APP0 + 2,
    EXIF_HEAD = 6, /* "Exif\0\0" */
};

static bool starts(const struct jpeg_marker_struct *marker, const char *head, size_t n)
{
    return marker->marker == APP_EXIF && marker->data_length > n &&
           memcmp(marker->data, head, n) == 0;
}

static void read_markers(struct gi_decode *decode, jpeg_saved_marker_ptr marker)
{
    struct gi_metadata *metadata = decode->metadata;
    for (; marker; marker = marker->next) {
        size_t n = marker->data_length;
        if (starts(marker, GI_XMP_HEAD, sizeof GI_XMP_HEAD)) {
            gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes,
                             marker->data + sizeof GI_XMP_HEAD, n - sizeof GI_XMP_HEAD);
        } else if (starts(marker, "Exif\0", EXIF_HEAD)) {
            gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes,
                             marker->data + EXIF_HEAD, n - EXIF_HEAD);
        }
    }
}

/* Returns whether a marker has a part of an ICC profile (ICC.1:2022, B.4). */
static bool has_profile(jpeg_saved_marker_ptr marker)
{
    static const char head[] = "ICC_PROFILE";
    for (; marker; marker = marker->next)
        if (marker->marker == APP_ICC && marker->data_length >= sizeof head &&
            memcmp(marker->data, head, sizeof head) == 0)
            return true;
    return false;
}

static enum gi_status read_metadata(struct gi_decode *decode, j_decompress_ptr cinfo,
                                    struct gi_err *err)
{
    struct gi_metadata *metadata = decode->metadata;
    read_markers(decode, cinfo->marker_list);
    JOCTET *icc;
    unsigned icc_nbytes;
    if (jpeg_read_icc_profile(cinfo, &icc, &icc_nbytes)) {
        metadata->icc = icc; /* from malloc(), as its manual says */
        metadata->icc_nbytes = icc_nbytes;
    }
    double unit = cinfo->density_unit == 2 ? 2.54 : 1;
    bool valid = cinfo->X_density && cinfo->Y_density && cinfo->density_unit <= 2;
    /* 1 x 1 without a unit only says that pixels are square. */
    bool square = cinfo->density_unit == 0 && cinfo->X_density == 1 && cinfo->Y_density == 1;
    if (cinfo->saw_JFIF_marker && valid && !square) {
        metadata->dpi_x = cinfo->X_density * unit;
        metadata->dpi_y = cinfo->Y_density * unit;
        metadata->no_unit = cinfo->density_unit == 0;
    }
    return metadata->icc || !has_profile(cinfo->marker_list)
               ? GI_OK
               : gi_decode_damaged_beside(decode, err, "is damaged: its ICC profile lacks a part");
}

static void describe(struct gi_file_info *info, j_decompress_ptr cinfo)
{
    bool cmyk = cinfo->num_components == 4;
    info->bits = cinfo->data_precision;
    info->detail = cinfo->progressive_mode ? (cmyk ? "progressive, CMYK" : "progressive")
                   : cinfo->arith_code     ? (cmyk ? "arithmetic, CMYK" : "arithmetic")
                   : cmyk                  ? "CMYK"
                                           : "";
}

static void choose_color(j_decompress_ptr cinfo)
{
    cinfo->out_color_space = cinfo->num_components == 1   ? JCS_GRAYSCALE
                             : cinfo->num_components == 4 ? JCS_CMYK
                                                          : JCS_RGB;
}

/* Converts CMYK without a profile. Each of red, green and blue is the light that its ink and black
 * leave. Full ink is 0, as Adobe's programs store it (Adobe Technical Note 5116), also without
 * Adobe's marker, as libvips, OpenCV and Pillow take it. */
static void cmyk_to_rgb(uint8_t *rgb, const uint8_t *cmyk, int width)
{
    for (int x = 0; x < width; x++, rgb += 3, cmyk += 4)
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((cmyk[c] * cmyk[3] + 127) / 255);
}

static bool read_rows(struct gi_decode *decode, j_decompress_ptr cinfo, uint8_t *cmyk,
                      const struct gi_inks *inks)
{
    while (cinfo->output_scanline < cinfo->output_height) {
        uint8_t *row = gi_decode_row(decode, (int)cinfo->output_scanline);
        JSAMPROW target = cmyk ? cmyk : row;
        if (!row)
            return false;
        jpeg_read_scanlines(cinfo, &target, 1);
        gi_decode_forget(decode, decode->nbytes - cinfo->src->bytes_in_buffer);
        if (cmyk && inks)
            gi_inks_convert(inks, row, cmyk, decode->image->width);
        else if (cmyk)
            cmyk_to_rgb(row, cmyk, decode->image->width);
    }
    return true;
}

/* Decodes the image. libjpeg's errors leave this function by longjmp(). */
static enum gi_status read_jpeg(struct gi_decode *decode, j_decompress_ptr cinfo,
                                struct gi_jpeg_errors *e, struct gi_inks **inks, struct gi_err *err)
{
    if (setjmp(e->jump))
        return e->status;
    struct jpeg_progress_mgr progress = {.progress_monitor = gi_jpeg_on_progress};
    jpeg_create_decompress(cinfo);
    cinfo->progress = &progress;
    jpeg_mem_src(cinfo, decode->bytes, decode->nbytes);
    jpeg_save_markers(cinfo, APP_EXIF, 0xffff);
    jpeg_save_markers(cinfo, APP_ICC, 0xffff);
    jpeg_read_header(cinfo, TRUE);
    describe(decode->info, cinfo);
    enum gi_status status = read_metadata(decode, cinfo, err);
    decode->metadata->jpeg = gi_jpeg_tables_of(cinfo);
    decode->info->rows_apart = cinfo->restart_interval != 0;
    choose_color(cinfo);
    int channels = cinfo->num_components == 1 ? 1 : 3;
    bool header_only = decode->options->header_only;
    if (!status && !header_only)
        status = gi_jpeg_check_scans(decode, cinfo, channels, err);
    decode->shrink = gi_decode_shrink(decode, cinfo->image_width, cinfo->image_height);
    cinfo->scale_denom = (unsigned)decode->shrink;
    if (!status) /* arithmetic coding */
        status =
            gi_decode_check_flat(decode, (uint64_t)cinfo->image_width * cinfo->image_height, err);
    struct gi_coded coded;
    if (!status && gi_jpeg_stays_coded(&coded, decode, cinfo))
        gi_decode_stay_coded(decode, 0);
    if (!status)
        status =
            gi_decode_alloc(decode, cinfo->image_width, cinfo->image_height, channels, GI_U8, err);
    if (!status && decode->coded)
        return gi_decode_keep_coded(decode, &coded, err);
    if (status || header_only)
        return status;
    if (!decode->options->taker && gi_jpeg_read_strips(decode, cinfo))
        return GI_OK;
    jpeg_start_decompress(cinfo);
    uint8_t *cmyk = NULL;
    if (cinfo->out_color_space == JCS_CMYK) /* freed with cinfo */
        cmyk = (*cinfo->mem->alloc_large)((j_common_ptr)cinfo, JPOOL_IMAGE,
                                          (size_t)cinfo->output_width * 4);
    if (cmyk)
        *inks = gi_inks_new(decode, GI_U8, true);
    if (!read_rows(decode, cinfo, cmyk, *inks))
        return gi_fail(err, GI_E_FORMAT, "its rows are not wanted");
    jpeg_finish_decompress(cinfo);
    return GI_OK;
}

static enum gi_status decode_jpeg(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_jpeg_errors e;
    struct gi_inks *inks = NULL;
    struct gi_err fault = {0};
    struct jpeg_decompress_struct cinfo = {.err = &e.base};
    gi_jpeg_errors_init(&e, decode, &fault);
    enum gi_status status = read_jpeg(decode, &cinfo, &e, &inks, &fault);
    jpeg_destroy_decompress(&cinfo);
    gi_inks_free(&inks);
    if (!status)
        return GI_OK;
    /* If damage stops libjpeg after decoding had started, there is still an image. */
    if (status == GI_E_FORMAT && decode->image->data && decode->options->allow_partial &&
        gi_decode_has_enough(decode, (int)cinfo.output_scanline))
        return gi_decode_damaged(decode, err, "%s", fault.text);
    if (err)
        *err = fault;
    return status;
}

static bool probe_jpeg(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

const struct gi_format gi_format_jpeg = {
    .info = {.name = "jpeg",
             .suffixes = "jpg jpeg jpe jfif",
             .summary = "JPEG (8 bits)",
             GI_READS_AND_WRITES,
             .u8 = true,
             .quality = true},
    .probe = probe_jpeg,
    .decode = decode_jpeg,
    .coded = true,
    .encode = gi_jpeg_encode,
    .by_rows = true,
    GI_HOLDS_GRAY_AND_RGB,
    .metadata = true,
    .ratio = true,
    .resolution_loss = gi_jpeg_resolution_loss,
    .parts = gi_jpeg_parts,
    .holds = gi_jpeg_holds,
    .texts = true,
    .metadata_max = GI_JPEG_METADATA_MAX,
};
