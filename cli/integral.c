/* gpuimg integral and gpuimg cumulative: running sums as .npy or .pfm.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/integral.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/runner.h"
#include "imgio/npy.h"

enum { SET_FILTER, SET_OUTPUT, SET_INPUT, SET_DEVICE };

struct output_params {
    bool no_clobber;
};

static const struct gi_option output_options[] = {
    {.name = "no-clobber",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct output_params, no_clobber),
     .help = "Never replace a file that exists"},
    {0},
};

static bool is_pfm(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".pfm") == 0;
}

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

/* Rows from the bottom up, as PFM has them. */
static enum gi_status write_pfm(struct gi_sink *sink, const struct gi_integral *integral,
                                struct gi_err *err)
{
    const struct gi_image *sums = &integral->sums;
    size_t n = gi_row_samples(sums) / (size_t)integral->words;
    float *row = malloc(n * sizeof *row);
    char head[64];
    int used = snprintf(head, sizeof head, "P%c\n%d %d\n%s\n", sums->channels == 1 ? 'f' : 'F',
                        sums->width / integral->words, sums->height,
                        GI_NPY_ORDER[0] == '<' ? "-1.0" : "1.0");
    enum gi_status status = row ? gi_sink_write(sink, head, (size_t)used, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: a row");
    for (int y = sums->height - 1; y >= 0 && !status; y--) {
        const void *from = gi_row(sums, y);
        for (size_t i = 0; i < n; i++)
            row[i] = integral->is_float     ? (float)((const double *)from)[i]
                     : integral->words == 1 ? (float)((const uint32_t *)from)[i]
                                            : (float)((const uint64_t *)from)[i];
        status = gi_sink_write(sink, row, n * sizeof *row, err);
    }
    free(row);
    return status;
}

static enum gi_status save(const struct gi_integral *integral, const char *path, bool no_clobber,
                           struct gi_err *err)
{
    struct gi_bundle *bundle = NULL;
    struct gi_sink *sink = NULL;
    if (is_pfm(path) && integral->sums.channels % 2 == 0)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: %d channels: PFM holds 1 or 3, .npy any", path,
                       integral->sums.channels);
    enum gi_status status = gi_bundle_new(&bundle, err);
    if (!status)
        status = gi_bundle_open(bundle, &sink, path, no_clobber, err);
    if (!status)
        status = (is_pfm(path) ? write_pfm : write_npy)(sink, integral, err);
    if (!status)
        status = gi_bundle_keep(bundle, &sink, false, err);
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_sink_abandon(&sink);
    gi_bundle_abandon(&bundle);
    return status;
}

/* Before any work. */
static enum gi_status check(char **operands, bool no_clobber, struct gi_err *err)
{
    const char *const outputs[] = {operands[1], NULL}, *const inputs[] = {operands[0], NULL};
    if (strcmp(operands[1], "-") && !gi_npy_is(operands[1]) && !is_pfm(operands[1]))
        return gi_fail(err, GI_E_USAGE, "%s: want a name that ends in .npy or .pfm", operands[1]);
    enum gi_status status = gi_output_check_plain("OUTPUT", operands[1], err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    return status ? status : gi_output_check(operands[1], no_clobber, err);
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    (void)noperands;
    const struct output_params *output = params[SET_OUTPUT];
    struct gi_integral integral = {0};
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    struct gi_step step = {.filter = command->filter, .params = params[SET_FILTER]};
    struct gi_side side = {.result = &integral};
    struct gi_runner *runner = NULL;
    enum gi_status status = check(operands, output->no_clobber, err);
    if (!status)
        status = gi_runner_new(&runner, params[SET_DEVICE], err);
    if (!status)
        status = gi_runner_load(runner, &image, NULL, &info, operands[0], params[SET_INPUT], &step,
                                1, err);
    if (!status)
        status = gi_runner_run(runner, NULL, &image, &step, 1, &side, err);
    double start = gi_now_ms();
    if (!status)
        status = save(&integral, operands[1], output->no_clobber, err);
    if (!status) {
        gi_runner_note(runner, "encode", gi_now_ms() - start);
        gi_runner_report(runner);
    }
    command->filter->result_free(&integral);
    gi_image_free(&image);
    gi_runner_free(&runner);
    return status;
}

#define SETS                                                                                       \
    {                                                                                              \
        {0}, /* the filter's */                                                                    \
            {"Output", output_options, sizeof(struct output_params)},                              \
            {"Input", gi_input_options, sizeof(struct gi_io_params)},                              \
        {                                                                                          \
            "Running", gi_device_options, sizeof(struct gi_device_params)                          \
        }                                                                                          \
    }

const struct gi_command gi_command_integral = {
    .name = "integral",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg integral in.png sums.npy\n"
                "gpuimg integral in.tif squares.npy --squares\n"
                "gpuimg integral in.png sums.pfm",
    .min_operands = 2,
    .max_operands = 2,
    .sets = SETS,
    .filter = &gi_filter_integral,
    .run = run,
};

const struct gi_command gi_command_cumulative = {
    .name = "cumulative",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg cumulative in.png sums.npy\n"
                "gpuimg cumulative in.png sums.npy --along columns\n"
                "gpuimg cumulative in.tif squares.npy --squares",
    .min_operands = 2,
    .max_operands = 2,
    .sets = SETS,
    .filter = &gi_filter_cumulative,
    .run = run,
};
