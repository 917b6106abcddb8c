/* Stacks with a single directory. The images follow one another, uncompressed, behind the first
 * image, and the description tells their number, by ImageJ ("images=500") or by tifffile, as the
 * shape of an array. ImageJ writes stacks in this form if they exceed 4 GB, and tifffile writes all
 * its ImageJ stacks in this form, and others if it is asked to (truncate).
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/metadata.h"
#include "imgio/tiff/tiff.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_BITS = 258,
    TAG_SAMPLES = 277,
    WORDS_MAX = 1 << 16, /* of the description that are read */
    BITS_MAX = 1 << 16,  /* of a pixel */
    COUNT_MAX = 1 << 20, /* maximum number of images, which is also that of pages */
};

/* Reads a number of at most COUNT_MAX, and moves *at past its digits. Returns 0 if there is none,
 * or a larger one. */
static long read_number(const char **at, const char *end)
{
    long v = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        v = v > COUNT_MAX ? v : 10 * v + **at - '0';
    return v <= COUNT_MAX ? v : 0;
}

/* Returns the number of images of `samples` samples in an array whose shape begins at `text`, as in
 * "4, 12, 16]". Returns 1 if they are not a whole number. */
static long count_shape(const char *text, const char *end, uint64_t samples)
{
    uint64_t all = 1;
    for (; text < end; text++) {
        text += *text == ' ';
        long v = read_number(&text, end);
        if (v <= 0 || __builtin_mul_overflow(all, (uint64_t)v, &all))
            return 1;
        if (text == end || *text != ',')
            break;
    }
    uint64_t n = samples && all % samples == 0 ? all / samples : 1;
    return n > 1 && n <= COUNT_MAX ? (long)n : 1;
}

/* Returns the number of images that the description names, or 1 if it is not by ImageJ or tifffile.
 * ImageJ names the number, and tifffile the shape of the array. */
static long count_named(const struct gi_tiff_walk *w, uint64_t samples)
{
    static const char start[] = "ImageJ=", images[] = "\nimages=";
    struct gi_tag tag;
    if (!gi_tag_find(&tag, &w->tags, w->at, GI_TAG_DESCRIPTION))
        return 1;
    size_t n = tag.count < WORDS_MAX ? (size_t)tag.count : WORDS_MAX;
    const char *text = (const char *)w->tags.bytes + tag.at, *end = text + n;
    const char *shape = gi_text_shape(text, n);
    if (shape)
        return count_shape(shape, end, samples);
    const char *found = n >= sizeof start && memcmp(text, start, sizeof start - 1) == 0
                            ? memmem(text, n, images, sizeof images - 1)
                            : NULL;
    const char *at = found ? found + sizeof images - 1 : end;
    long v = read_number(&at, end);
    return v > 1 ? v : 1;
}

int gi_tiff_stack(uint64_t *nbytes, uint64_t *end, const unsigned char *bytes, size_t size)
{
    struct gi_tiff_walk w;
    const struct gi_tags *tags = &w.tags;
    struct gi_tag offsets, counts;
    gi_tiff_walk_start(&w, bytes, size);
    if (!gi_tiff_walk(&w) || w.next)
        return 1;
    uint64_t width = gi_tag_integer_of(tags, w.at, GI_TAG_WIDTH, 0),
             height = gi_tag_integer_of(tags, w.at, GI_TAG_HEIGHT, 0);
    uint64_t channels = gi_tag_integer_of(tags, w.at, TAG_SAMPLES, 1), samples;
    if (width > UINT32_MAX || height > UINT32_MAX || channels > UINT16_MAX ||
        __builtin_mul_overflow(width * height, channels, &samples))
        return 1;
    long n = count_named(&w, samples);
    if (n == 1 || gi_tag_integer_of(tags, w.at, GI_TAG_COMPRESSION, 1) != 1)
        return 1;
    if (!gi_tag_find(&offsets, tags, w.at, GI_TAG_STRIPS) ||
        !gi_tag_find(&counts, tags, w.at, GI_TAG_STRIP_NBYTES))
        return 1;
    uint64_t first = gi_tag_integer(tags, &offsets, 0, size), at = first;
    for (uint64_t i = 0; i < offsets.count; i++) { /* the strips have to be contiguous */
        uint64_t count = gi_tag_integer(tags, &counts, i, size);
        if (gi_tag_integer(tags, &offsets, i, size) != at || count > size)
            return 1;
        at += count;
    }
    uint64_t bits = gi_tag_integer_of(tags, w.at, TAG_BITS, 1) * channels;
    *nbytes = at - first;
    if (first >= size || !*nbytes || bits > BITS_MAX ||
        (width * bits + 7) / 8 > UINT64_MAX / (height + 1) ||
        (width * bits + 7) / 8 * height != *nbytes)
        return 1;
    if ((size - first) / *nbytes < (uint64_t)n)
        return 1;
    if (w.at >= first && w.at < first + (uint64_t)n * *nbytes) /* the directory is no sample */
        return 1;
    if (end)
        *end = first + (uint64_t)n * *nbytes;
    return (int)n;
}
