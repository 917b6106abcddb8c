/* Follows the chain of a TIFF's directories, one per page (TIFF 6.0, section 2; BigTIFF as
 * described at libtiff.org). libtiff could do this, too, but its time grows with the square of the
 * number of directories.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff.h"

#include <stdlib.h>

enum {
    PAGES_MAX = 1 << 20, /* libtiff's limit */
    REDUCED = 1,         /* its bits: a smaller version of another page */
    MASK = 4,
};

/* Reads the directory at w->at and sets w->own, w->broken and w->cut. Returns the offset of the
 * next directory, or 0 if there is none. */
static uint64_t look(struct gi_tiff_walk *w)
{
    const struct gi_tags *tags = &w->tags;
    unsigned offset = tags->big ? 8 : 4;
    struct gi_tag_walk walk;
    w->own = w->broken = true;
    w->full = w->at;
    w->cut = false;
    w->entries = 0;
    gi_tag_walk_start(&walk, tags, w->at);
    if (!walk.at || walk.beyond)
        return 0;
    uint64_t end = walk.at + walk.left * (tags->big ? 20 : 12);
    w->entries = walk.left;
    w->broken = false;
    w->cut = tags->nbytes - end < offset;
    uint64_t next = w->cut ? 0 : gi_tags_number(tags, end, offset);
    w->own = !(gi_tag_integer_of(tags, w->at, GI_TAG_KIND, 0) & (REDUCED | MASK));
    w->full = gi_tiff_full(w, &w->own);
    return next;
}

void gi_tiff_walk_start(struct gi_tiff_walk *w, const unsigned char *bytes, size_t nbytes)
{
    *w = (struct gi_tiff_walk){.number = -1};
    w->next = gi_tags_open(&w->tags, bytes, nbytes);
}

bool gi_tiff_walk(struct gi_tiff_walk *w)
{
    w->at = w->next;
    w->circle = w->at && w->at == w->mark; /* a cycle, which R. P. Brent's algorithm detects */
    if (!w->at || w->circle || w->number + 1 == PAGES_MAX)
        return false;
    w->number++;
    if (w->number >= 2 * w->marked) {
        w->mark = w->at;
        w->marked = w->number;
    }
    w->next = look(w);
    w->broken = w->broken && w->number; /* the decoder describes damage of the first page */
    return !w->broken;
}

/* Returns the number of different directories of a chain whose walk has ended in a cycle. This is
 * the length of the cycle plus the number of directories before it. */
static int count_circle(const struct gi_tiff_walk *end)
{
    struct gi_tiff_walk first, second;
    int length = end->number + 1 - end->marked, before = 0;
    gi_tiff_walk_start(&first, end->tags.bytes, end->tags.nbytes);
    second = first;
    for (int i = 0; i < length; i++, second.next = look(&second))
        second.at = second.next;
    /* the limit is only reached if the file changes meanwhile */
    for (; first.next != second.next && before < PAGES_MAX; before++) {
        first.at = first.next;
        second.at = second.next;
        first.next = look(&first);
        second.next = look(&second);
    }
    return before + length;
}

/* Finds the directory of `page` among the first `n` directories. -1 means the first independent
 * page. */
static struct gi_tiff_pages find(const unsigned char *bytes, size_t nbytes, int page, int n,
                                 struct gi_tiff_walk *w)
{
    struct gi_tiff_pages found = {0};
    uint64_t first = 0;
    gi_tiff_walk_start(w, bytes, nbytes);
    while (found.n < n && gi_tiff_walk(w)) {
        found.n++;
        if (!first)
            first = w->full;
        if ((w->own && !found.own++ && page < 0) || w->number == page) {
            found.offset = w->full;
            found.in_subifd = w->full != w->at;
        }
    }
    found.damage = w->broken ? "the offset of a page is wrong"
                   : w->cut  ? "it ends before the offset of its next page"
                             : NULL;
    if (!found.own) { /* all directories are smaller versions of pages that are elsewhere */
        found.own = found.n;
        found.only_reduced = found.n > 0;
        found.offset = page < 0 ? first : found.offset;
    }
    return found;
}

void gi_tiff_find_page(struct gi_tiff_pages *found, const unsigned char *bytes, size_t nbytes,
                       int page)
{
    struct gi_tiff_walk w;
    *found = find(bytes, nbytes, page, PAGES_MAX, &w);
    if (!w.circle)
        return;
    *found = find(bytes, nbytes, page, count_circle(&w), &w);
    found->damage = "its pages go in a circle";
}

enum gi_status gi_tiff_list_pages(struct gi_image_list *list, const unsigned char *bytes,
                                  size_t nbytes, struct gi_err *err)
{
    struct gi_tiff_walk w;
    struct gi_tiff_pages all;
    uint64_t image_nbytes = 0;
    gi_tiff_find_page(&all, bytes, nbytes, 0);
    struct gi_tiff_weight weight;
    uint64_t end = gi_tiff_end(&weight, bytes, nbytes), stacked_end = 0;
    int stacked = all.n == 1 ? gi_tiff_stack(&image_nbytes, &stacked_end, bytes, nbytes) : 1;
    end = stacked_end > end ? stacked_end : end;
    int n = stacked > 1 ? stacked : all.n;
    *list = (struct gi_image_list){.damage = all.damage, .all = n, .end = end};
    if (weight.coded > nbytes)
        list->shared_pixels = weight.pixels;
    list->images = calloc((size_t)(n ? n : 1), sizeof *list->images);
    if (!list->images)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d pages", n);
    gi_tiff_walk_start(&w, bytes, nbytes);
    while (w.number + 1 < all.n && gi_tiff_walk(&w))
        list->images[w.number] =
            (struct gi_image_place){.offset = w.full, .own = w.own || all.own == all.n};
    for (int i = 1; i < stacked; i++)
        list->images[i] = (struct gi_image_place){
            .offset = all.offset, .skip = (uint64_t)i * image_nbytes, .own = true};
    return GI_OK;
}
