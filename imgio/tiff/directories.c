/* Reads and writes the directories that EXIF consists of.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/directories.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/integer.h"

enum { HEAD = 8 }; /* bytes of the header of a TIFF */

/* The entry that points to a directory, and the directory with that entry. */
static const struct {
    unsigned tag;
    enum gi_directory parent;
} pointers[GI_DIRECTORIES] = {
    [GI_DIRECTORY_EXIF] = {GI_TAG_EXIF, GI_DIRECTORY_FIRST},
    [GI_DIRECTORY_GPS] = {GI_TAG_GPS, GI_DIRECTORY_FIRST},
    [GI_DIRECTORY_INTEROPERABILITY] = {GI_TAG_INTEROPERABILITY, GI_DIRECTORY_EXIF},
};

static bool is_pointer(const struct gi_tag *tag)
{
    bool named = false;
    for (int i = 1; i < GI_DIRECTORIES; i++)
        named = named || tag->tag == pointers[i].tag;
    return named || tag->type == GI_TAG_IFD || tag->type == GI_TAG_IFD8;
}

static int compare_tags(const void *a, const void *b)
{
    const struct gi_tag *first = a, *second = b;
    return first->tag != second->tag ? (first->tag < second->tag ? -1 : 1)
                                     : (first->at > second->at) - (first->at < second->at);
}

/* Reads one directory. The values of all directories together may have `*room` bytes. */
static enum gi_status read_one(struct gi_directories *d, enum gi_directory which, uint64_t at,
                               bool (*wanted)(unsigned tag), uint64_t *room, struct gi_err *err)
{
    struct gi_tag_walk walk;
    struct gi_tag tag;
    int n = 0, kept = 0;
    gi_tag_walk_start(&walk, &d->tags, at);
    uint64_t most = walk.left < UINT16_MAX ? walk.left : UINT16_MAX;
    uint64_t beyond = walk.beyond + walk.left - most;
    d->list[which].left_out = beyond < UINT16_MAX ? (unsigned)beyond : UINT16_MAX;
    struct gi_tag *entries = most ? malloc((size_t)most * sizeof *entries) : NULL;
    if (most && !entries)
        return gi_fail(err, GI_E_MEMORY, "out of memory: EXIF");
    while (n < (int)most && gi_tag_next(&walk, &tag)) {
        if (wanted && !wanted(tag.tag))
            continue;
        bool child = which == GI_DIRECTORY_FIRST || tag.tag == GI_TAG_INTEROPERABILITY;
        if (is_pointer(&tag)) {
            d->list[which].left_out += !child;
        } else if (tag.broken || tag.type > GI_TAG_IFD || tag.nbytes > *room) {
            d->list[which].left_out++;
        } else {
            *room -= tag.nbytes;
            entries[n++] = tag;
        }
    }
    if (n)
        qsort(entries, (size_t)n, sizeof *entries, compare_tags);
    for (int i = 0; i < n; i++)
        if (!kept || entries[kept - 1].tag != entries[i].tag)
            entries[kept++] = entries[i];
    d->list[which].left_out += (unsigned)(n - kept);
    d->list[which].entries = entries;
    d->list[which].n = kept;
    return GI_OK;
}

/* Returns whether the directory has the pointer `tag`, and no directory is where it points. */
static bool is_lost(const struct gi_tags *tags, uint64_t directory, unsigned tag, uint64_t at)
{
    struct gi_tag_walk walk;
    struct gi_tag pointer;
    bool has_pointer = false;
    gi_tag_walk_start(&walk, tags, directory);
    while (!has_pointer && gi_tag_next(&walk, &pointer))
        has_pointer = pointer.tag == tag;
    gi_tag_walk_start(&walk, tags, at);
    return has_pointer && !walk.at;
}

enum gi_status gi_directories_read(struct gi_directories *d, const struct gi_tags *tags,
                                   uint64_t first, bool (*wanted)(unsigned tag), struct gi_err *err)
{
    uint64_t at[GI_DIRECTORIES] = {first};
    uint64_t room = tags->nbytes < GI_PARTS_NBYTES_MAX ? tags->nbytes : GI_PARTS_NBYTES_MAX;
    *d = (struct gi_directories){.tags = *tags};
    enum gi_status status = GI_OK;
    for (int i = 0; i < GI_DIRECTORIES && !status; i++) {
        uint64_t parent = at[pointers[i].parent];
        if (i)
            at[i] = gi_tag_integer_of(tags, parent, pointers[i].tag, 0);
        status = read_one(d, i, at[i], i ? NULL : wanted, &room, err);
        if (i && !status && is_lost(tags, parent, pointers[i].tag, at[i]))
            d->list[i].left_out++;
    }
    if (status)
        gi_directories_free(d);
    return status;
}

void gi_directories_free(struct gi_directories *d)
{
    for (int i = 0; i < GI_DIRECTORIES; i++)
        free(d->list[i].entries);
    *d = (struct gi_directories){0};
}

static bool exists(const struct gi_directories *d, enum gi_directory which)
{
    return d->list[which].n ||
           (which == GI_DIRECTORY_EXIF && d->list[GI_DIRECTORY_INTEROPERABILITY].n);
}

