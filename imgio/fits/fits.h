/* FITS (FITS standard 4.0): its units, which the reader and the list of images share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"
#include "imgio/fits/fits_cards.h"

enum { GI_FITS_BLOCK = 2880 }; /* bytes */

/* A header and its data: a header-data unit. */
struct gi_fits_unit {
    uint64_t head, cards, data, end; /* offset, number of cards, offsets */
    int bits;                        /* BITPIX; negative for floats */
    int naxes;
    uint64_t axes[3];                      /* width, height, planes */
    uint64_t elements, parameters, groups; /* products of the axes, PCOUNT, GCOUNT */
    uint64_t nbytes;                       /* of the data */
    double zero, scale;
    bool image;      /* of two or three axes */
    bool compressed; /* a table with the tiles of an image */
    bool has_blank, top_down;
    long long blank;
};

/* Returns card i of the header. */
const unsigned char *gi_fits_card(const struct gi_fits_unit *unit, const unsigned char *bytes,
                                  uint64_t i);
/* Returns whether the card has this keyword, of up to 8 letters. */
bool gi_fits_is_key(const unsigned char *card, const char *key);

/* Finds the image that was asked for, or the first one, and lists what is not read. Errors:
 * GI_E_FORMAT, GI_E_UNSUPPORTED. */
enum gi_status gi_fits_find(struct gi_fits_unit *image, struct gi_decode *decode,
                            struct gi_err *err);

/* Lists the images, of which the first is the one that is read if none is asked for
 * (gi_format.list). */
enum gi_status gi_fits_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err);
