/* Reads and changes the metadata of a tar's member.
 * SPDX-License-Identifier: MIT */
#include "imgio/tar/tar.h"
#include "imgio/tar/tar_entry.h"

#include <stdlib.h>

#include "imgio/small.h"

struct gi_tar_entry *gi_tar_entry_new(struct archive_entry *from)
{
    struct gi_tar_entry *entry = gi_small_calloc(1, sizeof *entry);
    entry->entry = gi_small_check(gi_libarchive.archive_entry_clone(from));
    return entry;
}

void gi_tar_entry_free(struct gi_tar_entry **entry)
{
    if (*entry)
        gi_libarchive.archive_entry_free((*entry)->entry);
    free(*entry);
    *entry = NULL;
}

const char *gi_tar_entry_name(const struct gi_tar_entry *entry)
{
    locale_t before = gi_tar_enter();
    const char *name = gi_libarchive.archive_entry_pathname(entry->entry);
    gi_tar_leave(before);
    return name ? name : "";
}

bool gi_tar_entry_is_file(const struct gi_tar_entry *entry)
{
    return gi_libarchive.archive_entry_filetype(entry->entry) == AE_IFREG &&
           !gi_libarchive.archive_entry_hardlink(entry->entry);
}

uint64_t gi_tar_entry_nbytes(const struct gi_tar_entry *entry)
{
    la_int64_t nbytes = gi_libarchive.archive_entry_size(entry->entry);
    return nbytes > 0 ? (uint64_t)nbytes : 0;
}

void gi_tar_entry_rename(struct gi_tar_entry *entry, const char *name)
{
    locale_t before = gi_tar_enter();
    gi_libarchive.archive_entry_set_pathname(entry->entry, name);
    gi_tar_leave(before);
}

void gi_tar_entry_resize(struct gi_tar_entry *entry, uint64_t nbytes)
{
    gi_libarchive.archive_entry_sparse_clear(entry->entry);
    gi_libarchive.archive_entry_set_size(entry->entry, (la_int64_t)nbytes);
}
