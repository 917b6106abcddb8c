/* What `gpuimg compare` says of one pair, for it and for many.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_COMPARE_H
#define GI_CLI_COMMANDS_COMPARE_H

#include <jansson.h>

#include "cli/command.h"
#include "filters/statistics/compare.h"

/* The sets of the command. */
enum {
    GI_SET_PAIR_FILTER,
    GI_SET_PAIR_COMPARE,
    GI_SET_PAIR_INPUT,
    GI_SET_PAIR_DEVICE,
    GI_SET_PAIRS
};

/* Set "Options". */
struct gi_compare_params {
    double max_diff, min_psnr, min_ssim; /* NAN: not asked */
    const char *max_differing;           /* a count, or "0.1%"; NULL: not asked */
    int format;                          /* 0 text, 1 JSON */
    const char *diff;
    double gain;
};

/* Checks that the limits hold. NaN is within no limit. Errors: GI_E_DIFFERENT. */
enum gi_status gi_compare_judge(const struct gi_difference *all, const struct gi_compare_params *p,
                                struct gi_err *err);

/* Returns the object of --json, unless memory ran out (cli/json.h); `a` is one of the images, whose
 * shape is printed. */
json_t *gi_compare_json(const struct gi_comparison *comparison, const struct gi_image *a,
                        const char *const names[2]);

/* Whether the operands and options name many pairs: two folders, --pairs, --table or --report. */
bool gi_pairs_are_wanted(void *const *params, char **operands, int noperands);

/* Compares them: one table. Errors: GI_E_DIFFERENT where wishes do not hold, or without wishes a
 * pair differs; as gi_batch_run(). */
enum gi_status gi_pairs_run(const struct gi_command *command, void *const *params, char **operands,
                            int noperands, struct gi_err *err);

#endif
