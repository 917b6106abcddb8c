/* Fuzzes the PNG coder "runs". libdeflate must inflate the stream to the input, and instruction
 * levels must agree. The first byte of the input says how often the others are repeated, so that
 * short inputs fill several blocks.
 * Sources: imgio/png/png_runs imgio/png/runs_*
 * SPDX-License-Identifier: MIT */
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/png/png_filter.h"
#include "imgio/png/png_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static void check_inflate(const uint8_t *stream, size_t stream_nbytes, const uint8_t *data,
                          size_t n)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    uint8_t *back = malloc(n);
    size_t used, made;
    if (!d || !back ||
        libdeflate_deflate_decompress_ex(d, stream, stream_nbytes, back, n, &used, &made) ||
        used != stream_nbytes || made != n || memcmp(back, data, n) != 0)
        abort();
    libdeflate_free_decompressor(d);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 2 || nbytes > 1 << 16)
        return 0;
    size_t part = nbytes - 1, n = part * (1 + bytes[0] % 128);
    uint8_t *data = malloc(n), *first = malloc(gi_runs_bound(n)), *other = malloc(gi_runs_bound(n));
    struct gi_runs *runs = malloc(sizeof *runs);
    if (!data || !first || !other || !runs)
        abort();
    for (size_t at = 0; at < n; at += part)
        memcpy(data + at, bytes + 1, part);
    runs->avx2 = false;
    bool suit = gi_runs_suit(runs, data, n);
    size_t made = gi_runs_code(runs, first, data, n, true);
    check_inflate(first, made, data, n);
    runs->avx2 = gi_png_has_avx2();
    if (gi_runs_suit(runs, data, n) != suit || gi_runs_code(runs, other, data, n, true) != made ||
        memcmp(first, other, made) != 0)
        abort();
    free(data);
    free(first);
    free(other);
    free(runs);
    return 0;
}
