/* Gray pictures in hexadecimal digits: "digits WIDTH HEIGHT", then a line per row. The digit f is
 * white.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"

#include <stdio.h>
#include <string.h>

static bool probe_digits(const unsigned char *bytes, size_t nbytes)
{
    return nbytes > 7 && memcmp(bytes, "digits ", 7) == 0;
}

/* Row y from `width` bytes. */
static enum gi_status read_row(struct gi_decode *decode, int y, const unsigned char *at,
                               struct gi_err *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char *row = gi_row(decode->image, y);
    for (int x = 0; x < decode->image->width; x++) {
        const char *digit = memchr(digits, at[x], 16);
        if (!digit)
            return gi_decode_damaged_at(decode, err, y, "has byte %u where a digit should be",
                                        at[x]);
        row[x] = (unsigned char)(17 * (digit - digits));
    }
    return GI_OK;
}

static enum gi_status decode_digits(struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *at = decode->bytes, *end = at + decode->nbytes;
    char head[32] = "";
    unsigned width, height;
    int n = 0;
    memcpy(head, at, decode->nbytes < sizeof head ? decode->nbytes : sizeof head - 1);
    if (sscanf(head, "digits %9u %9u%n", &width, &height, &n) != 2 || head[n] != '\n')
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: want width and height");
    decode->info->bits = 4;
    decode->info->maxval = 15;
    enum gi_status status = gi_decode_alloc(decode, width, height, 1, GI_U8, err);
    if (status || decode->options->header_only)
        return status;
    at += n + 1;
    for (int y = 0; y < decode->image->height && !status; y++, at += width + 1) {
        if (at > end || end - at < (ptrdiff_t)width)
            return gi_decode_damaged_at(decode, err, y, "ends early");
        status = read_row(decode, y, at, err);
    }
    return status;
}

const struct gi_format gi_format_digits = {
    .info = {.name = "digits",
             .suffixes = "digits",
             .summary = "Hexadecimal digits",
             .reads = true},
    .probe = probe_digits,
    .decode = decode_digits,
};
