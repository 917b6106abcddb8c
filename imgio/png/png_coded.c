/* Describes a PNG for a device that decodes it. The chunks before the pixels are those that libpng
 * has read.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_coded.h"

#include "imgio/integer.h"

enum {
    HEAD = 8,                 /* length and type of a chunk */
    SUM = 4,                  /* its checksum */
    RAW_NBYTES_MAX = 1 << 27, /* maximum bytes of the filtered rows */
    /* A file may have this many chunks, and one more per IDAT_NBYTES bytes of the stream. So the
     * list of the chunks is not much longer than the stream, even if most chunks are empty. */
    IDATS_FEW = 64,
    IDAT_NBYTES = sizeof(struct gi_png_idat),
};

bool gi_png_stays_coded(struct gi_png_stream *stream, const struct gi_decode *decode, size_t at,
                        const struct gi_png_frame *frame)
{
    size_t raw_nbytes = gi_png_raw_nbytes(frame);
    return gi_decode_wants_coded(decode, GI_CODED_PNG) && raw_nbytes <= RAW_NBYTES_MAX &&
           gi_png_find_stream(stream, decode->bytes, decode->nbytes, at - HEAD, false) &&
           stream->nbytes && gi_png_is_enough(stream, raw_nbytes) &&
           stream->nchunks <= IDATS_FEW + stream->nbytes / IDAT_NBYTES;
}

/* Lists the chunks, whose first one is at `chunk`. */
static void list_idats(struct gi_png_idat *idats, size_t n, const unsigned char *chunk)
{
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t length = gi_big32(chunk + at);
        idats[i] = (struct gi_png_idat){.at = at + HEAD, .nbytes = length};
        at += HEAD + length + SUM;
    }
}

enum gi_status gi_png_keep_coded(const struct gi_decode *decode, const struct gi_png_stream *stream,
                                 const struct gi_png_frame *frame, struct gi_err *err)
{
    const struct gi_coded coded = {.is_png = true,
                                   .png = *frame,
                                   .denominator = 1,
                                   .scan_at = stream->at,
                                   .scan_nbytes = stream->after - stream->at,
                                   .nidats = (uint32_t)stream->nchunks};
    enum gi_status status = gi_decode_keep_coded(decode, &coded, err);
    if (status)
        return status;
    struct gi_coded *kept = decode->image->coded;
    struct gi_png_idat *idats = (struct gi_png_idat *)kept->file.data + /* behind the file */
                                (decode->nbytes + sizeof *idats - 1) / sizeof *idats;
    list_idats(idats, stream->nchunks, decode->bytes + stream->at);
    kept->idats = idats;
    return GI_OK;
}
