/* gpuimg FILTER [OPTION...] INPUT OUTPUT: the command of every operation from image to image.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"

#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH };

static enum gi_status run_filter(const struct gi_command *command, void *const *params,
                                 char **operands, int noperands, struct gi_err *err)
{
    struct gi_io_params *io = params[SET_IO];
    struct gi_chain_step step = {.filter = command->filter};
    struct gi_chain chain = {.steps = &step, .n = 1};
    step.args.params[GI_SET_STEP_FILTER] = params[SET_FILTER];
    if (io->linear && !command->filter->samples.averages)
        return gi_fail(err, GI_E_USAGE,
                       "--linear: this mixes no light of several pixels, as gaussian and blur do");
    struct gi_batch_job job = {.command = command, .params = params, .chain = &chain};
    bool many = gi_batch_is_wanted(params[SET_BATCH]);
    bool taken = many || strcmp(operands[0], "-") == 0;
    enum gi_status status = gi_chain_load(
        &chain, taken, io, ((const struct gi_device_params *)params[SET_DEVICE])->threads, err);
    if (!status)
        status = gi_drive(&job, operands, noperands, err);
    if (!status)
        status = gi_chain_conclude(&chain, many ? NULL : operands[0], err);
    gi_chain_unload(&chain);
    return status;
}

const struct gi_command gi_command_filter = {
    .operands = "INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0}, /* the operation's */
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .run = run_filter,
};
