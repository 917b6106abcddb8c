/* One image of a batch, or another input.
 * SPDX-License-Identifier: MIT */
#include "cli/run/item.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paths/input_list.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "imgio/pages.h"
#include "imgio/small.h"

struct gi_item *gi_item_new(void)
{
    return gi_small_calloc(1, sizeof(struct gi_item));
}

void gi_item_free(struct gi_item **out)
{
    for (struct gi_item *item = *out, *rest; item; item = rest) {
        rest = item->rest;
        if (item->source.untag)
            item->source.untag(item->source.tag);
        free(item->line.input);
        free(item->line.output);
        free(item->source.bytes);
        gi_pages_close(&item->source.pages, NULL);
        free(item->made.bytes);
        free(item->made.part);
        gi_line_free_parts(&item->line);
        free(item);
    }
    *out = NULL;
}

const char *gi_item_own_name(const struct gi_item *item)
{
    return item->line.input + item->source.member;
}

void gi_item_refuse(struct gi_item *item, const struct gi_input *input)
{
    const char *name = item->line.output && !input->why ? item->line.output : item->line.input;
    if (strlen(name) >= PATH_MAX)
        item->line.status =
            gi_fail(&item->line.err, GI_E_IO, "%s: is a name of %zu bytes: want at most %d", name,
                    strlen(name), PATH_MAX - 1);
    else if (input->why)
        item->line.status = gi_fail(&item->line.err, GI_E_IO, "%s: %s", name, strerror(input->why));
}

void gi_item_blame(struct gi_item *item)
{
    if (item->line.status != GI_E_IO || !item->line.output)
        return;
    char *start = gi_small_copy(item->line.output), *channel = strstr(start, "{channel}");
    if (channel)
        *channel = '\0'; /* its results are in a folder */
    if (item->line.in_parts)
        gi_naming_cut_size(start);
    if (!gi_output_has_folder(start))
        item->line.status = item->line.err.status = GI_E_AGAIN;
    free(start);
}

bool gi_item_met_full_disk(const struct gi_item *item)
{
    static const int full[] = {ENOSPC, EDQUOT};
    const char *text = item->line.err.text;
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        const char *why = strerror(full[i]);
        size_t n = strlen(text), length = strlen(why);
        if (item->line.status == GI_E_AGAIN && n > length && strcmp(text + n - length, why) == 0)
            return true;
    }
    return false;
}

void gi_item_note_input(struct gi_item *item)
{
    struct gi_line *line = &item->line;
    char *input = line->input;
    if (item->source.bytes)
        line->input = NULL;
    gi_line_note_input(line);
    line->input = input;
    if (item->source.bytes)
        line->input_file.nbytes = item->source.nbytes;
}

void gi_item_note_output(struct gi_item *item)
{
    if (item->made.bytes)
        item->line.output_file.nbytes = item->made.nbytes;
    else
        gi_line_note_output(&item->line);
}
