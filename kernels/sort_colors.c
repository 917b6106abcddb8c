/* Counts colours by sorting them as integers, with an LSD radix sort of one byte per pass.
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"

#include <stdlib.h>

/* Sorts `from` into `to` by one byte. Returns false at once if this byte is the same in all
 * elements. */
static bool sort_byte(uint64_t *to, const uint64_t *from, size_t n, unsigned byte)
{
    size_t counts[256] = {0}, at = 0;
    for (size_t i = 0; i < n; i++)
        counts[from[i] >> 8 * byte & 255]++;
    if (counts[from[0] >> 8 * byte & 255] == n)
        return false;
    for (int d = 0; d < 256; d++) {
        size_t count = counts[d];
        counts[d] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[from[i] >> 8 * byte & 255]++] = from[i];
    return true;
}

static enum gi_status list_sorted(struct gi_colors *found, const uint64_t *colors, size_t n,
                                  struct gi_err *err)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += i == 0 || colors[i] != colors[i - 1];
    found->each = malloc(all * sizeof *found->each);
    if (!found->each)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", all);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || colors[i] != colors[i - 1])
            found->each[found->n++] = (struct gi_color_count){colors[i], 0};
        found->each[found->n - 1].count++;
    }
    return GI_OK;
}

enum gi_status gi_colors_sort(struct gi_colors *found, uint64_t *colors, size_t n, unsigned bits,
                              struct gi_err *err)
{
    uint64_t *other = malloc(n * sizeof *other);
    enum gi_status status = GI_OK;
    *found = (struct gi_colors){0};
    if (!other)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", n);
    for (unsigned byte = 0; byte < bits / 8 && !status; byte++)
        if (sort_byte(other, colors, n, byte)) {
            uint64_t *sorted = other;
            other = colors;
            colors = sorted;
        }
    if (!status)
        status = list_sorted(found, colors, n, err);
    free(colors);
    free(other);
    return status;
}
