/* A cache of host memory blocks: the memory of freed images is reused for later ones, because
 * writing to new memory for the first time costs a page fault per page.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_KEPT_H
#define GI_KERNELS_CPU_KEPT_H

#include "imgio/image.h"

struct gi_kept;

/* NULL: out of memory. */
struct gi_kept *gi_kept_new(void);
/* Frees the cache and sets *kept to NULL; every block taken from it has been given back. NULL:
 * nothing happens. */
void gi_kept_free(struct gi_kept **kept);

/* The cache as an allocator; valid as long as `kept`. Lent and idle bytes together never exceed the
 * maximum that was lent at one time, and idle bytes never exceed a gigabyte. Small blocks are
 * refused: malloc() caches those itself. */
const struct gi_allocator *gi_kept_allocator(const struct gi_kept *kept);

#endif
