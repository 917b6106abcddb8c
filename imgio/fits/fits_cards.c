/* Compares lists of cards of the header of a FITS (FITS standard 4.0).
 * SPDX-License-Identifier: MIT */
#include "imgio/fits/fits_cards.h"

#include <stdio.h>
#include <string.h>

size_t gi_fits_card_nbytes(const void *cards, size_t nbytes, size_t at)
{
    static const char key[] = "CONTINUE";
    size_t end = at + GI_FITS_CARD;
    while (end + GI_FITS_CARD <= nbytes &&
           memcmp((const char *)cards + end, key, sizeof key - 1) == 0)
        end += GI_FITS_CARD;
    return (end < nbytes ? end : nbytes) - at;
}

bool gi_fits_cards_hold(const void *cards, size_t nbytes, size_t hint, const void *card, size_t n)
{
    if (hint < nbytes && gi_fits_card_nbytes(cards, nbytes, hint) == n &&
        memcmp((const char *)cards + hint, card, n) == 0)
        return true;
    for (size_t at = 0, size; at < nbytes; at += size) {
        size = gi_fits_card_nbytes(cards, nbytes, at);
        if (size == n && memcmp((const char *)cards + at, card, n) == 0)
            return true;
    }
    return false;
}

void gi_fits_card_name(char *name, size_t size, const void *card, size_t n)
{
    const char *text = card, *equals = memchr(card, '=', n);
    bool long_key = n >= 9 && memcmp(card, "HIERARCH ", 9) == 0 && equals;
    int length = long_key ? (int)(equals - text) : n < 8 ? (int)n : 8;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    snprintf(name, size, "card %.*s", length, text);
}

void gi_fits_cards_rename(struct gi_part *part)
{
    size_t n = part->nbytes / GI_FITS_CARD;
    snprintf(part->name, sizeof part->name,
             part->code == GI_FITS_SKY ? "coordinates of the sky (%zu card%s)"
                                       : "%zu card%s of the header",
             n, n == 1 ? "" : "s");
}
