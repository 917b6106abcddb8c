/* Images that stay coded, because a device decodes them.
 * SPDX-License-Identifier: MIT */
#include "imgio/coded.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/format.h"
#include "imgio/small.h"

enum { FILE_NBYTES_MAX = 1 << 28 }; /* so that positions of bits fit in 32 bits */

bool gi_decode_wants_coded(const struct gi_decode *decode, enum gi_coded_kinds kind)
{
    const struct gi_load_options *options = decode->options;
    return options->coded & kind && !options->allow_partial && !options->linear &&
           !options->labels && !options->header_only && decode->nbytes <= FILE_NBYTES_MAX;
}

void gi_decode_stay_coded(struct gi_decode *decode, size_t more)
{
    decode->coded = true;
    decode->coded_nbytes = gi_coded_room(decode->nbytes + more);
}

enum gi_status gi_decode_keep_coded(const struct gi_decode *decode, const struct gi_coded *coded,
                                    struct gi_err *err)
{
    size_t nbytes = decode->nbytes;
    struct gi_image *image = decode->image;
    struct gi_coded *kept = gi_small_alloc(sizeof *kept);
    *kept = *coded;
    enum gi_status status = gi_image_alloc_from(&kept->file, decode->options->allocator,
                                                (int)decode->coded_nbytes, 1, 1, GI_U8, err);
    if (status) {
        free(kept);
        return status;
    }
    kept->file.width = (int)nbytes;
    memcpy(kept->file.data, decode->bytes, nbytes);
    image->coded = kept;
    image->owner = GI_OWNER_HOST;
    image->allocator = kept->file.allocator;
    return GI_OK;
}
