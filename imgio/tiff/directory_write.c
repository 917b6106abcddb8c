/* Makes the directory of a TIFF that is written, with all its metadata.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/directory_write.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/resolution.h"
#include "imgio/small.h"

enum {
    UNIT_NONE = 1,
    UNIT_INCH = 2,
    TAG_RESOLUTION = 282, /* and 283 */
    TAG_UNIT = 296,
    TAG_DATE = 306,
};
static const uint64_t big_from_nbytes = UINT64_C(4000000000);

const struct gi_tiff_text gi_tiff_texts[] = {
    {269, "Title"},    {GI_TAG_DESCRIPTION, "Description"}, {271, "Make"},   {272, "Model"},
    {305, "Software"}, {TAG_DATE, "Creation Time"},         {315, "Author"}, {33432, "Copyright"},
    {0, NULL},
};

static bool host_is_big(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static size_t aligned(size_t nbytes)
{
    return (nbytes + 7) / 8 * 8;
}

static size_t head_nbytes(bool big)
{
    return big ? 16 + 8 : 8 + 2; /* with the number of entries */
}

static size_t entry_nbytes(bool big)
{
    return big ? 20 : 12;
}

/* Returns the number of bytes of the long values of all metadata, or a few more. */
static size_t metadata_nbytes(const struct gi_metadata *metadata, const struct gi_directories *exif)
{
    size_t nbytes = aligned(metadata->icc_nbytes) + aligned(metadata->xmp_nbytes) +
                    metadata->texts_nbytes + 16 * (size_t)metadata->ntexts + 256;
    for (int i = 0; i < metadata->parts.n; i++)
        if (metadata->parts.list[i].bytes)
            nbytes += aligned(metadata->parts.list[i].nbytes);
    for (int i = 0; i < GI_DIRECTORIES; i++) /* whichever form it will have */
        for (int big = 0; big < 2; big++)
            nbytes += gi_directory_nbytes(exif, i, &(struct gi_directory_form){.big = big});
    return nbytes;
}

enum gi_status gi_tiff_directory_new(struct gi_tiff_directory *d, const struct gi_tiff_form *form,
                                     uint64_t used, bool big, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    size_t nbytes = 16 * (size_t)form->nstrips + 3 * (2 * (size_t)form->image->channels + 8) +
                    8 * (size_t)form->nsmaller;
    nbytes += form->description ? aligned(strlen(form->description) + 1) : 0;
    static const struct gi_metadata nothing;
    struct gi_tags tags;
    *d = (struct gi_tiff_directory){.big = big};
    metadata = metadata ? metadata : &nothing;
    uint64_t first = gi_tags_open(&tags, metadata->exif, metadata->exif_nbytes);
    enum gi_status status = gi_directories_read(&d->exif, &tags, first, NULL, err);
    if (status)
        return status;
    enum { OWN = 32 }; /* entries of the image, and metadata that are neither parts nor in EXIF */
    size_t most = (size_t)(OWN + metadata->parts.n + metadata->ntexts) +
                  (size_t)d->exif.list[GI_DIRECTORY_FIRST].n;
    d->spare = aligned(head_nbytes(true) + most * entry_nbytes(true) + 8);
    d->end = aligned(d->spare + nbytes + metadata_nbytes(metadata, &d->exif));
    d->big = big || d->end + used > big_from_nbytes;
    d->bytes = calloc(1, d->end);
    if (d->bytes)
        return GI_OK;
    gi_tiff_directory_free(d);
    return gi_fail(err, GI_E_MEMORY, "out of memory");
}

void gi_tiff_directory_free(struct gi_tiff_directory *d)
{
    gi_directories_free(&d->exif);
    free(d->bytes);
    d->bytes = NULL;
}

unsigned char *gi_tiff_add(struct gi_tiff_directory *d, unsigned tag, enum gi_tag_type type,
                           uint64_t count)
{
    size_t offset = d->big ? 8 : 4;
    unsigned char *at = d->bytes + head_nbytes(d->big) + (size_t)d->n++ * entry_nbytes(d->big);
    size_t nbytes = gi_tag_type_nbytes(type) * (size_t)count;
    gi_put_own(at, 2, tag);
    gi_put_own(at + 2, 2, type);
    gi_put_own(at + 4, offset, count);
    unsigned char *value = at + 4 + offset;
    if (nbytes <= offset)
        return value;
    gi_put_own(value, offset, d->spare);
    value = d->bytes + d->spare;
    d->spare += aligned(nbytes);
    return value;
}

void gi_tiff_add_number(struct gi_tiff_directory *d, unsigned tag, enum gi_tag_type type,
                        uint64_t count, uint64_t v)
{
    unsigned char *to = gi_tiff_add(d, tag, type, count);
    for (uint64_t i = 0; i < count; i++)
        gi_put_own(to + i * gi_tag_type_nbytes(type), gi_tag_type_nbytes(type), v);
}

static void add_resolution(struct gi_tiff_directory *d, const struct gi_metadata *metadata)
{
    const double dpi[] = {metadata->dpi_x, metadata->dpi_y};
    if (!(dpi[0] > 0 && dpi[1] > 0 && dpi[0] < 4e9 && dpi[1] < 4e9))
        return;
    for (unsigned i = 0; i < 2; i++) {
        unsigned char *to = gi_tiff_add(d, TAG_RESOLUTION + i, GI_TAG_RATIONAL, 1);
        unsigned denominator = dpi[i] < 4 ? 1000000000 : dpi[i] < 4e5 ? 10000 : 1;
        gi_put_own(to, 4, (uint64_t)(dpi[i] * denominator + 0.5));
        gi_put_own(to + 4, 4, denominator);
    }
    gi_tiff_add_number(d, TAG_UNIT, GI_TAG_SHORT, 1, metadata->no_unit ? UNIT_NONE : UNIT_INCH);
}

/* Returns the tag for a text, or NULL if it has none, or if the text does not have the form that
 * the tag requires. */
static const struct gi_tiff_text *tag_of(const struct gi_text *text)
{
    const struct gi_tiff_text *own = gi_tiff_texts;
    while (own->tag && strcmp(own->keyword, text->keyword) != 0)
        own++;
    bool date = strlen(text->text) == 19 && text->text[4] == ':' && text->text[10] == ' ';
    return own->tag && (own->tag != TAG_DATE || date) ? own : NULL;
}

/* Collects the text for a tag, without a final zero. This is the text with the tag's keyword and,
 * for the description, also all texts that have no tag. Returns the number of bytes. If `to` is
 * NULL, only counts them. */
static size_t put_text(unsigned char *to, const struct gi_metadata *metadata,
                       const struct gi_tiff_text *tag)
{
    size_t nbytes = 0;
    for (int i = 0; i < metadata->ntexts; i++) {
        const struct gi_text *text = &metadata->texts[i];
        const struct gi_tiff_text *own = tag_of(text);
        if (own ? own != tag : tag->tag != GI_TAG_DESCRIPTION)
            continue;
        const char *parts[] = {nbytes ? "\n" : "", own ? "" : text->keyword, own ? "" : ": ",
                               text->text};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            size_t n = strlen(parts[k]);
            if (to)
                memcpy(to + nbytes, parts[k], n);
            nbytes += n;
        }
    }
    return nbytes;
}

