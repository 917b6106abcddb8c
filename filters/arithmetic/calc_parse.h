/* The parser of expressions for calc.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/arithmetic/calc_values.h"
#include "filters/plan.h"

enum {
    CALC_NAME_NBYTES = 32, /* with its terminator */
    CALC_BANDS_MAX = 3,    /* of the input, which become its channels */
};

/* The images that an expression may name. */
struct calc_scope {
    char names[GI_SOURCES_MAX][CALC_NAME_NBYTES];
    struct gi_image images[GI_SOURCES_MAX]; /* shapes */
    int nimages;
    bool normalized; /* samples are divided by the full scale of their type */
};

/* Properties of an expression. */
struct calc_found {
    int nbands; /* expressions separated by commas, 1 to GI_MAX_CHANNELS */
    int value;  /* number of the value of the band that was asked for */
    bool whole; /* it names images without a channel */
    int colors; /* the maximum number of colours (1 or 3) of images without a channel */
    int band[CALC_BANDS_MAX]; /* bands of the input that are named, as a[b5], from 1 */
    int nnamed;               /* their number */
    bool channels;            /* the input is named without a band */
    int reach; /* the maximum distance of a row that is read from the pixel's own, in rows */
};

/* Parses all of `text` and adds its values to *code, with channel `channel` (0 to 2: a colour; 3:
 * alpha) of images that are named without a channel. An image without alpha is opaque. Band
 * found->band[i] is channel i. Errors: GI_E_USAGE, with a message that names the character. */
enum gi_status calc_parse(struct calc_code *code, struct calc_found *found,
                          const struct calc_scope *scope, const char *text, int channel, int band,
                          struct gi_err *err);

/* Returns whether a further image may have this name: letters, digits and underscores, no digit
 * first, and none of the expression's own words. */
bool calc_is_name(const char *name);
