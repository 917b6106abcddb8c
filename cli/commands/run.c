/* gpuimg run: a chain of operations on one image, which stays on its device between them.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/run/batch.h"
#include "cli/tables/tables.h"
#include "cli/inputs/stream.h"
#include "cli/run/chain.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/run/ready.h"
#include "cli/run/session.h"

enum { SET_CHAIN, SET_IO, SET_DEVICE, SET_BATCH };

struct run_params {
    const char *file; /* its content; NULL: the chain is an operand */
};

static const struct gi_option options[] = {
    {.name = "file",
     .letter = 'f',
     .type = GI_OPT_CONTENT,
     .offset = offsetof(struct run_params, file),
     .metavar = "FILE",
     .help = "Read the chain from this file, in place of the first operand; # begins a "
             "comment"},
    {0},
};

static enum gi_status report(const struct gi_ready *ready, struct gi_session *session,
                             const char *input, unsigned maxval, int threads,
                             struct gi_bundle *bundle, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = gi_ready_report(ready, input, NULL, maxval, threads, bundle, err);
    gi_session_note(session, "report", gi_now_ms() - start);
    return status;
}

static enum gi_status encode(const struct gi_image *image, const struct gi_metadata *metadata,
                             struct gi_session *session, const char *path,
                             const struct gi_io_params *io, int threads, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = gi_cli_save(image, metadata, path, io, threads, err);
    gi_session_note(session, "encode", gi_now_ms() - start);
    return status;
}

/* `path` NULL: only the reports are wanted. */
static enum gi_status run_ready(struct gi_ready *ready, struct gi_session *session,
                                const char *input, const char *path, void *const *params,
                                struct gi_err *err)
{
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    int threads = gi_thread_count(((const struct gi_device_params *)params[SET_DEVICE])->threads);
    int n = ready->chain->n;
    struct gi_image src, dst = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    enum gi_status status =
        gi_session_load(session, &src, &metadata, &info, input, &io, ready->steps, n, err);
    if (status)
        return status;
    status = gi_session_run(session, path ? &dst : NULL, &src, ready->steps, n, ready->sides, err);
    gi_image_free(&src);
    if (!status)
        status = gi_bundle_new(&io.bundle, true, err);
    if (!status)
        status =
            report(ready, session, input, gi_cli_maxval(&src, &info, &io), threads, io.bundle, err);
    if (!status && path)
        status = gi_cli_check_way(input, path, &io, &info, err);
    if (!status && path)
        status = encode(&dst, &metadata, session, path, &io, threads, err);
    if (!status)
        status = gi_bundle_commit(&io.bundle, err);
    gi_bundle_abandon(&io.bundle);
    gi_image_free(&dst);
    gi_metadata_free(&metadata);
    return status;
}

/* Everything that a step writes can be written. */
static enum gi_status check_steps(const struct gi_chain *chain, const char *input,
                                  struct gi_err *err)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        void *const *params = step->args.params;
        if (step->reporter && step->reporter->check(input, step->to, params[GI_SET_STEP_OUTPUT],
                                                    params[GI_SET_STEP_FILTER], err))
            return gi_err_prefix(err, "step %d, %s", i + 1, step->filter->name);
    }
    return GI_OK;
}

/* A file that the chain writes. */
struct place {
    int step;           /* from 0; that of the image is past the last */
    const char *option; /* that names it; NULL: the table, or the image */
    const char *path;
};

/* Collects the files of step i other than its table: paths in its output options that are not read.
 * Fills places if that is not NULL. Returns their number. */
static int option_places(struct place *places, const struct gi_chain *chain, int i)
{
    const struct gi_reporter *reporter = chain->steps[i].reporter;
    const char *output = chain->steps[i].args.params[GI_SET_STEP_OUTPUT];
    int n = 0;
    for (const struct gi_option *row = reporter->options; row->name; row++) {
        const char *path;
        if (row->type != GI_OPT_PATH)
            continue;
        memcpy(&path, output + row->offset, sizeof path);
        if (!path)
            continue;
        if (places)
            places[n] = (struct place){i, row->name, path};
        n++;
    }
    return n;
}

