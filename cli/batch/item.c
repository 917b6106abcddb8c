/* One image of a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/item.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "cli/batch/journal.h"

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

void gi_item_note_input(struct gi_item *item)
{
    struct stat st;
    item->input_nbytes = item->nbytes;
    if (item->bytes || stat(item->input, &st))
        return;
    item->input_nbytes = (uint64_t)st.st_size;
    item->input_mtime_ns = gi_mtime_ns(&st);
}

void gi_item_note_output(struct gi_item *item)
{
    struct stat st;
    item->output_nbytes = item->made_nbytes;
    if (item->made || !item->output || stat(item->output, &st))
        return;
    item->output_nbytes = (uint64_t)st.st_size;
    item->output_mtime_ns = gi_mtime_ns(&st);
}