char *gi_tiff_description(const struct gi_metadata *metadata)
{
    const struct gi_tiff_text *t = gi_tiff_texts;
    while (t->tag != GI_TAG_DESCRIPTION)
        t++;
    char *text = gi_small_calloc(put_text(NULL, metadata, t) + 1, 1);
    put_text((unsigned char *)text, metadata, t);
    return text;
}

static void add_texts(struct gi_tiff_directory *d, const struct gi_metadata *metadata)
{
    for (const struct gi_tiff_text *t = gi_tiff_texts; t->tag; t++) {
        size_t n = put_text(NULL, metadata, t);
        if (n)
            put_text(gi_tiff_add(d, t->tag, GI_TAG_ASCII, n + 1), metadata, t);
    }
}

/* Returns the place of the copy, or NULL if there are no bytes. */
static void *add_block(struct gi_tiff_directory *d, unsigned tag, enum gi_tag_type type,
                       const void *bytes, size_t nbytes)
{
    unsigned each = gi_tag_type_nbytes(type);
    if (!bytes || !each || (!nbytes && each != 1))
        return NULL;
    return memcpy(gi_tiff_add(d, tag, type, nbytes / each), bytes, nbytes / each * each);
}

static void add_parts(struct gi_tiff_directory *d, const struct gi_metadata *metadata,
                      const struct gi_image *image)
{
    for (int i = 0; i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        if (part->fate != GI_PART_CARRIED || gi_tiff_holds(part, image) != GI_HOLDS)
            continue;
        if (part->kind == GI_PART_TIFF_TAG || part->kind == GI_PART_GEO)
            add_block(d, part->code, (enum gi_tag_type)part->place, part->bytes, part->nbytes);
        else if (part->kind == GI_PART_IPTC)
            add_block(d, GI_TAG_IPTC, GI_TAG_UNDEFINED, part->bytes, part->nbytes);
        else if (part->kind == GI_PART_PHOTOSHOP)
            gi_resolution_fit_photoshop(
                add_block(d, GI_TAG_PHOTOSHOP, GI_TAG_BYTE, part->bytes, part->nbytes),
                part->nbytes, metadata);
    }
}

