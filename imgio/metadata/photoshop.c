/* Takes image resources of Photoshop apart.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/photoshop.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/resolution.h"

enum {
    RESOURCE_OLD_THUMBNAIL = 0x0409,
    RESOURCE_THUMBNAIL = 0x040c,
    IPTC_MARK = 0x1c,
};

/* A resource: "8BIM", a number of 2 bytes, a name as a Pascal string of even length, the length of
 * the data in 4 bytes, and the data, padded to an even length. */
struct resource {
    unsigned number;
    const unsigned char *data;
    size_t nbytes, whole; /* of the data, and of all */
};

static bool next(struct resource *r, const unsigned char *at, size_t left)
{
    enum { HEAD = 6 }; /* mark and number */
    if (left < HEAD + 2 || (memcmp(at, "8BIM", 4) != 0 && memcmp(at, "MeSa", 4) != 0))
        return false;
    size_t name = (size_t)at[HEAD] + 1, start = HEAD + name + name % 2 + 4;
    if (start > left)
        return false;
    r->number = (unsigned)at[4] << 8 | at[5];
    r->data = at + start;
    r->nbytes = gi_big32(r->data - 4);
    if (r->nbytes > left - start)
        return false;
    r->whole = start + r->nbytes;
    r->whole += r->nbytes % 2 && r->whole < left;
    return true;
}

static bool is_thumbnail(const struct resource *r)
{
    return r->number == RESOURCE_THUMBNAIL || r->number == RESOURCE_OLD_THUMBNAIL;
}

/* Returns the length without zeros at the end. */
static size_t trimmed(const unsigned char *bytes, size_t nbytes)
{
    while (nbytes && !bytes[nbytes - 1])
        nbytes--;
    return nbytes;
}

void gi_decode_add_iptc(struct gi_decode *decode, const void *bytes, size_t nbytes)
{
    const struct gi_part *other = gi_parts_find(&decode->metadata->parts, GI_PART_IPTC, 0);
    unsigned char *own = gi_memory_copy(bytes, nbytes);
    decode->metadata->starved = decode->metadata->starved || (nbytes && !own);
    if (!own)
        return;
    if (nbytes >= 4 && own[0] != IPTC_MARK && own[3] == IPTC_MARK)
        for (size_t i = 0; i + 4 <= nbytes; i += 4)
            gi_put_big32(own + i, gi_little32(own + i));
    size_t length = gi_iptc_length(own, nbytes);
    struct gi_part part = {.kind = GI_PART_IPTC,
                           .fate = length ? GI_PART_CARRIED : GI_PART_LOST,
                           .nbytes = length + trimmed(own + length, nbytes - length),
                           .bytes = own};
    bool again = other && other->nbytes == part.nbytes && !memcmp(other->bytes, own, part.nbytes);
    if (other)
        part.fate = GI_PART_LOST;
    if (!again && part.nbytes)
        gi_decode_add_part(decode, &part, "%sIPTC", other ? "a second block of " : "");
    free(own);
}

static void add_resources(struct gi_decode *decode, void *bytes, size_t nbytes)
{
    const struct gi_part *other = gi_parts_find(&decode->metadata->parts, GI_PART_PHOTOSHOP, 0);
    struct gi_part part = {.kind = GI_PART_PHOTOSHOP,
                           .fate = other ? GI_PART_LOST : GI_PART_CARRIED,
                           .nbytes = nbytes,
                           .bytes = bytes};
    if (!other || other->nbytes != nbytes || memcmp(other->bytes, bytes, nbytes) != 0)
        gi_decode_add_part(decode, &part, "%sPhotoshop resources", other ? "further " : "");
}

void gi_decode_add_photoshop(struct gi_decode *decode, const void *bytes, size_t nbytes)
{
    const unsigned char *at = bytes, *end = at + nbytes;
    unsigned char *kept = malloc(nbytes + 1);
    size_t n = 0;
    struct resource r;
    if (!kept) {
        decode->metadata->starved = true;
        return;
    }
    for (; next(&r, at, (size_t)(end - at)); at += r.whole) {
        bool thumbnail = is_thumbnail(&r);
        if (thumbnail)
            gi_decode_add_part(decode,
                               &(struct gi_part){.kind = GI_PART_METADATA,
                                                 .fate = GI_PART_DROPPED,
                                                 .nbytes = r.nbytes,
                                                 .why = GI_OLD_PICTURE},
                               "thumbnail of Photoshop");
        if (r.number == GI_RESOURCE_IPTC)
            gi_decode_add_iptc(decode, r.data, r.nbytes);
        if (thumbnail || r.number == GI_RESOURCE_IPTC)
            continue;
        memcpy(kept + n, at, r.whole);
        n += r.whole;
    }
    if (n % 2) /* the last resource lacks its padding */
        kept[n++] = 0;
    if (n)
        add_resources(decode, kept, n);
    size_t rest = trimmed(at, (size_t)(end - at));
    if (rest)
        gi_decode_add_part(
            decode,
            &(struct gi_part){.kind = GI_PART_METADATA, .fate = GI_PART_LOST, .nbytes = rest},
            "damaged Photoshop resources");
    free(kept);
}

void *gi_photoshop_find(void *bytes, size_t nbytes, unsigned number, size_t least)
{
    unsigned char *at = bytes;
    struct resource r;
    for (; nbytes && next(&r, at, nbytes); at += r.whole, nbytes -= r.whole)
        if (r.number == number && r.nbytes >= least)
            return (unsigned char *)r.data;
    return NULL;
}

size_t gi_photoshop_turn(void *bytes, size_t nbytes, bool transposed)
{
    enum { HALF = GI_RESOURCE_RESOLUTION_NBYTES / 2 };
    unsigned char *at = bytes, *data, copy[HALF];
    size_t left = nbytes;
    struct resource r;
    while (left && next(&r, at, left)) {
        left -= r.whole;
        if (is_thumbnail(&r)) {
            memmove(at, at + r.whole, left);
            nbytes -= r.whole;
        } else {
            at += r.whole;
        }
    }
    data = gi_photoshop_find(bytes, nbytes, GI_RESOURCE_RESOLUTION, 2 * (size_t)HALF);
    if (transposed && data) {
        memcpy(copy, data, HALF);
        memcpy(data, data + HALF, HALF);
        memcpy(data + HALF, copy, HALF);
    }
    return nbytes;
}

size_t gi_photoshop_put(unsigned char *to, const struct gi_metadata *metadata)
{
    enum { IPTC_HEAD = 12 };
    const struct gi_part *photoshop = gi_parts_find(&metadata->parts, GI_PART_PHOTOSHOP, 0);
    const struct gi_part *iptc = gi_parts_find(&metadata->parts, GI_PART_IPTC, 0);
    size_t n = iptc ? IPTC_HEAD + iptc->nbytes + iptc->nbytes % 2 : 0;
    if (to && iptc) {
        to[n - 1] = 0; /* the padding, or replaced */
        memcpy(to, "8BIM\4\4\0\0", 8);
        gi_put_big32(to + 8, (uint32_t)iptc->nbytes);
        memcpy(to + IPTC_HEAD, iptc->bytes, iptc->nbytes);
    }
    if (to && photoshop) {
        memcpy(to + n, photoshop->bytes, photoshop->nbytes);
        gi_resolution_fit_photoshop(to + n, photoshop->nbytes, metadata);
    }
    return n + (photoshop ? photoshop->nbytes : 0);
}