static int count_children(const struct gi_directories *d, enum gi_directory which)
{
    int n = 0;
    for (int i = 1; i < GI_DIRECTORIES; i++)
        n += pointers[i].parent == which && exists(d, i);
    return n;
}

static size_t aligned(size_t nbytes)
{
    return (nbytes + 7) / 8 * 8;
}

static size_t entry_nbytes(const struct gi_directory_form *form)
{
    return form->big ? 20 : 12;
}

/* Returns the number of bytes of the directory without its values. */
static size_t head_nbytes(const struct gi_directories *d, enum gi_directory which,
                          const struct gi_directory_form *form)
{
    size_t n = (size_t)d->list[which].n + (size_t)count_children(d, which);
    return aligned((form->big ? 16 : 6) + n * entry_nbytes(form));
}

size_t gi_directory_nbytes(const struct gi_directories *d, enum gi_directory which,
                           const struct gi_directory_form *form)
{
    if (which && !exists(d, which))
        return 0;
    size_t nbytes = head_nbytes(d, which, form), inside = form->big ? 8 : 4;
    for (int i = 0; i < d->list[which].n; i++)
        if (d->list[which].entries[i].nbytes > inside)
            nbytes += aligned((size_t)d->list[which].entries[i].nbytes);
    return nbytes;
}

static void put(unsigned char *to, unsigned nbytes, uint64_t v,
                const struct gi_directory_form *form)
{
    for (unsigned i = 0; i < nbytes; i++)
        to[form->big_endian ? nbytes - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

static void put_head(unsigned char *entry, unsigned tag, unsigned type, uint64_t count,
                     const struct gi_directory_form *form)
{
    put(entry, 2, tag, form);
    put(entry + 2, 2, type, form);
    put(entry + 4, form->big ? 8 : 4, count, form);
}

/* Writes the pointers to children with a tag below `before`, from child *next on. */
static unsigned char *put_pointers(unsigned char *entry, const struct gi_directories *d,
                                   enum gi_directory which, int *next, unsigned before,
                                   const uint64_t children[GI_DIRECTORIES],
                                   const struct gi_directory_form *form)
{
    for (; *next < GI_DIRECTORIES; ++*next) {
        if (pointers[*next].parent != which || !exists(d, *next))
            continue;
        if (pointers[*next].tag > before)
            break;
        put_head(entry, pointers[*next].tag, form->big ? GI_TAG_LONG8 : GI_TAG_LONG, 1, form);
        put(entry + (form->big ? 12 : 8), form->big ? 8 : 4, children[*next], form);
        entry += entry_nbytes(form);
    }
    return entry;
}

void gi_directory_put(unsigned char *to, uint64_t at, const struct gi_directories *d,
                      enum gi_directory which, const uint64_t children[GI_DIRECTORIES],
                      const struct gi_directory_form *form)
{
    size_t inside = form->big ? 8 : 4, spare = head_nbytes(d, which, form);
    unsigned char *entry = to + (form->big ? 8 : 2);
    int n = d->list[which].n, next = 1;
    memset(to, 0, gi_directory_nbytes(d, which, form));
    put(to, form->big ? 8 : 2, (uint64_t)n + (uint64_t)count_children(d, which), form);
    for (int i = 0; i < n; i++) {
        const struct gi_tag *tag = &d->list[which].entries[i];
        entry = put_pointers(entry, d, which, &next, tag->tag, children, form);
        put_head(entry, tag->tag, tag->type, tag->count, form);
        unsigned char *value = entry + (form->big ? 12 : 8);
        if (tag->nbytes > inside) {
            put(value, (unsigned)inside, at + spare, form);
            value = to + spare;
            spare += aligned((size_t)tag->nbytes);
        }
        gi_tag_copy(value, form->big_endian, &d->tags, tag);
        entry += entry_nbytes(form);
    }
    put_pointers(entry, d, which, &next, UINT16_MAX, children, form);
}

uint64_t gi_directories_place(uint64_t at[GI_DIRECTORIES], uint64_t start,
                              const struct gi_directories *d, enum gi_directory from,
                              const struct gi_directory_form *form)
{
    for (int i = 0; i < GI_DIRECTORIES; i++) {
        size_t nbytes = i < (int)from ? 0 : gi_directory_nbytes(d, i, form);
        at[i] = nbytes ? start : 0;
        start += nbytes;
    }
    return start;
}

void *gi_directories_exif(const struct gi_directories *d, size_t *nbytes)
{
    const struct gi_directory_form form = {.big_endian = d->tags.big_endian};
    uint64_t at[GI_DIRECTORIES];
    *nbytes = (size_t)gi_directories_place(at, HEAD, d, GI_DIRECTORY_FIRST, &form);
    unsigned char *exif = malloc(*nbytes);
    if (!exif)
        return NULL;
    memcpy(exif, form.big_endian ? "MM\0*" : "II*\0", 4);
    put(exif + 4, 4, HEAD, &form);
    for (int i = 0; i < GI_DIRECTORIES; i++)
        if (at[i])
            gi_directory_put(exif + at[i], at[i], d, i, at, &form);
    return exif;
}
