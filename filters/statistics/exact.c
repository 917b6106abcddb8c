/* Exact arithmetic on integers of several words: multiplication, long division, and one rounding at
 * the end.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/exact.h"

#include <math.h>
#include <string.h>

/* Words that are appended below the dividend. With two such words, the quotient by a 64-bit divisor
 * has at least 64 significant bits, unless the quotient is 0. */
enum { BELOW = 2, QUOTIENT = GI_EXACT_WORDS + BELOW };

__extension__ typedef unsigned __int128 wide;

static bool is_negative(const struct gi_exact *a)
{
    return a->w[GI_EXACT_WORDS - 1] >> 63;
}

static struct gi_exact negated(const struct gi_exact *a)
{
    struct gi_exact minus;
    uint64_t carry = 1;
    for (int i = 0; i < GI_EXACT_WORDS; i++) {
        minus.w[i] = ~a->w[i] + carry;
        carry = carry && minus.w[i] == 0;
    }
    return minus;
}

/* Returns the integer `words`, lowest word first, times 2^unit, rounded half to even. If `rest` is
 * set, the number has more bits, not all 0, below the words, and the words must have at least 64
 * significant bits. */
static double rounded(const uint64_t words[QUOTIENT], bool rest, int unit)
{
    int top = QUOTIENT - 1;
    while (top > 0 && !words[top])
        top--;
    if (!words[top])
        return 0;
    int zeros = __builtin_clzll(words[top]);
    uint64_t head = words[top] << zeros, below = top ? words[top - 1] : 0;
    if (zeros)
        head |= below >> (64 - zeros);
    rest = rest || (uint64_t)(below << zeros) != 0;
    for (int i = 0; i < top - 1; i++)
        rest = rest || words[i];
    uint64_t kept = head >> 11, half = head >> 10 & 1;
    rest = rest || (head & 0x3ff);
    kept += half && (rest || (kept & 1));
    return ldexp((double)kept, unit + 64 * top - zeros + 11);
}

double gi_exact_quotient(const struct gi_exact *a, int unit, uint64_t divisor)
{
    bool negative = is_negative(a);
    struct gi_exact size = negative ? negated(a) : *a;
    uint64_t quotient[QUOTIENT], left = 0;
    for (int i = QUOTIENT - 1; i >= 0; i--) {
        wide part = (wide)left << 64 | (i < BELOW ? 0 : size.w[i - BELOW]);
        quotient[i] = (uint64_t)(part / divisor);
        left = (uint64_t)(part % divisor);
    }
    double value = rounded(quotient, left != 0, unit - 64 * BELOW);
    return negative ? -value : value;
}

/* Adds a * b * 2^(64 * at) to `to`, or subtracts the product if `minus` is set. */
static void add_product(struct gi_exact *to, const struct gi_exact *a, uint64_t b, int at,
                        bool minus)
{
    for (int i = 0; i + at < GI_EXACT_WORDS; i++) {
        wide product = (wide)a->w[i] * b;
        unsigned shift = 64 * (unsigned)(i + at);
        gi_exact_add(to, (uint64_t)product, shift, minus);
        if (shift + 64 < 64 * GI_EXACT_WORDS)
            gi_exact_add(to, (uint64_t)(product >> 64), shift + 64, minus);
    }
}

struct gi_exact gi_exact_spread(const struct gi_reduction *found)
{
    struct gi_exact sum = is_negative(&found->sum) ? negated(&found->sum) : found->sum;
    struct gi_exact spread = {{0}};
    add_product(&spread, &found->square, found->n, 0, false);
    for (int i = 0; i < GI_EXACT_WORDS; i++)
        add_product(&spread, &sum, sum.w[i], i, true);
    return spread;
}

struct gi_exact gi_exact_spread_of_two(const struct gi_reduction *x, const struct gi_reduction *y,
                                       const struct gi_reduction *difference)
{
    bool minus = is_negative(&x->sum) == is_negative(&y->sum);
    struct gi_exact a = is_negative(&x->sum) ? negated(&x->sum) : x->sum;
    struct gi_exact b = is_negative(&y->sum) ? negated(&y->sum) : y->sum;
    struct gi_exact spread = {{0}};
    add_product(&spread, &x->square, x->n, 0, false);
    add_product(&spread, &y->square, x->n, 0, false);
    add_product(&spread, &difference->square, x->n, 0, true);
    for (int i = 0; i < GI_EXACT_WORDS; i++)
        for (int twice = 0; twice < 2; twice++)
            add_product(&spread, &a, b.w[i], i, minus);
    return spread;
}
