/* Header-data units of a FITS: headers of 80-byte cards in blocks of 2880 bytes, each followed by
 * an array. SPDX-License-Identifier: MIT */
#include "imgio/fits/fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 8, VALUE = 10, AXES_MAX = 999 }; /* offsets in a card, maximum number */

const unsigned char *gi_fits_card(const struct gi_fits_unit *unit, const unsigned char *bytes,
                                  uint64_t i)
{
    return bytes + unit->head + i * GI_FITS_CARD;
}

bool gi_fits_is_key(const unsigned char *card, const char *key)
{
    size_t n = strlen(key);
    return memcmp(card, key, n) == 0 && (n == KEY || card[n] == ' ');
}

/* Copies the value of a card with its comment. */
static void copy_value(char text[GI_FITS_CARD], const unsigned char *card)
{
    memcpy(text, card + VALUE, GI_FITS_CARD - VALUE);
    text[GI_FITS_CARD - VALUE] = '\0';
}

static long long integer_of(const unsigned char *card)
{
    char text[GI_FITS_CARD];
    copy_value(text, card);
    return strtoll(text, NULL, 10);
}

/* An exponent may begin with D. */
static double real_of(const unsigned char *card)
{
    char text[GI_FITS_CARD];
    copy_value(text, card);
    text[strcspn(text, "/")] = '\0';
    for (char *d; (d = strpbrk(text, "Dd"));)
        *d = 'E';
    return strtod(text, NULL);
}

static bool text_is(const unsigned char *card, const char *word)
{
    char text[GI_FITS_CARD];
    copy_value(text, card);
    const char *quote = strchr(text, '\'');
    return quote && strncmp(quote + 1, word, strlen(word)) == 0;
}

/* Reads NAXIS1 and so on. Returns false if the number of elements does not fit in 64 bits. */
static bool read_axis(struct gi_fits_unit *unit, const unsigned char *card, long long v)
{
    const char digits[] = {(char)card[5], (char)card[6], (char)card[7], '\0'};
    long axis = strtol(digits, NULL, 10);
    if (axis < 1 || axis > unit->naxes)
        return true;
    if (v < 0 || __builtin_mul_overflow(unit->elements, (uint64_t)v, &unit->elements))
        return false;
    if (axis <= 3)
        unit->axes[axis - 1] = (uint64_t)v;
    unit->image = unit->image && (axis <= 3 || v == 1);
    return true;
}

/* Reads a card. Returns false for an impossible size. */
static bool read_card(struct gi_fits_unit *unit, const unsigned char *card)
{
    long long v = memcmp(card + KEY, "= ", 2) == 0 ? integer_of(card) : 0;
    if (gi_fits_is_key(card, "XTENSION"))
        unit->image = text_is(card, "IMAGE");
    else if (gi_fits_is_key(card, "BITPIX"))
        unit->bits = v >= -64 && v <= 64 ? (int)v : 0;
    else if (gi_fits_is_key(card, "NAXIS"))
        unit->naxes = v >= 0 && v <= AXES_MAX ? (int)v : -1;
    else if (memcmp(card, "NAXIS", 5) == 0)
        return read_axis(unit, card, v);
    else if (gi_fits_is_key(card, "PCOUNT"))
        unit->parameters = v > 0 ? (uint64_t)v : 0;
    else if (gi_fits_is_key(card, "GCOUNT"))
        unit->groups = v > 0 ? (uint64_t)v : 1;
    else if (gi_fits_is_key(card, "BZERO"))
        unit->zero = real_of(card);
    else if (gi_fits_is_key(card, "BSCALE"))
        unit->scale = real_of(card);
    else if (gi_fits_is_key(card, "BLANK"))
        unit->has_blank = true, unit->blank = v;
    else if (gi_fits_is_key(card, "ROWORDER"))
        unit->top_down = text_is(card, "TOP-DOWN");
    else if (gi_fits_is_key(card, "ZIMAGE"))
        unit->compressed = true;
    return true;
}

/* Reads the cards at unit->head up to END. Returns false if there is no end, or an impossible
 * size. */
