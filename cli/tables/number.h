/* Numbers as text for tables of many rows.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TABLES_NUMBER_H
#define GI_CLI_TABLES_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { GI_NUMBER_NBYTES = 32 };

/* Writes `value` to `to` (GI_NUMBER_NBYTES at least), never in the locale's way, without an end
 * mark. Returns the end. */
char *gi_number_whole(char *to, uint64_t value);

/* Whole numbers below 2^53 as such; from 1 to 9e6 with nine decimals, trailing zeros dropped (at
 * least ten digits, enough to get a float back); else with twelve digits. NaN and infinity:
 * `nothing`. */
char *gi_number_real(char *to, double value, const char *nothing);

#endif
