/* Metadata of an image that is made from several: what all inputs share stays, the rest is named.
 * SPDX-License-Identifier: MIT */
#include "cli/run/common_metadata.h"
#include "imgio/fits/fits_cards.h"
#include "imgio/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- losses ---- */

enum {
    ALL_BEFORE = -1,
    NAME = 46, /* maximum letters of a name, so that " of 100000 images" fits behind it */
};

/* Counts image number `image` as one that has metadata which are not in the result. ALL_BEFORE
 * counts all images that were added. */
static void note(struct gi_common_metadata *common, const struct gi_part *part, int image,
                 const char *name)
{
    struct gi_common_loss *loss = common->losses;
    int at = 0;
    for (; at < common->nlosses; at++, loss++)
        if (loss->part.kind == part->kind && loss->part.fate == part->fate &&
            loss->part.warned == part->warned && strncmp(loss->part.name, name, NAME) == 0)
            break;
    if (at == common->nlosses) {
        int n = common->nlosses++;
        if ((n & (n - 1)) == 0) /* room for a power of two */
            common->losses =
                gi_small_realloc(common->losses, n ? 2 * (size_t)n : 1, sizeof *common->losses);
        loss = &common->losses[n];
        *loss = (struct gi_common_loss){.part = *part, .last = -1};
        loss->part.bytes = NULL;
        snprintf(loss->part.name, sizeof loss->part.name, "%.*s", NAME, name);
    }
    if (image == ALL_BEFORE) {
        loss->images = common->n;
        loss->last = common->n - 1;
    } else if (loss->last != image) {
        loss->images++;
        loss->last = image;
    }
}

static void note_dropped(struct gi_common_metadata *common, int image, const char *name)
{
    const struct gi_part part = {.kind = GI_PART_METADATA, .fate = GI_PART_DROPPED};
    note(common, &part, image, name);
}

static void note_part(struct gi_common_metadata *common, const struct gi_part *part, int image)
{
    struct gi_part named = *part;
    if (named.fate == GI_PART_CARRIED) {
        named.fate = GI_PART_DROPPED;
        named.why = NULL;
    }
    note(common, &named, image, part->name);
}

/* ---- blocks and the resolution ---- */

/* A member of struct gi_metadata that is one block of bytes. */
struct block {
    void **bytes;
    size_t *nbytes;
    const char *name;
};
enum { BLOCKS = 4 };

static void list_blocks(struct block list[BLOCKS], const struct gi_metadata *m)
{
    list[0] = (struct block){(void **)&m->exif, (size_t *)&m->exif_nbytes, "EXIF"};
    list[1] = (struct block){(void **)&m->xmp, (size_t *)&m->xmp_nbytes, "XMP"};
    list[2] = (struct block){(void **)&m->icc, (size_t *)&m->icc_nbytes, "the ICC profile"};
    list[3] = (struct block){(void **)&m->color, (size_t *)&m->color_nbytes,
                             "the colour (gAMA, cHRM, cICP)"};
}

static bool are_equal(const void *a, size_t na, const void *b, size_t nb)
{
    return !a == !b && na == nb && (!na || memcmp(a, b, na) == 0);
}

static bool are_equal_blocks(const struct block *a, const struct block *b)
{
    return are_equal(*a->bytes, *a->nbytes, *b->bytes, *b->nbytes);
}

static bool have_equal_resolutions(const struct gi_metadata *a, const struct gi_metadata *b)
{
    return a->dpi_x == b->dpi_x && a->dpi_y == b->dpi_y && a->no_unit == b->no_unit;
}

/* ---- texts ---- */

static bool has_text(const struct gi_metadata *metadata, const struct gi_text *text)
{
    for (int i = 0; i < metadata->ntexts; i++) {
        const struct gi_text *other = &metadata->texts[i];
        if (strcmp(other->keyword, text->keyword) == 0 && strcmp(other->text, text->text) == 0 &&
            strcmp(other->language, text->language) == 0 &&
            strcmp(other->translated, text->translated) == 0)
            return true;
    }
    return false;
}

static void note_text(struct gi_common_metadata *common, const struct gi_text *text, int image)
{
    char name[NAME + 1];
    snprintf(name, sizeof name, "text %s", text->keyword);
    note_dropped(common, image, name);
}

/* ---- parts ---- */

static const struct gi_part *find_equal(const struct gi_parts *parts, const struct gi_part *part)
{
    for (int i = 0; i < parts->n; i++) {
        const struct gi_part *other = &parts->list[i];
        if (other->kind == part->kind && other->fate == part->fate && other->code == part->code &&
            other->place == part->place && strcmp(other->name, part->name) == 0 &&
            are_equal(other->bytes, other->nbytes, part->bytes, part->nbytes))
            return other;
    }
    return NULL;
}

/* Returns whether the part is a list of cards that are shared one by one. Coordinates of the sky
 * hold only together. */
static bool are_cards(const struct gi_part *part)
{
    return part->kind == GI_PART_FITS_CARDS && part->fate == GI_PART_CARRIED && !part->code;
}

/* Notes the cards of `part` that the other image lacks. If `cuts`, removes them from `part`. */
static void compare_cards(struct gi_common_metadata *common, struct gi_part *part,
                          const struct gi_parts *others, int image, bool cuts)
{
    const struct gi_part *other = gi_parts_find(others, GI_PART_FITS_CARDS, 0);
    size_t kept = 0;
    for (size_t at = 0, n; at < part->nbytes; at += n) {
        char name[NAME + 1], *card = (char *)part->bytes + at;
        n = gi_fits_card_nbytes(part->bytes, part->nbytes, at);
        if (other && gi_fits_cards_hold(other->bytes, other->nbytes, at, card, n)) {
            if (cuts)
                memmove((char *)part->bytes + kept, card, n);
            kept += n;
        } else {
            gi_fits_card_name(name, sizeof name, card, n);
            note_dropped(common, image, name);
        }
    }
    if (!cuts)
        return;
    part->nbytes = kept;
    gi_fits_cards_rename(part);
    if (!kept)
        part->fate = GI_PART_DROPPED;
}