/* Returns whether a tag of EXIF's first directory describes an image as it is stored, and so does
 * not belong to the image that is written. */
static bool is_of_storage(unsigned tag, bool resolution)
{
    if (tag == TAG_UNIT || tag == TAG_RESOLUTION || tag == TAG_RESOLUTION + 1)
        return resolution;
    return gi_tiff_is_structure(tag) && tag != GI_TAG_DESCRIPTION && tag != GI_TAG_ORIENTATION &&
           tag != 271 && tag != 272 && tag != 305 && tag != TAG_DATE && tag != 315 && tag != 33432;
}

static bool equals(const struct gi_tags *tags, const struct gi_tag *tag, const void *bytes,
                   size_t nbytes)
{
    return bytes && tag->nbytes == nbytes && memcmp(tags->bytes + tag->at, bytes, nbytes) == 0;
}

/* Returns whether the texts that get this tag of EXIF lack its own text. */
static bool text_displaces(const struct gi_metadata *metadata, const struct gi_tags *tags,
                           const struct gi_tag *tag)
{
    const struct gi_tiff_text *t = gi_tiff_texts;
    while (t->tag && t->tag != tag->tag)
        t++;
    size_t n = t->tag ? put_text(NULL, metadata, t) : 0;
    char *all = n ? calloc(1, n + 1) : NULL;
    char *own = n ? gi_text_utf8(tags->bytes + tag->at, (size_t)tag->nbytes) : NULL;
    if (all)
        put_text((unsigned char *)all, metadata, t);
    bool displaces = n && !(all && own && strstr(all, own));
    free(all);
    free(own);
    return displaces;
}

/* Returns whether a tag of EXIF's first directory is written neither as it is nor as metadata. */
static bool is_left_out(const struct gi_metadata *metadata, const struct gi_tags *tags,
                        const struct gi_tag *tag)
{
    unsigned code = tag->tag;
    if (code == GI_TAG_XMP)
        return !equals(tags, tag, metadata->xmp, metadata->xmp_nbytes);
    if (code == GI_TAG_ICC)
        return !equals(tags, tag, metadata->icc, metadata->icc_nbytes);
    for (int i = 0; i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        bool same = (code == GI_TAG_IPTC && part->kind == GI_PART_IPTC) ||
                    (code == GI_TAG_PHOTOSHOP && part->kind == GI_PART_PHOTOSHOP);
        if (same && part->fate == GI_PART_CARRIED)
            return !equals(tags, tag, part->bytes, part->nbytes);
    }
    return gi_tiff_is_not_carried(code) || text_displaces(metadata, tags, tag);
}

unsigned gi_tiff_exif_left_out(const struct gi_metadata *metadata)
{
    struct gi_directories d;
    struct gi_tags tags;
    uint64_t first = gi_tags_open(&tags, metadata->exif, metadata->exif_nbytes);
    unsigned n = 0;
    if (!first)
        return metadata->exif ? 1 : 0;
    if (gi_directories_read(&d, &tags, first, NULL, NULL))
        return 0; /* the writer, too, needs this memory */
    for (int i = 0; i < GI_DIRECTORIES; i++)
        n += d.list[i].left_out;
    for (int i = 0; i < d.list[GI_DIRECTORY_FIRST].n; i++)
        n += is_left_out(metadata, &tags, &d.list[GI_DIRECTORY_FIRST].entries[i]);
    gi_directories_free(&d);
    return n;
}

