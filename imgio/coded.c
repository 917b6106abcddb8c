/* Images that stay coded, because a device decodes them.
 * SPDX-License-Identifier: MIT */
#include "imgio/coded.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/format.h"
#include "imgio/small.h"

bool gi_decode_wants_coded(const struct gi_decode *decode, enum gi_coded_kinds kind)
{
    const struct gi_load_options *options = decode->options;
    return options->coded & kind && !options->allow_partial && !options->linear &&
           !options->labels && !options->header_only && decode->nbytes <= GI_CODED_FILE_NBYTES;
}

void gi_decode_stay_coded(struct gi_decode *decode, size_t more)
{
    decode->coded = true;
    decode->coded_nbytes = gi_coded_room(decode->nbytes + more);
    decode->kept_nbytes = decode->nbytes + more;
}

/* Takes the file from its source if that is in memory of the allocator, with enough room behind it.
 * Returns false otherwise. */
static bool take_file(const struct gi_decode *decode, struct gi_image *file)
{
    struct gi_source *source = decode->source;
    if (!source || !source->allocator || decode->bytes != source->bytes ||
        decode->nbytes != source->nbytes || decode->kept_nbytes > source->room)
        return false;
    *file = (struct gi_image){.data = (void *)(uintptr_t)source->bytes,
                              .stride = source->room,
                              .width = (int)decode->nbytes,
                              .height = 1,
                              .channels = 1,
                              .type = GI_U8,
                              .owner = GI_OWNER_HOST,
                              .allocator = source->allocator};
    source->bytes = NULL;
    source->allocator = NULL;
    return true;
}

static enum gi_status copy_file(const struct gi_decode *decode, struct gi_image *file,
                                struct gi_err *err)
{
    enum gi_status status = gi_image_alloc_from(file, decode->options->allocator,
                                                (int)decode->coded_nbytes, 1, 1, GI_U8, err);
    if (status)
        return status;
    file->width = (int)decode->nbytes;
    memcpy(file->data, decode->bytes, decode->nbytes);
    return GI_OK;
}

enum gi_status gi_decode_keep_coded(const struct gi_decode *decode, const struct gi_coded *coded,
                                    struct gi_err *err)
{
    struct gi_image *image = decode->image;
    struct gi_coded *kept = gi_small_alloc(sizeof *kept);
    *kept = *coded;
    enum gi_status status =
        take_file(decode, &kept->file) ? GI_OK : copy_file(decode, &kept->file, err);
    if (status) {
        free(kept);
        return status;
    }
    image->coded = kept;
    image->owner = GI_OWNER_HOST;
    image->allocator = kept->file.allocator;
    return GI_OK;
}
