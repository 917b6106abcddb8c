/* Writes pages one behind the other into a TIFF. Each page arrives as a TIFF of one page by our own
 * encoder, whose offsets are then moved to the page's position in the file. A page is kept in
 * memory until the next page arrives, because its directory contains the offset of the next
 * directory.
 *
 * A file that grows too large for 32-bit offsets becomes a BigTIFF. Then wide directories (with
 * 64-bit offsets) of the pages so far are written behind these pages, and the first bytes of the
 * file, which have room for both headers, are replaced. The narrow directories (with 32-bit
 * offsets) remain as unused bytes.
 * SPDX-License-Identifier: MIT */
#include "imgio/integer.h"
#include "imgio/pages.h"
#include "imgio/sink.h"
#include "imgio/small.h"
#include "imgio/tiff/directory_write.h"
#include "imgio/tiff/tags.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD_NBYTES = 16, /* length of the header of a BigTIFF; a TIFF leaves 8 of these bytes unused */
    NARROW_HEAD = 8,  /* of the encoder's TIFF */
};
#define BIG_FROM_NBYTES UINT64_C(4000000000)

struct gi_page_writer {
    struct gi_sink *sink;
    uint64_t big_from, at; /* `at`: number of bytes of the file before the page that is kept */
    bool big, begun;
    unsigned char *page; /* the page that is kept, as it will be in the file, or NULL */
    size_t nbytes, next; /* length of the page; offset in the page of the next directory's offset */
};

/* A directory in memory: the number of entries, the entries and the offset of the next directory.
 * Numbers and offsets have 32 or 64 bits. */
struct directory {
    unsigned char *at;
    bool big;
    uint64_t n;
};

/* Sizes of the parts of a directory. */
static size_t count_nbytes(bool big)
{
    return big ? 8 : 2;
}

static size_t entry_nbytes(bool big)
{
    return big ? 20 : 12;
}

static size_t offset_nbytes(bool big)
{
    return big ? 8 : 4;
}

static size_t directory_nbytes(const struct directory *d)
{
    return count_nbytes(d->big) + (size_t)d->n * entry_nbytes(d->big) + offset_nbytes(d->big);
}

static unsigned char *entry_of(const struct directory *d, uint64_t i)
{
    return d->at + count_nbytes(d->big) + (size_t)i * entry_nbytes(d->big);
}

/* An entry. */
struct entry {
    uint64_t tag, type, count;
    size_t nbytes; /* of all its values */
    /* the values, or the offset of the values if they are longer than the field */
    unsigned char *field;
    bool outside;
};

static struct entry read_entry(const struct directory *d, uint64_t i)
{
    unsigned char *at = entry_of(d, i);
    size_t offset = offset_nbytes(d->big);
    struct entry e = {
        .tag = gi_own(at, 2), .type = gi_own(at + 2, 2), .count = gi_own(at + 4, offset)};
    e.nbytes = gi_tag_type_nbytes((unsigned)e.type) * (size_t)e.count;
    e.field = at + 4 + offset;
    e.outside = e.nbytes > offset;
    return e;
}

static bool is_places(const struct entry *e)
{
    return e->tag == GI_TAG_STRIPS || e->tag == GI_TAG_TILES;
}

/* Returns whether the entry points to a directory. */
static bool is_pointer(const struct entry *e)
{
    return e->tag == GI_TAG_EXIF || e->tag == GI_TAG_GPS || e->tag == GI_TAG_INTEROPERABILITY;
}

/* Moves the page, whose file is `bytes`, by `delta`, which is added to the offsets of long values,
 * of strips and of further directories. */
static void move(const struct directory *d, unsigned char *bytes, uint64_t delta)
{
    size_t offset = offset_nbytes(d->big);
    for (uint64_t i = 0; i < d->n; i++) {
        struct entry e = read_entry(d, i);
        size_t each = gi_tag_type_nbytes((unsigned)e.type);
        unsigned char *values = e.outside ? bytes + gi_own(e.field, offset) : e.field;
        if (is_pointer(&e)) {
            struct directory child = {.at = bytes + gi_own(e.field, offset), .big = d->big};
            child.n = gi_own(child.at, count_nbytes(d->big));
            move(&child, bytes, delta);
        }
        for (uint64_t k = 0; (is_places(&e) || is_pointer(&e)) && k < e.count; k++)
            gi_put_own(values + k * each, each, gi_own(values + k * each, each) + delta);
        if (e.outside)
            gi_put_own(e.field, offset, gi_own(e.field, offset) + delta);
    }
}

