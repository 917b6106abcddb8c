/* Fuzzes PNGs that stay coded, with the primitive that decodes their streams. It must refuse the
 * file or give the samples and the warning of imgio. After a try with the CRCs as they are,
 * checksums are mended, or nearly all inputs would be refused by them. Sources: imgio/png/png*
 * codec SPDX-License-Identifier: MIT */
#include "coded.h"

#include <zlib.h>

#include "imgio/integer.h"

enum { SIGNATURE = 8, HEAD = 8, SUM = 4, RAW_MAX = 1 << 22 };

static void mend_crcs(uint8_t *bytes, size_t nbytes)
{
    for (size_t at = SIGNATURE; nbytes - at >= HEAD + SUM;) {
        size_t n = gi_big32(bytes + at);
        if (n > nbytes - at - HEAD - SUM)
            return;
        gi_put_big32(bytes + at + HEAD + n, (uint32_t)crc32(0, bytes + at + 4, (uInt)n + 4));
        at += n + HEAD + SUM;
    }
}

/* Replaces the checksum at the end of the stream, if zlib inflates that far. */
static void mend_sum(uint8_t *stream, size_t nbytes)
{
    z_stream z = {.next_in = stream, .avail_in = (uInt)nbytes, .avail_out = RAW_MAX};
    uint8_t *raw = malloc(RAW_MAX);
    z.next_out = raw;
    if (!raw || inflateInit(&z))
        abort();
    inflate(&z, Z_FINISH);
    if (z.total_in >= SUM)
        gi_put_big32(stream + z.total_in - SUM, (uint32_t)adler32(1, raw, (uInt)z.total_out));
    inflateEnd(&z);
    free(raw);
}

/* Mends the checksum of the stream that the IDAT chunks of the file hold. */
static void mend_stream(uint8_t *bytes, const struct gi_coded *coded)
{
    uint8_t *stream = malloc(coded->scan_nbytes), *data = bytes + coded->scan_at, *to = stream;
    const struct gi_png_idat *idats = coded->idats;
    if (!stream)
        abort();
    for (uint32_t i = 0; i < coded->nidats; to += idats[i++].nbytes)
        memcpy(to, data + idats[i].at, idats[i].nbytes);
    mend_sum(stream, (size_t)(to - stream));
    to = stream;
    for (uint32_t i = 0; i < coded->nidats; to += idats[i++].nbytes)
        memcpy(data + idats[i].at, to, idats[i].nbytes);
    free(stream);
}

/* Returns whether the file stays coded. */
static bool try_file(const uint8_t *bytes, size_t nbytes, struct gi_image *image)
{
    if (coded_load(image, bytes, nbytes, GI_CODED_PNG, NULL) || !image->coded)
        return false;
    coded_compare(image, bytes, nbytes);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_image image = {0}, again = {0};
    if (nbytes < SIGNATURE || memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE) != 0)
        return 0;
    uint8_t *copy = malloc(nbytes);
    if (!copy)
        return 0;
    memcpy(copy, bytes, nbytes);
    try_file(copy, nbytes, &image);
    gi_image_free(&image);
    mend_crcs(copy, nbytes);
    if (try_file(copy, nbytes, &image)) {
        mend_stream(copy, image.coded);
        mend_crcs(copy, nbytes);
        try_file(copy, nbytes, &again);
    }
    gi_image_free(&again);
    gi_image_free(&image);
    free(copy);
    return 0;
}