static bool read_unit(struct gi_fits_unit *unit, const unsigned char *bytes, uint64_t nbytes)
{
    bool found = false;
    uint64_t n;
    for (; !found && unit->head + (unit->cards + 1) * GI_FITS_CARD <= nbytes; unit->cards++) {
        const unsigned char *card = gi_fits_card(unit, bytes, unit->cards);
        if (!read_card(unit, card))
            return false;
        found = gi_fits_is_key(card, "END");
    }
    if (__builtin_add_overflow(unit->elements, unit->parameters, &n) ||
        __builtin_mul_overflow(n, unit->groups, &n) ||
        __builtin_mul_overflow(n, (uint64_t)abs(unit->bits) / 8, &n))
        return false;
    unit->nbytes = unit->naxes ? n : 0;
    unit->data = unit->head +
                 (unit->cards * GI_FITS_CARD + GI_FITS_BLOCK - 1) / GI_FITS_BLOCK * GI_FITS_BLOCK;
    unit->end = unit->data + (unit->nbytes + GI_FITS_BLOCK - 1) / GI_FITS_BLOCK * GI_FITS_BLOCK;
    unit->image = unit->image && unit->naxes >= 2 && unit->nbytes && unit->groups == 1;
    return found && unit->naxes >= 0 && unit->nbytes < INT64_MAX;
}

/* Reads the unit at `at`. Returns false behind the last one, or if it is damaged. */
static bool unit_at(struct gi_fits_unit *unit, const unsigned char *bytes, uint64_t nbytes,
                    uint64_t at)
{
    *unit = (struct gi_fits_unit){
        .head = at, .axes = {1, 1, 1}, .elements = 1, .groups = 1, .scale = 1, .image = !at};
    if (at && (at + GI_FITS_CARD > nbytes || memcmp(bytes + at, "XTENSION", KEY) != 0))
        return false;
    return read_unit(unit, bytes, nbytes);
}

/* Names the images and tables that are not read: the tables with the first image, and the images
 * unless one was asked for. */
static void list_others(struct gi_decode *decode, int images, int tables, uint64_t end)
{
    char name[48];
    if (!decode->options->image)
        gi_decode_add_trailing(decode, end);
    snprintf(name, sizeof name, "%d image%s after the first", images - 1, images == 2 ? "" : "s");
    if (images > 1 && !decode->options->image)
        gi_decode_add_images(decode, name, GI_MORE_IMAGES);
    if (tables && decode->options->image <= 1)
        gi_decode_add_part(decode, &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST},
                           "%d table%s", tables, tables == 1 ? "" : "s");
}

enum gi_status gi_fits_find(struct gi_fits_unit *image, struct gi_decode *decode,
                            struct gi_err *err)
{
    int images = 0, tables = 0, asked = decode->options->image ? decode->options->image : 1;
    bool compressed = false;
    uint64_t at = 0;
    struct gi_fits_unit unit;
    if (decode->options->offset &&
        unit_at(image, decode->bytes, decode->nbytes, decode->options->offset) && image->image)
        return GI_OK;
    for (; unit_at(&unit, decode->bytes, decode->nbytes, at); at = unit.end) {
        if (unit.image && ++images == asked)
            *image = unit;
        tables += !unit.image && unit.nbytes;
        compressed = compressed || unit.compressed;
    }
    list_others(decode, images, tables, at);
    if (images >= asked)
        return GI_OK;
    if (images)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       images == 1 ? "holds one image: want [0]"
                                   : "holds %d images: want [0] to [%d]",
                       images, images - 1);
    if (compressed)
        return gi_fail(err, GI_E_UNSUPPORTED, "has a compressed image: unpack it by funpack");
    return at && at >= decode->nbytes
               ? gi_fail(err, GI_E_UNSUPPORTED, "has no image of two or three axes")
               : gi_fail(err, GI_E_FORMAT, "has a damaged header");
}

enum gi_status gi_fits_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err)
{
    enum { STEP = 64 };
    struct gi_fits_unit unit;
    for (uint64_t at = 0; unit_at(&unit, bytes, nbytes, at); list->end = at = unit.end) {
        if (!unit.image)
            continue;
        struct gi_image_place *grown =
            list->all % STEP ? list->images
                             : realloc(list->images, (size_t)(list->all + STEP) * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of images");
        list->images = grown;
        grown[list->all] = (struct gi_image_place){.offset = at, .own = !list->all};
        list->all++;
    }
    return GI_OK;
}
