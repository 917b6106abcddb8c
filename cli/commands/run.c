/* gpuimg run: applies a chain of operations to an image. Between the operations the image stays on
 * its device.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/args/chain.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/rules.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"

enum { SET_CHAIN, SET_IO, SET_DEVICE, SET_BATCH };

struct run_params {
    const char *file; /* content of the file with the chain; NULL if an operand is the chain */
};

static const struct gi_option options[] = {
    {GI_OPTION("file", CONTENT, struct run_params, file), .letter = 'f', .metavar = "FILE",
     .help = "Read the chain from this file in place of the operand CHAIN, for example with a step "
             "per line; # begins a comment"},
    {0},
};

/* Processes many images. The chain must have one analysis, at its end, whose tables are the
 * results. */
static enum gi_status run_many(const struct gi_command *command, const struct gi_chain *chain,
                               const char *text, void *const *params, char **inputs, int ninputs,
                               struct gi_err *err)
{
    const struct gi_batch_params *p = params[SET_BATCH];
    struct gi_batch_job job = {.command = command, .params = params, .chain = chain, .text = text};
    const struct gi_chain_step *last = &chain->steps[chain->n - 1];
    if (gi_chain_check_many(chain, err))
        return err->status;
    if (!last->reporter && p->table)
        return gi_fail(err, GI_E_USAGE,
                       "--table: want a step with a table, such as stats or extract, as the last "
                       "step, %s makes images",
                       last->filter->name);
    return gi_drive(&job, inputs, ninputs, err);
}

/* Parses the chain, and loads the images that it names. */
static enum gi_status read_chain(struct gi_chain *chain, const char *text, bool taken,
                                 void *const *params, struct gi_err *err)
{
    const struct gi_device_params *device = params[SET_DEVICE];
    enum gi_status status = gi_chain_read(chain, text, err);
    size_t used = strlen(err->text);
    if (status == GI_E_USAGE && access(text, F_OK) == 0)
        snprintf(err->text + used, sizeof err->text - used, "; a file of steps needs --file");
    return status ? status : gi_chain_load(chain, taken, params[SET_IO], device->threads, err);
}

/* Returns whether OUTPUT is the table of the last step and not an image. The step then writes it,
 * as with --to. */
static bool takes_table(struct gi_chain *chain, const char *output)
{
    struct gi_chain_step *last = &chain->steps[chain->n - 1];
    const char *suffix = strrchr(output, '.');
    bool table = suffix && (strcasecmp(suffix, ".csv") == 0 || strcasecmp(suffix, ".json") == 0);
    if (!table || !last->reporter || strcmp(last->to, "-") != 0)
        return false;
    last->to = output;
    return true;
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct run_params *p = params[SET_CHAIN];
    const char *text = p->file ? p->file : operands[0];
    int first = p->file ? 0 : 1;
    struct gi_chain chain;
    bool many = gi_batch_is_wanted(params[SET_BATCH]);
    if (many && noperands < first)
        return gi_fail(err, GI_E_USAGE, "want CHAIN before the inputs, or --file");
    if (many) {
        enum gi_status failed = read_chain(&chain, text, true, params, err);
        if (!failed)
            failed =
                run_many(command, &chain, text, params, operands + first, noperands - first, err);
        if (!failed)
            failed = gi_chain_conclude(&chain, NULL, err);
        gi_chain_free(&chain);
        return failed;
    }
    if (noperands <= first || noperands > first + 2)
        return gi_fail(err, GI_E_USAGE, "want %s (usage: gpuimg run [OPTION...] %s)",
                       p->file ? "INPUT [OUTPUT] with --file" : command->operands,
                       command->operands);
    bool taken = strcmp(operands[first], "-") == 0;
    enum gi_status status = read_chain(&chain, text, taken, params, err);
    const struct gi_batch_job job = {
        .command = command, .params = params, .chain = &chain, .text = text};
    if (!status && noperands == first + 2 && takes_table(&chain, operands[first + 1]))
        noperands--;
    if (!status)
        status = gi_drive(&job, operands + first, noperands - first, err);
    if (!status)
        status = gi_chain_conclude(&chain, operands[first], err);
    gi_chain_free(&chain);
    return status;
}

