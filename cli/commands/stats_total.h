/* The row of `gpuimg stats --total` for all images of a table.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_STATS_TOTAL_H
#define GI_CLI_COMMANDS_STATS_TOTAL_H

#include <stdbool.h>
#include <stddef.h>

#include "imgio/status.h"

struct gi_total;

/* Adds the CSV or JSON of one image to *total, which is NULL at first. Errors: GI_E_MEMORY,
 * GI_E_LIMIT. */
enum gi_status gi_stats_total_add(struct gi_total **total, const char *text, size_t nbytes,
                                  bool json, struct gi_err *err);
/* Prints the statistics of all images in the same form, with a row per channel, to *text, which the
 * caller frees. *text is NULL if there were no images. Values that can't be computed from those of
 * single images (positions, entropy, percentiles) are missing. Frees *total and sets it to NULL.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_stats_total_take(struct gi_total **total, char **text, size_t *nbytes,
                                   struct gi_err *err);

#endif
