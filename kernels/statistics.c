/* Arithmetic on integers of several words, and the addition of partial reductions.
 * SPDX-License-Identifier: MIT */
#include "kernels/statistics.h"

__extension__ typedef unsigned __int128 wide;

void gi_exact_add(struct gi_exact *to, uint64_t value, unsigned shift, bool minus)
{
    unsigned word = shift / 64, bit = shift % 64;
    uint64_t parts[2] = {value << bit, bit ? value >> (64 - bit) : 0}, carry = 0;
    for (unsigned i = word; i < GI_EXACT_WORDS && (i < word + 2 || carry); i++) {
        uint64_t part = i < word + 2 ? parts[i - word] : 0;
        wide sum = minus ? (wide)to->w[i] - part - carry : (wide)to->w[i] + part + carry;
        to->w[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64) & 1;
    }
}

static void add_exact(struct gi_exact *to, const struct gi_exact *from)
{
    uint64_t carry = 0;
    for (int i = 0; i < GI_EXACT_WORDS; i++) {
        wide sum = (wide)to->w[i] + from->w[i] + carry;
        to->w[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

void gi_reduction_add(struct gi_reduction *to, const struct gi_reduction *from)
{
    if (from->n && (!to->n || from->min < to->min)) {
        to->min = from->min;
        to->min_at = from->min_at;
    }
    if (from->n && (!to->n || from->max > to->max)) {
        to->max = from->max;
        to->max_at = from->max_at;
    }
    to->n += from->n;
    to->nan += from->nan;
    to->above += from->above;
    to->below += from->below;
    add_exact(&to->sum, &from->sum);
    add_exact(&to->magnitude, &from->magnitude);
    add_exact(&to->square, &from->square);
}
