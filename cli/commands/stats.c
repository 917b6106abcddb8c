/* gpuimg stats: statistics of the channels of an image, and of many images together.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/tables/stats_table.h"
#include "cli/text.h"
#include "imgio/small.h"

#include <stdlib.h>

/* ---- the command ---- */

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, gi_stats_print, err);
}

static enum gi_status check(const char *input, const char *to, const void *output, void *params,
                            struct gi_err *err)
{
    const struct gi_stats_params *p = params;
    return p->total ? gi_fail(err, GI_E_USAGE, "--total: is for many images: want --table")
                    : gi_table_file_check(input, to, output, params, err);
}

/* ---- the total ---- */

static bool wants_total(const void *params)
{
    return ((const struct gi_stats_params *)params)->total;
}

static void *make_part(const struct gi_findings *findings)
{
    return wants_total(findings->params) ? gi_stats_part_new(findings->result) : NULL;
}

struct gi_total {
    struct gi_stats_total sums;
};

static void add_total(struct gi_total **total, const void *part)
{
    if (!*total)
        *total = gi_small_calloc(1, sizeof **total);
    gi_stats_total_add(&(*total)->sums, part);
}

static enum gi_status take_total(struct gi_total **total, const void *params, bool json,
                                 char **text, size_t *nbytes, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    enum gi_status status = gi_stats_print_total(out, &(*total)->sums, params, json, err);
    *text = gi_text_close(out, &memory);
    *nbytes = memory.nbytes;
    free((*total)->sums.channels);
    free(*total);
    *total = NULL;
    return status;
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_stats,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = check,
    .write = write_report,
    .parts = &gi_stats_parts,
    .wants_total = wants_total,
    .make_part = make_part,
    .add_total = add_total,
    .take_total = take_total,
};

const struct gi_command gi_command_stats = {
    .name = "stats",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg stats photo.png\n"
                "gpuimg stats scan.tif --percentiles 0.1,50,99.9 --json\n"
                "gpuimg stats sprite.png sprite.npy --opaque\n"
                "gpuimg stats scan.png profile.csv --group-by row\n"
                "gpuimg stats green.tif cells.csv --labels cells.png\n"
                "gpuimg stats *.png --table all.csv --total",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_stats,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