/* All files that the chain writes, as option_places(). */
static int all_places(struct place *places, const struct gi_chain *chain, const char *path)
{
    int n = 0;
    for (int i = 0; i < chain->n; i++) {
        if (!chain->steps[i].reporter)
            continue;
        if (places)
            places[n] = (struct place){i, NULL, chain->steps[i].to};
        n++;
        n += option_places(places ? places + n : NULL, chain, i);
    }
    if (path && places)
        places[n] = (struct place){chain->n, NULL, path};
    return n + (path != NULL);
}

static enum gi_status fail_same(const struct gi_chain *chain, const struct place *a,
                                const struct place *b, struct gi_err *err)
{
    char other[80];
    snprintf(other, sizeof other, "the %s%s of step %d", b->option ? "--" : "",
             b->option ? b->option : "table", b->step + 1);
    return gi_fail(err, GI_E_USAGE, "step %d, %s: its %s%s and %s both go to %s: want %s",
                   a->step + 1, chain->steps[a->step].filter->name, a->option ? "--" : "",
                   a->option ? a->option : "table", b->step == chain->n ? "the image" : other,
                   strcmp(a->path, "-") == 0 ? "standard output" : a->path,
                   a->option ? "another file" : "--to FILE");
}

/* No two files go to one place, nor over a second source of any step. The image may be written
 * over the one that was read. */
static enum gi_status check_places(const struct gi_chain *chain, const char *path,
                                   struct gi_err *err)
{
    int n = all_places(NULL, chain, path);
    struct place *places = calloc((size_t)n + 1, sizeof *places);
    enum gi_status status = places ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a chain");
    if (places)
        all_places(places, chain, path);
    for (int b = 0; b < n && !status; b++) {
        const char *file = gi_output_file(places[b].path);
        const char *const outputs[] = {places[b].path, NULL};
        for (int a = 0; a < b && !status; a++)
            if (gi_output_same(gi_output_file(places[a].path), file))
                status = fail_same(chain, &places[a], &places[b], err);
        if (!status)
            status = gi_chain_check_outputs(chain, outputs, err);
    }
    free(places);
    return status;
}

static enum gi_status run_chain(const struct gi_chain *chain, const char *input, const char *path,
                                void *const *params, struct gi_err *err)
{
    struct gi_session *session = NULL;
    struct gi_ready ready;
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    bool ends_in_table = chain->steps[chain->n - 1].reporter != NULL;
    if (!path && !ends_in_table)
        return gi_fail(err, GI_E_USAGE, "want OUTPUT for the image that %s makes",
                       chain->steps[chain->n - 1].filter->name);
    enum gi_status status = check_steps(chain, input, err);
    if (!status && path)
        status = gi_cli_check_way(input, path, &io, NULL, err);
    if (!status)
        status = check_places(chain, path, err);
    if (!status)
        status = gi_session_new(&session, params[SET_DEVICE], err);
    if (status)
        return status;
    gi_session_watch(session, ((const struct gi_batch_params *)params[SET_BATCH])->progress, 1);
    status = gi_ready_make(&ready, chain, err);
    if (!status)
        status = run_ready(&ready, session, input, path, params, err);
    gi_ready_free(&ready);
    if (!status)
        gi_session_report(session);
    gi_session_free(&session);
    return status;
}

/* One image, or a stream of images. `path` NULL: only the reports are wanted. */
static enum gi_status run_one(const struct gi_command *command, const struct gi_chain *chain,
                              const char *input, const char *path, void *const *params,
                              struct gi_err *err)
{
    struct gi_io_params *io = params[SET_IO];
    struct gi_stream *stream = NULL;
    const char *const outputs[] = {path, NULL};
    enum gi_status status = gi_chain_check_outputs(chain, outputs, err);
    if (!status && path)
        status = gi_stream_find(&stream, input, path, io, params[SET_BATCH], err);
    if (!status && stream)
        return gi_stream_run(
            &stream, &(struct gi_batch_job){.command = command, .params = params, .chain = chain},
            err);
    if (!status)
        status = run_chain(chain, input, path, params, err);
    gi_ahead_free(&io->ahead);
    return status;
}

