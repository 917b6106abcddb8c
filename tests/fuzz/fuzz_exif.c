/* Fuzzes the readers and editors of EXIF blocks.
 * Sources: imgio/exif*
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/exif.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    uint8_t *block = malloc(nbytes ? nbytes : 1);
    if (!block)
        return 0;
    memcpy(block, bytes, nbytes);
    int before = gi_exif_orientation(block, nbytes);
    char date[11];
    gi_exif_date(date, block, nbytes);
    gi_exif_reset(block, nbytes);
    if (before < 1 || before > 8 || gi_exif_orientation(block, nbytes) != 1)
        abort();
    gi_exif_forget_place(block, nbytes);
    free(block);
    return 0;
}
