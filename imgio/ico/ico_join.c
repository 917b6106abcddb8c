/* Writes Windows icons of several images, whose sizes may differ. A directory at the beginning has
 * an entry for each.
 * SPDX-License-Identifier: MIT */
#include "imgio/ico/ico.h"
#include "imgio/integer.h"
#include "imgio/joined_kinds.h"

#include <string.h>

enum { IMAGES_MAX = 65535, OFFSET_AT = 12 };

static void measure(int *width, int *height, const unsigned char *bytes, size_t nbytes)
{
    const unsigned char *entry = bytes + GI_ICO_HEAD;
    *width = entry[0] ? entry[0] : GI_ICO_SIDE_MAX;
    *height = entry[1] ? entry[1] : GI_ICO_SIDE_MAX;
}

/* Takes the only image of a file. `after` collects the images; offsets are those in it until the
 * length of the directory is known. */
static enum gi_status add(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err)
{
    const size_t image = GI_ICO_HEAD + GI_ICO_ENTRY;
    unsigned char entry[GI_ICO_ENTRY];
    if (joined->n == IMAGES_MAX || joined->after.nbytes + nbytes > UINT32_MAX / 2)
        return gi_fail(err, GI_E_UNSUPPORTED, "ICO holds at most %d images and 2 GB", IMAGES_MAX);
    memcpy(entry, bytes + GI_ICO_HEAD, sizeof entry);
    gi_put_little32(entry + OFFSET_AT, (uint32_t)joined->after.nbytes);
    enum gi_status status =
        joined->n ? GI_OK : gi_buffer_append(&joined->file, bytes, GI_ICO_HEAD, err);
    if (!status)
        status = gi_buffer_append(&joined->file, entry, sizeof entry, err);
    return status ? status : gi_buffer_append(&joined->after, bytes + image, nbytes - image, err);
}

static enum gi_status end(struct gi_joined *joined, struct gi_err *err)
{
    struct gi_buffer *file = &joined->file;
    uint32_t directory = (uint32_t)file->nbytes;
    file->at[4] = (unsigned char)joined->n;
    file->at[5] = (unsigned char)(joined->n >> 8);
    for (int i = 0; i < joined->n; i++) {
        unsigned char *offset = file->at + GI_ICO_HEAD + (ptrdiff_t)GI_ICO_ENTRY * i + OFFSET_AT;
        gi_put_little32(offset, directory + gi_little32(offset));
    }
    return gi_buffer_append(file, joined->after.at, joined->after.nbytes, err);
}

const struct gi_joined_kind gi_joined_ico = {
    .format = "ico",
    .reasons = 1 << GI_JOIN_PAGES | 1 << GI_JOIN_ASKED | 1 << GI_JOIN_SIZES,
    .any_size = true,
    .measure = measure,
    .add = add,
    .end = end,
};
