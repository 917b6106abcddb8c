/* gpuimg integral and gpuimg cumulative: write prefix sums as .npy or .pfm.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/integral.h"

#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/commands.h"
#include "cli/paths/output.h"
#include "imgio/npy.h"
#include "imgio/pnm/pfm.h"

struct output_params {
    bool no_clobber;
};

static const struct gi_option output_options[] = {
    {GI_OPTION("no-clobber", FLAG, struct output_params, no_clobber),
     .help = "Never replace a file that exists"},
    {0},
};

static enum gi_status write_npy(struct gi_sink *sink, const struct gi_integral *integral,
                                struct gi_err *err)
{
    const struct gi_image *sums = &integral->sums;
    const uint64_t shape[] = {(uint64_t)sums->height, (uint64_t)(sums->width / integral->words),
                              (uint64_t)sums->channels};
    const char *type = integral->is_float     ? "'" GI_NPY_ORDER "f8'"
                       : integral->words == 1 ? "'" GI_NPY_ORDER "u4'"
                                              : "'" GI_NPY_ORDER "u8'";
    enum gi_status status = gi_npy_head(sink, type, shape, sums->channels == 1 ? 2 : 3, err);
    for (int y = 0; y < sums->height && !status; y++)
        status = gi_sink_write(sink, gi_row(sums, y), gi_row_nbytes(sums), err);
    return status;
}

static enum gi_status write_pfm(struct gi_sink *sink, const struct gi_integral *integral,
                                struct gi_err *err)
{
    const struct gi_image *sums = &integral->sums;
    return gi_pfm_write(sink, sums->width / integral->words, sums->height, sums->channels,
                        gi_integral_row, integral, err);
}

static enum gi_status save(const struct gi_findings *report, struct gi_err *err)
{
    const struct output_params *output = report->output;
    const struct gi_integral *integral = report->result;
    struct gi_sink *sink = NULL;
    const char *path = report->to;
    if (gi_pfm_is(path) && integral->sums.channels != 1 && integral->sums.channels != 3)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: %d channels: PFM holds 1 or 3, .npy any", path,
                       integral->sums.channels);
    enum gi_status (*write)(struct gi_sink *, const struct gi_integral *, struct gi_err *) =
        gi_pfm_is(path) ? write_pfm : write_npy;
    if (report->table)
        return write(report->table, integral, err);
    enum gi_status status = gi_bundle_open(report->bundle, &sink, path, output->no_clobber, err);
    if (!status)
        status = write(sink, integral, err);
    if (!status)
        status = gi_bundle_keep(report->bundle, &sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

static enum gi_status check(const char *input, const char *to, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct output_params *output = arg;
    const char *const outputs[] = {to, NULL}, *const inputs[] = {input, NULL};
    if (strcmp(to, "-") && !gi_npy_is(to) && !gi_pfm_is(to))
        return gi_fail(err, GI_E_USAGE, "%s: want a name that ends in .npy or .pfm", to);
    enum gi_status status = gi_output_check_plain("OUTPUT", to, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    return status ? status : gi_output_check(to, output->no_clobber, err);
}

#define REPORTER(of)                                                                               \
    {                                                                                              \
        .filter = of, .options = output_options, .output_nbytes = sizeof(struct output_params),    \
        .check = check, .write = save, .arrays = true, .parts = &gi_integral_parts                 \
    }

static const struct gi_reporter integral = REPORTER(&gi_filter_integral),
                                cumulative = REPORTER(&gi_filter_cumulative);

#define SETS                                                                                       \
    {                                                                                              \
        {0}, /* the filter's options */                                                            \
            {"Output", output_options, sizeof(struct output_params)},                              \
            {"Input", gi_input_options, sizeof(struct gi_io_params)},                              \
            {"Running", gi_device_options, sizeof(struct gi_device_params)},                       \
        {                                                                                          \
            "Many images", gi_array_options, sizeof(struct gi_batch_params)                        \
        }                                                                                          \
    }

const struct gi_command gi_command_integral = {
    .name = "integral",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg integral in.png sums.npy\n"
                "gpuimg integral in.tif squares.npy --squares\n"
                "gpuimg integral in.png sums.pfm\n"
                "gpuimg integral photos/*.png --out-dir sums",
    .min_operands = 2,
    .max_operands = 2,
    .sets = SETS,
    .filter = &gi_filter_integral,
    .reporter = &integral,
    .run = gi_analysis_run,
};

const struct gi_command gi_command_cumulative = {
    .name = "cumulative",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg cumulative in.png sums.npy\n"
                "gpuimg cumulative in.png sums.npy --along columns\n"
                "gpuimg cumulative in.tif squares.npy --squares\n"
                "gpuimg cumulative --tar photos.tar sums.tar",
    .min_operands = 2,
    .max_operands = 2,
    .sets = SETS,
    .filter = &gi_filter_cumulative,
    .reporter = &cumulative,
    .run = gi_analysis_run,
};
