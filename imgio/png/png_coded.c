/* Describes a PNG for a device that decodes it. The chunks before the pixels are those that libpng
 * has read.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_coded.h"

enum {
    HEAD = 8,                 /* length and type of a chunk */
    RAW_NBYTES_MAX = 1 << 27, /* maximum bytes of the filtered rows */
};

bool gi_png_stays_coded(struct gi_png_stream *stream, const struct gi_decode *decode, size_t at,
                        const struct gi_png_frame *frame)
{
    size_t raw_nbytes = gi_png_raw_nbytes(frame);
    return gi_decode_wants_coded(decode, GI_CODED_PNG) && raw_nbytes <= RAW_NBYTES_MAX &&
           gi_png_find_stream(stream, decode->bytes, decode->nbytes, at - HEAD) && stream->nbytes &&
           gi_png_is_enough(stream, raw_nbytes);
}

enum gi_status gi_png_keep_coded(const struct gi_decode *decode, const struct gi_png_stream *stream,
                                 const struct gi_png_frame *frame, struct gi_err *err)
{
    bool apart = gi_png_apart_nbytes(stream) > 0;
    const struct gi_coded coded = {.is_png = true,
                                   .png = *frame,
                                   .denominator = 1,
                                   .scan_at = apart ? decode->nbytes : stream->at + HEAD,
                                   .scan_nbytes = stream->nbytes};
    enum gi_status status = gi_decode_keep_coded(decode, &coded, err);
    if (!status && apart)
        gi_png_copy_stream((unsigned char *)decode->image->coded->file.data + decode->nbytes,
                           stream, decode->bytes);
    return status;
}
