/* Prints numbers for tables of many rows.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TABLES_NUMBER_H
#define GI_CLI_TABLES_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { GI_NUMBER_NBYTES = 32 };

/* Writes `value` to `to` (at least GI_NUMBER_NBYTES), independently of the locale, without a
 * terminating zero. Returns the end. */
char *gi_number_whole(char *to, uint64_t value);

/* Writes `value` like gi_number_whole(). Integers below 2^53 have no fraction. Other numbers from 1
 * to 9e6 have nine decimals without trailing zeros, which is enough to restore a float; all others
 * have twelve digits. NaN and infinity are written as the text `nothing`. */
char *gi_number_real(char *to, double value, const char *nothing);

#endif