static bool is_not_carried(const struct gi_part *part)
{
    return part->fate != GI_PART_CARRIED;
}

/* ---- all ---- */

/* Removes from `kept` what the next image has otherwise. */
static void reduce(struct gi_common_metadata *common, struct gi_metadata *kept,
                   const struct gi_metadata *metadata)
{
    struct block ours[BLOCKS], others[BLOCKS];
    int texts = 0;
    list_blocks(ours, kept);
    list_blocks(others, metadata);
    for (int i = 0; i < BLOCKS; i++) {
        if (!*ours[i].bytes || are_equal_blocks(&ours[i], &others[i]))
            continue;
        free(*ours[i].bytes);
        *ours[i].bytes = NULL;
        *ours[i].nbytes = 0;
        note_dropped(common, ALL_BEFORE, ours[i].name);
    }
    if (kept->dpi_x > 0 && !have_equal_resolutions(metadata, kept)) {
        kept->dpi_x = kept->dpi_y = 0;
        kept->no_unit = false;
        note_dropped(common, ALL_BEFORE, "the resolution");
    }
    for (int i = 0; i < kept->ntexts; i++) {
        if (has_text(metadata, &kept->texts[i])) {
            kept->texts[texts++] = kept->texts[i];
            continue;
        }
        note_text(common, &kept->texts[i], ALL_BEFORE);
        free(kept->texts[i].keyword);
    }
    kept->ntexts = texts;
    for (int i = 0; i < kept->parts.n; i++) {
        struct gi_part *part = &kept->parts.list[i];
        if (find_equal(&metadata->parts, part))
            continue;
        size_t nbytes = part->nbytes;
        if (are_cards(part)) {
            compare_cards(common, part, &metadata->parts, ALL_BEFORE, true);
            kept->parts.nbytes -= nbytes - part->nbytes;
        } else {
            note_part(common, part, ALL_BEFORE);
            part->fate = GI_PART_DROPPED;
        }
    }
    gi_parts_remove(&kept->parts, is_not_carried);
}

/* Counts the metadata of image number common->n that are not in `kept`. */
static void compare(struct gi_common_metadata *common, const struct gi_metadata *kept,
                    const struct gi_metadata *metadata)
{
    struct block ours[BLOCKS], others[BLOCKS];
    list_blocks(ours, kept);
    list_blocks(others, metadata);
    for (int i = 0; i < BLOCKS; i++)
        if (*others[i].bytes && !are_equal_blocks(&ours[i], &others[i]))
            note_dropped(common, common->n, others[i].name);
    if (metadata->dpi_x > 0 && !have_equal_resolutions(metadata, kept))
        note_dropped(common, common->n, "the resolution");
    for (int i = 0; i < metadata->ntexts; i++)
        if (!has_text(kept, &metadata->texts[i]))
            note_text(common, &metadata->texts[i], common->n);
    for (int i = 0; i < metadata->parts.n; i++) {
        struct gi_part *part = &metadata->parts.list[i];
        if (find_equal(&kept->parts, part))
            continue;
        if (are_cards(part))
            compare_cards(common, part, &kept->parts, common->n, false);
        else
            note_part(common, part, common->n);
    }
}

void gi_common_metadata_add(struct gi_common_metadata *common, struct gi_metadata *kept,
                            struct gi_metadata *metadata)
{
    if (!common->n) {
        *kept = *metadata;
        *metadata = (struct gi_metadata){0};
    }
    if (!common->n && !common->first) {
        for (int i = 0; i < kept->parts.n; i++)
            if (is_not_carried(&kept->parts.list[i]))
                note_part(common, &kept->parts.list[i], 0);
        gi_parts_remove(&kept->parts, is_not_carried);
    } else if (common->n) {
        if (!common->first)
            reduce(common, kept, metadata);
        compare(common, kept, metadata);
    }
    common->n++;
}

void gi_common_metadata_end(struct gi_common_metadata *common, struct gi_metadata *kept)
{
    for (int i = 0; i < common->nlosses; i++) {
        const struct gi_common_loss *loss = &common->losses[i];
        gi_metadata_add_part(kept, &loss->part, "%s of %d image%s", loss->part.name, loss->images,
                             loss->images == 1 ? "" : "s");
    }
    free(common->losses);
    common->losses = NULL;
    common->nlosses = 0;
}

void gi_common_metadata_share(struct gi_metadata *shared, const struct gi_metadata *metadata,
                              bool name)
{
    struct gi_common_metadata common = {0};
    *shared = (struct gi_metadata){.icc = metadata->icc,
                                   .icc_nbytes = metadata->icc_nbytes,
                                   .color = metadata->color,
                                   .color_nbytes = metadata->color_nbytes,
                                   .dpi_x = metadata->dpi_x,
                                   .dpi_y = metadata->dpi_y,
                                   .no_unit = metadata->no_unit};
    if (name) {
        compare(&common, shared, metadata);
        gi_common_metadata_end(&common, shared);
    }
}

void gi_common_metadata_unshare(struct gi_metadata *shared)
{
    shared->icc = NULL;
    shared->color = NULL;
    gi_metadata_free(shared);
}
