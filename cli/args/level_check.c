/* Compares levels that options give as sample values with the samples of the file.
 * SPDX-License-Identifier: MIT */
#include "cli/args/level_check.h"

#include "cli/command.h"
#include "cli/log.h"

/* Warns if a value seems to be on another scale than the samples. */
static void warn_of_scale(const struct gi_option *row, double value, unsigned full, unsigned maxval)
{
    if (value > 0 && value < 1)
        gi_cli_warn("--%s %.6g: samples are 0 to %u; --%s %.6g%% is %.6g of full scale", row->name,
                    value, full, row->name, 100 * value, value);
    else if (value > 0 && maxval != full && value <= maxval)
        gi_cli_warn(
            "--%s %.6g: the file's samples 0 to %u are read as 0 to %u; --%s %.6g%% is %.6g "
            "of theirs",
            row->name, value, maxval, full, row->name, 100 * value / (double)maxval, value);
}

/* Checks the levels of one step. `made` says whether the samples are floats that --linear made from
 * integers. */
static enum gi_status check_step(const struct gi_step *step, enum gi_type type, bool made,
                                 unsigned maxval, struct gi_err *err)
{
    unsigned full = (unsigned)gi_type_full_scale(type);
    for (const struct gi_option *row = step->filter->options; row && row->name; row++) {
        if (row->type != GI_OPT_LEVEL)
            continue;
        const struct gi_level *level = (const void *)((const char *)step->params + row->offset);
        if (level->kind != GI_LEVEL_VALUE)
            continue;
        if (made && level->value > 1)
            gi_cli_warn("--%s %.6g: with --linear samples are 0 to 1", row->name, level->value);
        if (type == GI_F32)
            continue;
        if (level->value < 0 || level->value > full)
            return gi_fail(err, GI_E_USAGE, "--%s %.6g: want 0 to %u, as %d-bit samples are",
                           row->name, level->value, full, type == GI_U8 ? 8 : 16);
        warn_of_scale(row, level->value, full, maxval);
    }
    return GI_OK;
}

enum gi_status gi_cli_check_levels(const struct gi_step *steps, int nsteps,
                                   const struct gi_image *image, const struct gi_file_info *info,
                                   const struct gi_io_params *io, struct gi_err *err)
{
    unsigned maxval = gi_cli_maxval(image, info, io);
    bool made = io->linear && info->maxval;
    enum gi_type type = image->type;
    enum gi_status status = GI_OK;
    for (int i = 0; i < nsteps && !status; i++) {
        const struct gi_filter *filter = steps[i].filter;
        unsigned full = (unsigned)gi_type_full_scale(type);
        status = check_step(&steps[i], type, made, i ? full : maxval, err);
        if (filter->samples.result_type)
            type = filter->samples.result_type(steps[i].params, type);
        if (status && nsteps > 1)
            gi_err_prefix(err, "step %d, %s", i + 1, steps[i].filter->name);
    }
    return status;
}
