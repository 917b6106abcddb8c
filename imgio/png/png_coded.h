/* PNGs that stay coded, because a device decodes them (imgio/coded.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/coded.h"
#include "imgio/format.h"
#include "imgio/png/png_quick.h"

/* Returns whether the caller wants the image to stay coded, and the file is one that png_decode
 * takes (kernels/codec.h): its pixels are as `frame` says, and nothing is unusual in the chunks
 * from the first IDAT chunk on, whose data begin at offset `at`. The CRCs of IDAT chunks are left
 * to png_decode. Then sets *stream. Must be called before gi_decode_alloc(). */
bool gi_png_stays_coded(struct gi_png_stream *stream, const struct gi_decode *decode, size_t at,
                        const struct gi_png_frame *frame);

/* Returns the bytes behind the file that the list of the chunks needs. */
static inline size_t gi_png_list_nbytes(const struct gi_png_stream *stream)
{
    return (stream->nchunks + 1) * sizeof(struct gi_png_idat); /* one for its alignment */
}

/* Sets decode->image->coded, with the file and a list of its IDAT chunks. Errors: GI_E_MEMORY. */
enum gi_status gi_png_keep_coded(const struct gi_decode *decode, const struct gi_png_stream *stream,
                                 const struct gi_png_frame *frame, struct gi_err *err);
