/* Host memory of images that are freed, kept for those that come after: touching new memory for the
 * first time costs a fault a page. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_KEPT_H
#define GI_KERNELS_CPU_KEPT_H

#include "imgio/image.h"

struct gi_kept;

/* NULL: out of memory. */
struct gi_kept *gi_kept_new(void);
/* Everything taken of it has come back. Nulls; NULL: nothing happens. */
void gi_kept_free(struct gi_kept **kept);

/* As long as `kept`. What is lent and what is kept together never come to more than was lent at
 * once, and what is kept to no more than a gigabyte. Small pieces are refused: malloc() keeps
 * those. */
const struct gi_allocator *gi_kept_allocator(const struct gi_kept *kept);

#endif
