/* gpuimg calc: calculates an expression, whose bands such as a[b5] are read from the input.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/calc.h"

#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH };

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    char bands[GI_CALC_BANDS_TEXT];
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    void *own[GI_OPTION_SETS_MAX];
    memcpy(own, params, sizeof own);
    own[SET_IO] = &io;
    if (gi_calc_choose_bands(bands, params[SET_FILTER])) {
        if (io.bands.list)
            return gi_fail(err, GI_E_USAGE,
                           "--bands %s: the expression names bands of the input: want either",
                           io.bands.list);
        io.bands.list = bands;
    }
    return gi_command_filter.run(self, own, operands, noperands, err);
}

const struct gi_command gi_command_calc = {
    .name = "calc",
    .operands = "EXPRESSION INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_calc,
    .run = run,
};
