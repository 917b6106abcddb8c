/* The option --lossless of commands that turn or crop.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "cli/command.h"

extern const struct gi_choice gi_lossless_choices[]; /* in the order of enum gi_lossless_way */

/* The row of --lossless; `member` of the struct `params` is an int. */
#define GI_LOSSLESS_OPTION(params, member)                                                         \
    {                                                                                              \
        GI_OPTION("lossless", CHOICE, params, member),                                             \
            .bare = "perfect", .default_text = "no", .choices = gi_lossless_choices,               \
            .help = "Turn a JPEG without decoding its samples, as jpegtran does: its blocks "      \
                    "of 8 x 8 coefficients are moved, so that nothing is lost. Input and "         \
                    "output must be JPEG, except with auto; --progressive, --optimize and "        \
                    "--strip are possible. A progressive JPEG stays progressive, and Huffman "     \
                    "tables that are not those of the standard are computed again, as by "         \
                    "jpegtran -progressive and -optimize, unless --progressive=no or "             \
                    "--optimize=no is given; arithmetic coding becomes Huffman coding. "           \
                    "--lossless alone means --lossless=perfect: a side that is mirrored must "     \
                    "be a multiple of the block (8, or 16 pixels with chroma subsampling). "       \
                    "With crop, the left and upper side are moved outwards to the blocks, "        \
                    "with a warning"                                                               \
    }

/* Refuses options that need decoded samples. Errors: GI_E_USAGE. */
enum gi_status gi_lossless_check(const struct gi_io_params *io, enum gi_lossless_way way,
                                 struct gi_err *err);
