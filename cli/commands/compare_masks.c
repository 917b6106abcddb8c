/* Finds the mask of each pair in a folder of masks.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/compare_masks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "imgio/small.h"

struct gi_compare_masks {
    struct gi_list list;
    struct gi_input **sorted; /* by the path within the folder */
    size_t root;              /* where that path begins in the first name of a pair */
};

static const char *within(const struct gi_input *input)
{
    return input->path + input->root;
}

static int by_place(const void *a, const void *b)
{
    return strcmp(within(*(struct gi_input *const *)a), within(*(struct gi_input *const *)b));
}

static int is_at(const void *place, const void *mask)
{
    return strcmp(place, within(*(struct gi_input *const *)mask));
}

static struct gi_input **find(const struct gi_compare_masks *masks, const char *place)
{
    return bsearch(place, masks->sorted, masks->list.n, sizeof *masks->sorted, is_at);
}

/* Warns of masks that are for no pair. */
static void check_used(const struct gi_compare_masks *masks, const struct gi_batch_files *files)
{
    size_t n = masks->list.n, unused = 0;
    bool *used = gi_small_calloc(n + 1, sizeof *used);
    for (size_t i = 0; i < files->in.list.n; i++) {
        struct gi_input **mask = find(masks, within(&files->in.list.inputs[i]));
        if (mask)
            used[mask - masks->sorted] = true;
    }
    size_t first = n;
    for (size_t i = n; i-- > 0;)
        if (!used[i]) {
            first = i;
            unused++;
        }
    if (unused == 1)
        gi_cli_warn("--ignore: %s: no pair has this name", masks->sorted[first]->path);
    else if (unused)
        gi_cli_warn("--ignore: %s and %zu more: no pairs have these names",
                    masks->sorted[first]->path, unused - 1);
    free(used);
}

enum gi_status gi_compare_masks_new(struct gi_compare_masks **out, const char *folder,
                                    const struct gi_batch_files *files, struct gi_err *err)
{
    struct gi_compare_masks *masks = *out = gi_small_calloc(1, sizeof *masks);
    char *const folders[] = {(char *)folder};
    enum gi_status status = gi_list_operands(&masks->list, folders, 1, true, err);
    masks->sorted = status ? NULL : gi_list_sorted(&masks->list, err);
    if (!status && !masks->sorted)
        status = GI_E_MEMORY;
    if (status)
        return gi_err_prefix(err, "--ignore");
    qsort(masks->sorted, masks->list.n, sizeof *masks->sorted, by_place);
    masks->root = files->in.list.n ? files->in.list.inputs[0].root : 0;
    if (!masks->list.n)
        return gi_fail(err, GI_E_USAGE, "--ignore %s: has no images", folder);
    if (!files->rules) /* otherwise some pairs are not chosen */
        check_used(masks, files);
    return GI_OK;
}

const char *gi_compare_mask(const struct gi_compare_masks *masks, const char *input)
{
    struct gi_input **mask = find(masks, input + masks->root);
    return mask ? (*mask)->path : NULL;
}

void gi_compare_masks_free(struct gi_compare_masks **out)
{
    struct gi_compare_masks *masks = *out;
    *out = NULL;
    if (!masks)
        return;
    free(masks->sorted);
    gi_list_free(&masks->list);
    free(masks);
}