/* For many images there is one analysis, at the chain's end: its tables are the results. */
static enum gi_status run_many(const struct gi_command *command, const struct gi_chain *chain,
                               const char *text, void *const *params, char **inputs, int ninputs,
                               struct gi_err *err)
{
    const struct gi_batch_params *p = params[SET_BATCH];
    struct gi_batch_job job = {.command = command, .params = params, .chain = chain, .text = text};
    const struct gi_chain_step *last = &chain->steps[chain->n - 1];
    for (int i = 0; i < chain->n - 1; i++)
        if (chain->steps[i].reporter)
            return gi_fail(err, GI_E_USAGE,
                           "step %d, %s: writes a table of one image: of many want it as the last "
                           "step",
                           i + 1, chain->steps[i].filter->name);
    if (!last->reporter && p->table)
        return gi_fail(
            err, GI_E_USAGE,
            "--table: want stats, histogram, palette or extract as the last step, %s makes images",
            last->filter->name);
    return last->reporter ? gi_batch_tables(&job, inputs, ninputs, err)
                          : gi_batch_run(&job, inputs, ninputs, err);
}

/* With the images that it names. */
static enum gi_status read_chain(struct gi_chain *chain, const char *text, bool taken,
                                 void *const *params, struct gi_err *err)
{
    const struct gi_device_params *device = params[SET_DEVICE];
    enum gi_status status = gi_chain_read(chain, text, err);
    return status ? status : gi_chain_load(chain, taken, params[SET_IO], device->threads, err);
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
        gi_chain_free(&chain);
        return failed;
    }
    if (noperands <= first || noperands > first + 2)
        return gi_fail(err, GI_E_USAGE, "want %s (usage: gpuimg run [OPTION...] %s)",
                       p->file ? "INPUT [OUTPUT] with --file" : command->operands,
                       command->operands);
    bool taken = strcmp(operands[first], "-") == 0;
    enum gi_status status = read_chain(&chain, text, taken, params, err);
    if (!status)
        status = run_one(command, &chain, operands[first],
                         noperands > first + 1 ? operands[first + 1] : NULL, params, err);
    gi_chain_free(&chain);
    return status;
}

/* "gaussian     --sigma --k --border", an operation a line. */
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
        "CHAIN is one word of the shell: operations with their options, separated by |. "
        "Each takes the result of the one before it; the output has the bytes of the "
        "single commands with a lossless file of each step's type in between. The image is "
        "read once, stays on its device between the steps, and is written once. An image "
        "that does not fit on the device is processed in bands, all steps at a time.\n\n"
        "stats, histogram, integral, cumulative, palette and extract may be any step: they "
        "write their table or array to --to FILE, or to standard output, and pass the "
        "image on unchanged. If the last step is one of them, OUTPUT may be left out. "
        "Their output options are allowed in the step: --format, --plot, --overlay and so "
        "on.\n\n"
        "Words with blanks, | or # need quotes, single or double, inside the chain. With "
        "--file the chain comes from a file, in any number of lines. A chain has at most 1000 "
        "steps.\n\n"
        "An input of several PNM or PAM images gives as many, in a row, in an output of "
        "these formats; - to - keeps the format of each. A Y4M video gives another one, "
        "and each plane is a gray image. With --tar INPUT and OUTPUT are tars, brace lists "
        "of tars, or -.\n\n"
        "For many images a chain that ends in integral or cumulative writes an array each, "
        ".npy or with --suffix .pfm, with --tar too. One that ends in stats, histogram, "
        "palette or extract writes tables: one of all with --table, or one each with "
        "--out-dir or --out. With --table the only INPUT may be - or a file of several "
        "images or a video, whose images or planes are named by their number; with --tar "
        "the inputs are tars.",
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
