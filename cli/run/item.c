/* One image of a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/run/item.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/input_list.h"
#include "cli/run/output.h"

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
    for (size_t i = 0; i < item->nparts; i++)
        free(item->parts[i].path);
    free(item->parts);
    free(item);
}

void gi_item_refuse(struct gi_item *item, const struct gi_input *input)
{
    const char *name = item->output && !input->why ? item->output : item->input;
    if (strlen(name) >= PATH_MAX)
        item->status = gi_fail(&item->err, GI_E_IO, "%s: is a name of %zu bytes: want at most %d",
                               name, strlen(name), PATH_MAX - 1);
    else if (input->why)
        item->status = gi_fail(&item->err, GI_E_IO, "%s: %s", name, strerror(input->why));
}

void gi_item_blame(struct gi_item *item)
{
    if (item->status != GI_E_IO || !item->output)
        return;
    char *start = strdup(item->output), *channel = start ? strstr(start, "{channel}") : NULL;
    if (channel)
        *channel = '\0'; /* which has folders of its own */
    if (start && !gi_output_has_folder(start))
        item->status = item->err.status = GI_E_AGAIN;
    free(start);
}

int64_t gi_mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

void gi_item_note_input(struct gi_item *item)
{
    struct stat st;
    if (item->beside && !stat(item->beside, &st)) {
        item->beside_nbytes = (uint64_t)st.st_size;
        item->beside_mtime_ns = gi_mtime_ns(&st);
    }
    item->input_nbytes = item->nbytes;
    if (item->bytes || stat(item->input, &st))
        return;
    item->input_nbytes = (uint64_t)st.st_size;
    item->input_mtime_ns = gi_mtime_ns(&st);
}

enum gi_status gi_item_add_part(struct gi_item *item, const char *path, struct gi_err *err)
{
    struct gi_item_part *grown = realloc(item->parts, (item->nparts + 1) * sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        item->parts = grown;
    if (!grown || !copy) {
        free(copy);
        return gi_fail(err, GI_E_MEMORY, "out of memory: a name");
    }
    item->in_parts = true;
    item->parts[item->nparts++] = (struct gi_item_part){.path = copy};
    return GI_OK;
}

static void note_parts(struct gi_item *item)
{
    struct stat st;
    item->output_nbytes = 0;
    for (size_t i = 0; i < item->nparts; i++) {
        struct gi_item_part *part = &item->parts[i];
        if (stat(part->path, &st))
            continue;
        part->nbytes = (uint64_t)st.st_size;
        part->mtime_ns = gi_mtime_ns(&st);
        item->output_nbytes += part->nbytes;
    }
}

void gi_item_note_output(struct gi_item *item)
{
    struct stat st;
    if (item->in_parts) {
        note_parts(item);
        return;
    }
    item->output_nbytes = item->made_nbytes;
    if (item->made || !item->output || stat(item->output, &st))
        return;
    item->output_nbytes = (uint64_t)st.st_size;
    item->output_mtime_ns = gi_mtime_ns(&st);
}
