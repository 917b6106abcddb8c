/* Finds the images that are one behind the other in a file.
 * SPDX-License-Identifier: MIT */
#include "imgio/image_next.h"

#include <limits.h>
#include <string.h>

#include "imgio/image_stream.h"
#include "imgio/integer.h"
#include "imgio/jpeg/jpeg_markers.h"
#include "imgio/pnm/pnm_header.h"
#include "imgio/pnm/pnm_stream.h"

enum gi_status gi_file_bytes_copy(const struct gi_file_bytes *file, void *to, size_t nbytes,
                                  uint64_t from, size_t *got, struct gi_err *err)
{
    if (file->reader)
        return gi_reader_glance(file->reader, to, nbytes, from, got, err);
    size_t left = from < file->nbytes ? file->nbytes - (size_t)from : 0;
    *got = nbytes < left ? nbytes : left;
    if (*got)
        memcpy(to, file->at + from, *got);
    return GI_OK;
}

bool gi_image_follows(const unsigned char *bytes, size_t nbytes, size_t *spaces)
{
    enum { SPACES_MAX = 48 };
    size_t n = 0;
    while (n < nbytes && n < SPACES_MAX && gi_pnm_is_space(bytes[n]))
        n++;
    if (spaces)
        *spaces = n;
    return gi_image_stream_starts(bytes + n, nbytes - n) || gi_pnm_starts(bytes + n, nbytes - n);
}

/* Sets *end to the end of the PNG at offset `at`, or to 0 if it is damaged. */
static enum gi_status find_png_end(uint64_t *end, const struct gi_file_bytes *file, uint64_t at,
                                   struct gi_err *err)
{
    enum { SIGNATURE = 8 };
    unsigned char head[8];
    enum gi_status status;
    size_t got;
    at += SIGNATURE;
    for (bool last = false; !last; at += 12 + (uint64_t)gi_big32(head)) {
        status = gi_file_bytes_copy(file, head, sizeof head, at, &got, err);
        if (status || got < sizeof head)
            return status;
        last = memcmp(head + 4, "IEND", 4) == 0;
    }
    *end = at;
    return GI_OK;
}

/* Moves *at over entropy-coded data to the next marker, except restart markers (ITU-T T.81,
 * B.1.1.5). Sets *at to 0 if there is none. */
static enum gi_status pass_scan(uint64_t *at, const struct gi_file_bytes *file, struct gi_err *err)
{
    unsigned char bytes[1 << 16];
    size_t got, n = 512; /* short scans may be many */
    for (;; n = sizeof bytes) {
        enum gi_status status = gi_file_bytes_copy(file, bytes, n, *at, &got, err);
        if (status || got < 2) {
            *at = 0;
            return status;
        }
        const unsigned char *p = bytes, *last = bytes + got - 1;
        while ((p = memchr(p, 0xff, (size_t)(last - p))) &&
               (p[1] == 0 || (p[1] >= GI_JPEG_RST0 && p[1] < GI_JPEG_SOI)))
            p++;
        *at += (size_t)((p ? p : last) - bytes);
        if (p)
            return GI_OK;
    }
}

/* As find_png_end(), for the JPEG, and 0 also if it has an index. */
static enum gi_status find_jpeg_end(uint64_t *end, const struct gi_file_bytes *file, uint64_t at,
                                    struct gi_err *err)
{
    enum { APP2 = 0xe2, FILL = 0xff };
    unsigned char head[8] = {0};
    size_t got;
    for (at += 2; at;) {
        enum gi_status status = gi_file_bytes_copy(file, head, sizeof head, at, &got, err);
        int marker = head[1];
        if (status || got < 2 || head[0] != 0xff ||
            (got == sizeof head && marker == APP2 && memcmp(head + 4, "MPF", 4) == 0))
            return status;
        bool alone = marker == GI_JPEG_TEM || (marker >= GI_JPEG_RST0 && marker <= GI_JPEG_EOI);
        if (marker == GI_JPEG_EOI)
            *end = at + 2;
        if (marker == GI_JPEG_EOI || (!alone && marker != FILL && got < 4))
            return GI_OK;
        at += marker == FILL ? 1 : alone ? 2 : 2 + ((uint64_t)head[2] << 8 | head[3]);
        if (marker == GI_JPEG_SOS && (status = pass_scan(&at, file, err)))
            return status;
    }
    return GI_OK;
}

/* As find_png_end(), for the WebP. */
static enum gi_status find_webp_end(uint64_t *end, const struct gi_file_bytes *file, uint64_t at,
                                    struct gi_err *err)
{
    unsigned char head[8];
    size_t got;
    enum gi_status status = gi_file_bytes_copy(file, head, sizeof head, at, &got, err);
    uint64_t length = got == sizeof head ? gi_little32(head + 4) : 0;
    *end = length < 4 ? 0 : at + sizeof head + length + (length & 1);
    return status;
}

enum gi_status gi_image_next(uint64_t *next, const struct gi_file_bytes *file, uint64_t at,
                             struct gi_err *err)
{
    unsigned char bytes[64];
    size_t got, spaces;
    uint64_t end = 0;
    *next = 0;
    enum gi_status status = gi_file_bytes_copy(file, bytes, sizeof bytes, at, &got, err);
    if (status || !gi_image_stream_starts(bytes, got))
        status = status ? status : gi_pnm_find_end(&end, file, at, err);
    else
        status = bytes[0] == 0xff  ? find_jpeg_end(&end, file, at, err)
                 : bytes[0] == 'R' ? find_webp_end(&end, file, at, err)
                                   : find_png_end(&end, file, at, err);
    if (!status && end)
        status = gi_file_bytes_copy(file, bytes, sizeof bytes, end, &got, err);
    if (!status && end && gi_image_follows(bytes, got, &spaces))
        *next = end + spaces;
    return status;
}

int gi_image_count(const unsigned char *bytes, size_t nbytes)
{
    const struct gi_file_bytes file = {.at = bytes, .nbytes = nbytes};
    uint64_t at = 0;
    int n = 0;
    do
        n++;
    while (n < INT_MAX && gi_image_next(&at, &file, at, NULL) == GI_OK && at);
    return n;
}

enum gi_status gi_image_choose(const unsigned char **bytes, size_t *nbytes, int number,
                               struct gi_err *err)
{
    const struct gi_file_bytes file = {.at = *bytes, .nbytes = *nbytes};
    uint64_t at = 0, next = 0;
    int n = 0;
    enum gi_status status;
    do {
        at = next;
        status = gi_image_next(&next, &file, at, err);
    } while (!status && ++n < number && next);
    if (!status && n < number)
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         n == 1 ? "holds one image: want [0]" : "holds %d images: want [0] to [%d]",
                         n, n - 1);
    if (status)
        return status;
    *bytes += at;
    *nbytes = (size_t)((next ? next : *nbytes) - at);
    return GI_OK;
}
