/* Internals of a tar entry.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/tar/libarchive.h"

struct gi_tar_entry {
    struct archive_entry *entry; /* owned here */
};

/* Makes a copy of `from`. Errors: GI_E_MEMORY. */
enum gi_status gi_tar_entry_new(struct gi_tar_entry **entry, struct archive_entry *from,
                                struct gi_err *err);