/* Writes the wide form of a narrow directory to `to`. Adds `delta` to the offsets of values that
 * are longer than 8 bytes. If `places` is not NULL, it contains the offsets of the strips as LONG8,
 * and is at offset `places_at` of the file. If it is NULL, the directory's offsets of the strips
 * are used. */
static void widen(unsigned char *to, const struct directory *d, uint64_t delta,
                  const unsigned char *places, uint64_t places_at)
{
    const struct directory wide = {.at = to, .big = true, .n = d->n};
    gi_put_own(to, 8, d->n);
    for (uint64_t i = 0; i < d->n; i++) {
        struct entry e = read_entry(d, i);
        unsigned char *at = entry_of(&wide, i);
        bool replaced = places && is_places(&e);
        memset(at, 0, entry_nbytes(true));
        gi_put_own(at, 2, e.tag);
        gi_put_own(at + 2, 2, replaced ? GI_TAG_LONG8 : e.type);
        gi_put_own(at + 4, 8, e.count);
        if (replaced && e.count == 1)
            memcpy(at + 12, places, 8);
        else if (replaced)
            gi_put_own(at + 12, 8, places_at);
        else if (!e.outside)
            memcpy(at + 12, e.field, 4);
        else if (e.nbytes <= 8)
            gi_put_own(at + 12, 8, 0); /* append_wide() copies the values */
        else
            gi_put_own(at + 12, 8, gi_own(e.field, 4) + delta);
    }
}

static struct directory directory_in(unsigned char *bytes, bool big)
{
    struct directory d = {.at = bytes + (big ? HEAD_NBYTES : NARROW_HEAD), .big = big};
    d.n = gi_own(d.at, count_nbytes(big));
    return d;
}

void gi_tiff_move(unsigned char *bytes, bool big, uint64_t delta)
{
    const struct directory d = directory_in(bytes, big);
    move(&d, bytes, delta);
}

/* Fills `places` with the offsets of the strips, plus `delta`. Returns the number of strips. If
 * `places` is NULL, only counts them. */
static uint64_t take_places(unsigned char *places, const struct directory *d,
                            const unsigned char *bytes, uint64_t delta)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < d->n; i++) {
        struct entry e = read_entry(d, i);
        if (!is_places(&e))
            continue;
        const unsigned char *values = e.outside ? bytes + gi_own(e.field, 4) : e.field;
        n = e.count;
        for (uint64_t k = 0; places && k < n; k++)
            gi_put_own(places + 8 * k, 8, gi_own(values + 4 * k, 4) + delta);
    }
    return n;
}

/* Bytes up to the next multiple of 8. */
static size_t padding(uint64_t at)
{
    return (size_t)(-at % 8);
}

/* Where a narrow directory is: in the memory of its own file, or in the sink if `bytes` is NULL. */
struct source {
    const unsigned char *bytes;
    struct gi_sink *sink;
};

static enum gi_status fetch(const struct source *s, void *to, size_t nbytes, uint64_t at,
                            struct gi_err *err)
{
    if (!s->bytes)
        return gi_sink_read_at(s->sink, to, nbytes, at, err);
    memcpy(to, s->bytes + at, nbytes);
    return GI_OK;
}

/* Reads the narrow directory at `at` into memory, which the caller frees. */
static enum gi_status read_directory(struct directory *d, const struct source *s, uint64_t at,
                                     struct gi_err *err)
{
    unsigned char count[2];
    *d = (struct directory){0};
    enum gi_status status = fetch(s, count, sizeof count, at, err);
    if (status)
        return status;
    d->n = gi_own(count, sizeof count);
    d->at = gi_small_alloc(directory_nbytes(d)); /* at most 65535 entries */
    return fetch(s, d->at, directory_nbytes(d), at, err);
}

/* Wide directories one behind the other, which begin at offset `at` of the file. */
struct wide {
    unsigned char *bytes; /* from malloc() */
    size_t nbytes;
    uint64_t at;
    uint64_t delta; /* is added to the offsets of long values */
    /* the offsets of the strips, as LONG8, and their own offset; NULL: those of the directory */
    const unsigned char *places;
    uint64_t places_at;
};

static enum gi_status append_wide(struct wide *wide, const struct source *s, uint64_t at,
                                  uint64_t *next, struct gi_err *err);

/* Fills in the entries of a wide directory that widen() leaves to the caller: values that were
 * outside of the narrow directory `d` and fit into an entry now, and the offsets of further
 * directories, which are appended. The wide directory is at `start` of wide->bytes. */
