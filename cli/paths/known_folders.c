/* Makes the folders of outputs when they are needed.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/known_folders.h"

#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"
#include "imgio/small.h"

enum { SLOTS = 1 << 16 };

/* The hashes of folders, each at the slot of its lower bits; 0: none. A folder that another one has
 * replaced is made again, which finds that it exists. */
struct gi_known_folders {
    uint64_t hashes[SLOTS];
};

enum gi_status gi_known_folders_make(struct gi_known_folders **folders,
                                     const struct gi_naming *naming, const struct gi_list *one,
                                     const char *output, struct gi_err *err)
{
    const char *slash = strrchr(output, '/');
    uint64_t hash = gi_hash(GI_HASH_START, output, slash ? (size_t)(slash - output) : 0);
    if (!*folders)
        *folders = gi_small_calloc(1, sizeof **folders);
    uint64_t *slot = &(*folders)->hashes[hash % SLOTS];
    if (*slot == hash)
        return GI_OK;
    enum gi_status status = gi_naming_folders(naming, one, err);
    if (!status)
        *slot = hash;
    return status;
}

void gi_known_folders_free(struct gi_known_folders **folders)
{
    free(*folders);
    *folders = NULL;
}
