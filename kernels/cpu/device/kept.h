/* A cache of blocks of host memory. The memory of freed images is reused for later images, because
 * writing to new memory for the first time costs a page fault per page.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

struct gi_kept;

/* NULL: out of memory. */
struct gi_kept *gi_kept_new(void);
/* Frees the cache and sets *kept to NULL. Does nothing if *kept is NULL. All blocks must have been
 * returned to the cache. */
void gi_kept_free(struct gi_kept **kept);

/* Returns the cache as an allocator, valid as long as `kept`. Lent and idle bytes together never
 * exceed the maximum number of bytes that were lent at one time. Idle bytes never exceed a
 * gigabyte. Small blocks are not cached, because malloc() caches them. */
const struct gi_allocator *gi_kept_allocator(const struct gi_kept *kept);
