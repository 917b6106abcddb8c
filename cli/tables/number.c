/* Prints numbers, about five times as fast as printf(), because tables have millions of numbers.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *gi_number_whole(char *to, uint64_t value)
{
    char digits[20], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    size_t n = (size_t)(digits + sizeof digits - p);
    memcpy(to, p, n);
    return to + n;
}

/* Writes `billionths` as nine decimals, without trailing zeros. */
static char *decimals(char *to, uint32_t billionths)
{
    *to++ = '.';
    for (uint32_t unit = 100000000; billionths; unit /= 10) {
        *to++ = (char)('0' + billionths / unit);
        billionths %= unit;
    }
    return to;
}

char *gi_number_real(char *to, double value, const char *nothing)
{
    double size = fabs(value);
    if (!isfinite(value)) {
        size_t n = strlen(nothing);
        memcpy(to, nothing, n);
        return to + n;
    }
    bool whole = size < 9007199254740992.0 && size == floor(size);
    if (!whole && !(size >= 1 && size < 9e6))
        return to + snprintf(to, GI_NUMBER_NBYTES, "%.12g", value);
    if (value < 0)
        *to++ = '-';
    if (whole)
        return gi_number_whole(to, (uint64_t)size);
    uint64_t scaled = (uint64_t)llrint(size * 1e9);
    to = gi_number_whole(to, scaled / 1000000000);
    return scaled % 1000000000 ? decimals(to, (uint32_t)(scaled % 1000000000)) : to;
}
