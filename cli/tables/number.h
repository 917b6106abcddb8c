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

/* Writes integers below 2^53 without a fraction; from 1 to 9e6 nine decimals without trailing zeros
 * (at least ten digits, enough to restore a float); else twelve digits. NaN and infinity:
 * `nothing`. */
char *gi_number_real(char *to, double value, const char *nothing);

#endif
