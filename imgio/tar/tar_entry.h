/* Internals of a tar entry.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/tar/libarchive.h"

struct gi_tar_entry {
    struct archive_entry *entry; /* owned here */
};

/* Makes a copy of `from`. */
struct gi_tar_entry *gi_tar_entry_new(struct archive_entry *from);