static void add_exif(struct gi_tiff_directory *d, const struct gi_metadata *metadata)
{
    const struct gi_directory_form form = {.big_endian = host_is_big(), .big = d->big};
    uint64_t at[GI_DIRECTORIES];
    for (int i = 0; i < d->exif.list[GI_DIRECTORY_FIRST].n; i++) {
        const struct gi_tag *tag = &d->exif.list[GI_DIRECTORY_FIRST].entries[i];
        if (!is_of_storage(tag->tag, metadata->dpi_x > 0))
            gi_tag_copy(gi_tiff_add(d, tag->tag, tag->type, tag->count), form.big_endian,
                        &d->exif.tags, tag);
    }
    uint64_t end = gi_directories_place(at, d->spare, &d->exif, GI_DIRECTORY_EXIF, &form);
    for (int i = GI_DIRECTORY_EXIF; i < GI_DIRECTORIES; i++)
        if (at[i])
            gi_directory_put(d->bytes + at[i], at[i], &d->exif, i, at, &form);
    d->spare = (size_t)end;
    enum gi_tag_type offset = d->big ? GI_TAG_LONG8 : GI_TAG_LONG;
    if (at[GI_DIRECTORY_EXIF])
        gi_tiff_add_number(d, GI_TAG_EXIF, offset, 1, at[GI_DIRECTORY_EXIF]);
    if (at[GI_DIRECTORY_GPS])
        gi_tiff_add_number(d, GI_TAG_GPS, offset, 1, at[GI_DIRECTORY_GPS]);
}

void gi_tiff_add_metadata(struct gi_tiff_directory *d, const struct gi_metadata *metadata,
                          const struct gi_image *image)
{
    if (!metadata)
        return;
    add_texts(d, metadata);
    add_resolution(d, metadata);
    add_block(d, GI_TAG_XMP, GI_TAG_UNDEFINED, metadata->xmp, metadata->xmp_nbytes);
    add_block(d, GI_TAG_ICC, GI_TAG_UNDEFINED, metadata->icc, metadata->icc_nbytes);
    add_parts(d, metadata, image);
    add_exif(d, metadata);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* The keys to sort by consist of the tag and of the position. */
static void sort(struct gi_tiff_directory *d, uint64_t *keys, unsigned char *copy)
{
    unsigned char *entries = d->bytes + head_nbytes(d->big);
    size_t each = entry_nbytes(d->big), all = (size_t)d->n * each;
    int kept = 0;
    for (int i = 0; i < d->n; i++)
        keys[i] = gi_own(entries + (size_t)i * each, 2) << 32 | (unsigned)i;
    qsort(keys, (size_t)d->n, sizeof *keys, compare_keys);
    memcpy(copy, entries, all);
    memset(entries, 0, all);
    for (int i = 0; i < d->n; i++)
        if (!i || keys[i] >> 32 != keys[i - 1] >> 32)
            memcpy(entries + (size_t)kept++ * each, copy + (size_t)(uint32_t)keys[i] * each, each);
    d->n = kept;
}

void gi_tiff_directory_end(struct gi_tiff_directory *d)
{
    uint64_t *keys = gi_small_alloc((size_t)d->n * sizeof *keys);
    unsigned char *copy = gi_small_alloc((size_t)d->n * entry_nbytes(d->big));
    sort(d, keys, copy);
    free(keys);
    free(copy);
    memcpy(d->bytes, host_is_big() ? "MM" : "II", 2);
    gi_put_own(d->bytes + 2, 2, d->big ? 43 : 42);
    if (d->big)
        gi_put_own(d->bytes + 4, 2, 8); /* bytes of an offset */
    gi_put_own(d->bytes + (d->big ? 8 : 4), d->big ? 8 : 4, d->big ? 16 : 8);
    gi_put_own(d->bytes + (d->big ? 16 : 8), d->big ? 8 : 2, (uint64_t)d->n);
}

void gi_tiff_directory_next(struct gi_tiff_directory *d, uint64_t next)
{
    size_t at = head_nbytes(d->big) + (size_t)d->n * entry_nbytes(d->big);
    gi_put_own(d->bytes + at, d->big ? 8 : 4, next);
}