/* Prints one line per operation, such as "gaussian     --sigma --k --border". */
static const char *more(int i, char *line, size_t nbytes)
{
    struct gi_command step;
    if (i == 0) {
        snprintf(line, nbytes, "Operations of a chain and their options");
        return line;
    }
    int at = 0;
    for (int f = 0; gi_filters[f]; f++)
        if (gi_chain_command(&step, gi_filters[f]) && ++at == i) {
            size_t n = (size_t)snprintf(line, nbytes, "%s", step.name);
            for (int s = 0; s < GI_OPTION_SETS_MAX && step.sets[s].rows; s++)
                for (const struct gi_option *row = step.sets[s].rows; row->name && n < nbytes;
                     row++)
                    if (!row->alone)
                        n += (size_t)snprintf(line + n, nbytes - n, " --%s", row->name);
            return line;
        }
    return NULL;
}

const struct gi_command gi_command_run = {
    .name = "run",
    .operands = "CHAIN INPUT [OUTPUT]",
    .summary = "Run a chain of operations on each image",
    .manual =
        "CHAIN is a list of operations with their options, separated by |. It is quoted, so that "
        "the shell takes it as one word. A comma followed by a blank separates operations too, "
        "and so does the end of a line, if the next line begins with an operation. Each "
        "operation takes the result of the one before it. The image is read once, stays on its "
        "device between the steps, and is written once. The output has the same bytes as if each "
        "step were a command of its own with a lossless file in between. The other names of "
        "commands, such as gray for convert --gray, are steps too. An image that does not "
        "fit on the device is processed in bands, each through all steps.\n\n"
        "Steps that measure, such as stats, histogram, integral, extract and peaks, write a table "
        "or an array, and pass the image on unchanged. They write to the file of --to, or to "
        "standard output, and take their other output options too, such as --format, --plot and "
        "--overlay. If the last step is one of them, OUTPUT may be left out, or be its table, as "
        "in "
        "coins.csv.\n\n"
        "Inside the chain, words that contain blanks, | or # need quotes, single or double. With "
        "--file the chain comes from a file and may have any number of lines. A chain has at "
        "most 1000 steps.\n\n"
        "For many images (see gpuimg help batch) a chain that ends in integral or cumulative "
        "writes an array per image: .npy, or .pfm with --suffix .pfm. A chain that ends in another "
        "step that measures writes one table for all images with --table, or a table per image "
        "with --out-dir or --out. INPUT may also be a stream of several images or a Y4M "
        "video. With --tar, both INPUT and OUTPUT are tars; if the chain ends in a step with a "
        "table, this is so with --suffix .csv or .json, and otherwise all operands are tars that "
        "are read for one table, for example --tar - with the table on standard "
        "output.\n\n"
        "In Python, import gpuimg and call gpuimg.gaussian(array, sigma=2), or "
        "gpuimg.run(array, \"gaussian --sigma 2\") for a chain. Both return an array; "
        "gpuimg.run(array, \"threshold | extract\") returns the table as a dict. make install "
        "installs this package, and help(gpuimg) explains it.",
    .examples =
        "gpuimg run 'gaussian --sigma 2 | edges | threshold' in.png out.png\n"
        "gpuimg run 'sharpen | convolve --kernel \"0 -1 0; -1 5 -1; 0 -1 0\"' in.jpg out.png\n"
        "gpuimg run 'gaussian | extract --min-area 50 --to coins.csv' coins.png\n"
        "gpuimg run 'gaussian --sigma 2 | extract --min-area 50' *.png --table coins.csv\n"
        "gpuimg run --file steps.txt in.png out.png --timing",
    .more = more,
    .min_operands = 1,
    .max_operands = 3,
    .sets = {{"Options", options, sizeof(struct run_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_chain_options, sizeof(struct gi_batch_params)}},
    .run = run,
};