static enum gi_status complete(struct wide *wide, size_t start, const struct directory *d,
                               const struct source *s, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (uint64_t i = 0; i < d->n && !status; i++) {
        struct directory own = {.at = wide->bytes + start, .big = true, .n = d->n};
        struct entry e = read_entry(d, i);
        if (e.outside && e.nbytes <= 8)
            status = fetch(s, read_entry(&own, i).field, e.nbytes, gi_own(e.field, 4), err);
        if (!is_pointer(&e))
            continue;
        uint64_t end;
        gi_put_own(entry_of(&own, i) + 2, 2, GI_TAG_LONG8);
        gi_put_own(entry_of(&own, i) + 12, 8, wide->at + wide->nbytes);
        status = append_wide(wide, s, gi_own(e.field, 4), &end, err);
    }
    return status;
}

/* Appends the wide form of the narrow directory at `at` of the source, and behind it those of the
 * directories to which it points. Sets *next to the offset of the next narrow directory. */
static enum gi_status append_wide(struct wide *wide, const struct source *s, uint64_t at,
                                  uint64_t *next, struct gi_err *err)
{
    struct directory d;
    enum gi_status status = read_directory(&d, s, at, err);
    size_t start = wide->nbytes;
    size_t nbytes = directory_nbytes(&(struct directory){.big = true, .n = d.n});
    nbytes += padding(nbytes);
    unsigned char *grown = status ? NULL : realloc(wide->bytes, start + nbytes);
    if (!status && !grown)
        status = gi_fail(err, GI_E_MEMORY, "%s: out of memory: a page", s->sink->name);
    if (!status) {
        wide->bytes = grown;
        wide->nbytes += nbytes;
        memset(grown + start, 0, nbytes);
        widen(grown + start, &d, wide->delta, wide->places, wide->places_at);
        *next = gi_own(d.at + directory_nbytes(&d) - 4, 4);
        status = complete(wide, start, &d, s, err);
    }
    free(d.at);
    return status;
}

/* Sets the offset of the next directory in the first of the wide directories. */
static void put_next(struct wide *wide, uint64_t next)
{
    struct directory d = {.big = true, .n = gi_own(wide->bytes, 8)};
    gi_put_own(wide->bytes + directory_nbytes(&d) - 8, 8, next);
}

/* Keeps a page with 32-bit offsets for a file with 64-bit offsets. The kept page consists of the
 * wide directories, the offsets of the strips, and the rest of the narrow page. */
static enum gi_status keep_widened(struct gi_page_writer *w, unsigned char *bytes, size_t nbytes,
                                   struct gi_err *err)
{
    const struct source s = {.bytes = bytes, .sink = w->sink};
    const struct directory d = directory_in(bytes, false);
    struct wide wide = {.at = w->at}; /* to find out the length of the wide directories */
    uint64_t n = take_places(NULL, &d, bytes, 0), next;
    size_t rest = NARROW_HEAD + directory_nbytes(&d);
    enum gi_status status = append_wide(&wide, &s, NARROW_HEAD, &next, err);
    size_t head = wide.nbytes, before = head + 8 * (size_t)n;
    unsigned char *page = status ? NULL : malloc(before + nbytes - rest);
    if (page) {
        wide.nbytes = 0;
        wide.delta = w->at + before - rest;
        take_places(page + head, &d, bytes, wide.delta);
        wide.places = page + head;
        wide.places_at = w->at + head;
        status = append_wide(&wide, &s, NARROW_HEAD, &next, err);
        memcpy(page, wide.bytes, head);
        memcpy(page + before, bytes + rest, nbytes - rest);
    } else if (!status) {
        status = gi_fail(err, GI_E_MEMORY, "%s: out of memory: a page", w->sink->name);
    }
    free(wide.bytes);
    free(bytes);
    w->page = page;
    w->nbytes = before + nbytes - rest;
    w->next = directory_nbytes(&(struct directory){.big = true, .n = d.n}) - 8;
    return status;
}

/* Keeps a page. */
static enum gi_status keep(struct gi_page_writer *w, unsigned char *bytes, size_t nbytes, bool big,
                           struct gi_err *err)
{
    if (w->big && !big)
        return keep_widened(w, bytes, nbytes, err);
    size_t head = big ? HEAD_NBYTES : NARROW_HEAD;
    struct directory d = directory_in(bytes, big);
    move(&d, bytes, w->at - head);
    w->next = directory_nbytes(&d) - offset_nbytes(big);
    w->nbytes = nbytes - head;
    w->page = bytes;
    memmove(bytes, bytes + head, w->nbytes);
    return GI_OK;
}

