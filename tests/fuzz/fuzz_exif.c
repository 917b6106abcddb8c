/* Fuzzes the readers and editors of EXIF blocks, XMP and IPTC.
 * Sources: imgio/metadata/exif* imgio/metadata/facts* imgio/metadata/xmp* imgio/metadata/iptc*
 * imgio/tiff/tags* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/metadata/exif.h"
#include "imgio/metadata/facts.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/xmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

/* Reads the bytes as each of the kinds of metadata. */
static void find_facts(uint8_t *block, size_t nbytes)
{
    struct gi_metadata metadata = {
        .exif = block, .exif_nbytes = nbytes, .xmp = block, .xmp_nbytes = nbytes};
    struct gi_facts facts;
    gi_facts_find(&facts, &metadata);
    gi_facts_free(&facts);
    free(gi_iptc_text(block, nbytes, GI_IPTC_KEYWORD));
    gi_exif_set_size(block, nbytes, 70000, 70000);
}

static void change_xmp(const uint8_t *bytes, size_t nbytes)
{
    void *xmp = malloc(nbytes ? nbytes : 1);
    if (!xmp)
        return;
    memcpy(xmp, bytes, nbytes);
    gi_xmp_set_integer(&xmp, &nbytes, "tiff:ImageWidth", 70000, NULL);
    if (gi_iptc_forget_place(xmp, nbytes) > nbytes)
        abort();
    free(xmp);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    uint8_t *block = malloc(nbytes ? nbytes : 1);
    if (!block)
        return 0;
    memcpy(block, bytes, nbytes);
    find_facts(block, nbytes);
    change_xmp(bytes, nbytes);
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
