/* What a chain that ends in an analysis makes of many images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_TABLES_TABLES_H
#define GI_CLI_TABLES_TABLES_H

#include "imgio/status.h"

#include <stdbool.h>

/* A table each is called .csv, or an array .npy, unless *suffix (--suffix) says otherwise. Errors:
 * GI_E_USAGE where it is one of no table, or no array. */
enum gi_status gi_tables_suffix(const char **suffix, bool arrays, struct gi_err *err);

#endif
