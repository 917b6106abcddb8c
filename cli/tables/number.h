/* Prints numbers for tables of many rows.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GI_NUMBER_NBYTES = 32 };

/* Writes `value` to `to`, which has room for GI_NUMBER_NBYTES, in the same form in every locale and
 * without a terminating zero. Returns the end. */
char *gi_number_whole(char *to, uint64_t value);

/* Writes `value` like gi_number_whole(). Integers below 2^53 have no fraction. Other numbers from 1
 * to 9e6 have nine decimals without trailing zeros, from which a float can be restored; all others
 * have twelve digits. NaN and infinity become the text `nothing`. */
char *gi_number_real(char *to, double value, const char *nothing);
