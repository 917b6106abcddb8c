/* Selects samples by rank, bit by bit from the highest: a bit is set if at most `rank` samples are
 * below the value found so far with that bit. Vectors run across positions, which no sort allows.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_rank.h"

#include <string.h>

bool gi_rank_takes(enum gi_type type, size_t n)
{
    return (type == GI_U8 || type == GI_U16) && n <= UINT16_MAX;
}

/* How many of the samples are less than `bound`. */
static void count_u8(uint16_t counts[GI_RANK_PLACES], const struct gi_stack_samples_band *band,
                     size_t n, size_t first, const uint16_t bound[GI_RANK_PLACES])
{
    uint8_t limit[GI_RANK_PLACES];
    for (int i = 0; i < GI_RANK_PLACES; i++)
        limit[i] = (uint8_t)bound[i];
    memset(counts, 0, GI_RANK_PLACES * sizeof *counts);
    for (size_t k = 0; k < n; k += UINT8_MAX) {
        uint8_t some[GI_RANK_PLACES] = {0}; /* of as many images as a byte can count */
        size_t end = n - k < UINT8_MAX ? n : k + UINT8_MAX;
        for (size_t j = k; j < end; j++) {
            const uint8_t *v = band->at + j * band->stride + first;
            for (int i = 0; i < GI_RANK_PLACES; i++)
                some[i] = (uint8_t)(some[i] + (v[i] < limit[i]));
        }
        for (int i = 0; i < GI_RANK_PLACES; i++)
            counts[i] = (uint16_t)(counts[i] + some[i]);
    }
}

static void count_u16(uint16_t counts[GI_RANK_PLACES], const struct gi_stack_samples_band *band,
                      size_t n, size_t first, const uint16_t bound[GI_RANK_PLACES])
{
    memset(counts, 0, GI_RANK_PLACES * sizeof *counts);
    for (size_t k = 0; k < n; k++) {
        const uint16_t *v = (const uint16_t *)(const void *)(band->at + k * band->stride) + first;
        for (int i = 0; i < GI_RANK_PLACES; i++)
            counts[i] = (uint16_t)(counts[i] + (v[i] < bound[i]));
    }
}

void gi_rank(uint16_t out[GI_RANK_PLACES], const struct gi_stack_samples_band *band, size_t n,
             enum gi_type type, size_t first, size_t rank)
{
    uint16_t bound[GI_RANK_PLACES], counts[GI_RANK_PLACES];
    memset(out, 0, GI_RANK_PLACES * sizeof *out);
    for (int bit = type == GI_U8 ? 7 : 15; bit >= 0; bit--) {
        for (int i = 0; i < GI_RANK_PLACES; i++)
            bound[i] = (uint16_t)(out[i] | 1u << bit);
        if (type == GI_U8)
            count_u8(counts, band, n, first, bound);
        else
            count_u16(counts, band, n, first, bound);
        for (int i = 0; i < GI_RANK_PLACES; i++)
            out[i] = counts[i] <= rank ? bound[i] : out[i];
    }
}
