/* Lists of cards of the header of a FITS, as parts of the kind GI_PART_FITS_CARDS hold them: cards
 * of GI_FITS_CARD bytes, one behind the other.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

enum { GI_FITS_CARD = 80 }; /* bytes */

/* Returns the number of bytes of the card at the offset `at`, with the cards CONTINUE behind it,
 * which continue its text (FITS standard 4.0, 4.2.1.2). */
size_t gi_fits_card_nbytes(const void *cards, size_t nbytes, size_t at);

/* Returns whether the list has these `n` bytes of a card as one of its cards. Looks at the offset
 * `hint` first, which need not be in the list. */
bool gi_fits_cards_hold(const void *cards, size_t nbytes, size_t hint, const void *card, size_t n);

/* Writes the name of the card for messages, such as "card DATE-OBS". */
void gi_fits_card_name(char *name, size_t size, const void *card, size_t n);

/* Sets the name of the part to that of its list of cards, of which the code of the part tells the
 * kind. */
void gi_fits_cards_rename(struct gi_part *part);
