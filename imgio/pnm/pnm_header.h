/* The headers of PBM, PGM, PPM and PAM, as netpbm's manual pages pbm(5) to pam(5) define them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "imgio/bands.h"

/* Input bytes and the reading position. */
struct gi_pnm_cursor {
    const unsigned char *at, *end;
};

struct gi_pnm_header {
    char magic; /* '1' to '7' */
    unsigned width, height, channels, maxval;
    const char *tuple;     /* TUPLTYPE of PAM in the input, NULL if there is none */
    size_t tuple_n;        /* its characters */
    struct gi_bands bands; /* of PAM; `n` is 0 if samples are gray or RGB, with or without alpha */
};

bool gi_pnm_is_space(int c);

/* Returns whether an image starts here, with P, a digit from 1 to 7, and white space or a
 * comment. */
bool gi_pnm_starts(const unsigned char *bytes, size_t nbytes);

/* Returns whether the samples are decimal numbers. */
static inline bool gi_pnm_is_plain(const struct gi_pnm_header *head)
{
    return head->magic <= '3';
}

/* Returns the bytes of a row of a raw raster. */
size_t gi_pnm_row_nbytes(const struct gi_pnm_header *head);

/* Skips white space and comments. A comment runs from '#' to the end of its line. */
void gi_pnm_skip_space(struct gi_pnm_cursor *in);

/* Reads a decimal number up to INT_MAX. Returns false if there is no number, or a larger one. */
bool gi_pnm_read_number(struct gi_pnm_cursor *in, unsigned *value);

/* Reads the header of the image that starts at in->at, up to the raster. If there is an error and
 * in->at is in->end, the header may only be incomplete. Errors: GI_E_FORMAT, GI_E_UNSUPPORTED (more
 * than GI_BANDS_MAX channels). */
enum gi_status gi_pnm_read_header(struct gi_pnm_cursor *in, struct gi_pnm_header *head,
                                  struct gi_err *err);
