/* OpenEXR by OpenEXRCore: what the reader and the writer share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"

#if __has_include(<OpenEXR/openexr.h>)
#include <OpenEXR/openexr.h>
#define GI_HAVE_EXR 1

#define GI_EXR_FUNCTIONS(X)                                                                        \
    X(exr_start_read)                                                                              \
    X(exr_start_write)                                                                             \
    X(exr_finish)                                                                                  \
    X(exr_get_default_error_message)                                                               \
    X(exr_get_count)                                                                               \
    X(exr_get_storage)                                                                             \
    X(exr_get_data_window)                                                                         \
    X(exr_get_display_window)                                                                      \
    X(exr_get_channels)                                                                            \
    X(exr_get_tile_sizes)                                                                          \
    X(exr_get_scanlines_per_chunk)                                                                 \
    X(exr_get_attribute_count)                                                                     \
    X(exr_get_attribute_by_index)                                                                  \
    X(exr_read_scanline_chunk_info)                                                                \
    X(exr_read_tile_chunk_info)                                                                    \
    X(exr_decoding_initialize)                                                                     \
    X(exr_decoding_choose_default_routines)                                                        \
    X(exr_decoding_run)                                                                            \
    X(exr_decoding_destroy)                                                                        \
    X(exr_add_part)                                                                                \
    X(exr_initialize_required_attr)                                                                \
    X(exr_add_channel)                                                                             \
    X(exr_write_header)                                                                            \
    X(exr_write_scanline_chunk_info)                                                               \
    X(exr_encoding_initialize)                                                                     \
    X(exr_encoding_choose_default_routines)                                                        \
    X(exr_encoding_run)                                                                            \
    X(exr_encoding_destroy)
GI_LIBRARY_TABLE(gi_exr_table, GI_EXR_FUNCTIONS);
extern struct gi_exr_table gi_exr;

enum { GI_EXR_PART = 0 }; /* the part that is read or written */

/* Bytes in memory that the library reads or writes. */
struct gi_exr_memory {
    unsigned char *at;
    size_t nbytes, size; /* size: of the memory, when writing */
};

/* An error handler; without one the library prints. */
void gi_exr_say_nothing(exr_const_context_t context, exr_result_t code, const char *text);

/* Fills `err` with the message for `code` behind `what`. Returns the status. */
enum gi_status gi_exr_fail(struct gi_err *err, exr_result_t code, const char *what);

/* Reads the first part, and lists what is left out (gi_format.decode). */
enum gi_status gi_exr_decode(struct gi_decode *decode, struct gi_err *err);
#else
#define GI_HAVE_EXR 0
#endif
