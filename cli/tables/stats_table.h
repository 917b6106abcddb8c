/* The outputs of gpuimg stats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli/tables/table_file.h"
#include "filters/statistics/stats_total.h"

/* Prints the findings of an image to `out`, or to `sink` if the format is GI_TABLE_NPY. Errors:
 * GI_E_MEMORY, and as gi_sink_write(). */
enum gi_status gi_stats_print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                              const struct gi_findings *report, struct gi_err *err);
/* Prints the statistics of all images in the form of an image's, as JSON or as CSV. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_stats_print_total(FILE *out, const struct gi_stats_total *sums,
                                    const struct gi_stats_params *p, bool json, struct gi_err *err);
