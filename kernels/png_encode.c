/* Memory of the strips of a PNG.
 * SPDX-License-Identifier: MIT */
#include "kernels/png_encode.h"

#include <stdlib.h>

enum gi_status gi_png_strips_alloc(struct gi_png_strips *strips, int nstrips, size_t nbytes,
                                   const struct gi_allocator *allocator, struct gi_err *err)
{
    *strips = (struct gi_png_strips){.nstrips = nstrips, .nbytes = nbytes, .allocator = allocator};
    strips->strips = calloc((size_t)nstrips, sizeof *strips->strips);
    strips->bytes =
        allocator ? allocator->alloc(allocator->self, gi_coded_room(nbytes)) : malloc(nbytes);
    if (strips->strips && strips->bytes)
        return GI_OK;
    gi_png_strips_free(strips);
    return gi_fail(err, GI_E_MEMORY, "out of memory: a PNG of %zu bytes", nbytes);
}

void gi_png_strips_free(struct gi_png_strips *strips)
{
    if (strips->bytes && strips->allocator)
        strips->allocator->free(strips->allocator->self, strips->bytes);
    else
        free(strips->bytes);
    free(strips->strips);
    *strips = (struct gi_png_strips){0};
}
