/* libjpeg's callbacks: errors, warnings, progress, and output to memory.
 *
 * libjpeg reports damage as a warning and continues. Here a warning that means wrong pixels is an
 * error.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_callbacks.h"

#include <stdlib.h>

#include <jerror.h>

#include "imgio/jpeg/jpeg_work.h"

enum { OUT_NBYTES = 1 << 16 /* initial capacity of the output */ };

static void on_error(j_common_ptr cinfo)
{
    struct gi_jpeg_errors *e = (struct gi_jpeg_errors *)cinfo->err;
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    int code = cinfo->err->msg_code;
    if (code == JERR_BAD_PRECISION)
        e->status =
            gi_fail(e->err, GI_E_UNSUPPORTED, "is a JPEG of %d bits a sample; 8 can be read",
                    cinfo->err->msg_parm.i[0]);
    else if (code == JERR_SOF_UNSUPPORTED || code == JERR_CONVERSION_NOTIMPL ||
             code == JERR_CCIR601_NOTIMPL || code == JERR_FRACT_SAMPLE_NOTIMPL ||
             code == JERR_COMPONENT_COUNT)
        e->status =
            gi_fail(e->err, GI_E_UNSUPPORTED, "is a kind of JPEG that can't be read: %s", text);
    else if (code == JERR_OUT_OF_MEMORY)
        e->status = gi_fail(e->err, GI_E_MEMORY, "out of memory");
    else
        e->status = gi_fail(e->err, GI_E_FORMAT, "is damaged: %s", text);
    longjmp(e->jump, 1);
}

/* Returns whether, after a warning with this code, every pixel is still as the encoder intended. */
static bool is_harmless(int code)
{
    return code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC;
}

/* Returns an estimate of the rows in the part of the file that exists. It assumes one byte per 4
 * samples, as in photographs of the best quality. Other images need fewer bytes. */
static int rows_there(const struct gi_decode *decode, const struct jpeg_decompress_struct *cinfo)
{
    enum { SAMPLES_A_BYTE = 4 };
    int height = decode->image->height;
    uint64_t shrink = (uint64_t)decode->shrink;
    if (!decode->begun || !decode->shrink)
        return 0; /* still in the header, or not decoded but turned without loss */
    uint64_t row = cinfo->input_iMCU_row * (uint64_t)cinfo->max_v_samp_factor * DCTSIZE / shrink;
    uint64_t left = (uint64_t)cinfo->src->bytes_in_buffer * SAMPLES_A_BYTE;
    row += left / (gi_row_nbytes(decode->image) * shrink * shrink);
    return cinfo->input_scan_number > 1 || row > (uint64_t)height ? height : (int)row;
}

/* Returns whether a warning is about stray bytes between markers before the first scan. Some
 * cameras and editors leave such bytes. */
static bool is_stray(const struct jpeg_decompress_struct *cinfo)
{
    return cinfo->err->msg_code == JWRN_EXTRANEOUS_DATA && cinfo->input_scan_number == 0;
}

static void on_message(j_common_ptr cinfo, int level)
{
    struct gi_jpeg_errors *e = (struct gi_jpeg_errors *)cinfo->err;
    if (level >= 0 || !cinfo->is_decompressor || is_harmless(cinfo->err->msg_code))
        return;
    if (is_stray((j_decompress_ptr)cinfo)) {
        if (!e->decode->warning->status)
            gi_fail(e->decode->warning, GI_E_FORMAT,
                    "has %d stray bytes before the marker 0x%02x, which were passed over",
                    cinfo->err->msg_parm.i[0], (unsigned)cinfo->err->msg_parm.i[1]);
        return;
    }
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    int rows = rows_there(e->decode, (j_decompress_ptr)cinfo);
    e->status = gi_decode_has_enough(e->decode, rows)
                    ? gi_decode_damaged(e->decode, e->err, "is damaged: %s", text)
                    : gi_decode_damaged_at(e->decode, e->err, rows, "is damaged: %s", text);
    if (e->status)
        longjmp(e->jump, 1);
}

void gi_jpeg_errors_init(struct gi_jpeg_errors *e, struct gi_decode *decode, struct gi_err *err)
{
    jpeg_std_error(&e->base);
    e->base.error_exit = on_error;
    e->base.emit_message = on_message;
    e->err = err;
    e->decode = decode;
    e->status = GI_OK;
    e->scan = 0;
    e->blocks = 0;
}

void gi_jpeg_on_progress(j_common_ptr common)
{
    struct gi_jpeg_errors *e = (struct gi_jpeg_errors *)common->err;
    j_decompress_ptr cinfo = (j_decompress_ptr)common;
    if (cinfo->input_scan_number == e->scan)
        return;
    e->scan = cinfo->input_scan_number;
    e->blocks += gi_jpeg_scan_blocks(cinfo);
    e->status = gi_jpeg_check_blocks(e->decode, cinfo, e->blocks, e->err);
    if (e->status)
        longjmp(e->jump, 1);
}

/* ---- output ---- */

static void grow_output(j_compress_ptr jpeg, size_t room)
{
    struct gi_jpeg_output *out = (struct gi_jpeg_output *)jpeg->dest;
    unsigned char *bytes = realloc(out->bytes, room);
    if (!bytes)
        ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    out->base.next_output_byte = bytes + out->room;
    out->base.free_in_buffer = room - out->room;
    out->bytes = bytes;
    out->room = room;
}

static void start_output(j_compress_ptr jpeg)
{
    grow_output(jpeg, OUT_NBYTES);
}

static boolean on_full_buffer(j_compress_ptr jpeg)
{
    grow_output(jpeg, 2 * ((struct gi_jpeg_output *)jpeg->dest)->room);
    return TRUE;
}

static void end_output(j_compress_ptr jpeg)
{
    struct gi_jpeg_output *out = (struct gi_jpeg_output *)jpeg->dest;
    out->nbytes = out->room - out->base.free_in_buffer;
}

void gi_jpeg_output_init(struct gi_jpeg_output *out, j_compress_ptr jpeg)
{
    *out = (struct gi_jpeg_output){.base = {.init_destination = start_output,
                                            .empty_output_buffer = on_full_buffer,
                                            .term_destination = end_output}};
    jpeg->dest = &out->base;
}
