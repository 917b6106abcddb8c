/* Parts of PBM, PGM, PPM and PAM that are no samples: comments, tuple types, and what follows.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"
#include "imgio/pnm/pnm_header.h"

/* Keeps the comments of the header, which ends at `end`, as texts, and an unusual tuple type as a
 * part. */
void gi_pnm_header_parts(struct gi_decode *decode, const unsigned char *end,
                         const struct gi_pnm_header *head);

/* Keeps the comments in and behind the plain raster from `at` to in->at as texts. Moves in->at
 * behind them. */
void gi_pnm_raster_comments(struct gi_decode *decode, const unsigned char *at,
                            struct gi_pnm_cursor *in);

/* Moves `in` behind the raw raster, or to the end of the file. */
void gi_pnm_skip_raster(struct gi_pnm_cursor *in, const struct gi_pnm_header *head);

/* Adds what follows the raster: further images, as netpbm's files are streams, or other bytes. */
void gi_pnm_rest(struct gi_decode *decode, struct gi_pnm_cursor in);

/* Returns whether the text can be a comment: its keyword is "Comment", and it is one line. */
bool gi_pnm_is_comment(const struct gi_text *text);

/* Writes the comments among the texts. `metadata` may be NULL. */
enum gi_status gi_pnm_write_comments(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err);

/* Returns whether a PAM holds the part (gi_format.holds): a tuple type for one channel. */
/* The tuple type of bands without another one. */
#define GI_PAM_BANDS "BANDS"

enum gi_holding gi_pam_holds(const struct gi_part *part, const struct gi_image *written);
