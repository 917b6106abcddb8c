/* Accounts for the fields of a BMP's header that are not read, and for the bytes between and behind
 * its parts ("Bitmap Storage", Windows SDK).
 * SPDX-License-Identifier: MIT */
#include "imgio/bmp/bmp_parts.h"
#include "imgio/integer.h"

#include <string.h>

enum {
    FILE_HEAD = 14,
    V4_HEAD = 108,
    V5_HEAD = 124,
    COLOR_SPACE = 56, /* offsets in the header */
    PRIMARIES = 60,
    INTENT = 108,
    PROFILE_LINKED = 0x4c494e4b, /* "LINK" */
    FOR_IMAGES = 4,              /* the intent that gpuimg writes: perceptual */
    PADDING = 4,                 /* zeros up to the next multiple of 4 are no part */
};

static void add(struct gi_decode *decode, uint64_t nbytes, const char *name)
{
    gi_decode_add_part(
        decode,
        &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST, .nbytes = (size_t)nbytes},
        "%s", name);
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && !bytes[i])
        i++;
    return i == n;
}

static void add_fields(struct gi_decode *decode, const struct gi_bmp_layout *layout)
{
    const unsigned char *bytes = decode->bytes, *head = bytes + FILE_HEAD;
    if (!is_zero(bytes + 6, 4))
        add(decode, 4, "reserved fields");
    if (layout->head_nbytes < V4_HEAD)
        return;
    uint32_t space = gi_little32(head + COLOR_SPACE);
    if (space == 0 && !is_zero(head + PRIMARIES, 48))
        add(decode, 48, "calibrated primaries and gamma");
    if (layout->head_nbytes < V5_HEAD)
        return;
    uint32_t intent = gi_little32(head + INTENT);
    if (space == PROFILE_LINKED)
        add(decode, gi_little32(head + INTENT + 8), "linked ICC profile");
    if (intent && intent != FOR_IMAGES)
        add(decode, 4, "rendering intent");
}

/* Returns the number of bytes from `from` to `to` that are not in the profile. */
static uint64_t unused(const struct gi_bmp_layout *layout, uint64_t from, uint64_t to)
{
    uint64_t start = layout->profile_at > from ? layout->profile_at : from;
    uint64_t end = layout->profile_end < to ? layout->profile_end : to;
    return from >= to ? 0 : to - from - (end > start ? end - start : 0);
}

void gi_bmp_add_parts(struct gi_decode *decode, const struct gi_bmp_layout *given)
{
    struct gi_bmp_layout own = *given, *layout = &own;
    const unsigned char *head = decode->bytes + FILE_HEAD;
    if (own.head_nbytes == V5_HEAD && gi_little32(head + COLOR_SPACE) == PROFILE_LINKED) {
        own.profile_at = FILE_HEAD + (uint64_t)gi_little32(head + INTENT + 4); /* its path */
        own.profile_end = own.profile_at + gi_little32(head + INTENT + 8);
    }
    add_fields(decode, layout);
    uint64_t all = decode->nbytes;
    uint64_t pixels_at = layout->pixels_at < all ? layout->pixels_at : all;
    uint64_t before = unused(layout, layout->palette_end, pixels_at), end = layout->pixels_end;
    if (before)
        add(decode, before, "gap before the pixels");
    if (!end || end >= all)
        return;
    uint64_t after = unused(layout, end, all);
    bool padding = after < PADDING;
    for (uint64_t at = end; padding && at < all; at++)
        if (at < layout->profile_at || at >= layout->profile_end)
            padding = !decode->bytes[at];
    if (after && !padding)
        gi_decode_add_trailing(decode, all - after);
}