/* Writes the page that is kept. With `last`, there is no next page. */
static enum gi_status write_kept(struct gi_page_writer *w, bool last, struct gi_err *err)
{
    static const unsigned char zeros[8];
    size_t pad = padding(w->nbytes);
    gi_put_own(w->page + w->next, offset_nbytes(w->big), last ? 0 : w->at + w->nbytes + pad);
    enum gi_status status = gi_sink_write(w->sink, w->page, w->nbytes, err);
    if (!status)
        status = gi_sink_write(w->sink, zeros, pad, err);
    w->at += w->nbytes + pad;
    free(w->page);
    w->page = NULL;
    return status;
}

static void fill_head(unsigned char head[HEAD_NBYTES], bool big, uint64_t first)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    memset(head, 0, HEAD_NBYTES);
    memcpy(head, little ? "II" : "MM", 2);
    gi_put_own(head + 2, 2, big ? 43 : 42);
    if (big)
        gi_put_own(head + 4, 2, 8); /* bytes of an offset */
    gi_put_own(head + (big ? 8 : 4), offset_nbytes(big), first);
}

/* Writes wide copies of the narrow directory at *at and of those to which it points, behind all
 * that is written, and sets *at to the next narrow directory. The copy contains the offset of the
 * directory that will be written next. */
static enum gi_status copy_directory(struct gi_page_writer *w, uint64_t *at, struct gi_err *err)
{
    const struct source s = {.sink = w->sink};
    struct wide wide = {.at = w->at};
    enum gi_status status = append_wide(&wide, &s, *at, at, err);
    if (!status) {
        put_next(&wide, w->at + wide.nbytes);
        status = gi_sink_write(w->sink, wide.bytes, wide.nbytes, err);
    }
    w->at += wide.nbytes;
    free(wide.bytes);
    return status;
}

/* Turns the file into a BigTIFF. The page that is kept is written as the last page with a narrow
 * directory. */
static enum gi_status become_big(struct gi_page_writer *w, struct gi_err *err)
{
    unsigned char head[HEAD_NBYTES];
    uint64_t at = HEAD_NBYTES, first;
    if (!gi_sink_can_patch(w->sink))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: the TIFF exceeds 4 GB, which can't be written through a pipe: want a "
                       "file",
                       w->sink->name);
    enum gi_status status = w->page ? write_kept(w, true, err) : GI_OK;
    first = w->at;
    while (at && !status)
        status = copy_directory(w, &at, err);
    fill_head(head, true, first);
    if (!status)
        status = gi_sink_patch(w->sink, head, sizeof head, 0, err);
    w->big = true;
    return status;
}

/* Begins the file, with the header that the first page decides. The header is replaced only if the
 * file grows too large. */
static enum gi_status begin(struct gi_page_writer *w, bool big, struct gi_err *err)
{
    unsigned char head[HEAD_NBYTES];
    w->begun = true;
    w->big = big;
    w->at = HEAD_NBYTES;
    fill_head(head, big, HEAD_NBYTES);
    return gi_sink_write(w->sink, head, sizeof head, err);
}

enum gi_status gi_page_writer_new(struct gi_page_writer **writer, struct gi_sink *sink,
                                  uint64_t big_from, struct gi_err *err)
{
    *writer = gi_small_calloc(1, sizeof **writer);
    (*writer)->sink = sink;
    (*writer)->big_from = big_from ? big_from : BIG_FROM_NBYTES;
    return GI_OK;
}

enum gi_status gi_page_writer_add(struct gi_page_writer *w, void *bytes, size_t nbytes,
                                  struct gi_err *err)
{
    bool big = gi_own((unsigned char *)bytes + 2, 2) == 43;
    uint64_t kept = w->page ? w->nbytes + padding(w->nbytes) : 0;
    uint64_t end = (w->begun ? w->at : HEAD_NBYTES) + kept + nbytes - NARROW_HEAD;
    end += padding(end);
    enum gi_status status = w->begun ? GI_OK : begin(w, big || end > w->big_from, err);
    if (!status && !w->big && (big || end > w->big_from))
        status = become_big(w, err);
    if (!status && w->page)
        status = write_kept(w, false, err);
    if (!status)
        return keep(w, bytes, nbytes, big, err);
    free(bytes);
    return status;
}

enum gi_status gi_page_writer_end(struct gi_page_writer *w, struct gi_err *err)
{
    return w->page ? write_kept(w, true, err) : GI_OK;
}

void gi_page_writer_free(struct gi_page_writer **writer)
{
    if (*writer)
        free((*writer)->page);
    free(*writer);
    *writer = NULL;
}
