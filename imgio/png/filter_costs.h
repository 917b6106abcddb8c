/* A template that png_filter.c includes once per width of vectors. It computes the bytes of all
 * five filters of a row at once, without storing more than those of one filter. Macros before it:
 *
 *     NAME(name)      the function's name for this width
 *     TARGET          attribute that lets the compiler use the instructions
 *     BYTES           type of a vector of bytes, which takes C's operators (GCC's vector extension)
 *     MIN MAX         of two vectors
 *     MEAN(a, b)      (a + b + 1) / 2
 *     SUMS            type of a vector of sums
 *     ADD(sums, v)    adds |v| to the sums, with bytes of v read as signed numbers
 *     TOTAL(sums)     the sum of the sums
 *
 * SPDX-License-Identifier: MIT */

/* Returns Paeth's predictor (PNG 1.2, 6.6) of the bytes to the left (a), above (b) and above the
 * left (c), in 8 bits. Its distances are pa = |b - c|, pb = |a - c| and pc = |a + b - 2c|. If b - c
 * and a - c have opposite signs, pc is |pa - pb|. Otherwise pc is the sum of both, so c is not
 * chosen, and 255 has the same effect. */
TARGET static inline BYTES NAME(paeth)(BYTES a, BYTES b, BYTES c)
{
    BYTES a_high = MAX(a, c), b_high = MAX(b, c);
    BYTES a_above = a_high - c, a_below = a_high - a, b_above = b_high - c, b_below = b_high - b;
    BYTES pa = b_above | b_below, pb = a_above | a_below;
    BYTES opposite = MIN(a_above, b_below) | MIN(a_below, b_above);
    BYTES pc = (MAX(pa, pb) - MIN(pa, pb)) | (BYTES)(opposite == 0);
    BYTES pb_pc = MIN(pb, pc);
    BYTES to_b = (BYTES)(pb_pc == pb), to_a = (BYTES)(MIN(pa, pb_pc) == pa);
    BYTES other = (to_b & b) | (~to_b & c);
    return (to_a & a) | (~to_a & other);
}

TARGET static inline BYTES NAME(load)(const uint8_t *p)
{
    BYTES v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Adds the costs of bytes `at` to n - 1, in whole vectors, to `costs`, and writes the bytes of
 * GI_PNG_PAETH to `out`. `at` is at least bpp. Returns the index after the last byte that is done.
 */
TARGET static size_t NAME(costs)(uint64_t *costs, uint8_t *out, const uint8_t *row,
                                 const uint8_t *above, size_t at, size_t n, size_t bpp)
{
    SUMS none = {0}, sub = {0}, up = {0}, average = {0}, paeth = {0};
    for (; at + sizeof(BYTES) <= n; at += sizeof(BYTES)) {
        BYTES v = NAME(load)(row + at), a = NAME(load)(row + at - bpp);
        BYTES b = NAME(load)(above + at), c = NAME(load)(above + at - bpp);
        BYTES by_paeth = v - NAME(paeth)(a, b, c);
        memcpy(out + at, &by_paeth, sizeof by_paeth);
        ADD(none, v);
        ADD(sub, v - a);
        ADD(up, v - b);
        ADD(average, v - (MEAN(a, b) - ((a ^ b) & 1))); /* the mean is rounded down */
        ADD(paeth, by_paeth);
    }
    costs[GI_PNG_NONE] += TOTAL(none);
    costs[GI_PNG_SUB] += TOTAL(sub);
    costs[GI_PNG_UP] += TOTAL(up);
    costs[GI_PNG_AVERAGE] += TOTAL(average);
    costs[GI_PNG_PAETH] += TOTAL(paeth);
    return at;
}

#undef NAME
#undef TARGET
#undef BYTES
#undef MIN
#undef MAX
#undef MEAN
#undef SUMS
#undef ADD
#undef TOTAL
