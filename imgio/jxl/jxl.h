/* JPEG XL by libjxl: what the reader and the writer share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"

#if __has_include(<jxl/encode.h>) && __has_include(<jxl/version.h>)
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>
#define GI_HAVE_JXL 1

#define GI_JXL_FUNCTIONS(X)                                                                        \
    X(JxlDecoderCreate)                                                                            \
    X(JxlDecoderDestroy)                                                                           \
    X(JxlDecoderSubscribeEvents)                                                                   \
    X(JxlDecoderSetKeepOrientation)                                                                \
    X(JxlDecoderSetUnpremultiplyAlpha)                                                             \
    X(JxlDecoderSetParallelRunner)                                                                 \
    X(JxlDecoderSetDecompressBoxes)                                                                \
    X(JxlDecoderSetInput)                                                                          \
    X(JxlDecoderCloseInput)                                                                        \
    X(JxlDecoderReleaseInput)                                                                      \
    X(JxlDecoderProcessInput)                                                                      \
    X(JxlDecoderGetBasicInfo)                                                                      \
    X(JxlDecoderGetExtraChannelInfo)                                                               \
    X(JxlDecoderGetColorAsEncodedProfile)                                                          \
    X(JxlDecoderGetICCProfileSize)                                                                 \
    X(JxlDecoderGetColorAsICCProfile)                                                              \
    X(JxlDecoderGetBoxType)                                                                        \
    X(JxlDecoderSetBoxBuffer)                                                                      \
    X(JxlDecoderReleaseBoxBuffer)                                                                  \
    X(JxlDecoderSetImageOutCallback)                                                               \
    X(JxlDecoderFlushImage)                                                                        \
    X(JxlEncoderCreate)                                                                            \
    X(JxlEncoderDestroy)                                                                           \
    X(JxlEncoderSetParallelRunner)                                                                 \
    X(JxlEncoderInitBasicInfo)                                                                     \
    X(JxlEncoderSetBasicInfo)                                                                      \
    X(JxlEncoderGetRequiredCodestreamLevel)                                                        \
    X(JxlEncoderSetCodestreamLevel)                                                                \
    X(JxlColorEncodingSetToSRGB)                                                                   \
    X(JxlColorEncodingSetToLinearSRGB)                                                             \
    X(JxlEncoderSetColorEncoding)                                                                  \
    X(JxlEncoderSetICCProfile)                                                                     \
    X(JxlEncoderUseBoxes)                                                                          \
    X(JxlEncoderAddBox)                                                                            \
    X(JxlEncoderFrameSettingsCreate)                                                               \
    X(JxlEncoderSetFrameLossless)                                                                  \
    X(JxlEncoderSetFrameDistance)                                                                  \
    X(JxlEncoderFrameSettingsSetOption)                                                            \
    X(JxlEncoderAddImageFrame)                                                                     \
    X(JxlEncoderCloseInput)                                                                        \
    X(JxlEncoderProcessOutput)
GI_LIBRARY_TABLE(gi_jxl_table, GI_JXL_FUNCTIONS);
extern struct gi_jxl_table gi_jxl;

enum { GI_JXL_OFFSET = 4 }; /* bytes of the offset of the TIFF header in a box of EXIF */

/* A JxlParallelRunner on a struct gi_parallel. */
JxlParallelRetCode gi_jxl_run(void *self, void *opaque, JxlParallelRunInit init,
                              JxlParallelRunFunction function, uint32_t start, uint32_t end);

/* Sets *color to the space that PNG's colour chunks of the metadata declare, or to sRGB if there is
 * none. Returns false if JPEG XL does not code that space by numbers. */
bool gi_jxl_color(JxlColorEncoding *color, const struct gi_metadata *metadata, bool gray);
/* gi_format.holds_color: a profile takes the place of the chunks. */
bool gi_jxl_holds_color(const struct gi_metadata *metadata);

/* Decodes the first frame and the metadata, and lists the other parts (gi_format.decode). */
enum gi_status gi_jxl_decode(struct gi_decode *decode, struct gi_err *err);
#else
#define GI_HAVE_JXL 0
#endif
