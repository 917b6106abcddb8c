/* Fuzzes PNGs that stay coded, with the primitive that decodes their streams. It must refuse the
 * file or give the samples and the warning of imgio. The copy of the file that stays must have the
 * answer of the file. Checksums are mended first, or nearly all inputs would be refused by them.
 * Sources: imgio/png/png* codec
 * SPDX-License-Identifier: MIT */
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

/* Compares the answers of imgio to two files. */
static void compare_answers(const uint8_t *a, size_t a_nbytes, const uint8_t *b, size_t b_nbytes)
{
    const struct gi_load_options options = {.limits = {1 << 20, 1 << 24}};
    struct gi_image images[2];
    struct gi_err warnings[2] = {0}, errs[2] = {0};
    enum gi_status status[] = {gi_load_memory(&images[0], NULL, NULL, a, a_nbytes, "fuzz", &options,
                                              &warnings[0], &errs[0]),
                               gi_load_memory(&images[1], NULL, NULL, b, b_nbytes, "fuzz", &options,
                                              &warnings[1], &errs[1])};
    if (status[0] != status[1] || strcmp(errs[0].text, errs[1].text) != 0 ||
        strcmp(warnings[0].text, warnings[1].text) != 0)
        abort();
    if (!status[0])
        coded_equal(&images[0], &images[1]);
    gi_image_free(&images[0]);
    gi_image_free(&images[1]);
}

/* Returns whether the file stays coded. */
static bool try_file(const uint8_t *bytes, size_t nbytes, struct gi_image *image)
{
    if (coded_load(image, bytes, nbytes, GI_CODED_PNG, NULL) || !image->coded)
        return false;
    coded_compare(image, bytes, nbytes);
    compare_answers(bytes, nbytes, image->coded->file.data, (size_t)image->coded->file.width);
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
    mend_crcs(copy, nbytes);
    if (try_file(copy, nbytes, &image)) {
        uint8_t *file = image.coded->file.data;
        mend_sum(file + image.coded->scan_at, image.coded->scan_nbytes);
        mend_crcs(file, (size_t)image.coded->file.width);
        try_file(file, (size_t)image.coded->file.width, &again);
    }
    gi_image_free(&again);
    gi_image_free(&image);
    free(copy);
    return 0;
}
