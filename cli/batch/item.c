/* One image of a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/item.h"

#include <stdlib.h>

const char *const gi_stage_names[GI_STAGES] = {"decode", "upload", "kernels", "download", "encode"};

struct gi_item *gi_item_new(void)
{
    return calloc(1, sizeof(struct gi_item));
}

void gi_item_free(struct gi_item **out)
{
    struct gi_item *item = *out;
    *out = NULL;
    if (!item)
        return;
    if (item->untag)
        item->untag(item->tag);
    free(item->input);
    free(item->output);
    free(item->bytes);
    free(item->made);
    free(item);
}
