/* Reads and removes datasets of IPTC's Information Interchange Model.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/iptc.h"

#include <stdlib.h>
#include <string.h>

/* A dataset: 0x1c, record, number, the length in 2 bytes, and the data. If the upper bit of the
 * length is set, the other 15 bits are the number of bytes of the length that follows them (IIM,
 * section 1.5). */
struct dataset {
    int record, number;
    const unsigned char *data;
    size_t nbytes, whole; /* of the data, and of all */
};

static bool next(struct dataset *d, const unsigned char *at, size_t left)
{
    enum { HEAD = 5, TAG = 0x1c, EXTENDED = 0x8000, EXTENDED_MAX = 4 };
    if (left < HEAD || *at != TAG)
        return false;
    size_t n = (size_t)at[3] << 8 | at[4], head = HEAD;
    if (n & EXTENDED) {
        size_t more = n & ~(size_t)EXTENDED;
        if (more > EXTENDED_MAX || left - HEAD < more)
            return false;
        n = 0;
        for (size_t i = 0; i < more; i++)
            n = n << 8 | at[HEAD + i];
        head += more;
    }
    if (n > left - head)
        return false;
    *d = (struct dataset){at[1], at[2], at + head, n, head + n};
    return true;
}

char *gi_iptc_text(const void *iptc, size_t nbytes, int number)
{
    enum { OF_IMAGE = 2 }; /* the record of an image's properties */
    char *text = NULL;
    size_t used = 0;
    struct dataset d;
    for (const unsigned char *at = iptc; at && next(&d, at, nbytes); at += d.whole) {
        nbytes -= d.whole;
        if (d.record != OF_IMAGE || d.number != number || !d.nbytes)
            continue;
        char *grown = realloc(text, used + d.nbytes + 3);
        if (!grown)
            break;
        text = grown;
        if (used) {
            memcpy(text + used, "; ", 2);
            used += 2;
        }
        memcpy(text + used, d.data, d.nbytes);
        used += d.nbytes;
        text[used] = '\0';
    }
    return text;
}

size_t gi_iptc_length(const void *iptc, size_t nbytes)
{
    const unsigned char *at = iptc;
    size_t left = nbytes;
    for (struct dataset d; at && next(&d, at, left); at += d.whole)
        left -= d.whole;
    return nbytes - left;
}

static bool names_place(const struct dataset *d)
{
    /* content location code and name, city, sublocation, province, country's code and name */
    static const unsigned char places[] = {26, 27, 90, 92, 95, 100, 101};
    return d->record == 2 && memchr(places, d->number, sizeof places);
}

size_t gi_iptc_forget_place(void *iptc, size_t nbytes)
{
    unsigned char *at = iptc;
    size_t left = nbytes;
    struct dataset d;
    while (at && next(&d, at, left)) {
        left -= d.whole;
        if (names_place(&d)) {
            memmove(at, at + d.whole, left);
            nbytes -= d.whole;
        } else {
            at += d.whole;
        }
    }
    return nbytes - left;
}

void gi_iptc_set_orientation(void *iptc, size_t nbytes, int width, int height)
{
    enum { OF_IMAGE = 2, ORIENTATION = 131 };
    unsigned char *at = iptc;
    struct dataset d;
    for (; at && next(&d, at, nbytes); at += d.whole) {
        nbytes -= d.whole;
        if (d.record == OF_IMAGE && d.number == ORIENTATION && d.nbytes == 1)
            at[d.whole - 1] = width < height ? 'P' : width > height ? 'L' : 'S';
    }
}
